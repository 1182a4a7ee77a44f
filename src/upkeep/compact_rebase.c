/** Fitting a rewritten group to what the table has become while it was being rewritten. */
#include <string.h>

#include "data/delete_writer.h"
#include "upkeep/compact_internal.h"

/** How the deletes of an input changed. */
typedef struct delete_changes {
    bool gone;          /* a delete that the outputs rely on is there no more */
    bool new_positions; /* position deletes or vectors are there that were not */
    bool old_equality;  /* new equality deletes with a number that does not reach the outputs */
} delete_changes;

static bool same_numbers(const firn_manifest_entry *a, const firn_manifest_entry *b) {
    return a->has_sequence_number == b->has_sequence_number &&
           a->sequence_number == b->sequence_number &&
           a->has_file_sequence_number == b->has_file_sequence_number &&
           a->file_sequence_number == b->file_sequence_number;
}

static bool same_tuple(const firn_data_file *a, const firn_data_file *b) {
    if (a->spec_id != b->spec_id || a->partition_count != b->partition_count) return false;
    for (size_t i = 0; i < a->partition_count; i++) {
        if (!firn_value_equal(&a->partition[i], &b->partition[i])) return false;
    }
    return true;
}

static bool same_input(const firn_manifest_entry *a, const firn_manifest_entry *b) {
    const firn_data_file *x = &a->file, *y = &b->file;
    return same_numbers(a, b) && same_tuple(x, y) && x->record_count == y->record_count &&
           x->file_size_in_bytes == y->file_size_in_bytes &&
           x->has_first_row_id == y->has_first_row_id && x->first_row_id == y->first_row_id;
}

/** False when an input is live no more, or not as it was. */
static bool find_inputs(const firn_compact_batch *batch, firn_compact_done *done) {
    for (size_t i = 0; i < done->group->file_count; i++) {
        const firn_live_file *was = done->group->files[i];
        size_t found =
            (size_t)(uintptr_t)firn_map_get_text(batch->current_paths, was->entry.file.path);
        if (found == 0) return false;
        done->inputs[i] = &batch->current.data[found - 1];
        if (!same_input(&was->entry, &done->inputs[i]->entry)) return false;
    }
    return true;
}

/* --- what became of the deletes ---------------------------------------------------------------- */

/** A vector is known by its file, offset and length. */
static bool same_delete(const firn_manifest_entry *a, const firn_manifest_entry *b) {
    const firn_data_file *x = &a->file, *y = &b->file;
    return strcmp(x->path, y->path) == 0 && a->sequence_number == b->sequence_number &&
           x->has_content_offset == y->has_content_offset &&
           x->content_offset == y->content_offset &&
           x->content_size_in_bytes == y->content_size_in_bytes;
}

typedef struct delete_list {
    const firn_live_file *deletes;
    const size_t *items;
    size_t count;
} delete_list;

static bool holds(const delete_list *list, const firn_manifest_entry *deletes) {
    for (size_t i = 0; i < list->count; i++) {
        if (same_delete(&list->deletes[list->items[i]].entry, deletes)) return true;
    }
    return false;
}

static firn_status find_deletes(const firn_delete_index *index, const firn_live_files *files,
                                const firn_live_file *data, firn_arena *arena, delete_list *out,
                                firn_error *error) {
    *out = (delete_list){.deletes = files->deletes};
    if (index == NULL) return FIRN_OK;
    return firn_delete_index_find(index, &data->entry, arena, &out->items, &out->count, error);
}

static firn_status compare_deletes(const firn_compact_batch *batch, const firn_compact_done *done,
                                   size_t input, firn_arena *arena, delete_changes *out,
                                   firn_error *error) {
    delete_list before;
    delete_list now;
    const firn_compact_plan *plan = batch->plan;
    FIRN_TRY(find_deletes(plan->delete_index, &plan->files, done->group->files[input], arena,
                          &before, error));
    FIRN_TRY(find_deletes(batch->current_index, &batch->current, done->inputs[input], arena, &now,
                          error));
    for (size_t i = 0; i < before.count; i++) {
        out->gone = out->gone || !holds(&now, &before.deletes[before.items[i]].entry);
    }
    for (size_t i = 0; i < now.count; i++) {
        const firn_manifest_entry *deletes = &now.deletes[now.items[i]].entry;
        if (holds(&before, deletes)) continue;
        bool equality = deletes->file.content == FIRN_CONTENT_EQUALITY_DELETES;
        if (!equality) out->new_positions = true;
        if (equality && deletes->sequence_number <= plan->sequence_number) out->old_equality = true;
    }
    return FIRN_OK;
}

/** Inputs whose deletes changed, as numbers; and all changes together. */
static firn_status find_changed(const firn_compact_batch *batch, const firn_compact_done *done,
                                size_t *changed, size_t *count, delete_changes *all,
                                firn_error *error) {
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    *count = 0;
    for (size_t i = 0; i < done->group->file_count; i++) {
        delete_changes changes = {0};
        FIRN_CHECK(compare_deletes(batch, done, i, arena, &changes, error));
        if (!changes.gone && !changes.new_positions && !changes.old_equality) continue;
        changed[(*count)++] = i;
        all->gone = all->gone || changes.gone;
        all->new_positions = all->new_positions || changes.new_positions;
        all->old_equality = all->old_equality || changes.old_equality;
    }
out:
    firn_arena_free(arena);
    return status;
}

/* --- carrying deletes over --------------------------------------------------------------------- */

static firn_status write_deletes(firn_table *table, firn_compact_batch *batch,
                                 const firn_compact_done *done, firn_roaring *const *sets,
                                 int64_t sequence_number, firn_error *error) {
    size_t count = 0, file_count = 0;
    firn_data_file *files = NULL;
    firn_deleted_rows *items = firn_arena_alloc(batch->arena, done->output_count, sizeof *items);
    if (items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < done->output_count; i++) {
        if (sets[i] == NULL) continue;
        items[count++] = (firn_deleted_rows){.data = &done->outputs[i].file, .positions = sets[i]};
    }
    if (count == 0) return FIRN_OK;
    FIRN_TRY(firn_deleted_rows_write(table, batch->journal, batch->run_id,
                                     (*batch->delete_number)++, items, count, batch->arena, &files,
                                     &file_count, error));
    for (size_t i = 0; i < file_count; i++) {
        firn_manifest_entry entry = {.status = FIRN_ENTRY_ADDED,
                                     .has_sequence_number = true,
                                     .sequence_number = sequence_number,
                                     .file = files[i]};
        FIRN_TRY(firn_vector_push(&batch->added, error, entry));
    }
    batch->deletes_added += file_count;
    return FIRN_OK;
}

/** Rows that are deleted now and were not, of one input, into the outputs' sets. */
static firn_status carry_new(firn_compact_done *done, size_t input, firn_roaring *now,
                             const firn_roaring *was, bool must_hold, firn_roaring **sets,
                             firn_error *error) {
    if (must_hold && !firn_roaring_contains_all(now, was)) {
        /* A row that the outputs lack lives again. */
        done->dropped = true;
        return FIRN_OK;
    }
    if (now == NULL) return FIRN_OK;
    if (was != NULL) FIRN_TRY(firn_roaring_remove_all(now, was, error));
    if (firn_roaring_count(now) == 0) return FIRN_OK;
    done->rebased = true;
    return firn_compact_translate(done, input, now, sets, error);
}

static firn_status carry_over(firn_compact_done *done, size_t input, firn_deletes *deletes,
                              size_t data, bool must_hold, firn_roaring **sets, firn_error *error) {
    firn_deletes_rows was = {0};
    firn_roaring *now = NULL;
    firn_status status;
    FIRN_CHECK(firn_deletes_rows_of(&done->group->deletes, input, 0, UINT64_MAX, &was, error));
    FIRN_CHECK(firn_deletes_take(deletes, data, &now, error));
    status = carry_new(done, input, now, was.set, must_hold, sets, error);
out:
    firn_deletes_rows_release(&was);
    firn_roaring_free(now);
    return status;
}

static firn_status carry_all(firn_table *table, firn_compact_batch *batch, firn_compact_done *done,
                             const size_t *changed, size_t count, const delete_changes *changes,
                             firn_error *error) {
    firn_status status = FIRN_OK;
    firn_deletes now = {0};
    int64_t sequence_number = batch->plan->sequence_number;
    firn_roaring **sets = firn_alloc_zeroed(done->output_count, sizeof *sets);
    const firn_live_file **data = firn_arena_alloc(batch->arena, count, sizeof *data);
    if (sets == NULL || data == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < count; i++) data[i] = done->inputs[changed[i]];
    firn_deletes_request request = {.table = table,
                                    .files = &batch->current,
                                    .data = data,
                                    .data_count = count,
                                    .positions = true,
                                    .equality = changes->gone || changes->old_equality,
                                    .pool = batch->pool,
                                    .memory_bytes = batch->memory_bytes};
    FIRN_CHECK(firn_deletes_resolve(&request, &now, error));
    for (size_t i = 0; i < count && !done->dropped; i++) {
        FIRN_CHECK(carry_over(done, changed[i], &now, i, changes->gone, sets, error));
        if (now.largest_sequence_number[i] > sequence_number) {
            sequence_number = now.largest_sequence_number[i];
        }
    }
    if (!done->dropped) {
        FIRN_CHECK(write_deletes(table, batch, done, sets, sequence_number, error));
    }
out:
    for (size_t i = 0; sets != NULL && i < done->output_count; i++) firn_roaring_free(sets[i]);
    firn_free(sets);
    firn_deletes_release(&now);
    return status;
}

firn_status firn_compact_rebase(firn_table *table, firn_compact_batch *batch,
                                firn_compact_done *done, firn_error *error) {
    delete_changes changes = {0};
    size_t count = 0;
    if (!find_inputs(batch, done)) {
        done->dropped = true;
        return FIRN_OK;
    }
    size_t *changed = firn_alloc_array(done->group->file_count, sizeof *changed);
    if (changed == NULL) return firn_fail_memory(error);
    firn_status status = find_changed(batch, done, changed, &count, &changes, error);
    if (status == FIRN_OK && count > 0) {
        status = carry_all(table, batch, done, changed, count, &changes, error);
    }
    firn_free(changed);
    return firn_compact_error_wrap(table, done->group, status, error);
}
