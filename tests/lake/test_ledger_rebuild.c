/* A ledger made from the history of a table with real commits; what an expired or foreign history can't tell. */
#include <fcntl.h>

#include "lake/ledger_world.h"
#include "table/commit.h"

/** Commits data files d<first> … to the journal's own table; the summary has one more item unless `key` is NULL. */
static int64_t commit_files(ledger_world *w, const char *operation, int first, int count,
                            const char *key, const char *value) {
    firn_manifest_entry added[8];
    firn_commit_result result;
    firn_summary_item item = {key, value};
    for (int i = 0; i < count; i++) {
        added[i] = (firn_manifest_entry){.status = FIRN_ENTRY_ADDED};
        added[i].file =
            (firn_data_file){.path = firn_arena_format(w->arena, "/lake/f%d.parquet", first + i),
                             .format = FIRN_FILE_PARQUET,
                             .record_count = 10 + i,
                             .file_size_in_bytes = 100 + i};
    }
    firn_file_change change = {.operation = operation,
                               .added = added,
                               .added_count = (size_t)count,
                               .summary = &item,
                               .summary_count = key == NULL ? 0 : 1};
    check_ok(firn_table_commit_files(w->real, w->journal, &change, &result, &w->error), &w->error);
    check_ok(firn_journal_done(w->journal, &w->error), &w->error);
    return result.snapshot_id;
}

static void remove_snapshot(ledger_world *w, int64_t id) {
    firn_table_update update;
    firn_table_pointer pointer = {0};
    check_ok(firn_table_update_init(&update, &w->error), &w->error);
    json_t *change =
        json_pack("{s:s,s:[I]}", "action", "remove-snapshots", "snapshot-ids", (json_int_t)id);
    assert_int_equal(json_array_append_new(update.updates, change), 0);
    check_ok(firn_catalog_commit(w->catalog, ledger_world_name, &w->real->pointer, &update,
                                 &pointer, &w->error),
             &w->error);
    check_ok(firn_table_adopt(w->real, &pointer, &w->error), &w->error);
    firn_table_update_release(&update);
}

static void from_all_of_the_history(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger *ledger = NULL;
    check_ok(firn_ledger_rebuild(w->real, false, &ledger, &w->error), &w->error);
    assert_int_equal(firn_ledger_count(ledger), 0);
    firn_ledger_free(ledger);
    int64_t first = commit_files(w, "append", 0, 2, NULL, NULL);
    (void)commit_files(w, "append", 2, 1, NULL, NULL);
    /* The first one's files go, as a compaction has it. */
    firn_live_files files;
    check_ok(firn_table_live_files(w->real, w->real->snapshot, &files, &w->error), &w->error);
    const firn_live_file *removed[8];
    for (size_t i = 0; i < files.data_count; i++) removed[i] = &files.data[i];
    firn_commit_result result;
    firn_file_change change = {.operation = "delete",
                               .removed = removed,
                               .removed_count = files.data_count,
                               .files = &files};
    check_ok(firn_table_commit_files(w->real, w->journal, &change, &result, &w->error), &w->error);
    check_ok(firn_journal_done(w->journal, &w->error), &w->error);
    firn_live_files_release(&files);
    check_ok(firn_ledger_rebuild(w->real, false, &ledger, &w->error), &w->error);
    assert_int_equal(firn_ledger_count(ledger), 3);
    const firn_ledger_entry *entry = firn_ledger_find(ledger, "file:///lake/f1.parquet");
    assert_non_null(entry);
    assert_int_equal(entry->size, 101);
    assert_int_equal(entry->rows, 11);
    assert_int_equal(entry->modified_ns, -1);
    assert_int_equal(entry->snapshot_id, first);
    assert_int_equal(entry->sequence_number, 1);
    /* It is written with the next commit, and loaded from there. */
    const char *text = NULL;
    firn_ledger_entry added = {
        .location = "/lake/f9.parquet", .size = 1, .modified_ns = 1, .rows = 1};
    check_ok(firn_ledger_write(ledger, w->real, w->journal, firn_ledger_entries_of(&added, 1), 4711,
                               4, w->arena, &text, &w->error),
             &w->error);
    firn_ledger_free(ledger);
    (void)commit_files(w, "append", 9, 1, FIRN_LEDGER_PROPERTY, text);
    check_ok(firn_ledger_load(w->real, &ledger, &w->error), &w->error);
    assert_int_equal(firn_ledger_count(ledger), 4);
    assert_int_equal(firn_ledger_segment_count(ledger), 1);
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void not_where_it_was_expired(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger *ledger = NULL;
    int64_t first = commit_files(w, "append", 0, 2, NULL, NULL);
    (void)commit_files(w, "append", 2, 1, NULL, NULL);
    remove_snapshot(w, first);
    check_fails(firn_ledger_rebuild(w->real, false, &ledger, &w->error), FIRN_UNSAFE, &w->error,
                "was expired");
    check_fails(firn_ledger_begin(w->real, false, &ledger, &w->error), FIRN_UNSAFE, &w->error,
                "firn register");
    check_ok(firn_ledger_begin(w->real, true, &ledger, &w->error), &w->error);
    assert_int_equal(firn_ledger_count(ledger), 1);
    assert_false(firn_ledger_was_there(ledger));
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static void a_snapshot_whose_source_is_gone(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    firn_ledger *ledger = NULL;
    (void)commit_files(w, "append", 0, 2, NULL, NULL);
    int64_t publisher = commit_files(w, "append", 2, 2, "source-snapshot-id", "12345");
    check_ok(firn_ledger_load(w->real, &ledger, &w->error), &w->error);
    assert_int_equal(firn_ledger_count(ledger), 2);
    assert_int_equal(firn_ledger_find(ledger, "/lake/f2.parquet")->snapshot_id, publisher);
    firn_ledger_free(ledger);
    ledger_world_free(w);
}

static firn_status rebuild(void *context, firn_error *error) {
    ledger_world *w = context;
    firn_ledger *ledger = NULL;
    FIRN_TRY(firn_ledger_rebuild(w->real, false, &ledger, error));
    firn_ledger_free(ledger);
    FIRN_TRY(firn_ledger_begin(w->real, true, &ledger, error));
    firn_ledger_free(ledger);
    return FIRN_OK;
}

static void memory_runs_out(void **state) {
    (void)state;
    ledger_world *w = ledger_world_new(2);
    (void)commit_files(w, "append", 0, 2, NULL, NULL);
    (void)commit_files(w, "append", 2, 2, "source-snapshot-id", "12345");
    check_each_allocation(rebuild, w);
    ledger_world_free(w);
}

/** Another program's Avro reader finds the same. The folder of the table and the reader are named by the environment. */
static void another_reader(void **state) {
    (void)state;
    const char *source = getenv("FIRN_SOURCE_DIR");
    if (source == NULL) skip();
    ledger_world *w = ledger_world_new(2);
    const char *text = NULL;
    firn_ledger *ledger = NULL;
    static const firn_ledger_entry added[] = {
        {.location = "/lake/b.parquet",
         .unit = "u2",
         .size = 3,
         .modified_ns = 1700000000123456789,
         .rows = 4},
        {.location = "s3://x/\xC3\xA4=1/a.parquet",
         .unit = "u1",
         .etag = "\"q\"",
         .size = -1,
         .modified_ns = -1,
         .rows = -1,
         .removed = true},
    };
    check_ok(firn_ledger_load(w->real, &ledger, &w->error), &w->error);
    check_ok(firn_ledger_write(ledger, w->real, w->journal, firn_ledger_entries_of(added, 2), 4711,
                               7, w->arena, &text, &w->error),
             &w->error);
    firn_ledger_free(ledger);
    firn_ledger_property property;
    check_ok(firn_ledger_property_parse(text, w->arena, &property, &w->error), &w->error);
    assert_int_equal(property.segment_count, 1);
    const char *python = getenv("FIRN_PYTHON");
    char *command = firn_format("%s '%s/tests/lake/read_ledger.py' '%s'",
                                python == NULL ? "python3" : python, source, property.segments[0]);
    int outcome = system(command);
    firn_free(command);
    ledger_world_free(w);
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 77 && getenv("FIRN_CI") == NULL) skip();
    assert_int_equal(outcome, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_all_of_the_history),
        cmocka_unit_test(not_where_it_was_expired),
        cmocka_unit_test(a_snapshot_whose_source_is_gone),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(another_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
