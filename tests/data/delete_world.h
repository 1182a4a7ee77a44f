/** A table in memory for tests of deletes: Parquet files of flat columns, and live files over them. */
#ifndef FIRN_TESTS_DATA_DELETE_WORLD_H
#define FIRN_TESTS_DATA_DELETE_WORLD_H

#include "fixture.h"

#include "base/bytes.h"
#include "data/deletes.h"
#include "parquet/file_writer.h"

#define MOST_FILES 64

typedef struct delete_world {
    firn_storage *storage;
    firn_table_metadata *metadata;
    firn_table table;
    firn_arena *arena;
    firn_live_file data[MOST_FILES], deletes[MOST_FILES];
    size_t data_count, delete_count;
    firn_parquet_write_options options;
    int64_t row_group_rows;
    int64_t memory;
    firn_pool *pool;
} delete_world;

/** A column of a file. One of `numbers` and `texts` is set; `nulls` NULL: none. */
typedef struct world_column {
    const char *name;
    int32_t id; /* 0: the file has no ids */
    firn_parquet_physical_type type;
    int32_t type_length;
    firn_parquet_logical_type logical;
    const int64_t *numbers;
    const char *const *texts;
    const bool *nulls;
    /* NULL, or the group of one member that the column lies in; null in rows of `group_nulls`. */
    const char *group;
    int32_t group_id;
    const bool *group_nulls;
} world_column;

/** Takes the metadata over. */
static inline void world_open(delete_world *w, firn_table_metadata *metadata) {
    firn_error error = {0};
    *w = (delete_world){.metadata = metadata, .arena = firn_arena_new(), .row_group_rows = 1000000};
    check_ok(firn_storage_memory(&w->storage, &error), &error);
    firn_parquet_write_options_init(&w->options);
    w->table = (firn_table){.storage = w->storage,
                            .display_name = (char *)(uintptr_t) "world",
                            .metadata = w->metadata};
}

static inline void world_close(delete_world *w) {
    firn_arena_free(w->arena);
    firn_table_metadata_free(w->metadata);
    firn_storage_free(w->storage);
}

static inline size_t world_elements(const world_column *columns, size_t count,
                                    firn_parquet_schema_element *out) {
    size_t elements = 0;
    out[elements++] =
        (firn_parquet_schema_element){.name = "table", .num_children = (int32_t)count};
    for (size_t i = 0; i < count; i++) {
        const world_column *column = &columns[i];
        if (column->group != NULL) {
            out[elements++] = (firn_parquet_schema_element){.name = column->group,
                                                            .num_children = 1,
                                                            .has_repetition = true,
                                                            .repetition = FIRN_PARQUET_OPTIONAL,
                                                            .has_field_id = column->group_id != 0,
                                                            .field_id = column->group_id};
        }
        out[elements++] = (firn_parquet_schema_element){
            .name = column->name,
            .has_type = true,
            .type = column->type,
            .type_length = column->type_length,
            .has_repetition = true,
            .repetition = column->nulls == NULL ? FIRN_PARQUET_REQUIRED : FIRN_PARQUET_OPTIONAL,
            .has_field_id = column->id != 0,
            .field_id = column->id,
            .logical = column->logical};
    }
    return elements;
}

/* A number in the column's PLAIN form; FIXED is big-endian. */
static inline void world_number(const world_column *column, int64_t number, uint8_t *out) {
    if (column->type == FIRN_PARQUET_INT32) firn_store_le32(out, (uint32_t)number);
    if (column->type == FIRN_PARQUET_INT64) firn_store_le64(out, (uint64_t)number);
    if (column->type == FIRN_PARQUET_DOUBLE) firn_store_le64(out, (uint64_t)number);
    if (column->type == FIRN_PARQUET_BOOLEAN) out[0] = (uint8_t)number;
    if (column->type != FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) return;
    memset(out, number < 0 ? 0xFF : 0, (size_t)column->type_length);
    for (int32_t i = 0; i < 8 && i < column->type_length; i++) {
        out[column->type_length - 1 - i] = (uint8_t)((uint64_t)number >> (8 * i));
    }
}

static inline void world_chunk(delete_world *w, firn_parquet_file_writer *writer, size_t leaf,
                               const world_column *column, size_t first, size_t rows) {
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    const firn_parquet_leaf *output = &firn_parquet_file_writer_schema(writer)->leaves[leaf];
    uint32_t width = firn_parquet_value_width(column->type, column->type_length);
    uint8_t *levels = firn_arena_alloc(arena, rows + 1, 1);
    uint8_t *fixed = firn_arena_alloc(arena, rows + 1, 16);
    firn_slice *slices = firn_arena_alloc(arena, rows + 1, sizeof *slices);
    size_t values = 0;
    for (size_t i = first; i < first + rows; i++) {
        bool no_group = column->group_nulls != NULL && column->group_nulls[i];
        bool is_null = no_group || (column->nulls != NULL && column->nulls[i]);
        levels[i - first] = is_null ? (column->group != NULL && !no_group ? 1 : 0)
                                    : output->maximum_definition_level;
        if (is_null) continue;
        if (width > 0) world_number(column, column->numbers[i], fixed + values * width);
        if (width == 0) slices[values] = firn_slice_text(column->texts[i]);
        values++;
    }
    firn_parquet_batch batch = {.level_count = rows,
                                .definition_levels =
                                    output->maximum_definition_level == 0 ? NULL : levels,
                                .values = {.type = column->type,
                                           .width = width,
                                           .count = values,
                                           .fixed = width > 0 ? fixed : NULL,
                                           .slices = width > 0 ? NULL : slices},
                                .value_count = values};
    firn_parquet_chunk_writer *chunk_writer = NULL;
    firn_parquet_chunk chunk = {0};
    check_ok(firn_parquet_chunk_writer_new(output, &w->options, &chunk_writer, &error), &error);
    check_ok(firn_parquet_chunk_writer_append(chunk_writer, &batch, &error), &error);
    check_ok(firn_parquet_chunk_writer_finish(chunk_writer, &chunk, &error), &error);
    check_ok(firn_parquet_file_writer_add_chunk(writer, &chunk, &error), &error);
    firn_parquet_chunk_release(&chunk);
    firn_parquet_chunk_writer_free(chunk_writer);
    firn_arena_free(arena);
}

static inline firn_status world_write_bytes(void *context, const void *data, size_t size,
                                            firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

/** Writes a Parquet file. */
static inline void world_file(delete_world *w, const char *path, const world_column *columns,
                              size_t count, size_t rows) {
    firn_error error = {0};
    firn_parquet_schema_element elements[64];
    size_t element_count = world_elements(columns, count, elements);
    firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX);
    firn_write_to destination = {world_write_bytes, &bytes};
    firn_parquet_file_writer *writer = NULL;
    check_ok(firn_parquet_file_writer_new(elements, element_count, &w->options, &destination,
                                          &writer, &error),
             &error);
    for (size_t first = 0; first < rows; first += (size_t)w->row_group_rows) {
        size_t part = rows - first;
        if (part > (size_t)w->row_group_rows) part = (size_t)w->row_group_rows;
        check_ok(firn_parquet_file_writer_begin_row_group(writer, (int64_t)part, &error), &error);
        for (size_t i = 0; i < count; i++) world_chunk(w, writer, i, &columns[i], first, part);
        check_ok(firn_parquet_file_writer_end_row_group(writer, &error), &error);
    }
    check_ok(firn_parquet_file_writer_finish(writer, NULL, NULL, &error), &error);
    firn_parquet_file_writer_free(writer);
    check_ok(firn_storage_put(w->storage, path, firn_buffer_slice(&bytes), &error), &error);
    firn_buffer_release(&bytes);
}

static inline firn_data_file *world_entry(delete_world *w, firn_content content, const char *path,
                                          size_t rows, int64_t sequence_number) {
    size_t *count = content == FIRN_CONTENT_DATA ? &w->data_count : &w->delete_count;
    firn_live_file *list = content == FIRN_CONTENT_DATA ? w->data : w->deletes;
    assert_true(*count < MOST_FILES);
    firn_live_file *live = &list[(*count)++];
    *live = (firn_live_file){.entry = {.has_sequence_number = true,
                                       .sequence_number = sequence_number,
                                       .file = {.content = content,
                                                .path = firn_arena_strdup(w->arena, path),
                                                .format = FIRN_FILE_PARQUET,
                                                .format_text = "PARQUET",
                                                .record_count = (int64_t)rows,
                                                .file_size_in_bytes = 1}}};
    return &live->entry.file;
}

static inline firn_data_file *world_data(delete_world *w, const char *path,
                                         const world_column *columns, size_t count, size_t rows,
                                         int64_t sequence_number) {
    world_file(w, path, columns, count, rows);
    return world_entry(w, FIRN_CONTENT_DATA, path, rows, sequence_number);
}

static inline firn_data_file *world_equality(delete_world *w, const char *path,
                                             const world_column *columns, size_t count, size_t rows,
                                             int64_t sequence_number, const int32_t *ids,
                                             size_t id_count) {
    world_file(w, path, columns, count, rows);
    firn_data_file *file =
        world_entry(w, FIRN_CONTENT_EQUALITY_DELETES, path, rows, sequence_number);
    file->equality_ids = ids;
    file->equality_id_count = id_count;
    return file;
}

static inline firn_status world_resolve(delete_world *w, firn_deletes *out, firn_error *error) {
    const firn_live_file *data[MOST_FILES];
    for (size_t i = 0; i < w->data_count; i++) data[i] = &w->data[i];
    firn_live_files files = {.data = w->data,
                             .data_count = w->data_count,
                             .deletes = w->deletes,
                             .delete_count = w->delete_count};
    firn_deletes_request request = {.table = &w->table,
                                    .files = &files,
                                    .data = data,
                                    .data_count = w->data_count,
                                    .positions = true,
                                    .equality = true,
                                    .memory_bytes = w->memory,
                                    .pool = w->pool};
    return firn_deletes_resolve(&request, out, error);
}

/** Rows of a set as text: "1 4 7"; in the arena. */
static inline const char *world_text(delete_world *w, const firn_roaring *set) {
    const char *text = "";
    uint64_t row = 0;
    while (firn_roaring_count_range(set, row, UINT64_MAX) > 0) {
        firn_roaring_take(set, row, UINT64_MAX, &row, 1);
        text = firn_arena_format(w->arena, "%s%s%llu", text, *text == '\0' ? "" : " ",
                                 (unsigned long long)row);
        row++;
    }
    return text;
}

/** Those of [first, end) that are deleted, and what was found beside them. */
static inline const char *world_rows(delete_world *w, const firn_deletes *deletes, size_t data,
                                     uint64_t first, uint64_t end) {
    firn_error error = {0};
    firn_deletes_rows rows;
    check_ok(firn_deletes_rows_of(deletes, data, first, end, &rows, &error), &error);
    const char *text = world_text(w, rows.set);
    firn_deletes_rows_release(&rows);
    return text;
}

/** Deleted rows of a data file. */
static inline const char *world_deleted(delete_world *w, size_t data) {
    firn_error error = {0};
    firn_deletes deletes;
    check_ok(world_resolve(w, &deletes, &error), &error);
    const char *text = world_rows(w, &deletes, data, 0, UINT64_MAX);
    firn_deletes_release(&deletes);
    return text;
}

#endif
