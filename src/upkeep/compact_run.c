/** Doing what the plan says: rewrite group by group, and commit, all at once or as groups are finished. */
#include <string.h>

#include "base/cancel.h"
#include "base/machine.h"
#include "base/plural.h"
#include "base/random.h"
#include "upkeep/compact_internal.h"

/* Commits of a run with partial progress. */
#define MOST_COMMITS 10
/* How often groups whose files others replaced are done again. */
#define MOST_ROUNDS 3

firn_status firn_compact_settings(firn_table *table, const firn_compact_options *options,
                                  const firn_data_write_options *write, firn_pool *pool,
                                  firn_journal *journal, const char *run_id,
                                  firn_rewrite_settings *out, firn_error *error) {
    if (options->memory_bytes < 0) {
        return firn_fail(error, FIRN_INVALID, "the memory limit must be above 0");
    }
    *out = (firn_rewrite_settings){
        .table = table,
        .journal = journal,
        .pool = pool,
        .memory_bytes =
            options->memory_bytes > 0 ? options->memory_bytes : firn_machine_memory() / 4,
        .write = write,
        .copy_pages = options->copy_pages,
        .no_joined_pages = options->no_joined_pages,
        .verify = options->verify,
        .run_id = run_id,
        .progress = options->progress,
    };
    return FIRN_OK;
}

typedef struct runner {
    firn_table *table;
    const firn_compact_options *options;
    firn_data_write_options write;
    firn_rewrite_settings settings;
    firn_arena *arena; /* outputs, for the whole run */
    size_t group_number, delete_number;
    firn_map *ours, *wanted; /* as firn_compact_again has them */
    size_t redo;             /* groups of this round that are to be done again */
    firn_compact_result *out;
} runner;

/** Outputs carry the data sequence number of the planned snapshot: deletes that come later reach them, earlier ones don't. */
static firn_status take_outputs(runner *run, const firn_compact_plan *plan,
                                const firn_rewrite_result *result, firn_compact_done *done,
                                firn_error *error) {
    firn_manifest_entry *outputs =
        firn_arena_alloc(run->arena, result->output_count, sizeof *outputs);
    if (outputs == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < result->output_count; i++) {
        outputs[i] = (firn_manifest_entry){.status = FIRN_ENTRY_ADDED,
                                           .has_sequence_number = plan->format_version > 1,
                                           .sequence_number = plan->sequence_number};
        FIRN_TRY(firn_data_file_copy(&result->outputs[i], run->arena, &outputs[i].file, error));
    }
    done->outputs = outputs;
    done->output_count = result->output_count;
    return FIRN_OK;
}

static firn_compact_result sums_of(const firn_compact_group *group,
                                   const firn_rewrite_result *result) {
    return (firn_compact_result){.groups = 1,
                                 .input_files = group->file_count,
                                 .output_files = result->output_count,
                                 .row_groups_out = (size_t)result->row_groups_out,
                                 .input_bytes = result->bytes_in,
                                 .output_bytes = result->bytes_out,
                                 .rows = result->rows_out,
                                 .rows_deleted = result->rows_deleted,
                                 .counts = result->counts};
}

static void add_sums(firn_compact_result *out, const firn_compact_result *more) {
    out->groups += more->groups;
    out->input_files += more->input_files;
    out->output_files += more->output_files;
    out->row_groups_out += more->row_groups_out;
    out->input_bytes += more->input_bytes;
    out->output_bytes += more->output_bytes;
    out->rows += more->rows;
    out->rows_deleted += more->rows_deleted;
    firn_parquet_rewrite_counts_add(&out->counts, &more->counts);
}

static firn_status run_group(runner *run, const firn_compact_plan *plan, firn_compact_group *group,
                             firn_compact_done *done, firn_error *error) {
    firn_rewrite_result result = {0};
    *done = (firn_compact_done){.group = group};
    done->inputs = firn_arena_alloc(run->arena, group->file_count, sizeof *done->inputs);
    if (done->inputs == NULL) return firn_fail_memory(error);
    if (!group->resolved) {
        FIRN_TRY(firn_compact_resolve(run->table, &plan->files, group, run->settings.pool,
                                      run->settings.memory_bytes / 2, error));
    }
    firn_rewrite_group input =
        firn_compact_rewrite_group(run->table->metadata, group, run->group_number++);
    if (input.spec == NULL) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: another writer removed the partition spec of a group meanwhile",
                         run->table->display_name);
    }
    firn_status status = firn_rewrite_binpack(&run->settings, &input, &result, error);
    if (status != FIRN_OK) return firn_compact_error_wrap(run->table, group, status, error);
    status = take_outputs(run, plan, &result, done, error);
    done->sums = sums_of(group, &result);
    firn_rewrite_result_release(&result);
    return status;
}

/* --- batches ----------------------------------------------------------------------------------- */

static firn_status note_paths(firn_map *map, const firn_compact_done *done, bool outputs,
                              firn_error *error) {
    size_t count = outputs ? done->output_count : done->group->file_count;
    for (size_t i = 0; i < count; i++) {
        const firn_data_file *file =
            outputs ? &done->outputs[i].file : &done->group->files[i]->entry.file;
        FIRN_TRY(firn_map_set_text(map, file->path, map, error));
    }
    return FIRN_OK;
}

/** What became of the batch's groups, once its commit is over. */
static firn_status account(runner *run, const firn_compact_batch *batch, firn_error *error) {
    for (size_t i = 0; i < batch->done_count; i++) {
        firn_compact_done *done = &batch->done[i];
        if (done->dropped) {
            run->redo++;
            FIRN_TRY(note_paths(run->wanted, done, false, error));
            continue;
        }
        add_sums(run->out, &done->sums);
        run->out->groups_rebased += done->rebased;
        FIRN_TRY(note_paths(run->ours, done, true, error));
    }
    return FIRN_OK;
}

static firn_status commit_batch(runner *run, firn_compact_batch *batch, firn_error *error) {
    firn_commit_result commit = {0};
    FIRN_TRY(firn_cancel_check(error));
    firn_status status = firn_compact_commit(run->table, batch, &commit, error);
    if (status == FIRN_CONFLICT && batch->all_dropped) {
        /* Nothing of it is of use; what there is to do now is planned anew. */
        if (error != NULL) firn_error_clear(error);
        FIRN_TRY(firn_journal_discard(batch->journal, run->table->storage, error));
        return account(run, batch, error);
    }
    FIRN_TRY(status);
    run->out->committed = true;
    run->out->commit = commit;
    run->out->commits++;
    run->out->delete_files_added += batch->deletes_added;
    run->out->delete_files_removed += batch->deletes_removed;
    FIRN_TRY(account(run, batch, error));
    /* What was committed is no leftover of a run that fails later. Should this fail, the next run sees that the files are live. */
    return firn_journal_done(batch->journal, error);
}

/** Rewrites and commits the plan's selected groups from *next on, `most` of them. */
static firn_status run_batch(runner *run, const firn_compact_plan *plan, size_t most, size_t *next,
                             firn_error *error) {
    firn_status status = FIRN_OK;
    firn_compact_batch batch = {.plan = plan,
                                .journal = run->settings.journal,
                                .pool = run->settings.pool,
                                .run_id = run->settings.run_id,
                                .memory_bytes = run->settings.memory_bytes / 2,
                                .delete_number = &run->delete_number,
                                .done = firn_arena_alloc(run->arena, most, sizeof *batch.done)};
    if (batch.done == NULL) return firn_fail_memory(error);
    /* The table may have been loaded anew since the last batch. */
    FIRN_CHECK(firn_data_write_options_read(run->table->metadata, &run->write, error));
    for (; *next < plan->group_count && batch.done_count < most; (*next)++) {
        firn_compact_group *group = &plan->groups[*next];
        if (!group->selected) continue;
        FIRN_CHECK(firn_cancel_check(error));
        FIRN_CHECK(run_group(run, plan, group, &batch.done[batch.done_count], error));
        batch.done_count++;
    }
    if (batch.done_count > 0) FIRN_CHECK(commit_batch(run, &batch, error));
    for (size_t i = 0; i < batch.done_count; i++) {
        firn_deletes_release(&batch.done[i].group->deletes);
        batch.done[i].group->deletes = (firn_deletes){0};
    }
out:
    firn_compact_batch_release(&batch);
    return status;
}

static firn_status run_plan(runner *run, const firn_compact_plan *plan, firn_error *error) {
    size_t most = plan->selected_count;
    /* A plan made anew, since the table had moved, may find nothing to do. */
    if (most == 0) return FIRN_OK;
    if (run->options->partial_progress) {
        most = (plan->selected_count + MOST_COMMITS - 1) / MOST_COMMITS;
    }
    for (size_t next = 0; next < plan->group_count;) {
        FIRN_TRY(run_batch(run, plan, most, &next, error));
    }
    return FIRN_OK;
}

/** Groups whose files were replaced: planned and rewritten again, as far as that is still worth it. */
static firn_status run_again(runner *run, firn_error *error) {
    for (int round = 1; run->redo > 0; round++) {
        size_t lost = run->redo;
        firn_compact_plan *plan = NULL;
        if (round > MOST_ROUNDS) {
            return firn_fail(error, FIRN_CONFLICT,
                             "table %s: other writers went on replacing files of %zu group%s; run "
                             "this again",
                             run->table->display_name, lost, firn_plural(lost));
        }
        run->redo = 0;
        firn_compact_again again = {run->wanted, run->ours};
        FIRN_TRY(firn_compact_make_plan(run->table, run->options, &again, &plan, error));
        size_t found = plan->selected_count;
        firn_status status = found > 0 ? run_plan(run, plan, error) : FIRN_OK;
        firn_compact_plan_free(plan);
        FIRN_TRY(status);
        run->out->groups_redone += found - run->redo;
        run->out->groups_dropped += lost > found ? lost - found : 0;
    }
    return FIRN_OK;
}

static firn_status start(runner *run, firn_error *error) {
    run->arena = firn_arena_new();
    run->ours = firn_map_new();
    run->wanted = firn_map_new();
    if (run->arena == NULL || run->ours == NULL || run->wanted == NULL) {
        return firn_fail_memory(error);
    }
    return FIRN_OK;
}

static void finish(runner *run) {
    firn_map_free(run->ours);
    firn_map_free(run->wanted);
    firn_arena_free(run->arena);
}

firn_status firn_compact_run(firn_table *table, const firn_compact_plan *plan,
                             const firn_compact_options *options, firn_compact_result *out,
                             firn_error *error) {
    firn_status status = FIRN_OK;
    firn_compact_plan *fresh = NULL;
    firn_journal *journal = NULL;
    firn_pool *pool = NULL;
    char run_id[FIRN_UUID_TEXT_SIZE];
    *out = (firn_compact_result){0};
    bool leftovers = false;
    if (plan->selected_count == 0) {
        FIRN_TRY(firn_journal_has_leftovers(table, &leftovers, error));
        if (!leftovers) return FIRN_OK;
    }
    const firn_table_metadata *planned = plan->metadata;
    runner run = {.table = table, .options = options, .out = out};
    FIRN_TRY(firn_catalog_check_writable(table->catalog, firn_table_own_name(table), error));
    FIRN_CHECK(firn_journal_open(table, options->lock_timeout_ms, &journal, &out->leftovers_removed,
                                 error));
    if (table->metadata != planned) {
        FIRN_CHECK(firn_compact_plan_table(table, options, &fresh, error));
        plan = fresh;
    }
    FIRN_CHECK(firn_uuid_random(run_id, error));
    FIRN_CHECK(firn_pool_new(options->threads, &pool, error));
    FIRN_CHECK(firn_compact_settings(table, options, &run.write, pool, journal, run_id,
                                     &run.settings, error));
    FIRN_CHECK(start(&run, error));
    status = run_plan(&run, plan, error);
    if (status == FIRN_OK) status = run_again(&run, error);
    out->verified = run.settings.verify && status == FIRN_OK;
    firn_journal_end(journal, table->storage, status);
out:
    finish(&run);
    firn_compact_plan_free(fresh);
    firn_journal_close(journal);
    firn_pool_free(pool);
    return status;
}
