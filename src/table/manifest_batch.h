/**
 * Data files that are to be added, more of them than memory holds: sorted by spec and partition value under a memory limit (sorted runs in an unlinked temporary file, then merged), and
 * written as manifests of commit.manifest.target-size-bytes, so that each covers few partitions. A commit takes the manifests over as they are, in every attempt.
 */
#ifndef FIRN_TABLE_MANIFEST_BATCH_H
#define FIRN_TABLE_MANIFEST_BATCH_H

#include "table/commit.h"

typedef struct firn_manifest_batch firn_manifest_batch;

/** For the table as it is now: its current schema and specs. Chooses the snapshot id of the commit that is to come. */
firn_status firn_manifest_batch_new(firn_table *table, size_t memory_bytes,
                                    firn_manifest_batch **out, firn_error *error);
/** NULL is allowed. Files stay: they are the journal's. */
void firn_manifest_batch_free(firn_manifest_batch *batch);

/** The pool (borrowed until the batch is finished) that compresses; without one the calling thread does. */
void firn_manifest_batch_use_pool(firn_manifest_batch *batch, firn_pool *pool);

/** Adds a data file, which is copied; its spec_id says which spec. */
firn_status firn_manifest_batch_add(firn_manifest_batch *batch, const firn_data_file *file,
                                    firn_error *error);

/** Writes the manifests, each announced to the journal first. `out` is borrowed from the batch; for firn_file_change.added_manifests. */
firn_status firn_manifest_batch_finish(firn_manifest_batch *batch, firn_journal *journal,
                                       const firn_added_manifests **out, firn_error *error);

#endif
