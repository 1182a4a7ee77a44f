#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/read_at.h"
#include "support/check.h"

static void test_calendar(void **state) {
    (void)state;
    static const struct {
        int64_t year;
        int month;
        int day;
        int64_t days;
    } known[] = {
        {1970, 1, 1, 0},      {1969, 12, 31, -1},    {2000, 2, 29, 11016}, {2026, 1, 31, 20484},
        {1, 1, 1, -719162},   {0, 3, 1, -719468},    {0, 2, 29, -719469},  {9999, 12, 31, 2932896},
        {1900, 3, 1, -25508}, {-400, 3, 1, -865565},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(firn_days_from_civil(known[i].year, known[i].month, known[i].day),
                         known[i].days);
    }
    for (int64_t days = -1000000; days < 3000000; days += 13) {
        int64_t year = 0;
        int month = 0;
        int day = 0;
        firn_civil_from_days(days, &year, &month, &day);
        assert_in_range(month, 1, 12);
        assert_in_range(day, 1, 31);
        assert_int_equal(firn_days_from_civil(year, month, day), days);
    }
    int64_t year = 0;
    int month = 0;
    int day = 0;
    firn_civil_from_days(INT64_MAX, &year, &month, &day);
    assert_true(firn_days_from_civil(year, month, day) == INT64_MAX);
    firn_civil_from_days(INT64_MIN, &year, &month, &day);
    assert_true(firn_days_from_civil(year, month, day) == INT64_MIN);
    assert_true(firn_days_from_civil(INT64_MAX, 12, 31) == INT64_MAX);
    assert_true(firn_days_from_civil(INT64_MIN, 1, 1) == INT64_MIN);
}

static void test_clock(void **state) {
    (void)state;
    char text[40];
    firn_clock_format_ms(0, text, sizeof text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    firn_clock_format_ms(-1, text, sizeof text);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    firn_clock_format_ms(1769862896789, text, sizeof text);
    assert_string_equal(text, "2026-01-31T12:34:56.789Z");
    firn_clock_format_ms(INT64_MIN, text, sizeof text);
    firn_clock_format_ms(INT64_MAX, text, sizeof text);
    setenv("FIRN_TEST_NOW_MS", "1234", 1);
    assert_int_equal(firn_clock_now_ms(), 1234);
    unsetenv("FIRN_TEST_NOW_MS");
    assert_true(firn_clock_now_ms() > 1700000000000);
    int64_t before = firn_clock_monotonic_ns();
    assert_true(firn_clock_monotonic_ns() >= before);
}

static void test_random(void **state) {
    (void)state;
    firn_error error;
    int64_t first = 0;
    int64_t second = 0;
    check_ok(firn_random_id(&first, &error), &error);
    check_ok(firn_random_id(&second, &error), &error);
    assert_true(first > 0 && second > 0 && first != second);
    char uuid[FIRN_UUID_TEXT_SIZE];
    check_ok(firn_uuid_random(uuid, &error), &error);
    assert_int_equal(strlen(uuid), 36);
    assert_int_equal(uuid[14], '4');
    assert_non_null(strchr("89ab", uuid[19]));
    assert_int_equal(strspn(uuid, "0123456789abcdef-"), 36);
    check_ok(firn_random_bytes(NULL, 0, &error), &error);
}

static void test_cancel(void **state) {
    (void)state;
    firn_error error;
    check_ok(firn_cancel_check(&error), &error);
    firn_cancel_request(SIGINT);
    firn_cancel_request(SIGTERM);
    assert_int_equal(firn_cancel_requested(), SIGINT);
    check_fails(firn_cancel_check(&error), FIRN_CANCELLED, &error, "stopped by SIGINT");
    firn_cancel_request(0);
    check_ok(firn_cancel_check(&error), &error);
}

static void test_read_at(void **state) {
    (void)state;
    firn_error error;
    firn_memory_file memory = {(const uint8_t *)"0123456789", 10};
    firn_read_at file = firn_read_at_memory(&memory, "mem");
    char out[11] = {0};
    check_ok(firn_read_at_exact(&file, 3, out, 4, &error), &error);
    assert_string_equal(out, "3456");
    check_ok(firn_read_at_exact(&file, 10, out, 0, &error), &error);
    check_fails(firn_read_at_exact(&file, 7, out, 4, &error), FIRN_CORRUPT, &error,
                "mem: 4 bytes are due");
    assert_int_equal(error.byte_offset, 7);
    check_fails(firn_read_at_exact(&file, UINT64_MAX, out, 1, &error), FIRN_CORRUPT, &error, NULL);
    check_fails(firn_read_at_exact(&file, 1, out, SIZE_MAX, &error), FIRN_CORRUPT, &error, NULL);
    assert_ptr_equal(file.borrow(file.context, 2, 3), memory.data + 2);
    firn_memory_file none = {NULL, 0};
    file = firn_read_at_memory(&none, "none");
    check_ok(firn_read_at_exact(&file, 0, NULL, 0, &error), &error);
    check_fails(firn_read_at_exact(&file, 0, out, 1, &error), FIRN_CORRUPT, &error, NULL);
}

static void test_bytes(void **state) {
    (void)state;
    uint8_t bytes[9] = {0};
    uint8_t *odd = bytes + 1;
    firn_store_le64(odd, 0x0102030405060708U);
    assert_int_equal(odd[0], 8);
    assert_true(firn_load_le64(odd) == 0x0102030405060708U);
    assert_true(firn_load_be64(odd) == 0x0807060504030201U);
    firn_store_be64(odd, 0x0102030405060708U);
    assert_true(firn_load_be64(odd) == 0x0102030405060708U);
    firn_store_le32(odd, 0xF1F2F3F4U);
    assert_true(firn_load_le32(odd) == 0xF1F2F3F4U);
    firn_store_be32(odd, 0xF1F2F3F4U);
    assert_true(firn_load_be32(odd) == 0xF1F2F3F4U);
    firn_store_le16(odd, 0xF1F2U);
    assert_true(firn_load_le16(odd) == 0xF1F2U);
    assert_true(firn_bits_of_double(firn_double_of_bits(0x7FF8000000000001U)) ==
                0x7FF8000000000001U);
    assert_true(firn_bits_of_float(1.0F) == 0x3F800000U);
}

static void test_slices(void **state) {
    (void)state;
    firn_slice none = firn_slice_of(NULL, 0);
    assert_true(firn_slice_equal(none, firn_slice_text("")));
    assert_true(firn_slice_compare(none, firn_slice_text("a")) < 0);
    assert_true(firn_slice_compare(firn_slice_text("a\x80"), firn_slice_text("a\x7F")) > 0);
    assert_true(firn_slice_compare(firn_slice_text("ab"), firn_slice_text("a")) > 0);
    assert_int_equal(firn_slice_compare(firn_slice_text("ab"), firn_slice_text("ab")), 0);
}

static void test_log_lines_are_disarmed(void **state) {
    (void)state;
    char *folder = test_folder_new();
    char path[200];
    snprintf(path, sizeof path, "%s/log", folder);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_non_null(freopen(path, "w", stderr));
    firn_log_warning("name %s", "a\nfirn: \x1B[31m");
    firn_log_info("not shown");
    firn_log_set_level(FIRN_LOG_DEBUG);
    firn_log_debug("%0*d", 10000, 1);
    firn_log_set_level(FIRN_LOG_WARNING);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    firn_buffer log = test_read_file(path);
    static const char expected[] = "firn: warning: name a?firn: ?[31m\nfirn: debug: 000";
    assert_memory_equal(log.data, expected, sizeof expected - 1);
    assert_true(log.size < 5000);
    firn_buffer_release(&log);
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calendar), cmocka_unit_test(test_clock),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_read_at),  cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_slices),   cmocka_unit_test(test_log_lines_are_disarmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
