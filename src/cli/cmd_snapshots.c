/* snapshots, refs and history: what the table's metadata says, no manifest is read. */
#include <string.h>

#include "base/map.h"
#include "cli/commands.h"
#include "report/table_facts.h"

/* Opens the verb's table read-only and begins its report. */
static firn_status begin(firn_invocation *invocation, firn_section **root, firn_error *error) {
    FIRN_TRY(
        firn_invocation_open_table(invocation, invocation->options->arguments[0], true, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    *root = firn_report_root(invocation->report);
    firn_section_add(*root, "table", NULL, firn_cell_text(invocation->table->display_name));
    int64_t current = invocation->table->metadata->current_snapshot_id;
    firn_section_add(*root, "current_snapshot_id", NULL,
                     current == FIRN_NO_SNAPSHOT ? firn_cell_null() : firn_cell_integer(current));
    return FIRN_OK;
}

firn_status firn_command_snapshots(firn_invocation *invocation, firn_error *error) {
    firn_section *root = NULL;
    FIRN_TRY(begin(invocation, &root, error));
    firn_facts_add_snapshots(root, NULL, invocation->table->metadata);
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_refs(firn_invocation *invocation, firn_error *error) {
    firn_section *root = NULL;
    FIRN_TRY(begin(invocation, &root, error));
    firn_facts_add_refs(root, NULL, invocation->table->metadata);
    return firn_report_status(invocation->report, error);
}

/* Maps the id of each snapshot to it, and of each ancestor of the current one into `ancestors`. */
static firn_status index_snapshots(const firn_table_metadata *metadata, firn_map *snapshots,
                                   firn_map *ancestors, firn_error *error) {
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        const firn_snapshot *snapshot = &metadata->snapshots[i];
        FIRN_TRY(firn_map_set_int(snapshots, snapshot->snapshot_id, (void *)snapshot, error));
    }
    int64_t id = metadata->current_snapshot_id;
    const firn_snapshot *snapshot = firn_map_get_int(snapshots, id);
    /* A circle of parents ends where a snapshot comes up again. */
    while (snapshot != NULL && firn_map_get_int(ancestors, id) == NULL) {
        FIRN_TRY(firn_map_set_int(ancestors, id, (void *)snapshot, error));
        if (!snapshot->has_parent) break;
        id = snapshot->parent_snapshot_id;
        snapshot = firn_map_get_int(snapshots, id);
    }
    /* The last parent may have expired; it is an ancestor all the same. */
    if (snapshot == NULL && id != metadata->current_snapshot_id) {
        FIRN_TRY(firn_map_set_int(ancestors, id, (void *)metadata, error));
    }
    return FIRN_OK;
}

static void add_history(firn_section *root, const firn_table_metadata *metadata,
                        const firn_map *snapshots, const firn_map *ancestors) {
    static const firn_column columns[] = {
        {"made_current_at", "made current at"},
        {"snapshot_id", "snapshot"},
        {"parent_snapshot_id", "parent"},
        {"operation", "operation"},
        {"is_current_ancestor", "ancestor of current"},
        {"snapshot_exists", "still there"},
    };
    firn_report *report = firn_section_report(root);
    firn_rows *rows = firn_section_rows(root, "history", NULL, columns, 6, "no history");
    for (size_t i = 0; i < metadata->snapshot_log_count; i++) {
        const firn_log_entry *entry = &metadata->snapshot_log[i];
        const firn_snapshot *snapshot = firn_map_get_int(snapshots, entry->snapshot_id);
        bool has_parent = snapshot != NULL && snapshot->has_parent;
        const firn_cell cells[] = {
            firn_cell_time(entry->timestamp_ms),
            firn_cell_integer(entry->snapshot_id),
            has_parent ? firn_cell_integer(snapshot->parent_snapshot_id) : firn_cell_null(),
            firn_cell_text(snapshot == NULL ? NULL : firn_report_copy(report, snapshot->operation)),
            firn_cell_boolean(firn_map_get_int(ancestors, entry->snapshot_id) != NULL),
            firn_cell_boolean(snapshot != NULL),
        };
        firn_rows_add(rows, cells);
    }
}

firn_status firn_command_history(firn_invocation *invocation, firn_error *error) {
    firn_section *root = NULL;
    FIRN_TRY(begin(invocation, &root, error));
    const firn_table_metadata *metadata = invocation->table->metadata;
    firn_status status = FIRN_OK;
    firn_map *snapshots = firn_map_new();
    firn_map *ancestors = firn_map_new();
    if (snapshots == NULL || ancestors == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(index_snapshots(metadata, snapshots, ancestors, error));
    add_history(root, metadata, snapshots, ancestors);
    status = firn_report_status(invocation->report, error);
out:
    firn_map_free(snapshots);
    firn_map_free(ancestors);
    return status;
}
