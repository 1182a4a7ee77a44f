#include <stdlib.h>
#include <sys/wait.h>

#include "catalog/directory_versions.h"
#include "catalog/tables.h"
#include "storage/fault.h"

typedef struct fixture {
    char *folder, *table, *metadata;
    firn_storage *storage;
    firn_error error;
} fixture;

static const firn_table_name none = {"", ""};

static int set_up(void **state) {
    fixture *f = firn_alloc_zeroed(1, sizeof *f);
    f->folder = test_folder_new();
    f->table = firn_format("%s/a b%%20'\"\xC3\xA9", f->folder);
    f->metadata = firn_format("%s/metadata", f->table);
    check_ok(firn_storage_local(&f->storage, &f->error), &f->error);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    firn_storage_free(f->storage);
    test_folder_remove(f->folder);
    firn_free(f->table);
    firn_free(f->metadata);
    firn_free(f);
    return 0;
}

static char *in(const fixture *f, const char *name) {
    char *path = firn_format("%s/%s", f->metadata, name);
    assert_non_null(path);
    return path;
}

static void put(fixture *f, const char *name, const char *text) {
    char *path = in(f, name);
    check_ok(firn_storage_replace(f->storage, path, firn_slice_text(text), &f->error), &f->error);
    firn_free(path);
}

static void drop(fixture *f, const char *name) {
    char *path = in(f, name);
    check_ok(firn_storage_delete(f->storage, path, &f->error), &f->error);
    firn_free(path);
}

/* A metadata file of a table at `location` whose property "which" tells it from others. */
static void put_metadata(fixture *f, const char *name, const char *location, const char *which) {
    firn_table_metadata *metadata = NULL;
    check_ok(new_table(location, "which", which, &metadata, &f->error), &f->error);
    firn_buffer bytes = firn_buffer_with_maximum(1 << 20);
    bool gzip = strstr(name, "gz") != NULL;
    check_ok(firn_table_metadata_serialize(metadata, gzip, &bytes, &f->error), &f->error);
    char *path = in(f, name);
    check_ok(firn_storage_replace(f->storage, path, firn_buffer_slice(&bytes), &f->error),
             &f->error);
    firn_free(path);
    firn_buffer_release(&bytes);
    firn_table_metadata_free(metadata);
}

static firn_catalog *open_path(fixture *f, const char *path) {
    firn_catalog *catalog = NULL;
    check_ok(firn_catalog_path_open(path, f->storage, &catalog, &f->error), &f->error);
    return catalog;
}

/* Opens, loads and compares the current version of a table that spells itself `recorded`. */
static void check_loaded(fixture *f, const char *recorded, const char *name, const char *which) {
    firn_catalog *catalog = open_path(f, f->table);
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_load(catalog, none, &pointer, &f->error), &f->error);
    char *path = firn_format("%s/metadata/%s", recorded, name);
    assert_string_equal(pointer.metadata_location, path);
    check_property(pointer.metadata, "which", which);
    firn_free(path);
    firn_table_pointer_release(&pointer);
    firn_catalog_close(catalog);
}

static void check_current(fixture *f, const char *name, const char *which) {
    check_loaded(f, f->table, name, which);
}

static void check_no_current(fixture *f, firn_status status, const char *part) {
    firn_catalog *catalog = NULL;
    firn_status opened = firn_catalog_path_open(f->table, f->storage, &catalog, &f->error);
    if (opened == FIRN_OK) {
        firn_table_pointer pointer = {0};
        opened = firn_catalog_load(catalog, none, &pointer, &f->error);
        firn_catalog_close(catalog);
    }
    check_fails(opened, status, &f->error, part);
}

static void test_names(void **state) {
    (void)state;
    assert_int_equal(firn_version_of_name("v3.metadata.json"), 3);
    assert_int_equal(firn_version_of_name("v3.gz.metadata.json"), 3);
    assert_int_equal(firn_version_of_name("v3.metadata.json.gz"), 3);
    assert_int_equal(firn_version_of_name("v0"), 0);
    assert_int_equal(firn_version_of_name("v10"), 10);
    static const char *const bad[] = {"",
                                      "v",
                                      "vx.metadata.json",
                                      "v03.metadata.json",
                                      "v3.metadata.json.tmp",
                                      "v3x.metadata.json",
                                      "v-3.metadata.json",
                                      "v99999999999999999999.metadata.json",
                                      "00003-1.metadata.json",
                                      "3.metadata.json"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(firn_version_of_name(bad[i]), -1);
    }
    assert_int_equal(
        firn_catalog_version_of_name("00012-44546aa6-1ee5-48c5-9e3b-bc6c0bc0a60c.metadata.json"),
        12);
    assert_int_equal(firn_catalog_version_of_name("100000-x.gz.metadata.json"), 100000);
    assert_int_equal(
        firn_catalog_version_of_name("44546006-1ee5-48c5-9e3b-bc6c0bc0a60c.metadata.json"), -1);
    assert_int_equal(firn_catalog_version_of_name("00012-x.metadata.json.tmp"), -1);
    assert_int_equal(firn_catalog_version_of_name("v3.metadata.json"), -1);
    assert_int_equal(firn_catalog_version_of_name("-x.metadata.json"), -1);
}

static void test_hints(void **state) {
    fixture *f = *state;
    put_metadata(f, "v1.metadata.json", f->table, "one");
    put(f, "version-hint.text", "1");
    check_current(f, "v1.metadata.json", "one");
    put(f, "version-hint.text", "1\n");
    check_current(f, "v1.metadata.json", "one");
    put_metadata(f, "v2.gz.metadata.json", f->table, "two");
    put_metadata(f, "v3.metadata.json.gz", f->table, "three");
    check_current(f, "v3.metadata.json.gz", "three"); /* the hint stays behind */
    put_metadata(f, "v5.metadata.json", f->table, "five");
    check_current(f, "v3.metadata.json.gz", "three"); /* a gap ends the chain */
    put(f, "version-hint.text", "v2.gz.metadata.json");
    check_current(f, "v3.metadata.json.gz", "three");
    put(f, "version-hint.text", "v5");
    check_current(f, "v5.metadata.json", "five");
    put(f, "version-hint.text", "");
    check_current(f, "v5.metadata.json", "five"); /* cut by a crash */
    put(f, "version-hint.text", "4");
    check_current(f, "v5.metadata.json", "five"); /* 4 was deleted as an old one */
    put(f, "version-hint.text", "6");
    check_no_current(f, FIRN_NOT_FOUND, "v5.metadata.json"); /* never an older version */
    put(f, "version-hint.text", "../../etc/x");
    check_no_current(f, FIRN_CORRUPT, "version-hint.text");
    drop(f, "version-hint.text");
    check_current(f, "v5.metadata.json", "five");
    drop(f, "v5.metadata.json");
    check_current(f, "v3.metadata.json.gz", "three");
    put(f, "44546006-1ee5-48c5-9e3b-bc6c0bc0a60c.metadata.json", "left by a crash");
    put(f, "firn-44546006-1ee5-48c5-9e3b-bc6c0bc0a60c.tmp", "left by a crash");
    put(f, "v9.metadata.json.tmp", "left by a crash");
    check_current(f, "v3.metadata.json.gz", "three");
}

static void test_hint_that_comes_late(void **state) {
    fixture *f = *state;
    put_metadata(f, "v1.metadata.json", f->table, "one");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        put_metadata(f, "v2.metadata.json", f->table, "two");
        put(f, "version-hint.text", "2");
        _exit(0);
    }
    check_current(f, "v2.metadata.json", "two");
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_catalog_names(void **state) {
    fixture *f = *state;
    check_no_current(f, FIRN_NOT_FOUND, "no metadata file");
    put_metadata(f, "00000-aa.metadata.json", f->table, "zero");
    put_metadata(f, "00009-bb.metadata.json", f->table, "nine");
    put_metadata(f, "00010-cc.gz.metadata.json", f->table, "ten");
    check_current(f, "00010-cc.gz.metadata.json", "ten");
    put(f, "version-hint.text", "00009-bb");
    check_current(f, "00009-bb.metadata.json", "nine");
    put(f, "version-hint.text", "00010-cc.gz.metadata.json\n");
    check_current(f, "00010-cc.gz.metadata.json", "ten");
    put(f, "version-hint.text", "00011-dd");
    check_no_current(f, FIRN_NOT_FOUND, "00010-cc");
    drop(f, "version-hint.text");
    put_metadata(f, "00010-dd.metadata.json", f->table, "other");
    check_no_current(f, FIRN_CORRUPT, "00010-dd.metadata.json");
    drop(f, "00010-dd.metadata.json");

    firn_catalog *catalog = open_path(f, f->table);
    check_fails(firn_catalog_check_writable(catalog, none, &f->error), FIRN_UNSUPPORTED, &f->error,
                "firn catalog register NAME");
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    check_ok(firn_catalog_load(catalog, none, &base, &f->error), &f->error);
    check_fails(set_property(catalog, none, &base, "a", "1", &next, &f->error), FIRN_UNSUPPORTED,
                &f->error, "option catalog");
    firn_table_pointer_release(&base);
    firn_catalog_close(catalog);
}

static void test_ambiguous_version(void **state) {
    fixture *f = *state;
    put_metadata(f, "v1.metadata.json", f->table, "one");
    put_metadata(f, "v1.gz.metadata.json", f->table, "two");
    put(f, "version-hint.text", "1");
    check_no_current(f, FIRN_CORRUPT, "v1.gz.metadata.json");
    put_metadata(f, "v2.metadata.json", f->table, "two");
    check_current(f, "v2.metadata.json", "two");
    /* The same version in two spellings is fine. */
    char *plain = in(f, "v2.metadata.json");
    firn_buffer bytes = test_read_file(plain);
    char *copy = in(f, "v2.metadata.json.gz");
    test_write_file(copy, firn_buffer_slice(&bytes));
    check_current(f, "v2.metadata.json", "two");
    firn_buffer_release(&bytes);
    firn_free(plain);
    firn_free(copy);
}

static void check_hint(fixture *f, const char *expected) {
    char *path = in(f, "version-hint.text");
    firn_buffer bytes = test_read_file(path);
    assert_int_equal(bytes.size, strlen(expected));
    assert_memory_equal(bytes.data, expected, bytes.size);
    firn_buffer_release(&bytes);
    firn_free(path);
}

static void test_commits(void **state) {
    fixture *f = *state;
    char *uri = firn_format("file:%s", f->table);
    put_metadata(f, "v1.metadata.json", uri, "one");
    put(f, "version-hint.text", "1");
    char *opened = firn_format("file://%s//", f->table);
    firn_catalog *catalog = open_path(f, opened);
    check_ok(firn_catalog_check_writable(catalog, none, &f->error), &f->error);
    firn_table_pointer first = {0};
    firn_table_pointer second = {0};
    firn_table_pointer third = {0};
    check_ok(firn_catalog_load(catalog, none, &first, &f->error), &f->error);
    char *expected = firn_format("%s/metadata/v1.metadata.json", uri);
    assert_string_equal(first.metadata_location, expected);
    check_ok(set_property(catalog, none, &first, "write.metadata.compression-codec", "gzip",
                          &second, &f->error),
             &f->error);
    check_hint(f, "2");
    check_loaded(f, uri, "v2.gz.metadata.json", "one"); /* a bare path opens the same table */
    assert_string_equal(second.metadata->metadata_log[0].metadata_file, expected);
    firn_free(expected);
    check_fails(set_property(catalog, none, &first, "a", "late", &third, &f->error), FIRN_CONFLICT,
                &f->error, "version 2");
    check_ok(set_property(catalog, none, &second, "write.metadata.compression-codec", "none",
                          &third, &f->error),
             &f->error);
    assert_int_equal(firn_version_of_name(strrchr(third.metadata_location, '/') + 1), 3);
    check_hint(f, "3");
    firn_table_pointer_release(&first);
    check_fails(set_property(catalog, none, &third, "write.metadata.path", "/x", &first, &f->error),
                FIRN_UNSUPPORTED, &f->error, "write.metadata.path");
    assert_int_equal(count_files(f->storage, f->metadata, ""), 4);
    firn_table_pointer_release(&second);
    firn_table_pointer_release(&third);
    firn_catalog_close(catalog);
    firn_free(opened);
    firn_free(uri);
}

static void test_what_is_not_committed_to(void **state) {
    fixture *f = *state;
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    put_metadata(f, "v1.metadata.json", "/elsewhere/table", "one");
    firn_catalog *catalog = open_path(f, f->table);
    check_fails(firn_catalog_check_writable(catalog, none, &f->error), FIRN_UNSUPPORTED, &f->error,
                "/elsewhere/table");
    check_ok(firn_catalog_load(catalog, none, &base, &f->error), &f->error);
    check_fails(set_property(catalog, none, &base, "a", "1", &next, &f->error), FIRN_UNSUPPORTED,
                &f->error, "/elsewhere/table");
    firn_table_pointer_release(&base);
    put_metadata(f, "v1.metadata.json", f->table, "one");
    check_ok(firn_catalog_check_writable(catalog, none, &f->error), &f->error);
    put_metadata(f, "00002-a.metadata.json", f->table, "moved to a catalog");
    check_fails(firn_catalog_check_writable(catalog, none, &f->error), FIRN_UNSUPPORTED, &f->error,
                "00002-a.metadata.json");
    check_fails(firn_catalog_register(catalog, none, "/x", &f->error), FIRN_UNSUPPORTED, &f->error,
                "option catalog");
    firn_catalog_close(catalog);

    char *file = in(f, "v1.metadata.json");
    catalog = open_path(f, file);
    check_ok(firn_catalog_load(catalog, none, &base, &f->error), &f->error);
    assert_string_equal(base.metadata_location, file);
    check_fails(set_property(catalog, none, &base, "a", "1", &next, &f->error), FIRN_UNSUPPORTED,
                &f->error, "firn catalog register NAME");
    firn_table_pointer_release(&base);
    firn_catalog_close(catalog);
    firn_free(file);
    file = in(f, "v7.metadata.json");
    catalog = open_path(f, file);
    check_fails(firn_catalog_load(catalog, none, &base, &f->error), FIRN_NOT_FOUND, &f->error,
                "00002-a.metadata.json");
    firn_catalog_close(catalog);
    firn_free(file);
    check_fails(firn_catalog_path_open("s3://b/t", f->storage, &catalog, &f->error),
                FIRN_UNSUPPORTED, &f->error, "s3://");
}

/* Many processes commit at once; exactly one wins each version, and nothing of the others stays. */
static void test_race(void **state) {
    fixture *f = *state;
    enum { writers = 4, rounds = 8 };
    put_metadata(f, "v1.metadata.json", f->table, "one");
    put(f, "version-hint.text", "1");
    for (int round = 0; round < rounds; round++) {
        fflush(NULL);
        pid_t children[writers];
        firn_catalog *catalog = open_path(f, f->table);
        firn_table_pointer base = {0};
        check_ok(firn_catalog_load(catalog, none, &base, &f->error), &f->error);
        for (int i = 0; i < writers; i++) {
            children[i] = fork();
            if (children[i] != 0) continue;
            firn_table_pointer next = {0};
            char who[40];
            snprintf(who, sizeof who, "%d.%d", round, i);
            firn_status status = set_property(catalog, none, &base, "who", who, &next, &f->error);
            _exit((int)status);
        }
        int won = 0;
        for (int i = 0; i < writers; i++) {
            int result = 0;
            assert_int_equal(waitpid(children[i], &result, 0), children[i]);
            assert_true(WIFEXITED(result));
            if (WEXITSTATUS(result) == FIRN_OK) won++;
            if (WEXITSTATUS(result) != FIRN_OK) {
                assert_int_equal(WEXITSTATUS(result), FIRN_CONFLICT);
            }
        }
        assert_int_equal(won, 1);
        firn_table_pointer_release(&base);
        firn_catalog_close(catalog);
    }
    assert_int_equal(count_files(f->storage, f->metadata, ".metadata.json"), rounds + 1);
    assert_int_equal(count_files(f->storage, f->metadata, ".tmp"), 0);
    check_hint(f, "9");
}

static void check_fault(fixture *f, firn_fault_plan plan, firn_status expected, bool committed) {
    firn_catalog *catalog = open_path(f, f->table);
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    firn_table_pointer loaded = {0};
    check_ok(firn_catalog_load(catalog, none, &base, &f->error), &f->error);
    firn_catalog_close(catalog);
    firn_storage *storage = NULL;
    check_ok(firn_storage_with_faults(f->storage, &plan, &storage, &f->error), &f->error);
    f->storage = storage;
    catalog = open_path(f, f->table);
    assert_int_equal(set_property(catalog, none, &base, "a", "1", &next, &f->error), expected);
    firn_catalog_close(catalog);
    firn_storage_free(f->storage);
    check_ok(firn_storage_local(&f->storage, &f->error), &f->error);
    catalog = open_path(f, f->table);
    check_ok(firn_catalog_load(catalog, none, &loaded, &f->error), &f->error);
    int64_t before = firn_version_of_name(strrchr(base.metadata_location, '/') + 1);
    int64_t now = firn_version_of_name(strrchr(loaded.metadata_location, '/') + 1);
    assert_int_equal(now, before + (committed ? 1 : 0));
    firn_catalog_close(catalog);
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_table_pointer_release(&loaded);
}

static void test_faults(void **state) {
    fixture *f = *state;
    put_metadata(f, "v1.metadata.json", f->table, "one");
    put(f, "version-hint.text", "1");
    firn_fault_plan plan = {.kind = FIRN_FAULT_FAIL, .at = 1, .operation = "create_exclusive"};
    check_fault(f, plan, FIRN_IO, false);
    plan.kind = FIRN_FAULT_SHORT;
    check_fault(f, plan, FIRN_IO, false);
    plan.kind = FIRN_FAULT_FAIL_AFTER;
    check_fault(f, plan, FIRN_OK, true);
    plan = (firn_fault_plan){.kind = FIRN_FAULT_FAIL, .at = 1, .operation = "replace"};
    check_fault(f, plan, FIRN_OK, true); /* only the hint stays behind */
    check_hint(f, "2");
    /* After the creation nothing can be read: it can't be told, and nothing is removed. */
    plan = (firn_fault_plan){
        .kind = FIRN_FAULT_FAIL, .at = 3, .operation = "open", .and_following = true};
    check_fault(f, plan, FIRN_COMMIT_UNKNOWN, true);
}

static void test_corpus_tables(void **state) {
    fixture *f = *state;
    const char *corpus = test_corpus();
    char *path = firn_format("%s/tables/partition_bigint", corpus);
    firn_catalog *catalog = open_path(f, path);
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_load(catalog, none, &pointer, &f->error), &f->error);
    assert_non_null(strstr(pointer.metadata_location, "/v2.metadata.json"));
    check_fails(firn_catalog_check_writable(catalog, none, &f->error), FIRN_UNSUPPORTED, &f->error,
                "copy");
    firn_table_pointer_release(&pointer);
    firn_catalog_close(catalog);
    firn_free(path);
    path = firn_format("%s/tables/partition_time/default.db/partition_time/", corpus);
    catalog = open_path(f, path);
    check_ok(firn_catalog_load(catalog, none, &pointer, &f->error), &f->error);
    assert_non_null(strstr(pointer.metadata_location, "/metadata/00001-44546aa6"));
    firn_table_pointer_release(&pointer);
    firn_catalog_close(catalog);
    firn_free(path);
}

static firn_status everything(void *context, firn_error *error) {
    fixture *f = context;
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_storage_delete(f->storage, "/t/metadata/v2.metadata.json", error));
    FIRN_TRY(firn_storage_replace(f->storage, "/t/metadata/version-hint.text", firn_slice_text("1"),
                                  error));
    FIRN_TRY(firn_catalog_path_open(f->table, f->storage, &catalog, error));
    firn_table_pointer base = {0};
    firn_table_pointer next = {0};
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_catalog_load(catalog, none, &base, error));
    FIRN_CHECK(firn_catalog_check_writable(catalog, none, error));
    FIRN_CHECK(set_property(catalog, none, &base, "a", "1", &next, error));
out:
    firn_table_pointer_release(&base);
    firn_table_pointer_release(&next);
    firn_catalog_close(catalog);
    return as_memory(status, error);
}

static firn_status discover(void *context, firn_error *error) {
    fixture *f = context;
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_catalog_path_open(f->table, f->storage, &catalog, error));
    firn_catalog_close(catalog);
    return FIRN_OK;
}

static void test_allocations(void **state) {
    (void)state;
    fixture f = {.table = firn_strdup("/t"), .metadata = firn_strdup("/t/metadata")};
    check_ok(firn_storage_memory(&f.storage, &f.error), &f.error);
    put_metadata(&f, "v1.metadata.json", f.table, "one");
    put(&f, "version-hint.text", "1");
    check_each_allocation(everything, &f);
    put(&f, "00009-bb.metadata.json", "");
    put(&f, "00007-bb.metadata.json", "");
    put(&f, "version-hint.text", "00009-bb");
    check_each_allocation(discover, &f);
    firn_storage_free(f.storage);
    firn_free(f.table);
    firn_free(f.metadata);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        TEST(test_hints),
        TEST(test_hint_that_comes_late),
        TEST(test_catalog_names),
        TEST(test_ambiguous_version),
        TEST(test_commits),
        TEST(test_what_is_not_committed_to),
        TEST(test_race),
        TEST(test_faults),
        TEST(test_corpus_tables),
        TEST(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
