/* Every status has the exit code that docs/exit-codes.md promises. */
#include <signal.h>

#include "base/cancel.h"
#include "cli/exit_code.h"
#include "support/check.h"

static void test_every_status(void **state) {
    (void)state;
    static const struct {
        firn_status status;
        int code;
    } codes[] = {
        {FIRN_OK, 0},        {FIRN_INVALID, 2},        {FIRN_CORRUPT, 1},   {FIRN_UNSUPPORTED, 3},
        {FIRN_NOT_FOUND, 1}, {FIRN_EXISTS, 1},         {FIRN_IO, 1},        {FIRN_AUTH, 1},
        {FIRN_TIMEOUT, 1},   {FIRN_THROTTLED, 1},      {FIRN_NO_MEMORY, 1}, {FIRN_LIMIT, 1},
        {FIRN_CONFLICT, 5},  {FIRN_COMMIT_UNKNOWN, 7}, {FIRN_BLOCKED, 3},   {FIRN_UNSAFE, 4},
        {FIRN_CANCELLED, 1},
    };
    size_t known = 0;
#define COUNT(name, number, text) known++;
    FIRN_STATUS_LIST(COUNT)
#undef COUNT
    assert_int_equal(known, sizeof codes / sizeof *codes);
    for (size_t i = 0; i < known; i++) {
        assert_int_equal(firn_exit_code(codes[i].status), codes[i].code);
    }
}

static void test_signals(void **state) {
    (void)state;
    firn_cancel_request(SIGINT);
    assert_int_equal(firn_exit_code(FIRN_CANCELLED), 130);
    firn_cancel_request(0);
    firn_cancel_request(SIGTERM);
    assert_int_equal(firn_exit_code(FIRN_CANCELLED), 143);
    /* What is not a stop keeps its own code after a signal. */
    assert_int_equal(firn_exit_code(FIRN_COMMIT_UNKNOWN), 7);
    firn_cancel_request(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status),
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
