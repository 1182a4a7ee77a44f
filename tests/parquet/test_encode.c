/* Golden bytes of the encoders, taken from Encodings.md or worked out by hand from it. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_widths),
        cmocka_unit_test(packs_the_specifications_example),
        cmocka_unit_test(runs_and_literals),
        cmocka_unit_test(full_width),
        cmocka_unit_test(plain),
        cmocka_unit_test(limits),
        cmocka_unit_test(dictionary_finds_and_adds),
        cmocka_unit_test(dictionary_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
