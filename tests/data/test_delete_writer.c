/* Deleted rows as delete files: what is written says the truth about itself, and is read back as it was. */
#include "fixture.h"

#include "data/delete_writer.h"
#include "data/deletes.h"

#define FILES 12
#define FILE_PATH_ID 2147483546
#define POS_ID 2147483545

typedef struct world {
    firn_storage *storage;
    firn_table_metadata *metadata;
    firn_table table;
    firn_arena *arena;
    firn_live_file data[FILES];
    firn_roaring *positions[FILES];
    firn_deleted_rows items[FILES];
    firn_data_file *written;
    size_t written_count;
} world;

static void open_world(world *w, int version, const char *properties) {
    firn_error error = {0};
    fixture pieces = {.format_version = version,
                      .location = "s3://b/t",
                      .spec = "[{\"name\":\"a\",\"transform\":\"identity\",\"source-id\":1,"
                              "\"field-id\":1000}]",
                      .properties = properties};
    *w = (world){.metadata = fixture_metadata(&pieces), .arena = firn_arena_new()};
    check_ok(firn_storage_memory(&w->storage, &error), &error);
    w->table = (firn_table){
        .storage = w->storage, .display_name = (char *)(uintptr_t) "t", .metadata = w->metadata};
}

static void close_world(world *w) {
    for (size_t i = 0; i < FILES; i++) firn_roaring_free(w->positions[i]);
    firn_arena_free(w->arena);
    firn_table_metadata_free(w->metadata);
    firn_storage_free(w->storage);
}

/* Files of three partitions, the names in no order; every fourth without deleted rows. */
static void fill_world(world *w, test_generator *random) {
    firn_error error = {0};
    for (size_t i = 0; i < FILES; i++) {
        firn_value *tuple = firn_arena_alloc(w->arena, 1, sizeof *tuple);
        *tuple = (firn_value){.kind = FIRN_TYPE_INT, .is_null = i % 3 == 0};
        tuple->as.int32 = (int32_t)(i % 3);
        w->data[i].entry = (firn_manifest_entry){
            .has_sequence_number = true,
            .sequence_number = 3,
            .file = {.path =
                         firn_arena_format(w->arena, "s3a://b/t/data/%zu.parquet", (i * 7) % FILES),
                     .format = FIRN_FILE_PARQUET,
                     .partition = tuple,
                     .partition_count = 1,
                     .record_count = 1000000}};
        w->positions[i] = firn_roaring_new();
        for (size_t j = 0; i % 4 != 3 && j < 3000; j++) {
            uint64_t position = test_generator_below(random, 1000000);
            check_ok(firn_roaring_add(w->positions[i], position, &error), &error);
        }
        w->items[i] =
            (firn_deleted_rows){.data = &w->data[i].entry.file, .positions = w->positions[i]};
    }
}

static void write_world(world *w) {
    firn_error error = {0};
    check_ok(firn_deleted_rows_write(&w->table, NULL, "run", 7, w->items, FILES, w->arena,
                                     &w->written, &w->written_count, &error),
             &error);
}

/* What was written, resolved again, is what was given. */
static void check_read_back(world *w) {
    firn_error error = {0};
    firn_live_file *live = firn_arena_alloc(w->arena, w->written_count, sizeof *live);
    const firn_live_file *data[FILES];
    for (size_t i = 0; i < w->written_count; i++) {
        live[i].entry = (firn_manifest_entry){
            .has_sequence_number = true, .sequence_number = 4, .file = w->written[i]};
    }
    for (size_t i = 0; i < FILES; i++) data[i] = &w->data[i];
    firn_live_files files = {.deletes = live, .delete_count = w->written_count};
    firn_deletes_request request = {.table = &w->table,
                                    .files = &files,
                                    .data = data,
                                    .data_count = FILES,
                                    .positions = true,
                                    .equality = true};
    firn_deletes deletes;
    check_ok(firn_deletes_resolve(&request, &deletes, &error), &error);
    for (size_t i = 0; i < FILES; i++) {
        uint64_t wanted = firn_roaring_count(w->positions[i]);
        assert_int_equal(firn_roaring_count(deletes.in_memory[i]), wanted);
        assert_int_equal(deletes.in_memory[i] == NULL, wanted == 0);
        assert_true(firn_roaring_contains_all(deletes.in_memory[i], w->positions[i]));
        assert_int_equal(deletes.largest_sequence_number[i], wanted == 0 ? -1 : 4);
    }
    for (size_t i = 0; i < w->written_count; i++) assert_true(deletes.used[i]);
    assert_int_equal(deletes.delete_files_read, w->written_count);
    firn_deletes_release(&deletes);
}

static int64_t rows_written(const world *w) {
    int64_t rows = 0;
    for (size_t i = 0; i < w->written_count; i++) rows += w->written[i].record_count;
    return rows;
}

static int64_t rows_given(const world *w) {
    int64_t rows = 0;
    for (size_t i = 0; i < FILES; i++) rows += (int64_t)firn_roaring_count(w->positions[i]);
    return rows;
}

static const char *path_bound(const world *w, const firn_bound_map *bounds) {
    firn_slice bound;
    assert_true(firn_bound_map_get(bounds, FILE_PATH_ID, &bound));
    return firn_arena_strndup(w->arena, (const char *)bound.data, bound.size);
}

static void check_position_entry(world *w, const firn_data_file *file, bool single) {
    firn_error error = {0};
    firn_storage_stat stat;
    firn_slice path;
    assert_int_equal(file->content, FIRN_CONTENT_POSITION_DELETES);
    assert_int_equal(file->format, FIRN_FILE_PARQUET);
    assert_false(file->has_sort_order_id);
    assert_int_equal(file->partition_count, 1);
    check_ok(firn_storage_stat_file(w->storage, file->path, &stat, &error), &error);
    assert_int_equal(stat.size, file->file_size_in_bytes);
    assert_int_equal(firn_count_map_get(&file->value_counts, POS_ID), file->record_count);
    assert_int_equal(firn_count_map_get(&file->null_value_counts, FILE_PATH_ID), 0);
    assert_true(firn_count_map_get(&file->column_sizes, POS_ID) > 0);
    assert_int_equal(firn_delete_single_file(file, &path), single);
    assert_int_equal(file->referenced_data_file != NULL, single);
    if (single) assert_string_equal(path_bound(w, &file->lower_bounds), file->referenced_data_file);
    assert_memory_equal(path_bound(w, &file->lower_bounds), "s3a://b/t/data/", 15);
    assert_true(strcmp(path_bound(w, &file->lower_bounds), path_bound(w, &file->upper_bounds)) <=
                0);
}

static void test_partition_granularity(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    world w;
    open_world(&w, 2, NULL);
    fill_world(&w, &random);
    write_world(&w);
    assert_int_equal(w.written_count, 3);
    assert_int_equal(rows_written(&w), rows_given(&w));
    assert_true(w.written[0].partition[0].is_null);
    for (size_t i = 0; i < w.written_count; i++) {
        check_position_entry(&w, &w.written[i], false);
        assert_non_null(strstr(w.written[i].path, i == 0 ? "/a=null/run-7-1-" : "/a="));
    }
    check_read_back(&w);
    close_world(&w);
}

static void test_file_granularity(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    world w;
    open_world(&w, 2, "{\"write.delete.granularity\": \"file\"}");
    fill_world(&w, &random);
    write_world(&w);
    assert_int_equal(w.written_count, 9);
    assert_int_equal(rows_written(&w), rows_given(&w));
    for (size_t i = 0; i < w.written_count; i++) check_position_entry(&w, &w.written[i], true);
    check_read_back(&w);
    close_world(&w);
}

static void test_rolled(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    world w;
    open_world(&w, 2,
               "{\"write.delete.target-file-size-bytes\": \"8000\","
               "\"write.parquet.row-group-row-limit\": \"1000\"}");
    fill_world(&w, &random);
    write_world(&w);
    assert_true(w.written_count > 6);
    assert_int_equal(rows_written(&w), rows_given(&w));
    check_read_back(&w);
    close_world(&w);
}

static void check_vectors(const char *properties, bool one_file) {
    test_generator random = test_generator_new();
    world w;
    open_world(&w, 3, properties);
    fill_world(&w, &random);
    write_world(&w);
    assert_int_equal(w.written_count, 9);
    assert_int_equal(rows_written(&w), rows_given(&w));
    for (size_t i = 0; i < w.written_count; i++) {
        const firn_data_file *vector = &w.written[i];
        assert_int_equal(vector->format, FIRN_FILE_PUFFIN);
        assert_string_equal(vector->format_text, "PUFFIN");
        assert_non_null(vector->referenced_data_file);
        assert_true(vector->has_content_offset);
        if (one_file) assert_string_equal(vector->path, w.written[0].path);
        if (i > 0 && !one_file) assert_string_not_equal(vector->path, w.written[i - 1].path);
    }
    check_read_back(&w);
    close_world(&w);
}

static void test_vectors(void **state) {
    (void)state;
    check_vectors(NULL, true);
    check_vectors("{\"write.delete.target-file-size-bytes\": \"1\"}", false);
}

static void test_nothing(void **state) {
    (void)state;
    firn_error error = {0};
    for (int version = 2; version <= 3; version++) {
        world w;
        open_world(&w, version, NULL);
        check_ok(firn_deleted_rows_write(&w.table, NULL, "run", 1, NULL, 0, w.arena, &w.written,
                                         &w.written_count, &error),
                 &error);
        assert_int_equal(w.written_count, 0);
        close_world(&w);
    }
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        int version;
        const char *properties, *part;
    } cases[] = {
        {1, NULL, "format version 1"},
        {2, "{\"write.delete.granularity\": \"row\"}", "write.delete.granularity"},
        {2, "{\"write.delete.target-file-size-bytes\": \"0\"}", "target-file-size-bytes"},
        {2, "{\"write.location-provider.impl\": \"x.Y\"}", "write.location-provider.impl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_error error = {0};
        test_generator random = test_generator_new();
        world w;
        open_world(&w, cases[i].version, cases[i].properties);
        fill_world(&w, &random);
        assert_int_not_equal(firn_deleted_rows_write(&w.table, NULL, "run", 1, w.items, FILES,
                                                     w.arena, &w.written, &w.written_count, &error),
                             FIRN_OK);
        assert_non_null(strstr(error.message, cases[i].part));
        assert_int_equal(w.written_count, 0);
        close_world(&w);
    }
}

static firn_status write_once(void *context, firn_error *error) {
    world *w = context;
    /* The names of the runs differ: a file that is there is never written over. */
    static size_t number;
    return firn_deleted_rows_write(&w->table, NULL, "run", number++, w->items, FILES, w->arena,
                                   &w->written, &w->written_count, error);
}

static void test_memory_fails(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int version = 2; version <= 3; version++) {
        world w;
        open_world(&w, version, NULL);
        fill_world(&w, &random);
        check_each_allocation(write_once, &w);
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_granularity),
        cmocka_unit_test(test_file_granularity),
        cmocka_unit_test(test_rolled),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
