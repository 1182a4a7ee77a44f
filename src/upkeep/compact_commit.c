/** The change that a commit makes, for whatever state the table is in when it is made. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cancel.h"
#include "base/log.h"
#include "upkeep/compact_internal.h"

void firn_compact_batch_release(firn_compact_batch *batch) {
    firn_vector_release(&batch->added);
    firn_vector_release(&batch->removed);
    firn_delete_index_free(batch->current_index);
    firn_map_free(batch->current_paths);
    firn_live_files_release(&batch->current);
    firn_arena_free(batch->arena);
}

/** The state that the change is made for, where it is not the planned one. */
static firn_status look_at_current(firn_table *table, firn_compact_batch *batch,
                                   firn_error *error) {
    firn_delete_index_free(batch->current_index);
    firn_map_free(batch->current_paths);
    batch->current_index = NULL;
    batch->current_paths = firn_map_new();
    if (batch->current_paths == NULL) return firn_fail_memory(error);
    firn_live_files *files = &batch->current;
    if (files->arena == NULL) {
        FIRN_TRY(
            firn_table_live_files_after(table, table->snapshot, &batch->plan->files, files, error));
    } else {
        FIRN_TRY(firn_table_live_files_move(table, table->snapshot, files, error));
    }
    for (size_t i = 0; i < files->data_count; i++) {
        FIRN_TRY(firn_map_set_text(batch->current_paths, files->data[i].entry.file.path,
                                   (void *)(uintptr_t)(i + 1), error));
    }
    if (files->delete_count == 0) return FIRN_OK;
    const firn_manifest_entry **entries =
        firn_arena_alloc(batch->arena, files->delete_count, sizeof *entries);
    if (entries == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->delete_count; i++) entries[i] = &files->deletes[i].entry;
    return firn_delete_index_new(table->metadata, entries, files->delete_count,
                                 &batch->current_index, error);
}

/** Its outputs will never be live: they go at once. */
static void remove_outputs(firn_table *table, const firn_compact_done *done) {
    for (size_t i = 0; i < done->output_count; i++) {
        firn_error problem = {0};
        const char *path = done->outputs[i].file.path;
        if (firn_storage_delete(table->storage, path, &problem) != FIRN_OK) {
            firn_log_warning("%s: %s", path, problem.message);
        }
    }
}

static firn_status add_groups(firn_table *table, firn_compact_batch *batch, bool planned,
                              firn_error *error) {
    batch->all_dropped = true;
    for (size_t i = 0; i < batch->done_count; i++) {
        firn_compact_done *done = &batch->done[i];
        if (done->dropped) continue;
        done->rebased = false;
        for (size_t j = 0; planned && j < done->group->file_count; j++) {
            done->inputs[j] = done->group->files[j];
        }
        if (!planned) FIRN_TRY(firn_compact_rebase(table, batch, done, error));
        if (done->dropped) {
            remove_outputs(table, done);
            continue;
        }
        batch->all_dropped = false;
        for (size_t j = 0; j < done->output_count; j++) {
            FIRN_TRY(firn_vector_push(&batch->added, error, done->outputs[j]));
        }
        for (size_t j = 0; j < done->group->file_count; j++) {
            FIRN_TRY(firn_vector_push(&batch->removed, error, done->inputs[j]));
        }
    }
    if (!batch->all_dropped) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: other writers replaced files of every group meanwhile; run this "
                     "again",
                     table->display_name);
}

static firn_status remove_deletes(firn_table *table, firn_compact_batch *batch,
                                  const firn_live_files *files, const firn_delete_index *index,
                                  firn_error *error) {
    firn_status status = FIRN_OK;
    size_t data_files = batch->removed.count, output_count = 0;
    bool *goes = firn_alloc_zeroed(files->data_count, sizeof *goes);
    const firn_manifest_entry **outputs = firn_alloc_array(batch->added.count, sizeof *outputs);
    if (goes == NULL || outputs == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < data_files; i++) goes[batch->removed.items[i] - files->data] = true;
    for (size_t i = 0; i < batch->added.count; i++) {
        const firn_manifest_entry *entry = &batch->added.items[i];
        if (entry->file.content == FIRN_CONTENT_DATA) outputs[output_count++] = entry;
    }
    firn_compact_state state = {table->metadata, files, index, goes};
    FIRN_CHECK(firn_compact_removable(&state, outputs, output_count, &batch->removed, error));
    batch->deletes_removed = batch->removed.count - data_files;
out:
    firn_free(goes);
    firn_free(outputs);
    return status;
}

static firn_status build(void *context, firn_table *table, bool moved, firn_file_change *change,
                         firn_error *error) {
    firn_compact_batch *batch = context;
    const firn_compact_plan *plan = batch->plan;
    int64_t head = table->snapshot == NULL ? FIRN_NO_SNAPSHOT : table->snapshot->snapshot_id;
    bool planned = !moved && head == plan->snapshot_id;
    batch->added.count = 0;
    batch->removed.count = 0;
    batch->deletes_added = 0;
    FIRN_TRY(firn_cancel_check(error));
    if (table->metadata->format_version != plan->format_version) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: another writer upgraded it to format version %d meanwhile; run "
                         "this again",
                         table->display_name, table->metadata->format_version);
    }
    if (!planned) FIRN_TRY(look_at_current(table, batch, error));
    const firn_live_files *files = planned ? &plan->files : &batch->current;
    FIRN_TRY(add_groups(table, batch, planned, error));
    FIRN_TRY(remove_deletes(table, batch, files,
                            planned ? plan->delete_index : batch->current_index, error));
    change->operation = "replace";
    change->added = batch->added.items;
    change->added_count = batch->added.count;
    change->removed = batch->removed.items;
    change->removed_count = batch->removed.count;
    change->files = files;
    return FIRN_OK;
}

typedef struct building {
    firn_compact_batch *batch;
    firn_summary_item summary;
} building;

static firn_status build_with_summary(void *context, firn_table *table, bool moved,
                                      firn_file_change *change, firn_error *error) {
    building *work = context;
    FIRN_TRY(build(work->batch, table, moved, change, error));
    change->summary = &work->summary;
    change->summary_count = 1;
    return FIRN_OK;
}

firn_status firn_compact_commit(firn_table *table, firn_compact_batch *batch,
                                firn_commit_result *out, firn_error *error) {
    char target[32];
    snprintf(target, sizeof target, "%" PRId64, batch->plan->target_file_size_bytes);
    building work = {batch, {FIRN_COMPACT_TARGET_KEY, target}};
    firn_change_source source = {build_with_summary, &work};
    batch->arena = firn_arena_new();
    if (batch->arena == NULL) return firn_fail_memory(error);
    return firn_table_commit_changes(table, batch->journal, &source, out, error);
}
