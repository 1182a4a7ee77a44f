/*
 * From an input's levels to the output's, leaf by leaf. Along a path, each node that is optional or repeated on either side is one
 * step; the output has every step that an input has, so that no level is without a counterpart.
 */
#include "parquet/merge_internal.h"

/* map[d] for d below `input` is final; map[input] is the output level of "all steps so far are defined". */
typedef struct level_walk {
    uint8_t input, output;
    uint8_t map[FIRN_PARQUET_MAX_LEVEL + 2];
} level_walk;

typedef struct mapper {
    const firn_parquet_schema *output;
    const firn_parquet_merge_source *from;
    size_t source;
    firn_parquet_leaf_mapping *mappings;
} mapper;

static bool has_level(const firn_parquet_schema_element *element) {
    return element->repetition == FIRN_PARQUET_OPTIONAL ||
           element->repetition == FIRN_PARQUET_REPEATED;
}

static int32_t cheapest_leaf(const firn_parquet_schema *schema, const firn_parquet_node *node) {
    int32_t best = node->first_leaf;
    for (int32_t i = best; i < node->first_leaf + node->leaf_count; i++) {
        if (schema->leaves[i].maximum_repetition_level <
            schema->leaves[best].maximum_repetition_level) {
            best = i;
        }
    }
    return best;
}

/* A leaf that the input lacks is null wherever the nearest group that it has is there. */
static firn_status map_missing_leaf(const mapper *state, const firn_parquet_node *anchor,
                                    const level_walk *walk, int32_t leaf, firn_error *error) {
    firn_parquet_leaf_mapping *mapping = &state->mappings[leaf];
    *mapping = (firn_parquet_leaf_mapping){
        .input_leaf = -1, .factor = 1, .absent_definition_level = walk->output};
    if (anchor->parent == NULL) return FIRN_OK;
    if (anchor->leaf_count < 1) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: group \"%s\" has no columns",
                         state->from->name, anchor->element->name);
    }
    const firn_parquet_schema *input = state->from->schema;
    mapping->input_leaf = cheapest_leaf(input, anchor);
    mapping->levels_only = true;
    mapping->kept_repetition_level = anchor->repetition_level;
    uint8_t maximum = input->leaves[mapping->input_leaf].maximum_definition_level;
    for (size_t d = 0; d <= maximum; d++) {
        mapping->definition_level_map[d] =
            d < anchor->definition_level ? walk->map[d] : walk->output;
    }
    return FIRN_OK;
}

static void map_leaf(const mapper *state, const firn_parquet_node *input, const level_walk *walk,
                     int32_t leaf) {
    const firn_parquet_leaf *output = &state->output->leaves[leaf];
    firn_parquet_leaf_mapping *mapping = &state->mappings[leaf];
    *mapping = (firn_parquet_leaf_mapping){
        .input_leaf = input->first_leaf,
        .factor = 1,
        .conversion = firn_parquet_merge_conversion(input->element, output->node->element),
        .levels_identical = input->definition_level == output->maximum_definition_level &&
                            input->repetition_level == output->maximum_repetition_level,
    };
    for (size_t d = 0; d <= input->definition_level; d++) {
        mapping->definition_level_map[d] = walk->map[d];
        mapping->levels_identical = mapping->levels_identical && walk->map[d] == d;
    }
}

static firn_status map_field(const mapper *state, const firn_parquet_merged_field *field,
                             const firn_parquet_node *output, const firn_parquet_node *anchor,
                             level_walk walk, firn_error *error) {
    const firn_parquet_node *input = field->inputs[state->source];
    if (input == NULL) {
        for (int32_t i = output->first_leaf; i < output->first_leaf + output->leaf_count; i++) {
            FIRN_TRY(map_missing_leaf(state, anchor, &walk, i, error));
        }
        return FIRN_OK;
    }
    if (has_level(input->element)) walk.input++;
    if (has_level(output->element)) walk.output++;
    walk.map[walk.input] = walk.output;
    if (output->element->has_type) {
        map_leaf(state, input, &walk, output->first_leaf);
        return FIRN_OK;
    }
    for (size_t i = 0; i < field->child_count; i++) {
        FIRN_TRY(map_field(state, field->children[i], output->children[i], input, walk, error));
    }
    return FIRN_OK;
}

firn_status firn_parquet_merge_mappings(const firn_parquet_merged_field *root,
                                        const firn_parquet_schema *output, size_t source,
                                        const firn_parquet_merge_source *from, firn_arena *arena,
                                        const firn_parquet_leaf_mapping **out, firn_error *error) {
    firn_parquet_leaf_mapping *mappings =
        firn_arena_alloc(arena, output->leaf_count, sizeof *mappings);
    if (mappings == NULL) return firn_fail_memory(error);
    mapper state = {output, from, source, mappings};
    level_walk walk = {0};
    for (size_t i = 0; i < root->child_count; i++) {
        FIRN_TRY(map_field(&state, root->children[i], output->root->children[i],
                           root->inputs[source], walk, error));
    }
    *out = mappings;
    return FIRN_OK;
}
