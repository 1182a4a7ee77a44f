#include <string.h>

#include "iceberg/json_copy.h"
#include "iceberg/metadata_parse.h"
#include "iceberg/update_apply.h"

#define MAIN "main"

/* v2 and later: the table's highest sequence number moves with every snapshot. */
static firn_status take_sequence_number(firn_change *change, const firn_snapshot *snapshot,
                                        firn_error *error) {
    if (snapshot->sequence_number <= change->last_sequence_number) {
        return firn_fail(error, FIRN_CONFLICT,
                         "sequence number %lld was given by now (the last one is %lld): the "
                         "snapshot has to be made anew",
                         (long long)snapshot->sequence_number,
                         (long long)change->last_sequence_number);
    }
    change->last_sequence_number = snapshot->sequence_number;
    return firn_json_set_int(change->document, "last-sequence-number", snapshot->sequence_number,
                             error);
}

/* v3: the snapshot takes row ids from first-row-id on ("Snapshot Row IDs"). */
static firn_status take_row_ids(firn_change *change, const firn_snapshot *snapshot,
                                firn_error *error) {
    if (!snapshot->has_first_row_id || !snapshot->has_added_rows) {
        return firn_fail(error, FIRN_INVALID, "a v3 snapshot needs first-row-id and added-rows");
    }
    if (snapshot->first_row_id < change->next_row_id) {
        return firn_fail(error, FIRN_CONFLICT,
                         "row id %lld was given by now (the next one is %lld): the snapshot has "
                         "to be made anew",
                         (long long)snapshot->first_row_id, (long long)change->next_row_id);
    }
    if (__builtin_add_overflow(snapshot->first_row_id, snapshot->added_rows,
                               &change->next_row_id)) {
        return firn_fail(error, FIRN_INVALID, "added-rows is too large");
    }
    return firn_json_set_int(change->document, "next-row-id", change->next_row_id, error);
}

firn_status firn_apply_add_snapshot(firn_change *change, const json_t *update, firn_error *error) {
    json_t *given = NULL;
    json_t *list = NULL;
    firn_snapshot snapshot;
    FIRN_TRY(firn_json_object(update, "table update", "snapshot", &given, error));
    FIRN_TRY(firn_snapshot_parse(given, change->arena, &snapshot, error));
    if (firn_change_has_snapshot(change, snapshot.snapshot_id)) {
        return firn_fail(error, FIRN_INVALID, "there already is a snapshot %lld",
                         (long long)snapshot.snapshot_id);
    }
    if (change->format_version >= 2) {
        if (snapshot.manifest_list == NULL) {
            return firn_fail(error, FIRN_INVALID, "a snapshot needs a manifest list");
        }
        FIRN_TRY(take_sequence_number(change, &snapshot, error));
    }
    if (change->format_version >= 3) FIRN_TRY(take_row_ids(change, &snapshot, error));
    FIRN_TRY(firn_change_array(change, "snapshots", &list, error));
    json_t *copy = firn_json_copy_deep(given);
    FIRN_TRY(firn_json_append(list, copy, error));
    /* Appendix E: not to be written in v1. */
    if (change->format_version == 1) json_object_del(copy, "sequence-number");
    return firn_map_set_int(change->snapshots, snapshot.snapshot_id, &firn_added, error);
}

/* refs with its implicit main spelled out. */
static firn_status own_refs(firn_change *change, json_t **out, firn_error *error) {
    FIRN_TRY(firn_change_object(change, "refs", out, error));
    bool implicit =
        json_object_get(*out, MAIN) == NULL && change->current_snapshot_id != FIRN_NO_SNAPSHOT;
    if (!implicit) return FIRN_OK;
    json_t *ref = json_object();
    FIRN_TRY(firn_json_set(*out, MAIN, ref, error));
    FIRN_TRY(firn_json_set_int(ref, "snapshot-id", change->current_snapshot_id, error));
    return firn_json_set_text(ref, "type", "branch", error);
}

/* A setting is replaced, or removed where the update has none: a catalog sets the whole ref. */
static firn_status put_setting(json_t *ref, const char *key, int64_t value, firn_error *error) {
    if (value > 0) return firn_json_set_int(ref, key, value, error);
    json_object_del(ref, key);
    return FIRN_OK;
}

static firn_status put_ref(json_t *refs, const firn_snapshot_ref *given, firn_error *error) {
    const json_t *present = json_object_get(refs, given->name);
    json_t *ref = present == NULL ? json_object() : firn_json_copy_shallow(present);
    FIRN_TRY(firn_json_set(refs, given->name, ref, error));
    FIRN_TRY(firn_json_set_int(ref, "snapshot-id", given->snapshot_id, error));
    FIRN_TRY(firn_json_set_text(ref, "type", given->is_branch ? "branch" : "tag", error));
    FIRN_TRY(put_setting(ref, "min-snapshots-to-keep", given->min_snapshots_to_keep, error));
    FIRN_TRY(put_setting(ref, "max-snapshot-age-ms", given->max_snapshot_age_ms, error));
    return put_setting(ref, "max-ref-age-ms", given->max_ref_age_ms, error);
}

firn_status firn_apply_set_snapshot_ref(firn_change *change, const json_t *update,
                                        firn_error *error) {
    const char *name = NULL;
    json_t *refs = NULL;
    firn_snapshot_ref given;
    FIRN_TRY(firn_json_text(update, "table update", "ref-name", &name, error));
    FIRN_TRY(firn_snapshot_ref_parse(name, update, &given, error));
    if (!firn_change_has_snapshot(change, given.snapshot_id)) {
        return firn_fail(error, FIRN_INVALID, "ref \"%.100s\": there is no snapshot %lld", name,
                         (long long)given.snapshot_id);
    }
    bool is_main = strcmp(name, MAIN) == 0;
    if (is_main && !given.is_branch) return firn_fail(error, FIRN_INVALID, "main is a branch");
    FIRN_TRY(own_refs(change, &refs, error));
    FIRN_TRY(put_ref(refs, &given, error));
    if (!is_main) return FIRN_OK;
    change->current_snapshot_id = given.snapshot_id;
    return firn_json_set_int(change->document, "current-snapshot-id", given.snapshot_id, error);
}

firn_status firn_apply_remove_snapshot_ref(firn_change *change, const json_t *update,
                                           firn_error *error) {
    const char *name = NULL;
    json_t *refs = NULL;
    FIRN_TRY(firn_json_text(update, "table update", "ref-name", &name, error));
    FIRN_TRY(own_refs(change, &refs, error));
    json_object_del(refs, name);
    if (strcmp(name, MAIN) != 0) return FIRN_OK;
    change->current_snapshot_id = FIRN_NO_SNAPSHOT;
    /* Older readers of v1 and v2 want the key, and -1 ("Assignment of Snapshot IDs"). */
    json_t *none = change->format_version >= 3 ? json_null() : json_integer(FIRN_NO_SNAPSHOT);
    return firn_json_set(change->document, "current-snapshot-id", none, error);
}

/* Marks what goes; an id that is not there is gone already. */
static firn_status mark_removed(firn_change *change, const json_t *ids, firn_error *error) {
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *item = json_array_get(ids, i);
        if (!json_is_integer(item)) {
            return firn_fail(error, FIRN_INVALID, "field snapshot-ids: not a list of snapshot ids");
        }
        int64_t id = json_integer_value(item);
        if (!firn_change_has_snapshot(change, id)) continue;
        FIRN_TRY(firn_map_set_int(change->snapshots, id, &firn_removed, error));
        change->removed_snapshots = true;
    }
    return FIRN_OK;
}

firn_status firn_apply_remove_snapshots(firn_change *change, const json_t *update,
                                        firn_error *error) {
    json_t *ids = NULL;
    FIRN_TRY(firn_json_array(update, "table update", "snapshot-ids", &ids, error));
    FIRN_TRY(mark_removed(change, ids, error));
    const json_t *list = json_object_get(change->document, "snapshots");
    json_t *kept = json_array();
    if (kept == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *snapshot = json_array_get(list, i);
        int64_t id = json_integer_value(json_object_get(snapshot, "snapshot-id"));
        if (!firn_change_has_snapshot(change, id)) continue;
        if (json_array_append(kept, snapshot) == 0) continue;
        json_decref(kept);
        return firn_fail_memory(error);
    }
    return firn_json_set(change->document, "snapshots", kept, error);
}
