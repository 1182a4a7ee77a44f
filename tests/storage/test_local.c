#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "storage/local.h"
#include "storage/storage.h"
#include "support/check.h"

typedef struct fixture {
    char *folder;
    firn_storage *storage;
    firn_error error;
} fixture;

static int set_up(void **state) {
    fixture *f = firn_alloc_zeroed(1, sizeof *f);
    f->folder = test_folder_new();
    check_ok(firn_storage_local(&f->storage, &f->error), &f->error);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    firn_storage_free(f->storage);
    test_folder_remove(f->folder);
    firn_free(f);
    return 0;
}

static char *in(const fixture *f, const char *name) {
    char *path = firn_format("%s/%s", f->folder, name);
    assert_non_null(path);
    return path;
}

static void check_content(fixture *f, const char *location, const char *expected) {
    firn_buffer bytes = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_storage_read_all(f->storage, location, &bytes, &f->error), &f->error);
    assert_int_equal(bytes.size, strlen(expected));
    if (bytes.size > 0) assert_memory_equal(bytes.data, expected, bytes.size);
    firn_buffer_release(&bytes);
}

static void test_write_and_read(void **state) {
    fixture *f = *state;
    char *path = in(f, "a b/c%20d/\xC3\xA9'\"x.parquet");
    char *uri = firn_format("file://%s", path);
    check_ok(firn_storage_put(f->storage, uri, firn_slice_text("hello"), &f->error), &f->error);
    check_content(f, path, "hello");
    char *short_uri = firn_format("file:%s", path);
    check_content(f, short_uri, "hello");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(status.st_mode & 0777U, 0666U & ~mask);
    firn_storage_stat found;
    check_ok(firn_storage_stat_file(f->storage, uri, &found, &f->error), &f->error);
    assert_int_equal(found.size, 5);
    assert_int_equal(found.modified_ns,
                     status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec);
    check_fails(firn_storage_put(f->storage, path, firn_slice_text("x"), &f->error), FIRN_EXISTS,
                &f->error, "c%20d");
    firn_storage_counters counters = firn_storage_count(f->storage);
    assert_int_equal(counters.bytes_written, 5);
    assert_int_equal(counters.bytes_read, 10);
    assert_int_equal(counters.files_created, 1);
    firn_free(path);
    firn_free(uri);
    firn_free(short_uri);
}

static void test_relative_paths(void **state) {
    fixture *f = *state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    check_ok(firn_storage_put(f->storage, "one", firn_slice_text("1"), &f->error), &f->error);
    check_ok(firn_storage_put(f->storage, "sub/two", firn_slice_text("2"), &f->error), &f->error);
    check_ok(firn_storage_create_exclusive(f->storage, "three", firn_slice_text("3"), &f->error),
             &f->error);
    check_content(f, "one", "1");
    check_content(f, "./sub/two", "2");
    assert_int_equal(chdir(before), 0);
    char *path = in(f, "three");
    check_content(f, path, "3");
    firn_free(path);
}

static void test_large_writes(void **state) {
    fixture *f = *state;
    char *path = in(f, "large");
    size_t total = 5 * 1024 * 1024 + 123;
    uint8_t *data = firn_alloc(total);
    for (size_t i = 0; i < total; i++) data[i] = (uint8_t)(i * 31 + (i >> 9));
    test_generator random = test_generator_new();
    firn_storage_writer *writer = NULL;
    check_ok(firn_storage_create(f->storage, path, &writer, &f->error), &f->error);
    for (size_t at = 0; at < total;) {
        size_t size = (size_t)test_generator_below(&random, 2000000);
        if (test_generator_below(&random, 2) == 0) size %= 1000;
        if (size > total - at) size = total - at;
        check_ok(firn_storage_write(writer, data + at, size, &f->error), &f->error);
        at += size;
    }
    check_ok(firn_storage_finish(writer, &f->error), &f->error);
    firn_storage_file *file = NULL;
    check_ok(firn_storage_open(f->storage, path, &file, &f->error), &f->error);
    const firn_read_at *source = firn_storage_file_source(file);
    assert_int_equal(source->size, total);
    assert_string_equal(source->name, path);
    uint8_t *back = firn_alloc(total);
    check_ok(firn_read_at_exact(source, 0, back, total, &f->error), &f->error);
    assert_memory_equal(back, data, total);
    check_ok(firn_read_at_exact(source, total - 7, back, 7, &f->error), &f->error);
    assert_memory_equal(back, data + total - 7, 7);
    check_fails(firn_read_at_exact(source, total - 7, back, 8, &f->error), FIRN_CORRUPT, &f->error,
                "large");
    check_fails(source->read(source->context, UINT64_MAX, back, 8, &f->error), FIRN_CORRUPT,
                &f->error, "large");
    assert_int_equal(truncate(path, 10), 0);
    check_fails(firn_read_at_exact(source, 5, back, 20, &f->error), FIRN_IO, &f->error, "shorter");
    firn_storage_close(file);
    firn_free(back);
    firn_free(data);
    firn_free(path);
}

static void test_only_regular_files(void **state) {
    fixture *f = *state;
    char *fifo = in(f, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    firn_storage_file *file = NULL;
    firn_storage_stat found;
    alarm(20); /* a FIFO must not make the call wait */
    check_fails(firn_storage_open(f->storage, fifo, &file, &f->error), FIRN_IO, &f->error,
                "no regular file");
    check_fails(firn_storage_stat_file(f->storage, fifo, &found, &f->error), FIRN_INVALID,
                &f->error, "fifo");
    check_fails(firn_storage_open(f->storage, f->folder, &file, &f->error), FIRN_IO, &f->error,
                "folder");
    check_fails(firn_storage_open(f->storage, "/dev/zero", &file, &f->error), FIRN_IO, &f->error,
                "special");
    alarm(0);
    firn_free(fifo);
}

static void test_names(void **state) {
    fixture *f = *state;
    firn_storage_file *file = NULL;
    check_fails(firn_storage_open(f->storage, "s3://bucket/x", &file, &f->error), FIRN_UNSUPPORTED,
                &f->error, "s3://");
    check_fails(firn_storage_open(f->storage, "file://host/x", &file, &f->error), FIRN_UNSUPPORTED,
                &f->error, "file://host/x");
    check_fails(firn_storage_open(f->storage, "", &file, &f->error), FIRN_INVALID, &f->error, NULL);
    check_fails(firn_storage_open(f->storage, "file:", &file, &f->error), FIRN_INVALID, &f->error,
                NULL);
    check_fails(firn_storage_open(f->storage, "/no/such/file", &file, &f->error), FIRN_NOT_FOUND,
                &f->error, "/no/such/file");
    check_fails(firn_storage_open(f->storage, "/dev/null/x", &file, &f->error), FIRN_NOT_FOUND,
                &f->error, NULL);
}

static void check_key(const char *location, const char *expected) {
    char *key = firn_location_key(location);
    assert_string_equal(key, expected);
    firn_free(key);
}

static void test_keys(void **state) {
    (void)state;
    check_key("/a/b", "/a/b");
    check_key("file:/a/b", "/a/b");
    check_key("file:///a/b", "/a/b");
    check_key("FILE:///a/b", "/a/b");
    check_key("file://localhost/a/b", "/a/b");
    check_key("file:///a//b/./c/", "/a/b/c");
    check_key("/", "/");
    check_key("///", "/");
    check_key("/a%20b/c=d%2Fe", "/a%20b/c=d%2Fe");
    check_key("/a/../b", "/a/../b");
    check_key("/a/.b/..c/.", "/a/.b/..c");
    check_key("s3a://bucket/a//b", "s3://bucket/a//b");
    check_key("s3n://bucket/a", "s3://bucket/a");
    check_key("S3://Bucket/a", "s3://Bucket/a");
    check_key("GS://bucket/A", "gs://bucket/A");
    check_key("file://host/a", "file://host/a");
    char folder[4096];
    assert_non_null(getcwd(folder, sizeof folder));
    char *expected = firn_format("%s/x/y", folder);
    check_key("x/y", expected);
    check_key("./x//y", expected);
    check_key("file:x/y", expected);
    char *absolute = firn_location_absolute("x/y");
    assert_string_equal(absolute, expected);
    firn_free(absolute);
    absolute = firn_location_absolute("file:///x/y");
    assert_string_equal(absolute, "file:///x/y");
    firn_free(absolute);
    firn_free(expected);
    assert_null(firn_location_local_path("s3://b/x"));
    assert_string_equal(firn_location_local_path("a:b/x"), "a:b/x");
}

static void test_exclusive(void **state) {
    fixture *f = *state;
    char *path = in(f, "new folder/v1.metadata.json");
    check_ok(firn_storage_create_exclusive(f->storage, path, firn_slice_text("one"), &f->error),
             &f->error);
    check_fails(firn_storage_create_exclusive(f->storage, path, firn_slice_text("two"), &f->error),
                FIRN_EXISTS, &f->error, "v1.metadata.json");
    check_content(f, path, "one");
    check_ok(firn_storage_replace(f->storage, path, firn_slice_text("three"), &f->error),
             &f->error);
    check_content(f, path, "three");
    firn_free(path);
}

static void test_publish_by_link(void **state) {
    fixture *f = *state;
    char *from = in(f, "from");
    char *to = in(f, "to");
    test_write_file(from, firn_slice_text("1"));
    check_ok(firn_local_publish(from, to, to, true, &f->error), &f->error);
    assert_int_not_equal(access(from, F_OK), 0);
    check_content(f, to, "1");
    test_write_file(from, firn_slice_text("2"));
    check_fails(firn_local_publish(from, to, to, true, &f->error), FIRN_EXISTS, &f->error, to);
    check_fails(firn_local_publish(from, to, to, false, &f->error), FIRN_EXISTS, &f->error, to);
    check_content(f, from, "2");
    check_content(f, to, "1");
    firn_free(from);
    firn_free(to);
}

static bool is_read_only;

/* Takes the C library's place: a read-only file system says so of every path, whether there is a file or not. */
int unlink(const char *path) {
    if (!is_read_only) return unlinkat(AT_FDCWD, path, 0);
    errno = EROFS;
    return -1;
}

static void test_delete_on_read_only(void **state) {
    fixture *f = *state;
    char *path = in(f, "x.avro");
    char *below = in(f, "x.avro/y");
    is_read_only = true;
    check_ok(firn_storage_delete(f->storage, path, &f->error), &f->error);
    test_write_file(path, firn_slice_text("1"));
    firn_status status = firn_storage_delete(f->storage, path, &f->error);
    check_fails(status, FIRN_IO, &f->error, "Read-only file system");
    check_ok(firn_storage_delete(f->storage, below, &f->error), &f->error);
    is_read_only = false;
    firn_free(path);
    firn_free(below);
}

static void test_checksum_companions(void **state) {
    fixture *f = *state;
    char *path = in(f, "x.avro");
    char *companion = in(f, ".x.avro.crc");
    test_write_file(path, firn_slice_text("1"));
    test_write_file(companion, firn_slice_text("crc"));
    check_ok(firn_storage_delete(f->storage, path, &f->error), &f->error);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(companion, F_OK), 0);
    check_ok(firn_storage_delete(f->storage, path, &f->error), &f->error);
    test_write_file(path, firn_slice_text("1"));
    test_write_file(companion, firn_slice_text("crc"));
    check_ok(firn_storage_replace(f->storage, path, firn_slice_text("2"), &f->error), &f->error);
    assert_int_not_equal(access(companion, F_OK), 0);
    check_fails(firn_storage_delete(f->storage, f->folder, &f->error), FIRN_IO, &f->error, NULL);
    firn_free(path);
    firn_free(companion);
}

typedef struct listing {
    size_t count;
    uint64_t bytes;
    char last[4096];
    const char *prefix;
} listing;

static firn_status note(void *context, const char *location, const firn_storage_stat *stat,
                        firn_error *error) {
    (void)error;
    listing *seen = context;
    seen->count++;
    seen->bytes += stat->size;
    snprintf(seen->last, sizeof seen->last, "%s", location);
    assert_memory_equal(location, seen->prefix, strlen(seen->prefix));
    return FIRN_OK;
}

static void test_list(void **state) {
    fixture *f = *state;
    char *a = in(f, "t/a");
    char *b = in(f, "t/d/e/f/b");
    char *link = in(f, "t/d/link");
    char *folder_link = in(f, "t/d/loop");
    char *fifo = in(f, "t/fifo");
    check_ok(firn_storage_put(f->storage, a, firn_slice_text("1"), &f->error), &f->error);
    check_ok(firn_storage_put(f->storage, b, firn_slice_text("22"), &f->error), &f->error);
    assert_int_equal(symlink(a, link), 0);
    assert_int_equal(symlink(f->folder, folder_link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    char *prefix = firn_format("file://%s/t", f->folder);
    listing seen = {.prefix = prefix};
    check_ok(firn_storage_list(f->storage, prefix, note, &seen, &f->error), &f->error);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.bytes, 3);
    check_ok(firn_storage_list(f->storage, "/no/such", note, &seen, &f->error), &f->error);
    assert_int_equal(seen.count, 2);
    char *slash = firn_format("%s/t/d/", f->folder);
    seen = (listing){.prefix = slash};
    check_ok(firn_storage_list(f->storage, slash, note, &seen, &f->error), &f->error);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.last, b);
    check_fails(firn_storage_list(f->storage, a, note, &seen, &f->error), FIRN_INVALID, &f->error,
                a);
    firn_free(slash);
    firn_free(prefix);
    firn_free(a);
    firn_free(b);
    firn_free(link);
    firn_free(folder_link);
    firn_free(fifo);
}

static firn_status note_other(void *context, const char *location, firn_storage_other what,
                              firn_error *error) {
    (void)error;
    listing *seen = context;
    assert_int_equal(what,
                     strstr(location, "link") != NULL ? FIRN_STORAGE_LINK : FIRN_STORAGE_SPECIAL);
    seen->count++;
    return FIRN_OK;
}

static void test_list_others(void **state) {
    fixture *f = *state;
    char *link = in(f, "d/link");
    char *fifo = in(f, "d/fifo");
    char *file = in(f, "d/a");
    check_ok(firn_storage_put(f->storage, file, firn_slice_text("1"), &f->error), &f->error);
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    listing seen = {.prefix = f->folder};
    check_ok(
        firn_storage_list_within(f->storage, f->folder, NULL, note, note_other, &seen, &f->error),
        &f->error);
    assert_int_equal(seen.count, 3);
    firn_free(file);
    firn_free(link);
    firn_free(fifo);
}

static bool not_d(void *context, const char *folder) {
    (void)context;
    return strcmp(folder + strlen(folder) - 2, "/d") != 0;
}

static void test_list_within(void **state) {
    fixture *f = *state;
    char *a = in(f, "t/c/a");
    char *b = in(f, "t/d/e/b");
    char *closed = in(f, "t/d");
    check_ok(firn_storage_put(f->storage, a, firn_slice_text("1"), &f->error), &f->error);
    check_ok(firn_storage_put(f->storage, b, firn_slice_text("22"), &f->error), &f->error);
    assert_int_equal(chmod(closed, 0), 0);
    listing seen = {.prefix = f->folder};
    check_ok(firn_storage_list_within(f->storage, f->folder, not_d, note, NULL, &seen, &f->error),
             &f->error);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.last, a);
    assert_int_equal(chmod(closed, 0700), 0);
    firn_free(a);
    firn_free(b);
    firn_free(closed);
}

/*
 * A limit on the size of files stands for a full disk: the error shows when the buffer goes down.
 */
static void test_full_disk(void **state) {
    fixture *f = *state;
    char *path = in(f, "full");
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint8_t *data = firn_alloc_zeroed(3, 1 << 20);
    firn_storage_writer *writer = NULL;
    check_ok(firn_storage_create(f->storage, path, &writer, &f->error), &f->error);
    check_fails(firn_storage_write(writer, data, 3 << 20, &f->error), FIRN_IO, &f->error, path);
    check_fails(firn_storage_finish(writer, &f->error), FIRN_IO, &f->error, "can't be written");
    assert_int_not_equal(access(path, F_OK), 0);
    check_ok(firn_storage_create(f->storage, path, &writer, &f->error), &f->error);
    check_ok(firn_storage_write(writer, data, 2000, &f->error), &f->error);
    check_fails(firn_storage_finish(writer, &f->error), FIRN_IO, &f->error, path);
    assert_int_not_equal(access(path, F_OK), 0);
    check_fails(
        firn_storage_create_exclusive(f->storage, path, firn_slice_of(data, 2000), &f->error),
        FIRN_IO, &f->error, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    listing seen = {.prefix = f->folder};
    check_ok(firn_storage_list(f->storage, f->folder, note, &seen, &f->error), &f->error);
    assert_int_equal(seen.count, 0);
    firn_free(data);
    firn_free(path);
}

static void test_abort_removes(void **state) {
    fixture *f = *state;
    char *path = in(f, "given up");
    firn_storage_writer *writer = NULL;
    check_ok(firn_storage_create(f->storage, path, &writer, &f->error), &f->error);
    check_ok(firn_storage_write(writer, "x", 1, &f->error), &f->error);
    firn_storage_abort(writer);
    firn_storage_abort(NULL);
    assert_int_not_equal(access(path, F_OK), 0);
    firn_free(path);
}

static void test_read_limit(void **state) {
    fixture *f = *state;
    char *path = in(f, "sparse");
    test_write_file(path, firn_slice_text(""));
    check_content(f, path, "");
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    firn_buffer bytes = firn_buffer_with_maximum(1 << 20);
    check_fails(firn_storage_read_all(f->storage, path, &bytes, &f->error), FIRN_LIMIT, &f->error,
                path);
    assert_null(bytes.data);
    firn_free(path);
}

static firn_status everything(void *context, firn_error *error) {
    const char *folder = context;
    firn_storage *storage = NULL;
    FIRN_TRY(firn_storage_local(&storage, error));
    char path[4096];
    snprintf(path, sizeof path, "%s/each/a", folder);
    firn_buffer bytes = firn_buffer_with_maximum(100);
    firn_status status = FIRN_OK;
    listing seen = {.prefix = folder};
    unlink(path);
    FIRN_CHECK(firn_storage_put(storage, path, firn_slice_text("1"), error));
    FIRN_CHECK(firn_storage_replace(storage, path, firn_slice_text("2"), error));
    FIRN_CHECK(firn_storage_read_all(storage, path, &bytes, error));
    FIRN_CHECK(firn_storage_list(storage, folder, note, &seen, error));
    FIRN_CHECK(firn_storage_delete(storage, path, error));
    FIRN_CHECK(firn_storage_create_exclusive(storage, path, firn_slice_text("3"), error));
out:
    firn_buffer_release(&bytes);
    firn_storage_free(storage);
    return status;
}

static void test_allocations(void **state) {
    fixture *f = *state;
    check_each_allocation(everything, f->folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_write_and_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_relative_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_writes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_regular_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test(test_keys),
        cmocka_unit_test_setup_teardown(test_exclusive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_publish_by_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checksum_companions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_delete_on_read_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_within, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_abort_removes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_allocations, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
