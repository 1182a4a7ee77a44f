#include "base/cancel.h"
#include "upkeep/dangling_deletes.h"
#include "upkeep/delete_change.h"

/* Times that a plan is made anew because other writers were faster. */
#define REPLANS 3

typedef struct runner {
    firn_table *table;
    const firn_dangling_deletes_options *options;
    firn_journal *journal;
    firn_dangling_deletes_result *out;
} runner;

/* `files` are the plan's, or a copy that shares its memory; they are brought up to date. */
static firn_status commit(runner *run, const firn_dangling_deletes_plan *plan,
                          firn_live_files *files, firn_error *error) {
    const firn_live_file **removed =
        firn_arena_alloc(files->arena, plan->dangling_count, sizeof *removed);
    if (removed == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < plan->dangling_count; i++) removed[i] = plan->dangling[i].file;
    firn_delete_change change = {.operation = "replace",
                                 .files = files,
                                 .removed = removed,
                                 .removed_count = plan->dangling_count};
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(
        firn_delete_change_commit(run->table, run->journal, &change, &run->out->commit, error));
    run->out->committed = true;
    run->out->position_files = plan->position_files;
    run->out->equality_files = plan->equality_files;
    run->out->vectors = plan->vectors;
    run->out->removed_bytes = plan->dangling_bytes;
    return FIRN_OK;
}

static firn_status attempt(runner *run, const firn_dangling_deletes_plan *plan,
                           firn_live_files *files, firn_error *error) {
    if (plan->dangling_count == 0) return FIRN_OK;
    firn_status status = commit(run, plan, files, error);
    firn_journal_end(run->journal, run->table->storage, status);
    return status;
}

static firn_status replan_and_run(runner *run, firn_error *error) {
    firn_status status = FIRN_OK;
    for (int number = 0; number < REPLANS; number++) {
        firn_dangling_deletes_plan *plan = NULL;
        FIRN_TRY(firn_table_refresh(run->table, error));
        FIRN_TRY(firn_dangling_deletes_plan_table(run->table, run->options, &plan, error));
        status = attempt(run, plan, &plan->files, error);
        firn_dangling_deletes_plan_free(plan);
        if (status != FIRN_CONFLICT) return status;
    }
    return status;
}

firn_status firn_dangling_deletes_run(firn_table *table, const firn_dangling_deletes_plan *plan,
                                      const firn_dangling_deletes_options *options,
                                      firn_dangling_deletes_result *out, firn_error *error) {
    const firn_table_metadata *planned = plan->metadata;
    firn_live_files files = plan->files;
    runner run = {.table = table, .options = options, .out = out};
    *out = (firn_dangling_deletes_result){0};
    bool leftovers = false;
    if (plan->dangling_count == 0) {
        FIRN_TRY(firn_journal_has_leftovers(table, &leftovers, error));
        if (!leftovers) return FIRN_OK;
    }
    FIRN_TRY(firn_catalog_check_writable(table->catalog, firn_table_own_name(table), error));
    FIRN_TRY(firn_journal_open(table, options->lock_timeout_ms, &run.journal,
                               &out->leftovers_removed, error));
    firn_status status = FIRN_CONFLICT;
    if (table->metadata == planned) status = attempt(&run, plan, &files, error);
    if (status == FIRN_CONFLICT) status = replan_and_run(&run, error);
    firn_journal_close(run.journal);
    return firn_table_error_wrap(table, status, error);
}
