#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/report.h"
#include "support/check.h"

typedef struct capture {
    firn_buffer text;
    bool fails;
} capture;

static firn_status take(void *context, const void *data, size_t size, firn_error *error) {
    capture *out = context;
    if (out->fails) return firn_fail(error, FIRN_IO, "the disk is full");
    return firn_buffer_append(&out->text, data, size, error);
}

/* Free with firn_free. */
static char *write_out(const firn_report *report, bool json) {
    capture out = {firn_buffer_with_maximum((size_t)1 << 26), false};
    firn_write_to to = {take, &out};
    firn_error error;
    firn_error_clear(&error);
    check_ok(json ? firn_report_write_json(report, &to, &error)
                  : firn_report_write_text(report, &to, &error),
             &error);
    check_ok(firn_buffer_append_byte(&out.text, 0, &error), &error);
    return (char *)out.text.data;
}

static const firn_column columns[] = {
    {"name", "name"}, {"bytes", "size"}, {"only_json", NULL}, {NULL, "only text"}};

static firn_status fill(firn_report **out, firn_error *error) {
    firn_report *report = NULL;
    FIRN_TRY(firn_report_new("test", &report, error));
    firn_section *root = firn_report_root(report);
    firn_section_add(root, "table", "table", firn_cell_text("a.b"));
    firn_section_add(root, "when", "last updated", firn_cell_time(1704067200123));
    firn_section_add(root, "count", "files", firn_cell_count(1234567));
    firn_section_add(root, "id", "id", firn_cell_integer(1234567));
    firn_section_add(root, "nothing", "nothing", firn_cell_null());
    firn_section_add(root, "hidden", NULL, firn_cell_boolean(true));
    firn_section *child = firn_section_child(root, "size", "Size");
    firn_section_add(child, "bytes", "bytes", firn_cell_bytes(1258291));
    firn_section_add(child, "raw", "raw",
                     firn_cell_json(firn_report_json(report, json_pack("{s:i}", "x", 1)), "x=1"));
    firn_rows *rows = firn_section_rows(root, "rows", "Rows", columns, 4, "none");
    const firn_cell first[] = {firn_cell_text("one"), firn_cell_bytes(10), firn_cell_boolean(false),
                               firn_cell_text("é")};
    const firn_cell second[] = {firn_cell_text("number two"), firn_cell_bytes(2048),
                                firn_cell_null(), firn_cell_text("x")};
    firn_rows_add(rows, first);
    firn_rows_add(rows, second);
    firn_section_rows(root, "empty", "Empty", columns, 4, "none");
    firn_section_line(root, "%s", "");
    firn_section_line(root, "The end, %d.", 1);
    *out = report;
    firn_status status = firn_report_status(report, error);
    if (status != FIRN_OK) firn_report_free(report);
    return status;
}

static firn_report *filled(void) {
    firn_report *report = NULL;
    firn_error error;
    firn_error_clear(&error);
    check_ok(fill(&report, &error), &error);
    return report;
}

static void test_text(void **state) {
    (void)state;
    firn_report *report = filled();
    char *text = write_out(report, false);
    assert_string_equal(text, "table         a.b\n"
                              "last updated  2024-01-01T00:00:00.123Z\n"
                              "files         1,234,567\n"
                              "id            1234567\n"
                              "nothing       -\n"
                              "\n"
                              "Size\n"
                              "  bytes  1.2 MB\n"
                              "  raw    x=1\n"
                              "\n"
                              "Rows\n"
                              "  name          size  only text\n"
                              "  one           10 B  é\n"
                              "  number two  2.0 KB  x\n"
                              "\n"
                              "Empty\n"
                              "  none\n"
                              "\n"
                              "The end, 1.\n");
    free(text);
    firn_report_free(report);
}

static void test_json(void **state) {
    (void)state;
    firn_report *report = filled();
    char *text = write_out(report, true);
    assert_string_equal(text,
                        "{\n"
                        "  \"schema_version\": 1,\n"
                        "  \"command\": \"test\",\n"
                        "  \"table\": \"a.b\",\n"
                        "  \"when\": \"2024-01-01T00:00:00.123Z\",\n"
                        "  \"count\": 1234567,\n"
                        "  \"id\": 1234567,\n"
                        "  \"nothing\": null,\n"
                        "  \"hidden\": true,\n"
                        "  \"size\": {\n"
                        "    \"bytes\": 1258291,\n"
                        "    \"raw\": {\"x\":1}\n"
                        "  },\n"
                        "  \"rows\": [\n"
                        "    {\"name\": \"one\", \"bytes\": 10, \"only_json\": false},\n"
                        "    {\"name\": \"number two\", \"bytes\": 2048, \"only_json\": null}\n"
                        "  ],\n"
                        "  \"empty\": []\n"
                        "}\n");
    json_t *parsed = NULL;
    firn_error error;
    firn_error_clear(&error);
    check_ok(firn_json_parse(firn_slice_text(text), "report", &parsed, &error), &error);
    json_decref(parsed);
    free(text);
    firn_report_free(report);
}

/* Names from a table must neither break the document nor steer the terminal. */
static void test_hostile_text(void **state) {
    (void)state;
    firn_error error;
    firn_error_clear(&error);
    firn_report *report = NULL;
    check_ok(firn_report_new(NULL, &report, &error), &error);
    firn_section_add(firn_report_root(report), "k\"", "l\x1B",
                     firn_cell_text("a\x1B[2J\n\"\\\xFF\xC2\x9B\xED\xA0\x80z\x7F"));
    char *text = write_out(report, false);
    assert_string_equal(text, "l?  a?[2J?\"\\\xFF?\xED\xA0\x80z?\n");
    free(text);
    text = write_out(report, true);
    assert_non_null(strstr(text, "\"k\\\"\": \"a\\u001b[2J\\n\\\"\\\\\xEF\xBF\xBD\xC2\x9B"
                                 "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\\u007f\""));
    json_t *parsed = NULL;
    check_ok(firn_json_parse(firn_slice_text(text), "report", &parsed, &error), &error);
    json_decref(parsed);
    free(text);
    firn_report_free(report);
}

static void test_many_rows(void **state) {
    (void)state;
    firn_error error;
    firn_error_clear(&error);
    firn_report *report = NULL;
    check_ok(firn_report_new("many", &report, &error), &error);
    firn_rows *rows = firn_section_rows(firn_report_root(report), "rows", NULL, columns, 4, NULL);
    for (int64_t i = 0; i < 20000; i++) {
        const firn_cell cells[] = {firn_cell_text("name"), firn_cell_bytes(i), firn_cell_null(),
                                   firn_cell_null()};
        firn_rows_add(rows, cells);
    }
    char *text = write_out(report, true);
    json_t *parsed = NULL;
    check_ok(firn_json_parse(firn_slice_text(text), "report", &parsed, &error), &error);
    assert_int_equal(json_array_size(json_object_get(parsed, "rows")), 20000);
    json_decref(parsed);
    free(text);
    free(write_out(report, false));
    firn_report_free(report);
}

static void test_write_failure_is_passed_up(void **state) {
    (void)state;
    firn_report *report = filled();
    capture out = {firn_buffer_with_maximum(1), true};
    firn_write_to to = {take, &out};
    firn_error error;
    firn_error_clear(&error);
    check_fails(firn_report_write_text(report, &to, &error), FIRN_IO, &error, "disk is full");
    check_fails(firn_report_write_json(report, &to, &error), FIRN_IO, &error, "disk is full");
    firn_report_free(report);
}

static firn_status fill_and_write(void *context, firn_error *error) {
    (void)context;
    firn_report *report = NULL;
    FIRN_TRY(fill(&report, error));
    capture out = {firn_buffer_with_maximum((size_t)1 << 20), false};
    firn_write_to to = {take, &out};
    firn_status status = firn_report_write_text(report, &to, error);
    if (status == FIRN_OK) status = firn_report_write_json(report, &to, error);
    firn_buffer_release(&out.text);
    firn_report_free(report);
    return status;
}

static void test_each_allocation(void **state) {
    (void)state;
    firn_json_setup();
    check_each_allocation(fill_and_write, NULL);
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KB"},
                 {1258291, "1.2 MB"},
                 {1048575, "1.0 MB"},
                 {536870912, "512.0 MB"},
                 {INT64_MAX, "8.0 EB"},
                 {-2048, "-2.0 KB"},
                 {INT64_MIN, "-8.0 EB"}};
    char text[FIRN_FORMAT_SIZE];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        firn_format_bytes(sizes[i].bytes, text);
        assert_string_equal(text, sizes[i].text);
    }
    firn_format_count(INT64_MIN, text);
    assert_string_equal(text, "-9,223,372,036,854,775,808");
    firn_format_count(999, text);
    assert_string_equal(text, "999");
    firn_format_duration((int64_t)192 * 1000000000, text);
    assert_string_equal(text, "3 min 12 s");
    firn_format_duration(440000000, text);
    assert_string_equal(text, "0.4 s");
}

static void test_parsing_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } sizes[] = {{"0", 0},
                 {"12", 12},
                 {"12B", 12},
                 {"1KB", 1024},
                 {"1 mb", 1048576},
                 {"512MB", 536870912},
                 {"2GiB", (int64_t)2 << 30},
                 {"100G", (int64_t)100 << 30}};
    int64_t bytes = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(firn_parse_bytes(sizes[i].text, &bytes), 0);
        assert_int_equal(bytes, sizes[i].bytes);
    }
    static const char *const wrong[] = {"",     "MB", "-1",   "1.5MB", "1XB",
                                        "1MBx", "+1", "0x10", " 1",    "9223372036854775808x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(firn_parse_bytes(wrong[i], &bytes), EINVAL);
    }
    static const char *const large[] = {"9223372036854775808", "8EB", "99999999TB"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_int_equal(firn_parse_bytes(large[i], &bytes), ERANGE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_write_failure_is_passed_up),
        cmocka_unit_test(test_each_allocation),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_parsing_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
