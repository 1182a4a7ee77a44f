/* Position delete files and deletion vectors: order, paths in other spellings, and what is broken. */
#include "delete_world.h"

#include "data/delete_writer.h"
#include "puffin/deletion_vector.h"
#include "puffin/puffin.h"

#define FILE_PATH_ID 2147483546
#define POS_ID 2147483545
#define ROW_ID 2147483544

static void open_plain(delete_world *w, int version) {
    fixture pieces = {.format_version = version};
    world_open(w, fixture_metadata(&pieces));
}

/* A data file that nobody has to read. */
static void add_data(delete_world *w, const char *path, size_t rows, int64_t sequence_number) {
    world_entry(w, FIRN_CONTENT_DATA, path, rows, sequence_number);
}

static world_column path_column(const char *const *paths) {
    return (world_column){.name = "file_path",
                          .id = FILE_PATH_ID,
                          .type = FIRN_PARQUET_BYTE_ARRAY,
                          .logical = {.kind = FIRN_PARQUET_LOGICAL_STRING},
                          .texts = paths};
}

static world_column pos_column(const int64_t *positions) {
    return (world_column){
        .name = "pos", .id = POS_ID, .type = FIRN_PARQUET_INT64, .numbers = positions};
}

static firn_data_file *add_deletes(delete_world *w, const char *file, const char *const *paths,
                                   const int64_t *positions, size_t rows, int64_t sequence_number) {
    world_column columns[] = {path_column(paths), pos_column(positions)};
    world_file(w, file, columns, 2, rows);
    return world_entry(w, FIRN_CONTENT_POSITION_DELETES, file, rows, sequence_number);
}

/* Two files of ten rows; evens are deleted, then threes, by delete files that cover both, in no order. */
static void test_several_files(void **state) {
    (void)state;
    for (size_t round = 0; round < 8; round++) {
        delete_world w;
        open_plain(&w, 2);
        w.options.dictionary_size_bytes = round % 2 == 0 ? 1 << 20 : 0;
        w.options.page_row_limit = round < 4 ? 3 : 20000;
        w.row_group_rows = round % 4 < 2 ? 4 : 1000;
        add_data(&w, "/t/data/a.parquet", 10, 1);
        add_data(&w, "/t/data/b.parquet", 10, 1);
        const char *paths[20];
        int64_t positions[20];
        for (int64_t step = 2; step <= 3; step++) {
            size_t count = 0;
            for (int64_t i = 19; i >= 0; i--) {
                if (i % step != 0) continue;
                paths[count] = i % 20 < 10 ? "/t/data/a.parquet" : "/t/data/b.parquet";
                positions[count++] = i % 10;
            }
            add_deletes(&w, step == 2 ? "/t/data/p2" : "/t/data/p3", paths, positions, count, 2);
        }
        assert_string_equal(world_deleted(&w, 0), "0 2 3 4 6 8 9");
        assert_string_equal(world_deleted(&w, 1), "0 2 4 5 6 8");
        world_close(&w);
    }
}

static const char *const other_spellings[] = {"s3a://b/t/a.parquet", "s3a://b/t/a.parquet",
                                              "file:/t/b.parquet", "/t//b.parquet",
                                              "s3://b/t/c.parquet"};

static void test_spellings(void **state) {
    (void)state;
    delete_world w;
    open_plain(&w, 2);
    add_data(&w, "s3://b/t/a.parquet", 10, 1);
    add_data(&w, "file:///t/b.parquet", 10, 1);
    const int64_t positions[] = {1, 2, 3, 4, 5};
    add_deletes(&w, "/p", other_spellings, positions, 5, 1);
    assert_string_equal(world_deleted(&w, 0), "1 2");
    assert_string_equal(world_deleted(&w, 1), "3 4");
    world_close(&w);
}

/* A data file whose rows can be counted, as they are where a position lies behind the last one. */
static void add_written_data(delete_world *w, const char *path, int64_t sequence_number) {
    static const int64_t numbers[10] = {0};
    const world_column column = {
        .name = "id", .id = 1, .type = FIRN_PARQUET_INT64, .numbers = numbers};
    world_data(w, path, &column, 1, 10, sequence_number);
}

/* Older deletes, those behind the last row and those for other files take nothing. */
static void test_scope(void **state) {
    (void)state;
    static const char *const paths[] = {"/t/a.parquet", "/t/b.parquet", "/t/x.parquet",
                                        "/t/a.parquet", "/t/a.parquet"};
    const int64_t positions[] = {3, 4, 5, 9, 10};
    firn_error error = {0};
    delete_world w;
    open_plain(&w, 2);
    add_written_data(&w, "/t/a.parquet", 2);
    add_written_data(&w, "/t/b.parquet", 3);
    add_deletes(&w, "/p1", paths, positions, 5, 2);
    add_deletes(&w, "/p2", paths, positions, 5, 1);
    assert_string_equal(world_deleted(&w, 0), "3 9");
    assert_string_equal(world_deleted(&w, 1), "");
    firn_deletes deletes;
    check_ok(world_resolve(&w, &deletes, &error), &error);
    assert_true(deletes.used[0]);
    assert_false(deletes.used[1]);
    assert_int_equal(deletes.largest_sequence_number[0], 2);
    assert_int_equal(deletes.largest_sequence_number[1], -1);
    assert_int_equal(deletes.delete_files_read, 1);
    firn_deletes_release(&deletes);
    /* A delete file that names one data file is for no other, whatever its rows say. */
    w.deletes[0].entry.file.referenced_data_file = "/t/x.parquet";
    assert_string_equal(world_deleted(&w, 0), "");
    world_close(&w);
}

/* What the bounds of file_path say wrongly or not at all takes no delete away. */
static void test_bounds(void **state) {
    (void)state;
    static const struct {
        const char *lower, *upper, *deleted;
    } cases[] = {
        {"hdfs://ns2/t/data/b.parquet", "hdfs://ns2/t/data/a.parquet", "1"},
        {"hdfs://ns2/t/dat", "hdfs://ns2/t/dat", "1"},
        {"hdfs://ns2/t/dat", "hdfs://ns2/t/dau", "1"},
        {"hdfs://ns2/t/data/a.parquet", "hdfs://ns2/t/data/a.parquet", "1"},
        {"hdfs://ns2/t/data/b.parquet", "hdfs://ns2/t/data/c.parquet", ""},
    };
    static const char *const paths[] = {"hdfs://ns2/t/data/a.parquet"};
    static const int32_t id = FILE_PATH_ID;
    const int64_t positions[] = {1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        delete_world w;
        open_plain(&w, 2);
        add_data(&w, paths[0], 10, 1);
        firn_slice bounds[] = {firn_slice_text(cases[i].lower), firn_slice_text(cases[i].upper)};
        firn_data_file *file = add_deletes(&w, "/p", paths, positions, 1, 1);
        file->lower_bounds = (firn_bound_map){&id, &bounds[0], 1, true};
        file->upper_bounds = (firn_bound_map){&id, &bounds[1], 1, true};
        assert_string_equal(world_deleted(&w, 0), cases[i].deleted);
        world_close(&w);
    }
}

/* Files without ids go by name; the rows that writers may keep are passed over. */
static void test_columns(void **state) {
    (void)state;
    static const char *const paths[] = {"/t/a.parquet", "/t/a.parquet"};
    const int64_t positions[] = {7, 2};
    for (int with_ids = 0; with_ids < 2; with_ids++) {
        delete_world w;
        open_plain(&w, 2);
        add_data(&w, "/t/a.parquet", 10, 1);
        world_column columns[] = {pos_column(positions), path_column(paths), pos_column(positions)};
        const bool none[] = {false, false};
        columns[0].name = "x";
        columns[0].id = 1;
        columns[0].group = "row";
        columns[0].group_id = with_ids ? ROW_ID : 0;
        columns[0].nulls = none;
        if (!with_ids) columns[0].id = columns[1].id = columns[2].id = 0;
        world_file(&w, "/p", columns, 3, 2);
        world_entry(&w, FIRN_CONTENT_POSITION_DELETES, "/p", 2, 1);
        assert_string_equal(world_deleted(&w, 0), "2 7");
        world_close(&w);
    }
}

static void check_refused(delete_world *w, firn_status code, const char *part) {
    firn_error error = {0};
    firn_deletes deletes;
    check_fails(world_resolve(w, &deletes, &error), code, &error, part);
    firn_deletes_release(&deletes);
}

static void test_broken_files(void **state) {
    (void)state;
    static const char *const paths[] = {"/t/a.parquet", "/t/a.parquet"};
    static const char *const expected[] = {
        "a null", "a null", "not both columns", "no long", "below 0", "live twice", NULL};
    const int64_t positions[] = {1, 2};
    const int64_t negative[] = {1, -2};
    const bool nulls[] = {false, true};
    for (size_t i = 0; expected[i] != NULL; i++) {
        delete_world w;
        open_plain(&w, 2);
        add_data(&w, "/t/a.parquet", 10, 1);
        if (i == 5) add_data(&w, "file:/t/a.parquet", 10, 1);
        world_column columns[] = {path_column(paths), pos_column(i == 4 ? negative : positions)};
        if (i == 0) columns[0].nulls = nulls;
        if (i == 1) columns[1].nulls = nulls;
        if (i == 2) columns[1].id = 7;
        if (i == 3) columns[1].type = FIRN_PARQUET_INT32;
        world_file(&w, "/p", columns, 2, 2);
        world_entry(&w, FIRN_CONTENT_POSITION_DELETES, "/p", 2, 1);
        check_refused(&w, FIRN_CORRUPT, expected[i]);
        world_close(&w);
    }
}

static void test_other_formats(void **state) {
    (void)state;
    static const char *const paths[] = {"/t/a.parquet"};
    const int64_t positions[] = {1};
    delete_world w;
    open_plain(&w, 2);
    add_data(&w, "/t/a.parquet", 10, 1);
    firn_data_file *file = add_deletes(&w, "/p", paths, positions, 1, 1);
    file->format = FIRN_FILE_ORC;
    check_refused(&w, FIRN_UNSUPPORTED, "/p");
    file->format = FIRN_FILE_PARQUET;
    file->key_metadata = firn_slice_text("key");
    check_refused(&w, FIRN_UNSUPPORTED, "encrypted");
    file->key_metadata = (firn_slice){NULL, 0};
    file->path = "/absent";
    check_refused(&w, FIRN_NOT_FOUND, "/absent");
    world_close(&w);
}

/* ---- vectors ---- */

/* One Puffin file with a vector for each of two data files: row 1, and rows 2 and 20 (of ten). */
static void add_vectors(delete_world *w) {
    firn_error error = {0};
    firn_roaring *positions[] = {firn_roaring_new(), firn_roaring_new()};
    check_ok(firn_roaring_add(positions[0], 1, &error), &error);
    check_ok(firn_roaring_add(positions[1], 2, &error), &error);
    check_ok(firn_roaring_add(positions[1], 20, &error), &error);
    add_data(w, "s3://b/t/a.parquet", 10, 1);
    add_written_data(w, "s3://b/t/b.parquet", 1);
    const firn_deleted_rows items[] = {{.data = &w->data[0].entry.file, .positions = positions[0]},
                                       {.data = &w->data[1].entry.file, .positions = positions[1]}};
    firn_data_file *out = NULL;
    size_t count = 0;
    check_ok(firn_deleted_rows_write(&w->table, NULL, "run", 0, items, 2, w->arena, &out, &count,
                                     &error),
             &error);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        *world_entry(w, FIRN_CONTENT_POSITION_DELETES, "/v", 1, 2) = out[i];
        firn_roaring_free(positions[i]);
    }
    w->deletes[1].entry.sequence_number = 3;
}

static void test_vectors(void **state) {
    (void)state;
    static const char *const paths[] = {"s3://b/t/a.parquet"};
    const int64_t positions[] = {5};
    firn_error error = {0};
    delete_world w;
    open_plain(&w, 3);
    add_vectors(&w);
    assert_string_equal(w.deletes[0].entry.file.path, w.deletes[1].entry.file.path);
    assert_string_equal(world_deleted(&w, 0), "1");
    assert_string_equal(world_deleted(&w, 1), "2");
    /* Position deletes of a file that has a vector are left aside. */
    add_deletes(&w, "/p", paths, positions, 1, 2);
    assert_string_equal(world_deleted(&w, 0), "1");
    firn_deletes deletes;
    check_ok(world_resolve(&w, &deletes, &error), &error);
    assert_int_equal(deletes.largest_sequence_number[0], 2);
    assert_int_equal(deletes.largest_sequence_number[1], 3);
    assert_int_equal(deletes.delete_files_read, 2);
    firn_deletes_release(&deletes);
    world_close(&w);
}

static void test_broken_vectors(void **state) {
    (void)state;
    static const char *const expected[] = {"no blob there",
                                           "lengths are not",
                                           "not the record count",
                                           "names another data file",
                                           "content_offset in",
                                           "not the record count",
                                           "encrypted",
                                           NULL};
    for (size_t i = 0; expected[i] != NULL; i++) {
        delete_world w;
        open_plain(&w, 3);
        add_vectors(&w);
        firn_data_file *vector = &w.deletes[0].entry.file;
        firn_data_file *other = &w.deletes[1].entry.file;
        switch (i) {
        case 0: vector->content_offset++; break;
        case 1: vector->content_size_in_bytes++; break;
        case 2: vector->record_count++; break;
        case 3:
            vector->referenced_data_file = "s3://b/t/b.parquet";
            other->referenced_data_file = "s3://b/t/a.parquet";
            break;
        case 4: vector->has_content_offset = false; break;
        case 5: vector->record_count = -1; break;
        default: vector->key_metadata = firn_slice_text("key"); break;
        }
        check_refused(&w, i == 6 ? FIRN_UNSUPPORTED : FIRN_CORRUPT, expected[i]);
        world_close(&w);
    }
}

/* Any byte of the file may be wrong: then it is CORRUPT, or the same positions come out. */
static void test_damaged_vectors(void **state) {
    (void)state;
    delete_world w;
    open_plain(&w, 3);
    add_vectors(&w);
    firn_error error = {0};
    firn_buffer bytes = firn_buffer_with_maximum(1 << 20);
    const char *path = w.deletes[0].entry.file.path;
    check_ok(firn_storage_read_all(w.storage, path, &bytes, &error), &error);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= 0x55;
        check_ok(firn_storage_replace(w.storage, path, firn_buffer_slice(&bytes), &error), &error);
        bytes.data[i] ^= 0x55;
        firn_deletes deletes;
        if (world_resolve(&w, &deletes, &error) == FIRN_OK) {
            assert_int_equal(firn_roaring_count(deletes.in_memory[0]), 1);
            assert_true(firn_roaring_contains(deletes.in_memory[0], 1));
        }
        firn_deletes_release(&deletes);
    }
    firn_buffer_release(&bytes);
    world_close(&w);
}

/* ---- memory ---- */

/* Two vectors, a file of which a few rows are far apart, one without deletes. */
static void add_far_rows(delete_world *w) {
    static const char *const paths[] = {"/t/c.parquet", "/t/c.parquet", "/t/c.parquet",
                                        "/t/c.parquet", "/t/c.parquet"};
    static const int64_t positions[] = {4999999, 0, 1048576, 2097152, 1048575};
    add_vectors(w);
    add_data(w, "/t/c.parquet", 5000000, 1);
    add_data(w, "/t/d.parquet", 5000000, 1);
    add_deletes(w, "/p", paths, positions, 5, 4);
}

/* Also where each of the two is looked at on its own. */
static void test_live_twice_in_parts(void **state) {
    (void)state;
    firn_error error = {0};
    firn_deletes deletes;
    delete_world w;
    open_plain(&w, 2);
    w.memory = 1;
    add_data(&w, "s3://b/t/a.parquet", 10, 1);
    add_data(&w, "s3a://b/t/a.parquet", 10, 1);
    const int64_t positions[] = {1, 2};
    add_deletes(&w, "/p", other_spellings, positions, 2, 1);
    assert_int_equal(world_resolve(&w, &deletes, &error), FIRN_CORRUPT);
    assert_non_null(strstr(error.message, "live twice"));
    firn_deletes_release(&deletes);
    world_close(&w);
}

/* What is found of a few files, or of a few rows, at a time is what is found at once. */
static void test_in_parts(void **state) {
    (void)state;
    static const char *const wanted[] = {"1", "2", "0 1048575 1048576 2097152 4999999", ""};
    delete_world w;
    firn_error error = {0};
    open_plain(&w, 3);
    add_far_rows(&w);
    for (w.memory = 0; w.memory <= 1; w.memory++) {
        for (size_t i = 0; i < 4; i++) assert_string_equal(world_deleted(&w, i), wanted[i]);
    }
    w.memory = 1;
    firn_deletes deletes;
    firn_roaring *taken = NULL;
    check_ok(world_resolve(&w, &deletes, &error), &error);
    assert_non_null(deletes.parts);
    assert_int_equal(firn_deletes_row_count(&deletes, 2), 5);
    assert_int_equal(firn_deletes_row_count(&deletes, 3), 0);
    assert_string_equal(world_rows(&w, &deletes, 2, 1048576, 2000000), "1048576");
    assert_string_equal(world_rows(&w, &deletes, 2, 1048575, 1048577), "0 1048575 1048576");
    assert_int_equal(deletes.largest_sequence_number[1], 3);
    assert_int_equal(deletes.largest_sequence_number[2], 4);
    assert_int_equal(deletes.largest_sequence_number[3], -1);
    assert_true(deletes.used[0] && deletes.used[1] && deletes.used[2]);
    firn_deletes rest = firn_deletes_behind(&deletes, 2);
    assert_int_equal(firn_deletes_row_count(&rest, 0), 5);
    assert_string_equal(world_rows(&w, &rest, 0, 4000000, 5000000), "4999999");
    check_ok(firn_deletes_take(&deletes, 2, &taken, &error), &error);
    assert_string_equal(world_text(&w, taken), wanted[2]);
    firn_roaring_free(taken);
    firn_deletes_release(&deletes);
    world_close(&w);
}

/* Looking at a few data files at a time does not read the deletes of others again. */
static void test_read_once_in_parts(void **state) {
    (void)state;
    static const char *const paths[] = {"/t/a.parquet", "/t/b.parquet", "/t/c.parquet"};
    const int64_t position = 3;
    firn_error error = {0};
    firn_deletes deletes;
    delete_world w;
    open_plain(&w, 2);
    w.memory = 1;
    for (size_t i = 0; i < 3; i++) {
        add_data(&w, paths[i], 10, 1);
        add_deletes(&w,
                    i == 0   ? "/p"
                    : i == 1 ? "/q"
                             : "/r",
                    paths + i, &position, 1, 2)
            ->referenced_data_file = paths[i];
    }
    check_ok(world_resolve(&w, &deletes, &error), &error);
    assert_non_null(deletes.parts);
    assert_int_equal(deletes.delete_files_read, 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(firn_deletes_row_count(&deletes, i), 1);
    firn_deletes_release(&deletes);
    world_close(&w);
}

static firn_status resolve_once(void *context, firn_error *error) {
    firn_deletes deletes;
    firn_status status = world_resolve(context, &deletes, error);
    firn_deletes_release(&deletes);
    return status;
}

static void test_memory_fails(void **state) {
    (void)state;
    delete_world w;
    open_plain(&w, 3);
    add_vectors(&w);
    const int64_t positions[] = {1, 2, 3, 4, 5};
    add_data(&w, "/t/b.parquet", 10, 1);
    add_deletes(&w, "/p", other_spellings, positions, 5, 1);
    check_each_allocation(resolve_once, &w);
    w.memory = 1;
    check_each_allocation(resolve_once, &w);
    assert_string_equal(world_deleted(&w, 2), "3 4");
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_broken_vectors),
        cmocka_unit_test(test_damaged_vectors),
        cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_read_once_in_parts),
        cmocka_unit_test(test_live_twice_in_parts),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
