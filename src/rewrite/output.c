#include "rewrite/output.h"

#include "base/alloc.h"

static firn_storage *storage_of(const firn_rewrite_context *context) {
    return context->settings->table->storage;
}

static firn_status write_bytes(void *context, const void *data, size_t size, firn_error *error) {
    firn_output_file *file = context;
    if (file->storage_writer == NULL) return FIRN_OK; /* a trial */
    return firn_storage_write(file->storage_writer, data, size, error);
}

/* The table's schema as JSON, under the key that Iceberg's own writers use. */
static firn_status set_schema(firn_output_file *file, firn_error *error) {
    json_t *json = firn_schema_to_json(file->context->schema);
    if (json == NULL) return firn_fail_memory(error);
    firn_buffer text = firn_buffer_with_maximum((size_t)256 << 20);
    char *value = NULL;
    firn_status status;
    FIRN_CHECK(firn_json_write(json, 0, &text, error));
    value = firn_buffer_take_text(&text);
    status = value == NULL ? firn_fail_memory(error)
                           : firn_parquet_file_writer_set_key_value(file->writer, "iceberg.schema",
                                                                    value, error);
out:
    firn_free(value);
    firn_buffer_release(&text);
    json_decref(json);
    return status;
}

firn_status firn_output_file_begin(firn_output_file *file, firn_rewrite_context *context,
                                   const char *location, firn_error *error) {
    *file = (firn_output_file){.context = context, .location = location};
    size_t leaves = context->output->leaf_count;
    file->totals = firn_alloc_zeroed(leaves, sizeof *file->totals);
    if (file->totals == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaves; i++) firn_leaf_totals_init(&file->totals[i]);
    if (!context->settings->trial) {
        FIRN_TRY(firn_storage_create(storage_of(context), location, &file->storage_writer, error));
    }
    firn_write_to destination = {write_bytes, file};
    FIRN_TRY(firn_parquet_file_writer_new(context->elements, context->element_count,
                                          &context->options, &destination, &file->writer, error));
    return set_schema(file, error);
}

void firn_output_file_release(firn_output_file *file) {
    if (file->writer != NULL) firn_parquet_file_writer_free(file->writer);
    if (file->storage_writer != NULL) firn_storage_abort(file->storage_writer);
    for (size_t i = 0; file->totals != NULL && i < file->context->output->leaf_count; i++) {
        firn_leaf_totals_release(&file->totals[i]);
    }
    firn_free(file->totals);
    *file = (firn_output_file){0};
}

/* Where each row group begins: readers split files there. */
static firn_status set_split_offsets(const firn_parquet_file_metadata *metadata, firn_arena *arena,
                                     firn_data_file *out, firn_error *error) {
    int64_t *offsets = firn_arena_alloc(arena, metadata->row_group_count, sizeof *offsets);
    if (offsets == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        const firn_parquet_column_chunk *first = &metadata->row_groups[i].columns[0];
        offsets[i] = first->data_page_offset;
        if (first->has_dictionary_page_offset && first->dictionary_page_offset > 0 &&
            first->dictionary_page_offset < offsets[i]) {
            offsets[i] = first->dictionary_page_offset;
        }
    }
    out->split_offsets = offsets;
    out->split_offset_count = metadata->row_group_count;
    return FIRN_OK;
}

static firn_status set_partition(const firn_rewrite_context *context, firn_arena *arena,
                                 firn_data_file *out, firn_error *error) {
    const firn_data_file *first = &context->inputs[0].file->entry.file;
    firn_value *partition = firn_arena_alloc(arena, first->partition_count + 1, sizeof *partition);
    if (partition == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < first->partition_count; i++) {
        FIRN_TRY(firn_value_copy(&first->partition[i], arena, &partition[i], error));
    }
    out->spec_id = first->spec_id;
    out->partition = partition;
    out->partition_count = first->partition_count;
    return FIRN_OK;
}

/* Rows of one input in their order keep that input's sort order; rows of several, one after the other, have none. */
static int32_t sort_order_of(const firn_output_file *file) {
    if (!file->any_input || file->several_inputs) return 0;
    const firn_data_file *input = &file->context->inputs[file->input].file->entry.file;
    if (!input->has_sort_order_id) return 0;
    bool known =
        firn_table_metadata_sort_order(file->context->metadata, input->sort_order_id) != NULL;
    return known ? input->sort_order_id : 0;
}

static firn_status describe(firn_output_file *file, const firn_parquet_file_metadata *metadata,
                            uint64_t size, firn_arena *arena, firn_data_file *out,
                            firn_error *error) {
    const firn_rewrite_context *context = file->context;
    size_t leaves = context->output->leaf_count;
    *out = (firn_data_file){.content = FIRN_CONTENT_DATA,
                            .path = firn_arena_strdup(arena, file->location),
                            .format = FIRN_FILE_PARQUET,
                            .format_text = firn_file_format_name(FIRN_FILE_PARQUET),
                            .record_count = file->rows,
                            .file_size_in_bytes = (int64_t)size,
                            .has_sort_order_id = true,
                            .sort_order_id = sort_order_of(file)};
    firn_metrics_mode *modes = firn_arena_alloc(arena, leaves, sizeof *modes);
    if (out->path == NULL || modes == NULL) return firn_fail_memory(error);
    FIRN_TRY(set_partition(context, arena, out, error));
    FIRN_TRY(set_split_offsets(metadata, arena, out, error));
    FIRN_TRY(firn_metrics_modes(context->metadata, context->schema, context->leaf_ids, leaves,
                                modes, error));
    return firn_metrics_fill(context->schema, context->leaf_ids, modes, file->totals, leaves, arena,
                             out, error);
}

/* A file whose footer can't be read back, or that says something else, must not become live. */
static firn_status read_back(const firn_output_file *file, uint64_t size, size_t row_group_count,
                             firn_error *error) {
    firn_storage_file *storage_file = NULL;
    firn_parquet_file *parquet = NULL;
    firn_status status;
    FIRN_CHECK(firn_storage_open(storage_of(file->context), file->location, &storage_file, error));
    const firn_read_at *source = firn_storage_file_source(storage_file);
    FIRN_CHECK(firn_parquet_file_open(source, &parquet, error));
    if (source->size != size || parquet->metadata->num_rows != file->rows ||
        parquet->metadata->row_group_count != row_group_count) {
        status = firn_fail(error, FIRN_CORRUPT, "%s: read back, it is not what was written",
                           file->location);
    }
out:
    if (parquet != NULL) firn_parquet_file_close(parquet);
    if (storage_file != NULL) firn_storage_close(storage_file);
    return status;
}

firn_status firn_output_file_finish(firn_output_file *file, firn_arena *arena, firn_data_file *out,
                                    size_t *row_group_count, firn_error *error) {
    uint64_t size = 0;
    const firn_parquet_file_metadata *metadata = NULL;
    FIRN_TRY(firn_parquet_file_writer_finish(file->writer, &size, &metadata, error));
    FIRN_TRY(describe(file, metadata, size, arena, out, error));
    *row_group_count = metadata->row_group_count;
    if (file->storage_writer == NULL) return FIRN_OK;
    firn_storage_writer *storage_writer = file->storage_writer;
    file->storage_writer = NULL;
    FIRN_TRY(firn_storage_finish(storage_writer, error));
    return read_back(file, size, *row_group_count, error);
}
