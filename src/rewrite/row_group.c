#include "rewrite/row_group.h"

#include "base/alloc.h"
#include "base/cancel.h"

typedef struct waiting_chunk {
    bool ready;
    firn_parquet_chunk chunk;
} waiting_chunk;

typedef struct row_group_job {
    firn_rewrite_context *context;
    firn_output_file *file;
    const firn_parquet_piece *pieces;
    size_t piece_count;
    int64_t rows;
    firn_parquet_rewrite_options rewrite_options;
    pthread_mutex_t mutex; /* guards what follows, and the file */
    pthread_cond_t written;
    waiting_chunk *slots; /* one per leaf: chunks that wait for their turn */
    size_t next;          /* leaf that is written next */
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
        waiting_chunk *slot = &job->slots[job->next];
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
 * Takes the chunk over. Where much waits already, the thread waits too, unless it is its chunk's turn: leaves are begun in
 * order, so that the one whose turn it is has been begun by a thread that is not waiting here.
 */
static firn_status hand_over(row_group_job *job, size_t leaf, firn_parquet_chunk *chunk,
                             const firn_parquet_rewrite_counts *counts, firn_error *error) {
    pthread_mutex_lock(&job->mutex);
    while (!job->failed && job->next != leaf &&
           job->waiting_bytes + size_of(chunk) > FIRN_REWRITE_WAITING_BYTES) {
        pthread_cond_wait(&job->written, &job->mutex);
    }
    job->slots[leaf] = (waiting_chunk){true, *chunk};
    job->waiting_bytes += size_of(chunk);
    job->sums.bytes_copied += counts->bytes_copied;
    job->sums.bytes_encoded += counts->bytes_encoded;
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

static firn_status rewrite_leaf(void *argument, size_t leaf, firn_error *error) {
    row_group_job *job = argument;
    firn_rewrite_context *context = job->context;
    firn_parquet_chunk chunk = {0};
    firn_parquet_rewrite_counts counts = {0};
    firn_status status;
    FIRN_CHECK(firn_cancel_check(error));
    FIRN_CHECK(firn_parquet_rewrite_leaf(job->pieces, job->piece_count, context->output, leaf,
                                         &context->options, &job->rewrite_options, &chunk, &counts,
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

static firn_status run(row_group_job *job, firn_error *error) {
    size_t leaves = job->context->output->leaf_count;
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
                                   firn_rewrite_sums *sums, firn_error *error) {
    size_t leaves = context->output->leaf_count;
    row_group_job job = {.context = context,
                         .file = file,
                         .pieces = pieces,
                         .piece_count = piece_count,
                         .rewrite_options = {.copy_pages = context->settings->copy_pages},
                         .slots = firn_alloc_zeroed(leaves, sizeof *job.slots)};
    if (job.slots == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < piece_count; i++) job.rows += pieces[i].row_count;
    pthread_mutex_init(&job.mutex, NULL);
    pthread_cond_init(&job.written, NULL);
    firn_status status = run(&job, error);
    for (size_t i = 0; i < leaves; i++) {
        if (job.slots[i].ready) firn_parquet_chunk_release(&job.slots[i].chunk);
    }
    pthread_cond_destroy(&job.written);
    pthread_mutex_destroy(&job.mutex);
    firn_free(job.slots);
    sums->bytes_copied += job.sums.bytes_copied;
    sums->bytes_encoded += job.sums.bytes_encoded;
    sums->rows += job.sums.rows;
    return status;
}
