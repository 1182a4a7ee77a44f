/** Doing what the plan says: rewrite group by group, then one commit. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/random.h"
#include "upkeep/compact_internal.h"

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
        .verify = options->verify,
        .run_id = run_id,
        .progress = options->progress,
    };
    return FIRN_OK;
}

typedef struct runner {
    firn_table *table;
    const firn_compact_plan *plan;
    const firn_compact_options *options;
    firn_data_write_options write;
    firn_rewrite_settings settings;
    firn_arena *arena; /* what is added lives here until the commit */
    FIRN_VECTOR(firn_manifest_entry) added;
    FIRN_VECTOR(const firn_live_file *) removed;
    firn_compact_result *out;
} runner;

/** Outputs carry the data sequence number of the pinned snapshot: deletes that come later reach them, earlier ones don't. */
static firn_status take_outputs(runner *run, const firn_rewrite_result *result, firn_error *error) {
    bool numbered = run->table->metadata->format_version > 1;
    for (size_t i = 0; i < result->output_count; i++) {
        firn_manifest_entry entry = {.status = FIRN_ENTRY_ADDED};
        entry.has_sequence_number = numbered;
        entry.sequence_number = run->table->snapshot->sequence_number;
        FIRN_TRY(firn_data_file_copy(&result->outputs[i], run->arena, &entry.file, error));
        FIRN_TRY(firn_vector_push(&run->added, error, entry));
    }
    return FIRN_OK;
}

static firn_status run_group(runner *run, const firn_compact_group *group, size_t number,
                             firn_error *error) {
    firn_rewrite_result result = {0};
    firn_rewrite_group input = {.inputs = group->files,
                                .input_count = group->file_count,
                                .spec = group->spec,
                                .output_count = group->output_count,
                                .group_number = number};
    firn_status status = firn_rewrite_binpack(&run->settings, &input, &result, error);
    if (status != FIRN_OK) return firn_compact_error_wrap(run->table, group, status, error);
    FIRN_CHECK(take_outputs(run, &result, error));
    for (size_t i = 0; i < group->file_count; i++) {
        FIRN_CHECK(firn_vector_push(&run->removed, error, group->files[i]));
    }
    run->out->groups++;
    run->out->input_files += group->file_count;
    run->out->output_files += result.output_count;
    run->out->row_groups_out += (size_t)result.row_groups_out;
    run->out->input_bytes += result.bytes_in;
    run->out->output_bytes += result.bytes_out;
    run->out->rows += result.rows_out;
    run->out->bytes_copied += result.bytes_copied;
    run->out->bytes_encoded += result.bytes_encoded;
out:
    firn_rewrite_result_release(&result);
    return status;
}

static firn_status commit(runner *run, firn_error *error) {
    char target[32];
    snprintf(target, sizeof target, "%" PRId64, run->plan->target_file_size_bytes);
    firn_summary_item summary[] = {{FIRN_COMPACT_TARGET_KEY, target}};
    firn_file_change change = {
        .operation = "replace",
        .added = run->added.items,
        .added_count = run->added.count,
        .removed = run->removed.items,
        .removed_count = run->removed.count,
        .files = &run->plan->files,
        .summary = summary,
        .summary_count = 1,
    };
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(firn_table_commit_files(run->table, run->settings.journal, &change, &run->out->commit,
                                     error));
    run->out->committed = true;
    return FIRN_OK;
}

static firn_status rewrite_and_commit(runner *run, firn_error *error) {
    firn_status status = FIRN_OK;
    run->arena = firn_arena_new();
    if (run->arena == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < run->plan->group_count; i++) {
        if (!run->plan->groups[i].selected) continue;
        FIRN_CHECK(firn_cancel_check(error));
        FIRN_CHECK(run_group(run, &run->plan->groups[i], i, error));
    }
    run->out->verified = run->settings.verify;
    if (run->removed.count > 0) FIRN_CHECK(commit(run, error));
out:
    firn_vector_release(&run->added);
    firn_vector_release(&run->removed);
    firn_arena_free(run->arena);
    return status;
}

/** Removes what a failed run wrote, except where it may be live; the first error is the one that counts. */
static void end_journal(firn_journal *journal, firn_storage *storage, firn_status status) {
    firn_error problem = {0};
    firn_status ended = FIRN_OK;
    if (status == FIRN_OK) {
        ended = firn_journal_done(journal, &problem);
    } else if (status != FIRN_COMMIT_UNKNOWN) {
        ended = firn_journal_discard(journal, storage, &problem);
    }
    /* What stays in the journal is settled by the next run, after it has looked what is live. */
    if (ended != FIRN_OK) firn_log_warning("%s", problem.message);
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
    if (plan->selected_count == 0) return FIRN_OK;
    const firn_table_metadata *planned = plan->metadata;
    runner run = {.table = table, .plan = plan, .options = options, .out = out};
    FIRN_TRY(firn_catalog_check_writable(table->catalog, firn_table_own_name(table), error));
    FIRN_CHECK(firn_journal_open(table, options->lock_timeout_ms, &journal, &out->leftovers_removed,
                                 error));
    if (table->metadata != planned) {
        FIRN_CHECK(firn_compact_plan_table(table, options, &fresh, error));
        run.plan = fresh;
    }
    FIRN_CHECK(firn_uuid_random(run_id, error));
    FIRN_CHECK(firn_pool_new(options->threads, &pool, error));
    FIRN_CHECK(firn_data_write_options_read(table->metadata, &run.write, error));
    FIRN_CHECK(firn_compact_settings(table, options, &run.write, pool, journal, run_id,
                                     &run.settings, error));
    status = rewrite_and_commit(&run, error);
    end_journal(journal, table->storage, status);
out:
    firn_compact_plan_free(fresh);
    firn_journal_close(journal);
    firn_pool_free(pool);
    return status;
}
