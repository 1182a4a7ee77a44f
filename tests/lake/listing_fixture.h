/** A folder with files, and listings of it. */
#ifndef FIRN_TESTS_LAKE_LISTING_FIXTURE_H
#define FIRN_TESTS_LAKE_LISTING_FIXTURE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lake/listing_internal.h"
#include "support/check.h"

typedef struct fixture {
    char *folder;
    firn_storage *storage;
    firn_pool *pool;
    firn_lake_listing listing;
    firn_error error;
    char text[4096]; /**< of `in` */
} fixture;

static inline int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    char *made = test_folder_new();
    char real[4096];
    assert_non_null(f);
    assert_non_null(realpath(made, real));
    f->folder = firn_strdup(real);
    firn_free(made);
    check_ok(firn_storage_local(&f->storage, &f->error), &f->error);
    check_ok(firn_pool_new(2, &f->pool, &f->error), &f->error);
    *state = f;
    return 0;
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    firn_pool_free(f->pool);
    firn_storage_free(f->storage);
    test_folder_remove(f->folder);
    free(f);
    return 0;
}

/** A path below the folder, until the next call. */
static inline const char *in(fixture *f, const char *path) {
    snprintf(f->text, sizeof f->text, "%s/%s", f->folder, path);
    return f->text;
}

/** A new file and the folders above it, none of it synced. */
static inline void add(fixture *f, const char *path, const char *content) {
    in(f, path);
    for (char *slash = f->text + strlen(f->folder); (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        if (mkdir(f->text, 0700) != 0) assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
    test_write_file(f->text, firn_slice_text(content));
}

static inline firn_status list_as(fixture *f, firn_lake_source_kind kind, const char *location) {
    firn_lake_source source = {.kind = kind, .locations = &location, .location_count = 1};
    source.base = kind == FIRN_LAKE_LIST ? f->folder : NULL;
    return firn_lake_list(f->storage, f->pool, &source, &f->listing, &f->error);
}

/** The listing has one bad file, shown by these paths and for a reason with these words; then it is released. */
static inline void check_bad(fixture *f, const char *path, const char *reason) {
    assert_int_equal(f->listing.bad_count, 1);
    assert_string_equal(f->listing.bad[0].location, in(f, path));
    if (strstr(f->listing.bad[0].reason, reason) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", f->listing.bad[0].reason, reason);
    }
    firn_lake_listing_release(&f->listing);
}

/** The listing is these files, in this order (a list of paths below the folder that ends in NULL); then it is released. */
static inline void check_files(fixture *f, const char *const *paths) {
    size_t count = 0;
    for (; paths[count] != NULL; count++) {
        if (count >= f->listing.file_count) fail_msg("%s is not listed", paths[count]);
        assert_string_equal(f->listing.files[count].location, in(f, paths[count]));
    }
    if (f->listing.file_count > count) {
        fail_msg("%s is listed", f->listing.files[count].location);
    }
}

static inline void check_ignored(fixture *f, const char *const *paths_and_reasons) {
    size_t count = 0;
    for (; paths_and_reasons[2 * count] != NULL; count++) {
        if (count >= f->listing.ignored_count) {
            fail_msg("%s is not left aside", paths_and_reasons[2 * count]);
        }
        const firn_lake_ignored *ignored = &f->listing.ignored[count];
        assert_string_equal(ignored->location, in(f, paths_and_reasons[2 * count]));
        assert_string_equal(ignored->reason, paths_and_reasons[2 * count + 1]);
    }
    assert_int_equal(f->listing.ignored_count, count);
}

#define CHECK_FILES(...) check_files(f, (const char *const[]){__VA_ARGS__, NULL})
#define CHECK_IGNORED(...) check_ignored(f, (const char *const[]){__VA_ARGS__, NULL})

static inline void release(fixture *f) {
    firn_lake_listing_release(&f->listing);
}

#endif
