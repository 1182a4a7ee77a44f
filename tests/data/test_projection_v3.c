/* What format v3 adds to projection: columns of row lineage, variants, geometry. */
#include "data/fixture.h"
#include "data/projection.h"
#include "iceberg/lineage.h"

#define MOST_ELEMENTS 16

typedef struct world {
    firn_table_metadata *metadata;
    firn_arena *arena;
    const firn_schema *schema;
    const firn_parquet_schema *output;
    firn_parquet_file file;
} world;

static firn_parquet_schema_element root(int32_t children) {
    return (firn_parquet_schema_element){.name = "root", .num_children = children};
}

static firn_parquet_schema_element group(const char *name, firn_parquet_repetition repetition,
                                         int32_t id, int32_t children,
                                         firn_parquet_logical_kind logical) {
    return (firn_parquet_schema_element){.name = name,
                                         .has_repetition = true,
                                         .repetition = repetition,
                                         .has_field_id = id >= 0,
                                         .field_id = id,
                                         .num_children = children,
                                         .logical = {.kind = logical}};
}

static firn_parquet_schema_element leaf(const char *name, firn_parquet_repetition repetition,
                                        int32_t id, firn_parquet_physical_type type) {
    firn_parquet_schema_element element = group(name, repetition, id, 0, FIRN_PARQUET_LOGICAL_NONE);
    element.has_type = true;
    element.type = type;
    return element;
}

static void begin(world *w, const char *fields, bool lineage,
                  const firn_parquet_schema_element *elements, size_t count, bool shaped_like) {
    firn_error error = {0};
    fixture pieces = {.format_version = 3, .schema = fields};
    *w = (struct world){.metadata = fixture_metadata(&pieces), .arena = firn_arena_new()};
    w->schema = w->metadata->schema;
    if (lineage) {
        check_ok(firn_schema_with_lineage(w->schema, w->arena, &w->schema, &error), &error);
    }
    check_ok(firn_parquet_schema_build(elements, count, "f", w->arena, &w->file.schema, &error),
             &error);
    const firn_parquet_schema_element *made = NULL;
    size_t made_count = 0;
    check_ok(firn_parquet_elements_like(w->schema, shaped_like ? w->file.schema : NULL, w->arena,
                                        &made, &made_count, &error),
             &error);
    check_ok(firn_parquet_schema_build(made, made_count, "t", w->arena, &w->output, &error),
             &error);
}

static void end(world *w) {
    firn_arena_free(w->arena);
    firn_table_metadata_free(w->metadata);
}

static firn_status project(world *w, firn_projection *out, firn_error *error) {
    return firn_projection_build(w->schema, w->output, &w->file, "file.x", NULL, NULL, NULL, 3,
                                 w->arena, out, error);
}

#define ONE_LONG "[{\"id\": 1, \"name\": \"a\", \"required\": true, \"type\": \"long\"}]"

static void check_filled(const firn_projection *projection, int32_t row_id, int32_t updated) {
    const firn_parquet_leaf_mapping *mappings = projection->mappings;
    assert_int_equal(projection->leaf_count, 3);
    assert_int_equal(projection->output_field_ids[1], FIRN_ROW_ID_FIELD_ID);
    assert_int_equal(projection->output_field_ids[2], FIRN_LAST_UPDATED_FIELD_ID);
    assert_int_equal(mappings[0].fill, FIRN_PARQUET_FILL_NONE);
    assert_int_equal(mappings[1].fill, FIRN_PARQUET_FILL_ROW_NUMBER);
    assert_int_equal(mappings[2].fill, FIRN_PARQUET_FILL_VALUE);
    assert_int_equal(mappings[1].input_leaf, row_id);
    assert_int_equal(mappings[2].input_leaf, updated);
    assert_false(projection->all_identical);
}

static void lineage_that_the_file_lacks(void **state) {
    (void)state;
    const firn_parquet_schema_element elements[] = {
        root(1), leaf("a", FIRN_PARQUET_REQUIRED, 1, FIRN_PARQUET_INT64)};
    world w;
    firn_projection projection = {0};
    firn_error error = {0};
    begin(&w, ONE_LONG, true, elements, 2, false);
    check_ok(project(&w, &projection, &error), &error);
    check_filled(&projection, -1, -1);
    assert_int_equal(projection.mappings[1].absent_definition_level, 0);
    end(&w);
}

static void lineage_by_id_in_any_order(void **state) {
    (void)state;
    const firn_parquet_schema_element elements[] = {
        root(3),
        leaf("_last_updated_sequence_number", FIRN_PARQUET_OPTIONAL, FIRN_LAST_UPDATED_FIELD_ID,
             FIRN_PARQUET_INT64),
        leaf("a", FIRN_PARQUET_REQUIRED, 1, FIRN_PARQUET_INT64),
        leaf("id", FIRN_PARQUET_REQUIRED, FIRN_ROW_ID_FIELD_ID, FIRN_PARQUET_INT64)};
    world w;
    firn_projection projection = {0};
    firn_error error = {0};
    begin(&w, ONE_LONG, true, elements, 4, false);
    check_ok(project(&w, &projection, &error), &error);
    check_filled(&projection, 2, 0);
    assert_int_equal(projection.mappings[1].definition_level_map[0], 1);
    assert_true(projection.mappings[2].levels_identical);
    end(&w);
}

/* The table has a column "_row_id" of its own: both live in the file, told apart by id. */
static void a_column_of_the_same_name(void **state) {
    (void)state;
    const firn_parquet_schema_element elements[] = {
        root(1), leaf("_row_id", FIRN_PARQUET_OPTIONAL, 1, FIRN_PARQUET_INT64)};
    world w;
    firn_projection projection = {0};
    firn_error error = {0};
    begin(&w, "[{\"id\": 1, \"name\": \"_row_id\", \"required\": false, \"type\": \"long\"}]", true,
          elements, 2, false);
    check_ok(project(&w, &projection, &error), &error);
    check_filled(&projection, -1, -1);
    assert_string_equal(w.output->leaves[0].node->element->name, "_row_id");
    assert_string_equal(w.output->leaves[1].node->element->name, "_row_id_");
    end(&w);
}

static void reserved_ids_in_the_schema(void **state) {
    (void)state;
    firn_error error = {0};
    fixture pieces = {
        .format_version = 3,
        .schema =
            "[{\"id\": 2147483540, \"name\": \"a\", \"required\": true, \"type\": \"long\"}]"};
    firn_table_metadata *metadata = fixture_metadata(&pieces);
    firn_arena *arena = firn_arena_new();
    const firn_schema *schema = NULL;
    check_fails(firn_schema_with_lineage(metadata->schema, arena, &schema, &error),
                FIRN_UNSUPPORTED, &error, "reserved for row lineage");
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

#define ONE_VARIANT "[{\"id\": 7, \"name\": \"v\", \"required\": false, \"type\": \"variant\"}]"

/* A shredded variant, its list too, as a file may hold it. */
static size_t shredded(firn_parquet_schema_element *out, firn_parquet_physical_type type) {
    size_t n = 0;
    out[n++] = root(1);
    out[n++] = group("v", FIRN_PARQUET_OPTIONAL, 7, 3, FIRN_PARQUET_LOGICAL_VARIANT);
    out[n++] = leaf("metadata", FIRN_PARQUET_REQUIRED, -1, FIRN_PARQUET_BYTE_ARRAY);
    out[n++] = leaf("value", FIRN_PARQUET_OPTIONAL, -1, FIRN_PARQUET_BYTE_ARRAY);
    out[n++] = group("typed_value", FIRN_PARQUET_OPTIONAL, -1, 1, FIRN_PARQUET_LOGICAL_LIST);
    out[n++] = group("list", FIRN_PARQUET_REPEATED, -1, 1, FIRN_PARQUET_LOGICAL_NONE);
    out[n++] = group("element", FIRN_PARQUET_REQUIRED, -1, 2, FIRN_PARQUET_LOGICAL_NONE);
    out[n++] = leaf("value", FIRN_PARQUET_OPTIONAL, -1, FIRN_PARQUET_BYTE_ARRAY);
    out[n++] = leaf("typed_value", FIRN_PARQUET_OPTIONAL, -1, type);
    return n;
}

static void variants_keep_their_columns(void **state) {
    (void)state;
    firn_parquet_schema_element elements[MOST_ELEMENTS];
    size_t count = shredded(elements, FIRN_PARQUET_INT64);
    world w;
    firn_projection projection = {0};
    firn_error error = {0};
    begin(&w, ONE_VARIANT, false, elements, count, true);
    check_ok(project(&w, &projection, &error), &error);
    assert_int_equal(projection.leaf_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(projection.mappings[i].input_leaf, (int)i);
        assert_int_equal(projection.output_field_ids[i], -1);
        assert_true(projection.mappings[i].levels_identical);
    }
    assert_true(projection.all_identical);
    assert_int_equal(w.output->leaves[3].maximum_definition_level, 4);
    end(&w);
}

static void variants_of_another_shape(void **state) {
    (void)state;
    firn_parquet_schema_element elements[MOST_ELEMENTS];
    firn_parquet_schema_element others[MOST_ELEMENTS];
    size_t count = shredded(elements, FIRN_PARQUET_INT64);
    world w;
    world other;
    firn_projection projection = {0};
    firn_error error = {0};
    begin(&w, ONE_VARIANT, false, elements, count, true);
    count = shredded(others, FIRN_PARQUET_DOUBLE);
    begin(&other, ONE_VARIANT, false, others, count, true);
    firn_buffer one = firn_buffer_with_maximum(1 << 20);
    firn_buffer two = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_variant_shapes(w.schema, w.file.schema, &one, &error), &error);
    check_ok(firn_variant_shapes(w.schema, other.file.schema, &two, &error), &error);
    assert_false(firn_slice_equal(firn_buffer_slice(&one), firn_buffer_slice(&two)));
    w.file.schema = other.file.schema;
    check_fails(project(&w, &projection, &error), FIRN_UNSUPPORTED, &error, "shredded");
    firn_buffer_release(&one);
    firn_buffer_release(&two);
    end(&other);
    end(&w);
}

/* A file without the column: null, in unshredded form. */
static void a_variant_that_the_file_lacks(void **state) {
    (void)state;
    const firn_parquet_schema_element elements[] = {
        root(1), leaf("a", FIRN_PARQUET_REQUIRED, 1, FIRN_PARQUET_INT64)};
    world w;
    firn_projection projection = {0};
    firn_error error = {0};
    begin(&w, ONE_VARIANT, false, elements, 2, true);
    check_ok(project(&w, &projection, &error), &error);
    assert_int_equal(projection.leaf_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(projection.mappings[i].input_leaf, -1);
        assert_int_equal(projection.mappings[i].absent_definition_level, 0);
        assert_int_equal(w.output->leaves[i].maximum_definition_level, 1);
    }
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lineage_that_the_file_lacks),
                                       cmocka_unit_test(lineage_by_id_in_any_order),
                                       cmocka_unit_test(a_column_of_the_same_name),
                                       cmocka_unit_test(reserved_ids_in_the_schema),
                                       cmocka_unit_test(variants_keep_their_columns),
                                       cmocka_unit_test(variants_of_another_shape),
                                       cmocka_unit_test(a_variant_that_the_file_lacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
