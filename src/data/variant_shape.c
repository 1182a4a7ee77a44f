/*
 * The columns that a file stores a variant in (Parquet, VariantEncoding.md and VariantShredding.md). Files may shred one column
 * differently; a shape is known by its columns' names, types and repetitions, since they have no field ids.
 */
#include <string.h>

#include "data/projection.h"

static bool is_variant(const firn_parquet_node *node) {
    return !node->element->has_type && node->element->logical.kind == FIRN_PARQUET_LOGICAL_VARIANT;
}

/* Depth is bounded by that of the file's schema. */
static const firn_parquet_node *find(const firn_parquet_node *node, int32_t field_id) {
    for (size_t i = 0; i < node->child_count; i++) {
        const firn_parquet_node *child = node->children[i];
        if (child->element->has_field_id && child->element->field_id == field_id) return child;
        if (is_variant(child)) continue;
        const firn_parquet_node *below = find(child, field_id);
        if (below != NULL) return below;
    }
    return NULL;
}

const firn_parquet_node *firn_variant_node(const firn_parquet_schema *schema, int32_t field_id) {
    const firn_parquet_node *node = find(schema->root, field_id);
    return node != NULL && !node->element->has_type ? node : NULL;
}

bool firn_variant_holds_leaf(const firn_parquet_leaf *leaf) {
    for (const firn_parquet_node *node = leaf->node->parent; node != NULL; node = node->parent) {
        if (is_variant(node)) return true;
    }
    return false;
}

bool firn_variant_same_column(const firn_parquet_node *a, const firn_parquet_node *b) {
    const firn_parquet_schema_element *x = a->element, *y = b->element;
    const firn_parquet_logical_type *m = &x->logical, *n = &y->logical;
    return strcmp(x->name, y->name) == 0 && x->repetition == y->repetition &&
           x->has_type == y->has_type && a->child_count == b->child_count &&
           (!x->has_type || (x->type == y->type && x->type_length == y->type_length)) &&
           m->kind == n->kind && m->scale == n->scale && m->precision == n->precision &&
           m->unit == n->unit && m->adjusted_to_utc == n->adjusted_to_utc &&
           m->bit_width == n->bit_width && m->is_signed == n->is_signed;
}

static firn_status append_columns(const firn_parquet_node *node, firn_buffer *out,
                                  firn_error *error) {
    for (size_t i = 0; i < node->child_count; i++) {
        const firn_parquet_node *child = node->children[i];
        const firn_parquet_schema_element *element = child->element;
        const firn_parquet_logical_type *logical = &element->logical;
        const int32_t numbers[] = {(int32_t)element->repetition,
                                   element->has_type ? (int32_t)element->type : -1,
                                   element->has_type ? element->type_length : 0,
                                   (int32_t)child->child_count,
                                   (int32_t)logical->kind,
                                   logical->scale,
                                   logical->precision,
                                   (int32_t)logical->unit,
                                   logical->adjusted_to_utc,
                                   logical->bit_width,
                                   logical->is_signed};
        FIRN_TRY(firn_buffer_append(out, numbers, sizeof numbers, error));
        FIRN_TRY(firn_buffer_append(out, element->name, strlen(element->name) + 1, error));
        FIRN_TRY(append_columns(child, out, error));
    }
    return FIRN_OK;
}

static firn_status append_shapes(const firn_type *type, const firn_parquet_schema *file,
                                 firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        FIRN_TRY(append_shapes(field->type, file, out, error));
        if (field->type->kind != FIRN_TYPE_VARIANT) continue;
        const firn_parquet_node *node = firn_variant_node(file, field->id);
        FIRN_TRY(firn_buffer_append(out, &field->id, sizeof field->id, error));
        FIRN_TRY(firn_buffer_append_byte(out, node == NULL ? 0 : 1, error));
        if (node != NULL) FIRN_TRY(append_columns(node, out, error));
    }
    return FIRN_OK;
}

firn_status firn_variant_shapes(const firn_schema *schema, const firn_parquet_schema *file,
                                firn_buffer *out, firn_error *error) {
    return append_shapes(&schema->root, file, out, error);
}
