#include "puffin/container.h"

#include <string.h>

#include "base/alloc.h"

#define SMALLEST_CAPACITY 8U

void firn_container_release(firn_container *container) {
    firn_free(container->memory);
    *container = (firn_container){.key = container->key};
}

static size_t item_size(const firn_container *container) {
    return container->kind == FIRN_CONTAINER_ARRAY ? sizeof *container->values
                                                   : sizeof *container->runs;
}

size_t firn_container_memory(const firn_container *container) {
    if (container->kind == FIRN_CONTAINER_BITMAP) return FIRN_CONTAINER_BITMAP_BYTES;
    return container->capacity * item_size(container);
}

firn_status firn_container_reserve(firn_container *container, uint32_t wanted, firn_error *error) {
    if (wanted <= container->capacity) return FIRN_OK;
    uint32_t most = container->kind == FIRN_CONTAINER_ARRAY ? FIRN_CONTAINER_ARRAY_MOST
                                                            : FIRN_CONTAINER_RUNS_MOST;
    uint32_t capacity = container->capacity * 2U;
    if (capacity < wanted) capacity = wanted;
    if (capacity < SMALLEST_CAPACITY) capacity = SMALLEST_CAPACITY;
    if (capacity > most) capacity = most;
    void *memory = firn_realloc_array(container->memory, capacity, item_size(container));
    if (memory == NULL) return firn_fail_memory(error);
    container->memory = memory;
    container->capacity = (uint16_t)capacity;
    return FIRN_OK;
}

firn_status firn_container_copy(const firn_container *container, firn_container *out,
                                firn_error *error) {
    size_t size = container->kind == FIRN_CONTAINER_BITMAP ? FIRN_CONTAINER_BITMAP_BYTES
                                                           : container->used * item_size(container);
    void *memory = firn_alloc(size);
    if (memory == NULL) return firn_fail_memory(error);
    if (size != 0) memcpy(memory, container->memory, size);
    *out = *container;
    out->memory = memory;
    out->capacity = container->used;
    return FIRN_OK;
}

uint32_t firn_container_search(const firn_container *container, uint16_t value) {
    uint32_t low = 0;
    uint32_t high = container->used;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (container->values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first run that ends at `value` or after it. */
static uint32_t search_runs(const firn_container *container, uint16_t value) {
    uint32_t low = 0;
    uint32_t high = container->used;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (container->runs[middle].last < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool firn_container_contains(const firn_container *container, uint16_t value) {
    uint32_t at = 0;
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY:
        at = firn_container_search(container, value);
        return at < container->used && container->values[at] == value;
    case FIRN_CONTAINER_BITMAP: return (container->words[value >> 6] >> (value & 63) & 1) != 0;
    case FIRN_CONTAINER_RUNS:
        at = search_runs(container, value);
        return at < container->used && container->runs[at].first <= value;
    }
    return false;
}

/* The bits of word `index` that stand for positions in [first, last]. */
static uint64_t mask_of(uint32_t index, uint16_t first, uint16_t last) {
    uint64_t mask = UINT64_MAX;
    if (index == first >> 6) mask &= UINT64_MAX << (first & 63);
    if (index == last >> 6) mask &= UINT64_MAX >> (63 - (last & 63));
    return mask;
}

static uint32_t bits_of(uint64_t word) {
    return (uint32_t)__builtin_popcountll(word);
}

static uint32_t count_words(const uint64_t *words, uint16_t first, uint16_t last) {
    uint32_t count = 0;
    for (uint32_t i = first >> 6; i <= last >> 6; i++) {
        count += bits_of(words[i] & mask_of(i, first, last));
    }
    return count;
}

static uint32_t count_runs(const firn_container *container, uint16_t first, uint16_t last) {
    uint32_t count = 0;
    for (uint32_t i = search_runs(container, first); i < container->used; i++) {
        firn_container_run run = container->runs[i];
        if (run.first > last) break;
        uint32_t from = run.first < first ? first : run.first;
        uint32_t to = run.last > last ? last : run.last;
        count += to - from + 1;
    }
    return count;
}

uint32_t firn_container_count_range(const firn_container *container, uint16_t first,
                                    uint16_t last) {
    if (first > last) return 0;
    if (first == 0 && last == UINT16_MAX) return container->count;
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY: {
        uint32_t from = firn_container_search(container, first);
        uint32_t to = firn_container_search(container, last);
        if (to < container->used && container->values[to] == last) to++;
        return to - from;
    }
    case FIRN_CONTAINER_BITMAP: return count_words(container->words, first, last);
    case FIRN_CONTAINER_RUNS: return count_runs(container, first, last);
    }
    return 0;
}

uint16_t firn_container_maximum(const firn_container *container) {
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY: return container->values[container->used - 1];
    case FIRN_CONTAINER_RUNS: return container->runs[container->used - 1].last;
    case FIRN_CONTAINER_BITMAP: break;
    }
    uint32_t index = FIRN_CONTAINER_WORDS - 1;
    while (index > 0 && container->words[index] == 0) index--;
    uint32_t bit =
        container->words[index] == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(container->words[index]);
    return (uint16_t)(index * 64 + bit);
}

static size_t take_values(const firn_container *container, uint16_t first, uint16_t last,
                          uint64_t *out, size_t capacity) {
    uint64_t base = container->key << 16;
    size_t taken = 0;
    for (uint32_t i = firn_container_search(container, first); i < container->used; i++) {
        if (taken == capacity || container->values[i] > last) break;
        out[taken++] = base | container->values[i];
    }
    return taken;
}

static size_t take_words(const firn_container *container, uint16_t first, uint16_t last,
                         uint64_t *out, size_t capacity) {
    uint64_t base = container->key << 16;
    size_t taken = 0;
    for (uint32_t i = first >> 6; i <= last >> 6; i++) {
        uint64_t word = container->words[i] & mask_of(i, first, last);
        for (; word != 0; word &= word - 1) {
            if (taken == capacity) return taken;
            out[taken++] = base | (i * 64U + (uint32_t)__builtin_ctzll(word));
        }
    }
    return taken;
}

static size_t take_runs(const firn_container *container, uint16_t first, uint16_t last,
                        uint64_t *out, size_t capacity) {
    uint64_t base = container->key << 16;
    size_t taken = 0;
    for (uint32_t i = search_runs(container, first); i < container->used; i++) {
        firn_container_run run = container->runs[i];
        if (run.first > last) break;
        uint32_t to = run.last > last ? last : run.last;
        for (uint32_t value = run.first < first ? first : run.first; value <= to; value++) {
            if (taken == capacity) return taken;
            out[taken++] = base | value;
        }
    }
    return taken;
}

size_t firn_container_take(const firn_container *container, uint16_t first, uint16_t last,
                           uint64_t *out, size_t capacity) {
    if (first > last) return 0;
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY: return take_values(container, first, last, out, capacity);
    case FIRN_CONTAINER_BITMAP: return take_words(container, first, last, out, capacity);
    case FIRN_CONTAINER_RUNS: return take_runs(container, first, last, out, capacity);
    }
    return 0;
}

static uint32_t run_count_of_values(const firn_container *container) {
    uint32_t runs = container->used > 0;
    for (uint32_t i = 1; i < container->used; i++) {
        runs += container->values[i] != container->values[i - 1] + 1;
    }
    return runs;
}

/* A run begins at each bit whose lower neighbour is not set. */
static uint32_t run_count_of_words(const uint64_t *words) {
    uint32_t runs = 0;
    uint64_t before = 0;
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) {
        runs += bits_of(words[i] & ~(words[i] << 1 | before));
        before = words[i] >> 63;
    }
    return runs;
}

uint32_t firn_container_run_count(const firn_container *container) {
    switch (container->kind) {
    case FIRN_CONTAINER_ARRAY: return run_count_of_values(container);
    case FIRN_CONTAINER_BITMAP: return run_count_of_words(container->words);
    case FIRN_CONTAINER_RUNS: break;
    }
    return container->used;
}

void firn_container_set_bits(uint64_t words[FIRN_CONTAINER_WORDS], uint16_t first, uint16_t last) {
    for (uint32_t i = first >> 6; i <= last >> 6; i++) words[i] |= mask_of(i, first, last);
}

void firn_container_load(const firn_container *container, uint64_t words[FIRN_CONTAINER_WORDS]) {
    if (container->kind == FIRN_CONTAINER_BITMAP) {
        memcpy(words, container->words, FIRN_CONTAINER_BITMAP_BYTES);
        return;
    }
    memset(words, 0, FIRN_CONTAINER_BITMAP_BYTES);
    for (uint32_t i = 0; i < container->used; i++) {
        if (container->kind == FIRN_CONTAINER_ARRAY) {
            uint16_t value = container->values[i];
            words[value >> 6] |= (uint64_t)1 << (value & 63);
        } else {
            firn_container_set_bits(words, container->runs[i].first, container->runs[i].last);
        }
    }
}

/* The words' positions as an array, in `made`, which has room. */
static void make_values(const uint64_t *words, firn_container *made) {
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) {
        for (uint64_t word = words[i]; word != 0; word &= word - 1) {
            made->values[made->used++] = (uint16_t)(i * 64U + (uint32_t)__builtin_ctzll(word));
        }
    }
}

/* The first bit at `from` or after it that is set, or not set; 65536: none. */
static uint32_t next_bit(const uint64_t *words, uint32_t from, bool set) {
    for (uint32_t i = from >> 6; i < FIRN_CONTAINER_WORDS; i++) {
        uint64_t word = set ? words[i] : ~words[i];
        if (i == from >> 6) word &= UINT64_MAX << (from & 63);
        if (word != 0) return i * 64U + (uint32_t)__builtin_ctzll(word);
    }
    return UINT16_MAX + 1U;
}

static void make_runs(const uint64_t *words, firn_container *made) {
    uint32_t first = next_bit(words, 0, true);
    while (first <= UINT16_MAX) {
        uint32_t end = next_bit(words, first, false);
        made->runs[made->used++] = (firn_container_run){(uint16_t)first, (uint16_t)(end - 1)};
        if (end > UINT16_MAX) break;
        first = next_bit(words, end, true);
    }
}

firn_status firn_container_store(firn_container *container,
                                 const uint64_t words[FIRN_CONTAINER_WORDS], firn_error *error) {
    firn_container made = {.key = container->key};
    made.count = count_words(words, 0, UINT16_MAX);
    uint32_t runs = run_count_of_words(words);
    size_t flat = made.count <= FIRN_CONTAINER_ARRAY_MOST ? made.count * sizeof *made.values
                                                          : FIRN_CONTAINER_BITMAP_BYTES;
    if (sizeof(uint16_t) + runs * sizeof *made.runs < flat) {
        made.kind = FIRN_CONTAINER_RUNS;
        FIRN_TRY(firn_container_reserve(&made, runs, error));
        make_runs(words, &made);
    } else if (made.count <= FIRN_CONTAINER_ARRAY_MOST) {
        FIRN_TRY(firn_container_reserve(&made, made.count, error));
        make_values(words, &made);
    } else {
        made.kind = FIRN_CONTAINER_BITMAP;
        made.words = firn_alloc(FIRN_CONTAINER_BITMAP_BYTES);
        if (made.words == NULL) return firn_fail_memory(error);
        memcpy(made.words, words, FIRN_CONTAINER_BITMAP_BYTES);
    }
    firn_free(container->memory);
    *container = made;
    return FIRN_OK;
}
