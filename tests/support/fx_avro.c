#include "support/fx_avro.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct encoder {
    fx_bytes out;
    json_t *names; /* full or short name to its definition */
    bool signed_counts;
} encoder;

static void mistake(const char *message) {
    fprintf(stderr, "fx_avro: %s\n", message);
    abort();
}

static void put(encoder *e, const void *data, size_t size) {
    if (size == 0) return;
    e->out.data = realloc(e->out.data, e->out.size + size);
    if (e->out.data == NULL) mistake("out of memory");
    memcpy(e->out.data + e->out.size, data, size);
    e->out.size += size;
}

static void put_long(encoder *e, int64_t value) {
    uint64_t bits = ((uint64_t)value << 1) ^ (value < 0 ? ~(uint64_t)0 : 0);
    do {
        uint8_t byte = (uint8_t)(bits & 0x7f);
        bits >>= 7;
        if (bits != 0) byte |= 0x80;
        put(e, &byte, 1);
    } while (bits != 0);
}

static void put_text(encoder *e, const char *text) {
    put_long(e, (int64_t)strlen(text));
    put(e, text, strlen(text));
}

static unsigned digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a' + 10);
    mistake("not hexadecimal");
    return 0;
}

static void put_hex(encoder *e, const json_t *value) {
    if (!json_is_string(value)) mistake("bytes are no hexadecimal string");
    const char *text = json_string_value(value);
    for (; text[0] != '\0' && text[1] != '\0'; text += 2) {
        uint8_t byte = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
        put(e, &byte, 1);
    }
}

static void put_value(encoder *e, const json_t *schema, const json_t *value);

/* The name of a type, or of what stands in a "type" attribute. */
static const char *type_name(const json_t *schema) {
    if (json_is_array(schema)) return "union";
    if (json_is_object(schema)) {
        const json_t *type = json_object_get(schema, "type");
        return json_is_string(type) ? json_string_value(type) : type_name(type);
    }
    return json_string_value(schema);
}

static bool suits(const encoder *e, const json_t *schema, const json_t *value) {
    const char *type = type_name(schema);
    const json_t *named = json_object_get(e->names, type);
    if (named != NULL) type = type_name(named);
    if (strcmp(type, "null") == 0) return value == NULL || json_is_null(value);
    if (strcmp(type, "boolean") == 0) return json_is_boolean(value);
    if (strcmp(type, "int") == 0 || strcmp(type, "long") == 0 || strcmp(type, "enum") == 0) {
        return json_is_integer(value);
    }
    if (strcmp(type, "float") == 0 || strcmp(type, "double") == 0) return json_is_number(value);
    if (strcmp(type, "record") == 0 || strcmp(type, "map") == 0) return json_is_object(value);
    if (strcmp(type, "array") == 0) return json_is_array(value);
    return json_is_string(value);
}

static void put_union(encoder *e, const json_t *schema, const json_t *value) {
    const json_t *stated = json_object_get(value, "@");
    if (stated != NULL) {
        put_long(e, json_integer_value(stated));
        const json_t *branch = json_array_get(schema, (size_t)json_integer_value(stated));
        if (branch != NULL) put_value(e, branch, json_object_get(value, "value"));
        return;
    }
    for (size_t i = 0; i < json_array_size(schema); i++) {
        if (!suits(e, json_array_get(schema, i), value)) continue;
        put_long(e, (int64_t)i);
        put_value(e, json_array_get(schema, i), value);
        return;
    }
    mistake("no branch of a union suits a value");
}

/* One item of an array or one entry of a map as its own block with a negative count. */
static void put_signed_block(encoder *e, const json_t *items, const char *key,
                             const json_t *value) {
    encoder item = {.names = e->names, .signed_counts = true};
    if (key != NULL) put_text(&item, key);
    put_value(&item, items, value);
    put_long(e, -1);
    put_long(e, (int64_t)item.out.size);
    put(e, item.out.data, item.out.size);
    free(item.out.data);
}

static void put_array(encoder *e, const json_t *items, const json_t *value) {
    size_t count = json_array_size(value);
    if (count > 0 && !e->signed_counts) put_long(e, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        if (e->signed_counts) {
            put_signed_block(e, items, NULL, json_array_get(value, i));
        } else {
            put_value(e, items, json_array_get(value, i));
        }
    }
    put_long(e, 0);
}

static void put_map(encoder *e, const json_t *values, json_t *value) {
    if (json_object_size(value) > 0 && !e->signed_counts) {
        put_long(e, (int64_t)json_object_size(value));
    }
    const char *key;
    json_t *item;
    json_object_foreach(value, key, item) {
        if (e->signed_counts) {
            put_signed_block(e, values, key, item);
        } else {
            put_text(e, key);
            put_value(e, values, item);
        }
    }
    put_long(e, 0);
}

static void remember(encoder *e, const json_t *schema) {
    const char *name = json_string_value(json_object_get(schema, "name"));
    if (name != NULL) json_object_set(e->names, name, (json_t *)(uintptr_t)schema);
}

static void put_record(encoder *e, const json_t *schema, const json_t *value) {
    const json_t *fields = json_object_get(schema, "fields");
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        const char *name = json_string_value(json_object_get(field, "name"));
        put_value(e, json_object_get(field, "type"), json_object_get(value, name));
    }
}

static void put_number(encoder *e, const char *type, const json_t *value) {
    double number = json_number_value(value);
    uint64_t bits = 0;
    size_t size = 8;
    if (strcmp(type, "float") == 0) {
        float narrow = (float)number;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        bits = narrow_bits;
        size = 4;
    } else {
        memcpy(&bits, &number, sizeof bits);
    }
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(bits >> (8 * i));
        put(e, &byte, 1);
    }
}

static void put_value(encoder *e, const json_t *schema, const json_t *value) {
    if (json_is_array(schema)) {
        put_union(e, schema, value);
        return;
    }
    const char *type = type_name(schema);
    if (json_is_object(schema) && !json_is_string(json_object_get(schema, "type"))) {
        put_value(e, json_object_get(schema, "type"), value);
        return;
    }
    const json_t *named = json_object_get(e->names, type);
    if (named != NULL && json_is_string(schema)) schema = named, type = type_name(named);
    if (json_is_object(schema)) remember(e, schema);
    if (strcmp(type, "null") == 0) return;
    if (strcmp(type, "boolean") == 0) {
        put(e, json_is_true(value) ? "\1" : "\0", 1);
    } else if (strcmp(type, "int") == 0 || strcmp(type, "long") == 0 || strcmp(type, "enum") == 0) {
        put_long(e, json_integer_value(value));
    } else if (strcmp(type, "float") == 0 || strcmp(type, "double") == 0) {
        put_number(e, type, value);
    } else if (strcmp(type, "string") == 0) {
        put_text(e, json_string_value(value));
    } else if (strcmp(type, "bytes") == 0) {
        put_long(e, (int64_t)strlen(json_string_value(value)) / 2);
        put_hex(e, value);
    } else if (strcmp(type, "fixed") == 0) {
        put_hex(e, value);
    } else if (strcmp(type, "record") == 0) {
        put_record(e, schema, value);
    } else if (strcmp(type, "array") == 0) {
        put_array(e, json_object_get(schema, "items"), value);
    } else if (strcmp(type, "map") == 0) {
        put_map(e, json_object_get(schema, "values"), (json_t *)(uintptr_t)value);
    } else {
        mistake("unknown type");
    }
}

static json_t *parse(const char *text) {
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &error);
    if (value == NULL) {
        fprintf(stderr, "fx_avro: %s at %d in %.200s\n", error.text, error.position, text);
        abort();
    }
    return value;
}

/* Defines every named type first, so that a branch may name one that no record has used yet. */
static void remember_all(encoder *e, const json_t *schema) {
    size_t i;
    json_t *item;
    if (json_is_array(schema)) {
        json_array_foreach(schema, i, item) remember_all(e, item);
        return;
    }
    if (!json_is_object(schema)) return;
    if (json_object_get(schema, "fields") != NULL || json_object_get(schema, "size") != NULL) {
        remember(e, schema);
    }
    json_array_foreach(json_object_get(schema, "fields"), i, item) {
        remember_all(e, json_object_get(item, "type"));
    }
    remember_all(e, json_object_get(schema, "items"));
    remember_all(e, json_object_get(schema, "values"));
    remember_all(e, json_object_get(schema, "type"));
}

fx_bytes fx_avro_datum(const char *schema, const char *value, bool signed_counts) {
    json_t *type = parse(schema);
    json_t *json = parse(value);
    encoder e = {.names = json_object(), .signed_counts = signed_counts};
    remember_all(&e, type);
    put_value(&e, type, json);
    json_decref(e.names);
    json_decref(json);
    json_decref(type);
    if (e.out.data == NULL) e.out.data = malloc(1);
    return e.out;
}

static const char sync_marker[16] = "fx-avro-sync-16!";

static void put_header(encoder *e, const fx_avro *how) {
    int64_t count = how->codec == NULL ? 1 : 2;
    for (const char *const *m = how->metadata; m != NULL && *m != NULL; m += 2) count++;
    put(e, "Obj\1", 4);
    put_long(e, count);
    put_text(e, "avro.schema");
    put_text(e, how->schema);
    if (how->codec != NULL) {
        put_text(e, "avro.codec");
        put_text(e, how->codec);
    }
    for (const char *const *m = how->metadata; m != NULL && *m != NULL; m += 2) {
        put_text(e, m[0]);
        put_text(e, m[1]);
    }
    put_long(e, 0);
    put(e, sync_marker, sizeof sync_marker);
}

static void put_block(encoder *e, int64_t count, const encoder *block) {
    put_long(e, count);
    put_long(e, (int64_t)block->out.size);
    put(e, block->out.data, block->out.size);
    put(e, sync_marker, sizeof sync_marker);
}

fx_bytes fx_avro_file(const fx_avro *how, const char *records) {
    json_t *schema = parse(how->encode_schema != NULL ? how->encode_schema : how->schema);
    json_t *list = parse(records);
    encoder e = {0};
    encoder nothing = {0};
    put_header(&e, how);
    size_t count = json_array_size(list);
    size_t per_block = how->records_per_block == 0 ? count : how->records_per_block;
    for (size_t i = 0; i < count; i += per_block) {
        encoder block = {.names = json_object(), .signed_counts = how->signed_counts};
        remember_all(&block, schema);
        size_t end = i + per_block < count ? i + per_block : count;
        for (size_t j = i; j < end; j++) put_value(&block, schema, json_array_get(list, j));
        if (how->empty_blocks) put_block(&e, 0, &nothing);
        put_block(&e, (int64_t)(end - i), &block);
        if (how->empty_blocks) put_block(&e, 0, &nothing);
        free(block.out.data);
        json_decref(block.names);
    }
    json_decref(list);
    json_decref(schema);
    return e.out;
}
