/** A lost catalog, rebuilt from a table's metadata files (design, section 9): the newest one whose ancestry proves it. */
#ifndef FIRN_LAKE_RECOVER_H
#define FIRN_LAKE_RECOVER_H

#include "base/arena.h"
#include "catalog/catalog.h"

/** A metadata file that was looked at. */
typedef struct firn_recover_candidate {
    const char *location;
    const char *
        verdict; /**< "newest", "ancestor of the newest", "not committed: …", "of another table", "unreadable: …" */
    int64_t last_updated_ms; /**< 0: unreadable */
    int64_t version;
} firn_recover_candidate;

typedef struct firn_recovery {
    firn_arena *arena;
    const char *metadata_location;            /**< NULL: none can be proved */
    const firn_recover_candidate *candidates; /**< newest first */
    size_t candidate_count;
} firn_recovery;

/**
 * Looks at every metadata file in the metadata folder of `location` (a table's, or the metadata folder itself). The newest one is the one whose metadata log names all others, directly or through those; a file that no other one names, and that is not the last of a
 * chain, was never committed or is a fork: two ends of equal standing are UNSAFE (exit 4), naming both and how they differ. A chain whose later files were deleted by metadata retention is still one. Files of another table-uuid are told apart.
 */
firn_status firn_recover_find(firn_storage *storage, const char *location, firn_recovery *out,
                              firn_error *error);
void firn_recovery_release(firn_recovery *recovery);

#endif
