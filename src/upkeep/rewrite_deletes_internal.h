/** Shared by the parts of rewriting deletes; not for other folders. */
#ifndef FIRN_UPKEEP_REWRITE_DELETES_INTERNAL_H
#define FIRN_UPKEEP_REWRITE_DELETES_INTERNAL_H

#include "data/deletes.h"
#include "upkeep/rewrite_deletes.h"

typedef struct firn_delete_planner {
    firn_table *table;
    const firn_rewrite_deletes_options *options;
    firn_rewrite_deletes_plan *out;
    bool vectors;          /* format v3: deletes become vectors */
    bool file_granularity; /* v2: one position delete file per data file */
    int64_t target_bytes;
    size_t *data_groups;   /* of each live data file: its group */
    size_t *delete_groups; /* of each live delete file: its group, or FIRN_NO_GROUP */
    size_t *vector_of;     /* of each live data file: the number of its vector plus 1, or 0 */
    bool *in_force;        /* of each live delete file: it applies to a live data file */
    bool *reached;         /* of each live data file: a delete file other than a vector may apply */
} firn_delete_planner;

/** Equality delete files are of no group: they may reach several. */
#define FIRN_NO_GROUP SIZE_MAX

static inline bool firn_is_equality(const firn_live_file *deletes) {
    return deletes->entry.file.content == FIRN_CONTENT_EQUALITY_DELETES;
}

/** Makes the groups, in order, and says which file is of which. */
firn_status firn_rewrite_deletes_group(firn_delete_planner *plan, firn_error *error);

/** Looks at which deletes reach what, and selects the groups in which something is gained. */
firn_status firn_rewrite_deletes_choose(firn_delete_planner *plan, firn_error *error);

/** Takes over what was found of data file `index` of those that were asked for; `positions` is NULL where no row of it is deleted, and borrowed. */
typedef firn_status (*firn_deletes_taker)(void *context, size_t index,
                                          const firn_roaring *positions,
                                          int64_t largest_sequence_number, firn_error *error);

/**
 * Looks up the deleted rows of data files by all deletes of `files`, in a quarter of the memory limit, and calls `take` for each, in order.
 */
firn_status firn_rewrite_deletes_resolve(firn_table *table, const firn_live_files *files,
                                         const firn_live_file *const *data, size_t count,
                                         const firn_rewrite_deletes_options *options,
                                         firn_deletes_taker take, void *context, firn_error *error);

/** The memory that the options ask for. */
int64_t firn_rewrite_deletes_memory(const firn_rewrite_deletes_options *options);

#endif
