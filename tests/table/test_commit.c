/* Commits that meet another writer. */
#include "base/cancel.h"
#include "table/rewriter.h"

static const char *const abc[] = {"a", "b", "c", NULL};
static const char *const de[] = {"d", "e", NULL};
static const char *const ab[] = {"a", "b", NULL};

static table_fixture *two_manifests(int format_version) {
    table_fixture *f = fixture_new(format_version);
    fixture_append(f, abc);
    fixture_append(f, de);
    return f;
}

static void append_one(table_fixture *f, const char *name) {
    const char *const names[] = {name, NULL};
    fixture_append(f, names);
}

static void append_x(table_fixture *f) {
    append_one(f, "x");
}
static void append_y(table_fixture *f) {
    append_one(f, "y");
}

static void remove_c(table_fixture *f) {
    static const char *const c[] = {"c", NULL};
    fixture_remove(f, c);
}

static void remove_a(table_fixture *f) {
    static const char *const a[] = {"a", NULL};
    fixture_remove(f, a);
}

static void check_live(table_fixture *f, const char *expected) {
    char *live = fixture_live(f);
    assert_string_equal(live, expected);
    firn_free(live);
}

/* Names of manifests in the order in which they were made. */
static char *manifest_of(table_fixture *f, const char *name) {
    firn_live_files files;
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    check_ok(firn_table_live_files(f->other, f->other->snapshot, &files, &f->error), &f->error);
    const firn_live_file *file = fixture_find(&files, name);
    assert_non_null(file);
    char *path = firn_strdup(strrchr(files.manifests[file->manifest_index].path, '/') + 1);
    firn_live_files_release(&files);
    return path;
}

static size_t count_lists(table_fixture *f) {
    return count_files(f->storage, f->location, "/snap-");
}

static size_t count_manifests(table_fixture *f) {
    return count_files(f->storage, f->location, ".avro") - count_lists(f);
}

static void appends_in_between(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {append_x, append_y}};
    firn_commit_result result;
    char *first = manifest_of(f, "a"), *second = manifest_of(f, "d");
    size_t opened = fixture_opened(f, first), opened_too = fixture_opened(f, second);
    check_ok(rewriter_run(&r, &result), &f->error);
    assert_int_equal(result.attempts, 3);
    assert_int_equal(result.manifests_written, 2);
    assert_int_equal(result.manifests_kept, 3);
    assert_int_equal(result.sequence_number, 5);
    /* Input manifests are read once, however often others come first. */
    assert_int_equal(fixture_opened(f, first), opened + 1);
    assert_int_equal(fixture_opened(f, second), opened_too + 1);
    /* Two manifests of the appends before, two meanwhile, ours: once. Lists of attempts that failed are gone. */
    assert_int_equal(count_manifests(f), 6);
    assert_int_equal(count_lists(f), 5);
    check_live(f, "ab c y x d e");
    firn_free(first);
    firn_free(second);
    fixture_free(f);
}

static void removal_in_the_same_manifest(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {remove_c}};
    firn_commit_result result;
    check_ok(rewriter_run(&r, &result), &f->error);
    assert_int_equal(result.attempts, 2);
    check_live(f, "ab d e");
    /* The manifest that still carried c is gone again: ours are two, as are those of before, and one is the removal's. */
    assert_int_equal(result.manifests_written, 2);
    assert_int_equal(count_manifests(f), 5);
    fixture_free(f);
}

static void input_removed(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {remove_a}};
    firn_commit_result result;
    check_fails(rewriter_run(&r, &result), FIRN_CONFLICT, &f->error, "a is gone");
    check_live(f, "b c d e");
    check_ok(firn_journal_discard(f->journal, f->storage, &f->error), &f->error);
    assert_int_equal(count_manifests(f), 3);
    assert_int_equal(count_lists(f), 3);
    fixture_free(f);
}

static firn_status back_to_first(table_fixture *f, firn_table_update *update, firn_error *error) {
    return firn_update_set_snapshot_ref(update, "main", true,
                                        f->other->metadata->snapshots[0].snapshot_id, NULL, error);
}

static void roll_back(table_fixture *f) {
    fixture_update(f, back_to_first);
}

static void rolled_back(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {roll_back}};
    firn_commit_result result;
    check_fails(rewriter_run(&r, &result), FIRN_CONFLICT, &f->error, "no longer leads back");
    assert_int_equal(r.builds, 1);
    check_live(f, "a b c");
    fixture_free(f);
}

static firn_status forget_middle(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)error;
    /* Of three snapshots after the pinned one, the first. */
    json_t *ids = json_pack("[I]", (json_int_t)f->other->metadata->snapshots[2].snapshot_id);
    return json_array_append_new(
               update->updates,
               json_pack("{s:s,s:o}", "action", "remove-snapshots", "snapshot-ids", ids)) == 0
               ? FIRN_OK
               : FIRN_NO_MEMORY;
}

static void append_and_expire(table_fixture *f) {
    append_x(f);
    append_y(f);
    fixture_update(f, forget_middle);
}

static void gap_in_between(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {append_and_expire}};
    firn_commit_result result;
    check_fails(rewriter_run(&r, &result), FIRN_CONFLICT, &f->error, "no longer leads back");
    check_live(f, "y x d e a b c");
    fixture_free(f);
}

static firn_status set_a_property(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    return firn_update_set_properties(update, json_pack("{s:s}", "owner", "me"), error);
}

static void change_property(table_fixture *f) {
    fixture_update(f, set_a_property);
}

static void property_in_between(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {change_property}};
    firn_commit_result result;
    check_ok(rewriter_run(&r, &result), &f->error);
    assert_int_equal(r.builds, 1);
    assert_int_equal(result.attempts, 2);
    assert_string_equal(firn_table_metadata_property(f->table->metadata, "owner"), "me");
    assert_int_equal(count_manifests(f), 4);
    assert_int_equal(count_lists(f), 3);
    check_live(f, "ab c d e");
    fixture_free(f);
}

static firn_status to_v3(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    (void)error;
    return json_array_append_new(
               update->updates,
               json_pack("{s:s,s:i}", "action", "upgrade-format-version", "format-version", 3)) == 0
               ? FIRN_OK
               : FIRN_NO_MEMORY;
}

static void upgrade(table_fixture *f) {
    fixture_update(f, to_v3);
}

static void upgraded_in_between(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {upgrade}};
    firn_commit_result result;
    check_ok(rewriter_run(&r, &result), &f->error);
    assert_int_equal(r.builds, 2);
    const firn_snapshot *snapshot = f->table->snapshot;
    assert_true(snapshot->has_first_row_id && snapshot->first_row_id == 0);
    /* 20 rows written, 10 carried in the touched manifest, 20 in the one that was kept. */
    assert_int_equal(snapshot->added_rows, 50);
    assert_int_equal(f->table->metadata->next_row_id, 50);
    assert_int_equal(count_manifests(f), 4);
    check_live(f, "ab c d e");
    fixture_free(f);
}

static firn_status no_retries(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    return firn_update_set_properties(update, json_pack("{s:s}", "commit.retry.num-retries", "0"),
                                      error);
}

static void no_more_attempts(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    fixture_update(f, no_retries);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {append_x}};
    firn_commit_result result;
    check_fails(rewriter_run(&r, &result), FIRN_CONFLICT, &f->error, "another writer");
    assert_int_equal(result.attempts, 1);
    fixture_free(f);
}

static firn_status no_time(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    return firn_update_set_properties(
        update, json_pack("{s:s}", "commit.retry.total-timeout-ms", "0"), error);
}

static void append_and_stop(table_fixture *f) {
    append_x(f);
    firn_cancel_request(15);
}

static void stopped_while_waiting(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {append_and_stop}};
    firn_commit_result result;
    firn_status status = rewriter_run(&r, &result);
    firn_cancel_request(0);
    check_fails(status, FIRN_CANCELLED, &f->error, "SIGTERM");
    check_live(f, "x d e a b c");
    fixture_free(f);
}

/* After commit.retry.total-timeout-ms there is no other attempt. */
static void out_of_time(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    fixture_update(f, no_time);
    rewriter r = {.f = f, .inputs = ab, .output = "ab", .meanwhile = {append_x}};
    firn_commit_result result;
    check_fails(rewriter_run(&r, &result), FIRN_CONFLICT, &f->error, "another writer");
    assert_int_equal(result.attempts, 1);
    fixture_free(f);
}

static void fixed_change_conflicts(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    firn_manifest_entry added = fixture_file(f, "z", FIRN_CONTENT_DATA, 10);
    firn_file_change change = {.operation = "append", .added = &added, .added_count = 1};
    firn_commit_result result;
    append_x(f);
    check_fails(firn_table_commit_files(f->table, f->journal, &change, &result, &f->error),
                FIRN_CONFLICT, &f->error, "run this again");
    fixture_free(f);
}

/* A change that was made for another snapshot is not taken for one of this. */
static void stale_change(void **state) {
    (void)state;
    table_fixture *f = two_manifests(2);
    firn_live_files files;
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    check_ok(firn_table_live_files(f->table, f->table->snapshot, &files, &f->error), &f->error);
    append_x(f);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    firn_file_change change = {.operation = "replace", .files = &files};
    firn_commit_result result;
    check_fails(firn_table_commit_files(f->table, f->journal, &change, &result, &f->error),
                FIRN_INVALID, &f->error, "the change is of snapshot");
    firn_live_files_release(&files);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_in_between),     cmocka_unit_test(removal_in_the_same_manifest),
        cmocka_unit_test(input_removed),          cmocka_unit_test(rolled_back),
        cmocka_unit_test(gap_in_between),         cmocka_unit_test(property_in_between),
        cmocka_unit_test(upgraded_in_between),    cmocka_unit_test(no_more_attempts),
        cmocka_unit_test(stopped_while_waiting),  cmocka_unit_test(out_of_time),
        cmocka_unit_test(fixed_change_conflicts), cmocka_unit_test(stale_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
