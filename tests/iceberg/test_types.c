#include "iceberg/fixture.h"
#include "iceberg/types.h"

typedef struct one {
    firn_arena *arena;
    json_t *json;
} one;

static int setup(void **state) {
    one *test = test_calloc(1, sizeof *test);
    test->arena = firn_arena_new();
    *state = test;
    return 0;
}

static int teardown(void **state) {
    one *test = *state;
    firn_arena_free(test->arena);
    json_decref(test->json);
    test_free(test);
    return 0;
}

static const firn_schema *schema_of(one *test, const char *text) {
    const firn_schema *schema = NULL;
    firn_error error = {0};
    json_decref(test->json);
    test->json = fx_json(text);
    check_ok(firn_schema_parse(test->json, "s", test->arena, &schema, &error), &error);
    return schema;
}

static void schema_fails(one *test, const char *text, firn_status code, const char *part) {
    const firn_schema *schema = NULL;
    firn_error error = {0};
    json_decref(test->json);
    test->json = fx_json(text);
    check_fails(firn_schema_parse(test->json, "s", test->arena, &schema, &error), code, &error,
                part);
}

static const firn_type *type_of(one *test, const char *text) {
    const firn_type *type = NULL;
    firn_error error = {0};
    json_t *json = json_string(text);
    check_ok(firn_type_parse(json, "t", test->arena, &type, &error), &error);
    json_decref(json);
    return type;
}

static void primitive_names(void **state) {
    static const char *const names[][2] = {
        {"boolean", "boolean"},
        {"int", "int"},
        {"long", "long"},
        {"float", "float"},
        {"double", "double"},
        {"decimal(9,2)", "decimal(9,2)"},
        {"decimal( 38 , 10 )", "decimal(38,10)"},
        {"Decimal (1, 0)", "decimal(1,0)"},
        {"date", "date"},
        {"time", "time"},
        {"timestamp", "timestamp"},
        {"timestamptz", "timestamptz"},
        {"timestamp_ns", "timestamp_ns"},
        {"timestamptz_ns", "timestamptz_ns"},
        {"string", "string"},
        {"uuid", "uuid"},
        {"fixed[16]", "fixed[16]"},
        {"fixed[ 3 ]", "fixed[3]"},
        {"binary", "binary"},
        {"unknown", "unknown"},
        {"variant", "variant"},
        {"geometry", "geometry"},
        {"geometry(srid:4326)", "geometry(srid:4326)"},
        {"geography(srid:4326, spherical)", "geography(srid:4326, spherical)"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const firn_type *type = type_of(*state, names[i][0]);
        assert_string_equal(type->text, names[i][1]);
        json_t *json = firn_type_to_json(type);
        assert_string_equal(json_string_value(json), names[i][1]);
        json_decref(json);
    }
    const firn_type *decimal = type_of(*state, "decimal(9, 2)");
    assert_int_equal(decimal->precision, 9);
    assert_int_equal(decimal->scale, 2);
    assert_int_equal(type_of(*state, "fixed[16]")->length, 16);
}

static void bad_primitives(void **state) {
    one *test = *state;
    static const struct {
        const char *name;
        firn_status code;
    } bad[] = {
        {"decimal", FIRN_CORRUPT},
        {"decimal(39,2)", FIRN_CORRUPT},
        {"decimal(0,0)", FIRN_CORRUPT},
        {"decimal(9,-2)", FIRN_CORRUPT},
        {"decimal(9,2", FIRN_CORRUPT},
        {"decimal(9,2))", FIRN_CORRUPT},
        {"decimal(99999999999,2)", FIRN_CORRUPT},
        {"fixed", FIRN_CORRUPT},
        {"fixed[]", FIRN_CORRUPT},
        {"fixed[99999999999]", FIRN_CORRUPT},
        {"geometry(", FIRN_CORRUPT},
        {"", FIRN_UNSUPPORTED},
        {"bigint", FIRN_UNSUPPORTED},
        {"decimalish", FIRN_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const firn_type *type = NULL;
        firn_error error = {0};
        json_t *json = json_string(bad[i].name);
        check_fails(firn_type_parse(json, "t", test->arena, &type, &error), bad[i].code, &error,
                    "t: ");
        json_decref(json);
    }
}

#define NESTED                                                                                     \
    "{'type':'struct','schema-id':7,'identifier-field-ids':[1],'fields':["                         \
    "{'id':1,'name':'id','required':true,'type':'int','initial-default':5,'write-default':null},"  \
    "{'id':2,'name':'loc','required':false,'doc':'where','type':{'type':'struct','fields':["       \
    "{'id':3,'name':'lat','required':true,'type':'double'},"                                       \
    "{'id':4,'name':'a.b','required':false,'type':'decimal(9,2)'}]}},"                             \
    "{'id':5,'name':'tags','required':false,'type':{'type':'list','element-id':6,"                 \
    "'element':'string','element-required':true}},"                                                \
    "{'id':8,'name':'m','required':false,'type':{'type':'map','key-id':9,'key':'string',"          \
    "'value-id':10,'value-required':false,'value':{'type':'struct','fields':["                     \
    "{'id':11,'name':'x','required':false,'type':'uuid'}]}}}]}"

static void nested_schema(void **state) {
    one *test = *state;
    const firn_schema *schema = schema_of(test, NESTED);
    assert_int_equal(schema->schema_id, 7);
    assert_int_equal(schema->identifier_field_count, 1);
    assert_int_equal(firn_schema_highest_id(schema), 11);
    assert_string_equal(firn_schema_find(schema, 11)->name, "x");
    assert_null(firn_schema_find(schema, 7));
    assert_int_equal(firn_schema_find_name(schema, "m.value.x")->id, 11);
    assert_int_equal(firn_schema_find_name(schema, "tags.element")->id, 6);
    assert_int_equal(firn_schema_find_name(schema, "loc.a.b")->id, 4);
    assert_null(firn_schema_find_name(schema, "loc.a"));
    assert_null(firn_schema_find_name(schema, "ID"));
    assert_string_equal(firn_schema_full_name(schema, 11, test->arena), "m.value.x");
    assert_string_equal(firn_schema_full_name(schema, 1, test->arena), "id");
    assert_null(firn_schema_full_name(schema, 7, test->arena));
    json_t *json = firn_schema_to_json(schema);
    assert_true(json_equal(json, test->json));
    json_decref(json);
    /* "Key absent" and "null" are different things. */
    const firn_field *id = firn_schema_find(schema, 1);
    assert_int_equal(json_integer_value(id->initial_default), 5);
    assert_true(json_is_null(id->write_default));
    assert_null(firn_schema_find(schema, 3)->initial_default);
}

static void ids(void **state) {
    one *test = *state;
    const firn_schema *schema =
        schema_of(test, "{'type':'struct','fields':[{'id':0,'name':'a','required':true,"
                        "'type':'int'},{'id':2147483540,'name':'_row_id','required':false,"
                        "'type':'long'}]}");
    assert_string_equal(firn_schema_find(schema, 0)->name, "a");
    /* Ids of metadata columns don't count. */
    assert_int_equal(firn_schema_highest_id(schema), 0);
    schema_fails(test,
                 "{'type':'struct','schema-id':4,'fields':[{'id':3,'name':'a','required':true,"
                 "'type':'int'},{'id':1,'name':'b','required':false,'type':{'type':'list',"
                 "'element-id':3,'element':'int','element-required':false}}]}",
                 FIRN_CORRUPT, "schema 4: field id 3 occurs twice (\"");
    schema_fails(test,
                 "{'type':'struct','fields':[{'id':1.0,'name':'a','required':true,'type':'int'}]}",
                 FIRN_CORRUPT, "field id");
    schema_fails(test,
                 "{'type':'struct','fields':[{'id':-1,'name':'a','required':true,'type':'int'}]}",
                 FIRN_CORRUPT, "no field id");
}

static void required_members(void **state) {
    one *test = *state;
    schema_fails(test, "{'fields':[]}", FIRN_CORRUPT, "field type: is missing");
    schema_fails(test, "{'type':'list','fields':[]}", FIRN_CORRUPT, "field type");
    schema_fails(test, "{'type':'struct'}", FIRN_CORRUPT, "field fields: is missing");
    schema_fails(test, "{'type':'struct','fields':[null]}", FIRN_CORRUPT, "field fields");
    schema_fails(test, "[]", FIRN_CORRUPT, "no object");
    schema_fails(test, "{'type':'struct','fields':[{'id':1,'name':'a','required':true}]}",
                 FIRN_CORRUPT, "field type: missing");
    schema_fails(test, "{'type':'struct','identifier-field-ids':['a'],'fields':[]}", FIRN_CORRUPT,
                 "identifier-field-ids");
    schema_fails(test,
                 "{'type':'struct','fields':[{'id':1,'name':'a','required':true,"
                 "'type':{'type':'set'}}]}",
                 FIRN_UNSUPPORTED, "\"set\"");
}

static void deep_nesting(void **state) {
    one *test = *state;
    json_t *type = json_string("int");
    for (int i = 0; i < 150; i++) {
        type = json_pack("{s:s, s:i, s:b, s:o}", "type", "list", "element-id", i + 1,
                         "element-required", 1, "element", type);
    }
    const firn_type *parsed = NULL;
    firn_error error = {0};
    check_fails(firn_type_parse(type, "t", test->arena, &parsed, &error), FIRN_LIMIT, &error,
                "nest deeper");
    json_decref(type);
}

static void promotion(void **state) {
    static const struct {
        const char *from, *to;
        int version;
        bool allowed;
    } cases[] = {
        {"int", "long", 1, true},
        {"long", "int", 3, false},
        {"float", "double", 1, true},
        {"double", "float", 3, false},
        {"decimal(9,2)", "decimal(10,2)", 1, true},
        {"decimal(9,2)", "decimal(9,2)", 1, true},
        {"decimal(9,2)", "decimal(8,2)", 1, false},
        {"decimal(9,2)", "decimal(10,3)", 1, false},
        {"date", "timestamp", 2, false},
        {"date", "timestamp", 3, true},
        {"date", "timestamp_ns", 3, true},
        {"date", "timestamptz", 3, false},
        {"unknown", "string", 2, false},
        {"unknown", "string", 3, true},
        {"int", "string", 3, false},
        {"fixed[3]", "fixed[4]", 3, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(firn_type_can_promote(type_of(*state, cases[i].from),
                                               type_of(*state, cases[i].to), cases[i].version),
                         cases[i].allowed);
    }
}

static void equality(void **state) {
    one *test = *state;
    const firn_schema *a = schema_of(test, NESTED);
    json_t *json = json_incref(test->json);
    const firn_schema *b = schema_of(test, NESTED);
    assert_true(firn_type_equal(&a->root, &b->root));
    const firn_schema *c = schema_of(
        test, "{'type':'struct','fields':[{'id':1,'name':'id','required':true,'type':'int'}]}");
    assert_false(firn_type_equal(&a->root, &c->root));
    json_decref(json);
}

static firn_status parse_and_print(void *context, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_schema *schema = NULL;
    firn_status status = firn_schema_parse(context, "s", arena, &schema, error);
    if (status == FIRN_OK) {
        json_t *json = firn_schema_to_json(schema);
        if (json == NULL) {
            status = firn_fail_memory(error);
        } else {
            assert_true(json_equal(json, context));
        }
        json_decref(json);
    }
    firn_arena_free(arena);
    return status;
}

static void failing_memory(void **state) {
    one *test = *state;
    test->json = fx_json(NESTED);
    check_each_allocation(parse_and_print, test->json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(primitive_names, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_primitives, setup, teardown),
        cmocka_unit_test_setup_teardown(nested_schema, setup, teardown),
        cmocka_unit_test_setup_teardown(ids, setup, teardown),
        cmocka_unit_test_setup_teardown(required_members, setup, teardown),
        cmocka_unit_test_setup_teardown(deep_nesting, setup, teardown),
        cmocka_unit_test_setup_teardown(promotion, setup, teardown),
        cmocka_unit_test_setup_teardown(equality, setup, teardown),
        cmocka_unit_test_setup_teardown(failing_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
