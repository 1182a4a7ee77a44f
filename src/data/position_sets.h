/** Many sets of row positions, of which a few are in memory at a time: they lie in their portable form in memory, or beyond a limit in an unlinked temporary file (base/spool.h). */
#ifndef FIRN_DATA_POSITION_SETS_H
#define FIRN_DATA_POSITION_SETS_H

#include "puffin/roaring.h"

typedef struct firn_position_sets firn_position_sets;

/** Where a set lies. Zeroed: the empty set. */
typedef struct firn_position_place {
    uint64_t offset;
    size_t size;    /**< bytes */
    uint64_t count; /**< positions */
} firn_position_place;

/** At most `memory_bytes` are kept in memory. */
firn_status firn_position_sets_new(size_t memory_bytes, firn_position_sets **out,
                                   firn_error *error);
/** NULL is allowed. */
void firn_position_sets_free(firn_position_sets *sets);
/** The limit that it was made with. */
size_t firn_position_sets_memory(const firn_position_sets *sets);

/** Adds a set; NULL is the empty one. IO where the temporary file can't be written. */
firn_status firn_position_sets_add(firn_position_sets *sets, const firn_roaring *set,
                                   firn_position_place *out, firn_error *error);
/** The same of its positions in [first, end), multiples of 65536 or outside of all positions. */
firn_status firn_position_sets_add_range(firn_position_sets *sets, const firn_roaring *set,
                                         uint64_t first, uint64_t end, firn_position_place *out,
                                         firn_error *error);
/** *out is owned by the caller; NULL for the empty set. Any number of threads, while nothing is added. */
firn_status firn_position_sets_load(firn_position_sets *sets, const firn_position_place *place,
                                    firn_roaring **out, firn_error *error);

#endif
