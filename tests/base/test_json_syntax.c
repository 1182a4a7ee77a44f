#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "support/check.h"

/* As FIRN_JSON_DEEPEST says, which is the reader's own affair. */
#define DEEPEST 1024

/* Parses a copy of the exact size, so that the sanitizer sees a read beyond it. */
static firn_status parse(const void *text, size_t size, json_t **out, firn_error *error) {
    char *copy = firn_alloc(size);
    assert_non_null(copy);
    if (size != 0) memcpy(copy, text, size);
    *out = NULL;
    firn_status status = firn_json_parse(firn_slice_of(copy, size), "f.json", out, error);
    if (status != FIRN_OK) assert_null(*out);
    firn_free(copy);
    return status;
}

static json_t *parsed(const char *text) {
    json_t *value = NULL;
    firn_error error;
    check_ok(parse(text, strlen(text), &value, &error), &error);
    return value;
}

static void test_errors_name_the_byte(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t offset;
        const char *reason;
    } wrong[] = {
        {"", 0, "too early"},
        {" \n", 2, "too early"},
        {"[1,", 3, "too early"},
        {"[1", 2, "too early"},
        {"{\"a\"", 4, "too early"},
        {"{\"a\":", 5, "too early"},
        {"\"abc", 4, "too early"},
        {"-", 1, "too early"},
        {"1.", 2, "too early"},
        {"[1,]", 3, "a value"},
        {"[,1]", 1, "a value"},
        {"[1 2]", 3, "',' or ']'"},
        {"[1}", 2, "',' or ']'"},
        {"{\"a\":1]", 6, "',' or '}'"},
        {"{\"a\":1,}", 7, "a key"},
        {"{a:1}", 1, "a key"},
        {"{\"a\" 1}", 5, "':'"},
        {"{\"a\",1}", 4, "':'"},
        {"1 2", 2, "the end"},
        {"[]]", 2, "the end"},
        {"\xEF\xBB\xBF[]", 0, "a value"},
        {"nul", 0, "a value"},
        {"[True]", 1, "a value"},
        {"nullx", 4, "the end"},
        {"+1", 0, "a value"},
        {".5", 0, "a value"},
        {"[01]", 2, "begin with 0"},
        {"[-01]", 3, "begin with 0"},
        {"[-x]", 2, "a digit"},
        {"[1.x]", 3, "a digit"},
        {"[1e+]", 4, "a digit"},
        {"[1E]", 3, "a digit"},
        {"[12,9223372036854775808]", 4, "64 bits"},
        {"[-9223372036854775809]", 1, "64 bits"},
        {"[1e309]", 1, "double"},
        {"[-1E99999999999999999999]", 1, "double"},
        {"\"a\nb\"", 2, "control"},
        {"\"a\x1F\"", 2, "control"},
        {"\"a\\x\"", 2, "escape"},
        {"\"a\\u12g4\"", 2, "hexadecimal"},
        {"\"a\\u123", 2, "hexadecimal"},
        {"\"\\u0000\"", 1, "\\u0000"},
        {"{\"\\u0000\":1}", 2, "\\u0000"},
        {"\"\\ud800\"", 1, "surrogate"},
        {"\"\\ud800\\u0041\"", 1, "surrogate"},
        {"\"\\ud800\\n\\udc00\"", 1, "surrogate"},
        {"\"\\udc00\\ud800\"", 1, "surrogate"},
        {"\"ab\xFF\"", 3, "UTF-8"},
        {"\"\xC3\"", 1, "UTF-8"},
        {"\"\xC0\x80\"", 1, "UTF-8"},
        {"\"\xE0\x9F\xBF\"", 1, "UTF-8"},
        {"\"\xED\xA0\x80\"", 1, "UTF-8"},
        {"\"\xF0\x8F\xBF\xBF\"", 1, "UTF-8"},
        {"\"\xF4\x90\x80\x80\"", 1, "UTF-8"},
        {"\"\xF5\x80\x80\x80\"", 1, "UTF-8"},
        {"\"12345678\xE2\x82\"", 9, "UTF-8"},
        {"{\"a\":1, \"a\":2}", 8, "duplicate key \"a\""},
        {"{\"\\u0061\":[], \"a\":{}}", 14, "duplicate key \"a\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *value = NULL;
        firn_error error;
        check_fails(parse(wrong[i].text, strlen(wrong[i].text), &value, &error), FIRN_CORRUPT,
                    &error, wrong[i].reason);
        assert_non_null(strstr(error.message, "f.json: not valid JSON: "));
        assert_int_equal(error.byte_offset, wrong[i].offset);
    }
    json_t *value = NULL;
    firn_error error;
    static const char *const with_zero[] = {"[1]\0", "\0[1]", "[\0]", "\"\0\""};
    static const size_t sizes[] = {4, 4, 3, 3};
    for (size_t i = 0; i < 4; i++) {
        check_fails(parse(with_zero[i], sizes[i], &value, &error), FIRN_CORRUPT, &error, NULL);
    }
}

static void test_long_duplicate_key(void **state) {
    (void)state;
    char text[2000] = "{\"";
    for (int i = 0; i < 400; i++) strcat(text, "é");
    strcat(text, "\":1,\"");
    for (int i = 0; i < 400; i++) strcat(text, "é");
    strcat(text, "\":1}");
    json_t *value = NULL;
    firn_error error;
    check_fails(parse(text, strlen(text), &value, &error), FIRN_CORRUPT, &error, "éé\" at byte");
    assert_int_equal(error.byte_offset, 806);
}

static void test_text(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\\uD83d\\uDE00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF"},
        {"\"\\ud800\\udc00\\udbff\\udfff\"", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
        {"\"eight by\xC3\xA9tes and \\t more\x7F\"", "eight by\xC3\xA9tes and \t more\x7F"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *value = parsed(texts[i][0]);
        assert_string_equal(json_string_value(value), texts[i][1]);
        assert_int_equal(json_string_length(value), strlen(texts[i][1]));
        json_decref(value);
    }
    json_t *object = parsed("{\"\":1,\"\\u0061\\n\":2}");
    assert_int_equal(json_integer_value(json_object_get(object, "")), 1);
    assert_int_equal(json_integer_value(json_object_get(object, "a\n")), 2);
    json_decref(object);
}

static void check_real(const char *text, double expected) {
    json_t *value = parsed(text);
    assert_true(json_is_real(value));
    double real = json_real_value(value);
    assert_memory_equal(&real, &expected, sizeof real);
    json_decref(value);
}

static void test_reals(void **state) {
    (void)state;
    check_real("0.0", 0.0);
    check_real("-0.0", -0.0);
    check_real("-0e99999999999999999999", -0.0);
    check_real("1e2", 100.0);
    check_real("1E+2", 100.0);
    check_real("12.5e-1", 1.25);
    check_real("0.1", 0.1);
    check_real("0.000000000000000000000000000000000000000000001e45", 1.0);
    check_real("4.9406564584124654e-324", 4.9406564584124654e-324);
    check_real("2.2250738585072011e-308", 2.2250738585072011e-308);
    check_real("1e-99999999999999999999", 0.0);
    check_real("1.7976931348623157e308", 1.7976931348623157e308);
    json_t *negative_zero = parsed("-0");
    assert_true(json_is_integer(negative_zero));
    json_decref(negative_zero);
    /* Halfway between 1 and the next double, and a last digit behind a thousand zeros that decides. */
    char text[1200] = "1.00000000000000011102230246251565404236316680908203125";
    check_real(text, 1.0);
    size_t size = strlen(text);
    memset(text + size, '0', 1000);
    memcpy(text + size + 1000, "1", 2);
    check_real(text, 1.0 + 0x1p-52);
    /* 1000 digits before the point. */
    memset(text, '0', 1000);
    text[0] = '1';
    memcpy(text + 1000, ".5e-999", 8);
    check_real(text, 1.0);
}

static void check_written(const json_t *value, int indent, const char *expected) {
    firn_buffer out = firn_buffer_with_maximum(SIZE_MAX);
    firn_error error;
    check_ok(firn_json_write(value, indent, &out, &error), &error);
    if (!firn_slice_equal(firn_buffer_slice(&out), firn_slice_text(expected))) {
        print_error("written: %.*s\nexpected: %s\n", (int)out.size, out.data, expected);
        fail();
    }
    firn_buffer_release(&out);
}

static void test_written_numbers(void **state) {
    (void)state;
    static const char *const numbers[][2] = {
        {"0", "0"},
        {"-0", "0"},
        {"7", "7"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"1.0", "1.0"},
        {"-0.0", "-0.0"},
        {"0.5", "0.5"},
        {"1e20", "1e20"},
        {"1e5", "100000.0"},
        {"1e-5", "1.0000000000000001e-5"},
        {"-2.5e-300", "-2.5e-300"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_t *value = parsed(numbers[i][0]);
        check_written(value, 0, numbers[i][1]);
        json_decref(value);
    }
}

/* Where the machine has a locale whose decimal point is a comma. */
static void test_other_locale(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
                                        "fr_FR.utf8",  "ps_AF.UTF-8", "ps_AF"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_ALL, names[i]) == NULL) continue;
        found = true;
        test_reals(state);
        test_written_numbers(state);
        setlocale(LC_ALL, "C");
    }
    if (found) return;
    print_message("skipped: no locale with a decimal comma\n");
    skip();
}

static void test_what_can_not_be_written(void **state) {
    (void)state;
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1000);
    check_ok(firn_buffer_append_text(&out, "kept", &error), &error);
    json_t *array = json_array();
    json_array_append_new(array, json_string("x"));
    json_array_append_new(array, json_stringn_nocheck("ab\xFF", 3));
    check_fails(firn_json_write(array, 0, &out, &error), FIRN_INVALID, &error, "UTF-8");
    check_fails(firn_json_write(NULL, 0, &out, &error), FIRN_NO_MEMORY, &error, NULL);
    json_array_clear(array);
    /* Each holds the other. */
    json_t *object = json_object();
    json_object_set(object, "a", array);
    json_array_append(array, object);
    firn_buffer large = firn_buffer_with_maximum(SIZE_MAX);
    check_fails(firn_json_write(array, 1, &large, &error), FIRN_INVALID, &error, "depth");
    check_fails(firn_json_write(array, 0, &out, &error), FIRN_LIMIT, &error, NULL);
    assert_true(firn_slice_equal(firn_buffer_slice(&out), firn_slice_text("kept")));
    json_array_clear(array);
    json_decref(object);
    json_decref(array);
    firn_buffer_release(&large);
    firn_buffer_release(&out);
}

static void test_written_text(void **state) {
    (void)state;
    json_t *value = json_stringn_nocheck("\x01\x1F \"\\/\b\f\n\r\t\x7F\xC3\xA9\0z", 16);
    check_written(value, 0, "\"\\u0001\\u001F \\\"\\\\/\\b\\f\\n\\r\\t\x7F\xC3\xA9\\u0000z\"");
    json_decref(value);
    value = parsed("{\"a\":[],\"b\":{},\"c\":[1,{\"d\":[null]}]}");
    check_written(value, 2,
                  "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": [\n"
                  "        null\n      ]\n    }\n  ]\n}");
    json_decref(value);
}

/* [{"a":[{"a": … as deep as asked; *size counts its bytes. */
static char *nested(size_t depth, size_t *size) {
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    for (size_t i = 0; i < depth; i++)
        firn_buffer_append_text(&text, i % 2 ? "{\"a\":" : "[", NULL);
    firn_buffer_append_text(&text, "1", NULL);
    for (size_t i = depth; i-- > 0;) firn_buffer_append_text(&text, i % 2 ? "}" : "]", NULL);
    *size = text.size;
    return firn_buffer_take_text(&text);
}

static void test_nesting(void **state) {
    (void)state;
    size_t size = 0;
    char *text = nested(DEEPEST, &size);
    json_t *value = parsed(text);
    check_written(value, 0, text);
    json_decref(value);
    firn_free(text);
    text = nested(DEEPEST + 1, &size);
    firn_error error;
    check_fails(parse(text, size, &value, &error), FIRN_CORRUPT, &error, "depth");
    assert_int_equal(error.byte_offset, DEEPEST / 2 * 6);
    firn_free(text);
    size = 10000000;
    text = firn_alloc(size);
    memset(text, '[', size);
    check_fails(parse(text, size, &value, &error), FIRN_CORRUPT, &error, "depth");
    firn_free(text);
}

/* Random documents. */

static void put(firn_buffer *out, const char *text) {
    firn_error error;
    check_ok(firn_buffer_append_text(out, text, &error), &error);
}

static void put_any(firn_buffer *out, test_generator *random, const char *const *texts,
                    size_t count) {
    put(out, texts[test_generator_below(random, count)]);
}

static void put_space(firn_buffer *out, test_generator *random) {
    static const char *const spaces[] = {"", "", "", "", " ", "\n", "\t", "\r\n", "   "};
    put_any(out, random, spaces, sizeof spaces / sizeof *spaces);
}

static void put_text(firn_buffer *out, test_generator *random) {
    static const char *const parts[] = {
        "a",
        "long",
        "plain text of some length",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u00e9",
        "\\uD83D\\uDE00",
        "\\u0001",
        "\xC3\xA9",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        "\x7F",
        " ",
        "0",
        "\\t",
        "\\b\\f\\r",
        "\\u20ac",
        "/",
    };
    put(out, "\"");
    for (uint64_t i = test_generator_below(random, 6); i > 0; i--) {
        put_any(out, random, parts, sizeof parts / sizeof *parts);
    }
    put(out, "\"");
}

static void put_number(firn_buffer *out, test_generator *random) {
    firn_error error;
    uint64_t number = test_generator_next(random) >> test_generator_below(random, 64);
    bool negative = test_generator_below(random, 2) == 0;
    unsigned long long whole = number & INT64_MAX;
    check_ok(firn_buffer_printf(out, &error, "%s%llu", negative ? "-" : "", whole), &error);
    if (test_generator_below(random, 3) == 0) {
        unsigned long long part = test_generator_next(random) >> test_generator_below(random, 64);
        int width = (int)test_generator_below(random, 30);
        check_ok(firn_buffer_printf(out, &error, ".%0*llu", width, part), &error);
    }
    if (test_generator_below(random, 3) == 0) {
        static const char *const signs[] = {"e", "E", "e+", "E-", "e-"};
        put_any(out, random, signs, sizeof signs / sizeof *signs);
        unsigned exponent = (unsigned)test_generator_below(random, 330);
        check_ok(firn_buffer_printf(out, &error, "%03u", exponent), &error);
    }
}

static void put_value(firn_buffer *out, test_generator *random, unsigned depth) {
    static const char *const literals[] = {"true", "false", "null"};
    uint64_t kind = test_generator_below(random, depth == 0 ? 4 : 8);
    put_space(out, random);
    if (kind < 2) {
        put_text(out, random);
    } else if (kind == 2) {
        put_number(out, random);
    } else if (kind == 3) {
        put_any(out, random, literals, sizeof literals / sizeof *literals);
    } else {
        bool object = kind < 6;
        put(out, object ? "{" : "[");
        uint64_t count = test_generator_below(random, 12);
        for (uint64_t i = 0; i < count; i++) {
            if (i != 0) put(out, ",");
            put_space(out, random);
            if (object) {
                put_text(out, random);
                put_space(out, random);
                put(out, ":");
            }
            put_value(out, random, depth - 1);
        }
        put_space(out, random);
        put(out, object ? "}" : "]");
    }
    put_space(out, random);
}

/* Accepts and refuses what Jansson does, reads the same values and writes them in the same way. */
static bool check_like_jansson(const firn_buffer *text) {
    json_error_t reason;
    json_t *theirs = json_loadb((const char *)text->data, text->size,
                                JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &reason);
    json_t *ours = NULL;
    firn_error error;
    firn_status status = parse(text->data, text->size, &ours, &error);
    if ((theirs != NULL) != (status == FIRN_OK) || (theirs != NULL && !json_equal(theirs, ours))) {
        print_error("document: %.*s\nfirn: %s\nJansson: %s\n", (int)text->size, text->data,
                    status == FIRN_OK ? "valid" : error.message, reason.text);
        fail();
    }
    bool valid = theirs != NULL;
    if (valid) {
        char *compact = json_dumps(theirs, JSON_COMPACT | JSON_ENCODE_ANY);
        check_written(ours, 0, compact);
        firn_free(compact);
        char *indented = json_dumps(theirs, JSON_INDENT(3) | JSON_ENCODE_ANY);
        check_written(ours, 3, indented);
        firn_free(indented);
    }
    json_decref(theirs);
    json_decref(ours);
    return valid;
}

static void damage(firn_buffer *text, test_generator *random) {
    static const char bytes[] = "[]{}:,\"\\ 0-.eEtn\xC3\xFFu1";
    for (uint64_t i = test_generator_below(random, 2) + 1; i > 0 && text->size > 0; i--) {
        size_t at = test_generator_below(random, text->size);
        uint64_t kind = test_generator_below(random, 3);
        if (kind == 0) {
            text->data[at] = (uint8_t)bytes[test_generator_below(random, sizeof bytes - 1)];
        } else if (kind == 1) {
            memmove(text->data + at, text->data + at + 1, text->size - at - 1);
            text->size--;
        } else {
            text->size = at;
        }
    }
}

static void test_like_jansson(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    put(&text, " ");
    size_t valid = 0;
    size_t refused = 0;
    for (int i = 0; i < 4000; i++) {
        firn_buffer_clear(&text);
        put_value(&text, &random, (unsigned)test_generator_below(&random, 5));
        if (check_like_jansson(&text)) valid++;
        for (int j = 0; j < 3; j++) {
            damage(&text, &random);
            if (!check_like_jansson(&text)) refused++;
        }
    }
    firn_buffer_release(&text);
    /* Else it compares nothing. */
    assert_true(valid > 1000);
    assert_true(refused > 1000);
}

/* Equal values of one document are shared: each must be let go of as often as it was taken. */
static void test_shared_values(void **state) {
    (void)state;
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    put(&text, "[");
    for (int i = 0; i < 20000; i++) {
        firn_error error;
        check_ok(firn_buffer_printf(&text, &error, "%s{\"id\":%d,\"type\":\"t%d\",\"n\":\"%d\"}",
                                    i == 0 ? "" : ",", i % 300, i % 7, i),
                 &error);
    }
    put(&text, "]");
    check_like_jansson(&text);
    json_t *array = NULL;
    firn_error error;
    check_ok(firn_json_parse(firn_buffer_slice(&text), "f", &array, &error), &error);
    json_t *kept = json_incref(json_object_get(json_array_get(array, 19999), "type"));
    json_decref(array);
    assert_string_equal(json_string_value(kept), "t0");
    json_decref(kept);
    firn_buffer_release(&text);
}

static firn_status parse_and_write(void *context, firn_error *error) {
    firn_slice text = firn_slice_text(context);
    json_t *value = NULL;
    firn_buffer out = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_json_parse(text, "f", &value, error));
    FIRN_CHECK(firn_json_write(value, 0, &out, error));
    assert_true(firn_slice_equal(firn_buffer_slice(&out), text));
out:
    json_decref(value);
    firn_buffer_release(&out);
    return status;
}

static firn_status parse_wrong(void *context, firn_error *error) {
    json_t *value = NULL;
    firn_status status = firn_json_parse(firn_slice_text(context), "f", &value, error);
    assert_null(value);
    return status == FIRN_CORRUPT ? FIRN_OK : status;
}

/* All kinds of values, escapes longer than the buffers, and enough members to make Jansson's tables grow. */
static void test_failing_allocations(void **state) {
    (void)state;
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    put(&text, "{");
    for (int i = 0; i < 40; i++) {
        firn_error error;
        check_ok(firn_buffer_printf(&text, &error, "\"%0*d\\t\":[%d,%d.5,true,\"same\"],", i * 5, i,
                                    i, i),
                 &error);
    }
    put(&text, "\"list\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17],\"text\":\"\\n");
    for (int i = 0; i < 50; i++) put(&text, "0123456789\\\"");
    put(&text, "\",\"o\":{\"k\":null,\"o\":{\"x\":{}}}}");
    assert_true(text.size > 4096);
    char *whole = firn_buffer_take_text(&text);
    check_each_allocation(parse_and_write, whole);
    whole[strlen(whole) - 1] = ']';
    check_each_allocation(parse_wrong, whole);
    firn_free(whole);
    check_each_allocation(parse_and_write, (char[]){"{\"a\":[1,\"\\n\",0.5,{}],\"b\":\"c\"}"});
    check_each_allocation(parse_wrong, (char[]){"{\"a\":[1,\"\\n\",0.5,{}],\"a\":{}}"});
}

static int setup(void **state) {
    (void)state;
    firn_json_setup();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_name_the_byte),
        cmocka_unit_test(test_long_duplicate_key),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_written_numbers),
        cmocka_unit_test(test_other_locale),
        cmocka_unit_test(test_what_can_not_be_written),
        cmocka_unit_test(test_written_text),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_like_jansson),
        cmocka_unit_test(test_shared_values),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
