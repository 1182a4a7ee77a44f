/*
 * Random schemas that evolve, random rows, files in every shape: read, and rewritten, they hold the same rows under the
 * current schema as the trees that they were made from.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "data/rows.h"
#include "rewrite/rewrite.h"
#include "rewrite/tree.h"

#define VERSIONS 3
#define FILES 4
#define ROUNDS 150

typedef FIRN_VECTOR(char *) text_list;

typedef struct round_world {
    tree_maker maker;
    const firn_type *versions[VERSIONS];
    firn_table_metadata *metadata;
    firn_table table;
    firn_storage *storage;
    firn_live_file files[FILES];
    size_t file_count;
    int64_t row_count;
    text_list expected;
} round_world;

static void push_text(text_list *list, firn_slice text) {
    firn_error error = {0};
    char *copy = firn_strndup((const char *)text.data, text.size);
    assert_non_null(copy);
    check_ok(firn_vector_push(list, &error, copy), &error);
}

static firn_status take_row(void *context, firn_slice json, firn_error *error) {
    (void)error;
    push_text(context, json);
    return FIRN_OK;
}

static void release_texts(text_list *list) {
    for (size_t i = 0; i < list->count; i++) firn_free(list->items[i]);
    firn_vector_release(list);
}

static void make_metadata(round_world *world) {
    firn_error error = {0};
    firn_schema schema = {.root = *world->versions[VERSIONS - 1]};
    json_t *schema_json = firn_schema_to_json(&schema);
    json_t *json = json_pack(
        "{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:[o], s:i, s:[{s:i, s:[]}], s:i, s:i, "
        "s:[{s:i, s:[]}], s:i}",
        "format-version", 3, "table-uuid", "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location",
        "mem:/t", "last-sequence-number", 0, "last-updated-ms", 1, "last-column-id",
        (int)world->maker.next_id, "current-schema-id", 0, "schemas", schema_json,
        "default-spec-id", 0, "partition-specs", "spec-id", 0, "fields", "last-partition-id", 999,
        "default-sort-order-id", 0, "sort-orders", "order-id", 0, "fields", "next-row-id", 0);
    assert_non_null(json);
    check_ok(firn_table_metadata_from_json(json, "fixture", &world->metadata, &error), &error);
    world->table = (firn_table){.storage = world->storage,
                                .display_name = (char *)(uintptr_t) "t",
                                .metadata = world->metadata};
}

/* Rows under one of the versions, in a file, and what they are under the last. */
static void add_file(round_world *world) {
    firn_error error = {0};
    tree_maker *maker = &world->maker;
    const firn_type *type = world->versions[pick(maker, VERSIONS)];
    const firn_type *current = world->versions[VERSIONS - 1];
    size_t count = (size_t)pick(maker, 60);
    tree **rows = firn_arena_alloc(maker->arena, count + 1, sizeof *rows);
    firn_buffer text = firn_buffer_with_maximum(1 << 24);
    for (size_t i = 0; i < count; i++) {
        rows[i] = tree_random(maker, type, true);
        firn_buffer_clear(&text);
        tree_print(current, tree_project(maker, type, current, rows[i]), &text);
        push_text(&world->expected, firn_buffer_slice(&text));
    }
    firn_buffer bytes = firn_buffer_with_maximum(1 << 26);
    tree_write_file(maker, type, rows, count, &bytes);
    firn_data_file *file = &world->files[world->file_count].entry.file;
    *file = (firn_data_file){
        .content = FIRN_CONTENT_DATA,
        .path = firn_arena_format(maker->arena, "mem:/t/data/in-%zu.parquet", world->file_count),
        .format = FIRN_FILE_PARQUET,
        .record_count = (int64_t)count,
        .file_size_in_bytes = (int64_t)bytes.size};
    check_ok(firn_storage_put(world->storage, file->path, firn_buffer_slice(&bytes), &error),
             &error);
    world->file_count++;
    world->row_count += (int64_t)count;
    firn_buffer_release(&bytes);
    firn_buffer_release(&text);
}

static void begin(round_world *world, uint64_t seed) {
    firn_error error = {0};
    *world = (round_world){.maker = {.arena = firn_arena_new(), .next_id = 1}};
    world->maker.random = test_generator_new();
    world->maker.random.state ^= seed * UINT64_C(0x9e3779b97f4a7c15);
    world->maker.with_defaults = true;
    world->versions[0] = tree_random_struct(&world->maker, 5, 3);
    for (size_t i = 1; i < VERSIONS; i++) {
        world->versions[i] = tree_evolve(&world->maker, world->versions[i - 1]);
    }
    check_ok(firn_storage_memory(&world->storage, &error), &error);
    make_metadata(world);
    size_t files = 1 + (size_t)pick(&world->maker, FILES);
    for (size_t i = 0; i < files; i++) add_file(world);
}

static void end(round_world *world) {
    release_texts(&world->expected);
    firn_table_metadata_free(world->metadata);
    firn_storage_free(world->storage);
    firn_arena_free(world->maker.arena);
}

static void compare(const text_list *got, const text_list *expected) {
    for (size_t i = 0; i < got->count && i < expected->count; i++) {
        assert_string_equal(got->items[i], expected->items[i]);
    }
    assert_int_equal(got->count, expected->count);
}

/* All rows of a data file. */
static firn_status rows_of(firn_table *table, const firn_schema *schema, const firn_data_file *file,
                           firn_row_visitor visit, void *context, firn_error *error) {
    firn_row_selection selection = firn_row_selection_of(schema);
    firn_manifest_entry entry = {.file = *file};
    return firn_rows_of_file(table, &selection, &entry, NULL, 0, NULL, visit, context, error);
}

static void check_reading(round_world *world) {
    firn_error error = {0};
    text_list got = {0};
    for (size_t i = 0; i < world->file_count; i++) {
        check_ok(rows_of(&world->table, world->metadata->schema, &world->files[i].entry.file,
                         take_row, &got, &error),
                 &error);
    }
    compare(&got, &world->expected);
    release_texts(&got);
}

static void check_rewriting(round_world *world, firn_pool *pool) {
    firn_error error = {0};
    firn_data_write_options write;
    check_ok(firn_data_write_options_read(world->metadata, &write, &error), &error);
    write.row_group_row_limit = 1 + (int64_t)pick(&world->maker, 80);
    if (pick(&world->maker, 2) == 0) write.parquet.page_row_limit = 10;
    firn_rewrite_settings settings = {.table = &world->table,
                                      .pool = pool,
                                      .memory_bytes = 64 << 20,
                                      .write = &write,
                                      .copy_pages = pick(&world->maker, 3) != 0,
                                      .verify = true,
                                      .run_id = "run"};
    const firn_live_file *inputs[FILES];
    for (size_t i = 0; i < world->file_count; i++) inputs[i] = &world->files[i];
    firn_rewrite_group group = {.inputs = inputs,
                                .input_count = world->file_count,
                                .spec = world->metadata->default_spec,
                                .output_count = 1 + (size_t)pick(&world->maker, 3)};
    firn_rewrite_result result;
    check_ok(firn_rewrite_check(&settings, &group, &group.looked, &error), &error);
    check_ok(firn_rewrite_binpack(&settings, &group, &result, &error), &error);
    firn_rewrite_looked_free(group.looked);
    assert_int_equal(result.rows_in, world->row_count);
    assert_int_equal(result.rows_out, world->row_count);
    assert_true(result.output_count <= group.output_count);
    text_list got = {0};
    for (size_t i = 0; i < result.output_count; i++) {
        check_ok(rows_of(&world->table, world->metadata->schema, &result.outputs[i], take_row, &got,
                         &error),
                 &error);
    }
    compare(&got, &world->expected);
    release_texts(&got);
    firn_rewrite_result_release(&result);
}

static void evolving_tables(void **state) {
    (void)state;
    firn_error error = {0};
    firn_json_setup();
    firn_pool *pool = NULL;
    check_ok(firn_pool_new(2, &pool, &error), &error);
    const char *only = getenv("FIRN_TEST_ROUND");
    for (uint64_t i = 0; i < ROUNDS; i++) {
        if (only != NULL && (uint64_t)atoll(only) != i) continue;
        print_message("round %llu\n", (unsigned long long)i);
        round_world world;
        begin(&world, i);
        check_reading(&world);
        check_rewriting(&world, pool);
        end(&world);
    }
    firn_pool_free(pool);
}

typedef struct attempt {
    round_world *world;
    firn_rewrite_settings settings;
    firn_rewrite_group group;
} attempt;

static firn_status count_row(void *context, firn_slice json, firn_error *error) {
    (void)json;
    (void)error;
    ++*(size_t *)context;
    return FIRN_OK;
}

static firn_status read_and_rewrite(void *context, firn_error *error) {
    attempt *now = context;
    round_world *world = now->world;
    size_t rows = 0;
    for (size_t i = 0; i < world->file_count; i++) {
        FIRN_TRY(rows_of(&world->table, world->metadata->schema, &world->files[i].entry.file,
                         count_row, &rows, error));
    }
    firn_rewrite_result result;
    now->group.group_number++;
    FIRN_TRY(firn_rewrite_binpack(&now->settings, &now->group, &result, error));
    firn_rewrite_result_release(&result);
    return FIRN_OK;
}

/* Nested columns of every kind, with memory that runs out at each allocation in turn. */
static void out_of_memory(void **state) {
    (void)state;
    firn_error error = {0};
    firn_json_setup();
    for (uint64_t i = 0; i < 2; i++) {
        round_world world;
        begin(&world, i);
        firn_data_write_options write;
        check_ok(firn_data_write_options_read(world.metadata, &write, &error), &error);
        const firn_live_file *inputs[FILES];
        for (size_t j = 0; j < world.file_count; j++) inputs[j] = &world.files[j];
        attempt one = {.world = &world,
                       .settings = {.table = &world.table,
                                    .write = &write,
                                    .copy_pages = true,
                                    .run_id = "run"},
                       .group = {.inputs = inputs,
                                 .input_count = world.file_count < 2 ? world.file_count : 2,
                                 .spec = world.metadata->default_spec,
                                 .output_count = 1}};
        check_each_allocation(read_and_rewrite, &one);
        end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(evolving_tables),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
