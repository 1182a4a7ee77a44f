/* audit: files that were registered wrongly. */
#include "cli/change_report.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "lake/audit.h"

static const struct {
    const char *key, *label, *name;
} kinds[FIRN_AUDIT_KIND_COUNT] = {
    [FIRN_AUDIT_DUPLICATE] = {"duplicates", "live twice", "duplicate"},
    [FIRN_AUDIT_PARTITION] = {"partitions", "wrong partitions", "partition"},
    [FIRN_AUDIT_BOUNDS] = {"bounds", "wrong metrics", "bounds"},
    [FIRN_AUDIT_ROWS] = {"rows", "wrong row counts or sizes", "rows"},
    [FIRN_AUDIT_MAPPING] = {"mappings", "missing name mappings", "mapping"},
    [FIRN_AUDIT_SCHEMA] = {"schemas", "not readable as the table", "schema"},
    [FIRN_AUDIT_MISSING] = {"missing", "missing or unreadable", "missing"},
    [FIRN_AUDIT_UNDECIDED] = {"undecided", "undecided", "undecided"},
};

static void add_counts(firn_section *root, const firn_audit *audit) {
    firn_section_add(root, "data_files", "data files", firn_cell_count((int64_t)audit->data_files));
    firn_section_add(root, "footers", "footers read", firn_cell_count((int64_t)audit->footers));
    firn_section_add(root, "columns_read", "columns read",
                     firn_cell_count((int64_t)audit->columns_read));
    for (size_t i = 0; i < FIRN_AUDIT_KIND_COUNT; i++) {
        firn_section_add(root, kinds[i].key, kinds[i].label,
                         firn_cell_count((int64_t)audit->counts[i]));
    }
}

static void add_findings(firn_section *root, const firn_audit *audit) {
    static const firn_column columns[] = {
        {"kind", NULL}, {"file", NULL}, {"message", NULL}, {"fixable", NULL}};
    firn_report *report = firn_section_report(root);
    firn_rows *rows = firn_section_rows(root, "findings", "", columns, 4, NULL);
    if (audit->findings.count > 0) firn_section_line(root, "%s", "");
    for (size_t i = 0; i < audit->findings.count; i++) {
        const firn_audit_finding *finding = &audit->findings.items[i];
        const char *name = kinds[finding->kind].name;
        const char *file = firn_report_copy(report, finding->file);
        const char *message = firn_report_copy(report, finding->message);
        const firn_cell cells[] = {firn_cell_text(name), firn_cell_text(file),
                                   firn_cell_text(message), firn_cell_boolean(finding->fixable)};
        firn_rows_add(rows, cells);
        firn_section_line(root, "%s: %s: %s", name, file == NULL ? "" : file,
                          message == NULL ? "" : message);
    }
}

/** Findings that are faults, and stay: all of them, or those that could not be fixed. */
static size_t count_faults(const firn_audit *audit, bool fixed) {
    size_t count = 0;
    for (size_t i = 0; i < audit->findings.count; i++) {
        const firn_audit_finding *finding = &audit->findings.items[i];
        bool fault = finding->kind != FIRN_AUDIT_UNDECIDED && !(fixed && finding->fixable);
        count += fault ? 1 : 0;
    }
    return count;
}

static size_t count_fixable(const firn_audit *audit) {
    size_t count = 0;
    for (size_t i = 0; i < audit->findings.count; i++) {
        count += audit->findings.items[i].fixable ? 1 : 0;
    }
    return count;
}

static void add_result(firn_section *root, const firn_audit *audit) {
    firn_section_add(root, "committed", NULL, firn_cell_boolean(audit->committed));
    if (!audit->committed) {
        firn_section_add(root, "result", NULL, firn_cell_null());
        return;
    }
    firn_section *section = firn_section_child(root, "result", "Result");
    if (section == NULL) return;
    firn_section_add(section, "snapshot_id", "snapshot",
                     audit->files_fixed == 0 ? firn_cell_null()
                                             : firn_cell_integer(audit->snapshot_id));
    firn_section_add(section, "entries_fixed", "entries set right",
                     firn_cell_count((int64_t)audit->files_fixed));
    firn_section_add(section, "manifests_written", "manifests written",
                     firn_cell_count((int64_t)audit->manifests_written));
    firn_section_add(section, "mapping_written", "name mapping written",
                     firn_cell_boolean(audit->mapping_written));
}

/* What the end of the text says. */
static void add_advice(firn_section *root, const firn_audit *audit, size_t faults, bool fixes,
                       bool acts) {
    size_t fixable = count_fixable(audit);
    firn_section_line(root, "%s", "");
    if (faults == 0 && !audit->committed) {
        firn_section_line(root, "Nothing wrong was found.");
    } else if (fixable == 0 || acts) {
        firn_section_line(root, audit->committed ? "What could be set right was set right."
                                                 : "None of it can be set right by --fix.");
    } else {
        firn_section_line(root, "Nothing was changed. %zu of it can be set right: %s.", fixable,
                          fixes ? "add --yes" : "add --fix");
    }
}

static firn_status report(firn_invocation *invocation, const firn_audit *audit, firn_error *error) {
    const firn_options *given = invocation->options;
    bool acts = given->fix && firn_invocation_acts(invocation);
    firn_section *root = firn_report_change_begin(invocation, !acts, error);
    if (root == NULL) return firn_fail_memory(error);
    firn_section_add(root, "deep", NULL, firn_cell_boolean(given->deep));
    size_t faults = count_faults(audit, audit->committed);
    add_counts(root, audit);
    add_findings(root, audit);
    add_result(root, audit);
    add_advice(root, audit, faults, given->fix, acts);
    if (faults > 0) invocation->exit_code = FIRN_EXIT_PROBLEMS;
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_audit(firn_invocation *invocation, firn_error *error) {
    const firn_options *given = invocation->options;
    bool acts = given->fix && firn_invocation_acts(invocation);
    firn_audit audit = {0};
    if (given->yes && !given->fix) {
        return firn_fail(error, FIRN_INVALID, "--yes is for --fix: audit alone changes nothing");
    }
    FIRN_TRY(firn_invocation_open_table(invocation, given->arguments[0], !acts, error));
    FIRN_TRY(firn_invocation_load_pool(invocation, error));
    firn_audit_options options = {.deep = given->deep,
                                  .memory_bytes = given->memory_bytes,
                                  .lock_timeout_ms =
                                      given->lock_timeout_ms < 0 ? 0 : given->lock_timeout_ms,
                                  .pool = invocation->pool};
    firn_status status = acts ? firn_audit_fix(invocation->table, &options, &audit, error)
                              : firn_audit_table(invocation->table, &options, &audit, error);
    if (status == FIRN_OK && audit.committed) invocation->done = "what was wrong was set right";
    if (status == FIRN_OK) status = report(invocation, &audit, error);
    firn_audit_release(&audit);
    return status;
}
