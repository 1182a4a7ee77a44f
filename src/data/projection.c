#include "data/projection.h"

#include <stdarg.h>
#include <stdio.h>

#include "data/projection_internal.h"
#include "iceberg/lineage.h"

firn_status firn_projection_fail(const firn_projector *projector, const firn_field *field,
                                 firn_status code, firn_error *error, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *name = firn_schema_full_name(projector->schema, field->id, projector->arena);
    return firn_fail(error, code, "%s: column \"%s\" (field id %d): %s", projector->location,
                     name == NULL ? field->name : name, field->id, message);
}

firn_status firn_name_mapping_of_table(const firn_table_metadata *metadata, firn_arena *arena,
                                       const firn_name_mapping **out, firn_error *error) {
    static const char key[] = "schema.name-mapping.default";
    *out = NULL;
    const char *text = firn_table_metadata_property(metadata, key);
    if (text == NULL) return FIRN_OK;
    firn_status status = firn_name_mapping_parse(text, arena, out, error);
    return firn_error_wrap(error, status, "table property %s", key);
}

static bool is_optional(const firn_parquet_node *node) {
    return node->element->repetition == FIRN_PARQUET_OPTIONAL;
}

/* A field, and what of the output and of the file belongs to it. */
typedef struct field_pair {
    const firn_field *field;
    const firn_parquet_node *output, *input;
    const firn_name_mapping *scope; /* for what lies below */
} field_pair;

static firn_status align_content(const firn_projector *projector, field_pair pair,
                                 const firn_level_walk *walk, firn_error *error);
static firn_status align_field(const firn_projector *projector, field_pair pair,
                               const firn_parquet_node *anchor, const firn_level_walk *walk,
                               firn_error *error);

static bool is_identity(const firn_level_walk *walk) {
    if (walk->input != walk->output) return false;
    for (size_t d = 0; d <= walk->input; d++) {
        if (walk->map[d] != d) return false;
    }
    return true;
}

static firn_status align_leaf(const firn_projector *projector, field_pair pair,
                              const firn_level_walk *walk, firn_error *error) {
    if (!pair.input->element->has_type) {
        return firn_projection_fail(projector, pair.field, FIRN_UNSUPPORTED, error,
                                    "the file has a group of columns where the table has %s",
                                    pair.field->type->text);
    }
    firn_parquet_leaf_mapping *mapping = &projector->mappings[pair.output->first_leaf];
    mapping->input_leaf = pair.input->first_leaf;
    memcpy(mapping->definition_level_map, walk->map, sizeof walk->map);
    mapping->levels_identical = is_identity(walk);
    return firn_projection_conversion(projector, pair.field, pair.input->element,
                                      pair.output->element, &mapping->conversion, &mapping->factor,
                                      error);
}

/* Within a variant columns are paired by name; both sides must be shredded alike. */
static firn_status align_variant(const firn_projector *projector, field_pair pair,
                                 const firn_level_walk *walk, firn_error *error) {
    bool same =
        !pair.input->element->has_type && pair.input->child_count == pair.output->child_count;
    for (size_t i = 0; same && i < pair.output->child_count; i++) {
        same = firn_variant_same_column(pair.input->children[i], pair.output->children[i]);
    }
    if (!same) {
        return firn_projection_fail(projector, pair.field, FIRN_UNSUPPORTED, error,
                                    "the file's variant is shredded in another way than that of "
                                    "the files that it is rewritten with");
    }
    for (size_t i = 0; i < pair.output->child_count; i++) {
        field_pair member = {.field = pair.field,
                             .output = pair.output->children[i],
                             .input = pair.input->children[i]};
        bool adds_level = member.output->element->repetition != FIRN_PARQUET_REQUIRED;
        firn_level_walk below = *walk;
        firn_level_walk_step(&below, adds_level, adds_level);
        if (!member.output->element->has_type) {
            FIRN_TRY(align_variant(projector, member, &below, error));
            continue;
        }
        firn_parquet_leaf_mapping *mapping = &projector->mappings[member.output->first_leaf];
        mapping->input_leaf = member.input->first_leaf;
        mapping->factor = 1;
        memcpy(mapping->definition_level_map, below.map, sizeof below.map);
        mapping->levels_identical = is_identity(&below);
    }
    return FIRN_OK;
}

static void set_fill(const firn_projector *projector, const field_pair *member) {
    firn_parquet_leaf_mapping *mapping = &projector->mappings[member->output->first_leaf];
    if (member->field->id == FIRN_ROW_ID_FIELD_ID) mapping->fill = FIRN_PARQUET_FILL_ROW_NUMBER;
    if (member->field->id == FIRN_LAST_UPDATED_FIELD_ID) mapping->fill = FIRN_PARQUET_FILL_VALUE;
}

static firn_status align_members(const firn_projector *projector, const firn_type *type,
                                 field_pair parent, const firn_level_walk *walk,
                                 firn_error *error) {
    const firn_group_columns *columns = NULL;
    FIRN_TRY(
        firn_match_group(projector, parent.input, parent.scope, parent.field, &columns, error));
    size_t child = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].type->kind == FIRN_TYPE_UNKNOWN) continue;
        field_pair member = {.field = &type->fields[i], .output = parent.output->children[child++]};
        FIRN_TRY(firn_match_field(projector, columns, member.field, &member.input, &member.scope,
                                  error));
        if (member.input == NULL) {
            FIRN_TRY(firn_projection_missing(projector, member.field, member.output, parent.input,
                                             walk, error));
        } else {
            FIRN_TRY(align_field(projector, member, parent.input, walk, error));
        }
        if (parent.field == NULL) set_fill(projector, &member);
    }
    return FIRN_OK;
}

static firn_status align_struct(const firn_projector *projector, field_pair pair,
                                const firn_level_walk *walk, firn_error *error) {
    firn_parquet_logical_kind kind = pair.input->element->logical.kind;
    if (pair.input->element->has_type || kind != FIRN_PARQUET_LOGICAL_NONE) {
        return firn_projection_fail(projector, pair.field, FIRN_UNSUPPORTED, error,
                                    "the file's column has not the structure of a struct");
    }
    return align_members(projector, pair.field->type, pair, walk, error);
}

/* The mapping below an entry called "element", "key" or "value". */
static const firn_name_mapping *scope_of_name(const firn_name_mapping *scope, const char *name) {
    return firn_name_mapping_below(firn_name_mapping_find(scope, name));
}

/* The element of a list below its repeated node; `walk` is the account at that node. */
static firn_status align_element(const firn_projector *projector, field_pair list,
                                 const firn_parquet_node *repeated,
                                 const firn_parquet_node *element, const firn_level_walk *walk,
                                 firn_error *error) {
    field_pair member = {.field = &list.field->type->fields[0],
                         .output = list.output->children[0]->children[0],
                         .input = element,
                         .scope = scope_of_name(list.scope, "element")};
    if (element != repeated) return align_field(projector, member, repeated, walk, error);
    /* The repeated node is the element, and a required one. */
    firn_level_walk below = *walk;
    firn_level_walk_step(&below, false, is_optional(member.output));
    return align_content(projector, member, &below, error);
}

static firn_status align_list(const firn_projector *projector, field_pair pair,
                              const firn_level_walk *walk, firn_error *error) {
    const firn_parquet_node *repeated = NULL;
    const firn_parquet_node *element = NULL;
    FIRN_TRY(firn_match_list(projector, pair.input, pair.field, &repeated, &element, error));
    firn_level_walk below = *walk;
    firn_level_walk_step(&below, true, true);
    return align_element(projector, pair, repeated, element, &below, error);
}

static firn_status align_map(const firn_projector *projector, field_pair pair,
                             const firn_level_walk *walk, firn_error *error) {
    const firn_parquet_node *repeated = NULL;
    const firn_parquet_node *nodes[2] = {NULL, NULL};
    FIRN_TRY(
        firn_match_map(projector, pair.input, pair.field, &repeated, &nodes[0], &nodes[1], error));
    firn_level_walk below = *walk;
    firn_level_walk_step(&below, true, true);
    static const char *const names[] = {"key", "value"};
    for (size_t i = 0; i < 2; i++) {
        field_pair member = {.field = &pair.field->type->fields[i],
                             .output = pair.output->children[0]->children[i],
                             .input = nodes[i],
                             .scope = scope_of_name(pair.scope, names[i])};
        FIRN_TRY(align_field(projector, member, repeated, &below, error));
    }
    return FIRN_OK;
}

/* What lies below a node that counts as defined: its optionality is in `walk` already. */
static firn_status align_content(const firn_projector *projector, field_pair pair,
                                 const firn_level_walk *walk, firn_error *error) {
    switch (pair.field->type->kind) {
    case FIRN_TYPE_STRUCT: return align_struct(projector, pair, walk, error);
    case FIRN_TYPE_LIST: return align_list(projector, pair, walk, error);
    case FIRN_TYPE_MAP: return align_map(projector, pair, walk, error);
    case FIRN_TYPE_VARIANT: return align_variant(projector, pair, walk, error);
    default: return align_leaf(projector, pair, walk, error);
    }
}

/* A repeated column outside of a list: a required list of required elements (LogicalTypes.md, "Lists"). */
static firn_status align_bare_list(const firn_projector *projector, field_pair pair,
                                   const firn_level_walk *walk, firn_error *error) {
    if (pair.field->type->kind != FIRN_TYPE_LIST) {
        return firn_projection_fail(projector, pair.field, FIRN_UNSUPPORTED, error,
                                    "the file's column is repeated, but the table's is no list");
    }
    firn_level_walk below = *walk;
    firn_level_walk_step(&below, false, is_optional(pair.output));
    firn_level_walk_step(&below, true, true);
    return align_element(projector, pair, pair.input, pair.input, &below, error);
}

static firn_status align_field(const firn_projector *projector, field_pair pair,
                               const firn_parquet_node *anchor, const firn_level_walk *walk,
                               firn_error *error) {
    const firn_parquet_schema_element *element = pair.input->element;
    if (element->repetition == FIRN_PARQUET_REPEATED) {
        return align_bare_list(projector, pair, walk, error);
    }
    if (element->has_type && element->logical.kind == FIRN_PARQUET_LOGICAL_NULL) {
        return firn_projection_all_null(projector, pair.field, pair.output, anchor, walk, error);
    }
    firn_level_walk below = *walk;
    firn_level_walk_step(&below, element->repetition == FIRN_PARQUET_OPTIONAL,
                         is_optional(pair.output));
    return align_content(projector, pair, &below, error);
}

static bool all_identical(const firn_projection *projection, size_t input_leaf_count) {
    if (projection->leaf_count != input_leaf_count) return false;
    for (size_t i = 0; i < projection->leaf_count; i++) {
        const firn_parquet_leaf_mapping *mapping = &projection->mappings[i];
        if (mapping->input_leaf != (int32_t)i || mapping->levels_only ||
            !mapping->levels_identical || mapping->conversion != FIRN_PARQUET_CONVERT_NONE ||
            mapping->fill != FIRN_PARQUET_FILL_NONE) {
            return false;
        }
    }
    return true;
}

int32_t *firn_projection_leaf_ids(const firn_parquet_schema *output, firn_arena *arena) {
    int32_t *ids = firn_arena_alloc(arena, output->leaf_count, sizeof *ids);
    for (size_t i = 0; ids != NULL && i < output->leaf_count; i++) {
        const firn_parquet_leaf *leaf = &output->leaves[i];
        ids[i] = firn_variant_holds_leaf(leaf) ? -1 : leaf->node->element->field_id;
    }
    return ids;
}

firn_status firn_projection_build(const firn_schema *schema, const firn_parquet_schema *output,
                                  const firn_parquet_file *file, const char *location,
                                  const firn_data_file *file_entry, const firn_partition_spec *spec,
                                  const firn_name_mapping *mapping, int format_version,
                                  firn_arena *arena, firn_projection *out, firn_error *error) {
    size_t count = output->leaf_count;
    int32_t *ids = firn_projection_leaf_ids(output, arena);
    firn_projector projector = {.schema = schema,
                                .output = output,
                                .file = file,
                                .location = location,
                                .entry = file_entry,
                                .spec = spec,
                                .format_version = format_version,
                                .arena = arena,
                                .mappings =
                                    firn_arena_alloc(arena, count, sizeof *projector.mappings)};
    if (ids == NULL || projector.mappings == NULL) return firn_fail_memory(error);
    field_pair root = {.output = output->root, .input = file->schema->root};
    root.scope = firn_name_mapping_scope(mapping);
    firn_level_walk walk = firn_level_walk_start();
    FIRN_TRY(align_members(&projector, &schema->root, root, &walk, error));
    *out = (firn_projection){
        .mappings = projector.mappings, .output_field_ids = ids, .leaf_count = count};
    out->all_identical = all_identical(out, file->schema->leaf_count);
    return FIRN_OK;
}
