#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "support/check.h"

static void test_sets_gets_and_keeps_order(void **state) {
    (void)state;
    firn_error error;
    firn_map *map = firn_map_new();
    int values[5000];
    assert_null(firn_map_get_text(map, "absent"));
    for (int64_t i = 0; i < 5000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %lld", (long long)i);
        check_ok(firn_map_set_text(map, key, &values[i], &error), &error);
    }
    assert_int_equal(firn_map_count(map), 5000);
    for (size_t i = 0; i < 5000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %zu", i);
        assert_ptr_equal(firn_map_get_text(map, key), &values[i]);
        assert_true(firn_slice_equal(firn_map_key_at(map, i), firn_slice_text(key)));
        assert_ptr_equal(firn_map_value_at(map, i), &values[i]);
    }
    assert_false(firn_map_has_text(map, "key 5000"));
    check_ok(firn_map_set_text(map, "key 7", NULL, &error), &error);
    assert_int_equal(firn_map_count(map), 5000);
    bool found = false;
    assert_null(firn_map_get(map, firn_slice_text("key 7"), &found));
    assert_true(found);
    assert_true(firn_map_has_text(map, "key 7"));
    firn_map_free(map);
    firn_map_free(NULL);
}

static void test_integer_and_empty_keys(void **state) {
    (void)state;
    firn_error error;
    firn_map *map = firn_map_new();
    int value = 0;
    check_ok(firn_map_set_int(map, INT64_MIN, &value, &error), &error);
    check_ok(firn_map_set_int(map, -1, map, &error), &error);
    check_ok(firn_map_set(map, firn_slice_of(NULL, 0), state, &error), &error);
    assert_ptr_equal(firn_map_get_int(map, INT64_MIN), &value);
    assert_ptr_equal(firn_map_get_int(map, -1), map);
    assert_null(firn_map_get_int(map, 1));
    assert_ptr_equal(firn_map_get_text(map, ""), state);
    firn_map_free(map);
}

static firn_status fill(void *context, firn_error *error) {
    firn_map *map = firn_map_new();
    if (map == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    for (int64_t i = 0; i < 200; i++) FIRN_CHECK(firn_map_set_int(map, i, context, error));
out:
    /* After a failure the map holds what it held before. */
    for (size_t i = 0; i < firn_map_count(map); i++) {
        assert_ptr_equal(firn_map_get_int(map, (int64_t)i), context);
    }
    firn_map_free(map);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    int value = 0;
    check_each_allocation(fill, &value);
}

static void test_hash_depends_on_every_byte(void **state) {
    (void)state;
    uint8_t bytes[40] = {0};
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint64_t hash = firn_hash_bytes(bytes, size);
        assert_true(hash == firn_hash_bytes(bytes, size));
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= 1;
            assert_true(hash != firn_hash_bytes(bytes, size));
            bytes[i] ^= 1;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_gets_and_keeps_order),
        cmocka_unit_test(test_integer_and_empty_keys),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_hash_depends_on_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
