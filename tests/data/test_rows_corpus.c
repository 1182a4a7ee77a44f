/*
 * Rows of the corpus's tables that Spark and Iceberg's Java API wrote, line by line as the corpus expects them. The tables
 * record absolute paths: a storage puts another folder in their place.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/vector.h"
#include "data/rows.h"
#include "support/check.h"

#define RECORDED "/tmp/firn-fixtures/"

static const char *const tables[] = {
    "added_files",
    "all_types",
    "avro_files",
    "codecs",
    "crc_files",
    "emptied",
    "expired",
    "floats_strings",
    "jdbc_v1",
    "lineage_after_upgrade",
    "lineage_update",
    "many_manifests",
    "metadata_gzip",
    "metrics_modes",
    "named_refs",
    "nested",
    "never_written",
    "object_store_layout",
    "page_v2",
    "part_bucket_truncate",
    "part_day",
    "part_time",
    "schema_evolution",
    "small_pages",
    "sorted_table",
    "spec_evolution",
    "staged",
    "statistics",
    "ts_nanos_v3",

    "v1_identity_null",
    "v1_unpartitioned",
    "wide",
};

/* --- a storage that reads below another folder --- */

typedef struct moved {
    firn_storage *local;
    char *folder;
} moved;

static char *moved_path(const moved *storage, const char *location) {
    const char *path = firn_location_local_path(location);
    assert_non_null(path);
    assert_memory_equal(path, RECORDED, strlen(RECORDED));
    char *there = firn_format("%s/%s", storage->folder, path + strlen(RECORDED));
    assert_non_null(there);
    return there;
}

static firn_status moved_open(void *implementation, const char *location, void **file,
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

static firn_status moved_read(void *implementation, void *file, uint64_t offset, void *out,
                              size_t size, firn_error *error) {
    (void)implementation;
    return firn_read_at_exact(firn_storage_file_source(file), offset, out, size, error);
}

static void moved_close(void *implementation, void *file) {
    (void)implementation;
    firn_storage_close(file);
}

static void moved_free(void *implementation) {
    moved *storage = implementation;
    firn_storage_free(storage->local);
    firn_free(storage);
}

static firn_storage *moved_storage(char *folder) {
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

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void push_line(line_list *lines, const char *text, size_t size) {
    firn_error error = {0};
    char *copy = firn_strndup(text, size);
    assert_non_null(copy);
    check_ok(firn_vector_push(lines, &error, copy), &error);
}

static firn_status take_row(void *context, firn_slice json, firn_error *error) {
    (void)error;
    push_line(context, (const char *)json.data, json.size);
    return FIRN_OK;
}

static line_list expected_lines(const char *corpus, const char *name) {
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

static void release_lines(line_list *lines) {
    for (size_t i = 0; i < lines->count; i++) firn_free(lines->items[i]);
    firn_vector_release(lines);
}

/* --- tables --- */

static void run(const char *format, const char *a, const char *b, const char *c) {
    char command[4096];
    snprintf(command, sizeof command, format, a, b, c);
    assert_int_equal(system(command), 0);
}

static char *metadata_location(const char *corpus, const char *name) {
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

static void compare(const char *name, line_list *got, line_list *expected) {
    if (got->count > 0) qsort(got->items, got->count, sizeof *got->items, compare_lines);
    assert_int_equal(got->count, expected->count);
    for (size_t i = 0; i < got->count; i++) {
        if (strcmp(got->items[i], expected->items[i]) != 0) print_message("%s:\n", name);
        assert_string_equal(got->items[i], expected->items[i]);
    }
}

/* The hash of files is that of their rows, whoever counts them. */
static void check_hash(firn_table *table, const firn_schema *schema, const firn_live_files *files,
                       const line_list *lines) {
    firn_error error = {0};
    firn_pool *pool = NULL;
    firn_content_hash together = {0};
    check_ok(firn_pool_new(2, &pool, &error), &error);
    check_ok(firn_content_hash_of_files(table, schema, files->data, NULL, files->data_count, pool,
                                        &together, &error),
             &error);
    firn_pool_free(pool);
    assert_int_equal(together.row_count, lines->count);
    firn_content_hash parts = {0};
    for (size_t i = 0; i < files->data_count; i++) {
        firn_content_hash part = {0};
        check_ok(firn_content_hash_of_files(table, schema, &files->data[files->data_count - 1 - i],
                                            NULL, 1, NULL, &part, &error),
                 &error);
        firn_content_hash_add(&parts, &part);
    }
    char one[33], other[33];
    firn_content_hash_text(&together, one);
    firn_content_hash_text(&parts, other);
    assert_string_equal(one, other);
}

static void check_table(const char *corpus, const char *name, char *folder) {
    firn_error error = {0};
    run("tar -xzf '%s/spark/%s.tar.gz' -C '%s'", corpus, name, folder);
    firn_storage *storage = moved_storage(folder);
    char *location = metadata_location(corpus, name);
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 26);
    firn_table_metadata *metadata = NULL;
    check_ok(firn_storage_read_all(storage, location, &text, &error), &error);
    check_ok(firn_table_metadata_parse(firn_buffer_slice(&text), location, &metadata, &error),
             &error);
    firn_table table = {.storage = storage,
                        .ref = (char *)(uintptr_t) "main",
                        .display_name = (char *)(uintptr_t)name,
                        .metadata = metadata};
    const firn_snapshot *snapshot =
        metadata->current_snapshot_id == FIRN_NO_SNAPSHOT
            ? NULL
            : firn_table_metadata_snapshot(metadata, metadata->current_snapshot_id);
    firn_live_files files;
    check_ok(firn_table_live_files(&table, snapshot, &files, &error), &error);
    firn_arena *arena = firn_arena_new();
    const firn_schema *schema = NULL;
    check_ok(firn_rows_schema_with_lineage(&table, arena, &schema, &error), &error);
    firn_row_selection selection = firn_row_selection_of(schema);
    line_list got = {0};
    for (size_t i = 0; i < files.data_count; i++) {
        check_ok(firn_rows_of_file(&table, &selection, &files.data[i].entry, NULL, NULL, take_row,
                                   &got, &error),
                 &error);
    }
    line_list expected = expected_lines(corpus, name);
    compare(name, &got, &expected);
    check_hash(&table, schema, &files, &expected);
    firn_arena_free(arena);
    release_lines(&got);
    release_lines(&expected);
    firn_live_files_release(&files);
    firn_table_metadata_free(metadata);
    firn_buffer_release(&text);
    firn_free(location);
    firn_storage_free(storage);
}

static void spark_tables(void **state) {
    (void)state;
    const char *corpus = test_corpus();
    firn_json_setup();
    char *folder = test_folder_new();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        check_table(corpus, tables[i], folder);
    }
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spark_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
