/**
 * Bytes that are written once, in order, and then read at any position: in memory, or, once there are more than a limit, in an unlinked temporary file in $TMPDIR, else
 * /tmp, which vanishes with the process.
 */
#ifndef FIRN_BASE_SPOOL_H
#define FIRN_BASE_SPOOL_H

#include "base/read_at.h"

typedef struct firn_spool firn_spool;

/** At most `memory_bytes` are kept in memory. */
firn_status firn_spool_new(size_t memory_bytes, firn_spool **out, firn_error *error);
/** NULL is allowed. */
void firn_spool_free(firn_spool *spool);

firn_status firn_spool_write(firn_spool *spool, const void *data, size_t size, firn_error *error);
/** The same as a destination. */
firn_write_to firn_spool_destination(firn_spool *spool);

/** What was written so far, under `name` (borrowed) in messages; valid until the spool is written to again or freed. Any thread may read. */
firn_read_at firn_spool_bytes(firn_spool *spool, const char *name);

#endif
