#include <errno.h>
#include <string.h>

#include "support/check.h"

static void test_names_and_texts(void **state) {
    (void)state;
    assert_string_equal(firn_status_name(FIRN_NOT_FOUND), "NOT_FOUND");
    assert_string_equal(firn_status_text(FIRN_CONFLICT), "commit conflict");
    assert_string_equal(firn_status_name((firn_status)999), "UNKNOWN");
    assert_string_equal(firn_status_text((firn_status)999), "unknown status");
}

static void test_fail_describes(void **state) {
    (void)state;
    firn_error error;
    firn_error_clear(&error);
    assert_int_equal(error.byte_offset, -1);
    check_fails(firn_fail(&error, FIRN_INVALID, "no %s", "sense"), FIRN_INVALID, &error,
                "no sense");
    check_fails(firn_fail_at(&error, FIRN_CORRUPT, 17, "f: magic"), FIRN_CORRUPT, &error,
                "f: magic at byte 17");
    assert_int_equal(error.byte_offset, 17);
    check_fails(firn_fail_errno(&error, FIRN_IO, ENOSPC, "write"), FIRN_IO, &error,
                "write: No space left on device");
    assert_int_equal(error.system_errno, ENOSPC);
    firn_fail_errno(&error, FIRN_IO, 4321, "write");
    assert_string_equal(error.message, "write: system error 4321");
    assert_int_equal(firn_fail(NULL, FIRN_IO, "x"), FIRN_IO);
    assert_int_equal(firn_fail_memory(NULL), FIRN_NO_MEMORY);
}

static void test_wrap_reads_from_the_outside_in(void **state) {
    (void)state;
    firn_error error;
    firn_status status = firn_fail_at(&error, FIRN_CORRUPT, 5, "entry 7");
    status = firn_error_wrap(&error, status, "manifest %s", "m");
    status = firn_error_wrap(&error, status, "table a.b");
    assert_int_equal(status, FIRN_CORRUPT);
    assert_int_equal(error.byte_offset, 5);
    assert_string_equal(error.message, "table a.b: manifest m: entry 7 at byte 5");
    assert_int_equal(firn_error_wrap(&error, FIRN_OK, "x"), FIRN_OK);
    assert_string_equal(error.message, "table a.b: manifest m: entry 7 at byte 5");
    status = firn_error_hint(&error, status, "ask %s", "b");
    assert_int_equal(status, FIRN_CORRUPT);
    assert_string_equal(error.message, "table a.b: manifest m: entry 7 at byte 5; ask b");
    assert_int_equal(firn_error_hint(&error, FIRN_OK, "x"), FIRN_OK);
    assert_int_equal(firn_error_hint(NULL, FIRN_IO, "x"), FIRN_IO);
    firn_error_wrap(&error, status, "c");
    assert_string_equal(error.message, "c: table a.b: manifest m: entry 7 at byte 5; ask b");
    /* A message may be built from the one it replaces. */
    firn_fail(&error, FIRN_IO, "again: %s", error.message);
    assert_string_equal(error.message, "again: c: table a.b: manifest m: entry 7 at byte 5; ask b");
}

static void test_long_messages_are_cut_between_characters(void **state) {
    (void)state;
    char text[3 * FIRN_ERROR_MESSAGE_SIZE];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'x', sizeof text);
        for (size_t i = shift; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xC3\xA9", 2);
        text[sizeof text - 1] = '\0';
        firn_error error;
        firn_fail(&error, FIRN_IO, "%s", text);
        size_t length = strlen(error.message);
        assert_true(length < FIRN_ERROR_MESSAGE_SIZE);
        assert_string_equal(error.message + length - 3, "...");
        /* What stands before the dots is a whole character. */
        assert_true((unsigned char)error.message[length - 4] != 0xC3);
        firn_error_wrap(&error, FIRN_IO, "%s", text);
        length = strlen(error.message);
        assert_string_equal(error.message + length - 3, "...");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_texts),
        cmocka_unit_test(test_fail_describes),
        cmocka_unit_test(test_wrap_reads_from_the_outside_in),
        cmocka_unit_test(test_long_messages_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
