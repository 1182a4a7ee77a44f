/* Bitmaps against libroaring's: what each writes the other reads as the same positions. It has 32-bit bitmaps only; the 64-bit frame is made here. */
#include <roaring/roaring.h>
#include <stdio.h>

#include "base/bytes.h"
#include "puffin/roaring.h"
#include "support/check.h"

#define FRAME ((size_t)12)

/* The same positions in both: sparse, dense and long stretches, so that all containers come in. */
static void fill(test_generator *random, firn_roaring *ours, roaring_bitmap_t *theirs) {
    firn_error error;
    for (uint64_t i = 1 + test_generator_below(random, 40); i > 0; i--) {
        uint64_t first = test_generator_below(random, (uint64_t)1 << (8 + i % 25));
        uint64_t count = 1 + test_generator_below(random, i % 3 == 0 ? 60000 : 900);
        uint64_t step = i % 4 == 0 ? 1 : 1 + test_generator_below(random, 100);
        for (uint64_t j = 0; j < count && first + j * step <= UINT32_MAX; j++) {
            check_ok(firn_roaring_add(ours, first + j * step, &error), &error);
            roaring_bitmap_add(theirs, (uint32_t)(first + j * step));
        }
    }
}

static void check_they_read(const firn_roaring *ours, const roaring_bitmap_t *theirs,
                            size_t *size) {
    firn_error error;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 28);
    check_ok(firn_roaring_write(ours, &bytes, &error), &error);
    assert_int_equal(firn_load_le64(bytes.data), 1);
    roaring_bitmap_t *read = roaring_bitmap_portable_deserialize_safe(
        (const char *)bytes.data + FRAME, bytes.size - FRAME);
    assert_non_null(read);
    assert_true(roaring_bitmap_equals(read, theirs));
    assert_int_equal(roaring_bitmap_portable_size_in_bytes(read), bytes.size - FRAME);
    *size = bytes.size;
    roaring_bitmap_free(read);
    firn_buffer_release(&bytes);
}

static void check_we_read(const roaring_bitmap_t *theirs, const firn_roaring *ours) {
    firn_error error;
    firn_roaring *read = NULL;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 28);
    size_t size = roaring_bitmap_portable_size_in_bytes(theirs);
    check_ok(firn_buffer_reserve(&bytes, FRAME + size, &error), &error);
    memset(bytes.data, 0, FRAME);
    bytes.data[0] = 1;
    bytes.size = FRAME + roaring_bitmap_portable_serialize(theirs, (char *)bytes.data + FRAME);
    check_ok(firn_roaring_read(firn_buffer_slice(&bytes), "theirs", &read, &error), &error);
    assert_int_equal(firn_roaring_count(read), firn_roaring_count(ours));
    assert_true(firn_roaring_contains_all(read, ours));
    assert_true(firn_roaring_contains_all(ours, read));
    firn_roaring_free(read);
    firn_buffer_release(&bytes);
}

static void test_both_ways(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 25; round++) {
        size_t size = 0;
        firn_roaring *ours = firn_roaring_new();
        roaring_bitmap_t *theirs = roaring_bitmap_create();
        fill(&random, ours, theirs);
        assert_int_equal(firn_roaring_count(ours), roaring_bitmap_get_cardinality(theirs));
        check_they_read(ours, theirs, &size);
        check_we_read(theirs, ours);
        roaring_bitmap_run_optimize(theirs);
        check_we_read(theirs, ours);
        /* Run containers exactly where they are smaller. */
        assert_int_equal(size - FRAME, roaring_bitmap_portable_size_in_bytes(theirs));
        roaring_bitmap_free(theirs);
        firn_roaring_free(ours);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
