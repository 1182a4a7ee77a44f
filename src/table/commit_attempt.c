/** One attempt of a commit: the manifest list, the snapshot, the pointer. */
#include "base/alloc.h"
#include "base/clock.h"
#include "iceberg/json_copy.h"
#include "table/commit_internal.h"

static firn_status write_manifest_list(firn_commit_work *work, const char **path,
                                       int64_t *next_row_id, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_table *table = work->table;
    const firn_snapshot *parent = table->snapshot;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)4 << 30);
    *path = firn_arena_format(work->arena, "%s/snap-%lld-%d-%s.avro", work->folder,
                              (long long)work->snapshot_id, work->attempts, work->uuid);
    if (*path == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_manifest_list_write(table->metadata, work->snapshot_id, parent != NULL,
                                        parent == NULL ? FIRN_NO_SNAPSHOT : parent->snapshot_id,
                                        firn_commit_next_sequence_number(table->metadata),
                                        work->manifests.items, work->manifests.count,
                                        table->metadata->next_row_id, next_row_id, &bytes, error));
    FIRN_CHECK(firn_vector_push(&work->lists, error, *path));
    FIRN_CHECK(firn_journal_add(work->journal, *path, error));
    FIRN_CHECK(firn_storage_put(table->storage, *path, firn_buffer_slice(&bytes), error));
out:
    firn_buffer_release(&bytes);
    return status;
}

/** Snapshots must not go back in time along a table's log. */
static int64_t snapshot_time(const firn_table *table) {
    int64_t time = firn_table_metadata_change_time(table->metadata, firn_clock_now_ms());
    if (table->snapshot != NULL && time < table->snapshot->timestamp_ms) {
        time = table->snapshot->timestamp_ms;
    }
    return time;
}

/** v3, "Snapshot Row IDs": ids are given from the table's next one on, anew in each attempt. */
static firn_status set_row_ids(const firn_table_metadata *metadata, int64_t next_row_id,
                               json_t *snapshot, firn_error *error) {
    if (metadata->format_version < 3) return FIRN_OK;
    FIRN_TRY(firn_json_set_int(snapshot, "first-row-id", metadata->next_row_id, error));
    return firn_json_set_int(snapshot, "added-rows", next_row_id - metadata->next_row_id, error);
}

static firn_status fill_snapshot(const firn_commit_work *work, const char *list,
                                 int64_t next_row_id, json_t *snapshot, firn_error *error) {
    const firn_table *table = work->table;
    const firn_table_metadata *metadata = table->metadata;
    json_t *summary = NULL;
    FIRN_TRY(firn_json_set_int(snapshot, "snapshot-id", work->snapshot_id, error));
    if (table->snapshot != NULL) {
        FIRN_TRY(
            firn_json_set_int(snapshot, "parent-snapshot-id", table->snapshot->snapshot_id, error));
    }
    if (metadata->format_version > 1) {
        FIRN_TRY(firn_json_set_int(snapshot, "sequence-number",
                                   firn_commit_next_sequence_number(metadata), error));
    }
    FIRN_TRY(firn_json_set_int(snapshot, "timestamp-ms", snapshot_time(table), error));
    FIRN_TRY(firn_commit_summary(work, table->snapshot, &summary, error));
    FIRN_TRY(firn_json_set(snapshot, "summary", summary, error));
    FIRN_TRY(firn_json_set_text(snapshot, "manifest-list", list, error));
    FIRN_TRY(set_row_ids(metadata, next_row_id, snapshot, error));
    return firn_json_set_int(snapshot, "schema-id", metadata->schema->schema_id, error);
}

static firn_status add_snapshot(const firn_commit_work *work, const char *list, int64_t next_row_id,
                                firn_table_update *update, firn_error *error) {
    json_t *snapshot = json_object();
    if (snapshot == NULL) return firn_fail_memory(error);
    firn_status status = fill_snapshot(work, list, next_row_id, snapshot, error);
    if (status != FIRN_OK) {
        json_decref(snapshot);
        return status;
    }
    return firn_update_add_snapshot(update, snapshot, error);
}

static firn_status set_properties(const firn_commit_work *work, firn_table_update *update,
                                  firn_error *error) {
    json_t *properties = firn_json_copy_deep(work->change.properties);
    if (properties == NULL) return firn_fail_memory(error);
    return firn_update_set_properties(update, properties, error);
}

static firn_status build_update(const firn_commit_work *work, const char *list, int64_t next_row_id,
                                firn_table_update *update, firn_error *error) {
    const firn_table *table = work->table;
    if (table->metadata->table_uuid != NULL) {
        FIRN_TRY(firn_require_uuid(update, table->metadata->table_uuid, error));
    }
    FIRN_TRY(firn_require_ref_snapshot(
        update, table->ref,
        table->snapshot == NULL ? FIRN_NO_SNAPSHOT : table->snapshot->snapshot_id, error));
    if (work->change.properties != NULL) FIRN_TRY(set_properties(work, update, error));
    FIRN_TRY(add_snapshot(work, list, next_row_id, update, error));
    return firn_update_set_snapshot_ref(update, table->ref, true, work->snapshot_id,
                                        firn_table_metadata_ref(table->metadata, table->ref),
                                        error);
}

static firn_status announced(void *context, const char *location, firn_error *error) {
    return firn_journal_add(context, location, error);
}

/** A catalog that says OK and did something else must not make files look committed, or uncommitted. */
static firn_status check_committed(const firn_commit_work *work, firn_table_pointer *committed,
                                   firn_error *error) {
    const firn_table_metadata *metadata = committed->metadata;
    if (firn_table_metadata_snapshot(metadata, work->snapshot_id) != NULL &&
        firn_table_metadata_ref(metadata, work->table->ref) != NULL) {
        return FIRN_OK;
    }
    firn_fail(error, FIRN_COMMIT_UNKNOWN,
              "%s was answered as the table's new metadata, and has "
              "no snapshot %lld",
              committed->metadata_location, (long long)work->snapshot_id);
    firn_table_pointer_release(committed);
    return FIRN_COMMIT_UNKNOWN;
}

firn_status firn_commit_attempt(firn_commit_work *work, firn_table_pointer *committed,
                                firn_error *error) {
    firn_status status = FIRN_OK;
    firn_table *table = work->table;
    const char *list = NULL;
    int64_t next_row_id = 0;
    firn_table_update update = {0};
    FIRN_CHECK(write_manifest_list(work, &list, &next_row_id, error));
    FIRN_CHECK(firn_table_update_init(&update, error));
    FIRN_CHECK(build_update(work, list, next_row_id, &update, error));
    update.announce = announced;
    update.announce_context = work->journal;
    FIRN_CHECK(firn_catalog_commit(table->catalog, firn_table_own_name(table), &table->pointer,
                                   &update, committed, error));
    FIRN_CHECK(check_committed(work, committed, error));
out:
    firn_table_update_release(&update);
    return status;
}
