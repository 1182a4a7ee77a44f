/**
 * Position and equality deletes as merged position deletes (format v2) or deletion vectors (v3); data files stay as they are (design, section 8).
 * Single-threaded calls; the work inside runs on a pool.
 */
#ifndef FIRN_UPKEEP_REWRITE_DELETES_H
#define FIRN_UPKEEP_REWRITE_DELETES_H

#include "base/threads.h"
#include "data/position_sets.h"
#include "table/commit.h"

typedef struct firn_rewrite_deletes_options {
    int64_t memory_bytes; /**< 0: a quarter of the machine's or the cgroup's */
    size_t threads;       /**< 0: the cores */
    int64_t lock_timeout_ms;
} firn_rewrite_deletes_options;

/** Data files of one (spec id, partition tuple) and the delete files that reach them. */
typedef struct firn_delete_group {
    const firn_partition_spec *spec;
    const firn_data_file *sample; /**< a file with the group's tuple */
    const char *partition_text;   /**< "day=2024-01-31", or "" */
    size_t position_files;        /**< position delete files of the group, vectors apart */
    size_t
        reached_files; /**< data files to which one of those, or an equality delete file, may apply */
    bool equality;     /**< an equality delete file is among these */
    bool selected;
    size_t output_files;  /**< expected: position delete files, or vectors; 0 when not selected */
    int64_t deleted_rows; /**< positions that these will hold */
    const char *reason;
} firn_delete_group;

/** A data file that is given new deletes. */
typedef struct firn_covered_file {
    const firn_live_file *data;
    size_t group;
    const firn_live_file *vector; /**< its vector, which goes; NULL: it has none */
    firn_position_place positions;
    int64_t sequence_number; /**< the largest of the deletes that took its rows */
} firn_covered_file;

typedef struct firn_rewrite_deletes_plan {
    firn_arena *arena;
    const firn_table_metadata *metadata; /**< the state that was planned from */
    firn_live_files files;
    firn_delete_group *groups; /**< by spec, then by partition value */
    size_t group_count, selected_count;
    const firn_live_file **reached; /**< data files whose deleted rows were looked up */
    size_t reached_count;
    firn_position_sets *sets;         /**< within the memory limit, else in a temporary file */
    firn_position_place *positions;   /**< of those: all of their deleted rows, in `sets` */
    int64_t *largest_sequence_number; /**< of those: of the deletes that took a row; -1: none */
    firn_covered_file *covered;       /**< by group */
    size_t covered_count;
    const firn_live_file **removed; /**< delete files that go */
    size_t removed_count;
    size_t removed_position_files, removed_equality_files, removed_vectors;
    int64_t removed_bytes;
    size_t output_files;
    int64_t deleted_rows;
} firn_rewrite_deletes_plan;

/**
 * Reads metadata, manifests and the deletes of what it chooses, so that the plan is exact. Writes nothing. UNSUPPORTED by name: what firn can't resolve.
 * The plan must be freed before the table is closed.
 */
firn_status firn_rewrite_deletes_plan_table(firn_table *table,
                                            const firn_rewrite_deletes_options *options,
                                            firn_rewrite_deletes_plan **out, firn_error *error);
/** NULL is allowed. */
void firn_rewrite_deletes_plan_free(firn_rewrite_deletes_plan *plan);

typedef struct firn_rewrite_deletes_result {
    bool committed;
    firn_commit_result commit;
    size_t removed_position_files, removed_equality_files, removed_vectors;
    size_t added_files; /**< position delete files, or vectors */
    int64_t removed_bytes, added_bytes, deleted_rows;
    size_t leftovers_removed; /**< files of an earlier, killed run */
} firn_rewrite_deletes_result;

/**
 * Writes, reads back what was written, and commits once; *table is then at the new snapshot. Nothing to remove: OK and nothing is written. Where the table has moved
 * to a state that the plan does not fit, the plan is made anew, a few times. On any failure but COMMIT_UNKNOWN what was written is removed.
 */
firn_status firn_rewrite_deletes_run(firn_table *table, const firn_rewrite_deletes_plan *plan,
                                     const firn_rewrite_deletes_options *options,
                                     firn_rewrite_deletes_result *out, firn_error *error);

#endif
