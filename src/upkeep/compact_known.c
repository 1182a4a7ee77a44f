/** What metadata alone tells about the deletes of each data file. */
#include "upkeep/compact_internal.h"

typedef struct delete_list {
    const size_t *items;
    size_t count;
} delete_list;

struct firn_compact_reach {
    firn_arena *arena;
    delete_list *lists; /* of each data file: the delete files that may apply */
    size_t *files;      /* of each delete file: the data files that share in its rows */
    bool *goes;         /* of each data file: its group was selected */
    firn_compact_known *known;
};

/** Deletes that were added before a file was can't name it, wherever their bounds lie. */
static bool is_older(const firn_manifest_entry *deletes, const firn_manifest_entry *data) {
    return deletes->file.content == FIRN_CONTENT_POSITION_DELETES &&
           deletes->has_file_sequence_number && data->has_file_sequence_number &&
           deletes->file_sequence_number < data->file_sequence_number;
}

/**
 * Whether a data file shares in the rows of a delete file that may apply to it. Under a filter, a global equality delete reaches files in manifests that
 * are not opened: only those count that every plan of this filter sees.
 */
static bool shares(const firn_live_files *files, const firn_manifest_entry *deletes,
                   const firn_live_file *data) {
    if (is_older(deletes, &data->entry)) return false;
    return data->may_match || deletes->file.content != FIRN_CONTENT_EQUALITY_DELETES ||
           !files->filtered;
}

static void count_share(const firn_live_files *files, firn_compact_reach *reach, size_t data,
                        bool goes) {
    for (size_t i = 0; i < reach->lists[data].count; i++) {
        size_t number = reach->lists[data].items[i];
        if (!shares(files, &files->deletes[number].entry, &files->data[data])) continue;
        if (goes) {
            reach->files[number]--;
        } else {
            reach->files[number]++;
        }
    }
}

static firn_status find_lists(planner *plan, firn_compact_reach *reach, firn_error *error) {
    const firn_live_files *files = &plan->out->files;
    for (size_t i = 0; i < files->data_count; i++) {
        delete_list *list = &reach->lists[i];
        FIRN_TRY(firn_delete_index_find(plan->out->delete_index, &files->data[i].entry,
                                        reach->arena, &list->items, &list->count, error));
        count_share(files, reach, i, false);
    }
    return FIRN_OK;
}

/**
 * Rows of a delete file that may be for several data files count for each with its share: a delete takes one row in most tables, and a guess that is
 * too high would only rewrite what need not be.
 */
static firn_compact_known count_known(const firn_live_files *files, const firn_compact_reach *reach,
                                      size_t index, bool alone) {
    const firn_live_file *data = &files->data[index];
    const delete_list *list = &reach->lists[index];
    firn_compact_known out = {0};
    double rows = 0;
    for (size_t i = 0; i < list->count; i++) {
        const firn_manifest_entry *deletes = &files->deletes[list->items[i]].entry;
        size_t sharing = reach->files[list->items[i]];
        out.any = true;
        if (is_older(deletes, &data->entry)) continue;
        rows += (double)deletes->file.record_count / (double)(alone || sharing == 0 ? 1 : sharing);
        out.files++;
    }
    double most = (double)data->entry.file.record_count;
    out.rows = (int64_t)(rows < most ? rows : most);
    return out;
}

void firn_compact_know_without_selected(planner *plan, bool last, bool *risen) {
    const firn_live_files *files = &plan->out->files;
    firn_compact_reach *reach = plan->reach;
    *risen = false;
    if (reach == NULL) return;
    for (size_t i = 0; i < plan->groups.count; i++) {
        const firn_compact_group *group = &plan->groups.items[i];
        for (size_t j = 0; group->selected && j < group->file_count; j++) {
            size_t data = (size_t)(group->files[j] - files->data);
            if (reach->goes[data]) continue;
            reach->goes[data] = true;
            count_share(files, reach, data, true);
        }
    }
    for (size_t i = 0; i < files->data_count; i++) {
        if (reach->goes[i]) continue;
        firn_compact_known known = count_known(files, reach, i, last);
        *risen = *risen || known.rows > reach->known[i].rows;
        reach->known[i] = known;
    }
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

static firn_compact_reach *new_reach(const planner *plan, firn_compact_known *known) {
    firn_arena *arena = firn_arena_new();
    const firn_live_files *files = &plan->out->files;
    firn_compact_reach *reach = arena == NULL ? NULL : firn_arena_alloc(arena, 1, sizeof *reach);
    if (reach != NULL) {
        reach->arena = arena;
        reach->known = known;
        reach->lists = firn_arena_alloc(arena, files->data_count, sizeof *reach->lists);
        reach->files = firn_arena_alloc(arena, files->delete_count, sizeof *reach->files);
        reach->goes = firn_arena_alloc(arena, files->data_count, sizeof *reach->goes);
        if (reach->lists != NULL && reach->files != NULL && reach->goes != NULL) return reach;
    }
    firn_arena_free(arena);
    return NULL;
}

void firn_compact_reach_free(firn_compact_reach *reach) {
    if (reach != NULL) firn_arena_free(reach->arena);
}

firn_status firn_compact_know_deletes(planner *plan, firn_error *error) {
    const firn_live_files *files = &plan->out->files;
    firn_compact_known *known =
        firn_arena_alloc(plan->out->arena, files->data_count, sizeof *known);
    if (known == NULL) return firn_fail_memory(error);
    plan->known = known;
    if (files->delete_count == 0) return FIRN_OK;
    FIRN_TRY(make_index(plan, error));
    firn_compact_reach *reach = new_reach(plan, known);
    if (reach == NULL) return firn_fail_memory(error);
    plan->reach = reach;
    FIRN_TRY(find_lists(plan, reach, error));
    for (size_t i = 0; i < files->data_count; i++) {
        known[i] = count_known(files, reach, i, false);
    }
    return FIRN_OK;
}
