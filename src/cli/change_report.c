#include "cli/change_report.h"

firn_section *firn_report_change_begin(firn_invocation *invocation, bool preview,
                                       firn_error *error) {
    if (firn_invocation_new_report(invocation, error) != FIRN_OK) return NULL;
    const firn_table *table = invocation->table;
    firn_report *report = invocation->report;
    firn_section *root = firn_report_root(report);
    firn_section_add(root, "table", "table",
                     firn_cell_text(firn_report_copy(report, table->display_name)));
    firn_section_add(root, "ref", "ref", firn_cell_text(firn_report_copy(report, table->ref)));
    firn_section_add(root, "preview", NULL, firn_cell_boolean(preview));
    firn_section_add(root, "base_snapshot_id", "snapshot",
                     table->snapshot == NULL ? firn_cell_null()
                                             : firn_cell_integer(table->snapshot->snapshot_id));
    return root;
}

bool firn_report_change_read_only(firn_invocation *invocation, firn_section *root) {
    firn_error problem;
    firn_error_clear(&problem);
    firn_table_name name = firn_table_own_name(invocation->table);
    if (!firn_table_argument_is_path(invocation->options->arguments[0])) return false;
    if (firn_catalog_check_writable(invocation->catalog, name, &problem) == FIRN_OK) return false;
    firn_section_add(root, "read_only", "can't be changed",
                     firn_cell_text(firn_report_copy(invocation->report, problem.message)));
    return true;
}

void firn_report_not_committed(firn_section *root, size_t leftovers_removed) {
    firn_section_add(root, "committed", NULL, firn_cell_boolean(false));
    firn_section_add(root, "result", NULL, firn_cell_null());
    if (leftovers_removed == 0) return;
    firn_section_add(root, "leftovers_removed", "removed from a killed run",
                     firn_cell_count((int64_t)leftovers_removed));
}
