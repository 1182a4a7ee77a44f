/* files and manifests: what a snapshot is made of. */
#include <inttypes.h>

#include "cli/commands.h"
#include "report/table_facts.h"

static firn_status begin(firn_invocation *invocation, firn_section **root, firn_error *error) {
    FIRN_TRY(
        firn_invocation_open_table(invocation, invocation->options->arguments[0], true, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    const firn_table *table = invocation->table;
    *root = firn_report_root(invocation->report);
    firn_section_add(*root, "table", NULL, firn_cell_text(table->display_name));
    firn_section_add(*root, "ref", NULL, firn_cell_text(table->ref));
    firn_section_add(*root, "snapshot_id", NULL,
                     table->snapshot == NULL ? firn_cell_null()
                                             : firn_cell_integer(table->snapshot->snapshot_id));
    return FIRN_OK;
}

static firn_cell optional_integer(bool present, int64_t value) {
    return present ? firn_cell_integer(value) : firn_cell_null();
}

static const char *ids_json(firn_report *report, const int32_t *ids, size_t count) {
    if (count == 0) return NULL;
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < count && status == FIRN_OK; i++) {
        status = firn_buffer_printf(&text, NULL, "%s%" PRId32, i == 0 ? "[" : ", ", ids[i]);
    }
    const char *result = NULL;
    if (status == FIRN_OK) {
        result = firn_report_format(report, "%.*s]", (int)text.size, (const char *)text.data);
    }
    firn_buffer_release(&text);
    return result;
}

static void add_file(firn_invocation *invocation, firn_rows *rows,
                     const firn_manifest_entry *entry) {
    firn_report *report = invocation->report;
    const firn_data_file *file = &entry->file;
    const firn_partition_spec *spec =
        firn_table_metadata_spec(invocation->table->metadata, file->spec_id);
    const firn_cell cells[] = {
        firn_cell_text(firn_content_name(file->content)),
        firn_cell_text(firn_report_copy(report, firn_file_format_name(file->format))),
        firn_cell_count(file->record_count),
        firn_cell_bytes(file->file_size_in_bytes),
        optional_integer(entry->has_sequence_number, entry->sequence_number),
        optional_integer(entry->has_file_sequence_number, entry->file_sequence_number),
        firn_cell_integer(file->spec_id),
        firn_facts_partition(report, spec, file->partition, file->partition_count),
        optional_integer(entry->has_snapshot_id, entry->snapshot_id),
        optional_integer(file->has_sort_order_id, file->sort_order_id),
        firn_cell_json(ids_json(report, file->equality_ids, file->equality_id_count), NULL),
        firn_cell_text(firn_report_copy(report, file->referenced_data_file)),
        optional_integer(file->has_first_row_id, file->first_row_id),
        firn_cell_text(firn_report_copy(report, file->path)),
    };
    firn_rows_add(rows, cells);
}

firn_status firn_command_files(firn_invocation *invocation, firn_error *error) {
    static const firn_column columns[] = {
        {"content", "content"},     {"format", "format"},
        {"rows", "rows"},           {"bytes", "size"},
        {"sequence_number", "seq"}, {"file_sequence_number", NULL},
        {"spec_id", "spec"},        {"partition", "partition"},
        {"snapshot_id", NULL},      {"sort_order_id", NULL},
        {"equality_ids", NULL},     {"referenced_data_file", NULL},
        {"first_row_id", NULL},     {"path", "path"}};
    firn_section *root = NULL;
    FIRN_TRY(begin(invocation, &root, error));
    firn_live_files files = {0};
    FIRN_TRY(firn_table_live_files_matching(invocation->table, invocation->table->snapshot,
                                            invocation->options->where, FIRN_METRICS_NAN_COUNTS,
                                            &files, error));
    firn_facts_manifests_opened(root, &files);
    firn_rows *rows = firn_section_rows(root, "files", NULL, columns, 14, "no files");
    for (size_t i = 0; i < files.data_count; i++) {
        if (files.data[i].may_match) add_file(invocation, rows, &files.data[i].entry);
    }
    for (size_t i = 0; i < files.delete_count; i++) {
        if (files.deletes[i].may_match) add_file(invocation, rows, &files.deletes[i].entry);
    }
    firn_live_files_release(&files);
    return firn_report_status(invocation->report, error);
}

/* -1 stands for "unknown". */
static firn_cell known_count(int64_t count) {
    return count < 0 ? firn_cell_null() : firn_cell_count(count);
}

/* One object for each partition field. */
static const char *summaries_json(firn_report *report, const firn_partition_spec *spec,
                                  const firn_manifest_file *manifest) {
    if (manifest->partitions == NULL || spec == NULL) return NULL;
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 24);
    firn_status status = firn_buffer_append_byte(&text, '[', NULL);
    for (size_t i = 0; i < manifest->partition_count && i < spec->field_count; i++) {
        const firn_partition_summary *summary = &manifest->partitions[i];
        const firn_cell lower = firn_facts_bound(report, &spec->fields[i], summary->lower_bound);
        const firn_cell upper = firn_facts_bound(report, &spec->fields[i], summary->upper_bound);
        const char *nan = !summary->has_contains_nan ? "null"
                          : summary->contains_nan    ? "true"
                                                     : "false";
        if (status == FIRN_OK) {
            status = firn_buffer_printf(&text, NULL,
                                        "%s{\"contains_null\": %s, \"contains_nan\": %s, "
                                        "\"lower_bound\": ",
                                        i == 0 ? "" : ", ",
                                        summary->contains_null ? "true" : "false", nan);
        }
        const char *const bounds[] = {lower.text, ", \"upper_bound\": ", upper.text};
        for (size_t part = 0; part < 3 && status == FIRN_OK; part++) {
            if (part == 1) {
                status = firn_buffer_append_text(&text, bounds[part], NULL);
            } else if (bounds[part] == NULL) {
                status = firn_buffer_append_text(&text, "null", NULL);
            } else {
                status = firn_json_text_append(bounds[part], &text, NULL);
            }
        }
        if (status == FIRN_OK) status = firn_buffer_append_byte(&text, '}', NULL);
    }
    const char *result = NULL;
    if (status == FIRN_OK) {
        result = firn_report_format(report, "%.*s]", (int)text.size, (const char *)text.data);
    }
    firn_buffer_release(&text);
    return result;
}

static void add_manifest(firn_invocation *invocation, firn_rows *rows,
                         const firn_manifest_file *manifest) {
    firn_report *report = invocation->report;
    const firn_partition_spec *spec =
        firn_table_metadata_spec(invocation->table->metadata, manifest->partition_spec_id);
    const firn_cell cells[] = {
        firn_cell_text(manifest->content == FIRN_CONTENT_DATA ? "data" : "deletes"),
        firn_cell_bytes(manifest->length),
        firn_cell_integer(manifest->partition_spec_id),
        firn_cell_integer(manifest->sequence_number),
        firn_cell_integer(manifest->min_sequence_number),
        optional_integer(manifest->has_added_snapshot_id, manifest->added_snapshot_id),
        known_count(manifest->added_files_count),
        known_count(manifest->existing_files_count),
        known_count(manifest->deleted_files_count),
        known_count(manifest->added_rows_count),
        known_count(manifest->existing_rows_count),
        known_count(manifest->deleted_rows_count),
        firn_cell_json(summaries_json(report, spec, manifest), NULL),
        firn_cell_text(firn_report_copy(report, manifest->path)),
    };
    firn_rows_add(rows, cells);
}

firn_status firn_command_manifests(firn_invocation *invocation, firn_error *error) {
    static const firn_column columns[] = {{"content", "content"},
                                          {"bytes", "size"},
                                          {"spec_id", "spec"},
                                          {"sequence_number", "seq"},
                                          {"min_sequence_number", "min seq"},
                                          {"added_snapshot_id", "added by"},
                                          {"added_files", "added"},
                                          {"existing_files", "existing"},
                                          {"deleted_files", "deleted"},
                                          {"added_rows", NULL},
                                          {"existing_rows", NULL},
                                          {"deleted_rows", NULL},
                                          {"partition_summaries", NULL},
                                          {"path", "path"}};
    firn_section *root = NULL;
    FIRN_TRY(begin(invocation, &root, error));
    firn_rows *rows = firn_section_rows(root, "manifests", NULL, columns, 14, "no manifests");
    if (invocation->table->snapshot == NULL) return firn_report_status(invocation->report, error);
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_manifest_file *manifests = NULL;
    size_t count = 0;
    firn_status status = firn_table_manifests(invocation->table, invocation->table->snapshot, arena,
                                              &manifests, &count, error);
    for (size_t i = 0; i < count && status == FIRN_OK; i++) {
        add_manifest(invocation, rows, &manifests[i]);
        status = firn_report_status(invocation->report, error);
    }
    firn_arena_free(arena);
    return status;
}
