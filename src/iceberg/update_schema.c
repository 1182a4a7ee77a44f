#include "base/map.h"
#include "iceberg/json_copy.h"
#include "iceberg/update_apply.h"

#define WHAT "table update"

/* Whether two schemas say the same but for their ids. */
static bool same_schema(const json_t *a, const json_t *b) {
    const json_t *left = json_object_get(a, "identifier-field-ids");
    const json_t *right = json_object_get(b, "identifier-field-ids");
    bool same_identifiers =
        json_array_size(left) == 0 ? json_array_size(right) == 0 : json_equal(left, right) != 0;
    return same_identifiers &&
           json_equal(json_object_get(a, "fields"), json_object_get(b, "fields")) != 0;
}

static firn_status raise_last_column_id(firn_change *change, const firn_schema *schema,
                                        firn_error *error) {
    int32_t highest = firn_schema_highest_id(schema);
    if (highest > change->last_column_id) change->last_column_id = highest;
    return firn_json_set_int(change->document, "last-column-id", change->last_column_id, error);
}

static firn_status index_names(const firn_type *type, const char *prefix, firn_map *names,
                               firn_arena *arena, firn_error *error) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const char *name =
            prefix == NULL ? field->name : firn_arena_format(arena, "%s.%s", prefix, field->name);
        if (name == NULL) return firn_fail_memory(error);
        if (firn_map_has_text(names, name)) {
            return firn_fail(error, FIRN_INVALID,
                             "the schema has two fields with the full name \"%s\"; readers refuse "
                             "such a table",
                             name);
        }
        FIRN_TRY(firn_map_set_text(names, name, NULL, error));
        FIRN_TRY(index_names(field->type, name, names, arena, error));
    }
    return FIRN_OK;
}

firn_status firn_check_full_names(const firn_schema *schema, firn_arena *arena, firn_error *error) {
    firn_map *names = firn_map_new();
    if (names == NULL) return firn_fail_memory(error);
    firn_status status = index_names(&schema->root, NULL, names, arena, error);
    firn_map_free(names);
    return status;
}

/* The id that the update brings is not used: a schema that is there already keeps its id, a new one gets the next. */
firn_status firn_apply_add_schema(firn_change *change, const json_t *update, firn_error *error) {
    json_t *given = NULL;
    json_t *list = NULL;
    const firn_schema *parsed = NULL;
    FIRN_TRY(firn_json_object(update, WHAT, "schema", &given, error));
    FIRN_TRY(firn_schema_parse(given, "schema", change->arena, &parsed, error));
    FIRN_TRY(firn_change_array(change, "schemas", &list, error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *present = json_array_get(list, i);
        if (!same_schema(present, given)) continue;
        return firn_json_int32(present, "schema", "schema-id", &change->added_schema_id, error);
    }
    FIRN_TRY(firn_check_full_names(parsed, change->arena, error));
    int64_t id = firn_json_highest_id(list, "schema-id", -1) + 1;
    if (id > INT32_MAX) return firn_fail(error, FIRN_LIMIT, "there is no schema id left");
    json_t *copy = firn_json_copy_deep(given);
    FIRN_TRY(firn_json_append(list, copy, error));
    FIRN_TRY(firn_json_set_int(copy, "schema-id", id, error));
    change->added_schema_id = (int32_t)id;
    return raise_last_column_id(change, parsed, error);
}

firn_status firn_apply_set_current_schema(firn_change *change, const json_t *update,
                                          firn_error *error) {
    int32_t id = 0;
    FIRN_TRY(firn_json_int32(update, WHAT, "schema-id", &id, error));
    if (id == -1) id = change->added_schema_id;
    const json_t *list = json_object_get(change->document, "schemas");
    if (firn_json_find_by_id(list, "schema-id", id) == NULL) {
        return firn_fail(error, FIRN_INVALID, "there is no schema %d", id);
    }
    return firn_json_set_int(change->document, "current-schema-id", id, error);
}

firn_status firn_apply_remove_schemas(firn_change *change, const json_t *update,
                                      firn_error *error) {
    json_t *ids = NULL;
    int32_t current = 0;
    FIRN_TRY(firn_json_array(update, WHAT, "schema-ids", &ids, error));
    FIRN_TRY(
        firn_json_int32(change->document, "table metadata", "current-schema-id", &current, error));
    return firn_change_remove_by_id(change, "schemas", "schema-id", ids, current, error);
}
