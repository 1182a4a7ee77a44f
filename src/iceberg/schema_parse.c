#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "iceberg/types.h"

typedef FIRN_VECTOR(const firn_field *) field_list;

/* Recursion is bounded by the nesting limit of firn_type_parse. */
static firn_status collect_fields(const firn_type *type, field_list *list, firn_error *error) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        FIRN_TRY(firn_vector_push(list, error, field));
        FIRN_TRY(collect_fields(field->type, list, error));
    }
    return FIRN_OK;
}

static int by_id(const void *a, const void *b) {
    const firn_field *const *left = a;
    const firn_field *const *right = b;
    return ((*left)->id > (*right)->id) - ((*left)->id < (*right)->id);
}

static firn_status check_unique_ids(const firn_schema *schema, const char *what,
                                    firn_error *error) {
    firn_status status = FIRN_OK;
    field_list list = {0};
    FIRN_CHECK(collect_fields(&schema->root, &list, error));
    if (list.count < 2) goto out;
    qsort(list.items, list.count, sizeof *list.items, by_id);
    for (size_t i = 1; i < list.count; i++) {
        if (list.items[i]->id != list.items[i - 1]->id) continue;
        status = firn_fail(error, FIRN_CORRUPT,
                           "%s: schema %d: field id %d occurs twice (\"%.100s\" and \"%.100s\")",
                           what, schema->schema_id, list.items[i]->id, list.items[i - 1]->name,
                           list.items[i]->name);
        goto out;
    }
out:
    firn_vector_release(&list);
    return status;
}

static firn_status parse_identifier_fields(const json_t *json, const char *what, firn_arena *arena,
                                           firn_schema *schema, firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array_optional(json, what, "identifier-field-ids", &list, NULL, error));
    if (list == NULL) return FIRN_OK;
    size_t count = json_array_size(list);
    int32_t *ids = firn_arena_alloc(arena, count, sizeof *ids);
    if (ids == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t id = json_integer_value(item);
        if (!json_is_integer(item) || id < 0 || id > INT32_MAX) {
            return firn_fail(error, FIRN_CORRUPT,
                             "%s: field identifier-field-ids: not a list of field ids", what);
        }
        ids[i] = (int32_t)id;
    }
    schema->identifier_field_ids = ids;
    schema->identifier_field_count = count;
    return FIRN_OK;
}

firn_status firn_schema_parse(const json_t *json, const char *what, firn_arena *arena,
                              const firn_schema **out, firn_error *error) {
    firn_schema *schema = firn_arena_alloc(arena, 1, sizeof *schema);
    if (schema == NULL) return firn_fail_memory(error);
    if (!json_is_object(json)) {
        return firn_fail(error, FIRN_CORRUPT, "%s: a schema is no object", what);
    }
    /* Optional in v1, where a lone schema has the id 0. */
    FIRN_TRY(firn_json_int32_optional(json, what, "schema-id", &schema->schema_id, NULL, error));
    const char *kind = NULL;
    FIRN_TRY(firn_json_text(json, what, "type", &kind, error));
    if (strcmp(kind, "struct") != 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field type: a schema is a struct, not a %.100s",
                         what, kind);
    }
    const firn_type *root = NULL;
    FIRN_TRY(firn_error_wrap(error, firn_type_parse(json, what, arena, &root, error), "schema %d",
                             schema->schema_id));
    schema->root = *root;
    FIRN_TRY(parse_identifier_fields(json, what, arena, schema, error));
    FIRN_TRY(check_unique_ids(schema, what, error));
    *out = schema;
    return FIRN_OK;
}
