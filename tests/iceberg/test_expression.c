/* Row filters: the grammar, literals of every type, and what they say about rows. */
#include "filter_fixture.h"

typedef struct row_case {
    const char *filter, *row;
    bool matches;
} row_case;

static void check_rows(const row_case *cases, size_t count) {
    fx_filter fixture = fx_filter_new();
    for (size_t i = 0; i < count; i++) {
        bool matches = fx_filter_matches(&fixture, cases[i].filter, cases[i].row);
        if (matches != cases[i].matches) print_message("%s on %s\n", cases[i].filter, cases[i].row);
        assert_int_equal(matches, cases[i].matches);
    }
    fx_filter_release(&fixture);
}
#define CHECK_ROWS(cases) check_rows((cases), sizeof(cases) / sizeof *(cases))

static void test_grammar(void **state) {
    (void)state;
    static const row_case cases[] = {
        {"int = 5", "{'int':5}", true},
        {"int == 5", "{'int':5}", true},
        {"int = 5", "{'int':4}", false},
        {"5=int", "{'int':5}", true},
        {"5 < int", "{'int':6}", true},
        {"5 < int", "{'int':5}", false},
        {"5 >= int", "{'int':5}", true},
        {"int != 5", "{'int':4}", true},
        {"int <> 5", "{'int':5}", false},
        {"int <= -5", "{'int':-5}", true},
        {"int > +5", "{'int':6}", true},
        {"int in (1, 2,3)", "{'int':3}", true},
        {"int IN (3)", "{'int':3}", true},
        {"int not in (1,2)", "{'int':3}", true},
        {"int between 1 and 3", "{'int':3}", true},
        {"int BETWEEN 1 AND 3 and long = 1", "{'int':1,'long':1}", true},
        {"int between 1 and 3", "{'int':4}", false},
        {"int not between 1 and 3", "{'int':4}", true},
        {"not int between 1 and 3", "{'int':3}", false},
        {"int is null", "{}", true},
        {"int is not null", "{}", false},
        {"int IS NOT NULL", "{'int':0}", true},
        {"true", "{}", true},
        {"FALSE", "{}", false},
        {"not false", "{}", true},
        {"bool = true", "{'bool':true}", true},
        {"bool = FALSE", "{'bool':true}", false},
        {"true = bool", "{'bool':true}", true},
        {"text like 'ab%'", "{'text':'abc'}", true},
        {"text like 'ab%'", "{'text':'a'}", false},
        {"text like 'ab'", "{'text':'ab'}", true},
        {"text like 'ab'", "{'text':'abc'}", false},
        {"text like '%'", "{'text':''}", true},
        {"text not like 'ab%'", "{'text':'b'}", true},
        {"text like '5\\%'", "{'text':'5%'}", true},
        {"text like '5\\%%'", "{'text':'5% off'}", true},
        {"text like 'a_%'", "{'text':'abc'}", false},
        {"text = 'it''s'", "{'text':'it\\u0027s'}", true},
        {"text = ''", "{'text':''}", true},
        {"text = ''", "{}", false},
        {"\"int\"=5", "{'int':5}", true},
        {"\"text\" like 'a%'", "{'text':'a'}", true},
        {"place.\"post code\" = '1'", "{'place.post code':'1'}", true},
        {"place . lat > 1", "{'place.lat':2}", true},
        /* NOT binds closer than AND, AND closer than OR. */
        {"int = 1 or int = 2 and long = 3", "{'int':1,'long':4}", true},
        {"(int = 1 or int = 2) and long = 3", "{'int':1,'long':4}", false},
        {"not int = 1 and long = 3", "{'int':1,'long':4}", false},
        {"not (int = 1 and long = 3)", "{'int':1,'long':4}", true},
        {"not not int = 1", "{'int':1}", true},
        {"not (int = 1 or not (long = 3 and text = 'a'))", "{'int':2,'long':3,'text':'a'}", true},
        {" ( ( int=1 ) ) ", "{'int':1}", true},
        {"int=1 AND int=1 And int=1", "{'int':1}", true},
    };
    CHECK_ROWS(cases);
}

/* Unknown is not true, whatever stands around it. */
static void test_nulls(void **state) {
    (void)state;
    static const row_case cases[] = {
        {"int != 5", "{}", false},
        {"not int = 5", "{}", false},
        {"int not in (1,2)", "{}", false},
        {"not int in (1,2)", "{}", false},
        {"text not like 'a%'", "{}", false},
        {"not text like 'a%'", "{}", false},
        {"not (int < 5)", "{}", false},
        {"not (int is null)", "{}", false},
        {"not (int is not null)", "{}", true},
        {"not (int = 5 or long = 1)", "{'long':2}", false},
        {"not (int = 5 and long = 1)", "{'long':2}", true},
        {"int = 5 or long = 2", "{'long':2}", true},
        {"int < 5.5", "{}", false},
        {"int != 5.5", "{}", false},
        {"double is nan", "{}", false},
        {"double is not nan", "{}", false},
        {"not (double is nan)", "{}", false},
        {"int < 99999999999", "{}", false},
        {"int != 99999999999", "{}", false},
        {"nothing is null", "{}", true},
        {"anything is null", "{}", true},
    };
    CHECK_ROWS(cases);
}

/* NaN is above every number, and -0 is 0. */
static void test_floats(void **state) {
    (void)state;
    static const row_case cases[] = {
        {"double is nan", "{'double':'NaN'}", true},
        {"double is not nan", "{'double':'NaN'}", false},
        {"double is not nan", "{'double':1.5}", true},
        {"double > 1e300", "{'double':'NaN'}", true},
        {"double >= 1", "{'double':'NaN'}", true},
        {"double < 1", "{'double':'NaN'}", false},
        {"double != 1", "{'double':'NaN'}", true},
        {"double = 1", "{'double':'NaN'}", false},
        {"double not in (1, 2)", "{'double':'NaN'}", true},
        {"not double <= 1", "{'double':'NaN'}", true},
        {"float = 0", "{'float':'-0'}", true},
        {"float = -0.0", "{'float':0.0}", true},
        {"float < 0", "{'float':'-0'}", false},
        {"double > -0.0", "{'double':0.0}", false},
        {"double in (0, 5)", "{'double':'-0'}", true},
        {"float = 0.1", "{'float':0.1}", true},
        {"double = .5", "{'double':0.5}", true},
        {"double = 5.", "{'double':5}", true},
        {"double = 2.5e-1", "{'double':0.25}", true},
    };
    CHECK_ROWS(cases);
}

/* Literals that the type lacks are placed between the values that it has. */
static void test_exact_literals(void **state) {
    (void)state;
    static const row_case cases[] = {
        {"int < 5.5", "{'int':5}", true},
        {"int < 5.5", "{'int':6}", false},
        {"int <= 5.5", "{'int':6}", false},
        {"int > 5.5", "{'int':5}", false},
        {"int > 5.5", "{'int':6}", true},
        {"int >= 5.5", "{'int':5}", false},
        {"int >= 5.5", "{'int':6}", true},
        {"int < -5.5", "{'int':-6}", true},
        {"int < -5.5", "{'int':-5}", false},
        {"int > -5.5", "{'int':-5}", true},
        {"int > -5.5", "{'int':-6}", false},
        {"int = 5.5", "{'int':5}", false},
        {"int != 5.5", "{'int':5}", true},
        {"int = 5.0", "{'int':5}", true},
        {"int = 0.5e1", "{'int':5}", true},
        {"int = 5e-1", "{'int':0}", false},
        {"int = 500e-2", "{'int':5}", true},
        {"int < 0.0005", "{'int':0}", true},
        {"int in (5.5, 5)", "{'int':5}", true},
        {"int in (5.5, 99999999999)", "{'int':5}", false},
        {"int not in (5.5)", "{'int':5}", true},
        {"int < 2147483648", "{'int':2147483647}", true},
        {"int > 2147483648", "{'int':2147483647}", false},
        {"int > -2147483649", "{'int':-2147483648}", true},
        {"int >= 1e30", "{'int':2147483647}", false},
        {"int <= 1e999999999999", "{'int':2147483647}", true},
        {"int <= -1e99", "{'int':-2147483648}", false},
        {"int < -2147483648", "{'int':-2147483648}", false},
        {"int > 2147483647", "{'int':2147483647}", false},
        {"long > 9223372036854775806", "{'long':9223372036854775807}", true},
        {"long <= 9223372036854775807", "{'long':9223372036854775807}", true},
        {"long < -9223372036854775808", "{'long':-9223372036854775808}", false},
        {"long = 1e18", "{'long':1000000000000000000}", true},
        {"dec = 1.5", "{'dec':'1.50'}", true},
        {"dec = 1.505", "{'dec':'1.50'}", false},
        {"dec > 1.505", "{'dec':'1.51'}", true},
        {"dec > 1.505", "{'dec':'1.50'}", false},
        {"dec < 1.505", "{'dec':'1.50'}", true},
        {"dec < -1.505", "{'dec':'-1.50'}", false},
        {"dec >= -0.005", "{'dec':'0.00'}", true},
        {"dec < 99999999999999999999999999999999999999", "{'dec':'9999999.99'}", true},
        {"dec = 100", "{'dec':'100.00'}", true},
    };
    CHECK_ROWS(cases);
}

static void test_types(void **state) {
    (void)state;
    static const row_case cases[] = {
        {"date = '2024-01-31'", "{'date':'2024-01-31'}", true},
        {"date < '1969-12-31'", "{'date':'1969-12-30'}", true},
        {"date between '2024-01-01' and '2024-01-31'", "{'date':'2024-01-31'}", true},
        {"time >= '12:30'", "{'time':'12:30:00'}", true},
        {"time < '12:30:00.000001'", "{'time':'12:30:00'}", true},
        {"ts >= '2024-01-31'", "{'ts':'2024-01-31T00:00:00'}", true},
        {"ts < '2024-01-31'", "{'ts':'2024-01-30T23:59:59.999999'}", true},
        {"ts = '2024-01-31 12:34:56.789'", "{'ts':'2024-01-31T12:34:56.789'}", true},
        {"tz = '2024-01-31T12:34:56Z'", "{'tz':'2024-01-31T12:34:56+00:00'}", true},
        {"tz = '2024-01-31T12:34:56'", "{'tz':'2024-01-31T12:34:56+00:00'}", true},
        {"tz = '2024-01-31T14:34:56+02:00'", "{'tz':'2024-01-31T12:34:56+00:00'}", true},
        {"tz = '2024-01-31T11:04:56-01:30'", "{'tz':'2024-01-31T12:34:56+00:00'}", true},
        {"ns > '2024-01-31T00:00:00.000000001'", "{'ns':'2024-01-31T00:00:00.000000002'}", true},
        {"ns < '9999-12-31'", "{'ns':'2024-01-31T00:00:00'}", true},
        {"ns < '0001-01-01'", "{'ns':'2024-01-31T00:00:00'}", false},
        {"uuid = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
         "{'uuid':'f79c3e09-677c-4bbd-a479-3f349cb785e7'}", true},
        {"uuid > '7fffffff-ffff-ffff-ffff-ffffffffffff'",
         "{'uuid':'80000000-0000-0000-0000-000000000000'}", true},
        {"fixed = 'abc'", "{'fixed':'616263'}", true},
        {"bin > 'ab'", "{'bin':'616263'}", true},
        {"text > 'z'", "{'text':'\\u00e9'}", true},
        {"bool > false", "{'bool':true}", true},
        {"bool < true", "{'bool':true}", false},
    };
    CHECK_ROWS(cases);
}

typedef struct error_case {
    const char *filter, *message;
} error_case;

static void test_errors(void **state) {
    (void)state;
    static const error_case cases[] = {
        {"", "at character 1: expected a column, but it ends here"},
        {"int", "at character 4: expected a comparison, IN"},
        {"int =", "at character 6: expected a literal"},
        {"int = x", "at character 7: expected a literal"},
        {"int = null", "before \"null\", which nothing equals: say IS NULL or IS NOT NULL"},
        {"int <> NULL and int = 1", "say IS NULL or IS NOT NULL"},
        {"int in (1, nulls)", "before \"nulls\"; text stands in single quotes, 'nulls'"},
        {"string = click", "before \"click\"; text stands in single quotes, 'click', which"},
        {"string = \"click\"", "before \"click\"; text stands in single quotes, 'click', which"},
        {"int = 5 long = 6", "at character 9: expected AND, OR or the end before \"long = 6\""},
        {"(int = 5", "at character 9: expected ), but it ends here"},
        {"int = 5)", "at character 8: expected AND, OR or the end"},
        {"int = 5x",
         "at character 7: 5x is no number; text, dates, times and uuids stand in single "
         "quotes: '5x'"},
        {"date = 2024-02-03",
         "at character 8: 2024-02-03 is no number; text, dates, times and uuids "
         "stand in single quotes: '2024-02-03'"},
        {"(ts > 2024-02-03T10:00:00)", "single quotes: '2024-02-03T10:00:00'"},
        {"time in (10:30, '11:00')", "single quotes: '10:30'"},
        {"date between 2024-02-03 and 2024-02-04", "single quotes: '2024-02-03'"},
        {"int in 5", "at character 8: expected ("},
        {"int in ()", "at character 9: expected a literal"},
        {"int in (1 2)", "at character 11: expected )"},
        {"int between 1 or 2", "expected and"},
        {"int is 5", "expected null, nan or not"},
        {"int is not 5", "expected null or nan"},
        {"int not = 5", "expected IN, LIKE or BETWEEN"},
        {"text like 5", "expected a quoted text"},
        {"text like 'a%b'", "at character 11: LIKE takes % at the end of the text only"},
        {"text = 'a", "at character 8: a quoted text has no end"},
        {"\"text = 'a'", "at character 1: a quoted name has no end"},
        {"\"\" = 5", "expected a name"},
        {"5", "expected a comparison"},
        {"whatever = 5", "at character 1: there is no column whatever; there are: "},
        {"logn = 5", "at character 1: there is no column logn; the nearest one is long"},
        {"int = 5 and place.lta > 1", "at character 13: there is no column place.lta; the nearest "
                                      "one is place.lat"},
        {"INT = 5", "the nearest one is int"},
        {"place = 5", "column place is a struct, list or map; name one of its fields"},
        {"tags is null", "filters can't look into it"},
        {"tags.element = 'a'", "column tags.element lies in a list or map"},
        {"int is nan", "IS NAN takes a float or double, and column int is of type int"},
        {"int like 'a%'", "LIKE takes a string, and column int is of type int"},
        {"int = 'five'", "column int is of type int: write a number instead of 'five'"},
        {"int = true", "write a number instead of true"},
        {"text = 5", "column text is of type string: write a text in single quotes instead of 5"},
        {"bool = 1", "write true or false instead of 1"},
        {"date = 5", "write a date like '2024-01-31' instead of 5"},
        {"date = '2024-02-30'", "column date: 2024-02-30 is no date"},
        {"date = '2024-01-31T00:00:00'", "write a date like"},
        {"ts = '2024-01-31T00:00:00Z'", "without a zone"},
        {"tz = '2024-01-31T00:00:00+2'", "write a time like '2024-01-31T12:34:56+00:00'"},
        {"tz >= '2024-13-01'", "column tz: 2024-13-01 is no date"},
        {"time = '25:00'", "write a time like '12:34:56.789'"},
        {"uuid = 'x'", "write one like 'f79c3e09"},
        {"fixed = 'ab'", "write a text of just as many bytes instead of 'ab'"},
        {"float = 1e39", "write a smaller number instead of 1e39"},
        {"double = 1e999", "write a smaller number"},
        {"anything = 5", "can't be compared; only IS NULL and IS NOT NULL"},
    };
    fx_filter fixture = fx_filter_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const firn_expression *expression = NULL;
        firn_error error = {0};
        firn_status status = firn_expression_parse(cases[i].filter, fixture.schema, fixture.arena,
                                                   &expression, &error);
        if (status == FIRN_OK) print_message("%s\n", cases[i].filter);
        check_fails(status, FIRN_INVALID, &error, cases[i].message);
    }
    fx_filter_release(&fixture);
}

static char *repeated(const char *head, const char *part, size_t count, const char *tail) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 28);
    firn_error error = {0};
    check_ok(firn_buffer_append_text(&text, head, &error), &error);
    for (size_t i = 0; i < count; i++) {
        check_ok(firn_buffer_append_text(&text, part, &error), &error);
    }
    check_ok(firn_buffer_append_text(&text, tail, &error), &error);
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    return (char *)text.data;
}

/* Depth is bounded, length is not. */
static void test_sizes(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    const firn_expression *expression = NULL;
    firn_error error = {0};
    char *deep = repeated("", "(", 100000, "int = 1");
    check_fails(firn_expression_parse(deep, fixture.schema, fixture.arena, &expression, &error),
                FIRN_INVALID, &error, "more than 100 parentheses");
    firn_free(deep);
    deep = repeated("", "not ", 100000, "int = 1");
    check_fails(firn_expression_parse(deep, fixture.schema, fixture.arena, &expression, &error),
                FIRN_INVALID, &error, "more than 100 parentheses");
    firn_free(deep);
    char *chain = repeated("int = 1", " or int = 2", 100000, "");
    assert_true(fx_filter_matches(&fixture, chain, "{'int':2}"));
    firn_free(chain);
    char *list = repeated("text in ('a'", ", 'b'", 100000, ")");
    assert_true(fx_filter_matches(&fixture, list, "{'text':'b'}"));
    assert_false(fx_filter_matches(&fixture, list, "{'text':'c'}"));
    firn_free(list);
    fx_filter_release(&fixture);
}

static void test_columns(void **state) {
    (void)state;
    fx_filter fixture = fx_filter_new();
    const int32_t *ids = NULL;
    size_t count = 0;
    firn_error error = {0};
    check_ok(firn_expression_columns(
                 fx_filter_parse(&fixture, "text = 'a' or (int = 1 and not (int > 5 or true))"),
                 fixture.arena, &ids, &count, &error),
             &error);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 2);
    assert_int_equal(ids[1], 12);
    check_ok(firn_expression_columns(fx_filter_parse(&fixture, "true"), fixture.arena, &ids, &count,
                                     &error),
             &error);
    assert_int_equal(count, 0);
    fx_filter_release(&fixture);
}

/* Every beginning of a filter, and every filter with a byte changed, is parsed or refused. */
static void test_hostile(void **state) {
    (void)state;
    static const char text[] = "not (\"int\" in (1, 2.5e3) or place.lat is not nan) and text like "
                               "'a\\%%' and 5<long and uuid='f79c3e09-677c-4bbd-a479-3f349cb785e7'";
    fx_filter fixture = fx_filter_new();
    test_generator random = test_generator_new();
    for (size_t i = 0; i < 20000; i++) {
        char changed[sizeof text];
        memcpy(changed, text, sizeof text);
        if (i < sizeof text) changed[i] = '\0';
        size_t changes = i < sizeof text ? 0 : 1 + test_generator_below(&random, 3);
        for (size_t j = 0; j < changes; j++) {
            changed[test_generator_below(&random, sizeof text - 1)] =
                (char)test_generator_below(&random, 256);
        }
        const firn_expression *expression = NULL;
        firn_error error = {0};
        firn_status status =
            firn_expression_parse(changed, fixture.schema, fixture.arena, &expression, &error);
        assert_true(status == FIRN_OK || status == FIRN_INVALID);
    }
    fx_filter_release(&fixture);
}

static firn_status parse_all(void *context, firn_error *error) {
    (void)context;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_schema *schema = NULL;
    const firn_expression *expression = NULL;
    json_t *json = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_json_parse(
        firn_slice_text("{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":"
                        "\"a\",\"required\":false,\"type\":\"uuid\"}]}"),
        "fixture", &json, error));
    FIRN_CHECK(firn_schema_parse(json, "fixture", arena, &schema, error));
    FIRN_CHECK(
        firn_expression_parse("not (a in ('f79c3e09-677c-4bbd-a479-3f349cb785e7') or a is null)",
                              schema, arena, &expression, error));
    const int32_t *ids = NULL;
    size_t count = 0;
    FIRN_CHECK(firn_expression_columns(expression, arena, &ids, &count, error));
out:
    json_decref(json);
    firn_arena_free(arena);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    check_each_allocation(parse_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar), cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_floats),  cmocka_unit_test(test_exact_literals),
        cmocka_unit_test(test_types),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_columns),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
