/* verify: whether a table keeps its promises. */
#include "base/machine.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "upkeep/verify.h"

static const char *const severities[] = {"error", "warning", "note"};

static void add_counts(firn_section *root, const firn_verification *v) {
    const struct {
        const char *key, *label;
        size_t count;
    } counts[] = {{"metadata_files", "metadata files", v->metadata_files},
                  {"manifest_lists", "manifest lists", v->manifest_lists},
                  {"manifests", "manifests", v->manifests},
                  {"data_files", "data files", v->data_files},
                  {"delete_files", "delete files", v->delete_files},
                  {"statistics_files", "statistics files", v->statistics_files},
                  {"footers", "footers read", v->footers},
                  {"errors", "errors", v->counts[FIRN_VERIFY_ERROR]},
                  {"warnings", "warnings", v->counts[FIRN_VERIFY_WARNING]},
                  {"notes", "notes", v->counts[FIRN_VERIFY_NOTE]}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        firn_section_add(root, counts[i].key, counts[i].label,
                         firn_cell_count((int64_t)counts[i].count));
    }
}

static void add_findings(firn_report *report, firn_section *root, const firn_verification *v) {
    static const firn_column columns[] = {
        {"severity", NULL}, {"kind", NULL}, {"file", NULL}, {"message", NULL}, {"advice", NULL}};
    firn_rows *rows = firn_section_rows(root, "findings", "", columns, 5, NULL);
    if (v->findings.count > 0) firn_section_line(root, "%s", "");
    for (size_t i = 0; i < v->findings.count; i++) {
        const firn_verify_finding *f = &v->findings.items[i];
        const char *file = firn_report_copy(report, f->file);
        const char *message = firn_report_copy(report, f->message);
        const firn_cell cells[] = {firn_cell_text(severities[f->severity]), firn_cell_text(f->kind),
                                   firn_cell_text(file), firn_cell_text(message),
                                   firn_cell_text(f->advice)};
        firn_rows_add(rows, cells);
        firn_section_line(root, "%s: %s%s%s", severities[f->severity], file == NULL ? "" : file,
                          file == NULL ? "" : ": ", message);
        firn_section_line(root, "  %s", f->advice);
    }
}

static void begin(firn_invocation *invocation, firn_section *root) {
    const firn_table *table = invocation->table;
    firn_section_add(root, "table", "table", firn_cell_text(table->display_name));
    firn_section_add(root, "ref", "ref",
                     firn_cell_text(invocation->options->ref == NULL ? NULL : table->ref));
    firn_section_add(root, "deep", NULL, firn_cell_boolean(invocation->options->deep));
}

firn_status firn_command_verify(firn_invocation *invocation, firn_error *error) {
    const firn_options *given = invocation->options;
    firn_verification found = {0};
    FIRN_TRY(firn_invocation_open_table(invocation, given->arguments[0], true, error));
    FIRN_TRY(firn_invocation_load_pool(invocation, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    begin(invocation, root);
    firn_verify_options options = {.one_ref = given->ref != NULL,
                                   .deep = given->deep,
                                   .pool = invocation->pool,
                                   .memory_bytes = given->memory_bytes};
    firn_status status = firn_verify_table(invocation->table, &options, &found, error);
    if (status == FIRN_OK) {
        add_counts(root, &found);
        add_findings(invocation->report, root, &found);
        bool faults = found.counts[FIRN_VERIFY_ERROR] + found.counts[FIRN_VERIFY_WARNING] > 0;
        if (faults) invocation->exit_code = FIRN_EXIT_PROBLEMS;
        if (!faults) firn_section_line(root, "No faults found.");
        status = firn_report_status(invocation->report, error);
    }
    firn_verification_release(&found);
    return status;
}
