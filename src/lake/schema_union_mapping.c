#include <string.h>

#include "base/json.h"
#include "lake/schema_union.h"

/* schema.name-mapping.default for a schema (specification, "Column Projection" and "Name Mapping Serialization"). */

typedef struct mapping_scope {
    const firn_mapped_field *fields;
    size_t count;
} mapping_scope;

static firn_status fields_of(const firn_type *type, mapping_scope before, json_t **out,
                             firn_error *error);

static const firn_mapped_field *mapped_id(mapping_scope scope, int32_t id) {
    for (size_t i = 0; i < scope.count; i++) {
        if (scope.fields[i].has_field_id && scope.fields[i].field_id == id) {
            return &scope.fields[i];
        }
    }
    return NULL;
}

static mapping_scope scope_below(const firn_mapped_field *mapped) {
    return mapped == NULL ? (mapping_scope){NULL, 0}
                          : (mapping_scope){mapped->fields, mapped->field_count};
}

static firn_status add_name(json_t *names, const char *name, firn_error *error) {
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0) return FIRN_OK;
    }
    return firn_json_append(names, json_string(name), error);
}

/*
 * A name that the mapping has for something stays that thing's: files that were read by it must not be read otherwise from now
 * on. A name that stands there twice counts where it stands first, and readers refuse it, so it is written there only.
 */
static firn_status names_of(const firn_field *field, mapping_scope before, json_t *names,
                            firn_error *error) {
    if (firn_name_mapping_find(before.fields, before.count, field->name) == NULL) {
        FIRN_TRY(add_name(names, field->name, error));
    }
    for (size_t i = 0; i < before.count; i++) {
        const firn_mapped_field *mapped = &before.fields[i];
        if (!mapped->has_field_id || mapped->field_id != field->id) continue;
        for (size_t j = 0; j < mapped->name_count; j++) {
            const char *name = mapped->names[j];
            if (firn_name_mapping_find(before.fields, before.count, name) != mapped) continue;
            FIRN_TRY(add_name(names, name, error));
        }
    }
    return FIRN_OK;
}

/* `names` and `fields` are taken over, also on failure; no "fields" where there are none. */
static firn_status add_entry(json_t *list, bool has_id, int32_t id, json_t *names, json_t *fields,
                             firn_error *error) {
    json_t *entry = json_object();
    firn_status status = entry == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK && has_id) status = firn_json_set_int(entry, "field-id", id, error);
    if (status == FIRN_OK) status = firn_json_set(entry, "names", json_incref(names), error);
    if (status == FIRN_OK && json_array_size(fields) > 0) {
        status = firn_json_set(entry, "fields", json_incref(fields), error);
    }
    if (status == FIRN_OK) status = firn_json_append(list, json_incref(entry), error);
    json_decref(entry);
    json_decref(names);
    json_decref(fields);
    return status;
}

static firn_status add_field(json_t *list, const firn_field *field, mapping_scope before,
                             firn_error *error) {
    json_t *fields = NULL;
    json_t *names = json_array();
    firn_status status = names == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK) status = names_of(field, before, names, error);
    if (status == FIRN_OK) {
        status = fields_of(field->type, scope_below(mapped_id(before, field->id)), &fields, error);
    }
    if (status == FIRN_OK) return add_entry(list, true, field->id, names, fields, error);
    json_decref(names);
    return status;
}

static bool has_field(const firn_type *type, int32_t id) {
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id == id) return true;
    }
    return false;
}

static firn_status copy_fields(mapping_scope scope, json_t **out, firn_error *error);

/* An entry of the mapping before, as it is. */
static firn_status copy_entry(json_t *list, const firn_mapped_field *mapped, mapping_scope before,
                              firn_error *error) {
    json_t *fields = NULL;
    json_t *names = json_array();
    firn_status status = names == NULL ? firn_fail_memory(error) : FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < mapped->name_count; i++) {
        const char *name = mapped->names[i];
        if (firn_name_mapping_find(before.fields, before.count, name) != mapped) continue;
        status = add_name(names, name, error);
    }
    if (status == FIRN_OK) status = copy_fields(scope_below(mapped), &fields, error);
    if (status == FIRN_OK) {
        return add_entry(list, mapped->has_field_id, mapped->field_id, names, fields, error);
    }
    json_decref(names);
    return status;
}

static firn_status copy_fields(mapping_scope scope, json_t **out, firn_error *error) {
    json_t *list = json_array();
    firn_status status = list == NULL ? firn_fail_memory(error) : FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < scope.count; i++) {
        status = copy_entry(list, &scope.fields[i], scope, error);
    }
    if (status == FIRN_OK) {
        *out = list;
    } else {
        json_decref(list);
    }
    return status;
}

/* Names of columns that were dropped, or never taken, are kept: without them a column that is gone would come back as a new one. */
static firn_status fields_of(const firn_type *type, mapping_scope before, json_t **out,
                             firn_error *error) {
    json_t *list = json_array();
    firn_status status = list == NULL ? firn_fail_memory(error) : FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < type->field_count; i++) {
        status = add_field(list, &type->fields[i], before, error);
    }
    for (size_t i = 0; status == FIRN_OK && i < before.count; i++) {
        const firn_mapped_field *mapped = &before.fields[i];
        if (mapped->has_field_id && has_field(type, mapped->field_id)) continue;
        status = copy_entry(list, mapped, before, error);
    }
    if (status == FIRN_OK) {
        *out = list;
    } else {
        json_decref(list);
    }
    return status;
}

/* Deep enough for any schema; a mapping is one property of the metadata. */
#define LARGEST_MAPPING ((size_t)256 << 20)

firn_status firn_name_mapping_for(const firn_schema *schema, const firn_name_mapping *before,
                                  char **out, firn_error *error) {
    mapping_scope scope = {NULL, 0};
    if (before != NULL) scope = (mapping_scope){before->fields, before->field_count};
    json_t *list = NULL;
    FIRN_TRY(fields_of(&schema->root, scope, &list, error));
    firn_buffer text = firn_buffer_with_maximum(LARGEST_MAPPING);
    firn_status status = firn_json_write(list, 0, &text, error);
    json_decref(list);
    if (status == FIRN_OK) {
        *out = firn_buffer_take_text(&text);
        if (*out == NULL) status = firn_fail_memory(error);
    }
    firn_buffer_release(&text);
    return status;
}

static bool covers(mapping_scope scope, const firn_type *type) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const firn_mapped_field *own = mapped_id(scope, field->id);
        bool named = firn_name_mapping_find(scope.fields, scope.count, field->name) != NULL;
        if (own == NULL || !named || !covers(scope_below(own), field->type)) return false;
    }
    return true;
}

bool firn_name_mapping_covers(const firn_name_mapping *mapping, const firn_schema *schema) {
    if (mapping == NULL) return false;
    return covers((mapping_scope){mapping->fields, mapping->field_count}, &schema->root);
}
