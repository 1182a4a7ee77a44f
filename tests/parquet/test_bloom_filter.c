/* Bloom filters: built and checked as BloomFilter.md has it, sized by their share of false positives, refused when broken. */
#include "base/bytes.h"
#include "parquet/bloom_filter.h"
#include "parquet/chunk_indexes.h"
#include "parquet/stream.h"

static firn_parquet_bloom_options options_of(double share, int32_t maximum) {
    return (firn_parquet_bloom_options){true, share, maximum};
}

static uint64_t hash_of(uint64_t number) {
    uint8_t bytes[8];
    firn_store_le64(bytes, number);
    return firn_parquet_bloom_hash(firn_slice_of(bytes, sizeof bytes));
}

static firn_buffer build(uint64_t count, firn_parquet_bloom_options options) {
    firn_error error = {0};
    firn_parquet_bloom_builder builder;
    firn_buffer out = firn_buffer_with_maximum(INT32_MAX);
    firn_parquet_bloom_builder_init(&builder, &options);
    for (uint64_t i = 0; i < count; i++) {
        check_ok(firn_parquet_bloom_builder_add(&builder, hash_of(i), &error), &error);
    }
    check_ok(firn_parquet_bloom_builder_finish(&builder, &out, &error), &error);
    firn_parquet_bloom_builder_release(&builder);
    return out;
}

static firn_parquet_bloom_filter parsed(const firn_buffer *bytes) {
    firn_error error = {0};
    firn_parquet_bloom_filter filter;
    check_ok(
        firn_parquet_bloom_filter_parse(firn_buffer_slice(bytes), 0, "f", true, &filter, &error),
        &error);
    return filter;
}

/* The figures of BloomFilter.md, "Sizing an SBBF". */
static void test_share_of_false_positives(void **state) {
    (void)state;
    assert_in_range((int)(1e4 * firn_parquet_bloom_false_positives(26214, 1024)), 120, 132);
    assert_in_range((int)(1e4 * firn_parquet_bloom_false_positives(52428, 1024)), 1700, 1900);
    assert_in_range((int)(1e6 * firn_parquet_bloom_false_positives(13107, 1024)), 350, 450);
    assert_true(firn_parquet_bloom_false_positives(0, 1) == 0);
    assert_true(firn_parquet_bloom_false_positives(1e12, 1) == 1);
}

static void test_no_false_negatives(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 31, 1000, 50000, 200000};
    static const double shares[] = {0.5, 0.01, 0.0001};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t j = 0; j < 3; j++) {
            firn_buffer bytes = build(counts[i], options_of(shares[j], 1 << 20));
            firn_parquet_bloom_filter filter = parsed(&bytes);
            for (uint64_t k = 0; k < counts[i]; k++) {
                assert_true(firn_parquet_bloom_filter_check(&filter, hash_of(k)));
            }
            size_t found = 0;
            for (uint64_t k = 0; k < 20000; k++) {
                found += firn_parquet_bloom_filter_check(&filter, hash_of(k + (1U << 30)));
            }
            /* No smaller than asked for (unless it is full), and no more than twice too large. */
            double share = (double)found / 20000;
            if (filter.block_count < (1 << 20) / 32) assert_true(share <= shares[j] * 1.3 + 0.0003);
            double smaller =
                firn_parquet_bloom_false_positives((double)counts[i], (filter.block_count + 1) / 2);
            assert_true(filter.block_count == 1 || smaller > shares[j] * 0.8);
            firn_buffer_release(&bytes);
        }
    }
}

static void test_maximum_is_kept(void **state) {
    (void)state;
    static const int32_t limits[] = {1, 32, 63, 64, 1000, 4096};
    static const size_t blocks[] = {1, 1, 1, 2, 16, 128};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        firn_buffer bytes = build(100000, options_of(0.0001, limits[i]));
        assert_int_equal(parsed(&bytes).block_count, blocks[i]);
        firn_buffer_release(&bytes);
    }
}

static firn_status parse(const uint8_t *data, size_t size, bool exact) {
    firn_error error = {0};
    firn_parquet_bloom_filter filter;
    return firn_parquet_bloom_filter_parse(firn_slice_of(data, size), 7, "f", exact, &filter,
                                           &error);
}

static void test_broken_ones(void **state) {
    (void)state;
    firn_buffer bytes = build(100, options_of(0.01, 4096));
    for (size_t i = 0; i < bytes.size; i++) {
        assert_int_equal(parse(bytes.data, i, true), FIRN_CORRUPT);
        assert_int_equal(parse(bytes.data, i, false), FIRN_CORRUPT);
    }
    check_ok(firn_buffer_append_byte(&bytes, 0, NULL), NULL);
    assert_int_equal(parse(bytes.data, bytes.size, true), FIRN_CORRUPT);
    assert_int_equal(parse(bytes.data, bytes.size, false), FIRN_OK);
    /* 15: i32 numBytes; then unions of an empty struct each. */
    static const struct {
        uint8_t bytes[48];
        firn_status status;
    } cases[] = {
        {{0x15, 0x40, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_OK},
        {{0x15, 0x3E, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_CORRUPT},
        {{0x15, 0x00, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_CORRUPT},
        {{0x15, 0x3F, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_CORRUPT},
        {{0x15, 0x40, 0x1C, 0x2C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_UNSUPPORTED},
        {{0x15, 0x40, 0x1C, 0x1C, 0, 0, 0x1C, 0x2C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_UNSUPPORTED},
        {{0x15, 0x40, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x2C, 0, 0, 0}, FIRN_UNSUPPORTED},
        {{0x15, 0x40, 0x1C, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_UNSUPPORTED},
        {{0x15, 0x40, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0}, FIRN_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(cases[i].bytes, 15 + 32, false), cases[i].status);
    }
    firn_buffer_release(&bytes);
}

static firn_status build_once(void *context, firn_error *error) {
    (void)context;
    firn_parquet_bloom_builder builder;
    firn_parquet_bloom_options options = options_of(0.01, 4096);
    firn_buffer out = firn_buffer_with_maximum(INT32_MAX);
    firn_parquet_bloom_builder_init(&builder, &options);
    firn_status status = firn_parquet_bloom_builder_add(&builder, 1, error);
    if (status == FIRN_OK) status = firn_parquet_bloom_builder_finish(&builder, &out, error);
    firn_parquet_bloom_builder_release(&builder);
    firn_buffer_release(&out);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    check_each_allocation(build_once, NULL);
}

#define COLUMNS 5
static const column_case columns[COLUMNS] = {
    {"r", {.type = FIRN_PARQUET_INT64}},
    {"o", {.type = FIRN_PARQUET_BYTE_ARRAY, .logical = {.kind = FIRN_PARQUET_LOGICAL_STRING}}},
    {"o*o", {.type = FIRN_PARQUET_DOUBLE}},
    {"o", {.type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 5}},
    {"r", {.type = FIRN_PARQUET_BOOLEAN}},
};

/* Two row groups of the streams; with `small` dictionaries some pages have a dictionary and some none. */
static firn_buffer write_file(stream streams[COLUMNS], bool small) {
    firn_error error = {0};
    firn_parquet_schema_element elements[32];
    firn_parquet_column_options wanted[COLUMNS] = {0};
    for (size_t i = 0; i < COLUMNS; i++) wanted[i].bloom_filter = options_of(0.01, 1 << 16);
    wanted[3].bloom_filter.enabled = false;
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.columns = wanted;
    options.column_count = COLUMNS;
    options.page_row_limit = 700;
    if (small) options.dictionary_size_bytes = 400;
    size_t count = column_elements(columns, COLUMNS, elements, 32);
    firn_buffer bytes = firn_buffer_with_maximum(1 << 28);
    firn_write_to destination = {stream_sink, &bytes};
    firn_parquet_file_writer *file = NULL;
    check_ok(firn_parquet_file_writer_new(elements, count, &options, &destination, &file, &error),
             &error);
    for (int group = 0; group < 2; group++) {
        check_ok(firn_parquet_file_writer_begin_row_group(file, streams[0].rows, &error), &error);
        for (size_t i = 0; i < COLUMNS; i++) {
            const firn_parquet_leaf *leaf = &firn_parquet_file_writer_schema(file)->leaves[i];
            firn_parquet_chunk_writer *writer = NULL;
            firn_parquet_chunk chunk;
            check_ok(firn_parquet_chunk_writer_new(leaf, &options, &writer, &error), &error);
            check_ok(stream_append(&streams[i], writer, leaf, 0, streams[i].definition.count,
                                   group == 0 ? 0 : 5, &error),
                     &error);
            check_ok(firn_parquet_chunk_writer_finish(writer, &chunk, &error), &error);
            firn_parquet_chunk_writer_free(writer);
            check_ok(firn_parquet_file_writer_add_chunk(file, &chunk, &error), &error);
        }
        check_ok(firn_parquet_file_writer_end_row_group(file, &error), &error);
    }
    check_ok(firn_parquet_file_writer_finish(file, NULL, NULL, &error), &error);
    firn_parquet_file_writer_free(file);
    return bytes;
}

static void check_chunk(const firn_parquet_file *file, size_t group, size_t leaf, const stream *s) {
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    firn_parquet_chunk_indexes indexes;
    check_ok(firn_parquet_chunk_indexes_read(file, group, leaf, FIRN_PARQUET_FETCH_ALL, arena,
                                             &indexes, &error),
             &error);
    assert_null(indexes.offset_index_problem);
    assert_null(indexes.column_index_problem);
    assert_null(indexes.bloom_filter_problem);
    assert_true(indexes.has_offset_index && indexes.has_column_index);
    assert_int_equal(indexes.has_bloom_filter, leaf < 3);
    for (size_t i = 0; leaf < 3 && i < s->values.count; i++) {
        assert_true(firn_parquet_bloom_filter_check(&indexes.bloom_filter,
                                                    firn_parquet_bloom_hash(s->values.items[i])));
    }
    firn_arena_free(arena);
}

static void test_written_filters(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const uint64_t distinct[] = {3, 60, 100000};
    for (int round = 0; round < 6; round++) {
        firn_error error = {0};
        stream streams[COLUMNS];
        for (size_t i = 0; i < COLUMNS; i++) {
            stream_mix mix = {distinct[round % 3], i % 2 == 0 ? 0 : 30};
            streams[i] = stream_random(&random, &columns[i], 3000, mix);
        }
        firn_buffer bytes = write_file(streams, round >= 3);
        firn_memory_file memory = {bytes.data, bytes.size};
        firn_read_at source = firn_read_at_memory(&memory, "f.parquet");
        firn_parquet_file *file = NULL;
        check_ok(firn_parquet_file_open(&source, &file, &error), &error);
        assert_verified(&source);
        for (size_t group = 0; group < 2; group++) {
            for (size_t i = 0; i < COLUMNS; i++) check_chunk(file, group, i, &streams[i]);
        }
        firn_parquet_file_close(file);
        firn_buffer_release(&bytes);
        for (size_t i = 0; i < COLUMNS; i++) stream_release(&streams[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_of_false_positives),
        cmocka_unit_test(test_no_false_negatives),
        cmocka_unit_test(test_maximum_is_kept),
        cmocka_unit_test(test_broken_ones),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_written_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
