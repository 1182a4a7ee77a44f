#include "parquet/verify.h"

#include <stdio.h>

#include "base/alloc.h"
#include "parquet/verify_internal.h"

typedef struct verify_job {
    const firn_parquet_file *file;
    firn_parquet_check *checks; /* one per column chunk, by row group */
    size_t leaf_count;
} verify_job;

/* A finding about the file or a row group. */
static firn_status find(firn_parquet_verification *out, const char *kind, int64_t row_group,
                        int64_t byte_offset, const char *message, firn_error *error) {
    firn_parquet_finding finding = {
        .kind = kind,
        .row_group = row_group,
        .column = -1,
        .page = -1,
        .byte_offset = byte_offset,
        .message = firn_arena_strdup(out->arenas[0], message),
    };
    if (finding.message == NULL) return firn_fail_memory(error);
    return firn_vector_push(&out->findings, error, finding);
}

static firn_status check_row_group(const firn_parquet_file *file, size_t index,
                                   firn_parquet_verification *out, firn_error *error) {
    const firn_parquet_row_group *group = &file->metadata->row_groups[index];
    int64_t uncompressed = 0, compressed = 0;
    char message[160];
    for (size_t i = 0; i < group->column_count; i++) {
        if (!group->columns[i].has_metadata) return FIRN_OK;
        if (__builtin_add_overflow(uncompressed, group->columns[i].total_uncompressed_size,
                                   &uncompressed) ||
            __builtin_add_overflow(compressed, group->columns[i].total_compressed_size,
                                   &compressed)) {
            return find(out, "footer", (int64_t)index, -1, "the columns' sizes overflow", error);
        }
    }
    if (group->total_byte_size != uncompressed) {
        snprintf(message, sizeof message, "total_byte_size is %lld but the columns have %lld bytes",
                 (long long)group->total_byte_size, (long long)uncompressed);
        FIRN_TRY(find(out, "footer", (int64_t)index, -1, message, error));
    }
    if (!group->has_total_compressed_size || group->total_compressed_size == compressed) {
        return FIRN_OK;
    }
    snprintf(message, sizeof message,
             "total_compressed_size is %lld but the columns have %lld bytes",
             (long long)group->total_compressed_size, (long long)compressed);
    return find(out, "footer", (int64_t)index, -1, message, error);
}

static firn_status run_check(void *context, size_t index, firn_error *error) {
    verify_job *job = context;
    firn_parquet_check *check = &job->checks[index];
    size_t leaf = index % job->leaf_count;
    check->file = job->file;
    check->row_group = index / job->leaf_count;
    check->leaf = &job->file->schema->leaves[leaf];
    check->group = &job->file->metadata->row_groups[check->row_group];
    check->chunk = &check->group->columns[leaf];
    check->order = firn_parquet_order_of(check->leaf->node->element);
    check->arena = firn_arena_new();
    if (check->arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_parquet_check_chunk(check, error);
    /* Only the texts of findings are needed longer: there may be many thousand chunks. */
    if (check->findings.count == 0) {
        firn_arena_free(check->arena);
        check->arena = NULL;
    }
    return status;
}

/* Takes over what one check found, and frees the rest. */
static firn_status collect(firn_parquet_check *check, firn_parquet_verification *out,
                           firn_error *error) {
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < check->findings.count && status == FIRN_OK; i++) {
        status = firn_vector_push(&out->findings, error, check->findings.items[i]);
    }
    out->findings_left_out += check->findings_left_out;
    out->pages += check->data_pages;
    out->values += check->whole.values;
    out->crcs += check->crcs;
    out->column_indexes += check->indexes.has_column_index;
    out->offset_indexes += check->indexes.has_offset_index;
    out->bloom_filters += check->indexes.has_bloom_filter;
    if (check->arena != NULL) out->arenas[out->arena_count++] = check->arena;
    firn_vector_release(&check->findings);
    return status;
}

static firn_status verify_file(const firn_parquet_file *file, firn_pool *pool,
                               firn_parquet_verification *out, firn_error *error) {
    size_t groups = file->metadata->row_group_count;
    verify_job job = {.file = file, .leaf_count = file->schema->leaf_count};
    size_t count = 0;
    if (__builtin_mul_overflow(groups, job.leaf_count, &count)) return firn_fail_memory(error);
    out->row_groups = (int64_t)groups;
    out->columns = (int64_t)job.leaf_count;
    out->rows = file->metadata->num_rows;
    for (size_t i = 0; i < groups; i++) FIRN_TRY(check_row_group(file, i, out, error));
    firn_arena **arenas = firn_realloc(out->arenas, (count + 1) * sizeof *arenas);
    if (arenas == NULL) return firn_fail_memory(error);
    out->arenas = arenas;
    if (count == 0) return FIRN_OK;
    job.checks = firn_alloc_zeroed(count, sizeof *job.checks);
    if (job.checks == NULL) return firn_fail_memory(error);
    firn_status status = firn_pool_each(pool, count, run_check, &job, error);
    for (size_t i = 0; i < count; i++) {
        firn_status kept = collect(&job.checks[i], out, status == FIRN_OK ? error : NULL);
        if (status == FIRN_OK) status = kept;
    }
    firn_free(job.checks);
    return status;
}

firn_status firn_parquet_verify(const firn_read_at *source, firn_pool *pool,
                                firn_parquet_verification *out, firn_error *error) {
    *out = (firn_parquet_verification){0};
    out->arenas = firn_alloc_array(1, sizeof *out->arenas);
    if (out->arenas == NULL) return firn_fail_memory(error);
    out->arenas[0] = firn_arena_new();
    if (out->arenas[0] == NULL) return firn_fail_memory(error);
    out->arena_count = 1;
    firn_parquet_file *file = NULL;
    firn_error problem = {0};
    firn_status status = firn_parquet_file_open(source, &file, &problem);
    if (status == FIRN_CORRUPT || status == FIRN_LIMIT || status == FIRN_UNSUPPORTED) {
        size_t length = strlen(source->name);
        bool named = strncmp(problem.message, source->name, length) == 0 &&
                     strncmp(problem.message + length, ": ", 2) == 0;
        return find(out, status == FIRN_UNSUPPORTED ? "unsupported" : "footer", -1,
                    problem.byte_offset, problem.message + (named ? length + 2 : 0), error);
    }
    if (status != FIRN_OK) {
        if (error != NULL) *error = problem;
        return status;
    }
    status = verify_file(file, pool, out, error);
    firn_parquet_file_close(file);
    return status;
}

void firn_parquet_verification_release(firn_parquet_verification *verification) {
    for (size_t i = 0; i < verification->arena_count; i++) {
        firn_arena_free(verification->arenas[i]);
    }
    firn_free(verification->arenas);
    firn_vector_release(&verification->findings);
    *verification = (firn_parquet_verification){0};
}
