/* What stops a run before it does anything: policies, and counts of manifests. */
#include "lake/sync_world.h"

#include <stdio.h>

/** Files of which `replaced` are another size by now, and `missing` are gone. */
static sync_world *lake_of(size_t files, size_t replaced, size_t missing) {
    sync_world *w = sync_world_new();
    for (size_t i = 0; i < files; i++) {
        char name[32];
        snprintf(name, sizeof name, "/lake/%02zu", i);
        const char *location = firn_arena_strdup(w->work.arena, name);
        sync_world_had(w, location, NULL, i < replaced ? 4 : 5, 2, false);
        if (i < replaced || i >= replaced + missing) sync_world_file(w, location, 5);
    }
    check_ok(sync_world_classify(w), &w->error);
    return w;
}

static void by_default_nothing_is_done(void **state) {
    (void)state;
    sync_world *w = lake_of(4, 1, 0);
    check_fails(
        firn_sync_check_policies(&w->work, &w->error), FIRN_BLOCKED, &w->error,
        "table db.t: 1 file replaced since added, the first: /lake/00 (size was 4 bytes, is "
        "5); nothing was done. --on-replaced says what to do");
    sync_world_free(w);
    w = lake_of(4, 1, 2);
    check_fails(
        firn_sync_check_policies(&w->work, &w->error), FIRN_BLOCKED, &w->error,
        "2 files added before and gone now, the first: /lake/01 (the source has it no more);"
        " nothing was done. --on-replaced and --on-missing say what to do");
    w->options.on_replaced = FIRN_LAKE_REPORT;
    check_fails(firn_sync_check_policies(&w->work, &w->error), FIRN_BLOCKED, &w->error,
                "nothing was done. --on-missing says what to do");
    w->options.on_missing = FIRN_LAKE_REPORT;
    check_ok(firn_sync_check_policies(&w->work, &w->error), &w->error);
    assert_string_equal(w->result.replaced.items[0].done, "reported");
    assert_string_equal(w->result.missing.items[1].done, "reported");
    sync_world_free(w);
}

static void check_deleting(size_t files, size_t missing, bool force, firn_status status) {
    sync_world *w = lake_of(files, 0, missing);
    w->options.on_missing = FIRN_LAKE_DELETE;
    w->options.force = force;
    if (status == FIRN_OK) {
        check_ok(firn_sync_check_policies(&w->work, &w->error), &w->error);
    } else {
        check_fails(firn_sync_check_policies(&w->work, &w->error), status, &w->error,
                    "--on-missing report goes on without");
    }
    sync_world_free(w);
}

static void a_source_that_is_mostly_gone(void **state) {
    (void)state;
    check_deleting(4, 1, false, FIRN_OK);
    check_deleting(4, 3, false, FIRN_OK);
    check_deleting(4, 4, false, FIRN_UNSAFE);
    check_deleting(4, 4, true, FIRN_OK);
    check_deleting(20, 10, false, FIRN_OK);
    check_deleting(20, 11, false, FIRN_UNSAFE);
    check_deleting(20, 11, true, FIRN_OK);
    check_deleting(17, 9, false, FIRN_OK);
}

/** Unit a: a file of 2 rows that is in, one of 3 that is gone (taken out before, or now), one of 4 that is new. */
static sync_world *unit_of(int64_t counted, bool removed, bool new_file) {
    sync_world *w = sync_world_new();
    w->options.on_missing = FIRN_LAKE_DELETE;
    sync_world_had(w, "/lake/a/in", "a", 5, 2, false);
    sync_world_had(w, "/lake/a/gone", "a", 5, 3, removed);
    sync_world_had(w, "/lake/b/in", "b", 5, 1, false);
    sync_world_unit(w, "a", counted);
    sync_world_file(w, "/lake/a/in", 5);
    if (new_file) sync_world_file(w, "/lake/a/new", 5);
    sync_world_unit(w, "b", 1);
    sync_world_file(w, "/lake/b/in", 5);
    check_ok(sync_world_classify(w), &w->error);
    if (new_file) sync_world_found(w, 0, 4);
    check_ok(firn_sync_cut_batches(&w->work, &w->error), &w->error);
    return w;
}

static void units_that_partly_left(void **state) {
    (void)state;
    for (int removed = 0; removed < 2; removed++) {
        for (int64_t counted = 0; counted < 8; counted++) {
            sync_world *w = unit_of(counted, removed != 0, false);
            bool fits = counted == 2 || counted == 5;
            assert_int_equal(w->result.changed_units.count, fits ? 0 : 1);
            if (!fits) {
                const firn_sync_changed_unit *changed = &w->result.changed_units.items[0];
                assert_string_equal(changed->unit, "a");
                assert_int_equal(changed->rows, 5);
                assert_int_equal(changed->rows_gone, 3);
                assert_int_equal(changed->rows_now, counted);
                check_fails(firn_sync_check_policies(&w->work, &w->error), FIRN_BLOCKED, &w->error,
                            "unit a was added with 5 rows (3 of them in files that are gone), the "
                            "manifest says");
            }
            sync_world_free(w);
        }
        for (int64_t counted = 0; counted < 12; counted++) {
            sync_world *w = unit_of(counted, removed != 0, true);
            firn_status status = firn_sync_check_first_batch(&w->work, &w->error);
            assert_int_equal(status, counted == 6 || counted == 9 ? FIRN_OK : FIRN_BLOCKED);
            sync_world_free(w);
        }
    }
}

static void counts_that_are_not_known(void **state) {
    (void)state;
    firn_sync_unit_rows rows = {.in = 2, .gone = 3, .in_known = true, .gone_known = true};
    assert_true(firn_sync_unit_fits(&rows, -1));
    assert_true(firn_sync_unit_fits(&rows, 5));
    assert_false(firn_sync_unit_fits(&rows, 4));
    rows.gone_known = false;
    assert_true(firn_sync_unit_fits(&rows, 4));
    rows = (firn_sync_unit_rows){.in = 2, .gone_known = true};
    assert_true(firn_sync_unit_fits(&rows, 4));
    rows = (firn_sync_unit_rows){.in = INT64_MAX, .gone = 1, .in_known = true, .gone_known = true};
    assert_false(firn_sync_unit_fits(&rows, INT64_MIN + 1 + INT64_MAX));
    /* Earlier versions kept no rows of what was given up. */
    sync_world *w = sync_world_new();
    sync_world_had(w, "/lake/a/in", "a", 5, 2, false);
    sync_world_had(w, "/lake/a/gone", "a", 5, 0, true);
    sync_world_unit(w, "a", 9);
    sync_world_file(w, "/lake/a/in", 5);
    check_ok(sync_world_classify(w), &w->error);
    assert_int_equal(w->result.changed_units.count, 0);
    sync_world_free(w);
}

static void what_a_ledger_says_of_units(void **state) {
    (void)state;
    sync_world *w = sync_world_new();
    sync_world_had(w, "/lake/1", "a", 5, 2, false);
    sync_world_had(w, "/lake/2", "a", 5, 3, false);
    sync_world_had(w, "/lake/3", NULL, 5, 3, true);
    const firn_ledger *ledger = w->work.ledger;
    assert_int_equal(firn_ledger_files_of(ledger, "a"), 2);
    assert_int_equal(firn_ledger_removed_of(ledger, "a").files, 0);
    assert_int_equal(firn_ledger_removed_of(ledger, NULL).files, 1);
    sync_world_had(w, "/lake/2", "a", 5, 3, true);
    sync_world_had(w, "/lake/1", "a", 5, 2, true);
    assert_int_equal(firn_ledger_files_of(ledger, "a"), 0);
    assert_int_equal(firn_ledger_removed_of(ledger, "a").rows, 5);
    assert_false(firn_ledger_has_unit(ledger, "a"));
    /* It comes back, in another unit. */
    sync_world_had(w, "/lake/2", "b", 5, 3, false);
    assert_int_equal(firn_ledger_removed_of(ledger, "a").rows, 2);
    assert_int_equal(firn_ledger_files_of(ledger, "b"), 1);
    assert_int_equal(firn_ledger_files_of(ledger, "c"), 0);
    sync_world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_nothing_is_done),
        cmocka_unit_test(a_source_that_is_mostly_gone),
        cmocka_unit_test(units_that_partly_left),
        cmocka_unit_test(counts_that_are_not_known),
        cmocka_unit_test(what_a_ledger_says_of_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
