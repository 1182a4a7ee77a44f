/* One schema for many files: types, promotions, structures, names, ids, and what is refused. */
#include "file_schema.h"

#include <stdio.h>

#include "base/json.h"
#include "lake/columns.h"
#include "lake/schema_union.h"

#define FIELD(id, name, type)                                                                      \
    "{\"id\": " #id ", \"name\": \"" name "\", \"required\": false, \"type\": " type "}"
#define SCHEMA(...) "{\"type\": \"struct\", \"schema-id\": 0, \"fields\": [" __VA_ARGS__ "]}"

typedef struct lake {
    firn_arena *arena;
    const firn_schema *base;
    const firn_name_mapping *mapping;
    int format_version;
    firn_schema_union *schemas;
    const firn_parquet_file *files[16];
    size_t file_count;
} lake;

static lake lake_of(const char *base, int32_t last_id, const char *mapping, int format_version) {
    firn_error error = {0};
    firn_json_setup();
    lake l = {.arena = firn_arena_new(), .format_version = format_version};
    if (base != NULL) {
        json_t *json = NULL;
        check_ok(firn_json_parse(firn_slice_text(base), "schema", &json, &error), &error);
        /* The schema borrows its defaults from the JSON. */
        firn_arena_on_free(l.arena, (void (*)(void *))json_decref, json);
        check_ok(firn_schema_parse(json, "schema", l.arena, &l.base, &error), &error);
    }
    if (mapping != NULL) {
        check_ok(firn_name_mapping_parse(mapping, l.arena, &l.mapping, &error), &error);
    }
    check_ok(firn_schema_union_new(l.base, last_id, format_version, l.mapping, &l.schemas, &error),
             &error);
    return l;
}

static lake new_lake(int format_version) {
    return lake_of(NULL, 0, NULL, format_version);
}

static void release(lake *l) {
    firn_schema_union_free(l->schemas);
    firn_arena_free(l->arena);
}

/* Files are called f0, f1, … */
static firn_status add(lake *l, const char *text, firn_error *error) {
    char name[32];
    snprintf(name, sizeof name, "s3://b/f%zu", l->file_count);
    const firn_parquet_file *file = file_of(text, l->arena);
    firn_status status = firn_schema_union_add(l->schemas, file, name, error);
    l->files[l->file_count++] = file;
    if (status != FIRN_OK) l->files[l->file_count - 1] = NULL;
    return status;
}

static void take(lake *l, const char *text) {
    firn_error error = {0};
    check_ok(add(l, text, &error), &error);
}

static void refuse(lake *l, const char *text, const char *part) {
    firn_error error = {0};
    bool changed = firn_schema_union_changed(l->schemas);
    size_t before = 0;
    size_t after = 0;
    firn_schema_union_surprises(l->schemas, &before);
    check_fails(add(l, text, &error), FIRN_INVALID, &error, part);
    char name[32];
    snprintf(name, sizeof name, "s3://b/f%zu: ", l->file_count - 1);
    assert_non_null(strstr(error.message, name));
    firn_schema_union_surprises(l->schemas, &after);
    assert_int_equal(before, after);
    assert_int_equal(changed, firn_schema_union_changed(l->schemas));
}

/* "1 a: int, 2 s: {3 x: long}, 4 l: [5 string], 6 m: <7 string, 8 int>"; "!" behind the name of a required field. */
static void print_type(const firn_type *type, firn_buffer *out);

static void print_fields(const firn_type *type, bool named, firn_buffer *out) {
    firn_error error = {0};
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const char *comma = i == 0 ? "" : ", ";
        if (named) {
            check_ok(firn_buffer_printf(out, &error, "%s%d %s%s: ", comma, field->id, field->name,
                                        field->required ? "!" : ""),
                     &error);
        } else {
            check_ok(firn_buffer_printf(out, &error, "%s%d ", comma, field->id), &error);
        }
        print_type(field->type, out);
    }
}

static void print_type(const firn_type *type, firn_buffer *out) {
    firn_error error = {0};
    static const char *const brackets[] = {"{}", "[]", "<>"};
    if (!firn_type_is_nested(type->kind)) {
        check_ok(firn_buffer_append_text(out, type->text, &error), &error);
        return;
    }
    const char *bracket = brackets[type->kind - FIRN_TYPE_STRUCT];
    check_ok(firn_buffer_append_byte(out, (uint8_t)bracket[0], &error), &error);
    print_fields(type, type->kind == FIRN_TYPE_STRUCT, out);
    check_ok(firn_buffer_append_byte(out, (uint8_t)bracket[1], &error), &error);
}

/* Every file that was taken in is found by the schema and its mapping, all columns of it but `unread`. */
static void check_read(lake *l, size_t unread) {
    firn_error error = {0};
    const firn_schema *schema = firn_schema_union_schema(l->schemas);
    assert_non_null(schema);
    char *text = NULL;
    const firn_name_mapping *mapping = NULL;
    check_ok(firn_name_mapping_for(schema, l->mapping, &text, &error), &error);
    check_ok(firn_name_mapping_parse(text, l->arena, &mapping, &error), &error);
    assert_true(firn_name_mapping_covers(mapping, schema));
    firn_free(text);
    for (size_t i = 0; i < l->file_count; i++) {
        if (l->files[i] == NULL) continue;
        firn_lake_columns columns = {0};
        check_ok(firn_lake_columns_of(schema, mapping, l->format_version, l->files[i], "f",
                                      l->arena, &columns, &error),
                 &error);
        for (size_t leaf = 0; leaf < columns.leaf_count; leaf++) {
            if (columns.field_ids[leaf] >= 0) continue;
            assert_true(unread > 0);
            unread--;
        }
    }
    assert_int_equal(unread, 0);
}

static void check_schema(lake *l, const char *expected) {
    firn_error error = {0};
    const firn_schema *schema = firn_schema_union_schema(l->schemas);
    assert_non_null(schema);
    assert_ptr_equal(schema, firn_schema_union_schema(l->schemas));
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    print_fields(&schema->root, true, &text);
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    assert_string_equal((const char *)text.data, expected);
    firn_buffer_release(&text);
    assert_true(firn_schema_union_last_column_id(l->schemas) >= firn_schema_highest_id(schema));
}

/* "column|what|file" joined by ";" */
static void check_surprises(const lake *l, const char *expected) {
    firn_error error = {0};
    size_t count = 0;
    const firn_schema_surprise *list = firn_schema_union_surprises(l->schemas, &count);
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    for (size_t i = 0; i < count; i++) {
        check_ok(firn_buffer_printf(&text, &error, "%s%s|%s|%s", i == 0 ? "" : ";", list[i].column,
                                    list[i].what, list[i].location + strlen("s3://b/")),
                 &error);
    }
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    assert_string_equal((const char *)text.data, expected);
    firn_buffer_release(&text);
}

typedef struct type_case {
    const char *file, *v2, *v3; /* types; what begins with "-" is a refusal's text */
} type_case;

static const type_case type_cases[] = {
    {"boolean a", "boolean", "boolean"},
    {"int32 a", "int", "int"},
    {"int32 a (INT(8,true))", "int", "int"},
    {"int32 a (INT(16,false))", "int", "int"},
    {"int32 a (INT(32,true))", "int", "int"},
    {"int32 a (INT(32,false))", "long", "long"},
    {"int64 a", "long", "long"},
    {"int64 a (INT(64,true))", "long", "long"},
    {"int64 a (INT(64,false))", "-unsigned 64-bit", "-decimal(20,0)"},
    {"int32 a (INT(64,true))", "-annotation", "-annotation"},
    {"int32 a (STRING)", "-annotation", "-annotation"},
    {"float a", "float", "float"},
    {"double a", "double", "double"},
    {"fixed(2) a (FLOAT16)", "-16-bit", "-16-bit"},
    {"int32 a (DECIMAL(7,2))", "decimal(7,2)", "decimal(7,2)"},
    {"int64 a (DECIMAL(12,2))", "decimal(12,2)", "decimal(12,2)"},
    {"fixed(16) a (DECIMAL(38,10))", "decimal(38,10)", "decimal(38,10)"},
    {"binary a (DECIMAL(20,0))", "decimal(20,0)", "decimal(20,0)"},
    {"fixed(20) a (DECIMAL(40,0))", "-38 digits", "-38 digits"},
    {"int32 a (DECIMAL(3,4))", "-scale", "-scale"},
    {"int32 a (DATE)", "date", "date"},
    {"int32 a (TIME(MILLIS,true))", "time", "time"},
    {"int64 a (TIME(MICROS,false))", "time", "time"},
    {"int64 a (TIME(NANOS,false))", "-nanoseconds", "-nanoseconds"},
    {"int64 a (TIMESTAMP(MILLIS,true))", "timestamptz", "timestamptz"},
    {"int64 a (TIMESTAMP(MICROS,false))", "timestamp", "timestamp"},
    {"int64 a (TIMESTAMP(NANOS,false))", "---format-version 3", "timestamp_ns"},
    {"int64 a (TIMESTAMP(NANOS,true))", "---format-version 3", "timestamptz_ns"},
    {"int96 a", "timestamptz", "timestamptz"},
    {"binary a (STRING)", "string", "string"},
    {"binary a (ENUM)", "string", "string"},
    {"binary a (JSON)", "string", "string"},
    {"binary a (BSON)", "binary", "binary"},
    {"binary a", "binary", "binary"},
    {"fixed(16) a (UUID)", "uuid", "uuid"},
    {"fixed(15) a (UUID)", "-annotation", "-annotation"},
    {"fixed(5) a", "fixed[5]", "fixed[5]"},
    {"fixed(12) a (INTERVAL)", "-intervals", "-intervals"},
    {"int32 a (ODD)", "-annotation", "-annotation"},
    {"binary a (GEOMETRY)", "---format-version 3", "geometry"},
    {"binary a (GEOMETRY(srid:3857))", "---format-version 3", "geometry(srid:3857)"},
    {"binary a (GEOGRAPHY)", "---format-version 3", "geography"},
};

static void check_type(const char *column, const char *expected, int format_version) {
    char text[128], schema[128];
    lake l = new_lake(format_version);
    snprintf(text, sizeof text, "required %s; optional int32 z;", column);
    if (*expected == '-') {
        refuse(&l, text, expected + 1);
        refuse(&l, text, "column \"a\": ");
    } else {
        snprintf(schema, sizeof schema, "1 a: %s, 2 z: int", expected);
        take(&l, text);
        check_schema(&l, schema);
        check_read(&l, 0);
    }
    release(&l);
}

static void types(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof type_cases / sizeof *type_cases; i++) {
        check_type(type_cases[i].file, type_cases[i].v2, 1);
        check_type(type_cases[i].file, type_cases[i].v2, 2);
        check_type(type_cases[i].file, type_cases[i].v3, 3);
    }
}

typedef struct pair_case {
    const char *a, *b, *v2, *v3; /* NULL: refused */
} pair_case;

static const pair_case pair_cases[] = {
    {"int32 a", "int64 a", "long", "long"},
    {"int32 a (INT(8,false))", "int32 a (INT(32,false))", "long", "long"},
    {"float a", "double a", "double", "double"},
    {"int32 a", "double a", NULL, NULL},
    {"int32 a (DECIMAL(7,2))", "fixed(9) a (DECIMAL(20,2))", "decimal(20,2)", "decimal(20,2)"},
    {"int32 a (DECIMAL(7,2))", "int32 a (DECIMAL(7,3))", NULL, NULL},
    {"int32 a (DATE)", "int64 a (TIMESTAMP(MICROS,false))", NULL, "timestamp"},
    {"int32 a (DATE)", "int64 a (TIMESTAMP(MICROS,true))", NULL, NULL},
    {"int32 a", "int32 a (DATE)", NULL, NULL},
    {"binary a (STRING)", "binary a", NULL, NULL},
    {"fixed(16) a (UUID)", "fixed(16) a", NULL, NULL},
    {"fixed(3) a", "fixed(4) a", NULL, NULL},
    {"int64 a (TIMESTAMP(MICROS,true))", "int64 a (TIMESTAMP(MICROS,false))", NULL, NULL},
    {"int64 a (TIMESTAMP(MILLIS,true))", "int96 a", "timestamptz", "timestamptz"},
    {"int32 a", "group a { optional int32 b; }", NULL, NULL},
    {"group a (LIST) { repeated group list { optional int32 element; } }",
     "group a { optional int32 b; }", NULL, NULL},
    {"group a (LIST) { repeated int32 array; }",
     "group a (LIST) { repeated group bag { optional int64 array_element; } }", "[# long]",
     "[# long]"},
    {"group a (MAP) { repeated group key_value { required binary key (STRING); optional int32 "
     "value; } }",
     "group a (MAP_KEY_VALUE) { repeated group map { required binary k (STRING); required int64 "
     "v; } }",
     "<# string, # long>", "<# string, # long>"},
    {"group a (MAP) { repeated group key_value { required int32 key; optional int32 value; } }",
     "group a (MAP) { repeated group key_value { required int64 key; optional int32 value; } }",
     NULL, NULL},
    {"group a { optional int32 x; }", "group a { optional int64 x; }", "{# x: long}",
     "{# x: long}"},
};

/* The type of "a", ids left out. */
static void check_first(lake *l, const char *expected) {
    const firn_schema *schema = firn_schema_union_schema(l->schemas);
    assert_non_null(schema);
    const firn_field *field = firn_schema_find_name(schema, "a");
    assert_non_null(field);
    firn_buffer text = firn_buffer_with_maximum(1 << 16);
    print_type(field->type, &text);
    firn_error error = {0};
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    const char *got = (const char *)text.data;
    for (; *expected != '\0'; expected++, got++) {
        if (*expected == '#') {
            while (got[1] >= '0' && got[1] <= '9') got++;
            continue;
        }
        assert_int_equal(*got, *expected);
    }
    assert_int_equal(*got, '\0');
    firn_buffer_release(&text);
}

static void check_pair(const char *a, const char *b, const char *expected, int format_version) {
    char first[256], second[256];
    snprintf(first, sizeof first, "optional %s%s optional int32 z;", a,
             a[strlen(a) - 1] == '}' ? "" : ";");
    snprintf(second, sizeof second, "optional int32 z; required %s%s", b,
             b[strlen(b) - 1] == '}' ? "" : ";");
    lake l = new_lake(format_version);
    take(&l, first);
    if (expected == NULL) {
        refuse(&l, second, "s3://b/f0");
    } else {
        take(&l, second);
        check_first(&l, expected);
        check_read(&l, 0);
    }
    release(&l);
}

static void promotions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pair_cases / sizeof *pair_cases; i++) {
        const pair_case *c = &pair_cases[i];
        check_pair(c->a, c->b, c->v2, 2);
        check_pair(c->b, c->a, c->v2, 2);
        check_pair(c->a, c->b, c->v3, 3);
        check_pair(c->b, c->a, c->v3, 3);
    }
}

typedef struct form_case {
    const char *file, *schema; /* "-": refused */
} form_case;

static const form_case form_cases[] = {
    /* LogicalTypes.md, "Lists": its own examples, and what writers made. */
    {"optional group l (LIST) { repeated int32 element; }", "1 l: [2 int]"},
    {"optional group l (LIST) { repeated group element { required binary str (STRING); required "
     "int32 num; } }",
     "1 l: [2 {3 str: string, 4 num: int}]"},
    {"optional group l (LIST) { repeated group array (LIST) { repeated int32 array; } }",
     "1 l: [2 [3 int]]"},
    {"optional group l (LIST) { repeated group array { required binary str (STRING); } }",
     "1 l: [2 {3 str: string}]"},
    {"optional group l (LIST) { repeated group l_tuple { required binary str (STRING); } }",
     "1 l: [2 {3 str: string}]"},
    {"optional group l (LIST) { repeated group element { optional binary str (STRING); } }",
     "1 l: [2 string]"},
    {"optional group l (LIST) { repeated group list { optional binary item (STRING); } }",
     "1 l: [2 string]"},
    {"optional group l (LIST) { repeated group bag { optional group array_element { optional int32 "
     "x; } } }",
     "1 l: [2 {3 x: int}]"},
    {"repeated int32 l;", "1 l: [2 int]"},
    {"repeated group l { optional int32 x; repeated int32 y; }",
     "1 l: [2 {3 x: int, 4 y: [5 int]}]"},
    {"optional group l (LIST) { optional int32 element; }", "-a list whose structure"},
    {"optional group l (LIST) { repeated int32 a; repeated int32 b; }", "-a list whose structure"},
    {"optional group m (MAP) { repeated group map { required binary str (STRING); required int32 "
     "num; } }",
     "1 m: <2 string, 3 int>"},
    {"optional group m (MAP) { repeated group key_value { required binary key (STRING); } }",
     "-a map without values"},
    {"optional group m (MAP) { repeated int32 key; }", "-a map whose structure"},
    {"optional group g (DATE) { optional int32 x; }", "-annotation"},
    {"optional group g { }", "-a group without columns"},
    {"optional group v (VARIANT) { required binary metadata; required binary value; }",
     "---format-version 3"},
    /* What lies below comes after the siblings. */
    {"required group s { required group t { optional int32 x; } optional int32 y; } optional int32 "
     "z;",
     "1 s: {3 t: {5 x: int}, 4 y: int}, 2 z: int"},
    /* A group that is not annotated is a struct. */
    {"optional group s { repeated int32 x; }", "1 s: {2 x: [3 int]}"},
};

static void forms(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof form_cases / sizeof *form_cases; i++) {
        lake l = new_lake(2);
        const form_case *c = &form_cases[i];
        if (*c->schema == '-') {
            refuse(&l, c->file, c->schema + 1);
        } else {
            take(&l, c->file);
            check_schema(&l, c->schema);
            check_read(&l, 0);
        }
        release(&l);
    }
}

static void variants(void **state) {
    (void)state;
    lake l = new_lake(3);
    take(&l, "optional group v (VARIANT) { required binary metadata; required binary value; }");
    check_schema(&l, "1 v: variant");
    refuse(&l,
           "optional group v (VARIANT) { required binary metadata; optional binary value; "
           "optional int32 typed_value; }",
           "shredded");
    release(&l);
    l = new_lake(3);
    take(&l, "optional group v (VARIANT) = 4 { required binary metadata; optional binary value; "
             "optional int32 typed_value; }");
    check_schema(&l, "4 v: variant");
    refuse(&l, "optional group v (VARIANT) = 4 { }", "a group without columns");
    refuse(&l,
           "optional group w (LIST) = 6 { repeated group list (VARIANT) { required binary element "
           "= 7; } }",
           "a variant where a list or map has its members");
    release(&l);
    l = new_lake(3);
    refuse(&l, "optional group v (VARIANT) { optional int32 metadata; optional binary value; }",
           "shredded");
    release(&l);
}

static void letter_cases(void **state) {
    (void)state;
    lake l = new_lake(2);
    refuse(&l, "optional int32 Tile; optional int32 tile;", "has \"Tile\"");
    take(&l, "optional int32 Tile; optional group s { optional int32 x; }");
    refuse(&l, "optional int32 tile;", "s3://b/f1 has \"Tile\"");
    refuse(&l, "optional group s { optional int32 X; }", "column \"s.X\"");
    refuse(&l, "optional int32 Tile; optional int32 Tile;", "two columns for it");
    check_schema(&l, "1 Tile: int, 2 s: {3 x: int}");
    release(&l);
}

static void one_name_twice(void **state) {
    (void)state;
    lake l = new_lake(2);
    refuse(&l, "optional int32 a; optional int32 a;", "two columns of this name");
    refuse(&l, "optional group s { optional int32 x; optional int32 x; }",
           "column \"s.x\": the file has two columns of this name");
    take(&l, "optional group s { optional int32 x; }");
    refuse(&l, "optional int32 a; optional int32 a;", "two columns of this name");
    refuse(&l, "optional group s { optional int32 y; optional int32 y; }",
           "column \"s.y\": the file has two columns of this name");
    check_schema(&l, "1 s: {2 x: int}");
    release(&l);
}

#define LIST_OF_INT "optional group l (LIST) { repeated group list { optional int32 element; } }"
#define MAP_TO_INT                                                                                 \
    "optional group m (MAP) { repeated group key_value { required int32 key; optional int32 "      \
    "value; } }"

/* "a.b" is the member b of a as well as a column of that name: readers refuse a schema that has both. */
static void full_names(void **state) {
    (void)state;
    firn_error error = {0};
    firn_type string = {.kind = FIRN_TYPE_STRING, .text = "string"};
    lake l = new_lake(2);
    refuse(&l, "optional int32 a.b; optional group a { optional int32 b; }",
           "column \"a.b\": two columns would have this full name");
    refuse(&l, "optional group a { optional int32 B; } optional int32 A.b;", "two columns would");
    refuse(&l, LIST_OF_INT " optional int32 l.element;", "column \"l.element\"");
    refuse(&l, MAP_TO_INT " optional int32 m.key;", "column \"m.key\"");
    refuse(&l, MAP_TO_INT " optional int32 m.value;", "column \"m.value\"");
    take(&l, "optional int32 x.y; optional group z { optional group a { optional int32 b; } }");
    refuse(&l, "optional group x { optional int32 y; }", "the one of s3://b/f5");
    refuse(&l, "optional group z { optional int32 a.b; }", "column \"z.a.b\"");
    take(&l, "optional group x { optional int32 z; }");
    check_fails(firn_schema_union_add_column(l.schemas, "x.z", &string, &error), FIRN_INVALID,
                &error, "column \"x.z\": two columns would have this full name");
    check_ok(firn_schema_union_add_column(l.schemas, "x.w", &string, &error), &error);
    refuse(&l, "optional group x { optional int32 w; }", "what the paths say");
    release(&l);
    l = lake_of(SCHEMA(FIELD(1, "l",
                             "{\"type\": \"list\", \"element-id\": 2, \"element\": "
                             "\"int\", \"element-required\": false}")),
                2, NULL, 2);
    refuse(&l, "optional int32 l.element;", "the one of the table");
    release(&l);
}

static void ids_of_files(void **state) {
    (void)state;
    lake l = new_lake(2);
    /* Ids are kept where they are, and those without get new ones, whichever file comes first. */
    take(&l, "optional int32 a; optional int32 b;");
    take(&l,
         "optional int32 b = 7; optional group l (LIST) = 3 { repeated group list { optional int32 "
         "element = 9; } }");
    refuse(&l, "optional int32 b = 8;", "field id 8, and s3://b/f0 has it as 7");
    refuse(&l, "optional int32 c = 7;", "field id 7, which is that of \"b\"");
    refuse(&l, "optional int32 c = 9;", "field id 9, which is another column's");
    refuse(&l, "optional int32 a = 9;", "field id 9, which is another column's");
    refuse(&l, "optional int32 c = 11; optional int32 d = 11;",
           "column \"c\" has the same field id");
    refuse(&l, "optional int32 c = 11; optional int32 d;", "\"d\" has none");
    refuse(&l, "optional group l (LIST) = 3 { repeated group list { optional int32 element; } }",
           "\"l.element\" has none");
    check_schema(&l, "10 a: int, 7 b: int, 3 l: [9 int]");
    check_read(&l, 0);
    assert_int_equal(firn_schema_union_last_column_id(l.schemas), 10);
    /* The group around an element may have an id, but no column's. */
    refuse(
        &l,
        "optional group l (LIST) = 3 { repeated group list = 9 { optional int32 element = 9; } }",
        "the same field id, 9");
    take(&l,
         "optional group l (LIST) = 3 { repeated group list = 4 { optional int32 element = 9; } }");
    /* They stay once they were told. */
    refuse(&l, "optional int32 a = 12;", "field id 12, and s3://b/f0 has it as 10");
    release(&l);
    l = new_lake(2);
    take(&l, "optional int32 a = 0; optional int32 b = 2147483540;");
    check_schema(&l, "0 a: int");
    check_surprises(&l, "b|left out: a metadata column|f0");
    release(&l);
    l = new_lake(2);
    refuse(&l, "optional int32 a = 2147483447; repeated int32 l = 1;", "no field ids are left");
    /* A file of position deletes. */
    refuse(&l, "required binary file_path (STRING) = 2147483546; required int64 pos = 2147483545;",
           "their field ids are reserved for metadata columns");
    release(&l);
}

#define TWO SCHEMA(FIELD(1, "a", "\"int\"") "," FIELD(2, "b c", "\"string\""))

static void base_with_ids(void **state) {
    (void)state;
    lake l = lake_of(TWO, 5, NULL, 2);
    assert_false(firn_schema_union_changed(l.schemas));
    take(&l, "optional int32 a = 1;");
    assert_false(firn_schema_union_changed(l.schemas));
    check_schema(&l, "1 a: int, 2 b c: string");
    check_surprises(&l, "b c|missing in files|f0");
    /* As Iceberg's own writers spell it. */
    take(&l, "optional int32 a = 1; optional binary b_x20c (STRING) = 2;");
    refuse(&l, "optional int32 x = 1;", "field id 1, which is that of \"a\" in the table");
    refuse(&l, "optional int32 a = 2;", "field id 2, which is that of \"b c\"");
    refuse(&l, "optional int32 a = 9;", "field id 9, and the table has it as 1");
    refuse(&l, "optional int32 x = 4;", "none of the file's columns");
    take(&l, "optional int32 a = 1; optional int32 x = 4;");
    assert_false(firn_schema_union_changed(l.schemas));
    take(&l, "optional int64 a = 1; optional int32 y = 8;");
    assert_true(firn_schema_union_changed(l.schemas));
    check_schema(&l, "1 a: long, 2 b c: string, 8 y: int");
    assert_int_equal(firn_schema_union_last_column_id(l.schemas), 8);
    check_surprises(&l, "b c|missing in files|f0;"
                        "x|left out: its field id is of a column that was dropped|f6;"
                        "a|promoted from int to long|f7;y|new column|f7");
    release(&l);
}

static void base_with_names(void **state) {
    (void)state;
    const char *base = SCHEMA(
        "{\"id\": 1, \"name\": \"a\", \"required\": true, \"doc\": \"d\", \"type\": "
        "\"date\"}," FIELD(
            2, "s", "{\"type\": \"struct\", \"fields\": [" FIELD(3, "x", "\"string\"") "]}"));
    const char *mapping =
        "[{\"field-id\": 1, \"names\": [\"a\", \"old\"]}, {\"field-id\": 2, \"names\": [\"s\"], "
        "\"fields\": [{\"field-id\": 3, \"names\": [\"x\", \"ex\"]}]}, {\"field-id\": 4, "
        "\"names\": [\"gone\"]}, {\"names\": [\"never\"]}]";
    lake l = lake_of(base, 10, mapping, 3);
    take(&l, "optional int32 old (DATE); optional int32 gone; optional int32 never; "
             "optional group s { optional binary ex; optional int32 z; }");
    refuse(&l, "optional int32 old (DATE); optional int32 a (DATE);", "\"old\" and \"a\"");
    refuse(&l, "optional int64 a (TIMESTAMP(MICROS,false));", "the table has date");
    refuse(&l, "optional int32 A (DATE);", "the table has \"a\"");
    take(&l, "required int32 a (DATE); optional group s { optional binary x (STRING); }");
    check_schema(&l, "1 a!: date, 2 s: {3 x: string, 11 z: int}");
    assert_string_equal(firn_schema_find(firn_schema_union_schema(l.schemas), 1)->doc, "d");
    check_read(&l, 2);
    check_surprises(&l,
                    "a|called \"old\" in files|f0;a|required in the table, optional in files|f0;"
                    "gone|left out: the name mapping has it for no column of the table|f0;"
                    "never|left out: the name mapping has it for no column of the table|f0;"
                    "s.x|called \"ex\" in files|f0;s.z|new column|f0;s.z|missing in files|f4");
    release(&l);
}

typedef struct counted {
    firn_parquet_column_chunk chunks[2];
    firn_parquet_row_group groups[2];
    firn_parquet_file_metadata metadata;
} counted;

/* Two row groups of a column "a", with these null counts; -1: not counted. */
static firn_status add_counted(lake *l, int64_t first, int64_t second, firn_error *error) {
    firn_parquet_file *file = file_of("optional int32 a;", l->arena);
    counted *c = firn_arena_alloc(l->arena, 1, sizeof *c);
    assert_non_null(c);
    const int64_t nulls[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        c->chunks[i].statistics.has_null_count = nulls[i] >= 0;
        c->chunks[i].statistics.null_count = nulls[i];
        c->groups[i] =
            (firn_parquet_row_group){.columns = &c->chunks[i], .column_count = 1, .num_rows = 9};
    }
    c->metadata.row_groups = c->groups;
    c->metadata.row_group_count = 2;
    file->metadata = &c->metadata;
    return firn_schema_union_add(l->schemas, file, "s3://b/f", error);
}

/* Each file for itself, also where its columns were seen before. */
static void required_columns(void **state) {
    (void)state;
    firn_error error = {0};
    lake l = lake_of(SCHEMA("{\"id\": 1, \"name\": \"a\", \"required\": true, \"type\": \"int\"}"),
                     1, NULL, 2);
    check_fails(add_counted(&l, 0, 3, &error), FIRN_INVALID, &error, "the file has nulls in it");
    check_ok(add_counted(&l, 0, 0, &error), &error);
    check_fails(add_counted(&l, 1, 0, &error), FIRN_INVALID, &error, "s3://b/f: column \"a\"");
    check_fails(add_counted(&l, 0, -1, &error), FIRN_INVALID, &error, "does not say");
    check_surprises(&l, "a|required in the table, optional in files|f");
    assert_false(firn_schema_union_changed(l.schemas));
    release(&l);
    l = lake_of(SCHEMA(FIELD(1, "a", "\"int\"")), 1, NULL, 2);
    check_ok(add_counted(&l, 0, -1, &error), &error);
    release(&l);
}

/* What a file does not say, the table may know. */
static void bare_columns(void **state) {
    (void)state;
    lake l = lake_of(SCHEMA(FIELD(1, "s", "\"string\"") "," FIELD(2, "u", "\"uuid\"") "," FIELD(
                         3, "t", "\"timestamp\"")),
                     3, NULL, 2);
    take(&l, "optional binary s; optional fixed(16) u; optional int96 t;");
    assert_false(firn_schema_union_changed(l.schemas));
    check_surprises(&l, "t|read from INT96|f0");
    check_read(&l, 0);
    refuse(&l, "optional fixed(15) u;", "fixed[15]");
    refuse(&l, "optional int64 t (TIMESTAMP(MICROS,true));", "timestamptz");
    release(&l);
}

/* Not all readers can read such a file, wherever in it the column is and whatever the table has by its name. */
static void nulls_without_type(void **state) {
    (void)state;
    static const char *const files[] = {
        "optional int32 a (NULL); optional int32 z;",
        "optional group s { optional int32 a (NULL); optional int32 x; }",
        "optional group s { optional int32 a (NULL); }",
        "optional group l (LIST) { repeated group list { optional int32 element (NULL); } }",
        "optional group l (LIST) { repeated group list { optional group element { optional int32 a "
        "(NULL); } } }",
        "optional group m (MAP) { repeated group key_value { required binary key (STRING); "
        "optional int32 value (NULL); } }",
        "repeated int32 a (NULL);",
    };
    for (int version = 1; version <= 3; version++) {
        lake l = lake_of(SCHEMA(FIELD(1, "a", "\"int\"")), 1, NULL, version);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            refuse(&l, files[i], "nothing but nulls, of no type");
        }
        assert_false(firn_schema_union_changed(l.schemas));
        release(&l);
    }
}

/* A table may have them, of version 3, and nobody knows their type before a file has one. */
static void unknown_of_the_table(void **state) {
    (void)state;
    lake l = lake_of(SCHEMA(FIELD(1, "a", "\"unknown\"") "," FIELD(2, "b", "\"unknown\"") "," FIELD(
                         3, "z", "\"int\"")),
                     3, NULL, 3);
    take(&l, "optional int64 a; optional group b { optional int32 y; }");
    check_schema(&l, "1 a: long, 2 b: {4 y: int}, 3 z: int");
    check_surprises(&l, "a|promoted from unknown to long|f0;b|promoted from unknown to a struct|f0;"
                        "z|missing in files|f0");
    check_read(&l, 0);
    refuse(&l, "optional binary a (STRING);", "there is no promotion between them");
    release(&l);
}

static void columns_of_paths(void **state) {
    (void)state;
    firn_error error = {0};
    firn_type string = {.kind = FIRN_TYPE_STRING, .text = "string"};
    lake l = new_lake(2);
    take(&l, "optional int32 a;");
    check_ok(firn_schema_union_add_column(l.schemas, "region", &string, &error), &error);
    check_fails(firn_schema_union_add_column(l.schemas, "A", &string, &error), FIRN_INVALID, &error,
                "column \"a\"");
    take(&l, "optional int64 a;");
    check_surprises(&l, "a|promoted from int to long|f1");
    check_schema(&l, "1 a: long, 2 region: string");
    refuse(&l, "optional int32 region;", "what the paths say has string");
    take(&l, "optional binary region (STRING);");
    release(&l);
}

/* What was added since the mark is undone, also where files with the same columns come again. */
static void going_back(void **state) {
    (void)state;
    firn_error error = {0};
    lake l = new_lake(2);
    firn_schema_union_mark(l.schemas);
    take(&l, "optional int32 a; optional binary b (STRING);");
    check_ok(firn_schema_union_go_back(l.schemas, &error), &error);
    l.file_count = 0;
    assert_false(firn_schema_union_changed(l.schemas));
    take(&l, "optional int32 a;");
    firn_schema_union_mark(l.schemas);
    take(&l, "optional int64 a; optional int96 t;");
    take(&l, "optional int64 b;");
    check_ok(firn_schema_union_go_back(l.schemas, &error), &error);
    l.file_count = 1;
    check_surprises(&l, "");
    check_schema(&l, "1 a: int");
    take(&l, "optional int64 a; optional int32 t;");
    check_schema(&l, "1 a: long, 2 t: int");
    check_read(&l, 0);
    release(&l);
}

static void later_columns(void **state) {
    (void)state;
    lake l = new_lake(2);
    take(&l, "optional int32 a;");
    take(&l, "optional int32 a; optional int96 b; repeated int32 c;");
    take(&l, "optional int96 b;");
    check_surprises(&l, "b|read from INT96|f1;b|missing in files|f0;"
                        "c|a repeated column without a list around it|f1;c|missing in files|f0;"
                        "a|missing in files|f2");
    release(&l);
}

/* Deep nesting is bounded, and what is taken in can be parsed again. */
static void deep(void **state) {
    (void)state;
    firn_error error = {0};
    for (int depth = 60; depth <= 70; depth += 10) {
        lake l = new_lake(2);
        firn_buffer text = firn_buffer_with_maximum(1 << 20);
        for (int i = 0; i < depth; i++) {
            check_ok(firn_buffer_append_text(&text, "optional group g { ", &error), &error);
        }
        check_ok(firn_buffer_append_text(&text, "optional int32 x; ", &error), &error);
        for (int i = 0; i < depth; i++) {
            check_ok(firn_buffer_append_text(&text, "} ", &error), &error);
        }
        check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
        if (depth > 64) {
            refuse(&l, (const char *)text.data, "nested too deep");
        } else {
            take(&l, (const char *)text.data);
            check_read(&l, 0);
            json_t *json = firn_schema_to_json(firn_schema_union_schema(l.schemas));
            const firn_schema *again = NULL;
            check_ok(firn_schema_parse(json, "schema", l.arena, &again, &error), &error);
            json_decref(json);
        }
        firn_buffer_release(&text);
        release(&l);
    }
}

static void mappings(void **state) {
    (void)state;
    firn_error error = {0};
    const char *schema = SCHEMA(FIELD(1, "x", "\"int\"") "," FIELD(2, "y", "\"int\"") "," FIELD(
        3, "m",
        "{\"type\": \"map\", \"key-id\": 4, \"key\": \"string\", \"value-id\": 5, "
        "\"value-required\": false, \"value\": \"int\"}"));
    /* "x" was once y's name. */
    const char *before = "[{\"field-id\": 2, \"names\": [\"y\", \"x\"]}, {\"field-id\": 9, "
                         "\"names\": [\"gone\", \"y\"]}, {\"names\": [\"never\"]}]";
    lake l = lake_of(schema, 9, before, 2);
    assert_false(firn_name_mapping_covers(NULL, l.base));
    assert_false(firn_name_mapping_covers(l.mapping, l.base));
    char *text = NULL;
    check_ok(firn_name_mapping_for(l.base, l.mapping, &text, &error), &error);
    assert_string_equal(
        text, "[{\"field-id\":1,\"names\":[]},{\"field-id\":2,\"names\":[\"y\",\"x\"]},"
              "{\"field-id\":3,\"names\":[\"m\"],\"fields\":[{\"field-id\":4,\"names\":[\"key\"]},"
              "{\"field-id\":5,\"names\":[\"value\"]}]},{\"field-id\":9,\"names\":[\"gone\"]},"
              "{\"names\":[\"never\"]}]");
    const firn_name_mapping *made = NULL;
    check_ok(firn_name_mapping_parse(text, l.arena, &made, &error), &error);
    assert_true(firn_name_mapping_covers(made, l.base));
    char *again = NULL;
    check_ok(firn_name_mapping_for(l.base, made, &again, &error), &error);
    assert_string_equal(text, again);
    firn_free(text);
    firn_free(again);
    release(&l);
}

static firn_status whole_run(void *context, firn_error *error) {
    const lake *l = context;
    firn_schema_union *schemas = NULL;
    char *text = NULL;
    size_t count = 0;
    firn_type string = {.kind = FIRN_TYPE_STRING, .text = "string"};
    FIRN_TRY(firn_schema_union_new(l->base, 5, 3, l->mapping, &schemas, error));
    firn_status status = FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < l->file_count; i++) {
        bool changed = firn_schema_union_changed(schemas);
        firn_schema_union_surprises(schemas, &count);
        status = firn_schema_union_add(schemas, l->files[i], "f", error);
        size_t after = 0;
        firn_schema_union_surprises(schemas, &after);
        if (status != FIRN_OK) assert_int_equal(after, count);
        if (status != FIRN_OK) assert_int_equal(firn_schema_union_changed(schemas), changed);
    }
    if (status == FIRN_OK) status = firn_schema_union_add_column(schemas, "p", &string, error);
    if (status == FIRN_OK) {
        const firn_schema *schema = firn_schema_union_schema(schemas);
        status = schema == NULL ? firn_fail_memory(error)
                                : firn_name_mapping_for(schema, l->mapping, &text, error);
    }
    firn_free(text);
    firn_schema_union_free(schemas);
    return status;
}

static void allocations(void **state) {
    (void)state;
    lake l =
        lake_of(TWO, 5, "[{\"field-id\": 1, \"names\": [\"a\", \"aa\"]}, {\"names\": [\"n\"]}]", 3);
    static const char *const files[] = {
        "optional int32 aa; optional int32 n; optional int32 g (DECIMAL(2,1)); optional binary w "
        "(GEOMETRY(x));",
        "optional int64 a; optional group s { optional int32 x; repeated int96 y; }",
        "optional group s { optional int64 x; optional int32 z; } optional int32 g (DECIMAL(3,1));",
        "optional group m (MAP) { repeated group key_value { required binary k; required fixed(3) "
        "v; "
        "} }",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        l.files[l.file_count++] = file_of(files[i], l.arena);
    }
    check_each_allocation(whole_run, &l);
    release(&l);
}

/* Ten thousand files of equal columns cost no more than their keys. */
static void many_equal_files(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    for (int i = 0; i < 50; i++) {
        check_ok(firn_buffer_printf(&text, &error, "optional int32 column_%d; ", i), &error);
    }
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    lake l = new_lake(2);
    const firn_parquet_file *file = file_of((const char *)text.data, l.arena);
    check_ok(firn_schema_union_add(l.schemas, file, "f", &error), &error);
    uint64_t before = firn_alloc_calls();
    for (int i = 0; i < 10000; i++) {
        check_ok(firn_schema_union_add(l.schemas, file, "f", &error), &error);
    }
    assert_int_equal(firn_alloc_calls(), before);
    firn_buffer_release(&text);
    release(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),
        cmocka_unit_test(promotions),
        cmocka_unit_test(forms),
        cmocka_unit_test(variants),
        cmocka_unit_test(letter_cases),
        cmocka_unit_test(one_name_twice),
        cmocka_unit_test(full_names),
        cmocka_unit_test(ids_of_files),
        cmocka_unit_test(base_with_ids),
        cmocka_unit_test(base_with_names),
        cmocka_unit_test(required_columns),
        cmocka_unit_test(bare_columns),
        cmocka_unit_test(nulls_without_type),
        cmocka_unit_test(unknown_of_the_table),
        cmocka_unit_test(columns_of_paths),
        cmocka_unit_test(later_columns),
        cmocka_unit_test(going_back),
        cmocka_unit_test(deep),
        cmocka_unit_test(mappings),
        cmocka_unit_test(allocations),
        cmocka_unit_test(many_equal_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
