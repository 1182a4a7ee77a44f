#include <stdlib.h>
#include <string.h>

#include "data/projection_internal.h"
#include "iceberg/lineage.h"

/* Negative ids come from writers that mean "none". */
static bool has_id(const firn_parquet_node *node) {
    return node->element->has_field_id && node->element->field_id >= 0;
}

static bool is_id(const firn_parquet_node *node, int32_t id) {
    return has_id(node) && node->element->field_id == id;
}

/* A column and what it is found by: a field's id, or its name. */
typedef struct group_column {
    int32_t id;
    size_t position;
    const firn_parquet_node *node;
    const firn_mapped_field *mapped; /* NULL: the mapping does not know it */
} group_column;

struct firn_group_columns {
    const firn_name_mapping *scope;
    group_column *with_id, *mapped, *unknown;
    size_t with_id_count, mapped_count, unknown_count;
};

static int by_id(const void *left, const void *right) {
    const group_column *a = left;
    const group_column *b = right;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static int by_name(const void *left, const void *right) {
    const group_column *a = left;
    const group_column *b = right;
    int order = strcmp(a->node->element->name, b->node->element->name);
    if (order != 0) return order;
    return a->position < b->position ? -1 : a->position > b->position;
}

static void take_column(firn_group_columns *columns, group_column column) {
    if (has_id(column.node)) {
        column.id = column.node->element->field_id;
        columns->with_id[columns->with_id_count++] = column;
        return;
    }
    column.mapped = firn_name_mapping_find(columns->scope, column.node->element->name);
    if (column.mapped == NULL) {
        columns->unknown[columns->unknown_count++] = column;
    } else if (column.mapped->has_field_id) {
        column.id = column.mapped->field_id;
        columns->mapped[columns->mapped_count++] = column;
    }
}

static firn_status check_group(const firn_projector *projector, const firn_parquet_node *group,
                               const firn_group_columns *columns, const firn_field *owner,
                               firn_error *error) {
    if (columns->with_id_count > 0 || columns->mapped_count > 0) return FIRN_OK;
    bool any = group->child_count == 0;
    for (size_t i = 0; i < group->child_count && !any; i++) {
        /* Nothing but nulls: whichever column it is, nothing of it is lost. */
        any = group->children[i]->element->logical.kind == FIRN_PARQUET_LOGICAL_NULL;
    }
    if (any) return FIRN_OK;
    const char *problem = columns->scope == NULL
                              ? "has no field ids, and the table has no name mapping for it"
                              : "has no field ids, and the name mapping names none of its columns";
    if (owner != NULL) {
        return firn_projection_fail(projector, owner, FIRN_UNSUPPORTED, error,
                                    "the struct %s (schema.name-mapping.default)", problem);
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: the file %s (schema.name-mapping.default)",
                     projector->location, problem);
}

firn_status firn_match_group(const firn_projector *projector, const firn_parquet_node *group,
                             const firn_name_mapping *scope, const firn_field *owner,
                             const firn_group_columns **out, firn_error *error) {
    size_t count = group->child_count + 1;
    firn_group_columns *columns = firn_arena_alloc(projector->arena, 1, sizeof *columns);
    if (columns == NULL) return firn_fail_memory(error);
    columns->scope = scope;
    columns->with_id = firn_arena_alloc(projector->arena, count, sizeof *columns->with_id);
    columns->mapped = firn_arena_alloc(projector->arena, count, sizeof *columns->mapped);
    columns->unknown = firn_arena_alloc(projector->arena, count, sizeof *columns->unknown);
    if (columns->with_id == NULL || columns->mapped == NULL || columns->unknown == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < group->child_count; i++) {
        take_column(columns, (group_column){.position = i, .node = group->children[i]});
    }
    qsort(columns->with_id, columns->with_id_count, sizeof *columns->with_id, by_id);
    qsort(columns->mapped, columns->mapped_count, sizeof *columns->mapped, by_id);
    qsort(columns->unknown, columns->unknown_count, sizeof *columns->unknown, by_name);
    *out = columns;
    return check_group(projector, group, columns, owner, error);
}

/* The columns with this id, in order. */
static const group_column *find_id(const group_column *list, size_t count, int32_t id,
                                   size_t *found) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *found = 0;
    while (low + *found < count && list[low + *found].id == id) ++*found;
    return &list[low];
}

static firn_status match_by_id(const firn_projector *projector, const firn_group_columns *columns,
                               const firn_field *field, const firn_parquet_node **node,
                               firn_error *error) {
    size_t count = 0;
    const group_column *found =
        find_id(columns->with_id, columns->with_id_count, field->id, &count);
    *node = count == 0 ? NULL : found->node;
    if (count < 2) return FIRN_OK;
    return firn_projection_fail(projector, field, FIRN_CORRUPT, error,
                                "two columns of the file, \"%s\" and \"%s\", have this id",
                                found[0].node->element->name, found[1].node->element->name);
}

static firn_status match_by_name(const firn_projector *projector, const firn_group_columns *columns,
                                 const firn_field *field, const firn_parquet_node **node,
                                 const firn_name_mapping **below, firn_error *error) {
    size_t count = 0;
    const group_column *found = find_id(columns->mapped, columns->mapped_count, field->id, &count);
    if (count == 0) return FIRN_OK;
    *node = found->node;
    /* Several entries may name one id: what lies below is described by the one that matched. */
    *below = firn_name_mapping_below(found->mapped);
    if (count < 2) return FIRN_OK;
    return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                "the name mapping takes both \"%s\" and \"%s\" of the file "
                                "for this column",
                                found[0].node->element->name, found[1].node->element->name);
}

/*
 * A column without id that has the field's own name, and of which the mapping says nothing, may hold the field's values: nulls
 * in their place would lose them without a word.
 */
static firn_status check_namesake(const firn_projector *projector,
                                  const firn_group_columns *columns, const firn_field *field,
                                  firn_error *error) {
    size_t low = 0;
    size_t high = columns->unknown_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(columns->unknown[middle].node->element->name, field->name);
        if (order == 0) {
            return firn_projection_fail(
                projector, field, FIRN_UNSUPPORTED, error,
                "the file has a column of this name without a field id; set "
                "schema.name-mapping.default to say what it is");
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return FIRN_OK;
}

firn_status firn_match_field(const firn_projector *projector, const firn_group_columns *columns,
                             const firn_field *field, const firn_parquet_node **node,
                             const firn_name_mapping **below, firn_error *error) {
    size_t count = 0;
    const firn_mapped_field *const *mapped =
        firn_name_mapping_find_id(columns->scope, field->id, &count);
    *below = count == 0 ? NULL : firn_name_mapping_below(mapped[0]);
    FIRN_TRY(match_by_id(projector, columns, field, node, error));
    if (*node != NULL) return FIRN_OK;
    FIRN_TRY(match_by_name(projector, columns, field, node, below, error));
    /* A column of the user's own may be called as one of row lineage is; it is not meant. */
    bool reserved = field->id == FIRN_ROW_ID_FIELD_ID || field->id == FIRN_LAST_UPDATED_FIELD_ID;
    if (*node != NULL || reserved) return FIRN_OK;
    return check_namesake(projector, columns, field, error);
}

static firn_status not_this_shape(const firn_projector *projector, const firn_field *field,
                                  const char *shape, firn_error *error) {
    return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                "the file's column has not the structure of a %s", shape);
}

static firn_status check_member_id(const firn_projector *projector, const firn_parquet_node *node,
                                   const firn_field *member, firn_error *error) {
    if (!has_id(node) || node->element->field_id == member->id) return FIRN_OK;
    return firn_projection_fail(projector, member, FIRN_UNSUPPORTED, error,
                                "the file's column has field id %d", node->element->field_id);
}

static bool is_group(const firn_parquet_node *node) {
    return !node->element->has_type;
}

static bool is_repeated(const firn_parquet_node *node) {
    return node->element->repetition == FIRN_PARQUET_REPEATED;
}

/* The names by which old writers marked the repeated group itself as the element (rule 4). */
static bool is_element_by_name(const firn_parquet_node *list, const firn_parquet_node *repeated) {
    const char *name = repeated->element->name;
    const char *parent = list->element->name;
    size_t length = strlen(parent);
    return strcmp(name, "array") == 0 ||
           (strncmp(name, parent, length) == 0 && strcmp(name + length, "_tuple") == 0);
}

static bool has_field_with_id(const firn_type *type, int32_t id) {
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id == id) return true;
    }
    return false;
}

/* Whether the repeated group, with one child, is the element: by ids where there are any, else by LogicalTypes.md's rules. */
static bool is_two_level(const firn_parquet_node *list, const firn_parquet_node *repeated,
                         const firn_field *element) {
    const firn_parquet_node *child = repeated->children[0];
    if (is_id(repeated, element->id)) return true;
    if (is_id(child, element->id)) return false;
    if (is_repeated(child)) return true;
    if (element->type->kind != FIRN_TYPE_STRUCT) return false;
    if (!is_group(child)) return true;
    if (has_id(child) && has_field_with_id(element->type, child->element->field_id)) return true;
    return is_element_by_name(list, repeated);
}

firn_status firn_match_list(const firn_projector *projector, const firn_parquet_node *node,
                            const firn_field *field, const firn_parquet_node **repeated,
                            const firn_parquet_node **element, firn_error *error) {
    const firn_field *member = &field->type->fields[0];
    firn_parquet_logical_kind kind = node->element->logical.kind;
    bool fits = is_group(node) && node->child_count == 1 && is_repeated(node->children[0]) &&
                (kind == FIRN_PARQUET_LOGICAL_LIST || kind == FIRN_PARQUET_LOGICAL_NONE);
    if (!fits) return not_this_shape(projector, field, "list", error);
    *repeated = node->children[0];
    bool two_level = !is_group(*repeated) || (*repeated)->child_count != 1 ||
                     is_two_level(node, *repeated, member);
    *element = two_level ? *repeated : (*repeated)->children[0];
    return check_member_id(projector, *element, member, error);
}

firn_status firn_match_map(const firn_projector *projector, const firn_parquet_node *node,
                           const firn_field *field, const firn_parquet_node **repeated,
                           const firn_parquet_node **key, const firn_parquet_node **value,
                           firn_error *error) {
    const firn_field *members = field->type->fields;
    firn_parquet_logical_kind kind = node->element->logical.kind;
    bool fits = is_group(node) && node->child_count == 1 && is_repeated(node->children[0]) &&
                is_group(node->children[0]) && node->children[0]->child_count == 2 &&
                (kind == FIRN_PARQUET_LOGICAL_MAP || kind == FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE ||
                 kind == FIRN_PARQUET_LOGICAL_NONE);
    if (!fits) return not_this_shape(projector, field, "map", error);
    *repeated = node->children[0];
    bool swapped = is_id((*repeated)->children[0], members[1].id) &&
                   is_id((*repeated)->children[1], members[0].id);
    *key = (*repeated)->children[swapped ? 1 : 0];
    *value = (*repeated)->children[swapped ? 0 : 1];
    FIRN_TRY(check_member_id(projector, *key, &members[0], error));
    return check_member_id(projector, *value, &members[1], error);
}
