/** Whether row ids can be given out without giving one twice (specification, "First Row ID Assignment"). */
#include "table/commit_internal.h"

/** Rows of a manifest's live files. */
typedef struct live_counts {
    int64_t added_files, existing_files, added_rows, existing_rows;
    int64_t deleted_files, deleted_rows;
} live_counts;

static firn_status count_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    live_counts *counts = context;
    int64_t *files = &counts->deleted_files, *rows = &counts->deleted_rows;
    if (entry->status == FIRN_ENTRY_ADDED) {
        files = &counts->added_files;
        rows = &counts->added_rows;
    } else if (entry->status == FIRN_ENTRY_EXISTING) {
        files = &counts->existing_files;
        rows = &counts->existing_rows;
    }
    (*files)++;
    if (!__builtin_add_overflow(*rows, entry->file.record_count, rows)) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "file %s: record_count %lld is out of range",
                     entry->file.path, (long long)entry->file.record_count);
}

static void fill_in(int64_t *count, int64_t actual) {
    if (*count < 0) *count = actual;
}

/** Ids are reserved by the list's counts: fewer than there are rows, and the next manifest's rows would get the same ones. */
static firn_status check_unassigned(firn_commit_work *work, firn_manifest_file *manifest,
                                    firn_error *error) {
    live_counts counts = {0};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status =
        firn_table_read_manifest(work->table, manifest, arena, count_entry, &counts, error);
    firn_arena_free(arena);
    FIRN_TRY(status);
    fill_in(&manifest->added_files_count, counts.added_files);
    fill_in(&manifest->existing_files_count, counts.existing_files);
    fill_in(&manifest->deleted_files_count, counts.deleted_files);
    fill_in(&manifest->added_rows_count, counts.added_rows);
    fill_in(&manifest->existing_rows_count, counts.existing_rows);
    fill_in(&manifest->deleted_rows_count, counts.deleted_rows);
    if (counts.added_rows <= manifest->added_rows_count &&
        counts.existing_rows <= manifest->existing_rows_count) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_CORRUPT,
                     "table %s: manifest %s has %lld added and %lld existing rows, the manifest "
                     "list counts %lld and %lld; row ids can't be given out by that",
                     work->table->display_name, manifest->path, (long long)counts.added_rows,
                     (long long)counts.existing_rows, (long long)manifest->added_rows_count,
                     (long long)manifest->existing_rows_count);
}

static firn_status fail_beyond(const firn_commit_work *work, const char *what, const char *path,
                               int64_t first_row_id, firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT,
                     "table %s: %s %s has row ids from %lld on, the table's next-row-id is %lld; "
                     "new rows would get ids that others have",
                     work->table->display_name, what, path, (long long)first_row_id,
                     (long long)work->table->metadata->next_row_id);
}

static firn_status check_live_files(const firn_commit_work *work, firn_error *error) {
    const firn_live_files *files = work->change.files;
    int64_t next = work->table->metadata->next_row_id;
    for (size_t i = 0; files != NULL && i < files->data_count; i++) {
        const firn_data_file *file = &files->data[i].entry.file;
        if (!file->has_first_row_id) continue;
        if (file->first_row_id < 0 || file->first_row_id > next - file->record_count) {
            return fail_beyond(work, "file", file->path, file->first_row_id, error);
        }
    }
    return FIRN_OK;
}

firn_status firn_commit_check_row_ids(firn_commit_work *work, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    if (metadata->format_version < 3) return FIRN_OK;
    FIRN_TRY(check_live_files(work, error));
    for (size_t i = 0; i < work->manifests.count; i++) {
        firn_manifest_file *manifest = &work->manifests.items[i];
        bool ours = manifest->added_snapshot_id == work->snapshot_id;
        if (manifest->content != FIRN_CONTENT_DATA || ours) continue;
        if (!manifest->has_first_row_id) {
            FIRN_TRY(check_unassigned(work, manifest, error));
        } else if (manifest->first_row_id < 0 || manifest->first_row_id > metadata->next_row_id) {
            return fail_beyond(work, "manifest", manifest->path, manifest->first_row_id, error);
        }
    }
    return FIRN_OK;
}
