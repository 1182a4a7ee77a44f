/**
 * The positions of a roaring bitmap that share all but their lowest 16 bits, in one of the three forms that RoaringFormatSpec
 * knows. Within puffin only.
 *
 * Invariants: a container of a set is never empty; an array holds at most FIRN_CONTAINER_ARRAY_MOST values, strictly ascending;
 * a bitmap holds more than that; runs are ascending and neither overlap nor touch. So the portable form, which tells arrays from bitmaps
 * by their cardinality, needs no conversion.
 */
#ifndef FIRN_PUFFIN_CONTAINER_H
#define FIRN_PUFFIN_CONTAINER_H

#include <stddef.h>

#include "base/error.h"

/** A larger array would take more bytes than a bitmap. */
#define FIRN_CONTAINER_ARRAY_MOST 4096U
#define FIRN_CONTAINER_WORDS 1024U
#define FIRN_CONTAINER_BITMAP_BYTES ((size_t)FIRN_CONTAINER_WORDS * 8)
/** More runs would take more bytes than a bitmap, with the count that stands before them. */
#define FIRN_CONTAINER_RUNS_MOST 2047U

typedef enum firn_container_kind {
    FIRN_CONTAINER_ARRAY,
    FIRN_CONTAINER_BITMAP,
    FIRN_CONTAINER_RUNS
} firn_container_kind;

/** Both ends belong to it. */
typedef struct firn_container_run {
    uint16_t first, last;
} firn_container_run;

typedef struct firn_container {
    uint64_t key;            /**< position >> 16 */
    uint32_t count;          /**< positions; 65536 at most */
    uint16_t used, capacity; /**< values of an array, runs */
    firn_container_kind kind;
    union {
        uint16_t *values;
        uint64_t *words;
        firn_container_run *runs;
        void *memory;
    };
} firn_container;

/** Frees what it holds and leaves an empty array. */
void firn_container_release(firn_container *container);
/** Bytes that it holds besides itself. */
size_t firn_container_memory(const firn_container *container);

/** Room for `wanted` values or runs: an array or runs only. */
firn_status firn_container_reserve(firn_container *container, uint32_t wanted, firn_error *error);

/* On failure each of these leaves the container as it was. */
firn_status firn_container_add(firn_container *container, uint16_t value, firn_error *error);
firn_status firn_container_add_range(firn_container *container, uint16_t first, uint16_t last,
                                     firn_error *error);
firn_status firn_container_add_all(firn_container *container, const firn_container *other,
                                   firn_error *error);
/** May leave it empty. */
firn_status firn_container_remove_all(firn_container *container, const firn_container *other,
                                      firn_error *error);
/** Makes `out`, whose memory is not freed, a copy. */
firn_status firn_container_copy(const firn_container *container, firn_container *out,
                                firn_error *error);

bool firn_container_contains(const firn_container *container, uint16_t value);
bool firn_container_contains_all(const firn_container *container, const firn_container *part);
/** Positions in [first, last]. */
uint32_t firn_container_count_range(const firn_container *container, uint16_t first, uint16_t last);
/** Of one that is not empty. */
uint16_t firn_container_maximum(const firn_container *container);
/** Positions in [first, last], ascending, each with the key put before it; at most `capacity`. */
size_t firn_container_take(const firn_container *container, uint16_t first, uint16_t last,
                           uint64_t *out, size_t capacity);

/** Runs of neighbouring positions. */
uint32_t firn_container_run_count(const firn_container *container);

/* Within the implementation: any container as a bitmap, and a bitmap as the container that takes fewest bytes. */
void firn_container_load(const firn_container *container, uint64_t words[FIRN_CONTAINER_WORDS]);
firn_status firn_container_store(firn_container *container,
                                 const uint64_t words[FIRN_CONTAINER_WORDS], firn_error *error);
void firn_container_set_bits(uint64_t words[FIRN_CONTAINER_WORDS], uint16_t first, uint16_t last);
/** Where `value` is or would be among an array's values. */
uint32_t firn_container_search(const firn_container *container, uint16_t value);

#endif
