#include "support/check.h"

#include <math.h>

#include "avro/cursor.h"
#include "avro/encode.h"

static const struct {
    int64_t value;
    const char *bytes;
    size_t size;
} longs[] = {
    {0, "\x00", 1},
    {-1, "\x01", 1},
    {1, "\x02", 1},
    {-2, "\x03", 1},
    {-64, "\x7f", 1},
    {64, "\x80\x01", 2},
    {INT32_MAX, "\xfe\xff\xff\xff\x0f", 5},
    {INT32_MIN, "\xff\xff\xff\xff\x0f", 5},
    {INT64_MAX, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
    {INT64_MIN, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
};

static firn_avro_cursor cursor_of(const void *bytes, size_t size) {
    return firn_avro_cursor_of(firn_slice_of(bytes, size), "f.avro");
}

static void test_longs(void **state) {
    (void)state;
    firn_error error;
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) {
        firn_buffer out = firn_buffer_with_maximum(100);
        check_ok(firn_avro_put_long(&out, longs[i].value, &error), &error);
        assert_int_equal(out.size, longs[i].size);
        assert_memory_equal(out.data, longs[i].bytes, out.size);
        firn_avro_cursor cursor = cursor_of(out.data, out.size);
        int64_t back = 7;
        check_ok(firn_avro_get_long(&cursor, &back, &error), &error);
        assert_true(back == longs[i].value);
        assert_int_equal(firn_avro_remaining(&cursor), 0);
        for (size_t cut = 0; cut < out.size; cut++) {
            cursor = cursor_of(out.data, cut);
            check_fails(firn_avro_get_long(&cursor, &back, &error), FIRN_CORRUPT, &error, "f.avro");
            assert_int_equal(cursor.position, 0);
        }
        firn_buffer_release(&out);
    }
}

static void test_bad_numbers(void **state) {
    (void)state;
    firn_error error;
    int64_t value;
    int32_t narrow;
    bool boolean;
    firn_avro_cursor cursor = cursor_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    check_fails(firn_avro_get_long(&cursor, &value, &error), FIRN_CORRUPT, &error, "64 bits");
    cursor = cursor_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    check_fails(firn_avro_get_long(&cursor, &value, &error), FIRN_CORRUPT, &error, "64 bits");
    cursor = cursor_of("\x80\x80\x80\x80\x10", 5);
    check_fails(firn_avro_get_int(&cursor, &narrow, &error), FIRN_CORRUPT, &error, "32 bits");
    cursor = cursor_of("\x02", 1);
    check_fails(firn_avro_get_boolean(&cursor, &boolean, &error), FIRN_CORRUPT, &error, "boolean");
}

static void test_scalars(void **state) {
    (void)state;
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(100);
    check_ok(firn_avro_put_text(&out, "foo", &error), &error);
    assert_memory_equal(out.data,
                        "\x06"
                        "foo",
                        4);
    check_ok(firn_avro_put_boolean(&out, true, &error), &error);
    check_ok(firn_avro_put_float(&out, -1.5F, &error), &error);
    check_ok(firn_avro_put_double(&out, (double)NAN, &error), &error);
    check_ok(firn_avro_put_bytes(&out, firn_slice_of(NULL, 0), &error), &error);
    check_ok(firn_avro_put_fixed(&out, firn_slice_of("ab", 2), &error), &error);
    firn_avro_cursor cursor = cursor_of(out.data, out.size);
    firn_slice bytes;
    bool boolean = false;
    float float32 = 0;
    double float64 = 0;
    check_ok(firn_avro_get_bytes(&cursor, &bytes, &error), &error);
    assert_true(firn_slice_equal(bytes, firn_slice_text("foo")));
    check_ok(firn_avro_get_boolean(&cursor, &boolean, &error), &error);
    assert_true(boolean);
    check_ok(firn_avro_get_float(&cursor, &float32, &error), &error);
    assert_true(float32 == -1.5F);
    check_ok(firn_avro_get_double(&cursor, &float64, &error), &error);
    assert_true(isnan(float64));
    check_ok(firn_avro_get_bytes(&cursor, &bytes, &error), &error);
    assert_int_equal(bytes.size, 0);
    assert_non_null(bytes.data);
    check_ok(firn_avro_get_fixed(&cursor, 2, &bytes, &error), &error);
    assert_true(firn_slice_equal(bytes, firn_slice_text("ab")));
    assert_int_equal(firn_avro_remaining(&cursor), 0);
    firn_buffer_release(&out);
}

/* [(value, "foo")], and the first `behind` bytes of more. */
static firn_buffer pairs_of(int64_t value, size_t behind, size_t *whole) {
    firn_error error;
    static const char more[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80";
    firn_buffer out = firn_buffer_with_maximum(100);
    check_ok(firn_avro_put_long(&out, 1, &error), &error);
    check_ok(firn_avro_put_long(&out, value, &error), &error);
    check_ok(firn_avro_put_text(&out, "foo", &error), &error);
    check_ok(firn_avro_put_long(&out, 0, &error), &error);
    *whole = out.size;
    check_ok(firn_buffer_append(&out, more, behind, &error), &error);
    return out;
}

/* Integers are passed over in their full width, wherever the bytes end. */
static void test_skipped_integers(void **state) {
    (void)state;
    static const firn_avro_schema number = {.kind = FIRN_AVRO_LONG};
    static const firn_avro_schema bytes = {.kind = FIRN_AVRO_BYTES};
    firn_avro_field fields[] = {{.schema = &number}, {.schema = &bytes}};
    const firn_avro_schema pair = {.kind = FIRN_AVRO_RECORD, .fields = fields, .count = 2};
    const firn_avro_schema pairs = {.kind = FIRN_AVRO_ARRAY, .items = &pair};
    firn_error error;
    for (size_t i = 0; i < 12 * sizeof longs / sizeof *longs; i++) {
        size_t whole = 0;
        firn_buffer out = pairs_of(longs[i / 12].value, i % 12, &whole);
        firn_avro_cursor cursor = cursor_of(out.data, out.size);
        check_ok(firn_avro_skip(&cursor, &pairs, &error), &error);
        assert_int_equal(cursor.position, whole);
        for (size_t cut = 0; cut < whole; cut++) {
            cursor = cursor_of(out.data, cut);
            check_fails(firn_avro_skip(&cursor, &pairs, &error), FIRN_CORRUPT, &error, "f.avro");
        }
        firn_buffer_release(&out);
    }
}

static void test_lengths(void **state) {
    (void)state;
    firn_error error;
    firn_slice bytes;
    firn_avro_cursor cursor = cursor_of("\x08"
                                        "abc",
                                        4);
    check_fails(firn_avro_get_bytes(&cursor, &bytes, &error), FIRN_CORRUPT, &error, "length");
    assert_int_equal(error.byte_offset, 0);
    cursor = cursor_of("\x01", 1);
    check_fails(firn_avro_get_bytes(&cursor, &bytes, &error), FIRN_CORRUPT, &error, "length");
    cursor = cursor_of(longs[8].bytes, 10);
    check_fails(firn_avro_get_bytes(&cursor, &bytes, &error), FIRN_CORRUPT, &error, "length");
}

static void test_blocks(void **state) {
    (void)state;
    firn_error error;
    static const firn_avro_schema null = {.kind = FIRN_AVRO_NULL, .may_be_empty = true};
    static const firn_avro_schema byte = {.kind = FIRN_AVRO_BOOLEAN};
    static const firn_avro_schema nulls = {.kind = FIRN_AVRO_ARRAY, .items = &null};
    static const firn_avro_schema bytes = {.kind = FIRN_AVRO_ARRAY, .items = &byte};
    firn_avro_cursor cursor = cursor_of("\x04\x01\x00\x00", 4);
    check_ok(firn_avro_skip(&cursor, &bytes, &error), &error);
    assert_int_equal(cursor.position, 4);
    /* -2 items in 2 bytes */
    cursor = cursor_of("\x03\x04\x01\x00\x00", 5);
    check_ok(firn_avro_skip(&cursor, &bytes, &error), &error);
    assert_int_equal(cursor.position, 5);
    cursor = cursor_of("\x03\x08\x01\x00\x00", 5);
    check_fails(firn_avro_skip(&cursor, &bytes, &error), FIRN_CORRUPT, &error, "size of a block");
    cursor = cursor_of("\x08\x01\x00\x00", 4);
    check_fails(firn_avro_skip(&cursor, &bytes, &error), FIRN_CORRUPT, &error, "count");
    cursor = cursor_of(longs[9].bytes, 10);
    check_fails(firn_avro_skip(&cursor, &bytes, &error), FIRN_CORRUPT, &error, "count");
    cursor = cursor_of("\x80\x01\x00", 3);
    check_ok(firn_avro_skip(&cursor, &nulls, &error), &error);
    cursor = cursor_of(longs[8].bytes, 10);
    check_fails(firn_avro_skip(&cursor, &nulls, &error), FIRN_LIMIT, &error, "no bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longs),   cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_scalars), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_skipped_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
