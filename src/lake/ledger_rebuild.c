/** A ledger made from a table's own history. */
#include <string.h>

#include "base/alloc.h"
#include "lake/ledger_internal.h"

typedef struct rebuilding {
    firn_table *table;
    firn_ledger *ledger;
    const firn_snapshot *snapshot;
    bool first;    /**< the snapshot is the table's first one */
    bool removals; /**< what the snapshot removed is wanted, not what it added */
} rebuilding;

/** Whether a sync made the snapshot and took files out by policy: other commits only hand on a text of an earlier one. */
static firn_status removes_by_policy(const firn_snapshot *snapshot, firn_arena *arena, bool *out,
                                     firn_error *error) {
    firn_ledger_property property;
    const char *text = firn_ledger_property_of_snapshot(snapshot);
    const char *engine = json_string_value(json_object_get(snapshot->summary, "engine-name"));
    const char *operation = snapshot->operation == NULL ? "" : snapshot->operation;
    *out = false;
    if (text == NULL || engine == NULL || strcmp(engine, "firn") != 0) return FIRN_OK;
    if (strcmp(operation, "overwrite") != 0 && strcmp(operation, "delete") != 0) return FIRN_OK;
    firn_status status = firn_ledger_property_parse(text, arena, &property, error);
    if (status == FIRN_NO_MEMORY) return status;
    if (status != FIRN_OK && error != NULL) firn_error_clear(error);
    *out = status == FIRN_OK && property.head == snapshot->snapshot_id;
    return FIRN_OK;
}

/** With the size alone, which tells such an entry (firn_sync_is_doubtful) from one of a file that was missing: history does not say whether the file is there still, as it was replaced and taken out, or had gone. */
static firn_status put_removed(const rebuilding *run, const firn_manifest_entry *entry,
                               firn_error *error) {
    const firn_snapshot *snapshot = run->snapshot;
    if (entry->file.content != FIRN_CONTENT_DATA || entry->status != FIRN_ENTRY_DELETED) {
        return FIRN_OK;
    }
    if (entry->has_snapshot_id && entry->snapshot_id != snapshot->snapshot_id) return FIRN_OK;
    firn_ledger_item item = {.location = firn_slice_text(entry->file.path),
                             .size = entry->file.file_size_in_bytes,
                             .modified_ns = -1,
                             .rows = entry->file.record_count,
                             .snapshot_id = snapshot->snapshot_id,
                             .sequence_number = snapshot->sequence_number,
                             .added_ms = snapshot->timestamp_ms,
                             .removed = true};
    return firn_ledger_put(run->ledger, &item, FIRN_LEDGER_UNWRITTEN, error);
}

static firn_status visit_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    rebuilding *run = context;
    const firn_snapshot *snapshot = run->snapshot;
    if (run->removals) return put_removed(run, entry, error);
    bool removed = entry->status == FIRN_ENTRY_DELETED;
    if (entry->file.content != FIRN_CONTENT_DATA || (removed && !run->first)) return FIRN_OK;
    bool own = entry->status == FIRN_ENTRY_ADDED &&
               (!entry->has_snapshot_id || entry->snapshot_id == snapshot->snapshot_id);
    if (!own) {
        if (!run->first) return FIRN_OK;
        return firn_fail(error, FIRN_UNSAFE, "begins with file %.400s, which it did not add",
                         entry->file.path);
    }
    firn_ledger_item item = {.location = firn_slice_text(entry->file.path),
                             .size = entry->file.file_size_in_bytes,
                             .modified_ns = -1,
                             .rows = entry->file.record_count,
                             .snapshot_id = snapshot->snapshot_id,
                             .sequence_number = snapshot->sequence_number,
                             .added_ms = snapshot->timestamp_ms};
    return firn_ledger_put(run->ledger, &item, FIRN_LEDGER_UNWRITTEN, error);
}

/** Whether a manifest can have what the snapshot added. */
static bool is_of(const firn_manifest_file *manifest, const rebuilding *run) {
    if (manifest->content != FIRN_CONTENT_DATA) return false;
    return run->first || !manifest->has_added_snapshot_id ||
           manifest->added_snapshot_id == run->snapshot->snapshot_id;
}

static firn_status take_manifests(rebuilding *run, firn_arena *arena, firn_error *error) {
    const firn_manifest_file *manifests = NULL;
    size_t count = 0;
    FIRN_TRY(firn_table_manifests(run->table, run->snapshot, arena, &manifests, &count, error));
    for (size_t i = 0; i < count; i++) {
        if (!is_of(&manifests[i], run)) continue;
        FIRN_TRY(
            firn_table_read_manifest(run->table, &manifests[i], NULL, visit_entry, run, error));
    }
    return FIRN_OK;
}

firn_status firn_ledger_put_snapshot(firn_ledger *ledger, firn_table *table,
                                     const firn_snapshot *snapshot, bool first, firn_error *error) {
    rebuilding run = {.table = table, .ledger = ledger, .snapshot = snapshot, .first = first};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = removes_by_policy(snapshot, arena, &run.removals, error);
    /* Before what it added: a file that was overwritten is there again. */
    if (status == FIRN_OK && run.removals) status = take_manifests(&run, arena, error);
    run.removals = false;
    if (status == FIRN_OK) status = take_manifests(&run, arena, error);
    firn_arena_free(arena);
    return firn_error_wrap(error, status, "snapshot %lld", (long long)snapshot->snapshot_id);
}

typedef FIRN_VECTOR(const firn_snapshot *) snapshot_vector;

/** From the head as far as snapshots are retained. */
static firn_status list_ancestors(const firn_table *table, snapshot_vector *out,
                                  firn_error *error) {
    const firn_snapshot *snapshot = table->snapshot;
    while (snapshot != NULL) {
        if (out->count == table->metadata->snapshot_count) {
            return firn_fail(error, FIRN_CORRUPT, "snapshot %lld is its own ancestor",
                             (long long)snapshot->snapshot_id);
        }
        FIRN_TRY(firn_vector_push(out, error, snapshot));
        if (!snapshot->has_parent) return FIRN_OK;
        snapshot = firn_table_metadata_snapshot(table->metadata, snapshot->parent_snapshot_id);
    }
    return FIRN_OK;
}

/** UNSAFE where older snapshots than the oldest that was found were expired. */
static firn_status check_oldest(const firn_table *table, const firn_snapshot *oldest,
                                firn_error *error) {
    if (firn_ledger_is_first(table->metadata, oldest)) return FIRN_OK;
    return firn_fail(error, FIRN_UNSAFE,
                     "the history of '%s' was expired before snapshot %lld, and with it which "
                     "files were added and compacted away or deleted since",
                     table->ref, (long long)oldest->snapshot_id);
}

static firn_status put_ancestors(firn_table *table, firn_ledger *ledger,
                                 const snapshot_vector *ancestors, bool whole, firn_error *error) {
    for (size_t i = ancestors->count; i-- > 0;) {
        bool first = whole && i + 1 == ancestors->count;
        FIRN_TRY(firn_ledger_put_snapshot(ledger, table, ancestors->items[i], first, error));
    }
    return FIRN_OK;
}

static firn_status keep_text(const firn_table *table, firn_ledger *ledger, firn_error *error) {
    firn_ledger_history history = {0};
    firn_status status = firn_ledger_history_of(table, ledger->arena, &history, error);
    if (status == FIRN_OK && history.text != NULL) {
        ledger->text = firn_arena_strdup(ledger->arena, history.text);
        if (ledger->text == NULL) status = firn_fail_memory(error);
    }
    firn_ledger_history_release(&history);
    return status;
}

static firn_status make(firn_table *table, bool whole, firn_ledger **out, firn_error *error) {
    firn_status status = FIRN_OK;
    snapshot_vector ancestors = {0};
    firn_ledger *ledger = NULL;
    FIRN_CHECK(firn_ledger_new(&ledger, error));
    FIRN_CHECK(keep_text(table, ledger, error));
    FIRN_CHECK(list_ancestors(table, &ancestors, error));
    if (whole && ancestors.count > 0) {
        FIRN_CHECK(check_oldest(table, ancestors.items[ancestors.count - 1], error));
    }
    FIRN_CHECK(put_ancestors(table, ledger, &ancestors, whole, error));
    *out = ledger;
    ledger = NULL;
out:
    firn_ledger_free(ledger);
    firn_vector_release(&ancestors);
    return status;
}

static firn_status make_partly(firn_table *table, bool partly, firn_ledger **out,
                               firn_error *error) {
    firn_status status = make(table, true, out, error);
    if (status != FIRN_UNSAFE || !partly) return status;
    if (error != NULL) firn_error_clear(error);
    FIRN_TRY(make(table, false, out, error));
    (*out)->partly = true;
    return FIRN_OK;
}

firn_status firn_ledger_rebuild(firn_table *table, bool partly, firn_ledger **out,
                                firn_error *error) {
    firn_status status = make_partly(table, partly, out, error);
    if (status != FIRN_UNSAFE || error == NULL) {
        return firn_error_wrap(error, status, "table %s: rebuilding the ledger",
                               table->display_name);
    }
    firn_error cause = *error;
    return firn_fail(error, FIRN_UNSAFE,
                     "table %s: rebuilding the ledger: %.600s. With --force as well, every file "
                     "that is neither live nor told of by the snapshots that are left counts as "
                     "new: leave those out of the source that were compacted away or deleted "
                     "before, or their rows come back",
                     table->display_name, cause.message);
}

firn_status firn_ledger_begin(firn_table *table, bool partly, firn_ledger **out,
                              firn_error *error) {
    firn_status status = make_partly(table, partly, out, error);
    if (status != FIRN_UNSAFE || error == NULL) {
        return firn_error_wrap(error, status, "table %s: history", table->display_name);
    }
    firn_error cause = *error;
    return firn_fail(error, FIRN_UNSAFE,
                     "table %s has no ledger, and its history does not tell which files it was "
                     "given: %.400s. Add chosen files by firn register, or name the table property "
                     "that lists the units that are in, by --unit-property",
                     table->display_name, cause.message);
}
