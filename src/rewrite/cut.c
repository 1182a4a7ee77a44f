/*
 * Cutting a row group where a dictionary would outgrow its limit: two smaller groups with dictionaries are read faster, and take
 * less room, than one with PLAIN pages (design, section 14).
 */
#include "rewrite/cut.h"

#include <stdatomic.h>

#include "base/alloc.h"

/* What the values of one leaf take before they are encoded, in a row group that is not cut further. */
#define FEWEST_BYTES_OF_CUT ((int64_t)64 << 20)

typedef struct cut_job {
    const firn_rewrite_context *context;
    const firn_parquet_piece *pieces;
    size_t piece_count;
    firn_parquet_rewrite_options rewrite_options;
    firn_parquet_dictionary_reach *reaches; /* one per leaf */
    atomic_size_t kept;                     /* bytes of what was merged */
    size_t most_kept;
} cut_job;

static firn_status measure_leaf(void *argument, size_t leaf, firn_error *error) {
    cut_job *job = argument;
    firn_parquet_dictionary_reach *reach = &job->reaches[leaf];
    FIRN_TRY(firn_parquet_measure_dictionaries(job->pieces, job->piece_count, job->context->output,
                                               leaf, &job->context->options, &job->rewrite_options,
                                               reach, error));
    if (reach->merged == NULL) return FIRN_OK;
    size_t size = firn_parquet_merged_size(reach->merged);
    if (atomic_fetch_add(&job->kept, size) + size <= job->most_kept) return FIRN_OK;
    /* It will be merged again. */
    atomic_fetch_sub(&job->kept, size);
    firn_parquet_merged_free(reach->merged);
    reach->merged = NULL;
    return FIRN_OK;
}

size_t firn_rewrite_parts_for(const firn_parquet_dictionary_reach *reach, int64_t rows) {
    int64_t most = rows / FIRN_PARQUET_FEWEST_ROWS_OF_CUT;
    int64_t most_by_bytes = reach->plain_bytes / FEWEST_BYTES_OF_CUT;
    if (most_by_bytes > most) most = most_by_bytes;
    if (!reach->outgrows || most < 2) return 1;
    /* The first rows are taken for all: what comes later is not known better. */
    if (reach->rows > 0) {
        int64_t needed = rows / reach->rows + (rows % reach->rows != 0);
        if (needed <= most) return (size_t)needed;
    }
    return reach->rows_at_twice >= rows / most ? (size_t)most : 1;
}

void firn_rewrite_cut_release(firn_rewrite_cut *cut) {
    for (size_t i = 0; cut->merged != NULL && i < cut->leaf_count; i++) {
        firn_parquet_merged_free(cut->merged[i]);
    }
    firn_free(cut->merged);
    *cut = (firn_rewrite_cut){0};
}

static size_t most_kept_of(const firn_rewrite_context *context) {
    int64_t memory = context->settings->memory_bytes;
    return (size_t)((memory > 0 ? memory : FIRN_REWRITE_DEFAULT_MEMORY) /
                    FIRN_REWRITE_MERGED_SHARE);
}

static void hand_over(cut_job *job, firn_rewrite_cut *out) {
    for (size_t i = 0; i < out->leaf_count; i++) {
        out->merged[i] = job->reaches[i].merged;
        job->reaches[i].merged = NULL;
    }
}

firn_status firn_rewrite_find_cut(firn_rewrite_context *context, const firn_parquet_piece *pieces,
                                  size_t piece_count, firn_rewrite_cut *out, firn_error *error) {
    size_t leaves = context->output->leaf_count;
    int64_t rows = 0;
    *out = (firn_rewrite_cut){.parts = 1, .leaf_count = leaves};
    for (size_t i = 0; i < piece_count; i++) rows += pieces[i].row_count;
    cut_job job = {.context = context,
                   .pieces = pieces,
                   .piece_count = piece_count,
                   .rewrite_options = {.copy_pages = context->settings->copy_pages,
                                       .no_joined_pages = context->settings->no_joined_pages,
                                       .smallest_joined_bytes = FIRN_PARQUET_SMALLEST_JOINED_BYTES},
                   .reaches = firn_alloc_zeroed(leaves, sizeof *job.reaches),
                   .most_kept = most_kept_of(context)};
    out->merged = firn_alloc_zeroed(leaves, sizeof(firn_parquet_merged *));
    firn_status status = FIRN_OK;
    if (job.reaches == NULL || out->merged == NULL) FIRN_CHECK(firn_fail_memory(error));
    FIRN_CHECK(firn_pool_each(context->settings->pool, leaves, measure_leaf, &job, error));
    for (size_t i = 0; i < leaves; i++) {
        size_t wanted = firn_rewrite_parts_for(&job.reaches[i], rows);
        if (wanted > out->parts) out->parts = wanted;
    }
    hand_over(&job, out);
out:
    for (size_t i = 0; job.reaches != NULL && i < leaves; i++) {
        firn_parquet_merged_free(job.reaches[i].merged);
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
