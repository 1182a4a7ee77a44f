/**
 * Leaf columns in memory for tests of writing and rewriting: random streams of levels and values of a chain of nested
 * nodes, written through chunk writers, read back, and compared. Everything is static: each test includes it.
 */
#ifndef FIRN_TESTS_PARQUET_STREAM_H
#define FIRN_TESTS_PARQUET_STREAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "parquet/chunk_reader.h"
#include "parquet/file_writer.h"
#include "parquet/verify.h"
#include "support/check.h"

/** A column: `shape` names its nodes from the top, r = required, o = optional, * = repeated; the last one is the leaf. */
typedef struct column_case {
    const char *shape;
    firn_parquet_schema_element leaf;
} column_case;

typedef struct stream {
    FIRN_VECTOR(uint8_t) definition;
    FIRN_VECTOR(uint8_t) repetition;
    FIRN_VECTOR(firn_slice) values; /**< PLAIN form without lengths; BOOLEAN one byte */
    int64_t rows;
} stream;

static inline void stream_release(stream *s) {
    for (size_t i = 0; i < s->values.count; i++) free((void *)(uintptr_t)s->values.items[i].data);
    firn_vector_release(&s->definition);
    firn_vector_release(&s->repetition);
    firn_vector_release(&s->values);
    *s = (stream){0};
}

static inline void stream_add_value(stream *s, firn_slice value) {
    uint8_t *copy = malloc(value.size + 1);
    assert_non_null(copy);
    if (value.size != 0) memcpy(copy, value.data, value.size);
    assert_int_equal(firn_vector_push(&s->values, NULL, firn_slice_of(copy, value.size)), FIRN_OK);
}

/** How values are drawn: few or many distinct ones, and how many nulls and repetitions. */
typedef struct stream_mix {
    uint64_t distinct;
    unsigned null_percent;
} stream_mix;

/** Instead of a number of distinct ones: each a little more than the one before, as the delta encodings like them. */
#define STREAM_NEAR UINT64_C(0)

/* Byte arrays share their first half with their neighbours. */
static inline void stream_add_near_value(stream *s, const firn_parquet_schema_element *leaf,
                                         uint64_t pick) {
    uint8_t bytes[256] = {0};
    size_t width = firn_parquet_value_width(leaf->type, leaf->type_length);
    uint64_t value = s->values.count * 7 + pick % 7;
    if (leaf->type == FIRN_PARQUET_BOOLEAN) value &= 1;
    if (leaf->type == FIRN_PARQUET_BYTE_ARRAY) {
        width = (size_t)snprintf((char *)bytes, sizeof bytes, "near %012llu%.*s",
                                 (unsigned long long)value, (int)(pick % 5), "abcde");
    } else {
        for (size_t i = 0; i < width && i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    }
    stream_add_value(s, firn_slice_of(bytes, width));
}

static inline void stream_draw_value(stream *s, test_generator *random,
                                     const firn_parquet_schema_element *leaf,
                                     const stream_mix *mix) {
    uint8_t bytes[256];
    if (mix->distinct == STREAM_NEAR) {
        stream_add_near_value(s, leaf, test_generator_below(random, 7));
        return;
    }
    uint64_t pick = test_generator_below(random, mix->distinct);
    /* Spread the picks over the whole range of the type, always the same for the same pick. */
    uint64_t spread = pick * UINT64_C(0x9E3779B97F4A7C15);
    size_t width = firn_parquet_value_width(leaf->type, leaf->type_length);
    if (leaf->type == FIRN_PARQUET_BYTE_ARRAY) {
        width = (size_t)(spread % 12);
        if (pick % 17 == 0) width = 60 + (size_t)(spread % 150);
    }
    for (size_t i = 0; i < width; i++) bytes[i] = (uint8_t)(spread >> (8 * (i % 8)));
    if (leaf->logical.kind == FIRN_PARQUET_LOGICAL_STRING) {
        for (size_t i = 0; i < width; i++) bytes[i] = (uint8_t)('a' + bytes[i] % 26);
    }
    if (leaf->type == FIRN_PARQUET_BOOLEAN) bytes[0] &= 1;
    stream_add_value(s, firn_slice_of(bytes, width));
}

static inline void stream_add_level(stream *s, uint8_t repetition, uint8_t definition) {
    assert_int_equal(firn_vector_push(&s->definition, NULL, definition), FIRN_OK);
    assert_int_equal(firn_vector_push(&s->repetition, NULL, repetition), FIRN_OK);
}

static inline void stream_draw(stream *s, test_generator *random, const column_case *column,
                               const char *node, const stream_mix *mix, uint8_t repetition,
                               uint8_t definition, uint8_t depth) {
    if (*node == '\0') {
        stream_add_level(s, repetition, definition);
        stream_draw_value(s, random, &column->leaf, mix);
        return;
    }
    if (*node == 'r') {
        stream_draw(s, random, column, node + 1, mix, repetition, definition, depth);
        return;
    }
    bool null = test_generator_below(random, 100) < mix->null_percent;
    if (null) {
        stream_add_level(s, repetition, definition);
        return;
    }
    uint64_t times = *node == '*' ? 1 + test_generator_below(random, 4) : 1;
    if (*node == '*') depth++;
    for (uint64_t i = 0; i < times; i++) {
        stream_draw(s, random, column, node + 1, mix, i == 0 ? repetition : depth,
                    (uint8_t)(definition + 1), depth);
    }
}

/** A random column of `rows` rows. */
static inline stream stream_random(test_generator *random, const column_case *column, int64_t rows,
                                   stream_mix mix) {
    stream s = {.rows = rows};
    for (int64_t i = 0; i < rows; i++)
        stream_draw(&s, random, column, column->shape, &mix, 0, 0, 0);
    return s;
}

/** Encodings that inputs may have, and tables ask for. */
static inline void draw_encodings(test_generator *random, firn_parquet_write_options *options) {
    static const firn_parquet_encoding encodings[] = {
        FIRN_PARQUET_PLAIN, FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY,
        FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_BYTE_STREAM_SPLIT};
    options->value_encoding = encodings[test_generator_below(random, 5)];
    options->delta_encodings = test_generator_below(random, 4) == 0;
}

/** Appends the flat schema of the columns below a root; at most `room` elements. */
static inline size_t column_elements(const column_case *columns, size_t count,
                                     firn_parquet_schema_element *out, size_t room) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static char top[64][24];
    size_t used = 0;
    out[used++] = (firn_parquet_schema_element){.name = "root", .num_children = (int32_t)count};
    for (size_t i = 0; i < count; i++) {
        size_t depth = strlen(columns[i].shape);
        assert_true(i < 64 && depth <= 8);
        snprintf(top[i], sizeof top[i], "c%zu", i);
        for (size_t j = 0; j < depth; j++) {
            assert_true(used < room);
            bool leaf = j + 1 == depth;
            firn_parquet_schema_element element =
                leaf ? columns[i].leaf : (firn_parquet_schema_element){.num_children = 1};
            element.has_type = leaf;
            element.has_repetition = true;
            element.repetition = columns[i].shape[j] == 'r'   ? FIRN_PARQUET_REQUIRED
                                 : columns[i].shape[j] == 'o' ? FIRN_PARQUET_OPTIONAL
                                                              : FIRN_PARQUET_REPEATED;
            element.name = j == 0 ? top[i] : names[j];
            out[used++] = element;
        }
    }
    return used;
}

/** The values of a stream as a batch holds them: `memory` owns the fixed-width form. */
static inline firn_parquet_values stream_values(const stream *s, size_t first, size_t count,
                                                const firn_parquet_schema_element *leaf,
                                                uint8_t **memory) {
    uint32_t width = firn_parquet_value_width(leaf->type, leaf->type_length);
    firn_parquet_values values = {.type = leaf->type, .width = width, .count = count};
    *memory = malloc(count * width + 1);
    assert_non_null(*memory);
    values.slices = s->values.items + first;
    if (leaf->type == FIRN_PARQUET_BYTE_ARRAY) return values;
    values.slices = NULL;
    values.fixed = *memory;
    for (size_t i = 0; i < count; i++) {
        memcpy(*memory + i * width, s->values.items[first + i].data, width);
    }
    return values;
}

/** Appends levels first … first + count - 1 of the stream, as values or, `dictionary_id` not 0, through a dictionary. */
static inline firn_status stream_append(const stream *s, firn_parquet_chunk_writer *writer,
                                        const firn_parquet_leaf *leaf, size_t first, size_t count,
                                        uint64_t dictionary_id, firn_error *error) {
    size_t value_first = 0, value_count = 0;
    for (size_t i = 0; i < first + count; i++) {
        bool valued = s->definition.items[i] == leaf->maximum_definition_level;
        if (i < first) {
            value_first += valued;
        } else {
            value_count += valued;
        }
    }
    firn_parquet_batch batch = {
        .level_count = count,
        .definition_levels =
            leaf->maximum_definition_level > 0 ? s->definition.items + first : NULL,
        .repetition_levels =
            leaf->maximum_repetition_level > 0 ? s->repetition.items + first : NULL,
        .value_count = value_count,
    };
    uint8_t *memory;
    uint32_t *indices = NULL;
    if (dictionary_id == 0) {
        batch.values = stream_values(s, value_first, value_count, leaf->node->element, &memory);
    } else {
        /* The whole stream is the dictionary, with many equal entries: a writer may not trust it to be distinct. */
        batch.values = stream_values(s, 0, s->values.count, leaf->node->element, &memory);
        indices = malloc((value_count + 1) * sizeof *indices);
        assert_non_null(indices);
        for (size_t i = 0; i < value_count; i++) indices[i] = (uint32_t)(value_first + i);
        batch.indices = indices;
        batch.dictionary_id = dictionary_id;
    }
    firn_status status = firn_parquet_chunk_writer_append(writer, &batch, error);
    free(memory);
    free(indices);
    return status;
}

static inline firn_status stream_sink(void *context, const void *data, size_t size,
                                      firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

static inline firn_slice stream_batch_value(const firn_parquet_batch *batch, size_t i) {
    size_t at = batch->indices != NULL ? batch->indices[i] : i;
    if (batch->values.type == FIRN_PARQUET_BYTE_ARRAY) return batch->values.slices[at];
    return firn_slice_of(batch->values.fixed + at * batch->values.width, batch->values.width);
}

/** Adds what a decoded batch holds. */
static inline void stream_take(stream *s, const firn_parquet_batch *batch,
                               const firn_parquet_leaf *leaf) {
    for (size_t i = 0; i < batch->level_count; i++) {
        uint8_t repetition = leaf->maximum_repetition_level > 0 ? batch->repetition_levels[i] : 0;
        stream_add_level(s, repetition,
                         leaf->maximum_definition_level > 0 ? batch->definition_levels[i] : 0);
        s->rows += repetition == 0;
    }
    for (size_t i = 0; i < batch->value_count; i++) {
        stream_add_value(s, stream_batch_value(batch, i));
    }
}

/** Reads a leaf of all row groups. */
static inline stream stream_read(const firn_parquet_file *file, size_t leaf) {
    stream s = {0};
    firn_error error = {0};
    for (size_t group = 0; group < file->metadata->row_group_count; group++) {
        firn_parquet_chunk_reader *reader = NULL;
        check_ok(firn_parquet_chunk_reader_open(file, group, leaf, &reader, &error), &error);
        for (;;) {
            const firn_parquet_page *page;
            check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
            if (page == NULL) break;
            firn_parquet_batch batch;
            check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
            stream_take(&s, &batch, &file->schema->leaves[leaf]);
        }
        firn_parquet_chunk_reader_close(reader);
    }
    return s;
}

/** The file keeps what it promises: checksums, sums, statistics, indexes and Bloom filters against its values. */
static inline void assert_verified(const firn_read_at *source) {
    firn_error error = {0};
    firn_parquet_verification verification;
    check_ok(firn_parquet_verify(source, NULL, &verification, &error), &error);
    for (size_t i = 0; i < verification.findings.count; i++) {
        const firn_parquet_finding *finding = &verification.findings.items[i];
        print_error("row group %lld: column %s: page %lld: %s: %s\n", (long long)finding->row_group,
                    finding->column_name == NULL ? "-" : finding->column_name,
                    (long long)finding->page, finding->kind, finding->message);
    }
    size_t count = verification.findings.count;
    firn_parquet_verification_release(&verification);
    assert_int_equal(count, 0);
}

static inline void assert_streams_equal(const stream *a, const stream *b) {
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->definition.count, b->definition.count);
    assert_int_equal(a->values.count, b->values.count);
    if (a->definition.count > 0) {
        assert_memory_equal(a->definition.items, b->definition.items, a->definition.count);
        assert_memory_equal(a->repetition.items, b->repetition.items, a->repetition.count);
    }
    for (size_t i = 0; i < a->values.count; i++) {
        assert_true(firn_slice_equal(a->values.items[i], b->values.items[i]));
    }
}

#endif
