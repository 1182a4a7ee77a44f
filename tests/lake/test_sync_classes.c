/* New, known, replaced and missing files, told apart by the listing and the ledger. */
#include "lake/sync_world.h"

#include <stdio.h>

static void new_and_known_files(void **state) {
    (void)state;
    sync_world *w = sync_world_new();
    sync_world_had(w, "/lake/known", NULL, 5, 2, false);
    sync_world_had(w, "file:///lake/./spelled", NULL, 5, 2, false);
    sync_world_had(w, "/lake/unknown-facts", NULL, -1, -1, false);
    sync_world_had(w, "/lake/given-up", NULL, 5, 2, true);
    sync_world_had(w, "/lake/given-up-then-changed", NULL, 4, 2, true);
    sync_world_had(w, "/lake/gone-then-back", NULL, -1, 2, true);
    static const char *const names[] = {"/lake/fresh",         "/lake/given-up",
                                        "/lake/known",         "/lake/spelled",
                                        "/lake/unknown-facts", "/lake/given-up-then-changed",
                                        "/lake/gone-then-back"};
    for (size_t i = 0; i < 7; i++) sync_world_file(w, names[i], 5);
    check_ok(sync_world_classify(w), &w->error);
    assert_int_equal(w->result.files_new, 3);
    assert_int_equal(w->result.files_known, 4);
    assert_int_equal(w->work.new_count, 3);
    assert_string_equal(w->work.files[0].location, "/lake/fresh");
    assert_string_equal(w->work.files[1].location, "/lake/given-up-then-changed");
    assert_string_equal(w->work.files[2].location, "/lake/gone-then-back");
    assert_int_equal(w->result.replaced.count + w->result.missing.count, 0);
    sync_world_free(w);
}

static void check_difference(int64_t size, int64_t modified_ns, const char *etag,
                             const char *reason) {
    sync_world *w = sync_world_new();
    firn_ledger_entry entry = {
        .location = "/lake/f", .size = 5, .modified_ns = 1, .etag = "e", .rows = 2};
    sync_world_given(w, &entry);
    firn_lake_file *file = sync_world_file(w, "/lake/f", size);
    file->modified_ns = modified_ns;
    file->etag = etag;
    check_ok(sync_world_classify(w), &w->error);
    assert_int_equal(w->result.replaced.count, reason == NULL ? 0 : 1);
    if (reason != NULL) assert_string_equal(w->result.replaced.items[0].reason, reason);
    sync_world_free(w);
}

static void what_makes_a_file_another_one(void **state) {
    (void)state;
    check_difference(5, 1, "e", NULL);
    check_difference(6, 1, "e", "size was 5 bytes, is 6");
    check_difference(5, 1, "f", "its ETag is another one");
    check_difference(5, 2, NULL, "it was modified since, at the same size");
    /* Equal bytes under another time; and what the store doesn't tell. */
    check_difference(5, 2, "e", NULL);
    check_difference(5, -1, NULL, NULL);
    check_difference(-1, 1, "e", NULL);
}

static void a_folder_speaks_of_what_lies_below(void **state) {
    (void)state;
    sync_world *w = sync_world_new();
    sync_world_had(w, "/lake/gone", NULL, 5, 2, false);
    sync_world_had(w, "/lake/there", NULL, 5, 2, false);
    sync_world_had(w, "/lake/given-up", NULL, 5, 2, true);
    sync_world_had(w, "/elsewhere/gone", NULL, 5, 2, false);
    sync_world_had(w, "/lakes/gone", NULL, 5, 2, false);
    sync_world_file(w, "/lake/there", 5);
    check_ok(sync_world_classify(w), &w->error);
    assert_int_equal(w->result.missing.count, 1);
    assert_string_equal(w->result.missing.items[0].location, "/lake/gone");
    assert_int_equal(w->work.found_entries, 1);
    bool missing = false;
    const firn_ledger_entry *entry = &w->work.missing_entries.items[0];
    check_ok(firn_sync_still_missing(&w->work, entry, &missing, &w->error), &w->error);
    assert_true(missing);
    /* Another run gave it up, or added it anew, in between. */
    sync_world_had(w, "/lake/gone", NULL, 5, 2, true);
    assert_false(firn_sync_still_added(&w->work, entry));
    firn_ledger_entry again = {.location = "/lake/gone", .size = 5, .snapshot_id = 8};
    sync_world_given(w, &again);
    check_ok(firn_sync_still_missing(&w->work, entry, &missing, &w->error), &w->error);
    assert_false(missing);
    sync_world_free(w);
}

static size_t missing_of(firn_lake_source_kind kind, const char *location, bool complete,
                         bool once) {
    sync_world *w = sync_world_new();
    sync_world_had(w, "/lake/a/gone", NULL, 5, 2, false);
    sync_world_had(w, "/lake/b/gone", "u", 5, 2, false);
    w->options.source.kind = kind;
    w->options.once = once;
    w->roots[0] = location;
    check_ok(sync_world_classify(w), &w->error);
    w->result.missing.count = w->work.missing_entries.count = 0;
    w->work.listing.complete = complete;
    uint8_t seen[2] = {0, 0};
    check_ok(firn_sync_find_missing(&w->work, seen, &w->error), &w->error);
    size_t count = w->result.missing.count;
    sync_world_free(w);
    return count;
}

static void each_source_speaks_of_its_own(void **state) {
    (void)state;
    assert_int_equal(missing_of(FIRN_LAKE_PATHS, "/lake", true, false), 2);
    assert_int_equal(missing_of(FIRN_LAKE_PATHS, "/lake/a", true, false), 1);
    assert_int_equal(missing_of(FIRN_LAKE_GLOB, "/lake/b*/?one", true, false), 2);
    assert_int_equal(missing_of(FIRN_LAKE_GLOB, "/lake/b/*", true, false), 1);
    assert_int_equal(missing_of(FIRN_LAKE_GLOB, "/other/**", true, false), 0);
    /* Files with units, and without. */
    assert_int_equal(missing_of(FIRN_LAKE_MANIFEST, "/m.csv", true, false), 1);
    assert_int_equal(missing_of(FIRN_LAKE_LIST, "/l.txt", true, false), 1);
    /* What does not say all, or is registered once, says nothing of what is gone. */
    assert_int_equal(missing_of(FIRN_LAKE_PATHS, "/lake", false, false), 0);
    assert_int_equal(missing_of(FIRN_LAKE_PATHS, "/lake", true, true), 0);
}

static firn_status classify_some(void *context, firn_error *error) {
    sync_world *w = context;
    firn_sync_work *work = &w->work;
    work->replaced_files.count = work->replaced_entries.count = work->missing_entries.count = 0;
    w->result.replaced.count = w->result.missing.count = 0;
    work->new_count = work->file_count = work->first_overwrite = 0;
    firn_map_free(work->acted_on);
    work->acted_on = NULL;
    *work->ledger->look_up_failed = false;
    firn_status status = firn_sync_classify(work, error);
    /* A look-up that failed for lack of memory finds nothing; whoever writes the ledger is told. */
    return status == FIRN_OK && *work->ledger->look_up_failed ? firn_fail_memory(error) : status;
}

static void memory_runs_out(void **state) {
    (void)state;
    sync_world *w = sync_world_new();
    sync_world_had(w, "/lake/changed", NULL, 4, 2, false);
    sync_world_had(w, "/lake/gone", NULL, 5, 2, false);
    sync_world_file(w, "/lake/changed", 5);
    sync_world_file(w, "/lake/fresh", 5);
    check_ok(sync_world_classify(w), &w->error);
    check_each_allocation(classify_some, w);
    assert_int_equal(w->result.replaced.count, 1);
    assert_int_equal(w->result.missing.count, 1);
    sync_world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_and_known_files),
        cmocka_unit_test(what_makes_a_file_another_one),
        cmocka_unit_test(a_folder_speaks_of_what_lies_below),
        cmocka_unit_test(each_source_speaks_of_its_own),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
