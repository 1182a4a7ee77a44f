#include "iceberg/types.h"

/* Each function returns a new reference, or NULL when memory is out. */

static json_t *struct_field_to_json(const firn_field *field) {
    json_t *json = json_object();
    bool ok = json != NULL && json_object_set_new(json, "id", json_integer(field->id)) == 0 &&
              json_object_set_new(json, "name", json_string(field->name)) == 0 &&
              json_object_set_new(json, "required", json_boolean(field->required)) == 0 &&
              json_object_set_new(json, "type", firn_type_to_json(field->type)) == 0;
    if (ok && field->doc != NULL) {
        ok = json_object_set_new(json, "doc", json_string(field->doc)) == 0;
    }
    /* A default is shared, not copied: JSON of a document is never changed once it is parsed. */
    if (ok && field->initial_default != NULL) {
        ok = json_object_set(json, "initial-default", (json_t *)field->initial_default) == 0;
    }
    if (ok && field->write_default != NULL) {
        ok = json_object_set(json, "write-default", (json_t *)field->write_default) == 0;
    }
    if (ok) return json;
    json_decref(json);
    return NULL;
}

static json_t *fields_to_json(const firn_type *type) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < type->field_count; i++) {
        if (json_array_append_new(list, struct_field_to_json(&type->fields[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static bool put_list(json_t *json, const firn_field *element) {
    return json_object_set_new(json, "type", json_string("list")) == 0 &&
           json_object_set_new(json, "element-id", json_integer(element->id)) == 0 &&
           json_object_set_new(json, "element", firn_type_to_json(element->type)) == 0 &&
           json_object_set_new(json, "element-required", json_boolean(element->required)) == 0;
}

static bool put_map(json_t *json, const firn_field *key, const firn_field *value) {
    return json_object_set_new(json, "type", json_string("map")) == 0 &&
           json_object_set_new(json, "key-id", json_integer(key->id)) == 0 &&
           json_object_set_new(json, "key", firn_type_to_json(key->type)) == 0 &&
           json_object_set_new(json, "value-id", json_integer(value->id)) == 0 &&
           json_object_set_new(json, "value", firn_type_to_json(value->type)) == 0 &&
           json_object_set_new(json, "value-required", json_boolean(value->required)) == 0;
}

json_t *firn_type_to_json(const firn_type *type) {
    if (!firn_type_is_nested(type->kind)) return json_string(type->text);
    json_t *json = json_object();
    if (json == NULL) return NULL;
    bool ok = false;
    if (type->kind == FIRN_TYPE_STRUCT) {
        ok = json_object_set_new(json, "type", json_string("struct")) == 0 &&
             json_object_set_new(json, "fields", fields_to_json(type)) == 0;
    } else if (type->kind == FIRN_TYPE_LIST) {
        ok = put_list(json, &type->fields[0]);
    } else {
        ok = put_map(json, &type->fields[0], &type->fields[1]);
    }
    if (ok) return json;
    json_decref(json);
    return NULL;
}

static json_t *identifier_fields_to_json(const firn_schema *schema) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < schema->identifier_field_count; i++) {
        if (json_array_append_new(list, json_integer(schema->identifier_field_ids[i])) == 0) {
            continue;
        }
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *firn_schema_to_json(const firn_schema *schema) {
    json_t *json = json_object();
    bool ok = json != NULL && json_object_set_new(json, "type", json_string("struct")) == 0 &&
              json_object_set_new(json, "schema-id", json_integer(schema->schema_id)) == 0;
    if (ok && schema->identifier_field_count != 0) {
        ok = json_object_set_new(json, "identifier-field-ids", identifier_fields_to_json(schema)) ==
             0;
    }
    if (ok) ok = json_object_set_new(json, "fields", fields_to_json(&schema->root)) == 0;
    if (ok) return json;
    json_decref(json);
    return NULL;
}
