#include "report/table_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_internal.h"

const char *firn_content_name(firn_content content) {
    switch (content) {
    case FIRN_CONTENT_DATA: return "data";
    case FIRN_CONTENT_POSITION_DELETES: return "position_deletes";
    case FIRN_CONTENT_EQUALITY_DELETES: return "equality_deletes";
    }
    return "unknown";
}

static const char *type_text(const firn_type *type) {
    switch (type->kind) {
    case FIRN_TYPE_STRUCT: return "struct";
    case FIRN_TYPE_LIST: return "list";
    case FIRN_TYPE_MAP: return "map";
    default: return type->text == NULL ? "unknown" : type->text;
    }
}

/* Nesting is limited where schemas are parsed. */
static void add_fields(firn_rows *rows, const firn_type *type, const char *prefix) {
    firn_report *report = rows->report;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const char *name = firn_report_format(report, "%s%s", prefix, field->name);
        const firn_cell cells[] = {
            firn_cell_integer(field->id),
            firn_cell_text(name),
            firn_cell_text(firn_report_copy(report, type_text(field->type))),
            firn_cell_boolean(field->required),
            firn_cell_text(firn_report_copy(report, field->doc)),
        };
        firn_rows_add(rows, cells);
        if (!firn_type_is_nested(field->type->kind)) continue;
        add_fields(rows, field->type, firn_report_format(report, "%s.", name));
    }
}

void firn_facts_add_schema(firn_section *section, const firn_schema *schema) {
    static const firn_column columns[] = {
        {"id", "id"}, {"name", "name"}, {"type", "type"}, {"required", "required"}, {"doc", "doc"}};
    firn_section_add(section, "schema_id", NULL, firn_cell_integer(schema->schema_id));
    firn_rows *rows = firn_section_rows(section, "fields", NULL, columns, 5, "no columns");
    if (rows != NULL) add_fields(rows, &schema->root, "");
}

/* The dotted name of a source column; NULL when the schema has none. */
static const char *source_name(firn_report *report, const firn_schema *schema, int32_t id) {
    if (schema == NULL || firn_schema_find(schema, id) == NULL) return NULL;
    const char *name = firn_schema_full_name(schema, id, report->arena);
    if (name == NULL) report->out_of_memory = true;
    return name;
}

void firn_facts_add_spec(firn_section *section, const firn_partition_spec *spec,
                         const firn_schema *schema) {
    static const firn_column columns[] = {{"field_id", "field id"},
                                          {"name", "name"},
                                          {"transform", "transform"},
                                          {"source_id", NULL},
                                          {"source", "column"}};
    firn_report *report = firn_section_report(section);
    firn_section_add(section, "spec_id", NULL, firn_cell_integer(spec->spec_id));
    firn_rows *rows = firn_section_rows(section, "fields", NULL, columns, 5, "not partitioned");
    if (report == NULL) return;
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        const firn_cell cells[] = {
            firn_cell_integer(field->field_id),
            firn_cell_text(firn_report_copy(report, field->name)),
            firn_cell_text(firn_report_copy(report, field->transform.text)),
            firn_cell_integer(field->source_id),
            firn_cell_text(source_name(report, schema, field->source_id)),
        };
        firn_rows_add(rows, cells);
    }
}

void firn_facts_add_sort_order(firn_section *section, const firn_sort_order *order,
                               const firn_schema *schema) {
    static const firn_column columns[] = {{"source_id", NULL},
                                          {"source", "column"},
                                          {"transform", "transform"},
                                          {"direction", "direction"},
                                          {"null_order", "nulls"}};
    firn_report *report = firn_section_report(section);
    firn_section_add(section, "order_id", NULL,
                     firn_cell_integer(order == NULL ? 0 : order->order_id));
    firn_rows *rows = firn_section_rows(section, "fields", NULL, columns, 5, "unsorted");
    if (report == NULL || order == NULL) return;
    for (size_t i = 0; i < order->field_count; i++) {
        const firn_sort_field *field = &order->fields[i];
        const firn_cell cells[] = {
            firn_cell_integer(field->source_id),
            firn_cell_text(source_name(report, schema, field->source_id)),
            firn_cell_text(firn_report_copy(report, field->transform.text)),
            firn_cell_text(field->descending ? "desc" : "asc"),
            firn_cell_text(field->nulls_last ? "last" : "first"),
        };
        firn_rows_add(rows, cells);
    }
}

/* -1 stands for "not set". */
static firn_cell optional_count(int64_t value) {
    return value < 0 ? firn_cell_null() : firn_cell_count(value);
}

void firn_facts_add_refs(firn_section *section, const char *heading,
                         const firn_table_metadata *metadata) {
    static const firn_column columns[] = {{"name", "name"},
                                          {"type", "type"},
                                          {"snapshot_id", "snapshot"},
                                          {"min_snapshots_to_keep", "snapshots to keep"},
                                          {"max_snapshot_age_ms", "max snapshot age (ms)"},
                                          {"max_ref_age_ms", "max ref age (ms)"}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, "refs", heading, columns, 6, "no refs");
    for (size_t i = 0; i < metadata->ref_count; i++) {
        const firn_snapshot_ref *ref = &metadata->refs[i];
        const firn_cell cells[] = {
            firn_cell_text(firn_report_copy(report, ref->name)),
            firn_cell_text(ref->is_branch ? "branch" : "tag"),
            firn_cell_integer(ref->snapshot_id),
            optional_count(ref->min_snapshots_to_keep),
            optional_count(ref->max_snapshot_age_ms),
            optional_count(ref->max_ref_age_ms),
        };
        firn_rows_add(rows, cells);
    }
}

/* A number of the summary, which holds text; text that is no number is shown as it is. */
static firn_cell summary_cell(firn_report *report, const firn_snapshot *snapshot, const char *key) {
    const char *text = json_string_value(json_object_get(snapshot->summary, key));
    if (text == NULL) return firn_cell_null();
    char *end = NULL;
    long long number = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && strlen(text) < 19) return firn_cell_count(number);
    return firn_cell_text(firn_report_copy(report, text));
}

static firn_cell summary_json(firn_report *report, const firn_snapshot *snapshot) {
    if (snapshot->summary == NULL) return firn_cell_null();
    /* Only printed: the reference that firn_report_json gives up is one more to the same value. */
    json_t *summary = json_incref((json_t *)snapshot->summary);
    return firn_cell_json(firn_report_json(report, summary), NULL);
}

static firn_cell parent_cell(const firn_snapshot *snapshot) {
    if (!snapshot->has_parent) return firn_cell_null();
    return firn_cell_integer(snapshot->parent_snapshot_id);
}

static firn_cell schema_cell(const firn_snapshot *snapshot) {
    return snapshot->has_schema_id ? firn_cell_integer(snapshot->schema_id) : firn_cell_null();
}

void firn_facts_add_snapshots(firn_section *section, const char *heading,
                              const firn_table_metadata *metadata) {
    static const firn_column columns[] = {{"snapshot_id", "snapshot"},
                                          {"parent_snapshot_id", "parent"},
                                          {"sequence_number", "seq"},
                                          {"committed_at", "committed at"},
                                          {"operation", "operation"},
                                          {"schema_id", NULL},
                                          {"manifest_list", NULL},
                                          {NULL, "files added"},
                                          {NULL, "removed"},
                                          {NULL, "total"},
                                          {NULL, "rows"},
                                          {"summary", NULL}};
    firn_report *report = firn_section_report(section);
    firn_rows *rows = firn_section_rows(section, "snapshots", heading, columns, 12, "no snapshots");
    if (report == NULL) return;
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        const firn_snapshot *snapshot = &metadata->snapshots[i];
        const firn_cell cells[] = {
            firn_cell_integer(snapshot->snapshot_id),
            parent_cell(snapshot),
            firn_cell_integer(snapshot->sequence_number),
            firn_cell_time(snapshot->timestamp_ms),
            firn_cell_text(firn_report_copy(report, snapshot->operation)),
            schema_cell(snapshot),
            firn_cell_text(firn_report_copy(report, snapshot->manifest_list)),
            summary_cell(report, snapshot, "added-data-files"),
            summary_cell(report, snapshot, "deleted-data-files"),
            summary_cell(report, snapshot, "total-data-files"),
            summary_cell(report, snapshot, "total-records"),
            summary_json(report, snapshot),
        };
        firn_rows_add(rows, cells);
    }
}

void firn_facts_add_snapshot(firn_section *section, const firn_snapshot *snapshot) {
    firn_report *report = firn_section_report(section);
    if (report == NULL) return;
    firn_section_add(section, "snapshot_id", "snapshot", firn_cell_integer(snapshot->snapshot_id));
    firn_section_add(section, "parent_snapshot_id", "parent", parent_cell(snapshot));
    firn_section_add(section, "sequence_number", "sequence number",
                     firn_cell_integer(snapshot->sequence_number));
    firn_section_add(section, "committed_at", "committed at",
                     firn_cell_time(snapshot->timestamp_ms));
    firn_section_add(section, "operation", "operation",
                     firn_cell_text(firn_report_copy(report, snapshot->operation)));
    firn_section_add(section, "schema_id", NULL, schema_cell(snapshot));
    firn_section_add(section, "manifest_list", "manifest list",
                     firn_cell_text(firn_report_copy(report, snapshot->manifest_list)));
    firn_section_add(section, "summary", NULL, summary_json(report, snapshot));
}

void firn_facts_add_properties(firn_section *section, const firn_table_metadata *metadata) {
    firn_report *report = firn_section_report(section);
    firn_section *child = firn_section_child(section, "properties", "Properties");
    if (child == NULL) return;
    if (metadata->property_count == 0) firn_section_line(child, "none");
    for (size_t i = 0; i < metadata->property_count; i++) {
        const char *key = firn_report_copy(report, metadata->properties[i].key);
        const char *value = firn_report_copy(report, metadata->properties[i].value);
        firn_section_add(child, key, key, firn_cell_text(value));
    }
}

static firn_status append_partition_text(const firn_partition_field *field, const firn_value *value,
                                         bool first, firn_buffer *out) {
    FIRN_TRY(firn_buffer_printf(out, NULL, "%s%s=", first ? "" : ", ", field->name));
    if (field->result_type == NULL) {
        return firn_buffer_append_text(out, value->is_null ? "null" : "?", NULL);
    }
    return firn_transform_print(&field->transform, field->result_type, value, out, NULL);
}

static firn_status append_partition_json(const firn_partition_field *field, const firn_value *value,
                                         bool first, firn_buffer *out) {
    if (!first) FIRN_TRY(firn_buffer_append_text(out, ", ", NULL));
    FIRN_TRY(firn_json_text_append(field->name, out, NULL));
    FIRN_TRY(firn_buffer_append_text(out, ": ", NULL));
    json_t *json = NULL;
    if (!value->is_null && field->result_type != NULL) {
        json = firn_value_to_json(field->result_type, value);
    }
    if (json == NULL) return firn_buffer_append_text(out, "null", NULL);
    firn_status status = firn_json_write(json, 0, out, NULL);
    json_decref(json);
    return status;
}

static const char *keep_text(firn_report *report, firn_status status, const firn_buffer *text) {
    if (status == FIRN_OK) {
        return firn_report_format(report, "%.*s", (int)text->size, (const char *)text->data);
    }
    if (status == FIRN_NO_MEMORY) report->out_of_memory = true;
    return "?";
}

firn_cell firn_facts_partition(firn_report *report, const firn_partition_spec *spec,
                               const firn_value *values, size_t count) {
    if (report == NULL || spec == NULL) return firn_cell_null();
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 20);
    firn_buffer json = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status text_status = FIRN_OK;
    firn_status json_status = firn_buffer_append_byte(&json, '{', NULL);
    for (size_t i = 0; i < spec->field_count && i < count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        if (text_status == FIRN_OK) {
            text_status = append_partition_text(field, &values[i], i == 0, &text);
        }
        if (json_status == FIRN_OK) {
            json_status = append_partition_json(field, &values[i], i == 0, &json);
        }
    }
    if (json_status == FIRN_OK) json_status = firn_buffer_append_byte(&json, '}', NULL);
    const char *shown = text.size == 0 ? NULL : keep_text(report, text_status, &text);
    const char *kept = json_status == FIRN_OK ? keep_text(report, json_status, &json) : "null";
    if (json_status == FIRN_NO_MEMORY) report->out_of_memory = true;
    firn_buffer_release(&text);
    firn_buffer_release(&json);
    return firn_cell_json(kept, shown);
}

firn_cell firn_facts_bound(firn_report *report, const firn_partition_field *field,
                           firn_slice bound) {
    if (report == NULL || bound.data == NULL || field->result_type == NULL) return firn_cell_null();
    firn_value value = {0};
    if (firn_value_from_bytes(field->result_type, bound, &value, NULL) != FIRN_OK) {
        return firn_cell_null();
    }
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status status =
        firn_transform_print(&field->transform, field->result_type, &value, &text, NULL);
    firn_cell cell = firn_cell_text(keep_text(report, status, &text));
    firn_buffer_release(&text);
    return cell;
}

void firn_facts_manifests_opened(firn_section *section, const firn_live_files *files) {
    firn_report *report = firn_section_report(section);
    firn_section_add(section, "manifests", NULL, firn_cell_count((int64_t)files->manifest_count));
    firn_section_add(section, "manifests_opened", NULL,
                     firn_cell_count((int64_t)files->manifests_opened));
    firn_section_add(section, NULL, "manifests opened",
                     firn_cell_text(firn_report_format(
                         report, "%zu of %zu", files->manifests_opened, files->manifest_count)));
}
