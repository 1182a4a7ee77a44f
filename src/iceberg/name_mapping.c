#include "iceberg/name_mapping.h"

#include <string.h>

/* Deeper nesting than a type can have is refused, so that recursion is bounded. */
#define DEEPEST_MAPPING 100

static const char what[] = "schema.name-mapping.default";

static firn_status parse_names(const json_t *json, firn_arena *arena, firn_mapped_field *out,
                               firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array(json, what, "names", &list, error));
    size_t count = json_array_size(list);
    const char **names = firn_arena_alloc(arena, count, sizeof *names);
    if (names == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name == NULL) {
            return firn_fail(error, FIRN_CORRUPT, "%s: field names: not a list of texts", what);
        }
        names[i] = firn_arena_strdup(arena, name);
        if (names[i] == NULL) return firn_fail_memory(error);
    }
    out->names = names;
    out->name_count = count;
    return FIRN_OK;
}

static firn_status parse_fields(const json_t *list, int depth, firn_arena *arena,
                                const firn_mapped_field **out, size_t *out_count,
                                firn_error *error) {
    if (depth > DEEPEST_MAPPING) {
        return firn_fail(error, FIRN_LIMIT, "%s: nested deeper than %d levels", what,
                         DEEPEST_MAPPING);
    }
    size_t count = json_array_size(list);
    firn_mapped_field *fields = firn_arena_alloc(arena, count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *json = json_array_get(list, i);
        json_t *children = NULL;
        FIRN_TRY(parse_names(json, arena, &fields[i], error));
        FIRN_TRY(firn_json_int32_optional(json, what, "field-id", &fields[i].field_id,
                                          &fields[i].has_field_id, error));
        FIRN_TRY(firn_json_array_optional(json, what, "fields", &children, NULL, error));
        FIRN_TRY(parse_fields(children, depth + 1, arena, &fields[i].fields, &fields[i].field_count,
                              error));
    }
    *out = fields;
    *out_count = count;
    return FIRN_OK;
}

firn_status firn_name_mapping_parse(const char *json_text, firn_arena *arena,
                                    const firn_name_mapping **out, firn_error *error) {
    json_t *json = NULL;
    firn_name_mapping *mapping = firn_arena_alloc(arena, 1, sizeof *mapping);
    if (mapping == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_json_parse(firn_slice_text(json_text), what, &json, error));
    firn_status status = FIRN_OK;
    if (json_is_array(json)) {
        status = parse_fields(json, 1, arena, &mapping->fields, &mapping->field_count, error);
    } else {
        status = firn_fail(error, FIRN_CORRUPT, "%s: not a list of field mappings", what);
    }
    json_decref(json);
    if (status == FIRN_OK) *out = mapping;
    return status;
}

const firn_mapped_field *firn_name_mapping_find(const firn_mapped_field *fields, size_t count,
                                                const char *name) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < fields[i].name_count; j++) {
            if (strcmp(fields[i].names[j], name) == 0) return &fields[i];
        }
    }
    return NULL;
}
