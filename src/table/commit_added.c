/** Manifests that were written before the commit began (manifest_batch.h). */
#include "table/commit_internal.h"

static firn_status check_format(const firn_commit_work *work, const firn_added_manifests *added,
                                firn_error *error) {
    const firn_table *table = work->table;
    if (added->format_version == table->metadata->format_version) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: was upgraded to format version %d meanwhile; run this again",
                     table->display_name, table->metadata->format_version);
}

static firn_status check_specs(const firn_table *table, const firn_manifest_file *manifests,
                               size_t count, int64_t snapshot_id, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        int32_t spec_id = manifests[i].partition_spec_id;
        if (manifests[i].added_snapshot_id != snapshot_id ||
            firn_table_metadata_spec(table->metadata, spec_id) != NULL) {
            continue;
        }
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: partition spec %d was removed meanwhile; run this again",
                         table->display_name, spec_id);
    }
    return FIRN_OK;
}

firn_status firn_commit_check_specs(const firn_commit_work *work, firn_error *error) {
    return check_specs(work->table, work->manifests.items, work->manifests.count, work->snapshot_id,
                       error);
}

firn_status firn_commit_take_added(firn_commit_work *work, bool moved, firn_error *error) {
    const firn_added_manifests *added = work->change.added_manifests;
    if (moved && (work->has_added != (added != NULL) ||
                  (added != NULL && added->snapshot_id != work->snapshot_id))) {
        return firn_fail(error, FIRN_INVALID,
                         "manifests written beforehand must be the same in every attempt");
    }
    work->has_added = added != NULL;
    if (added == NULL) return FIRN_OK;
    work->snapshot_id = added->snapshot_id;
    if (firn_table_metadata_snapshot(work->table->metadata, added->snapshot_id) != NULL) {
        return firn_fail(
            error, FIRN_INVALID,
            "table %s: has snapshot %lld already, for which the manifests were written",
            work->table->display_name, (long long)added->snapshot_id);
    }
    FIRN_TRY(check_format(work, added, error));
    return check_specs(work->table, added->manifests, added->count, added->snapshot_id, error);
}
