/* Commits that take over manifests which were written beforehand. */
#include "base/alloc.h"
#include "base/log.h"
#include "storage/fault.h"
#include "table/batch_files.h"

#define FILES 401
#define FEW_FILES 31 /* where much is tried */
#define PARTITIONS 7
#define MEMORY ((size_t)64 << 10)

/** A change of a batch's manifests, with some removals and properties besides, made anew in each attempt. */
typedef struct sync_change {
    table_fixture *f;
    size_t files_added; /**< 0: FILES */
    bool without_metrics;
    firn_manifest_batch *batch;
    const firn_added_manifests *added;
    json_t *properties;
    void (*meanwhile[2])(table_fixture *f);
    int builds;
    bool removes; /**< "old" */
    firn_live_files files;
    const firn_live_file *removed[1];
} sync_change;

static size_t file_count_of(const sync_change *s) {
    return s->files_added == 0 ? FILES : s->files_added;
}

static firn_status build(void *context, firn_table *table, bool moved, firn_file_change *change,
                         firn_error *error) {
    sync_change *s = context;
    assert_int_equal(moved, s->builds > 0);
    *change = (firn_file_change){.operation = s->removes ? "overwrite" : "append",
                                 .added_manifests = s->added,
                                 .properties = s->properties};
    if (s->removes) {
        if (moved) {
            FIRN_TRY(firn_table_live_files_move(table, table->snapshot, &s->files, error));
        } else {
            FIRN_TRY(firn_table_live_files(table, table->snapshot, &s->files, error));
        }
        s->removed[0] = fixture_find(&s->files, "old");
        assert_non_null(s->removed[0]);
        change->removed = s->removed;
        change->removed_count = 1;
        change->files = &s->files;
    }
    if (s->meanwhile[s->builds] != NULL) s->meanwhile[s->builds](s->f);
    s->builds++;
    return FIRN_OK;
}

static firn_status prepare(sync_change *s, firn_error *error) {
    FIRN_TRY(firn_table_reload(s->f->table, error));
    FIRN_TRY(firn_manifest_batch_new(s->f->table, MEMORY, &s->batch, error));
    FIRN_TRY(batch_add(s->batch, file_count_of(s), PARTITIONS, !s->without_metrics, error));
    return firn_manifest_batch_finish(s->batch, s->f->journal, &s->added, error);
}

static void release(sync_change *s) {
    firn_live_files_release(&s->files);
    firn_manifest_batch_free(s->batch);
    json_decref(s->properties);
    s->files = (firn_live_files){0};
    s->batch = NULL;
    s->properties = NULL;
}

static firn_status run(sync_change *s, firn_commit_result *out, firn_error *error) {
    firn_change_source source = {build, s};
    s->properties = json_pack("{s:s}", "firn.test", "set");
    firn_status status = prepare(s, error);
    if (status == FIRN_OK) {
        status = firn_table_commit_changes(s->f->table, s->f->journal, &source, out, error);
    }
    return status;
}

static void append_partitioned(table_fixture *f, const char *name, size_t partition) {
    batch_file made;
    batch_file_make(&made, 1, partition);
    firn_manifest_entry entry = {.file = made.file};
    entry.file.path = firn_arena_format(f->arena, "/no/where/data/%s", name);
    entry.file.record_count = 10;
    batch_file_strip(&entry.file);
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    firn_file_change change = {.operation = "append", .added = &entry, .added_count = 1};
    firn_commit_result result;
    check_ok(firn_table_commit_files(f->other, f->other_journal, &change, &result, &f->error),
             &f->error);
    check_ok(firn_journal_done(f->other_journal, &f->error), &f->error);
}

static void append_x(table_fixture *f) {
    append_partitioned(f, "x", 2);
}

static void check_summary(const firn_snapshot *snapshot, const char *key, const char *expected) {
    const char *text = json_string_value(json_object_get(snapshot->summary, key));
    if (text == NULL || strcmp(text, expected) != 0) {
        fail_msg("%s is %s, not %s", key, text == NULL ? "absent" : text, expected);
    }
}

static void check_text(const firn_snapshot *snapshot, const char *key, int64_t expected) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)expected);
    check_summary(snapshot, key, text);
}

/** Files of the batch among the live ones, each once, with what they inherit. */
static void check_live(sync_change *s, size_t others) {
    table_fixture *f = s->f;
    firn_live_files files;
    int64_t next = 0;
    size_t ours = 0;
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    const firn_table_metadata *metadata = f->other->metadata;
    check_ok(firn_table_live_files(f->other, f->other->snapshot, &files, &f->error), &f->error);
    assert_int_equal(files.data_count, file_count_of(s) + others);
    for (size_t i = 0; i < files.data_count; i++) {
        const firn_manifest_entry *entry = &files.data[i].entry;
        if (strstr(entry->file.path, "/f0") == NULL) continue;
        ours++;
        assert_int_equal(entry->snapshot_id, s->added->snapshot_id);
        const firn_snapshot *snapshot =
            firn_table_metadata_snapshot(metadata, s->added->snapshot_id);
        assert_int_equal(entry->sequence_number, snapshot->sequence_number);
        if (metadata->format_version < 3) continue;
        /* Ids are given in list order, from the snapshot's first one on. */
        assert_true(entry->file.has_first_row_id);
        if (ours == 1) next = snapshot->first_row_id;
        assert_int_equal(entry->file.first_row_id, next);
        next += entry->file.record_count;
    }
    assert_int_equal(ours, file_count_of(s));
    firn_live_files_release(&files);
}

static void each_version(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        table_fixture *f = batch_table(version);
        append_partitioned(f, "old", 3);
        sync_change s = {.f = f, .removes = version == 2};
        firn_commit_result result;
        check_ok(run(&s, &result, &f->error), &f->error);
        assert_int_equal(result.attempts, 1);
        assert_int_equal(result.snapshot_id, s.added->snapshot_id);
        assert_int_equal(result.manifests_written, s.added->count + (version == 2 ? 1 : 0));
        check_live(&s, version == 2 ? 0 : 1);
        const firn_snapshot *snapshot = f->table->snapshot;
        assert_int_equal(snapshot->snapshot_id, s.added->snapshot_id);
        check_text(snapshot, "added-data-files", FILES);
        check_text(snapshot, "added-records", s.added->records);
        check_text(snapshot, "added-files-size", s.added->bytes);
        check_text(snapshot, "total-records", s.added->records + (version == 2 ? 0 : 10));
        /* What is removed lies in one of the partitions that are added to. */
        check_text(snapshot, "changed-partition-count", PARTITIONS);
        check_text(snapshot, "manifests-created", (int64_t)result.manifests_written);
        if (version == 3) assert_int_equal(f->table->metadata->next_row_id, s.added->records + 10);
        assert_string_equal(firn_table_metadata_property(f->table->metadata, "firn.test"), "set");
        assert_non_null(
            firn_table_metadata_property(f->table->metadata, "commit.manifest.target-size-bytes"));
        /* The object that was lent is as it was. */
        assert_int_equal(json_object_size(s.properties), 1);
        release(&s);
        fixture_free(f);
    }
}

/** PyIceberg reads the entries, and finds files by the summaries of their manifests. */
static void read_by_pyiceberg(void **state) {
    (void)state;
    const char *python = getenv("FIRN_PYTHON");
    if (python == NULL || *python == '\0') {
        if (getenv("FIRN_CI") != NULL) fail_msg("FIRN_PYTHON names no Python with PyIceberg");
        print_message("skipped: FIRN_PYTHON names no Python with PyIceberg\n");
        skip();
    }
    for (int version = 1; version <= 2; version++) {
        table_fixture *f = batch_table(version);
        append_partitioned(f, "old", 3);
        sync_change s = {.f = f, .without_metrics = true};
        firn_commit_result result;
        check_ok(run(&s, &result, &f->error), &f->error);
        char *command = firn_format("%s %s/tests/table/read_batch.py %s %s", python,
                                    FIRN_SOURCE_DIR, f->database, f->location);
        assert_int_equal(system(command), 0);
        firn_free(command);
        release(&s);
        fixture_free(f);
    }
}

static void removal_elsewhere(void **state) {
    (void)state;
    table_fixture *f = batch_table(2);
    append_partitioned(f, "old", 30);
    sync_change s = {.f = f, .removes = true};
    firn_commit_result result;
    check_ok(run(&s, &result, &f->error), &f->error);
    check_text(f->table->snapshot, "changed-partition-count", PARTITIONS + 1);
    release(&s);
    fixture_free(f);
}

static void others_come_first(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        table_fixture *f = batch_table(version);
        append_partitioned(f, "old", 3);
        sync_change s = {.f = f, .removes = true, .meanwhile = {append_x}};
        firn_commit_result result;
        check_ok(run(&s, &result, &f->error), &f->error);
        assert_int_equal(result.attempts, 2);
        check_live(&s, 1);
        check_ok(firn_journal_done(f->journal, &f->error), &f->error);
        /* Ours once, two of appends, one that says what was removed; the first attempt's list is gone. */
        assert_int_equal(count_files(f->storage, f->location, "/snap-"), 3);
        assert_int_equal(count_files(f->storage, f->location, ".avro"), s.added->count + 3 + 3);
        release(&s);
        fixture_free(f);
    }
}

static firn_status upgrade(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    return firn_update_upgrade_format_version(update, 3, error);
}

static void do_upgrade(table_fixture *f) {
    fixture_update(f, upgrade);
}

static firn_status drop_spec(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)f;
    (void)error;
    json_t *specs =
        json_pack("{s:s,s:{s:i,s:[]}}", "action", "add-spec", "spec", "spec-id", 1, "fields");
    json_t *use = json_pack("{s:s,s:i}", "action", "set-default-spec", "spec-id", -1);
    json_t *drop = json_pack("{s:s,s:[i]}", "action", "remove-partition-specs", "spec-ids", 0);
    json_array_append_new(update->updates, specs);
    json_array_append_new(update->updates, use);
    json_array_append_new(update->updates, drop);
    return FIRN_OK;
}

static void do_drop_spec(table_fixture *f) {
    fixture_update(f, drop_spec);
}

static void check_refused(void (*meanwhile)(table_fixture *f), const char *reason) {
    table_fixture *f = batch_table(2);
    sync_change s = {.f = f, .meanwhile = {meanwhile}};
    firn_commit_result result;
    check_fails(run(&s, &result, &f->error), FIRN_CONFLICT, &f->error, reason);
    check_ok(firn_journal_discard(f->journal, f->storage, &f->error), &f->error);
    assert_int_equal(count_files(f->storage, f->location, ".avro"), 0);
    release(&s);
    fixture_free(f);
}

static void table_has_changed(void **state) {
    (void)state;
    check_refused(do_upgrade, "upgraded to format version 3");
    check_refused(do_drop_spec, "partition spec 0 was removed");
}

static void taken_over_twice(void **state) {
    (void)state;
    table_fixture *f = batch_table(2);
    sync_change s = {.f = f};
    firn_commit_result result;
    check_ok(run(&s, &result, &f->error), &f->error);
    firn_file_change change = {.operation = "append", .added_manifests = s.added};
    check_fails(firn_table_commit_files(f->table, f->journal, &change, &result, &f->error),
                FIRN_INVALID, &f->error, "has snapshot");
    check_live(&s, 0);
    release(&s);
    fixture_free(f);
}

static void lost_reply(void **state) {
    (void)state;
    firn_log_set_level(FIRN_LOG_ERROR);
    table_fixture *f = batch_table(2);
    f->liar.lie = LIE_LOST_REPLY;
    sync_change s = {.f = f};
    firn_commit_result result;
    check_ok(run(&s, &result, &f->error), &f->error);
    check_live(&s, 0);
    release(&s);
    fixture_free(f);
}

/* --- failures ----------------------------------------------------------------------------------- */

/** What must hold after any failure: either all of the commit is there, or what is left over is known to the journal. */
static void check_after(sync_change *s, firn_status status) {
    table_fixture *f = s->f;
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    bool committed = s->added != NULL && firn_table_metadata_snapshot(
                                             f->other->metadata, s->added->snapshot_id) != NULL;
    if (status != FIRN_OK && status != FIRN_COMMIT_UNKNOWN) {
        assert_false(committed);
        check_ok(firn_journal_discard(f->journal, f->storage, &f->error), &f->error);
        /* The list and the manifest of "old". */
        assert_int_equal(count_files(f->storage, f->location, ".avro"), 2);
    }
    if (committed) check_live(s, 0);
    if (status == FIRN_OK) assert_true(committed);
}

#define STEP                                                                                       \
    61 /* not every one: a table is made for each, and those of a batch alone are tested elsewhere */

static uint64_t failing, started;

static bool play_allocation(void) {
    table_fixture *f = batch_table(3);
    append_partitioned(f, "old", 3);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    sync_change s = {.f = f, .files_added = FEW_FILES, .removes = true};
    firn_commit_result result;
    started = firn_alloc_calls();
    firn_alloc_fail_after(failing, 0);
    firn_status status = run(&s, &result, &f->error);
    bool reached = firn_alloc_calls() - started >= failing;
    firn_alloc_fail_after(0, 0);
    if (status != FIRN_OK && status != FIRN_COMMIT_UNKNOWN) {
        check_fails(status, FIRN_NO_MEMORY, &f->error, NULL);
    }
    check_after(&s, status);
    release(&s);
    fixture_free(f);
    return reached;
}

static void each_allocation(void **state) {
    (void)state;
    firn_log_set_level(FIRN_LOG_ERROR);
    failing = 1;
    while (play_allocation()) failing += STEP;
    print_message("%llu allocations\n", (unsigned long long)failing);
}

/** One plan of failing storage; false when the call that was to fail was not reached. */
static bool play_fault(firn_fault_kind kind, uint64_t at) {
    table_fixture *f = batch_table(2);
    append_partitioned(f, "old", 3);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    /* The plan is the process's: the table's own storage and catalog play it, until its owner is freed. */
    firn_storage *local = NULL, *owner = NULL;
    firn_fault_plan plan = {.kind = kind, .at = at};
    check_ok(firn_storage_local(&local, &f->error), &f->error);
    check_ok(firn_storage_with_faults(local, &plan, &owner, &f->error), &f->error);
    sync_change s = {.f = f, .files_added = FEW_FILES, .removes = true};
    firn_commit_result result;
    firn_status status = run(&s, &result, &f->error);
    firn_storage_free(owner);
    bool reached = status != FIRN_OK;
    check_after(&s, status);
    release(&s);
    fixture_free(f);
    return reached;
}

static void each_call_of_storage(void **state) {
    (void)state;
    firn_log_set_level(FIRN_LOG_ERROR);
    static const firn_fault_kind kinds[] = {FIRN_FAULT_FAIL, FIRN_FAULT_FAIL_AFTER,
                                            FIRN_FAULT_SHORT};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t at = 1;
        size_t quiet = 0;
        /* A failure after the commit is only logged, so some may go unseen. */
        for (; quiet < 12; at++) quiet = play_fault(kinds[i], at) ? 0 : quiet + 1;
        assert_true(at > 20);
        print_message("%llu calls\n", (unsigned long long)at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version),         cmocka_unit_test(removal_elsewhere),
        cmocka_unit_test(read_by_pyiceberg),    cmocka_unit_test(others_come_first),
        cmocka_unit_test(table_has_changed),    cmocka_unit_test(taken_over_twice),
        cmocka_unit_test(lost_reply),           cmocka_unit_test(each_allocation),
        cmocka_unit_test(each_call_of_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
