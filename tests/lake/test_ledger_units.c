/* Names of units in a table property: reading, and adding in the form that is there. */
#include "lake/ledger_world.h"

static void check_parsed(const char *text, const char *expected) {
    firn_error error = {0};
    const char *const *units = NULL;
    size_t count = 0;
    char joined[256] = "";
    firn_arena *arena = firn_arena_new();
    check_ok(firn_unit_property_parse(text, arena, &units, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(joined);
        (void)snprintf(joined + used, sizeof joined - used, "%s|", units[i]);
    }
    assert_string_equal(joined, expected);
    firn_arena_free(arena);
}

static void what_is_understood(void **state) {
    (void)state;
    firn_json_setup();
    check_parsed(NULL, "");
    check_parsed("", "");
    check_parsed("  ", "");
    check_parsed("[]", "");
    check_parsed("[\"a\",\"b c\"]", "a|b c|");
    check_parsed(" [1, 2,-3]", "1|2|-3|");
    check_parsed("[\"2024,01\",7]", "2024,01|7|");
    check_parsed("a,b", "a|b|");
    check_parsed(" a , b,", "a|b|");
    check_parsed("2024", "2024|");
}

static void what_is_not(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "{}",   "\"a\"", "[1.5]", "[true]",    "[null]",   "[[1]]", "[\"\"]",       "[1",
        "a,,b", ",a",    "[1] 2", "{\"a\":1}", "[\"a\"],", "[1e3]", "[\"a\" \"b\"]"};
    firn_json_setup();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        firn_error error = {0};
        const char *const *units = NULL;
        size_t count = 0;
        firn_arena *arena = firn_arena_new();
        check_fails(firn_unit_property_parse(wrong[i], arena, &units, &count, &error), FIRN_INVALID,
                    &error, "no list of units");
        firn_arena_free(arena);
    }
}

static void check_added(const char *text, const char *const *units, size_t count,
                        const char *expected) {
    firn_error error = {0};
    const char *out = NULL;
    firn_arena *arena = firn_arena_new();
    check_ok(firn_unit_property_add(text, units, count, arena, &out, &error), &error);
    assert_string_equal(out, expected);
    firn_arena_free(arena);
}

static void what_is_added(void **state) {
    (void)state;
    static const char *const numbers[] = {"10", "3", "10"};
    static const char *const texts[] = {"b", "a", "b"};
    firn_json_setup();
    check_added(NULL, texts, 3, "[\"b\",\"a\"]");
    check_added(NULL, numbers, 3, "[\"10\",\"3\"]");
    check_added("", numbers, 3, "10,3");
    check_added("[]", texts, 2, "[\"b\",\"a\"]");
    check_added("[2,9]", numbers, 3, "[2,3,9,10]");
    check_added("[9,2]", numbers, 3, "[9,2,10,3]");
    check_added("[\"10\",\"2\"]", numbers, 3, "[\"10\",\"2\",\"3\"]");
    check_added("[2]", texts, 1, "[2,\"b\"]");
    check_added("[\"007\"]", numbers, 2, "[\"007\",\"10\",\"3\"]");
    check_added("c, d", texts, 3, "a, b, c, d");
    check_added("d,c", texts, 3, "d,c,b,a");
    check_added("2,9", numbers, 3, "2,3,9,10");
    check_added("a,b", texts, 3, "a,b");
    check_added("a,", texts, 1, "a,b");
}

static void what_can_not_be_added(void **state) {
    (void)state;
    static const char *const comma[] = {"x,y"};
    firn_error error = {0};
    const char *out = NULL;
    firn_arena *arena = firn_arena_new();
    firn_json_setup();
    check_fails(firn_unit_property_add("a,b", comma, 1, arena, &out, &error), FIRN_BLOCKED, &error,
                "x,y");
    check_ok(firn_unit_property_add("[\"a\"]", comma, 1, arena, &out, &error), &error);
    assert_string_equal(out, "[\"a\",\"x,y\"]");
    firn_arena_free(arena);
}

static void which_names_fit(void **state) {
    (void)state;
    static const char *const odd[] = {"x,y", " x", "x ", "", "[x", "{", "\"x"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        assert_false(firn_unit_property_can_name("a,b", odd[i]));
        assert_false(firn_unit_property_can_name(" a", odd[i]));
        assert_true(firn_unit_property_can_name("[\"a\"]", odd[i]));
        assert_false(firn_unit_property_can_name("", odd[i]));
        assert_true(firn_unit_property_can_name(NULL, odd[i]));
    }
    assert_true(firn_unit_property_can_name("a,b", "x y"));
    assert_true(firn_unit_property_can_name("a,b", "a[1]"));
}

static void check_removed(const char *text, const char *const *units, size_t count,
                          const char *expected) {
    firn_error error = {0};
    const char *out = NULL;
    firn_arena *arena = firn_arena_new();
    check_ok(firn_unit_property_remove(text, units, count, arena, &out, &error), &error);
    assert_string_equal(out, expected);
    firn_arena_free(arena);
}

static void what_is_removed(void **state) {
    (void)state;
    static const char *const units[] = {"b", "7"};
    firn_json_setup();
    check_removed("[\"a\",\"b\",\"c\"]", units, 2, "[\"a\",\"c\"]");
    check_removed("[9,7,8]", units, 2, "[9,8]");
    check_removed("[7]", units, 2, "[]");
    check_removed("[]", units, 2, "[]");
    check_removed("c, b, a", units, 2, "c, a");
    check_removed("b,7", units, 2, "");
    check_removed("x,b,", units, 1, "x");
}

static firn_status add_units(void *context, firn_error *error) {
    static const char *const units[] = {"b", "a", "17"};
    const char *out = NULL;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_unit_property_add(context, units, 3, arena, &out, error);
    if (status == FIRN_OK) {
        status = firn_unit_property_remove(out, units, 2, arena, &out, error);
    }
    firn_arena_free(arena);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    firn_json_setup();
    check_each_allocation(add_units, (void *)(uintptr_t) "[\"x\",\"y\"]");
    check_each_allocation(add_units, (void *)(uintptr_t) "[3,4]");
    check_each_allocation(add_units, (void *)(uintptr_t) "x, y");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_understood), cmocka_unit_test(what_is_not),
        cmocka_unit_test(what_is_added),      cmocka_unit_test(what_can_not_be_added),
        cmocka_unit_test(which_names_fit),    cmocka_unit_test(what_is_removed),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
