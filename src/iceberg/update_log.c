#include <errno.h>
#include <stdlib.h>

#include "iceberg/update_apply.h"

#define METADATA_LOG "metadata-log"
#define SNAPSHOT_LOG "snapshot-log"
#define KEPT_VERSIONS "write.metadata.previous-versions-max"
#define KEPT_VERSIONS_DEFAULT 100

/*
 * An entry of a snapshot that is gone would leave a gap, and time travel across a gap would find the wrong snapshot:
 * everything before it goes as well.
 */
static firn_status trim_snapshot_log(firn_change *change, firn_error *error) {
    const json_t *log = json_object_get(change->document, SNAPSHOT_LOG);
    if (!json_is_array(log)) return FIRN_OK;
    size_t count = json_array_size(log);
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t id = json_integer_value(json_object_get(json_array_get(log, i), "snapshot-id"));
        if (!firn_change_has_snapshot(change, id)) first = i + 1;
    }
    json_t *kept = json_array();
    if (kept == NULL) return firn_fail_memory(error);
    for (size_t i = first; i < count; i++) {
        if (json_array_append(kept, json_array_get(log, i)) == 0) continue;
        json_decref(kept);
        return firn_fail_memory(error);
    }
    return firn_json_set(change->document, SNAPSHOT_LOG, kept, error);
}

firn_status firn_change_snapshot_log(firn_change *change, firn_error *error) {
    if (change->removed_snapshots) FIRN_TRY(trim_snapshot_log(change, error));
    if (change->current_snapshot_id == change->base->current_snapshot_id) return FIRN_OK;
    if (change->current_snapshot_id == FIRN_NO_SNAPSHOT) {
        return firn_json_set(change->document, SNAPSHOT_LOG, json_array(), error);
    }
    json_t *log = NULL;
    FIRN_TRY(firn_change_array(change, SNAPSHOT_LOG, &log, error));
    json_t *entry = json_object();
    FIRN_TRY(firn_json_append(log, entry, error));
    /* The time at which the snapshot became current, also where it is an old one (a rollback). */
    FIRN_TRY(firn_json_set_int(entry, "timestamp-ms", change->time_ms, error));
    return firn_json_set_int(entry, "snapshot-id", change->current_snapshot_id, error);
}

/* How many earlier versions the changed properties let the log name; at least one. */
static firn_status kept_versions(const firn_change *change, size_t *out, firn_error *error) {
    const json_t *properties = json_object_get(change->document, "properties");
    const char *text = json_string_value(json_object_get(properties, KEPT_VERSIONS));
    long long value = KEPT_VERSIONS_DEFAULT;
    if (text != NULL) {
        char *end = NULL;
        errno = 0;
        value = strtoll(text, &end, 10);
        if (*end != '\0' || end == text || errno != 0) {
            return firn_fail(error, FIRN_INVALID,
                             "table property " KEPT_VERSIONS
                             ": \"%.100s\" is no whole number; set it to one or remove it",
                             text);
        }
    }
    *out = value < 1 ? 1 : (size_t)value;
    return FIRN_OK;
}

firn_status firn_change_metadata_log(firn_change *change, const char *base_location,
                                     firn_error *error) {
    if (base_location == NULL) return FIRN_OK;
    json_t *log = NULL;
    size_t most = 0;
    FIRN_TRY(kept_versions(change, &most, error));
    FIRN_TRY(firn_change_array(change, METADATA_LOG, &log, error));
    json_t *entry = json_object();
    FIRN_TRY(firn_json_append(log, entry, error));
    FIRN_TRY(firn_json_set_int(entry, "timestamp-ms", change->base->last_updated_ms, error));
    FIRN_TRY(firn_json_set_text(entry, "metadata-file", base_location, error));
    size_t count = json_array_size(log);
    if (count <= most) return FIRN_OK;
    json_t *kept = json_array();
    if (kept == NULL) return firn_fail_memory(error);
    for (size_t i = count - most; i < count; i++) {
        if (json_array_append(kept, json_array_get(log, i)) == 0) continue;
        json_decref(kept);
        return firn_fail_memory(error);
    }
    return firn_json_set(change->document, METADATA_LOG, kept, error);
}
