/* How the columns of a file become those of the table: ids, name mapping, structure, types, levels, what is missing. */
#include "data/fixture.h"
#include "data/projection.h"

/* One element of a file's schema in short: name, repetition, type, children, id (-1: none), annotation. */
typedef struct short_element {
    const char *name;
    char repetition; /* r, o or * */
    int type;        /* -1: group */
    int children;
    int id;
    firn_parquet_logical_kind logical;
} short_element;

#define GROUP -1
#define NO_ID -1

typedef struct projected {
    firn_table_metadata *metadata;
    firn_arena *arena;
    const firn_parquet_schema *output;
    firn_parquet_file file;
    firn_projection projection;
    firn_status status;
    firn_error error;
} projected;

static firn_parquet_schema_element long_form(const short_element *element) {
    firn_parquet_schema_element full = {.name = element->name,
                                        .num_children = element->children,
                                        .has_repetition = true,
                                        .has_field_id = element->id != NO_ID,
                                        .field_id = element->id,
                                        .logical = {.kind = element->logical}};
    full.repetition = element->repetition == 'r'   ? FIRN_PARQUET_REQUIRED
                      : element->repetition == 'o' ? FIRN_PARQUET_OPTIONAL
                                                   : FIRN_PARQUET_REPEATED;
    if (element->type != GROUP) {
        full.has_type = true;
        full.type = (firn_parquet_physical_type)element->type;
        full.type_length = full.type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY ? 16 : 0;
    }
    return full;
}

static void project_elements(const fixture *pieces, const firn_parquet_schema_element *elements,
                             size_t count, const firn_value *partition, projected *out) {
    firn_error error = {0};
    *out = (projected){.metadata = fixture_metadata(pieces), .arena = firn_arena_new()};
    const firn_parquet_schema_element *made = NULL;
    size_t made_count = 0;
    check_ok(firn_parquet_elements_of_schema(out->metadata->schema, out->arena, &made, &made_count,
                                             &error),
             &error);
    check_ok(firn_parquet_schema_build(made, made_count, "t", out->arena, &out->output, &error),
             &error);
    check_ok(firn_parquet_schema_build(elements, count, "f", out->arena, &out->file.schema, &error),
             &error);
    const firn_name_mapping *mapping = NULL;
    check_ok(firn_name_mapping_of_table(out->metadata, out->arena, &mapping, &error), &error);
    firn_data_file entry = {.partition = partition, .partition_count = partition == NULL ? 0 : 1};
    out->status = firn_projection_build(out->metadata->schema, out->output, &out->file, "file.x",
                                        &entry, out->metadata->default_spec, mapping, 2, out->arena,
                                        &out->projection, &out->error);
}

static void project_with(const fixture *pieces, const short_element *elements, size_t count,
                         const firn_value *partition, projected *out) {
    firn_parquet_schema_element full[32];
    size_t children = 0;
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        full[i + 1] = long_form(&elements[i]);
        if (below == 0) children++;
        below = below == 0 ? 0 : below - 1;
        below += (size_t)elements[i].children;
    }
    full[0] = (firn_parquet_schema_element){.name = "root", .num_children = (int32_t)children};
    project_elements(pieces, full, count + 1, partition, out);
}

static void release(projected *out) {
    firn_arena_free(out->arena);
    firn_table_metadata_free(out->metadata);
}

#define PROJECT(pieces, partition, out, ...)                                                       \
    do {                                                                                           \
        const short_element short_list[] = {__VA_ARGS__};                                          \
        project_with((pieces), short_list, sizeof short_list / sizeof *short_list, (partition),    \
                     (out));                                                                       \
    } while (0)

static const firn_parquet_leaf_mapping *mapping_of(const projected *out, size_t leaf) {
    check_ok(out->status, &out->error);
    return &out->projection.mappings[leaf];
}

static void check_map(const firn_parquet_leaf_mapping *mapping, const int *levels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(mapping->definition_level_map[i], levels[i]);
    }
}

#define CHECK_MAP(mapping, ...)                                                                    \
    do {                                                                                           \
        const int level_list[] = {__VA_ARGS__};                                                    \
        check_map((mapping), level_list, sizeof level_list / sizeof *level_list);                  \
    } while (0)

#define FORBIDDEN FIRN_PARQUET_FORBIDDEN_LEVEL

#define TWO_COLUMNS                                                                                \
    "[{\"id\": 1, \"name\": \"a\", \"required\": false, \"type\": \"long\"},"                      \
    " {\"id\": 2, \"name\": \"b\", \"required\": false, \"type\": \"string\"}]"

static void by_id_not_by_position(void **state) {
    (void)state;
    fixture pieces = {.schema = TWO_COLUMNS};
    projected p;
    PROJECT(&pieces, NULL, &p, {"b", 'o', FIRN_PARQUET_INT64, 0, 1, 0},
            {"x", 'o', FIRN_PARQUET_INT32, 0, 9, 0},
            {"a", 'r', FIRN_PARQUET_BYTE_ARRAY, 0, 2, FIRN_PARQUET_LOGICAL_STRING});
    assert_int_equal(mapping_of(&p, 0)->input_leaf, 0);
    assert_true(mapping_of(&p, 0)->levels_identical);
    assert_int_equal(mapping_of(&p, 1)->input_leaf, 2);
    assert_false(mapping_of(&p, 1)->levels_identical);
    CHECK_MAP(mapping_of(&p, 1), 1);
    assert_false(p.projection.all_identical);
    assert_int_equal(p.projection.output_field_ids[1], 2);
    release(&p);
    PROJECT(&pieces, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0},
            {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, 2, 0});
    check_ok(p.status, &p.error);
    assert_true(p.projection.all_identical);
    release(&p);
}

static void duplicate_ids(void **state) {
    (void)state;
    fixture pieces = {.schema = TWO_COLUMNS};
    projected p;
    PROJECT(&pieces, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0},
            {"c", 'o', FIRN_PARQUET_INT64, 0, 1, 0});
    check_fails(p.status, FIRN_CORRUPT, &p.error, "column \"a\" (field id 1)");
    release(&p);
}

static void missing_columns(void **state) {
    (void)state;
    fixture pieces = {.schema = TWO_COLUMNS};
    projected p;
    PROJECT(&pieces, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0});
    assert_int_equal(mapping_of(&p, 1)->input_leaf, -1);
    assert_int_equal(mapping_of(&p, 1)->absent_definition_level, 0);
    assert_null(mapping_of(&p, 1)->constant.data);
    release(&p);
    fixture required = {
        .schema = "[{\"id\": 1, \"name\": \"a\", \"required\": false, \"type\": \"long\"},"
                  " {\"id\": 2, \"name\": \"b\", \"required\": true, \"type\": \"string\"}]"};
    PROJECT(&required, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "column \"b\" (field id 2)");
    release(&p);
}

static void initial_defaults(void **state) {
    (void)state;
    fixture pieces = {
        .format_version = 3,
        .schema = "[{\"id\": 1, \"name\": \"a\", \"required\": false, \"type\": \"long\"},"
                  " {\"id\": 2, \"name\": \"b\", \"required\": true, \"type\": \"string\","
                  "  \"initial-default\": \"foo\", \"write-default\": \"bar\"},"
                  " {\"id\": 3, \"name\": \"c\", \"required\": false, \"type\": \"decimal(9, 2)\","
                  "  \"initial-default\": \"1.50\"},"
                  " {\"id\": 4, \"name\": \"p\", \"required\": false, \"initial-default\": {},"
                  "  \"type\": {\"type\": \"struct\", \"fields\": ["
                  "   {\"id\": 5, \"name\": \"x\", \"required\": false, \"type\": \"int\","
                  "    \"initial-default\": 7},"
                  "   {\"id\": 6, \"name\": \"y\", \"required\": false, \"type\": \"int\"}]}}]"};
    projected p;
    PROJECT(&pieces, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0});
    assert_memory_equal(mapping_of(&p, 1)->constant.data, "foo", 3);
    assert_int_equal(mapping_of(&p, 1)->absent_definition_level, 0);
    assert_int_equal(mapping_of(&p, 2)->constant.size, 4);
    assert_memory_equal(mapping_of(&p, 2)->constant.data, "\x96\0\0\0", 4);
    assert_int_equal(mapping_of(&p, 2)->absent_definition_level, 1);
    assert_memory_equal(mapping_of(&p, 3)->constant.data, "\7\0\0\0", 4);
    assert_int_equal(mapping_of(&p, 3)->absent_definition_level, 2);
    assert_null(mapping_of(&p, 4)->constant.data);
    assert_int_equal(mapping_of(&p, 4)->absent_definition_level, 1);
    release(&p);
}

#define BY_A(transform)                                                                            \
    "[{\"source-id\": 1, \"field-id\": 1000, \"name\": \"a\", \"transform\": \"" transform "\"}]"

static void partition_values(void **state) {
    (void)state;
    fixture identity = {.schema = TWO_COLUMNS, .spec = BY_A("identity")};
    firn_value five = {.kind = FIRN_TYPE_LONG, .as.int64 = 5};
    projected p;
    PROJECT(&identity, &five, &p, {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, 2, 0});
    assert_memory_equal(mapping_of(&p, 0)->constant.data, "\5\0\0\0\0\0\0\0", 8);
    assert_int_equal(mapping_of(&p, 0)->absent_definition_level, 1);
    release(&p);
    /* The file's own column wins. */
    PROJECT(&identity, &five, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0});
    assert_int_equal(mapping_of(&p, 0)->input_leaf, 0);
    assert_null(mapping_of(&p, 0)->constant.data);
    release(&p);
    firn_value null = firn_value_null(FIRN_TYPE_LONG);
    PROJECT(&identity, &null, &p, {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, 2, 0});
    assert_null(mapping_of(&p, 0)->constant.data);
    release(&p);
    /* A void field is null and says nothing about the column; nor does a bucket. */
    const char *const others[] = {BY_A("void"), BY_A("bucket[4]")};
    for (size_t i = 0; i < 2; i++) {
        fixture other = {.schema = TWO_COLUMNS, .spec = others[i]};
        firn_value value = i == 0 ? firn_value_null(FIRN_TYPE_LONG)
                                  : (firn_value){.kind = FIRN_TYPE_INT, .as.int32 = 3};
        PROJECT(&other, &value, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0});
        assert_int_equal(mapping_of(&p, 0)->input_leaf, 0);
        release(&p);
        PROJECT(&other, &value, &p, {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, 2, 0});
        assert_null(mapping_of(&p, 0)->constant.data);
        release(&p);
    }
}

static void no_ids(void **state) {
    (void)state;
    fixture unmapped = {.schema = TWO_COLUMNS};
    projected p;
    PROJECT(&unmapped, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, NO_ID, 0},
            {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, NO_ID, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "file.x: the file has no field ids");
    release(&p);
    fixture useless = {.schema = TWO_COLUMNS,
                       .properties = "{\"schema.name-mapping.default\": "
                                     "\"[{\\\"field-id\\\": 1, \\\"names\\\": [\\\"q\\\"]}]\"}"};
    PROJECT(&useless, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, NO_ID, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "names none of its columns");
    release(&p);
}

#define MAPPING(text) "{\"schema.name-mapping.default\": \"" text "\"}"

static void name_mapping(void **state) {
    (void)state;
    fixture mapped = {
        .schema = TWO_COLUMNS,
        .properties = MAPPING("[{\\\"field-id\\\": 1, \\\"names\\\": [\\\"old_a\\\", \\\"a\\\"]},"
                              "{\\\"field-id\\\": 2, \\\"names\\\": [\\\"b\\\"]},"
                              "{\\\"names\\\": [\\\"unused\\\"]}]")};
    projected p;
    PROJECT(&mapped, NULL, &p, {"unused", 'o', FIRN_PARQUET_INT64, 0, NO_ID, 0},
            {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, NO_ID, 0},
            {"old_a", 'o', FIRN_PARQUET_INT64, 0, NO_ID, 0});
    assert_int_equal(mapping_of(&p, 0)->input_leaf, 2);
    assert_int_equal(mapping_of(&p, 1)->input_leaf, 1);
    release(&p);
    PROJECT(&mapped, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, NO_ID, 0},
            {"old_a", 'o', FIRN_PARQUET_INT64, 0, NO_ID, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "both \"a\" and \"old_a\"");
    release(&p);
    /* Part of the columns has ids: the others go by the mapping. */
    PROJECT(&mapped, NULL, &p, {"q", 'o', FIRN_PARQUET_INT64, 0, 1, 0},
            {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, NO_ID, 0});
    assert_int_equal(mapping_of(&p, 1)->input_leaf, 1);
    release(&p);
    /* Without a mapping a namesake is not read as null, and not by its name either. */
    fixture unmapped = {.schema = TWO_COLUMNS};
    PROJECT(&unmapped, NULL, &p, {"q", 'o', FIRN_PARQUET_INT64, 0, 1, 0},
            {"b", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, NO_ID, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "column \"b\" (field id 2)");
    release(&p);
}

#define NESTED                                                                                     \
    "[{\"id\": 1, \"name\": \"s\", \"required\": false, \"type\": {\"type\": \"struct\","          \
    "  \"fields\": [{\"id\": 2, \"name\": \"x\", \"required\": false, \"type\": \"int\"},"         \
    "   {\"id\": 3, \"name\": \"y\", \"required\": false, \"type\": {\"type\": \"list\","          \
    "    \"element-id\": 4, \"element-required\": false, \"element\": {\"type\": \"struct\","      \
    "     \"fields\": [{\"id\": 5, \"name\": \"p\", \"required\": false, \"type\": \"int\"},"      \
    "      {\"id\": 6, \"name\": \"q\", \"required\": false, \"type\": \"int\"}]}}}]}}]"

static void nested_ids(void **state) {
    (void)state;
    fixture pieces = {.schema = NESTED};
    projected p;
    /* Ids on fields, none on the list's inner nodes; the element's fields swapped. */
    PROJECT(&pieces, NULL, &p, {"s", 'o', GROUP, 2, 1, 0},
            {"y", 'o', GROUP, 1, 3, FIRN_PARQUET_LOGICAL_LIST}, {"bag", '*', GROUP, 1, NO_ID, 0},
            {"array_element", 'o', GROUP, 2, NO_ID, 0}, {"q", 'o', FIRN_PARQUET_INT32, 0, 6, 0},
            {"p", 'o', FIRN_PARQUET_INT32, 0, 5, 0}, {"x", 'o', FIRN_PARQUET_INT32, 0, 2, 0});
    assert_int_equal(mapping_of(&p, 0)->input_leaf, 2);
    assert_int_equal(mapping_of(&p, 1)->input_leaf, 1);
    assert_int_equal(mapping_of(&p, 2)->input_leaf, 0);
    assert_true(mapping_of(&p, 2)->levels_identical);
    release(&p);
    /* A struct within it has no ids and no mapping: nothing is known of it. */
    PROJECT(&pieces, NULL, &p, {"s", 'o', GROUP, 2, 1, 0},
            {"x", 'o', FIRN_PARQUET_INT32, 0, NO_ID, 0},
            {"z", 'o', FIRN_PARQUET_INT32, 0, NO_ID, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "column \"s\"");
    release(&p);
    PROJECT(&pieces, NULL, &p, {"s", 'o', GROUP, 1, 1, 0},
            {"y", 'o', GROUP, 1, 3, FIRN_PARQUET_LOGICAL_LIST}, {"list", '*', GROUP, 1, NO_ID, 0},
            {"element", 'o', GROUP, 1, 44, 0}, {"p", 'o', FIRN_PARQUET_INT32, 0, 5, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "field id 44");
    release(&p);
}

static void nested_mapping(void **state) {
    (void)state;
    fixture pieces = {
        .schema = NESTED,
        .properties =
            MAPPING("[{\\\"field-id\\\": 1, \\\"names\\\": [\\\"s\\\"], \\\"fields\\\": ["
                    "{\\\"field-id\\\": 2, \\\"names\\\": [\\\"x1\\\"]},"
                    "{\\\"field-id\\\": 3, \\\"names\\\": [\\\"y\\\"], \\\"fields\\\": ["
                    "{\\\"field-id\\\": 4, \\\"names\\\": [\\\"element\\\"], \\\"fields\\\": ["
                    "{\\\"field-id\\\": 5, \\\"names\\\": [\\\"p\\\"]},"
                    "{\\\"field-id\\\": 6, \\\"names\\\": [\\\"q\\\"]}]}]}]}]")};
    projected p;
    PROJECT(&pieces, NULL, &p, {"s", 'o', GROUP, 2, NO_ID, 0},
            {"y", 'o', GROUP, 1, NO_ID, FIRN_PARQUET_LOGICAL_LIST},
            {"array", '*', GROUP, 2, NO_ID, 0}, {"q", 'r', FIRN_PARQUET_INT32, 0, NO_ID, 0},
            {"p", 'o', FIRN_PARQUET_INT32, 0, NO_ID, 0},
            {"x1", 'o', FIRN_PARQUET_INT32, 0, NO_ID, 0});
    assert_int_equal(mapping_of(&p, 0)->input_leaf, 2);
    assert_int_equal(mapping_of(&p, 1)->input_leaf, 1);
    assert_int_equal(mapping_of(&p, 2)->input_leaf, 0);
    /* s, y, then the repeated group, which is the element as well. */
    CHECK_MAP(mapping_of(&p, 1), 0, 1, 2, 4, 5);
    CHECK_MAP(mapping_of(&p, 2), 0, 1, 2, 5);
    release(&p);
}

static void missing_in_struct(void **state) {
    (void)state;
    fixture pieces = {.schema = NESTED};
    projected p;
    /* x and q are missing: levels come from p, without its list for x. */
    PROJECT(&pieces, NULL, &p, {"s", 'o', GROUP, 1, 1, 0},
            {"y", 'r', GROUP, 1, 3, FIRN_PARQUET_LOGICAL_LIST}, {"list", '*', GROUP, 1, NO_ID, 0},
            {"element", 'o', GROUP, 1, 4, 0}, {"p", 'o', FIRN_PARQUET_INT32, 0, 5, 0});
    const firn_parquet_leaf_mapping *x = mapping_of(&p, 0);
    assert_true(x->levels_only);
    assert_int_equal(x->input_leaf, 0);
    assert_int_equal(x->kept_repetition_level, 0);
    CHECK_MAP(x, 0, 1, 1, 1, 1);
    const firn_parquet_leaf_mapping *q = mapping_of(&p, 2);
    assert_true(q->levels_only);
    assert_int_equal(q->kept_repetition_level, 1);
    /* s null; y empty; element null; p null or not: the struct is there, q is not. */
    CHECK_MAP(q, 0, 2, 3, 4, 4);
    CHECK_MAP(mapping_of(&p, 1), 0, 2, 3, 4, 5);
    release(&p);
}

#define LIST_OF(element, required)                                                                 \
    "[{\"id\": 1, \"name\": \"l\", \"required\": false, \"type\": {\"type\": \"list\","            \
    " \"element-id\": 2, \"element-required\": " required ", \"element\": " element "}}]"
#define ONE_FIELD                                                                                  \
    "{\"type\": \"struct\", \"fields\": ["                                                         \
    "{\"id\": 3, \"name\": \"f\", \"required\": false, \"type\": \"int\"}]}"

/* The rules of LogicalTypes.md, with ids only where old writers had none anyway: on the list. */
static void list_forms(void **state) {
    (void)state;
    fixture ints = {.schema = LIST_OF("\"int\"", "false")};
    projected p;
    PROJECT(&ints, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"element", '*', FIRN_PARQUET_INT32, 0, NO_ID, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, 3);
    release(&p);
    /* Bare repeated column: a list that is never null. */
    PROJECT(&ints, NULL, &p, {"l", '*', FIRN_PARQUET_INT32, 0, 1, 0});
    CHECK_MAP(mapping_of(&p, 0), 1, 3);
    release(&p);
    PROJECT(&ints, NULL, &p, {"l", 'r', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"array", '*', GROUP, 1, NO_ID, 0}, {"x", 'o', FIRN_PARQUET_INT32, 0, NO_ID, 0});
    CHECK_MAP(mapping_of(&p, 0), 1, 2, 3);
    release(&p);
    fixture required = {.schema = LIST_OF("\"int\"", "true")};
    PROJECT(&required, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"list", '*', GROUP, 1, NO_ID, 0}, {"element", 'o', FIRN_PARQUET_INT32, 0, 2, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, FORBIDDEN, 2);
    release(&p);
    PROJECT(&ints, NULL, &p, {"l", 'o', FIRN_PARQUET_INT32, 0, 1, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "structure of a list");
    release(&p);
    PROJECT(&ints, NULL, &p, {"l", 'o', GROUP, 2, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"a", '*', FIRN_PARQUET_INT32, 0, 2, 0}, {"b", 'o', FIRN_PARQUET_INT32, 0, 7, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "structure of a list");
    release(&p);
}

static void lists_of_structs(void **state) {
    (void)state;
    fixture structs = {.schema = LIST_OF(ONE_FIELD, "false")};
    projected p;
    /* A repeated group with one column: the element itself, since a struct can't be a column. */
    PROJECT(&structs, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"anything", '*', GROUP, 1, NO_ID, 0}, {"f", 'o', FIRN_PARQUET_INT32, 0, 3, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, 3, 4);
    release(&p);
    PROJECT(&structs, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"list", '*', GROUP, 1, NO_ID, 0}, {"element", 'r', GROUP, 1, NO_ID, 0},
            {"f", 'r', FIRN_PARQUET_INT32, 0, 3, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, 4);
    release(&p);
    /* A struct within the struct, where only ids tell the repeated group for the element. */
    fixture deep = {.schema = LIST_OF("{\"type\": \"struct\", \"fields\": [{\"id\": 3, \"name\": "
                                      "\"g\", \"required\": false, \"type\": {\"type\": "
                                      "\"struct\", \"fields\": [{\"id\": 4, \"name\": \"h\", "
                                      "\"required\": false, \"type\": \"int\"}]}}]}",
                                      "false")};
    PROJECT(&deep, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"list", '*', GROUP, 1, NO_ID, 0}, {"g", 'o', GROUP, 1, 3, 0},
            {"h", 'o', FIRN_PARQUET_INT32, 0, 4, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, 3, 4, 5);
    release(&p);
    /* Two-level lists in each other: the inner repeated group is element and list. */
    fixture lists = {.schema = LIST_OF("{\"type\": \"list\", \"element-id\": 3, "
                                       "\"element-required\": false, \"element\": \"int\"}",
                                       "false")};
    PROJECT(&lists, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_LIST},
            {"array", '*', GROUP, 1, NO_ID, FIRN_PARQUET_LOGICAL_LIST},
            {"array", '*', FIRN_PARQUET_INT32, 0, NO_ID, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, 3, 5);
    release(&p);
}

#define MAP_OF(value)                                                                              \
    "[{\"id\": 1, \"name\": \"m\", \"required\": false, \"type\": {\"type\": \"map\", "            \
    "\"key-id\": "                                                                                 \
    "2, \"key\": \"string\", \"value-id\": 3, \"value-required\": false, \"value\": " value "}}]"

static void map_forms(void **state) {
    (void)state;
    fixture pieces = {.schema = MAP_OF("\"int\"")};
    projected p;
    PROJECT(&pieces, NULL, &p, {"m", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE},
            {"map", '*', GROUP, 2, NO_ID, 0}, {"k", 'o', FIRN_PARQUET_BYTE_ARRAY, 0, NO_ID, 0},
            {"v", 'r', FIRN_PARQUET_INT32, 0, NO_ID, 0});
    CHECK_MAP(mapping_of(&p, 0), 0, 1, FORBIDDEN, 2);
    CHECK_MAP(mapping_of(&p, 1), 0, 1, 3);
    release(&p);
    PROJECT(&pieces, NULL, &p, {"m", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_MAP},
            {"key_value", '*', GROUP, 2, NO_ID, 0}, {"value", 'o', FIRN_PARQUET_INT32, 0, 3, 0},
            {"key", 'r', FIRN_PARQUET_BYTE_ARRAY, 0, 2, 0});
    assert_int_equal(mapping_of(&p, 0)->input_leaf, 1);
    release(&p);
    PROJECT(&pieces, NULL, &p, {"m", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_MAP},
            {"key_value", '*', GROUP, 1, NO_ID, 0}, {"key", 'r', FIRN_PARQUET_BYTE_ARRAY, 0, 2, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "structure of a map");
    release(&p);
    fixture list = {.schema = LIST_OF("\"int\"", "false")};
    PROJECT(&list, NULL, &p, {"l", 'o', GROUP, 1, 1, FIRN_PARQUET_LOGICAL_MAP},
            {"key_value", '*', GROUP, 2, NO_ID, 0}, {"key", 'r', FIRN_PARQUET_INT32, 0, 7, 0},
            {"value", 'r', FIRN_PARQUET_INT32, 0, 8, 0});
    check_fails(p.status, FIRN_UNSUPPORTED, &p.error, "structure of a list");
    release(&p);
}

/* A column that is annotated as always null has no values, whatever its physical type. */
static void null_columns(void **state) {
    (void)state;
    fixture pieces = {.schema = TWO_COLUMNS};
    projected p;
    PROJECT(&pieces, NULL, &p, {"a", 'o', FIRN_PARQUET_INT64, 0, 1, 0},
            {"b", 'o', FIRN_PARQUET_INT32, 0, 2, FIRN_PARQUET_LOGICAL_NULL});
    assert_int_equal(mapping_of(&p, 1)->input_leaf, -1);
    release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_id_not_by_position),
        cmocka_unit_test(duplicate_ids),
        cmocka_unit_test(missing_columns),
        cmocka_unit_test(initial_defaults),
        cmocka_unit_test(partition_values),
        cmocka_unit_test(no_ids),
        cmocka_unit_test(name_mapping),
        cmocka_unit_test(nested_ids),
        cmocka_unit_test(nested_mapping),
        cmocka_unit_test(missing_in_struct),
        cmocka_unit_test(list_forms),
        cmocka_unit_test(lists_of_structs),
        cmocka_unit_test(map_forms),
        cmocka_unit_test(null_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
