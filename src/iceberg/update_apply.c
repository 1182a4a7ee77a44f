#include "iceberg/update_apply.h"

#include <string.h>

#include "iceberg/json_copy.h"

char firn_added, firn_removed;

#define WHAT "table update"

/* The document's value under `key` with the kind of `fresh`, no longer shared with the base. Takes over `fresh`. */
static firn_status own_value(firn_change *change, const char *key, json_t *fresh, json_t **out,
                             firn_error *error) {
    if (fresh == NULL) return firn_fail_memory(error);
    json_t *value = json_object_get(change->document, key);
    bool absent = value == NULL || json_is_null(value);
    if (!absent && json_typeof(value) != json_typeof(fresh)) {
        json_decref(fresh);
        return firn_fail(error, FIRN_CORRUPT, "table metadata: field %s: is of another kind", key);
    }
    if (absent) {
        *out = fresh;
        return firn_json_set(change->document, key, fresh, error);
    }
    json_decref(fresh);
    if (value != json_object_get(change->base->json, key)) {
        *out = value;
        return FIRN_OK;
    }
    *out = firn_json_copy_shallow(value);
    return firn_json_set(change->document, key, *out, error);
}

firn_status firn_change_array(firn_change *change, const char *key, json_t **out,
                              firn_error *error) {
    return own_value(change, key, json_array(), out, error);
}

firn_status firn_change_object(firn_change *change, const char *key, json_t **out,
                               firn_error *error) {
    return own_value(change, key, json_object(), out, error);
}

bool firn_change_has_snapshot(const firn_change *change, int64_t snapshot_id) {
    const void *state = firn_map_get_int(change->snapshots, snapshot_id);
    if (state != NULL) return state == &firn_added;
    return firn_table_metadata_snapshot(change->base, snapshot_id) != NULL;
}

/* A second uuid would make it another table in the eyes of everybody who has it open. */
static firn_status assign_uuid(firn_change *change, const json_t *update, firn_error *error) {
    const char *uuid = NULL;
    const char *present = NULL;
    FIRN_TRY(firn_json_text(update, WHAT, "uuid", &uuid, error));
    FIRN_TRY(firn_json_text_optional(change->document, "table metadata", "table-uuid", &present,
                                     NULL, error));
    if (present == NULL) return firn_json_set_text(change->document, "table-uuid", uuid, error);
    if (strcmp(present, uuid) == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "the table already has the uuid %.100s", present);
}

static firn_status set_location(firn_change *change, const json_t *update, firn_error *error) {
    const char *location = NULL;
    FIRN_TRY(firn_json_text(update, WHAT, "location", &location, error));
    return firn_json_set_text(change->document, "location", location, error);
}

static firn_status set_properties(firn_change *change, const json_t *update, firn_error *error) {
    json_t *properties = NULL;
    json_t *updates = NULL;
    FIRN_TRY(firn_json_object(update, WHAT, "updates", &updates, error));
    FIRN_TRY(firn_change_object(change, "properties", &properties, error));
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(updates, key, value) {
        if (!json_is_string(value)) {
            return firn_fail(error, FIRN_INVALID, "property \"%.200s\" is no text", key);
        }
        FIRN_TRY(firn_json_set(properties, key, firn_json_copy_deep(value), error));
    }
    return FIRN_OK;
}

static firn_status remove_properties(firn_change *change, const json_t *update, firn_error *error) {
    json_t *properties = NULL;
    json_t *removals = NULL;
    FIRN_TRY(firn_json_array(update, WHAT, "removals", &removals, error));
    FIRN_TRY(firn_change_object(change, "properties", &properties, error));
    for (size_t i = 0; i < json_array_size(removals); i++) {
        const char *key = json_string_value(json_array_get(removals, i));
        if (key == NULL) return firn_fail(error, FIRN_INVALID, "the name of a property is no text");
        json_object_del(properties, key);
    }
    return FIRN_OK;
}

static const struct {
    const char *action;
    firn_apply_function apply;
} actions[] = {
    {"assign-uuid", assign_uuid},
    {"upgrade-format-version", firn_apply_upgrade_format_version},
    {"add-schema", firn_apply_add_schema},
    {"set-current-schema", firn_apply_set_current_schema},
    {"remove-schemas", firn_apply_remove_schemas},
    {"add-spec", firn_apply_add_spec},
    {"set-default-spec", firn_apply_set_default_spec},
    {"remove-partition-specs", firn_apply_remove_specs},
    {"add-sort-order", firn_apply_add_sort_order},
    {"set-default-sort-order", firn_apply_set_default_sort_order},
    {"add-snapshot", firn_apply_add_snapshot},
    {"set-snapshot-ref", firn_apply_set_snapshot_ref},
    {"remove-snapshot-ref", firn_apply_remove_snapshot_ref},
    {"remove-snapshots", firn_apply_remove_snapshots},
    {"set-location", set_location},
    {"set-properties", set_properties},
    {"remove-properties", remove_properties},
    {"set-statistics", firn_apply_set_statistics},
    {"remove-statistics", firn_apply_remove_statistics},
    {"set-partition-statistics", firn_apply_set_partition_statistics},
    {"remove-partition-statistics", firn_apply_remove_partition_statistics},
};

static firn_status apply_one(firn_change *change, const json_t *update, firn_error *error) {
    const char *action = NULL;
    FIRN_TRY(firn_json_text(update, WHAT, "action", &action, error));
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(action, actions[i].action) != 0) continue;
        return firn_error_wrap(error, actions[i].apply(change, update, error), "%s", action);
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "the update %.100s is not known to firn", action);
}

/* Snapshots stamped later than `now_ms` move the change itself, so that the table's times rise. */
static int64_t time_of(const firn_table_update *update, const firn_table_metadata *base,
                       int64_t now_ms) {
    int64_t time = firn_table_metadata_change_time(base, now_ms);
    for (size_t i = 0; i < json_array_size(update->updates); i++) {
        const json_t *snapshot = json_object_get(json_array_get(update->updates, i), "snapshot");
        json_int_t stamp = json_integer_value(json_object_get(snapshot, "timestamp-ms"));
        if (stamp > time) time = stamp;
    }
    return time;
}

static firn_status change_init(firn_change *change, const firn_table_metadata *base,
                               firn_error *error) {
    change->base = base;
    change->format_version = base->format_version;
    change->last_sequence_number = base->last_sequence_number;
    change->next_row_id = base->next_row_id;
    change->last_column_id = base->last_column_id;
    change->last_partition_id = base->last_partition_id;
    change->current_snapshot_id = base->current_snapshot_id;
    change->added_schema_id = FIRN_NONE_ADDED;
    change->added_spec_id = FIRN_NONE_ADDED;
    change->added_order_id = FIRN_NONE_ADDED;
    change->document = firn_json_copy_shallow(base->json);
    change->arena = firn_arena_new();
    change->snapshots = firn_map_new();
    if (change->document == NULL || change->arena == NULL || change->snapshots == NULL) {
        return firn_fail_memory(error);
    }
    return FIRN_OK;
}

/* What every change brings along, whatever its updates. */
static firn_status complete(firn_change *change, const char *base_location, firn_error *error) {
    FIRN_TRY(firn_change_drop_statistics(change, error));
    FIRN_TRY(firn_change_snapshot_log(change, error));
    FIRN_TRY(firn_change_metadata_log(change, base_location, error));
    FIRN_TRY(firn_json_set_int(change->document, "last-updated-ms", change->time_ms, error));
    if (change->format_version == 1) return firn_change_mirror_v1(change, error);
    const json_t *current = json_object_get(change->document, "current-snapshot-id");
    bool minus_one = json_is_integer(current) && json_integer_value(current) == FIRN_NO_SNAPSHOT;
    if (change->format_version < 3 || !minus_one) return FIRN_OK;
    return firn_json_set(change->document, "current-snapshot-id", json_null(), error);
}

/* Specs that were not there before may be written with, so firn has to know how. */
static firn_status check_new_specs(const firn_table_metadata *made, const firn_table_metadata *base,
                                   firn_error *error) {
    for (size_t i = 0; i < made->spec_count; i++) {
        const firn_partition_spec *spec = made->specs[i];
        if (firn_table_metadata_spec(base, spec->spec_id) != NULL) continue;
        FIRN_TRY(firn_partition_spec_check(spec, error));
    }
    return FIRN_OK;
}

firn_status firn_table_update_apply(const firn_table_update *update,
                                    const firn_table_metadata *base, const char *base_location,
                                    int64_t now_ms, firn_table_metadata **out, firn_error *error) {
    if (base == NULL) return firn_fail(error, FIRN_INVALID, "there is no table to change");
    firn_status status = FIRN_OK;
    firn_change change = {0};
    firn_table_metadata *made = NULL;
    FIRN_CHECK(change_init(&change, base, error));
    change.time_ms = time_of(update, base, now_ms);
    if (change.format_version == 1) FIRN_CHECK(firn_change_complete_v1(&change, error));
    for (size_t i = 0; i < json_array_size(update->updates); i++) {
        FIRN_CHECK(apply_one(&change, json_array_get(update->updates, i), error));
    }
    FIRN_CHECK(complete(&change, base_location, error));
    status = firn_table_metadata_from_json(change.document, "the changed table", &made, error);
    change.document = NULL;
    if (status != FIRN_OK) goto out;
    FIRN_CHECK(check_new_specs(made, base, error));
    *out = made;
    made = NULL;
out:
    /* The base was read without fault, so whatever is wrong came with the updates. */
    if (status == FIRN_CORRUPT) {
        status = FIRN_INVALID;
        if (error != NULL) error->code = status;
    }
    firn_table_metadata_free(made);
    firn_map_free(change.snapshots);
    firn_arena_free(change.arena);
    json_decref(change.document);
    return status;
}
