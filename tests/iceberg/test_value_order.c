/* Keys of tuples sort as firn_value_compare sorts the tuples. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "iceberg/value.h"
#include "support/check.h"

#define TUPLES 400
#define FIELDS 3

static const double doubles[] = {-INFINITY, -1.5, -0.0, 0.0, 5e-324, 1.5, INFINITY, NAN, -NAN};
static const char *const texts[] = {"", "a", "a\1", "ab", "b", "\xff", "\xff\xff"};

static firn_slice some_bytes(test_generator *random, firn_arena *arena) {
    if (test_generator_below(random, 2) == 0) {
        return firn_slice_text(texts[test_generator_below(random, 7)]);
    }
    /* Zero bytes and what they are escaped by. */
    size_t size = (size_t)test_generator_below(random, 4);
    uint8_t *bytes = firn_arena_alloc(arena, size + 1, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        static const uint8_t choices[] = {0, 1, 0xFE, 0xFF};
        bytes[i] = choices[test_generator_below(random, 4)];
    }
    return firn_slice_of(bytes, size);
}

static firn_value some_value(test_generator *random, firn_type_kind kind, firn_arena *arena) {
    if (test_generator_below(random, 8) == 0) return firn_value_null(kind);
    firn_value value = {.kind = kind};
    int64_t number = (int64_t)test_generator_next(random);
    if (test_generator_below(random, 2) == 0) number = (int64_t)(number % 3);
    switch (kind) {
    case FIRN_TYPE_BOOLEAN: value.as.boolean = (number & 1) != 0; break;
    case FIRN_TYPE_INT: value.as.int32 = (int32_t)number; break;
    case FIRN_TYPE_LONG: value.as.int64 = number; break;
    case FIRN_TYPE_FLOAT: value.as.float32 = (float)doubles[test_generator_below(random, 9)]; break;
    case FIRN_TYPE_DOUBLE: value.as.float64 = doubles[test_generator_below(random, 9)]; break;
    case FIRN_TYPE_DECIMAL:
        value.as.decimal =
            (firn_int128)number * (test_generator_below(random, 2) == 0 ? 1 : number);
        break;
    default: value.as.bytes = some_bytes(random, arena); break;
    }
    return value;
}

static int compare_tuples(const firn_value *a, const firn_value *b) {
    for (size_t i = 0; i < FIELDS; i++) {
        if (a[i].is_null != b[i].is_null) return a[i].is_null ? -1 : 1;
        int order = a[i].is_null ? 0 : firn_value_compare(&a[i], &b[i]);
        if (order != 0) return order;
    }
    return 0;
}

static int sign(int order) {
    return (order > 0) - (order < 0);
}

static void check_kinds(test_generator *random, const firn_type_kind kinds[FIELDS]) {
    static firn_value tuples[TUPLES][FIELDS];
    static firn_buffer keys[TUPLES];
    firn_error error;
    firn_arena *arena = firn_arena_new();
    for (size_t i = 0; i < TUPLES; i++) {
        for (size_t j = 0; j < FIELDS; j++) tuples[i][j] = some_value(random, kinds[j], arena);
        keys[i] = firn_buffer_with_maximum(4096);
        check_ok(firn_value_order_key(tuples[i], FIELDS, &keys[i], &error), &error);
    }
    for (size_t i = 0; i < TUPLES; i++) {
        for (size_t j = 0; j < TUPLES; j++) {
            firn_slice left = firn_buffer_slice(&keys[i]), right = firn_buffer_slice(&keys[j]);
            assert_int_equal(sign(firn_slice_compare(left, right)),
                             sign(compare_tuples(tuples[i], tuples[j])));
            /* Self-delimiting: none begins another one. */
            if (left.size < right.size) assert_memory_not_equal(left.data, right.data, left.size);
        }
    }
    for (size_t i = 0; i < TUPLES; i++) firn_buffer_release(&keys[i]);
    firn_arena_free(arena);
}

static void keys_sort_as_values_do(void **state) {
    (void)state;
    static const firn_type_kind kinds[][FIELDS] = {
        {FIRN_TYPE_STRING, FIRN_TYPE_LONG, FIRN_TYPE_STRING},
        {FIRN_TYPE_BINARY, FIRN_TYPE_BOOLEAN, FIRN_TYPE_DOUBLE},
        {FIRN_TYPE_DECIMAL, FIRN_TYPE_FLOAT, FIRN_TYPE_INT},
        {FIRN_TYPE_INT, FIRN_TYPE_FIXED, FIRN_TYPE_DECIMAL},
        {FIRN_TYPE_FLOAT, FIRN_TYPE_UUID, FIRN_TYPE_BOOLEAN},
    };
    test_generator random = test_generator_new();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) check_kinds(&random, kinds[i]);
}

static void promoted_values_are_equal(void **state) {
    (void)state;
    firn_error error;
    firn_value narrow = {.kind = FIRN_TYPE_INT, .as.int32 = -7};
    firn_value wide = {.kind = FIRN_TYPE_LONG, .as.int64 = -7};
    firn_buffer left = firn_buffer_with_maximum(64), right = firn_buffer_with_maximum(64);
    check_ok(firn_value_order_key(&narrow, 1, &left, &error), &error);
    check_ok(firn_value_order_key(&wide, 1, &right, &error), &error);
    assert_true(firn_slice_equal(firn_buffer_slice(&left), firn_buffer_slice(&right)));
    firn_buffer_release(&left);
    firn_buffer_release(&right);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_sort_as_values_do),
        cmocka_unit_test(promoted_values_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
