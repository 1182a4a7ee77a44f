/**
 * Tables of the corpus that Spark and Iceberg's Java API wrote, with the rows that are expected of them. The tables record absolute paths: a
 * storage puts another folder in their place.
 */
#ifndef FIRN_TESTS_DATA_CORPUS_TABLE_H
#define FIRN_TESTS_DATA_CORPUS_TABLE_H

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/vector.h"
#include "data/rows.h"

#define RECORDED "/tmp/firn-fixtures/"

/* --- a storage that reads below another folder --- */

typedef struct moved {
    firn_storage *local;
    char *folder;
} moved;

static inline char *moved_path(const moved *storage, const char *location) {
    const char *path = firn_location_local_path(location);
    assert_non_null(path);
    assert_memory_equal(path, RECORDED, strlen(RECORDED));
    char *there = firn_format("%s/%s", storage->folder, path + strlen(RECORDED));
    assert_non_null(there);
    return there;
}

static inline firn_status moved_open(void *implementation, const char *location, void **file,
                                     uint64_t *size, firn_error *error) {
    moved *storage = implementation;
    char *path = moved_path(storage, location);
    firn_storage_file *inner = NULL;
    firn_status status = firn_storage_open(storage->local, path, &inner, error);
    firn_free(path);
    if (status != FIRN_OK) return status;
    *file = inner;
    *size = firn_storage_file_source(inner)->size;
    return FIRN_OK;
}

static inline firn_status moved_read(void *implementation, void *file, uint64_t offset, void *out,
                                     size_t size, firn_error *error) {
    (void)implementation;
    return firn_read_at_exact(firn_storage_file_source(file), offset, out, size, error);
}

static inline void moved_close(void *implementation, void *file) {
    (void)implementation;
    firn_storage_close(file);
}

static inline void moved_free(void *implementation) {
    moved *storage = implementation;
    firn_storage_free(storage->local);
    firn_free(storage);
}

static inline firn_storage *moved_storage(char *folder) {
    static const firn_storage_operations operations = {
        .open = moved_open, .read = moved_read, .close = moved_close, .free = moved_free};
    firn_error error = {0};
    firn_storage *out = NULL;
    moved *storage = firn_alloc_zeroed(1, sizeof *storage);
    storage->folder = folder;
    check_ok(firn_storage_local(&storage->local, &error), &error);
    check_ok(firn_storage_new(&operations, storage, &out, &error), &error);
    return out;
}

/* --- lines --- */

typedef FIRN_VECTOR(char *) line_list;

static inline int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void push_line(line_list *lines, const char *text, size_t size) {
    firn_error error = {0};
    char *copy = firn_strndup(text, size);
    assert_non_null(copy);
    check_ok(firn_vector_push(lines, &error, copy), &error);
}

static inline firn_status take_row(void *context, firn_slice json, firn_error *error) {
    (void)error;
    push_line(context, (const char *)json.data, json.size);
    return FIRN_OK;
}

static inline line_list expected_lines(const char *corpus, const char *name) {
    char *path = firn_format("%s/spark/%s.expect.jsonl", corpus, name);
    firn_buffer text = test_read_file(path);
    line_list lines = {0};
    for (size_t at = 0; at < text.size;) {
        const char *line = (const char *)text.data + at;
        const char *end = memchr(line, '\n', text.size - at);
        size_t size = end == NULL ? text.size - at : (size_t)(end - line);
        push_line(&lines, line, size);
        at += size + 1;
    }
    if (lines.count > 0) qsort(lines.items, lines.count, sizeof *lines.items, compare_lines);
    firn_buffer_release(&text);
    firn_free(path);
    return lines;
}

static inline void release_lines(line_list *lines) {
    for (size_t i = 0; i < lines->count; i++) firn_free(lines->items[i]);
    firn_vector_release(lines);
}

static inline void run(const char *format, const char *a, const char *b, const char *c) {
    char command[4096];
    snprintf(command, sizeof command, format, a, b, c);
    assert_int_equal(system(command), 0);
}

static inline char *metadata_location(const char *corpus, const char *name) {
    firn_error error = {0};
    char *path = firn_format("%s/spark/%s.about.json", corpus, name);
    firn_buffer text = test_read_file(path);
    json_t *about = NULL;
    const char *location = NULL;
    check_ok(firn_json_parse(firn_buffer_slice(&text), path, &about, &error), &error);
    check_ok(firn_json_text(about, path, "metadata", &location, &error), &error);
    char *copy = firn_strdup(location);
    json_decref(about);
    firn_buffer_release(&text);
    firn_free(path);
    return copy;
}

static inline void compare(const char *name, line_list *got, line_list *expected) {
    if (got->count > 0) qsort(got->items, got->count, sizeof *got->items, compare_lines);
    assert_int_equal(got->count, expected->count);
    for (size_t i = 0; i < got->count; i++) {
        if (strcmp(got->items[i], expected->items[i]) != 0) print_message("%s:\n", name);
        assert_string_equal(got->items[i], expected->items[i]);
    }
}

/* --- open tables --- */

typedef struct corpus_table {
    firn_table table;
    firn_table_metadata *metadata;
    firn_live_files files; /* of the current snapshot */
    firn_arena *arena;
    const firn_schema
        *schema; /* the current one, with the columns of row lineage where the table has them */
} corpus_table;

/** Unpacks the table below `folder`, which must live as long as the table, and opens it. */
static inline void corpus_table_open(const char *corpus, const char *name, char *folder,
                                     corpus_table *out) {
    firn_error error = {0};
    run("tar -xzf '%s/spark/%s.tar.gz' -C '%s'", corpus, name, folder);
    firn_storage *storage = moved_storage(folder);
    char *location = metadata_location(corpus, name);
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 26);
    check_ok(firn_storage_read_all(storage, location, &text, &error), &error);
    check_ok(firn_table_metadata_parse(firn_buffer_slice(&text), location, &out->metadata, &error),
             &error);
    out->table = (firn_table){.storage = storage,
                              .ref = (char *)(uintptr_t) "main",
                              .display_name = (char *)(uintptr_t)name,
                              .metadata = out->metadata};
    int64_t current = out->metadata->current_snapshot_id;
    const firn_snapshot *snapshot =
        current == FIRN_NO_SNAPSHOT ? NULL : firn_table_metadata_snapshot(out->metadata, current);
    check_ok(firn_table_live_files(&out->table, snapshot, &out->files, &error), &error);
    out->arena = firn_arena_new();
    check_ok(firn_rows_schema_with_lineage(&out->table, out->arena, &out->schema, &error), &error);
    firn_buffer_release(&text);
    firn_free(location);
}

static inline void corpus_table_close(corpus_table *table) {
    firn_arena_free(table->arena);
    firn_live_files_release(&table->files);
    firn_table_metadata_free(table->metadata);
    firn_storage_free(table->table.storage);
}

#endif
