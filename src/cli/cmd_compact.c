/* plan and compact. */
#include "base/clock.h"
#include "cli/change_report.h"
#include "cli/commands.h"
#include "cli/compact_report.h"
#include "cli/error_report.h"
#include "cli/progress.h"

static firn_compact_options compact_options(const firn_options *given) {
    firn_compact_options options;
    firn_compact_options_init(&options);
    if (given->target_file_size_bytes > 0) {
        options.target_file_size_bytes = given->target_file_size_bytes;
    }
    if (given->min_input_files > 0) options.min_input_files = given->min_input_files;
    if (given->max_file_group_size_bytes > 0) {
        options.max_file_group_size_bytes = given->max_file_group_size_bytes;
    }
    if (given->delete_ratio_threshold >= 0) {
        options.delete_ratio_threshold = given->delete_ratio_threshold;
    }
    options.delete_file_threshold = given->delete_file_threshold;
    options.partial_progress = given->partial_progress;
    if (given->memory_bytes > 0) options.memory_bytes = given->memory_bytes;
    if (given->threads > 0) options.threads = (size_t)given->threads;
    if (given->lock_timeout_ms >= 0) options.lock_timeout_ms = given->lock_timeout_ms;
    options.rewrite_all = given->rewrite_all;
    options.where = given->where;
    options.verify = given->verify;
    options.no_joined_pages = given->no_joined_pages;
    return options;
}

/* What was committed before stays and is told; so is why there is no more of it. */
static firn_status tell_failure(firn_invocation *invocation, firn_section *root, firn_status status,
                                const firn_error *error) {
    firn_section_line(root, "Not everything was done.");
    firn_report_add_error(root, status, error);
    invocation->tells_failure = true;
    return status;
}

static firn_status run(firn_invocation *invocation, const firn_compact_plan *plan,
                       firn_compact_options *options, firn_section *root, bool *committed,
                       firn_error *error) {
    firn_progress progress;
    firn_compact_result result = {0};
    int64_t started = firn_clock_monotonic_ns();
    firn_progress_begin(&progress, "compacting", plan->input_bytes,
                        !invocation->options->no_progress);
    options->progress = (firn_rewrite_progress){firn_progress_advance, &progress};
    firn_status status = firn_compact_run(invocation->table, plan, options, &result, error);
    firn_progress_end(&progress);
    if (!result.committed) FIRN_TRY(status);
    *committed = result.committed;
    if (!result.committed) {
        firn_report_not_committed(root, result.leftovers_removed);
        return FIRN_OK;
    }
    firn_section_add(root, "committed", NULL, firn_cell_boolean(true));
    invocation->done = "the compaction was committed";
    firn_report_compact_result(root, &result, firn_clock_monotonic_ns() - started);
    if (status != FIRN_OK) return tell_failure(invocation, root, status, error);
    return FIRN_OK;
}

static void add_advice(const firn_invocation *invocation, firn_section *root, bool read_only) {
    const char *advice = "Add --yes to do it.";
    if (invocation->verb->run == firn_command_plan) advice = "\"firn compact … --yes\" does it.";
    if (read_only) advice = "This table is for reading only.";
    firn_section_line(root, "Nothing was changed. %s", advice);
}

static firn_status compact(firn_invocation *invocation, bool acts, firn_error *error) {
    FIRN_TRY(
        firn_invocation_open_table(invocation, invocation->options->arguments[0], !acts, error));
    firn_compact_options options = compact_options(invocation->options);
    options.preview = !acts;
    firn_compact_plan *plan = NULL;
    FIRN_TRY(firn_compact_plan_table(invocation->table, &options, &plan, error));
    firn_status status = FIRN_OK;
    bool committed = false;
    firn_section *root = firn_report_change_begin(invocation, !acts, error);
    if (root == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    bool read_only = !acts && firn_report_change_read_only(invocation, root);
    firn_report_compact_plan(root, plan, invocation->options->explain);
    /* Before anything is changed: a report that can't be made is a reason not to begin. */
    FIRN_CHECK(firn_report_status(invocation->report, error));
    if (acts) {
        FIRN_CHECK(run(invocation, plan, &options, root, &committed, error));
    } else {
        firn_report_not_committed(root, 0);
    }
    if (committed) goto out;
    firn_section_line(root, "%s", "");
    if (plan->selected_count == 0) {
        firn_section_line(root, "Nothing to do.");
    } else if (!acts) {
        add_advice(invocation, root, read_only);
    }
out:
    firn_compact_plan_free(plan);
    return status;
}

firn_status firn_command_plan(firn_invocation *invocation, firn_error *error) {
    return compact(invocation, false, error);
}

firn_status firn_command_compact(firn_invocation *invocation, firn_error *error) {
    return compact(invocation, firn_invocation_acts(invocation), error);
}
