/**
 * Delete files that can't match a row of any live data file are taken out of the table (design, section 8): exactly, entry by entry.
 */
#ifndef FIRN_UPKEEP_DANGLING_DELETES_H
#define FIRN_UPKEEP_DANGLING_DELETES_H

#include "base/threads.h"
#include "table/commit.h"

typedef struct firn_dangling_deletes_options {
    int64_t memory_bytes; /**< 0: a quarter of the machine's or the cgroup's */
    size_t threads;       /**< 0: the cores */
    int64_t lock_timeout_ms;
} firn_dangling_deletes_options;

typedef struct firn_dangling_delete {
    const firn_live_file *file;
    const char *reason; /**< static text */
} firn_dangling_delete;

typedef struct firn_dangling_deletes_plan {
    firn_arena *arena;
    const firn_table_metadata *metadata; /**< the state that was planned from */
    firn_live_files files;
    firn_dangling_delete *dangling; /**< in manifest order */
    size_t dangling_count;
    size_t position_files, equality_files, vectors; /**< of the dangling ones */
    size_t files_read; /**< position delete files that had to be read to know */
    int64_t dangling_bytes;
} firn_dangling_deletes_plan;

/**
 * Reads metadata and manifests, and those position delete files that are for several data files of which one might be live. Writes nothing. The plan must be freed before the table is closed.
 */
firn_status firn_dangling_deletes_plan_table(firn_table *table,
                                             const firn_dangling_deletes_options *options,
                                             firn_dangling_deletes_plan **out, firn_error *error);
/** NULL is allowed. */
void firn_dangling_deletes_plan_free(firn_dangling_deletes_plan *plan);

typedef struct firn_dangling_deletes_result {
    bool committed;
    firn_commit_result commit;
    size_t position_files, equality_files, vectors; /**< removed */
    int64_t removed_bytes;
    size_t leftovers_removed; /**< files of an earlier, killed run */
} firn_dangling_deletes_result;

/** Commits once; nothing dangling: OK and nothing is written. Where the table has moved to a state that the plan does not fit, the plan is made anew, a few times. */
firn_status firn_dangling_deletes_run(firn_table *table, const firn_dangling_deletes_plan *plan,
                                      const firn_dangling_deletes_options *options,
                                      firn_dangling_deletes_result *out, firn_error *error);

#endif
