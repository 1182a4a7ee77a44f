#include "iceberg/fixture.h"
#include "iceberg/name_mapping.h"

static const char mapping_text[] =
    "[{\"field-id\":1,\"names\":[\"id\",\"record_id\"]},{\"names\":[\"ignored\"]},"
    "{\"field-id\":3,\"names\":[\"location\"],\"fields\":[{\"field-id\":4,\"names\":[\"latitude\","
    "\"lat\"]},{\"field-id\":5,\"names\":[\"a.b\"]}]},{\"field-id\":6,\"names\":[]}]";

static firn_status parse(const char *text, firn_arena *arena, const firn_name_mapping **out,
                         firn_error *error) {
    return firn_name_mapping_parse(text, arena, out, error);
}

static void found_by_name(void **state) {
    (void)state;
    firn_error error = {0};
    const firn_name_mapping *mapping = NULL;
    firn_arena *arena = firn_arena_new();
    check_ok(parse(mapping_text, arena, &mapping, &error), &error);
    assert_int_equal(mapping->field_count, 4);
    const firn_mapped_field *field =
        firn_name_mapping_find(mapping->fields, mapping->field_count, "record_id");
    assert_true(field->has_field_id);
    assert_int_equal(field->field_id, 1);
    field = firn_name_mapping_find(mapping->fields, mapping->field_count, "ignored");
    assert_false(field->has_field_id);
    field = firn_name_mapping_find(mapping->fields, mapping->field_count, "location");
    const firn_mapped_field *child =
        firn_name_mapping_find(field->fields, field->field_count, "a.b");
    assert_int_equal(child->field_id, 5);
    assert_null(firn_name_mapping_find(mapping->fields, mapping->field_count, "a.b"));
    assert_null(firn_name_mapping_find(mapping->fields, mapping->field_count, "ID"));
    firn_arena_free(arena);
}

static void malformed(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "[1]",
        "[{}]",
        "[{\"names\":\"a\"}]",
        "[{\"names\":[1]}]",
        "[{\"names\":[],\"field-id\":\"1\"}]",
        "[{\"names\":[],\"field-id\":1.5}]",
        "[{\"names\":[],\"fields\":{}}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        firn_error error = {0};
        const firn_name_mapping *mapping = NULL;
        firn_arena *arena = firn_arena_new();
        check_fails(parse(texts[i], arena, &mapping, &error), FIRN_CORRUPT, &error,
                    "schema.name-mapping.default");
        firn_arena_free(arena);
    }
}

static void deep_nesting(void **state) {
    (void)state;
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    firn_error error = {0};
    for (int i = 0; i < 200; i++) {
        check_ok(firn_buffer_append_text(&text, "[{\"names\":[],\"fields\":", &error), &error);
    }
    check_ok(firn_buffer_append_text(&text, "[]", &error), &error);
    for (int i = 0; i < 200; i++) check_ok(firn_buffer_append_text(&text, "}]", &error), &error);
    char *taken = firn_buffer_take_text(&text);
    firn_arena *arena = firn_arena_new();
    const firn_name_mapping *mapping = NULL;
    check_fails(parse(taken, arena, &mapping, &error), FIRN_LIMIT, &error, "nested deeper");
    firn_arena_free(arena);
    firn_free(taken);
}

static firn_status parse_once(void *context, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_name_mapping *mapping = NULL;
    firn_status status = parse(context, arena, &mapping, error);
    firn_arena_free(arena);
    return status;
}

static void failing_memory(void **state) {
    (void)state;
    char text[sizeof mapping_text];
    memcpy(text, mapping_text, sizeof text);
    check_each_allocation(parse_once, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_name),
        cmocka_unit_test(malformed),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
