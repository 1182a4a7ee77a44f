/** What metadata alone tells about the deletes of each data file. */
#include "upkeep/compact_internal.h"

typedef struct delete_list {
    const size_t *items;
    size_t count;
} delete_list;

/** Deletes that were added before a file was can't name it, wherever their bounds lie. */
static bool is_older(const firn_manifest_entry *deletes, const firn_manifest_entry *data) {
    return deletes->file.content == FIRN_CONTENT_POSITION_DELETES &&
           deletes->has_file_sequence_number && data->has_file_sequence_number &&
           deletes->file_sequence_number < data->file_sequence_number;
}

static firn_status find_lists(planner *plan, delete_list *lists, size_t *reach, firn_arena *arena,
                              firn_error *error) {
    const firn_live_files *files = &plan->out->files;
    for (size_t i = 0; i < files->data_count; i++) {
        const firn_manifest_entry *data = &files->data[i].entry;
        FIRN_TRY(firn_delete_index_find(plan->out->delete_index, data, arena, &lists[i].items,
                                        &lists[i].count, error));
        for (size_t j = 0; j < lists[i].count; j++) {
            size_t number = lists[i].items[j];
            if (!is_older(&files->deletes[number].entry, data)) reach[number]++;
        }
    }
    return FIRN_OK;
}

/**
 * Rows of a delete file that may be for several data files count for each with its share: a delete takes one row in most tables, and a guess that is
 * too high would only rewrite what need not be.
 */
static void count_known(const firn_live_files *files, size_t index, const delete_list *list,
                        const size_t *reach, firn_compact_known *out) {
    const firn_manifest_entry *data = &files->data[index].entry;
    double rows = 0;
    for (size_t i = 0; i < list->count; i++) {
        const firn_manifest_entry *deletes = &files->deletes[list->items[i]].entry;
        out->any = true;
        if (is_older(deletes, data)) continue;
        rows += (double)deletes->file.record_count / (double)reach[list->items[i]];
        out->files++;
    }
    double most = (double)data->file.record_count;
    out->rows = (int64_t)(rows < most ? rows : most);
}

static firn_status make_index(planner *plan, firn_error *error) {
    firn_compact_plan *out = plan->out;
    const firn_manifest_entry **entries =
        firn_arena_alloc(out->arena, out->files.delete_count, sizeof *entries);
    if (entries == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->files.delete_count; i++) entries[i] = &out->files.deletes[i].entry;
    return firn_delete_index_new(plan->table->metadata, entries, out->files.delete_count,
                                 &out->delete_index, error);
}

firn_status firn_compact_know_deletes(planner *plan, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_live_files *files = &plan->out->files;
    firn_compact_known *known =
        firn_arena_alloc(plan->out->arena, files->data_count, sizeof *known);
    firn_arena *arena = firn_arena_new();
    if (known == NULL || arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < files->data_count; i++) known[i] = (firn_compact_known){0};
    plan->known = known;
    if (files->delete_count == 0) goto out;
    FIRN_CHECK(make_index(plan, error));
    delete_list *lists = firn_arena_alloc(arena, files->data_count, sizeof *lists);
    size_t *reach = firn_arena_alloc(arena, files->delete_count, sizeof *reach);
    if (lists == NULL || reach == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < files->delete_count; i++) reach[i] = 0;
    FIRN_CHECK(find_lists(plan, lists, reach, arena, error));
    for (size_t i = 0; i < files->data_count; i++) {
        count_known(files, i, &lists[i], reach, &known[i]);
    }
out:
    firn_arena_free(arena);
    return status;
}
