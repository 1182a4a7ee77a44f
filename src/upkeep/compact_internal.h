/** Shared by the parts of compaction; not for other folders. */
#ifndef FIRN_UPKEEP_COMPACT_INTERNAL_H
#define FIRN_UPKEEP_COMPACT_INTERNAL_H

#include "base/vector.h"
#include "upkeep/compact.h"

/** Summary key by which a later run knows for which target size a file was made. */
#define FIRN_COMPACT_TARGET_KEY "firn.compact.target-file-size-bytes"

/** What metadata tells about the deletes of a data file. */
typedef struct firn_compact_known {
    int64_t rows; /**< deleted, at most about so many */
    size_t files; /**< delete files that may apply */
    bool
        any; /**< also by those that count for nothing, since they were there before the file was */
} firn_compact_known;

/** What a plan leaves out, when it is made again for groups whose files were replaced. */
typedef struct firn_compact_again {
    const firn_map *wanted; /**< paths: only groups with one of these files are selected */
    const firn_map *ours;   /**< paths of what this run wrote: never rewritten */
} firn_compact_again;

/** All live files of one partition whose rows can be rewritten together. */
typedef struct firn_compact_partition {
    const firn_partition_spec *spec;
    const firn_value *values;
    const firn_live_file **files;
    size_t count, capacity;
    bool
        split; /**< another one holds files of the same partition that shred variants differently */
} firn_compact_partition;

/** From which `known` is guessed; compact_known.c. */
typedef struct firn_compact_reach firn_compact_reach;

typedef struct planner {
    firn_table *table;
    const firn_compact_options *options;
    const firn_compact_again *again; /**< NULL: everything is looked at */
    firn_compact_plan *out;
    firn_data_write_options write;
    const firn_compact_known *known; /**< one per data file of out->files */
    firn_compact_reach *reach;       /**< NULL: there are no deletes */
    FIRN_VECTOR(firn_compact_group) groups;
} planner;

/** Plans; `again` is NULL but for a run that has to do some of its groups again. */
firn_status firn_compact_make_plan(firn_table *table, const firn_compact_options *options,
                                   const firn_compact_again *again, firn_compact_plan **out,
                                   firn_error *error);

/** Live files by spec, partition tuple, and how they shred variants, in the plan's arena and in order. */
firn_status firn_compact_partitions(planner *plan, firn_compact_partition ***out, size_t *count,
                                    firn_error *error);

/** Makes the delete index, and fills plan->known and plan->reach, which is to be freed on failure too. */
firn_status firn_compact_know_deletes(planner *plan, firn_error *error);
/** NULL is allowed. */
void firn_compact_reach_free(firn_compact_reach *reach);

/**
 * Guesses anew, for the files that stay, as the next plan would once the selected groups are gone: with fewer files that share in a delete file's rows each may have more of them. Guesses only rise;
 * *risen says whether one did. `last`: to the most that a later plan could ever guess.
 */
void firn_compact_know_without_selected(planner *plan, bool last, bool *risen);

/** Chooses files of the partition, puts them into groups, decides on each and says why. */
firn_status firn_compact_choose(planner *plan, const firn_compact_partition *partition,
                                firn_error *error);

/** Files that `bytes` become: as many as keep each inside the band around the target, at least one. */
size_t firn_compact_output_count(int64_t bytes, int64_t target_bytes);
/** The share of a group's bytes that belongs to rows that stay. */
int64_t firn_compact_kept_bytes(const firn_compact_group *group);

/** Opens the inputs of the selected groups: refuses by name what can't be rewritten, finds their deleted rows, and estimates output bytes and files. */
firn_status firn_compact_check_groups(planner *plan, firn_error *error);

/** Finds the deleted rows of the group's files; exact afterwards. */
firn_status firn_compact_resolve(firn_table *table, const firn_live_files *files,
                                 firn_compact_group *group, firn_pool *pool, int64_t memory_bytes,
                                 firn_error *error);

/** What rewriting a group is asked for. */
firn_rewrite_group firn_compact_rewrite_group(const firn_table_metadata *metadata,
                                              const firn_compact_group *group, size_t number);

/** What stands for all outputs of the group where it counts which deletes reach them: spec, tuple, the sequence number of the planned snapshot. */
firn_manifest_entry firn_compact_output_entry(const firn_compact_group *group,
                                              int64_t sequence_number);

/** Puts the table and, where it has one, the group's partition before the error's message. */
firn_status firn_compact_error_wrap(const firn_table *table, const firn_compact_group *group,
                                    firn_status status, firn_error *error);

/** What rewriting a group needs to know. */
firn_status firn_compact_settings(firn_table *table, const firn_compact_options *options,
                                  const firn_data_write_options *write, firn_pool *pool,
                                  firn_journal *journal, const char *run_id,
                                  firn_rewrite_settings *out, firn_error *error);

/** A state of the table, some of whose data files go. */
typedef struct firn_compact_state {
    const firn_table_metadata *metadata;
    const firn_live_files *files;
    const firn_delete_index *index; /**< of files->deletes; NULL where there is none */
    const bool *goes;               /**< one per data file */
} firn_compact_state;

typedef FIRN_VECTOR(const firn_live_file *) firn_live_file_list;

/**
 * Appends the delete files that the files which go need and nothing else does: neither data files that stay nor `outputs`, for which no position delete can be
 * meant that is there already.
 */
firn_status firn_compact_removable(const firn_compact_state *state,
                                   const firn_manifest_entry *const *outputs, size_t output_count,
                                   firn_live_file_list *out, firn_error *error);

/** A group that was rewritten and waits for its commit. */
typedef struct firn_compact_done {
    firn_compact_group *group; /**< of the plan; its deletes are those that the outputs lack */
    const firn_manifest_entry *outputs;
    size_t output_count;
    firn_compact_result sums;      /**< what it adds to the result once it is committed */
    const firn_live_file **inputs; /**< in the state that the change is made for; room for all */
    bool rebased;                  /**< by the last change: deletes of others were carried over */
    bool dropped; /**< its files are not what they were: its outputs are of no use any more */
} firn_compact_done;

/** What one commit is made of. */
typedef struct firn_compact_batch {
    const firn_compact_plan *plan;
    firn_journal *journal;
    firn_pool *pool;
    const char *run_id;
    int64_t memory_bytes;
    firn_compact_done *done;
    size_t done_count;
    size_t *delete_number; /**< of the next delete file, in file names */

    /* Of the last change. */
    firn_arena *arena; /**< what is added, until the commit is over */
    firn_live_files
        current; /**< of the state that the change is made for, where that is not the planned one */
    firn_delete_index *current_index;
    firn_map *current_paths; /**< of data files, to their number + 1 */
    FIRN_VECTOR(firn_manifest_entry) added;
    firn_live_file_list removed;
    size_t deletes_added, deletes_removed;
    bool all_dropped;
} firn_compact_batch;

void firn_compact_batch_release(firn_compact_batch *batch);

/** Commits what of the batch can be; groups that can't be are `dropped` afterwards. CONFLICT with batch->all_dropped: none can. */
firn_status firn_compact_commit(firn_table *table, firn_compact_batch *batch,
                                firn_commit_result *out, firn_error *error);

/**
 * Fits a group to batch->current (design, 6.3 item 2): finds its inputs there, and adds to batch->added delete files for rows that others have deleted from
 * them. Sets done->dropped where that can't be.
 */
firn_status firn_compact_rebase(firn_table *table, firn_compact_batch *batch,
                                firn_compact_done *done, firn_error *error);

/**
 * Where deleted rows of an input are in the outputs: rows keep their order, inputs stand one after the other, and what was deleted before is left out.
 * `positions` is without the latter. Adds to `sets`, one per output, made where they are NULL.
 */
firn_status firn_compact_translate(const firn_compact_done *done, size_t input,
                                   const firn_roaring *positions, firn_roaring **sets,
                                   firn_error *error);

#endif
