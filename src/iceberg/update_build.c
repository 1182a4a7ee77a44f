#include "iceberg/update.h"

firn_status firn_table_update_init(firn_table_update *update, firn_error *error) {
    firn_json_setup();
    *update = (firn_table_update){.requirements = json_array(), .updates = json_array()};
    if (update->requirements != NULL && update->updates != NULL) return FIRN_OK;
    firn_table_update_release(update);
    return firn_fail_memory(error);
}

void firn_table_update_release(firn_table_update *update) {
    json_decref(update->requirements);
    json_decref(update->updates);
    *update = (firn_table_update){0};
}

/* A new object {key: value}; the caller's to release until it is appended. */
static firn_status begin(const char *key, const char *value, json_t **out, firn_error *error) {
    json_t *object = json_object();
    if (object == NULL) return firn_fail_memory(error);
    firn_status status = firn_json_set_text(object, key, value, error);
    if (status != FIRN_OK) {
        json_decref(object);
        return status;
    }
    *out = object;
    return FIRN_OK;
}

/* Appends the object if all went well so far, else releases it. */
static firn_status finish(firn_status status, json_t *list, json_t *object, firn_error *error) {
    if (status == FIRN_OK) return firn_json_append(list, object, error);
    json_decref(object);
    return status;
}

firn_status firn_require_uuid(firn_table_update *update, const char *table_uuid,
                              firn_error *error) {
    if (table_uuid == NULL) return FIRN_OK;
    json_t *object = NULL;
    FIRN_TRY(begin("type", "assert-table-uuid", &object, error));
    firn_status status = firn_json_set_text(object, "uuid", table_uuid, error);
    return finish(status, update->requirements, object, error);
}

firn_status firn_require_ref_snapshot(firn_table_update *update, const char *ref,
                                      int64_t snapshot_id, firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(begin("type", "assert-ref-snapshot-id", &object, error));
    firn_status status = firn_json_set_text(object, "ref", ref, error);
    if (status == FIRN_OK) {
        json_t *id = snapshot_id == FIRN_NO_SNAPSHOT ? json_null() : json_integer(snapshot_id);
        status = firn_json_set(object, "snapshot-id", id, error);
    }
    return finish(status, update->requirements, object, error);
}

static firn_status require_id(firn_table_update *update, const char *type, const char *key,
                              int64_t id, firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(begin("type", type, &object, error));
    return finish(firn_json_set_int(object, key, id, error), update->requirements, object, error);
}

firn_status firn_require_default_spec(firn_table_update *update, int32_t spec_id,
                                      firn_error *error) {
    return require_id(update, "assert-default-spec-id", "default-spec-id", spec_id, error);
}

firn_status firn_require_current_schema(firn_table_update *update, int32_t schema_id,
                                        firn_error *error) {
    return require_id(update, "assert-current-schema-id", "current-schema-id", schema_id, error);
}

firn_status firn_require_create(firn_table_update *update, firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(begin("type", "assert-create", &object, error));
    return finish(FIRN_OK, update->requirements, object, error);
}

/* An update with one JSON member, which is taken over. */
static firn_status append_with(firn_table_update *update, const char *action, const char *key,
                               json_t *value, firn_error *error) {
    json_t *object = NULL;
    firn_status status = begin("action", action, &object, error);
    if (status != FIRN_OK) {
        json_decref(value);
        return status;
    }
    return finish(firn_json_set(object, key, value, error), update->updates, object, error);
}

firn_status firn_update_add_snapshot(firn_table_update *update, json_t *snapshot,
                                     firn_error *error) {
    return append_with(update, "add-snapshot", "snapshot", snapshot, error);
}

firn_status firn_update_set_properties(firn_table_update *update, json_t *properties,
                                       firn_error *error) {
    return append_with(update, "set-properties", "updates", properties, error);
}

firn_status firn_update_upgrade_format_version(firn_table_update *update, int format_version,
                                               firn_error *error) {
    json_t *version = json_integer(format_version);
    if (version == NULL) return firn_fail_memory(error);
    return append_with(update, "upgrade-format-version", "format-version", version, error);
}

firn_status firn_update_remove_properties(firn_table_update *update, json_t *names,
                                          firn_error *error) {
    return append_with(update, "remove-properties", "removals", names, error);
}

static firn_status set_retention(json_t *object, const firn_snapshot_ref *existing,
                                 firn_error *error) {
    if (existing == NULL) return FIRN_OK;
    if (existing->min_snapshots_to_keep > 0) {
        FIRN_TRY(firn_json_set_int(object, "min-snapshots-to-keep", existing->min_snapshots_to_keep,
                                   error));
    }
    if (existing->max_snapshot_age_ms > 0) {
        FIRN_TRY(
            firn_json_set_int(object, "max-snapshot-age-ms", existing->max_snapshot_age_ms, error));
    }
    if (existing->max_ref_age_ms > 0) {
        FIRN_TRY(firn_json_set_int(object, "max-ref-age-ms", existing->max_ref_age_ms, error));
    }
    return FIRN_OK;
}

firn_status firn_update_set_snapshot_ref(firn_table_update *update, const char *ref, bool is_branch,
                                         int64_t snapshot_id, const firn_snapshot_ref *existing,
                                         firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(begin("action", "set-snapshot-ref", &object, error));
    firn_status status = firn_json_set_text(object, "ref-name", ref, error);
    if (status == FIRN_OK) {
        status = firn_json_set_text(object, "type", is_branch ? "branch" : "tag", error);
    }
    if (status == FIRN_OK) status = firn_json_set_int(object, "snapshot-id", snapshot_id, error);
    if (status == FIRN_OK) status = set_retention(object, existing, error);
    return finish(status, update->updates, object, error);
}
