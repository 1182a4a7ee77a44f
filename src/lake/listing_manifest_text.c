/* Manifests as CSV (RFC 4180; a line may end in CR, LF or both) and as JSON lines. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/plural.h"
#include "lake/listing_internal.h"

#define LONGEST_FIELD ((size_t)1 << 20)
#define LONGEST_JSON_LINE ((size_t)16 << 20)
#define NOT_THERE SIZE_MAX

typedef enum csv_state {
    CSV_FIELD_START,
    CSV_PLAIN,
    CSV_QUOTED,
    CSV_QUOTE_SEEN, /* within quotes: the end, or the first of two */
} csv_state;

typedef struct csv_reader {
    firn_lake_manifest *manifest;
    csv_state state;
    bool after_return; /* a line feed that comes now belongs to the carriage return before */
    bool any;          /* the record has a character or a comma */
    bool quoted;       /* the field has quotes: an empty one is a text, not null */
    bool has_header;
    size_t field;       /* of the record, from 0 */
    size_t field_count; /* of the header */
    size_t columns[FIRN_LAKE_COLUMN_COUNT];
    firn_buffer value;                          /* of the present field */
    firn_buffer values[FIRN_LAKE_COLUMN_COUNT]; /* of the present record */
    bool is_null[FIRN_LAKE_COLUMN_COUNT];
    char *names[FIRN_LAKE_SHOWN_COLUMNS];
} csv_reader;

static bool is_name(firn_slice value, const char *name) {
    return name != NULL && firn_slice_equal(value, firn_slice_text(name));
}

static firn_status end_header_field(csv_reader *csv, firn_error *error) {
    firn_slice value = firn_buffer_slice(&csv->value);
    if (csv->field < FIRN_LAKE_SHOWN_COLUMNS) {
        char *name = firn_strndup(value.size == 0 ? "" : (const char *)value.data, value.size);
        if (name == NULL) return firn_fail_memory(error);
        csv->names[csv->field] = name;
    }
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        if (!is_name(value, csv->manifest->names[i])) continue;
        if (csv->columns[i] != NOT_THERE) {
            return firn_fail(error, FIRN_INVALID, "two columns have the name \"%s\"",
                             csv->manifest->names[i]);
        }
        csv->columns[i] = csv->field;
    }
    return FIRN_OK;
}

static firn_status end_field(csv_reader *csv, firn_error *error) {
    if (!csv->has_header) {
        FIRN_TRY(end_header_field(csv, error));
    } else {
        for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
            if (csv->columns[i] != csv->field) continue;
            firn_buffer_clear(&csv->values[i]);
            FIRN_TRY(firn_buffer_append(&csv->values[i], csv->value.data, csv->value.size, error));
            csv->is_null[i] = csv->value.size == 0 && !csv->quoted;
        }
    }
    csv->field++;
    csv->quoted = false;
    csv->state = CSV_FIELD_START;
    firn_buffer_clear(&csv->value);
    return FIRN_OK;
}

static firn_status end_header(csv_reader *csv, firn_error *error) {
    bool there[FIRN_LAKE_COLUMN_COUNT];
    size_t shown = csv->field < FIRN_LAKE_SHOWN_COLUMNS ? csv->field : FIRN_LAKE_SHOWN_COLUMNS;
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) there[i] = csv->columns[i] != NOT_THERE;
    csv->has_header = true;
    csv->field_count = csv->field;
    FIRN_TRY(firn_lake_manifest_settle(csv->manifest, there, (const char *const *)csv->names,
                                       shown == csv->field ? shown : shown + 1, error));
    return FIRN_OK;
}

static firn_status end_record(csv_reader *csv, firn_error *error) {
    firn_slice values[FIRN_LAKE_COLUMN_COUNT] = {{0}};
    FIRN_TRY(end_field(csv, error));
    size_t count = csv->field;
    if (!csv->has_header) {
        FIRN_TRY(end_header(csv, error));
    } else {
        if (count != csv->field_count) {
            return firn_fail(error, FIRN_INVALID, "row %zu has %zu field%s, and the header %zu",
                             csv->manifest->row + 1, count, firn_plural(count), csv->field_count);
        }
        for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
            if (csv->columns[i] == NOT_THERE || csv->is_null[i]) continue;
            values[i] = firn_buffer_slice(&csv->values[i]);
            if (values[i].data == NULL) values[i].data = (const uint8_t *)"";
        }
        FIRN_TRY(firn_lake_manifest_add(csv->manifest, values, error));
    }
    csv->field = 0;
    csv->any = false;
    return FIRN_OK;
}

static firn_status take_quoted(csv_reader *csv, uint8_t c, firn_error *error) {
    if (csv->state == CSV_QUOTED && c == '"') {
        csv->state = CSV_QUOTE_SEEN;
        return FIRN_OK;
    }
    csv->state = CSV_QUOTED;
    return firn_buffer_append_byte(&csv->value, c, error);
}

static firn_status take(csv_reader *csv, uint8_t c, firn_error *error) {
    bool was_return = csv->after_return;
    csv->after_return = false;
    if (csv->state == CSV_QUOTED || (csv->state == CSV_QUOTE_SEEN && c == '"')) {
        return take_quoted(csv, c, error);
    }
    if (c == '\n' || c == '\r') {
        csv->after_return = c == '\r';
        if (c == '\n' && was_return) return FIRN_OK;
        return csv->any ? end_record(csv, error) : FIRN_OK; /* an empty line is no record */
    }
    csv->any = true;
    if (c == ',') return end_field(csv, error);
    if (csv->state == CSV_QUOTE_SEEN) {
        return firn_fail(error, FIRN_INVALID, "row %zu: text behind the closing quote of field %zu",
                         csv->manifest->row + csv->has_header, csv->field + 1);
    }
    if (c == '"' && csv->state == CSV_FIELD_START) {
        csv->state = CSV_QUOTED;
        csv->quoted = true;
        return FIRN_OK;
    }
    csv->state = CSV_PLAIN;
    return firn_buffer_append_byte(&csv->value, c, error);
}

static firn_status finish(csv_reader *csv, firn_error *error) {
    if (csv->state == CSV_QUOTED) {
        return firn_fail(error, FIRN_INVALID, "row %zu: a quote is not closed",
                         csv->manifest->row + csv->has_header);
    }
    if (csv->any) FIRN_TRY(end_record(csv, error));
    if (csv->has_header) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "the manifest has no line of column names");
}

firn_status firn_lake_manifest_read_csv(firn_lake_manifest *manifest, const firn_read_at *source,
                                        firn_error *error) {
    csv_reader csv = {.manifest = manifest, .value = firn_buffer_with_maximum(LONGEST_FIELD)};
    firn_lake_text text = {0};
    firn_status status;
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        csv.columns[i] = NOT_THERE;
        csv.values[i] = firn_buffer_with_maximum(LONGEST_FIELD);
    }
    FIRN_CHECK(firn_lake_text_open(&text, source, manifest->collector->source, error));
    for (;;) {
        FIRN_CHECK(firn_lake_text_fill(&text, error));
        if (text.at == text.size) break;
        while (text.at < text.size) {
            status = take(&csv, text.piece[text.at++], error);
            if (status == FIRN_LIMIT) {
                firn_error_wrap(error, status, "row %zu: field %zu", manifest->row + 1,
                                csv.field + 1);
            }
            if (status != FIRN_OK) goto out;
        }
    }
    FIRN_CHECK(finish(&csv, error));
out:
    firn_lake_text_release(&text);
    firn_buffer_release(&csv.value);
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) firn_buffer_release(&csv.values[i]);
    for (size_t i = 0; i < FIRN_LAKE_SHOWN_COLUMNS; i++) firn_free(csv.names[i]);
    return status;
}

/* A scalar as text; an object or array is none. */
static firn_status json_text(const json_t *value, const char *name, firn_buffer *out,
                             firn_slice *text, firn_error *error) {
    *text = (firn_slice){0};
    if (value == NULL || json_is_null(value)) return FIRN_OK;
    if (json_is_string(value)) {
        *text = firn_slice_of(json_string_value(value), json_string_length(value));
        return FIRN_OK;
    }
    firn_buffer_clear(out);
    if (json_is_integer(value)) {
        FIRN_TRY(firn_buffer_printf(out, error, "%" PRId64, (int64_t)json_integer_value(value)));
    } else if (json_is_boolean(value)) {
        FIRN_TRY(firn_buffer_append_text(out, json_is_true(value) ? "true" : "false", error));
    } else if (json_is_real(value)) {
        FIRN_TRY(firn_json_write(value, 0, out, error));
    } else {
        return firn_fail(error, FIRN_INVALID, "\"%s\" is no single value", name);
    }
    *text = firn_buffer_slice(out);
    return FIRN_OK;
}

static firn_status settle_json(firn_lake_manifest *manifest, json_t *object, firn_error *error) {
    const char *names[FIRN_LAKE_SHOWN_COLUMNS + 1] = {0};
    bool there[FIRN_LAKE_COLUMN_COUNT] = {0};
    size_t count = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value) {
        if (count <= FIRN_LAKE_SHOWN_COLUMNS) names[count++] = key;
    }
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        there[i] =
            manifest->names[i] != NULL && json_object_get(object, manifest->names[i]) != NULL;
    }
    bool has_rows = manifest->has_rows;
    FIRN_TRY(firn_lake_manifest_settle(manifest, there, names, count, error));
    if (manifest->row == 0 || manifest->has_rows == has_rows) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "\"%s\" is not in all rows",
                     manifest->names[FIRN_LAKE_ROWS_COLUMN]);
}

static firn_status add_json(firn_lake_manifest *manifest, json_t *object,
                            firn_buffer texts[FIRN_LAKE_COLUMN_COUNT], firn_error *error) {
    firn_slice values[FIRN_LAKE_COLUMN_COUNT] = {{0}};
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        const char *name = manifest->names[i];
        if (name == NULL) continue;
        FIRN_TRY(json_text(json_object_get(object, name), name, &texts[i], &values[i], error));
    }
    return firn_lake_manifest_add(manifest, values, error);
}

static firn_status add_json_line(firn_lake_manifest *manifest, firn_slice line,
                                 firn_buffer texts[FIRN_LAKE_COLUMN_COUNT], firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(firn_json_parse(line, "JSON", &object, error));
    firn_status status = FIRN_OK;
    if (!json_is_object(object)) {
        status = firn_fail(error, FIRN_INVALID, "no JSON object");
    }
    if (status == FIRN_OK) status = settle_json(manifest, object, error);
    if (status == FIRN_OK) status = add_json(manifest, object, texts, error);
    json_decref(object);
    return status;
}

static bool is_blank(firn_slice line) {
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') return false;
    }
    return true;
}

firn_status firn_lake_manifest_read_json(firn_lake_manifest *manifest, const firn_read_at *source,
                                         firn_error *error) {
    firn_lake_text text = {0};
    firn_buffer line = firn_buffer_with_maximum(LONGEST_JSON_LINE);
    firn_buffer texts[FIRN_LAKE_COLUMN_COUNT];
    firn_status status;
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) texts[i] = firn_buffer_with_maximum(SIZE_MAX);
    FIRN_CHECK(firn_lake_text_open(&text, source, manifest->collector->source, error));
    for (;;) {
        bool found = false;
        FIRN_CHECK(firn_lake_text_line(&text, &line, &found, error));
        if (!found) break;
        if (is_blank(firn_buffer_slice(&line))) continue;
        status = add_json_line(manifest, firn_buffer_slice(&line), texts, error);
        FIRN_CHECK(firn_error_wrap(error, status, "line %zu", text.line));
    }
out:
    firn_lake_text_release(&text);
    firn_buffer_release(&line);
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) firn_buffer_release(&texts[i]);
    return status;
}
