/** A change of delete files alone, and what must still hold for it when the table has moved (design, 6.3 item 3). Shared by operations of upkeep. */
#ifndef FIRN_UPKEEP_DELETE_CHANGE_H
#define FIRN_UPKEEP_DELETE_CHANGE_H

#include "table/commit.h"

typedef struct firn_delete_change {
    const char *operation;
    firn_live_files
        *files; /**< of the planned snapshot; brought up to date when the table has moved */
    const firn_live_file *const *removed; /**< of files->deletes */
    size_t removed_count;
    const firn_manifest_entry *added; /**< delete files */
    size_t added_count;
    /** Data files to which an added file applies, of files->data. */
    const firn_live_file *const *covered;
    size_t covered_count;
} firn_delete_change;

/**
 * Commits. CONFLICT where the table has moved to a state that the change does not fit: a removed delete file that is live no more, a covered data file that is not live as it was or has
 * deletes that a new vector would hide, a new data file within a removed delete's reach. The caller then plans anew.
 */
firn_status firn_delete_change_commit(firn_table *table, firn_journal *journal,
                                      const firn_delete_change *change, firn_commit_result *out,
                                      firn_error *error);

/** Whether two entries are of one delete file. A vector is known by its file, offset and length. */
bool firn_same_delete(const firn_manifest_entry *a, const firn_manifest_entry *b);

/** The live delete files' entries as an array for firn_delete_index_new; in `arena`, NULL when memory is out. */
const firn_manifest_entry **firn_delete_entries(const firn_live_files *files, firn_arena *arena);

/** The key (base/location.h) of the one data file that a delete file is for, owned; NULL: it may be for several. */
firn_status firn_delete_single_key(const firn_data_file *deletes, char **out, firn_error *error);

/** Numbers of live delete files that may apply to live data file `data`; borrowed for the call. */
typedef void (*firn_delete_visitor)(void *context, size_t data, const size_t *found, size_t count);

/** Calls `visit` for every live data file, in order. */
firn_status firn_delete_visit_data(const firn_table *table, const firn_live_files *files,
                                   firn_delete_visitor visit, void *context, firn_error *error);

#endif
