/* version-hint.text of a table in a catalog. */
#include "base/log.h"
#include "table/table_fixture.h"
#include "table/update.h"
#include "table/version_hint.h"

static char *hint_path(table_fixture *f) {
    return firn_format("%s/metadata/version-hint.text", f->location);
}

static void write_hint(table_fixture *f, const char *text) {
    char *path = hint_path(f);
    test_write_file(path, firn_slice_text(text));
    firn_free(path);
}

/** The hint says just the name of the table's metadata file, as the catalog has it. */
static void check_hint(table_fixture *f) {
    char *path = hint_path(f);
    firn_buffer text = test_read_file(path);
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_load(f->real, fixture_name, &pointer, &f->error), &f->error);
    const char *name = strrchr(pointer.metadata_location, '/') + 1;
    assert_int_equal(text.size + strlen(".metadata.json"), strlen(name));
    assert_memory_equal(text.data, name, text.size);
    assert_string_equal(name + text.size, ".metadata.json");
    firn_table_pointer_release(&pointer);
    firn_buffer_release(&text);
    firn_free(path);
}

static bool has_hint(table_fixture *f) {
    return count_files(f->storage, f->location, "version-hint") > 0;
}

static void append(table_fixture *f, const char *name) {
    const char *const names[] = {name, NULL};
    fixture_append(f, names);
}

static void only_where_there_is_one(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    append(f, "a");
    assert_false(has_hint(f));
    check_ok(firn_table_refresh_version_hint(f->other, NULL, false, &f->error), &f->error);
    assert_false(has_hint(f));
    check_ok(firn_table_refresh_version_hint(f->other, NULL, true, &f->error), &f->error);
    check_hint(f);
    append(f, "b");
    check_hint(f);
    fixture_free(f);
}

static void whatever_it_said(void **state) {
    (void)state;
    static const char *const texts[] = {"", "3", "00001-no-such-file\n", "00099-b", "../../x"};
    table_fixture *f = fixture_new(2);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_hint(f, texts[i]);
        append(f, "a");
        check_hint(f);
    }
    /* Longer than any hint. */
    char *path = hint_path(f);
    firn_buffer long_text = firn_buffer_with_maximum(100000);
    check_ok(firn_buffer_reserve(&long_text, 90000, &f->error), &f->error);
    memset(long_text.data, 'x', 90000);
    test_write_file(path, firn_slice_of(long_text.data, 90000));
    append(f, "b");
    check_hint(f);
    firn_buffer_release(&long_text);
    firn_free(path);
    fixture_free(f);
}

static firn_status set_gzip(void *context, const firn_table *table, firn_table_update *update,
                            firn_error *error) {
    (void)context;
    const char *key = "write.metadata.compression-codec";
    if (firn_table_metadata_property(table->metadata, key) != NULL) return FIRN_OK;
    return firn_update_set_properties(update, json_pack("{s:s}", key, "gzip"), error);
}

static void updates_and_gzip(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    firn_update_source source = {set_gzip, NULL};
    bool changed = false;
    append(f, "a");
    write_hint(f, "x");
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    check_ok(firn_table_commit_update(f->table, f->journal, &source, &changed, &f->error),
             &f->error);
    assert_true(changed);
    assert_non_null(strstr(f->table->pointer.metadata_location, ".gz.metadata.json"));
    check_hint(f);
    fixture_free(f);
}

static firn_status move_metadata(table_fixture *f, firn_table_update *update, firn_error *error) {
    char *elsewhere = firn_format("%s/elsewhere", f->folder);
    firn_status status = firn_update_set_properties(
        update, json_pack("{s:s}", "write.metadata.path", elsewhere), error);
    firn_free(elsewhere);
    return status;
}

static void not_where_no_reader_would_find_it(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    fixture_update(f, move_metadata);
    check_ok(firn_table_refresh_version_hint(f->other, NULL, true, &f->error), &f->error);
    append(f, "a");
    check_ok(firn_table_refresh_version_hint(f->other, NULL, true, &f->error), &f->error);
    assert_int_equal(count_files(f->storage, f->folder, "version-hint"), 0);
    fixture_free(f);
}

/** The writer under test is behind: its hint must not end there. */
static void another_commit_in_between(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    write_hint(f, "x");
    append(f, "a");
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    append(f, "b");
    assert_string_not_equal(f->table->pointer.metadata_location,
                            f->other->pointer.metadata_location);
    check_ok(firn_table_refresh_version_hint(f->table, NULL, false, &f->error), &f->error);
    check_hint(f);
    fixture_free(f);
}

/** The commit stands; the next one sets the hint. */
static void a_failure_is_no_failure_of_the_commit(void **state) {
    (void)state;
    firn_log_set_level(FIRN_LOG_ERROR);
    table_fixture *f = fixture_new(2);
    char *path = hint_path(f);
    append(f, "a");
    char *folder = firn_format("mkdir -p '%s/in'", path);
    assert_int_equal(system(folder), 0);
    append(f, "b");
    check_fails(firn_table_refresh_version_hint(f->other, NULL, true, &f->error), FIRN_IO,
                &f->error, "version hint");
    char *live = fixture_live(f);
    assert_string_equal(live, "b a");
    firn_free(live);
    char *gone = firn_format("rm -r '%s'", path);
    assert_int_equal(system(gone), 0);
    write_hint(f, "x");
    append(f, "c");
    check_hint(f);
    firn_free(gone);
    firn_free(folder);
    firn_free(path);
    fixture_free(f);
}

static firn_status refresh(void *context, firn_error *error) {
    table_fixture *f = context;
    /* Without firn's allocations, which fail here. */
    char path[512];
    snprintf(path, sizeof path, "%s/metadata/version-hint.text", f->location);
    test_write_file(path, firn_slice_text("x"));
    return firn_table_refresh_version_hint(f->other, NULL, true, error);
}

static void each_allocation(void **state) {
    (void)state;
    table_fixture *f = fixture_new(2);
    append(f, "a");
    check_each_allocation(refresh, f);
    check_hint(f);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_where_there_is_one),
        cmocka_unit_test(whatever_it_said),
        cmocka_unit_test(updates_and_gzip),
        cmocka_unit_test(not_where_no_reader_would_find_it),
        cmocka_unit_test(another_commit_in_between),
        cmocka_unit_test(a_failure_is_no_failure_of_the_commit),
        cmocka_unit_test(each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
