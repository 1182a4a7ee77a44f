#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "storage/storage.h"
#include "support/check.h"

typedef struct listing {
    size_t count;
    char text[1000];
} listing;

static firn_status note(void *context, const char *location, const firn_storage_stat *stat,
                        firn_error *error) {
    (void)stat;
    (void)error;
    listing *seen = context;
    seen->count++;
    strncat(seen->text, location, sizeof seen->text - strlen(seen->text) - 1);
    strncat(seen->text, " ", sizeof seen->text - strlen(seen->text) - 1);
    return FIRN_OK;
}

static void test_files(void **state) {
    (void)state;
    firn_error error = {0};
    firn_storage *storage = NULL;
    check_ok(firn_storage_memory(&storage, &error), &error);
    check_ok(firn_storage_put(storage, "s3a://b/t/a", firn_slice_text("abc"), &error), &error);
    check_ok(firn_storage_put(storage, "s3://b/t/x/b", firn_slice_text(""), &error), &error);
    check_ok(firn_storage_put(storage, "s3://b/tt/c", firn_slice_text("z"), &error), &error);
    check_fails(firn_storage_put(storage, "s3://b/t/a", firn_slice_text("1"), &error), FIRN_EXISTS,
                &error, "s3://b/t/a");
    listing seen = {0};
    check_ok(firn_storage_list(storage, "s3n://b/t", note, &seen, &error), &error);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.text, "s3n://b/t/a s3n://b/t/x/b ");

    firn_storage_file *file = NULL;
    check_ok(firn_storage_open(storage, "s3://b/t/a", &file, &error), &error);
    check_ok(firn_storage_replace(storage, "s3://b/t/a", firn_slice_text("changed"), &error),
             &error);
    check_ok(firn_storage_delete(storage, "s3://b/t/a", &error), &error);
    const firn_read_at *source = firn_storage_file_source(file);
    assert_memory_equal(source->borrow(source->context, 1, 2), "bc", 2);
    char text[3];
    check_ok(firn_read_at_exact(source, 0, text, 3, &error), &error);
    assert_memory_equal(text, "abc", 3);
    firn_storage_close(file);

    firn_storage_stat stat;
    check_fails(firn_storage_stat_file(storage, "s3://b/t/a", &stat, &error), FIRN_NOT_FOUND,
                &error, "s3://b/t/a");
    check_ok(firn_storage_create_exclusive(storage, "s3://b/t/a", firn_slice_text("q"), &error),
             &error);
    check_fails(firn_storage_create_exclusive(storage, "s3://b/t/a", firn_slice_text("q"), &error),
                FIRN_EXISTS, &error, NULL);
    firn_storage_writer *writer = NULL;
    check_ok(firn_storage_create(storage, "/w", &writer, &error), &error);
    check_ok(firn_storage_stat_file(storage, "file:/w", &stat, &error), &error);
    assert_int_equal(stat.size, 0);
    firn_storage_abort(writer);
    check_fails(firn_storage_stat_file(storage, "/w", &stat, &error), FIRN_NOT_FOUND, &error, NULL);
    firn_storage_free(storage);
}

static firn_status everything(void *context, firn_error *error) {
    (void)context;
    firn_storage *storage = NULL;
    FIRN_TRY(firn_storage_memory(&storage, error));
    firn_buffer bytes = firn_buffer_with_maximum(100);
    firn_status status = FIRN_OK;
    listing seen = {0};
    FIRN_CHECK(firn_storage_put(storage, "/a/b", firn_slice_text("1"), error));
    FIRN_CHECK(firn_storage_create_exclusive(storage, "/a/c", firn_slice_text("3"), error));
    FIRN_CHECK(firn_storage_replace(storage, "/a/c", firn_slice_text("2"), error));
    FIRN_CHECK(firn_storage_read_all(storage, "/a/b", &bytes, error));
    FIRN_CHECK(firn_storage_list(storage, "/a", note, &seen, error));
    FIRN_CHECK(firn_storage_delete(storage, "/a/c", error));
out:
    firn_buffer_release(&bytes);
    firn_storage_free(storage);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    check_each_allocation(everything, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
