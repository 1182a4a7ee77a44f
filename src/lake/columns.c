#include "lake/columns.h"

#include <string.h>

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
    return as_invalid(
        firn_file_columns_of(schema, mapping, format_version, file, location, arena, out, error),
        error);
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
