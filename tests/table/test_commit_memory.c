/* Each allocation fails in turn while a commit meets another writer: what was committed stays, what was not leaves nothing. */
#include "base/alloc.h"
#include "base/log.h"
#include "table/rewriter.h"

#define STEP 7 /* not every one: a table is made for each */

static const char *const abc[] = {"a", "b", "c", NULL};
static const char *const ab[] = {"a", "b", NULL};
static uint64_t failing, started;

static void append_and_fail(table_fixture *f) {
    static const char *const x[] = {"x", NULL};
    fixture_append(f, x);
    started = firn_alloc_calls();
    firn_alloc_fail_after(failing, 0);
}

/* Of the two appends there are a list and a manifest each. */
static void check_nothing_left(table_fixture *f) {
    assert_int_equal(count_files(f->storage, f->location, "/snap-"), 2);
    assert_int_equal(count_files(f->storage, f->location, ".avro"), 4);
}

/** Whether the allocation that was to fail was reached. */
static bool play(void) {
    table_fixture *f = fixture_new(2);
    fixture_append(f, abc);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {append_and_fail}};
    firn_commit_result result;
    firn_status status = rewriter_run(&r, &result);
    bool reached = firn_alloc_calls() - started >= failing;
    firn_alloc_fail_after(0, 0);
    char *live = fixture_live(f);
    bool committed = strcmp(live, "ab c x") == 0;
    if (!committed) assert_string_equal(live, "x a b c");
    if (status == FIRN_OK) {
        assert_true(committed);
    } else if (status != FIRN_COMMIT_UNKNOWN) {
        /* A commit that took effect is never called a failure, or its files would be deleted. */
        check_fails(status, FIRN_NO_MEMORY, &f->error, NULL);
        assert_false(committed);
        check_ok(firn_journal_discard(f->journal, f->storage, &f->error), &f->error);
        check_nothing_left(f);
    }
    firn_free(live);
    fixture_free(f);
    return reached;
}

static void each_allocation(void **state) {
    (void)state;
    firn_log_set_level(FIRN_LOG_ERROR);
    failing = 1;
    while (play()) failing += STEP;
    assert_true(failing > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
