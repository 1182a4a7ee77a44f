/**
 * Several Parquet files written as one, or as some of about one size: their rows in order, row groups of proper size, one schema (parquet/merge_schema.h).
 * Pages are moved by the cheapest way that is right (parquet/rewrite.h).
 */
#ifndef FIRN_PARQUET_MERGE_H
#define FIRN_PARQUET_MERGE_H

#include "base/threads.h"
#include "parquet/rewrite.h"

/** Where the inputs come from. Each is opened once for its footer and again for each row group that it feeds. */
typedef struct firn_parquet_merge_inputs {
    size_t count;
    firn_status (*open)(void *context, size_t index, firn_read_at *out, void **handle,
                        firn_error *error);
    void (*close)(void *context, void *handle);
    void *context;
} firn_parquet_merge_inputs;

typedef struct firn_parquet_merge_options {
    firn_parquet_write_options write;
    bool
        keep_compression; /**< the codec that most bytes of the inputs have, instead of `write`'s */
    bool keep_page_version; /**< likewise, instead of `write`'s */
    /** Uncompressed. A row group of an input that is twice as large, in bytes or rows, is split. */
    int64_t row_group_size_bytes;
    int64_t row_group_row_limit;
    /** About, of each output, compressed; 0: all rows go to one. Row groups of inputs that are larger are split. */
    int64_t target_file_size_bytes;
    bool copy_pages;
    bool no_joined_pages; /**< for readers that can't take several compressed pieces in one page */
    firn_pool *pool;      /**< NULL: this thread alone */
} firn_parquet_merge_options;

void firn_parquet_merge_options_init(firn_parquet_merge_options *options);

typedef struct firn_parquet_merge_result {
    int64_t rows, input_row_groups, row_groups, schemas, outputs;
    int64_t input_bytes, bytes;         /**< of whole files */
    firn_parquet_rewrite_counts counts; /**< of all leaves together */
    int64_t column_count;
    firn_parquet_compression compression;
} firn_parquet_merge_result;

/** Where the outputs go: one after the other, from index 0 on. */
typedef struct firn_parquet_merge_outputs {
    firn_status (*begin)(void *context, size_t index, firn_write_to *out, firn_error *error);
    /** The output is complete. */
    firn_status (*finish)(void *context, size_t index, int64_t rows, int64_t bytes,
                          firn_error *error);
    void *context;
} firn_parquet_merge_outputs;

/** For a merge without a target: all goes to `destination`. */
firn_parquet_merge_outputs firn_parquet_merge_to_one(firn_write_to *destination);

/** Writes the merged rows. UNSUPPORTED names the field and file that stand in the way. After a failure an output that was begun may not be finished. */
firn_status firn_parquet_merge(const firn_parquet_merge_inputs *inputs,
                               const firn_parquet_merge_options *options,
                               const firn_parquet_merge_outputs *outputs,
                               firn_parquet_merge_result *out, firn_error *error);

#endif
