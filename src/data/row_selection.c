#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "data/csv.h"
#include "data/rows.h"
#include "iceberg/lineage.h"

/* Fields that are wanted with all that lies below them. */
typedef struct wanted_fields {
    int32_t *ids; /* in the arena */
    size_t count;
} wanted_fields;

static bool is_wanted(const wanted_fields *wanted, int32_t id) {
    for (size_t i = 0; i < wanted->count; i++) {
        if (wanted->ids[i] == id) return true;
    }
    return false;
}

static bool holds(const firn_field *field, int32_t id) {
    if (field->id == id) return true;
    for (size_t i = 0; i < field->type->field_count; i++) {
        if (holds(&field->type->fields[i], id)) return true;
    }
    return false;
}

static const firn_field *named(const firn_type *type, const char *name) {
    for (size_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
    }
    return NULL;
}

/* By its full name, through structs alone; names may hold dots themselves. */
static const firn_field *find_shown(const firn_type *type, const char *name) {
    const firn_field *whole = named(type, name);
    if (whole != NULL) return whole;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        size_t length = strlen(field->name);
        if (field->type->kind != FIRN_TYPE_STRUCT) continue;
        if (strncmp(name, field->name, length) != 0 || name[length] != '.') continue;
        const firn_field *found = find_shown(field->type, name + length + 1);
        if (found != NULL) return found;
    }
    return NULL;
}

static firn_status no_such_column(const firn_schema *schema, const char *name, firn_error *error) {
    const firn_type *root = &schema->root;
    if (firn_schema_find_name(schema, name) != NULL) {
        return firn_fail(error, FIRN_INVALID,
                         "--columns: %s lies within a list or map; name the whole column", name);
    }
    const char **names = firn_alloc_array(root->field_count + 1, sizeof *names);
    if (names == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < root->field_count; i++) names[i] = root->fields[i].name;
    const char *nearest = firn_nearest(name, names, root->field_count);
    firn_status status =
        firn_fail(error, FIRN_INVALID, "--columns: the table has no column \"%s\"%s%s", name,
                  nearest == NULL ? "" : "; the nearest one is ", nearest == NULL ? "" : nearest);
    firn_free(names);
    return status;
}

/* Each leaf is read once, so that nothing may be shown twice, on its own or as part of another. */
static firn_status check_apart(const firn_field *const *fields, const char *const *names,
                               size_t index, firn_error *error) {
    for (size_t i = 0; i < index; i++) {
        if (fields[i]->id == fields[index]->id) {
            return firn_fail(error, FIRN_INVALID, "--columns: column \"%s\" comes twice",
                             names[index]);
        }
        bool within = holds(fields[i], fields[index]->id);
        if (!within && !holds(fields[index], fields[i]->id)) continue;
        return firn_fail(error, FIRN_INVALID, "--columns: %s lies within %s, which is named too",
                         names[within ? index : i], names[within ? i : index]);
    }
    return FIRN_OK;
}

static firn_status find_named(const firn_schema *schema, const char *const *names, size_t count,
                              firn_arena *arena, const firn_shown_column **out, firn_error *error) {
    const firn_field **fields = firn_arena_alloc(arena, count, sizeof *fields);
    firn_shown_column *shown = firn_arena_alloc(arena, count, sizeof *shown);
    if (fields == NULL || shown == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        fields[i] = find_shown(&schema->root, names[i]);
        if (fields[i] == NULL) return no_such_column(schema, names[i], error);
        FIRN_TRY(check_apart(fields, names, i, error));
        shown[i] = (firn_shown_column){names[i], fields[i]->id};
    }
    *out = shown;
    return FIRN_OK;
}

/* What is shown, and what the filter looks at. */
static firn_status list_wanted(const firn_shown_column *shown, size_t shown_count,
                               const firn_expression *filter, firn_arena *arena, wanted_fields *out,
                               firn_error *error) {
    const int32_t *filtered = NULL;
    size_t count = 0;
    if (filter != NULL) FIRN_TRY(firn_expression_columns(filter, arena, &filtered, &count, error));
    out->ids = firn_arena_alloc(arena, shown_count + count + 1, sizeof *out->ids);
    if (out->ids == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < shown_count; i++) out->ids[out->count++] = shown[i].id;
    for (size_t i = 0; i < count; i++) out->ids[out->count++] = filtered[i];
    return FIRN_OK;
}

static bool holds_wanted(const firn_field *field, const wanted_fields *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        if (holds(field, wanted->ids[i])) return true;
    }
    return false;
}

static bool is_stored(const firn_type *type) {
    if (type->kind != FIRN_TYPE_STRUCT) return type->kind != FIRN_TYPE_UNKNOWN;
    for (size_t i = 0; i < type->field_count; i++) {
        if (is_stored(type->fields[i].type)) return true;
    }
    return false;
}

/* Rows are counted, and structs told from nulls, by columns that are stored: where only columns of type unknown are wanted, another one is read. */
static void add_stored(const firn_type *type, firn_field *fields, size_t *count) {
    for (size_t i = 0; i < *count; i++) {
        if (is_stored(fields[i].type)) return;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (!is_stored(type->fields[i].type)) continue;
        fields[(*count)++] = type->fields[i];
        return;
    }
}

/* A struct of only those fields that are wanted, or that one lies in. Lists and maps stay whole. */
static firn_status narrow(const firn_type *type, const wanted_fields *wanted, firn_arena *arena,
                          firn_type *out, firn_error *error) {
    firn_field *fields = firn_arena_alloc(arena, type->field_count + 1, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        if (!holds_wanted(field, wanted)) continue;
        firn_field *kept = &fields[count++];
        *kept = *field;
        if (field->type->kind != FIRN_TYPE_STRUCT || is_wanted(wanted, field->id)) continue;
        firn_type *narrowed = firn_arena_alloc(arena, 1, sizeof *narrowed);
        if (narrowed == NULL) return firn_fail_memory(error);
        FIRN_TRY(narrow(field->type, wanted, arena, narrowed, error));
        kept->type = narrowed;
    }
    add_stored(type, fields, &count);
    *out = *type;
    out->fields = fields;
    out->field_count = count;
    return FIRN_OK;
}

firn_status firn_row_selection_make(const firn_schema *schema, const char *const *names,
                                    size_t name_count, const firn_expression *filter,
                                    firn_row_format format, firn_arena *arena,
                                    firn_row_selection *out, firn_error *error) {
    *out = (firn_row_selection){schema, NULL, schema->root.field_count, filter, format};
    if (names == NULL) return FIRN_OK;
    wanted_fields wanted = {0};
    firn_schema *selected = firn_arena_memdup(arena, schema, sizeof *schema);
    if (selected == NULL) return firn_fail_memory(error);
    FIRN_TRY(find_named(schema, names, name_count, arena, &out->shown, error));
    out->shown_count = name_count;
    FIRN_TRY(list_wanted(out->shown, name_count, filter, arena, &wanted, error));
    FIRN_TRY(narrow(&schema->root, &wanted, arena, &selected->root, error));
    out->schema = selected;
    return FIRN_OK;
}

firn_status firn_rows_csv_header(const firn_row_selection *selection, firn_buffer *out,
                                 firn_error *error) {
    for (size_t i = 0; i < selection->shown_count; i++) {
        if (i > 0) FIRN_TRY(firn_buffer_append_byte(out, ',', error));
        const char *name = selection->shown == NULL ? selection->schema->root.fields[i].name
                                                    : selection->shown[i].name;
        FIRN_TRY(firn_csv_append(out, firn_slice_text(name), error));
    }
    return FIRN_OK;
}

const firn_schema *firn_rows_schema(const firn_table *table) {
    const firn_table_metadata *metadata = table->metadata;
    const firn_snapshot_ref *ref = firn_table_metadata_ref(metadata, table->ref);
    const firn_snapshot *snapshot = table->snapshot;
    const firn_schema *schema = NULL;
    if (ref != NULL && !ref->is_branch && snapshot != NULL && snapshot->has_schema_id) {
        schema = firn_table_metadata_schema(metadata, snapshot->schema_id);
    }
    return schema == NULL ? metadata->schema : schema;
}

firn_status firn_rows_schema_with_lineage(const firn_table *table, firn_arena *arena,
                                          const firn_schema **out, firn_error *error) {
    *out = firn_rows_schema(table);
    if (table->metadata->format_version < 3) return FIRN_OK;
    return firn_schema_with_lineage(*out, arena, out, error);
}
