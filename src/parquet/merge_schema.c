#include "parquet/merge_schema.h"

#include "base/map.h"
#include "parquet/merge_internal.h"

typedef struct merger {
    const firn_parquet_merge_source *sources;
    size_t count;
    bool by_id;
    firn_arena *arena;
    size_t element_count;
} merger;

typedef firn_parquet_merged_field merged_field;

static bool all_have_ids(const firn_parquet_node *node) {
    for (size_t i = 0; i < node->child_count; i++) {
        const firn_parquet_node *child = node->children[i];
        /* The group between a list or map and its elements has no id of its own (Iceberg specification, appendix A). */
        bool middle =
            child->element->repetition == FIRN_PARQUET_REPEATED && !child->element->has_type;
        if (!child->element->has_field_id && !middle) return false;
        if (!all_have_ids(child)) return false;
    }
    return true;
}

static merged_field *new_field(merger *state, const firn_parquet_schema_element *element) {
    merged_field *field = firn_arena_alloc(state->arena, 1, sizeof *field);
    if (field == NULL) return NULL;
    field->element = *element;
    field->element.name = firn_arena_strdup(state->arena, element->name);
    field->inputs = firn_arena_alloc(state->arena, state->count, sizeof *field->inputs);
    if (element->logical.crs != NULL) {
        field->element.logical.crs = firn_arena_strdup(state->arena, element->logical.crs);
        if (field->element.logical.crs == NULL) return NULL;
    }
    state->element_count++;
    return field->element.name == NULL || field->inputs == NULL ? NULL : field;
}

/* Whether children are told apart by what they are called, not by where they stand: not in a list or map and what lies between. */
static bool has_named_children(const merged_field *field, bool below_list) {
    firn_parquet_logical_kind kind = field->element.logical.kind;
    return kind != FIRN_PARQUET_LOGICAL_LIST && kind != FIRN_PARQUET_LOGICAL_MAP &&
           kind != FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE && !below_list;
}

static firn_status refuse(const merger *state, const merged_field *field, size_t source,
                          firn_status status, firn_error *error) {
    if (status != FIRN_UNSUPPORTED) return status;
    return firn_error_wrap(error, status, "%s: field \"%s\" does not fit the other files",
                           state->sources[source].name, field->element.name);
}

static merged_field *find_child(const merger *state, firn_map *known,
                                const firn_parquet_schema_element *element) {
    if (state->by_id && element->has_field_id) return firn_map_get_int(known, element->field_id);
    return firn_map_get_text(known, element->name);
}

static firn_status remember(const merger *state, firn_map *known, merged_field *child,
                            firn_error *error) {
    if (state->by_id && child->element.has_field_id) {
        return firn_map_set_int(known, child->element.field_id, child, error);
    }
    return firn_map_set_text(known, child->element.name, child, error);
}

/* The child's element takes in what this source has. */
static firn_status join_child(merger *state, merged_field *child, const firn_parquet_node *node,
                              size_t source, firn_error *error) {
    const firn_parquet_schema_element *element = node->element;
    if (child->inputs[source] != NULL) {
        return refuse(state, child, source,
                      firn_fail(error, FIRN_UNSUPPORTED, "the file has two fields of that %s",
                                state->by_id ? "id" : "name"),
                      error);
    }
    child->inputs[source] = node;
    bool repeated = child->element.repetition == FIRN_PARQUET_REPEATED;
    if (repeated != (element->repetition == FIRN_PARQUET_REPEATED)) {
        return refuse(state, child, source,
                      firn_fail(error, FIRN_UNSUPPORTED, "it is repeated in one file only"), error);
    }
    if (element->repetition == FIRN_PARQUET_OPTIONAL) {
        child->element.repetition = FIRN_PARQUET_OPTIONAL;
    }
    if (!element->has_field_id || !child->element.has_field_id ||
        element->field_id != child->element.field_id) {
        child->element.has_field_id = false;
    }
    return refuse(state, child, source, firn_parquet_merge_types(&child->element, element, error),
                  error);
}

static firn_status add_child(merger *state, merged_field *field, size_t room,
                             const firn_parquet_node *node, merged_field **out, firn_error *error) {
    if (field->children == NULL) {
        field->children = firn_arena_alloc(state->arena, room, sizeof *field->children);
        if (field->children == NULL) return firn_fail_memory(error);
    }
    *out = new_field(state, node->element);
    if (*out == NULL) return firn_fail_memory(error);
    field->children[field->child_count++] = *out;
    return FIRN_OK;
}

static firn_status join_named(merger *state, merged_field *field, size_t room, firn_map *known,
                              firn_error *error) {
    for (size_t source = 0; source < state->count; source++) {
        const firn_parquet_node *parent = field->inputs[source];
        for (size_t i = 0; parent != NULL && i < parent->child_count; i++) {
            const firn_parquet_node *node = parent->children[i];
            merged_field *child = find_child(state, known, node->element);
            if (child == NULL) {
                FIRN_TRY(add_child(state, field, room, node, &child, error));
                FIRN_TRY(remember(state, known, child, error));
            }
            FIRN_TRY(join_child(state, child, node, source, error));
        }
    }
    return FIRN_OK;
}

static firn_status join_placed(merger *state, merged_field *field, size_t room, firn_error *error) {
    for (size_t source = 0; source < state->count; source++) {
        const firn_parquet_node *parent = field->inputs[source];
        if (parent == NULL) continue;
        for (size_t i = 0; i < parent->child_count; i++) {
            merged_field *child = i < field->child_count ? field->children[i] : NULL;
            if (child == NULL) {
                FIRN_TRY(add_child(state, field, room, parent->children[i], &child, error));
            }
            FIRN_TRY(join_child(state, child, parent->children[i], source, error));
        }
    }
    for (size_t source = 0; source < state->count; source++) {
        const firn_parquet_node *parent = field->inputs[source];
        if (parent == NULL || parent->child_count == field->child_count) continue;
        return refuse(state, field, source,
                      firn_fail(error, FIRN_UNSUPPORTED, "its lists or maps are built another way"),
                      error);
    }
    return FIRN_OK;
}

/* Optional wherever a file has the group but not the field. */
static firn_status relax_child(merger *state, const merged_field *field, merged_field *child,
                               firn_error *error) {
    for (size_t source = 0; source < state->count; source++) {
        if (field->inputs[source] == NULL || child->inputs[source] != NULL) continue;
        if (child->element.repetition == FIRN_PARQUET_REPEATED) {
            return refuse(state, child, source,
                          firn_fail(error, FIRN_UNSUPPORTED,
                                    "the file lacks it, and a bare repeated field can't be null"),
                          error);
        }
        child->element.has_repetition = true;
        child->element.repetition = FIRN_PARQUET_OPTIONAL;
    }
    return FIRN_OK;
}

/* Nesting is bounded by FIRN_PARQUET_MAX_LEVEL in every input, and the output is no deeper. */
static firn_status join_children(merger *state, merged_field *field, bool below_list,
                                 firn_error *error) {
    size_t room = 0;
    for (size_t i = 0; i < state->count; i++) {
        if (field->inputs[i] != NULL) room += field->inputs[i]->child_count;
    }
    if (room == 0) return FIRN_OK;
    bool named = has_named_children(field, below_list);
    if (named) {
        firn_map *known = firn_map_new();
        if (known == NULL) return firn_fail_memory(error);
        firn_status status = join_named(state, field, room, known, error);
        firn_map_free(known);
        if (status != FIRN_OK) return status;
    } else {
        FIRN_TRY(join_placed(state, field, room, error));
    }
    for (size_t i = 0; i < field->child_count; i++) {
        merged_field *child = field->children[i];
        FIRN_TRY(relax_child(state, field, child, error));
        if (child->element.has_type) continue;
        /* Below a list's or map's own group stands the repeated one, whose children have no names of their own either; in a
         * two-level list that one is the element itself. */
        bool middle = !named && child->element.repetition == FIRN_PARQUET_REPEATED &&
                      (field->element.logical.kind != FIRN_PARQUET_LOGICAL_LIST ||
                       child->inputs[0] == NULL || child->inputs[0]->child_count == 1);
        FIRN_TRY(join_children(state, child, middle, error));
    }
    return FIRN_OK;
}

static void flatten(const merged_field *field, firn_parquet_schema_element *out, size_t *used) {
    out[*used] = field->element;
    out[*used].num_children = (int32_t)field->child_count;
    (*used)++;
    for (size_t i = 0; i < field->child_count; i++) flatten(field->children[i], out, used);
}

static firn_status make_output(merger *state, const merged_field *root,
                               firn_parquet_merged_schema *out, firn_error *error) {
    firn_parquet_schema_element *elements =
        firn_arena_alloc(state->arena, state->element_count, sizeof *elements);
    const firn_parquet_leaf_mapping **mappings =
        firn_arena_alloc(state->arena, state->count, sizeof *mappings);
    if (elements == NULL || mappings == NULL) return firn_fail_memory(error);
    size_t used = 0;
    flatten(root, elements, &used);
    FIRN_TRY(firn_parquet_schema_build(elements, used, "the merged schema", state->arena,
                                       &out->schema, error));
    for (size_t i = 0; i < state->count; i++) {
        FIRN_TRY(firn_parquet_merge_mappings(root, out->schema, i, &state->sources[i], state->arena,
                                             &mappings[i], error));
    }
    out->elements = elements;
    out->element_count = used;
    out->mappings = mappings;
    return FIRN_OK;
}

firn_status firn_parquet_merge_schemas(const firn_parquet_merge_source *sources, size_t count,
                                       firn_arena *arena, firn_parquet_merged_schema *out,
                                       firn_error *error) {
    merger state = {.sources = sources, .count = count, .by_id = true, .arena = arena};
    if (count == 0) return firn_fail(error, FIRN_INVALID, "there is no schema to merge");
    for (size_t i = 0; i < count; i++) {
        state.by_id = state.by_id && all_have_ids(sources[i].schema->root);
    }
    merged_field *root = new_field(&state, sources[0].schema->root->element);
    if (root == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) root->inputs[i] = sources[i].schema->root;
    FIRN_TRY(join_children(&state, root, false, error));
    return make_output(&state, root, out, error);
}
