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
    const firn_mapped_field *field = firn_name_mapping_find(mapping, "record_id");
    assert_true(field->has_field_id);
    assert_int_equal(field->field_id, 1);
    field = firn_name_mapping_find(mapping, "ignored");
    assert_false(field->has_field_id);
    field = firn_name_mapping_find(mapping, "location");
    const firn_mapped_field *child = firn_name_mapping_find(field->below, "a.b");
    assert_int_equal(child->field_id, 5);
    assert_null(firn_name_mapping_find(mapping, "a.b"));
    assert_null(firn_name_mapping_find(mapping, "ID"));
    firn_arena_free(arena);
}

/* What stands first counts, whatever order lies behind finding it. */
static void found_first(void **state) {
    (void)state;
    firn_error error = {0};
    const firn_name_mapping *mapping = NULL;
    size_t count = 0;
    firn_arena *arena = firn_arena_new();
    check_ok(parse("[{\"field-id\":9,\"names\":[\"z\",\"b\"]},{\"names\":[\"a\"]},{\"field-id\":3,"
                   "\"names\":[\"b\",\"a\",\"c\"]},{\"field-id\":9,\"names\":[\"z\",\"y\"]}]",
                   arena, &mapping, &error),
             &error);
    const firn_mapped_field *fields = mapping->fields;
    assert_ptr_equal(firn_name_mapping_find(mapping, "a"), &fields[1]);
    assert_ptr_equal(firn_name_mapping_find(mapping, "b"), &fields[0]);
    assert_ptr_equal(firn_name_mapping_find(mapping, "c"), &fields[2]);
    assert_ptr_equal(firn_name_mapping_find(mapping, "y"), &fields[3]);
    assert_ptr_equal(firn_name_mapping_find(mapping, "z"), &fields[0]);
    assert_null(firn_name_mapping_find(mapping, "zz"));
    assert_null(firn_name_mapping_find(NULL, "a"));
    const firn_mapped_field *const *found = firn_name_mapping_find_id(mapping, 9, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(found[0], &fields[0]);
    assert_ptr_equal(found[1], &fields[3]);
    firn_name_mapping_find_id(mapping, 0, &count);
    assert_int_equal(count, 0);
    firn_name_mapping_find_id(mapping, 10, &count);
    assert_int_equal(count, 0);
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
        cmocka_unit_test(found_by_name),  cmocka_unit_test(found_first),
        cmocka_unit_test(malformed),      cmocka_unit_test(deep_nesting),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
