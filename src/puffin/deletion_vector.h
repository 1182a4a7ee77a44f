/** The blob type deletion-vector-v1 (Puffin specification): length, magic, roaring bitmap, CRC. */
#ifndef FIRN_PUFFIN_DELETION_VECTOR_H
#define FIRN_PUFFIN_DELETION_VECTOR_H

#include "puffin/roaring.h"

#define FIRN_DELETION_VECTOR_TYPE "deletion-vector-v1"
/** The field id that a deletion vector's blob names: of the reserved column _pos. */
#define FIRN_ROW_POSITION_FIELD_ID 2147483645

/**
 * Reads a blob. `name` and `offset` (of the blob in its file) are for messages. CORRUPT: length, magic or CRC wrong, a bitmap that is none. Its cardinality is left to the caller to compare
 * with the manifest's record_count.
 */
firn_status firn_deletion_vector_read(firn_slice blob, const char *name, int64_t offset,
                                      firn_roaring **out, firn_error *error);

/** The same of a blob in a file, of which a few KiB at a time are in memory; see firn_roaring_read_part. */
firn_status firn_deletion_vector_read_part(const firn_read_at *file, uint64_t offset, size_t size,
                                           firn_roaring_part *part, firn_roaring **out,
                                           firn_error *error);

/** Appends a blob. */
firn_status firn_deletion_vector_write(const firn_roaring *positions, firn_buffer *out,
                                       firn_error *error);

#endif
