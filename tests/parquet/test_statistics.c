/* Bounds by type order, NaN and zeros, and their shortening. */
#include "base/bytes.h"
#include "parquet/statistics.h"
#include "support/check.h"

#define ELEMENT(TYPE, ...) ((firn_parquet_schema_element){.type = FIRN_PARQUET_##TYPE, __VA_ARGS__})
#define LOGICAL(KIND, ...) .logical = {.kind = FIRN_PARQUET_LOGICAL_##KIND, __VA_ARGS__}

static firn_parquet_order order(firn_parquet_schema_element element) {
    return firn_parquet_order_of(&element);
}

static void orders_by_type(void **state) {
    (void)state;
    assert_int_equal(order(ELEMENT(BOOLEAN)), FIRN_PARQUET_ORDER_BOOLEAN);
    assert_int_equal(order(ELEMENT(INT32)), FIRN_PARQUET_ORDER_INT32);
    assert_int_equal(order(ELEMENT(INT32, LOGICAL(DATE))), FIRN_PARQUET_ORDER_INT32);
    assert_int_equal(order(ELEMENT(INT32, LOGICAL(INTEGER, .is_signed = false))),
                     FIRN_PARQUET_ORDER_UINT32);
    assert_int_equal(order(ELEMENT(INT64, LOGICAL(INTEGER, .is_signed = true))),
                     FIRN_PARQUET_ORDER_INT64);
    assert_int_equal(order(ELEMENT(INT64, LOGICAL(DECIMAL))), FIRN_PARQUET_ORDER_INT64);
    assert_int_equal(order(ELEMENT(INT96)), FIRN_PARQUET_ORDER_NONE);
    assert_int_equal(order(ELEMENT(BYTE_ARRAY)), FIRN_PARQUET_ORDER_BYTES);
    assert_int_equal(order(ELEMENT(BYTE_ARRAY, LOGICAL(DECIMAL))), FIRN_PARQUET_ORDER_DECIMAL);
    assert_int_equal(order(ELEMENT(BYTE_ARRAY, LOGICAL(GEOMETRY))), FIRN_PARQUET_ORDER_NONE);
    assert_int_equal(order(ELEMENT(BYTE_ARRAY, LOGICAL(UNKNOWN))), FIRN_PARQUET_ORDER_NONE);
    assert_int_equal(order(ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 12, LOGICAL(INTERVAL))),
                     FIRN_PARQUET_ORDER_NONE);
    assert_int_equal(order(ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 2, LOGICAL(FLOAT16))),
                     FIRN_PARQUET_ORDER_FLOAT16);
}

static void decimals_of_any_length(void **state) {
    (void)state;
    /* -32769, -32768, -256, -1, 0, 1, 255, 256 in lengths of their own, padded ones too. */
    static const struct {
        uint8_t bytes[5];
        size_t size;
    } rising[] = {
        {{0xFF, 0x7F, 0xFF}, 3}, {{0x80, 0x00}, 2}, {{0xFF, 0x00}, 2},
        {{0xFF, 0xFF}, 2},       {{0x00}, 1},       {{0x01}, 1},
        {{0x00, 0x00, 0xFF}, 3}, {{0x01, 0x00}, 2},
    };
    size_t count = sizeof rising / sizeof *rising;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int found = firn_parquet_compare(FIRN_PARQUET_ORDER_DECIMAL,
                                             firn_slice_of(rising[i].bytes, rising[i].size),
                                             firn_slice_of(rising[j].bytes, rising[j].size));
            assert_int_equal(found, (i > j) - (i < j));
        }
    }
    static const uint8_t minus_one[1] = {0xFF}, padded[3] = {0xFF, 0xFF, 0xFF};
    assert_int_equal(firn_parquet_compare(FIRN_PARQUET_ORDER_DECIMAL, firn_slice_of(minus_one, 1),
                                          firn_slice_of(padded, 3)),
                     0);
    assert_int_equal(firn_parquet_compare(FIRN_PARQUET_ORDER_DECIMAL, firn_slice_of(NULL, 0),
                                          firn_slice_of(rising[4].bytes, 1)),
                     0);
}

static void check_doubles(const double *values, size_t count, bool present, double least,
                          double greatest, int64_t nan_count) {
    firn_error error = {0};
    firn_parquet_bounds bounds;
    firn_parquet_bound_room low, high;
    firn_parquet_bounds_init(&bounds, FIRN_PARQUET_ORDER_DOUBLE);
    check_ok(firn_parquet_bounds_add_fixed(&bounds, (const uint8_t *)values, 8, count, &error),
             &error);
    assert_int_equal(bounds.nan_count, nan_count);
    firn_slice minimum = firn_parquet_bounds_minimum(&bounds, &low);
    firn_slice maximum = firn_parquet_bounds_maximum(&bounds, &high);
    assert_int_equal(minimum.data != NULL, present);
    if (present) {
        assert_true(firn_load_le64(minimum.data) == firn_bits_of_double(least));
        assert_true(firn_load_le64(maximum.data) == firn_bits_of_double(greatest));
    }
    firn_parquet_bounds_release(&bounds);
}

static void nan_zeros_and_infinities(void **state) {
    (void)state;
    double nan = firn_double_of_bits(UINT64_C(0x7FF8000000000000));
    double minus_nan = firn_double_of_bits(UINT64_C(0xFFF8000000000001));
    double infinity = firn_double_of_bits(UINT64_C(0x7FF0000000000000));
    check_doubles((double[]){3, nan, 3}, 3, true, 3, 3, 1);
    check_doubles((double[]){nan, minus_nan}, 2, false, 0, 0, 2);
    check_doubles((double[]){nan, 1, 2, 3, 4, 5, minus_nan, -7, nan}, 9, true, -7, 5, 3);
    check_doubles((double[]){0.0}, 1, true, -0.0, 0.0, 0);
    check_doubles((double[]){-0.0}, 1, true, -0.0, 0.0, 0);
    check_doubles((double[]){0.0, 1}, 2, true, -0.0, 1, 0);
    check_doubles((double[]){-1, -0.0}, 2, true, -1, 0.0, 0);
    check_doubles((double[]){infinity, infinity}, 2, true, infinity, infinity, 0);
    check_doubles((double[]){-infinity, nan}, 2, true, -infinity, -infinity, 1);
    check_doubles(NULL, 0, false, 0, 0, 0);
}

static void halves(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_bounds bounds;
    firn_parquet_bound_room room;
    firn_parquet_bounds_init(&bounds, FIRN_PARQUET_ORDER_FLOAT16);
    /* NaN, -0, 1, -2, infinity */
    static const uint8_t values[] = {0x01, 0x7E, 0x00, 0x80, 0x00, 0x3C, 0x00, 0xC0, 0x00, 0x7C};
    check_ok(firn_parquet_bounds_add_fixed(&bounds, values, 2, 2, &error), &error);
    assert_int_equal(bounds.nan_count, 1);
    assert_int_equal(firn_load_le16(firn_parquet_bounds_minimum(&bounds, &room).data), 0x8000);
    assert_int_equal(firn_load_le16(firn_parquet_bounds_maximum(&bounds, &room).data), 0);
    check_ok(firn_parquet_bounds_add_fixed(&bounds, values + 4, 2, 3, &error), &error);
    assert_int_equal(firn_load_le16(firn_parquet_bounds_minimum(&bounds, &room).data), 0xC000);
    assert_int_equal(firn_load_le16(firn_parquet_bounds_maximum(&bounds, &room).data), 0x7C00);
    firn_parquet_bounds_release(&bounds);
}

static void integers_at_their_ends(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_bounds bounds;
    firn_parquet_bound_room room;
    static const int64_t values[] = {INT64_MIN, 0, INT64_MAX, -1, 5};
    firn_parquet_bounds_init(&bounds, FIRN_PARQUET_ORDER_INT64);
    check_ok(firn_parquet_bounds_add_fixed(&bounds, (const uint8_t *)values, 8, 5, &error), &error);
    assert_true((int64_t)firn_load_le64(firn_parquet_bounds_minimum(&bounds, &room).data) ==
                INT64_MIN);
    assert_true((int64_t)firn_load_le64(firn_parquet_bounds_maximum(&bounds, &room).data) ==
                INT64_MAX);
    firn_parquet_bounds_release(&bounds);
    firn_parquet_bounds_init(&bounds, FIRN_PARQUET_ORDER_UINT64);
    check_ok(firn_parquet_bounds_add_fixed(&bounds, (const uint8_t *)values, 8, 5, &error), &error);
    assert_true(firn_load_le64(firn_parquet_bounds_minimum(&bounds, &room).data) == 0);
    assert_true(firn_load_le64(firn_parquet_bounds_maximum(&bounds, &room).data) == UINT64_MAX);
    firn_parquet_bounds_release(&bounds);
}

static void byte_arrays(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_bounds bounds;
    firn_parquet_bound_room room;
    /* Prefixes of each other, zeros at the end, bytes above 0x7F. */
    firn_slice values[] = {firn_slice_of("abcdefgh\0", 9),   firn_slice_of("abcdefgh", 8),
                           firn_slice_of("abcdefghi", 9),    firn_slice_of("\x80", 1),
                           firn_slice_of("abcd\0\0\0\0", 8), firn_slice_of("abcd", 4)};
    static const uint32_t indices[] = {2, 0, 1, 2};
    firn_parquet_bounds_init(&bounds, FIRN_PARQUET_ORDER_BYTES);
    check_ok(firn_parquet_bounds_add_slices(&bounds, values, indices, 4, &error), &error);
    assert_true(firn_slice_equal(firn_parquet_bounds_minimum(&bounds, &room), values[1]));
    assert_true(firn_slice_equal(firn_parquet_bounds_maximum(&bounds, &room), values[2]));
    check_ok(firn_parquet_bounds_add_slices(&bounds, values, NULL, 6, &error), &error);
    assert_true(firn_slice_equal(firn_parquet_bounds_minimum(&bounds, &room), values[5]));
    assert_true(firn_slice_equal(firn_parquet_bounds_maximum(&bounds, &room), values[3]));
    firn_slice empty = firn_slice_of(NULL, 0);
    check_ok(firn_parquet_bounds_add_value(&bounds, empty, &error), &error);
    assert_non_null(firn_parquet_bounds_minimum(&bounds, &room).data);
    assert_int_equal(firn_parquet_bounds_minimum(&bounds, &room).size, 0);
    firn_parquet_bounds_release(&bounds);
}

/* `unit` repeated, then `tail`. */
static firn_slice repeat(uint8_t *out, const char *unit, size_t times, const char *tail) {
    size_t size = 0;
    for (size_t i = 0; i < times; i++) {
        memcpy(out + size, unit, strlen(unit));
        size += strlen(unit);
    }
    memcpy(out + size, tail, strlen(tail));
    return firn_slice_of(out, size + strlen(tail));
}

static void check_shortened(firn_parquet_schema_element element, firn_slice value,
                            firn_slice minimum, firn_slice maximum) {
    uint8_t room[FIRN_PARQUET_BOUND_LENGTH];
    bool exact;
    firn_slice least = firn_parquet_shorten_minimum(&element, value, &exact);
    assert_true(firn_slice_equal(least, minimum));
    assert_int_equal(exact, minimum.size == value.size);
    assert_true(firn_slice_compare(least, value) <= 0);
    firn_slice greatest = firn_parquet_shorten_maximum(&element, value, room, &exact);
    assert_int_equal(greatest.data == NULL, maximum.data == NULL);
    if (maximum.data == NULL) return;
    assert_true(firn_slice_equal(greatest, maximum));
    assert_true(firn_slice_compare(greatest, value) >= 0);
}

static void shortening_bytes(void **state) {
    (void)state;
    uint8_t value[512], wanted[512];
    firn_parquet_schema_element binary = ELEMENT(BYTE_ARRAY);
    firn_slice whole = repeat(value, "a", 64, "");
    check_shortened(binary, whole, whole, whole);
    check_shortened(binary, repeat(value, "a", 65, ""), firn_slice_of(value, 64),
                    repeat(wanted, "a", 63, "b"));
    check_shortened(binary, repeat(value, "a", 63, "\xFFz"), firn_slice_of(value, 64),
                    repeat(wanted, "a", 62, "b"));
    check_shortened(binary, repeat(value, "\xFF", 65, ""), firn_slice_of(value, 64),
                    firn_slice_of(NULL, 0));
    /* What is of fixed width, or a decimal, stays whole. */
    firn_slice long_value = repeat(value, "a", 100, "");
    check_shortened(ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 100), long_value, long_value,
                    long_value);
    check_shortened(ELEMENT(BYTE_ARRAY, LOGICAL(DECIMAL)), long_value, long_value, long_value);
}

static void shortening_text(void **state) {
    (void)state;
    uint8_t value[512], wanted[512];
    firn_parquet_schema_element text = ELEMENT(BYTE_ARRAY, LOGICAL(STRING));
    check_shortened(text, repeat(value, "a", 65, ""), firn_slice_of(value, 64),
                    repeat(wanted, "a", 63, "b"));
    /* A character across the cut goes. */
    check_shortened(text, repeat(value, "a", 63, "\xC3\xA9"), firn_slice_of(value, 63),
                    repeat(wanted, "a", 62, "b"));
    check_shortened(text, repeat(value, "\xC3\xA9", 40, ""), firn_slice_of(value, 64),
                    repeat(wanted, "\xC3\xA9", 31, "\xC3\xAA"));
    /* A successor that is longer has no room at the very end, so that the character before grows. */
    check_shortened(text, repeat(value, "a", 63, "\x7F\x7F"), firn_slice_of(value, 64),
                    repeat(wanted, "a", 62, "b"));
    check_shortened(text, repeat(value, "a", 62, "\x7F\xC3\xA9"), firn_slice_of(value, 63),
                    repeat(wanted, "a", 62, "\xC2\x80"));
    /* No surrogates: U+D7FF is followed by U+E000. */
    check_shortened(text, repeat(value, "a", 61, "\xED\x9F\xBFzz"), firn_slice_of(value, 64),
                    repeat(wanted, "a", 61, "\xEE\x80\x80"));
    /* The last character of all has no successor. */
    check_shortened(text, repeat(value, "\xF4\x8F\xBF\xBF", 20, ""), firn_slice_of(value, 64),
                    firn_slice_of(NULL, 0));
    check_shortened(text, repeat(value, "a", 60, "\xF4\x8F\xBF\xBFz"), firn_slice_of(value, 64),
                    repeat(wanted, "a", 59, "b"));
    /* What is not UTF-8 has no upper bound as text. */
    check_shortened(text, repeat(value, "a", 63, "\xC3zz"), firn_slice_of(value, 64),
                    firn_slice_of(NULL, 0));
    check_shortened(text, repeat(value, "\x80", 70, ""), firn_slice_of(value, 64),
                    firn_slice_of(NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_by_type),           cmocka_unit_test(decimals_of_any_length),
        cmocka_unit_test(nan_zeros_and_infinities), cmocka_unit_test(halves),
        cmocka_unit_test(integers_at_their_ends),   cmocka_unit_test(byte_arrays),
        cmocka_unit_test(shortening_bytes),         cmocka_unit_test(shortening_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
