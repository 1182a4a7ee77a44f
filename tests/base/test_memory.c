#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/vector.h"
#include "support/check.h"

static void test_alloc_checks_overflow(void **state) {
    (void)state;
    assert_null(firn_alloc_array(SIZE_MAX / 2, 3));
    assert_null(firn_alloc_zeroed(SIZE_MAX / 2, 3));
    assert_null(firn_realloc_array(NULL, SIZE_MAX / 2, 3));
    void *empty = firn_alloc(0);
    assert_non_null(empty);
    firn_free(empty);
    firn_free(NULL);
    char *text = firn_format("%d-%s", 7, "x");
    assert_string_equal(text, "7-x");
    firn_free(text);
    text = firn_strndup("abcdef", 3);
    assert_string_equal(text, "abc");
    firn_free(text);
}

static void test_alloc_fails_on_request(void **state) {
    (void)state;
    uint64_t before = firn_alloc_calls();
    firn_alloc_fail_after(2, 0);
    void *first = firn_alloc(1);
    void *second = firn_alloc(1);
    void *third = firn_alloc(1);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(firn_alloc_calls() - before, 3);
    firn_alloc_fail_after(1, 1);
    assert_null(firn_strdup("x"));
    assert_null(firn_realloc(NULL, 1));
    firn_alloc_fail_after(0, 0);
    firn_free(first);
    firn_free(third);
}

static void note(void *context) {
    char **next = context;
    *(*next)++ = '!';
}

static void test_arena(void **state) {
    (void)state;
    firn_arena *arena = firn_arena_new();
    assert_non_null(arena);
    for (size_t i = 0; i < 2000; i++) {
        uint8_t *block = firn_arena_alloc(arena, i, 3);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < 3 * i; j++) assert_int_equal(block[j], 0);
        memset(block, 0xFF, 3 * i);
    }
    uint8_t *large = firn_arena_alloc(arena, 10, 1000000);
    assert_non_null(large);
    assert_null(firn_arena_alloc(arena, SIZE_MAX / 2, 3));
    assert_null(firn_arena_alloc(arena, SIZE_MAX, 1));
    assert_string_equal(firn_arena_format(arena, "%s=%d", "a", 1), "a=1");
    assert_string_equal(firn_arena_strndup(arena, "abc", 2), "ab");
    assert_memory_equal(firn_arena_memdup(arena, "xyz", 3), "xyz", 3);
    assert_non_null(firn_arena_memdup(arena, NULL, 0));
    assert_true(firn_arena_bytes(arena) > 10000000);
    char log[3] = "..";
    char *next = log;
    assert_int_equal(firn_arena_on_free(arena, note, &next), 0);
    assert_int_equal(firn_arena_on_free(arena, note, &next), 0);
    firn_arena_free(arena);
    assert_string_equal(log, "!!");
    firn_arena_free(NULL);
}

static void test_arena_releases_at_once_without_memory(void **state) {
    (void)state;
    firn_arena *arena = firn_arena_new();
    char log[2] = ".";
    char *next = log;
    firn_alloc_fail_after(1, 1);
    assert_int_equal(firn_arena_on_free(arena, note, &next), -1);
    assert_null(firn_arena_strdup(arena, "x"));
    firn_alloc_fail_after(0, 0);
    assert_string_equal(log, "!");
    firn_arena_free(arena);
    assert_string_equal(log, "!");
}

static void test_buffer(void **state) {
    (void)state;
    firn_error error;
    firn_buffer buffer = firn_buffer_with_maximum(1000);
    check_ok(firn_buffer_append(&buffer, NULL, 0, &error), &error);
    check_ok(firn_buffer_append_text(&buffer, "abc", &error), &error);
    check_ok(firn_buffer_append_byte(&buffer, 'd', &error), &error);
    check_ok(firn_buffer_printf(&buffer, &error, "%0*d", 500, 7), &error);
    assert_int_equal(buffer.size, 504);
    assert_int_equal(buffer.data[503], '7');
    check_ok(firn_buffer_reserve(&buffer, 496, &error), &error);
    check_fails(firn_buffer_reserve(&buffer, 497, &error), FIRN_LIMIT, &error, "limit of 1000");
    check_fails(firn_buffer_reserve(&buffer, SIZE_MAX, &error), FIRN_LIMIT, &error, NULL);
    assert_true(buffer.capacity <= 1000);
    char *text = firn_buffer_take_text(&buffer);
    assert_int_equal(strlen(text), 504);
    assert_null(buffer.data);
    firn_free(text);
    text = firn_buffer_take_text(&buffer);
    assert_string_equal(text, "");
    firn_free(text);
    firn_buffer_release(&buffer);
}

static firn_status fill_vector(void *context, firn_error *error) {
    (void)context;
    FIRN_VECTOR(int32_t) numbers = {0};
    firn_status status = FIRN_OK;
    for (int32_t i = 0; i < 100; i++) FIRN_CHECK(firn_vector_push(&numbers, error, i * i));
    for (int32_t i = 0; i < 100; i++) assert_int_equal(numbers.items[i], i * i);
    assert_int_equal(numbers.count, 100);
out:
    firn_vector_release(&numbers);
    return status;
}

static firn_status fill_buffer(void *context, firn_error *error) {
    (void)context;
    firn_buffer buffer = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = FIRN_OK;
    for (int i = 0; i < 100; i++) {
        FIRN_CHECK(firn_buffer_printf(&buffer, error, "%s %0*d", "text", i * 8, i));
    }
out:
    firn_buffer_release(&buffer);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    check_each_allocation(fill_vector, NULL);
    check_each_allocation(fill_buffer, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_checks_overflow),
        cmocka_unit_test(test_alloc_fails_on_request),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_releases_at_once_without_memory),
        cmocka_unit_test(test_buffer),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
