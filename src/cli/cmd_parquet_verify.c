/* parquet verify: whether files keep what they promise. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/error_report.h"
#include "cli/exit_code.h"
#include "parquet/verify.h"

typedef struct verify_report {
    firn_section *root;
    firn_rows *files, *findings;
    int64_t found, left_out;
    firn_status
        failure; /* of the files that could not be read, the one with the highest exit code */
    firn_error error;
} verify_report;

static firn_cell optional(int64_t value) {
    return value < 0 ? firn_cell_null() : firn_cell_integer(value);
}

static void add_finding(firn_report *report, verify_report *out, const char *path,
                        const firn_parquet_finding *finding) {
    const char *column =
        finding->column_name == NULL ? NULL : firn_report_copy(report, finding->column_name);
    const char *message = firn_report_copy(report, finding->message);
    char where[64] = "", page[32] = "";
    if (finding->row_group >= 0) {
        snprintf(where, sizeof where, ": row group %" PRId64, finding->row_group);
    }
    if (finding->page >= 0) snprintf(page, sizeof page, ": page %" PRId64, finding->page);
    const firn_cell cells[] = {
        firn_cell_text(path),           firn_cell_text(finding->kind), optional(finding->row_group),
        firn_cell_text(column),         optional(finding->column),     optional(finding->page),
        optional(finding->byte_offset), firn_cell_text(message),
    };
    firn_rows_add(out->findings, cells);
    firn_section_line(out->root, "%s%s%s%s%s: %s", path, where, column == NULL ? "" : ": column ",
                      column == NULL ? "" : column, page, message);
}

static void add_file(verify_report *out, const char *path, const firn_parquet_verification *v) {
    int64_t found = (int64_t)v->findings.count + v->findings_left_out;
    const firn_cell cells[] = {
        firn_cell_text(path),
        firn_cell_count(found),
        firn_cell_count(v->rows),
        firn_cell_count(v->row_groups),
        firn_cell_count(v->columns),
        firn_cell_count(v->pages),
        firn_cell_count(v->values),
        firn_cell_count(v->crcs),
        firn_cell_count(v->column_indexes),
        firn_cell_count(v->offset_indexes),
        firn_cell_count(v->bloom_filters),
    };
    firn_rows_add(out->files, cells);
    out->found += found;
    out->left_out += v->findings_left_out;
}

static firn_status read_one(firn_invocation *invocation, verify_report *out, const char *path,
                            firn_error *error) {
    firn_storage_file *file = NULL;
    firn_parquet_verification verification = {0};
    firn_status status = firn_invocation_open_file(invocation, path, &file, error);
    if (status != FIRN_OK) return status;
    FIRN_CHECK(firn_parquet_verify(firn_storage_file_source(file), invocation->pool, &verification,
                                   error));
    add_file(out, path, &verification);
    for (size_t i = 0; i < verification.findings.count; i++) {
        add_finding(invocation->report, out, path, &verification.findings.items[i]);
    }
    if (verification.findings_left_out > 0) {
        firn_section_line(out->root, "%s: and %" PRId64 " more of the kind", path,
                          verification.findings_left_out);
    }
    status = firn_report_status(invocation->report, error);
out:
    firn_parquet_verification_release(&verification);
    firn_storage_close(file);
    return status;
}

/* Where a file can't be read that is its finding: it says nothing of the others. */
static void add_unreadable(firn_report *report, verify_report *out, const char *path,
                           firn_status status, const firn_error *problem) {
    const char *message = firn_report_copy(report, problem->message);
    firn_cell nothing = firn_cell_null();
    const firn_cell file[] = {firn_cell_text(path),
                              firn_cell_count(1),
                              nothing,
                              nothing,
                              nothing,
                              nothing,
                              nothing,
                              nothing,
                              nothing,
                              nothing,
                              nothing};
    const firn_cell finding[] = {firn_cell_text(path),
                                 firn_cell_text("unreadable"),
                                 nothing,
                                 nothing,
                                 nothing,
                                 nothing,
                                 nothing,
                                 firn_cell_text(message)};
    firn_rows_add(out->files, file);
    firn_rows_add(out->findings, finding);
    firn_section_line(out->root, "%s", message);
    if (out->failure != FIRN_OK && firn_exit_code(status) <= firn_exit_code(out->failure)) return;
    out->failure = status;
    out->error = *problem;
}

static firn_status verify_one(firn_invocation *invocation, verify_report *out, const char *path,
                              firn_error *error) {
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = read_one(invocation, out, path, &problem);
    if (status == FIRN_OK) return FIRN_OK;
    if (status == FIRN_CANCELLED || status == FIRN_NO_MEMORY) {
        if (error != NULL) *error = problem;
        return status;
    }
    add_unreadable(invocation->report, out, path, status, &problem);
    return firn_report_status(invocation->report, error);
}

/* The exit code is that of the worst file; what broke a promise goes before what could not be read. */
static firn_status end(firn_invocation *invocation, verify_report *out, firn_error *error) {
    if (out->found > 0) {
        invocation->exit_code = FIRN_EXIT_PROBLEMS;
    } else if (out->failure == FIRN_OK) {
        firn_section_line(out->root, "No faults found.");
    } else {
        firn_report_add_error(out->root, out->failure, &out->error);
        FIRN_TRY(firn_report_status(invocation->report, error));
        invocation->tells_failure = true;
        if (error != NULL) *error = out->error;
        return out->failure;
    }
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_parquet_verify(firn_invocation *invocation, firn_error *error) {
    static const firn_column file_columns[] = {
        {"path", "file"},
        {"findings", "findings"},
        {"rows", "rows"},
        {"row_groups", "row groups"},
        {"columns", "columns"},
        {"pages", "pages"},
        {"values", "values"},
        {"crcs", "CRCs"},
        {"column_indexes", "column indexes"},
        {"offset_indexes", "offset indexes"},
        {"bloom_filters", "Bloom filters"},
    };
    static const firn_column finding_columns[] = {
        {"path", NULL}, {"kind", NULL}, {"row_group", NULL},   {"column", NULL},
        {"leaf", NULL}, {"page", NULL}, {"byte_offset", NULL}, {"message", NULL},
    };
    verify_report out = {0};
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    FIRN_TRY(firn_invocation_load_pool(invocation, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    out.root = firn_report_root(invocation->report);
    out.files = firn_section_rows(out.root, "files", NULL, file_columns, 11, NULL);
    out.findings = firn_section_rows(out.root, "findings", "", finding_columns, 8, NULL);
    for (size_t i = 0; i < invocation->options->argument_count; i++) {
        FIRN_TRY(verify_one(invocation, &out, invocation->options->arguments[i], error));
    }
    firn_section_add(out.root, "findings_left_out", NULL, firn_cell_integer(out.left_out));
    return end(invocation, &out, error);
}
