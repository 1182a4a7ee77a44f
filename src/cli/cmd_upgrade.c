#include "cli/commands.h"
#include "upkeep/upgrade.h"

static void add_lines(firn_section *root, const char *key, const char *heading,
                      const char *const *lines, size_t count) {
    static const firn_column columns[] = {{"text", NULL}};
    firn_rows *rows = firn_section_rows(root, key, "", columns, 1, NULL);
    if (count == 0) return;
    firn_section_line(root, "%s", "");
    firn_section_line(root, "%s", heading);
    for (size_t i = 0; i < count; i++) {
        firn_cell cell = firn_cell_text(lines[i]);
        firn_rows_add(rows, &cell);
        firn_section_line(root, "  %s", lines[i]);
    }
}

/* A table that firn can only read has a preview all the same; it says that no upgrade can follow. */
static bool is_read_only(firn_invocation *invocation, firn_section *root) {
    firn_error problem;
    firn_error_clear(&problem);
    if (!firn_table_argument_is_path(invocation->options->arguments[0])) return false;
    if (firn_catalog_check_writable(invocation->catalog, firn_table_own_name(invocation->table),
                                    &problem) == FIRN_OK) {
        return false;
    }
    firn_section_add(root, "read_only", "can't be changed",
                     firn_cell_text(firn_report_copy(invocation->report, problem.message)));
    return true;
}

static firn_section *begin_report(firn_invocation *invocation, const firn_upgrade_plan *plan,
                                  bool acts, bool *read_only) {
    firn_report *report = invocation->report;
    firn_section *root = firn_report_root(report);
    firn_section_add(root, "table", "table",
                     firn_cell_text(firn_report_copy(report, invocation->table->display_name)));
    firn_section_add(root, "preview", NULL, firn_cell_boolean(!acts));
    firn_section_add(root, "format_version", "format version", firn_cell_integer(plan->from));
    firn_section_add(root, "target_format_version", plan->needed ? "to become" : NULL,
                     firn_cell_integer(plan->to));
    *read_only = !acts && plan->needed && is_read_only(invocation, root);
    add_lines(root, "changes", "What changes", plan->changes, plan->change_count);
    add_lines(root, "losses", "What is lost", plan->losses, plan->loss_count);
    return root;
}

static firn_status run(firn_invocation *invocation, const firn_upgrade_plan *plan,
                       firn_section *root, firn_error *error) {
    firn_upgrade_result result = {0};
    const firn_options *options = invocation->options;
    int64_t timeout = options->lock_timeout_ms < 0 ? 0 : options->lock_timeout_ms;
    const char *outcome = "Somebody else has upgraded it.";
    FIRN_TRY(firn_upgrade_run(invocation->table, options->to, timeout, &result, error));
    if (result.committed) invocation->done = "the table was upgraded";
    if (result.committed) outcome = "Upgraded.";
    if (!plan->needed) outcome = "The table has that version. Nothing to do.";
    firn_section_add(root, "committed", NULL, firn_cell_boolean(result.committed));
    if (result.leftovers_removed > 0) {
        firn_section_add(root, "leftovers_removed", "removed from a killed run",
                         firn_cell_count((int64_t)result.leftovers_removed));
    }
    firn_section_line(root, "%s", "");
    firn_section_line(root, "%s", outcome);
    return FIRN_OK;
}

firn_status firn_command_upgrade(firn_invocation *invocation, firn_error *error) {
    bool acts = firn_invocation_acts(invocation);
    firn_upgrade_plan plan;
    if (invocation->options->to == 0) {
        return firn_fail(error, FIRN_INVALID, "upgrade: --to 2 or --to 3 says to which version");
    }
    FIRN_TRY(
        firn_invocation_open_table(invocation, invocation->options->arguments[0], !acts, error));
    FIRN_TRY(firn_upgrade_plan_table(invocation->table, invocation->options->to, &plan, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    bool read_only = false;
    firn_section *root = begin_report(invocation, &plan, acts, &read_only);
    FIRN_TRY(firn_report_status(invocation->report, error));
    if (acts) return run(invocation, &plan, root, error);
    firn_section_add(root, "committed", NULL, firn_cell_boolean(false));
    firn_section_line(root, "%s", "");
    if (!plan.needed) {
        firn_section_line(root, "The table has that version. Nothing to do.");
    } else {
        firn_section_line(root, "Nothing was changed. %s",
                          read_only ? "This table is for reading only." : "Add --yes to do it.");
    }
    return FIRN_OK;
}
