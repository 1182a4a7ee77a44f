/*
 * The same SQLite catalog used by PyIceberg and firn in turns, and one that Java's JDBC catalog
 * made.
 */
#include <sys/wait.h>

#include "catalog/tables.h"

static const firn_table_name events = {"lake.raw", "events"};

static const char *python(void) {
    const char *program = getenv("FIRN_PYTHON");
    if (program != NULL) return program;
    if (getenv("FIRN_CI") != NULL) fail_msg("FIRN_PYTHON names no Python with PyIceberg");
    skip();
    return NULL;
}

static void run(const char *const *arguments) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void run_step(const char *step, const char *path, const char *warehouse) {
    static const char script[] = FIRN_SOURCE_DIR "/tests/catalog/pyiceberg_steps.py";
    const char *const arguments[] = {python(), script, step, path, warehouse, NULL};
    run(arguments);
}

/* firn's turn: one commit on top of whatever PyIceberg left. */
static void commit(const char *path, firn_storage *storage, const char *key) {
    firn_error error = {0};
    firn_sql_options options = {.path = path};
    firn_catalog *catalog = NULL;
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    check_ok(firn_catalog_sql_open(&options, storage, &catalog, &error), &error);
    check_ok(firn_catalog_load(catalog, events, &base, &error), &error);
    check_ok(set_property(catalog, events, &base, key, "firn", &next, &error), &error);
    assert_int_equal(next.metadata->snapshot_count, base.metadata->snapshot_count);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_catalog_close(catalog);
}

static void test_in_turns(void **state) {
    (void)state;
    python();
    char *folder = test_folder_new();
    char *path = firn_format("%s/catalog.db", folder);
    char *warehouse = firn_format("%s/ware house", folder);
    firn_error error = {0};
    firn_storage *storage = NULL;
    check_ok(firn_storage_local(&storage, &error), &error);
    run_step("create", path, warehouse);
    commit(path, storage, "one");
    run_step("one", path, warehouse);
    commit(path, storage, "write.metadata.compression-codec.note");
    commit(path, storage, "two");
    run_step("two", path, warehouse);
    check_sql(path, "SELECT iceberg_type FROM iceberg_tables", "TABLE");
    /* The older layout, without the column, as PyIceberg made it until 0.11. */
    firn_free(run_sql(path, "ALTER TABLE iceberg_tables DROP COLUMN iceberg_type"));
    commit(path, storage, "three");
    run_step("three", path, warehouse);
    check_sql(path, "SELECT count(*) FROM pragma_table_info('iceberg_tables')", "5");
    firn_storage_free(storage);
    firn_free(path);
    firn_free(warehouse);
    test_folder_remove(folder);
}

static firn_status count_table(void *context, firn_table_name name, const char *location,
                               firn_error *error) {
    (void)error;
    size_t *count = context;
    assert_non_null(location);
    assert_string_equal(name.namespace_name, *count == 0 ? "lake" : "lake.raw");
    (*count)++;
    return FIRN_OK;
}

static void test_java_catalog(void **state) {
    (void)state;
    char *folder = test_folder_new();
    char *archive = firn_format("%s/spark/jdbc_v1.tar.gz", test_corpus());
    char *path = firn_format("%s/jdbc_v1/catalog.db", folder);
    const char *const unpack[] = {"tar", "-xzf", archive, "-C", folder, NULL};
    run(unpack);
    char *move = firn_format("UPDATE iceberg_tables SET metadata_location = "
                             "replace(metadata_location, '/tmp/firn-fixtures', '%s')",
                             folder);
    firn_free(run_sql(path, move));
    firn_error error = {0};
    firn_storage *storage = NULL;
    check_ok(firn_storage_local(&storage, &error), &error);
    firn_sql_options options = {.path = path};
    firn_catalog *catalog = NULL;
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_sql_open(&options, storage, &catalog, &error), &error);
    size_t count = 0;
    check_ok(firn_catalog_list(catalog, count_table, &count, &error), &error);
    assert_int_equal(count, 2);
    check_ok(firn_catalog_load(catalog, events, &pointer, &error), &error);
    assert_int_equal(pointer.metadata->snapshot_count, 3);
    firn_table_pointer_release(&pointer);
    firn_catalog_close(catalog);
    firn_storage_free(storage);
    firn_free(move);
    firn_free(path);
    firn_free(archive);
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_turns),
        cmocka_unit_test(test_java_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
