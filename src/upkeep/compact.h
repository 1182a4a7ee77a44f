/** Compaction (design, section 7): which files, into what, and doing it. Single-threaded calls; the work inside runs on a pool. */
#ifndef FIRN_UPKEEP_COMPACT_H
#define FIRN_UPKEEP_COMPACT_H

#include "base/map.h"
#include "base/threads.h"
#include "data/deletes.h"
#include "rewrite/rewrite.h"
#include "table/commit.h"

typedef struct firn_compact_options {
    int64_t
        target_file_size_bytes; /**< 0: the table's write.target-file-size-bytes, else 512 MiB */
    int64_t min_input_files;    /**< 5 */
    int64_t max_file_group_size_bytes; /**< 100 GiB */
    /** A file of which at least this share of rows is deleted is a reason for a rewrite; 0.3; 0: never. */
    double delete_ratio_threshold;
    /** … and one to which at least so many delete files apply; 0: never. */
    int64_t delete_file_threshold;
    bool partial_progress; /**< several commits, each for the groups that are finished by then */
    const char *
        where; /**< NULL, or a row filter: only files that may match are rewritten, each as a whole */
    bool rewrite_all;
    bool
        preview; /**< somebody looks at the plan, which can't be run: expected bytes are estimated for every group */
    int64_t memory_bytes; /**< 0: a quarter of the machine's or the cgroup's */
    size_t threads;       /**< 0: the cores */
    bool verify;
    bool copy_pages;      /**< true */
    bool no_joined_pages; /**< for readers that can't take several compressed pieces in one page */
    int64_t lock_timeout_ms;
    firn_rewrite_progress progress;
} firn_compact_options;

void firn_compact_options_init(firn_compact_options *options);

/** Files of one (spec id, partition tuple), at most max_file_group_size_bytes of them. */
typedef struct firn_compact_group {
    const firn_live_file *const
        *files; /**< in the order in which their rows will stand: oldest first */
    size_t file_count;
    const firn_partition_spec *spec;
    const char *partition_text; /**< "day=2024-01-31", or "" */
    int64_t bytes, rows;
    /** Rows that are deleted: as metadata tells, which may be more or fewer than really are; exact where `resolved`. */
    int64_t deleted_rows;
    size_t delete_files; /**< that may apply to its files, counted once for each */
    bool may_have_deletes;
    bool selected;
    bool resolved;        /**< `deletes` holds the deleted rows of each file */
    firn_deletes deletes; /**< empty, and resolved, where no delete file may apply */
    firn_rewrite_looked
        *looked;          /**< what the files' footers told; NULL: they are looked at again */
    size_t output_count;  /**< expected; 0 when not selected, or when no row is left */
    int64_t output_bytes; /**< expected; -1: not estimated */
    const char *reason;   /**< why it was chosen, or what it lacks */
} firn_compact_group;

typedef struct firn_compact_plan {
    firn_arena *arena;
    const firn_table_metadata
        *metadata;           /**< the state that was planned from, while the table holds it */
    int64_t snapshot_id;     /**< the planned one; FIRN_NO_SNAPSHOT: none */
    int64_t sequence_number; /**< of it: what outputs carry */
    int format_version;
    firn_live_files files;
    firn_compact_group *groups; /**< by spec, then by partition value */
    size_t group_count;
    size_t selected_count;
    int64_t target_file_size_bytes;
    firn_delete_index *delete_index; /**< of files.deletes; NULL where there is none */
    /** Sums over the selected groups (output_bytes -1: not estimated), and over the whole table. */
    size_t input_files, output_files, table_files;
    int64_t input_bytes, output_bytes, table_bytes, table_rows;
    int64_t deleted_rows;                            /**< of the selected groups */
    size_t table_delete_files, removed_delete_files; /**< there are, and expected to go */
    int64_t sampled_bytes;                           /**< of the inputs that were tried; 0: none */
    firn_parquet_rewrite_counts sample;              /**< how these went over */
} firn_compact_plan;

/**
 * Reads metadata, manifests, and the footers of chosen files, so that what can't be rewritten is refused by name (UNSUPPORTED) before anything is written. Writes nothing.
 * The plan points into the table's state and must be freed before that is reloaded or closed.
 */
firn_status firn_compact_plan_table(firn_table *table, const firn_compact_options *options,
                                    firn_compact_plan **out, firn_error *error);
/** NULL is allowed. */
void firn_compact_plan_free(firn_compact_plan *plan);

typedef struct firn_compact_result {
    bool committed;
    firn_commit_result commit; /**< the last one */
    size_t commits;            /**< several with partial_progress */
    /* Sums over what was committed. */
    size_t groups, input_files, output_files, row_groups_out;
    int64_t input_bytes, output_bytes, rows, rows_deleted;
    size_t delete_files_removed, delete_files_added; /**< vectors count as files */
    size_t
        groups_rebased; /**< rows of theirs were deleted meanwhile; the deletes were carried over */
    size_t groups_redone;  /**< rewritten again, since files of theirs were replaced meanwhile */
    size_t groups_dropped; /**< likewise, and not worth a rewrite any more */
    firn_parquet_rewrite_counts counts; /**< how pages went over, and why they were decoded */
    size_t leftovers_removed;           /**< files of an earlier, killed run */
    bool verified;
} firn_compact_result;

/**
 * Rewrites the selected groups and commits; *table is then at the new snapshot (do not use the plan's pointers afterwards). Nothing selected: OK and nothing is written. When an earlier run had to be
 * cleaned up and the table had moved, the plan is made anew. What others commit meanwhile is taken into account (design, 6.3): deletes of rows that were moved are moved too; only groups whose files are gone are planned
 * and rewritten again. On any failure but COMMIT_UNKNOWN what was written and not committed is removed; `out` tells what was committed.
 */
firn_status firn_compact_run(firn_table *table, const firn_compact_plan *plan,
                             const firn_compact_options *options, firn_compact_result *out,
                             firn_error *error);

#endif
