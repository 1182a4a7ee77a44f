#include "support/check.h"

#include <stdio.h>

#include "avro/schema.h"

typedef struct parsed {
    firn_arena *arena;
    const firn_avro_schema *schema;
    firn_error error;
    firn_status status;
} parsed;

static parsed parse(const char *json) {
    parsed p = {.arena = firn_arena_new()};
    assert_non_null(p.arena);
    firn_error_clear(&p.error);
    p.status =
        firn_avro_schema_parse(firn_slice_text(json), "f.avro", p.arena, &p.schema, &p.error);
    return p;
}

static parsed parse_good(const char *json) {
    parsed p = parse(json);
    check_ok(p.status, &p.error);
    return p;
}

static void fails(const char *json, firn_status code, const char *part) {
    parsed p = parse(json);
    check_fails(p.status, code, &p.error, part);
    assert_null(p.schema);
    firn_arena_free(p.arena);
}

static void test_primitives(void **state) {
    (void)state;
    for (firn_avro_kind kind = FIRN_AVRO_NULL; kind <= FIRN_AVRO_STRING; kind++) {
        char text[64];
        snprintf(text, sizeof text, "\"%s\"", firn_avro_kind_name(kind));
        parsed bare = parse_good(text);
        assert_int_equal(bare.schema->kind, kind);
        firn_arena_free(bare.arena);
        snprintf(text, sizeof text, "{\"type\":\"%s\"}", firn_avro_kind_name(kind));
        parsed object = parse_good(text);
        assert_int_equal(object.schema->kind, kind);
        firn_arena_free(object.arena);
    }
}

static void test_ids_and_names(void **state) {
    (void)state;
    parsed p = parse_good(
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
        "{\"name\":\"😎\",\"type\":\"int\",\"field-id\":\"1000\"},"
        "{\"name\":\"9col\",\"type\":[\"null\",\"string\"],\"field-id\":0,\"default\":null},"
        "{\"name\":\"_xD83D_xDE0E\",\"iceberg-field-name\":\"a.b\",\"type\":\"long\"},"
        "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"int\",\"element-id\":9}},"
        "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"int\",\"key-id\":\"10\","
        "\"value-id\":11}}]}");
    const firn_avro_schema *s = p.schema;
    assert_int_equal(s->count, 5);
    assert_ptr_equal(firn_avro_field_by_id(s, 1000), &s->fields[0]);
    assert_string_equal(s->fields[0].name, "😎");
    assert_ptr_equal(firn_avro_field_by_id(s, 0), &s->fields[1]);
    assert_int_equal(firn_avro_schema_non_null(s->fields[1].schema)->kind, FIRN_AVRO_STRING);
    assert_int_equal(s->fields[2].id, FIRN_AVRO_NO_ID);
    assert_ptr_equal(firn_avro_field_by_name(s, "a.b"), &s->fields[2]);
    assert_int_equal(s->fields[3].schema->element_id, 9);
    assert_int_equal(s->fields[4].schema->key_id, 10);
    assert_int_equal(s->fields[4].schema->value_id, 11);
    assert_true(firn_avro_record_has_ids(s));
    firn_arena_free(p.arena);
}

static void check_logical(const char *json, firn_avro_logical logical) {
    parsed p = parse_good(json);
    assert_int_equal(p.schema->logical, logical);
    firn_arena_free(p.arena);
}

static void test_logical_types(void **state) {
    (void)state;
    check_logical("{\"type\":\"int\",\"logicalType\":\"date\"}", FIRN_AVRO_LOGICAL_DATE);
    check_logical("{\"type\":\"long\",\"logicalType\":\"date\"}", FIRN_AVRO_LOGICAL_NONE);
    check_logical("{\"type\":\"int\",\"logicalType\":\"weather\"}", FIRN_AVRO_LOGICAL_NONE);
    check_logical("{\"type\":\"string\",\"logicalType\":\"uuid\"}", FIRN_AVRO_LOGICAL_UUID);
    check_logical("{\"type\":\"fixed\",\"name\":\"u\",\"size\":16,\"logicalType\":\"uuid\"}",
                  FIRN_AVRO_LOGICAL_UUID);
    check_logical("{\"type\":\"fixed\",\"name\":\"u\",\"size\":15,\"logicalType\":\"uuid\"}",
                  FIRN_AVRO_LOGICAL_NONE);
    check_logical("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":3,\"scale\":4}",
                  FIRN_AVRO_LOGICAL_NONE);
    check_logical("{\"type\":\"array\",\"items\":\"int\",\"logicalType\":\"map\"}",
                  FIRN_AVRO_LOGICAL_MAP);
    parsed p = parse_good("{\"type\":\"fixed\",\"name\":\"d\",\"size\":5,"
                          "\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}");
    assert_int_equal(p.schema->precision, 9);
    assert_int_equal(p.schema->scale, 2);
    assert_int_equal(p.schema->fixed_size, 5);
    firn_arena_free(p.arena);
    p = parse_good("{\"type\":\"long\",\"logicalType\":\"timestamp-micros\","
                   "\"adjust-to-utc\":true}");
    assert_true(p.schema->has_adjust_to_utc && p.schema->adjust_to_utc);
    firn_arena_free(p.arena);
}

static void test_named_references(void **state) {
    (void)state;
    parsed p =
        parse_good("{\"type\":\"record\",\"name\":\"x.y.R\",\"fields\":["
                   "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":4}},"
                   "{\"name\":\"b\",\"type\":\"F\"},{\"name\":\"c\",\"type\":\"x.y.F\"},"
                   "{\"name\":\"d\",\"type\":{\"type\":\"x.y.F\"}},"
                   "{\"name\":\"next\",\"type\":[\"null\",\"R\"]}]}");
    const firn_avro_schema *s = p.schema;
    assert_string_equal(s->name, "x.y.R");
    assert_string_equal(s->fields[0].schema->name, "x.y.F");
    for (size_t i = 1; i < 4; i++) assert_ptr_equal(s->fields[i].schema, s->fields[0].schema);
    assert_ptr_equal(s->fields[4].schema->branches[1], s);
    firn_arena_free(p.arena);
}

static void test_refused(void **state) {
    (void)state;
    fails("", FIRN_CORRUPT, "f.avro");
    fails("17", FIRN_CORRUPT, "neither a name");
    fails("\"nosuch\"", FIRN_CORRUPT, "unknown type \"nosuch\"");
    fails("{\"type\":null}", FIRN_CORRUPT, NULL);
    fails("{\"name\":\"r\"}", FIRN_CORRUPT, "no attribute type");
    fails("{\"type\":\"record\",\"fields\":[]}", FIRN_CORRUPT, "no name");
    fails("{\"type\":\"record\",\"name\":\"r\"}", FIRN_CORRUPT, "not a list");
    fails("{\"type\":\"record\",\"name\":\"r\",\"fields\":{}}", FIRN_CORRUPT, "not a list");
    fails("{\"type\":\"record\",\"name\":\"r\",\"fields\":[[]]}", FIRN_CORRUPT, "no name");
    fails("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\"}]}", FIRN_CORRUPT,
          "\"a\" has no type");
    fails("{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", FIRN_CORRUPT, "size");
    fails("{\"type\":\"fixed\",\"name\":\"f\",\"size\":1.5}", FIRN_CORRUPT, "size");
    fails("{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[1]}", FIRN_CORRUPT, "symbol");
    fails("{\"type\":\"array\"}", FIRN_CORRUPT, "no items");
    fails("{\"type\":\"map\"}", FIRN_CORRUPT, "no values");
    fails("[\"null\",[\"int\"]]", FIRN_CORRUPT, "union");
    fails("{\"type\":\"array\",\"items\":\"int\",\"element-id\":1.5}", FIRN_CORRUPT, "element-id");
    fails("{\"type\":\"array\",\"items\":\"int\",\"element-id\":\"\"}", FIRN_CORRUPT, "element-id");
    fails("{\"type\":\"array\",\"items\":\"int\",\"element-id\":\"9999999999\"}", FIRN_CORRUPT,
          "element-id");
    fails("{\"type\":\"record\",\"name\":\"r\",\"fields\":["
          "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":4}},"
          "{\"name\":\"b\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":5}},"
          "{\"name\":\"c\",\"type\":\"F\"}]}",
          FIRN_CORRUPT, "more than once");
}

static void test_depth(void **state) {
    (void)state;
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    firn_error error;
    for (int i = 0; i < 1000; i++) {
        check_ok(firn_buffer_append_text(&text, "{\"type\":\"array\",\"items\":", &error), &error);
    }
    check_ok(firn_buffer_append_text(&text, "\"int\"", &error), &error);
    for (int i = 0; i < 1000; i++) check_ok(firn_buffer_append_text(&text, "}", &error), &error);
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    fails((const char *)text.data, FIRN_LIMIT, "nested");
    firn_buffer_release(&text);
}

static firn_status parse_once(void *context, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_avro_schema *schema;
    firn_status status =
        firn_avro_schema_parse(firn_slice_text(context), "f.avro", arena, &schema, error);
    firn_arena_free(arena);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    char text[] = "{\"type\":\"record\",\"name\":\"n.r\",\"fields\":["
                  "{\"name\":\"a\",\"iceberg-field-name\":\"x\",\"field-id\":1,"
                  "\"type\":[\"null\",{\"type\":\"map\",\"values\":\"int\"}]},"
                  "{\"name\":\"b\",\"type\":{\"type\":\"enum\",\"name\":\"e\","
                  "\"symbols\":[\"x\",\"y\"]}},{\"name\":\"c\",\"type\":\"e\"}]}";
    check_each_allocation(parse_once, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primitives),    cmocka_unit_test(test_ids_and_names),
        cmocka_unit_test(test_logical_types), cmocka_unit_test(test_named_references),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_depth),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
