/**
 * Schemas of Parquet files from text, as Parquet's own tools print them, without the root:
 *     required int32 id = 1; optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
 * Annotations take parameters: DECIMAL(9,2), INT(8,true), TIME(MILLIS,true), TIMESTAMP(MICROS,false).
 */
#ifndef FIRN_TESTS_LAKE_FILE_SCHEMA_H
#define FIRN_TESTS_LAKE_FILE_SCHEMA_H

#include "support/check.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "parquet/file_reader.h"

typedef struct file_schema_reader {
    const char *next;
    firn_arena *arena;
    FIRN_VECTOR(firn_parquet_schema_element) elements;
} file_schema_reader;

static inline bool file_schema_is(file_schema_reader *reader, char wanted) {
    while (*reader->next == ' ' || *reader->next == '\n') reader->next++;
    if (*reader->next != wanted) return false;
    reader->next++;
    return true;
}

/* A word: up to a space or one of (){},;= */
static inline const char *file_schema_word(file_schema_reader *reader) {
    while (*reader->next == ' ' || *reader->next == '\n') reader->next++;
    size_t length = strcspn(reader->next, " \n(){},;=");
    const char *word = firn_arena_strndup(reader->arena, reader->next, length);
    assert_non_null(word);
    reader->next += length;
    return word;
}

static inline int file_schema_index(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) return (int)i;
    }
    fail_msg("\"%s\" is not known", word);
    return -1;
}

static inline int32_t file_schema_number(file_schema_reader *reader) {
    return (int32_t)strtol(file_schema_word(reader), NULL, 10);
}

#define FILE_SCHEMA_INDEX(word, ...)                                                               \
    file_schema_index((word), (const char *const[]){__VA_ARGS__},                                  \
                      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static inline void file_schema_annotation(file_schema_reader *reader,
                                          firn_parquet_logical_type *logical) {
    /* In the order of firn_parquet_logical_kind. */
    const char *word = file_schema_word(reader);
    logical->kind = (firn_parquet_logical_kind)FILE_SCHEMA_INDEX(
        word, "", "STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP",
        "INTERVAL", "INT", "NULL", "JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY",
        "GEOGRAPHY", "MAP_KEY_VALUE", "ODD");
    if (!file_schema_is(reader, '(')) return;
    switch (logical->kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL:
        logical->precision = file_schema_number(reader);
        assert_true(file_schema_is(reader, ','));
        logical->scale = file_schema_number(reader);
        break;
    case FIRN_PARQUET_LOGICAL_INTEGER:
        logical->bit_width = file_schema_number(reader);
        assert_true(file_schema_is(reader, ','));
        logical->is_signed = strcmp(file_schema_word(reader), "true") == 0;
        break;
    case FIRN_PARQUET_LOGICAL_TIME:
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        logical->unit =
            (firn_parquet_time_unit)(1 + FILE_SCHEMA_INDEX(file_schema_word(reader), "MILLIS",
                                                           "MICROS", "NANOS"));
        assert_true(file_schema_is(reader, ','));
        logical->adjusted_to_utc = strcmp(file_schema_word(reader), "true") == 0;
        break;
    default: logical->crs = file_schema_word(reader);
    }
    assert_true(file_schema_is(reader, ')'));
}

static inline int32_t file_schema_members(file_schema_reader *reader, char end);

static inline void file_schema_member(file_schema_reader *reader) {
    firn_error error = {0};
    firn_parquet_schema_element element = {.has_repetition = true};
    element.repetition = (firn_parquet_repetition)FILE_SCHEMA_INDEX(
        file_schema_word(reader), "required", "optional", "repeated");
    int type = FILE_SCHEMA_INDEX(file_schema_word(reader), "boolean", "int32", "int64", "int96",
                                 "float", "double", "binary", "fixed", "group");
    if (type < 8) {
        element.has_type = true;
        element.type = (firn_parquet_physical_type)type;
    }
    if (type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        assert_true(file_schema_is(reader, '('));
        element.type_length = file_schema_number(reader);
        assert_true(file_schema_is(reader, ')'));
    }
    element.name = file_schema_word(reader);
    if (file_schema_is(reader, '(')) {
        file_schema_annotation(reader, &element.logical);
        assert_true(file_schema_is(reader, ')'));
    }
    if (file_schema_is(reader, '=')) {
        element.has_field_id = true;
        element.field_id = file_schema_number(reader);
    }
    size_t index = reader->elements.count;
    check_ok(firn_vector_push(&reader->elements, &error, element), &error);
    if (type < 8) {
        assert_true(file_schema_is(reader, ';'));
        return;
    }
    assert_true(file_schema_is(reader, '{'));
    int32_t children = file_schema_members(reader, '}');
    reader->elements.items[index].num_children = children;
}

static inline int32_t file_schema_members(file_schema_reader *reader, char end) {
    int32_t count = 0;
    while (!file_schema_is(reader, end)) {
        file_schema_member(reader);
        count++;
    }
    return count;
}

/** A file of this schema and no rows, in `arena`. */
static inline firn_parquet_file *file_of(const char *text, firn_arena *arena) {
    firn_error error = {0};
    file_schema_reader reader = {.next = text, .arena = arena};
    firn_parquet_schema_element root = {.name = "schema"};
    check_ok(firn_vector_push(&reader.elements, &error, root), &error);
    int32_t count = file_schema_members(&reader, '\0');
    reader.elements.items[0].num_children = count;
    firn_parquet_file *file = firn_arena_alloc(arena, 1, sizeof *file);
    size_t size = reader.elements.count * sizeof *reader.elements.items;
    const firn_parquet_schema_element *kept = firn_arena_memdup(arena, reader.elements.items, size);
    assert_non_null(file);
    assert_non_null(kept);
    check_ok(firn_parquet_schema_build(kept, reader.elements.count, "file", arena, &file->schema,
                                       &error),
             &error);
    firn_vector_release(&reader.elements);
    return file;
}

#endif
