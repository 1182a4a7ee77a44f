/* Files that were replaced since they were added, and files that are gone. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "lake/sync_internal.h"
#include "table/commit.h"
#include "table/manifest_batch.h"

typedef FIRN_VECTOR(firn_sync_finding) findings;

static void set_done(firn_sync_finding *items, size_t count, const char *done) {
    for (size_t i = 0; i < count; i++) {
        if (items[i].done == NULL) items[i].done = done;
    }
}

/* What is wrong by policy, one part after another. */
typedef struct complaint {
    firn_buffer text;
    const char *options[2]; /* that say what to do */
    size_t option_count;
} complaint;

static firn_status begin_part(complaint *all, const char *option, firn_error *error) {
    const char *last = all->option_count == 0 ? NULL : all->options[all->option_count - 1];
    if (last != NULL) FIRN_TRY(firn_buffer_append_text(&all->text, "; ", error));
    if (last == NULL || strcmp(last, option) != 0) all->options[all->option_count++] = option;
    return FIRN_OK;
}

static firn_status add_files(complaint *all, const char *what, const char *option,
                             const firn_sync_finding *first, size_t count, firn_error *error) {
    if (count == 0) return FIRN_OK;
    FIRN_TRY(begin_part(all, option, error));
    return firn_buffer_printf(&all->text, error, "%zu file%s %s, the first: %s (%s)", count,
                              firn_plural(count), what, first->location, first->reason);
}

static firn_status add_units(complaint *all, const firn_sync_result *result, firn_error *error) {
    if (result->changed_units.count == 0) return FIRN_OK;
    const firn_sync_changed_unit *first = &result->changed_units.items[0];
    char gone[80] = "";
    if (first->rows_gone > 0) {
        snprintf(gone, sizeof gone, " (%lld of them in files that are gone)",
                 (long long)first->rows_gone);
    }
    FIRN_TRY(begin_part(all, "replaced", error));
    FIRN_TRY(firn_buffer_printf(
        &all->text, error, "unit %s was added with %lld row%s%s, the manifest says %lld",
        first->unit, (long long)first->rows, firn_plural((uint64_t)first->rows), gone,
        (long long)first->rows_now));
    size_t others = result->changed_units.count - 1;
    if (others == 0) return FIRN_OK;
    return firn_buffer_printf(&all->text, error, " (and %zu more such unit%s)", others,
                              firn_plural(others));
}

static firn_status refuse_all(const firn_sync_work *work, complaint *all, firn_error *error) {
    const firn_sync_result *result = work->result;
    if (work->options->on_replaced == FIRN_LAKE_ERROR) {
        FIRN_TRY(add_files(all, "replaced since added", "replaced", result->replaced.items,
                           result->replaced.count, error));
        FIRN_TRY(add_units(all, result, error));
    }
    if (work->options->on_missing == FIRN_LAKE_ERROR) {
        FIRN_TRY(add_files(all, "added before and gone now", "missing", result->missing.items,
                           result->missing.count, error));
    }
    if (all->option_count == 0) return FIRN_OK;
    FIRN_TRY(firn_buffer_append_byte(&all->text, '\0', error));
    bool both = all->option_count == 2;
    return firn_fail(error, FIRN_BLOCKED, "table %s: %s; nothing was done. --on-%s%s%s what to do",
                     work->display_name, (const char *)all->text.data, all->options[0],
                     both ? " and --on-" : " says", both ? "missing say" : "");
}

static firn_status refuse(const firn_sync_work *work, firn_error *error) {
    complaint all = {.text = firn_buffer_with_maximum((size_t)1 << 20)};
    firn_status status = refuse_all(work, &all, error);
    firn_buffer_release(&all.text);
    return status;
}

#define MANY_MISSING 10

/* A folder that isn't mounted looks like one that was emptied, a manifest that was cut off like one of a smaller lake. */
static firn_status refuse_many_missing(const firn_sync_work *work, firn_error *error) {
    const firn_sync_result *result = work->result;
    size_t missing = result->missing.count, known = missing + work->found_entries;
    if (missing == 0 || work->options->on_missing != FIRN_LAKE_DELETE || work->options->force) {
        return FIRN_OK;
    }
    bool empty = work->listing.file_count == 0;
    bool many = work->found_entries == 0 || (missing >= MANY_MISSING && missing > known / 2);
    if (!empty && !many) return FIRN_OK;
    return firn_fail(error, FIRN_UNSAFE,
                     "table %s: %sof %zu file%s added from the source %zu %s gone, the "
                     "first: %s; nothing was deleted. --force deletes their rows, if that is what "
                     "is meant; --on-missing report goes on without",
                     work->display_name, empty ? "the source has no file at all: " : "", known,
                     firn_plural(known), missing, missing == 1 ? "is" : "are",
                     result->missing.items[0].location);
}

firn_status firn_sync_check_policies(firn_sync_work *work, firn_error *error) {
    firn_sync_result *result = work->result;
    if (work->table != NULL) FIRN_TRY(firn_sync_find_snapshots(work, error));
    FIRN_TRY(refuse(work, error));
    FIRN_TRY(refuse_many_missing(work, error));
    if (work->options->on_replaced == FIRN_LAKE_REPORT) {
        set_done(result->replaced.items, result->replaced.count, "reported");
    }
    if (work->options->on_missing == FIRN_LAKE_REPORT) {
        set_done(result->missing.items, result->missing.count, "reported");
    }
    return FIRN_OK;
}

/* --- one commit for all of them ---------------------------------------------------------------- */

typedef struct policy_run {
    firn_sync_work *work;
    bool acts;
    bool replaced, missing; /* whether to act on them */
    firn_live_files live;
    firn_map *paths;   /* location key to firn_live_file, of data files */
    firn_map *doubled; /* location keys of data files that are live twice */
    firn_map *vectors; /* location key of the data file to firn_live_file, of deletion vectors */
    FIRN_VECTOR(const firn_live_file *) removed;
    FIRN_VECTOR(firn_ledger_entry) entries;
    firn_manifest_batch *manifests;
    const firn_added_manifests *added;
    firn_arena *arena, *scratch;
    json_t *properties;
    firn_summary_item summary;
    int64_t rows, bytes; /* that are added */
    size_t files;
    int64_t rows_removed;
    size_t files_removed;
} policy_run;

static firn_status index_file(policy_run *run, const char *location, firn_live_file *file,
                              firn_map *map, firn_error *error) {
    char *key = firn_location_key(location);
    if (key == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    if (firn_map_has_text(map, key)) FIRN_CHECK(firn_map_set_text(run->doubled, key, file, error));
    FIRN_CHECK(firn_map_set_text(map, key, file, error));
out:
    firn_free(key);
    return status;
}

static firn_status index_live(policy_run *run, firn_error *error) {
    firn_table *table = run->work->table;
    FIRN_TRY(firn_table_live_files(table, table->snapshot, &run->live, error));
    for (size_t i = 0; i < run->live.data_count; i++) {
        firn_live_file *file = &run->live.data[i];
        FIRN_TRY(index_file(run, file->entry.file.path, file, run->paths, error));
    }
    for (size_t i = 0; i < run->live.delete_count; i++) {
        firn_live_file *file = &run->live.deletes[i];
        const char *reference = file->entry.file.referenced_data_file;
        if (!firn_data_file_is_vector(&file->entry.file) || reference == NULL) continue;
        FIRN_TRY(index_file(run, reference, file, run->vectors, error));
    }
    return FIRN_OK;
}

/* A vector goes with its file; position deletes of several files stay, and no longer reach it. */
static firn_status remove_by_key(policy_run *run, const firn_ledger_entry *entry,
                                 const char *option, const char *key, firn_error *error) {
    const char *table = run->work->display_name;
    const firn_live_file *file = firn_map_get_text(run->paths, key);
    const firn_live_file *vector = firn_map_get_text(run->vectors, key);
    if (file == NULL) {
        return firn_fail(error, FIRN_BLOCKED,
                         "table %s: %s is no live data file of the table any more (it was "
                         "compacted, or its rows were deleted), so its rows can't be told from "
                         "others; nothing was done. --on-%s report goes on without",
                         table, entry->location, option);
    }
    if (firn_map_has_text(run->doubled, key)) {
        return firn_fail(error, FIRN_BLOCKED,
                         "table %s: %s is live twice, so its rows count twice; nothing was done. "
                         "firn audit --fix repairs that",
                         table, entry->location);
    }
    run->files_removed++;
    run->rows_removed += file->entry.file.record_count;
    FIRN_TRY(firn_vector_push(&run->removed, error, file));
    return vector == NULL ? FIRN_OK : firn_vector_push(&run->removed, error, vector);
}

static firn_status remove_file(policy_run *run, const firn_ledger_entry *entry, const char *option,
                               firn_error *error) {
    char *key = firn_location_key(entry->location);
    if (key == NULL) return firn_fail_memory(error);
    firn_status status = remove_by_key(run, entry, option, key, error);
    firn_free(key);
    return status;
}

static void count_stale_deletes(policy_run *run) {
    run->work->result->stale_position_deletes = 0;
    for (size_t i = 0; i < run->live.delete_count; i++) {
        const firn_data_file *file = &run->live.deletes[i].entry.file;
        if (file->content == FIRN_CONTENT_POSITION_DELETES && !firn_data_file_is_vector(file)) {
            run->work->result->stale_position_deletes++;
        }
    }
}

/* What was found when the run began may have been settled by another one since. */
static firn_status choose_replaced(policy_run *run, size_t index, firn_error *error) {
    firn_sync_work *work = run->work;
    const firn_ledger_entry *old = &work->replaced_entries.items[index];
    bool overwrite = work->options->on_replaced == FIRN_LAKE_OVERWRITE;
    firn_sync_fact *fact = overwrite ? &work->facts[work->first_overwrite + index] : NULL;
    bool settled = !firn_sync_still_added(work, old);
    if (settled && fact != NULL && fact->state == FIRN_SYNC_PENDING) {
        fact->state = FIRN_SYNC_TAKEN;
    }
    if (settled || (fact != NULL && fact->state == FIRN_SYNC_BAD)) {
        work->result->replaced.items[index].done = "left out";
        return FIRN_OK;
    }
    FIRN_TRY(remove_file(run, old, "replaced", error));
    /* What is given up keeps the rows that went with it: they explain the manifest's count. */
    firn_ledger_entry entry = firn_sync_entry_of(work, work->replaced_files.items[index],
                                                 overwrite ? fact->rows : old->rows);
    entry.removed = !overwrite;
    return firn_vector_push(&run->entries, error, entry);
}

static firn_status choose_missing(policy_run *run, size_t index, firn_error *error) {
    firn_sync_work *work = run->work;
    firn_ledger_entry entry = work->missing_entries.items[index];
    bool missing = false;
    FIRN_TRY(firn_sync_still_missing(work, &entry, &missing, error));
    if (!missing) {
        work->result->missing.items[index].done = "left out";
        return FIRN_OK;
    }
    FIRN_TRY(remove_file(run, &entry, "missing", error));
    /* Without facts: whatever comes back under this path is new. */
    entry.removed = true;
    entry.size = entry.modified_ns = -1;
    entry.etag = NULL;
    return firn_vector_push(&run->entries, error, entry);
}

static firn_status choose_removed(policy_run *run, firn_error *error) {
    const firn_sync_work *work = run->work;
    for (size_t i = 0; run->replaced && i < work->replaced_entries.count; i++) {
        FIRN_TRY(choose_replaced(run, i, error));
    }
    for (size_t i = 0; run->missing && i < work->missing_entries.count; i++) {
        FIRN_TRY(choose_missing(run, i, error));
    }
    return FIRN_OK;
}

static firn_status add_entry(void *context, const firn_lake_footer *footer, firn_error *error) {
    policy_run *run = context;
    firn_data_file file = {0};
    if (run->work->facts[footer->index].state != FIRN_SYNC_PENDING) return FIRN_OK;
    firn_status status = firn_sync_entry(run->work, footer, run->scratch, &file, error);
    if (status == FIRN_OK) status = firn_manifest_batch_add(run->manifests, &file, error);
    run->rows += file.record_count;
    run->bytes += file.file_size_in_bytes;
    run->files++;
    firn_arena_clear(run->scratch);
    return status;
}

static firn_status build_change(void *context, firn_table *table, bool moved,
                                firn_file_change *change, firn_error *error) {
    policy_run *run = context;
    const char *text = NULL;
    if (moved) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: another writer committed meanwhile; run this again",
                         table->display_name);
    }
    json_decref(run->properties);
    run->properties = NULL;
    firn_ledger_entries entries = firn_ledger_entries_of(run->entries.items, run->entries.count);
    FIRN_TRY(firn_sync_ledger_properties(run->work, entries, run->added->snapshot_id, run->arena,
                                         &run->properties, &text, error));
    FIRN_TRY(firn_sync_take_from_property(run->work, run->entries.items, run->entries.count,
                                          run->arena, run->properties, error));
    run->summary = (firn_summary_item){FIRN_LEDGER_PROPERTY, text};
    *change = (firn_file_change){
        .operation = run->files > 0 ? "overwrite" : "delete",
        .added_manifests = run->added,
        .properties = run->properties,
        .removed = run->removed.items,
        .removed_count = run->removed.count,
        .files = &run->live,
        .summary = &run->summary,
        .summary_count = 1,
    };
    return FIRN_OK;
}

static firn_status commit(policy_run *run, firn_error *error) {
    firn_sync_work *work = run->work;
    firn_change_source source = {build_change, run};
    firn_commit_result result = {0};
    FIRN_TRY(
        firn_manifest_batch_new(work->table, firn_sync_memory(work, 4), &run->manifests, error));
    size_t count = work->file_count - work->first_overwrite;
    if (count > 0) {
        FIRN_TRY(firn_lake_footers_visit(work->footers, work->first_overwrite, count, add_entry,
                                         run, error));
    }
    FIRN_TRY(firn_manifest_batch_finish(run->manifests, work->journal, &run->added, error));
    FIRN_TRY(firn_table_commit_changes(work->table, work->journal, &source, &result, error));
    FIRN_TRY(firn_journal_done(work->journal, error));
    firn_sync_commit done = {.snapshot_id = result.snapshot_id,
                             .sequence_number = result.sequence_number,
                             .files = run->files,
                             .rows = run->rows,
                             .bytes = run->bytes,
                             .files_removed = run->files_removed,
                             .rows_removed = run->rows_removed};
    return firn_sync_note_commit(work, &done, error);
}

static firn_status act(policy_run *run, firn_error *error) {
    firn_sync_work *work = run->work;
    if (run->acts) FIRN_TRY(firn_sync_update_table(work, error));
    FIRN_TRY(index_live(run, error));
    FIRN_TRY(choose_removed(run, error));
    count_stale_deletes(run);
    work->result->files_removed = run->files_removed;
    work->result->rows_removed = run->rows_removed;
    if (!run->acts || run->removed.count == 0) return FIRN_OK;
    return commit(run, error);
}

static firn_status run_once(firn_sync_work *work, const policy_run *wanted, bool acts,
                            firn_error *error) {
    policy_run run = {
        .work = work, .acts = acts, .replaced = wanted->replaced, .missing = wanted->missing};
    firn_status status = FIRN_OK;
    run.paths = firn_map_new();
    run.doubled = firn_map_new();
    run.vectors = firn_map_new();
    run.arena = firn_arena_new();
    run.scratch = firn_arena_new();
    if (run.paths == NULL || run.doubled == NULL || run.vectors == NULL || run.arena == NULL ||
        run.scratch == NULL) {
        status = firn_fail_memory(error);
    } else {
        status = act(&run, error);
    }
    firn_manifest_batch_free(run.manifests);
    firn_vector_release(&run.removed);
    firn_vector_release(&run.entries);
    firn_live_files_release(&run.live);
    firn_map_free(run.paths);
    firn_map_free(run.doubled);
    firn_map_free(run.vectors);
    json_decref(run.properties);
    firn_arena_free(run.arena);
    firn_arena_free(run.scratch);
    return status;
}

static firn_status step(firn_sync_work *work, void *context, firn_error *error) {
    /* New columns must not join a table that the files with them then can't be added to. */
    if (work->acts && work->must_update) FIRN_TRY(run_once(work, context, false, error));
    return run_once(work, context, work->acts, error);
}

static firn_status refuse_bad(const firn_sync_work *work, firn_error *error) {
    for (size_t i = work->first_overwrite; i < work->file_count; i++) {
        if (work->facts[i].state != FIRN_SYNC_BAD || work->options->skip_bad) continue;
        return firn_fail(error, FIRN_BLOCKED, "%s, which was replaced, can't be added: %s",
                         work->files[i].location, firn_sync_reason_of_bad(work, i));
    }
    return FIRN_OK;
}

firn_status firn_sync_apply_policies(firn_sync_work *work, firn_error *error) {
    firn_lake_policy replaced = work->options->on_replaced;
    firn_sync_result *result = work->result;
    policy_run wanted = {
        .replaced = result->replaced.count > 0 &&
                    (replaced == FIRN_LAKE_OVERWRITE || replaced == FIRN_LAKE_DELETE),
        .missing = result->missing.count > 0 && work->options->on_missing == FIRN_LAKE_DELETE,
    };
    if (work->table == NULL || (!wanted.replaced && !wanted.missing)) return FIRN_OK;
    FIRN_TRY(refuse_bad(work, error));
    FIRN_TRY(firn_sync_reconcile_overwritten(work, error));
    if (work->acts) {
        FIRN_TRY(firn_sync_try(work, step, &wanted, error));
        FIRN_TRY(firn_sync_load_ledger(work, error));
    } else {
        FIRN_TRY(step(work, &wanted, error));
    }
    for (size_t i = work->first_overwrite; i < work->file_count; i++) {
        if (work->facts[i].state != FIRN_SYNC_PENDING) continue;
        work->facts[i].state = FIRN_SYNC_DONE;
        result->rows_added += work->facts[i].rows;
        result->bytes_added += work->files[i].size;
    }
    const char *deleted = work->acts ? "deleted" : "would be deleted";
    const char *overwritten = work->acts ? "overwritten" : "would be overwritten";
    if (wanted.replaced) {
        set_done(result->replaced.items, result->replaced.count,
                 replaced == FIRN_LAKE_OVERWRITE ? overwritten : deleted);
    }
    if (wanted.missing) set_done(result->missing.items, result->missing.count, deleted);
    return FIRN_OK;
}
