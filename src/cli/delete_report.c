#include "cli/delete_report.h"

#include "report/table_facts.h"

static const char *partition_text(firn_report *report, const firn_delete_group *group) {
    if (group->partition_text[0] == '\0') return "(whole table)";
    return firn_report_copy(report, group->partition_text);
}

/* All groups for programs, in one list. */
static void add_json_groups(firn_section *section, const firn_rewrite_deletes_plan *plan) {
    static const firn_column columns[] = {{"partition", NULL},
                                          {"spec_id", NULL},
                                          {"selected", NULL},
                                          {"data_files", NULL},
                                          {"position_delete_files", NULL},
                                          {"equality_deletes", NULL},
                                          {"output_files", NULL},
                                          {"deleted_rows", NULL},
                                          {"reason", NULL}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, "groups", "", columns, 9, NULL);
    for (size_t i = 0; i < plan->group_count; i++) {
        const firn_delete_group *group = &plan->groups[i];
        const firn_data_file *sample = group->sample;
        const firn_cell cells[] = {
            firn_facts_partition(report, group->spec, sample->partition, sample->partition_count),
            firn_cell_integer(group->spec->spec_id),
            firn_cell_boolean(group->selected),
            firn_cell_count((int64_t)group->reached_files),
            firn_cell_count((int64_t)group->position_files),
            firn_cell_boolean(group->equality),
            firn_cell_count((int64_t)group->output_files),
            firn_cell_count(group->deleted_rows),
            firn_cell_text(firn_report_copy(report, group->reason)),
        };
        firn_rows_add(rows, cells);
    }
}

static void add_selected(firn_section *section, const firn_rewrite_deletes_plan *plan) {
    static const firn_column columns[] = {
        {NULL, "partition"}, {NULL, "data files reached"}, {NULL, "position delete files"},
        {NULL, "into"},      {NULL, "deleted rows"},       {NULL, "why"}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, NULL, "Partitions to rewrite", columns, 6, "none");
    for (size_t i = 0; i < plan->group_count; i++) {
        const firn_delete_group *group = &plan->groups[i];
        if (!group->selected) continue;
        const firn_cell cells[] = {
            firn_cell_text(partition_text(report, group)),
            firn_cell_count((int64_t)group->reached_files),
            firn_cell_count((int64_t)group->position_files),
            firn_cell_count((int64_t)group->output_files),
            firn_cell_count(group->deleted_rows),
            firn_cell_text(firn_report_copy(report, group->reason)),
        };
        firn_rows_add(rows, cells);
    }
}

void firn_report_rewrite_deletes_plan(firn_section *root, const firn_rewrite_deletes_plan *plan,
                                      bool vectors) {
    firn_section *section = firn_section_child(root, "plan", "Plan");
    if (section == NULL) return;
    firn_section_add(section, "delete_files", "delete files in the table",
                     firn_cell_count((int64_t)plan->files.delete_count));
    firn_section_add(section, "selected_groups", "partitions to rewrite",
                     firn_cell_count((int64_t)plan->selected_count));
    firn_section_add(section, "skipped_groups", "partitions left alone",
                     firn_cell_count((int64_t)(plan->group_count - plan->selected_count)));
    firn_section_add(section, "removed_position_delete_files", "position delete files that go",
                     firn_cell_count((int64_t)plan->removed_position_files));
    firn_section_add(section, "removed_equality_delete_files", "equality delete files that go",
                     firn_cell_count((int64_t)plan->removed_equality_files));
    firn_section_add(section, "removed_vectors", "deletion vectors that go",
                     firn_cell_count((int64_t)plan->removed_vectors));
    firn_section_add(section, "removed_bytes", "their size", firn_cell_bytes(plan->removed_bytes));
    firn_section_add(section, "output_files",
                     vectors ? "deletion vectors instead" : "position delete files instead",
                     firn_cell_count((int64_t)plan->output_files));
    firn_section_add(section, "deleted_rows", "rows that they delete",
                     firn_cell_count(plan->deleted_rows));
    add_json_groups(section, plan);
    add_selected(section, plan);
}

/* What every commit tells. */
static void add_commit(firn_section *section, const firn_commit_result *commit,
                       size_t leftovers_removed) {
    firn_section_add(section, "snapshot_id", "snapshot", firn_cell_integer(commit->snapshot_id));
    firn_section_add(section, "sequence_number", "sequence number",
                     firn_cell_integer(commit->sequence_number));
    firn_section_add(section, "manifests_written", "manifests written",
                     firn_cell_count((int64_t)commit->manifests_written));
    firn_section_add(section, "manifests_kept", "manifests kept",
                     firn_cell_count((int64_t)commit->manifests_kept));
    if (leftovers_removed == 0) return;
    firn_section_add(section, "leftovers_removed", "removed from a killed run",
                     firn_cell_count((int64_t)leftovers_removed));
}

/* What was removed, by kind. */
static void add_removed(firn_section *section, size_t positions, size_t equality, size_t vectors,
                        int64_t bytes) {
    firn_section_add(section, "removed_position_delete_files", "position delete files removed",
                     firn_cell_count((int64_t)positions));
    firn_section_add(section, "removed_equality_delete_files", "equality delete files removed",
                     firn_cell_count((int64_t)equality));
    firn_section_add(section, "removed_vectors", "deletion vectors removed",
                     firn_cell_count((int64_t)vectors));
    firn_section_add(section, "removed_bytes", "their size", firn_cell_bytes(bytes));
}

void firn_report_rewrite_deletes_result(firn_section *root,
                                        const firn_rewrite_deletes_result *result) {
    firn_section *section = firn_section_child(root, "result", "Result");
    if (section == NULL) return;
    add_removed(section, result->removed_position_files, result->removed_equality_files,
                result->removed_vectors, result->removed_bytes);
    firn_section_add(section, "output_files", "written instead",
                     firn_cell_count((int64_t)result->added_files));
    firn_section_add(section, "output_bytes", "their size", firn_cell_bytes(result->added_bytes));
    firn_section_add(section, "deleted_rows", "rows that they delete",
                     firn_cell_count(result->deleted_rows));
    add_commit(section, &result->commit, result->leftovers_removed);
}

static const char *kind_of(const firn_data_file *file) {
    if (file->content == FIRN_CONTENT_EQUALITY_DELETES) return "equality";
    return file->format == FIRN_FILE_PUFFIN ? "vector" : "position";
}

static void add_dangling(firn_section *section, const firn_dangling_deletes_plan *plan) {
    static const firn_column columns[] = {
        {"location", "location"}, {"content_offset", "offset"},           {"kind", "kind"},
        {"bytes", "size"},        {"sequence_number", "sequence number"}, {"reason", "why"}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, "files", "Dangling", columns, 6, "none");
    for (size_t i = 0; i < plan->dangling_count; i++) {
        const firn_manifest_entry *entry = &plan->dangling[i].file->entry;
        const firn_data_file *file = &entry->file;
        bool vector = file->format == FIRN_FILE_PUFFIN;
        const firn_cell cells[] = {
            firn_cell_text(firn_report_copy(report, file->path)),
            vector ? firn_cell_integer(file->content_offset) : firn_cell_null(),
            firn_cell_text(kind_of(file)),
            firn_cell_bytes(vector ? file->content_size_in_bytes : file->file_size_in_bytes),
            firn_cell_integer(entry->sequence_number),
            firn_cell_text(plan->dangling[i].reason),
        };
        firn_rows_add(rows, cells);
    }
}

void firn_report_dangling_deletes_plan(firn_section *root, const firn_dangling_deletes_plan *plan) {
    firn_section *section = firn_section_child(root, "plan", "Plan");
    if (section == NULL) return;
    firn_section_add(section, "delete_files", "delete files in the table",
                     firn_cell_count((int64_t)plan->files.delete_count));
    firn_section_add(section, "files_read", "read to be sure",
                     firn_cell_count((int64_t)plan->files_read));
    firn_section_add(section, "removed_position_delete_files", "position delete files that go",
                     firn_cell_count((int64_t)plan->position_files));
    firn_section_add(section, "removed_equality_delete_files", "equality delete files that go",
                     firn_cell_count((int64_t)plan->equality_files));
    firn_section_add(section, "removed_vectors", "deletion vectors that go",
                     firn_cell_count((int64_t)plan->vectors));
    firn_section_add(section, "removed_bytes", "their size", firn_cell_bytes(plan->dangling_bytes));
    add_dangling(section, plan);
}

void firn_report_dangling_deletes_result(firn_section *root,
                                         const firn_dangling_deletes_result *result) {
    firn_section *section = firn_section_child(root, "result", "Result");
    if (section == NULL) return;
    add_removed(section, result->position_files, result->equality_files, result->vectors,
                result->removed_bytes);
    add_commit(section, &result->commit, result->leftovers_removed);
}
