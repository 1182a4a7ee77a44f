#include "base/random.h"
#include "iceberg/json_copy.h"
#include "iceberg/update_apply.h"

#define NEWEST_VERSION 3

/* A list with its members, each with an object of its own that may be changed. */
static firn_status own_members(json_t *list, firn_error *error) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *copy = firn_json_copy_shallow(json_array_get(list, i));
        if (copy == NULL) return firn_fail_memory(error);
        if (json_array_set_new(list, i, copy) != 0) return firn_fail_memory(error);
    }
    return FIRN_OK;
}

/* The fields of a spec with the ids that v1 leaves to their position; new reference. */
static firn_status numbered_fields(const json_t *fields, json_t **out, firn_error *error) {
    json_t *copy = firn_json_copy_shallow(fields);
    if (copy == NULL) return firn_fail_memory(error);
    firn_status status = own_members(copy, error);
    for (size_t i = 0; status == FIRN_OK && i < json_array_size(copy); i++) {
        json_t *field = json_array_get(copy, i);
        const json_t *id = json_object_get(field, "field-id");
        if (json_is_integer(id)) continue;
        status = firn_json_set_int(field, "field-id", 1000 + (int64_t)i, error);
    }
    if (status != FIRN_OK) {
        json_decref(copy);
        return status;
    }
    *out = copy;
    return FIRN_OK;
}

static firn_status complete_schemas(firn_change *change, firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_change_array(change, "schemas", &list, error));
    int32_t current = change->base->schema->schema_id;
    if (firn_json_find_by_id(list, "schema-id", current) == NULL) {
        /* The base was parsed, so its current schema is `schema` where the list lacks it. */
        json_t *copy = firn_json_copy_shallow(json_object_get(change->document, "schema"));
        FIRN_TRY(firn_json_append(list, copy, error));
        FIRN_TRY(firn_json_set_int(copy, "schema-id", current, error));
    }
    return firn_json_set_int(change->document, "current-schema-id", current, error);
}

static firn_status complete_specs(firn_change *change, firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_change_array(change, "partition-specs", &list, error));
    if (json_array_size(list) == 0) {
        json_t *fields = NULL;
        json_t *spec = json_object();
        FIRN_TRY(firn_json_append(list, spec, error));
        FIRN_TRY(firn_json_set_int(spec, "spec-id", 0, error));
        FIRN_TRY(
            numbered_fields(json_object_get(change->document, "partition-spec"), &fields, error));
        FIRN_TRY(firn_json_set(spec, "fields", fields, error));
    }
    FIRN_TRY(firn_json_set_int(change->document, "default-spec-id",
                               change->base->default_spec->spec_id, error));
    return firn_json_set_int(change->document, "last-partition-id", change->last_partition_id,
                             error);
}

firn_status firn_change_complete_v1(firn_change *change, firn_error *error) {
    json_t *orders = NULL;
    FIRN_TRY(complete_schemas(change, error));
    FIRN_TRY(complete_specs(change, error));
    FIRN_TRY(firn_change_array(change, "sort-orders", &orders, error));
    if (json_array_size(orders) == 0) {
        json_t *unsorted = json_object();
        FIRN_TRY(firn_json_append(orders, unsorted, error));
        FIRN_TRY(firn_json_set_int(unsorted, "order-id", 0, error));
        FIRN_TRY(firn_json_set(unsorted, "fields", json_array(), error));
    }
    return firn_json_set_int(change->document, "default-sort-order-id",
                             change->base->default_sort_order_id, error);
}

/* The object of a list that the document's own `current_key` names. */
static json_t *current_of(const firn_change *change, const char *list_key, const char *id_key,
                          const char *current_key) {
    const json_t *id = json_object_get(change->document, current_key);
    return firn_json_find_by_id(json_object_get(change->document, list_key), id_key,
                                json_integer_value(id));
}

firn_status firn_change_mirror_v1(firn_change *change, firn_error *error) {
    json_t *schema = current_of(change, "schemas", "schema-id", "current-schema-id");
    const json_t *old_schema = json_object_get(change->document, "schema");
    const json_t *old_fields = json_object_get(old_schema, "fields");
    if (schema != NULL && !json_equal(json_object_get(schema, "fields"), old_fields)) {
        FIRN_TRY(firn_json_set(change->document, "schema", json_incref(schema), error));
    }
    json_t *spec = current_of(change, "partition-specs", "spec-id", "default-spec-id");
    json_t *fields = json_object_get(spec, "fields");
    if (fields == NULL || json_equal(fields, json_object_get(change->document, "partition-spec"))) {
        return FIRN_OK;
    }
    return firn_json_set(change->document, "partition-spec", json_incref(fields), error);
}

/* v2 has every partition field's id in the document, and the old keys no more. */
static firn_status upgrade_to_v2(firn_change *change, firn_error *error) {
    json_t *specs = NULL;
    FIRN_TRY(firn_change_array(change, "partition-specs", &specs, error));
    FIRN_TRY(own_members(specs, error));
    for (size_t i = 0; i < json_array_size(specs); i++) {
        json_t *spec = json_array_get(specs, i);
        json_t *fields = NULL;
        FIRN_TRY(numbered_fields(json_object_get(spec, "fields"), &fields, error));
        FIRN_TRY(firn_json_set(spec, "fields", fields, error));
    }
    json_object_del(change->document, "schema");
    json_object_del(change->document, "partition-spec");
    if (!json_is_string(json_object_get(change->document, "table-uuid"))) {
        char uuid[FIRN_UUID_TEXT_SIZE];
        FIRN_TRY(firn_uuid_random(uuid, error));
        FIRN_TRY(firn_json_set_text(change->document, "table-uuid", uuid, error));
    }
    /* What v1 may hold under this key means nothing there. */
    return firn_json_set_int(change->document, "last-sequence-number", 0, error);
}

firn_status firn_apply_upgrade_format_version(firn_change *change, const json_t *update,
                                              firn_error *error) {
    int32_t version = 0;
    FIRN_TRY(firn_json_int32(update, "table update", "format-version", &version, error));
    if (version > NEWEST_VERSION) {
        return firn_fail(error, FIRN_UNSUPPORTED, "format version %d is newer than firn knows",
                         version);
    }
    if (version < change->format_version) {
        return firn_fail(error, FIRN_INVALID, "a v%d table can't become a v%d one",
                         change->format_version, version);
    }
    if (version == change->format_version) return FIRN_OK;
    if (change->format_version == 1) FIRN_TRY(upgrade_to_v2(change, error));
    /* Existing snapshots stay as they are, without row ids ("Row Lineage for Upgraded Tables"). */
    if (version == 3) FIRN_TRY(firn_json_set_int(change->document, "next-row-id", 0, error));
    change->format_version = version;
    return firn_json_set_int(change->document, "format-version", version, error);
}
