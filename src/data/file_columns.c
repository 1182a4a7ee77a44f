#include "data/file_columns.h"

/*
 * What the file has is told by how firn would read it: the projection onto the schema says which leaf of the file feeds
 * which leaf of the schema's own Parquet form, and is read backwards here.
 */
static firn_status invert(const firn_projection *projection, const firn_schema *schema,
                          size_t leaf_count, firn_arena *arena, firn_file_columns *out,
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
    *out = (firn_file_columns){.leaf_count = leaf_count, .field_ids = ids, .types = types};
    return FIRN_OK;
}

firn_status firn_file_columns_of(const firn_schema *schema, const firn_name_mapping *mapping,
                                 int format_version, const firn_parquet_file *file,
                                 const char *location, firn_arena *arena, firn_file_columns *out,
                                 firn_error *error) {
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    firn_status status =
        firn_parquet_elements_like(schema, file->schema, arena, &elements, &count, error);
    if (status != FIRN_OK) return firn_error_wrap(error, status, "%s", location);
    const firn_parquet_schema *output = NULL;
    FIRN_TRY(firn_parquet_schema_build(elements, count, location, arena, &output, error));
    firn_projection projection = {0};
    FIRN_TRY(firn_projection_build(schema, output, file, location, NULL, NULL, mapping,
                                   format_version, arena, &projection, error));
    return invert(&projection, schema, file->schema->leaf_count, arena, out, error);
}
