/** The inside of verifying: verify.c walks the file, verify_chunk.c a chunk, verify_bounds.c judges bounds, verify_index.c page indexes. */
#ifndef FIRN_PARQUET_VERIFY_INTERNAL_H
#define FIRN_PARQUET_VERIFY_INTERNAL_H

#include "parquet/chunk_indexes.h"
#include "parquet/chunk_reader.h"
#include "parquet/statistics.h"
#include "parquet/verify.h"

/** What the values of a page, or of a chunk, were found to be. */
typedef struct firn_parquet_tally {
    int64_t levels, values, rows, unencoded_bytes;
    int64_t definition_levels[256], repetition_levels[256];
    firn_parquet_bounds bounds; /**< NaN count too */
} firn_parquet_tally;

/** One chunk being looked at. */
typedef struct firn_parquet_check {
    const firn_parquet_file *file;
    const firn_parquet_leaf *leaf;
    const firn_parquet_row_group *group;
    const firn_parquet_column_chunk *chunk;
    size_t row_group;
    firn_parquet_order order;
    firn_arena *arena; /**< of the findings' texts */
    firn_parquet_findings findings;
    int64_t findings_left_out;
    firn_parquet_chunk_indexes indexes;
    firn_parquet_tally page, whole;
    /* The page at hand. */
    int64_t page_number;
    int64_t page_offset;   /**< in the file; -1: none */
    size_t next_location;  /**< of the offset index: the entry that comes next */
    int64_t missed_values; /**< that the Bloom filter lacks */
    const char *missed_value;
    int64_t data_pages, crcs;
} firn_parquet_check;

/** Adds a finding about the page at hand (`of_page`), or about the chunk. Out of memory is an error, too many findings are none. */
firn_status firn_parquet_find(firn_parquet_check *check, const char *kind, bool of_page,
                              firn_error *error, const char *format, ...) FIRN_PRINTF(5, 6);

/** The value as text in the check's arena; "?" when memory is out. */
const char *firn_parquet_check_text(firn_parquet_check *check, firn_slice value);

/** Looks at one chunk; what it finds goes to `findings`. */
firn_status firn_parquet_check_chunk(firn_parquet_check *check, firn_error *error);

/**
 * Whether `told` can be the tally's null count. In a repeated column some writers count only nulls of the leaf itself, others
 * every entry without a value.
 */
bool firn_parquet_null_count_fits(const firn_parquet_check *check, const firn_parquet_tally *tally,
                                  int64_t told);

/** Holds statistics, of a page header or of the footer, against what was found. */
firn_status firn_parquet_check_statistics(firn_parquet_check *check,
                                          const firn_parquet_statistics *statistics,
                                          const firn_parquet_tally *tally, bool of_page,
                                          firn_error *error);

/** Holds the entries of both indexes against the page at hand, which was decoded. `begins_row`: its first level does. */
firn_status firn_parquet_check_page_indexes(firn_parquet_check *check,
                                            const firn_parquet_page *page, bool begins_row,
                                            firn_error *error);

#endif
