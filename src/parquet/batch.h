/**
 * A run of one leaf column as a stream of (repetition level, definition level, value): the unit in which values
 * travel from a chunk reader to a chunk writer. A row begins where the repetition level is 0. Borrowed memory, valid until
 * the next call on whoever gave it.
 */
#ifndef FIRN_PARQUET_BATCH_H
#define FIRN_PARQUET_BATCH_H

#include <stdbool.h>

#include "base/slice.h"
#include "parquet/types.h"

/** Values of one physical type, nulls left out. */
typedef struct firn_parquet_values {
    firn_parquet_physical_type type;
    uint32_t
        width; /**< bytes of a fixed-width value (firn_parquet_value_width), 0 for BYTE_ARRAY */
    size_t count;
    const uint8_t *
        fixed; /**< count × width bytes, little-endian as in PLAIN; BOOLEAN one byte each, 0 or 1 */
    const firn_slice *slices; /**< BYTE_ARRAY only */
    bool
        slices_are_plain; /**< the slices lie one behind the other, each with its length in front, as in PLAIN */
} firn_parquet_values;

typedef struct firn_parquet_batch {
    size_t level_count;
    const uint8_t *definition_levels; /**< level_count of them; NULL when the maximum is 0 */
    const uint8_t *repetition_levels; /**< likewise */
    /** The values that belong to levels at the maximum definition level, in order. With `indices` not NULL these are the
     *  dictionary's entries instead, and value i of the run is values[indices[i]]. */
    firn_parquet_values values;
    const uint32_t *indices; /**< NULL, or value_count of them, each below values.count */
    size_t value_count;      /**< levels at the maximum definition level */
    /** With `indices`: changes whenever another dictionary comes, so that a writer can keep a translation. */
    uint64_t dictionary_id;
} firn_parquet_batch;

/** How many of `count` levels are `wanted`. */
static inline size_t firn_parquet_count_level(const uint8_t *levels, size_t count, uint8_t wanted) {
    size_t found = 0;
    size_t i = 0;
    /* A fixed inner count keeps the sums within a byte and lets the compiler use vectors. */
    for (; count - i >= 128; i += 128) {
        uint8_t sum = 0;
        for (size_t j = 0; j < 128; j++) sum = (uint8_t)(sum + (levels[i + j] == wanted));
        found += sum;
    }
    for (; i < count; i++) found += levels[i] == wanted;
    return found;
}

#endif
