#include "cli/compact_report.h"

#include "base/plural.h"
#include "cli/ways_report.h"
#include "report/format.h"
#include "report/table_facts.h"

static firn_cell partition_cell(firn_report *report, const firn_compact_group *group) {
    if (group->file_count == 0) return firn_cell_null();
    const firn_data_file *file = &group->files[0]->entry.file;
    return firn_facts_partition(report, group->spec, file->partition, file->partition_count);
}

static const char *partition_text(firn_report *report, const firn_compact_group *group) {
    if (group->partition_text == NULL || group->partition_text[0] == '\0') return "(whole table)";
    return firn_report_copy(report, group->partition_text);
}

/* Not every plan says how large the outputs will be: it costs a trial. Text then leaves it out. */
static firn_cell expected_bytes(int64_t bytes) {
    return bytes < 0 ? firn_cell_null() : firn_cell_bytes(bytes);
}

/* All groups for programs, in one list. */
static void add_json_groups(firn_section *section, const firn_compact_plan *plan) {
    static const firn_column columns[] = {
        {"partition", NULL},    {"spec_id", NULL},      {"selected", NULL},
        {"files", NULL},        {"bytes", NULL},        {"rows", NULL},
        {"deleted_rows", NULL}, {"delete_files", NULL}, {"output_files", NULL},
        {"output_bytes", NULL}, {"reason", NULL}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, "groups", "", columns, 11, NULL);
    for (size_t i = 0; i < plan->group_count; i++) {
        const firn_compact_group *group = &plan->groups[i];
        const firn_cell cells[] = {
            partition_cell(report, group),
            firn_cell_integer(group->spec->spec_id),
            firn_cell_boolean(group->selected),
            firn_cell_count((int64_t)group->file_count),
            firn_cell_bytes(group->bytes),
            firn_cell_count(group->rows),
            firn_cell_count(group->deleted_rows),
            firn_cell_count((int64_t)group->delete_files),
            firn_cell_count((int64_t)group->output_count),
            expected_bytes(group->output_bytes),
            firn_cell_text(firn_report_copy(report, group->reason)),
        };
        firn_rows_add(rows, cells);
    }
}

static void add_selected(firn_section *section, const firn_compact_plan *plan) {
    static const firn_column with_size[] = {{NULL, "partition"}, {NULL, "files"}, {NULL, "size"},
                                            {NULL, "rows"},      {NULL, "into"},  {NULL, "about"},
                                            {NULL, "why"}};
    static const firn_column without[] = {{NULL, "partition"}, {NULL, "files"}, {NULL, "size"},
                                          {NULL, "rows"},      {NULL, "into"},  {NULL, "why"}};
    firn_report *report = firn_section_report(section);
    bool sized = plan->output_bytes >= 0;
    firn_rows *rows = firn_section_rows(section, NULL, "Groups to rewrite",
                                        sized ? with_size : without, sized ? 7 : 6, "none");
    for (size_t i = 0; i < plan->group_count; i++) {
        const firn_compact_group *group = &plan->groups[i];
        if (!group->selected) continue;
        const char *into = firn_report_format(report, "%zu file%s", group->output_count,
                                              firn_plural(group->output_count));
        firn_cell why = firn_cell_text(firn_report_copy(report, group->reason));
        const firn_cell cells[] = {
            firn_cell_text(partition_text(report, group)),
            firn_cell_count((int64_t)group->file_count),
            firn_cell_bytes(group->bytes),
            firn_cell_count(group->rows),
            firn_cell_text(into),
            sized ? expected_bytes(group->output_bytes) : why,
            why,
        };
        firn_rows_add(rows, cells);
    }
}

static void add_skipped(firn_section *section, const firn_compact_plan *plan) {
    static const firn_column columns[] = {
        {NULL, "partition"}, {NULL, "files"}, {NULL, "size"}, {NULL, "why not"}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, NULL, "Groups left alone", columns, 4, NULL);
    for (size_t i = 0; i < plan->group_count; i++) {
        const firn_compact_group *group = &plan->groups[i];
        if (group->selected) continue;
        const firn_cell cells[] = {
            firn_cell_text(partition_text(report, group)),
            firn_cell_count((int64_t)group->file_count),
            firn_cell_bytes(group->bytes),
            firn_cell_text(firn_report_copy(report, group->reason)),
        };
        firn_rows_add(rows, cells);
    }
}

/* Of what a filter leaves out nothing is known. */
static void add_table(firn_section *section, const firn_compact_plan *plan) {
    bool whole = !plan->files.filtered;
    const firn_cell null = firn_cell_null();
    firn_section_add(section, "table_files", whole ? "files in the table" : NULL,
                     whole ? firn_cell_count((int64_t)plan->table_files) : null);
    firn_section_add(section, "table_bytes", whole ? "size of the table" : NULL,
                     whole ? firn_cell_bytes(plan->table_bytes) : null);
    firn_section_add(section, "table_rows", whole ? "rows" : NULL,
                     whole ? firn_cell_count(plan->table_rows) : null);
    firn_facts_manifests_opened(section, &plan->files);
}

static void add_sums(firn_section *section, const firn_compact_plan *plan) {
    firn_section_add(section, "target_file_size_bytes", "target file size",
                     firn_cell_bytes(plan->target_file_size_bytes));
    add_table(section, plan);
    firn_section_add(section, "selected_groups", "groups to rewrite",
                     firn_cell_count((int64_t)plan->selected_count));
    firn_section_add(section, "skipped_groups", "groups left alone",
                     firn_cell_count((int64_t)(plan->group_count - plan->selected_count)));
    firn_section_add(section, "input_files", "files to rewrite",
                     firn_cell_count((int64_t)plan->input_files));
    firn_section_add(section, "input_bytes", "size to rewrite", firn_cell_bytes(plan->input_bytes));
    bool deletes = plan->table_delete_files > 0;
    bool whole = !plan->files.filtered;
    firn_section_add(section, "table_delete_files",
                     deletes && whole ? "delete files in the table" : NULL,
                     whole ? firn_cell_count((int64_t)plan->table_delete_files) : firn_cell_null());
    firn_section_add(section, "deleted_rows", deletes ? "deleted rows to leave out" : NULL,
                     firn_cell_count(plan->deleted_rows));
    firn_section_add(section, "removed_delete_files", deletes ? "delete files to remove" : NULL,
                     firn_cell_count((int64_t)plan->removed_delete_files));
    firn_section_add(section, "output_files", "files expected",
                     firn_cell_count((int64_t)plan->output_files));
    firn_section_add(section, "output_bytes", plan->output_bytes < 0 ? NULL : "size expected",
                     expected_bytes(plan->output_bytes));
}

/* What a trial in memory showed. */
static void add_sample(firn_section *section, const firn_compact_plan *plan, bool explain) {
    firn_section *sample =
        firn_section_child(section, "sample", explain ? "A sample, rewritten in memory" : NULL);
    firn_section_add(sample, "bytes", explain ? "size of its files" : NULL,
                     firn_cell_bytes(plan->sampled_bytes));
    firn_report_ways(sample, &plan->sample, explain ? "How pages would go over" : NULL);
}

void firn_report_compact_plan(firn_section *root, const firn_compact_plan *plan, bool explain) {
    firn_section *section = firn_section_child(root, "plan", "Plan");
    if (section == NULL) return;
    add_sums(section, plan);
    add_json_groups(section, plan);
    add_selected(section, plan);
    add_skipped(section, plan);
    if (plan->sampled_bytes > 0) {
        add_sample(section, plan, explain);
    } else {
        firn_section_add(section, "sample", NULL, firn_cell_null());
    }
}

/* In text only what is worth a line; programs get all of it. */
static const char *label_of(int64_t number, const char *label) {
    return number > 0 ? label : NULL;
}

static void add_number(firn_section *section, const char *key, const char *label, int64_t number) {
    firn_section_add(section, key, label_of(number, label), firn_cell_count(number));
}

static void add_deletes(firn_section *section, const firn_compact_result *result) {
    add_number(section, "rows_deleted", "deleted rows left out", result->rows_deleted);
    add_number(section, "delete_files_removed", "delete files removed",
               (int64_t)result->delete_files_removed);
    add_number(section, "delete_files_added", "delete files added",
               (int64_t)result->delete_files_added);
    add_number(section, "groups_rebased", "groups that took later deletes along",
               (int64_t)result->groups_rebased);
    add_number(section, "groups_redone", "groups done again", (int64_t)result->groups_redone);
    add_number(section, "groups_dropped", "groups left after all", (int64_t)result->groups_dropped);
    firn_section_add(section, "commits", result->commits > 1 ? "commits" : NULL,
                     firn_cell_count((int64_t)result->commits));
}

void firn_report_compact_result(firn_section *root, const firn_compact_result *result,
                                int64_t nanoseconds) {
    firn_section *section = firn_section_child(root, "result", "Result");
    firn_report *report = firn_section_report(section);
    if (report == NULL) return;
    char duration[FIRN_FORMAT_SIZE];
    firn_format_duration(nanoseconds, duration);
    firn_section_add(section, "snapshot_id", "snapshot",
                     firn_cell_integer(result->commit.snapshot_id));
    firn_section_add(section, "sequence_number", "sequence number",
                     firn_cell_integer(result->commit.sequence_number));
    firn_section_add(section, "groups", "groups rewritten",
                     firn_cell_count((int64_t)result->groups));
    firn_section_add(section, "input_files", "files replaced",
                     firn_cell_count((int64_t)result->input_files));
    firn_section_add(section, "input_bytes", "their size", firn_cell_bytes(result->input_bytes));
    firn_section_add(section, "output_files", "files written",
                     firn_cell_count((int64_t)result->output_files));
    firn_section_add(section, "output_bytes", "their size", firn_cell_bytes(result->output_bytes));
    firn_section_add(section, "row_groups", "row groups",
                     firn_cell_count((int64_t)result->row_groups_out));
    firn_section_add(section, "rows", "rows", firn_cell_count(result->rows));
    add_deletes(section, result);
    firn_section_add(section, "bytes_copied", "copied without decoding",
                     firn_cell_bytes(result->counts.bytes_copied));
    firn_section_add(section, "bytes_encoded", "encoded anew",
                     firn_cell_bytes(result->counts.bytes_encoded));
    firn_section_add(section, "verified", "rows compared again",
                     firn_cell_boolean(result->verified));
    firn_section_add(section, "manifests_written", "manifests written",
                     firn_cell_count((int64_t)result->commit.manifests_written));
    firn_section_add(section, "manifests_kept", "manifests kept",
                     firn_cell_count((int64_t)result->commit.manifests_kept));
    if (result->leftovers_removed > 0) {
        firn_section_add(section, "leftovers_removed", "removed from a killed run",
                         firn_cell_count((int64_t)result->leftovers_removed));
    }
    firn_section_add(section, "duration_ms", NULL, firn_cell_integer(nanoseconds / 1000000));
    firn_section_add(section, NULL, "took", firn_cell_text(firn_report_copy(report, duration)));
    firn_report_ways(section, &result->counts, "How pages went over");
}
