/* Manifest entries from footers: metrics by mode, split offsets, and what is left out. */
#include "support/check.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "data/fixture.h"
#include "lake/entry.h"

#define FIELD(id, name, type)                                                                      \
    "{\"id\": " #id ", \"name\": \"" name "\", \"required\": false, \"type\": " type "}"
#define SCHEMA                                                                                     \
    "[" FIELD(1, "a", "\"long\"") "," FIELD(2, "s", "\"string\"") "," FIELD(                       \
        3, "d", "\"double\"") "," FIELD(4, "li",                                                   \
                                        "{\"type\": \"list\", \"element-id\": 5, "                 \
                                        "\"element-required\": false, "                            \
                                        "\"element\": \"int\"}") "," FIELD(6,                      \
                                                                           "late"                  \
                                                                           "r",                    \
                                                                           "\"int"                 \
                                                                           "\"") "]"
#define LEAVES 5
#define GROUPS 2

/* A file of columns a, s, d, li.element and one that the table does not have. */
typedef struct world {
    firn_arena *arena;
    firn_table_metadata *metadata;
    firn_parquet_column_chunk chunks[GROUPS][LEAVES];
    firn_parquet_row_group groups[GROUPS];
    uint8_t orders[LEAVES];
    firn_parquet_file_metadata footer;
    firn_parquet_file file;
    firn_lake_file listed;
    firn_lake_columns columns;
    const firn_type *types[LEAVES];
    int32_t ids[LEAVES];
    firn_data_file entry;
    firn_error error;
} world;

static firn_slice number(world *w, int64_t value) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)value);
    return firn_slice_of(firn_arena_memdup(w->arena, bytes, 8), 8);
}

static void set(firn_parquet_column_chunk *chunk, firn_slice low, firn_slice high) {
    chunk->statistics.min_value = low;
    chunk->statistics.max_value = high;
}

static const firn_parquet_schema_element elements[] = {
    {.name = "schema", .num_children = 5},
    {.name = "a", .has_type = true, .type = FIRN_PARQUET_INT64, .has_repetition = true},
    {.name = "s", .has_type = true, .type = FIRN_PARQUET_BYTE_ARRAY, .has_repetition = true},
    {.name = "d",
     .has_type = true,
     .type = FIRN_PARQUET_DOUBLE,
     .has_repetition = true,
     .repetition = FIRN_PARQUET_OPTIONAL},
    {.name = "li",
     .has_type = true,
     .type = FIRN_PARQUET_INT32,
     .has_repetition = true,
     .repetition = FIRN_PARQUET_REPEATED},
    {.name = "own", .has_type = true, .type = FIRN_PARQUET_INT32, .has_repetition = true}};

static void find_columns(world *w) {
    static const int32_t ids[] = {1, 2, 3, 5, -1};
    memcpy(w->ids, ids, sizeof ids);
    for (size_t i = 0; i < LEAVES - 1; i++) {
        w->types[i] = firn_schema_find(w->metadata->schema, ids[i])->type;
    }
    w->columns = (firn_lake_columns){LEAVES, w->ids, w->types};
}

static world *world_new(const char *properties) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    fixture pieces = {.schema = SCHEMA, .properties = properties};
    w->metadata = fixture_metadata(&pieces);
    w->arena = firn_arena_new();
    assert_non_null(w->arena);
    for (size_t i = 0; i < GROUPS; i++) {
        for (size_t j = 0; j < LEAVES; j++) {
            w->chunks[i][j] =
                (firn_parquet_column_chunk){.type = elements[j + 1].type,
                                            .num_values = 10,
                                            .total_compressed_size = 100,
                                            .data_page_offset = (int64_t)(4 + i * 1000 + j * 100),
                                            .statistics = {.has_null_count = true},
                                            .has_metadata = true};
        }
        w->groups[i] = (firn_parquet_row_group){
            .columns = w->chunks[i], .column_count = LEAVES, .num_rows = 10};
        set(&w->chunks[i][0], number(w, (int64_t)i - 5), number(w, (int64_t)i + 5));
        set(&w->chunks[i][1], firn_slice_text("abcdefghijklmnopqrst"),
            firn_slice_text("zzzzzzzzzzzzzzzzzzzz"));
    }
    memset(w->orders, 1, sizeof w->orders);
    w->footer = (firn_parquet_file_metadata){.schema = elements,
                                             .schema_count = LEAVES + 1,
                                             .num_rows = 20,
                                             .row_groups = w->groups,
                                             .row_group_count = GROUPS,
                                             .created_by = "parquet-mr version 1.16.0",
                                             .column_orders = w->orders,
                                             .column_order_count = LEAVES};
    w->file = (firn_parquet_file){.arena = w->arena,
                                  .metadata = &w->footer,
                                  .source = {.name = "/l/f.parquet", .size = 5000}};
    check_ok(
        firn_parquet_schema_build(elements, LEAVES + 1, "f", w->arena, &w->file.schema, &w->error),
        &w->error);
    w->listed = (firn_lake_file){.location = "/l/f.parquet", .size = 5000};
    find_columns(w);
    return w;
}

static void world_free(world *w) {
    firn_arena_free(w->arena);
    firn_table_metadata_free(w->metadata);
    free(w);
}

static firn_status fill_in(world *w, firn_arena *arena, firn_error *error) {
    const firn_lake_entry_plan *plan = NULL;
    FIRN_TRY(firn_lake_entry_plan_new(w->metadata, &w->columns, &w->file, arena, &plan, error));
    return firn_lake_entry_fill(plan, &w->listed, &w->file, arena, &w->entry, error);
}

static void fill(world *w) {
    check_ok(fill_in(w, w->arena, &w->error), &w->error);
}

static void check_bound(const firn_bound_map *map, int32_t id, const void *data, size_t size) {
    firn_slice bound = {NULL, 0};
    assert_true(firn_bound_map_get(map, id, &bound));
    assert_int_equal(bound.size, size);
    assert_memory_equal(bound.data, data, size);
}

static void no_bound(const firn_bound_map *map, int32_t id) {
    firn_slice bound;
    assert_false(firn_bound_map_get(map, id, &bound));
}

static void a_whole_entry(void **state) {
    (void)state;
    world *w = world_new("{}");
    w->chunks[1][2].statistics = (firn_parquet_statistics){0};
    w->chunks[0][3].num_values = 15;
    fill(w);
    const firn_data_file *e = &w->entry;
    assert_string_equal(e->path, "/l/f.parquet");
    assert_string_equal(e->format_text, "PARQUET");
    assert_int_equal(e->content, FIRN_CONTENT_DATA);
    assert_int_equal(e->record_count, 20);
    assert_int_equal(e->file_size_in_bytes, 5000);
    assert_false(e->has_sort_order_id);
    assert_int_equal(firn_count_map_get(&e->column_sizes, 1), 200);
    assert_int_equal(firn_count_map_get(&e->value_counts, 1), 20);
    assert_int_equal(firn_count_map_get(&e->null_value_counts, 1), 0);
    /* Unknown in one row group: unknown. */
    assert_int_equal(firn_count_map_get(&e->value_counts, 3), 20);
    assert_int_equal(firn_count_map_get(&e->null_value_counts, 3), -1);
    assert_int_equal(firn_count_map_get(&e->nan_value_counts, 3), -1);
    assert_int_equal(e->nan_value_counts.count, 0);
    /* Counts below a list, and nothing for what is not there or not the table's. */
    assert_int_equal(firn_count_map_get(&e->value_counts, 5), 25);
    assert_int_equal(e->value_counts.count, 4);
    firn_slice low = number(w, -5), high = number(w, 6);
    check_bound(&e->lower_bounds, 1, low.data, 8);
    check_bound(&e->upper_bounds, 1, high.data, 8);
    check_bound(&e->lower_bounds, 2, "abcdefghijklmnop", 16);
    check_bound(&e->upper_bounds, 2, "zzzzzzzzzzzzzzz{", 16);
    assert_int_equal(e->lower_bounds.count, 2);
    assert_int_equal(e->split_offset_count, 2);
    assert_int_equal(e->split_offsets[0], 4);
    assert_int_equal(e->split_offsets[1], 1004);
    world_free(w);
}

static void modes(void **state) {
    (void)state;
    world *w = world_new("{\"write.metadata.metrics.default\": \"counts\","
                         "\"write.metadata.metrics.column.a\": \"none\","
                         "\"write.metadata.metrics.column.d\": \"full\","
                         "\"write.metadata.metrics.column.s\": \"truncate(2)\"}");
    set(&w->chunks[0][2], number(w, 0), number(w, 0));
    set(&w->chunks[1][2], number(w, 0), number(w, 0));
    fill(w);
    assert_int_equal(firn_count_map_get(&w->entry.value_counts, 1), -1);
    no_bound(&w->entry.lower_bounds, 1);
    assert_int_equal(firn_count_map_get(&w->entry.value_counts, 5), 20);
    check_bound(&w->entry.lower_bounds, 2, "ab", 2);
    check_bound(&w->entry.upper_bounds, 2, "z{", 2);
    /* Zeros: as -0 and +0. */
    check_bound(&w->entry.lower_bounds, 3, "\0\0\0\0\0\0\0\x80", 8);
    check_bound(&w->entry.upper_bounds, 3, "\0\0\0\0\0\0\0\0", 8);
    world_free(w);
}

/* Engines answer min and max from bounds that are not shortened. */
static void inexact_bounds(void **state) {
    (void)state;
    world *w = world_new("{\"write.metadata.metrics.column.s\": \"full\"}");
    w->chunks[0][0].statistics.has_min_exact = true;
    fill(w);
    no_bound(&w->entry.lower_bounds, 1);
    assert_true(firn_bound_map_get(&w->entry.upper_bounds, 1, &(firn_slice){0}));
    no_bound(&w->entry.lower_bounds, 2);
    no_bound(&w->entry.upper_bounds, 2);
    w->footer.created_by = "parquet-cpp-arrow version 14.0.2";
    fill(w);
    check_bound(&w->entry.lower_bounds, 2, "abcdefghijklmnopqrst", 20);
    world_free(w);
}

static void split_offsets(void **state) {
    (void)state;
    world *w = world_new("{}");
    /* The first column of the schema is not the first of the file; a dictionary stands before its data. */
    w->chunks[0][0].data_page_offset = 900;
    w->chunks[1][4].has_dictionary_page_offset = true;
    w->chunks[1][4].dictionary_page_offset = 1001;
    fill(w);
    assert_int_equal(w->entry.split_offset_count, 2);
    assert_int_equal(w->entry.split_offsets[0], 104);
    assert_int_equal(w->entry.split_offsets[1], 1001);
    /* An offset of 0 is none. */
    w->chunks[1][4].dictionary_page_offset = 0;
    fill(w);
    assert_int_equal(w->entry.split_offsets[1], 1004);
    /* Not ascending: none. */
    w->chunks[0][1].data_page_offset = 2000;
    w->chunks[0][2].data_page_offset = 2000;
    w->chunks[0][3].data_page_offset = 2000;
    w->chunks[0][4].data_page_offset = 2000;
    w->chunks[0][0].data_page_offset = 2000;
    fill(w);
    assert_int_equal(w->entry.split_offset_count, 0);
    /* Outside of the file. */
    w->chunks[0][0].data_page_offset = 4950;
    check_fails(fill_in(w, w->arena, &w->error), FIRN_CORRUPT, &w->error,
                "/l/f.parquet: row group 0: column a");
    world_free(w);
}

static void no_rows(void **state) {
    (void)state;
    world *w = world_new("{}");
    w->footer.row_group_count = 0;
    w->footer.num_rows = 0;
    fill(w);
    assert_int_equal(w->entry.record_count, 0);
    assert_int_equal(firn_count_map_get(&w->entry.value_counts, 1), 0);
    assert_int_equal(w->entry.lower_bounds.count, 0);
    assert_int_equal(w->entry.split_offset_count, 0);
    world_free(w);
}

static void other_columns(void **state) {
    (void)state;
    world *w = world_new("{}");
    w->columns.leaf_count = 3;
    check_fails(fill_in(w, w->arena, &w->error), FIRN_INVALID, &w->error, "has 5 columns, not 3");
    world_free(w);
}

static firn_status in_little_memory(void *context, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = fill_in(context, arena, error);
    firn_arena_free(arena);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    world *w = world_new("{}");
    check_each_allocation(in_little_memory, w);
    world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_entry),
        cmocka_unit_test(modes),
        cmocka_unit_test(inexact_bounds),
        cmocka_unit_test(split_offsets),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(other_columns),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
