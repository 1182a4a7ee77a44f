#include "rewrite/row_group.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "rewrite/dropped.h"

typedef struct leaf_slot {
    bool begun, ready;
    firn_parquet_chunk chunk; /* finished, while it waits for its turn */
} leaf_slot;

typedef struct leaf_work {
    size_t leaf;
    int64_t bytes; /* compressed, of all pieces */
} leaf_work;

typedef struct row_group_job {
    firn_rewrite_context *context;
    firn_output_file *file;
    const firn_parquet_piece *pieces;
    size_t piece_count;
    int64_t rows;
    firn_parquet_rewrite_options rewrite_options;
    firn_parquet_merged *const *merged;
    pthread_mutex_t mutex; /* guards what follows, and the file */
    pthread_cond_t written;
    leaf_slot *slots; /* one per leaf */
    leaf_work *
        order; /* leaves as they are begun: the largest first, so that none is left over at the end */
    size_t next; /* leaf that is written next */
    size_t waiting_bytes;
    bool failed;
    firn_rewrite_sums sums;
} row_group_job;

static firn_status check_counts(const row_group_job *job, size_t leaf,
                                const firn_parquet_rewrite_counts *in,
                                const firn_parquet_chunk_counts *out, firn_error *error) {
    if (in->rows == job->rows && out->row_count == job->rows && in->levels == out->level_count &&
        in->nulls == out->null_count) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: column \"%s\": of %lld rows, %lld rows with %lld entries and %lld nulls "
                     "were read, and %lld rows with %lld entries and %lld nulls written; the new "
                     "file is not used",
                     job->file->location, job->context->output->leaves[leaf].dotted_path,
                     (long long)job->rows, (long long)in->rows, (long long)in->levels,
                     (long long)in->nulls, (long long)out->row_count, (long long)out->level_count,
                     (long long)out->null_count);
}

static size_t size_of(const firn_parquet_chunk *chunk) {
    return chunk->dictionary.size + chunk->bytes.size;
}

/* Writes the chunks whose turn it is. Called with the mutex held. */
static firn_status write_ready(row_group_job *job, firn_error *error) {
    size_t leaves = job->context->output->leaf_count;
    while (job->next < leaves && job->slots[job->next].ready) {
        leaf_slot *slot = &job->slots[job->next];
        size_t size = size_of(&slot->chunk);
        FIRN_TRY(firn_leaf_totals_add(&job->file->totals[job->next],
                                      &job->context->output->leaves[job->next], &slot->chunk,
                                      error));
        /* The writer releases the chunk. */
        slot->ready = false;
        FIRN_TRY(firn_parquet_file_writer_add_chunk(job->file->writer, &slot->chunk, error));
        job->waiting_bytes -= size;
        job->next++;
    }
    return FIRN_OK;
}

/*
 * Takes the chunk over. Where much waits already, the thread waits too, as long as another is busy with the leaf whose turn it
 * is: when nobody is, this thread may be the one to begin it.
 */
static firn_status hand_over(row_group_job *job, size_t leaf, firn_parquet_chunk *chunk,
                             const firn_parquet_rewrite_counts *counts, firn_error *error) {
    pthread_mutex_lock(&job->mutex);
    while (!job->failed && job->next != leaf && job->slots[job->next].begun &&
           job->waiting_bytes + size_of(chunk) > FIRN_REWRITE_WAITING_BYTES) {
        pthread_cond_wait(&job->written, &job->mutex);
    }
    job->slots[leaf].ready = true;
    job->slots[leaf].chunk = *chunk;
    job->waiting_bytes += size_of(chunk);
    firn_parquet_rewrite_counts_add(&job->sums.counts, counts);
    if (leaf == 0) job->sums.rows += counts->rows;
    firn_status status = job->failed ? FIRN_OK : write_ready(job, error);
    if (status != FIRN_OK) job->failed = true;
    pthread_cond_broadcast(&job->written);
    pthread_mutex_unlock(&job->mutex);
    return status;
}

static void fail_job(row_group_job *job) {
    pthread_mutex_lock(&job->mutex);
    job->failed = true;
    pthread_cond_broadcast(&job->written);
    pthread_mutex_unlock(&job->mutex);
}

static firn_status rewrite_leaf(void *argument, size_t index, firn_error *error) {
    row_group_job *job = argument;
    size_t leaf = job->order[index].leaf;
    firn_rewrite_context *context = job->context;
    firn_parquet_chunk chunk = {0};
    firn_parquet_rewrite_counts counts = {0};
    firn_status status;
    pthread_mutex_lock(&job->mutex);
    job->slots[leaf].begun = true;
    pthread_mutex_unlock(&job->mutex);
    FIRN_CHECK(firn_cancel_check(error));
    firn_parquet_rewrite_options rewrite_options = job->rewrite_options;
    if (job->merged != NULL) rewrite_options.merged = job->merged[leaf];
    FIRN_CHECK(firn_parquet_rewrite_leaf(job->pieces, job->piece_count, context->output, leaf,
                                         &context->options, &rewrite_options, &chunk, &counts,
                                         error));
    status = check_counts(job, leaf, &counts, &chunk.counts, error);
    if (status != FIRN_OK) {
        firn_parquet_chunk_release(&chunk);
        goto out;
    }
    const firn_rewrite_progress *progress = &context->settings->progress;
    if (progress->advance != NULL) {
        progress->advance(progress->context, counts.bytes_copied + counts.bytes_encoded);
    }
    return hand_over(job, leaf, &chunk, &counts, error);
out:
    fail_job(job);
    return status;
}

static int larger_first(const void *a, const void *b) {
    const leaf_work *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->leaf < y->leaf ? -1 : 1;
}

static firn_status order_leaves(row_group_job *job, firn_error *error) {
    size_t leaves = job->context->output->leaf_count;
    job->order = firn_alloc_zeroed(leaves, sizeof *job->order);
    if (job->order == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaves; i++) {
        leaf_work *work = &job->order[i];
        work->leaf = i;
        for (size_t j = 0; j < job->piece_count; j++) {
            const firn_parquet_piece *piece = &job->pieces[j];
            int32_t leaf = piece->mappings[i].input_leaf;
            if (leaf < 0) continue;
            const firn_parquet_row_group *group =
                &piece->file->metadata->row_groups[piece->row_group];
            if (__builtin_add_overflow(work->bytes, group->columns[leaf].total_compressed_size,
                                       &work->bytes)) {
                work->bytes = INT64_MAX;
                break;
            }
        }
    }
    qsort(job->order, leaves, sizeof *job->order, larger_first);
    return FIRN_OK;
}

static firn_status run(row_group_job *job, firn_error *error) {
    size_t leaves = job->context->output->leaf_count;
    FIRN_TRY(order_leaves(job, error));
    FIRN_TRY(firn_parquet_file_writer_begin_row_group(job->file->writer, job->rows, error));
    FIRN_TRY(firn_pool_each(job->context->settings->pool, leaves, rewrite_leaf, job, error));
    if (job->next != leaves || job->sums.rows != job->rows) {
        return firn_fail(error, FIRN_CORRUPT, "%s: %lld of %lld rows were read",
                         job->file->location, (long long)job->sums.rows, (long long)job->rows);
    }
    FIRN_TRY(firn_parquet_file_writer_end_row_group(job->file->writer, error));
    job->file->rows += job->rows;
    return FIRN_OK;
}

firn_status firn_rewrite_row_group(firn_rewrite_context *context, firn_output_file *file,
                                   const firn_parquet_piece *pieces, size_t piece_count,
                                   firn_parquet_merged *const *merged, firn_rewrite_sums *sums,
                                   firn_error *error) {
    size_t leaves = context->output->leaf_count;
    row_group_job job = {
        .context = context,
        .file = file,
        .pieces = pieces,
        .piece_count = piece_count,
        .merged = merged,
        .rewrite_options = {.copy_pages = context->settings->copy_pages,
                            .no_joined_pages = context->settings->no_joined_pages,
                            .smallest_joined_bytes = FIRN_PARQUET_SMALLEST_JOINED_BYTES},
        .slots = firn_alloc_zeroed(leaves, sizeof *job.slots)};
    if (job.slots == NULL) return firn_fail_memory(error);
    job.rows = firn_rewrite_rows_kept(pieces, piece_count);
    pthread_mutex_init(&job.mutex, NULL);
    pthread_cond_init(&job.written, NULL);
    firn_status status = run(&job, error);
    for (size_t i = 0; i < leaves; i++) {
        if (job.slots[i].ready) firn_parquet_chunk_release(&job.slots[i].chunk);
    }
    pthread_cond_destroy(&job.written);
    pthread_mutex_destroy(&job.mutex);
    firn_free(job.slots);
    firn_free(job.order);
    sums->rows += job.sums.rows;
    firn_parquet_rewrite_counts_add(&sums->counts, &job.sums.counts);
    return status;
}
