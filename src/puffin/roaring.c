#include "puffin/roaring.h"

#include "base/alloc.h"
#include "puffin/roaring_internal.h"

firn_roaring *firn_roaring_new(void) {
    return firn_alloc_zeroed(1, sizeof(firn_roaring));
}

void firn_roaring_free(firn_roaring *set) {
    if (set == NULL) return;
    for (size_t i = 0; i < set->containers.count; i++) {
        firn_container_release(&set->containers.items[i]);
    }
    firn_vector_release(&set->containers);
    firn_free(set);
}

size_t firn_roaring_search(const firn_roaring *set, uint64_t key) {
    size_t low = 0;
    size_t high = set->containers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->containers.items[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Takes out the empty container at `at`. */
static void close_gap(firn_roaring *set, size_t at) {
    firn_container *items = set->containers.items;
    set->containers.count--;
    memmove(items + at, items + at + 1, (set->containers.count - at) * sizeof *items);
}

/*
 * The container of `key`, made where there is none: *fresh then says so, and the caller fills it or takes it out again. Neighbours of the end
 * come first, since positions mostly arrive in order.
 */
static firn_status container_of(firn_roaring *set, uint64_t key, size_t *at, bool *fresh,
                                firn_error *error) {
    size_t count = set->containers.count;
    *fresh = false;
    if (count > 0 && set->containers.items[count - 1].key == key) {
        *at = count - 1;
        return FIRN_OK;
    }
    bool behind = count == 0 || set->containers.items[count - 1].key < key;
    *at = behind ? count : firn_roaring_search(set, key);
    if (*at < count && set->containers.items[*at].key == key) return FIRN_OK;
    FIRN_TRY(firn_vector_reserve(&set->containers, error, count + 1));
    firn_container *items = set->containers.items;
    memmove(items + *at + 1, items + *at, (count - *at) * sizeof *items);
    items[*at] = (firn_container){.key = key};
    set->containers.count++;
    *fresh = true;
    return FIRN_OK;
}

static firn_status too_high(uint64_t position, firn_error *error) {
    return firn_fail(error, FIRN_INVALID, "row position %llu is above 2^63 - 1",
                     (unsigned long long)position);
}

firn_status firn_roaring_add(firn_roaring *set, uint64_t position, firn_error *error) {
    if (position > FIRN_ROARING_MOST) return too_high(position, error);
    size_t at = 0;
    bool fresh = false;
    FIRN_TRY(container_of(set, position >> 16, &at, &fresh, error));
    firn_status status =
        firn_container_add(&set->containers.items[at], (uint16_t)(position & UINT16_MAX), error);
    if (status != FIRN_OK && fresh) close_gap(set, at);
    return status;
}

/* The part of [first, last] that lies in the container of `key`. */
static void part_of(uint64_t key, uint64_t first, uint64_t last, uint16_t *from, uint16_t *to) {
    *from = key == first >> 16 ? (uint16_t)(first & UINT16_MAX) : 0;
    *to = key == last >> 16 ? (uint16_t)(last & UINT16_MAX) : UINT16_MAX;
}

firn_status firn_roaring_add_range(firn_roaring *set, uint64_t first, uint64_t end,
                                   firn_error *error) {
    if (first >= end) return FIRN_OK;
    uint64_t last = end - 1;
    if (last > FIRN_ROARING_MOST) return too_high(last, error);
    for (uint64_t key = first >> 16; key <= last >> 16; key++) {
        size_t at = 0;
        bool fresh = false;
        uint16_t from = 0;
        uint16_t to = 0;
        part_of(key, first, last, &from, &to);
        FIRN_TRY(container_of(set, key, &at, &fresh, error));
        firn_status status = firn_container_add_range(&set->containers.items[at], from, to, error);
        if (status != FIRN_OK && fresh) close_gap(set, at);
        if (status != FIRN_OK) return status;
    }
    return FIRN_OK;
}

/*
 * Walks two sets' containers side by side: for container `j` of `other` the place in `set` at or behind `i` whose key is not less.
 */
static size_t advance(const firn_roaring *set, size_t i, uint64_t key) {
    size_t count = set->containers.count;
    while (i < count && set->containers.items[i].key < key) i++;
    return i;
}

/* Where a walk through `set` beside `other` begins. */
static size_t start_of(const firn_roaring *set, const firn_roaring *other) {
    return other->containers.count == 0 ? 0
                                        : firn_roaring_search(set, other->containers.items[0].key);
}

/* Unites the containers that both have; *missing counts those that only `other` has. */
static firn_status unite_common(firn_roaring *set, const firn_roaring *other, size_t *missing,
                                firn_error *error) {
    size_t i = start_of(set, other);
    for (size_t j = 0; j < other->containers.count; j++) {
        const firn_container *more = &other->containers.items[j];
        i = advance(set, i, more->key);
        if (i == set->containers.count || set->containers.items[i].key != more->key) {
            ++*missing;
            continue;
        }
        FIRN_TRY(firn_container_add_all(&set->containers.items[i], more, error));
    }
    return FIRN_OK;
}

/* Copies of the containers that only `other` has, put behind all others; the caller merges the two series. */
static firn_status copy_missing(firn_roaring *set, const firn_roaring *other, firn_container *out,
                                size_t *copied, firn_error *error) {
    size_t i = start_of(set, other);
    for (size_t j = 0; j < other->containers.count; j++) {
        const firn_container *more = &other->containers.items[j];
        i = advance(set, i, more->key);
        if (i < set->containers.count && set->containers.items[i].key == more->key) continue;
        FIRN_TRY(firn_container_copy(more, &out[*copied], error));
        ++*copied;
    }
    return FIRN_OK;
}

static void merge_from_the_back(firn_roaring *set, const firn_container *fresh, size_t count) {
    firn_container *items = set->containers.items;
    size_t left = set->containers.count;
    size_t at = left + count;
    set->containers.count = at;
    while (count > 0) {
        bool from_fresh = left == 0 || items[left - 1].key < fresh[count - 1].key;
        items[--at] = from_fresh ? fresh[--count] : items[--left];
    }
}

firn_status firn_roaring_add_all(firn_roaring *set, const firn_roaring *other, firn_error *error) {
    if (other == NULL || other == set) return FIRN_OK;
    size_t missing = 0;
    size_t copied = 0;
    FIRN_TRY(unite_common(set, other, &missing, error));
    if (missing == 0) return FIRN_OK;
    FIRN_TRY(firn_vector_reserve(&set->containers, error, set->containers.count + missing));
    firn_container *fresh = firn_alloc_array(missing, sizeof *fresh);
    if (fresh == NULL) return firn_fail_memory(error);
    firn_status status = copy_missing(set, other, fresh, &copied, error);
    /* What could be copied is added also where the rest could not. */
    merge_from_the_back(set, fresh, copied);
    firn_free(fresh);
    return status;
}

firn_status firn_roaring_remove_all(firn_roaring *set, const firn_roaring *other,
                                    firn_error *error) {
    if (other == NULL) return FIRN_OK;
    firn_status status = FIRN_OK;
    size_t kept = 0;
    size_t j = 0;
    for (size_t i = 0; i < set->containers.count; i++) {
        firn_container *container = &set->containers.items[i];
        j = advance(other, j, container->key);
        bool common =
            j < other->containers.count && other->containers.items[j].key == container->key;
        if (common && status == FIRN_OK) {
            status = firn_container_remove_all(container, &other->containers.items[j], error);
        }
        if (container->count == 0) {
            firn_container_release(container);
        } else {
            set->containers.items[kept++] = *container;
        }
    }
    set->containers.count = kept;
    return status;
}

bool firn_roaring_contains(const firn_roaring *set, uint64_t position) {
    if (set == NULL) return false;
    size_t at = firn_roaring_search(set, position >> 16);
    return at < set->containers.count && set->containers.items[at].key == position >> 16 &&
           firn_container_contains(&set->containers.items[at], (uint16_t)(position & UINT16_MAX));
}

bool firn_roaring_contains_all(const firn_roaring *set, const firn_roaring *part) {
    if (part == NULL || part == set) return true;
    size_t i = 0;
    for (size_t j = 0; j < part->containers.count; j++) {
        const firn_container *wanted = &part->containers.items[j];
        if (set == NULL) return false;
        i = advance(set, i, wanted->key);
        if (i == set->containers.count || set->containers.items[i].key != wanted->key) return false;
        if (!firn_container_contains_all(&set->containers.items[i], wanted)) return false;
    }
    return true;
}

uint64_t firn_roaring_count(const firn_roaring *set) {
    uint64_t count = 0;
    if (set == NULL) return 0;
    for (size_t i = 0; i < set->containers.count; i++) count += set->containers.items[i].count;
    return count;
}

uint64_t firn_roaring_count_range(const firn_roaring *set, uint64_t first, uint64_t end) {
    uint64_t count = 0;
    if (set == NULL || first >= end) return 0;
    uint64_t last = end - 1;
    for (size_t i = firn_roaring_search(set, first >> 16); i < set->containers.count; i++) {
        const firn_container *container = &set->containers.items[i];
        uint16_t from = 0;
        uint16_t to = 0;
        if (container->key > last >> 16) break;
        part_of(container->key, first, last, &from, &to);
        count += firn_container_count_range(container, from, to);
    }
    return count;
}

bool firn_roaring_maximum(const firn_roaring *set, uint64_t *out) {
    if (set == NULL || set->containers.count == 0) return false;
    const firn_container *container = &set->containers.items[set->containers.count - 1];
    *out = container->key << 16 | firn_container_maximum(container);
    return true;
}

size_t firn_roaring_memory(const firn_roaring *set) {
    if (set == NULL) return 0;
    size_t bytes = sizeof *set + set->containers.capacity * sizeof *set->containers.items;
    for (size_t i = 0; i < set->containers.count; i++) {
        bytes += firn_container_memory(&set->containers.items[i]);
    }
    return bytes;
}

size_t firn_roaring_take(const firn_roaring *set, uint64_t first, uint64_t end, uint64_t *out,
                         size_t capacity) {
    size_t taken = 0;
    if (set == NULL || first >= end) return 0;
    uint64_t last = end - 1;
    for (size_t i = firn_roaring_search(set, first >> 16); i < set->containers.count; i++) {
        const firn_container *container = &set->containers.items[i];
        uint16_t from = 0;
        uint16_t to = 0;
        if (taken == capacity || container->key > last >> 16) break;
        part_of(container->key, first, last, &from, &to);
        taken += firn_container_take(container, from, to, out + taken, capacity - taken);
    }
    return taken;
}
