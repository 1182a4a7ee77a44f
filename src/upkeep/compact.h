/** Compaction (design, section 7): which files, into what, and doing it. */
#ifndef FIRN_UPKEEP_COMPACT_H
#define FIRN_UPKEEP_COMPACT_H

#include "base/threads.h"
#include "rewrite/rewrite.h"
#include "table/commit.h"

typedef struct firn_compact_options {
    int64_t target_file_size_bytes;    /**< 0: the table's */
    int64_t min_input_files;           /**< 5 */
    int64_t max_file_group_size_bytes; /**< 100 GiB */
    bool rewrite_all;
    const char *where;                 /**< NULL: every partition; not in this version */
    int64_t memory_bytes;              /**< 0: a quarter of the machine's or the cgroup's */
    size_t threads;                    /**< 0: the cores */
    bool verify;
    bool copy_pages;                   /**< true */
    int64_t lock_timeout_ms;
    firn_rewrite_progress progress;
} firn_compact_options;

void firn_compact_options_init(firn_compact_options *options);

/** Why a file is a candidate, or a group is left alone. */
typedef struct firn_compact_group {
    const firn_live_file *const *files;
    size_t file_count;
    const firn_partition_spec *spec;
    const char *partition_text; /**< "day=2024-01-31", or "" */
    int64_t bytes, rows;
    bool selected;
    size_t output_count;        /**< expected; 0 when not selected */
    int64_t output_bytes;       /**< expected */
    const char *reason;         /**< why it was chosen, or what it lacks */
} firn_compact_group;

typedef struct firn_compact_plan {
    firn_arena *arena;
    firn_live_files files;
    firn_compact_group *groups; /**< one for each partition and size-capped run, in partition order */
    size_t group_count;
    size_t selected_count;
    int64_t target_file_size_bytes;
    /** Sums over the selected groups, and over the whole table. */
    size_t input_files, output_files, table_files;
    int64_t input_bytes, output_bytes, table_bytes, table_rows;
} firn_compact_plan;

/** Reads metadata and manifests (and footers of chosen files, to refuse by name before anything is written). */
firn_status firn_compact_plan_table(firn_table *table, const firn_compact_options *options,
                                    firn_compact_plan **out, firn_error *error);
void firn_compact_plan_free(firn_compact_plan *plan);

typedef struct firn_compact_result {
    bool committed;
    firn_commit_result commit;
    size_t groups, input_files, output_files, row_groups_out;
    int64_t input_bytes, output_bytes, rows;
    int64_t bytes_copied, bytes_encoded;
    bool verified;
} firn_compact_result;

/** Rewrites the selected groups and commits once. Nothing selected: OK, nothing is written. */
firn_status firn_compact_run(firn_table *table, const firn_compact_plan *plan,
                             const firn_compact_options *options, firn_compact_result *out,
                             firn_error *error);

#endif
