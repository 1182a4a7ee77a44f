#include "cli/demo_file.h"

#include <stdio.h>

#include "base/random.h"
#include "data/location.h"
#include "data/metrics.h"
#include "data/projection.h"
#include "data/write_options.h"
#include "parquet/file_writer.h"

typedef struct file_job {
    const firn_demo_rows *rows;
    const firn_schema *schema;
    firn_data_write_options options;
    firn_leaf_totals totals[FIRN_DEMO_LEAVES];
    firn_parquet_file_writer *writer;
} file_job;

static firn_status write_bytes(void *context, const void *data, size_t size, firn_error *error) {
    return firn_storage_write(context, data, size, error);
}

static firn_status write_leaf(file_job *job, const firn_parquet_leaf *leaf, size_t index,
                              firn_error *error) {
    firn_parquet_chunk_writer *writer = NULL;
    firn_parquet_chunk chunk = {0};
    firn_parquet_batch batch = firn_demo_rows_batch(job->rows, index);
    FIRN_TRY(firn_parquet_chunk_writer_new(leaf, &job->options.parquet, &writer, error));
    firn_status status = firn_parquet_chunk_writer_append(writer, &batch, error);
    if (status == FIRN_OK) status = firn_parquet_chunk_writer_finish(writer, &chunk, error);
    firn_parquet_chunk_writer_free(writer);
    FIRN_TRY(status);
    status = firn_leaf_totals_add(&job->totals[index], leaf, &chunk, error);
    if (status != FIRN_OK) {
        firn_parquet_chunk_release(&chunk);
        return status;
    }
    return firn_parquet_file_writer_add_chunk(job->writer, &chunk, error);
}

/* One row group holds it all. */
static firn_status write_content(file_job *job, firn_arena *arena, firn_storage_writer *file,
                                 uint64_t *size, int64_t *row_group_offset, firn_error *error) {
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    firn_write_to destination = {write_bytes, file};
    FIRN_TRY(firn_parquet_elements_of_schema(job->schema, arena, &elements, &count, error));
    FIRN_TRY(firn_parquet_file_writer_new(elements, count, &job->options.parquet, &destination,
                                          &job->writer, error));
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(job->writer);
    if (schema->leaf_count != FIRN_DEMO_LEAVES) {
        return firn_fail(error, FIRN_CORRUPT, "the demonstration's schema has %zu leaves, not %d",
                         schema->leaf_count, FIRN_DEMO_LEAVES);
    }
    *row_group_offset = (int64_t)firn_parquet_file_writer_position(job->writer);
    FIRN_TRY(firn_parquet_file_writer_begin_row_group(job->writer, (int64_t)job->rows->row_count,
                                                      error));
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) {
        FIRN_TRY(write_leaf(job, &schema->leaves[i], i, error));
    }
    FIRN_TRY(firn_parquet_file_writer_end_row_group(job->writer, error));
    return firn_parquet_file_writer_finish(job->writer, size, NULL, error);
}

static firn_status describe(const file_job *job, const firn_table_metadata *metadata,
                            const char *location, uint64_t size, int64_t row_group_offset,
                            int32_t day, firn_arena *arena, firn_data_file *out,
                            firn_error *error) {
    firn_metrics_mode modes[FIRN_DEMO_LEAVES];
    firn_value *partition = firn_arena_alloc(arena, 1, sizeof *partition);
    int64_t *offsets = firn_arena_memdup(arena, &row_group_offset, sizeof row_group_offset);
    char *path = firn_arena_strdup(arena, location);
    if (partition == NULL || offsets == NULL || path == NULL) return firn_fail_memory(error);
    *partition = (firn_value){.kind = FIRN_TYPE_DATE, .as.int32 = day};
    *out = (firn_data_file){
        .content = FIRN_CONTENT_DATA,
        .path = path,
        .format = FIRN_FILE_PARQUET,
        .format_text = firn_file_format_name(FIRN_FILE_PARQUET),
        .spec_id = metadata->default_spec->spec_id,
        .partition = partition,
        .partition_count = 1,
        .record_count = (int64_t)job->rows->row_count,
        .file_size_in_bytes = (int64_t)size,
        .split_offsets = offsets,
        .split_offset_count = 1,
        .has_sort_order_id = true,
        .sort_order_id = 0,
    };
    FIRN_TRY(firn_metrics_modes(metadata, job->schema, firn_demo_field_ids, FIRN_DEMO_LEAVES, modes,
                                error));
    return firn_metrics_fill(job->schema, firn_demo_field_ids, modes, job->totals, FIRN_DEMO_LEAVES,
                             arena, out, error);
}

static firn_status new_location(const firn_table_metadata *metadata, size_t commit, int32_t day,
                                char **out, firn_error *error) {
    char uuid[FIRN_UUID_TEXT_SIZE];
    char name[96];
    firn_value partition = {.kind = FIRN_TYPE_DATE, .as.int32 = day};
    FIRN_TRY(firn_uuid_random(uuid, error));
    snprintf(name, sizeof name, "%05zu-0-%s.parquet", commit, uuid);
    return firn_location_new_data_file(metadata, metadata->default_spec, &partition, name, out,
                                       error);
}

firn_status firn_demo_write_file(firn_table *table, firn_journal *journal,
                                 const firn_demo_rows *rows, size_t commit, firn_arena *arena,
                                 firn_data_file *out, firn_error *error) {
    const firn_table_metadata *metadata = table->metadata;
    int32_t day = firn_demo_day(commit);
    file_job job = {.rows = rows, .schema = metadata->schema};
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) firn_leaf_totals_init(&job.totals[i]);
    char *location = NULL;
    firn_storage_writer *file = NULL;
    uint64_t size = 0;
    int64_t row_group_offset = 0;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_data_write_options_read(metadata, &job.options, error));
    FIRN_CHECK(new_location(metadata, commit, day, &location, error));
    FIRN_CHECK(firn_journal_add(journal, location, error));
    FIRN_CHECK(firn_storage_create(table->storage, location, &file, error));
    FIRN_CHECK(write_content(&job, arena, file, &size, &row_group_offset, error));
    status = firn_storage_finish(file, error);
    file = NULL;
    if (status != FIRN_OK) goto out;
    FIRN_CHECK(describe(&job, metadata, location, size, row_group_offset, day, arena, out, error));
out:
    firn_storage_abort(file);
    firn_parquet_file_writer_free(job.writer);
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) firn_leaf_totals_release(&job.totals[i]);
    firn_free(location);
    return status;
}

firn_status firn_demo_write_source(firn_storage *storage, const firn_table_metadata *metadata,
                                   const firn_demo_rows *rows, const char *location,
                                   firn_error *error) {
    file_job job = {.rows = rows, .schema = metadata->schema};
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) firn_leaf_totals_init(&job.totals[i]);
    firn_storage_writer *file = NULL;
    uint64_t size = 0;
    int64_t row_group_offset = 0;
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_data_write_options_read(metadata, &job.options, error));
    FIRN_CHECK(firn_storage_create(storage, location, &file, error));
    FIRN_CHECK(write_content(&job, arena, file, &size, &row_group_offset, error));
    status = firn_storage_finish(file, error);
    file = NULL;
out:
    firn_storage_abort(file);
    firn_parquet_file_writer_free(job.writer);
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) firn_leaf_totals_release(&job.totals[i]);
    firn_arena_free(arena);
    return status;
}
