/* What filters leave out: exactly what can't match, and nothing that old or careless writers may have meant otherwise. */
#include "filter_fixture.h"

#include "base/bytes.h"
#include "iceberg/spec_parse.h"

/* A spec of one field over the fixture's schema. */
static firn_partition_spec spec_of(const fx_filter *fixture, int32_t source_id,
                                   const char *transform) {
    char text[256];
    snprintf(text, sizeof text, "[{'name':'p','source-id':%d,'field-id':1000,'transform':'%s'}]",
             source_id, transform);
    json_t *json = fx_json(text);
    firn_partition_spec spec = {0};
    firn_error error = {0};
    firn_binding binding = {.current = fixture->schema};
    check_ok(firn_partition_fields_parse(json, false, &binding, fixture->arena, &spec, &error),
             &error);
    firn_map_free(binding.types);
    json_decref(json);
    return spec;
}

static const firn_file_filter *filter_of(const fx_filter *fixture, const char *text,
                                         const firn_partition_spec *spec) {
    const firn_file_filter *filter = NULL;
    firn_error error = {0};
    check_ok(
        firn_file_filter_new(fx_filter_parse(fixture, text), spec, fixture->arena, &filter, &error),
        &error);
    return filter;
}

static firn_value int_value(const firn_partition_spec *spec, int32_t number) {
    return (firn_value){.kind = spec->fields[0].result_type->kind, .as.int32 = number};
}

/* Alone, and as both bounds of a summary. */
static bool keeps_value(const fx_filter *fixture, const char *text, const firn_partition_spec *spec,
                        firn_value value) {
    const firn_file_filter *filter = filter_of(fixture, text, spec);
    firn_buffer bytes = firn_buffer_with_maximum(1024);
    firn_error error = {0};
    firn_partition_summary summary = {.has_contains_nan = true, .contains_null = value.is_null};
    if (!value.is_null) {
        check_ok(firn_value_to_bytes(&value, &bytes, &error), &error);
        if (bytes.data == NULL) check_ok(firn_buffer_reserve(&bytes, 1, &error), &error);
        summary.lower_bound = summary.upper_bound = firn_buffer_slice(&bytes);
    }
    firn_manifest_file manifest = {.partitions = &summary, .partition_count = 1};
    bool tuple = firn_file_filter_may_match_partition(filter, &value, 1);
    bool whole = firn_file_filter_may_match_manifest(filter, &manifest);
    firn_buffer_release(&bytes);
    if (tuple != whole) print_message("%s: tuple %d, summary %d\n", text, tuple, whole);
    assert_int_equal(tuple, whole);
    return tuple;
}

typedef struct value_case {
    int32_t source_id;
    const char *transform, *filter;
    int32_t partition;
    bool kept;
} value_case;

static void test_projections(void **state) {
    (void)state;
    static const value_case cases[] = {
        {2, "identity", "int < 5", 4, true},
        {2, "identity", "int < 5", 5, false},
        {2, "identity", "int != 5", 5, false},
        {2, "identity", "int not in (5, 6)", 6, false},
        {2, "truncate[10]", "int = 15", 10, true},
        {2, "truncate[10]", "int = 15", 20, false},
        {2, "truncate[10]", "int < 10", 0, true},
        {2, "truncate[10]", "int < 10", 10, false},
        {2, "truncate[10]", "int <= 10", 10, true},
        {2, "truncate[10]", "int > 19", 10, false},
        {2, "truncate[10]", "int > 18", 10, true},
        {2, "truncate[10]", "int = -1", -10, true},
        {2, "truncate[10]", "int in (1, 25)", 20, true},
        {2, "truncate[10]", "int in (1, 35)", 20, false},
        /* -2147483648 is cut to -2147483650, which wraps around. */
        {2, "truncate[10]", "int < 0", 2147483646, true},
        {2, "truncate[10]", "int = -2147483648", 2147483646, true},
        {2, "truncate[10]", "int = -2147483648", 0, true}, /* nothing is known */
        {2, "truncate[10]", "int >= -2147483648", 0, true},
        {2, "truncate[10]", "int >= -2147483648", 2147483640, true},
        {2, "truncate[10]", "int <= -2147483648", 2147483646, true},
        {2, "truncate[10]", "int in (5, -2147483648)", 2147483646, true},
        {2, "truncate[10]", "int < 0", 2147483630, false},
        {7, "day", "date = '2024-01-31'", 19753, true},
        {7, "day", "date = '2024-01-31'", 19754, false},
        {7, "day", "date < '2024-01-31'", 19753, false},
        /* A day is the date itself: no writer rounded it. */
        {7, "day", "date = '1969-12-31'", 0, false},
        {9, "day", "ts >= '2024-01-31' and ts < '2024-02-01'", 19753, true},
        {9, "day", "ts >= '2024-01-31' and ts < '2024-02-01'", 19754, false},
        {9, "day", "ts >= '2024-01-31' and ts < '2024-02-01'", 19752, false},
        /* Old writers put the last moments before 1970 into day 0, as they did with months and years. */
        {9, "day", "ts = '1969-12-31T23:59:59'", -1, true},
        {9, "day", "ts = '1969-12-31T23:59:59'", 0, true},
        {9, "day", "ts = '1969-12-31T23:59:59'", 1, false},
        {9, "day", "ts < '1970-01-01'", 0, true},
        {9, "day", "ts < '1970-01-01'", 1, false},
        {9, "day", "ts < '1970-01-02'", 1, false},
        {9, "day", "ts >= '1969-12-31'", -1, true},
        {9, "month", "ts = '1969-11-15T10:20:30'", -2, true},
        {9, "month", "ts = '1969-11-15T10:20:30'", -1, true},
        {9, "month", "ts = '1969-11-15T10:20:30'", 0, false},
        {7, "year", "date = '1969-11-15'", 0, true},
        {7, "year", "date in ('1969-11-15', '1980-01-01')", 10, true},
        {7, "year", "date in ('1969-11-15', '1980-01-01')", 9, false},
        {9, "hour", "ts < '1970-01-01T05:00:00'", 4, true},
        {9, "hour", "ts < '1970-01-01T05:00:00'", 5, false},
        /* The hours of the year 250000 wrapped around. */
        {9, "hour", "ts > '2024-01-31'", -2120780968, true},
        {9, "hour", "ts > '2024-01-31'", 5, false},
        {9, "void", "ts > '2024-01-31'", 5, true},
        {9, "someday[5]", "ts > '2024-01-31'", 5, true},
        {3, "identity", "int = 1", 2, true}, /* another column */
    };
    fx_filter fixture = fx_filter_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const value_case *c = &cases[i];
        firn_partition_spec spec = spec_of(&fixture, c->source_id, c->transform);
        /* Summaries don't prove what all values are. */
        if (strstr(c->filter, "!=") != NULL || strstr(c->filter, "not in") != NULL) {
            firn_value value = int_value(&spec, c->partition);
            const firn_file_filter *filter = filter_of(&fixture, c->filter, &spec);
            assert_false(firn_file_filter_may_match_partition(filter, &value, 1));
            continue;
        }
        firn_value value = {.kind = FIRN_TYPE_INT, .as.int32 = c->partition};
        if (strncmp(c->transform, "someday", 7) == 0 || strcmp(c->transform, "void") == 0 ||
            c->source_id == 3) {
            const firn_file_filter *filter = filter_of(&fixture, c->filter, &spec);
            assert_true(firn_file_filter_may_match_partition(filter, &value, 1));
            continue;
        }
        bool kept = keeps_value(&fixture, c->filter, &spec, int_value(&spec, c->partition));
        if (kept != c->kept)
            print_message("%s through %s, %d\n", c->filter, c->transform, c->partition);
        assert_int_equal(kept, c->kept);
    }
    fx_filter_release(&fixture);
}

static firn_value text_value(const char *text) {
    firn_value value = {.kind = FIRN_TYPE_STRING};
    value.as.bytes = firn_slice_text(text);
    return value;
}

static void test_truncated_text(void **state) {
    (void)state;
    static const struct {
        const char *filter, *partition;
        bool kept;
    } cases[] = {
        {"text = 'abcd'", "ab", true},
        {"text = 'abcd'", "abc", false},
        {"text < 'ab'", "ab", true}, /* not sharp: "ab" itself is what "ab" is cut to */
        {"text < 'ab'", "ac", false},
        {"text > 'ab'", "ab", true},
        {"text > 'ab'", "aa", false},
        {"text like 'a%'", "ab", true},
        {"text like 'b%'", "ab", false},
        {"text like 'abc%'", "ab", true},
        {"text like 'abc%'", "ac", false},
        {"text like 'éa%'", "éa", true},
        {"text not like 'ab%'", "ab", false},
        {"text not like 'abc%'", "ab", true},
        {"text != 'ab'", "ab", true},
        {"text in ('abx', 'cdx')", "cd", true},
        {"text in ('abx', 'cdx')", "bc", false},
    };
    fx_filter fixture = fx_filter_new();
    firn_partition_spec spec = spec_of(&fixture, 12, "truncate[2]");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool kept = keeps_value(&fixture, cases[i].filter, &spec, text_value(cases[i].partition));
        if (kept != cases[i].kept) print_message("%s on %s\n", cases[i].filter, cases[i].partition);
        assert_int_equal(kept, cases[i].kept);
    }
    fx_filter_release(&fixture);
}

static void test_null_partitions(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    static const char *const transforms[] = {"identity", "bucket[4]", "truncate[3]"};
    for (size_t i = 0; i < 3; i++) {
        firn_partition_spec spec = spec_of(&fixture, 2, transforms[i]);
        firn_value null = firn_value_null(FIRN_TYPE_INT);
        assert_true(keeps_value(&fixture, "int is null", &spec, null));
        assert_false(keeps_value(&fixture, "int is not null", &spec, null));
        assert_false(keeps_value(&fixture, "int = 1", &spec, null));
        assert_false(keeps_value(&fixture, "int is null", &spec, int_value(&spec, 0)));
        assert_true(keeps_value(&fixture, "int is not null", &spec, int_value(&spec, 0)));
    }
    fx_filter_release(&fixture);
}

/* --- summaries and metrics that say too little, or what can't be ------------------------------- */

static void test_careless_summaries(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    firn_partition_spec spec = spec_of(&fixture, 2, "identity");
    const firn_file_filter *five = filter_of(&fixture, "int = 5", &spec);
    firn_manifest_file manifest = {0};
    assert_true(firn_file_filter_may_match_manifest(five, &manifest));
    firn_partition_summary summaries[2] = {0};
    manifest.partitions = summaries;
    manifest.partition_count = 2; /* not the spec's number */
    assert_true(firn_file_filter_may_match_manifest(five, &manifest));
    manifest.partition_count = 1;
    /* No bounds, and nothing that explains why. */
    assert_true(firn_file_filter_may_match_manifest(five, &manifest));
    summaries[0].contains_null = true;
    assert_false(firn_file_filter_may_match_manifest(five, &manifest));
    uint8_t six[4], four[4];
    firn_store_le32(six, 6);
    firn_store_le32(four, 4);
    summaries[0].lower_bound = firn_slice_of(six, 4);
    assert_false(firn_file_filter_may_match_manifest(five, &manifest));
    summaries[0].upper_bound = firn_slice_of(four, 4); /* inverted */
    assert_true(firn_file_filter_may_match_manifest(five, &manifest));
    summaries[0].lower_bound = firn_slice_of(six, 3); /* no int */
    summaries[0].upper_bound = firn_slice_of(six, 4);
    assert_true(firn_file_filter_may_match_manifest(five, &manifest));
    fx_filter_release(&fixture);
}

typedef struct metrics {
    int32_t id;
    int64_t values, nulls, nans;
    firn_slice lower, upper;
} metrics;

static bool keeps_file(const fx_filter *fixture, const char *text, const metrics *given) {
    static const firn_partition_spec no_fields = {0};
    firn_data_file file = {
        .record_count = 10,
        .value_counts = {&given->id, &given->values, given->values >= 0, true},
        .null_value_counts = {&given->id, &given->nulls, given->nulls >= 0, true},
        .nan_value_counts = {&given->id, &given->nans, given->nans >= 0, true},
        .lower_bounds = {&given->id, &given->lower, 1, true},
        .upper_bounds = {&given->id, &given->upper, 1, true},
    };
    return firn_file_filter_may_match_file(filter_of(fixture, text, &no_fields), &file);
}

static void test_counts(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    const metrics no_nulls = {2, 10, 0, -1, {0}, {0}};
    assert_false(keeps_file(&fixture, "int is null", &no_nulls));
    assert_true(keeps_file(&fixture, "int is not null", &no_nulls));
    const metrics only_nulls = {2, 10, 10, -1, {0}, {0}};
    assert_true(keeps_file(&fixture, "int is null", &only_nulls));
    assert_false(keeps_file(&fixture, "int != 5", &only_nulls));
    assert_false(keeps_file(&fixture, "int is not null", &only_nulls));
    const metrics unknown = {2, -1, -1, -1, {0}, {0}};
    assert_true(keeps_file(&fixture, "int is null", &unknown));
    assert_true(keeps_file(&fixture, "int = 1", &unknown));
    const metrics nothing_counted = {2, 0, 0, -1, {0}, {0}};
    assert_true(keeps_file(&fixture, "int = 1", &nothing_counted));
    /* In a struct, rows without the struct may not have been counted. */
    const metrics nested = {18, 4, 0, -1, {0}, {0}};
    assert_true(keeps_file(&fixture, "place.\"post code\" is null", &nested));
    const metrics nested_counted = {18, 10, 0, -1, {0}, {0}};
    assert_false(keeps_file(&fixture, "place.\"post code\" is null", &nested_counted));
    fx_filter_release(&fixture);
}

static void test_nans(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    uint8_t three[8], nan[8];
    firn_store_le64(three, firn_bits_of_double(3.0));
    firn_store_le64(nan, firn_bits_of_double((double)NAN));
    firn_slice bound = firn_slice_of(three, 8);
    /* Bounds leave NaN out: [3, NaN, 3] has bounds 3 and 3. */
    const metrics some = {5, 10, 0, 1, bound, bound};
    assert_true(keeps_file(&fixture, "double != 3", &some));
    assert_true(keeps_file(&fixture, "double > 3", &some));
    assert_false(keeps_file(&fixture, "double < 3", &some));
    assert_true(keeps_file(&fixture, "double is nan", &some));
    const metrics uncounted = {5, 10, 0, -1, bound, bound};
    assert_true(keeps_file(&fixture, "double > 3", &uncounted));
    const metrics none = {5, 10, 0, 0, bound, bound};
    assert_false(keeps_file(&fixture, "double > 3", &none));
    assert_false(keeps_file(&fixture, "double is nan", &none));
    assert_true(keeps_file(&fixture, "double >= 3", &none));
    const metrics only = {5, 10, 2, 8, {0}, {0}};
    assert_false(keeps_file(&fixture, "double < 3", &only));
    assert_false(keeps_file(&fixture, "double is not nan", &only));
    assert_true(keeps_file(&fixture, "double > 3", &only));
    const metrics nan_bound = {5, 10, 0, 0, firn_slice_of(nan, 8), bound};
    assert_true(keeps_file(&fixture, "double > 5", &nan_bound));
    fx_filter_release(&fixture);
}

static void test_bounds(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    uint8_t narrow[4], zero[8], minus_zero[8];
    firn_store_le32(narrow, 7);
    /* Written before the column became a long. */
    const metrics promoted = {3, 10, 0, -1, firn_slice_of(narrow, 4), firn_slice_of(narrow, 4)};
    assert_true(keeps_file(&fixture, "long = 7", &promoted));
    assert_false(keeps_file(&fixture, "long = 8", &promoted));
    firn_store_le64(zero, firn_bits_of_double(0.0));
    firn_store_le64(minus_zero, firn_bits_of_double(-0.0));
    const metrics zeros = {5, 10, 0, 0, firn_slice_of(zero, 8), firn_slice_of(minus_zero, 8)};
    assert_true(keeps_file(&fixture, "double = 0", &zeros));
    assert_true(keeps_file(&fixture, "double = -0.0", &zeros));
    assert_false(keeps_file(&fixture, "double > 0", &zeros));
    /* Cut to 16 characters, and raised or not: "abcdefghijklmnopz" may be what this upper bound stands for. */
    const metrics cut = {
        12, 10, 0, -1, firn_slice_text("abcd"), firn_slice_text("abcdefghijklmnop")};
    assert_true(keeps_file(&fixture, "text = 'abcdefghijklmnopz'", &cut));
    assert_true(keeps_file(&fixture, "text > 'abcdefghijklmnop'", &cut));
    assert_true(keeps_file(&fixture, "text like 'abcdefghijklmnopqr%'", &cut));
    assert_false(keeps_file(&fixture, "text = 'abcdefghijklmnoq'", &cut));
    assert_false(keeps_file(&fixture, "text like 'ac%'", &cut));
    assert_false(keeps_file(&fixture, "text < 'abcd'", &cut));
    assert_false(keeps_file(&fixture, "text not like 'abc%'", &cut));
    assert_true(keeps_file(&fixture, "text not like 'abcde%'", &cut));
    const metrics whole = {12, 10, 0, -1, firn_slice_text("aa"), firn_slice_text("ab")};
    assert_false(keeps_file(&fixture, "text = 'abz'", &whole));
    assert_false(keeps_file(&fixture, "text > 'ab'", &whole));
    assert_true(keeps_file(&fixture, "text >= 'ab'", &whole));
    assert_true(keeps_file(&fixture, "text not in ('ab')", &whole));
    const metrics empty = {12, 10, 0, -1, firn_slice_text(""), firn_slice_text("")};
    assert_true(keeps_file(&fixture, "text = ''", &empty));
    fx_filter_release(&fixture);
}

/* Literals of IN are looked up, not tried one by one. */
static void test_lists(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    uint8_t low[4], high[4];
    firn_store_le32(low, 10);
    firn_store_le32(high, 20);
    const metrics between = {2, 10, 0, -1, firn_slice_of(low, 4), firn_slice_of(high, 4)};
    assert_true(keeps_file(&fixture, "int in (1, 15, 30)", &between));
    assert_true(keeps_file(&fixture, "int in (20)", &between));
    assert_true(keeps_file(&fixture, "int in (10, 40)", &between));
    assert_false(keeps_file(&fixture, "int in (1, 9, 21, 30)", &between));
    assert_false(keeps_file(&fixture, "int in (1, 2)", &between));
    assert_false(keeps_file(&fixture, "int in (21)", &between));
    assert_false(keeps_file(&fixture, "int in (5.5, 99999999999)", &between));
    fx_filter_release(&fixture);
}

static firn_status make_filter(void *context, firn_error *error) {
    const fx_filter *fixture = context;
    static const char *const texts[] = {"int in (1, 2) or (text like 'ab%' and int < 5)", "true"};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_partition_field field = {.source_id = 2, .field_id = 1000, .name = "p"};
    field.transform = (firn_transform){FIRN_TRANSFORM_BUCKET, 4, "bucket[4]"};
    field.source_type = field.result_type = firn_schema_find(fixture->schema, 2)->type;
    firn_partition_spec spec = {0, &field, 1};
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < 2 && status == FIRN_OK; i++) {
        const firn_expression *expression = NULL;
        const firn_file_filter *filter = NULL;
        status = firn_expression_parse(texts[i], fixture->schema, arena, &expression, error);
        if (status == FIRN_OK) {
            status = firn_file_filter_new(expression, &spec, arena, &filter, error);
        }
    }
    firn_arena_free(arena);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    check_each_allocation(make_filter, &fixture);
    fx_filter_release(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projections),     cmocka_unit_test(test_truncated_text),
        cmocka_unit_test(test_null_partitions), cmocka_unit_test(test_careless_summaries),
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_nans),
        cmocka_unit_test(test_bounds),          cmocka_unit_test(test_lists),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
