/* Which files are live in the table already, however their paths are spelled. */
#include "base/alloc.h"
#include "base/cancel.h"
#include "lake/sync_internal.h"

typedef struct live_search {
    const firn_lake_file *const *files;
    firn_sync_live *out;
    size_t count;
    firn_map
        *wanted; /* location key to an entry of `out`; NULL until there is a manifest to look at */
} live_search;

static firn_status visit_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    const live_search *search = context;
    if (entry->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    char *key = firn_location_key(entry->file.path);
    if (key == NULL) return firn_fail_memory(error);
    firn_sync_live *found = firn_map_get_text(search->wanted, key);
    firn_free(key);
    if (found == NULL) return FIRN_OK;
    *found = (firn_sync_live){
        .live = true,
        .snapshot_id = entry->has_snapshot_id ? entry->snapshot_id : 0,
        .sequence_number = entry->has_sequence_number ? entry->sequence_number : 0,
        .size = entry->file.file_size_in_bytes,
        .rows = entry->file.record_count,
    };
    return FIRN_OK;
}

static firn_status index_files(live_search *search, firn_error *error) {
    search->wanted = firn_map_new();
    if (search->wanted == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < search->count; i++) {
        char *key = firn_location_key(search->files[i]->location);
        if (key == NULL) return firn_fail_memory(error);
        firn_status status = firn_map_set_text(search->wanted, key, &search->out[i], error);
        firn_free(key);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

static firn_status walk(firn_sync_work *work, const firn_manifest_file *manifest,
                        live_search *search, firn_error *error) {
    if (manifest->content != FIRN_CONTENT_DATA) return FIRN_OK;
    if (firn_map_has_text(work->walked, manifest->path)) return FIRN_OK;
    if (search->wanted == NULL) FIRN_TRY(index_files(search, error));
    FIRN_TRY(firn_table_read_manifest(work->table, manifest, NULL, visit_entry, search, error));
    return firn_map_set_text(work->walked, manifest->path, NULL, error);
}

firn_status firn_sync_find_live(firn_sync_work *work, const firn_lake_file *const *files,
                                size_t count, firn_sync_live *out, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_manifest_file *manifests = NULL;
    size_t manifest_count = 0;
    live_search search = {.files = files, .out = out, .count = count};
    if (count == 0 || work->table == NULL || work->table->snapshot == NULL) return FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (work->walked == NULL) work->walked = firn_map_new();
    if (arena == NULL || work->walked == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_table_manifests(work->table, work->table->snapshot, arena, &manifests,
                                    &manifest_count, error));
    for (size_t i = 0; i < manifest_count; i++) {
        FIRN_CHECK(firn_cancel_check(error));
        FIRN_CHECK(walk(work, &manifests[i], &search, error));
    }
out:
    firn_map_free(search.wanted);
    firn_arena_free(arena);
    return status;
}
