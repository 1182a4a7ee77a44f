#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "lake/schema_union.h"

/* schema.name-mapping.default for a schema (specification, "Column Projection" and "Name Mapping Serialization"). */

static firn_status fields_of(const firn_type *type, const firn_name_mapping *before, json_t **out,
                             firn_error *error);

/* The first entry with this id; NULL: none. */
static const firn_mapped_field *mapped_id(const firn_name_mapping *scope, int32_t id) {
    size_t count = 0;
    const firn_mapped_field *const *found = firn_name_mapping_find_id(scope, id, &count);
    return count == 0 ? NULL : found[0];
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
static firn_status names_of(const firn_field *field, const firn_name_mapping *before, json_t *names,
                            firn_error *error) {
    if (firn_name_mapping_find(before, field->name) == NULL) {
        FIRN_TRY(add_name(names, field->name, error));
    }
    size_t count = 0;
    const firn_mapped_field *const *found = firn_name_mapping_find_id(before, field->id, &count);
    for (size_t i = 0; i < count; i++) {
        const firn_mapped_field *mapped = found[i];
        for (size_t j = 0; j < mapped->name_count; j++) {
            const char *name = mapped->names[j];
            if (firn_name_mapping_find(before, name) != mapped) continue;
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

static firn_status add_field(json_t *list, const firn_field *field, const firn_name_mapping *before,
                             firn_error *error) {
    json_t *fields = NULL;
    json_t *names = json_array();
    firn_status status = names == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK) status = names_of(field, before, names, error);
    if (status == FIRN_OK) {
        status = fields_of(field->type, firn_name_mapping_below(mapped_id(before, field->id)),
                           &fields, error);
    }
    if (status == FIRN_OK) return add_entry(list, true, field->id, names, fields, error);
    json_decref(names);
    return status;
}

static firn_status copy_fields(const firn_name_mapping *scope, json_t **out, firn_error *error);

/* An entry of the mapping before, as it is. */
static firn_status copy_entry(json_t *list, const firn_mapped_field *mapped,
                              const firn_name_mapping *before, firn_error *error) {
    json_t *fields = NULL;
    json_t *names = json_array();
    firn_status status = names == NULL ? firn_fail_memory(error) : FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < mapped->name_count; i++) {
        const char *name = mapped->names[i];
        if (firn_name_mapping_find(before, name) != mapped) continue;
        status = add_name(names, name, error);
    }
    if (status == FIRN_OK) status = copy_fields(firn_name_mapping_below(mapped), &fields, error);
    if (status == FIRN_OK) {
        return add_entry(list, mapped->has_field_id, mapped->field_id, names, fields, error);
    }
    json_decref(names);
    return status;
}

static firn_status copy_fields(const firn_name_mapping *scope, json_t **out, firn_error *error) {
    json_t *list = json_array();
    firn_status status = list == NULL ? firn_fail_memory(error) : FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && scope != NULL && i < scope->field_count; i++) {
        status = copy_entry(list, &scope->fields[i], scope, error);
    }
    if (status == FIRN_OK) {
        *out = list;
    } else {
        json_decref(list);
    }
    return status;
}

/* Marks the entries that are of fields which the type has. */
static void mark_present(const firn_type *type, const firn_name_mapping *before, bool *present) {
    for (size_t i = 0; i < type->field_count; i++) {
        size_t count = 0;
        const firn_mapped_field *const *found =
            firn_name_mapping_find_id(before, type->fields[i].id, &count);
        for (size_t j = 0; j < count; j++) present[found[j] - before->fields] = true;
    }
}

/* Names of columns that were dropped, or never taken, are kept: without them a column that is gone would come back as a new one. */
static firn_status copy_absent(json_t *list, const firn_type *type, const firn_name_mapping *before,
                               firn_error *error) {
    if (before == NULL || before->field_count == 0) return FIRN_OK;
    bool *present = firn_alloc_zeroed(before->field_count, sizeof *present);
    if (present == NULL) return firn_fail_memory(error);
    mark_present(type, before, present);
    firn_status status = FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < before->field_count; i++) {
        if (!present[i]) status = copy_entry(list, &before->fields[i], before, error);
    }
    firn_free(present);
    return status;
}

static firn_status fields_of(const firn_type *type, const firn_name_mapping *before, json_t **out,
                             firn_error *error) {
    json_t *list = json_array();
    firn_status status = list == NULL ? firn_fail_memory(error) : FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < type->field_count; i++) {
        status = add_field(list, &type->fields[i], before, error);
    }
    if (status == FIRN_OK) status = copy_absent(list, type, before, error);
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
    json_t *list = NULL;
    FIRN_TRY(fields_of(&schema->root, before, &list, error));
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

static bool covers(const firn_name_mapping *scope, const firn_type *type) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        const firn_mapped_field *own = mapped_id(scope, field->id);
        bool named = firn_name_mapping_find(scope, field->name) != NULL;
        if (own == NULL || !named || !covers(firn_name_mapping_below(own), field->type))
            return false;
    }
    return true;
}

bool firn_name_mapping_covers(const firn_name_mapping *mapping, const firn_schema *schema) {
    if (mapping == NULL) return false;
    return covers(mapping, &schema->root);
}
