#include "iceberg/fixture.h"

#include <float.h>
#include <math.h>

#include "base/bytes.h"
#include "iceberg/decimal.h"
#include "iceberg/value.h"

static firn_type type_named(firn_arena *arena, const char *name) {
    const firn_type *type = NULL;
    firn_error error = {0};
    json_t *json = json_string(name);
    check_ok(firn_type_parse(json, "t", arena, &type, &error), &error);
    json_decref(json);
    return *type;
}

static const char *const type_names[] = {
    "boolean",        "int",    "long", "float",     "double",      "decimal(38,0)",
    "decimal(9,2)",   "date",   "time", "timestamp", "timestamptz", "timestamp_ns",
    "timestamptz_ns", "string", "uuid", "fixed[5]",  "binary",
};
#define TYPE_COUNT (sizeof type_names / sizeof type_names[0])

/* Any value of a type; texts are valid UTF-8. */
static firn_value random_value(test_generator *random, const firn_type *type, uint8_t *bytes) {
    firn_value value = {.kind = type->kind};
    uint64_t bits = test_generator_next(random);
    /* Small numbers and edges as often as large ones. */
    unsigned shift = (unsigned)test_generator_below(random, 64);
    int64_t number = (int64_t)bits >> shift;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN: value.as.boolean = (bits & 1) != 0; break;
    case FIRN_TYPE_INT: value.as.int32 = (int32_t)(bits >> (shift / 2)); break;
    case FIRN_TYPE_DATE: value.as.int32 = (int32_t)(number % 100000000); break;
    case FIRN_TYPE_TIME:
        value.as.int64 = (int64_t)test_generator_below(random, UINT64_C(86400000000));
        break;
    case FIRN_TYPE_FLOAT: value.as.float32 = firn_float_of_bits((uint32_t)bits); break;
    case FIRN_TYPE_DOUBLE: value.as.float64 = firn_double_of_bits(bits); break;
    case FIRN_TYPE_DECIMAL: {
        firn_int128 wide = (firn_int128)number;
        for (int digits = 18; digits < type->precision; digits += 18) {
            if ((bits & 1) != 0) wide = wide * 1000000 + (int64_t)(bits % 1000000);
        }
        firn_int128 limit = 1;
        for (int i = 0; i < type->precision; i++) limit *= 10;
        value.as.decimal = wide % limit;
        break;
    }
    case FIRN_TYPE_STRING: {
        static const char *const pieces[] = {"a", "\"", "\\", "\n", "\x01", "é", "日", "😀", " "};
        size_t size = 0;
        for (uint64_t i = test_generator_below(random, 6); i > 0; i--) {
            const char *piece = pieces[test_generator_below(random, 9)];
            memcpy(bytes + size, piece, strlen(piece));
            size += strlen(piece);
        }
        value.as.bytes = firn_slice_of(bytes, size);
        break;
    }
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: {
        size_t size = type->kind == FIRN_TYPE_UUID    ? 16
                      : type->kind == FIRN_TYPE_FIXED ? (size_t)type->length
                                                      : test_generator_below(random, 20);
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)test_generator_next(random);
        value.as.bytes = firn_slice_of(bytes, size);
        break;
    }
    default: value.as.int64 = number; break;
    }
    return value;
}

static void bytes_round_trip(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_arena *arena = firn_arena_new();
    firn_error error = {0};
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        firn_type type = type_named(arena, type_names[t]);
        for (int i = 0; i < 2000; i++) {
            uint8_t bytes[64];
            firn_value value = random_value(&random, &type, bytes);
            firn_buffer out = firn_buffer_with_maximum(1000);
            check_ok(firn_value_to_bytes(&value, &out, &error), &error);
            firn_value back;
            check_ok(firn_value_from_bytes(&type, firn_buffer_slice(&out), &back, &error), &error);
            assert_true(firn_value_equal(&value, &back));
            firn_buffer_release(&out);
        }
    }
    firn_arena_free(arena);
}

static void json_round_trip(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_arena *arena = firn_arena_new();
    firn_error error = {0};
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        firn_type type = type_named(arena, type_names[t]);
        for (int i = 0; i < 2000; i++) {
            uint8_t bytes[64];
            firn_value value = random_value(&random, &type, bytes);
            bool finite = type.kind == FIRN_TYPE_FLOAT    ? isfinite(value.as.float32)
                          : type.kind == FIRN_TYPE_DOUBLE ? isfinite(value.as.float64)
                                                          : true;
            json_t *json = firn_value_to_json(&type, &value);
            assert_int_equal(json != NULL, finite);
            if (json == NULL) continue;
            firn_value back;
            check_ok(firn_value_from_json(&type, json, arena, &back, &error), &error);
            assert_true(firn_value_equal(&value, &back));
            json_decref(json);
            /* The quoted text is that JSON, but for how a float is written. */
            if (type.kind == FIRN_TYPE_FLOAT || type.kind == FIRN_TYPE_DOUBLE) continue;
            firn_buffer text = firn_buffer_with_maximum(1000);
            check_ok(firn_value_print(&type, &value, true, &text, &error), &error);
            json_t *parsed = NULL;
            check_ok(firn_json_parse(firn_buffer_slice(&text), "text", &parsed, &error), &error);
            check_ok(firn_value_from_json(&type, parsed, arena, &back, &error), &error);
            assert_true(firn_value_equal(&value, &back));
            json_decref(parsed);
            firn_buffer_release(&text);
        }
    }
    firn_arena_free(arena);
}

static void order_and_keys(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_arena *arena = firn_arena_new();
    firn_error error = {0};
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        firn_type type = type_named(arena, type_names[t]);
        for (int i = 0; i < 1000; i++) {
            uint8_t bytes[3][64];
            firn_value v[3];
            for (int j = 0; j < 3; j++) v[j] = random_value(&random, &type, bytes[j]);
            int ab = firn_value_compare(&v[0], &v[1]);
            assert_int_equal(ab, -firn_value_compare(&v[1], &v[0]));
            assert_int_equal(firn_value_compare(&v[0], &v[0]), 0);
            if (ab <= 0 && firn_value_compare(&v[1], &v[2]) <= 0) {
                assert_true(firn_value_compare(&v[0], &v[2]) <= 0);
            }
            firn_buffer keys[2] = {firn_buffer_with_maximum(1000), firn_buffer_with_maximum(1000)};
            check_ok(firn_value_key(&v[0], 1, &keys[0], &error), &error);
            check_ok(firn_value_key(&v[1], 1, &keys[1], &error), &error);
            assert_int_equal(
                firn_slice_equal(firn_buffer_slice(&keys[0]), firn_buffer_slice(&keys[1])),
                ab == 0);
            firn_buffer_release(&keys[0]);
            firn_buffer_release(&keys[1]);
        }
    }
    firn_arena_free(arena);
}

static firn_value of_double(double number) {
    firn_value value = {.kind = FIRN_TYPE_DOUBLE};
    value.as.float64 = number;
    return value;
}

static void floating_order(void **state) {
    (void)state;
    const double rising[] = {-INFINITY, -1.5, -DBL_MIN, -0.0, 0.0, DBL_MIN, 1.5, INFINITY, NAN};
    for (size_t i = 0; i < 9; i++) {
        for (size_t j = 0; j < 9; j++) {
            firn_value a = of_double(rising[i]);
            firn_value b = of_double(rising[j]);
            assert_int_equal(firn_value_compare(&a, &b), (i > j) - (i < j));
        }
    }
    firn_value a = of_double(firn_double_of_bits(UINT64_C(0x7FF8000000000001)));
    firn_value b = of_double(firn_double_of_bits(UINT64_C(0xFFF8000000000000)));
    assert_true(firn_value_equal(&a, &b));
    firn_value null = firn_value_null(FIRN_TYPE_DOUBLE);
    assert_true(firn_value_equal(&null, &null));
    assert_false(firn_value_equal(&null, &a));
    /* A float and the double that it was promoted to are one value. */
    firn_value narrow = {.kind = FIRN_TYPE_FLOAT};
    narrow.as.float32 = 0.1F;
    firn_value wide = of_double((double)0.1F);
    assert_true(firn_value_equal(&narrow, &wide));
}

/* UUIDs are 16 unsigned big-endian bytes, whatever the machine. */
static void uuid_order(void **state) {
    (void)state;
    static const uint8_t low[16] = {0x7F};
    static const uint8_t high[16] = {0x80};
    firn_value a = {.kind = FIRN_TYPE_UUID};
    firn_value b = a;
    a.as.bytes = firn_slice_of(low, 16);
    b.as.bytes = firn_slice_of(high, 16);
    assert_true(firn_value_compare(&a, &b) < 0);
}

static void tuples(void **state) {
    (void)state;
    firn_error error = {0};
    /* ("a", "bc") and ("ab", "c") differ; so do null and "". */
    static const char *const texts[][2] = {{"a", "bc"}, {"ab", "c"}, {"", "abc"}, {NULL, "abc"}};
    firn_buffer keys[4];
    for (size_t i = 0; i < 4; i++) {
        firn_value tuple[2];
        for (size_t j = 0; j < 2; j++) {
            tuple[j] = firn_value_null(FIRN_TYPE_STRING);
            if (texts[i][j] == NULL) continue;
            tuple[j].is_null = false;
            tuple[j].as.bytes = firn_slice_text(texts[i][j]);
        }
        keys[i] = firn_buffer_with_maximum(1000);
        check_ok(firn_value_key(tuple, 2, &keys[i], &error), &error);
    }
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(
                firn_slice_equal(firn_buffer_slice(&keys[i]), firn_buffer_slice(&keys[j])));
        }
    }
    for (size_t i = 0; i < 4; i++) firn_buffer_release(&keys[i]);
}

static void decimal_bytes(void **state) {
    (void)state;
    firn_int128 huge = 1;
    for (int i = 0; i < 37; i++) huge *= 10;
    const struct {
        firn_int128 value;
        size_t size;
        uint8_t first;
    } cases[] = {
        {0, 1, 0x00},    {-1, 1, 0xFF},    {127, 1, 0x7F},    {128, 2, 0x00},     {-128, 1, 0x80},
        {-129, 2, 0xFF}, {32767, 2, 0x7F}, {32768, 3, 0x00},  {-32768, 2, 0x80},  {-32769, 3, 0xFF},
        {1420, 2, 0x05}, {huge, 16, 0x07}, {-huge, 16, 0xF8}, {-996953, 3, 0xF0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[16];
        assert_int_equal(firn_decimal_to_bytes(cases[i].value, bytes), cases[i].size);
        assert_int_equal(bytes[0], cases[i].first);
        /* Any padding is read. */
        for (size_t padding = 0; padding < 20; padding++) {
            uint8_t padded[36];
            memset(padded, cases[i].value < 0 ? 0xFF : 0x00, padding);
            memcpy(padded + padding, bytes, cases[i].size);
            firn_int128 back = 0;
            assert_true(
                firn_decimal_from_bytes(firn_slice_of(padded, padding + cases[i].size), &back));
            assert_true(back == cases[i].value);
        }
    }
    firn_int128 out = 0;
    static const uint8_t bound[] = {0xF0, 0xC9, 0xA7};
    assert_true(firn_decimal_from_bytes(firn_slice_of(bound, 3), &out));
    assert_int_equal((int64_t)out, -996953);
    static const uint8_t too_large[17] = {0x01};
    assert_false(firn_decimal_from_bytes(firn_slice_of(too_large, 17), &out));
    static const uint8_t wrong_padding[17] = {0x00, 0x80};
    assert_false(firn_decimal_from_bytes(firn_slice_of(wrong_padding, 17), &out));
    assert_false(firn_decimal_from_bytes(firn_slice_of(bound, 0), &out));
}

static void decimal_text(void **state) {
    (void)state;
    static const struct {
        int64_t value;
        int32_t scale;
        const char *text;
    } cases[] = {
        {1420, 2, "14.20"}, {-50, 2, "-0.50"}, {0, 0, "0"},    {0, 3, "0.000"},
        {7, 3, "0.007"},    {-7, 0, "-7"},     {10, 1, "1.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[FIRN_DECIMAL_TEXT_SIZE];
        firn_decimal_to_text(cases[i].value, cases[i].scale, text);
        assert_string_equal(text, cases[i].text);
        firn_int128 back = 0;
        assert_true(firn_decimal_from_text(text, cases[i].scale, &back));
        assert_true(back == cases[i].value);
    }
    /* The smallest value at the largest scale still fits. */
    char text[FIRN_DECIMAL_TEXT_SIZE];
    firn_int128 smallest = (firn_int128)1 << 126;
    smallest = -smallest - smallest;
    assert_true(firn_decimal_to_text(smallest, 38, text) < FIRN_DECIMAL_TEXT_SIZE);
    static const char *const bad[] = {"",     "-",     "1",     "1.2.0", "1.234", "1.2",
                                      "1e20", " 1.20", "1.20 ", ".",     "0x1.20"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        firn_int128 out = 0;
        assert_false(firn_decimal_from_text(bad[i], 2, &out));
    }
    firn_int128 out = 0;
    assert_false(firn_decimal_from_text("999999999999999999999999999999999999999", 0, &out));
}

/* Bounds that were written before a promotion. */
static void promoted_bounds(void **state) {
    (void)state;
    firn_arena *arena = firn_arena_new();
    firn_error error = {0};
    uint8_t four[4];
    firn_value value;
    firn_store_le32(four, (uint32_t)-3);
    firn_slice slice = firn_slice_of(four, 4);
    firn_type type = type_named(arena, "long");
    check_ok(firn_value_from_bytes(&type, slice, &value, &error), &error);
    assert_int_equal(value.as.int64, -3);
    type = type_named(arena, "timestamp");
    check_ok(firn_value_from_bytes(&type, slice, &value, &error), &error);
    assert_int_equal(value.as.int64, INT64_C(-3) * 86400000000);
    type = type_named(arena, "timestamp_ns");
    check_ok(firn_value_from_bytes(&type, slice, &value, &error), &error);
    assert_int_equal(value.as.int64, INT64_C(-3) * 86400000000000);
    firn_store_le32(four, 2000000000U);
    check_fails(firn_value_from_bytes(&type, slice, &value, &error), FIRN_CORRUPT, &error,
                "range of timestamp_ns");
    type = type_named(arena, "timestamptz");
    check_fails(firn_value_from_bytes(&type, slice, &value, &error), FIRN_CORRUPT, &error,
                "4 bytes are no timestamptz");
    firn_store_le32(four, firn_bits_of_float(1.5F));
    type = type_named(arena, "double");
    check_ok(firn_value_from_bytes(&type, slice, &value, &error), &error);
    assert_true(value.as.float64 == 1.5);
    firn_arena_free(arena);
}

static void wrong_sizes(void **state) {
    (void)state;
    firn_arena *arena = firn_arena_new();
    static const struct {
        const char *type;
        size_t size;
    } cases[] = {{"boolean", 0}, {"boolean", 2},  {"int", 3},         {"int", 8},  {"long", 5},
                 {"float", 8},   {"double", 7},   {"date", 0},        {"time", 4}, {"uuid", 15},
                 {"uuid", 17},   {"fixed[5]", 6}, {"decimal(9,2)", 0}};
    uint8_t bytes[32] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_type type = type_named(arena, cases[i].type);
        firn_value value;
        firn_error error = {0};
        check_fails(
            firn_value_from_bytes(&type, firn_slice_of(bytes, cases[i].size), &value, &error),
            FIRN_CORRUPT, &error, "bytes are no");
    }
    firn_type list = {.kind = FIRN_TYPE_LIST};
    firn_value value = {.kind = FIRN_TYPE_LIST};
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(10);
    check_fails(firn_value_from_bytes(&list, firn_slice_of(bytes, 1), &value, &error),
                FIRN_UNSUPPORTED, &error, NULL);
    check_fails(firn_value_to_bytes(&value, &out, &error), FIRN_INVALID, &error, NULL);
    value = firn_value_null(FIRN_TYPE_INT);
    check_fails(firn_value_to_bytes(&value, &out, &error), FIRN_INVALID, &error, "null");
    firn_arena_free(arena);
}

/* JSON text of a type, and the text that comes out again; NULL: refused. */
static void json_forms(void **state) {
    (void)state;
    static const struct {
        const char *type, *json, *printed;
    } cases[] = {
        {"boolean", "true", "true"},
        {"boolean", "1", NULL},
        {"int", "34", "34"},
        {"int", "2147483648", NULL},
        {"int", "1.0", NULL},
        {"int", "'1'", NULL},
        {"int", "null", "null"},
        {"long", "9007199254740993", "9007199254740993"},
        {"float", "1", "1"},
        {"float", "0.1", "0.100000001"},
        {"float", "1e300", NULL},
        {"double", "0.1", "0.10000000000000001"},
        {"double", "-0.0", "-0"},
        {"decimal(9,2)", "'14.20'", "14.20"},
        {"decimal(9,2)", "'14.2'", NULL},
        {"decimal(3,2)", "'14.20'", NULL},
        {"decimal(9,2)", "14.2", NULL},
        {"date", "'2017-11-16'", "2017-11-16"},
        {"date", "'0001-01-01'", "0001-01-01"},
        {"date", "'-0001-01-01'", "-0001-01-01"},
        {"date", "'+12345-01-01'", "+12345-01-01"},
        {"date", "'2023-02-29'", NULL},
        {"date", "'2023-13-01'", NULL},
        {"date", "'2023-1-1'", NULL},
        {"date", "'2023-01-01x'", NULL},
        {"time", "'22:31:08.123456'", "22:31:08.123456"},
        {"time", "'22:31:08'", "22:31:08.000000"},
        {"time", "'22:31'", "22:31:00.000000"},
        {"time", "'24:00:00'", NULL},
        {"time", "'22:31:08.1234567'", NULL},
        {"time", "'22:31:08.'", NULL},
        {"timestamp", "'2017-11-16T22:31:08.123456'", "2017-11-16T22:31:08.123456"},
        {"timestamp", "'1969-12-31T23:59:59.999999'", "1969-12-31T23:59:59.999999"},
        {"timestamp", "'2017-11-16T22:31:08+00:00'", NULL},
        {"timestamp", "'+999999-01-01T00:00:00'", NULL},
        {"timestamptz", "'2017-11-16T22:31:08.123456+00:00'", "2017-11-16T22:31:08.123456+00:00"},
        {"timestamptz", "'2017-11-16T22:31:08Z'", "2017-11-16T22:31:08.000000+00:00"},
        {"timestamptz", "'2017-11-16T22:31:08+01:00'", NULL},
        {"timestamptz", "'2017-11-16T22:31:08'", NULL},
        {"timestamp_ns", "'2017-11-16T22:31:08.123456789'", "2017-11-16T22:31:08.123456789"},
        {"timestamptz_ns", "'2017-11-16T22:31:08.123456789+00:00'",
         "2017-11-16T22:31:08.123456789+00:00"},
        {"string", "'iceberg'", "iceberg"},
        {"string", "7", NULL},
        {"uuid", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
        {"uuid", "'f79c3e09677c4bbda4793f349cb785e7'", NULL},
        {"uuid", "'f79c3e09-677c-4bbd-a479-3f349cb785eg'", NULL},
        {"fixed[4]", "'000102FF'", "000102ff"},
        {"fixed[4]", "'000102'", NULL},
        {"binary", "''", ""},
        {"binary", "'000102ff'", "000102ff"},
        {"binary", "'000'", NULL},
        {"binary", "'0x'", NULL},
    };
    firn_arena *arena = firn_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_type type = type_named(arena, cases[i].type);
        json_t *json = fx_json(cases[i].json);
        firn_value value;
        firn_error error = {0};
        firn_status status = firn_value_from_json(&type, json, arena, &value, &error);
        if (cases[i].printed == NULL) {
            check_fails(status, FIRN_CORRUPT, &error, cases[i].type);
        } else {
            check_ok(status, &error);
            firn_buffer text = firn_buffer_with_maximum(100);
            check_ok(firn_value_print(&type, &value, false, &text, &error), &error);
            assert_int_equal(text.size, strlen(cases[i].printed));
            if (text.size != 0) assert_memory_equal(text.data, cases[i].printed, text.size);
            firn_buffer_release(&text);
        }
        json_decref(json);
    }
    firn_arena_free(arena);
}

static void printed(const firn_type *type, const firn_value *value, bool quoted,
                    const char *expected) {
    firn_error error = {0};
    firn_buffer text = firn_buffer_with_maximum(100);
    check_ok(firn_value_print(type, value, quoted, &text, &error), &error);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
    firn_buffer_release(&text);
}

static void printed_rows(void **state) {
    (void)state;
    firn_type type = {.kind = FIRN_TYPE_DOUBLE, .text = "double"};
    firn_value value = of_double(NAN);
    printed(&type, &value, true, "\"NaN\"");
    value = of_double(-INFINITY);
    printed(&type, &value, true, "\"-Infinity\"");
    printed(&type, &value, false, "-Infinity");
    type.kind = FIRN_TYPE_STRING;
    value = (firn_value){.kind = FIRN_TYPE_STRING};
    value.as.bytes = firn_slice_text("a\"\\\n\x01é/");
    printed(&type, &value, true, "\"a\\\"\\\\\\n\\u0001é/\"");
    printed(&type, &value, false, "a\"\\\n\x01é/");
    value = firn_value_null(FIRN_TYPE_STRING);
    printed(&type, &value, true, "null");
    /* The edges of time. */
    type.kind = FIRN_TYPE_TIMESTAMP;
    value = (firn_value){.kind = FIRN_TYPE_TIMESTAMP};
    value.as.int64 = INT64_MIN;
    printed(&type, &value, false, "-290308-12-21T19:59:05.224192");
    value.as.int64 = -1;
    printed(&type, &value, false, "1969-12-31T23:59:59.999999");
    firn_error error = {0};
    firn_buffer text = firn_buffer_with_maximum(100);
    value = (firn_value){.kind = FIRN_TYPE_DECIMAL};
    check_fails(firn_value_print(NULL, &value, false, &text, &error), FIRN_INVALID, &error,
                "scale");
}

static void copies(void **state) {
    (void)state;
    firn_arena *arena = firn_arena_new();
    firn_error error = {0};
    char text[] = "abc";
    firn_value value = {.kind = FIRN_TYPE_STRING};
    value.as.bytes = firn_slice_text(text);
    firn_value copy;
    check_ok(firn_value_copy(&value, arena, &copy, &error), &error);
    text[0] = 'x';
    assert_memory_equal(copy.as.bytes.data, "abc", 3);
    firn_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_round_trip), cmocka_unit_test(json_round_trip),
        cmocka_unit_test(order_and_keys),   cmocka_unit_test(floating_order),
        cmocka_unit_test(uuid_order),       cmocka_unit_test(tuples),
        cmocka_unit_test(decimal_bytes),    cmocka_unit_test(decimal_text),
        cmocka_unit_test(promoted_bounds),  cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(json_forms),       cmocka_unit_test(printed_rows),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
