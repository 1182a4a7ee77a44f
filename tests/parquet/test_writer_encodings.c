/* Which encoding values get that no dictionary holds: what is asked for where it pays, and PLAIN where it does not. */
#include "parquet/rewrite_kit.h"

static const column_case integers = {"o", LEAF(INT64)};
static const column_case texts = {"o", LEAF(BYTE_ARRAY, LOGICAL(STRING))};

static firn_parquet_write_options options_without_dictionary(void) {
    firn_parquet_write_options options = default_options();
    options.dictionary_size_bytes = 0;
    return options;
}

/* Writes the stream, which it takes, reads it back, and counts its data pages by encoding. */
static void write_stream(stream s, const column_case *column,
                         const firn_parquet_write_options *options, int32_t pages[16]) {
    input in = {.s = s};
    make_input(&in, column, s.rows, options);
    assert_verified(&in.source);
    stream back = stream_read(in.file, 0);
    assert_streams_equal(&in.s, &back);
    check_indexes(&in);
    const firn_parquet_column_chunk *chunk = &in.file->metadata->row_groups[0].columns[0];
    memset(pages, 0, 16 * sizeof *pages);
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        if (chunk->encoding_stats[i].page_type == FIRN_PARQUET_DICTIONARY_PAGE) continue;
        pages[chunk->encoding_stats[i].encoding] += chunk->encoding_stats[i].count;
    }
    stream_release(&back);
    input_release(&in);
}

static void assert_only(const int32_t pages[16], firn_parquet_encoding encoding) {
    for (int i = 0; i < 16; i++) assert_int_equal(pages[i] > 0, i == (int)encoding);
}

static stream draw(test_generator *random, const column_case *column, bool near) {
    return stream_random(random, column, 30000, (stream_mix){near ? STREAM_NEAR : UINT64_MAX, 10});
}

static void nothing_is_asked_for(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_parquet_write_options options = options_without_dictionary();
    int32_t pages[16];
    write_stream(draw(&random, &integers, true), &integers, &options, pages);
    assert_only(pages, FIRN_PARQUET_PLAIN);
    write_stream(draw(&random, &texts, true), &texts, &options, pages);
    assert_only(pages, FIRN_PARQUET_PLAIN);
}

static void deltas_go_where_they_pay(void **state) {
    (void)state;
    static const struct {
        column_case column;
        bool near;
        firn_parquet_encoding expected;
    } cases[] = {
        {{"o", LEAF(INT64)}, true, FIRN_PARQUET_DELTA_BINARY_PACKED},
        {{"r", LEAF(INT32)}, true, FIRN_PARQUET_DELTA_BINARY_PACKED},
        {{"o*o", LEAF(INT64)}, true, FIRN_PARQUET_DELTA_BINARY_PACKED},
        {{"o", LEAF(INT64)}, false, FIRN_PARQUET_PLAIN},
        {{"r", LEAF(INT32)}, false, FIRN_PARQUET_PLAIN},
        {{"o", LEAF(DOUBLE)}, true, FIRN_PARQUET_PLAIN},
        {{"o", LEAF(BYTE_ARRAY)}, false, FIRN_PARQUET_PLAIN},
        {{"o", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 8)}, true, FIRN_PARQUET_PLAIN},
        {{"o", LEAF(INT96)}, true, FIRN_PARQUET_PLAIN},
    };
    static const firn_parquet_compression codecs[] = {FIRN_PARQUET_UNCOMPRESSED,
                                                      FIRN_PARQUET_SNAPPY, FIRN_PARQUET_ZSTD};
    test_generator random = test_generator_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 6; i++) {
        const column_case *column = &cases[i / 6].column;
        firn_parquet_write_options options = options_without_dictionary();
        options.compression = codecs[i % 3];
        options.page_version = 1 + (int)(i / 3 % 2);
        options.delta_encodings = true;
        int32_t pages[16];
        write_stream(draw(&random, column, cases[i / 6].near), column, &options, pages);
        assert_only(pages, cases[i / 6].expected);
    }
}

/* Readers unfold them slower than they read PLAIN, so that they have to save half. */
static void front_coded_texts_have_to_save_half(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int version = 1; version <= 2; version++) {
        firn_parquet_write_options options = options_without_dictionary();
        options.compression = FIRN_PARQUET_ZSTD;
        options.page_version = version;
        options.delta_encodings = true;
        stream s = {.rows = 30000};
        for (int64_t i = 0; i < s.rows; i++) {
            char text[32];
            int size = snprintf(text, sizeof text, "rising %012lld", (long long)i);
            stream_add_level(&s, 0, 1);
            stream_add_value(&s, firn_slice_of(text, (size_t)size));
        }
        int32_t pages[16];
        write_stream(s, &texts, &options, pages);
        assert_only(pages, FIRN_PARQUET_DELTA_BYTE_ARRAY);
        write_stream(draw(&random, &texts, true), &texts, &options, pages);
        assert_only(pages, FIRN_PARQUET_PLAIN);
        options.compression = FIRN_PARQUET_SNAPPY;
        write_stream(draw(&random, &texts, true), &texts, &options, pages);
        assert_only(pages, FIRN_PARQUET_PLAIN);
    }
}

static void what_is_kept_is_hardly_larger_than_plain(void **state) {
    (void)state;
    static const struct {
        firn_parquet_encoding encoding;
        column_case column;
        bool near;
        firn_parquet_encoding expected;
    } cases[] = {
        {FIRN_PARQUET_DELTA_BINARY_PACKED,
         {"o", LEAF(INT64)},
         true,
         FIRN_PARQUET_DELTA_BINARY_PACKED},
        {FIRN_PARQUET_DELTA_BINARY_PACKED,
         {"o", LEAF(INT64)},
         false,
         FIRN_PARQUET_DELTA_BINARY_PACKED},
        {FIRN_PARQUET_DELTA_BINARY_PACKED, {"o", LEAF(DOUBLE)}, true, FIRN_PARQUET_PLAIN},
        {FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY,
         {"*", LEAF(BYTE_ARRAY)},
         true,
         FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY},
        {FIRN_PARQUET_DELTA_BYTE_ARRAY,
         {"o", LEAF(BYTE_ARRAY)},
         true,
         FIRN_PARQUET_DELTA_BYTE_ARRAY},
        {FIRN_PARQUET_BYTE_STREAM_SPLIT, {"o", LEAF(DOUBLE)}, true, FIRN_PARQUET_BYTE_STREAM_SPLIT},
        {FIRN_PARQUET_BYTE_STREAM_SPLIT, {"r", LEAF(FLOAT)}, true, FIRN_PARQUET_BYTE_STREAM_SPLIT},
        {FIRN_PARQUET_BYTE_STREAM_SPLIT,
         {"o", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 7)},
         true,
         FIRN_PARQUET_BYTE_STREAM_SPLIT},
        {FIRN_PARQUET_RLE_DICTIONARY, {"o", LEAF(INT64)}, true, FIRN_PARQUET_PLAIN},
        {FIRN_PARQUET_RLE, {"o", LEAF(INT64)}, true, FIRN_PARQUET_PLAIN},
    };
    test_generator random = test_generator_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 4; i++) {
        const column_case *column = &cases[i / 4].column;
        firn_parquet_write_options options = options_without_dictionary();
        options.compression = i % 2 == 0 ? FIRN_PARQUET_ZSTD : FIRN_PARQUET_UNCOMPRESSED;
        options.page_version = 1 + (int)(i / 2 % 2);
        options.value_encoding = cases[i / 4].encoding;
        int32_t pages[16];
        write_stream(draw(&random, column, cases[i / 4].near), column, &options, pages);
        assert_only(pages, cases[i / 4].expected);
    }
}

/* Few values in no order: what compresses well as it is does not as differences. */
static void plain_takes_over_where_it_is_much_smaller(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_parquet_write_options options = options_without_dictionary();
    options.compression = FIRN_PARQUET_ZSTD;
    options.value_encoding = FIRN_PARQUET_DELTA_BINARY_PACKED;
    int32_t pages[16];
    write_stream(stream_random(&random, &integers, 30000, (stream_mix){50, 10}), &integers,
                 &options, pages);
    assert_only(pages, FIRN_PARQUET_PLAIN);
}

/* Rising integers, each a few times. */
static stream repeated(size_t count, uint64_t times) {
    stream s = {.rows = (int64_t)count};
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[8];
        firn_store_le64(bytes, i / times * 10);
        stream_add_level(&s, 0, 1);
        stream_add_value(&s, firn_slice_of(bytes, 8));
    }
    return s;
}

static void a_dictionary_wins_where_values_repeat(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_parquet_write_options options = default_options();
    int32_t pages[16];
    for (int asked = 0; asked < 3; asked++) {
        options.delta_encodings = asked == 1;
        options.value_encoding = asked == 2 ? FIRN_PARQUET_DELTA_BINARY_PACKED : FIRN_PARQUET_PLAIN;
        write_stream(stream_random(&random, &integers, 90000, (stream_mix){900, 10}), &integers,
                     &options, pages);
        assert_only(pages, FIRN_PARQUET_RLE_DICTIONARY);
        write_stream(stream_random(&random, &texts, 90000, (stream_mix){900, 10}), &texts, &options,
                     pages);
        assert_only(pages, FIRN_PARQUET_RLE_DICTIONARY);
        /* The least repetition that pays for a dictionary, where the differences are all but nothing. */
        write_stream(repeated(90000, 3), &integers, &options, pages);
        assert_only(pages,
                    asked == 0 ? FIRN_PARQUET_RLE_DICTIONARY : FIRN_PARQUET_DELTA_BINARY_PACKED);
    }
}

static void dictionaries_fall_back_to_deltas(void **state) {
    (void)state;
    firn_parquet_write_options options = default_options();
    options.delta_encodings = true;
    options.dictionary_size_bytes = 100000;
    stream s = {0};
    test_generator random = test_generator_new();
    stream few = stream_random(&random, &integers, 90000, (stream_mix){900, 0});
    stream near = stream_random(&random, &integers, 90000, (stream_mix){STREAM_NEAR, 10});
    add_stream(&s, &few);
    add_stream(&s, &near);
    int32_t pages[16];
    write_stream(s, &integers, &options, pages);
    assert_true(pages[FIRN_PARQUET_RLE_DICTIONARY] > 0);
    assert_true(pages[FIRN_PARQUET_DELTA_BINARY_PACKED] > 0);
}

/* Pages without values tell nothing, and some readers fail on them where they are deltas; they come first here, and last. */
static void pages_of_nulls_are_plain(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int version = 1; version <= 2; version++) {
        firn_parquet_write_options options = options_without_dictionary();
        options.page_version = version;
        options.delta_encodings = true;
        stream s = stream_random(&random, &integers, 50000, (stream_mix){1, 100});
        stream near = stream_random(&random, &integers, 50000, (stream_mix){STREAM_NEAR, 10});
        stream nulls = stream_random(&random, &integers, 50000, (stream_mix){1, 100});
        add_stream(&s, &near);
        add_stream(&s, &nulls);
        int32_t pages[16];
        write_stream(s, &integers, &options, pages);
        assert_int_equal(pages[FIRN_PARQUET_PLAIN], 5);
        assert_int_equal(pages[FIRN_PARQUET_DELTA_BINARY_PACKED], 3);
    }
}

/* A page that consists of one huge row could shrink to so little that no reader unfolds it. */
static void huge_pages_are_plain(void **state) {
    (void)state;
    static const column_case lists = {"*", LEAF(BYTE_ARRAY)};
    enum { COUNT = 40, SIZE = 1 << 20 };
    stream s = {0};
    uint8_t *large = test_calloc(SIZE, 1);
    for (size_t i = 0; i < 2000; i++) {
        stream_add_level(&s, i == 0 ? 0 : 1, 1);
        stream_add_near_value(&s, &lists.leaf, i);
    }
    for (size_t i = 0; i < COUNT; i++) {
        stream_add_level(&s, i == 0 ? 0 : 1, 1);
        stream_add_value(&s, firn_slice_of(large, SIZE));
    }
    s.rows = 2;
    firn_parquet_write_options options = options_without_dictionary();
    options.value_encoding = FIRN_PARQUET_DELTA_BYTE_ARRAY;
    options.page_size_bytes = 1000;
    int32_t pages[16];
    write_stream(s, &lists, &options, pages);
    assert_int_equal(pages[FIRN_PARQUET_DELTA_BYTE_ARRAY], 1);
    assert_int_equal(pages[FIRN_PARQUET_PLAIN], 1);
    test_free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_asked_for),
        cmocka_unit_test(deltas_go_where_they_pay),
        cmocka_unit_test(front_coded_texts_have_to_save_half),
        cmocka_unit_test(what_is_kept_is_hardly_larger_than_plain),
        cmocka_unit_test(plain_takes_over_where_it_is_much_smaller),
        cmocka_unit_test(a_dictionary_wins_where_values_repeat),
        cmocka_unit_test(dictionaries_fall_back_to_deltas),
        cmocka_unit_test(pages_of_nulls_are_plain),
        cmocka_unit_test(huge_pages_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
