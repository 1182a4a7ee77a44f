#include <stdlib.h>
#include <string.h>

#include "iceberg/metadata_parse.h"

#define WHAT FIRN_METADATA_WHAT

/* v1's list of manifests, which stands for a manifest list. */
static firn_status parse_manifests(const json_t *json, firn_arena *arena, firn_snapshot *out,
                                   firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array_optional(json, "snapshot", "manifests", &list, NULL, error));
    if (list == NULL) {
        const char *path = NULL;
        return firn_json_text(json, "snapshot", "manifest-list", &path, error);
    }
    size_t count = json_array_size(list);
    const char **manifests = firn_arena_alloc(arena, count, sizeof *manifests);
    if (manifests == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        manifests[i] = json_string_value(json_array_get(list, i));
        if (manifests[i] == NULL) {
            return firn_fail(error, FIRN_CORRUPT, "snapshot: field manifests: not a list of texts");
        }
    }
    out->manifests = manifests;
    out->manifest_count = count;
    return FIRN_OK;
}

/* Some writers leave out the summary, or its operation: the operation is then unknown. */
static firn_status parse_summary(const json_t *json, firn_snapshot *out, firn_error *error) {
    json_t *summary = NULL;
    FIRN_TRY(firn_json_object_optional(json, "snapshot", "summary", &summary, NULL, error));
    out->summary = summary;
    if (summary == NULL) return FIRN_OK;
    return firn_json_text_optional(summary, "summary", "operation", &out->operation, NULL, error);
}

static firn_status parse_row_ids(const json_t *json, firn_snapshot *out, firn_error *error) {
    FIRN_TRY(firn_json_int64_optional(json, "snapshot", "first-row-id", &out->first_row_id,
                                      &out->has_first_row_id, error));
    FIRN_TRY(firn_json_int64_optional(json, "snapshot", "added-rows", &out->added_rows,
                                      &out->has_added_rows, error));
    if (out->first_row_id < 0 || out->added_rows < 0) {
        return firn_fail(error, FIRN_CORRUPT, "snapshot: field %s: is negative",
                         out->first_row_id < 0 ? "first-row-id" : "added-rows");
    }
    return FIRN_OK;
}

firn_status firn_snapshot_parse(const json_t *json, firn_arena *arena, firn_snapshot *out,
                                firn_error *error) {
    const char *what = "snapshot";
    const char *key_id = NULL;
    *out = (firn_snapshot){.json = json};
    FIRN_TRY(firn_json_int64(json, what, "snapshot-id", &out->snapshot_id, error));
    if (out->snapshot_id == FIRN_NO_SNAPSHOT) {
        return firn_fail(error, FIRN_CORRUPT, "snapshot: field snapshot-id: -1 means none");
    }
    FIRN_TRY(firn_json_int64_optional(json, what, "parent-snapshot-id", &out->parent_snapshot_id,
                                      &out->has_parent, error));
    if (out->parent_snapshot_id == FIRN_NO_SNAPSHOT) out->has_parent = false;
    /* Only its absence means 0: the snapshots of a v1 table look so after its upgrade. */
    if (json_object_get(json, "sequence-number") != NULL) {
        FIRN_TRY(firn_json_int64(json, what, "sequence-number", &out->sequence_number, error));
    }
    FIRN_TRY(firn_json_int64(json, what, "timestamp-ms", &out->timestamp_ms, error));
    FIRN_TRY(
        firn_json_text_optional(json, what, "manifest-list", &out->manifest_list, NULL, error));
    if (out->manifest_list == NULL) FIRN_TRY(parse_manifests(json, arena, out, error));
    FIRN_TRY(parse_summary(json, out, error));
    FIRN_TRY(firn_json_int32_optional(json, what, "schema-id", &out->schema_id, &out->has_schema_id,
                                      error));
    FIRN_TRY(parse_row_ids(json, out, error));
    return firn_json_text_optional(json, what, "key-id", &key_id, &out->has_key_id, error);
}

static int by_id(const void *a, const void *b, void *context) {
    const firn_snapshot *snapshots = context;
    int64_t left = snapshots[*(const uint32_t *)a].snapshot_id;
    int64_t right = snapshots[*(const uint32_t *)b].snapshot_id;
    return (left > right) - (left < right);
}

static firn_status index_snapshots(firn_table_metadata *metadata, firn_error *error) {
    size_t count = metadata->snapshot_count;
    if (count > UINT32_MAX) return firn_fail(error, FIRN_LIMIT, "too many snapshots");
    uint32_t *order = firn_arena_alloc(metadata->arena, count, sizeof *order);
    if (order == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, by_id, (void *)metadata->snapshots);
    for (size_t i = 1; i < count; i++) {
        int64_t id = metadata->snapshots[order[i]].snapshot_id;
        if (id != metadata->snapshots[order[i - 1]].snapshot_id) continue;
        return firn_fail(error, FIRN_CORRUPT, "%s: snapshot-id %lld occurs twice", WHAT,
                         (long long)id);
    }
    metadata->snapshots_by_id = order;
    return FIRN_OK;
}

static firn_status check_sequence_number(const firn_table_metadata *metadata,
                                         firn_snapshot *snapshot, firn_error *error) {
    if (metadata->format_version == 1) {
        snapshot->sequence_number = 0;
        return FIRN_OK;
    }
    if (snapshot->sequence_number >= 0 &&
        snapshot->sequence_number <= metadata->last_sequence_number) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_CORRUPT,
                     "snapshot: field sequence-number: %lld lies outside 0 to "
                     "last-sequence-number, %lld",
                     (long long)snapshot->sequence_number,
                     (long long)metadata->last_sequence_number);
}

static firn_status parse_snapshot_list(firn_table_metadata *metadata, firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array_optional(metadata->json, WHAT, "snapshots", &list, NULL, error));
    size_t count = json_array_size(list);
    firn_snapshot *snapshots = firn_arena_alloc(metadata->arena, count, sizeof *snapshots);
    if (snapshots == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        firn_status status =
            firn_snapshot_parse(json_array_get(list, i), metadata->arena, &snapshots[i], error);
        if (status == FIRN_OK) status = check_sequence_number(metadata, &snapshots[i], error);
        if (status != FIRN_OK) return firn_error_wrap(error, status, "snapshots[%zu]", i);
    }
    metadata->snapshots = snapshots;
    metadata->snapshot_count = count;
    return index_snapshots(metadata, error);
}

static firn_status parse_current(firn_table_metadata *metadata, firn_error *error) {
    int64_t id = FIRN_NO_SNAPSHOT;
    FIRN_TRY(
        firn_json_int64_optional(metadata->json, WHAT, "current-snapshot-id", &id, NULL, error));
    metadata->current_snapshot_id = id;
    if (id == FIRN_NO_SNAPSHOT || firn_table_metadata_snapshot(metadata, id) != NULL) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: field current-snapshot-id: there is no snapshot %lld", WHAT,
                     (long long)id);
}

/* A retention setting: absent is -1, present is positive. */
static firn_status parse_setting(const json_t *json, const char *key, int64_t *out,
                                 firn_error *error) {
    bool found = false;
    FIRN_TRY(firn_json_int64_optional(json, "ref", key, out, &found, error));
    if (!found) {
        *out = -1;
    } else if (*out <= 0) {
        return firn_fail(error, FIRN_CORRUPT, "ref: field %s: %lld is not positive", key,
                         (long long)*out);
    }
    return FIRN_OK;
}

firn_status firn_snapshot_ref_parse(const char *name, const json_t *json, firn_snapshot_ref *out,
                                    firn_error *error) {
    const char *type = NULL;
    *out = (firn_snapshot_ref){.name = name};
    FIRN_TRY(firn_json_int64(json, "ref", "snapshot-id", &out->snapshot_id, error));
    FIRN_TRY(firn_json_text(json, "ref", "type", &type, error));
    out->is_branch = strcmp(type, "branch") == 0;
    if (!out->is_branch && strcmp(type, "tag") != 0) {
        return firn_fail(error, FIRN_CORRUPT,
                         "ref: field type: \"%.100s\" is neither branch nor tag", type);
    }
    FIRN_TRY(parse_setting(json, "min-snapshots-to-keep", &out->min_snapshots_to_keep, error));
    FIRN_TRY(parse_setting(json, "max-snapshot-age-ms", &out->max_snapshot_age_ms, error));
    return parse_setting(json, "max-ref-age-ms", &out->max_ref_age_ms, error);
}

static firn_status check_ref(const firn_table_metadata *metadata, const firn_snapshot_ref *ref,
                             firn_error *error) {
    if (firn_table_metadata_snapshot(metadata, ref->snapshot_id) == NULL) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: field refs: %s \"%.100s\" names snapshot %lld, which is not there",
                         WHAT, ref->is_branch ? "branch" : "tag", ref->name,
                         (long long)ref->snapshot_id);
    }
    if (strcmp(ref->name, "main") != 0) return FIRN_OK;
    if (!ref->is_branch || ref->snapshot_id != metadata->current_snapshot_id) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: field current-snapshot-id: %lld, but main is a %s at %lld", WHAT,
                         (long long)metadata->current_snapshot_id,
                         ref->is_branch ? "branch" : "tag", (long long)ref->snapshot_id);
    }
    return FIRN_OK;
}

static firn_status parse_refs(firn_table_metadata *metadata, firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(firn_json_object_optional(metadata->json, WHAT, "refs", &object, NULL, error));
    /* main is there even if `refs` leaves it out. */
    firn_snapshot_ref *refs =
        firn_arena_alloc(metadata->arena, json_object_size(object) + 1, sizeof *refs);
    if (refs == NULL) return firn_fail_memory(error);
    size_t count = 0;
    bool has_main = false;
    const char *name = NULL;
    json_t *json = NULL;
    json_object_foreach(object, name, json) {
        FIRN_TRY(firn_error_wrap(error, firn_snapshot_ref_parse(name, json, &refs[count], error),
                                 "refs.%.100s", name));
        FIRN_TRY(check_ref(metadata, &refs[count], error));
        has_main = has_main || strcmp(name, "main") == 0;
        count++;
    }
    if (!has_main && metadata->current_snapshot_id != FIRN_NO_SNAPSHOT) {
        refs[count++] =
            (firn_snapshot_ref){"main", metadata->current_snapshot_id, true, -1, -1, -1};
    }
    metadata->refs = refs;
    metadata->ref_count = count;
    return FIRN_OK;
}

/* Row ids are never given twice, so the counter is at least behind every range that a snapshot took. */
static firn_status parse_next_row_id(firn_table_metadata *metadata, firn_error *error) {
    if (metadata->format_version < 3) return FIRN_OK;
    int64_t next = 0;
    FIRN_TRY(firn_json_int64(metadata->json, WHAT, "next-row-id", &next, error));
    if (next < 0) return firn_fail(error, FIRN_CORRUPT, "%s: field next-row-id: is negative", WHAT);
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        const firn_snapshot *snapshot = &metadata->snapshots[i];
        int64_t end = 0;
        if (__builtin_add_overflow(snapshot->first_row_id, snapshot->added_rows, &end)) {
            return firn_fail(error, FIRN_CORRUPT, "snapshots[%zu]: field added-rows: is too large",
                             i);
        }
        if (snapshot->has_first_row_id && end > next) next = end;
    }
    metadata->next_row_id = next;
    return FIRN_OK;
}

firn_status firn_metadata_parse_snapshots(firn_table_metadata *metadata, firn_error *error) {
    FIRN_TRY(parse_snapshot_list(metadata, error));
    FIRN_TRY(parse_current(metadata, error));
    FIRN_TRY(parse_refs(metadata, error));
    return parse_next_row_id(metadata, error);
}

/*
 * Neither log needs to be sorted to be read: clocks of writers differ, and a rollback once wrote the time of the
 * older snapshot. Ids of snapshots that are gone are fine.
 */
static firn_status parse_log(firn_table_metadata *metadata, const char *key, bool of_snapshots,
                             const firn_log_entry **out, size_t *out_count, firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array_optional(metadata->json, WHAT, key, &list, NULL, error));
    size_t count = json_array_size(list);
    firn_log_entry *entries = firn_arena_alloc(metadata->arena, count, sizeof *entries);
    if (entries == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *json = json_array_get(list, i);
        firn_status status =
            firn_json_int64(json, "entry", "timestamp-ms", &entries[i].timestamp_ms, error);
        if (status == FIRN_OK) {
            status = of_snapshots ? firn_json_int64(json, "entry", "snapshot-id",
                                                    &entries[i].snapshot_id, error)
                                  : firn_json_text(json, "entry", "metadata-file",
                                                   &entries[i].metadata_file, error);
        }
        if (status != FIRN_OK) return firn_error_wrap(error, status, "%s[%zu]", key, i);
    }
    *out = entries;
    *out_count = count;
    return FIRN_OK;
}

firn_status firn_metadata_parse_logs(firn_table_metadata *metadata, firn_error *error) {
    FIRN_TRY(parse_log(metadata, "snapshot-log", true, &metadata->snapshot_log,
                       &metadata->snapshot_log_count, error));
    return parse_log(metadata, "metadata-log", false, &metadata->metadata_log,
                     &metadata->metadata_log_count, error);
}
