/* Folders, files, patterns and lists: what is listed, how it is spelled, and what is left aside. */
#include "lake/listing_fixture.h"

#include <fcntl.h>

static const char ending[] = "its name is no Parquet file's";

static void add_lake(fixture *f) {
    add(f, "lake/year=2024/month=1/a.parquet", "1");
    add(f, "lake/year=2024/month=2/b.parq", "22");
    add(f, "lake/_x=1/.k=v/c.pq", "333");
    add(f, "lake/D.PARQUET", "");
    add(f, "lake/_tmp/e.parquet", "1");
    add(f, "lake/year=2024/.f.parquet.crc", "1");
    add(f, "lake/year=2024/_g.parquet", "1");
    add(f, "lake/_SUCCESS", "");
    add(f, "lake/_metadata", "x");
    add(f, "lake/1_$folder$", "");
    add(f, "lake/empty", "");
    add(f, "lake/readme.txt", "x");
}

static void test_folder(void **state) {
    fixture *f = *state;
    add_lake(f);
    assert_int_equal(symlink(f->folder, in(f, "lake/loop")), 0);
    check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, ".//x/../lake/")), &f->error);
    CHECK_FILES("lake/D.PARQUET", "lake/_x=1/.k=v/c.pq", "lake/year=2024/month=1/a.parquet",
                "lake/year=2024/month=2/b.parq");
    CHECK_IGNORED("lake/1_$folder$", "marker", "lake/_SUCCESS", "marker", "lake/_metadata",
                  "marker", "lake/_tmp/e.parquet", "hidden", "lake/empty", "empty marker",
                  "lake/loop", "a symbolic link, which is not followed", "lake/readme.txt", ending,
                  "lake/year=2024/.f.parquet.crc", "hidden", "lake/year=2024/_g.parquet", "hidden");
    assert_true(f->listing.complete);
    assert_false(f->listing.has_units);
    struct stat status;
    const firn_lake_file *b = &f->listing.files[3];
    assert_int_equal(stat(b->location, &status), 0);
    assert_int_equal(b->size, 2);
    assert_int_equal(b->modified_ns,
                     status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec);
    assert_int_equal(b->unit, FIRN_LAKE_NO_UNIT);
    assert_string_equal(b->location + b->root_length, "year=2024/month=2/b.parq");
    release(f);
}

/* Hidden above the folder that is given is fine, and so is a partition's folder as the root. */
static void test_roots(void **state) {
    fixture *f = *state;
    add(f, ".h/_lake/year=2024/m=1/a.parquet", "1");
    add(f, ".h/_lake/year=2024/m=2/b.parquet", "1");
    check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, ".h/_lake/year=2024/m=1")), &f->error);
    CHECK_FILES(".h/_lake/year=2024/m=1/a.parquet");
    const firn_lake_file *file = &f->listing.files[0];
    assert_string_equal(file->location + file->root_length, "year=2024/m=1/a.parquet");
    release(f);
    char *one = firn_strdup(in(f, ".h/_lake/year=2024/m=1/a.parquet"));
    char *two = firn_format("file:%s/.h/_lake/year=2024/./m=2//b.parquet", f->folder);
    char *again = firn_format("file://%s/.h/_lake/year=2024/m=1", f->folder);
    const char *locations[] = {one, two, again, one};
    firn_lake_source source = {FIRN_LAKE_PATHS, .locations = locations, .location_count = 4};
    check_ok(firn_lake_list(f->storage, f->pool, &source, &f->listing, &f->error), &f->error);
    assert_false(f->listing.complete);
    assert_int_equal(f->listing.file_count, 2);
    assert_string_equal(f->listing.files[0].location, one);
    char *even = firn_format("file:%s/.h/_lake/year=2024/m=2/b.parquet", f->folder);
    assert_string_equal(f->listing.files[1].location, even);
    release(f);
    locations[1] = in(f, ".h/_lake/year=2024/m=2/b.parquet");
    source.location_count = 2;
    check_ok(firn_lake_list(f->storage, NULL, &source, &f->listing, &f->error), &f->error);
    for (int i = 0; i < 2; i++) {
        file = &f->listing.files[i];
        assert_int_equal(strncmp(file->location + file->root_length, "year=2024/m=", 12), 0);
    }
    release(f);
    firn_free(one);
    firn_free(two);
    firn_free(again);
    firn_free(even);
}

/* ".." behind a symbolic link is the folder that the link's target lies in. */
static void test_dots_behind_links(void **state) {
    fixture *f = *state;
    add(f, "a/b/deep/x.parquet", "1");
    add(f, "a/b/y.parquet", "1");
    add(f, "y.parquet", "elsewhere");
    char *target = firn_strdup(in(f, "a/b/deep"));
    assert_int_equal(symlink(target, in(f, "link")), 0);
    firn_free(target);
    check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, "link/../y.parquet")), &f->error);
    CHECK_FILES("a/b/y.parquet");
    release(f);
    /* A link that is the root itself is followed, and recorded as it was given. */
    check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, "link/")), &f->error);
    CHECK_FILES("link/x.parquet");
    release(f);
}

static void test_explicit(void **state) {
    fixture *f = *state;
    add_lake(f);
    static const char *const names[] = {"lake/_tmp/e.parquet", "lake/readme.txt", "lake/_SUCCESS",
                                        "lake/empty", "lake"};
    char *locations[5];
    for (size_t i = 0; i < 5; i++) locations[i] = firn_strdup(in(f, names[i]));
    firn_lake_source source = {FIRN_LAKE_PATHS, .locations = (const char *const *)locations,
                               .location_count = 5};
    check_ok(firn_lake_list(f->storage, f->pool, &source, &f->listing, &f->error), &f->error);
    assert_int_equal(f->listing.file_count, 6);
    CHECK_IGNORED("lake/1_$folder$", "marker", "lake/_SUCCESS", "marker", "lake/_metadata",
                  "marker", "lake/empty", "empty marker", "lake/year=2024/.f.parquet.crc", "hidden",
                  "lake/year=2024/_g.parquet", "hidden");
    release(f);
    for (size_t i = 0; i < 5; i++) firn_free(locations[i]);
}

static void test_absent(void **state) {
    fixture *f = *state;
    add(f, "lake/a.parquet", "1");
    assert_int_equal(mkdir(in(f, "empty"), 0700), 0);
    assert_int_equal(mkfifo(in(f, "fifo"), 0600), 0);
    check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, "empty")), &f->error);
    assert_int_equal(f->listing.file_count, 0);
    release(f);
    check_fails(list_as(f, FIRN_LAKE_PATHS, in(f, "no")), FIRN_NOT_FOUND, &f->error, "/no");
    check_fails(list_as(f, FIRN_LAKE_PATHS, in(f, "lake/a.parquet/x")), FIRN_NOT_FOUND, &f->error,
                "a.parquet/x");
    check_fails(list_as(f, FIRN_LAKE_PATHS, in(f, "fifo")), FIRN_INVALID, &f->error, "special");
    firn_lake_source none = {FIRN_LAKE_PATHS};
    check_fails(firn_lake_list(f->storage, f->pool, &none, &f->listing, &f->error), FIRN_INVALID,
                &f->error, "no file or folder");
    check_fails(list_as(f, FIRN_LAKE_PATHS, ""), FIRN_INVALID, &f->error, "empty location");
    check_fails(list_as(f, FIRN_LAKE_PATHS, "file:"), FIRN_INVALID, &f->error, "names no file");
    check_fails(list_as(f, FIRN_LAKE_PATHS, "gs://b/x"), FIRN_UNSUPPORTED, &f->error, "gs");
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "no/*.parquet")), &f->error);
    assert_int_equal(f->listing.file_count, 0);
    assert_true(f->listing.complete);
    release(f);
    char *location = calloc(1, 70001);
    assert_non_null(location);
    memset(location, 'x', 70000);
    check_fails(list_as(f, FIRN_LAKE_PATHS, location), FIRN_INVALID, &f->error, "65535");
    free(location);
}

static void test_odd_names(void **state) {
    fixture *f = *state;
    add(f, "lake/a\nb%20 \xC3\xA9.parquet", "1");
    add(f, "lake/x\xFFy.txt", "1");
    check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, "lake")), &f->error);
    CHECK_FILES("lake/a\nb%20 \xC3\xA9.parquet");
    CHECK_IGNORED("lake/x\\xffy.txt", ending);
    release(f);
    add(f, "lake/x\xFFy.parquet", "1");
    static const char *const names[] = {"lake", "lake/x\xFFy.parquet"};
    for (size_t i = 0; i < 2; i++) {
        check_ok(list_as(f, FIRN_LAKE_PATHS, in(f, names[i])), &f->error);
        assert_int_equal(f->listing.file_count, i == 0 ? 1 : 0);
        check_bad(f, "lake/x\\xffy.parquet", "no UTF-8");
    }
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/x*.parquet")), &f->error);
    assert_int_equal(f->listing.bad[0].unit, FIRN_LAKE_NO_UNIT);
    check_bad(f, "lake/x\\xffy.parquet", "no UTF-8");
}

static void test_deep(void **state) {
    fixture *f = *state;
    char path[3000] = "";
    for (int i = 0; i < 1200; i++) strcat(path, "d/");
    strcat(path, "x.parquet");
    add(f, path, "1");
    check_ok(list_as(f, FIRN_LAKE_PATHS, f->folder), &f->error);
    CHECK_FILES(path);
    release(f);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "**/x*")), &f->error);
    assert_int_equal(f->listing.file_count, 1);
    release(f);
}

static void test_pattern(void **state) {
    fixture *f = *state;
    add_lake(f);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/**/*.parquet")), &f->error);
    CHECK_FILES("lake/year=2024/month=1/a.parquet");
    CHECK_IGNORED("lake/_tmp/e.parquet", "hidden", "lake/year=2024/_g.parquet", "hidden");
    const firn_lake_file *file = &f->listing.files[0];
    assert_string_equal(file->location + file->root_length, "year=2024/month=1/a.parquet");
    release(f);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake//./year=2024/month={1,2}/")), &f->error);
    CHECK_FILES("lake/year=2024/month=1/a.parquet", "lake/year=2024/month=2/b.parq");
    file = &f->listing.files[0];
    assert_string_equal(file->location + file->root_length, "year=2024/month=1/a.parquet");
    release(f);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/*")), &f->error);
    CHECK_FILES("lake/D.PARQUET", "lake/readme.txt");
    release(f);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/_tmp/*")), &f->error);
    CHECK_FILES("lake/_tmp/e.parquet");
    release(f);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/readme.txt")), &f->error);
    CHECK_FILES("lake/readme.txt");
    release(f);
    check_fails(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/[x")), FIRN_INVALID, &f->error, "lake/[x");
    check_fails(list_as(f, FIRN_LAKE_GLOB, "s3://b*/x"), FIRN_INVALID, &f->error, "bucket");
    check_fails(list_as(f, FIRN_LAKE_GLOB, ""), FIRN_INVALID, &f->error, "names no file");
    /* What can't match isn't looked into. */
    assert_int_equal(chmod(in(f, "lake/_tmp"), 0), 0);
    check_ok(list_as(f, FIRN_LAKE_GLOB, in(f, "lake/year*/**")), &f->error);
    assert_int_equal(f->listing.file_count, 2);
    release(f);
    assert_int_equal(chmod(in(f, "lake/_tmp"), 0700), 0);
}

static void test_relative(void **state) {
    fixture *f = *state;
    char before[4096];
    add(f, "wd [1]/lake/a.parquet", "1");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in(f, "wd [1]")), 0);
    static const struct {
        firn_lake_source_kind kind;
        const char *location;
    } cases[] = {{FIRN_LAKE_PATHS, "lake"},          {FIRN_LAKE_PATHS, "./lake/a.parquet"},
                 {FIRN_LAKE_GLOB, "lake/*.parquet"}, {FIRN_LAKE_GLOB, "*/a.parquet"},
                 {FIRN_LAKE_PATHS, "file:lake"},     {FIRN_LAKE_PATHS, "."}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_ok(list_as(f, cases[i].kind, cases[i].location), &f->error);
        CHECK_FILES("wd [1]/lake/a.parquet");
        release(f);
    }
    assert_int_equal(chdir(before), 0);
}

static void test_list(void **state) {
    fixture *f = *state;
    add(f, "lake/k=1/a.parquet", "1");
    add(f, "lake/k=2/b.bin", "1");
    char *absolute = firn_format("\xEF\xBB\xBFlake/k=1/a.parquet\r\n\n%s/lake/./k=2//b.bin\n"
                                 "lake/k=1/../k=1/a.parquet",
                                 f->folder);
    add(f, "list", absolute);
    firn_free(absolute);
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "list")), &f->error);
    CHECK_FILES("lake/k=1/a.parquet", "lake/k=2/b.bin");
    assert_true(f->listing.complete);
    const firn_lake_file *file = &f->listing.files[0];
    assert_string_equal(file->location + file->root_length, "k=1/a.parquet");
    release(f);
    add(f, "gone", "lake/k=1/a.parquet\n\nlake/no.parquet\n");
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "gone")), &f->error);
    assert_int_equal(f->listing.file_count, 1);
    check_bad(f, "lake/no.parquet", "gone: line 3: ");
    add(f, "twice", "lake/no.parquet\nlake/./no.parquet\n");
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "twice")), &f->error);
    check_bad(f, "lake/no.parquet", "line 1: ");
    add(f, "folder", "lake\n");
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "folder")), &f->error);
    check_bad(f, "lake", "no regular file but a folder");
    add(f, "wrong", "lake/k=1/a.parquet\n\xFF\n");
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "wrong")), &f->error);
    assert_int_equal(f->listing.file_count, 1);
    check_bad(f, "\\xff", "line 2: a name that is no UTF-8");
    add(f, "several", "s3://b/k\nfile:\nlake/\xFF\nno\n");
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "several")), &f->error);
    assert_int_equal(f->listing.bad_count, 4);
    release(f);
    check_ok(firn_storage_put(f->storage, in(f, "zero"), firn_slice_of("a\0b", 3), &f->error),
             &f->error);
    check_fails(list_as(f, FIRN_LAKE_LIST, in(f, "zero")), FIRN_INVALID, &f->error, "zero byte");
    check_fails(list_as(f, FIRN_LAKE_LIST, in(f, "no")), FIRN_NOT_FOUND, &f->error, "/no");
    add(f, "empty", "");
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "empty")), &f->error);
    assert_int_equal(f->listing.file_count, 0);
    release(f);
    char *line = calloc(1, 100001);
    assert_non_null(line);
    memset(line, 'x', 100000);
    add(f, "long", line);
    check_fails(list_as(f, FIRN_LAKE_LIST, in(f, "long")), FIRN_LIMIT, &f->error, "line 1");
    /* Longer than the system's names, and than its paths. */
    static const size_t lengths[] = {300, 5000};
    static const char *const reasons[] = {"line 1: ", "a path of "};
    for (size_t i = 0; i < 2; i++) {
        line[lengths[i]] = '\0';
        add(f, "longer", line);
        line[lengths[i]] = 'x';
        check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "longer")), &f->error);
        assert_int_equal(f->listing.bad_count, 1);
        assert_non_null(strstr(f->listing.bad[0].reason, reasons[i]));
        release(f);
    }
    free(line);
}

static void test_standard_input(void **state) {
    fixture *f = *state;
    add(f, "lake/a.parquet", "1");
    add(f, "list", "lake/a.parquet\n");
    int kept = dup(STDIN_FILENO);
    int list = open(in(f, "list"), O_RDONLY);
    assert_true(dup2(list, STDIN_FILENO) >= 0);
    close(list);
    firn_status status = list_as(f, FIRN_LAKE_LIST, "-");
    dup2(kept, STDIN_FILENO);
    close(kept);
    check_ok(status, &f->error);
    CHECK_FILES("lake/a.parquet");
    assert_false(f->listing.complete);
    release(f);
}

/* Names longer than a piece of the text, and many of them. */
static void test_long_list(void **state) {
    fixture *f = *state;
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 24);
    for (int i = 0; i < 300; i++) {
        char name[64];
        snprintf(name, sizeof name, "lake/%03d.parquet", i);
        add(f, name, "1");
        for (int j = 0; j < i * 2; j++) {
            check_ok(firn_buffer_append_text(&text, "./", &f->error), &f->error);
        }
        check_ok(firn_buffer_printf(&text, &f->error, "%s\r\n", name), &f->error);
    }
    check_ok(firn_storage_put(f->storage, in(f, "list"), firn_buffer_slice(&text), &f->error),
             &f->error);
    firn_buffer_release(&text);
    check_ok(list_as(f, FIRN_LAKE_LIST, in(f, "list")), &f->error);
    assert_int_equal(f->listing.file_count, 300);
    assert_string_equal(f->listing.files[299].location, in(f, "lake/299.parquet"));
    release(f);
}

/* Object stores: keys are literal, folders are what names say. */
static void test_objects(void **state) {
    (void)state;
    firn_error error = {0};
    firn_storage *storage = NULL;
    check_ok(firn_storage_memory(&storage, &error), &error);
    static const char *const files[] = {"s3://b/l/k=1//a.parquet", "s3://b/l/k=2///c.parquet",
                                        "s3://b/l2/x.parquet"};
    for (int i = 0; i < 3; i++) {
        check_ok(firn_storage_put(storage, files[i], firn_slice_text("1"), &error), &error);
    }
    const char *locations[] = {"s3a://b/l/", "s3://b/l"};
    firn_lake_source source = {FIRN_LAKE_PATHS, .locations = locations, .location_count = 2};
    firn_lake_listing listing = {0};
    check_ok(firn_lake_list(storage, NULL, &source, &listing, &error), &error);
    assert_int_equal(listing.file_count, 2);
    assert_string_equal(listing.files[0].location, "s3a://b/l/k=1//a.parquet");
    firn_lake_listing_release(&listing);
    locations[0] = "s3://b/*2/**";
    source = (firn_lake_source){FIRN_LAKE_GLOB, .locations = locations, .location_count = 1};
    check_ok(firn_lake_list(storage, NULL, &source, &listing, &error), &error);
    assert_int_equal(listing.file_count, 1);
    assert_string_equal(listing.files[0].location + listing.files[0].root_length, "l2/x.parquet");
    firn_lake_listing_release(&listing);
    firn_storage_free(storage);
}

static void test_overlap(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool overlap;
    } cases[] = {
        {"/a/b", "/a/b", true},
        {"/a/b", "/a/bc", false},
        {"/a/b/", "file:///a//b/./c", true},
        {"/a/x/../b", "file:/a/b", true},
        {"/", "/a", true},
        {"/", "s3://b/x", false},
        {"s3://b/x", "s3a://b/x/y", true},
        {"s3://b/x", "s3://b/xy", false},
        {"s3://b/x/", "s3://b/x", true},
        {"s3://b", "s3://c", false},
        {"GS://b/x", "gs://b/x", true},
        {"gs://b/x", "s3://b/x", false},
        {"", "/a", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (firn_lake_locations_overlap(cases[i].a, cases[i].b) != cases[i].overlap ||
            firn_lake_locations_overlap(cases[i].b, cases[i].a) != cases[i].overlap) {
            fail_msg("%s and %s", cases[i].a, cases[i].b);
        }
    }
}

static firn_status list_all(void *context, firn_error *error) {
    fixture *f = context;
    static const firn_lake_source_kind kinds[] = {FIRN_LAKE_PATHS, FIRN_LAKE_GLOB, FIRN_LAKE_LIST};
    static const char *const names[] = {"lake", "lake/**/*.p{arq*,q}", "list"};
    for (int i = 0; i < 3; i++) {
        const char *location = in(f, names[i]);
        firn_lake_source source = {kinds[i], .locations = &location, .location_count = 1,
                                   .base = f->folder};
        firn_lake_listing listing = {0};
        FIRN_TRY(firn_lake_list(f->storage, NULL, &source, &listing, error));
        firn_lake_listing_release(&listing);
    }
    return FIRN_OK;
}

static void test_memory(void **state) {
    fixture *f = *state;
    add_lake(f);
    add(f, "list", "lake/readme.txt\nlake/../lake/_SUCCESS\n");
    check_each_allocation(list_all, f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_roots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dots_behind_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explicit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_odd_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pattern, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_relative, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_standard_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_list, set_up, tear_down),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
