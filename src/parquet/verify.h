/**
 * Whether a file keeps what it promises: every page is decoded, and CRCs, sums, statistics, page indexes, size statistics and
 * Bloom filters are held against the values. What is optional and absent is no fault; what is there must be true.
 */
#ifndef FIRN_PARQUET_VERIFY_H
#define FIRN_PARQUET_VERIFY_H

#include "base/threads.h"
#include "base/vector.h"
#include "parquet/file_reader.h"

typedef struct firn_parquet_finding {
    const char *kind;          /**< what is wrong, one word: footer, schema, page, crc, … */
    int64_t row_group, column; /**< column: the leaf's number. -1: of the whole file or row group */
    int64_t page;              /**< among the chunk's data pages; -1: of the whole chunk */
    int64_t byte_offset;       /**< of the page in the file; -1: none */
    const char *column_name;   /**< NULL where `column` is -1 */
    const char *message;
} firn_parquet_finding;

typedef FIRN_VECTOR(firn_parquet_finding) firn_parquet_findings;

/** Findings of one chunk that are kept; more are only counted. */
#define FIRN_PARQUET_FINDINGS_PER_CHUNK 20

typedef struct firn_parquet_verification {
    firn_arena **arenas; /**< hold the texts */
    size_t arena_count;
    firn_parquet_findings findings; /**< in the file's order */
    int64_t findings_left_out;
    /* What was looked at. */
    int64_t row_groups, columns, rows, pages, values;
    int64_t crcs, column_indexes, offset_indexes, bloom_filters;
} firn_parquet_verification;

/**
 * Looks at the whole file, its chunks in parallel on the pool (NULL: on this thread). Faults of the file are findings, an
 * unreadable footer among them; the call fails only where reading does, memory is out, or it was cancelled. `out` is to be
 * released also then.
 */
firn_status firn_parquet_verify(const firn_read_at *source, firn_pool *pool,
                                firn_parquet_verification *out, firn_error *error);
void firn_parquet_verification_release(firn_parquet_verification *verification);

#endif
