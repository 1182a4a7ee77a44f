/** A lost catalog, rebuilt from a table's metadata files (design, section 9): the newest one whose ancestry proves it. */
#ifndef FIRN_LAKE_RECOVER_H
#define FIRN_LAKE_RECOVER_H

#include "base/arena.h"
#include "catalog/catalog.h"

/** A metadata file that was looked at. */
typedef struct firn_recover_candidate {
    const char *location;
    /** "newest", "ancestor of the newest", "not committed: …", "as new as …", "of another table", "unreadable: …" */
    const char *verdict;
    int64_t last_updated_ms; /**< 0: unreadable */
    int64_t version;         /**< that its name begins with; -1: none */
    int64_t snapshot_id;     /**< current there; FIRN_NO_SNAPSHOT: none, or unreadable */
    int64_t total_records;   /**< of that snapshot, by its summary; -1: not said */
} firn_recover_candidate;

typedef struct firn_recovery {
    firn_arena *arena;
    const char
        *metadata_location; /**< spelled as the table spells its files; NULL: none can be proved */
    const char *hint; /**< what version-hint.text says, for information only; NULL: there is none */
    bool
        hint_names_none; /**< of the files that are there; where one was found it is older than that */
    const firn_recover_candidate *candidates; /**< newest first */
    size_t candidate_count;
} firn_recovery;

/**
 * Looks at every metadata file in the metadata folder of `location` (a table's, or the metadata folder itself). The newest one is the last of a chain of metadata files, each of which the metadata log of the next one names, that has every other
 * file in it or shows that it was never committed: another file came next after the one that it was made from, or the chain's log begins only after it. A chain whose files were deleted by metadata retention is still one.
 * UNSAFE, naming both and how they differ: two ends of equal standing, files of two tables, a file that can't be read and may be the newest, an end without its manifest list, a copy of a table; and a file that version-hint.text or
 * `pointer` (what a catalog's entry names; nullable) names, that is gone and not shown to be older: its commits would be lost without a word. UNSUPPORTED: a directory table, which has no catalog
 * to lose. NOT_FOUND: no metadata files. After a failure `out` has what was found out; it is always to be released.
 */
firn_status firn_recover_find(firn_storage *storage, const char *location, const char *pointer,
                              firn_recovery *out, firn_error *error);
void firn_recovery_release(firn_recovery *recovery);

#endif
