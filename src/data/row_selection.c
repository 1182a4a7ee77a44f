#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "data/csv.h"
#include "data/rows.h"
#include "iceberg/lineage.h"

/* Columns in the order in which they are to be read. */
typedef struct column_list {
    firn_field *fields; /* in the arena; room for all of the schema twice */
    size_t count;
} column_list;

static bool is_listed(const column_list *list, int32_t id) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->fields[i].id == id) return true;
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

/* By its full name, through structs alone; names may hold dots themselves. `top` gets the column that it is, or lies in. */
static const firn_field *find_shown(const firn_type *type, const char *name,
                                    const firn_field **top) {
    const firn_field *whole = named(type, name);
    if (whole != NULL) {
        *top = whole;
        return whole;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const firn_field *below = NULL;
        size_t length = strlen(field->name);
        if (field->type->kind != FIRN_TYPE_STRUCT) continue;
        if (strncmp(name, field->name, length) != 0 || name[length] != '.') continue;
        const firn_field *found = find_shown(field->type, name + length + 1, &below);
        if (found == NULL) continue;
        *top = field;
        return found;
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

static firn_status add_named(const firn_schema *schema, const char *const *names, size_t count,
                             firn_arena *arena, column_list *list, const firn_shown_column **out,
                             firn_error *error) {
    const firn_field **fields = firn_arena_alloc(arena, count, sizeof *fields);
    firn_shown_column *shown = firn_arena_alloc(arena, count, sizeof *shown);
    if (fields == NULL || shown == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const firn_field *top = NULL;
        fields[i] = find_shown(&schema->root, names[i], &top);
        if (fields[i] == NULL) return no_such_column(schema, names[i], error);
        FIRN_TRY(check_apart(fields, names, i, error));
        shown[i] = (firn_shown_column){names[i], fields[i]->id};
        if (!is_listed(list, top->id)) list->fields[list->count++] = *top;
    }
    *out = shown;
    return FIRN_OK;
}

/* Whole columns that hold what the filter looks at. */
static firn_status add_filtered(const firn_schema *schema, const firn_expression *filter,
                                firn_arena *arena, column_list *list, firn_error *error) {
    const int32_t *ids = NULL;
    size_t count = 0;
    if (filter == NULL) return FIRN_OK;
    FIRN_TRY(firn_expression_columns(filter, arena, &ids, &count, error));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < schema->root.field_count; j++) {
            const firn_field *field = &schema->root.fields[j];
            if (!holds(field, ids[i]) || is_listed(list, field->id)) continue;
            list->fields[list->count++] = *field;
        }
    }
    return FIRN_OK;
}

static bool is_stored(const firn_type *type) {
    return type->kind != FIRN_TYPE_UNKNOWN;
}

/* Rows are counted by columns that are stored: where only columns of type unknown are asked for, another one is read. */
static void add_stored(const firn_schema *schema, column_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        if (is_stored(list->fields[i].type)) return;
    }
    for (size_t i = 0; i < schema->root.field_count; i++) {
        const firn_field *field = &schema->root.fields[i];
        if (!is_stored(field->type) || is_listed(list, field->id)) continue;
        list->fields[list->count++] = *field;
        return;
    }
}

firn_status firn_row_selection_make(const firn_schema *schema, const char *const *names,
                                    size_t name_count, const firn_expression *filter,
                                    firn_row_format format, firn_arena *arena,
                                    firn_row_selection *out, firn_error *error) {
    size_t count = schema->root.field_count;
    firn_schema *selected = firn_arena_memdup(arena, schema, sizeof *schema);
    column_list list = {firn_arena_alloc(arena, count + 1, sizeof *list.fields), 0};
    if (selected == NULL || list.fields == NULL) return firn_fail_memory(error);
    const firn_shown_column *shown = NULL;
    size_t shown_count = count;
    if (names == NULL) {
        memcpy(list.fields, schema->root.fields, count * sizeof *list.fields);
        list.count = count;
    } else {
        FIRN_TRY(add_named(schema, names, name_count, arena, &list, &shown, error));
        shown_count = name_count;
    }
    FIRN_TRY(add_filtered(schema, filter, arena, &list, error));
    add_stored(schema, &list);
    selected->root.fields = list.fields;
    selected->root.field_count = list.count;
    *out = (firn_row_selection){selected, shown, shown_count, filter, format};
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
