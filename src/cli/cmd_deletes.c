#include "cli/change_report.h"
#include "cli/commands.h"
#include "cli/delete_report.h"

/* What the end of a preview says, or of a run without anything to do. */
static void add_advice(firn_section *root, bool nothing, bool acts, bool read_only) {
    if (!nothing && acts) return;
    firn_section_line(root, "%s", "");
    if (nothing) {
        firn_section_line(root, "Nothing to do.");
    } else if (read_only) {
        firn_section_line(root, "Nothing was changed. This table is for reading only.");
    } else {
        firn_section_line(root, "Nothing was changed. Add --yes to do it.");
    }
}

/* What stands for a preview, and for a run that had nothing to do; else the result follows. */
static void add_outcome(firn_section *root, bool committed, size_t leftovers_removed) {
    if (committed) {
        firn_section_add(root, "committed", NULL, firn_cell_boolean(true));
    } else {
        firn_report_not_committed(root, leftovers_removed);
    }
}

static firn_status open_table(firn_invocation *invocation, firn_error *error) {
    return firn_invocation_open_table(invocation, invocation->options->arguments[0],
                                      !firn_invocation_acts(invocation), error);
}

/* --- rewrite-deletes --------------------------------------------------------------------------- */

static firn_status rewrite(firn_invocation *invocation, const firn_rewrite_deletes_plan *plan,
                           const firn_rewrite_deletes_options *options, firn_section *root,
                           firn_error *error) {
    firn_rewrite_deletes_result result = {0};
    FIRN_TRY(firn_rewrite_deletes_run(invocation->table, plan, options, &result, error));
    add_outcome(root, result.committed, result.leftovers_removed);
    if (!result.committed) return FIRN_OK;
    invocation->done = "the rewritten deletes were committed";
    firn_report_rewrite_deletes_result(root, &result);
    return FIRN_OK;
}

static firn_status report_and_rewrite(firn_invocation *invocation,
                                      const firn_rewrite_deletes_plan *plan,
                                      const firn_rewrite_deletes_options *options,
                                      firn_error *error) {
    bool acts = firn_invocation_acts(invocation);
    firn_section *root = firn_report_change_begin(invocation, !acts, error);
    if (root == NULL) return firn_fail_memory(error);
    bool read_only = !acts && firn_report_change_read_only(invocation, root);
    firn_report_rewrite_deletes_plan(root, plan, plan->metadata->format_version >= 3);
    /* Before anything is changed: a report that can't be made is a reason not to begin. */
    FIRN_TRY(firn_report_status(invocation->report, error));
    bool nothing = plan->removed_count == 0;
    if (acts) {
        FIRN_TRY(rewrite(invocation, plan, options, root, error));
    } else {
        add_outcome(root, false, 0);
    }
    add_advice(root, nothing, acts, read_only);
    return FIRN_OK;
}

firn_status firn_command_rewrite_deletes(firn_invocation *invocation, firn_error *error) {
    const firn_options *given = invocation->options;
    firn_rewrite_deletes_plan *plan = NULL;
    firn_rewrite_deletes_options options = {
        .memory_bytes = given->memory_bytes,
        .threads = (size_t)given->threads,
        .lock_timeout_ms = given->lock_timeout_ms < 0 ? 0 : given->lock_timeout_ms,
    };
    FIRN_TRY(open_table(invocation, error));
    FIRN_TRY(firn_rewrite_deletes_plan_table(invocation->table, &options, &plan, error));
    firn_status status = report_and_rewrite(invocation, plan, &options, error);
    firn_rewrite_deletes_plan_free(plan);
    return status;
}

/* --- remove-dangling-deletes ------------------------------------------------------------------- */

static firn_status remove_dangling(firn_invocation *invocation,
                                   const firn_dangling_deletes_plan *plan,
                                   const firn_dangling_deletes_options *options, firn_section *root,
                                   firn_error *error) {
    firn_dangling_deletes_result result = {0};
    FIRN_TRY(firn_dangling_deletes_run(invocation->table, plan, options, &result, error));
    add_outcome(root, result.committed, result.leftovers_removed);
    if (!result.committed) return FIRN_OK;
    invocation->done = "the removal of dangling deletes was committed";
    firn_report_dangling_deletes_result(root, &result);
    return FIRN_OK;
}

static firn_status report_and_remove(firn_invocation *invocation,
                                     const firn_dangling_deletes_plan *plan,
                                     const firn_dangling_deletes_options *options,
                                     firn_error *error) {
    bool acts = firn_invocation_acts(invocation);
    firn_section *root = firn_report_change_begin(invocation, !acts, error);
    if (root == NULL) return firn_fail_memory(error);
    bool read_only = !acts && firn_report_change_read_only(invocation, root);
    firn_report_dangling_deletes_plan(root, plan);
    FIRN_TRY(firn_report_status(invocation->report, error));
    bool nothing = plan->dangling_count == 0;
    if (acts) {
        FIRN_TRY(remove_dangling(invocation, plan, options, root, error));
    } else {
        add_outcome(root, false, 0);
    }
    add_advice(root, nothing, acts, read_only);
    return FIRN_OK;
}

firn_status firn_command_remove_dangling_deletes(firn_invocation *invocation, firn_error *error) {
    const firn_options *given = invocation->options;
    firn_dangling_deletes_plan *plan = NULL;
    firn_dangling_deletes_options options = {
        .memory_bytes = given->memory_bytes,
        .threads = (size_t)given->threads,
        .lock_timeout_ms = given->lock_timeout_ms < 0 ? 0 : given->lock_timeout_ms,
    };
    FIRN_TRY(open_table(invocation, error));
    FIRN_TRY(firn_dangling_deletes_plan_table(invocation->table, &options, &plan, error));
    firn_status status = report_and_remove(invocation, plan, &options, error);
    firn_dangling_deletes_plan_free(plan);
    return status;
}
