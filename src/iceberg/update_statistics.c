#include "iceberg/json_copy.h"
#include "iceberg/update_apply.h"

#define STATISTICS "statistics"
#define PARTITION_STATISTICS "partition-statistics"

/* Replaces a list by its entries for which keep() is true. */
static firn_status keep_entries(firn_change *change, const char *key,
                                bool (*keep)(const firn_change *change, int64_t snapshot_id,
                                             int64_t context),
                                int64_t context, firn_error *error) {
    const json_t *list = json_object_get(change->document, key);
    if (!json_is_array(list)) return FIRN_OK;
    json_t *kept = json_array();
    if (kept == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        int64_t id = json_integer_value(json_object_get(entry, "snapshot-id"));
        if (!keep(change, id, context)) continue;
        if (json_array_append(kept, entry) == 0) continue;
        json_decref(kept);
        return firn_fail_memory(error);
    }
    return firn_json_set(change->document, key, kept, error);
}

static bool is_other(const firn_change *change, int64_t snapshot_id, int64_t context) {
    (void)change;
    return snapshot_id != context;
}

/* Statistics of a snapshot that was missing before stay: this change is not about them. */
static bool not_removed(const firn_change *change, int64_t snapshot_id, int64_t context) {
    (void)context;
    return firn_map_get_int(change->snapshots, snapshot_id) != &firn_removed;
}

static firn_status set(firn_change *change, const json_t *update, const char *key,
                       firn_error *error) {
    json_t *given = NULL;
    json_t *list = NULL;
    int64_t id = 0;
    const char *path = NULL;
    FIRN_TRY(firn_json_object(update, "table update", key, &given, error));
    FIRN_TRY(firn_json_int64(given, key, "snapshot-id", &id, error));
    FIRN_TRY(firn_json_text(given, key, "statistics-path", &path, error));
    FIRN_TRY(keep_entries(change, key, is_other, id, error));
    FIRN_TRY(firn_change_array(change, key, &list, error));
    return firn_json_append(list, firn_json_copy_deep(given), error);
}

static firn_status drop(firn_change *change, const json_t *update, const char *key,
                        firn_error *error) {
    int64_t id = 0;
    FIRN_TRY(firn_json_int64(update, "table update", "snapshot-id", &id, error));
    return keep_entries(change, key, is_other, id, error);
}

firn_status firn_apply_set_statistics(firn_change *change, const json_t *update,
                                      firn_error *error) {
    return set(change, update, STATISTICS, error);
}

firn_status firn_apply_remove_statistics(firn_change *change, const json_t *update,
                                         firn_error *error) {
    return drop(change, update, STATISTICS, error);
}

firn_status firn_apply_set_partition_statistics(firn_change *change, const json_t *update,
                                                firn_error *error) {
    return set(change, update, PARTITION_STATISTICS, error);
}

firn_status firn_apply_remove_partition_statistics(firn_change *change, const json_t *update,
                                                   firn_error *error) {
    return drop(change, update, PARTITION_STATISTICS, error);
}

firn_status firn_change_drop_statistics(firn_change *change, firn_error *error) {
    if (!change->removed_snapshots) return FIRN_OK;
    FIRN_TRY(keep_entries(change, STATISTICS, not_removed, 0, error));
    return keep_entries(change, PARTITION_STATISTICS, not_removed, 0, error);
}
