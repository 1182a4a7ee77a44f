/* Golden bytes of the encoders, taken from Encodings.md or worked out by hand from it. */
#include <stdio.h>

#include "base/bytes.h"
#include "parquet/decode.h"
#include "parquet/dictionary.h"
#include "parquet/encode.h"
#include "support/check.h"

static void check_bytes(const firn_buffer *buffer, const uint8_t *wanted, size_t size) {
    assert_int_equal(buffer->size, size);
    assert_memory_equal(buffer->data, wanted, size);
}

#define CHECK_BYTES(buffer, ...)                                                                   \
    do {                                                                                           \
        static const uint8_t wanted[] = {__VA_ARGS__};                                             \
        check_bytes(&(buffer), wanted, sizeof wanted);                                             \
        firn_buffer_release(&(buffer));                                                            \
    } while (0)

static void bit_widths(void **state) {
    (void)state;
    assert_int_equal(firn_parquet_bit_width(0), 0);
    assert_int_equal(firn_parquet_bit_width(1), 1);
    assert_int_equal(firn_parquet_bit_width(7), 3);
    assert_int_equal(firn_parquet_bit_width(8), 4);
    assert_int_equal(firn_parquet_bit_width(UINT32_MAX), 32);
}

static void packs_the_specifications_example(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const uint8_t levels[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    check_ok(firn_parquet_encode_hybrid_bytes(levels, 8, 3, &out, &error), &error);
    CHECK_BYTES(out, 0x03, 0x88, 0xC6, 0xFA);
    static const uint32_t indices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    check_ok(firn_parquet_encode_hybrid_indices(indices, 8, 3, &out, &error), &error);
    CHECK_BYTES(out, 0x03, 0x88, 0xC6, 0xFA);
}

static void runs_and_literals(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    uint32_t values[64];
    for (size_t i = 0; i < 64; i++) values[i] = 5;
    check_ok(firn_parquet_encode_hybrid_indices(values, 64, 9, &out, &error), &error);
    CHECK_BYTES(out, 0x80, 0x01, 0x05, 0x00);
    /* A literal group, a run of 12, and a tail padded with zeros. */
    for (uint32_t i = 0; i < 8; i++) values[i] = i % 4;
    for (size_t i = 8; i < 20; i++) values[i] = 9;
    values[20] = 15;
    check_ok(firn_parquet_encode_hybrid_indices(values, 21, 4, &out, &error), &error);
    CHECK_BYTES(out, 0x03, 0x10, 0x32, 0x10, 0x32, 0x18, 0x09, 0x03, 0x0F, 0, 0, 0);
    check_ok(firn_parquet_encode_hybrid_run(1, 300, 1, &out, &error), &error);
    CHECK_BYTES(out, 0xD8, 0x04, 0x01);
    check_ok(firn_parquet_encode_hybrid_bytes(NULL, 0, 1, &out, &error), &error);
    assert_int_equal(out.size, 0);
    firn_buffer_release(&out);
}

static void full_width(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const uint32_t values[2] = {0xFFFFFFFE, 0x01020304};
    check_ok(firn_parquet_encode_hybrid_indices(values, 2, 32, &out, &error), &error);
    CHECK_BYTES(out, 0x03, 0xFE, 0xFF, 0xFF, 0xFF, 0x04, 0x03, 0x02, 0x01, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void plain(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const uint8_t booleans[10] = {1, 0, 1, 1, 0, 0, 0, 0, 0, 1};
    check_ok(firn_parquet_encode_booleans(booleans, 10, &out, &error), &error);
    CHECK_BYTES(out, 0x0D, 0x02);
    firn_slice slices[3] = {firn_slice_text("ab"), firn_slice_of(NULL, 0), firn_slice_text("c")};
    firn_parquet_values values = {.type = FIRN_PARQUET_BYTE_ARRAY, .count = 3, .slices = slices};
    check_ok(firn_parquet_encode_plain(&values, 1, 2, &out, &error), &error);
    CHECK_BYTES(out, 0, 0, 0, 0, 1, 0, 0, 0, 'c');
    static const uint32_t indices[3] = {2, 0, 2};
    check_ok(firn_parquet_encode_plain_indexed(&values, indices, 3, &out, &error), &error);
    CHECK_BYTES(out, 1, 0, 0, 0, 'c', 2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 'c');
    static const uint8_t fixed[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    values = (firn_parquet_values){
        .type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, .width = 3, .count = 4, .fixed = fixed};
    check_ok(firn_parquet_encode_plain_indexed(&values, indices, 3, &out, &error), &error);
    CHECK_BYTES(out, 7, 8, 9, 1, 2, 3, 7, 8, 9);
}

static firn_buffer plain_texts(const char *const *texts, size_t count) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    for (size_t i = 0; i < count; i++) {
        firn_slice slice = firn_slice_text(texts[i]);
        firn_parquet_values values = {
            .type = FIRN_PARQUET_BYTE_ARRAY, .count = 1, .slices = &slice};
        check_ok(firn_parquet_encode_plain(&values, 0, 1, &out, &error), &error);
    }
    return out;
}

/* The examples of Encodings.md, in blocks of 128. */
static void deltas(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    static const uint8_t rising[] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0};
    check_ok(firn_parquet_encode_delta_binary_packed(firn_slice_of(rising, sizeof rising), 4, 5,
                                                     &out, &error),
             &error);
    CHECK_BYTES(out, 0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0);
    static const int64_t turning[] = {7, 5, 3, 1, 2, 3, 4, 5};
    uint8_t plain[64];
    for (size_t i = 0; i < 8; i++) firn_store_le64(plain + 8 * i, (uint64_t)turning[i]);
    check_ok(firn_parquet_encode_delta_binary_packed(firn_slice_of(plain, 64), 8, 8, &out, &error),
             &error);
    CHECK_BYTES(out, 0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xC0, 0x3F, 0, 0, 0, 0, 0, 0);
    check_ok(firn_parquet_encode_delta_binary_packed(firn_slice_of(NULL, 0), 8, 0, &out, &error),
             &error);
    CHECK_BYTES(out, 0x80, 1, 4, 0, 0);
}

static void delta_strings(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    static const char *const greetings[] = {"Hello", "World", "Foobar", "ABCDEF"};
    firn_buffer plain = plain_texts(greetings, 4);
    check_ok(
        firn_parquet_encode_delta_length_byte_array(firn_buffer_slice(&plain), 0, 4, &out, &error),
        &error);
    /* Lengths 5, 5, 6, 6: least difference 0, one bit each. */
    CHECK_BYTES(out, 0x80, 1, 4, 4, 10, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'H', 'e', 'l', 'l', 'o', 'W',
                'o', 'r', 'l', 'd', 'F', 'o', 'o', 'b', 'a', 'r', 'A', 'B', 'C', 'D', 'E', 'F');
    firn_buffer_release(&plain);
    static const char *const words[] = {"axis", "axle", "babble", "babyhood"};
    plain = plain_texts(words, 4);
    check_ok(firn_parquet_encode_delta_byte_array(firn_buffer_slice(&plain), 0, 4, &out, &error),
             &error);
    /* Prefixes 0, 2, 0, 3: least -2, then 4, 0, 5 of 3 bits. Suffixes 4, 2, 6, 5: least -2, then 0, 6, 1. */
    CHECK_BYTES(out, 0x80, 1, 4, 4, 0, 3, 3, 0, 0, 0, 0x44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80,
                1, 4, 4, 8, 3, 3, 0, 0, 0, 0x70, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'x', 'i',
                's', 'l', 'e', 'b', 'a', 'b', 'b', 'l', 'e', 'y', 'h', 'o', 'o', 'd');
    firn_buffer_release(&plain);
}

static void split_streams(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    static const uint8_t plain[] = {0xAA, 0xBB, 0xCC, 0xDD, 0x00, 0x11,
                                    0x22, 0x33, 0xA3, 0xB4, 0xC5, 0xD6};
    check_ok(firn_parquet_encode_byte_stream_split(firn_slice_of(plain, 12), 4, 3, &out, &error),
             &error);
    CHECK_BYTES(out, 0xAA, 0x00, 0xA3, 0xBB, 0x11, 0xB4, 0xCC, 0x22, 0xC5, 0xDD, 0x33, 0xD6);
}

typedef struct pair {
    firn_parquet_encoding encoding;
    firn_parquet_physical_type type;
    int32_t length;
} pair;

static const pair pairs[] = {
    {FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT32, 0},
    {FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_INT64, 0},
    {FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0},
    {FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY, 0},
    {FIRN_PARQUET_DELTA_BYTE_ARRAY, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 5},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_INT32, 0},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_INT64, 0},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_FLOAT, 0},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_DOUBLE, 0},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 16},
};

/* `count` PLAIN values whose bits above `bits` are those of the value before, so that differences have every width. */
static firn_buffer draw_plain(test_generator *random, const pair *of, size_t count, unsigned bits) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    uint8_t value[32] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t drawn = test_generator_next(random);
        size_t width = firn_parquet_value_width(of->type, of->length);
        bool array = of->type == FIRN_PARQUET_BYTE_ARRAY;
        if (array) width = (size_t)(test_generator_next(random) % 30);
        for (size_t at = 0; at < width && at * 8 < bits; at++) {
            unsigned left = bits - (unsigned)at * 8;
            unsigned mask = left >= 8 ? 0xFF : (1U << left) - 1;
            unsigned more = (unsigned)(drawn >> (at % 8 * 8)) & mask;
            size_t place = array ? width - 1 - at : at;
            value[place] = (uint8_t)((value[place] & ~mask) | more);
        }
        if (test_generator_next(random) % 50 == 0) memset(value, 0xFF, sizeof value);
        uint8_t length[4];
        firn_store_le32(length, (uint32_t)width);
        if (array) check_ok(firn_buffer_append(&out, length, 4, &error), &error);
        check_ok(firn_buffer_append(&out, value, width, &error), &error);
    }
    return out;
}

static void what_is_encoded_is_decoded(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    firn_parquet_value_store store = {0};
    for (size_t round = 0; round < 65 * sizeof pairs / sizeof *pairs; round++) {
        const pair *of = &pairs[round % (sizeof pairs / sizeof *pairs)];
        unsigned bits = (unsigned)(round / (sizeof pairs / sizeof *pairs));
        size_t count = (size_t)test_generator_below(&random, round % 7 == 0 ? 5 : 700);
        firn_buffer plain = draw_plain(&random, of, count, bits);
        /* What was there before stays. */
        firn_buffer out = firn_buffer_with_maximum(1 << 20);
        check_ok(firn_buffer_append_text(&out, "before", &error), &error);
        size_t width = firn_parquet_value_width(of->type, of->length);
        check_ok(firn_parquet_encoder_of(of->encoding, of->type)(firn_buffer_slice(&plain), width,
                                                                 count, &out, &error),
                 &error);
        assert_memory_equal(out.data, "before", 6);
        firn_parquet_values values = {.type = of->type, .width = (uint32_t)width};
        check_ok(firn_parquet_decoder_of(of->encoding, of->type)(
                     firn_slice_of(out.data + 6, out.size - 6), count, &store, &values, &error),
                 &error);
        firn_buffer back = firn_buffer_with_maximum(1 << 20);
        assert_int_equal(values.count, count);
        check_ok(firn_parquet_encode_plain(&values, 0, count, &back, &error), &error);
        check_bytes(&back, plain.data, plain.size);
        firn_buffer_release(&plain);
        firn_buffer_release(&out);
        firn_buffer_release(&back);
    }
    firn_parquet_value_store_release(&store);
}

/* Writers must not take more bits than the type has (Encodings.md). */
static void differences_wrap_in_the_types_width(void **state) {
    (void)state;
    firn_error error = {0};
    uint8_t plain[33 * 8];
    for (size_t width = 4; width <= 8; width += 4) {
        for (size_t i = 0; i < 33; i++) {
            int64_t value = i % 2 == 0 ? INT64_MIN : INT64_MAX;
            if (width == 4) value = i % 2 == 0 ? INT32_MIN : INT32_MAX;
            if (i % 5 == 0) value = (int64_t)i;
            if (width == 4) {
                firn_store_le32(plain + i * 4, (uint32_t)value);
            } else {
                firn_store_le64(plain + i * 8, (uint64_t)value);
            }
        }
        firn_buffer out = firn_buffer_with_maximum(1 << 20);
        check_ok(firn_parquet_encode_delta_binary_packed(firn_slice_of(plain, 33 * width), width,
                                                         33, &out, &error),
                 &error);
        firn_slice rest = firn_buffer_slice(&out);
        uint64_t number = 0;
        for (int i = 0; i < 5; i++) assert_true(firn_parquet_read_varint(&rest, &number));
        assert_true(rest.data[0] <= 8 * width);
        assert_int_equal(rest.size, 4 + (size_t)rest.data[0] * 32 / 8);
        firn_buffer_release(&out);
    }
}

static void has_no_encoder_for_other_pairs(void **state) {
    (void)state;
    assert_null(firn_parquet_encoder_of(FIRN_PARQUET_PLAIN, FIRN_PARQUET_INT32));
    assert_null(firn_parquet_encoder_of(FIRN_PARQUET_RLE, FIRN_PARQUET_BOOLEAN));
    assert_null(firn_parquet_encoder_of(FIRN_PARQUET_RLE_DICTIONARY, FIRN_PARQUET_INT32));
    assert_null(firn_parquet_encoder_of(FIRN_PARQUET_DELTA_BINARY_PACKED, FIRN_PARQUET_DOUBLE));
    assert_null(firn_parquet_encoder_of(FIRN_PARQUET_BYTE_STREAM_SPLIT, FIRN_PARQUET_BYTE_ARRAY));
    assert_null(firn_parquet_encoder_of((firn_parquet_encoding)77, FIRN_PARQUET_INT32));
}

static void limits(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(4);
    static const uint8_t fixed[8] = {0};
    firn_parquet_values values = {
        .type = FIRN_PARQUET_INT64, .width = 8, .count = 1, .fixed = fixed};
    check_fails(firn_parquet_encode_plain(&values, 0, 1, &out, &error), FIRN_LIMIT, &error, NULL);
    firn_buffer_release(&out);
}

static void dictionary_finds_and_adds(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_dictionary dictionary;
    firn_parquet_dictionary_init(&dictionary, FIRN_PARQUET_BYTE_ARRAY, 0, 30);
    firn_slice slices[5] = {firn_slice_text("one"), firn_slice_of(NULL, 0), firn_slice_text("one"),
                            firn_slice_text("three"), firn_slice_text("does not fit")};
    firn_parquet_values values = {.type = FIRN_PARQUET_BYTE_ARRAY, .count = 5, .slices = slices};
    uint32_t out[5];
    size_t done;
    check_ok(firn_parquet_dictionary_add(&dictionary, &values, 0, 5, out, &done, &error), &error);
    assert_int_equal(done, 4);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 0);
    assert_int_equal(out[3], 2);
    assert_int_equal(dictionary.count, 3);
    assert_true(firn_slice_equal(firn_parquet_dictionary_entry(&dictionary, 2), slices[3]));
    uint32_t translation[5] = {FIRN_PARQUET_UNTRANSLATED, FIRN_PARQUET_UNTRANSLATED,
                               FIRN_PARQUET_UNTRANSLATED, FIRN_PARQUET_UNTRANSLATED,
                               FIRN_PARQUET_UNTRANSLATED};
    static const uint32_t indices[4] = {3, 2, 3, 4};
    check_ok(firn_parquet_dictionary_translate(&dictionary, &values, indices, 4, translation, out,
                                               &done, &error),
             &error);
    assert_int_equal(done, 3);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 0);
    assert_int_equal(translation[3], 2);
    assert_int_equal(translation[0], FIRN_PARQUET_UNTRANSLATED);
    firn_parquet_dictionary_release(&dictionary);
}

static void dictionary_grows(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_dictionary dictionary;
    firn_parquet_dictionary_init(&dictionary, FIRN_PARQUET_INT64, 8, 1 << 24);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t value = i << 32;
            firn_parquet_values values = {.type = FIRN_PARQUET_INT64,
                                          .width = 8,
                                          .count = 1,
                                          .fixed = (const uint8_t *)&value};
            uint32_t index;
            size_t done;
            check_ok(firn_parquet_dictionary_add(&dictionary, &values, 0, 1, &index, &done, &error),
                     &error);
            assert_int_equal(done, 1);
            assert_int_equal(index, i);
        }
    }
    firn_parquet_dictionary_release(&dictionary);
}

static uint32_t index_of(firn_parquet_dictionary *dictionary, uint32_t number, bool text) {
    firn_error error = {0};
    char digits[16];
    firn_slice slice = firn_slice_of(digits, (size_t)snprintf(digits, sizeof digits, "%u", number));
    uint8_t fixed[4];
    firn_store_le32(fixed, number);
    firn_parquet_values values = {.type = dictionary->type,
                                  .width = dictionary->width,
                                  .count = 1,
                                  .fixed = text ? NULL : fixed,
                                  .slices = text ? &slice : NULL};
    uint32_t index = 0;
    size_t done = 0;
    check_ok(firn_parquet_dictionary_add(dictionary, &values, 0, 1, &index, &done, &error), &error);
    assert_int_equal(done, 1);
    return index;
}

/* Entries that stay are found, those that went are new. */
static void dictionary_is_cut(void **state) {
    (void)state;
    for (int text = 0; text < 2; text++) {
        firn_parquet_dictionary dictionary;
        firn_parquet_dictionary_init(&dictionary,
                                     text ? FIRN_PARQUET_BYTE_ARRAY : FIRN_PARQUET_INT32,
                                     text ? 0 : 4, 1 << 20);
        for (uint32_t i = 0; i < 5000; i++) {
            assert_int_equal(index_of(&dictionary, i, text != 0), i);
        }
        firn_parquet_dictionary_cut(&dictionary, 3000);
        assert_int_equal(dictionary.count, 3000);
        for (uint32_t i = 0; i < 3000; i++) {
            assert_int_equal(index_of(&dictionary, i, text != 0), i);
        }
        for (int round = 0; round < 2; round++) {
            for (uint32_t i = 3000; i < 5000; i++) {
                assert_int_equal(index_of(&dictionary, 100000 - i, text != 0), i);
            }
        }
        firn_parquet_dictionary_cut(&dictionary, 9000);
        assert_int_equal(index_of(&dictionary, 97000, text != 0), 3000);
        firn_parquet_dictionary_cut(&dictionary, 0);
        assert_int_equal(dictionary.bytes.size, 0);
        assert_int_equal(index_of(&dictionary, 4999, text != 0), 0);
        firn_parquet_dictionary_release(&dictionary);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_widths),
        cmocka_unit_test(packs_the_specifications_example),
        cmocka_unit_test(runs_and_literals),
        cmocka_unit_test(full_width),
        cmocka_unit_test(plain),
        cmocka_unit_test(deltas),
        cmocka_unit_test(delta_strings),
        cmocka_unit_test(split_streams),
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(differences_wrap_in_the_types_width),
        cmocka_unit_test(has_no_encoder_for_other_pairs),
        cmocka_unit_test(limits),
        cmocka_unit_test(dictionary_finds_and_adds),
        cmocka_unit_test(dictionary_grows),
        cmocka_unit_test(dictionary_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
