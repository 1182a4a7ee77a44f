/*
 * Random schemas, dealt out over files: columns left out, in another order, in legacy forms, in narrower types. The union must be
 * what a naive model makes of them, whatever the order of the files, and every file must be found by it.
 */
#include "file_schema.h"

#include <stdio.h>

#include "lake/columns.h"
#include "lake/schema_union.h"

/* A column of the model. Types are pairs: what some files have, and what it is promoted to by others. */
typedef struct model {
    char kind; /* p, s, l, m */
    size_t type;
    size_t child_count;
    struct model *children[4];
    bool wide; /* some file had the wider type */
    bool seen; /* some file had the column */
} model;

static const struct {
    const char *narrow, *wide; /* "%s": the name */
    const char *narrow_text, *wide_text;
} type_pairs[] = {
    {"int32 %s", "int64 %s", "int", "long"},
    {"int32 %s (INT(16,false))", "int32 %s (INT(32,false))", "int", "long"},
    {"float %s", "double %s", "float", "double"},
    {"int32 %s (DECIMAL(5,2))", "fixed(9) %s (DECIMAL(20,2))", "decimal(5,2)", "decimal(20,2)"},
    {"int64 %s (DECIMAL(18,0))", "binary %s (DECIMAL(19,0))", "decimal(18,0)", "decimal(19,0)"},
    {"binary %s (STRING)", "binary %s (ENUM)", "string", "string"},
    {"int64 %s (TIMESTAMP(MILLIS,true))", "int96 %s", "timestamptz", "timestamptz"},
    {"int32 %s (TIME(MILLIS,false))", "int64 %s (TIME(MICROS,true))", "time", "time"},
    {"fixed(7) %s", "fixed(7) %s", "fixed[7]", "fixed[7]"},
    {"int32 %s (DATE)", "int32 %s (DATE)", "date", "date"},
};
#define PAIR_COUNT (sizeof type_pairs / sizeof *type_pairs)

static model *random_model(test_generator *random, int depth, firn_arena *arena) {
    model *column = firn_arena_alloc(arena, 1, sizeof *column);
    assert_non_null(column);
    static const char kinds[] = "ppppsslm";
    column->kind = depth > 3 ? 'p' : kinds[test_generator_below(random, 8)];
    column->type = test_generator_below(random, PAIR_COUNT);
    switch (column->kind) {
    case 's': column->child_count = 1 + test_generator_below(random, 4); break;
    case 'l': column->child_count = 1; break;
    case 'm': column->child_count = 2; break;
    default: return column;
    }
    for (size_t i = 0; i < column->child_count; i++) {
        bool is_key = column->kind == 'm' && i == 0;
        column->children[i] = random_model(random, is_key ? 9 : depth + 1, arena);
    }
    return column;
}

typedef struct writer {
    test_generator *random;
    firn_buffer text;
} writer;

static void put(writer *out, const char *text) {
    firn_error error = {0};
    check_ok(firn_buffer_append_text(&out->text, text, &error), &error);
}

static void write_column(writer *out, model *column, const char *repetition, const char *name,
                         bool is_key);

static const char *any_repetition(writer *out) {
    return test_generator_below(out->random, 2) == 0 ? "optional" : "required";
}

/* Some of a struct's columns, at least one, from a random one on and round. */
static void write_members(writer *out, model *column) {
    size_t start = test_generator_below(out->random, column->child_count);
    bool backwards = test_generator_below(out->random, 2) == 0;
    for (size_t i = 0; i < column->child_count; i++) {
        size_t index = backwards ? (start + column->child_count - i) % column->child_count
                                 : (start + i) % column->child_count;
        if (i > 0 && test_generator_below(out->random, 3) == 0) continue;
        char name[24];
        snprintf(name, sizeof name, "c%zu", index);
        write_column(out, column->children[index], any_repetition(out), name, false);
    }
}

/* A three-level list by any name, or a two-level one where that can't be taken for something else. */
static void write_list(writer *out, model *element, const char *repetition, const char *name) {
    static const char *const groups[] = {"list", "bag", "element", "x"};
    static const char *const names[] = {"element", "item", "array_element", "y"};
    put(out, repetition);
    put(out, " group ");
    put(out, name);
    put(out, " (LIST) { ");
    if (test_generator_below(out->random, 3) == 0) {
        write_column(out, element, "repeated", "array", false);
    } else {
        size_t form = test_generator_below(out->random, 4);
        put(out, "repeated group ");
        put(out, groups[form]);
        put(out, " { ");
        write_column(out, element, any_repetition(out), names[form], false);
        put(out, "} ");
    }
    put(out, "} ");
}

static void write_map(writer *out, model *column, const char *repetition, const char *name) {
    bool legacy = test_generator_below(out->random, 2) == 0;
    put(out, repetition);
    put(out, " group ");
    put(out, name);
    put(out, legacy ? " (MAP_KEY_VALUE) { repeated group map { "
                    : " (MAP) { repeated group key_value { ");
    write_column(out, column->children[0], "required", legacy ? "k" : "key", true);
    write_column(out, column->children[1], any_repetition(out), legacy ? "v" : "value", false);
    put(out, "} } ");
}

static void write_leaf(writer *out, model *column, const char *repetition, const char *name,
                       bool is_key) {
    char text[128];
    bool wide = !is_key && test_generator_below(out->random, 3) == 0;
    column->wide = column->wide || wide;
    put(out, repetition);
    put(out, " ");
    /* The formats are this file's own, with one %s each. */
    const char *format = wide ? type_pairs[column->type].wide : type_pairs[column->type].narrow;
    const char *place = strstr(format, "%s");
    snprintf(text, sizeof text, "%.*s%s%s; ", (int)(place - format), format, name, place + 2);
    put(out, text);
}

static void write_column(writer *out, model *column, const char *repetition, const char *name,
                         bool is_key) {
    column->seen = true;
    switch (column->kind) {
    case 's':
        put(out, repetition);
        put(out, " group ");
        put(out, name);
        put(out, " { ");
        write_members(out, column);
        put(out, "} ");
        break;
    case 'l': write_list(out, column->children[0], repetition, name); break;
    case 'm': write_map(out, column, repetition, name); break;
    default: write_leaf(out, column, repetition, name, is_key);
    }
}

static void check_type(const model *column, const firn_type *type);

static void check_struct(const model *column, const firn_type *type) {
    size_t seen = 0;
    for (size_t i = 0; i < column->child_count; i++) {
        if (!column->children[i]->seen) continue;
        seen++;
        char name[24];
        snprintf(name, sizeof name, "c%zu", i);
        const firn_field *found = NULL;
        for (size_t j = 0; j < type->field_count; j++) {
            if (strcmp(type->fields[j].name, name) == 0) found = &type->fields[j];
        }
        assert_non_null(found);
        assert_false(found->required);
        check_type(column->children[i], found->type);
    }
    assert_int_equal(type->field_count, seen);
}

static void check_type(const model *column, const firn_type *type) {
    switch (column->kind) {
    case 's':
        assert_int_equal(type->kind, FIRN_TYPE_STRUCT);
        check_struct(column, type);
        break;
    case 'l':
        assert_int_equal(type->kind, FIRN_TYPE_LIST);
        check_type(column->children[0], type->fields[0].type);
        break;
    case 'm':
        assert_int_equal(type->kind, FIRN_TYPE_MAP);
        assert_true(type->fields[0].required);
        check_type(column->children[0], type->fields[0].type);
        check_type(column->children[1], type->fields[1].type);
        break;
    default:
        assert_string_equal(type->text, column->wide ? type_pairs[column->type].wide_text
                                                     : type_pairs[column->type].narrow_text);
    }
}

/* Every id once, and none above the last one. */
static size_t count_ids(const firn_type *type, bool *used, int32_t last) {
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        int32_t id = type->fields[i].id;
        assert_in_range(id, 1, last);
        assert_false(used[id]);
        used[id] = true;
        count += 1 + count_ids(type->fields[i].type, used, last);
    }
    return count;
}

static void check_union(firn_schema_union *schemas, const model *root,
                        firn_parquet_file *const *files, size_t count, firn_arena *arena) {
    firn_error error = {0};
    const firn_schema *schema = firn_schema_union_schema(schemas);
    assert_non_null(schema);
    check_type(root, &schema->root);
    int32_t last = firn_schema_union_last_column_id(schemas);
    bool *used = firn_arena_alloc(arena, (size_t)last + 1, sizeof *used);
    assert_non_null(used);
    assert_int_equal(count_ids(&schema->root, used, last), last);
    char *text = NULL;
    const firn_name_mapping *mapping = NULL;
    check_ok(firn_name_mapping_for(schema, NULL, &text, &error), &error);
    check_ok(firn_name_mapping_parse(text, arena, &mapping, &error), &error);
    firn_free(text);
    assert_true(firn_name_mapping_covers(mapping, schema));
    for (size_t i = 0; i < count; i++) {
        firn_lake_columns columns = {0};
        check_ok(firn_lake_columns_of(schema, mapping, 2, files[i], "f", arena, &columns, &error),
                 &error);
        for (size_t leaf = 0; leaf < columns.leaf_count; leaf++) {
            assert_true(columns.field_ids[leaf] > 0);
            assert_true(used[columns.field_ids[leaf]]);
        }
    }
}

static void one_round(test_generator *random) {
    enum { most = 6 };
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    model root = {.kind = 's', .child_count = 4, .seen = true};
    for (size_t i = 0; i < 4; i++) root.children[i] = random_model(random, 0, arena);
    firn_parquet_file *files[most];
    size_t count = 1 + test_generator_below(random, most);
    for (size_t i = 0; i < count; i++) {
        writer out = {.random = random, .text = firn_buffer_with_maximum(1 << 20)};
        write_members(&out, &root);
        check_ok(firn_buffer_append_byte(&out.text, 0, &error), &error);
        files[i] = file_of((const char *)out.text.data, arena);
        firn_buffer_release(&out.text);
    }
    for (size_t start = 0; start < count; start++) {
        firn_schema_union *schemas = NULL;
        check_ok(firn_schema_union_new(NULL, 0, 2, NULL, &schemas, &error), &error);
        for (size_t i = 0; i < count; i++) {
            check_ok(firn_schema_union_add(schemas, files[(start + i) % count], "f", &error),
                     &error);
        }
        check_union(schemas, &root, files, count, arena);
        /* A second table's start is the first one's end: nothing is new. */
        firn_schema_union *again = NULL;
        const firn_schema *schema = firn_schema_union_schema(schemas);
        check_ok(firn_schema_union_new(schema, firn_schema_union_last_column_id(schemas), 2, NULL,
                                       &again, &error),
                 &error);
        for (size_t i = count; i-- > 0;) {
            check_ok(firn_schema_union_add(again, files[i], "f", &error), &error);
        }
        assert_false(firn_schema_union_changed(again));
        firn_schema_union_free(again);
        firn_schema_union_free(schemas);
    }
    firn_arena_free(arena);
}

static void unions_of_random_files(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int i = 0; i < 400; i++) one_round(&random);
}

/* Any element that a footer can hold, sense or none: annotations, repetitions, ids and names are drawn alike. */
static void odd_elements(test_generator *random, int depth, bool has_ids,
                         firn_parquet_schema_element *list, size_t *count, size_t most) {
    static const char *const names[] = {"a",     "b",   "A",       "list",
                                        "array", "key", "a_tuple", "metadata"};
    size_t index = (*count)++;
    firn_parquet_schema_element element = {.name = names[test_generator_below(random, 8)],
                                           .has_repetition = true};
    element.repetition = (firn_parquet_repetition)test_generator_below(random, 3);
    element.has_field_id = has_ids && test_generator_below(random, 20) != 0;
    element.field_id = (int32_t)test_generator_below(random, 12) - 1;
    if (test_generator_below(random, 2) == 0) {
        firn_parquet_logical_type *logical = &element.logical;
        logical->kind = (firn_parquet_logical_kind)test_generator_below(random, 21);
        logical->unit = (firn_parquet_time_unit)(1 + test_generator_below(random, 3));
        logical->adjusted_to_utc = test_generator_below(random, 2) == 0;
        logical->precision = (int32_t)test_generator_below(random, 41) - 1;
        logical->scale = (int32_t)test_generator_below(random, 5) - 1;
        logical->bit_width = 8 << test_generator_below(random, 4);
        logical->is_signed = test_generator_below(random, 2) == 0;
        if (logical->kind == FIRN_PARQUET_LOGICAL_GEOGRAPHY) {
            logical->edge_algorithm = (int32_t)test_generator_below(random, 7) - 1;
        }
    }
    bool is_group = depth < 4 && *count + 3 < most && test_generator_below(random, 3) == 0;
    if (!is_group) {
        element.has_type = true;
        element.type = (firn_parquet_physical_type)test_generator_below(random, 8);
        element.type_length = 1 + (int32_t)test_generator_below(random, 17);
        list[index] = element;
        return;
    }
    size_t children = test_generator_below(random, 4) == 0 ? 2 : 1;
    static const firn_parquet_logical_kind nested[] = {
        FIRN_PARQUET_LOGICAL_NONE, FIRN_PARQUET_LOGICAL_LIST, FIRN_PARQUET_LOGICAL_MAP,
        FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE, FIRN_PARQUET_LOGICAL_VARIANT};
    element.logical.kind = nested[test_generator_below(random, 5)];
    element.num_children = (int32_t)children;
    list[index] = element;
    for (size_t i = 0; i < children; i++) {
        odd_elements(random, depth + 1, has_ids, list, count, most);
    }
}

static firn_parquet_file *odd_file(test_generator *random, firn_arena *arena) {
    enum { most = 24 };
    firn_error error = {0};
    firn_parquet_schema_element *list = firn_arena_alloc(arena, most + 16, sizeof *list);
    firn_parquet_file *file = firn_arena_alloc(arena, 1, sizeof *file);
    assert_non_null(list);
    assert_non_null(file);
    bool has_ids = test_generator_below(random, 2) == 0;
    size_t columns = 1 + test_generator_below(random, 2);
    size_t count = 1;
    for (size_t i = 0; i < columns; i++) odd_elements(random, 0, has_ids, list, &count, most);
    list[0] = (firn_parquet_schema_element){.name = "schema", .num_children = (int32_t)columns};
    check_ok(firn_parquet_schema_build(list, count, "odd", arena, &file->schema, &error), &error);
    return file;
}

/* Whatever is taken in is found again, also after what came later; what is refused is refused as INVALID, and is forgotten. */
static size_t one_odd_round(test_generator *random, int format_version) {
    enum { most = 4 };
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    firn_parquet_file *taken[most];
    size_t count = 0;
    firn_schema_union *schemas = NULL;
    check_ok(firn_schema_union_new(NULL, 0, format_version, NULL, &schemas, &error), &error);
    for (size_t i = 0; i < most; i++) {
        firn_parquet_file *file = odd_file(random, arena);
        firn_status status = firn_schema_union_add(schemas, file, "f", &error);
        if (status != FIRN_OK) check_fails(status, FIRN_INVALID, &error, "f: ");
        if (status == FIRN_OK) taken[count++] = file;
    }
    const firn_schema *schema = firn_schema_union_schema(schemas);
    assert_non_null(schema);
    char *text = NULL;
    const firn_name_mapping *mapping = NULL;
    check_ok(firn_name_mapping_for(schema, NULL, &text, &error), &error);
    check_ok(firn_name_mapping_parse(text, arena, &mapping, &error), &error);
    firn_free(text);
    for (size_t i = 0; i < count; i++) {
        firn_lake_columns columns = {0};
        check_ok(firn_lake_columns_of(schema, mapping, format_version, taken[i], "f", arena,
                                      &columns, &error),
                 &error);
    }
    firn_schema_union_free(schemas);
    firn_arena_free(arena);
    return count;
}

static void odd_files(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    size_t taken = 0;
    for (int i = 0; i < 6000; i++) taken += one_odd_round(&random, 1 + i % 3);
    /* Else the test would say nothing. */
    assert_true(taken > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(unions_of_random_files),
                                       cmocka_unit_test(odd_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
