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

static const firn_mapped_field *mapped_by_id(firn_mapping_scope scope, int32_t id) {
    for (size_t i = 0; i < scope.field_count; i++) {
        if (scope.fields[i].has_field_id && scope.fields[i].field_id == id) return &scope.fields[i];
    }
    return NULL;
}

static firn_mapping_scope scope_below(const firn_mapped_field *mapped) {
    if (mapped == NULL || mapped->field_count == 0) return (firn_mapping_scope){NULL, 0};
    return (firn_mapping_scope){mapped->fields, mapped->field_count};
}

firn_mapping_scope firn_scope_of_name(firn_mapping_scope scope, const char *name) {
    if (scope.fields == NULL) return scope;
    return scope_below(firn_name_mapping_find(scope.fields, scope.field_count, name));
}

static const firn_mapped_field *mapped_by_name(firn_mapping_scope scope,
                                               const firn_parquet_node *node) {
    if (scope.fields == NULL) return NULL;
    return firn_name_mapping_find(scope.fields, scope.field_count, node->element->name);
}

static firn_status match_by_id(const firn_projector *projector, const firn_parquet_node *group,
                               const firn_field *field, const firn_parquet_node **node,
                               firn_error *error) {
    *node = NULL;
    for (size_t i = 0; i < group->child_count; i++) {
        const firn_parquet_node *child = group->children[i];
        if (!is_id(child, field->id)) continue;
        if (*node != NULL) {
            return firn_projection_fail(projector, field, FIRN_CORRUPT, error,
                                        "two columns of the file, \"%s\" and \"%s\", have this id",
                                        (*node)->element->name, child->element->name);
        }
        *node = child;
    }
    return FIRN_OK;
}

static firn_status match_by_name(const firn_projector *projector, const firn_parquet_node *group,
                                 firn_mapping_scope scope, const firn_field *field,
                                 const firn_parquet_node **node, firn_error *error) {
    for (size_t i = 0; i < group->child_count; i++) {
        const firn_parquet_node *child = group->children[i];
        if (has_id(child)) continue;
        const firn_mapped_field *mapped = mapped_by_name(scope, child);
        if (mapped == NULL || !mapped->has_field_id || mapped->field_id != field->id) continue;
        if (*node != NULL) {
            return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                        "the name mapping takes both \"%s\" and \"%s\" of the file "
                                        "for this column",
                                        (*node)->element->name, child->element->name);
        }
        *node = child;
    }
    return FIRN_OK;
}

/*
 * A column without id that has the field's own name, and of which the mapping says nothing, may hold the field's values: nulls
 * in their place would lose them without a word.
 */
static firn_status check_namesake(const firn_projector *projector, const firn_parquet_node *group,
                                  firn_mapping_scope scope, const firn_field *field,
                                  firn_error *error) {
    for (size_t i = 0; i < group->child_count; i++) {
        const firn_parquet_node *child = group->children[i];
        if (has_id(child) || strcmp(child->element->name, field->name) != 0) continue;
        if (mapped_by_name(scope, child) != NULL) continue;
        return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                    "the file has a column of this name without a field id; set "
                                    "schema.name-mapping.default to say what it is");
    }
    return FIRN_OK;
}

firn_status firn_match_field(const firn_projector *projector, const firn_parquet_node *group,
                             firn_mapping_scope scope, const firn_field *field,
                             const firn_parquet_node **node, firn_mapping_scope *below,
                             firn_error *error) {
    *below = scope_below(mapped_by_id(scope, field->id));
    FIRN_TRY(match_by_id(projector, group, field, node, error));
    if (*node != NULL) return FIRN_OK;
    FIRN_TRY(match_by_name(projector, group, scope, field, node, error));
    /* A column of the user's own may be called as one of row lineage is; it is not meant. */
    bool reserved = field->id == FIRN_ROW_ID_FIELD_ID || field->id == FIRN_LAST_UPDATED_FIELD_ID;
    if (*node == NULL && reserved) return FIRN_OK;
    if (*node == NULL) return check_namesake(projector, group, scope, field, error);
    /* Several entries may name one id: what lies below is described by the one that matched. */
    *below = scope_below(mapped_by_name(scope, *node));
    return FIRN_OK;
}

firn_status firn_match_check_group(const firn_projector *projector, const firn_parquet_node *group,
                                   firn_mapping_scope scope, const firn_field *owner,
                                   firn_error *error) {
    bool any_mapped = false;
    for (size_t i = 0; i < group->child_count; i++) {
        if (has_id(group->children[i])) return FIRN_OK;
        /* Nothing but nulls: whichever column it is, nothing of it is lost. */
        bool only_nulls = group->children[i]->element->logical.kind == FIRN_PARQUET_LOGICAL_NULL;
        any_mapped = any_mapped || only_nulls;
        const firn_mapped_field *mapped = mapped_by_name(scope, group->children[i]);
        any_mapped = any_mapped || (mapped != NULL && mapped->has_field_id);
    }
    if (any_mapped || group->child_count == 0) return FIRN_OK;
    const char *problem = scope.fields == NULL
                              ? "has no field ids, and the table has no name mapping for it"
                              : "has no field ids, and the name mapping names none of its columns";
    if (owner != NULL) {
        return firn_projection_fail(projector, owner, FIRN_UNSUPPORTED, error,
                                    "the struct %s (schema.name-mapping.default)", problem);
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: the file %s (schema.name-mapping.default)",
                     projector->location, problem);
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
