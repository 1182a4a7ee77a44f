#include <string.h>

#include "base/alloc.h"
#include "base/json_internal.h"

/*
 * Documents of some size repeat the same names, types and numbers, so equal texts and integers become one
 * value with several references. A power of two; each slot holds the last value that fell to it.
 */
#define SHARED_VALUES ((size_t)4096)
#define LONGEST_SHARED ((size_t)256)
#define SMALLEST_SHARING ((size_t)4096)

/*
 * Every value belongs to the document from when it is made, save for the one at hand: whatever fails,
 * releasing the root releases all.
 */
typedef struct json_reader {
    const uint8_t *start, *next, *end;
    const char *what;
    firn_error *error;
    json_t *root;
    json_t *
        open[FIRN_JSON_DEEPEST]; /* borrowed: the containers that are not closed, outermost first */
    size_t depth;
    bool first;       /* the innermost of these has nothing in it yet */
    firn_buffer key;  /* the last key, and a zero */
    firn_buffer text; /* the last text that had escapes */
    json_t **shared;  /* borrowed values; NULL for a small document */
} json_reader;

static size_t left(const json_reader *reader) {
    return (size_t)(reader->end - reader->next);
}

/* The byte to come; 0, which JSON never has, at the end. */
static uint8_t peek(const json_reader *reader) {
    return reader->next == reader->end ? 0 : *reader->next;
}

static firn_status fail_at(const json_reader *reader, const uint8_t *at, const char *reason) {
    if (at == reader->end) reason = "it ends too early";
    return firn_fail_at(reader->error, FIRN_CORRUPT, at - reader->start, "%s: not valid JSON: %s",
                        reader->what, reason);
}

static void skip_space(json_reader *reader) {
    for (; reader->next < reader->end; reader->next++) {
        uint8_t byte = *reader->next;
        if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t') return;
    }
}

static firn_status read_escape(json_reader *reader, firn_buffer *text) {
    firn_slice rest = firn_slice_of(reader->next, left(reader));
    firn_json_escape escape = firn_json_escape_read(rest);
    if (escape.wrong != NULL) return fail_at(reader, reader->next, escape.wrong);
    reader->next += escape.size;
    return firn_buffer_append(text, escape.utf8, escape.utf8_size, reader->error);
}

/* What stands in a string and is neither plain nor its end. */
static firn_status read_odd_byte(json_reader *reader, firn_buffer *text) {
    uint8_t byte = peek(reader);
    if (byte == '\\') return read_escape(reader, text);
    return fail_at(reader, reader->next,
                   byte < 0x20 ? "a control character in text" : "text that is not UTF-8");
}

/* The text from its opening quote on: as it stands in the document, or in `buffer` where it has escapes. */
static firn_status read_text(json_reader *reader, firn_buffer *buffer, firn_slice *out) {
    const uint8_t *start = ++reader->next;
    reader->next += firn_json_plain_size(start, left(reader));
    if (peek(reader) == '"') {
        *out = firn_slice_of(start, (size_t)(reader->next++ - start));
        return FIRN_OK;
    }
    firn_buffer_clear(buffer);
    FIRN_TRY(firn_buffer_append(buffer, start, (size_t)(reader->next - start), reader->error));
    while (peek(reader) != '"') {
        FIRN_TRY(read_odd_byte(reader, buffer));
        size_t plain = firn_json_plain_size(reader->next, left(reader));
        FIRN_TRY(firn_buffer_append(buffer, reader->next, plain, reader->error));
        reader->next += plain;
    }
    reader->next++;
    *out = firn_buffer_slice(buffer);
    return FIRN_OK;
}

static size_t slot_of_text(firn_slice text) {
    uint64_t hash = text.size;
    for (size_t i = 0; i < text.size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text.data + i, text.size - i < 8 ? text.size - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return (size_t)hash & (SHARED_VALUES - 1);
}

static json_t *text_value(json_reader *reader, firn_slice text) {
    const char *start = (const char *)text.data;
    if (reader->shared == NULL || text.size > LONGEST_SHARED) {
        return json_stringn_nocheck(start, text.size);
    }
    json_t **slot = &reader->shared[slot_of_text(text)];
    bool same = json_is_string(*slot) && json_string_length(*slot) == text.size &&
                memcmp(json_string_value(*slot), start, text.size) == 0;
    if (same) return json_incref(*slot);
    json_t *value = json_stringn_nocheck(start, text.size);
    if (value != NULL) *slot = value;
    return value;
}

static json_t *integer_value(json_reader *reader, int64_t integer) {
    if (reader->shared == NULL) return json_integer(integer);
    uint64_t hash = (uint64_t)integer * UINT64_C(0x9E3779B97F4A7C15);
    json_t **slot = &reader->shared[(size_t)(hash >> 32) & (SHARED_VALUES - 1)];
    if (json_is_integer(*slot) && json_integer_value(*slot) == integer) return json_incref(*slot);
    json_t *value = json_integer(integer);
    if (value != NULL) *slot = value;
    return value;
}

static firn_status read_string(json_reader *reader, json_t **out) {
    firn_slice text;
    FIRN_TRY(read_text(reader, &reader->text, &text));
    *out = text_value(reader, text);
    return *out == NULL ? firn_fail_memory(reader->error) : FIRN_OK;
}

static firn_status read_number(json_reader *reader, json_t **out) {
    firn_slice rest = firn_slice_of(reader->next, left(reader));
    firn_json_number number = firn_json_number_read(rest);
    reader->next += number.size;
    if (number.wrong != NULL) return fail_at(reader, reader->next, number.wrong);
    *out = number.is_real ? json_real(number.real) : integer_value(reader, number.integer);
    return *out == NULL ? firn_fail_memory(reader->error) : FIRN_OK;
}

static firn_status read_literal(json_reader *reader, const char *literal, json_t *value,
                                json_t **out) {
    size_t size = strlen(literal);
    if (left(reader) < size || memcmp(reader->next, literal, size) != 0) {
        return fail_at(reader, reader->next, "a value expected");
    }
    reader->next += size;
    *out = value;
    return FIRN_OK;
}

static firn_status open_container(json_reader *reader, json_t *container, json_t **out) {
    if (container == NULL) return firn_fail_memory(reader->error);
    *out = container;
    if (reader->depth == FIRN_JSON_DEEPEST) {
        return fail_at(reader, reader->next, "nested to a depth of too many levels");
    }
    reader->next++;
    reader->open[reader->depth++] = container;
    reader->first = true;
    return FIRN_OK;
}

/* A value, of which an array or object is only begun. *out is to be released also where it fails. */
static firn_status read_value(json_reader *reader, json_t **out) {
    switch (peek(reader)) {
    case '{': return open_container(reader, json_object(), out);
    case '[': return open_container(reader, json_array(), out);
    case '"': return read_string(reader, out);
    case 't': return read_literal(reader, "true", json_true(), out);
    case 'f': return read_literal(reader, "false", json_false(), out);
    case 'n': return read_literal(reader, "null", json_null(), out);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return read_number(reader, out);
    case 0: return fail_at(reader, reader->next, "zero byte");
    default: return fail_at(reader, reader->next, "a value expected");
    }
}

static firn_status read_item(json_reader *reader, json_t *array) {
    json_t *value = NULL;
    firn_status status = read_value(reader, &value);
    if (status == FIRN_OK) return firn_json_append(array, value, reader->error);
    json_decref(value);
    return status;
}

/* Named as it is written in the document, where it holds no control characters. */
static firn_status fail_duplicate(const json_reader *reader, const uint8_t *quote) {
    const uint8_t *key = quote + 1;
    const uint8_t *key_end = key;
    while (key_end < reader->end && *key_end != '"' && key_end - key < 100) {
        key_end += *key_end == '\\' ? 2 : 1;
    }
    while (key_end < reader->end && (*key_end & 0xC0) == 0x80) key_end++;
    return firn_fail_at(reader->error, FIRN_CORRUPT, quote - reader->start,
                        "%s: not valid JSON: duplicate key \"%.*s\"", reader->what,
                        (int)(key_end - key), (const char *)key);
}

static firn_status read_key(json_reader *reader) {
    if (peek(reader) != '"') return fail_at(reader, reader->next, "a key in quotes expected");
    firn_slice key;
    FIRN_TRY(read_text(reader, &reader->text, &key));
    firn_buffer_clear(&reader->key);
    FIRN_TRY(firn_buffer_append(&reader->key, key.data, key.size, reader->error));
    FIRN_TRY(firn_buffer_append_byte(&reader->key, 0, reader->error));
    skip_space(reader);
    if (peek(reader) != ':') return fail_at(reader, reader->next, "':' expected");
    reader->next++;
    skip_space(reader);
    return FIRN_OK;
}

static firn_status read_member(json_reader *reader, json_t *object) {
    const uint8_t *quote = reader->next;
    FIRN_TRY(read_key(reader));
    json_t *value = NULL;
    firn_status status = read_value(reader, &value);
    if (status != FIRN_OK) {
        json_decref(value);
        return status;
    }
    size_t before = json_object_size(object);
    /* Takes the value over, also where it fails. */
    if (json_object_set_new_nocheck(object, (const char *)reader->key.data, value) != 0) {
        return firn_fail_memory(reader->error);
    }
    if (json_object_size(object) == before) return fail_duplicate(reader, quote);
    return FIRN_OK;
}

/* One step within the innermost container: its end, or what stands next in it. */
static firn_status read_on(json_reader *reader) {
    json_t *container = reader->open[reader->depth - 1];
    bool object = json_is_object(container);
    skip_space(reader);
    if (peek(reader) == (object ? '}' : ']')) {
        reader->next++;
        reader->depth--;
        reader->first = false;
        return FIRN_OK;
    }
    if (!reader->first) {
        if (peek(reader) != ',') {
            return fail_at(reader, reader->next,
                           object ? "',' or '}' expected" : "',' or ']' expected");
        }
        reader->next++;
        skip_space(reader);
    }
    reader->first = false;
    return object ? read_member(reader, container) : read_item(reader, container);
}

static firn_status read_document(json_reader *reader) {
    skip_space(reader);
    FIRN_TRY(read_value(reader, &reader->root));
    while (reader->depth > 0) FIRN_TRY(read_on(reader));
    skip_space(reader);
    if (reader->next == reader->end) return FIRN_OK;
    return fail_at(reader, reader->next, *reader->next == 0 ? "zero byte" : "the end expected");
}

static firn_status begin_reading(json_reader *reader, size_t size) {
    firn_json_setup();
    if (size < SMALLEST_SHARING) return FIRN_OK;
    reader->shared = firn_alloc_zeroed(SHARED_VALUES, sizeof *reader->shared);
    return reader->shared == NULL ? firn_fail_memory(reader->error) : FIRN_OK;
}

firn_status firn_json_parse(firn_slice text, const char *what, json_t **out, firn_error *error) {
    const uint8_t *start = text.size == 0 ? (const uint8_t *)"" : text.data;
    json_reader reader;
    reader.start = reader.next = start;
    reader.end = start + text.size;
    reader.what = what;
    reader.error = error;
    reader.root = NULL;
    reader.depth = 0;
    reader.first = false;
    reader.key = reader.text = firn_buffer_with_maximum(SIZE_MAX);
    reader.shared = NULL;
    firn_status status = begin_reading(&reader, text.size);
    if (status == FIRN_OK) status = read_document(&reader);
    firn_free(reader.shared);
    firn_buffer_release(&reader.key);
    firn_buffer_release(&reader.text);
    if (status == FIRN_OK) {
        *out = reader.root;
        return FIRN_OK;
    }
    json_decref(reader.root);
    return status == FIRN_NO_MEMORY ? firn_error_wrap(error, status, "%s", what) : status;
}
