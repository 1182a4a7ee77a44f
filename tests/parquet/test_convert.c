/* Values from one physical form to another, and those that have no counterpart. */
#include "base/bytes.h"
#include "parquet/convert.h"
#include "support/check.h"

#define ELEMENT(TYPE, ...) ((firn_parquet_schema_element){.type = FIRN_PARQUET_##TYPE, __VA_ARGS__})

static firn_status convert(firn_parquet_conversion conversion, int64_t factor,
                           firn_parquet_schema_element input, firn_parquet_schema_element output,
                           firn_parquet_values values, firn_buffer *out, firn_error *error) {
    firn_parquet_leaf_mapping mapping = {.conversion = conversion, .factor = factor};
    firn_parquet_converter converter;
    firn_parquet_values converted;
    firn_status status = FIRN_OK;
    firn_parquet_converter_init(&converter);
    firn_buffer_clear(out);
    values.type = input.type;
    values.width = firn_parquet_value_width(input.type, input.type_length);
    FIRN_CHECK(firn_parquet_converter_set(&converter, &mapping, &input, &output, error));
    FIRN_CHECK(firn_parquet_converter_run(&converter, &values, &converted, error));
    assert_int_equal(converted.count, values.count);
    assert_int_equal(converted.type, output.type);
    for (size_t i = 0; i < converted.count; i++) {
        firn_slice value =
            output.type == FIRN_PARQUET_BYTE_ARRAY
                ? converted.slices[i]
                : firn_slice_of(converted.fixed + i * converted.width, converted.width);
        FIRN_CHECK(firn_buffer_append(out, value.data, value.size, error));
    }
out:
    firn_parquet_converter_release(&converter);
    return status;
}

static firn_parquet_values values_of(const void *fixed, size_t count) {
    return (firn_parquet_values){.count = count, .fixed = fixed};
}

static void widening(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const int32_t integers[] = {0, -1, INT32_MIN, INT32_MAX};
    check_ok(convert(FIRN_PARQUET_CONVERT_INT32_TO_INT64, 0, ELEMENT(INT32), ELEMENT(INT64),
                     values_of(integers, 4), &out, &error),
             &error);
    static const int64_t longs[] = {0, -1, INT32_MIN, INT32_MAX};
    assert_memory_equal(out.data, longs, sizeof longs);
    firn_parquet_schema_element unsigned_input = ELEMENT(INT32);
    unsigned_input.logical =
        (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 32};
    check_ok(convert(FIRN_PARQUET_CONVERT_INT32_TO_INT64, 0, unsigned_input, ELEMENT(INT64),
                     values_of(integers, 4), &out, &error),
             &error);
    static const int64_t unsigned_longs[] = {0, UINT32_MAX, INT64_C(1) << 31, INT32_MAX};
    assert_memory_equal(out.data, unsigned_longs, sizeof unsigned_longs);
    static const float floats[] = {0.5F, -0.0F};
    check_ok(convert(FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE, 0, ELEMENT(FLOAT), ELEMENT(DOUBLE),
                     values_of(floats, 2), &out, &error),
             &error);
    static const double doubles[] = {0.5, -0.0};
    assert_memory_equal(out.data, doubles, sizeof doubles);
    firn_buffer_release(&out);
}

static void times(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const int64_t millis[] = {-1, 0, INT64_MAX / 1000, INT64_MAX / 1000 + 1};
    check_ok(convert(FIRN_PARQUET_CONVERT_SCALE_UP, 1000, ELEMENT(INT64), ELEMENT(INT64),
                     values_of(millis, 3), &out, &error),
             &error);
    static const int64_t micros[] = {-1000, 0, INT64_MAX / 1000 * 1000};
    assert_memory_equal(out.data, micros, sizeof micros);
    check_fails(convert(FIRN_PARQUET_CONVERT_SCALE_UP, 1000, ELEMENT(INT64), ELEMENT(INT64),
                        values_of(millis, 4), &out, &error),
                FIRN_CORRUPT, &error, "out of the range");
    static const int64_t nanos[] = {-1, -1000, -1001, 0, 999, 1000, INT64_MIN};
    check_ok(convert(FIRN_PARQUET_CONVERT_SCALE_DOWN, 1000, ELEMENT(INT64), ELEMENT(INT64),
                     values_of(nanos, 7), &out, &error),
             &error);
    static const int64_t floored[] = {-1, -1, -2, 0, 0, 1, INT64_MIN / 1000 - 1};
    assert_memory_equal(out.data, floored, sizeof floored);
    static const int32_t clock[] = {0, 86399999};
    check_ok(convert(FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS, 0, ELEMENT(INT32), ELEMENT(INT64),
                     values_of(clock, 2), &out, &error),
             &error);
    static const int64_t clock_micros[] = {0, INT64_C(86399999000)};
    assert_memory_equal(out.data, clock_micros, sizeof clock_micros);
    static const int32_t days[] = {0, -1, 106751991};
    check_ok(convert(FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP, INT64_C(86400000000), ELEMENT(INT32),
                     ELEMENT(INT64), values_of(days, 3), &out, &error),
             &error);
    static const int64_t midnights[] = {0, INT64_C(-86400000000), INT64_C(106751991) * 86400000000};
    assert_memory_equal(out.data, midnights, sizeof midnights);
    static const int32_t late[] = {106751992};
    check_fails(convert(FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP, INT64_C(86400000000),
                        ELEMENT(INT32), ELEMENT(INT64), values_of(late, 1), &out, &error),
                FIRN_CORRUPT, &error, "out of the range");
    firn_buffer_release(&out);
}

static void int96(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    uint8_t values[36] = {0};
    firn_store_le32(values + 8, 2440588); /* the epoch */
    firn_store_le64(values + 12, 1999);   /* a day before it, rounded down */
    firn_store_le32(values + 20, 2440587);
    firn_store_le64(values + 24, UINT64_MAX); /* a nanosecond before midnight */
    firn_store_le32(values + 32, 2440589);
    check_ok(convert(FIRN_PARQUET_CONVERT_INT96_TO_MICROS, 0, ELEMENT(INT96), ELEMENT(INT64),
                     values_of(values, 3), &out, &error),
             &error);
    static const int64_t micros[] = {0, INT64_C(-86400000000) + 1, INT64_C(86400000000) - 1};
    assert_memory_equal(out.data, micros, sizeof micros);
    firn_store_le32(values + 8, INT32_MAX);
    check_fails(convert(FIRN_PARQUET_CONVERT_INT96_TO_MICROS, 0, ELEMENT(INT96), ELEMENT(INT64),
                        values_of(values, 1), &out, &error),
                FIRN_CORRUPT, &error, "timestamp");
    firn_buffer_release(&out);
}

static void decimal_forms(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const int32_t integers[] = {-1, 0, 128, -32768};
    check_ok(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0, ELEMENT(INT32), ELEMENT(INT64),
                     values_of(integers, 4), &out, &error),
             &error);
    static const int64_t longs[] = {-1, 0, 128, -32768};
    assert_memory_equal(out.data, longs, sizeof longs);
    check_ok(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0, ELEMENT(INT64), ELEMENT(BYTE_ARRAY),
                     values_of(longs, 4), &out, &error),
             &error);
    static const uint8_t shortest[] = {0xFF, 0x00, 0x00, 0x80, 0x80, 0x00};
    assert_int_equal(out.size, sizeof shortest);
    assert_memory_equal(out.data, shortest, sizeof shortest);
    firn_slice slices[] = {firn_slice_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                                         "\xFF\xFF\xFF\xF0",
                                         18),
                           firn_slice_of(NULL, 0), firn_slice_of("\x12\x34", 2)};
    firn_parquet_values values = {.count = 3, .slices = slices};
    check_ok(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0, ELEMENT(BYTE_ARRAY), ELEMENT(INT32), values,
                     &out, &error),
             &error);
    static const int32_t found[] = {-16, 0, 0x1234};
    assert_memory_equal(out.data, found, sizeof found);
    check_ok(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0, ELEMENT(BYTE_ARRAY),
                     ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 3), values, &out, &error),
             &error);
    static const uint8_t fixed[] = {0xFF, 0xFF, 0xF0, 0, 0, 0, 0, 0x12, 0x34};
    assert_memory_equal(out.data, fixed, sizeof fixed);
    check_ok(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0,
                     ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 3),
                     ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 17), values_of(fixed, 3), &out,
                     &error),
             &error);
    assert_int_equal(out.data[0], 0xFF);
    assert_int_equal(out.data[16], 0xF0);
    assert_int_equal(out.data[17], 0);
    assert_int_equal(out.data[50], 0x34);
    firn_buffer_release(&out);
}

static void decimals_that_do_not_fit(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const int64_t values[] = {INT64_C(1) << 31, -(INT64_C(1) << 31) - 1, 1 << 15};
    for (size_t i = 0; i < 2; i++) {
        check_fails(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0, ELEMENT(INT64), ELEMENT(INT32),
                            values_of(values + i, 1), &out, &error),
                    FIRN_CORRUPT, &error, "decimal");
    }
    check_fails(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0, ELEMENT(INT64),
                        ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 2), values_of(values + 2, 1),
                        &out, &error),
                FIRN_CORRUPT, &error, "decimal");
    uint8_t wide[17] = {0, 0x80};
    check_fails(convert(FIRN_PARQUET_CONVERT_DECIMAL, 0,
                        ELEMENT(FIXED_LEN_BYTE_ARRAY, .type_length = 17), ELEMENT(BYTE_ARRAY),
                        values_of(wide, 1), &out, &error),
                FIRN_CORRUPT, &error, "decimal");
    firn_buffer_release(&out);
}

static void impossible_conversions(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1024);
    static const int64_t value = 1;
    check_fails(convert(FIRN_PARQUET_CONVERT_NONE, 0, ELEMENT(INT32), ELEMENT(INT64),
                        values_of(&value, 1), &out, &error),
                FIRN_INVALID, &error, "from INT32 to INT64");
    check_fails(convert(FIRN_PARQUET_CONVERT_SCALE_UP, 0, ELEMENT(INT64), ELEMENT(INT64),
                        values_of(&value, 1), &out, &error),
                FIRN_INVALID, &error, NULL);
    firn_buffer_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening),
        cmocka_unit_test(times),
        cmocka_unit_test(int96),
        cmocka_unit_test(decimal_forms),
        cmocka_unit_test(decimals_that_do_not_fit),
        cmocka_unit_test(impossible_conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
