#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "support/check.h"

static firn_status parse(const char *text, json_t **out, firn_error *error) {
    return firn_json_parse(firn_slice_text(text), "file.json", out, error);
}

static json_t *parsed(const char *text) {
    json_t *value = NULL;
    firn_error error;
    check_ok(parse(text, &value, &error), &error);
    return value;
}

static void test_refuses_what_is_not_json(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[1,]",
        "{\"a\":1}x",
        "{\"a\":1,\"a\":2}",
        "{'a':1}",
        "nul",
        "01",
        "1e999",
        "9223372036854775808",
        "-9223372036854775809",
        "\"\xFF\"",
        "\"\xC3\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"a\nb\"",
        "NaN",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *value = NULL;
        firn_error error;
        check_fails(parse(texts[i], &value, &error), FIRN_CORRUPT, &error, "file.json: not valid");
        assert_true(error.byte_offset >= 0);
        assert_null(value);
    }
    json_t *value = NULL;
    firn_error error;
    check_fails(firn_json_parse(firn_slice_of("[1]\0x", 5), "f", &value, &error), FIRN_CORRUPT,
                &error, NULL);
    check_fails(firn_json_parse(firn_slice_of(NULL, 0), "f", &value, &error), FIRN_CORRUPT, &error,
                NULL);
}

static void test_limits_nesting(void **state) {
    (void)state;
    char text[10001];
    memset(text, '[', 10000);
    text[10000] = '\0';
    json_t *value = NULL;
    firn_error error;
    check_fails(parse(text, &value, &error), FIRN_CORRUPT, &error, "depth");
}

static void test_integers_are_exact(void **state) {
    (void)state;
    json_t *object = parsed("{\"max\":9223372036854775807,\"min\":-9223372036854775808,\"odd\":"
                            "9007199254740993,\"real\":1.0,\"exp\":1e3,\"int\":2147483648,"
                            "\"text\":\"7\",\"null\":null,\"true\":true}");
    firn_error error;
    int64_t value = 0;
    int32_t narrow = 0;
    check_ok(firn_json_int64(object, "t", "max", &value, &error), &error);
    assert_true(value == INT64_MAX);
    check_ok(firn_json_int64(object, "t", "min", &value, &error), &error);
    assert_true(value == INT64_MIN);
    check_ok(firn_json_int64(object, "t", "odd", &value, &error), &error);
    assert_true(value == 9007199254740993);
    check_fails(firn_json_int64(object, "t", "real", &value, &error), FIRN_CORRUPT, &error,
                "t: field real: is a number with a fraction");
    check_fails(firn_json_int64(object, "t", "exp", &value, &error), FIRN_CORRUPT, &error, "exp");
    check_fails(firn_json_int64(object, "t", "text", &value, &error), FIRN_CORRUPT, &error,
                "is a string, not an integer");
    check_fails(firn_json_int64(object, "t", "null", &value, &error), FIRN_CORRUPT, &error,
                "is null");
    check_fails(firn_json_int64(object, "t", "none", &value, &error), FIRN_CORRUPT, &error,
                "t: field none: is missing");
    check_fails(firn_json_int32(object, "t", "int", &narrow, &error), FIRN_CORRUPT, &error,
                "2147483648");
    check_fails(firn_json_int64(object, "t", "true", &value, &error), FIRN_CORRUPT, &error,
                "is a boolean");
    json_decref(object);
}

static void test_optional_fields(void **state) {
    (void)state;
    json_t *object = parsed("{\"n\":null,\"i\":5,\"s\":\"x\",\"a\":[],\"o\":{},\"b\":false}");
    firn_error error;
    bool found = true;
    int64_t wide = 7;
    int32_t narrow = 7;
    const char *text = "kept";
    json_t *container = NULL;
    bool truth = true;
    check_ok(firn_json_int64_optional(object, "t", "n", &wide, &found, &error), &error);
    assert_false(found);
    assert_int_equal(wide, 7);
    check_ok(firn_json_int32_optional(object, "t", "i", &narrow, &found, &error), &error);
    assert_true(found);
    assert_int_equal(narrow, 5);
    check_ok(firn_json_text_optional(object, "t", "none", &text, NULL, &error), &error);
    assert_string_equal(text, "kept");
    check_ok(firn_json_text_optional(object, "t", "s", &text, &found, &error), &error);
    assert_string_equal(text, "x");
    check_fails(firn_json_text_optional(object, "t", "i", &text, &found, &error), FIRN_CORRUPT,
                &error, "t: field i");
    check_ok(firn_json_array_optional(object, "t", "a", &container, &found, &error), &error);
    assert_true(json_is_array(container));
    check_ok(firn_json_object_optional(object, "t", "o", &container, &found, &error), &error);
    assert_true(json_is_object(container));
    check_ok(firn_json_bool(object, "t", "b", &truth, &error), &error);
    assert_false(truth);
    check_fails(firn_json_array(object, "t", "o", &container, &error), FIRN_CORRUPT, &error,
                "is an object, not an array");
    check_fails(firn_json_int64(json_object_get(object, "a"), "t", "x", &wide, &error),
                FIRN_CORRUPT, &error, "not an object");
    check_fails(firn_json_int64(NULL, "t", "x", &wide, &error), FIRN_CORRUPT, &error,
                "not an object");
    json_decref(object);
}

static void test_writes_what_it_read(void **state) {
    (void)state;
    static const char text[] =
        "{\"z\":1,\"a\":[true,null,\"\xC3\xA9\\n\"],\"m\":{\"y\":-5,\"b\":0.5}}";
    json_t *object = parsed(text);
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1000);
    check_ok(firn_json_write(object, 0, &out, &error), &error);
    assert_true(firn_slice_equal(firn_buffer_slice(&out), firn_slice_text(text)));
    firn_buffer_clear(&out);
    json_t *one = parsed("[1]");
    check_ok(firn_json_write(one, 2, &out, &error), &error);
    assert_true(firn_slice_equal(firn_buffer_slice(&out), firn_slice_text("[\n  1\n]")));
    json_decref(one);
    firn_buffer_release(&out);
    firn_buffer small = firn_buffer_with_maximum(10);
    check_fails(firn_json_write(object, 0, &small, &error), FIRN_LIMIT, &error, NULL);
    firn_buffer_release(&small);
    json_decref(object);
}

static void test_setters(void **state) {
    (void)state;
    firn_error error;
    json_t *object = json_object();
    check_ok(firn_json_set_int(object, "i", INT64_MIN, &error), &error);
    check_ok(firn_json_set_text(object, "t", "x", &error), &error);
    check_ok(firn_json_set_bool(object, "b", true, &error), &error);
    check_ok(firn_json_set(object, "a", json_array(), &error), &error);
    check_ok(firn_json_append(json_object_get(object, "a"), json_integer(3), &error), &error);
    check_fails(firn_json_set(object, "x", NULL, &error), FIRN_NO_MEMORY, &error, NULL);
    check_fails(firn_json_append(json_object_get(object, "a"), NULL, &error), FIRN_NO_MEMORY,
                &error, NULL);
    check_fails(firn_json_set_text(object, "t", "\xFF", &error), FIRN_INVALID, &error, "UTF-8");
    check_fails(firn_json_set_int(object, "\xFF", 1, &error), FIRN_INVALID, &error, "UTF-8");
    assert_int_equal(json_object_size(object), 4);
    json_decref(object);
}

static firn_status parse_and_write(void *context, firn_error *error) {
    json_t *object = NULL;
    firn_buffer out = firn_buffer_with_maximum(10000);
    firn_status status = FIRN_OK;
    FIRN_CHECK(parse(context, &object, error));
    FIRN_CHECK(firn_json_set_text(object, "added", "text", error));
    FIRN_CHECK(firn_json_set_int(object, "number", 5, error));
    FIRN_CHECK(firn_json_write(object, 0, &out, error));
    /* Nothing was lost on the way, whatever failed. */
    assert_int_equal(out.size, strlen(context) + strlen(",\"added\":\"text\",\"number\":5"));
out:
    json_decref(object);
    firn_buffer_release(&out);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    char text[1200] = "{\"long\":\"";
    memset(text + strlen(text), 'x', 900);
    strcat(text, "\",\"n\":1234567890123456789,\"a\":[1,2,3,4,5,6,7,8,9,10],\"o\":{\"k\":[]}}");
    check_each_allocation(parse_and_write, text);
}

static void test_large_document(void **state) {
    (void)state;
    firn_error error;
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 30);
    check_ok(firn_buffer_append_byte(&text, '[', &error), &error);
    for (int i = 0; i < 100000; i++) {
        check_ok(firn_buffer_printf(&text, &error, "%s{\"snapshot-id\":%d,\"s\":\"%0*d\"}",
                                    i == 0 ? "" : ",", i, 60, i),
                 &error);
    }
    check_ok(firn_buffer_append_byte(&text, ']', &error), &error);
    json_t *array = NULL;
    check_ok(firn_json_parse(firn_buffer_slice(&text), "large", &array, &error), &error);
    assert_int_equal(json_array_size(array), 100000);
    json_decref(array);
    firn_buffer_release(&text);
}

static int setup(void **state) {
    (void)state;
    firn_json_setup();
    firn_json_setup();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_what_is_not_json), cmocka_unit_test(test_limits_nesting),
        cmocka_unit_test(test_integers_are_exact),       cmocka_unit_test(test_optional_fields),
        cmocka_unit_test(test_writes_what_it_read),      cmocka_unit_test(test_setters),
        cmocka_unit_test(test_failing_allocations),      cmocka_unit_test(test_large_document),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
