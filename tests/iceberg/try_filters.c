/*
 * Holds a row filter against what it is given, for comparisons with other evaluations. Each line of standard input is a JSON object:
 *
 *     metadata    table metadata; its current schema and default spec are meant
 *     filter      text
 *     rows        list of objects: field id to value
 *     files       list of objects: partition (list of values), record_count, value_counts, null_value_counts, nan_value_counts,
 *                 lower_bounds, upper_bounds (objects by field id)
 *     manifests   list of lists of summaries: contains_null, contains_nan (may be missing), lower, upper
 *
 * Values and bounds are their binary form in hexadecimal, or null. The answer to each is a line of four words, the filter's answers as 0 and 1: rows, files,
 * the files' partitions alone, manifests; or "error " and a message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "iceberg/expression.h"

typedef struct trial {
    firn_arena *arena;
    const firn_table_metadata *metadata;
    const firn_expression *expression;
    const firn_file_filter *filter;
    const json_t *row;
} trial;

static void stop(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void must(firn_status status, const firn_error *error) {
    if (status != FIRN_OK) stop(error->message);
}

/* data == NULL for null. */
static firn_slice bytes_of(trial *t, const json_t *json) {
    const char *text = json_string_value(json);
    if (text == NULL) return (firn_slice){0};
    size_t size = strlen(text) / 2;
    uint8_t *bytes = firn_arena_alloc(t->arena, size + 1, 1);
    if (bytes == NULL) stop("memory is out");
    for (size_t i = 0; i < size; i++) {
        const char pair[] = {text[2 * i], text[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return firn_slice_of(bytes, size);
}

static firn_value value_of(trial *t, const firn_type *type, const json_t *json) {
    firn_slice bytes = bytes_of(t, json);
    firn_value value = firn_value_null(type->kind);
    firn_error error = {0};
    if (bytes.data != NULL) must(firn_value_from_bytes(type, bytes, &value, &error), &error);
    return value;
}

static firn_status row_value(void *context, int32_t field_id, firn_value *out, firn_error *error) {
    (void)error;
    trial *t = context;
    char key[16];
    snprintf(key, sizeof key, "%d", field_id);
    const firn_field *field = firn_schema_find(t->metadata->schema, field_id);
    *out = value_of(t, field->type, json_object_get(t->row, key));
    return FIRN_OK;
}

static firn_count_map counts_of(trial *t, const json_t *json) {
    size_t count = json_object_size(json);
    int32_t *ids = firn_arena_alloc(t->arena, count, sizeof *ids);
    int64_t *counts = firn_arena_alloc(t->arena, count, sizeof *counts);
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value) {
        ids[i] = (int32_t)strtol(key, NULL, 10);
        counts[i++] = json_integer_value(value);
    }
    return (firn_count_map){ids, counts, count, json_is_object(json)};
}

static firn_bound_map bounds_of(trial *t, const json_t *json) {
    size_t count = json_object_size(json);
    int32_t *ids = firn_arena_alloc(t->arena, count, sizeof *ids);
    firn_slice *bounds = firn_arena_alloc(t->arena, count, sizeof *bounds);
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value) {
        ids[i] = (int32_t)strtol(key, NULL, 10);
        bounds[i++] = bytes_of(t, value);
    }
    return (firn_bound_map){ids, bounds, count, json_is_object(json)};
}

static firn_data_file file_of(trial *t, const json_t *json) {
    const firn_partition_spec *spec = t->metadata->default_spec;
    const json_t *tuple = json_object_get(json, "partition");
    firn_value *partition = firn_arena_alloc(t->arena, spec->field_count, sizeof *partition);
    for (size_t i = 0; i < spec->field_count; i++) {
        partition[i] = value_of(t, spec->fields[i].result_type, json_array_get(tuple, i));
    }
    return (firn_data_file){
        .spec_id = spec->spec_id,
        .partition = partition,
        .partition_count = spec->field_count,
        .record_count = json_integer_value(json_object_get(json, "record_count")),
        .value_counts = counts_of(t, json_object_get(json, "value_counts")),
        .null_value_counts = counts_of(t, json_object_get(json, "null_value_counts")),
        .nan_value_counts = counts_of(t, json_object_get(json, "nan_value_counts")),
        .lower_bounds = bounds_of(t, json_object_get(json, "lower_bounds")),
        .upper_bounds = bounds_of(t, json_object_get(json, "upper_bounds")),
    };
}

static firn_manifest_file manifest_of(trial *t, const json_t *json) {
    size_t count = json_array_size(json);
    firn_partition_summary *summaries = firn_arena_alloc(t->arena, count, sizeof *summaries);
    for (size_t i = 0; i < count; i++) {
        const json_t *summary = json_array_get(json, i);
        const json_t *nan = json_object_get(summary, "contains_nan");
        summaries[i] = (firn_partition_summary){
            .contains_null = json_is_true(json_object_get(summary, "contains_null")),
            .has_contains_nan = nan != NULL,
            .contains_nan = json_is_true(nan),
            .lower_bound = bytes_of(t, json_object_get(summary, "lower")),
            .upper_bound = bytes_of(t, json_object_get(summary, "upper")),
        };
    }
    return (firn_manifest_file){.partitions = json_is_array(json) ? summaries : NULL,
                                .partition_count = count};
}

static void try_rows(trial *t, const json_t *rows) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        firn_error error = {0};
        bool matches = false;
        t->row = json_array_get(rows, i);
        must(firn_expression_matches_row(t->expression, row_value, t, &matches, &error), &error);
        putchar(matches ? '1' : '0');
    }
}

static void try_files(trial *t, const json_t *files) {
    for (size_t i = 0; i < json_array_size(files); i++) {
        firn_data_file file = file_of(t, json_array_get(files, i));
        putchar(firn_file_filter_may_match_file(t->filter, &file) ? '1' : '0');
    }
    putchar(' ');
    for (size_t i = 0; i < json_array_size(files); i++) {
        firn_data_file file = file_of(t, json_array_get(files, i));
        bool may =
            firn_file_filter_may_match_partition(t->filter, file.partition, file.partition_count);
        putchar(may ? '1' : '0');
    }
}

static void try_manifests(trial *t, const json_t *manifests) {
    for (size_t i = 0; i < json_array_size(manifests); i++) {
        firn_manifest_file manifest = manifest_of(t, json_array_get(manifests, i));
        putchar(firn_file_filter_may_match_manifest(t->filter, &manifest) ? '1' : '0');
    }
    putchar('\n');
}

static void try_one(trial *t, const json_t *json) {
    firn_error error = {0};
    const char *text = json_string_value(json_object_get(json, "filter"));
    if (text == NULL) stop("no filter");
    if (firn_expression_parse(text, t->metadata->schema, t->arena, &t->expression, &error) !=
        FIRN_OK) {
        printf("error %s\n", error.message);
        return;
    }
    must(firn_file_filter_new(t->expression, t->metadata->default_spec, t->arena, &t->filter,
                              &error),
         &error);
    try_rows(t, json_object_get(json, "rows"));
    putchar(' ');
    try_files(t, json_object_get(json, "files"));
    putchar(' ');
    try_manifests(t, json_object_get(json, "manifests"));
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    firn_json_setup();
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        firn_error error = {0};
        json_t *json = NULL;
        must(firn_json_parse(firn_slice_of(line, (size_t)length), "case", &json, &error), &error);
        trial t = {.arena = firn_arena_new()};
        firn_table_metadata *metadata = NULL;
        must(firn_table_metadata_from_json(json_incref(json_object_get(json, "metadata")), "case",
                                           &metadata, &error),
             &error);
        t.metadata = metadata;
        try_one(&t, json);
        firn_table_metadata_free(metadata);
        firn_arena_free(t.arena);
        json_decref(json);
    }
    free(line);
    return 0;
}
