/** Compaction through the library: plan, look, run. See firn-compact in the manual for what the options mean. */
#ifndef FIRN_COMPACTION_H
#define FIRN_COMPACTION_H

#include "firn/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct firn_compaction firn_compaction;

typedef struct firn_compaction_options {
    size_t size;                       /**< of this struct, set by firn_compaction_options_init */
    int64_t target_file_size_bytes;    /**< 0: the table's, else 512 MiB */
    int64_t min_input_files;           /**< 5 */
    int64_t max_file_group_size_bytes; /**< 100 GiB */
    int64_t memory_bytes;              /**< 0: a quarter of the machine's or the cgroup's */
    size_t threads;                    /**< 0: the cores */
    bool rewrite_all;                  /**< every file, whatever its size */
    bool verify;             /**< decode both sides and compare content hashes before the commit */
    int64_t lock_timeout_ms; /**< how long to wait for another run on the same table; 0 */
    /**
     * NULL, or a row filter in the grammar of --where ("day >= '2024-01-31' AND id IN (1, 2)"): only files that may hold rows of it are looked at, each of them as a whole. Copied.
     */
    const char *where;
    /** A file of which at least this share of rows is deleted is a reason for a rewrite; 0.3; 0: never. */
    double delete_ratio_threshold;
    /** So is a file to which at least so many delete files apply; 0, never, unless asked for. */
    int64_t delete_file_threshold;
    /** Commits as groups are finished, at most about ten times, instead of once at the end. What was committed stays when a later group fails. */
    bool partial_progress;
    /** Never several compressed pieces in one page, for readers that can't take them; pages are then compressed anew where they are joined. */
    bool no_joined_pages;
} firn_compaction_options;

FIRN_API void firn_compaction_options_init(firn_compaction_options *options);

/** One group of files of a partition. Text belongs to the plan. */
typedef struct firn_compaction_group {
    const char *partition; /**< "day=2024-01-31"; "" where the table is not partitioned */
    size_t input_files;
    int64_t input_bytes, rows;
    bool selected;
    size_t output_files; /**< expected */
    const char *reason;  /**< why it was chosen, or what it lacks */
} firn_compaction_group;

/**
 * Plans; reads only. `options` may be NULL and is copied. UNSUPPORTED names what this version can't compact. The plan must be freed
 * before its table is closed.
 */
FIRN_API firn_status firn_compaction_plan(firn_table *table, const firn_compaction_options *options,
                                          firn_compaction **out, firn_error *error);
/** NULL is allowed. */
FIRN_API void firn_compaction_free(firn_compaction *plan);

FIRN_API size_t firn_compaction_group_count(const firn_compaction *plan);
/** `index` below the count. */
FIRN_API firn_compaction_group firn_compaction_group_at(const firn_compaction *plan, size_t index);

typedef struct firn_compaction_result {
    bool committed;      /**< false: there was nothing to do */
    int64_t snapshot_id; /**< of the new snapshot, when committed; of the last one */
    size_t groups, input_files, output_files;
    int64_t input_bytes, output_bytes, rows;
    size_t commits;       /**< one, but with partial_progress */
    int64_t rows_deleted; /**< that the inputs had and the outputs don't */
    size_t delete_files_removed, delete_files_added; /**< deletion vectors count as files */
} firn_compaction_result;

/**
 * Rewrites and commits, once unless partial_progress asks for more. Deletes that others commit meanwhile are carried over, and groups whose files others replaced are planned again. CONFLICT: that did not come to
 * an end, or another run holds the table; run this again. COMMIT_UNKNOWN: can't be told, every file is kept. After these and any other failure `out` tells what was committed, which stays; the rest did not change
 * the table. Files that an earlier, killed run left behind are removed, also where there is nothing else to do. Afterwards free the plan.
 */
FIRN_API firn_status firn_compaction_run(firn_compaction *plan, firn_compaction_result *out,
                                         firn_error *error);

#ifdef __cplusplus
}
#endif

#endif
