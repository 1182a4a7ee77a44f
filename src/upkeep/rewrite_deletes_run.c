#include <string.h>

#include "base/cancel.h"
#include "base/map.h"
#include "base/random.h"
#include "base/vector.h"
#include "data/delete_writer.h"
#include "upkeep/delete_change.h"
#include "upkeep/rewrite_deletes_internal.h"

/* Times that a plan is made anew because other writers were faster. */
#define REPLANS 3

typedef struct runner {
    firn_table *table;
    const firn_rewrite_deletes_options *options;
    const firn_rewrite_deletes_plan *plan;
    firn_journal *journal;
    firn_arena *arena; /* what is added lives here until the commit */
    char run_id[FIRN_UUID_TEXT_SIZE];
    FIRN_VECTOR(firn_manifest_entry) added;
    firn_rewrite_deletes_result *out;
} runner;

/* --- writing ----------------------------------------------------------------------------------- */

/*
 * The number of a new delete file is the largest of the deletes that it stands for, so that it is as old as these: it reaches the data
 * files that they reached, and another writer, who looks which deletes are newer than the snapshot that it began with, sees it where
 * it would have seen them.
 */
static firn_status take_written(runner *run, const firn_data_file *files, size_t count,
                                const firn_covered_file *covered, size_t covered_count,
                                firn_error *error) {
    firn_status status = FIRN_OK;
    int64_t largest = 0;
    firn_map *numbers = firn_map_new();
    if (numbers == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < covered_count; i++) {
        if (covered[i].sequence_number > largest) largest = covered[i].sequence_number;
        FIRN_CHECK(firn_map_set_text(numbers, covered[i].data->entry.file.path,
                                     (void *)(uintptr_t)(i + 1), error));
    }
    for (size_t i = 0; i < count; i++) {
        firn_manifest_entry entry = {.status = FIRN_ENTRY_ADDED,
                                     .has_sequence_number = true,
                                     .sequence_number = largest,
                                     .file = files[i]};
        const char *path = files[i].referenced_data_file;
        size_t found = path == NULL ? 0 : (size_t)(uintptr_t)firn_map_get_text(numbers, path);
        if (found != 0) entry.sequence_number = covered[found - 1].sequence_number;
        FIRN_CHECK(firn_vector_push(&run->added, error, entry));
        run->out->added_files++;
        run->out->added_bytes += files[i].format == FIRN_FILE_PUFFIN
                                     ? files[i].content_size_in_bytes
                                     : files[i].file_size_in_bytes;
    }
out:
    firn_map_free(numbers);
    return status;
}

static firn_status write_part(runner *run, size_t number, const firn_covered_file *covered,
                              size_t count, firn_error *error) {
    size_t file_count = 0;
    firn_data_file *files = NULL;
    firn_deleted_rows *items = firn_arena_alloc(run->arena, count, sizeof *items);
    if (items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        items[i] = (firn_deleted_rows){.data = &covered[i].data->entry.file,
                                       .sets = run->plan->sets,
                                       .place = covered[i].positions};
    }
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(firn_deleted_rows_write(run->table, run->journal, run->run_id, number, items, count,
                                     run->arena, &files, &file_count, error));
    return take_written(run, files, file_count, covered, count, error);
}

/* Vectors share their files whatever their partition; position delete files are of one partition each. */
static firn_status write_all(runner *run, firn_error *error) {
    const firn_rewrite_deletes_plan *plan = run->plan;
    bool vectors = run->table->metadata->format_version >= 3;
    size_t number = 0;
    for (size_t first = 0; first < plan->covered_count;) {
        size_t end = first + 1;
        while (end < plan->covered_count &&
               (vectors || plan->covered[end].group == plan->covered[first].group)) {
            end++;
        }
        FIRN_TRY(write_part(run, number++, &plan->covered[first], end - first, error));
        first = end;
    }
    return FIRN_OK;
}

/* --- reading back ------------------------------------------------------------------------------ */

/* The live files as they will be: what stays, and what was written. */
static firn_status files_after(runner *run, firn_live_files *out, firn_error *error) {
    const firn_live_files *files = &run->plan->files;
    size_t most = files->delete_count + run->added.count;
    bool *gone = firn_arena_alloc(run->arena, files->delete_count, sizeof *gone);
    *out = *files;
    out->delete_count = 0;
    out->deletes = firn_arena_alloc(run->arena, most, sizeof *out->deletes);
    if (gone == NULL || out->deletes == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < run->plan->removed_count; i++) {
        gone[run->plan->removed[i] - files->deletes] = true;
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        if (!gone[i]) out->deletes[out->delete_count++] = files->deletes[i];
    }
    for (size_t i = 0; i < run->added.count; i++) {
        out->deletes[out->delete_count++] = (firn_live_file){.entry = run->added.items[i]};
    }
    return FIRN_OK;
}

static bool same_rows(const firn_roaring *a, const firn_roaring *b) {
    return firn_roaring_count(a) == firn_roaring_count(b) && firn_roaring_contains_all(a, b);
}

static firn_status compare(void *context, size_t index, const firn_roaring *positions,
                           int64_t largest_sequence_number, firn_error *error) {
    const firn_rewrite_deletes_plan *plan = context;
    firn_roaring *before = NULL;
    (void)largest_sequence_number;
    FIRN_TRY(firn_position_sets_load(plan->sets, &plan->positions[index], &before, error));
    bool same = same_rows(positions, before);
    firn_roaring_free(before);
    if (same) return FIRN_OK;
    return firn_fail(error, FIRN_UNSAFE,
                     "%s: the rewritten deletes do not delete the same rows; nothing was committed",
                     plan->reached[index]->entry.file.path);
}

/* Before the commit: with the new delete files in place of the old ones, exactly the same rows are deleted. */
static firn_status check_written(runner *run, firn_error *error) {
    const firn_rewrite_deletes_plan *plan = run->plan;
    firn_live_files after = {0};
    FIRN_TRY(files_after(run, &after, error));
    return firn_rewrite_deletes_resolve(run->table, &after, plan->reached, plan->reached_count,
                                        run->options, compare, (void *)(uintptr_t)plan, error);
}

/* --- committing -------------------------------------------------------------------------------- */

/*
 * Iceberg's own writers, when they replace data files, look for new position deletes in snapshots of the operations "overwrite" and "delete" only, and let
 * new equality deletes be. Where an equality delete becomes positions they have to see these, or a rewrite that began before
 * it would bring its rows back.
 */
static const char *operation_of(const firn_rewrite_deletes_plan *plan) {
    return plan->removed_equality_files > 0 && plan->covered_count > 0 ? "overwrite" : "replace";
}

static firn_status commit(runner *run, firn_live_files *files, firn_error *error) {
    const firn_rewrite_deletes_plan *plan = run->plan;
    const firn_live_file **covered =
        firn_arena_alloc(run->arena, plan->covered_count, sizeof *covered);
    if (covered == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < plan->covered_count; i++) covered[i] = plan->covered[i].data;
    firn_delete_change change = {.operation = operation_of(plan),
                                 .files = files,
                                 .removed = plan->removed,
                                 .removed_count = plan->removed_count,
                                 .added = run->added.items,
                                 .added_count = run->added.count,
                                 .covered = covered,
                                 .covered_count = plan->covered_count};
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(
        firn_delete_change_commit(run->table, run->journal, &change, &run->out->commit, error));
    run->out->committed = true;
    run->out->removed_position_files = plan->removed_position_files;
    run->out->removed_equality_files = plan->removed_equality_files;
    run->out->removed_vectors = plan->removed_vectors;
    run->out->removed_bytes = plan->removed_bytes;
    run->out->deleted_rows = plan->deleted_rows;
    return FIRN_OK;
}

/* One attempt at one plan; what it wrote is gone afterwards unless it was committed or may have been. */
static firn_status attempt(runner *run, firn_live_files *files, firn_error *error) {
    firn_status status = FIRN_OK;
    if (run->plan->removed_count == 0) return FIRN_OK;
    run->added.count = 0;
    run->out->added_files = 0;
    run->out->added_bytes = 0;
    run->arena = firn_arena_new();
    if (run->arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_uuid_random(run->run_id, error));
    FIRN_CHECK(write_all(run, error));
    FIRN_CHECK(check_written(run, error));
    status = commit(run, files, error);
out:
    firn_journal_end(run->journal, run->table->storage, status);
    firn_vector_release(&run->added);
    firn_arena_free(run->arena);
    run->arena = NULL;
    return status;
}

/* Plans for the state that the table is in now, and does it; more than once where others come in between. */
static firn_status replan_and_run(runner *run, firn_error *error) {
    firn_status status = FIRN_OK;
    for (int number = 0; number < REPLANS; number++) {
        firn_rewrite_deletes_plan *plan = NULL;
        FIRN_TRY(firn_table_refresh(run->table, error));
        FIRN_TRY(firn_rewrite_deletes_plan_table(run->table, run->options, &plan, error));
        run->plan = plan;
        status = attempt(run, &plan->files, error);
        firn_rewrite_deletes_plan_free(plan);
        if (status != FIRN_CONFLICT) return status;
    }
    return status;
}

firn_status firn_rewrite_deletes_run(firn_table *table, const firn_rewrite_deletes_plan *plan,
                                     const firn_rewrite_deletes_options *options,
                                     firn_rewrite_deletes_result *out, firn_error *error) {
    const firn_table_metadata *planned = plan->metadata;
    firn_live_files files = plan->files;
    runner run = {.table = table, .options = options, .plan = plan, .out = out};
    *out = (firn_rewrite_deletes_result){0};
    bool leftovers = false;
    if (plan->removed_count == 0) {
        FIRN_TRY(firn_journal_has_leftovers(table, &leftovers, error));
        if (!leftovers) return FIRN_OK;
    }
    FIRN_TRY(firn_catalog_check_writable(table->catalog, firn_table_own_name(table), error));
    FIRN_TRY(firn_journal_open(table, options->lock_timeout_ms, &run.journal,
                               &out->leftovers_removed, error));
    firn_status status = FIRN_CONFLICT;
    /* A copy of `files` is brought up to date; it shares the plan's memory. */
    if (table->metadata == planned) status = attempt(&run, &files, error);
    if (status == FIRN_CONFLICT) status = replan_and_run(&run, error);
    firn_journal_close(run.journal);
    return firn_table_error_wrap(table, status, error);
}
