#include "iceberg/name_mapping.h"

#include <stdlib.h>
#include <string.h>

/* Deeper nesting than a type can have is refused, so that recursion is bounded. */
#define DEEPEST_MAPPING 100

struct firn_mapped_name {
    const char *name;
    const firn_mapped_field *field; /**< of one array, so that addresses tell the order */
};

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

static int compare_places(const firn_mapped_field *a, const firn_mapped_field *b) {
    return a < b ? -1 : a > b;
}

static int compare_names(const void *left, const void *right) {
    const firn_mapped_name *a = left;
    const firn_mapped_name *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : compare_places(a->field, b->field);
}

static int compare_ids(const void *left, const void *right) {
    const firn_mapped_field *a = *(const firn_mapped_field *const *)left;
    const firn_mapped_field *b = *(const firn_mapped_field *const *)right;
    if (a->field_id != b->field_id) return a->field_id < b->field_id ? -1 : 1;
    return compare_places(a, b);
}

static firn_status index_fields(firn_name_mapping *mapping, firn_arena *arena, firn_error *error) {
    size_t count = 0;
    for (size_t i = 0; i < mapping->field_count; i++) count += mapping->fields[i].name_count;
    firn_mapped_name *names = firn_arena_alloc(arena, count + 1, sizeof *names);
    const firn_mapped_field **ids = firn_arena_alloc(arena, mapping->field_count + 1, sizeof *ids);
    if (names == NULL || ids == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < mapping->field_count; i++) {
        const firn_mapped_field *field = &mapping->fields[i];
        for (size_t j = 0; j < field->name_count; j++) {
            names[mapping->name_count++] = (firn_mapped_name){field->names[j], field};
        }
        if (field->has_field_id) ids[mapping->id_count++] = field;
    }
    qsort(names, mapping->name_count, sizeof *names, compare_names);
    qsort(ids, mapping->id_count, sizeof *ids, compare_ids);
    mapping->by_name = names;
    mapping->by_id = ids;
    return FIRN_OK;
}

static firn_status parse_fields(const json_t *list, int depth, firn_arena *arena,
                                firn_name_mapping *out, firn_error *error) {
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
        if (json_array_size(children) == 0) continue;
        firn_name_mapping *below = firn_arena_alloc(arena, 1, sizeof *below);
        if (below == NULL) return firn_fail_memory(error);
        FIRN_TRY(parse_fields(children, depth + 1, arena, below, error));
        fields[i].below = below;
    }
    out->fields = fields;
    out->field_count = count;
    return index_fields(out, arena, error);
}

firn_status firn_name_mapping_parse(const char *json_text, firn_arena *arena,
                                    const firn_name_mapping **out, firn_error *error) {
    json_t *json = NULL;
    firn_name_mapping *mapping = firn_arena_alloc(arena, 1, sizeof *mapping);
    if (mapping == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_json_parse(firn_slice_text(json_text), what, &json, error));
    firn_status status = FIRN_OK;
    if (json_is_array(json)) {
        status = parse_fields(json, 1, arena, mapping, error);
    } else {
        status = firn_fail(error, FIRN_CORRUPT, "%s: not a list of field mappings", what);
    }
    json_decref(json);
    if (status == FIRN_OK) *out = mapping;
    return status;
}

const firn_mapped_field *firn_name_mapping_find(const firn_name_mapping *mapping,
                                                const char *name) {
    size_t low = 0;
    size_t high = mapping == NULL ? 0 : mapping->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(mapping->by_name[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = mapping != NULL && low < mapping->name_count &&
                 strcmp(mapping->by_name[low].name, name) == 0;
    return found ? mapping->by_name[low].field : NULL;
}

const firn_mapped_field *const *firn_name_mapping_find_id(const firn_name_mapping *mapping,
                                                          int32_t field_id, size_t *count) {
    size_t low = 0;
    size_t high = mapping == NULL ? 0 : mapping->id_count;
    *count = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (mapping->by_id[middle]->field_id < field_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (mapping == NULL) return NULL;
    while (low + *count < mapping->id_count && mapping->by_id[low + *count]->field_id == field_id) {
        ++*count;
    }
    return &mapping->by_id[low];
}

const firn_name_mapping *firn_name_mapping_scope(const firn_name_mapping *mapping) {
    return mapping == NULL || mapping->field_count == 0 ? NULL : mapping;
}

const firn_name_mapping *firn_name_mapping_below(const firn_mapped_field *field) {
    return field == NULL ? NULL : firn_name_mapping_scope(field->below);
}
