#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "puffin/roaring.h"
#include "support/check.h"

#define WORLD ((uint64_t)300000)

/* The naive model: a byte a position, over a few containers on both sides of 2^32. */
typedef struct model {
    uint8_t has[WORLD];
} model;

/* Positions of the model lie around 2^32, so that two 32-bit bitmaps come in. */
#define BASE (((uint64_t)1 << 32) - WORLD / 2)

static uint64_t model_count(const model *of, uint64_t first, uint64_t end) {
    uint64_t count = 0;
    for (uint64_t i = first; i < end; i++) count += of->has[i];
    return count;
}

static void check_equal(const firn_roaring *set, const model *of) {
    static uint64_t taken[WORLD];
    size_t count = firn_roaring_take(set, 0, UINT64_MAX, taken, WORLD);
    size_t at = 0;
    assert_int_equal(firn_roaring_count(set), model_count(of, 0, WORLD));
    for (uint64_t i = 0; i < WORLD; i++) {
        if (firn_roaring_contains(set, BASE + i) != (of->has[i] != 0))
            fail_msg("at %zu", (size_t)i);
        if (of->has[i] == 0) continue;
        assert_true(at < count);
        assert_int_equal(taken[at++], BASE + i);
    }
    assert_int_equal(at, count);
}

static firn_roaring *read_back(const firn_roaring *set) {
    firn_error error;
    firn_roaring *back = NULL;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 24);
    check_ok(firn_roaring_write(set, &bytes, &error), &error);
    check_ok(firn_roaring_read(firn_buffer_slice(&bytes), "set", &back, &error), &error);
    firn_buffer again = firn_buffer_with_maximum((size_t)1 << 24);
    check_ok(firn_roaring_write(back, &again, &error), &error);
    assert_true(firn_slice_equal(firn_buffer_slice(&bytes), firn_buffer_slice(&again)));
    firn_buffer_release(&bytes);
    firn_buffer_release(&again);
    return back;
}

/* One random change of the set and its model: single positions, ranges, stretches with gaps. */
static void change(test_generator *random, firn_roaring *set, model *of) {
    firn_error error;
    uint64_t first = test_generator_below(random, WORLD);
    uint64_t room = WORLD - first;
    uint64_t kind = test_generator_below(random, 4);
    uint64_t most = kind == 0 ? 1 : kind == 1 ? 40 : kind == 2 ? 5000 : room;
    uint64_t end = first + 1 + test_generator_below(random, most < room ? most : room);
    uint64_t step = test_generator_below(random, 3) == 0 ? 1 : 1 + test_generator_below(random, 30);
    if (end > WORLD) end = WORLD;
    if (step == 1) {
        check_ok(firn_roaring_add_range(set, BASE + first, BASE + end, &error), &error);
    }
    for (uint64_t i = first; i < end; i += step) {
        of->has[i] = 1;
        if (step != 1) check_ok(firn_roaring_add(set, BASE + i, &error), &error);
    }
}

static void random_set(test_generator *random, firn_roaring **set, model *of) {
    *set = firn_roaring_new();
    memset(of, 0, sizeof *of);
    for (uint64_t i = test_generator_below(random, 12); i > 0; i--) change(random, *set, of);
}

static void check_ranges(test_generator *random, const firn_roaring *set, const model *of) {
    uint64_t some[1000];
    for (int i = 0; i < 20; i++) {
        uint64_t first = test_generator_below(random, WORLD);
        uint64_t end = first + test_generator_below(random, WORLD - first + 1);
        uint64_t count = model_count(of, first, end);
        assert_int_equal(firn_roaring_count_range(set, BASE + first, BASE + end), count);
        size_t taken = firn_roaring_take(set, BASE + first, BASE + end, some, 1000);
        assert_int_equal(taken, count < 1000 ? count : 1000);
        uint64_t next = first;
        for (size_t j = 0; j < taken; j++) {
            while (of->has[next] == 0) next++;
            assert_int_equal(some[j], BASE + next++);
        }
    }
}

static bool model_holds(const model *all, const model *part) {
    for (uint64_t i = 0; i < WORLD; i++) {
        if (part->has[i] != 0 && all->has[i] == 0) return false;
    }
    return true;
}

static void test_against_a_naive_model(void **state) {
    (void)state;
    static model a;
    static model b;
    firn_error error;
    test_generator random = test_generator_new();
    for (int round = 0; round < 60; round++) {
        firn_roaring *left = NULL;
        firn_roaring *right = NULL;
        random_set(&random, &left, &a);
        random_set(&random, &right, &b);
        check_equal(left, &a);
        check_ranges(&random, left, &a);
        assert_int_equal(firn_roaring_contains_all(left, right), model_holds(&a, &b));
        firn_roaring *back = read_back(left);
        check_equal(back, &a);
        /* What was read takes changes as what was made does. */
        change(&random, back, &a);
        check_equal(back, &a);
        bool add = test_generator_below(&random, 2) == 0;
        for (uint64_t i = 0; i < WORLD; i++) {
            a.has[i] = add ? a.has[i] | b.has[i] : a.has[i] & !b.has[i];
        }
        check_ok(add ? firn_roaring_add_all(back, right, &error)
                     : firn_roaring_remove_all(back, right, &error),
                 &error);
        check_equal(back, &a);
        if (add) assert_true(firn_roaring_contains_all(back, right));
        firn_roaring_free(back);
        back = read_back(right);
        check_equal(back, &b);
        firn_roaring_free(back);
        firn_roaring_free(left);
        firn_roaring_free(right);
    }
}

static void test_edges(void **state) {
    (void)state;
    firn_error error;
    uint64_t out[4];
    uint64_t highest = INT64_MAX;
    firn_roaring *set = firn_roaring_new();
    assert_false(firn_roaring_maximum(set, out));
    assert_int_equal(firn_roaring_count(NULL), 0);
    assert_int_equal(firn_roaring_count_range(NULL, 0, 5), 0);
    assert_int_equal(firn_roaring_take(NULL, 0, 5, out, 4), 0);
    assert_false(firn_roaring_contains(NULL, 0));
    assert_true(firn_roaring_contains_all(NULL, NULL));
    assert_true(firn_roaring_contains_all(NULL, set));
    check_fails(firn_roaring_add(set, highest + 1, &error), FIRN_INVALID, &error, "2^63");
    check_fails(firn_roaring_add_range(set, 5, highest + 2, &error), FIRN_INVALID, &error, "2^63");
    assert_int_equal(firn_roaring_count(set), 0);
    check_ok(firn_roaring_add_range(set, 7, 7, &error), &error);
    check_ok(firn_roaring_add_range(set, 9, 7, &error), &error);
    assert_int_equal(firn_roaring_count(set), 0);
    check_ok(firn_roaring_add(set, highest, &error), &error);
    check_ok(firn_roaring_add(set, 0, &error), &error);
    check_ok(firn_roaring_add(set, 0, &error), &error);
    assert_int_equal(firn_roaring_take(set, 0, UINT64_MAX, out, 4), 2);
    assert_int_equal(out[1], highest);
    assert_int_equal(firn_roaring_take(set, 1, highest, out, 4), 0);
    assert_int_equal(firn_roaring_take(set, 0, 1, out, 4), 1);
    assert_int_equal(firn_roaring_count_range(set, 1, UINT64_MAX), 1);
    assert_false(firn_roaring_contains_all(NULL, set));
    assert_true(firn_roaring_contains_all(set, set));
    assert_true(firn_roaring_maximum(set, out));
    assert_int_equal(out[0], highest);
    assert_true(firn_roaring_memory(set) > 0);
    check_ok(firn_roaring_remove_all(set, set, &error), &error);
    assert_int_equal(firn_roaring_count(set), 0);
    firn_roaring_free(set);
    firn_roaring_free(NULL);
}

/* A whole table's rows deleted take a few bytes a container. */
static firn_roaring *read_range(const firn_roaring *set, uint64_t first, uint64_t end) {
    firn_error error;
    firn_roaring *out = NULL;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 24);
    check_ok(firn_roaring_write_range(set, first, end, &bytes, &error), &error);
    check_ok(firn_roaring_read(firn_buffer_slice(&bytes), "range", &out, &error), &error);
    firn_buffer_release(&bytes);
    return out;
}

/* What lies below a position and what does not are together what was there. */
static void test_written_ranges(void **state) {
    (void)state;
    static const uint64_t ends[] = {0, 65536, 5 * 65536, (uint64_t)1 << 32, (uint64_t)1 << 40};
    firn_error error;
    firn_roaring *set = firn_roaring_new();
    for (uint64_t at = 7; at < ((uint64_t)1 << 34); at = at * 5 / 3) {
        check_ok(firn_roaring_add(set, at, &error), &error);
    }
    check_ok(firn_roaring_add_range(set, 65000, 400000, &error), &error);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        firn_roaring *below = read_range(set, 0, ends[i]);
        firn_roaring *above = read_range(set, ends[i], UINT64_MAX);
        assert_int_equal(firn_roaring_count(below), firn_roaring_count_range(set, 0, ends[i]));
        assert_int_equal(firn_roaring_count_range(below, ends[i], UINT64_MAX), 0);
        assert_int_equal(firn_roaring_count_range(above, 0, ends[i]), 0);
        check_ok(firn_roaring_add_all(below, above, &error), &error);
        assert_int_equal(firn_roaring_count(below), firn_roaring_count(set));
        assert_true(firn_roaring_contains_all(below, set));
        firn_roaring_free(below);
        firn_roaring_free(above);
    }
    firn_roaring_free(set);
}

static void test_ranges_stay_small(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = firn_roaring_new();
    for (uint64_t i = 0; i < 1000; i++) {
        check_ok(firn_roaring_add_range(set, i * 100000, (i + 1) * 100000, &error), &error);
    }
    assert_int_equal(firn_roaring_count(set), 100000000);
    assert_true(firn_roaring_memory(set) < 400000);
    firn_roaring_free(set);
}

static firn_status use(void *context, firn_error *error) {
    (void)context;
    firn_roaring *a = firn_roaring_new();
    firn_roaring *b = firn_roaring_new();
    firn_roaring *back = NULL;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status status = a == NULL || b == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status != FIRN_OK) goto out;
    for (uint64_t i = 0; i < 5000; i++) FIRN_CHECK(firn_roaring_add(a, i * 3, error));
    FIRN_CHECK(firn_roaring_add_range(b, 1000, 200000, error));
    FIRN_CHECK(firn_roaring_add(b, (uint64_t)7 << 33, error));
    FIRN_CHECK(firn_roaring_add_all(a, b, error));
    FIRN_CHECK(firn_roaring_add(b, 4, error));
    FIRN_CHECK(firn_roaring_remove_all(a, b, error));
    FIRN_CHECK(firn_roaring_write(a, &bytes, error));
    FIRN_CHECK(firn_roaring_read(firn_buffer_slice(&bytes), "set", &back, error));
    assert_int_equal(firn_roaring_count(back), firn_roaring_count(a));
out:
    firn_buffer_release(&bytes);
    firn_roaring_free(a);
    firn_roaring_free(b);
    firn_roaring_free(back);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    check_each_allocation(use, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_ranges_stay_small),
        cmocka_unit_test(test_written_ranges),
        cmocka_unit_test(test_against_a_naive_model),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
