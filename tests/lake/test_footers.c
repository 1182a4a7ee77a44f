/* Footers of many files: in order, read once, whatever is wrong with some of them. */
#include "support/check.h"

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
#include "base/bytes.h"
#include "base/cancel.h"
#include "lake/footers.h"
#include "storage/storage.h"

#define MOST_FILES 1000

typedef struct world {
    char *folder;
    firn_storage *storage;
    firn_pool *pool;
    firn_lake_footers *footers;
    firn_lake_file files[MOST_FILES];
    char *names[MOST_FILES];
    size_t count;
    firn_error error;
    /* What the visitor saw. */
    size_t next, good, bad;
    size_t stop_at, cancel_at; /* SIZE_MAX: never */
    firn_status statuses[MOST_FILES];
    char messages[MOST_FILES][FIRN_ERROR_MESSAGE_SIZE];
} world;

static world *world_new(size_t threads) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->folder = test_folder_new();
    check_ok(firn_storage_local(&w->storage, &w->error), &w->error);
    check_ok(firn_pool_new(threads, &w->pool, &w->error), &w->error);
    w->stop_at = w->cancel_at = SIZE_MAX;
    return w;
}

static void world_free(world *w) {
    firn_lake_footers_free(w->footers);
    firn_pool_free(w->pool);
    firn_storage_free(w->storage);
    for (size_t i = 0; i < w->count; i++) free(w->names[i]);
    test_folder_remove(w->folder);
    free(w);
}

/* As if the listing had just seen it. */
static void list_file(world *w, size_t index) {
    firn_storage_stat now;
    check_ok(firn_storage_stat_file(w->storage, w->names[index], &now, &w->error), &w->error);
    w->files[index] = (firn_lake_file){.location = w->names[index],
                                       .size = (int64_t)now.size,
                                       .modified_ns = now.modified_ns,
                                       .unit = FIRN_LAKE_NO_UNIT};
}

static size_t add_file(world *w, firn_slice content) {
    size_t index = w->count++;
    assert_true(index < MOST_FILES);
    assert_true(asprintf(&w->names[index], "%s/%04zu.parquet", w->folder, index) > 0);
    test_write_file(w->names[index], content);
    list_file(w, index);
    return index;
}

/* A file of `rows` rows, one column, and `notes` bytes of notes. */
static firn_buffer file_with(const char *column, int64_t rows, size_t notes, bool encrypted) {
    const char *path[] = {column};
    const firn_parquet_encoding encodings[] = {FIRN_PARQUET_PLAIN};
    firn_parquet_schema_element elements[] = {
        {.name = "schema", .num_children = 1},
        {.name = column, .has_type = true, .type = FIRN_PARQUET_INT32, .has_repetition = true}};
    firn_parquet_column_chunk chunk = {.type = FIRN_PARQUET_INT32,
                                       .encodings = encodings,
                                       .encoding_count = 1,
                                       .path_in_schema = path,
                                       .path_length = 1,
                                       .num_values = rows,
                                       .data_page_offset = 4,
                                       .file_path = encrypted ? "elsewhere" : NULL,
                                       .has_metadata = true};
    firn_parquet_row_group group = {.columns = &chunk, .column_count = 1, .num_rows = rows};
    char *note = calloc(1, notes + 1);
    assert_non_null(note);
    memset(note, 'n', notes);
    firn_parquet_key_value key_value = {.key = "k", .value = firn_slice_of(note, notes)};
    firn_parquet_file_metadata metadata = {.version = 2,
                                           .schema = elements,
                                           .schema_count = 2,
                                           .num_rows = rows,
                                           .row_groups = &group,
                                           .row_group_count = 1,
                                           .key_values = &key_value,
                                           .key_value_count = 1};
    firn_buffer out = firn_buffer_with_maximum(SIZE_MAX);
    firn_error error = {0};
    check_ok(firn_buffer_append_text(&out, "PAR1", &error), &error);
    check_ok(firn_parquet_write_file_metadata(&metadata, &out, &error), &error);
    uint8_t length[4];
    firn_store_le32(length, (uint32_t)(out.size - 4));
    check_ok(firn_buffer_append(&out, length, 4, &error), &error);
    check_ok(firn_buffer_append_text(&out, "PAR1", &error), &error);
    free(note);
    return out;
}

static firn_buffer file_of(int64_t rows, size_t notes, bool encrypted) {
    return file_with("c", rows, notes, encrypted);
}

static size_t add_good(world *w, int64_t rows, size_t notes) {
    firn_buffer content = file_of(rows, notes, false);
    size_t index = add_file(w, firn_buffer_slice(&content));
    firn_buffer_release(&content);
    return index;
}

static firn_status see(void *context, const firn_lake_footer *footer, firn_error *error) {
    world *w = context;
    assert_int_equal(footer->index, w->next);
    assert_ptr_equal(footer->file, &w->files[footer->index]);
    if (footer->index == w->stop_at) return firn_fail(error, FIRN_EXISTS, "enough");
    if (footer->index == w->cancel_at) firn_cancel_request(SIGTERM);
    w->next++;
    w->statuses[footer->index] = footer->status;
    if (footer->status != FIRN_OK) {
        assert_null(footer->parquet);
        assert_int_equal(footer->error->code, footer->status);
        memcpy(w->messages[footer->index], footer->error->message, FIRN_ERROR_MESSAGE_SIZE);
        w->bad++;
        return FIRN_OK;
    }
    assert_null(footer->error);
    assert_int_equal(footer->parquet->metadata->num_rows, (int64_t)footer->index);
    assert_string_equal(footer->parquet->source.name, footer->file->location);
    w->good++;
    return FIRN_OK;
}

static firn_status visit(world *w, size_t first, size_t count) {
    w->next = first;
    w->good = w->bad = 0;
    return firn_lake_footers_visit(w->footers, first, count, see, w, &w->error);
}

static void open_footers(world *w, size_t memory) {
    check_ok(firn_lake_footers_new(w->storage, w->pool, w->files, w->count, memory, &w->footers,
                                   &w->error),
             &w->error);
}

static void expect_counts(const world *w, uint64_t files, uint64_t reads) {
    uint64_t opened = 0, made = 0;
    firn_lake_footers_count(w->footers, &opened, &made);
    assert_int_equal(opened, files);
    assert_int_equal(made, reads);
}

static void in_order_and_once(size_t threads, size_t memory) {
    world *w = world_new(threads);
    for (int64_t i = 0; i < 300; i++) add_good(w, i, i % 50 == 7 ? 100000 : 10);
    open_footers(w, memory);
    check_ok(visit(w, 0, 0), &w->error);
    check_ok(visit(w, 100, 90), &w->error);
    assert_int_equal(w->good, 90);
    expect_counts(w, 90, 90 + 2);
    check_ok(visit(w, 0, 300), &w->error);
    assert_int_equal(w->good, 300);
    expect_counts(w, 300, 300 + 6);
    /* The source is not needed any more. */
    for (size_t i = 0; i < w->count; i++) assert_int_equal(unlink(w->names[i]), 0);
    check_ok(visit(w, 0, 300), &w->error);
    check_ok(visit(w, 299, 1), &w->error);
    assert_int_equal(w->good, 1);
    expect_counts(w, 300, 300 + 6);
    check_fails(visit(w, 299, 2), FIRN_INVALID, &w->error, "300 footers");
    check_fails(visit(w, SIZE_MAX, 2), FIRN_INVALID, &w->error, "300 footers");
    world_free(w);
}

static void visits(void **state) {
    (void)state;
    in_order_and_once(1, (size_t)1 << 30);
    in_order_and_once(4, (size_t)1 << 30);
    in_order_and_once(1, 0);
    in_order_and_once(4, 1000);
}

static void expect_bad(const world *w, size_t index, firn_status status, const char *part) {
    if (w->statuses[index] != status || strstr(w->messages[index], part) == NULL ||
        strstr(w->messages[index], w->names[index]) == NULL) {
        print_error("file %zu: %d %s\n", index, (int)w->statuses[index], w->messages[index]);
        fail();
    }
}

/* Sixteen and more of each kind of good file around them, so that the bad ones come from several threads. */
static void bad_files(void **state) {
    (void)state;
    world *w = world_new(4);
    firn_buffer content = file_of(1, 10, true);
    size_t elsewhere = add_file(w, firn_buffer_slice(&content));
    firn_buffer_release(&content);
    size_t empty = add_file(w, firn_slice_text(""));
    size_t tiny = add_file(w, firn_slice_text("PAR1PAR1"));
    size_t short_file = add_file(w, firn_slice_text("PAR"));
    size_t text = add_file(w, firn_slice_text("a,b,c\n1,2,3\n4,5,6\n"));
    size_t encrypted = add_file(w, firn_slice_of("PARE\0\0\0\0\0\0\0\0PARE", 16));
    size_t beyond = add_file(w, firn_slice_of("PAR1\xFF\xFF\xFF\x7FPAR1", 12));
    size_t nothing = add_file(w, firn_slice_of("PAR1\0\0\0\0PAR1", 12));
    size_t garbage = add_file(w, firn_slice_of("PAR1\xFF\xFF\xFF\xFF\4\0\0\0PAR1", 16));
    size_t grown = add_good(w, 9, 10);
    size_t touched = add_good(w, 10, 10);
    size_t gone = add_good(w, 11, 10);
    size_t folder = add_good(w, 12, 10);
    for (int64_t i = 13; i < 200; i++) add_good(w, i, 10);
    w->files[grown].size--;
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, w->names[touched], times, 0), 0);
    assert_int_equal(unlink(w->names[gone]), 0);
    assert_int_equal(unlink(w->names[folder]), 0);
    assert_int_equal(mkdir(w->names[folder], 0700), 0);
    open_footers(w, 0);
    for (int round = 0; round < 2; round++) {
        check_ok(visit(w, 0, w->count), &w->error);
        assert_int_equal(w->good, 200 - 13);
        assert_int_equal(w->bad, 13);
        expect_bad(w, elsewhere, FIRN_UNSUPPORTED, "column c lies in another file (elsewhere)");
        expect_bad(w, empty, FIRN_CORRUPT, "a file of 0 bytes is no Parquet file");
        expect_bad(w, tiny, FIRN_CORRUPT, "a file of 8 bytes is no Parquet file");
        expect_bad(w, short_file, FIRN_CORRUPT, "a file of 3 bytes is no Parquet file");
        expect_bad(w, text, FIRN_CORRUPT, "\"PAR1\" is missing");
        expect_bad(w, encrypted, FIRN_UNSUPPORTED, "footer is encrypted");
        expect_bad(w, beyond, FIRN_CORRUPT, "longer than the file");
        expect_bad(w, nothing, FIRN_CORRUPT, "ends too early");
        expect_bad(w, garbage, FIRN_CORRUPT, "at byte");
        expect_bad(w, grown, FIRN_CONFLICT, "changed while");
        expect_bad(w, touched, FIRN_CONFLICT, "changed while");
        expect_bad(w, gone, FIRN_NOT_FOUND, "gone since it was listed");
        expect_bad(w, folder, FIRN_IO, "no regular file");
    }
    world_free(w);
}

static void visitors_may_stop(void **state) {
    (void)state;
    for (size_t threads = 1; threads <= 4; threads += 3) {
        world *w = world_new(threads);
        for (int64_t i = 0; i < 200; i++) add_good(w, i, 10);
        open_footers(w, 0);
        w->stop_at = 20;
        check_fails(visit(w, 0, w->count), FIRN_EXISTS, &w->error, "enough");
        assert_int_equal(w->good, 20);
        w->stop_at = SIZE_MAX;
        w->cancel_at = 30;
        check_fails(visit(w, 0, w->count), FIRN_CANCELLED, &w->error, "SIGTERM");
        assert_int_equal(w->good, 31);
        firn_cancel_request(0);
        w->cancel_at = SIZE_MAX;
        check_ok(visit(w, 0, w->count), &w->error);
        assert_int_equal(w->good, 200);
        world_free(w);
    }
}

/* It is not the files that are at fault. */
static void out_of_descriptors(void **state) {
    (void)state;
    world *w = world_new(2);
    for (int64_t i = 0; i < 100; i++) add_good(w, i, 10);
    open_footers(w, (size_t)1 << 20);
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    firn_status status = visit(w, 0, w->count);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    check_fails(status, FIRN_IO, &w->error, "parquet");
    assert_int_equal(w->next, 0);
    check_ok(visit(w, 0, w->count), &w->error);
    assert_int_equal(w->good, 100);
    world_free(w);
}

/* What is parsed ahead is bounded; what lies beyond is parsed when it is its turn. */
static void many_large_footers(void **state) {
    (void)state;
    world *w = world_new(4);
    for (int64_t i = 0; i < 48; i++) add_good(w, i, (size_t)2 << 20);
    open_footers(w, (size_t)1 << 20);
    check_ok(visit(w, 0, w->count), &w->error);
    assert_int_equal(w->good, 48);
    check_ok(visit(w, 0, w->count), &w->error);
    assert_int_equal(w->good, 48);
    world_free(w);
}

/* Every third file has column c, every third column d, and the others, more than can be known, a column of their own. */
static void name_column(size_t index, char *out) {
    if (index % 3 == 2) {
        (void)snprintf(out, 16, "own_%zu", index % 1000);
    } else {
        (void)snprintf(out, 16, "%s", index % 3 == 0 ? "c" : "d");
    }
}

typedef struct sharing {
    const firn_parquet_schema *schemas[FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS + 1];
    char names[FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS + 1][16];
    size_t unknown, next;
} sharing;

static firn_status see_schema(void *context, const firn_lake_footer *footer, firn_error *error) {
    sharing *seen = context;
    (void)error;
    char column[16];
    name_column(footer->index, column);
    assert_int_equal(footer->index, seen->next++);
    const firn_parquet_file *parquet = footer->parquet;
    assert_string_equal(parquet->schema->leaves[0].dotted_path, column);
    assert_string_equal(parquet->metadata->schema[1].name, column);
    unsigned number = parquet->known_schema;
    assert_true(number <= FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS);
    seen->unknown += number == 0;
    if (number == 0) return FIRN_OK;
    if (seen->schemas[number] == NULL) {
        seen->schemas[number] = parquet->schema;
        memcpy(seen->names[number], column, sizeof column);
    }
    assert_ptr_equal(seen->schemas[number], parquet->schema);
    assert_string_equal(seen->names[number], column);
    return FIRN_OK;
}

static void schemas_are_shared(void **state) {
    (void)state;
    for (size_t threads = 1; threads <= 4; threads += 3) {
        world *w = world_new(threads);
        sharing seen = {0};
        for (size_t i = 0; i < 300; i++) {
            char column[16];
            name_column(i, column);
            firn_buffer content = file_with(column, 1, 10, false);
            add_file(w, firn_buffer_slice(&content));
            firn_buffer_release(&content);
        }
        open_footers(w, (size_t)1 << 20);
        for (int round = 0; round < 2; round++) {
            seen.next = seen.unknown = 0;
            check_ok(firn_lake_footers_visit(w->footers, 0, w->count, see_schema, &seen, &w->error),
                     &w->error);
            assert_int_equal(seen.next, 300);
            /* Threads may come to the own ones first. */
            size_t fewest = 100 + 2 - FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS;
            assert_true(threads == 1 ? seen.unknown == fewest : seen.unknown >= fewest);
        }
        world_free(w);
    }
}

static firn_status visit_in_little_memory(void *context, firn_error *error) {
    world *w = context;
    firn_status status =
        firn_lake_footers_new(w->storage, w->pool, w->files, w->count, 100, &w->footers, error);
    if (status != FIRN_OK) return status;
    w->next = 0;
    status = firn_lake_footers_visit(w->footers, 0, w->count, see, w, error);
    w->next = 0;
    if (status == FIRN_OK) {
        status = firn_lake_footers_visit(w->footers, 0, w->count, see, w, error);
    }
    firn_lake_footers_free(w->footers);
    w->footers = NULL;
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    for (size_t threads = 1; threads <= 2; threads++) {
        world *w = world_new(threads);
        for (int64_t i = 0; i < 20; i++) add_good(w, i, i == 3 ? 20000 : 10);
        add_file(w, firn_slice_text("no Parquet at all"));
        check_each_allocation(visit_in_little_memory, w);
        world_free(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(visitors_may_stop),
        cmocka_unit_test(out_of_descriptors),
        cmocka_unit_test(many_large_footers),
        cmocka_unit_test(schemas_are_shared),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
