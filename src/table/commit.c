/** One commit: manifests once, then the manifest list and the pointer as often as the table moves elsewhere. */
#include "table/commit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "table/commit_internal.h"

#define DEFAULT_RETRIES 4

static firn_status choose_snapshot_id(const firn_table_metadata *metadata, int64_t *out,
                                      firn_error *error) {
    do {
        FIRN_TRY(firn_random_id(out, error));
    } while (firn_table_metadata_snapshot(metadata, *out) != NULL);
    return FIRN_OK;
}

static int64_t next_sequence_number(const firn_table_metadata *metadata) {
    return metadata->format_version == 1 ? 0 : metadata->last_sequence_number + 1;
}

static firn_status write_manifest_list(firn_commit_work *work, int attempt, char **path,
                                       firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_table *table = work->table;
    const firn_snapshot *parent = table->snapshot;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)4 << 30);
    *path = firn_arena_format(work->arena, "%s/snap-%lld-%d-%s.avro", work->folder,
                              (long long)work->snapshot_id, attempt, work->uuid);
    if (*path == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_manifest_list_write(table->metadata, work->snapshot_id, parent != NULL,
                                        parent == NULL ? FIRN_NO_SNAPSHOT : parent->snapshot_id,
                                        next_sequence_number(table->metadata),
                                        work->manifests.items, work->manifests.count,
                                        table->metadata->next_row_id, NULL, &bytes, error));
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

static firn_status snapshot_json(const firn_commit_work *work, const char *list, json_t **out,
                                 firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_table *table = work->table;
    json_t *summary = NULL;
    json_t *snapshot = json_object();
    if (snapshot == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_commit_summary(work, table->snapshot, &summary, error));
    FIRN_CHECK(firn_json_set_int(snapshot, "snapshot-id", work->snapshot_id, error));
    if (table->snapshot != NULL) {
        FIRN_CHECK(
            firn_json_set_int(snapshot, "parent-snapshot-id", table->snapshot->snapshot_id, error));
    }
    if (table->metadata->format_version > 1) {
        FIRN_CHECK(firn_json_set_int(snapshot, "sequence-number",
                                     next_sequence_number(table->metadata), error));
    }
    FIRN_CHECK(firn_json_set_int(snapshot, "timestamp-ms", snapshot_time(table), error));
    FIRN_CHECK(firn_json_set(snapshot, "summary", json_incref(summary), error));
    FIRN_CHECK(firn_json_set_text(snapshot, "manifest-list", list, error));
    FIRN_CHECK(firn_json_set_int(snapshot, "schema-id", table->metadata->schema->schema_id, error));
    *out = snapshot;
    snapshot = NULL;
out:
    json_decref(summary);
    json_decref(snapshot);
    return status;
}

static firn_status build_update(const firn_commit_work *work, const char *list,
                                firn_table_update *update, firn_error *error) {
    const firn_table *table = work->table;
    json_t *snapshot = NULL;
    if (table->metadata->table_uuid != NULL) {
        FIRN_TRY(firn_require_uuid(update, table->metadata->table_uuid, error));
    }
    FIRN_TRY(firn_require_ref_snapshot(
        update, table->ref,
        table->snapshot == NULL ? FIRN_NO_SNAPSHOT : table->snapshot->snapshot_id, error));
    FIRN_TRY(snapshot_json(work, list, &snapshot, error));
    FIRN_TRY(firn_update_add_snapshot(update, snapshot, error));
    return firn_update_set_snapshot_ref(update, table->ref, true, work->snapshot_id,
                                        firn_table_metadata_ref(table->metadata, table->ref),
                                        error);
}

static firn_status announced(void *context, const char *location, firn_error *error) {
    return firn_journal_add(context, location, error);
}

static firn_status attempt(firn_commit_work *work, int number, firn_table_pointer *committed,
                           firn_error *error) {
    firn_status status = FIRN_OK;
    firn_table *table = work->table;
    char *list = NULL;
    firn_table_update update = {0};
    FIRN_CHECK(write_manifest_list(work, number, &list, error));
    FIRN_CHECK(firn_table_update_init(&update, error));
    FIRN_CHECK(build_update(work, list, &update, error));
    update.announce = announced;
    update.announce_context = work->journal;
    FIRN_CHECK(firn_catalog_commit(table->catalog, firn_table_own_name(table), &table->pointer,
                                   &update, committed, error));
out:
    firn_table_update_release(&update);
    return status;
}

/** Only what stood when the manifests were written may still stand, or they would be wrong. */
static firn_status reload_if_unmoved(firn_table *table, firn_error *error) {
    int64_t pinned = table->snapshot == NULL ? FIRN_NO_SNAPSHOT : table->snapshot->snapshot_id;
    char *uuid =
        firn_strdup(table->metadata->table_uuid == NULL ? "" : table->metadata->table_uuid);
    if (uuid == NULL) return firn_fail_memory(error);
    int format_version = table->metadata->format_version;
    firn_status status = firn_table_reload(table, error);
    if (status != FIRN_OK) goto out;
    int64_t now = table->snapshot == NULL ? FIRN_NO_SNAPSHOT : table->snapshot->snapshot_id;
    const char *uuid_now = table->metadata->table_uuid == NULL ? "" : table->metadata->table_uuid;
    if (now != pinned || strcmp(uuid, uuid_now) != 0 ||
        format_version != table->metadata->format_version) {
        status = firn_fail(error, FIRN_CONFLICT,
                           "table %s: another writer committed to '%s' meanwhile; run this again",
                           table->display_name, table->ref);
    }
out:
    firn_free(uuid);
    return status;
}

static firn_status commit_with_retries(firn_commit_work *work, firn_commit_result *out,
                                       firn_error *error) {
    int64_t retries = 0;
    firn_table_pointer committed = {0};
    FIRN_TRY(firn_table_metadata_property_int(work->table->metadata, "commit.retry.num-retries",
                                              DEFAULT_RETRIES, &retries, error));
    for (int number = 1;; number++) {
        out->attempts = number;
        out->sequence_number = next_sequence_number(work->table->metadata);
        firn_status status = attempt(work, number, &committed, error);
        if (status == FIRN_OK) return firn_table_adopt(work->table, &committed, error);
        if (status != FIRN_CONFLICT || number > retries) return status;
        FIRN_TRY(reload_if_unmoved(work->table, error));
    }
}

static firn_status refuse_tag(const firn_table *table, firn_error *error) {
    const firn_snapshot_ref *ref = firn_table_metadata_ref(table->metadata, table->ref);
    if (ref == NULL || ref->is_branch) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table %s: '%s' is a tag; only branches can be committed to",
                     table->display_name, table->ref);
}

firn_status firn_table_commit_files(firn_table *table, firn_journal *journal,
                                    const firn_file_change *change, firn_commit_result *out,
                                    firn_error *error) {
    firn_status status = FIRN_OK;
    firn_commit_work work = {.table = table, .journal = journal, .change = change};
    *out = (firn_commit_result){0};
    work.arena = firn_arena_new();
    if (work.arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(refuse_tag(table, error));
    FIRN_CHECK(firn_uuid_random(work.uuid, error));
    FIRN_CHECK(choose_snapshot_id(table->metadata, &work.snapshot_id, error));
    FIRN_CHECK(firn_metadata_folder(table->metadata, &work.folder, error));
    FIRN_CHECK(firn_commit_write_manifests(&work, error));
    out->snapshot_id = work.snapshot_id;
    out->manifests_written = work.written;
    out->manifests_kept = work.kept;
    FIRN_CHECK(commit_with_retries(&work, out, error));
out:
    if (status == FIRN_COMMIT_UNKNOWN) {
        /* Should this fail, the journal still names the files, and reachability protects what landed. */
        (void)firn_journal_keep(journal, NULL);
    }
    firn_vector_release(&work.manifests);
    firn_free(work.folder);
    firn_arena_free(work.arena);
    return firn_error_wrap(error, status, "commit");
}
