#include <string.h>

#include "iceberg/primitive.h"
#include "lake/schema_union_internal.h"

/* Between schemas and the columns of a union. */

static bool columns_of_fields(const firn_type *type, firn_union_column *parent, firn_arena *arena) {
    const firn_union_column **children =
        firn_arena_alloc(arena, type->field_count + 1, sizeof *children);
    firn_union_column *columns = firn_arena_alloc(arena, type->field_count + 1, sizeof *columns);
    if (children == NULL || columns == NULL) return false;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        columns[i] = (firn_union_column){.name = field->name,
                                         .id = field->id,
                                         .required = field->required,
                                         .kind = field->type->kind,
                                         .base = field};
        bool nested = firn_type_is_nested(field->type->kind);
        if (!nested) columns[i].type = field->type;
        if (nested && !columns_of_fields(field->type, &columns[i], arena)) return false;
        children[i] = &columns[i];
    }
    parent->children = children;
    parent->child_count = type->field_count;
    return true;
}

const firn_union_column *firn_union_of_schema(const firn_schema *schema, firn_arena *arena) {
    firn_union_column *root = firn_arena_alloc(arena, 1, sizeof *root);
    if (root == NULL) return NULL;
    root->kind = FIRN_TYPE_STRUCT;
    root->id = 0;
    if (schema == NULL) return root;
    return columns_of_fields(&schema->root, root, arena) ? root : NULL;
}

const firn_union_column *firn_union_find_id(const firn_union_column *column, int32_t id) {
    for (size_t i = 0; i < column->child_count; i++) {
        if (column->children[i]->id == id) return column->children[i];
        const firn_union_column *below = firn_union_find_id(column->children[i], id);
        if (below != NULL) return below;
    }
    return NULL;
}

int32_t firn_union_highest_id(const firn_union_column *column) {
    int32_t highest = 0;
    for (size_t i = 0; i < column->child_count; i++) {
        int32_t id = column->children[i]->id;
        if (id > highest && id <= FIRN_HIGHEST_FIELD_ID) highest = id;
        int32_t below = firn_union_highest_id(column->children[i]);
        if (below > highest) highest = below;
    }
    return highest;
}

int64_t firn_union_without_id(const firn_union_column *column) {
    int64_t count = 0;
    for (size_t i = 0; i < column->child_count; i++) {
        count += (column->children[i]->id < 0) + firn_union_without_id(column->children[i]);
    }
    return count;
}

/*
 * All members of a struct, a list or a map first, then what lies below each of them: so number Iceberg's own libraries,
 * and a catalog that numbers a new table's columns again comes to the same ids.
 */
static bool give_ids(firn_union_column *column, int32_t *last, firn_arena *arena) {
    size_t count = column->child_count;
    firn_union_column *copies = firn_arena_alloc(arena, count + 1, sizeof *copies);
    const firn_union_column **children = firn_arena_alloc(arena, count + 1, sizeof *children);
    if (copies == NULL || children == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copies[i] = *column->children[i];
        if (copies[i].id < 0) copies[i].id = ++*last;
        children[i] = &copies[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (copies[i].child_count > 0 && !give_ids(&copies[i], last, arena)) return false;
    }
    column->children = children;
    return true;
}

const firn_union_column *firn_union_with_ids(const firn_union_column *root, int32_t last_column_id,
                                             firn_arena *arena) {
    if (firn_union_without_id(root) == 0) return root;
    int32_t last = firn_union_highest_id(root);
    if (last < last_column_id) last = last_column_id;
    firn_union_column *copy = firn_arena_memdup(arena, root, sizeof *root);
    return copy != NULL && give_ids(copy, &last, arena) ? copy : NULL;
}

static const firn_field *make_fields(const firn_union_column *parent, firn_arena *arena);

static const firn_type *make_type(const firn_union_column *column, firn_arena *arena) {
    if (column->type != NULL) return column->type;
    firn_type *type = firn_arena_alloc(arena, 1, sizeof *type);
    if (type == NULL) return NULL;
    type->kind = column->kind;
    type->fields = make_fields(column, arena);
    type->field_count = column->child_count;
    return type->fields == NULL ? NULL : type;
}

static const firn_field *make_fields(const firn_union_column *parent, firn_arena *arena) {
    firn_field *fields = firn_arena_alloc(arena, parent->child_count + 1, sizeof *fields);
    for (size_t i = 0; fields != NULL && i < parent->child_count; i++) {
        const firn_union_column *column = parent->children[i];
        bool is_key = parent->kind == FIRN_TYPE_MAP && i == 0;
        fields[i] = (firn_field){.id = column->id,
                                 .name = column->name,
                                 .required = column->required || is_key,
                                 .type = make_type(column, arena)};
        if (fields[i].type == NULL) return NULL;
        if (column->base == NULL) continue;
        fields[i].doc = column->base->doc;
        fields[i].initial_default = column->base->initial_default;
        fields[i].write_default = column->base->write_default;
    }
    return fields;
}

const firn_schema *firn_union_make_schema(const firn_union_column *root, const firn_schema *base,
                                          firn_arena *arena) {
    firn_schema *schema = firn_arena_alloc(arena, 1, sizeof *schema);
    if (schema == NULL) return NULL;
    if (base != NULL) *schema = *base;
    schema->root = (firn_type){.kind = FIRN_TYPE_STRUCT,
                               .fields = make_fields(root, arena),
                               .field_count = root->child_count};
    return schema->root.fields == NULL ? NULL : schema;
}
