#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "catalog/tables.h"
#include "storage/fault.h"

typedef struct fixture {
    char *folder, *path, *location;
    firn_storage *storage;
    firn_error error;
} fixture;

static const firn_table_name events = {"lake.raw", "events"};

static int set_up(void **state) {
    fixture *f = firn_alloc_zeroed(1, sizeof *f);
    f->folder = test_folder_new();
    f->path = firn_format("%s/catalog.db", f->folder);
    f->location = firn_format("%s/wh/it's %%20 \"\xC3\xA9\"", f->folder);
    check_ok(firn_storage_local(&f->storage, &f->error), &f->error);
    setenv("FIRN_SQLITE_BUSY_MS", "100", 1);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    firn_storage_free(f->storage);
    test_folder_remove(f->folder);
    firn_free(f->path);
    firn_free(f->location);
    firn_free(f);
    return 0;
}

static firn_catalog *open_catalog(fixture *f, const char *name, bool create) {
    firn_sql_options options = {.path = f->path, .catalog_name = name, .create = create};
    firn_catalog *catalog = NULL;
    check_ok(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), &f->error);
    return catalog;
}

static firn_table_pointer create_table(fixture *f, firn_catalog *catalog, firn_table_name name,
                                       const char *key, const char *value) {
    firn_table_metadata *metadata = NULL;
    check_ok(new_table(f->location, key, value, &metadata, &f->error), &f->error);
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_create(catalog, name, metadata, &pointer, &f->error), &f->error);
    return pointer;
}

static firn_table_pointer load(fixture *f, firn_catalog *catalog, firn_table_name name) {
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_load(catalog, name, &pointer, &f->error), &f->error);
    return pointer;
}

static void test_create_load_commit(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "py", true);
    firn_table_pointer first = create_table(f, catalog, events, NULL, NULL);
    assert_non_null(strstr(first.metadata_location, "/metadata/00000-"));
    check_ok(firn_catalog_check_writable(catalog, events, &f->error), &f->error);
    firn_table_pointer second = {0};
    check_ok(set_property(catalog, events, &first, "a", "1", &second, &f->error), &f->error);
    assert_non_null(strstr(second.metadata_location, "/metadata/00001-"));
    firn_table_pointer loaded = load(f, catalog, events);
    assert_string_equal(loaded.metadata_location, second.metadata_location);
    check_property(loaded.metadata, "a", "1");
    assert_int_equal(loaded.metadata->metadata_log_count, 1);
    check_sql(f->path, "SELECT previous_metadata_location FROM iceberg_tables",
              first.metadata_location);
    check_sql(f->path, "SELECT iceberg_type FROM iceberg_tables", "TABLE");
    check_sql(f->path, "SELECT table_namespace FROM iceberg_tables", "lake.raw");
    check_sql(f->path, "PRAGMA journal_mode", "delete");
    char *expected = firn_format("SQLite catalog 'py' in %s", f->path);
    assert_string_equal(firn_catalog_describe(catalog), expected);
    firn_free(expected);

    firn_table_metadata *metadata = NULL;
    check_ok(new_table(f->location, NULL, NULL, &metadata, &f->error), &f->error);
    firn_table_pointer none = {0};
    check_fails(firn_catalog_create(catalog, events, metadata, &none, &f->error), FIRN_EXISTS,
                &f->error, "lake.raw.events");
    check_fails(firn_catalog_load(catalog, (firn_table_name){"lake", "x"}, &none, &f->error),
                FIRN_NOT_FOUND, &f->error, "lake.x");
    assert_int_equal(count_files(f->storage, f->folder, ".metadata.json"), 2);
    firn_table_pointer_release(&first);
    firn_table_pointer_release(&second);
    firn_table_pointer_release(&loaded);
    firn_catalog_close(catalog);
}

static void test_names_that_may_be_meant(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "py", true);
    firn_table_pointer first = create_table(f, catalog, events, NULL, NULL);
    firn_table_pointer none = {0};
    check_fails(
        firn_catalog_load(catalog, (firn_table_name){"lake.raw", "event"}, &none, &f->error),
        FIRN_NOT_FOUND, &f->error,
        "no table lake.raw.event; the nearest one is lake.raw.events; 'firn tables");
    check_fails(
        firn_catalog_load(catalog, (firn_table_name){"lake.row", "events"}, &none, &f->error),
        FIRN_NOT_FOUND, &f->error, "no table lake.row.events; there is lake.raw.events; 'firn");
    check_fails(firn_catalog_load(catalog, (firn_table_name){"", "events"}, &none, &f->error),
                FIRN_NOT_FOUND, &f->error, "no table events; there is lake.raw.events; 'firn");
    check_fails(firn_catalog_load(catalog, (firn_table_name){"lake.raw", "q"}, &none, &f->error),
                FIRN_NOT_FOUND, &f->error, "no table lake.raw.q; 'firn tables");
    check_fails(firn_catalog_load(catalog, (firn_table_name){"a", "quite.other"}, &none, &f->error),
                FIRN_NOT_FOUND, &f->error, "no table a.quite.other; 'firn tables");
    firn_catalog_close(catalog);
    catalog = open_catalog(f, "pi", false);
    check_fails(firn_catalog_load(catalog, events, &none, &f->error), FIRN_NOT_FOUND, &f->error,
                "no table lake.raw.events; no table at all, but the file holds the catalogs: py "
                "(option catalog-name)");
    firn_catalog_close(catalog);
    firn_table_pointer_release(&first);
}

static void test_gzip_and_other_folder(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, NULL, true);
    firn_table_pointer first =
        create_table(f, catalog, events, "write.metadata.compression-codec", "GZIP");
    assert_non_null(strstr(first.metadata_location, ".gz.metadata.json"));
    char *elsewhere = firn_format("%s/else where/", f->folder);
    firn_table_pointer second = {0};
    check_ok(
        set_property(catalog, events, &first, "write.metadata.path", elsewhere, &second, &f->error),
        &f->error);
    assert_non_null(strstr(second.metadata_location, "/else where/00001-"));
    firn_buffer bytes = test_read_file(second.metadata_location);
    assert_int_equal(bytes.data[0], 0x1f);
    firn_buffer_release(&bytes);
    firn_table_pointer third = {0};
    check_fails(set_property(catalog, events, &second, "write.metadata.compression-codec", "zip",
                             &third, &f->error),
                FIRN_INVALID, &f->error, "zip");
    firn_table_pointer loaded = load(f, catalog, events);
    assert_string_equal(loaded.metadata_location, second.metadata_location);
    firn_table_pointer_release(&loaded);
    firn_table_pointer_release(&first);
    firn_table_pointer_release(&second);
    firn_free(elsewhere);
    firn_catalog_close(catalog);
}

static void test_two_handles_race(void **state) {
    fixture *f = *state;
    firn_catalog *one = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, one, events, NULL, NULL);
    firn_catalog *two = open_catalog(f, "c", false);
    firn_table_pointer won = {0};
    firn_table_pointer lost = {0};
    check_ok(set_property(one, events, &base, "who", "one", &won, &f->error), &f->error);
    check_fails(set_property(two, events, &base, "who", "two", &lost, &f->error), FIRN_CONFLICT,
                &f->error, "another writer");
    firn_table_pointer loaded = load(f, two, events);
    check_property(loaded.metadata, "who", "one");
    assert_int_equal(count_files(f->storage, f->folder, ".metadata.json"), 2);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&won);
    firn_table_pointer_release(&loaded);
    firn_catalog_close(one);
    firn_catalog_close(two);
}

static void test_layout_v0_and_null_types(void **state) {
    fixture *f = *state;
    check_sql(f->path,
              "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace "
              "VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location "
              "VARCHAR(1000), previous_metadata_location VARCHAR(1000), PRIMARY KEY "
              "(catalog_name, table_namespace, table_name));",
              NULL);
    firn_catalog *catalog = open_catalog(f, "old", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_table_pointer next = {0};
    check_ok(set_property(catalog, events, &base, "a", "1", &next, &f->error), &f->error);
    check_sql(f->path, "SELECT count(*) FROM pragma_table_info('iceberg_tables')", "5");
    firn_table_pointer_release(&base);
    /* Migrated by another program: the old row has no type. */
    check_sql(f->path, "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)", NULL);
    base = load(f, catalog, events);
    firn_table_pointer_release(&next);
    check_ok(set_property(catalog, events, &base, "b", "1", &next, &f->error), &f->error);
    check_sql(f->path, "SELECT iceberg_type FROM iceberg_tables", NULL);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_catalog_close(catalog);
}

typedef struct names {
    char text[500];
} names;

static firn_status note_name(void *context, firn_table_name name, const char *location,
                             firn_error *error) {
    (void)location;
    (void)error;
    names *all = context;
    size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%s.%s ", name.namespace_name, name.name);
    return FIRN_OK;
}

static void test_views_and_listing(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer pointer = create_table(f, catalog, events, NULL, NULL);
    check_sql(f->path,
              "INSERT INTO iceberg_tables VALUES ('c', 'lake', 'v', '/v.json', NULL, 'VIEW'),"
              "('c', 'a', 'z', '/z', NULL, NULL), ('c', 'a', 'b', '/b', NULL, 'TABLE'),"
              "('other', 'a', 'q', '/b', NULL, 'TABLE'), ('c', '', 'n', NULL, NULL, 'TABLE')",
              NULL);
    names all = {{0}};
    check_ok(firn_catalog_list(catalog, note_name, &all, &f->error), &f->error);
    assert_string_equal(all.text, ".n a.b a.z lake.raw.events ");
    firn_table_pointer none = {0};
    check_fails(firn_catalog_load(catalog, (firn_table_name){"lake", "v"}, &none, &f->error),
                FIRN_NOT_FOUND, &f->error, "view");
    check_fails(firn_catalog_load(catalog, (firn_table_name){NULL, "n"}, &none, &f->error),
                FIRN_NOT_FOUND, &f->error, "no metadata file");
    check_fails(firn_catalog_register(catalog, (firn_table_name){"lake", "v"},
                                      pointer.metadata_location, &f->error),
                FIRN_EXISTS, &f->error, "lake.v");
    firn_catalog_close(catalog);
    firn_sql_options options = {.path = f->path};
    check_fails(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), FIRN_INVALID,
                &f->error, "c, other");
    firn_table_pointer_release(&pointer);
}

static void test_missing_metadata(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_table_pointer next = {0};
    check_ok(set_property(catalog, events, &base, "a", "1", &next, &f->error), &f->error);
    assert_int_equal(unlink(next.metadata_location), 0);
    firn_table_pointer none = {0};
    check_fails(firn_catalog_load(catalog, events, &none, &f->error), FIRN_NOT_FOUND, &f->error,
                "00000-");
    assert_int_equal(unlink(base.metadata_location), 0);
    check_fails(firn_catalog_load(catalog, events, &none, &f->error), FIRN_NOT_FOUND, &f->error,
                "no other");
    check_fails(firn_catalog_register(catalog, (firn_table_name){"a", "b"}, base.metadata_location,
                                      &f->error),
                FIRN_NOT_FOUND, &f->error, "there is no metadata file");
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_catalog_close(catalog);
}

static void test_busy(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_table_pointer next = {0};
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    check_fails(set_property(catalog, events, &base, "a", "1", &next, &f->error), FIRN_CONFLICT,
                &f->error, "locked");
    assert_true(f->error.retryable);
    firn_table_pointer loaded = load(f, catalog, events); /* reading goes on */
    assert_int_equal(
        sqlite3_exec(other, "ROLLBACK; BEGIN; SELECT * FROM iceberg_tables", NULL, NULL, NULL),
        SQLITE_OK);
    /* A reader keeps COMMIT from getting its lock: settled by reading back, a definite conflict. */
    sqlite3_stmt *reading = NULL;
    sqlite3_prepare_v2(other, "SELECT * FROM iceberg_tables", -1, &reading, NULL);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    check_fails(set_property(catalog, events, &base, "a", "1", &next, &f->error), FIRN_CONFLICT,
                &f->error, "locked");
    assert_int_equal(count_files(f->storage, f->folder, ".metadata.json"), 1);
    sqlite3_finalize(reading);
    sqlite3_close(other);
    check_ok(set_property(catalog, events, &base, "a", "1", &next, &f->error), &f->error);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_table_pointer_release(&loaded);
    firn_catalog_close(catalog);
}

/* Runs `body` as a user who may not write, also when the tests run as root. */
static void as_reader(fixture *f, void (*body)(fixture *f)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(9);
        body(f);
        _exit(0);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

static void read_only_body(fixture *f) {
    firn_sql_options options = {.path = f->path};
    firn_catalog *catalog = NULL;
    if (firn_catalog_sql_open(&options, f->storage, &catalog, &f->error) != FIRN_OK) {
        fprintf(stderr, "%s\n", f->error.message);
        _exit(1);
    }
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    if (firn_catalog_load(catalog, events, &base, &f->error) != FIRN_OK) _exit(2);
    if (firn_catalog_check_writable(catalog, events, &f->error) != FIRN_IO) _exit(3);
    if (set_property(catalog, events, &base, "a", "1", &next, &f->error) == FIRN_OK) _exit(4);
    firn_table_pointer_release(&base);
    firn_catalog_close(catalog);
}

static void unreadable_body(fixture *f) {
    firn_sql_options options = {.path = f->path};
    firn_catalog *catalog = NULL;
    firn_status status = firn_catalog_sql_open(&options, f->storage, &catalog, &f->error);
    if (status != FIRN_IO || strstr(f->error.message, "-wal") == NULL) {
        fprintf(stderr, "%s\n", f->error.message);
        _exit(1);
    }
}

static void test_read_only(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_catalog_close(catalog);
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(chmod(f->folder, 0555), 0);
    as_reader(f, read_only_body);
    /* Write-ahead mode needs files beside it, which can't be made there. */
    assert_int_equal(chmod(f->folder, 0755), 0);
    assert_int_equal(chmod(f->path, 0644), 0);
    check_sql(f->path, "PRAGMA journal_mode=WAL", "wal");
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(chmod(f->folder, 0555), 0);
    as_reader(f, read_only_body);
    assert_int_equal(count_files(f->storage, f->folder, "catalog.db"), 1);
    /* With content in the log alone the file is not the whole state. */
    assert_int_equal(chmod(f->folder, 0755), 0);
    char *wal = firn_format("%s-wal", f->path);
    test_write_file(wal, firn_slice_text("something"));
    assert_int_equal(chmod(f->folder, 0555), 0);
    as_reader(f, unreadable_body);
    assert_int_equal(chmod(f->folder, 0755), 0);
    assert_int_equal(unlink(wal), 0);
    firn_free(wal);
    firn_sql_options options = {.path = f->path, .read_only = true};
    check_ok(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), &f->error);
    firn_table_pointer next = {0};
    check_fails(set_property(catalog, events, &base, "a", "1", &next, &f->error), FIRN_UNSUPPORTED,
                &f->error, "reading only");
    firn_catalog_close(catalog);
    firn_table_pointer_release(&base);
}

static void test_wal_is_kept(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    check_sql(f->path, "PRAGMA journal_mode=WAL", "wal");
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_table_pointer next = {0};
    check_ok(set_property(catalog, events, &base, "a", "1", &next, &f->error), &f->error);
    check_sql(f->path, "PRAGMA journal_mode", "wal");
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_catalog_close(catalog);
}

/* A program died within a transaction: what it left half done is undone by whoever reads next. */
static void test_half_done_transaction(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *other = NULL;
        sqlite3_open(f->path, &other);
        int code = sqlite3_exec(other,
                                "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                                "UPDATE iceberg_tables SET metadata_location = '/nowhere';"
                                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                "LIMIT 2000) INSERT INTO iceberg_tables SELECT 'c', 'x', i, "
                                "hex(randomblob(200)), NULL, 'TABLE' FROM n",
                                NULL, NULL, NULL);
        _exit(code);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(count_files(f->storage, f->folder, "catalog.db-journal"), 1);
    firn_table_pointer loaded = load(f, catalog, events);
    assert_string_equal(loaded.metadata_location, base.metadata_location);
    check_sql(f->path, "SELECT count(*) FROM iceberg_tables", "1");
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&loaded);
    firn_catalog_close(catalog);
}

static firn_catalog *with_fault(fixture *f, firn_fault_kind kind, uint64_t at,
                                const char *operation) {
    firn_fault_plan plan = {.kind = kind, .at = at, .operation = operation};
    firn_storage *storage = NULL;
    check_ok(firn_storage_with_faults(f->storage, &plan, &storage, &f->error), &f->error);
    f->storage = storage;
    return open_catalog(f, NULL, false);
}

static void without_fault(fixture *f) {
    firn_storage_free(f->storage);
    check_ok(firn_storage_local(&f->storage, &f->error), &f->error);
}

static void check_fault(fixture *f, firn_fault_kind kind, uint64_t at, const char *operation,
                        firn_status expected, const char *value, size_t files) {
    firn_catalog *catalog = with_fault(f, kind, at, operation);
    firn_table_pointer base = load(f, catalog, events);
    firn_table_pointer next = {0};
    firn_status status = set_property(catalog, events, &base, "a", value, &next, &f->error);
    assert_int_equal(status, expected);
    firn_table_pointer loaded = load(f, catalog, events);
    if (status == FIRN_OK) {
        check_property(loaded.metadata, "a", value);
        assert_string_equal(loaded.metadata_location, next.metadata_location);
        firn_table_pointer_release(&next);
    } else {
        assert_string_equal(loaded.metadata_location, base.metadata_location);
    }
    firn_catalog_close(catalog);
    without_fault(f);
    assert_int_equal(count_files(f->storage, f->folder, ".metadata.json"), files);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&loaded);
}

static void test_faults(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_table_pointer_release(&base);
    firn_catalog_close(catalog);
    check_fault(f, FIRN_FAULT_FAIL, 1, "catalog", FIRN_IO, "update fails", 1);
    check_fault(f, FIRN_FAULT_FAIL_AFTER, 1, "catalog", FIRN_IO, "after update", 1);
    check_fault(f, FIRN_FAULT_FAIL, 2, "catalog", FIRN_IO, "commit fails", 1);
    check_fault(f, FIRN_FAULT_FAIL_AFTER, 2, "catalog", FIRN_OK, "after commit", 2);
    check_fault(f, FIRN_FAULT_FAIL, 1, "create", FIRN_IO, "x", 2);
    check_fault(f, FIRN_FAULT_SHORT, 1, "write", FIRN_IO, "x", 2);
    check_fault(f, FIRN_FAULT_FAIL, 1, "finish", FIRN_IO, "x", 2);
    check_fault(f, FIRN_FAULT_FAIL_AFTER, 1, "finish", FIRN_IO, "x", 2);
}

static void test_metadata_is_durable_before_the_swap(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    firn_catalog_close(catalog);
    char *trace = firn_format("%s/trace", f->folder);
    firn_fault_plan plan = {.trace_path = trace};
    firn_storage *storage = NULL;
    check_ok(firn_storage_with_faults(f->storage, &plan, &storage, &f->error), &f->error);
    f->storage = storage;
    catalog = open_catalog(f, "c", false);
    firn_table_pointer next = {0};
    check_ok(set_property(catalog, events, &base, "a", "1", &next, &f->error), &f->error);
    char *expected =
        firn_format("create %s\nwrite %s\nfinish %s\ncatalog %s\ncatalog %s\n",
                    next.metadata_location, next.metadata_location, next.metadata_location,
                    next.metadata_location, next.metadata_location);
    firn_buffer text = test_read_file(trace);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
    firn_buffer_release(&text);
    firn_free(expected);
    firn_free(trace);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_catalog_close(catalog);
}

static void test_register(void **state) {
    fixture *f = *state;
    firn_catalog *catalog = open_catalog(f, "c", true);
    firn_table_pointer base = create_table(f, catalog, events, NULL, NULL);
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    const char *relative = base.metadata_location + strlen(f->folder) + 1;
    firn_table_name other = {"a", "b"};
    check_ok(firn_catalog_register(catalog, other, relative, &f->error), &f->error);
    assert_int_equal(chdir(before), 0);
    firn_table_pointer loaded = load(f, catalog, other);
    assert_string_equal(loaded.metadata_location, base.metadata_location);
    check_fails(firn_catalog_register(catalog, other, base.metadata_location, &f->error),
                FIRN_EXISTS, &f->error, "a.b");
    firn_table_pointer_release(&loaded);
    firn_table_pointer_release(&base);
    firn_catalog_close(catalog);
}

static void check_open_fails(fixture *f, const char *path, firn_status status, const char *part) {
    firn_sql_options options = {.path = path};
    firn_catalog *catalog = NULL;
    check_fails(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), status, &f->error,
                part);
}

static void test_odd_files(void **state) {
    fixture *f = *state;
    check_open_fails(f, f->path, FIRN_NOT_FOUND, f->path);
    check_open_fails(f, f->folder, FIRN_INVALID, "no regular file");
    assert_int_equal(mkfifo(f->path, 0644), 0);
    check_open_fails(f, f->path, FIRN_INVALID, "no regular file");
    assert_int_equal(unlink(f->path), 0);
    test_write_file(f->path, firn_slice_text("this is certainly no SQLite file, but long enough"));
    check_open_fails(f, f->path, FIRN_CORRUPT, "no SQLite file");
    assert_int_equal(unlink(f->path), 0);
    firn_free(run_sql(f->path, "CREATE TABLE x (y)"));
    check_open_fails(f, f->path, FIRN_INVALID, "iceberg_tables");
    check_open_fails(f, "", FIRN_INVALID, NULL);

    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    static const char *const odd[] = {"file:x?mode=memory", ":memory:", "a b%20'\"#?.db",
                                      "\xC3\xA9"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        firn_sql_options options = {.path = odd[i], .create = true};
        firn_catalog *catalog = NULL;
        check_ok(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), &f->error);
        firn_table_pointer pointer = create_table(f, catalog, events, NULL, NULL);
        firn_table_pointer_release(&pointer);
        firn_catalog_close(catalog);
        assert_int_equal(access(odd[i], F_OK), 0);
    }
    assert_int_equal(chdir(before), 0);
}

/* Whatever is not there yet is made with the first table. */
static void test_made_with_the_first_table(void **state) {
    fixture *f = *state;
    firn_sql_options options = {.path = f->path, .new_name = "lake", .create = true};
    firn_catalog *catalog = NULL, *read_only = NULL;
    char *name = NULL, *identity = NULL, *later = NULL;
    names all = {{0}};
    bool found = true;
    for (int empty = 0; empty < 2; empty++) {
        check_ok(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), &f->error);
        check_ok(firn_catalog_list(catalog, note_name, &all, &f->error), &f->error);
        check_ok(firn_catalog_find(catalog, events, &found, &name, &f->error), &f->error);
        check_ok(firn_catalog_check_writable(catalog, events, &f->error), &f->error);
        firn_table_pointer none = {0};
        check_fails(firn_catalog_load(catalog, events, &none, &f->error), FIRN_NOT_FOUND, &f->error,
                    "there is no table lake.raw.events");
        assert_false(found);
        assert_int_equal(access(f->path, F_OK), empty == 0 ? -1 : 0);
        if (empty == 0) firn_catalog_close(catalog);
        if (empty == 0) test_write_file(f->path, firn_slice_text(""));
    }
    check_ok(firn_catalog_identity(catalog, events, &identity, &f->error), &f->error);
    firn_table_pointer pointer = create_table(f, catalog, events, NULL, NULL);
    check_ok(firn_catalog_identity(catalog, events, &later, &f->error), &f->error);
    assert_string_equal(identity, later);
    check_sql(f->path, "SELECT catalog_name FROM iceberg_tables", "lake");
    /* A name that is in the file goes before the one that a new one would get. */
    options.new_name = "other";
    check_ok(firn_catalog_sql_open(&options, f->storage, &read_only, &f->error), &f->error);
    check_ok(firn_catalog_find(read_only, events, &found, NULL, &f->error), &f->error);
    assert_true(found);
    firn_free(identity);
    firn_free(later);
    firn_table_pointer_release(&pointer);
    firn_catalog_close(read_only);
    firn_catalog_close(catalog);
    options.path = "/no/such/folder/x.db";
    check_fails(firn_catalog_sql_open(&options, f->storage, &catalog, &f->error), FIRN_IO,
                &f->error, "can't be created");
}

static firn_status everything(void *context, firn_error *error) {
    fixture *f = context;
    unlink(f->path);
    firn_sql_options options = {.path = f->path, .create = true};
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_catalog_sql_open(&options, f->storage, &catalog, error));
    firn_table_metadata *metadata = NULL;
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    firn_table_pointer loaded = {0};
    names all = {{0}};
    firn_status status = FIRN_OK;
    FIRN_CHECK(new_table(f->location, NULL, NULL, &metadata, error));
    FIRN_CHECK(firn_catalog_create(catalog, events, metadata, &base, error));
    FIRN_CHECK(set_property(catalog, events, &base, "a", "1", &next, error));
    FIRN_CHECK(firn_catalog_load(catalog, events, &loaded, error));
    FIRN_CHECK(firn_catalog_list(catalog, note_name, &all, error));
    FIRN_CHECK(firn_catalog_check_writable(catalog, events, error));
    FIRN_CHECK(
        firn_catalog_register(catalog, (firn_table_name){"a", "b"}, next.metadata_location, error));
out:
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_table_pointer_release(&loaded);
    firn_catalog_close(catalog);
    return as_memory(status, error);
}

static void test_allocations(void **state) {
    fixture *f = *state;
    firn_storage_free(f->storage);
    firn_free(f->location);
    f->location = firn_strdup("/t");
    check_ok(firn_storage_memory(&f->storage, &f->error), &f->error);
    check_each_allocation(everything, f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_create_load_commit),
        TEST(test_names_that_may_be_meant),
        TEST(test_gzip_and_other_folder),
        TEST(test_two_handles_race),
        TEST(test_made_with_the_first_table),
        TEST(test_layout_v0_and_null_types),
        TEST(test_views_and_listing),
        TEST(test_missing_metadata),
        TEST(test_busy),
        TEST(test_read_only),
        TEST(test_wal_is_kept),
        TEST(test_half_done_transaction),
        TEST(test_faults),
        TEST(test_metadata_is_durable_before_the_swap),
        TEST(test_register),
        TEST(test_odd_files),
        TEST(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
