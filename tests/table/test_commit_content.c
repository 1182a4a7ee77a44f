/* What a commit writes: delete files, vectors, row ids, counters. */
#include "table/table_fixture.h"

static const char *const abc[] = {"a", "b", "c", NULL};
static const char *const d[] = {"d", NULL};

static void check_summary(const firn_snapshot *snapshot, const char *key, const char *expected) {
    const char *text = json_string_value(json_object_get(snapshot->summary, key));
    if (expected == NULL) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_string_equal(text, expected);
}

static void check_live(table_fixture *f, const char *expected) {
    char *live = fixture_live(f);
    assert_string_equal(live, expected);
    firn_free(live);
}

static firn_manifest_entry vector_for(table_fixture *f, const char *data, int64_t offset,
                                      int64_t rows) {
    firn_manifest_entry entry = fixture_file(f, "v.puffin", FIRN_CONTENT_POSITION_DELETES, rows);
    entry.file.format = FIRN_FILE_PUFFIN;
    entry.file.file_size_in_bytes = 1000;
    entry.file.has_content_offset = true;
    entry.file.content_offset = offset;
    entry.file.content_size_in_bytes = 40;
    entry.file.referenced_data_file = firn_arena_format(f->arena, "%s/data/%s", f->location, data);
    return entry;
}

static void commit(table_fixture *f, const firn_file_change *change) {
    firn_commit_result result;
    check_ok(firn_table_commit_files(f->table, f->journal, change, &result, &f->error), &f->error);
    check_ok(firn_journal_done(f->journal, &f->error), &f->error);
    assert_int_equal(f->table->snapshot->snapshot_id, result.snapshot_id);
}

static void open_files(table_fixture *f, firn_live_files *files) {
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    check_ok(firn_table_live_files(f->table, f->table->snapshot, files, &f->error), &f->error);
}

static void delete_files(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    static const int32_t ids[] = {1};
    firn_live_files files;
    fixture_append(f, abc);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    firn_manifest_entry added[] = {fixture_file(f, "d", FIRN_CONTENT_DATA, 7),
                                   fixture_file(f, "p", FIRN_CONTENT_POSITION_DELETES, 3),
                                   fixture_file(f, "e", FIRN_CONTENT_EQUALITY_DELETES, 2)};
    added[1].has_sequence_number = true;
    added[1].sequence_number = 1;
    added[2].file.equality_ids = ids;
    added[2].file.equality_id_count = 1;
    firn_file_change change = {.operation = "overwrite", .added = added, .added_count = 3};
    commit(f, &change);
    check_live(f, "d a b c p e");
    const firn_snapshot *snapshot = f->table->snapshot;
    check_summary(snapshot, "added-data-files", "1");
    check_summary(snapshot, "added-delete-files", "2");
    check_summary(snapshot, "added-position-delete-files", "1");
    check_summary(snapshot, "added-equality-delete-files", "1");
    check_summary(snapshot, "added-position-deletes", "3");
    check_summary(snapshot, "added-equality-deletes", "2");
    check_summary(snapshot, "added-dvs", NULL);
    check_summary(snapshot, "total-delete-files", "2");
    check_summary(snapshot, "total-position-deletes", "3");
    check_summary(snapshot, "total-records", "37");
    check_summary(snapshot, "total-files-size", "600");
    check_summary(snapshot, "manifests-created", "2");
    check_summary(snapshot, "manifests-kept", "1");
    open_files(f, &files);
    assert_int_equal(fixture_find(&files, "p")->entry.sequence_number, 1);
    assert_int_equal(fixture_find(&files, "p")->entry.file_sequence_number, 2);
    assert_int_equal(fixture_find(&files, "e")->entry.sequence_number, 2);
    const firn_live_file *removed[] = {fixture_find(&files, "e"), fixture_find(&files, "a"),
                                       fixture_find(&files, "p")};
    change = (firn_file_change){
        .operation = "replace", .removed = removed, .removed_count = 3, .files = &files};
    commit(f, &change);
    firn_live_files_release(&files);
    check_live(f, "b c d");
    snapshot = f->table->snapshot;
    check_summary(snapshot, "removed-delete-files", "2");
    check_summary(snapshot, "removed-equality-delete-files", "1");
    check_summary(snapshot, "removed-position-deletes", "3");
    check_summary(snapshot, "total-equality-deletes", "0");
    check_summary(snapshot, "manifests-replaced", "2");
    fixture_free(f);
}

/* Vectors of one Puffin file are told apart by their place in it. */
static void vectors(void **state) {
    (void)state;
    table_fixture *f = fixture_new(3);
    firn_live_files files;
    fixture_append(f, abc);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    firn_manifest_entry added[] = {vector_for(f, "a", 4, 2), vector_for(f, "b", 44, 3),
                                   vector_for(f, "c", 84, 4)};
    firn_file_change change = {.operation = "delete", .added = added, .added_count = 3};
    commit(f, &change);
    check_summary(f->table->snapshot, "added-dvs", "3");
    check_summary(f->table->snapshot, "added-delete-files", "3");
    check_summary(f->table->snapshot, "added-position-delete-files", NULL);
    check_summary(f->table->snapshot, "added-files-size", "120");
    assert_int_equal(f->table->snapshot->first_row_id, 30);
    assert_int_equal(f->table->snapshot->added_rows, 0);
    open_files(f, &files);
    assert_int_equal(files.delete_count, 3);
    const firn_live_file *removed[] = {&files.deletes[1]};
    assert_int_equal(removed[0]->entry.file.content_offset, 44);
    change = (firn_file_change){
        .operation = "replace", .removed = removed, .removed_count = 1, .files = &files};
    commit(f, &change);
    firn_live_files_release(&files);
    check_summary(f->table->snapshot, "removed-dvs", "1");
    check_summary(f->table->snapshot, "removed-files-size", "40");
    open_files(f, &files);
    assert_int_equal(files.delete_count, 2);
    assert_int_equal(files.deletes[0].entry.file.content_offset, 4);
    assert_int_equal(files.deletes[1].entry.file.content_offset, 84);
    /* The other way in which one file could be two: the same one given twice. */
    const firn_live_file *twice[] = {&files.deletes[0], &files.deletes[0]};
    change = (firn_file_change){
        .operation = "replace", .removed = twice, .removed_count = 2, .files = &files};
    firn_commit_result result;
    check_fails(firn_table_commit_files(f->table, f->journal, &change, &result, &f->error),
                FIRN_INVALID, &f->error, "twice");
    firn_live_files_release(&files);
    fixture_free(f);
}

static void look(table_fixture *f, firn_live_files *files) {
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    check_ok(firn_table_live_files_matching(f->table, f->table->snapshot, NULL,
                                            FIRN_METRICS_NAN_COUNTS, files, &f->error),
             &f->error);
}

/* What a commit carries over it writes as it has it: metrics that were not read would be lost. */
static void no_commit_without_metrics(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    firn_live_files files, moved;
    firn_commit_result result;
    fixture_append(f, abc);
    look(f, &files);
    const firn_live_file *removed[] = {fixture_find(&files, "a")};
    firn_file_change change = {
        .operation = "delete", .removed = removed, .removed_count = 1, .files = &files};
    check_fails(firn_table_commit_files(f->table, f->journal, &change, &result, &f->error),
                FIRN_INVALID, &f->error, "without their metrics");
    check_fails(firn_table_live_files_move(f->table, f->table->snapshot, &files, &f->error),
                FIRN_INVALID, &f->error, "without their metrics");
    check_fails(
        firn_table_live_files_after(f->table, f->table->snapshot, &files, &moved, &f->error),
        FIRN_INVALID, &f->error, "without their metrics");
    firn_live_files_release(&files);
    /* Bounds of data files are there where there are deletes. */
    firn_manifest_entry added = fixture_file(f, "p", FIRN_CONTENT_POSITION_DELETES, 3);
    change = (firn_file_change){.operation = "delete", .added = &added, .added_count = 1};
    commit(f, &change);
    look(f, &files);
    assert_false(files.without_metrics);
    assert_int_equal(files.data_count, 3);
    firn_live_files_release(&files);
    fixture_free(f);
}

static int64_t row_id_of(const firn_live_files *files, const char *name) {
    const firn_live_file *file = fixture_find(files, name);
    return file->entry.file.has_first_row_id ? file->entry.file.first_row_id : -1;
}

static void replace_one(table_fixture *f, const char *input, const char *output) {
    firn_live_files files;
    open_files(f, &files);
    const firn_live_file *removed[] = {fixture_find(&files, input)};
    firn_manifest_entry added = fixture_file(f, output, FIRN_CONTENT_DATA, 10);
    firn_file_change change = {.operation = "replace",
                               .added = &added,
                               .added_count = 1,
                               .removed = removed,
                               .removed_count = 1,
                               .files = &files};
    commit(f, &change);
    firn_live_files_release(&files);
}

/* Files that stay keep their row ids, whatever manifest they come to lie in. */
static void row_ids_stay(void **state) {
    (void)state;
    table_fixture *f = fixture_new(3);
    firn_live_files files;
    fixture_append(f, abc);
    fixture_append(f, d);
    replace_one(f, "a", "a2");
    assert_int_equal(f->table->snapshot->first_row_id, 40);
    assert_int_equal(f->table->snapshot->added_rows, 30);
    assert_int_equal(f->table->metadata->next_row_id, 70);
    replace_one(f, "b", "b2");
    open_files(f, &files);
    assert_int_equal(row_id_of(&files, "c"), 20);
    assert_int_equal(row_id_of(&files, "d"), 30);
    assert_int_equal(row_id_of(&files, "a2"), 40);
    assert_int_equal(row_id_of(&files, "b2"), 70);
    firn_live_files_release(&files);
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

/* The first commit after an upgrade gives every manifest its ids; a removed file before a live one takes none. */
static void row_ids_after_upgrade(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    firn_live_files files;
    static const char *const a[] = {"a", NULL};
    fixture_append(f, abc);
    fixture_remove(f, a);
    fixture_update(f, to_v3);
    assert_int_equal(f->other->metadata->next_row_id, 0);
    fixture_append(f, d);
    assert_int_equal(f->other->snapshot->first_row_id, 0);
    assert_int_equal(f->other->snapshot->added_rows, 30);
    open_files(f, &files);
    int64_t b = row_id_of(&files, "b"), c = row_id_of(&files, "c"), new = row_id_of(&files, "d");
    assert_int_equal(new, 0);
    assert_int_equal(b, 10);
    assert_int_equal(c, 20);
    firn_live_files_release(&files);
    /* They are the same in the next snapshot. */
    replace_one(f, "d", "d2");
    open_files(f, &files);
    assert_int_equal(row_id_of(&files, "b"), b);
    assert_int_equal(row_id_of(&files, "c"), c);
    assert_int_equal(f->table->metadata->next_row_id, 40);
    firn_live_files_release(&files);
    fixture_free(f);
}

static firn_status too_low(table_fixture *f, firn_table_update *update, firn_error *error) {
    (void)error;
    json_t *document = f->other->metadata->json;
    json_t *snapshot = json_array_get(json_object_get(document, "snapshots"), 0);
    json_object_set_new(document, "next-row-id", json_integer(5));
    json_object_set_new(snapshot, "added-rows", json_integer(5));
    return json_array_append_new(
               update->updates, json_pack("{s:s,s:{}}", "action", "set-properties", "updates")) == 0
               ? FIRN_OK
               : FIRN_NO_MEMORY;
}

/* A table whose next id lies below ids that were given would give them twice. */
static void row_ids_given_before(void **state) {
    (void)state;
    table_fixture *f = fixture_new(3);
    fixture_append(f, abc);
    fixture_update(f, too_low);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    assert_int_equal(f->table->metadata->next_row_id, 5);
    firn_manifest_entry added = fixture_file(f, "z", FIRN_CONTENT_DATA, 10);
    firn_live_files files;
    firn_file_change change = {.operation = "append", .added = &added, .added_count = 1};
    firn_commit_result result;
    check_ok(firn_table_live_files(f->table, f->table->snapshot, &files, &f->error), &f->error);
    change.files = &files;
    check_fails(firn_table_commit_files(f->table, f->journal, &change, &result, &f->error),
                FIRN_CORRUPT, &f->error, "next-row-id");
    firn_live_files_release(&files);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(delete_files),
                                       cmocka_unit_test(vectors),
                                       cmocka_unit_test(no_commit_without_metrics),
                                       cmocka_unit_test(row_ids_stay),
                                       cmocka_unit_test(row_ids_after_upgrade),
                                       cmocka_unit_test(row_ids_given_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
