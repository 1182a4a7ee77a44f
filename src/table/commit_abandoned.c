/** What attempts that did not go through have left. */
#include "base/log.h"
#include "table/commit_internal.h"

static void remove_file(const firn_commit_work *work, const char *location) {
    firn_error problem;
    firn_error_clear(&problem);
    if (firn_storage_delete(work->table->storage, location, &problem) != FIRN_OK) {
        firn_log_warning("%s, which was not committed, can't be deleted: %s", location,
                         problem.message);
    }
}

/** Takes the files that are committed out of `before`. */
static firn_status keep_added(const firn_file_change *change, firn_map *before) {
    for (size_t i = 0; i < change->added_count; i++) {
        const char *location = change->added[i].file.path;
        if (!firn_map_has_text(before, location)) continue;
        FIRN_TRY(firn_map_set_text(before, location, NULL, NULL));
    }
    return FIRN_OK;
}

/** Only what this run wrote: a change may also add files that are somebody else's. */
static void remove_files_not_added(const firn_commit_work *work) {
    if (work->added_before == NULL) return;
    if (keep_added(&work->change, work->added_before) != FIRN_OK) return;
    for (size_t i = 0; i < firn_map_count(work->added_before); i++) {
        const char *location = firn_map_value_at(work->added_before, i);
        if (location != NULL && firn_journal_has(work->journal, location)) {
            remove_file(work, location);
        }
    }
}

void firn_commit_remove_abandoned(const firn_commit_work *work) {
    for (size_t i = 0; i + 1 < work->lists.count; i++) remove_file(work, work->lists.items[i]);
    for (size_t i = 0; i < work->written.count; i++) {
        const firn_written_manifest *written = &work->written.items[i];
        if (!written->used) remove_file(work, written->file.path);
    }
    remove_files_not_added(work);
}
