#include <string.h>

#include "iceberg/json_copy.h"
#include "iceberg/update_apply.h"

#define WHAT "table update"

/* Specification, "Partitioning": equal source columns, transform and name make partition fields equivalent. */
static bool same_field(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"source-id", "source-ids", "transform", "name"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *left = json_object_get(a, keys[i]);
        const json_t *right = json_object_get(b, keys[i]);
        if (left == NULL && right == NULL) continue;
        if (left == NULL || right == NULL || !json_equal(left, right)) return false;
    }
    return true;
}

static bool same_spec(const json_t *a, const json_t *b) {
    const json_t *left = json_object_get(a, "fields");
    const json_t *right = json_object_get(b, "fields");
    size_t count = json_array_size(left);
    if (count != json_array_size(right)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!same_field(json_array_get(left, i), json_array_get(right, i))) return false;
    }
    return true;
}

/* The id of an equivalent field of a spec that is there, or NULL. */
static const json_t *id_to_reuse(const json_t *specs, const json_t *field) {
    for (size_t i = 0; i < json_array_size(specs); i++) {
        const json_t *fields = json_object_get(json_array_get(specs, i), "fields");
        for (size_t j = 0; j < json_array_size(fields); j++) {
            const json_t *present = json_array_get(fields, j);
            const json_t *id = json_object_get(present, "field-id");
            if (json_is_integer(id) && same_field(present, field)) return id;
        }
    }
    return NULL;
}

/* Gives a field an id where it has none: an equivalent field's, else a new one. */
static firn_status number_field(firn_change *change, const json_t *specs, json_t *field,
                                firn_error *error) {
    int32_t id = 0;
    bool found = false;
    FIRN_TRY(firn_json_int32_optional(field, "partition field", "field-id", &id, &found, error));
    if (!found) {
        const json_t *reused = id_to_reuse(specs, field);
        if (reused == NULL && change->last_partition_id == INT32_MAX) {
            return firn_fail(error, FIRN_LIMIT, "there is no partition field id left");
        }
        id = reused != NULL ? (int32_t)json_integer_value(reused) : change->last_partition_id + 1;
        FIRN_TRY(firn_json_set_int(field, "field-id", id, error));
    }
    if (id > change->last_partition_id) change->last_partition_id = id;
    return FIRN_OK;
}

static firn_status number_fields(firn_change *change, const json_t *specs, json_t *spec,
                                 firn_error *error) {
    json_t *fields = NULL;
    FIRN_TRY(firn_json_array(spec, "partition spec", "fields", &fields, error));
    for (size_t i = 0; i < json_array_size(fields); i++) {
        FIRN_TRY(number_field(change, specs, json_array_get(fields, i), error));
    }
    return firn_json_set_int(change->document, "last-partition-id", change->last_partition_id,
                             error);
}

/* As with schemas, the update's own id is not used. */
firn_status firn_apply_add_spec(firn_change *change, const json_t *update, firn_error *error) {
    json_t *given = NULL;
    json_t *list = NULL;
    FIRN_TRY(firn_json_object(update, WHAT, "spec", &given, error));
    FIRN_TRY(firn_change_array(change, "partition-specs", &list, error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *present = json_array_get(list, i);
        if (!same_spec(present, given)) continue;
        return firn_json_int32(present, "partition spec", "spec-id", &change->added_spec_id, error);
    }
    int64_t id = firn_json_highest_id(list, "spec-id", -1) + 1;
    if (id > INT32_MAX) return firn_fail(error, FIRN_LIMIT, "there is no spec id left");
    json_t *copy = firn_json_copy_deep(given);
    if (copy == NULL) return firn_fail_memory(error);
    firn_status status = number_fields(change, list, copy, error);
    if (status == FIRN_OK) status = firn_json_set_int(copy, "spec-id", id, error);
    if (status != FIRN_OK) {
        json_decref(copy);
        return status;
    }
    change->added_spec_id = (int32_t)id;
    return firn_json_append(list, copy, error);
}

firn_status firn_apply_set_default_spec(firn_change *change, const json_t *update,
                                        firn_error *error) {
    int32_t id = 0;
    FIRN_TRY(firn_json_int32(update, WHAT, "spec-id", &id, error));
    if (id == -1) id = change->added_spec_id;
    const json_t *list = json_object_get(change->document, "partition-specs");
    if (firn_json_find_by_id(list, "spec-id", id) == NULL) {
        return firn_fail(error, FIRN_INVALID, "there is no partition spec %d", id);
    }
    return firn_json_set_int(change->document, "default-spec-id", id, error);
}

static bool has_id(const json_t *ids, int64_t id) {
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *item = json_array_get(ids, i);
        if (json_is_integer(item) && json_integer_value(item) == id) return true;
    }
    return false;
}

firn_status firn_change_remove_by_id(firn_change *change, const char *list_key, const char *id_key,
                                     const json_t *ids, int64_t in_use, firn_error *error) {
    if (has_id(ids, in_use)) {
        return firn_fail(error, FIRN_INVALID, "%s %lld is in use", id_key, (long long)in_use);
    }
    const json_t *list = json_object_get(change->document, list_key);
    json_t *kept = json_array();
    if (kept == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        if (has_id(ids, json_integer_value(json_object_get(item, id_key)))) continue;
        if (json_array_append(kept, item) == 0) continue;
        json_decref(kept);
        return firn_fail_memory(error);
    }
    return firn_json_set(change->document, list_key, kept, error);
}

firn_status firn_apply_remove_specs(firn_change *change, const json_t *update, firn_error *error) {
    json_t *ids = NULL;
    int32_t in_use = 0;
    FIRN_TRY(firn_json_array(update, WHAT, "spec-ids", &ids, error));
    FIRN_TRY(
        firn_json_int32(change->document, "table metadata", "default-spec-id", &in_use, error));
    return firn_change_remove_by_id(change, "partition-specs", "spec-id", ids, in_use, error);
}

firn_status firn_apply_add_sort_order(firn_change *change, const json_t *update,
                                      firn_error *error) {
    json_t *given = NULL;
    json_t *fields = NULL;
    json_t *list = NULL;
    FIRN_TRY(firn_json_object(update, WHAT, "sort-order", &given, error));
    FIRN_TRY(firn_json_array(given, "sort order", "fields", &fields, error));
    FIRN_TRY(firn_change_array(change, "sort-orders", &list, error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *present = json_array_get(list, i);
        if (!json_equal(json_object_get(present, "fields"), fields)) continue;
        return firn_json_int32(present, "sort order", "order-id", &change->added_order_id, error);
    }
    /* 0 is the order without fields, and no other. */
    int64_t id = json_array_size(fields) == 0 ? 0 : firn_json_highest_id(list, "order-id", 0) + 1;
    if (id > INT32_MAX) return firn_fail(error, FIRN_LIMIT, "there is no sort order id left");
    json_t *copy = firn_json_copy_deep(given);
    FIRN_TRY(firn_json_append(list, copy, error));
    change->added_order_id = (int32_t)id;
    return firn_json_set_int(copy, "order-id", id, error);
}

firn_status firn_apply_set_default_sort_order(firn_change *change, const json_t *update,
                                              firn_error *error) {
    int32_t id = 0;
    FIRN_TRY(firn_json_int32(update, WHAT, "sort-order-id", &id, error));
    if (id == -1) id = change->added_order_id;
    const json_t *list = json_object_get(change->document, "sort-orders");
    if (id != 0 && firn_json_find_by_id(list, "order-id", id) == NULL) {
        return firn_fail(error, FIRN_INVALID, "there is no sort order %d", id);
    }
    return firn_json_set_int(change->document, "default-sort-order-id", id, error);
}

firn_status firn_partition_spec_check(const firn_partition_spec *spec, firn_error *error) {
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        if (field->transform.kind == FIRN_TRANSFORM_VOID) continue;
        if (field->transform.kind == FIRN_TRANSFORM_UNKNOWN) {
            return firn_fail(
                error, FIRN_INVALID,
                "partition field \"%.100s\": the transform %.100s is not known to firn",
                field->name, field->transform.text);
        }
        if (field->source_type == NULL) {
            return firn_fail(error, FIRN_INVALID,
                             "partition field \"%.100s\": there is no column %d", field->name,
                             field->source_id);
        }
        FIRN_TRY(firn_error_wrap(
            error, firn_transform_check_source(&field->transform, field->source_type, error),
            "partition field \"%.100s\"", field->name));
    }
    return FIRN_OK;
}
