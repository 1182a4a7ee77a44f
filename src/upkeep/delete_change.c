#include "upkeep/delete_change.h"

#include <string.h>

#include "base/alloc.h"
#include "base/location.h"
#include "base/map.h"
#include "iceberg/delete_index.h"

bool firn_same_delete(const firn_manifest_entry *a, const firn_manifest_entry *b) {
    const firn_data_file *x = &a->file;
    const firn_data_file *y = &b->file;
    return strcmp(x->path, y->path) == 0 && a->sequence_number == b->sequence_number &&
           x->content == y->content && x->has_content_offset == y->has_content_offset &&
           x->content_offset == y->content_offset &&
           x->content_size_in_bytes == y->content_size_in_bytes;
}

const firn_manifest_entry **firn_delete_entries(const firn_live_files *files, firn_arena *arena) {
    const firn_manifest_entry **entries =
        firn_arena_alloc(arena, files->delete_count, sizeof *entries);
    for (size_t i = 0; entries != NULL && i < files->delete_count; i++) {
        entries[i] = &files->deletes[i].entry;
    }
    return entries;
}

firn_status firn_delete_single_key(const firn_data_file *deletes, char **out, firn_error *error) {
    firn_slice path;
    *out = NULL;
    if (!firn_delete_single_file(deletes, &path)) return FIRN_OK;
    char *text = firn_strndup((const char *)path.data, path.size);
    if (text != NULL) *out = firn_location_key(text);
    firn_free(text);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_delete_visit_data(const firn_table *table, const firn_live_files *files,
                                   firn_delete_visitor visit, void *context, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_delete_index *index = NULL;
    firn_arena *entry_arena = firn_arena_new();
    firn_arena *scratch = firn_arena_new();
    const firn_manifest_entry **entries = NULL;
    if (entry_arena != NULL && scratch != NULL) entries = firn_delete_entries(files, entry_arena);
    if (entries == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_delete_index_new(table->metadata, entries, files->delete_count, &index, error));
    for (size_t i = 0; i < files->data_count; i++) {
        const size_t *found = NULL;
        size_t count = 0;
        firn_arena_clear(scratch);
        FIRN_CHECK(
            firn_delete_index_find(index, &files->data[i].entry, scratch, &found, &count, error));
        visit(context, i, found, count);
    }
out:
    firn_delete_index_free(index);
    firn_arena_free(scratch);
    firn_arena_free(entry_arena);
    return status;
}

/* What a commit holds between its attempts. */
typedef struct committer {
    const firn_delete_change *change;
    int format_version;             /* of the state that was planned from */
    const firn_live_file *old_data; /* data files of that state */
    firn_map *old_paths;            /* of those, to their number plus 1 */
    const firn_live_file **removed; /* in terms of the present state */
    bool *is_removed;               /* of each delete file of the present state */
    firn_arena *arena;
} committer;

static firn_status conflict(const char *path, const char *what, firn_error *error) {
    return firn_fail(error, FIRN_CONFLICT, "%s: %s; run this again", path, what);
}

/* --- identities -------------------------------------------------------------------------------- */

/* A path, and for a vector where in the file it lies. */
static firn_status delete_key(const firn_data_file *file, firn_buffer *key, firn_error *error) {
    int64_t offset = file->has_content_offset ? file->content_offset : -1;
    firn_buffer_clear(key);
    FIRN_TRY(firn_buffer_append(key, &offset, sizeof offset, error));
    return firn_buffer_append_text(key, file->path, error);
}

static bool same_data(const firn_manifest_entry *a, const firn_manifest_entry *b) {
    const firn_data_file *x = &a->file;
    const firn_data_file *y = &b->file;
    if (a->sequence_number != b->sequence_number || x->spec_id != y->spec_id) return false;
    if (x->partition_count != y->partition_count || x->record_count != y->record_count)
        return false;
    for (size_t i = 0; i < x->partition_count; i++) {
        if (!firn_value_equal(&x->partition[i], &y->partition[i])) return false;
    }
    return true;
}

static firn_status map_data(const firn_live_file *data, size_t count, firn_map *map,
                            firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        void *number = (void *)(uintptr_t)(i + 1);
        FIRN_TRY(firn_map_set_text(map, data[i].entry.file.path, number, error));
    }
    return FIRN_OK;
}

/* Whether a data file is among some, as it is. */
static bool is_among(const firn_live_file *data, const firn_map *paths,
                     const firn_manifest_entry *entry) {
    size_t found = (size_t)(uintptr_t)firn_map_get_text(paths, entry->file.path);
    return found != 0 && same_data(&data[found - 1].entry, entry);
}

/* --- what must still hold ---------------------------------------------------------------------- */

static firn_status find_removed(committer *work, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_live_files *files = work->change->files;
    firn_buffer key = firn_buffer_with_maximum(SIZE_MAX);
    firn_map *live = firn_map_new();
    work->is_removed = firn_arena_alloc(work->arena, files->delete_count, sizeof *work->is_removed);
    if (live == NULL || work->is_removed == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        FIRN_CHECK(delete_key(&files->deletes[i].entry.file, &key, error));
        FIRN_CHECK(firn_map_set(live, firn_buffer_slice(&key), (void *)(uintptr_t)(i + 1), error));
    }
    for (size_t i = 0; i < work->change->removed_count; i++) {
        const firn_manifest_entry *wanted = &work->change->removed[i]->entry;
        FIRN_CHECK(delete_key(&wanted->file, &key, error));
        size_t found = (size_t)(uintptr_t)firn_map_get(live, firn_buffer_slice(&key), NULL);
        if (found == 0 || !firn_same_delete(&files->deletes[found - 1].entry, wanted)) {
            status = conflict(wanted->file.path, "this delete file is live no more", error);
            goto out;
        }
        work->removed[i] = &files->deletes[found - 1];
        work->is_removed[found - 1] = true;
    }
out:
    firn_buffer_release(&key);
    firn_map_free(live);
    return status;
}

/* A data file that came meanwhile with a number as old as a removed delete's would have lost rows by it. */
static firn_status check_new_data(committer *work, const firn_table_metadata *metadata,
                                  firn_error *error) {
    const firn_live_files *files = work->change->files;
    for (size_t i = 0; i < files->data_count; i++) {
        const firn_manifest_entry *data = &files->data[i].entry;
        if (is_among(work->old_data, work->old_paths, data)) continue;
        for (size_t j = 0; j < work->change->removed_count; j++) {
            if (firn_delete_may_apply(metadata, &work->change->removed[j]->entry, data)) {
                return conflict(data->file.path,
                                "this data file came meanwhile, within reach of a delete file that "
                                "was to be removed",
                                error);
            }
        }
    }
    return FIRN_OK;
}

/* A vector hides every other position delete of its file, so that there must be none but those merged into it. */
static firn_status check_hidden(committer *work, const firn_delete_index *index,
                                const firn_manifest_entry *data, firn_error *error) {
    const size_t *found = NULL;
    size_t count = 0;
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_delete_index_find(index, data, arena, &found, &count, error));
    for (size_t i = 0; i < count; i++) {
        const firn_live_file *deletes = &work->change->files->deletes[found[i]];
        if (deletes->entry.file.content == FIRN_CONTENT_EQUALITY_DELETES) continue;
        if (work->is_removed[found[i]]) continue;
        status = conflict(data->file.path, "this data file got other deletes meanwhile", error);
        goto out;
    }
out:
    firn_arena_free(arena);
    return status;
}

static firn_status check_all_hidden(committer *work, const firn_table_metadata *metadata,
                                    firn_error *error) {
    const firn_live_files *files = work->change->files;
    firn_delete_index *index = NULL;
    firn_status status = FIRN_OK;
    if (work->change->covered_count == 0 || work->format_version < 3) return FIRN_OK;
    const firn_manifest_entry **entries = firn_delete_entries(files, work->arena);
    if (entries == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_delete_index_new(metadata, entries, files->delete_count, &index, error));
    for (size_t i = 0; status == FIRN_OK && i < work->change->covered_count; i++) {
        status = check_hidden(work, index, &work->change->covered[i]->entry, error);
    }
    firn_delete_index_free(index);
    return status;
}

static firn_status check_covered(committer *work, firn_error *error) {
    const firn_live_files *files = work->change->files;
    firn_status status = FIRN_OK;
    firn_map *paths = firn_map_new();
    if (paths == NULL) return firn_fail_memory(error);
    FIRN_CHECK(map_data(files->data, files->data_count, paths, error));
    for (size_t i = 0; i < work->change->covered_count; i++) {
        const firn_manifest_entry *data = &work->change->covered[i]->entry;
        if (is_among(files->data, paths, data)) continue;
        status = conflict(data->file.path, "this data file is not live any more as it was", error);
        goto out;
    }
out:
    firn_map_free(paths);
    return status;
}

static firn_status fit(committer *work, firn_table *table, firn_error *error) {
    if (table->metadata->format_version != work->format_version) {
        return conflict(table->display_name, "the table was upgraded meanwhile", error);
    }
    FIRN_TRY(firn_table_live_files_move(table, table->snapshot, work->change->files, error));
    FIRN_TRY(find_removed(work, error));
    FIRN_TRY(check_covered(work, error));
    FIRN_TRY(check_new_data(work, table->metadata, error));
    return check_all_hidden(work, table->metadata, error);
}

static firn_status build(void *context, firn_table *table, bool moved, firn_file_change *out,
                         firn_error *error) {
    committer *work = context;
    const firn_delete_change *change = work->change;
    if (moved) FIRN_TRY(fit(work, table, error));
    *out = (firn_file_change){
        .operation = change->operation,
        .added = change->added,
        .added_count = change->added_count,
        .removed = work->removed,
        .removed_count = change->removed_count,
        .files = change->files,
    };
    return FIRN_OK;
}

firn_status firn_delete_change_commit(firn_table *table, firn_journal *journal,
                                      const firn_delete_change *change, firn_commit_result *out,
                                      firn_error *error) {
    firn_status status = FIRN_OK;
    committer work = {.change = change,
                      .format_version = table->metadata->format_version,
                      .old_data = change->files->data,
                      .old_paths = firn_map_new(),
                      .arena = firn_arena_new()};
    if (work.old_paths == NULL || work.arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    work.removed = firn_arena_alloc(work.arena, change->removed_count, sizeof *work.removed);
    if (work.removed == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < change->removed_count; i++) work.removed[i] = change->removed[i];
    FIRN_CHECK(map_data(work.old_data, change->files->data_count, work.old_paths, error));
    firn_change_source source = {build, &work};
    status = firn_table_commit_changes(table, journal, &source, out, error);
out:
    firn_map_free(work.old_paths);
    firn_arena_free(work.arena);
    return status;
}
