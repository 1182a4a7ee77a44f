#include "iceberg/lineage.h"

#include <string.h>

#include "iceberg/primitive.h"

static bool is_taken(const firn_type *root, const char *name) {
    for (size_t i = 0; i < root->field_count; i++) {
        if (strcmp(root->fields[i].name, name) == 0) return true;
    }
    return false;
}

static const char *free_name(const firn_type *root, const char *name, firn_arena *arena) {
    while (name != NULL && is_taken(root, name)) name = firn_arena_format(arena, "%s_", name);
    return name;
}

static firn_status lineage_field(const firn_schema *schema, int32_t id, const char *name,
                                 const char *doc, firn_arena *arena, firn_field *out,
                                 firn_error *error) {
    *out = (firn_field){.id = id,
                        .name = free_name(&schema->root, name, arena),
                        .type = firn_primitive_type(FIRN_TYPE_LONG),
                        .doc = doc};
    return out->name == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_schema_with_lineage(const firn_schema *schema, firn_arena *arena,
                                     const firn_schema **out, firn_error *error) {
    size_t count = schema->root.field_count;
    if (firn_schema_find(schema, FIRN_ROW_ID_FIELD_ID) != NULL ||
        firn_schema_find(schema, FIRN_LAST_UPDATED_FIELD_ID) != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "schema %d uses the field ids that are reserved for row lineage (%d, %d)",
                         schema->schema_id, FIRN_ROW_ID_FIELD_ID, FIRN_LAST_UPDATED_FIELD_ID);
    }
    firn_schema *extended = firn_arena_alloc(arena, 1, sizeof *extended);
    firn_field *fields = firn_arena_alloc(arena, count + 2, sizeof *fields);
    if (extended == NULL || fields == NULL) return firn_fail_memory(error);
    if (count > 0) memcpy(fields, schema->root.fields, count * sizeof *fields);
    FIRN_TRY(lineage_field(schema, FIRN_ROW_ID_FIELD_ID, "_row_id",
                           "Identifies the row, whichever file it is moved to", arena,
                           &fields[count], error));
    FIRN_TRY(lineage_field(schema, FIRN_LAST_UPDATED_FIELD_ID, "_last_updated_sequence_number",
                           "Sequence number of the commit that last changed the row", arena,
                           &fields[count + 1], error));
    *extended = *schema;
    extended->root.fields = fields;
    extended->root.field_count = count + 2;
    *out = extended;
    return FIRN_OK;
}
