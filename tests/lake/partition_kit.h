/**
 * Files whose rows a test gives value by value, in a storage in memory, with row groups and statistics as it wants them; and the way from there to
 * a proof. What is handed to the code under test knows the footer only: reading a column through it fails.
 */
#ifndef FIRN_TESTS_LAKE_PARTITION_KIT_H
#define FIRN_TESTS_LAKE_PARTITION_KIT_H

#include "lake/file_schema.h"

#include "base/json.h"
#include "data/plain_value.h"
#include "data/projection.h"
#include "lake/proof.h"
#include "parquet/chunk_writer.h"
#include "parquet/file_writer.h"

typedef struct kit_group {
    size_t rows;
    const firn_slice *const *cells; /**< by leaf, one a row; data NULL: null */
} kit_group;

typedef void (*kit_tamper)(void *context, size_t group, size_t leaf,
                           firn_parquet_column_chunk *chunk, firn_arena *arena);

typedef struct kit {
    firn_arena *arena;
    firn_storage *storage;
    firn_parquet_write_options options;
    kit_tamper tamper;
    void *tamper_context;
    firn_error error;
} kit;

static inline kit kit_new(void) {
    kit k = {.arena = firn_arena_new()};
    assert_non_null(k.arena);
    firn_json_setup();
    check_ok(firn_storage_memory(&k.storage, &k.error), &k.error);
    firn_parquet_write_options_init(&k.options);
    return k;
}

static inline void kit_release(kit *k) {
    firn_storage_free(k->storage);
    firn_arena_free(k->arena);
}

static inline firn_status kit_sink(void *context, const void *data, size_t size,
                                   firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

static inline size_t kit_count_nodes(const firn_parquet_node *node) {
    size_t count = 1;
    for (size_t i = 0; i < node->child_count; i++) count += kit_count_nodes(node->children[i]);
    return count;
}

static inline void kit_write_chunk(kit *k, firn_parquet_file_writer *writer, size_t group,
                                   const firn_parquet_leaf *leaf, const firn_slice *cells,
                                   size_t rows) {
    firn_parquet_chunk_writer *chunk_writer = NULL;
    firn_parquet_chunk chunk = {0};
    uint32_t width =
        firn_parquet_value_width(leaf->node->element->type, leaf->node->element->type_length);
    uint8_t *levels = firn_arena_alloc(k->arena, rows + 1, 1);
    uint8_t *fixed = firn_arena_alloc(k->arena, rows * width + 1, 1);
    firn_slice *slices = firn_arena_alloc(k->arena, rows + 1, sizeof *slices);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (cells[i].data == NULL) continue;
        levels[i] = leaf->maximum_definition_level;
        if (width > 0) memcpy(fixed + count * width, cells[i].data, width);
        slices[count++] = cells[i];
    }
    firn_parquet_batch batch = {.level_count = rows,
                                .definition_levels =
                                    leaf->maximum_definition_level > 0 ? levels : NULL,
                                .values = {.type = leaf->node->element->type,
                                           .width = width,
                                           .count = count,
                                           .fixed = width > 0 ? fixed : NULL,
                                           .slices = width > 0 ? NULL : slices},
                                .value_count = count};
    check_ok(firn_parquet_chunk_writer_new(leaf, &k->options, &chunk_writer, &k->error), &k->error);
    check_ok(firn_parquet_chunk_writer_append(chunk_writer, &batch, &k->error), &k->error);
    check_ok(firn_parquet_chunk_writer_finish(chunk_writer, &chunk, &k->error), &k->error);
    firn_parquet_chunk_writer_free(chunk_writer);
    if (k->tamper != NULL) {
        k->tamper(k->tamper_context, group, (size_t)leaf->index, &chunk.metadata, k->arena);
    }
    check_ok(firn_parquet_file_writer_add_chunk(writer, &chunk, &k->error), &k->error);
}

/** Puts a file at `location`, whose own root is its first `root` bytes. */
static inline firn_lake_file kit_put(kit *k, const char *location, size_t root,
                                     const char *file_schema, const kit_group *groups,
                                     size_t group_count) {
    const firn_parquet_schema *schema = file_of(file_schema, k->arena)->schema;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    firn_write_to sink = {kit_sink, &bytes};
    firn_parquet_file_writer *writer = NULL;
    check_ok(firn_parquet_file_writer_new(schema->root->element, kit_count_nodes(schema->root),
                                          &k->options, &sink, &writer, &k->error),
             &k->error);
    const firn_parquet_schema *own = firn_parquet_file_writer_schema(writer);
    for (size_t i = 0; i < group_count; i++) {
        check_ok(
            firn_parquet_file_writer_begin_row_group(writer, (int64_t)groups[i].rows, &k->error),
            &k->error);
        for (size_t j = 0; j < own->leaf_count; j++) {
            kit_write_chunk(k, writer, i, &own->leaves[j], groups[i].cells[j], groups[i].rows);
        }
        check_ok(firn_parquet_file_writer_end_row_group(writer, &k->error), &k->error);
    }
    check_ok(firn_parquet_file_writer_finish(writer, NULL, NULL, &k->error), &k->error);
    firn_parquet_file_writer_free(writer);
    firn_lake_file file = {.location = firn_arena_strdup(k->arena, location),
                           .root_length = (uint16_t)root,
                           .size = (int64_t)bytes.size,
                           .unit = FIRN_LAKE_NO_UNIT};
    check_ok(firn_storage_delete(k->storage, location, &k->error), &k->error);
    check_ok(firn_storage_put(k->storage, location, firn_buffer_slice(&bytes), &k->error),
             &k->error);
    firn_buffer_release(&bytes);
    return file;
}

static inline firn_status kit_forbidden(void *context, uint64_t offset, void *out, size_t size,
                                        firn_error *error) {
    (void)context;
    (void)offset;
    (void)out;
    (void)size;
    return firn_fail(error, FIRN_IO, "only the footer is here");
}

/** The footer of a file, and nothing else; firn_parquet_file_close. */
static inline firn_parquet_file *kit_footer(kit *k, const firn_lake_file *file) {
    firn_storage_file *opened = NULL;
    firn_parquet_file *parquet = NULL;
    check_ok(firn_storage_open(k->storage, file->location, &opened, &k->error), &k->error);
    check_ok(firn_parquet_file_open(firn_storage_file_source(opened), &parquet, &k->error),
             &k->error);
    firn_storage_close(opened);
    parquet->source.read = kit_forbidden;
    parquet->source.borrow = NULL;
    parquet->source.name = file->location;
    return parquet;
}

/** A schema from the JSON of its fields. */
static inline const firn_schema *kit_schema(kit *k, const char *fields) {
    const firn_schema *schema = NULL;
    json_t *json = NULL;
    char *text = firn_format("{\"type\":\"struct\",\"schema-id\":0,\"fields\":[%s]}", fields);
    check_ok(firn_json_parse(firn_slice_text(text), "schema", &json, &k->error), &k->error);
    check_ok(firn_schema_parse(json, "schema", k->arena, &schema, &k->error), &k->error);
    firn_arena_on_free(k->arena, (void (*)(void *))json_decref, json);
    firn_free(text);
    return schema;
}

/** A spec from "name:transform:source id" words. */
static inline const firn_partition_spec *kit_spec(kit *k, const firn_schema *schema,
                                                  const char *text) {
    firn_partition_spec *spec = firn_arena_alloc(k->arena, 1, sizeof *spec);
    firn_partition_field *fields = firn_arena_alloc(k->arena, 16, sizeof *fields);
    while (*text != '\0') {
        size_t name = strcspn(text, ":");
        size_t transform = strcspn(text + name + 1, ":");
        firn_partition_field *field = &fields[spec->field_count++];
        field->name = firn_arena_strndup(k->arena, text, name);
        const char *form = firn_arena_strndup(k->arena, text + name + 1, transform);
        check_ok(firn_transform_parse(form, k->arena, &field->transform, &k->error), &k->error);
        char *end = NULL;
        field->source_id = (int32_t)strtol(text + name + transform + 2, &end, 10);
        field->field_id = (int32_t)(999 + spec->field_count);
        const firn_field *source = firn_schema_find(schema, field->source_id);
        field->source_type = source == NULL ? NULL : source->type;
        field->result_type = firn_transform_natural_result(&field->transform, field->source_type);
        text = *end == ' ' ? end + 1 : end;
    }
    spec->fields = fields;
    return spec;
}

/** Binds and proves. */
static inline firn_status kit_prove(kit *k, const firn_lake_layout *layout,
                                    const firn_schema *schema, const firn_partition_spec *spec,
                                    const firn_lake_file *file, firn_arena *arena,
                                    firn_lake_partition *out, firn_error *error) {
    firn_parquet_file *parquet = kit_footer(k, file);
    firn_lake_columns columns = {0};
    const firn_lake_path_key *keys = NULL;
    size_t count = 0;
    const firn_lake_binding *binding = NULL;
    firn_status status = FIRN_OK;
    check_ok(firn_lake_columns_of(schema, NULL, 3, parquet, file->location, k->arena, &columns,
                                  &k->error),
             &k->error);
    FIRN_CHECK(firn_lake_path_keys(file->location, file->root_length, arena, &keys, &count, error));
    FIRN_CHECK(firn_lake_layout_bind(layout, schema, spec, keys, count, arena, &binding, error));
    FIRN_CHECK(
        firn_lake_prove_partition(k->storage, binding, file, parquet, &columns, arena, out, error));
out:
    firn_parquet_file_close(parquet);
    return status;
}

/** Cells from numbers of 4 or 8 bytes; KIT_NULL is null. */
#define KIT_NULL INT64_MIN
static inline const firn_slice *kit_numbers(kit *k, size_t width, const int64_t *numbers,
                                            size_t count) {
    firn_slice *cells = firn_arena_alloc(k->arena, count + 1, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == KIT_NULL) continue;
        cells[i] = firn_slice_of(firn_arena_memdup(k->arena, &numbers[i], width), width);
    }
    return cells;
}

/** Cells from texts; NULL is null. */
static inline const firn_slice *kit_texts(kit *k, const char *const *texts, size_t count) {
    firn_slice *cells = firn_arena_alloc(k->arena, count + 1, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
        if (texts[i] != NULL) cells[i] = firn_slice_text(texts[i]);
    }
    return cells;
}

/** A partition tuple as "a=1/b=2" of its texts, in the arena. */
static inline const char *kit_tuple(kit *k, const firn_partition_spec *spec,
                                    const firn_lake_partition *partition) {
    const char *text = "";
    for (size_t i = 0; i < spec->field_count; i++) {
        firn_buffer value = firn_buffer_with_maximum(SIZE_MAX);
        check_ok(firn_transform_print(&spec->fields[i].transform, spec->fields[i].result_type,
                                      &partition->values[i], &value, &k->error),
                 &k->error);
        text = firn_arena_format(k->arena, "%s%s%s=%.*s", text, i == 0 ? "" : "/",
                                 spec->fields[i].name, (int)value.size,
                                 value.data == NULL ? "" : (const char *)value.data);
        firn_buffer_release(&value);
    }
    return text;
}

#endif
