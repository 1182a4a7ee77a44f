#include "rewrite/verify.h"

#include "base/alloc.h"
#include "data/rows.h"

/* A variant without typed_value. */
static bool is_unshredded(const firn_parquet_schema *output, const firn_field *field) {
    const firn_parquet_node *node = firn_variant_node(output, field->id);
    return node != NULL && node->child_count == 2 && node->leaf_count == 2;
}

/* Depth is bounded by that of the schema. */
static bool has_text(const firn_parquet_schema *output, const firn_field *field) {
    const firn_type *type = field->type;
    if (type->kind == FIRN_TYPE_GEOMETRY || type->kind == FIRN_TYPE_GEOGRAPHY) return false;
    if (type->kind == FIRN_TYPE_VARIANT) return is_unshredded(output, field);
    for (size_t i = 0; i < type->field_count; i++) {
        if (!has_text(output, &type->fields[i])) return false;
    }
    return true;
}

static firn_status comparable_schema(const firn_rewrite_context *context, firn_arena *arena,
                                     firn_schema *out, firn_error *error) {
    const firn_type *root = &context->schema->root;
    firn_field *fields = firn_arena_alloc(arena, root->field_count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    *out = *context->schema;
    out->root.fields = fields;
    out->root.field_count = 0;
    for (size_t i = 0; i < root->field_count; i++) {
        const firn_field *field = &root->fields[i];
        if (has_text(context->output, field)) fields[out->root.field_count++] = *field;
    }
    return FIRN_OK;
}

static firn_status hash_inputs(const firn_rewrite_context *context, const firn_schema *schema,
                               firn_content_hash *out, firn_error *error) {
    const firn_rewrite_group *group = context->group;
    firn_live_file *files = firn_alloc_array(group->input_count, sizeof *files);
    if (files == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < group->input_count; i++) files[i] = *group->inputs[i];
    firn_status status =
        firn_content_hash_of_files(context->settings->table, schema, files, group->deletes,
                                   group->input_count, context->settings->pool, out, error);
    firn_free(files);
    return status;
}

static firn_status hash_outputs(const firn_rewrite_context *context, const firn_schema *schema,
                                const firn_rewrite_result *result, firn_content_hash *out,
                                firn_error *error) {
    firn_live_file *files = firn_alloc_zeroed(result->output_count, sizeof *files);
    if (files == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < result->output_count; i++) files[i].entry.file = result->outputs[i];
    firn_status status =
        firn_content_hash_of_files(context->settings->table, schema, files, NULL,
                                   result->output_count, context->settings->pool, out, error);
    firn_free(files);
    return status;
}

static firn_status compare(const firn_content_hash *before, const firn_content_hash *after,
                           firn_error *error) {
    if (before->high == after->high && before->low == after->low &&
        before->row_count == after->row_count) {
        return FIRN_OK;
    }
    char old_text[33];
    char new_text[33];
    firn_content_hash_text(before, old_text);
    firn_content_hash_text(after, new_text);
    return firn_fail(error, FIRN_CORRUPT,
                     "the new files do not hold the rows of the old ones (content hash %s of %lld "
                     "rows, before %s of %lld); they are not used",
                     new_text, (long long)after->row_count, old_text, (long long)before->row_count);
}

firn_status firn_rewrite_verify(firn_rewrite_context *context, const firn_rewrite_result *result,
                                firn_error *error) {
    firn_content_hash before = {0};
    firn_content_hash after = {0};
    firn_schema schema;
    FIRN_TRY(comparable_schema(context, context->arena, &schema, error));
    FIRN_TRY(hash_inputs(context, &schema, &before, error));
    FIRN_TRY(hash_outputs(context, &schema, result, &after, error));
    return compare(&before, &after, error);
}
