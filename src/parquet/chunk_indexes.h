/**
 * What a file has beside a column chunk: offset index, column index (PageIndex.md), Bloom filter (BloomFilter.md). All are
 * optional, so one that is broken or contradicts itself is left out, with the reason, and never trusted in part.
 */
#ifndef FIRN_PARQUET_CHUNK_INDEXES_H
#define FIRN_PARQUET_CHUNK_INDEXES_H

#include "parquet/bloom_filter.h"
#include "parquet/file_reader.h"

typedef struct firn_parquet_chunk_indexes {
    /* Whether there is one that can be trusted as far as it can be checked without reading pages. */
    bool has_offset_index, has_column_index, has_bloom_filter;
    firn_parquet_offset_index offset_index;
    firn_parquet_column_index column_index;
    firn_parquet_bloom_filter bloom_filter;
    /* Why one that the footer names was left out; NULL: it was not, or there is none. */
    const char *offset_index_problem, *column_index_problem, *bloom_filter_problem;
    bool column_index_undefined; /**< the problem is only that the column has no defined order */
} firn_parquet_chunk_indexes;

/** Which to fetch. */
enum {
    FIRN_PARQUET_FETCH_OFFSET_INDEX = 1,
    FIRN_PARQUET_FETCH_COLUMN_INDEX = 2,
    FIRN_PARQUET_FETCH_BLOOM_FILTER = 4,
    FIRN_PARQUET_FETCH_ALL = 7
};

/**
 * Everything lives in `arena` (or in the file's memory). Fails only where reading does, memory is out, or there is no such
 * chunk. Thread-safe for different arenas.
 */
firn_status firn_parquet_chunk_indexes_read(const firn_parquet_file *file, size_t row_group,
                                            size_t leaf, unsigned what, firn_arena *arena,
                                            firn_parquet_chunk_indexes *out, firn_error *error);

/** Whether the slice can be a bound of the column: of a size that the type has, and not NaN. */
bool firn_parquet_bound_fits(const firn_parquet_schema_element *element, firn_slice bound);

#endif
