/*
 * Columns of every type and nesting, written with every kind of option and cut into batches everywhere, come back as they went
 * in; and what the metadata says of them is true.
 */
#include "base/bytes.h"
#include "parquet/chunk_writer.h"
#include "parquet/stream.h"

typedef enum kind { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT, KIND_BYTES, KIND_NONE } kind;

static kind kind_of(const firn_parquet_schema_element *leaf) {
    switch (leaf->type) {
    case FIRN_PARQUET_INT96: return KIND_NONE;
    case FIRN_PARQUET_FLOAT:
    case FIRN_PARQUET_DOUBLE: return KIND_FLOAT;
    case FIRN_PARQUET_INT32:
    case FIRN_PARQUET_INT64:
        return leaf->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER && !leaf->logical.is_signed
                   ? KIND_UNSIGNED
                   : KIND_SIGNED;
    case FIRN_PARQUET_BOOLEAN: return KIND_UNSIGNED;
    default: return leaf->logical.kind == FIRN_PARQUET_LOGICAL_DECIMAL ? KIND_SIGNED : KIND_BYTES;
    }
}

/* The value as a number, for kinds that have one; byte order by type. */
static int64_t number_of(const firn_parquet_schema_element *leaf, firn_slice value) {
    bool big_endian = leaf->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
    uint64_t bits = 0;
    for (size_t i = 0; i < value.size; i++) {
        bits = bits << 8 | value.data[big_endian ? i : value.size - 1 - i];
    }
    if (kind_of(leaf) == KIND_SIGNED && value.size < 8) {
        uint64_t sign = UINT64_C(1) << (8 * value.size - 1);
        bits = (bits ^ sign) - sign;
    }
    return (int64_t)bits;
}

static double float_of(firn_slice value) {
    if (value.size == 8) return firn_double_of_bits(firn_load_le64(value.data));
    return (double)firn_float_of_bits(firn_load_le32(value.data));
}

static int compare(const firn_parquet_schema_element *leaf, firn_slice a, firn_slice b) {
    int64_t x = 0, y = 0;
    switch (kind_of(leaf)) {
    case KIND_FLOAT: return (float_of(a) > float_of(b)) - (float_of(a) < float_of(b));
    case KIND_SIGNED:
        x = number_of(leaf, a);
        y = number_of(leaf, b);
        return (x > y) - (x < y);
    case KIND_UNSIGNED:
        x = number_of(leaf, a);
        y = number_of(leaf, b);
        return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
    default: return firn_slice_compare(a, b);
    }
}

static bool is_nan(const firn_parquet_schema_element *leaf, firn_slice value) {
    return kind_of(leaf) == KIND_FLOAT && float_of(value) != float_of(value);
}

/* What the values first … first + count - 1 of a stream have for bounds. */
typedef struct truth {
    firn_slice minimum, maximum;
    int64_t nan_count;
    int64_t unencoded;
} truth;

static truth truth_of(const stream *s, size_t first, size_t count,
                      const firn_parquet_schema_element *leaf) {
    truth t = {0};
    for (size_t i = first; i < first + count; i++) {
        firn_slice value = s->values.items[i];
        t.unencoded += (int64_t)value.size;
        if (is_nan(leaf, value)) {
            t.nan_count++;
            continue;
        }
        if (t.minimum.data == NULL || compare(leaf, value, t.minimum) < 0) t.minimum = value;
        if (t.maximum.data == NULL || compare(leaf, value, t.maximum) > 0) t.maximum = value;
    }
    return t;
}

static void check_bound(const firn_parquet_schema_element *leaf, firn_slice bound, firn_slice value,
                        bool upper, bool exact) {
    assert_true(bound.size <= 64 || leaf->type != FIRN_PARQUET_BYTE_ARRAY);
    int order = compare(leaf, bound, value);
    if (kind_of(leaf) == KIND_FLOAT || value.size <= 64 || exact) {
        assert_int_equal(order, 0);
    } else {
        assert_true(upper ? order >= 0 : order <= 0);
    }
    if (kind_of(leaf) == KIND_FLOAT && float_of(bound) == 0) {
        assert_int_equal(bound.data[bound.size - 1] >> 7, !upper);
    }
}

static size_t valued_levels(const stream *s, size_t first, size_t count, uint8_t maximum) {
    size_t found = 0;
    for (size_t i = first; i < first + count; i++) found += s->definition.items[i] == maximum;
    return found;
}

static void check_statistics(const stream *s, const firn_parquet_leaf *leaf,
                             const firn_parquet_column_chunk *chunk) {
    const firn_parquet_schema_element *element = leaf->node->element;
    truth t = truth_of(s, 0, s->values.count, element);
    const firn_parquet_statistics *statistics = &chunk->statistics;
    assert_true(statistics->has_null_count);
    assert_int_equal(statistics->null_count, s->definition.count - s->values.count);
    assert_int_equal(statistics->has_nan_count, kind_of(element) == KIND_FLOAT);
    assert_int_equal(statistics->nan_count, t.nan_count);
    assert_null(statistics->deprecated_min.data);
    if (t.minimum.data == NULL || kind_of(element) == KIND_NONE) {
        assert_null(statistics->min_value.data);
        assert_null(statistics->max_value.data);
        return;
    }
    check_bound(element, statistics->min_value, t.minimum, false, statistics->min_exact);
    assert_true(statistics->has_min_exact);
    if (statistics->max_value.data != NULL) {
        check_bound(element, statistics->max_value, t.maximum, true, statistics->max_exact);
    }
    if (element->type == FIRN_PARQUET_BYTE_ARRAY) {
        assert_int_equal(chunk->unencoded_byte_array_bytes, t.unencoded);
    }
}

static void check_chunk_histogram(const int64_t *histogram, size_t size, const uint8_t *levels,
                                  size_t count) {
    int64_t wanted[256] = {0};
    for (size_t i = 0; i < count; i++) wanted[levels[i]]++;
    for (size_t i = 0; i < size; i++) assert_int_equal(histogram[i], wanted[i]);
}

static void read_indexes(const firn_buffer *file, const firn_parquet_column_chunk *chunk,
                         firn_arena *arena, firn_parquet_offset_index *offsets,
                         firn_parquet_column_index *columns) {
    firn_error error = {0};
    assert_true(chunk->has_offset_index);
    firn_slice bytes =
        firn_slice_of(file->data + chunk->offset_index_offset, (size_t)chunk->offset_index_length);
    check_ok(firn_parquet_parse_offset_index(bytes, "test", arena, offsets, &error), &error);
    if (!chunk->has_column_index) return;
    bytes =
        firn_slice_of(file->data + chunk->column_index_offset, (size_t)chunk->column_index_length);
    check_ok(firn_parquet_parse_column_index(bytes, "test", arena, columns, &error), &error);
    assert_int_equal(columns->page_count, offsets->page_count);
}

typedef struct page_walk {
    const stream *s;
    const firn_parquet_leaf *leaf;
    const firn_parquet_write_options *options;
    firn_parquet_offset_index offsets;
    firn_parquet_column_index columns;
    bool has_columns;
    size_t page, level, value;
    int64_t row;
    int64_t size, uncompressed;
    int32_t encodings[16];
} page_walk;

static void check_page_bounds(const page_walk *walk, size_t values, size_t levels) {
    const firn_parquet_schema_element *element = walk->leaf->node->element;
    truth t = truth_of(walk->s, walk->value, values, element);
    assert_int_equal(walk->columns.null_pages[walk->page], values == 0);
    assert_int_equal(walk->columns.null_counts[walk->page], levels - values);
    assert_int_equal(walk->columns.nan_counts != NULL, kind_of(element) == KIND_FLOAT);
    if (walk->columns.nan_counts != NULL) {
        assert_int_equal(walk->columns.nan_counts[walk->page], t.nan_count);
    }
    if (values == 0) return;
    check_bound(element, walk->columns.min_values[walk->page], t.minimum, false, false);
    check_bound(element, walk->columns.max_values[walk->page], t.maximum, true, false);
    if (walk->page == 0 || walk->columns.null_pages[walk->page - 1]) return;
    int order = compare(element, walk->columns.min_values[walk->page - 1],
                        walk->columns.min_values[walk->page]);
    int maximum_order = compare(element, walk->columns.max_values[walk->page - 1],
                                walk->columns.max_values[walk->page]);
    if (walk->columns.boundary_order == FIRN_PARQUET_ASCENDING) {
        assert_true(order <= 0 && maximum_order <= 0);
    }
    if (walk->columns.boundary_order == FIRN_PARQUET_DESCENDING) {
        assert_true(order >= 0 && maximum_order >= 0);
    }
}

static void check_page(page_walk *walk, const firn_parquet_page *page) {
    const firn_parquet_page_header *header = &page->header;
    const firn_parquet_page_location *location = &walk->offsets.pages[walk->page];
    size_t levels = (size_t)header->num_values;
    size_t values =
        valued_levels(walk->s, walk->level, levels, walk->leaf->maximum_definition_level);
    int64_t rows = 0;
    for (size_t i = 0; i < levels; i++) rows += walk->s->repetition.items[walk->level + i] == 0;
    assert_true(levels > 0);
    assert_int_equal(walk->s->repetition.items[walk->level], 0);
    assert_int_equal(location->offset, page->file_offset);
    assert_int_equal(location->compressed_page_size, page->header_bytes.size + page->body.size);
    assert_int_equal(location->first_row_index, walk->row);
    assert_true(rows <= walk->options->page_row_limit);
    assert_int_equal(header->has_crc, walk->options->write_crc);
    assert_int_equal(header->type, walk->options->page_version == 2 ? FIRN_PARQUET_DATA_PAGE_V2
                                                                    : FIRN_PARQUET_DATA_PAGE);
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2) {
        assert_int_equal(header->num_nulls, levels - values);
        assert_int_equal(header->num_rows, rows);
    }
    if (walk->has_columns) check_page_bounds(walk, values, levels);
    walk->encodings[header->encoding]++;
    walk->size += location->compressed_page_size;
    walk->uncompressed += (int64_t)page->header_bytes.size + header->uncompressed_size;
    walk->level += levels;
    walk->value += values;
    walk->row += rows;
    walk->page++;
}

static void check_encodings(const page_walk *walk, const firn_parquet_column_chunk *chunk) {
    int32_t found[16] = {0};
    int32_t dictionaries = 0;
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        if (stats->page_type == FIRN_PARQUET_DICTIONARY_PAGE) {
            dictionaries += stats->count;
        } else {
            found[stats->encoding] += stats->count;
        }
    }
    assert_memory_equal(found, walk->encodings, sizeof found);
    assert_int_equal(dictionaries, found[FIRN_PARQUET_RLE_DICTIONARY] > 0);
    assert_int_equal(chunk->has_dictionary_page_offset, dictionaries > 0);
    bool listed[16] = {false};
    for (size_t i = 0; i < chunk->encoding_count; i++) listed[chunk->encodings[i]] = true;
    for (int i = 0; i < 16; i++) {
        bool levels = i == FIRN_PARQUET_RLE && (walk->leaf->maximum_definition_level > 0 ||
                                                walk->leaf->maximum_repetition_level > 0);
        bool dictionary = i == FIRN_PARQUET_PLAIN && dictionaries > 0;
        assert_int_equal(listed[i], found[i] > 0 || levels || dictionary);
    }
}

static void check_pages(const stream *s, const firn_parquet_file *file, const firn_buffer *bytes,
                        size_t leaf, const firn_parquet_write_options *options) {
    firn_error error = {0};
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[0].columns[leaf];
    page_walk walk = {.s = s,
                      .leaf = &file->schema->leaves[leaf],
                      .options = options,
                      .has_columns = chunk->has_column_index};
    firn_arena *arena = firn_arena_new();
    read_indexes(bytes, chunk, arena, &walk.offsets, &walk.columns);
    firn_parquet_chunk_reader *reader = NULL;
    check_ok(firn_parquet_chunk_reader_open(file, 0, leaf, &reader, &error), &error);
    for (;;) {
        const firn_parquet_page *page;
        check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
        if (page == NULL) break;
        check_page(&walk, page);
    }
    assert_int_equal(walk.page, walk.offsets.page_count);
    assert_int_equal(walk.level, s->definition.count);
    int64_t dictionary =
        chunk->data_page_offset - (chunk->has_dictionary_page_offset ? chunk->dictionary_page_offset
                                                                     : chunk->data_page_offset);
    assert_int_equal(chunk->total_compressed_size, walk.size + dictionary);
    if (dictionary > 0) {
        firn_parquet_page_header header;
        size_t size;
        firn_slice page =
            firn_slice_of(bytes->data + chunk->dictionary_page_offset, (size_t)dictionary);
        check_ok(firn_parquet_parse_page_header(page, "test", &header, &size, &error), &error);
        assert_int_equal(header.type, FIRN_PARQUET_DICTIONARY_PAGE);
        assert_int_equal(size + (size_t)header.compressed_size, page.size);
        walk.uncompressed += (int64_t)size + header.uncompressed_size;
    }
    assert_int_equal(chunk->total_uncompressed_size, walk.uncompressed);
    check_encodings(&walk, chunk);
    firn_parquet_chunk_reader_close(reader);
    firn_arena_free(arena);
}

static void check_file(const stream *streams, size_t count, firn_buffer *bytes,
                       const firn_parquet_write_options *options) {
    firn_error error = {0};
    firn_memory_file memory = {bytes->data, bytes->size};
    firn_read_at source = firn_read_at_memory(&memory, "test");
    firn_parquet_file *file = NULL;
    check_ok(firn_parquet_file_open(&source, &file, &error), &error);
    assert_int_equal(file->metadata->num_rows, streams[0].rows);
    assert_verified(&source);
    for (size_t i = 0; i < count; i++) {
        stream back = stream_read(file, i);
        assert_streams_equal(&streams[i], &back);
        stream_release(&back);
        const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[0].columns[i];
        const firn_parquet_leaf *leaf = &file->schema->leaves[i];
        check_statistics(&streams[i], leaf, chunk);
        if (chunk->definition_level_histogram != NULL) {
            check_chunk_histogram(chunk->definition_level_histogram,
                                  leaf->maximum_definition_level + 1U, streams[i].definition.items,
                                  streams[i].definition.count);
        }
        if (chunk->repetition_level_histogram != NULL) {
            check_chunk_histogram(chunk->repetition_level_histogram,
                                  leaf->maximum_repetition_level + 1U, streams[i].repetition.items,
                                  streams[i].repetition.count);
        }
        if (options->write_page_index && streams[i].definition.count > 0) {
            check_pages(&streams[i], file, bytes, i, options);
        }
    }
    firn_parquet_file_close(file);
}

/* Where a stream is cut into batches; 0: drawn at random. */
typedef struct cutting {
    size_t at;
    uint64_t dictionary_id; /* 0: values */
    test_generator *random;
} cutting;

static firn_status append_cut(const stream *s, firn_parquet_chunk_writer *writer,
                              const firn_parquet_leaf *leaf, const cutting *cut,
                              firn_error *error) {
    size_t count = s->definition.count;
    for (size_t first = 0; first < count;) {
        size_t size = first == 0 ? cut->at : count - first;
        if (cut->random != NULL) size = 1 + test_generator_below(cut->random, 3000);
        if (size == 0 || size > count - first) size = count - first;
        /* Now through a dictionary, now not. */
        uint64_t id = cut->random != NULL ? test_generator_below(cut->random, 2) * (first + 1)
                                          : cut->dictionary_id;
        FIRN_TRY(stream_append(s, writer, leaf, first, size, id, error));
        first += size;
    }
    return FIRN_OK;
}

static firn_status write_columns(const stream *streams, const column_case *columns, size_t count,
                                 const firn_parquet_write_options *options, const cutting *cut,
                                 firn_buffer *out, firn_error *error) {
    firn_parquet_schema_element elements[256];
    size_t element_count = column_elements(columns, count, elements, 256);
    firn_write_to destination = {stream_sink, out};
    firn_parquet_file_writer *file = NULL;
    firn_parquet_chunk_writer *writer = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(
        firn_parquet_file_writer_new(elements, element_count, options, &destination, &file, error));
    FIRN_CHECK(firn_parquet_file_writer_set_key_value(file, "key", "value", error));
    FIRN_CHECK(firn_parquet_file_writer_begin_row_group(file, streams[0].rows, error));
    for (size_t i = 0; i < count; i++) {
        const firn_parquet_leaf *leaf = &firn_parquet_file_writer_schema(file)->leaves[i];
        FIRN_CHECK(firn_parquet_chunk_writer_new(leaf, options, &writer, error));
        FIRN_CHECK(append_cut(&streams[i], writer, leaf, cut, error));
        firn_parquet_chunk chunk;
        FIRN_CHECK(firn_parquet_chunk_writer_finish(writer, &chunk, error));
        firn_parquet_chunk_writer_free(writer);
        writer = NULL;
        FIRN_CHECK(firn_parquet_file_writer_add_chunk(file, &chunk, error));
    }
    FIRN_CHECK(firn_parquet_file_writer_end_row_group(file, error));
    FIRN_CHECK(firn_parquet_file_writer_finish(file, NULL, NULL, error));
out:
    firn_parquet_chunk_writer_free(writer);
    firn_parquet_file_writer_free(file);
    return status;
}

#define LEAF(TYPE, ...)                                                                            \
    { .type = FIRN_PARQUET_##TYPE, __VA_ARGS__ }
#define LOGICAL(KIND, ...) .logical = {.kind = FIRN_PARQUET_LOGICAL_##KIND, __VA_ARGS__}

static const column_case all_columns[] = {
    {"r", LEAF(BOOLEAN)},
    {"o", LEAF(BOOLEAN)},
    {"o*o", LEAF(BOOLEAN)},
    {"r", LEAF(INT32)},
    {"o", LEAF(INT32)},
    {"o*o*o", LEAF(INT32)},
    {"o", LEAF(INT32, LOGICAL(INTEGER, .bit_width = 32, .is_signed = false))},
    {"ooo", LEAF(INT32, LOGICAL(DATE))},
    {"r", LEAF(INT64)},
    {"*", LEAF(INT64)},
    {"o", LEAF(INT64, LOGICAL(INTEGER, .bit_width = 64, .is_signed = false))},
    {"o", LEAF(INT96)},
    {"r", LEAF(FLOAT)},
    {"o*o", LEAF(FLOAT)},
    {"o", LEAF(DOUBLE)},
    {"r", LEAF(BYTE_ARRAY)},
    {"o", LEAF(BYTE_ARRAY, LOGICAL(STRING))},
    {"o*o", LEAF(BYTE_ARRAY, LOGICAL(STRING))},
    {"o", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 16, LOGICAL(UUID))},
    {"ro", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 5, LOGICAL(DECIMAL, .precision = 10))},
    {"r*r", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 3)},
};
#define COLUMN_COUNT (sizeof all_columns / sizeof *all_columns)

static firn_parquet_write_options random_options(test_generator *random) {
    static const int32_t page_sizes[] = {1, 64, 1000, 20000, 1 << 20};
    static const int32_t row_limits[] = {1, 7, 100, 20000};
    static const int32_t dictionary_sizes[] = {0, 30, 2000, 1 << 21};
    static const firn_parquet_compression codecs[] = {
        FIRN_PARQUET_UNCOMPRESSED, FIRN_PARQUET_SNAPPY, FIRN_PARQUET_ZSTD, FIRN_PARQUET_GZIP};
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.page_size_bytes = page_sizes[test_generator_below(random, 5)];
    options.page_row_limit = row_limits[test_generator_below(random, 4)];
    options.dictionary_size_bytes = dictionary_sizes[test_generator_below(random, 4)];
    options.compression = codecs[test_generator_below(random, 4)];
    options.page_version = 1 + (int)test_generator_below(random, 2);
    options.write_crc = test_generator_below(random, 2) == 1;
    options.write_page_index = test_generator_below(random, 4) != 0;
    draw_encodings(random, &options);
    return options;
}

static void write_and_check(const stream *streams, const column_case *columns, size_t count,
                            const firn_parquet_write_options *options, const cutting *cut) {
    firn_error error = {0};
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    check_ok(write_columns(streams, columns, count, options, cut, &bytes, &error), &error);
    check_file(streams, count, &bytes, options);
    firn_buffer_release(&bytes);
}

static void random_columns_come_back(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 60; round++) {
        static const unsigned percents[] = {0, 0, 10, 50, 100};
        static const uint64_t distincts[] = {1, 5, 300, 100000, STREAM_NEAR};
        firn_parquet_write_options options = random_options(&random);
        int64_t rows = (int64_t)test_generator_below(&random, round % 10 == 0 ? 4000 : 300);
        if (options.page_row_limit == 1 && rows > 300) rows = 300;
        stream streams[COLUMN_COUNT];
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            stream_mix mix = {distincts[test_generator_below(&random, 5)],
                              percents[test_generator_below(&random, 5)]};
            streams[i] = stream_random(&random, &all_columns[i], rows, mix);
        }
        cutting cut = {.random = &random};
        write_and_check(streams, all_columns, COLUMN_COUNT, &options, &cut);
        for (size_t i = 0; i < COLUMN_COUNT; i++) stream_release(&streams[i]);
    }
}

static void every_cut_gives_the_same(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o*o", LEAF(BYTE_ARRAY, LOGICAL(STRING))};
    for (int version = 1; version <= 2; version++) {
        firn_parquet_write_options options;
        firn_parquet_write_options_init(&options);
        options.page_version = version;
        options.page_row_limit = 5;
        stream s = stream_random(&random, &column, 20, (stream_mix){8, 20});
        for (size_t at = 0; at <= s.definition.count; at++) {
            for (uint64_t id = 0; id < 2; id++) {
                cutting cut = {.at = at, .dictionary_id = id};
                write_and_check(&s, &column, 1, &options, &cut);
            }
        }
        stream_release(&s);
    }
}

/* Data pages of the first column: bit 0: with a dictionary, bit 1: PLAIN. */
static unsigned ways_of_first_column(const firn_buffer *bytes) {
    firn_error error = {0};
    firn_memory_file memory = {bytes->data, bytes->size};
    firn_read_at source = firn_read_at_memory(&memory, "test");
    firn_parquet_file *file = NULL;
    check_ok(firn_parquet_file_open(&source, &file, &error), &error);
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[0].columns[0];
    unsigned ways = 0;
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        if (chunk->encoding_stats[i].page_type == FIRN_PARQUET_DICTIONARY_PAGE) continue;
        ways |= chunk->encoding_stats[i].encoding == FIRN_PARQUET_PLAIN ? 2U : 1U;
    }
    firn_parquet_file_close(file);
    return ways;
}

/* Enough values to make up its mind, to give up, and to fill a dictionary on the way. */
static void large_columns_come_back(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    static const column_case columns[] = {
        {"o", LEAF(INT64)}, {"r", LEAF(BYTE_ARRAY)}, {"o*o", LEAF(INT32)}, {"o", LEAF(DOUBLE)}};
    static const struct {
        uint64_t distinct;
        unsigned null_percent;
        int32_t dictionary_size;
        unsigned ways[4]; /* per column: 1 dictionary, 2 PLAIN, 3 both */
    } cases[] = {
        {100, 10, 1 << 21, {1, 1, 1, 1}},       /* pays */
        {UINT64_MAX, 0, 1 << 21, {2, 2, 2, 2}}, /* hopeless */
        {1000, 0, 3000, {2, 2, 2, 2}},          /* full before it pays */
        {5000, 0, 36000, {2, 2, 1, 2}},         /* full on the first page */
        {40000, 0, 280000, {3, 2, 1, 3}},       /* is judged to pay, then fills */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            firn_parquet_write_options options;
            firn_parquet_write_options_init(&options);
            options.dictionary_size_bytes = cases[c].dictionary_size;
            options.compression = FIRN_PARQUET_SNAPPY;
            options.page_version = 1 + (int)(i % 2);
            stream s = stream_random(&random, &columns[i], 100000,
                                     (stream_mix){cases[c].distinct, cases[c].null_percent});
            cutting cut = {.random = NULL};
            firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
            check_ok(write_columns(&s, &columns[i], 1, &options, &cut, &bytes, &error), &error);
            check_file(&s, 1, &bytes, &options);
            assert_int_equal(ways_of_first_column(&bytes), cases[c].ways[i]);
            firn_buffer_release(&bytes);
            stream_release(&s);
        }
    }
}

static bool chunk_has_dictionary(const firn_buffer *bytes) {
    return (ways_of_first_column(bytes) & 1) != 0;
}

static void unique_values_get_no_dictionary(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case columns[] = {
        {"r", LEAF(INT64)}, {"r", LEAF(BYTE_ARRAY)}, {"o", LEAF(DOUBLE)}};
    static const int64_t rows[] = {3, 1000, 9000, 80000};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            for (uint64_t id = 0; id < (rows[j] > 9000 ? 1U : 2U); id++) {
                firn_error error = {0};
                firn_parquet_write_options options;
                firn_parquet_write_options_init(&options);
                firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
                stream s =
                    stream_random(&random, &columns[i], rows[j], (stream_mix){UINT64_MAX, 0});
                cutting cut = {.dictionary_id = id};
                check_ok(write_columns(&s, &columns[i], 1, &options, &cut, &bytes, &error), &error);
                assert_false(chunk_has_dictionary(&bytes));
                stream_release(&s);
                firn_buffer_clear(&bytes);
                s = stream_random(&random, &columns[i], rows[j] + 100, (stream_mix){4, 0});
                check_ok(write_columns(&s, &columns[i], 1, &options, &cut, &bytes, &error), &error);
                assert_true(chunk_has_dictionary(&bytes));
                stream_release(&s);
                firn_buffer_release(&bytes);
            }
        }
    }
}

static void nulls_first_then_values_keep_the_question_open(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(INT64)};
    stream s = stream_random(&random, &column, 300000, (stream_mix){1, 100});
    stream few = stream_random(&random, &column, 100000, (stream_mix){50, 0});
    for (size_t i = 0; i < few.definition.count; i++) stream_add_level(&s, 0, 1);
    for (size_t i = 0; i < few.values.count; i++) stream_add_value(&s, few.values.items[i]);
    s.rows += few.rows;
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    cutting cut = {0};
    check_ok(write_columns(&s, &column, 1, &options, &cut, &bytes, &error), &error);
    check_file(&s, 1, &bytes, &options);
    assert_true(chunk_has_dictionary(&bytes));
    firn_buffer_release(&bytes);
    stream_release(&few);
    stream_release(&s);
}

static void large_values_do_not_make_large_pages(void **state) {
    (void)state;
    firn_error error = {0};
    static const column_case column = {"o", LEAF(BYTE_ARRAY)};
    stream s = {0};
    uint8_t *large = calloc(1, 300000);
    for (uint8_t i = 0; i < 50; i++) {
        memset(large, i, 300000);
        stream_add_level(&s, 0, i % 5 != 0);
        if (i % 5 != 0) stream_add_value(&s, firn_slice_of(large, 300000));
        s.rows++;
    }
    free(large);
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    cutting cut = {0};
    check_ok(write_columns(&s, &column, 1, &options, &cut, &bytes, &error), &error);
    check_file(&s, 1, &bytes, &options);
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at source = firn_read_at_memory(&memory, "test");
    firn_parquet_file *file = NULL;
    check_ok(firn_parquet_file_open(&source, &file, &error), &error);
    firn_parquet_chunk_reader *reader = NULL;
    check_ok(firn_parquet_chunk_reader_open(file, 0, 0, &reader, &error), &error);
    for (;;) {
        const firn_parquet_page *page;
        check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
        if (page == NULL) break;
        assert_true(page->header.uncompressed_size < (1 << 20) + 310000);
    }
    firn_parquet_chunk_reader_close(reader);
    firn_parquet_file_close(file);
    firn_buffer_release(&bytes);
    stream_release(&s);
}

typedef struct allocation_case {
    stream streams[3];
    firn_parquet_write_options options;
} allocation_case;

static const column_case allocation_columns[3] = {
    {"o*o", LEAF(BYTE_ARRAY, LOGICAL(STRING))}, {"o", LEAF(INT64)}, {"r", LEAF(DOUBLE)}};

static firn_status write_once(void *context, firn_error *error) {
    allocation_case *c = context;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 30);
    cutting cut = {.at = 100, .dictionary_id = 1};
    firn_status status =
        write_columns(c->streams, allocation_columns, 3, &c->options, &cut, &bytes, error);
    firn_buffer_release(&bytes);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const int32_t dictionary_sizes[] = {0, 400, 1 << 20};
    for (int i = 0; i < 3; i++) {
        allocation_case c;
        firn_parquet_write_options_init(&c.options);
        c.options.dictionary_size_bytes = dictionary_sizes[i];
        c.options.page_row_limit = 150;
        c.options.page_version = 1 + i % 2;
        c.options.compression = FIRN_PARQUET_UNCOMPRESSED;
        for (size_t j = 0; j < 3; j++) {
            c.streams[j] =
                stream_random(&random, &allocation_columns[j], 400, (stream_mix){60, 20});
        }
        check_each_allocation(write_once, &c);
        for (size_t j = 0; j < 3; j++) stream_release(&c.streams[j]);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    firn_error error = {0};
    static const column_case columns[] = {{"r", LEAF(INT32)}, {"*", LEAF(INT32)}};
    firn_parquet_schema_element elements[8];
    size_t count = column_elements(columns, 2, elements, 8);
    firn_arena *arena = firn_arena_new();
    const firn_parquet_schema *schema;
    check_ok(firn_parquet_schema_build(elements, count, "test", arena, &schema, &error), &error);
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    firn_parquet_chunk_writer *writer = NULL;
    check_ok(firn_parquet_chunk_writer_new(&schema->leaves[0], &options, &writer, &error), &error);
    static const uint8_t levels[2] = {1, 0};
    firn_parquet_batch batch = {.level_count = 2, .definition_levels = levels};
    check_fails(firn_parquet_chunk_writer_append(writer, &batch, &error), FIRN_CORRUPT, &error,
                "column c0");
    firn_parquet_chunk_writer_free(writer);
    check_ok(firn_parquet_chunk_writer_new(&schema->leaves[1], &options, &writer, &error), &error);
    batch.repetition_levels = levels;
    check_fails(firn_parquet_chunk_writer_append(writer, &batch, &error), FIRN_CORRUPT, &error,
                "continues a row");
    firn_parquet_chunk_writer_free(writer);
    options.compression = FIRN_PARQUET_LZO;
    check_fails(firn_parquet_chunk_writer_new(&schema->leaves[0], &options, &writer, &error),
                FIRN_UNSUPPORTED, &error, "LZO");
    options.compression = FIRN_PARQUET_ZSTD;
    options.page_version = 3;
    check_fails(firn_parquet_chunk_writer_new(&schema->leaves[0], &options, &writer, &error),
                FIRN_INVALID, &error, "version 3");
    firn_arena_free(arena);
}

static void row_groups_must_be_whole(void **state) {
    (void)state;
    firn_error error = {0};
    static const column_case column = {"r", LEAF(INT32)};
    firn_parquet_schema_element elements[8];
    size_t count = column_elements(&column, 1, elements, 8);
    firn_buffer bytes = firn_buffer_with_maximum(1 << 20);
    firn_write_to destination = {stream_sink, &bytes};
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    firn_parquet_file_writer *file = NULL;
    check_ok(firn_parquet_file_writer_new(elements, count, &options, &destination, &file, &error),
             &error);
    check_fails(firn_parquet_file_writer_end_row_group(file, &error), FIRN_INVALID, &error,
                "no row group is open");
    check_ok(firn_parquet_file_writer_begin_row_group(file, 5, &error), &error);
    check_fails(firn_parquet_file_writer_end_row_group(file, &error), FIRN_INVALID, &error,
                "0 of 1 columns");
    check_fails(firn_parquet_file_writer_finish(file, NULL, NULL, &error), FIRN_INVALID, &error,
                "still open");
    firn_parquet_chunk_writer *writer = NULL;
    check_ok(firn_parquet_chunk_writer_new(&firn_parquet_file_writer_schema(file)->leaves[0],
                                           &options, &writer, &error),
             &error);
    firn_parquet_chunk chunk;
    check_ok(firn_parquet_chunk_writer_finish(writer, &chunk, &error), &error);
    firn_parquet_chunk_writer_free(writer);
    check_fails(firn_parquet_file_writer_add_chunk(file, &chunk, &error), FIRN_INVALID, &error,
                "0 rows in a row group of 5");
    firn_parquet_file_writer_free(file);
    firn_buffer_release(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_columns_come_back),
        cmocka_unit_test(every_cut_gives_the_same),
        cmocka_unit_test(large_columns_come_back),
        cmocka_unit_test(unique_values_get_no_dictionary),
        cmocka_unit_test(nulls_first_then_values_keep_the_question_open),
        cmocka_unit_test(large_values_do_not_make_large_pages),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(row_groups_must_be_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
