#include "data/plain_value.h"
#include "data/projection_internal.h"

/* Where missing fields hang: the output level of the nearest ancestor that the file has is `walk->output`. */
typedef struct anchor_point {
    const firn_parquet_node *node;
    const firn_level_walk *walk;
} anchor_point;

/* Of the leaves below a node, one with the fewest entries to skip. */
static int32_t cheapest_leaf(const firn_parquet_schema *schema, const firn_parquet_node *node) {
    int32_t best = node->first_leaf;
    for (int32_t i = node->first_leaf; i < node->first_leaf + node->leaf_count; i++) {
        if (schema->leaves[i].maximum_repetition_level <
            schema->leaves[best].maximum_repetition_level) {
            best = i;
        }
    }
    return best;
}

/* One leaf, at `level` in every entry in which the anchor is defined; `constant` data == NULL: null. */
static firn_status set_leaf(const firn_projector *projector, anchor_point anchor, int32_t leaf,
                            uint8_t level, firn_slice constant, const firn_field *field,
                            firn_error *error) {
    firn_parquet_leaf_mapping *mapping = &projector->mappings[leaf];
    mapping->conversion = FIRN_PARQUET_CONVERT_NONE;
    mapping->factor = 1;
    mapping->constant = constant;
    mapping->absent_definition_level = level;
    if (anchor.node->parent == NULL) {
        mapping->input_leaf = -1;
        return FIRN_OK;
    }
    const firn_parquet_schema *schema = projector->file->schema;
    if (anchor.node->leaf_count < 1) {
        return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                    "its struct has no columns in the file");
    }
    mapping->input_leaf = cheapest_leaf(schema, anchor.node);
    mapping->levels_only = true;
    mapping->kept_repetition_level = anchor.node->repetition_level;
    uint8_t maximum = schema->leaves[mapping->input_leaf].maximum_definition_level;
    for (size_t d = 0; d <= maximum; d++) {
        mapping->definition_level_map[d] =
            d < anchor.node->definition_level ? anchor.walk->map[d] : level;
    }
    return FIRN_OK;
}

static firn_status set_null(const firn_projector *projector, anchor_point anchor,
                            const firn_field *field, const firn_parquet_node *output, uint8_t level,
                            firn_error *error) {
    if (field->required) {
        return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                    "the column is required and has no initial default, and the "
                                    "file lacks it");
    }
    firn_slice none = {NULL, 0};
    for (int32_t i = output->first_leaf; i < output->first_leaf + output->leaf_count; i++) {
        FIRN_TRY(set_leaf(projector, anchor, i, level, none, field, error));
    }
    return FIRN_OK;
}

static firn_status set_value(const firn_projector *projector, anchor_point anchor,
                             const firn_field *field, const firn_parquet_node *output,
                             const firn_value *value, firn_error *error) {
    firn_slice constant = {NULL, 0};
    firn_status status =
        firn_plain_from_value(field->type, value, projector->arena, &constant, error);
    if (status != FIRN_OK) {
        return firn_error_wrap(error, status, "%s: column \"%s\" (field id %d)",
                               projector->location, field->name, field->id);
    }
    return set_leaf(projector, anchor, output->first_leaf, output->definition_level, constant,
                    field, error);
}

/* The value of the file's own identity partition field, if there is one for this column. Other transforms, void among them, say nothing about it. */
static const firn_value *partition_value(const firn_projector *projector, const firn_field *field) {
    const firn_partition_spec *spec = projector->spec;
    if (spec == NULL || projector->entry == NULL) return NULL;
    for (size_t i = 0; i < spec->field_count && i < projector->entry->partition_count; i++) {
        const firn_partition_field *partition = &spec->fields[i];
        if (partition->source_id == field->id &&
            partition->transform.kind == FIRN_TRANSFORM_IDENTITY) {
            return &projector->entry->partition[i];
        }
    }
    return NULL;
}

static firn_status missing(const firn_projector *projector, anchor_point anchor,
                           const firn_field *field, const firn_parquet_node *output, uint8_t level,
                           firn_error *error);

/* A struct's default is null or {}: then each of its fields takes its own ("Default values"). */
static firn_status default_struct(const firn_projector *projector, anchor_point anchor,
                                  const firn_field *field, const firn_parquet_node *output,
                                  firn_error *error) {
    if (!json_is_object(field->initial_default) || json_object_size(field->initial_default) != 0) {
        return firn_projection_fail(projector, field, FIRN_CORRUPT, error,
                                    "the initial default of a struct is neither null nor {}");
    }
    size_t child = 0;
    for (size_t i = 0; i < field->type->field_count; i++) {
        const firn_field *member = &field->type->fields[i];
        if (member->type->kind == FIRN_TYPE_UNKNOWN) continue;
        FIRN_TRY(missing(projector, anchor, member, output->children[child++],
                         output->definition_level, error));
    }
    return FIRN_OK;
}

static firn_status set_default(const firn_projector *projector, anchor_point anchor,
                               const firn_field *field, const firn_parquet_node *output,
                               firn_error *error) {
    if (field->type->kind == FIRN_TYPE_STRUCT) {
        return default_struct(projector, anchor, field, output, error);
    }
    if (firn_type_is_nested(field->type->kind)) {
        return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                    "initial defaults of lists and maps");
    }
    firn_value value = {0};
    firn_status status =
        firn_value_from_json(field->type, field->initial_default, projector->arena, &value, error);
    if (status != FIRN_OK) {
        return firn_error_wrap(error, status, "column \"%s\" (field id %d): initial-default",
                               field->name, field->id);
    }
    return set_value(projector, anchor, field, output, &value, error);
}

static firn_status missing(const firn_projector *projector, anchor_point anchor,
                           const firn_field *field, const firn_parquet_node *output, uint8_t level,
                           firn_error *error) {
    const firn_value *value = partition_value(projector, field);
    if (value != NULL && !value->is_null && !firn_type_is_nested(field->type->kind)) {
        return set_value(projector, anchor, field, output, value, error);
    }
    if (value == NULL && field->initial_default != NULL && !json_is_null(field->initial_default)) {
        return set_default(projector, anchor, field, output, error);
    }
    if (field->type->kind == FIRN_TYPE_STRUCT && !field->required) {
        for (size_t i = 0; i < field->type->field_count; i++) {
            const firn_value *inner = partition_value(projector, &field->type->fields[i]);
            if (inner == NULL || inner->is_null) continue;
            return firn_projection_fail(projector, &field->type->fields[i], FIRN_UNSUPPORTED, error,
                                        "there is a partition value for it, but the file lacks "
                                        "the struct that holds it");
        }
    }
    return set_null(projector, anchor, field, output, level, error);
}

firn_status firn_projection_missing(const firn_projector *projector, const firn_field *field,
                                    const firn_parquet_node *output,
                                    const firn_parquet_node *anchor, const firn_level_walk *walk,
                                    firn_error *error) {
    anchor_point point = {anchor, walk};
    return missing(projector, point, field, output, walk->output, error);
}

firn_status firn_projection_all_null(const firn_projector *projector, const firn_field *field,
                                     const firn_parquet_node *output,
                                     const firn_parquet_node *anchor, const firn_level_walk *walk,
                                     firn_error *error) {
    anchor_point point = {anchor, walk};
    return set_null(projector, point, field, output, walk->output, error);
}
