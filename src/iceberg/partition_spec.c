#include "iceberg/partition_spec.h"

#include "iceberg/source_ids.h"
#include "iceberg/spec_parse.h"

/* The first field id that v1 writers gave ("Partition Evolution"). */
#define FIRST_FIELD_ID 1000

/* More fields than this are refused: the check for repeated ids is quadratic. */
#define MOST_FIELDS 1000

/* Adds what the map does not have yet. Recursion is bounded by the nesting limit of firn_type_parse. */
static firn_status add_types(firn_map *types, const firn_type *type, firn_error *error) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        if (firn_map_get_int(types, field->id) == NULL) {
            FIRN_TRY(firn_map_set_int(types, field->id, (void *)field->type, error));
        }
        FIRN_TRY(add_types(types, field->type, error));
    }
    return FIRN_OK;
}

static firn_status fill_binding(firn_binding *binding, firn_error *error) {
    if (binding->types != NULL) return FIRN_OK;
    binding->types = firn_map_new();
    if (binding->types == NULL) return firn_fail_memory(error);
    FIRN_TRY(add_types(binding->types, &binding->current->root, error));
    for (size_t i = binding->schema_count; i > 0; i--) {
        FIRN_TRY(add_types(binding->types, &binding->schemas[i - 1]->root, error));
    }
    return FIRN_OK;
}

static firn_status parse_field(const json_t *json, size_t position, bool field_ids_optional,
                               firn_binding *binding, firn_arena *arena, firn_partition_field *out,
                               firn_error *error) {
    const char *what = "partition field";
    const char *name = NULL;
    const char *transform = NULL;
    size_t source_count = 0;
    FIRN_TRY(firn_source_ids_parse(json, what, &out->source_id, &source_count, error));
    FIRN_TRY(firn_json_text(json, what, "name", &name, error));
    FIRN_TRY(firn_json_text(json, what, "transform", &transform, error));
    bool has_id = false;
    FIRN_TRY(firn_json_int32_optional(json, what, "field-id", &out->field_id, &has_id, error));
    if (!has_id) {
        if (!field_ids_optional || position > (size_t)(INT32_MAX - FIRST_FIELD_ID)) {
            return firn_fail(error, FIRN_CORRUPT, "%s: field field-id: is missing", what);
        }
        out->field_id = (int32_t)(FIRST_FIELD_ID + position);
    }
    if (out->field_id < 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field field-id: %d is no field id", what,
                         out->field_id);
    }
    out->name = firn_arena_strdup(arena, name);
    if (out->name == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_transform_parse(transform, arena, &out->transform, error));
    /* A transform of several columns is none that firn knows, whatever its name. */
    if (source_count > 1) out->transform.kind = FIRN_TRANSFORM_UNKNOWN;
    FIRN_TRY(fill_binding(binding, error));
    out->source_type = firn_map_get_int(binding->types, out->source_id);
    out->result_type = firn_transform_natural_result(&out->transform, out->source_type);
    return FIRN_OK;
}

firn_status firn_partition_fields_parse(const json_t *list, bool field_ids_optional,
                                        firn_binding *binding, firn_arena *arena,
                                        firn_partition_spec *spec, firn_error *error) {
    size_t count = json_array_size(list);
    if (count > MOST_FIELDS) {
        return firn_fail(error, FIRN_LIMIT, "a partition spec of more than %d fields", MOST_FIELDS);
    }
    firn_partition_field *fields = firn_arena_alloc(arena, count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_error_wrap(error,
                                 parse_field(json_array_get(list, i), i, field_ids_optional,
                                             binding, arena, &fields[i], error),
                                 "fields[%zu]", i));
        for (size_t j = 0; j < i; j++) {
            if (fields[j].field_id != fields[i].field_id) continue;
            return firn_fail(error, FIRN_CORRUPT, "partition field id %d occurs twice",
                             fields[i].field_id);
        }
    }
    spec->fields = fields;
    spec->field_count = count;
    return FIRN_OK;
}

static json_t *field_to_json(const firn_partition_field *field) {
    json_t *json = json_object();
    if (json == NULL) return NULL;
    if (json_object_set_new(json, "name", json_string(field->name)) == 0 &&
        json_object_set_new(json, "transform", json_string(field->transform.text)) == 0 &&
        json_object_set_new(json, "source-id", json_integer(field->source_id)) == 0 &&
        json_object_set_new(json, "field-id", json_integer(field->field_id)) == 0) {
        return json;
    }
    json_decref(json);
    return NULL;
}

json_t *firn_partition_spec_fields_to_json(const firn_partition_spec *spec) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < spec->field_count; i++) {
        if (json_array_append_new(list, field_to_json(&spec->fields[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

bool firn_partition_spec_is_unpartitioned(const firn_partition_spec *spec) {
    for (size_t i = 0; i < spec->field_count; i++) {
        if (spec->fields[i].transform.kind != FIRN_TRANSFORM_VOID) return false;
    }
    return true;
}
