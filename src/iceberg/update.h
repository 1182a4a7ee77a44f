/**
 * A change to a table in the REST protocol's vocabulary: requirements and updates (open-api, "TableRequirement", "TableUpdate"). This is the
 * internal language for every change: the rest catalog sends it, the others apply it here and swap the pointer.
 */
#ifndef FIRN_ICEBERG_UPDATE_H
#define FIRN_ICEBERG_UPDATE_H

#include "iceberg/metadata.h"

/** A JSON array of requirements and one of updates, as the protocol writes them; owned. */
typedef struct firn_table_update {
    json_t *requirements;
    json_t *updates;
    /**
     * NULL, or called with each file that a commit is about to make, before it is there, so that a journal can
     * name what a kill leaves behind. Not called with a name that another writer could make as well.
     */
    firn_status (*announce)(void *context, const char *location, firn_error *error);
    void *announce_context;
} firn_table_update;

firn_status firn_table_update_init(firn_table_update *update, firn_error *error);
void firn_table_update_release(firn_table_update *update);

/* Requirements. */
/** `table_uuid` NULL (a v1 table without one) adds nothing. */
firn_status firn_require_uuid(firn_table_update *update, const char *table_uuid, firn_error *error);
/** `snapshot_id` FIRN_NO_SNAPSHOT: the ref must not exist. */
firn_status firn_require_ref_snapshot(firn_table_update *update, const char *ref,
                                      int64_t snapshot_id, firn_error *error);
firn_status firn_require_default_spec(firn_table_update *update, int32_t spec_id,
                                      firn_error *error);
firn_status firn_require_current_schema(firn_table_update *update, int32_t schema_id,
                                        firn_error *error);
firn_status firn_require_create(firn_table_update *update, firn_error *error);

/* Updates. JSON arguments are taken over, also on failure. */
firn_status firn_update_add_snapshot(firn_table_update *update, json_t *snapshot,
                                     firn_error *error);
/**
 * Sets a branch (or tag) to a snapshot. `existing` (nullable) is the ref as the base has it: its retention settings are sent along, since a
 * catalog replaces the whole ref, and settings that are not sent are gone.
 */
firn_status firn_update_set_snapshot_ref(firn_table_update *update, const char *ref, bool is_branch,
                                         int64_t snapshot_id, const firn_snapshot_ref *existing,
                                         firn_error *error);
firn_status firn_update_set_properties(firn_table_update *update, json_t *properties,
                                       firn_error *error);
firn_status firn_update_remove_properties(firn_table_update *update, json_t *names,
                                          firn_error *error);

firn_status firn_update_upgrade_format_version(firn_table_update *update, int format_version,
                                               firn_error *error);

/** Checks every requirement against `base` (NULL: the table does not exist). CONFLICT names the one that fails. */
firn_status firn_table_update_check(const firn_table_update *update,
                                    const firn_table_metadata *base, firn_error *error);

/**
 * Applies the updates to a copy of base's JSON and parses the result. `base_location` (nullable) is base's metadata file: it goes to the
 * metadata log, which is trimmed by write.metadata.previous-versions-max (100). last-updated-ms, snapshot log, sequence numbers, v3 next-row-id
 * and the v1 mirror keys (schema, partition-spec) are kept as the specification says; the spelling of an absent current snapshot is kept
 * (but v3 never says -1). `now_ms` is the time of the change; a change never happens before base's last-updated-ms or a snapshot that it adds.
 *
 * Updates it knows: assign-uuid, upgrade-format-version, add-schema, set-current-schema, remove-schemas, add-spec, set-default-spec,
 * remove-partition-specs, add-sort-order, set-default-sort-order, add-snapshot, set-snapshot-ref, remove-snapshot-ref, remove-snapshots (with
 * their statistics), set-location, set-properties, remove-properties, set-statistics, remove-statistics, set-partition-statistics,
 * remove-partition-statistics. Another one: UNSUPPORTED. Ids of new schemas, specs and orders are given here, and equal ones reused, as a
 * catalog does it; -1 names the last one added. INVALID for what is wrong in an update; CONFLICT where a snapshot's sequence number or first row id
 * was taken in the meantime.
 */
firn_status firn_table_update_apply(const firn_table_update *update,
                                    const firn_table_metadata *base, const char *base_location,
                                    int64_t now_ms, firn_table_metadata **out, firn_error *error);

/** Metadata of a new table, v1 to v3: schema and spec JSON (taken over, with ids; spec nullable), properties object (taken over, nullable). */
firn_status firn_table_metadata_create(int format_version, const char *location, json_t *schema,
                                       json_t *spec, json_t *properties, int64_t now_ms,
                                       firn_table_metadata **out, firn_error *error);

#endif
