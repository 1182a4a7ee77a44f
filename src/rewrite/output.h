/** One output file: created, filled row group by row group, finished, described and read back. Internal to rewrite. */
#ifndef FIRN_REWRITE_OUTPUT_H
#define FIRN_REWRITE_OUTPUT_H

#include "data/metrics.h"
#include "parquet/file_writer.h"
#include "rewrite/context.h"

typedef struct firn_output_file {
    firn_rewrite_context *context;
    const char *location;                /**< borrowed */
    firn_storage_writer *storage_writer; /* NULL: of a trial */
    firn_parquet_file_writer *writer;
    firn_leaf_totals *totals; /**< one per leaf */
    int64_t rows;
    /* Which inputs its rows came from. */
    bool any_input, several_inputs;
    size_t input;
} firn_output_file;

/** Creates the file at `location`, which is in the journal. Release also on failure; that removes an unfinished file. */
firn_status firn_output_file_begin(firn_output_file *file, firn_rewrite_context *context,
                                   const char *location, firn_error *error);
void firn_output_file_release(firn_output_file *file);

/** Completes the file, makes it durable, reads its footer back and describes it in `out` (arena). */
firn_status firn_output_file_finish(firn_output_file *file, firn_arena *arena, firn_data_file *out,
                                    size_t *row_group_count, firn_error *error);

#endif
