/* Which column of a file is which field of a table. */
#include "file_schema.h"

#include "base/json.h"
#include "lake/columns.h"

#define FIELD(id, name, type)                                                                      \
    "{\"id\": " #id ", \"name\": \"" name "\", \"required\": false, \"type\": " type "}"
#define SCHEMA(...) "{\"type\": \"struct\", \"schema-id\": 0, \"fields\": [" __VA_ARGS__ "]}"

typedef struct world {
    firn_arena *arena;
    const firn_schema *schema;
    const firn_name_mapping *mapping;
    int format_version;
    const firn_parquet_file *file;
    firn_lake_columns columns;
} world;

static world world_of(const char *schema, const char *mapping, const char *file) {
    firn_error error = {0};
    firn_json_setup();
    world w = {.arena = firn_arena_new(), .format_version = 2};
    json_t *json = NULL;
    check_ok(firn_json_parse(firn_slice_text(schema), "schema", &json, &error), &error);
    check_ok(firn_schema_parse(json, "schema", w.arena, &w.schema, &error), &error);
    json_decref(json);
    if (mapping != NULL) {
        check_ok(firn_name_mapping_parse(mapping, w.arena, &w.mapping, &error), &error);
    }
    w.file = file_of(file, w.arena);
    return w;
}

static firn_status find_columns(world *w, firn_error *error) {
    return firn_lake_columns_of(w->schema, w->mapping, w->format_version, w->file,
                                "s3://b/lake/f.parquet", w->arena, &w->columns, error);
}

/* The ids by leaf, -1 for those that are nobody's. */
static void check_ids(const char *schema, const char *mapping, const char *file, const int *ids,
                      size_t count) {
    firn_error error = {0};
    world w = world_of(schema, mapping, file);
    check_ok(find_columns(&w, &error), &error);
    assert_int_equal(w.columns.leaf_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(w.columns.field_ids[i], ids[i]);
        const firn_field *field = firn_schema_find(w.schema, ids[i]);
        assert_ptr_equal(w.columns.types[i], field == NULL ? NULL : field->type);
    }
    firn_arena_free(w.arena);
}

#define CHECK_IDS(schema, mapping, file, ...)                                                      \
    check_ids((schema), (mapping), (file), (const int[]){__VA_ARGS__},                             \
              sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void check_refused(const char *schema, const char *mapping, const char *file,
                          const char *part) {
    firn_error error = {0};
    world w = world_of(schema, mapping, file);
    firn_status status = find_columns(&w, &error);
    check_fails(status, FIRN_INVALID, &error, part);
    assert_int_equal(error.code, FIRN_INVALID);
    assert_non_null(strstr(error.message, "s3://b/lake/f.parquet"));
    firn_arena_free(w.arena);
}

#define TWO SCHEMA(FIELD(1, "a", "\"long\"") "," FIELD(2, "b", "\"string\""))
#define TWO_NAMES                                                                                  \
    "[{\"field-id\": 1, \"names\": [\"a\", \"old a\"]}, {\"field-id\": 2, \"names\": [\"b\"]}]"

static void by_id_and_by_name(void **state) {
    (void)state;
    CHECK_IDS(TWO, NULL,
              "required binary x (STRING) = 2; optional int32 c = 7; optional int64 y = 1;", 2, -1,
              1);
    CHECK_IDS(TWO, TWO_NAMES, "optional binary b; optional int32 a;", 2, 1);
    CHECK_IDS(TWO, TWO_NAMES, "optional int32 other; optional int64 b_not;optional int64 a;", -1,
              -1, 1);
}

static void aliases_are_followed(void **state) {
    (void)state;
    firn_error error = {0};
    world w = world_of(TWO, TWO_NAMES, "optional int32 a;");
    firn_parquet_schema_element *element =
        (firn_parquet_schema_element *)w.file->schema->leaves[0].node->element;
    element->name = "old a";
    check_ok(find_columns(&w, &error), &error);
    assert_int_equal(w.columns.field_ids[0], 1);
    firn_arena_free(w.arena);
}

#define LIST_OF(id, element_id, type)                                                              \
    FIELD(id, "l",                                                                                 \
          "{\"type\": \"list\", \"element-id\": " #element_id                                      \
          ", \"element-required\": false, \"element\": " type "}")
#define LIST_NAMES                                                                                 \
    "[{\"field-id\": 1, \"names\": [\"l\"], \"fields\": [{\"field-id\": 2, \"names\": "            \
    "[\"element\"]}]}]"

/* Whatever the inner names are (LogicalTypes.md, "Lists"). */
static void lists_by_structure(void **state) {
    (void)state;
    const char *table = SCHEMA(LIST_OF(1, 2, "\"int\""));
    static const char *const forms[] = {
        "optional group l (LIST) { repeated group list { optional int32 element; } }",
        "optional group l (LIST) { repeated group list { required int32 item; } }",
        "optional group l (LIST) { repeated group bag { optional int32 array_element; } }",
        "required group l (LIST) { repeated int32 array; }",
        "repeated int32 l;",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        CHECK_IDS(table, LIST_NAMES, forms[i], 2);
    }
}

static void maps_by_structure(void **state) {
    (void)state;
    const char *table =
        SCHEMA(FIELD(1, "m",
                     "{\"type\": \"map\", \"key-id\": 2, \"key\": \"string\", \"value-id\": 3, "
                     "\"value-required\": false, \"value\": \"int\"}"));
    const char *names = "[{\"field-id\": 1, \"names\": [\"m\"], \"fields\": [{\"field-id\": 2, "
                        "\"names\": [\"key\"]}, {\"field-id\": 3, \"names\": [\"value\"]}]}]";
    static const char *const forms[] = {
        "optional group m (MAP) { repeated group key_value { required binary key (STRING); "
        "optional int32 value; } }",
        "optional group m (MAP) { repeated group map { required binary str (STRING); required "
        "int32 num; } }",
        "optional group m (MAP_KEY_VALUE) { repeated group map { required binary key; optional "
        "int32 value; } }",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        CHECK_IDS(table, names, forms[i], 2, 3);
    }
}

static void what_a_file_lacks(void **state) {
    (void)state;
    const char *table = SCHEMA(FIELD(1, "s",
                                     "{\"type\": \"struct\", \"fields\": [" FIELD(
                                         2, "x", "\"int\"") "," FIELD(3, "y", "\"int\"") "]}"));
    /* Levels that a sibling lends are not that sibling's field. */
    CHECK_IDS(table, NULL, "optional group s = 1 { optional int32 y = 3; }", 3);
    const char *needed =
        SCHEMA("{\"id\": 1, \"name\": \"a\", \"required\": true, \"type\": \"long\"}," FIELD(
            2, "b", "\"string\""));
    check_refused(needed, TWO_NAMES, "optional binary b;", "column \"a\" (field id 1)");
}

static void refusals(void **state) {
    (void)state;
    check_refused(TWO, NULL, "optional int64 a;", "no field ids");
    check_refused(TWO, TWO_NAMES, "optional double a;", "column \"a\" (field id 1)");
    check_refused(TWO, NULL, "optional int64 a = 1; optional int64 b = 1;", "\"a\" and \"b\"");
    check_refused(TWO, NULL, "optional binary other (STRING) = 1;", "can't be read as long");
    check_refused(SCHEMA(FIELD(1, "u", "\"unknown\"")), NULL, "optional int64 a = 1;",
                  "no field that a Parquet file could store");
}

static firn_buffer key_of(const char *text) {
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    firn_buffer key = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_lake_columns_key(file_of(text, arena), &key, &error), &error);
    firn_arena_free(arena);
    return key;
}

/* Each differs from every other in one thing that matters. */
static void keys(void **state) {
    (void)state;
    static const char *const texts[] = {
        "optional int32 a;",
        "required int32 a;",
        "optional int64 a;",
        "optional int32 b;",
        "optional int32 ab;",
        "optional int32 a = 0;",
        "optional int32 a = 1;",
        "optional int32 a (DATE);",
        "optional int32 a (INT(8,true));",
        "optional int32 a (INT(8,false));",
        "optional int32 a (DECIMAL(9,2));",
        "optional int32 a (DECIMAL(9,3));",
        "optional int64 a (TIMESTAMP(MICROS,true));",
        "optional int64 a (TIMESTAMP(MICROS,false));",
        "optional int64 a (TIMESTAMP(MILLIS,false));",
        "optional fixed(3) a;",
        "optional fixed(4) a;",
        "optional binary a (GEOMETRY);",
        "optional binary a (GEOMETRY(x));",
        "optional group a { optional int32 b; } optional int32 c;",
        "optional group a { optional int32 b; optional int32 c; }",
    };
    enum { count = sizeof texts / sizeof *texts };
    firn_buffer all[count];
    for (size_t i = 0; i < count; i++) {
        all[i] = key_of(texts[i]);
        for (size_t j = 0; j < i; j++) {
            assert_false(firn_slice_equal(firn_buffer_slice(&all[i]), firn_buffer_slice(&all[j])));
        }
        firn_buffer again = key_of(texts[i]);
        assert_true(firn_slice_equal(firn_buffer_slice(&all[i]), firn_buffer_slice(&again)));
        firn_buffer_release(&again);
    }
    for (size_t i = 0; i < count; i++) firn_buffer_release(&all[i]);
}

static firn_status find_again(void *context, firn_error *error) {
    world *w = context;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_buffer key = firn_buffer_with_maximum(1 << 20);
    firn_status status =
        firn_lake_columns_of(w->schema, w->mapping, 2, w->file, "f", arena, &w->columns, error);
    if (status == FIRN_OK) status = firn_lake_columns_key(w->file, &key, error);
    firn_buffer_release(&key);
    firn_arena_free(arena);
    return status;
}

static void allocations(void **state) {
    (void)state;
    world w = world_of(SCHEMA(LIST_OF(1, 2, "\"int\"")), LIST_NAMES,
                       "optional group l (LIST) { repeated group list { optional int32 item; } }");
    check_each_allocation(find_again, &w);
    firn_arena_free(w.arena);
}

#define MANY 5000

/* Minutes, where the time grows with the cube of the columns. */
static void many_columns(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer texts[3];
    for (size_t i = 0; i < 3; i++) texts[i] = firn_buffer_with_maximum((size_t)16 << 20);
    for (int i = 0; i < MANY; i++) {
        const char *comma = i == 0 ? "" : ",";
        check_ok(firn_buffer_printf(&texts[0], &error,
                                    "%s{\"id\": %d, \"name\": \"c%d\", \"required\": false, "
                                    "\"type\": \"long\"}",
                                    i == 0 ? "{\"type\": \"struct\", \"fields\": [" : ",", i + 1,
                                    i),
                 &error);
        check_ok(firn_buffer_printf(&texts[1], &error, "%s{\"field-id\": %d, \"names\": [\"c%d\"]}",
                                    i == 0 ? "[" : comma, i + 1, i),
                 &error);
        check_ok(firn_buffer_printf(&texts[2], &error, "optional int32 c%d; ", MANY - 1 - i),
                 &error);
    }
    check_ok(firn_buffer_append_text(&texts[0], "]}", &error), &error);
    check_ok(firn_buffer_append_text(&texts[1], "]", &error), &error);
    char *schema = firn_buffer_take_text(&texts[0]);
    char *mapping = firn_buffer_take_text(&texts[1]);
    char *file = firn_buffer_take_text(&texts[2]);
    world w = world_of(schema, mapping, file);
    check_ok(find_columns(&w, &error), &error);
    for (int i = 0; i < MANY; i++) assert_int_equal(w.columns.field_ids[i], MANY - i);
    firn_arena_free(w.arena);
    firn_free(schema);
    firn_free(mapping);
    firn_free(file);
    for (size_t i = 0; i < 3; i++) firn_buffer_release(&texts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_id_and_by_name),
        cmocka_unit_test(aliases_are_followed),
        cmocka_unit_test(lists_by_structure),
        cmocka_unit_test(maps_by_structure),
        cmocka_unit_test(what_a_file_lacks),
        cmocka_unit_test(refusals),
        cmocka_unit_test(keys),
        cmocka_unit_test(many_columns),
        cmocka_unit_test(allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
