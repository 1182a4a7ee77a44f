/** Committing file changes to a ref as one snapshot (design, 6.3). */
#ifndef FIRN_TABLE_COMMIT_H
#define FIRN_TABLE_COMMIT_H

#include "table/journal.h"

typedef struct firn_summary_item {
    const char *key, *value;
} firn_summary_item;

/** Manifests of added data files that are written already (table/manifest_batch.h), with what a summary says of them. */
typedef struct firn_added_manifests {
    const firn_manifest_file *manifests;
    size_t count;
    int64_t snapshot_id; /**< that their entries have: the commit takes it for its own */
    int format_version;  /**< that they were written for */
    int64_t files, records, bytes, partitions;
} firn_added_manifests;

typedef struct firn_file_change {
    const char *operation; /**< "append", "replace" … */
    const firn_added_manifests
        *added_manifests; /**< NULL: none; the same for every call of a source's build */
    /** Table properties to set in the same commit: an object, borrowed; NULL: none. */
    json_t *properties;
    /**
     * Data and delete files to add; their status and snapshot id are filled in. A sequence number given (has_sequence_number) is written explicitly: rewrites keep the data sequence number. Row ids (v3) are always given anew. Several
     * vectors may lie in one Puffin file: path, offset and length tell them apart.
     */
    const firn_manifest_entry *added;
    size_t added_count;
    /** Entries of removed files as they should be: the same files go on under them, with the snapshot id, sequence numbers and row ids that they have (status EXISTING). */
    const firn_manifest_entry *restated;
    size_t restated_count;
    /** Live files that go: pointers into files->data or files->deletes, each once. */
    const firn_live_file *const *removed;
    size_t removed_count;
    const firn_live_files
        *files; /**< of the snapshot that the table is pinned to; NULL when nothing is removed */
    const firn_summary_item *summary; /**< extra summary items */
    size_t summary_count;
} firn_file_change;

typedef struct firn_commit_result {
    int64_t snapshot_id;
    int64_t sequence_number; /**< 0 in v1 */
    size_t manifests_written, manifests_kept;
    int attempts;
} firn_commit_result;

/**
 * Writes manifests, manifest list and metadata and swaps the pointer. Every file is journaled before it is written. OK: the table is at the new snapshot, or (where only a later look showed that the commit took effect) at one that came
 * after it. CONFLICT: the ref moved away from the pinned snapshot (the table may still be at the state it had, or at a newer one). COMMIT_UNKNOWN: everything is kept and the journal says so. Other
 * failures: nothing changed. What was written stays recorded in the journal, for firn_journal_discard. Tried again as commit.retry.* say, unless the ref moved.
 */
firn_status firn_table_commit_files(firn_table *table, firn_journal *journal,
                                    const firn_file_change *change, firn_commit_result *out,
                                    firn_error *error);

/**
 * Says what is to change, for the state that the table is pinned to. Called before the first attempt, and again (`moved`) when the ref has moved or the table was upgraded meanwhile: the table has then been loaded anew, what was borrowed
 * from its old state is gone (firn_table_live_files_move brings live files up to date without reading manifests twice). The new head descends from the snapshot that was pinned when the commit began, without a gap. CONFLICT: the change
 * can't be made to that state. What `change` points to lives until the next call or the end of the commit.
 */
typedef struct firn_change_source {
    firn_status (*build)(void *context, firn_table *table, bool moved, firn_file_change *change,
                         firn_error *error);
    void *context;
} firn_change_source;

/**
 * Like firn_table_commit_files, with a change that is made to fit whatever the ref has become (design, 6.3 items 2 to 4). Manifests that would come out the same are used again. After success, files that an earlier attempt added and
 * the last one does not are deleted where the journal has them, with the manifests and lists of those attempts; after an unknown outcome nothing is.
 */
firn_status firn_table_commit_changes(firn_table *table, firn_journal *journal,
                                      const firn_change_source *source, firn_commit_result *out,
                                      firn_error *error);

#endif
