/* A roaring bitmap in its portable form. One that is read holds together, and is the same once written and read again. */
#include <stdint.h>
#include <stdlib.h>

#include "puffin/roaring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TAKEN 256

static void check(bool right) {
    if (!right) abort();
}

static void check_positions(const firn_roaring *set) {
    uint64_t taken[TAKEN];
    uint64_t highest = 0;
    uint64_t first = 0;
    size_t count = firn_roaring_take(set, first, UINT64_MAX, taken, TAKEN);
    for (size_t i = 0; i < count; i++) {
        check(taken[i] >= first && firn_roaring_contains(set, taken[i]));
        first = taken[i] + 1;
    }
    check(firn_roaring_maximum(set, &highest) == (count > 0));
    check(count == 0 || firn_roaring_contains(set, highest));
    check(firn_roaring_count_range(set, 0, first) == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_roaring *set = NULL;
    firn_roaring *back = NULL;
    if (firn_roaring_read(firn_slice_of(data, size), "input", &set, NULL) != FIRN_OK) return 0;
    check_positions(set);
    firn_buffer written = firn_buffer_with_maximum((size_t)1 << 30);
    if (firn_roaring_write(set, &written, NULL) == FIRN_OK &&
        firn_roaring_read(firn_buffer_slice(&written), "again", &back, NULL) == FIRN_OK) {
        check(firn_roaring_count(set) == firn_roaring_count(back));
        check(firn_roaring_contains_all(set, back));
        check(firn_roaring_add_all(set, back, NULL) == FIRN_OK);
        check(firn_roaring_count(set) == firn_roaring_count(back));
        check(firn_roaring_remove_all(set, back, NULL) == FIRN_OK);
        check(firn_roaring_count(set) == 0);
    } else {
        abort();
    }
    firn_roaring_free(back);
    firn_roaring_free(set);
    firn_buffer_release(&written);
    return 0;
}
