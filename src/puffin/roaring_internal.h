/** What a set is made of. Within puffin only. */
#ifndef FIRN_PUFFIN_ROARING_INTERNAL_H
#define FIRN_PUFFIN_ROARING_INTERNAL_H

#include "base/vector.h"
#include "puffin/container.h"
#include "puffin/roaring.h"

/**
 * One level only: the map of 32-bit bitmaps, each a map of containers, is one sequence of containers by ascending position >> 16. The two levels
 * are made when a set is written.
 */
struct firn_roaring {
    FIRN_VECTOR(firn_container) containers;
};

/** The highest position: its most significant bit is 0 (Puffin specification, "deletion-vector-v1"). */
#define FIRN_ROARING_MOST ((uint64_t)INT64_MAX)

/** The first container whose key is not less than `key`, or the number of containers. */
size_t firn_roaring_search(const firn_roaring *set, uint64_t key);

#endif
