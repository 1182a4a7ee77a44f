/** Committing file changes to a ref as one snapshot (design, 6.3). */
#ifndef FIRN_TABLE_COMMIT_H
#define FIRN_TABLE_COMMIT_H

#include "table/journal.h"

typedef struct firn_summary_item {
    const char *key, *value;
} firn_summary_item;

typedef struct firn_file_change {
    const char *operation; /**< "append" or "replace" */
    /** Files to add; their status and snapshot id are filled in. A sequence number given (has_sequence_number) is written explicitly: rewrites keep the data sequence number. */
    const firn_manifest_entry *added;
    size_t added_count;
    /** Live files that go: pointers into files->data or files->deletes. */
    const firn_live_file *const *removed;
    size_t removed_count;
    const firn_live_files *files;     /**< of the pinned snapshot; NULL when nothing is removed */
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
 * Writes manifests, manifest list and metadata and swaps the pointer. Every file is journaled before it is written. OK: the table is at the new snapshot and *table
 * has adopted it. CONFLICT: the ref moved away from the pinned snapshot (the table may still be at the state it had). COMMIT_UNKNOWN: everything is kept and the journal says so. Other
 * failures: nothing changed. What was written stays recorded in the journal, for firn_journal_discard. A table that moved elsewhere (properties, another branch) is tried again, commit.retry.num-retries (4) times.
 */
firn_status firn_table_commit_files(firn_table *table, firn_journal *journal,
                                    const firn_file_change *change, firn_commit_result *out,
                                    firn_error *error);

/**
 * Says what is to change, for the state that the table is pinned to. Called before the first attempt, and again (`moved`) when the ref has moved meanwhile: the table has then been loaded anew, what was borrowed from
 * its old state is gone. CONFLICT: the change can't be made to that state. What `change` points to lives until the next call or the end of the commit.
 */
typedef struct firn_change_source {
    firn_status (*build)(void *context, firn_table *table, bool moved, firn_file_change *change,
                         firn_error *error);
    void *context;
} firn_change_source;

/** Like firn_table_commit_files, with a change that is made to fit whatever the ref has become (design, 6.3 items 2 to 4). */
firn_status firn_table_commit_changes(firn_table *table, firn_journal *journal,
                                      const firn_change_source *source, firn_commit_result *out,
                                      firn_error *error);

#endif
