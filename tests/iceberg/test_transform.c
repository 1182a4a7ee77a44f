#include "iceberg/fixture.h"

#include "iceberg/partition_spec.h"

static firn_arena *arena;

static int setup(void **state) {
    (void)state;
    arena = firn_arena_new();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    firn_arena_free(arena);
    return 0;
}

static const firn_type *type_named(const char *name) {
    const firn_type *type = NULL;
    firn_error error = {0};
    json_t *json = json_string(name);
    check_ok(firn_type_parse(json, "t", arena, &type, &error), &error);
    json_decref(json);
    return type;
}

static firn_transform transform_named(const char *name) {
    firn_transform transform;
    firn_error error = {0};
    check_ok(firn_transform_parse(name, arena, &transform, &error), &error);
    return transform;
}

static firn_value value_of(const firn_type *type, const char *json_text) {
    firn_value value;
    firn_error error = {0};
    json_t *json = fx_json(json_text);
    check_ok(firn_value_from_json(type, json, arena, &value, &error), &error);
    json_decref(json);
    return value;
}

/* Applies a transform to a value from JSON; the result as text. */
static void applied(const char *transform_name, const char *type_name, const char *json,
                    const char *expected) {
    const firn_type *type = type_named(type_name);
    firn_transform transform = transform_named(transform_name);
    firn_value value = value_of(type, json);
    firn_value out;
    firn_error error = {0};
    const firn_type *result = NULL;
    check_ok(firn_transform_result_type(&transform, type, &result, &error), &error);
    check_ok(firn_transform_apply(&transform, type, &value, &out, &error), &error);
    assert_int_equal(out.kind, result->kind);
    firn_buffer text = firn_buffer_with_maximum(1000);
    check_ok(firn_value_print(result, &out, false, &text, &error), &error);
    char *taken = firn_buffer_take_text(&text);
    assert_string_equal(taken, expected);
    firn_free(taken);
}

/* Appendix B's hashes, seen through the largest bucket count: hash & 2147483647, then mod 2147483647. */
static void hashes(void **state) {
    (void)state;
    static const struct {
        const char *type, *json;
        int32_t hash;
    } cases[] = {
        {"int", "34", 2017239379},
        {"long", "34", 2017239379},
        {"decimal(9,2)", "'14.20'", -500754589},
        {"date", "'2017-11-16'", -653330422},
        {"time", "'22:31:08'", -662762989},
        {"timestamp", "'2017-11-16T22:31:08'", -2047944441},
        {"timestamp", "'2017-11-16T22:31:08.000001'", -1207196810},
        {"timestamptz", "'2017-11-16T22:31:08+00:00'", -2047944441},
        {"timestamptz", "'2017-11-16T22:31:08.000001+00:00'", -1207196810},
        {"timestamp_ns", "'2017-11-16T22:31:08'", -2047944441},
        {"timestamp_ns", "'2017-11-16T22:31:08.000001001'", -1207196810},
        {"timestamptz_ns", "'2017-11-16T22:31:08.000001001+00:00'", -1207196810},
        {"string", "'iceberg'", 1210000089},
        {"uuid", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", 1488055340},
        {"fixed[4]", "'00010203'", -188683207},
        {"binary", "'00010203'", -188683207},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%d", (cases[i].hash & INT32_MAX) % INT32_MAX);
        applied("bucket[2147483647]", cases[i].type, cases[i].json, expected);
    }
}

static void buckets(void **state) {
    (void)state;
    applied("bucket[16]", "uuid", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "12");
    applied("bucket[16]", "decimal(9,2)", "'14.20'", "3");
    applied("bucket[16]", "decimal(9,2)", "'-1.28'", "13");
    applied("bucket[16]", "decimal(9,2)", "'-327.68'", "3");
    applied("bucket[1]", "int", "-5", "0");
    applied("bucket[16]", "int", "null", "null");
    /* Nanoseconds before 1970 round down to microseconds: both are -1 µs. */
    const firn_type *ns = type_named("timestamp_ns");
    const firn_type *us = type_named("timestamp");
    firn_transform bucket = transform_named("bucket[1000000]");
    firn_value a = {.kind = FIRN_TYPE_TIMESTAMP_NS};
    firn_value b = {.kind = FIRN_TYPE_TIMESTAMP};
    firn_value left;
    firn_value right;
    firn_error error = {0};
    static const int64_t pairs[][2] = {{-1, -1}, {-1001, -2}, {1999, 1}};
    for (size_t i = 0; i < 3; i++) {
        a.as.int64 = pairs[i][0];
        b.as.int64 = pairs[i][1];
        check_ok(firn_transform_apply(&bucket, ns, &a, &left, &error), &error);
        check_ok(firn_transform_apply(&bucket, us, &b, &right, &error), &error);
        assert_int_equal(left.as.int32, right.as.int32);
    }
}

/* A value that wrapped around would name a partition of the highest values. */
static void not_applied(const char *transform_text, const char *type_text, const char *value_text) {
    const firn_type *type = type_named(type_text);
    firn_transform transform = transform_named(transform_text);
    firn_value value = value_of(type, value_text);
    firn_value out;
    firn_error error = {0};
    check_fails(firn_transform_apply(&transform, type, &value, &out, &error), FIRN_INVALID, &error,
                "does not fit the type");
}

static void truncation(void **state) {
    (void)state;
    applied("truncate[10]", "int", "1", "0");
    applied("truncate[10]", "int", "-1", "-10");
    applied("truncate[10]", "int", "-10", "-10");
    applied("truncate[10]", "long", "9223372036854775807", "9223372036854775800");
    applied("truncate[10]", "int", "2147483647", "2147483640");
    applied("truncate[10]", "int", "-2147483640", "-2147483640");
    applied("truncate[2]", "int", "-2147483648", "-2147483648");
    not_applied("truncate[10]", "int", "-2147483641");
    not_applied("truncate[3]", "int", "-2147483648");
    not_applied("truncate[3]", "long", "-9223372036854775808");
    not_applied("truncate[10]", "decimal(2,0)", "'-99'");
    applied("truncate[50]", "decimal(9,2)", "'10.65'", "10.50");
    applied("truncate[50]", "decimal(9,2)", "'-0.01'", "-0.50");
    applied("truncate[3]", "string", "'iceberg'", "ice");
    applied("truncate[3]", "string", "'日本語です'", "日本語");
    applied("truncate[3]", "string", "'😀é'", "😀é");
    applied("truncate[3]", "string", "''", "");
    applied("truncate[3]", "binary", "'0102030405'", "010203");
    applied("truncate[3]", "binary", "'01'", "01");
}

static void times(void **state) {
    (void)state;
    applied("year", "date", "'1969-11-15'", "-1");
    applied("month", "date", "'1969-11-15'", "-2");
    applied("day", "date", "'1969-11-15'", "1969-11-15");
    applied("year", "date", "'2017-11-16'", "47");
    applied("month", "date", "'2017-11-16'", "574");
    applied("year", "timestamp", "'1969-12-31T23:59:59.999999'", "-1");
    applied("month", "timestamp", "'1969-12-31T23:59:59.999999'", "-1");
    applied("day", "timestamp", "'1969-12-31T23:59:59.999999'", "1969-12-31");
    applied("hour", "timestamp", "'1969-12-31T23:59:59.999999'", "-1");
    applied("hour", "timestamp", "'1970-01-01T00:59:59.999999'", "0");
    applied("hour", "timestamptz_ns", "'2017-12-01T10:12:55.038194789+00:00'", "420034");
    applied("day", "timestamp_ns", "'1969-12-31T23:59:59.999999999'", "1969-12-31");
    applied("void", "string", "'x'", "null");
    applied("identity", "string", "'x'", "x");
    /* 2174186328 hours: a wrapped int would name a partition of the past. */
    const firn_type *type = type_named("timestamp");
    firn_transform hour = transform_named("hour");
    firn_value value = value_of(type, "'+250000-01-01T00:00:00'");
    firn_value out;
    firn_error error = {0};
    check_fails(firn_transform_apply(&hour, type, &value, &out, &error), FIRN_INVALID, &error,
                "2174186328");
}

static void names(void **state) {
    (void)state;
    assert_int_equal(transform_named("Identity").kind, FIRN_TRANSFORM_IDENTITY);
    assert_int_equal(transform_named("BUCKET[7]").parameter, 7);
    static const char *const unknown[] = {"bucket", "buckets[3]", "zorder[2]",
                                          "",       "day ",       "truncate"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        firn_transform transform = transform_named(unknown[i]);
        assert_int_equal(transform.kind, FIRN_TRANSFORM_UNKNOWN);
        assert_string_equal(transform.text, unknown[i]);
    }
    static const char *const bad[] = {"bucket[0]",    "bucket[-1]", "bucket[]",
                                      "bucket[4",     "bucket[4]x", "truncate[2147483648]",
                                      "truncate[1.5]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        firn_transform transform;
        firn_error error = {0};
        check_fails(firn_transform_parse(bad[i], arena, &transform, &error), FIRN_CORRUPT, &error,
                    bad[i]);
    }
}

static void source_types(void **state) {
    (void)state;
    static const struct {
        const char *transform, *type;
        bool allowed;
    } cases[] = {
        {"identity", "boolean", true},
        {"identity", "geometry", false},
        {"bucket[4]", "double", false},
        {"bucket[4]", "boolean", false},
        {"truncate[4]", "fixed[3]", false},
        {"truncate[4]", "date", false},
        {"hour", "date", false},
        {"day", "time", false},
        {"year", "string", false},
        {"void", "double", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_transform transform = transform_named(cases[i].transform);
        const firn_type *result = NULL;
        firn_error error = {0};
        firn_status status =
            firn_transform_result_type(&transform, type_named(cases[i].type), &result, &error);
        assert_int_equal(status, cases[i].allowed ? FIRN_OK : FIRN_INVALID);
    }
    firn_transform odd = transform_named("zorder[2]");
    const firn_type *type = type_named("int");
    firn_value value = value_of(type, "1");
    firn_error error = {0};
    check_fails(firn_transform_apply(&odd, type, &value, &value, &error), FIRN_UNSUPPORTED, &error,
                "zorder");
    firn_transform day = transform_named("bucket[4]");
    check_fails(firn_transform_apply(&day, type_named("long"), &value, &value, &error),
                FIRN_INVALID, &error, "no long");
}

typedef struct path_field {
    const char *name, *transform, *type, *json;
} path_field;

/* The path of a tuple of transform results. */
static void path_of(const path_field *given, size_t count, const char *expected) {
    firn_partition_field fields[8] = {0};
    firn_value values[8];
    firn_error error = {0};
    for (size_t i = 0; i < count; i++) {
        const firn_type *source = type_named(given[i].type);
        firn_value value = value_of(source, given[i].json);
        fields[i].name = given[i].name;
        fields[i].transform = transform_named(given[i].transform);
        fields[i].source_type = source;
        check_ok(firn_transform_result_type(&fields[i].transform, source, &fields[i].result_type,
                                            &error),
                 &error);
        check_ok(firn_transform_apply(&fields[i].transform, source, &value, &values[i], &error),
                 &error);
    }
    firn_partition_spec spec = {0, fields, count};
    firn_buffer out = firn_buffer_with_maximum(1000);
    check_ok(firn_partition_path(&spec, values, &out, &error), &error);
    assert_int_equal(out.size, strlen(expected));
    if (out.size != 0) assert_memory_equal(out.data, expected, out.size);
    firn_buffer_release(&out);
}

/* Spark's own paths, from the fixtures. */
static void paths(void **state) {
    (void)state;
    const path_field time[] = {{"y_year", "year", "timestamp", "'0001-01-03T00:00:00'"},
                               {"mo_month", "month", "timestamp", "'0001-01-03T00:00:00'"},
                               {"d_day", "day", "timestamp", "'0001-01-03T00:00:00'"},
                               {"h_hour", "hour", "timestamp", "'0001-01-03T00:00:00'"}};
    path_of(time, 4, "y_year=0001/mo_month=0001-01/d_day=0001-01-03/h_hour=0001-01-03-00");
    const path_field before[] = {{"y_year", "year", "date", "'1969-12-31'"},
                                 {"mo_month", "month", "date", "'1969-12-31'"},
                                 {"d_day", "day", "date", "'1969-12-31'"},
                                 {"h_hour", "hour", "timestamp", "'1969-12-31T23:00:00'"}};
    path_of(before, 4, "y_year=1969/mo_month=1969-12/d_day=1969-12-31/h_hour=1969-12-31-23");
    const path_field mixed[] = {{"id_bucket", "bucket[4]", "int", "null"},
                                {"s_trunc", "truncate[3]", "string", "'日本語です'"},
                                {"n_trunc", "truncate[10]", "int", "-5"},
                                {"dec_trunc", "truncate[50]", "decimal(9,2)", "'-1.01'"}};
    path_of(mixed, 4,
            "id_bucket=null/s_trunc=%E6%97%A5%E6%9C%AC%E8%AA%9E/n_trunc=-10/dec_trunc=-1.50");
    const path_field text[] = {{"a b", "identity", "string", "'x/y z%+~*._-=null'"}};
    path_of(text, 1, "a+b=x%2Fy+z%25%2B%7E*._-%3Dnull");
    const path_field empty[] = {{"region", "identity", "string", "''"}, {"v", "void", "int", "5"}};
    path_of(empty, 2, "region=/v=null");
    const path_field gone[] = {{"v", "void", "int", "5"}};
    path_of(gone, 1, "");
    path_of(gone, 0, "");
}

/* A day may have been written as an int. */
static void printed_day(void **state) {
    (void)state;
    firn_transform day = transform_named("day");
    firn_value value = {.kind = FIRN_TYPE_INT};
    value.as.int32 = -47;
    firn_buffer text = firn_buffer_with_maximum(100);
    firn_error error = {0};
    check_ok(firn_transform_print(&day, type_named("int"), &value, &text, &error), &error);
    assert_memory_equal(text.data, "1969-11-15", 10);
    firn_buffer_release(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes), cmocka_unit_test(buckets),     cmocka_unit_test(truncation),
        cmocka_unit_test(times),  cmocka_unit_test(names),       cmocka_unit_test(source_types),
        cmocka_unit_test(paths),  cmocka_unit_test(printed_day),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
