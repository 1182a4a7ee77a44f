#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/threads.h"
#include "support/check.h"

typedef struct work {
    firn_pool *pool;
    atomic_size_t done;
    size_t failing; /* this index and every later one fails; SIZE_MAX: none */
    uint8_t seen[1000];
} work;

static firn_status count(void *context, size_t index, firn_error *error) {
    work *all = context;
    if (index >= all->failing) return firn_fail(error, FIRN_IO, "index %zu", index);
    all->seen[index]++;
    atomic_fetch_add(&all->done, 1);
    return FIRN_OK;
}

static void test_each_index_once(void **state) {
    (void)state;
    firn_error error;
    for (size_t threads = 0; threads < 5; threads++) {
        firn_pool *pool = NULL;
        check_ok(firn_pool_new(threads, &pool, &error), &error);
        if (threads != 0) assert_int_equal(firn_pool_threads(pool), threads);
        for (size_t round = 0; round < 20; round++) {
            work all = {.failing = SIZE_MAX};
            check_ok(firn_pool_each(pool, round * 50, count, &all, &error), &error);
            assert_int_equal(atomic_load(&all.done), round * 50);
            for (size_t i = 0; i < round * 50; i++) assert_int_equal(all.seen[i], 1);
        }
        firn_pool_free(pool);
    }
    work all = {.failing = SIZE_MAX};
    check_ok(firn_pool_each(NULL, 10, count, &all, &error), &error);
    assert_int_equal(atomic_load(&all.done), 10);
    assert_int_equal(firn_pool_threads(NULL), 1);
    firn_pool_free(NULL);
    firn_pool *pool = NULL;
    check_fails(firn_pool_new(1000000, &pool, &error), FIRN_INVALID, &error, "too many");
}

static void test_lowest_failure_is_told(void **state) {
    (void)state;
    firn_error error;
    firn_pool *pool = NULL;
    check_ok(firn_pool_new(4, &pool, &error), &error);
    for (int round = 0; round < 200; round++) {
        work all = {.failing = 37};
        check_fails(firn_pool_each(pool, 1000, count, &all, &error), FIRN_IO, &error, "index 37");
        assert_int_equal(atomic_load(&all.done), 37);
        assert_int_equal(firn_pool_each(pool, 1000, count, &all, NULL), FIRN_IO);
    }
    firn_pool_free(pool);
}

static firn_status stop_at_ten(void *context, size_t index, firn_error *error) {
    if (index == 10) firn_cancel_request(SIGTERM);
    return count(context, index, error);
}

static void test_cancelled(void **state) {
    (void)state;
    firn_error error;
    for (size_t threads = 1; threads < 4; threads++) {
        firn_pool *pool = NULL;
        check_ok(firn_pool_new(threads, &pool, &error), &error);
        work all = {.failing = SIZE_MAX};
        firn_status status = firn_pool_each(pool, 1000, stop_at_ten, &all, &error);
        firn_cancel_request(0);
        check_fails(status, FIRN_CANCELLED, &error, "SIGTERM");
        assert_true(atomic_load(&all.done) < 1000);
        firn_pool_free(pool);
    }
}

static firn_status nested(void *context, size_t index, firn_error *error) {
    (void)index;
    work *all = context;
    work inner = {.failing = SIZE_MAX};
    FIRN_TRY(firn_pool_each(all->pool, 10, count, &inner, error));
    atomic_fetch_add(&all->done, atomic_load(&inner.done));
    return FIRN_OK;
}

static void test_nested_calls_run_alone(void **state) {
    (void)state;
    firn_error error;
    work all = {.failing = SIZE_MAX};
    check_ok(firn_pool_new(3, &all.pool, &error), &error);
    check_ok(firn_pool_each(all.pool, 20, nested, &all, &error), &error);
    assert_int_equal(atomic_load(&all.done), 200);
    firn_pool_free(all.pool);
}

static firn_status make_pool_and_queue(void *context, firn_error *error) {
    (void)context;
    firn_pool *pool = NULL;
    firn_queue *queue = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_pool_new(2, &pool, error));
    FIRN_CHECK(firn_queue_new(10, &queue, error));
    FIRN_CHECK(firn_queue_push(queue, &queue, 1, error));
out:
    firn_queue_free(queue);
    firn_pool_free(pool);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    check_each_allocation(make_pool_and_queue, NULL);
}

typedef struct stream {
    firn_queue *queue;
    size_t items;
} stream;

static void *produce(void *context) {
    stream *s = context;
    for (size_t i = 0; i < s->items; i++) {
        size_t *item = firn_alloc(sizeof *item);
        *item = i;
        if (firn_queue_push(s->queue, item, 10, NULL) != FIRN_OK) firn_free(item);
    }
    firn_queue_close(s->queue);
    return NULL;
}

static void test_queue_keeps_order_and_bound(void **state) {
    (void)state;
    firn_error error;
    stream s = {.items = 5000};
    check_ok(firn_queue_new(35, &s.queue, &error), &error);
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, &s), 0);
    void *item = NULL;
    size_t due = 0;
    while (firn_queue_pop(s.queue, &item)) {
        assert_int_equal(*(size_t *)item, due++);
        firn_free(item);
    }
    pthread_join(producer, NULL);
    assert_int_equal(due, 5000);
    check_fails(firn_queue_push(s.queue, &s, 1, &error), FIRN_CANCELLED, &error, "closed");
    firn_queue_free(s.queue);
}

static void test_queue_takes_what_is_too_large_alone(void **state) {
    (void)state;
    firn_error error;
    firn_queue *queue = NULL;
    int item = 0;
    check_ok(firn_queue_new(10, &queue, &error), &error);
    check_ok(firn_queue_push(queue, &item, SIZE_MAX, &error), &error);
    void *popped = NULL;
    assert_true(firn_queue_pop(queue, &popped));
    assert_ptr_equal(popped, &item);
    check_ok(firn_queue_push(queue, &item, 5, &error), &error);
    firn_queue_close(queue);
    assert_true(firn_queue_pop(queue, &popped));
    assert_false(firn_queue_pop(queue, &popped));
    firn_queue_free(queue);
    firn_queue_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once),
        cmocka_unit_test(test_lowest_failure_is_told),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_nested_calls_run_alone),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_queue_keeps_order_and_bound),
        cmocka_unit_test(test_queue_takes_what_is_too_large_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
