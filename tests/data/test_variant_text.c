/* Variants as JSON text: each type, keys, nesting, and bytes that are no variant. */
#include "data/variant_text.h"
#include "support/check.h"

#define BYTES(...)                                                                                 \
    firn_slice_of((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

/* The keys "a" and "bc". */
#define METADATA BYTES(0x01, 2, 0, 1, 3, 'a', 'b', 'c')

static void prints(firn_slice value, const char *expected) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(4096);
    check_ok(firn_variant_print(METADATA, value, &out, &error), &error);
    assert_int_equal(out.size, strlen(expected));
    assert_memory_equal(out.data, expected, out.size);
    firn_buffer_release(&out);
}

static void fails(firn_slice metadata, firn_slice value, firn_status code, const char *part) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(4096);
    check_fails(firn_variant_print(metadata, value, &out, &error), code, &error, part);
    firn_buffer_release(&out);
}

static void primitives(void **state) {
    (void)state;
    prints(BYTES(0 << 2), "null");
    prints(BYTES(1 << 2), "true");
    prints(BYTES(2 << 2), "false");
    prints(BYTES(3 << 2, 0xFF), "-1");
    prints(BYTES(4 << 2, 0x00, 0x80), "-32768");
    prints(BYTES(5 << 2, 0xFF, 0xFF, 0xFF, 0x7F), "2147483647");
    prints(BYTES(6 << 2, 0, 0, 0, 0, 0, 0, 0, 0x80), "-9223372036854775808");
    prints(BYTES(7 << 2, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F), "1.5");
    prints(BYTES(7 << 2, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F), "\"NaN\"");
    prints(BYTES(8 << 2, 3, 0x9C, 0xFF, 0xFF, 0xFF), "-0.1");
    prints(BYTES(9 << 2, 0, 7, 0, 0, 0, 0, 0, 0, 0), "7");
    prints(BYTES(10 << 2, 1, 0xF1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                 0xFF, 0xFF, 0xFF, 0xFF),
           "-1.5");
    prints(BYTES(11 << 2, 1, 0, 0, 0), "\"1970-01-02\"");
    prints(BYTES(12 << 2, 1, 0, 0, 0, 0, 0, 0, 0), "\"1970-01-01T00:00:00.000001+00:00\"");
    prints(BYTES(13 << 2, 1, 0, 0, 0, 0, 0, 0, 0), "\"1970-01-01T00:00:00.000001\"");
    prints(BYTES(14 << 2, 0, 0, 0xC0, 0x3F), "1.5");
    prints(BYTES(15 << 2, 2, 0, 0, 0, 0xAB, 0x01), "\"ab01\"");
    prints(BYTES(16 << 2, 3, 0, 0, 0, 'x', '"', 'y'), "\"x\\\"y\"");
    prints(BYTES(17 << 2, 1, 0, 0, 0, 0, 0, 0, 0), "\"00:00:00.000001\"");
    prints(BYTES(18 << 2, 1, 0, 0, 0, 0, 0, 0, 0), "\"1970-01-01T00:00:00.000000001+00:00\"");
    prints(BYTES(19 << 2, 1, 0, 0, 0, 0, 0, 0, 0), "\"1970-01-01T00:00:00.000000001\"");
    prints(BYTES(20 << 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
           "\"00010203-0405-0607-0809-0a0b0c0d0e0f\"");
    prints(BYTES(2 << 2 | 1, 'h', 'i'), "\"hi\"");
}

/* {"a": [true, "x"], "bc": {}}; values stand in another order than keys. */
#define NESTED BYTES(0x02, 2, 0, 1, 3, 0, 11, 0x02, 0, 0, 0x03, 2, 0, 1, 3, 1 << 2, 1 << 2 | 1, 'x')

static void nesting(void **state) {
    (void)state;
    prints(NESTED, "{\"a\":[true,\"x\"],\"bc\":{}}");
    prints(BYTES(0x03, 0, 0), "[]");
    /* Large, with offsets of two bytes. */
    prints(BYTES(0x03 | 0x10 | 1 << 2, 1, 0, 0, 0, 0, 0, 1, 0, 0), "[null]");
}

static void what_is_no_variant(void **state) {
    (void)state;
    fails(BYTES(0x02, 0, 0), BYTES(0), FIRN_UNSUPPORTED, "version 2");
    fails(BYTES(0x01, 9, 0), BYTES(0), FIRN_CORRUPT, "end early");
    fails(METADATA, BYTES(21 << 2), FIRN_UNSUPPORTED, "primitive type 21");
    fails(METADATA, BYTES(8 << 2, 99, 0, 0, 0, 0), FIRN_CORRUPT, "scale");
    fails(METADATA, BYTES(0x02, 1, 7, 0, 1, 0), FIRN_CORRUPT, "dictionary");
    fails(METADATA, BYTES(0x03, 1, 9, 1, 0), FIRN_CORRUPT, "offset");
    /* Every element is the array of arrays behind it, again and again. */
    uint8_t layers[24 * 5 + 1];
    for (size_t i = 0; i < 24; i++) memcpy(layers + 5 * i, (uint8_t[]){0x03, 2, 0, 0, 0}, 5);
    layers[120] = 0;
    fails(METADATA, firn_slice_of(layers, sizeof layers), FIRN_CORRUPT, "overlap");
}

static void damaged_bytes(void **state) {
    (void)state;
    firn_slice nested = NESTED;
    uint8_t copy[32];
    for (size_t i = 0; i < nested.size; i++) {
        for (unsigned change = 1; change < 256; change++) {
            firn_error error = {0};
            firn_buffer out = firn_buffer_with_maximum(4096);
            memcpy(copy, nested.data, nested.size);
            copy[i] ^= (uint8_t)change;
            (void)firn_variant_print(METADATA, firn_slice_of(copy, nested.size), &out, &error);
            (void)firn_variant_print(METADATA, firn_slice_of(copy, i), &out, &error);
            (void)firn_variant_print(firn_slice_of(copy, nested.size), nested, &out, &error);
            firn_buffer_release(&out);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives),
        cmocka_unit_test(nesting),
        cmocka_unit_test(what_is_no_variant),
        cmocka_unit_test(damaged_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
