/**
 * A set of 64-bit row positions as a roaring bitmap (RoaringFormatSpec, "Extension for 64-bit implementations"): the form in which deletion vectors hold
 * positions and in which firn keeps deleted positions in memory. Not thread-safe while it changes; any number of threads may read one.
 */
#ifndef FIRN_PUFFIN_ROARING_H
#define FIRN_PUFFIN_ROARING_H

#include "base/buffer.h"
#include "base/read_at.h"
#include "base/slice.h"

typedef struct firn_roaring firn_roaring;

/** NULL when memory is out. */
firn_roaring *firn_roaring_new(void);
/** NULL is allowed. */
void firn_roaring_free(firn_roaring *set);

/** Adds one position; ascending order is the fast way. Positions above 2^63 - 1 are INVALID. */
firn_status firn_roaring_add(firn_roaring *set, uint64_t position, firn_error *error);
/** Adds [first, end). */
firn_status firn_roaring_add_range(firn_roaring *set, uint64_t first, uint64_t end,
                                   firn_error *error);
/** Union, into `set`. */
firn_status firn_roaring_add_all(firn_roaring *set, const firn_roaring *other, firn_error *error);
/** Takes the positions of `other` out of `set`. */
firn_status firn_roaring_remove_all(firn_roaring *set, const firn_roaring *other,
                                    firn_error *error);

bool firn_roaring_contains(const firn_roaring *set, uint64_t position);
/** Whether every position of `part` is in `set`. NULL stands for the empty set in both. */
bool firn_roaring_contains_all(const firn_roaring *set, const firn_roaring *part);
/** NULL: 0. */
uint64_t firn_roaring_count(const firn_roaring *set);
/** Positions in [first, end). NULL: 0. */
uint64_t firn_roaring_count_range(const firn_roaring *set, uint64_t first, uint64_t end);
/** The greatest position; false when the set is empty. */
bool firn_roaring_maximum(const firn_roaring *set, uint64_t *out);
/** Bytes that the set holds. */
size_t firn_roaring_memory(const firn_roaring *set);

/**
 * Positions in [first, end) in ascending order, at most `capacity` of them, into `out`; returns how many. To go on, pass the last one + 1 as `first`.
 */
size_t firn_roaring_take(const firn_roaring *set, uint64_t first, uint64_t end, uint64_t *out,
                         size_t capacity);

/** Appends the portable form, run containers used where they are smaller. */
firn_status firn_roaring_write(const firn_roaring *set, firn_buffer *out, firn_error *error);
/** The same of the positions in [first, end), of which each is a multiple of 65536 or lies outside of all positions. */
firn_status firn_roaring_write_range(const firn_roaring *set, uint64_t first, uint64_t end,
                                     firn_buffer *out, firn_error *error);
/** Reads the portable form; all of `bytes` must be taken. CORRUPT names the byte: unsorted or doubled keys, counts that lie, containers cut short. */
firn_status firn_roaring_read(firn_slice bytes, const char *name, firn_roaring **out,
                              firn_error *error);

/** Of a bitmap in a file: which positions are wanted, and what was found of all of them. */
typedef struct firn_roaring_part {
    uint64_t first, end; /**< wanted: [first, end) */
    uint64_t count;      /**< positions of the whole bitmap */
    uint64_t greatest;   /**< of them, 0 where there are none */
    uint64_t behind;     /**< none lies in [end, behind); UINT64_MAX: none lies behind */
} firn_roaring_part;
/** The same of a part of a file, of which a few KiB at a time are in memory; beside the wanted positions *out has those that share a container with them. Checks the whole bitmap. */
firn_status firn_roaring_read_part(const firn_read_at *file, uint64_t offset, size_t size,
                                   firn_roaring_part *part, firn_roaring **out, firn_error *error);

#endif
