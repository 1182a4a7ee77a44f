#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "storage/fault.h"
#include "support/check.h"

static firn_storage *with_plan(firn_fault_plan plan) {
    firn_error error = {0};
    firn_storage *memory = NULL;
    firn_storage *storage = NULL;
    check_ok(firn_storage_memory(&memory, &error), &error);
    check_ok(firn_storage_with_faults(memory, &plan, &storage, &error), &error);
    return storage;
}

static void test_fail_before_and_after(void **state) {
    (void)state;
    firn_error error = {0};
    firn_storage_stat stat;
    firn_storage *storage = with_plan(
        (firn_fault_plan){.kind = FIRN_FAULT_FAIL, .at = 2, .operation = "create_exclusive"});
    check_ok(firn_storage_create_exclusive(storage, "/a", firn_slice_text("1"), &error), &error);
    check_fails(firn_storage_create_exclusive(storage, "/b", firn_slice_text("1"), &error), FIRN_IO,
                &error, "planned failure");
    check_fails(firn_storage_stat_file(storage, "/b", &stat, &error), FIRN_NOT_FOUND, &error, NULL);
    check_ok(firn_storage_create_exclusive(storage, "/b", firn_slice_text("1"), &error), &error);
    firn_storage_free(storage);

    storage = with_plan((firn_fault_plan){
        .kind = FIRN_FAULT_FAIL_AFTER, .at = 1, .operation = "replace", .and_following = true});
    for (int i = 0; i < 2; i++) {
        check_fails(firn_storage_replace(storage, "/a", firn_slice_text("1"), &error), FIRN_IO,
                    &error, "after");
    }
    check_ok(firn_storage_stat_file(storage, "/a", &stat, &error), &error);
    firn_storage_free(storage);
}

static void test_short_write(void **state) {
    (void)state;
    firn_error error = {0};
    firn_storage *storage =
        with_plan((firn_fault_plan){.kind = FIRN_FAULT_SHORT, .at = 1, .operation = "write"});
    firn_storage_writer *writer = NULL;
    check_ok(firn_storage_create(storage, "/a", &writer, &error), &error);
    check_fails(firn_storage_write(writer, "abcd", 4, &error), FIRN_IO, &error, NULL);
    assert_int_equal(error.system_errno, ENOSPC);
    check_ok(firn_storage_finish(writer, &error), &error);
    firn_storage_stat stat;
    check_ok(firn_storage_stat_file(storage, "/a", &stat, &error), &error);
    assert_int_equal(stat.size, 2);
    firn_storage_free(storage);
}

static void test_points(void **state) {
    (void)state;
    firn_error error = {0};
    check_ok(firn_fault_point("catalog", "COMMIT", false, &error), &error);
    firn_storage *storage = with_plan(
        (firn_fault_plan){.kind = FIRN_FAULT_FAIL_AFTER, .at = 2, .operation = "catalog"});
    check_ok(firn_fault_point("catalog", "UPDATE", false, &error), &error);
    check_ok(firn_fault_point("catalog", "UPDATE", true, &error), &error);
    check_ok(firn_fault_point("catalog", "COMMIT", false, &error), &error);
    check_fails(firn_fault_point("catalog", "COMMIT", true, &error), FIRN_IO, &error, "COMMIT");
    check_ok(firn_fault_point("catalog", "COMMIT", true, &error), &error);
    firn_storage_free(storage);
    check_ok(firn_fault_point("catalog", "COMMIT", false, &error), &error);
}

static void test_kill(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        firn_storage *storage = with_plan((firn_fault_plan){.kind = FIRN_FAULT_KILL, .at = 3});
        firn_storage_put(storage, "/a", firn_slice_text("1"), NULL);
        _exit(0);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 137);
}

static void test_trace(void **state) {
    (void)state;
    firn_error error = {0};
    char *folder = test_folder_new();
    char *path = firn_format("%s/trace", folder);
    firn_storage *storage = with_plan((firn_fault_plan){.trace_path = path});
    check_ok(firn_storage_put(storage, "/a b", firn_slice_text("1"), &error), &error);
    check_ok(firn_fault_point("catalog", "COMMIT", false, &error), &error);
    check_ok(firn_storage_delete(storage, "/a b", &error), &error);
    firn_storage_free(storage);
    firn_buffer text = test_read_file(path);
    static const char expected[] =
        "create /a b\nwrite /a b\nfinish /a b\ncatalog COMMIT\ndelete /a b\n";
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
    firn_buffer_release(&text);
    firn_free(path);
    test_folder_remove(folder);
}

static int ran;

static void run_once(void) {
    ran++;
}

/* Somebody else goes between; the call itself goes on. */
static void test_run(void **state) {
    (void)state;
    firn_error error = {0};
    firn_storage *storage = NULL;
    firn_fault_plan plan = {.kind = FIRN_FAULT_RUN, .at = 2, .run = run_once};
    check_ok(firn_storage_memory(&storage, &error), &error);
    check_ok(firn_storage_with_faults(storage, &plan, &storage, &error), &error);
    check_ok(firn_fault_point("catalog", "COMMIT", false, &error), &error);
    assert_int_equal(ran, 0);
    check_ok(firn_storage_put(storage, "/a", firn_slice_text("a"), &error), &error);
    assert_int_equal(ran, 1);
    firn_storage_free(storage);
}

static void check_plan(const char *text, firn_status expected, firn_fault_kind kind, uint64_t at,
                       const char *operation, bool and_following) {
    firn_error error = {0};
    firn_fault_plan plan;
    bool present = false;
    setenv("FIRN_FAULT", text, 1);
    firn_status status = firn_fault_plan_from_environment(&plan, &present, &error);
    unsetenv("FIRN_FAULT");
    assert_true(present);
    assert_int_equal(status, expected);
    if (expected != FIRN_OK) return;
    assert_int_equal(plan.kind, kind);
    assert_int_equal(plan.at, at);
    assert_int_equal(plan.and_following, and_following);
    if (operation == NULL) {
        assert_null(plan.operation);
    } else {
        assert_string_equal(plan.operation, operation);
    }
}

static void test_environment(void **state) {
    (void)state;
    firn_fault_plan plan;
    bool present = true;
    assert_int_equal(firn_fault_plan_from_environment(&plan, &present, NULL), FIRN_OK);
    assert_false(present);
    check_plan("kill:7", FIRN_OK, FIRN_FAULT_KILL, 7, NULL, false);
    check_plan("run:7:create", FIRN_OK, FIRN_FAULT_RUN, 7, "create", false);
    check_plan("kill-after:1+", FIRN_OK, FIRN_FAULT_KILL_AFTER, 1, NULL, true);
    check_plan("fail:3:write", FIRN_OK, FIRN_FAULT_FAIL, 3, "write", false);
    check_plan("fail-after:2:catalog+", FIRN_OK, FIRN_FAULT_FAIL_AFTER, 2, "catalog", true);
    check_plan("short:2:write", FIRN_OK, FIRN_FAULT_SHORT, 2, "write", false);
    static const char *const bad[] = {"",        "kill",     "kill:",        "kill:0",
                                      "kill:x",  "burn:1",   "fail:1:",      "fail:1:nothing",
                                      "fail:1x", "fail:1+x", "fail:1:write:"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_plan(bad[i], FIRN_INVALID, FIRN_FAULT_NONE, 0, NULL, false);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_before_and_after),
        cmocka_unit_test(test_short_write),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
