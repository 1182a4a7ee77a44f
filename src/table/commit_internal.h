/** Shared by the parts of a commit; not for other folders. */
#ifndef FIRN_TABLE_COMMIT_INTERNAL_H
#define FIRN_TABLE_COMMIT_INTERNAL_H

#include "base/vector.h"
#include "table/commit.h"

typedef struct firn_commit_work {
    firn_table *table;
    firn_journal *journal;
    const firn_file_change *change;
    firn_arena *arena;
    int64_t snapshot_id;
    char uuid[37]; /* part of file names */
    char *folder;  /* of metadata */
    size_t file_number;
    FIRN_VECTOR(firn_manifest_file) manifests; /* of the new snapshot, in list order */
    size_t written, kept;
} firn_commit_work;

/** Fills work->manifests: added files first, then survivors and removals, then what is carried by reference. */
firn_status firn_commit_write_manifests(firn_commit_work *work, firn_error *error);

/** The snapshot's summary object; owned. `parent` nullable. */
firn_status firn_commit_summary(const firn_commit_work *work, const firn_snapshot *parent,
                                json_t **out, firn_error *error);

#endif
