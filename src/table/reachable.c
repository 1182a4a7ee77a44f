#include "table/reachable.h"

#include "base/alloc.h"
#include "table/ledger_property.h"

static int reached; /* its address marks a candidate */

static firn_status mark(firn_map *candidates, const char *location, firn_error *error) {
    if (location == NULL) return FIRN_OK;
    char *key = firn_location_key(location);
    if (key == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    if (firn_map_has_text(candidates, key)) {
        status = firn_map_set_text(candidates, key, &reached, error);
    }
    firn_free(key);
    return status;
}

static firn_status mark_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    /* DELETED entries count too: an older snapshot may hold the file, and keeping one costs nothing. */
    return mark(context, entry->file.path, error);
}

static firn_status mark_statistics(const firn_table_metadata *metadata, const char *key,
                                   firn_map *candidates, firn_error *error) {
    json_t *list = json_object_get(metadata->json, key);
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item) {
        FIRN_TRY(
            mark(candidates, json_string_value(json_object_get(item, "statistics-path")), error));
    }
    return FIRN_OK;
}

static firn_status mark_manifest(firn_table *table, const firn_manifest_file *manifest,
                                 firn_map *candidates, firn_map *seen, firn_error *error) {
    FIRN_TRY(mark(candidates, manifest->path, error));
    if (firn_map_has_text(seen, manifest->path)) return FIRN_OK;
    FIRN_TRY(firn_map_set_text(seen, manifest->path, &reached, error));
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status =
        firn_table_read_manifest(table, manifest, arena, mark_entry, candidates, error);
    firn_arena_free(arena);
    return status;
}

static firn_status mark_snapshot(firn_table *table, const firn_snapshot *snapshot,
                                 firn_map *candidates, firn_map *seen, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_manifest_file *manifests = NULL;
    size_t count = 0;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(mark(candidates, snapshot->manifest_list, error));
    FIRN_CHECK(firn_table_manifests(table, snapshot, arena, &manifests, &count, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_CHECK(mark_manifest(table, &manifests[i], candidates, seen, error));
    }
out:
    firn_arena_free(arena);
    return status;
}

/** Every candidate that is named like a segment. */
static firn_status mark_all_segments(firn_map *candidates, firn_error *error) {
    static const char prefix[] = FIRN_LEDGER_FILE_PREFIX;
    size_t length = sizeof prefix - 1;
    for (size_t i = 0; i < firn_map_count(candidates); i++) {
        firn_slice key = firn_map_key_at(candidates, i);
        size_t start = key.size;
        while (start > 0 && key.data[start - 1] != '/') start--;
        if (key.size - start < length || memcmp(key.data + start, prefix, length) != 0) continue;
        FIRN_TRY(firn_map_set(candidates, key, &reached, error));
    }
    return FIRN_OK;
}

/** A text that a newer firn wrote, or that is damaged, may name any segment. */
static firn_status mark_ledger(const char *text, firn_arena *arena, firn_map *candidates,
                               firn_error *error) {
    firn_ledger_property property;
    if (text == NULL) return FIRN_OK;
    firn_status status = firn_ledger_property_parse(text, arena, &property, NULL);
    if (status == FIRN_NO_MEMORY) return firn_fail_memory(error);
    if (status != FIRN_OK) return mark_all_segments(candidates, error);
    for (size_t i = 0; i < property.segment_count; i++) {
        FIRN_TRY(mark(candidates, property.segments[i], error));
    }
    return FIRN_OK;
}

/** Ledgers of every branch, as they are and as every snapshot that is kept had them: a rollback goes back to those. */
static firn_status mark_ledgers(const firn_table_metadata *metadata, firn_map *candidates,
                                firn_error *error) {
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < metadata->property_count; i++) {
        const firn_property *property = &metadata->properties[i];
        if (!firn_ledger_property_is_key(property->key)) continue;
        FIRN_CHECK(mark_ledger(property->value, arena, candidates, error));
    }
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        const char *text = firn_ledger_property_of_snapshot(&metadata->snapshots[i]);
        FIRN_CHECK(mark_ledger(text, arena, candidates, error));
        firn_arena_clear(arena);
    }
out:
    firn_arena_free(arena);
    return status;
}

firn_status firn_table_mark_reachable(firn_table *table, firn_map *candidates, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_table_metadata *metadata = table->metadata;
    firn_map *seen = firn_map_new();
    if (seen == NULL) return firn_fail_memory(error);
    FIRN_CHECK(mark(candidates, table->pointer.metadata_location, error));
    for (size_t i = 0; i < metadata->metadata_log_count; i++) {
        FIRN_CHECK(mark(candidates, metadata->metadata_log[i].metadata_file, error));
    }
    FIRN_CHECK(mark_statistics(metadata, "statistics", candidates, error));
    FIRN_CHECK(mark_statistics(metadata, "partition-statistics", candidates, error));
    FIRN_CHECK(mark_ledgers(metadata, candidates, error));
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        FIRN_CHECK(mark_snapshot(table, &metadata->snapshots[i], candidates, seen, error));
    }
out:
    firn_map_free(seen);
    return status;
}
