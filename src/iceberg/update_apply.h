/** A change in the making: what the parts of firn_table_update_apply share. Internal to iceberg. */
#ifndef FIRN_ICEBERG_UPDATE_APPLY_H
#define FIRN_ICEBERG_UPDATE_APPLY_H

#include "base/map.h"
#include "iceberg/update.h"

#define FIRN_NONE_ADDED (-1)

/**
 * `document` starts as a copy of the base's object that shares every value with it. A value is replaced by a copy before
 * it is changed (firn_change_array, firn_change_object), so the base stays as it is and what no update touches is carried over.
 */
typedef struct firn_change {
    const firn_table_metadata *base;
    json_t *document;  /**< owned */
    firn_arena *arena; /**< for parsing what updates bring; freed with the change */
    firn_map *
        snapshots; /**< ids that this change added or removed: the value is &firn_added or &firn_removed */
    int64_t time_ms; /**< of the change */
    int32_t format_version;
    int64_t last_sequence_number, next_row_id;
    int32_t last_column_id, last_partition_id;
    int64_t current_snapshot_id;
    /** Ids for "the last one added" (-1 in the protocol), or FIRN_NONE_ADDED. */
    int32_t added_schema_id, added_spec_id, added_order_id;
    bool removed_snapshots;
} firn_change;

extern char firn_added, firn_removed;

/** The array or object of the document under `key`, free to be changed; made where it is absent or null. */
firn_status firn_change_array(firn_change *change, const char *key, json_t **out,
                              firn_error *error);
firn_status firn_change_object(firn_change *change, const char *key, json_t **out,
                               firn_error *error);
/** Whether the document has the snapshot at this point. */
bool firn_change_has_snapshot(const firn_change *change, int64_t snapshot_id);

/** Removes the objects with these ids from a list; INVALID when the one in use is among them. */
firn_status firn_change_remove_by_id(firn_change *change, const char *list_key, const char *id_key,
                                     const json_t *ids, int64_t in_use, firn_error *error);

/** Applies one update: its members are checked, INVALID or CORRUPT when they are wrong. */
typedef firn_status (*firn_apply_function)(firn_change *change, const json_t *update,
                                           firn_error *error);

/* update_snapshot.c */
firn_status firn_apply_add_snapshot(firn_change *change, const json_t *update, firn_error *error);
firn_status firn_apply_set_snapshot_ref(firn_change *change, const json_t *update,
                                        firn_error *error);
firn_status firn_apply_remove_snapshot_ref(firn_change *change, const json_t *update,
                                           firn_error *error);
firn_status firn_apply_remove_snapshots(firn_change *change, const json_t *update,
                                        firn_error *error);

/* update_statistics.c */
firn_status firn_apply_set_statistics(firn_change *change, const json_t *update, firn_error *error);
firn_status firn_apply_remove_statistics(firn_change *change, const json_t *update,
                                         firn_error *error);
firn_status firn_apply_set_partition_statistics(firn_change *change, const json_t *update,
                                                firn_error *error);
firn_status firn_apply_remove_partition_statistics(firn_change *change, const json_t *update,
                                                   firn_error *error);
/** Removes the statistics of both kinds that belong to removed snapshots. */
firn_status firn_change_drop_statistics(firn_change *change, firn_error *error);

/* update_schema.c */
/** INVALID where two fields, at any depth, have one full name ("a.b"): readers refuse such a schema. */
firn_status firn_check_full_names(const firn_schema *schema, firn_arena *arena, firn_error *error);
firn_status firn_apply_add_schema(firn_change *change, const json_t *update, firn_error *error);
firn_status firn_apply_set_current_schema(firn_change *change, const json_t *update,
                                          firn_error *error);
firn_status firn_apply_remove_schemas(firn_change *change, const json_t *update, firn_error *error);

/* update_spec.c */
firn_status firn_apply_add_spec(firn_change *change, const json_t *update, firn_error *error);
firn_status firn_apply_set_default_spec(firn_change *change, const json_t *update,
                                        firn_error *error);
firn_status firn_apply_remove_specs(firn_change *change, const json_t *update, firn_error *error);
firn_status firn_apply_add_sort_order(firn_change *change, const json_t *update, firn_error *error);
firn_status firn_apply_set_default_sort_order(firn_change *change, const json_t *update,
                                              firn_error *error);
/** Whether a spec may be written with: known transforms, sources that a schema has and that the transform takes. */
firn_status firn_partition_spec_check(const firn_partition_spec *spec, firn_error *error);

/* update_version.c */
firn_status firn_apply_upgrade_format_version(firn_change *change, const json_t *update,
                                              firn_error *error);
/** v1: adds the keys of v2 that stand beside the old ones, so that updates find them. */
firn_status firn_change_complete_v1(firn_change *change, firn_error *error);
/** v1: makes `schema` and `partition-spec` say what the current ids say. */
firn_status firn_change_mirror_v1(firn_change *change, firn_error *error);

/* update_log.c */
/** snapshot-log: trimmed before gaps that removed snapshots leave, then the new current snapshot. */
firn_status firn_change_snapshot_log(firn_change *change, firn_error *error);
/** metadata-log: the base's file (nullable) is added, the oldest entries go. */
firn_status firn_change_metadata_log(firn_change *change, const char *base_location,
                                     firn_error *error);

#endif
