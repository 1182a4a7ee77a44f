#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "data/deletes.h"
#include "data/rows.h"
#include "report/table_facts.h"

typedef struct table_counts {
    int64_t files, rows, bytes;
    int64_t position_delete_files, equality_delete_files, delete_rows, delete_bytes;
    int64_t manifests, manifest_bytes;
} table_counts;

/* Sums of hostile numbers must not overflow. */
static int64_t add_up(int64_t sum, int64_t value) {
    int64_t result = 0;
    if (value < 0) return sum;
    return __builtin_add_overflow(sum, value, &result) ? INT64_MAX : result;
}

static table_counts count_files(const firn_live_files *files) {
    table_counts counts = {.files = (int64_t)files->data_count,
                           .manifests = (int64_t)files->manifest_count};
    for (size_t i = 0; i < files->manifest_count; i++) {
        counts.manifest_bytes = add_up(counts.manifest_bytes, files->manifests[i].length);
    }
    for (size_t i = 0; i < files->data_count; i++) {
        const firn_data_file *file = &files->data[i].entry.file;
        counts.rows = add_up(counts.rows, file->record_count);
        counts.bytes = add_up(counts.bytes, file->file_size_in_bytes);
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_data_file *file = &files->deletes[i].entry.file;
        if (file->content == FIRN_CONTENT_EQUALITY_DELETES) {
            counts.equality_delete_files++;
        } else {
            counts.position_delete_files++;
        }
        counts.delete_rows = add_up(counts.delete_rows, file->record_count);
        /* Several deletion vectors share one Puffin file; each counts its own part of it. */
        int64_t bytes =
            file->has_content_offset ? file->content_size_in_bytes : file->file_size_in_bytes;
        counts.delete_bytes = add_up(counts.delete_bytes, bytes);
    }
    return counts;
}

static void add_head(firn_section *root, const firn_table *table) {
    const firn_table_metadata *metadata = table->metadata;
    firn_section_add(root, "table", "table", firn_cell_text(table->display_name));
    firn_section_add(root, "location", "location", firn_cell_text(metadata->location));
    firn_section_add(root, "metadata_location", "metadata file",
                     firn_cell_text(table->pointer.metadata_location));
    firn_section_add(root, "table_uuid", "uuid", firn_cell_text(metadata->table_uuid));
    firn_section_add(root, "format_version", "format version",
                     firn_cell_integer(metadata->format_version));
    firn_section_add(root, "last_updated_at", "last updated",
                     firn_cell_time(metadata->last_updated_ms));
    firn_section_add(root, "last_sequence_number", NULL,
                     firn_cell_integer(metadata->last_sequence_number));
    firn_section_add(root, "ref", "ref", firn_cell_text(table->ref));
    int64_t current = metadata->current_snapshot_id;
    firn_section_add(root, "current_snapshot_id", NULL,
                     current == FIRN_NO_SNAPSHOT ? firn_cell_null() : firn_cell_integer(current));
}

static void add_size(firn_section *root, const table_counts *counts) {
    bool deletes = counts->position_delete_files + counts->equality_delete_files > 0;
    firn_section *size = firn_section_child(root, "data_files", "Data files");
    firn_section_add(size, "count", "files", firn_cell_count(counts->files));
    firn_section_add(size, "rows", deletes ? "rows, deleted ones too" : "rows",
                     firn_cell_count(counts->rows));
    firn_section_add(size, "bytes", "size", firn_cell_bytes(counts->bytes));
    size = firn_section_child(root, "delete_files", deletes ? "Delete files" : NULL);
    firn_section_add(size, "position_delete_files", deletes ? "of positions" : NULL,
                     firn_cell_count(counts->position_delete_files));
    firn_section_add(size, "equality_delete_files", deletes ? "of equal values" : NULL,
                     firn_cell_count(counts->equality_delete_files));
    firn_section_add(size, "rows", deletes ? "deletes" : NULL,
                     firn_cell_count(counts->delete_rows));
    firn_section_add(size, "bytes", deletes ? "size" : NULL, firn_cell_bytes(counts->delete_bytes));
    size = firn_section_child(root, "manifests", "Manifests");
    firn_section_add(size, "count", "manifests", firn_cell_count(counts->manifests));
    firn_section_add(size, "bytes", "size", firn_cell_bytes(counts->manifest_bytes));
}

static firn_status hash_files(firn_invocation *invocation, const firn_live_files *files,
                              const firn_deletes *deletes, firn_error *error) {
    firn_content_hash hash = {0};
    FIRN_TRY(firn_content_hash_of_files(invocation->table, firn_rows_schema(invocation->table),
                                        files->data, deletes, files->data_count, invocation->pool,
                                        &hash, error));
    firn_content_hash_text(&hash, invocation->content_hash);
    firn_section *root = firn_report_root(invocation->report);
    firn_section_add(
        root, "content_hash", "content hash",
        firn_cell_text(firn_report_copy(invocation->report, invocation->content_hash)));
    firn_section_add(root, "content_rows", "rows read", firn_cell_count(hash.row_count));
    return FIRN_OK;
}

/* Of the live rows: what deletes took is left out. */
static firn_status hash_content(firn_invocation *invocation, const firn_live_files *files,
                                firn_error *error) {
    FIRN_TRY(firn_invocation_load_pool(invocation, error));
    const firn_live_file **data = firn_alloc_array(files->data_count, sizeof *data);
    if (data == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->data_count; i++) data[i] = &files->data[i];
    firn_deletes_request request = {.table = invocation->table,
                                    .files = files,
                                    .data = data,
                                    .data_count = files->data_count,
                                    .positions = true,
                                    .equality = true,
                                    .pool = invocation->pool,
                                    .memory_bytes = invocation->options->memory_bytes};
    firn_deletes deletes = {0};
    firn_status status = firn_deletes_resolve(&request, &deletes, error);
    if (status == FIRN_OK) status = hash_files(invocation, files, &deletes, error);
    firn_deletes_release(&deletes);
    firn_free(data);
    return status;
}

static void add_shape(firn_section *root, const firn_table *table) {
    const firn_table_metadata *metadata = table->metadata;
    firn_section *part = firn_section_child(root, "schema", "Schema");
    firn_facts_add_schema(part, metadata->schema);
    part = firn_section_child(root, "partition_spec", "Partition spec");
    firn_facts_add_spec(part, metadata->default_spec, metadata->schema);
    part = firn_section_child(root, "sort_order", "Sort order");
    const firn_sort_order *order =
        firn_table_metadata_sort_order(metadata, metadata->default_sort_order_id);
    firn_facts_add_sort_order(part, order, metadata->schema);
}

static void add_counts_of_kept(firn_section *root, const firn_table_metadata *metadata) {
    firn_section_add(root, "snapshot_count", NULL,
                     firn_cell_count((int64_t)metadata->snapshot_count));
    firn_section_add(root, "schema_count", NULL, firn_cell_count((int64_t)metadata->schema_count));
    firn_section_add(root, "partition_spec_count", NULL,
                     firn_cell_count((int64_t)metadata->spec_count));
}

firn_status firn_command_describe(firn_invocation *invocation, firn_error *error) {
    FIRN_TRY(
        firn_invocation_open_table(invocation, invocation->options->arguments[0], true, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    const firn_table *table = invocation->table;
    firn_live_files files = {0};
    FIRN_TRY(firn_table_live_files_matching(invocation->table, table->snapshot, NULL,
                                            FIRN_METRICS_NAN_COUNTS, &files, error));
    firn_status status = FIRN_OK;
    firn_section *root = firn_report_root(invocation->report);
    table_counts counts = count_files(&files);
    add_head(root, table);
    if (invocation->options->content_hash) FIRN_CHECK(hash_content(invocation, &files, error));
    if (table->snapshot == NULL) {
        firn_section_add(root, "snapshot", "snapshot", firn_cell_null());
    } else {
        firn_section *snapshot = firn_section_child(root, "snapshot", "Snapshot");
        firn_facts_add_snapshot(snapshot, table->snapshot);
    }
    add_size(root, &counts);
    add_counts_of_kept(root, table->metadata);
    add_shape(root, table);
    firn_facts_add_refs(root, "Refs", table->metadata);
    firn_facts_add_properties(root, table->metadata);
    status = firn_report_status(invocation->report, error);
out:
    firn_live_files_release(&files);
    return status;
}
