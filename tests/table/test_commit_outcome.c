/* Commits whose outcome is not what the catalog says (design, 6.3 item 5). */
#include "table/rewriter.h"

static const char *const ab[] = {"a", "b", NULL};
static const char *const abc[] = {"a", "b", "c", NULL};

static table_fixture *one_manifest(lie kind, void (*meanwhile)(void *)) {
    table_fixture *f = fixture_new(2);
    fixture_append(f, abc);
    f->liar.lie = kind;
    f->liar.meanwhile = meanwhile;
    f->liar.context = f;
    return f;
}

static void check_live(table_fixture *f, const char *expected) {
    char *live = fixture_live(f);
    assert_string_equal(live, expected);
    firn_free(live);
}

static size_t all_files(table_fixture *f) {
    return count_files(f->storage, f->location, "/");
}

static void append_x(void *context) {
    const char *const x[] = {"x", NULL};
    fixture_append(context, x);
}

static firn_status back_to_first(table_fixture *f, firn_table_update *update, firn_error *error) {
    return firn_update_set_snapshot_ref(update, "main", true,
                                        f->other->metadata->snapshots[0].snapshot_id, NULL, error);
}

static firn_status forget_second(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)error;
    json_t *ids = json_pack("[I]", (json_int_t)f->other->metadata->snapshots[1].snapshot_id);
    return json_array_append_new(
               update->updates,
               json_pack("{s:s,s:o}", "action", "remove-snapshots", "snapshot-ids", ids)) == 0
               ? FIRN_OK
               : FIRN_NO_MEMORY;
}

static void append_and_expire_second(void *context) {
    append_x(context);
    fixture_update(context, forget_second);
}

static void roll_back(void *context) {
    fixture_update(context, back_to_first);
}

static void lose_catalog(void *context) {
    table_fixture *f = context;
    firn_free(run_sql(f->database, "DELETE FROM iceberg_tables"));
}

static firn_status run(table_fixture *f, firn_commit_result *result) {
    rewriter r = {.f = f, .inputs = ab, .output = "ab"};
    return rewriter_run(&r, result);
}

/* The reply is lost, the commit is there. */
static void lost_reply(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_LOST_REPLY, NULL);
    firn_commit_result result;
    check_ok(run(f, &result), &f->error);
    assert_int_equal(result.attempts, 1);
    assert_int_equal(f->table->snapshot->snapshot_id, result.snapshot_id);
    check_live(f, "ab c");
    fixture_free(f);
}

/* ... also where others have committed on top since, and where it was rolled back. */
static void lost_reply_and_more(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_LOST_REPLY, append_x);
    firn_commit_result result;
    check_ok(run(f, &result), &f->error);
    check_live(f, "x ab c");
    fixture_free(f);
    f = one_manifest(LIE_LOST_REPLY, roll_back);
    check_ok(run(f, &result), &f->error);
    check_live(f, "a b c");
    fixture_free(f);
}

/* Not there, and the ref is where it was: the request may still be on its way, so nothing is deleted. */
static void lost_request(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_LOST_REQUEST, NULL);
    firn_commit_result result;
    check_fails(run(f, &result), FIRN_COMMIT_UNKNOWN, &f->error, "can't be told");
    /* One metadata file, list and manifest for each of creation and append; ours: list and two manifests. */
    assert_int_equal(all_files(f), 4 + 3);
    /* The next run of this host doesn't either. */
    firn_journal_close(f->journal);
    f->journal = NULL;
    char *folder = firn_format("%s/state", f->folder);
    setenv("FIRN_STATE_DIR", folder, 1);
    firn_free(folder);
    size_t removed = 1;
    check_ok(firn_journal_open(f->table, 0, &f->journal, &removed, &f->error), &f->error);
    assert_int_equal(removed, 0);
    assert_int_equal(all_files(f), 4 + 3);
    fixture_free(f);
}

/* Not there, and the ref has moved on from where it was: it can't come any more, and the change is made again. */
static void lost_request_and_more(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_LOST_REQUEST, append_x);
    firn_commit_result result;
    check_ok(run(f, &result), &f->error);
    assert_int_equal(result.attempts, 2);
    check_live(f, "ab c x");
    fixture_free(f);
}

/* Ours was there, and was expired below a newer one, whose manifests have our files: a gap proves nothing. */
static void expired_since(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_LOST_REPLY, append_and_expire_second);
    firn_commit_result result;
    check_fails(run(f, &result), FIRN_COMMIT_UNKNOWN, &f->error, "can't be told");
    check_live(f, "x ab c");
    fixture_free(f);
}

static void table_gone(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_LOST_REPLY, lose_catalog);
    firn_commit_result result;
    check_fails(run(f, &result), FIRN_COMMIT_UNKNOWN, &f->error, "can't be told");
    assert_int_equal(all_files(f), 5 + 3);
    fixture_free(f);
}

/* The catalog says OK and has not done it. */
static void stale_answer(void **state) {
    (void)state;
    table_fixture *f = one_manifest(LIE_STALE_ANSWER, NULL);
    firn_commit_result result;
    check_fails(run(f, &result), FIRN_COMMIT_UNKNOWN, &f->error, "has no snapshot");
    check_live(f, "a b c");
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_reply),    cmocka_unit_test(lost_reply_and_more),
        cmocka_unit_test(lost_request),  cmocka_unit_test(lost_request_and_more),
        cmocka_unit_test(expired_since), cmocka_unit_test(table_gone),
        cmocka_unit_test(stale_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
