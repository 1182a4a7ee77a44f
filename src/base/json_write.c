#include <math.h>
#include <string.h>

#include "base/json_internal.h"

typedef struct json_writer {
    firn_buffer *out;
    firn_error *error;
    size_t indent; /* spaces for each level; 0: all on one line */
} json_writer;

static firn_status write_value(const json_writer *writer, const json_t *value, size_t depth);

static firn_status write_escape(const json_writer *writer, uint8_t byte) {
    static const char bytes[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    static const char digits[] = "0123456789ABCDEF";
    if (byte >= 0x80) {
        return firn_fail(writer->error, FIRN_INVALID, "text that is not UTF-8 can't be JSON");
    }
    /* A zero byte is not among those with a letter of their own. */
    const char *found = byte == 0 ? NULL : strchr(bytes, byte);
    if (found != NULL) {
        char escape[] = {'\\', letters[found - bytes]};
        return firn_buffer_append(writer->out, escape, sizeof escape, writer->error);
    }
    char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    return firn_buffer_append(writer->out, escape, sizeof escape, writer->error);
}

static firn_status write_text(const json_writer *writer, const char *text, size_t size) {
    FIRN_TRY(firn_buffer_append_byte(writer->out, '"', writer->error));
    const uint8_t *next = (const uint8_t *)text;
    while (size > 0) {
        size_t plain = firn_json_plain_size(next, size);
        FIRN_TRY(firn_buffer_append(writer->out, next, plain, writer->error));
        next += plain;
        size -= plain;
        if (size == 0) break;
        FIRN_TRY(write_escape(writer, *next));
        next++;
        size--;
    }
    return firn_buffer_append_byte(writer->out, '"', writer->error);
}

static firn_status write_integer(const json_writer *writer, int64_t value) {
    char text[FIRN_JSON_NUMBER_SIZE];
    size_t size = firn_json_integer_print(value, text);
    return firn_buffer_append(writer->out, text, size, writer->error);
}

static firn_status write_real(const json_writer *writer, double value) {
    if (!isfinite(value)) {
        return firn_fail(writer->error, FIRN_INVALID, "a number that is not finite can't be JSON");
    }
    char text[FIRN_JSON_NUMBER_SIZE];
    size_t size = firn_json_real_print(value, text);
    return firn_buffer_append(writer->out, text, size, writer->error);
}

static firn_status new_line(const json_writer *writer, size_t depth) {
    if (writer->indent == 0) return FIRN_OK;
    size_t spaces = writer->indent * depth;
    FIRN_TRY(firn_buffer_reserve(writer->out, spaces + 1, writer->error));
    uint8_t *line = writer->out->data + writer->out->size;
    line[0] = '\n';
    memset(line + 1, ' ', spaces);
    writer->out->size += spaces + 1;
    return FIRN_OK;
}

/* What stands before a member or an item: a comma, except before the first, and a new line. */
static firn_status begin_item(const json_writer *writer, bool first, size_t depth) {
    if (!first) FIRN_TRY(firn_buffer_append_byte(writer->out, ',', writer->error));
    return new_line(writer, depth);
}

static firn_status write_array(const json_writer *writer, const json_t *array, size_t depth) {
    FIRN_TRY(firn_buffer_append_byte(writer->out, '[', writer->error));
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(begin_item(writer, i == 0, depth + 1));
        FIRN_TRY(write_value(writer, json_array_get(array, i), depth + 1));
    }
    if (count != 0) FIRN_TRY(new_line(writer, depth));
    return firn_buffer_append_byte(writer->out, ']', writer->error);
}

static firn_status write_object(const json_writer *writer, const json_t *object, size_t depth) {
    FIRN_TRY(firn_buffer_append_byte(writer->out, '{', writer->error));
    /* Jansson's iterators are not const, but change nothing. */
    json_t *members = (json_t *)object;
    void *first = json_object_iter(members);
    for (void *at = first; at != NULL; at = json_object_iter_next(members, at)) {
        const char *key = json_object_iter_key(at);
        FIRN_TRY(begin_item(writer, at == first, depth + 1));
        FIRN_TRY(write_text(writer, key, strlen(key)));
        FIRN_TRY(firn_buffer_append(writer->out, ": ", writer->indent == 0 ? 1 : 2, writer->error));
        FIRN_TRY(write_value(writer, json_object_iter_value(at), depth + 1));
    }
    if (first != NULL) FIRN_TRY(new_line(writer, depth));
    return firn_buffer_append_byte(writer->out, '}', writer->error);
}

/* Recursion ends at FIRN_JSON_DEEPEST, also in an object that somebody put into itself. */
static firn_status write_container(const json_writer *writer, const json_t *value, size_t depth) {
    if (depth == FIRN_JSON_DEEPEST) {
        return firn_fail(writer->error, FIRN_INVALID,
                         "JSON nested to a depth of more than %d "
                         "levels is not written",
                         FIRN_JSON_DEEPEST);
    }
    if (json_is_object(value)) return write_object(writer, value, depth);
    return write_array(writer, value, depth);
}

static firn_status write_value(const json_writer *writer, const json_t *value, size_t depth) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY: return write_container(writer, value, depth);
    case JSON_STRING:
        return write_text(writer, json_string_value(value), json_string_length(value));
    case JSON_INTEGER: return write_integer(writer, json_integer_value(value));
    case JSON_REAL: return write_real(writer, json_real_value(value));
    case JSON_TRUE: return firn_buffer_append_text(writer->out, "true", writer->error);
    case JSON_FALSE: return firn_buffer_append_text(writer->out, "false", writer->error);
    case JSON_NULL: return firn_buffer_append_text(writer->out, "null", writer->error);
    }
    return firn_fail(writer->error, FIRN_INVALID, "a value of an unknown kind can't be JSON");
}

firn_status firn_json_write(const json_t *value, int indent, firn_buffer *out, firn_error *error) {
    if (value == NULL) return firn_fail_memory(error);
    json_writer writer = {out, error, indent > 0 ? (size_t)indent : 0};
    size_t start = out->size;
    firn_status status = write_value(&writer, value, 0);
    /* Half a document is of no use to anybody. */
    if (status != FIRN_OK) out->size = start;
    return status;
}
