/* What a run chooses of what is new: limits, batches, bad files among them. */
#include "lake/sync_world.h"

#include <stdio.h>

static const char *const names[] = {"/lake/0", "/lake/1", "/lake/2", "/lake/3", "/lake/4",
                                    "/lake/5", "/lake/6", "/lake/7", "/lake/8", "/lake/9"};

/** Ten new files. */
static sync_world *ten_files(size_t limit, bool skip_bad) {
    sync_world *w = sync_world_new();
    w->options.limit = limit;
    w->options.skip_bad = skip_bad;
    for (size_t i = 0; i < 10; i++) sync_world_file(w, names[i], 5);
    check_ok(sync_world_classify(w), &w->error);
    return w;
}

/** Looks at chosen files until no more are chosen; `bad` has a bit for each bad one. */
static size_t look(sync_world *w, unsigned bad) {
    size_t rounds = 0;
    for (bool again = true; again; rounds++) {
        for (size_t i = 0; i < w->work.new_count; i++) {
            bool pending = w->work.facts[i].state == FIRN_SYNC_PENDING;
            if (pending) sync_world_found(w, i, (bad >> i & 1) != 0 ? -1 : 1);
        }
        check_ok(firn_sync_choose_again(&w->work, &again, &w->error), &w->error);
    }
    return rounds;
}

static void check_choice(size_t limit, bool skip_bad, unsigned bad, size_t chosen, size_t added) {
    sync_world *w = ten_files(limit, skip_bad);
    assert_true(look(w, bad) < 8);
    assert_int_equal(w->work.new_count, chosen);
    size_t pending = 0;
    for (size_t i = 0; i < 10; i++) {
        pending += w->work.facts[i].state == FIRN_SYNC_PENDING ? 1 : 0;
        /* Nothing beyond what is chosen is added. */
        if (i >= chosen) assert_int_not_equal(w->work.facts[i].state, FIRN_SYNC_PENDING);
    }
    assert_int_equal(pending, added);
    check_ok(firn_sync_cut_batches(&w->work, &w->error), &w->error);
    assert_int_equal(w->work.batches.count, 1);
    assert_int_equal(w->work.batches.items[0].count, chosen);
    sync_world_free(w);
}

static void a_limit_counts_what_is_added(void **state) {
    (void)state;
    check_choice(0, true, 0, 10, 10);
    check_choice(3, true, 0, 3, 3);
    check_choice(20, true, 0, 10, 10);
    check_choice(3, true, 0x7, 6, 3);
    check_choice(3, true, 0x5, 5, 3);
    check_choice(1, true, 0x1FF, 10, 1);
    check_choice(2, true, 0x3FF, 10, 0);
    check_choice(10, true, 0x11, 10, 8);
    /* Without --skip-bad the bad one ends the run. */
    check_choice(3, false, 0x1, 3, 2);
}

static void units_are_never_split(void **state) {
    (void)state;
    sync_world *w = sync_world_new();
    static const char *const units[] = {"a", "b", "c", "d", "e"};
    w->options.limit = 3;
    w->options.batch = 2;
    w->options.skip_bad = true;
    for (size_t i = 0; i < 10; i++) {
        if (i % 2 == 0) sync_world_unit(w, units[i / 2], 2);
        sync_world_file(w, names[i], 5);
    }
    check_ok(sync_world_classify(w), &w->error);
    assert_int_equal(w->result.units_pending, 5);
    assert_int_equal(w->work.unit_count, 3);
    assert_int_equal(w->work.new_count, 6);
    /* One file of b is bad: it waits as a whole, and d comes in its place. */
    look(w, 0x4);
    assert_int_equal(w->work.unit_count, 4);
    assert_true(firn_sync_has_bad_file(&w->work, &w->work.units[1]));
    check_ok(firn_sync_cut_batches(&w->work, &w->error), &w->error);
    assert_int_equal(w->work.batches.count, 2);
    assert_int_equal(w->work.batches.items[0].count, 4);
    assert_int_equal(w->work.batches.items[1].first, 4);
    assert_int_equal(w->work.batches.items[1].unit_count, 2);
    check_ok(firn_sync_check_first_batch(&w->work, &w->error), &w->error);
    /* The other file of b is left out with it, and only with --skip-bad. */
    assert_int_equal(w->work.facts[3].state, FIRN_SYNC_BAD);
    w->options.skip_bad = false;
    check_fails(firn_sync_check_first_batch(&w->work, &w->error), FIRN_BLOCKED, &w->error,
                "1 file can't be added, the first: /lake/2: it is cut off (--skip-bad");
    sync_world_free(w);
}

static void overwriting_files_come_behind(void **state) {
    (void)state;
    sync_world *w = sync_world_new();
    w->options.on_replaced = FIRN_LAKE_OVERWRITE;
    w->options.limit = 1;
    sync_world_had(w, "/lake/1", NULL, 4, 2, false);
    for (size_t i = 0; i < 4; i++) sync_world_file(w, names[i], 5);
    check_ok(sync_world_classify(w), &w->error);
    assert_int_equal(w->work.new_count, 1);
    assert_int_equal(w->work.first_overwrite, 3);
    assert_int_equal(w->work.file_count, 4);
    assert_string_equal(w->work.files[3].location, "/lake/1");
    assert_true(w->work.facts[3].overwrites);
    assert_int_equal(w->work.facts[3].state, FIRN_SYNC_PENDING);
    assert_int_equal(w->work.facts[1].state, FIRN_SYNC_LATER);
    sync_world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_counts_what_is_added),
        cmocka_unit_test(units_are_never_split),
        cmocka_unit_test(overwriting_files_come_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
