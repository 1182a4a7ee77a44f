/*
 * union_of_files VERSION FILE...: what the schema union makes of files, as JSON on standard output, for tests in Python: "schema", "mapping" (a text),
 * "last_column_id", "surprises"; and "refused" where a file was: by its message. Fails where a file was taken in and can't be found by the schema.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "lake/columns.h"
#include "lake/schema_union.h"

static void die(const char *what, const firn_error *error) {
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

static void must(firn_status status, const char *what, const firn_error *error) {
    if (status != FIRN_OK) die(what, error);
}

static firn_buffer read_whole(const char *path) {
    firn_error error = {0};
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    uint8_t part[65536];
    FILE *file = fopen(path, "rb");
    if (file == NULL) die(path, &error);
    for (size_t got = 0; (got = fread(part, 1, sizeof part, file)) > 0;) {
        must(firn_buffer_append(&bytes, part, got, &error), path, &error);
    }
    fclose(file);
    return bytes;
}

typedef struct open_file {
    const char *path;
    firn_buffer bytes;
    firn_memory_file memory;
    firn_parquet_file *parquet;
} open_file;

static open_file open_one(const char *path) {
    firn_error error = {0};
    open_file file = {.path = path, .bytes = read_whole(path)};
    file.memory = (firn_memory_file){file.bytes.data, file.bytes.size};
    firn_read_at source = firn_read_at_memory(&file.memory, path);
    must(firn_parquet_file_open(&source, &file.parquet, &error), path, &error);
    return file;
}

static void check_found(const firn_schema *schema, const char *mapping_text, int version,
                        const open_file *file) {
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    const firn_name_mapping *mapping = NULL;
    firn_lake_columns columns = {0};
    must(firn_name_mapping_parse(mapping_text, arena, &mapping, &error), "mapping", &error);
    must(firn_lake_columns_of(schema, mapping, version, file->parquet, file->path, arena, &columns,
                              &error),
         "columns", &error);
    firn_arena_free(arena);
}

static void add_result(json_t *out, firn_schema_union *schemas, int version, const open_file *files,
                       size_t count) {
    firn_error error = {0};
    char *mapping = NULL;
    const firn_schema *schema = firn_schema_union_schema(schemas);
    must(firn_name_mapping_for(schema, NULL, &mapping, &error), "mapping", &error);
    for (size_t i = 0; i < count; i++) check_found(schema, mapping, version, &files[i]);
    must(firn_json_set(out, "schema", firn_schema_to_json(schema), &error), "schema", &error);
    must(firn_json_set_text(out, "mapping", mapping, &error), "mapping", &error);
    must(
        firn_json_set_int(out, "last_column_id", firn_schema_union_last_column_id(schemas), &error),
        "id", &error);
    firn_free(mapping);
    json_t *list = json_array();
    size_t surprise_count = 0;
    const firn_schema_surprise *surprises = firn_schema_union_surprises(schemas, &surprise_count);
    for (size_t i = 0; i < surprise_count; i++) {
        char *text = firn_format("%s: %s", surprises[i].column, surprises[i].what);
        must(firn_json_append(list, json_string(text), &error), "surprise", &error);
        firn_free(text);
    }
    must(firn_json_set(out, "surprises", list, &error), "surprises", &error);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 3) return 2;
    firn_json_setup();
    firn_error error = {0};
    int version = (int)strtol(arguments[1], NULL, 10);
    size_t count = (size_t)argument_count - 2;
    open_file *files = firn_alloc_zeroed(count, sizeof *files);
    firn_schema_union *schemas = NULL;
    json_t *out = json_object();
    if (files == NULL || out == NULL) return 1;
    must(firn_schema_union_new(NULL, 0, version, NULL, &schemas, &error), "union", &error);
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < count; i++) {
        files[i] = open_one(arguments[i + 2]);
        if (status != FIRN_OK) continue;
        status = firn_schema_union_add(schemas, files[i].parquet, files[i].path, &error);
    }
    if (status == FIRN_OK) {
        add_result(out, schemas, version, files, count);
    } else if (status == FIRN_INVALID) {
        must(firn_json_set_text(out, "refused", error.message, &error), "refused", &error);
    } else {
        die("union", &error);
    }
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 30);
    must(firn_json_write(out, 0, &text, &error), "json", &error);
    fwrite(text.data, 1, text.size, stdout);
    firn_buffer_release(&text);
    json_decref(out);
    firn_schema_union_free(schemas);
    for (size_t i = 0; i < count; i++) {
        firn_parquet_file_close(files[i].parquet);
        firn_buffer_release(&files[i].bytes);
    }
    firn_free(files);
    return 0;
}
