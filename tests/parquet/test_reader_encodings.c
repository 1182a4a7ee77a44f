/* Each encoding of values: the examples of Encodings.md, random values, and what must be refused. */
#include <string.h>

#include "support/check.h"

#include "base/bytes.h"
#include "parquet/decode.h"

#define BYTES(...)                                                                                 \
    firn_slice_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

typedef struct decoded {
    firn_parquet_values values;
    firn_parquet_value_store store;
} decoded;

static firn_status decode(firn_parquet_encoding encoding, firn_parquet_physical_type type,
                          int32_t length, firn_slice encoded, size_t count, decoded *out,
                          firn_error *error) {
    firn_parquet_value_store_release(&out->store);
    out->values =
        (firn_parquet_values){.type = type, .width = firn_parquet_value_width(type, length)};
    firn_parquet_decode_values function = firn_parquet_decoder_of(encoding, type);
    assert_non_null(function);
    return function(encoded, count, &out->store, &out->values, error);
}

/* The same, from memory of exactly the input's size, and from every shorter piece of it, which must fail. */
static void decode_and_cut(firn_parquet_encoding encoding, firn_parquet_physical_type type,
                           int32_t length, firn_slice encoded, size_t count, decoded *out) {
    firn_error error = {0};
    check_ok(decode(encoding, type, length, encoded, count, out, &error), &error);
    assert_int_equal(out->values.count, count);
    decoded cut = {0};
    for (size_t size = 0; size < encoded.size; size++) {
        firn_buffer copy = firn_buffer_with_maximum(size);
        check_ok(firn_buffer_append(&copy, encoded.data, size, &error), &error);
        check_fails(decode(encoding, type, length, firn_buffer_slice(&copy), count, &cut, &error),
                    FIRN_CORRUPT, &error, NULL);
        firn_buffer_release(&copy);
    }
    firn_parquet_value_store_release(&cut.store);
}

static int64_t integer_at(const firn_parquet_values *values, size_t index) {
    const uint8_t *at = values->fixed + index * values->width;
    return values->width == 4 ? (int32_t)firn_load_le32(at) : (int64_t)firn_load_le64(at);
}

static void assert_text(const firn_parquet_values *values, size_t index, const char *text) {
    assert_true(firn_slice_equal(values->slices[index], firn_slice_text(text)));
}

static void decodes_plain(void **state) {
    (void)state;
    decoded d = {0};
    decode_and_cut(FIRN_PARQUET_PLAIN, FIRN_PARQUET_INT32, 0,
                   BYTES(1, 0, 0, 0, 0xFE, 255, 255, 255), 2, &d);
    assert_int_equal(integer_at(&d.values, 0), 1);
    assert_int_equal(integer_at(&d.values, 1), -2);
    decode_and_cut(FIRN_PARQUET_PLAIN, FIRN_PARQUET_INT96, 0,
                   BYTES(0x40, 0xd7, 0xb1, 0xa6, 0xd3, 0x25, 0, 0, 0x1c, 0xd6, 0x2c, 0), 1, &d);
    assert_int_equal(d.values.width, 12);
    decode_and_cut(FIRN_PARQUET_PLAIN, FIRN_PARQUET_BOOLEAN, 0, BYTES(0x05, 0x02), 10, &d);
    assert_memory_equal(d.values.fixed, ((uint8_t[]){1, 0, 1, 0, 0, 0, 0, 0, 0, 1}), 10);
    decode_and_cut(FIRN_PARQUET_PLAIN, FIRN_PARQUET_BYTE_ARRAY, 0,
                   BYTES(2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 1, 0, 0, 0, 'c'), 3, &d);
    assert_text(&d.values, 0, "ab");
    assert_text(&d.values, 1, "");
    assert_text(&d.values, 2, "c");
    decode_and_cut(FIRN_PARQUET_PLAIN, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 3,
                   BYTES('a', 'b', 'c', 'd', 'e', 'f'), 2, &d);
    assert_memory_equal(d.values.fixed, "abcdef", 6);
    firn_parquet_value_store_release(&d.store);
}

static void refuses_lengths_beyond_the_page(void **state) {
    (void)state;
    firn_error error = {0};
    decoded d = {0};
    check_fails(decode(FIRN_PARQUET_PLAIN, FIRN_PARQUET_BYTE_ARRAY, 0,
                       BYTES(255, 255, 255, 255, 'a', 'b', 'c', 'd'), 1, &d, &error),
                FIRN_CORRUPT, &error, "length of 4294967295");
    check_fails(
        decode(FIRN_PARQUET_PLAIN, FIRN_PARQUET_INT64, 0, BYTES(1, 2, 3), SIZE_MAX / 4, &d, &error),
        FIRN_CORRUPT, &error, NULL);
    firn_parquet_value_store_release(&d.store);
}

static void decodes_rle_booleans(void **state) {
    (void)state;
    decoded d = {0};
    /* Ten ones, then eight bits, in five bytes. */
    decode_and_cut(FIRN_PARQUET_RLE, FIRN_PARQUET_BOOLEAN, 0,
                   BYTES(4, 0, 0, 0, 10 << 1, 1, 1 << 1 | 1, 0xA5), 18, &d);
    assert_memory_equal(d.values.fixed,
                        ((uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1}), 18);
    firn_parquet_value_store_release(&d.store);
}

/* Blocks of 128 here, since the examples' blocks of 8 are not valid. */
static void decodes_the_delta_examples(void **state) {
    (void)state;
    decoded d = {0};
    /* 1, 2, 3, 4, 5: first 1, minimum 1, all widths 0. */
    firn_slice ones = BYTES(0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0);
    decode_and_cut(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT32, 0, ones, 5, &d);
    for (size_t i = 0; i < 5; i++) assert_int_equal(integer_at(&d.values, i), i + 1);
    /* 7, 5, 3, 1, 2, 3, 4, 5: minimum -2, relative deltas 0, 0, 0, 3, 3, 3, 3 in 2 bits. */
    firn_error error = {0};
    firn_slice threes = BYTES(0x80, 1, 4, 8, 14, 3, 2, 9, 9, 9, 0xC0, 0x3F, 0, 0, 0, 0, 0, 0);
    static const int64_t expected[] = {7, 5, 3, 1, 2, 3, 4, 5};
    check_ok(decode(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT64, 0, threes, 8, &d, &error),
             &error);
    for (size_t i = 0; i < 8; i++) assert_int_equal(integer_at(&d.values, i), expected[i]);
    firn_parquet_value_store_release(&d.store);
}

static void put_byte(firn_buffer *out, uint8_t byte) {
    firn_error error = {0};
    check_ok(firn_buffer_append_byte(out, byte, &error), &error);
}

static void put_varint(firn_buffer *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte(out, (uint8_t)(value | 0x80));
    put_byte(out, (uint8_t)value);
}

static void put_zigzag(firn_buffer *out, uint64_t value) {
    put_varint(out, value << 1 ^ (0 - (value >> 63)));
}

static void put_packed(firn_buffer *out, const uint64_t *values, size_t count, unsigned width) {
    uint8_t byte = 0;
    for (size_t i = 0; i < count * width; i++) {
        byte |= (uint8_t)((values[i / width] >> (i % width) & 1) << (i % 8));
        if (i % 8 == 7) {
            put_byte(out, byte);
            byte = 0;
        }
    }
}

static unsigned width_of(uint64_t value) {
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* A block: up to `miniblocks` × 32 deltas in `deltas`. */
static void put_delta_block(firn_buffer *out, uint64_t *deltas, size_t count, size_t miniblocks) {
    uint64_t minimum = deltas[0];
    for (size_t i = 0; i < count; i++) {
        if ((int64_t)deltas[i] < (int64_t)minimum) minimum = deltas[i];
    }
    put_zigzag(out, minimum);
    for (size_t i = 0; i < miniblocks * 32; i++) {
        deltas[i] = i < count ? deltas[i] - minimum : 0;
    }
    size_t widths = out->size;
    for (size_t i = 0; i < miniblocks; i++) put_byte(out, 0xFF);
    for (size_t i = 0; i < miniblocks && i * 32 < count; i++) {
        uint64_t all = 0;
        for (size_t j = 0; j < 32; j++) all |= deltas[i * 32 + j];
        out->data[widths + i] = (uint8_t)width_of(all);
        put_packed(out, deltas + i * 32, 32, width_of(all));
    }
}

static void put_deltas(firn_buffer *out, const uint64_t *values, size_t count) {
    enum { MINIBLOCKS = 8 };
    put_varint(out, MINIBLOCKS * 32);
    put_varint(out, MINIBLOCKS);
    put_varint(out, count);
    put_zigzag(out, count == 0 ? 0 : values[0]);
    for (size_t done = 1; done < count;) {
        uint64_t deltas[MINIBLOCKS * 32] = {0};
        size_t block = count - done < MINIBLOCKS * 32 ? count - done : MINIBLOCKS * 32;
        for (size_t i = 0; i < block; i++) deltas[i] = values[done + i] - values[done + i - 1];
        put_delta_block(out, deltas, block, MINIBLOCKS);
        done += block;
    }
}

static void decodes_deltas_of_every_width(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    decoded d = {0};
    for (unsigned width = 0; width <= 64; width++) {
        uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
        for (size_t count = 1; count < 600; count += 1 + test_generator_below(&random, 60)) {
            uint64_t values[600];
            for (size_t i = 0; i < count; i++) values[i] = test_generator_next(&random) & mask;
            firn_buffer out = firn_buffer_with_maximum(1 << 20);
            put_deltas(&out, values, count);
            check_ok(decode(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT64, 0,
                            firn_buffer_slice(&out), count, &d, &error),
                     &error);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(integer_at(&d.values, i), (int64_t)values[i]);
            }
            /* Differences of 32-bit integers may wrap around in 32 bits or not: the sums are the same. */
            check_ok(decode(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT32, 0,
                            firn_buffer_slice(&out), count, &d, &error),
                     &error);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(integer_at(&d.values, i), (int32_t)values[i]);
            }
            firn_buffer_release(&out);
        }
    }
    firn_parquet_value_store_release(&d.store);
}

static void refuses_wrong_delta_headers(void **state) {
    (void)state;
    firn_error error = {0};
    decoded d = {0};
    const firn_slice wrong[] = {
        BYTES(0, 4, 1, 0),       /* no block size */
        BYTES(0x81, 1, 1, 1, 0), /* 129: no multiple of 128 */
        BYTES(0x80, 1, 0, 1, 0), /* no miniblocks */
        BYTES(0x80, 1, 3, 1, 0), /* 128 / 3 */
        BYTES(0x80, 1, 8, 1, 0), /* miniblocks of 16 */
        BYTES(0x80, 1, 4, 2, 0), /* two values, one is due */
        BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F, 4, 1, 0),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_fails(decode(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT32, 0, wrong[i], 1, &d,
                           &error),
                    FIRN_CORRUPT, &error, "delta");
    }
    check_fails(decode(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT32, 0,
                       BYTES(0x80, 1, 4, 2, 0, 0, 65, 0, 0, 0, 1, 2, 3, 4), 2, &d, &error),
                FIRN_CORRUPT, &error, "65 bits");
    firn_parquet_value_store_release(&d.store);
}

static void decodes_delta_lengths(void **state) {
    (void)state;
    decoded d = {0};
    const uint64_t lengths[] = {5, 5, 6, 6};
    firn_buffer out = firn_buffer_with_maximum(4096);
    firn_error error = {0};
    put_deltas(&out, lengths, 4);
    check_ok(firn_buffer_append_text(&out, "HelloWorldFoobarABCDEF", &error), &error);
    decode_and_cut(FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0,
                   firn_buffer_slice(&out), 4, &d);
    assert_text(&d.values, 0, "Hello");
    assert_text(&d.values, 1, "World");
    assert_text(&d.values, 2, "Foobar");
    assert_text(&d.values, 3, "ABCDEF");
    firn_buffer_clear(&out);
    put_deltas(&out, (const uint64_t[]){(uint64_t)-1}, 1);
    check_ok(firn_buffer_append_text(&out, "Hello", &error), &error);
    check_fails(decode(FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0,
                       firn_buffer_slice(&out), 1, &d, &error),
                FIRN_CORRUPT, &error, "length of -1");
    firn_buffer_release(&out);
    firn_parquet_value_store_release(&d.store);
}

static firn_buffer delta_strings(const uint64_t *prefixes, const uint64_t *suffixes, size_t count,
                                 const char *text) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    put_deltas(&out, prefixes, count);
    put_deltas(&out, suffixes, count);
    check_ok(firn_buffer_append_text(&out, text, &error), &error);
    return out;
}

static void decodes_delta_strings(void **state) {
    (void)state;
    decoded d = {0};
    firn_buffer out = delta_strings((const uint64_t[]){0, 2, 0, 3}, (const uint64_t[]){4, 2, 6, 5},
                                    4, "axislebabbleyhood");
    decode_and_cut(FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0,
                   firn_buffer_slice(&out), 4, &d);
    assert_text(&d.values, 0, "axis");
    assert_text(&d.values, 1, "axle");
    assert_text(&d.values, 2, "babble");
    assert_text(&d.values, 3, "babyhood");
    firn_buffer_release(&out);
    out = delta_strings((const uint64_t[]){0, 2, 4}, (const uint64_t[]){4, 2, 0}, 3, "abcdxy");
    decode_and_cut(FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 4,
                   firn_buffer_slice(&out), 3, &d);
    assert_memory_equal(d.values.fixed, "abcdabxyabxy", 12);
    firn_error error = {0};
    check_fails(decode(FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 5,
                       firn_buffer_slice(&out), 3, &d, &error),
                FIRN_CORRUPT, &error, "5 are due");
    firn_buffer_release(&out);
    firn_parquet_value_store_release(&d.store);
}

static void refuses_delta_strings_that_lie(void **state) {
    (void)state;
    firn_error error = {0};
    decoded d = {0};
    firn_buffer out = delta_strings((const uint64_t[]){0, 5}, (const uint64_t[]){4, 1}, 2, "axisx");
    check_fails(decode(FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0,
                       firn_buffer_slice(&out), 2, &d, &error),
                FIRN_CORRUPT, &error, "prefix 5");
    firn_buffer_release(&out);
    /* Prefixes cost nothing: a few bytes that claim to unfold to gigabytes end at a limit. */
    enum { COUNT = 100000, LENGTH = 40000 };
    uint64_t *prefixes = test_calloc(COUNT, sizeof *prefixes);
    uint64_t *suffixes = test_calloc(COUNT, sizeof *suffixes);
    char *text = test_calloc(LENGTH + 1, 1);
    memset(text, 'x', LENGTH);
    suffixes[0] = LENGTH;
    for (size_t i = 1; i < COUNT; i++) prefixes[i] = LENGTH;
    out = delta_strings(prefixes, suffixes, COUNT, text);
    check_fails(decode(FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0,
                       firn_buffer_slice(&out), COUNT, &d, &error),
                FIRN_LIMIT, &error, NULL);
    firn_buffer_release(&out);
    test_free(prefixes);
    test_free(suffixes);
    test_free(text);
    firn_parquet_value_store_release(&d.store);
}

static void decodes_split_streams(void **state) {
    (void)state;
    decoded d = {0};
    firn_slice example =
        BYTES(0xAA, 0x00, 0xA3, 0xBB, 0x11, 0xB4, 0xCC, 0x22, 0xC5, 0xDD, 0x33, 0xD6);
    decode_and_cut(FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_FLOAT, 0, example, 3, &d);
    firn_slice joined =
        BYTES(0xAA, 0xBB, 0xCC, 0xDD, 0x00, 0x11, 0x22, 0x33, 0xA3, 0xB4, 0xC5, 0xD6);
    assert_memory_equal(d.values.fixed, joined.data, 12);
    decode_and_cut(FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 3,
                   BYTES(1, 4, 2, 5, 3, 6), 2, &d);
    assert_memory_equal(d.values.fixed, ((uint8_t[]){1, 2, 3, 4, 5, 6}), 6);
    decode_and_cut(FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_DOUBLE, 0,
                   BYTES(1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17, 8, 18), 2, &d);
    assert_memory_equal(d.values.fixed,
                        ((uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18}), 16);
    firn_error error = {0};
    check_fails(
        decode(FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_FLOAT, 0, example, 2, &d, &error),
        FIRN_CORRUPT, &error, NULL);
    firn_parquet_value_store_release(&d.store);
}

static void decodes_indices(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_scratch out = {0};
    const uint32_t *indices = NULL;
    /* Width 2: three 1s, then 0 1 2 3 0 1 2 3. */
    firn_slice page = BYTES(2, 3 << 1, 1, 1 << 1 | 1, 0xE4, 0xE4);
    check_ok(firn_parquet_decode_indices(page, 4, 11, &out, &error), &error);
    indices = (const uint32_t *)(const void *)out.data;
    for (size_t i = 0; i < 11; i++) assert_int_equal(indices[i], i < 3 ? 1 : (i - 3) % 4);
    check_fails(firn_parquet_decode_indices(page, 3, 11, &out, &error), FIRN_CORRUPT, &error,
                "index 3 into a dictionary of 3");
    check_fails(firn_parquet_decode_indices(BYTES(33, 2, 0), 4, 1, &out, &error), FIRN_CORRUPT,
                &error, "33 bits");
    check_fails(firn_parquet_decode_indices(BYTES(0, 2), 0, 1, &out, &error), FIRN_CORRUPT, &error,
                "dictionary of 0");
    check_fails(firn_parquet_decode_indices(firn_slice_of(NULL, 0), 4, 1, &out, &error),
                FIRN_CORRUPT, &error, "missing");
    /* Nothing is asked for, nothing need be there. */
    check_ok(firn_parquet_decode_indices(firn_slice_of(NULL, 0), 0, 0, &out, &error), &error);
    /* No bits: every index is 0, with runs or without. */
    check_ok(firn_parquet_decode_indices(BYTES(0), 1, 5, &out, &error), &error);
    indices = (const uint32_t *)(const void *)out.data;
    for (size_t i = 0; i < 5; i++) assert_int_equal(indices[i], 0);
    firn_parquet_scratch_release(&out);
}

static void has_no_decoder_for_other_pairs(void **state) {
    (void)state;
    assert_null(firn_parquet_decoder_of(FIRN_PARQUET_RLE, FIRN_PARQUET_INT32));
    assert_null(firn_parquet_decoder_of(FIRN_PARQUET_BIT_PACKED, FIRN_PARQUET_INT32));
    assert_null(firn_parquet_decoder_of(FIRN_PARQUET_ALP, FIRN_PARQUET_DOUBLE));
    assert_null(firn_parquet_decoder_of(FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_BYTE_ARRAY));
    assert_null(firn_parquet_decoder_of((firn_parquet_encoding)77, FIRN_PARQUET_INT32));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_plain),
        cmocka_unit_test(refuses_lengths_beyond_the_page),
        cmocka_unit_test(decodes_rle_booleans),
        cmocka_unit_test(decodes_the_delta_examples),
        cmocka_unit_test(decodes_deltas_of_every_width),
        cmocka_unit_test(refuses_wrong_delta_headers),
        cmocka_unit_test(decodes_delta_lengths),
        cmocka_unit_test(decodes_delta_strings),
        cmocka_unit_test(refuses_delta_strings_that_lie),
        cmocka_unit_test(decodes_split_streams),
        cmocka_unit_test(decodes_indices),
        cmocka_unit_test(has_no_decoder_for_other_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
