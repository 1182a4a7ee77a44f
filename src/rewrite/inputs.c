#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cancel.h"
#include "data/data_source.h"
#include "data/location.h"
#include "data/write_options.h"
#include "iceberg/lineage.h"
#include "rewrite/context.h"
#include "table/ledger_property.h"

/* Rows of a page of dictionary indices: such pages are small, and DuckDB reads few large ones faster. */
#define INDEX_PAGE_ROWS 131072
/* Of a schema element in a key, about. */
#define KEY_SIZE ((size_t)160)
/* Files whose page headers are looked at: footers of some writers don't tell the pages' version. */
#define FILES_LOOKED_INTO ((size_t)64)

/* Variants are written as the inputs have them, who are alike in that: the first stands for all. */
static firn_status make_elements(firn_rewrite_context *context, firn_error *error) {
    firn_data_source *source = NULL;
    firn_status status;
    if (!firn_type_has_kind(&context->schema->root, FIRN_TYPE_VARIANT) ||
        context->group->input_count == 0) {
        return firn_parquet_elements_of_schema(context->schema, context->arena, &context->elements,
                                               &context->element_count, error);
    }
    FIRN_CHECK(firn_data_source_open(context->settings->table->storage,
                                     &context->group->inputs[0]->entry.file, &source, error));
    FIRN_CHECK(firn_parquet_elements_like(context->schema, firn_data_source_parquet(source)->schema,
                                          context->arena, &context->elements,
                                          &context->element_count, error));
out:
    firn_data_source_close(source);
    return status;
}

firn_status firn_rewrite_context_init(firn_rewrite_context *context,
                                      const firn_rewrite_settings *settings,
                                      const firn_rewrite_group *group, firn_error *error) {
    *context = (firn_rewrite_context){.settings = settings,
                                      .group = group,
                                      .metadata = settings->table->metadata,
                                      .schema = settings->table->metadata->schema,
                                      .arena = firn_arena_new(),
                                      .projections = firn_map_new(),
                                      .options = settings->write->parquet};
    pthread_mutex_init(&context->mutex, NULL);
    context->inputs = firn_alloc_zeroed(group->input_count, sizeof *context->inputs);
    if (context->arena == NULL || context->projections == NULL || context->inputs == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < group->input_count; i++) {
        context->inputs[i].file = group->inputs[i];
    }
    FIRN_TRY(firn_location_check(context->metadata, error));
    if (group->lineage) {
        FIRN_TRY(
            firn_schema_with_lineage(context->schema, context->arena, &context->schema, error));
    }
    FIRN_TRY(make_elements(context, error));
    FIRN_TRY(firn_parquet_schema_build(context->elements, context->element_count,
                                       "the table's schema", context->arena, &context->output,
                                       error));
    size_t leaves = context->output->leaf_count;
    context->leaf_ids = firn_projection_leaf_ids(context->output, context->arena);
    if (context->leaf_ids == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_data_column_options(context->metadata, context->schema, context->leaf_ids, leaves,
                                      context->arena, &context->options.columns, error));
    context->options.column_count = leaves;
    return firn_name_mapping_of_table(context->metadata, context->arena, &context->name_mapping,
                                      error);
}

static void free_inputs(firn_input_summary *inputs, size_t count) {
    for (size_t i = 0; inputs != NULL && i < count; i++) firn_free(inputs[i].units);
    firn_free(inputs);
}

void firn_rewrite_context_release(firn_rewrite_context *context) {
    free_inputs(context->inputs, context->group->input_count);
    firn_map_free(context->projections);
    firn_arena_free(context->arena);
    pthread_mutex_destroy(&context->mutex);
}

/* Everything of a schema that a projection looks at, as bytes. */
static firn_status append_schema_key(const firn_parquet_file_metadata *metadata, firn_buffer *out,
                                     firn_error *error) {
    for (size_t i = 0; i < metadata->schema_count; i++) {
        const firn_parquet_schema_element *element = &metadata->schema[i];
        const firn_parquet_logical_type *logical = &element->logical;
        const int64_t numbers[] = {element->has_type,
                                   element->type,
                                   element->type_length,
                                   element->has_repetition ? (int)element->repetition : -1,
                                   element->num_children,
                                   element->has_field_id,
                                   element->field_id,
                                   logical->kind,
                                   logical->scale,
                                   logical->precision,
                                   logical->unit,
                                   logical->adjusted_to_utc,
                                   logical->bit_width,
                                   logical->is_signed,
                                   (int64_t)strlen(element->name)};
        FIRN_TRY(firn_buffer_append(out, numbers, sizeof numbers, error));
        FIRN_TRY(firn_buffer_append_text(out, element->name, error));
    }
    return FIRN_OK;
}

/* Called with the mutex held. All inputs are of one spec and partition tuple, so that only their schema makes a difference. */
static firn_status make_projection(firn_rewrite_context *context, firn_slice key,
                                   const firn_parquet_file *parquet, const firn_data_file *file,
                                   const firn_projection **out, firn_error *error) {
    firn_projection *projection = firn_arena_alloc(context->arena, 1, sizeof *projection);
    if (projection == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_projection_build(context->schema, context->output, parquet, file->path, file,
                                   context->group->spec, context->name_mapping,
                                   context->metadata->format_version, context->arena, projection,
                                   error));
    FIRN_TRY(firn_map_set(context->projections, key, projection, error));
    *out = projection;
    return FIRN_OK;
}

static firn_status find_projection(firn_rewrite_context *context, const firn_parquet_file *parquet,
                                   const firn_data_file *file, const firn_projection **out,
                                   firn_error *error) {
    firn_buffer key = firn_buffer_with_maximum((size_t)256 << 20);
    firn_status status;
    FIRN_CHECK(firn_buffer_reserve(&key, parquet->metadata->schema_count * KEY_SIZE, error));
    FIRN_CHECK(append_schema_key(parquet->metadata, &key, error));
    pthread_mutex_lock(&context->mutex);
    *out = firn_map_get(context->projections, firn_buffer_slice(&key), NULL);
    if (*out == NULL) {
        status = make_projection(context, firn_buffer_slice(&key), parquet, file, out, error);
    }
    pthread_mutex_unlock(&context->mutex);
out:
    firn_buffer_release(&key);
    return status;
}

static firn_status check_entry(const firn_data_file *file, firn_error *error) {
    if (file->content != FIRN_CONTENT_DATA) {
        return firn_fail(error, FIRN_INVALID, "%s is no data file", file->path);
    }
    if (file->format != FIRN_FILE_PARQUET && file->format != FIRN_FILE_AVRO) {
        return firn_fail(
            error, FIRN_UNSUPPORTED, "%s: data files of format %s can't be rewritten", file->path,
            file->format_text != NULL ? file->format_text : firn_file_format_name(file->format));
    }
    if (file->key_metadata.data != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: the file is encrypted (key_metadata)",
                         file->path);
    }
    return FIRN_OK;
}

static firn_status check_rows(const firn_rewrite_context *context, const firn_data_file *file,
                              const firn_parquet_file_metadata *metadata, firn_error *error) {
    int64_t rows = 0;
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        int64_t more = metadata->row_groups[i].num_rows;
        if (more < 0 || __builtin_add_overflow(rows, more, &rows)) rows = -1;
        if (rows < 0) break;
    }
    if (rows == metadata->num_rows) {
        return firn_data_file_check_rows(metadata, context->metadata, file, error);
    }
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: the manifest counts %lld rows, the file's footer %lld and its row groups "
                     "%lld: the file is damaged; %s",
                     file->path, (long long)file->record_count, (long long)metadata->num_rows,
                     (long long)rows, firn_ledger_advice_replaced(context->metadata));
}

static void note_habits(firn_rewrite_habits *habits, const firn_parquet_column_chunk *chunk) {
    int64_t bytes = chunk->total_compressed_size;
    if (bytes < 0) return;
    if ((unsigned)chunk->compression <= FIRN_PARQUET_LZ4_RAW) {
        habits->by_compression[chunk->compression] += bytes;
    }
    if (habits->page_version == 1) habits->pages_v1 += bytes;
    if (habits->page_version == 2) habits->pages_v2 += bytes;
}

/* Only what feeds an output leaf counts: the rest of the row group is not moved. */
static firn_status summarize_row_group(firn_rewrite_context *context, firn_input_summary *input,
                                       const firn_parquet_file *parquet, size_t row_group,
                                       const firn_projection *projection, firn_plan_unit *unit,
                                       firn_error *error) {
    const firn_parquet_row_group *group = &parquet->metadata->row_groups[row_group];
    unit->row_group = row_group;
    unit->rows = group->num_rows;
    for (size_t i = 0; i < context->output->leaf_count; i++) {
        int32_t leaf = projection->mappings[i].input_leaf;
        if (leaf < 0) continue;
        FIRN_TRY(firn_parquet_chunk_supported(parquet, row_group, (size_t)leaf, error));
        const firn_parquet_column_chunk *chunk = &group->columns[leaf];
        if (chunk->total_compressed_size < 0 || chunk->total_uncompressed_size < 0 ||
            __builtin_add_overflow(unit->compressed, chunk->total_compressed_size,
                                   &unit->compressed) ||
            __builtin_add_overflow(unit->uncompressed, chunk->total_uncompressed_size,
                                   &unit->uncompressed)) {
            return firn_fail(error, FIRN_CORRUPT, "%s: row group %zu: the sizes can't be right",
                             input->file->entry.file.path, row_group);
        }
        /* The Parquet form of an Avro file says nothing about what its writer likes. */
        if (input->file->entry.file.format == FIRN_FILE_PARQUET) note_habits(&input->habits, chunk);
    }
    return FIRN_OK;
}

/* Every one of a few; of many, some that lie evenly among them stand for all. */
static bool is_looked_into(const firn_rewrite_context *context, size_t index) {
    size_t step = context->group->input_count / FILES_LOOKED_INTO;
    return step < 2 || index % step == 0;
}

static int64_t held_bytes(const firn_input_summary *input) {
    size_t whole = input->size <= FIRN_REWRITE_SMALL_FILE ? (size_t)input->size : 0;
    return (int64_t)(whole + input->footer_memory + sizeof(firn_open_input));
}

static firn_status summarize(firn_rewrite_context *context, size_t index,
                             const firn_parquet_file *parquet, firn_error *error) {
    firn_input_summary *input = &context->inputs[index];
    const firn_data_file *file = &input->file->entry.file;
    const firn_parquet_file_metadata *metadata = parquet->metadata;
    const firn_projection *projection = NULL;
    FIRN_TRY(check_rows(context, file, metadata, error));
    FIRN_TRY(find_projection(context, parquet, file, &projection, error));
    input->size = parquet->source.size;
    input->footer_memory = firn_arena_bytes(parquet->arena);
    input->units = firn_alloc_zeroed(metadata->row_group_count, sizeof *input->units);
    if (input->units == NULL) return firn_fail_memory(error);
    input->unit_count = metadata->row_group_count;
    if (is_looked_into(context, index)) {
        input->habits.page_version = firn_parquet_file_page_version(parquet);
    }
    for (size_t i = 0; i < input->unit_count; i++) {
        input->units[i].input = index;
        input->units[i].held = held_bytes(input);
        FIRN_TRY(
            summarize_row_group(context, input, parquet, i, projection, &input->units[i], error));
    }
    return FIRN_OK;
}

static firn_status look_at_input(void *argument, size_t index, firn_error *error) {
    firn_rewrite_context *context = argument;
    const firn_data_file *file = &context->inputs[index].file->entry.file;
    firn_data_source *source = NULL;
    firn_status status;
    FIRN_CHECK(check_entry(file, error));
    FIRN_CHECK(firn_data_source_open(context->settings->table->storage, file, &source, error));
    FIRN_CHECK(summarize(context, index, firn_data_source_parquet(source), error));
out:
    firn_data_source_close(source);
    return status;
}

void firn_rewrite_looked_free(firn_rewrite_looked *looked) {
    if (looked == NULL) return;
    free_inputs(looked->inputs, looked->count);
    firn_free(looked);
}

size_t firn_rewrite_looked_size(const firn_rewrite_looked *looked) {
    size_t size = sizeof *looked + looked->count * sizeof *looked->inputs;
    for (size_t i = 0; i < looked->count; i++) {
        size += looked->inputs[i].unit_count * sizeof *looked->inputs[i].units;
    }
    return size;
}

firn_status firn_rewrite_keep_looked(firn_rewrite_context *context, firn_rewrite_looked **out,
                                     firn_error *error) {
    firn_rewrite_looked *looked = firn_alloc_zeroed(1, sizeof *looked);
    if (looked == NULL) return firn_fail_memory(error);
    *looked = (firn_rewrite_looked){.schema_id = context->metadata->schema->schema_id,
                                    .lineage = context->group->lineage,
                                    .inputs = context->inputs,
                                    .count = context->group->input_count};
    context->inputs = NULL;
    *out = looked;
    return FIRN_OK;
}

/* Data files never change; the table's schema may have, and with it which columns count. */
static bool take_looked(firn_rewrite_context *context) {
    firn_rewrite_looked *looked = context->group->looked;
    if (looked == NULL || looked->inputs == NULL || looked->count != context->group->input_count ||
        looked->schema_id != context->metadata->schema->schema_id ||
        looked->lineage != context->group->lineage) {
        return false;
    }
    for (size_t i = 0; i < looked->count; i++) {
        firn_input_summary *input = &context->inputs[i];
        firn_input_summary found = looked->inputs[i];
        found.file = input->file;
        *input = found;
    }
    firn_free(looked->inputs);
    looked->inputs = NULL;
    looked->count = 0;
    return true;
}

firn_status firn_rewrite_look_at_inputs(firn_rewrite_context *context, firn_error *error) {
    if (take_looked(context)) return FIRN_OK;
    return firn_pool_each(context->settings->pool, context->group->input_count, look_at_input,
                          context, error);
}

void firn_rewrite_choose_options(firn_rewrite_context *context) {
    firn_rewrite_habits sum = {0};
    for (size_t i = 0; i < context->group->input_count; i++) {
        const firn_rewrite_habits *habits = &context->inputs[i].habits;
        for (size_t j = 0; j <= FIRN_PARQUET_LZ4_RAW; j++) {
            sum.by_compression[j] += habits->by_compression[j];
        }
        sum.pages_v1 += habits->pages_v1;
        sum.pages_v2 += habits->pages_v2;
    }
    const firn_data_write_options *write = context->settings->write;
    if (!write->page_row_limit_is_set) context->options.index_page_row_limit = INDEX_PAGE_ROWS;
    if (!write->page_version_is_set) {
        context->options.page_version = sum.pages_v2 > sum.pages_v1 ? 2 : 1;
    }
    if (write->compression_is_set) return;
    int64_t most = 0;
    for (int j = 0; j <= FIRN_PARQUET_LZ4_RAW; j++) {
        if (sum.by_compression[j] <= most) continue;
        if (!firn_data_can_write_compression((firn_parquet_compression)j)) continue;
        most = sum.by_compression[j];
        context->options.compression = (firn_parquet_compression)j;
    }
}

/* A manifest's NaN count is the file's; it is each row group's where it is 0 or there is only one. */
static firn_status find_nan_counts(const firn_rewrite_context *context, firn_open_input *open,
                                   firn_error *error) {
    const firn_count_map *map = &context->inputs[open->index].file->entry.file.nan_value_counts;
    if (!map->present || map->count == 0) return FIRN_OK;
    size_t leaves = context->output->leaf_count;
    open->nan_room = firn_alloc_array(leaves, sizeof *open->nan_room);
    if (open->nan_room == NULL) return firn_fail_memory(error);
    bool single = open->parquet->metadata->row_group_count == 1;
    for (size_t i = 0; i < leaves; i++) {
        int64_t count = firn_count_map_get(map, context->leaf_ids[i]);
        open->nan_room[i] = count == 0 || single ? count : -1;
    }
    open->nan_counts = open->nan_room;
    return FIRN_OK;
}

/*
 * What rows without lineage of their own inherit (specification, "Row lineage assignment"): an id from the file's first_row_id, which files of a
 * table that was upgraded to v3 have not got before the first commit after that, and the file's data sequence number.
 */
static firn_status find_fill_values(const firn_rewrite_context *context, firn_open_input *open,
                                    firn_error *error) {
    if (!context->group->lineage) return FIRN_OK;
    const firn_manifest_entry *entry = &context->inputs[open->index].file->entry;
    size_t leaves = context->output->leaf_count;
    open->fill_values = firn_alloc_array(leaves, sizeof *open->fill_values);
    if (open->fill_values == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaves; i++) {
        open->fill_values[i] = -1;
        if (context->leaf_ids[i] == FIRN_ROW_ID_FIELD_ID && entry->file.has_first_row_id) {
            open->fill_values[i] = entry->file.first_row_id;
        }
        if (context->leaf_ids[i] == FIRN_LAST_UPDATED_FIELD_ID) {
            open->fill_values[i] = entry->sequence_number;
        }
    }
    return FIRN_OK;
}

static firn_status read_source(firn_rewrite_context *context, firn_open_input *open,
                               firn_error *error) {
    const firn_input_summary *input = &context->inputs[open->index];
    const char *path = input->file->entry.file.path;
    firn_storage *storage = context->settings->table->storage;
    if (input->file->entry.file.format == FIRN_FILE_AVRO) {
        FIRN_TRY(firn_data_source_open(storage, &input->file->entry.file, &open->turned, error));
        open->source = firn_data_source_bytes(open->turned);
        open->parquet = firn_data_source_parquet(open->turned);
        return FIRN_OK;
    }
    if (input->size > FIRN_REWRITE_SMALL_FILE) {
        FIRN_TRY(firn_storage_open(storage, path, &open->storage_file, error));
        open->source = *firn_storage_file_source(open->storage_file);
        return FIRN_OK;
    }
    open->whole = firn_buffer_with_maximum((size_t)input->size + 1);
    FIRN_TRY(firn_storage_read_all(storage, path, &open->whole, error));
    open->memory = (firn_memory_file){open->whole.data, open->whole.size};
    open->source = firn_read_at_memory(&open->memory, path);
    return FIRN_OK;
}

firn_status firn_open_input_open(firn_rewrite_context *context, firn_open_input *open,
                                 firn_error *error) {
    const firn_input_summary *input = &context->inputs[open->index];
    const firn_data_file *file = &input->file->entry.file;
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(read_source(context, open, error));
    if (open->parquet == NULL) {
        FIRN_TRY(firn_parquet_file_open(&open->source, &open->own_parquet, error));
        open->parquet = open->own_parquet;
    }
    const firn_parquet_file_metadata *metadata = open->parquet->metadata;
    bool same = open->source.size == input->size && metadata->row_group_count == input->unit_count;
    for (size_t i = 0; same && i < input->unit_count; i++) {
        same = metadata->row_groups[i].num_rows == input->units[i].rows;
    }
    if (!same) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the file changed while it was being read",
                         file->path);
    }
    FIRN_TRY(find_projection(context, open->parquet, file, &open->projection, error));
    FIRN_TRY(find_nan_counts(context, open, error));
    return find_fill_values(context, open, error);
}

void firn_open_input_release(firn_open_input *open) {
    if (open->own_parquet != NULL) firn_parquet_file_close(open->own_parquet);
    firn_data_source_close(open->turned);
    if (open->storage_file != NULL) firn_storage_close(open->storage_file);
    firn_buffer_release(&open->whole);
    firn_free(open->nan_room);
    firn_free(open->fill_values);
    *open = (firn_open_input){.index = open->index};
}
