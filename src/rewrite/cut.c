/*
 * Cutting a row group where a dictionary would outgrow its limit: two smaller groups with dictionaries are read faster, and take
 * less room, than one with PLAIN pages (design, section 14).
 */
#include "rewrite/cut.h"

#include "base/alloc.h"

typedef struct cut_job {
    const firn_rewrite_context *context;
    const firn_parquet_piece *pieces;
    size_t piece_count;
    firn_parquet_rewrite_options rewrite_options;
    firn_parquet_dictionary_reach *reaches; /* one per leaf */
} cut_job;

static firn_status measure_leaf(void *argument, size_t leaf, firn_error *error) {
    cut_job *job = argument;
    return firn_parquet_measure_dictionaries(job->pieces, job->piece_count, job->context->output,
                                             leaf, &job->context->options, &job->rewrite_options,
                                             &job->reaches[leaf], error);
}

size_t firn_rewrite_parts_for(const firn_parquet_dictionary_reach *reach, int64_t rows) {
    int64_t most = rows / FIRN_PARQUET_FEWEST_ROWS_OF_CUT;
    if (!reach->outgrows || most < 2) return 1;
    /* The first rows are taken for all: what comes later is not known better. */
    if (reach->rows > 0) {
        int64_t needed = rows / reach->rows + (rows % reach->rows != 0);
        if (needed <= most) return (size_t)needed;
    }
    return reach->rows_at_twice >= rows / most ? (size_t)most : 1;
}

firn_status firn_rewrite_count_parts(firn_rewrite_context *context,
                                     const firn_parquet_piece *pieces, size_t piece_count,
                                     size_t *parts, firn_error *error) {
    size_t leaves = context->output->leaf_count;
    int64_t rows = 0;
    *parts = 1;
    for (size_t i = 0; i < piece_count; i++) rows += pieces[i].row_count;
    if (rows < 2 * FIRN_PARQUET_FEWEST_ROWS_OF_CUT) return FIRN_OK;
    cut_job job = {.context = context,
                   .pieces = pieces,
                   .piece_count = piece_count,
                   .rewrite_options = {.copy_pages = context->settings->copy_pages,
                                       .no_joined_pages = context->settings->no_joined_pages},
                   .reaches = firn_alloc_zeroed(leaves, sizeof *job.reaches)};
    if (job.reaches == NULL) return firn_fail_memory(error);
    firn_status status = firn_pool_each(context->settings->pool, leaves, measure_leaf, &job, error);
    for (size_t i = 0; status == FIRN_OK && i < leaves; i++) {
        size_t wanted = firn_rewrite_parts_for(&job.reaches[i], rows);
        if (wanted > *parts) *parts = wanted;
    }
    firn_free(job.reaches);
    return status;
}

size_t firn_rewrite_part_end(const firn_parquet_piece *pieces, size_t piece_count, size_t first,
                             size_t parts_left) {
    int64_t left = 0;
    for (size_t i = first; i < piece_count; i++) left += pieces[i].row_count;
    if (parts_left <= 1) return piece_count;
    int64_t share = left / (int64_t)parts_left;
    int64_t taken = 0;
    size_t end = first;
    while (end < piece_count && (end == first || taken + pieces[end].row_count / 2 < share)) {
        taken += pieces[end++].row_count;
    }
    return end;
}
