#include <string.h>

#include "base/alloc.h"
#include "puffin/container.h"

/*
 * Makes a full array, or runs, a bitmap or whatever is smallest with one value more. Runs of an ascending series stay
 * runs as long as these are smaller.
 */
static firn_status add_to_words(firn_container *container, uint16_t first, uint16_t last,
                                firn_error *error) {
    uint64_t words[FIRN_CONTAINER_WORDS];
    firn_container_load(container, words);
    firn_container_set_bits(words, first, last);
    return firn_container_store(container, words, error);
}

static firn_status add_to_array(firn_container *container, uint16_t value, firn_error *error) {
    uint32_t used = container->used;
    uint32_t at = used;
    if (used > 0 && container->values[used - 1] >= value) {
        at = firn_container_search(container, value);
        if (container->values[at] == value) return FIRN_OK;
    }
    if (used == FIRN_CONTAINER_ARRAY_MOST) return add_to_words(container, value, value, error);
    FIRN_TRY(firn_container_reserve(container, used + 1, error));
    if (at < used) {
        memmove(container->values + at + 1, container->values + at,
                (used - at) * sizeof *container->values);
    }
    container->values[at] = value;
    container->used++;
    container->count++;
    return FIRN_OK;
}

/* Runs behind the last one are added as such, any others by way of a bitmap. */
static firn_status add_to_runs(firn_container *container, uint16_t first, uint16_t last,
                               firn_error *error) {
    firn_container_run *tail = &container->runs[container->used - 1];
    if (first <= tail->last) {
        if (first == last && firn_container_contains(container, first)) return FIRN_OK;
        return add_to_words(container, first, last, error);
    }
    if (first == tail->last + 1) {
        tail->last = last;
    } else {
        if (container->used == FIRN_CONTAINER_RUNS_MOST) {
            return add_to_words(container, first, last, error);
        }
        FIRN_TRY(firn_container_reserve(container, container->used + 1U, error));
        container->runs[container->used++] = (firn_container_run){first, last};
    }
    container->count += last - first + 1U;
    return FIRN_OK;
}

firn_status firn_container_add(firn_container *container, uint16_t value, firn_error *error) {
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY: return add_to_array(container, value, error);
    case FIRN_CONTAINER_RUNS: return add_to_runs(container, value, value, error);
    case FIRN_CONTAINER_BITMAP: break;
    }
    uint64_t *word = &container->words[value >> 6];
    uint64_t bit = (uint64_t)1 << (value & 63);
    container->count += (*word & bit) == 0;
    *word |= bit;
    return FIRN_OK;
}

static firn_status add_range_to_array(firn_container *container, uint16_t first, uint16_t last,
                                      firn_error *error) {
    uint32_t more = last - first + 1U;
    uint32_t used = container->used;
    bool behind = used == 0 || container->values[used - 1] < first;
    if (!behind || used + more > FIRN_CONTAINER_ARRAY_MOST || (used == 0 && more > 2)) {
        return add_to_words(container, first, last, error);
    }
    FIRN_TRY(firn_container_reserve(container, used + more, error));
    for (uint32_t value = first; value <= last; value++) {
        container->values[container->used++] = (uint16_t)value;
    }
    container->count += more;
    return FIRN_OK;
}

firn_status firn_container_add_range(firn_container *container, uint16_t first, uint16_t last,
                                     firn_error *error) {
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY: return add_range_to_array(container, first, last, error);
    case FIRN_CONTAINER_RUNS: return add_to_runs(container, first, last, error);
    case FIRN_CONTAINER_BITMAP: break;
    }
    container->count += last - first + 1U - firn_container_count_range(container, first, last);
    firn_container_set_bits(container->words, first, last);
    return FIRN_OK;
}

/* Two ascending runs of values as one, without doubles; returns how many. */
static uint32_t merge_values(const firn_container *a, const firn_container *b, uint16_t *out) {
    uint32_t i = 0;
    uint32_t j = 0;
    uint32_t made = 0;
    while (i < a->used && j < b->used) {
        uint16_t left = a->values[i];
        uint16_t right = b->values[j];
        out[made++] = left < right ? left : right;
        i += left <= right;
        j += right <= left;
    }
    while (i < a->used) out[made++] = a->values[i++];
    while (j < b->used) out[made++] = b->values[j++];
    return made;
}

static firn_status add_array_to_array(firn_container *container, const firn_container *other,
                                      firn_error *error) {
    uint16_t merged[FIRN_CONTAINER_ARRAY_MOST];
    uint32_t made = merge_values(container, other, merged);
    FIRN_TRY(firn_container_reserve(container, made, error));
    memcpy(container->values, merged, made * sizeof *merged);
    container->used = (uint16_t)made;
    container->count = made;
    return FIRN_OK;
}

static void add_to_bitmap(firn_container *container, const firn_container *other) {
    for (uint32_t i = 0; i < other->used; i++) {
        uint16_t first = 0;
        uint16_t last = 0;
        if (other->kind == FIRN_CONTAINER_ARRAY) {
            first = last = other->values[i];
        } else {
            first = other->runs[i].first;
            last = other->runs[i].last;
        }
        firn_container_set_bits(container->words, first, last);
    }
    if (other->kind == FIRN_CONTAINER_BITMAP) {
        for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) container->words[i] |= other->words[i];
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(container->words[i]);
    }
    container->count = count;
}

firn_status firn_container_add_all(firn_container *container, const firn_container *other,
                                   firn_error *error) {
    if (container->kind == FIRN_CONTAINER_BITMAP) {
        add_to_bitmap(container, other);
        return FIRN_OK;
    }
    if (container->kind == FIRN_CONTAINER_ARRAY && other->kind == FIRN_CONTAINER_ARRAY &&
        container->used + other->used <= FIRN_CONTAINER_ARRAY_MOST) {
        return add_array_to_array(container, other, error);
    }
    uint64_t words[FIRN_CONTAINER_WORDS];
    uint64_t more[FIRN_CONTAINER_WORDS];
    firn_container_load(container, words);
    firn_container_load(other, more);
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) words[i] |= more[i];
    return firn_container_store(container, words, error);
}

firn_status firn_container_remove_all(firn_container *container, const firn_container *other,
                                      firn_error *error) {
    if (container->kind == FIRN_CONTAINER_ARRAY) {
        uint16_t kept = 0;
        for (uint32_t i = 0; i < container->used; i++) {
            uint16_t value = container->values[i];
            if (!firn_container_contains(other, value)) container->values[kept++] = value;
        }
        container->used = kept;
        container->count = kept;
        return FIRN_OK;
    }
    uint64_t words[FIRN_CONTAINER_WORDS];
    uint64_t fewer[FIRN_CONTAINER_WORDS];
    firn_container_load(container, words);
    firn_container_load(other, fewer);
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) words[i] &= ~fewer[i];
    return firn_container_store(container, words, error);
}

static bool contains_words(const firn_container *container, const firn_container *part) {
    uint64_t words[FIRN_CONTAINER_WORDS];
    firn_container_load(container, words);
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) {
        if ((part->words[i] & ~words[i]) != 0) return false;
    }
    return true;
}

bool firn_container_contains_all(const firn_container *container, const firn_container *part) {
    if (part->count > container->count) return false;
    if (part->kind == FIRN_CONTAINER_BITMAP) return contains_words(container, part);
    for (uint32_t i = 0; i < part->used; i++) {
        if (part->kind == FIRN_CONTAINER_ARRAY) {
            if (!firn_container_contains(container, part->values[i])) return false;
            continue;
        }
        firn_container_run run = part->runs[i];
        uint32_t length = run.last - run.first + 1U;
        if (firn_container_count_range(container, run.first, run.last) != length) return false;
    }
    return true;
}
