#include "lake/columns.h"

#include <string.h>

/*
 * What the file has is told by how firn would read it: the projection onto the schema says which leaf of the file feeds
 * which leaf of the schema's own Parquet form, and is read backwards here.
 */
static firn_status invert(const firn_projection *projection, const firn_schema *schema,
                          size_t leaf_count, firn_arena *arena, firn_lake_columns *out,
                          firn_error *error) {
    /* One more, so that a file without columns is no failed allocation. */
    int32_t *ids = firn_arena_alloc(arena, leaf_count + 1, sizeof *ids);
    const firn_type **types = firn_arena_alloc(arena, leaf_count + 1, sizeof *types);
    if (ids == NULL || types == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaf_count; i++) ids[i] = -1;
    for (size_t i = 0; i < projection->leaf_count; i++) {
        const firn_parquet_leaf_mapping *mapping = &projection->mappings[i];
        int32_t id = projection->output_field_ids[i];
        if (mapping->levels_only || mapping->input_leaf < 0 || id < 0) continue;
        const firn_field *field = firn_schema_find(schema, id);
        ids[mapping->input_leaf] = id;
        types[mapping->input_leaf] = field->type;
    }
    *out = (firn_lake_columns){.leaf_count = leaf_count, .field_ids = ids, .types = types};
    return FIRN_OK;
}

/* What is wrong with a file that is to become a table's is wrong with what the user gave. */
static firn_status as_invalid(firn_status status, firn_error *error) {
    if (status != FIRN_UNSUPPORTED && status != FIRN_CORRUPT) return status;
    if (error != NULL) error->code = FIRN_INVALID;
    return FIRN_INVALID;
}

firn_status firn_lake_columns_of(const firn_schema *schema, const firn_name_mapping *mapping,
                                 int format_version, const firn_parquet_file *file,
                                 const char *location, firn_arena *arena, firn_lake_columns *out,
                                 firn_error *error) {
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    firn_status status =
        firn_parquet_elements_like(schema, file->schema, arena, &elements, &count, error);
    if (status != FIRN_OK) return as_invalid(firn_error_wrap(error, status, "%s", location), error);
    const firn_parquet_schema *output = NULL;
    FIRN_TRY(firn_parquet_schema_build(elements, count, location, arena, &output, error));
    firn_projection projection = {0};
    status = firn_projection_build(schema, output, file, location, NULL, NULL, mapping,
                                   format_version, arena, &projection, error);
    if (status != FIRN_OK) return as_invalid(status, error);
    return invert(&projection, schema, file->schema->leaf_count, arena, out, error);
}

static firn_status key_number(int64_t value, firn_buffer *out, firn_error *error) {
    return firn_buffer_append(out, &value, sizeof value, error);
}

/* With its length before it, so that no two runs of texts have the same bytes. */
static firn_status key_text(const char *text, firn_buffer *out, firn_error *error) {
    size_t length = text == NULL ? 0 : strlen(text);
    FIRN_TRY(key_number(text == NULL ? -1 : (int64_t)length, out, error));
    return length == 0 ? FIRN_OK : firn_buffer_append(out, text, length, error);
}

static firn_status key_element(const firn_parquet_schema_element *element, firn_buffer *out,
                               firn_error *error) {
    const firn_parquet_logical_type *logical = &element->logical;
    const int32_t numbers[] = {element->has_type ? (int32_t)element->type : -1,
                               element->type_length,
                               element->has_repetition ? (int32_t)element->repetition : -1,
                               element->num_children,
                               element->has_field_id,
                               element->field_id,
                               (int32_t)logical->kind,
                               logical->scale,
                               logical->precision,
                               (int32_t)logical->unit,
                               logical->adjusted_to_utc,
                               logical->bit_width,
                               logical->is_signed,
                               logical->specification_version,
                               logical->edge_algorithm};
    FIRN_TRY(firn_buffer_append(out, numbers, sizeof numbers, error));
    FIRN_TRY(key_text(element->name, out, error));
    return key_text(logical->crs, out, error);
}

static firn_status key_nodes(const firn_parquet_node *group, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < group->child_count; i++) {
        FIRN_TRY(key_element(group->children[i]->element, out, error));
        FIRN_TRY(key_nodes(group->children[i], out, error));
    }
    return FIRN_OK;
}

firn_status firn_lake_columns_key(const firn_parquet_file *file, firn_buffer *out,
                                  firn_error *error) {
    const firn_parquet_node *root = file->schema->root;
    /* The root's own name and annotation differ from writer to writer and mean nothing. */
    FIRN_TRY(key_number((int64_t)root->child_count, out, error));
    return key_nodes(root, out, error);
}
