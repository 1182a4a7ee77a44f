#include "iceberg/json_copy.h"

typedef json_t *(*copy_member)(const json_t *member);

static json_t *share(const json_t *member) {
    return json_incref((json_t *)member);
}

static json_t *copy_object(const json_t *object, copy_member copy) {
    json_t *result = json_object();
    if (result == NULL) return NULL;
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach((json_t *)object, key, member) {
        if (json_object_set_new_nocheck(result, key, copy(member)) == 0) continue;
        json_decref(result);
        return NULL;
    }
    return result;
}

static json_t *copy_array(const json_t *array, copy_member copy) {
    json_t *result = json_array();
    if (result == NULL) return NULL;
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(result, copy(json_array_get(array, i))) == 0) continue;
        json_decref(result);
        return NULL;
    }
    return result;
}

json_t *firn_json_copy_shallow(const json_t *value) {
    return json_is_object(value) ? copy_object(value, share) : copy_array(value, share);
}

json_t *firn_json_copy_deep(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return copy_object(value, firn_json_copy_deep);
    case JSON_ARRAY: return copy_array(value, firn_json_copy_deep);
    case JSON_STRING:
        return json_stringn_nocheck(json_string_value(value), json_string_length(value));
    case JSON_INTEGER: return json_integer(json_integer_value(value));
    case JSON_REAL: return json_real(json_real_value(value));
    case JSON_TRUE: return json_true();
    case JSON_FALSE: return json_false();
    case JSON_NULL: return json_null();
    }
    return NULL;
}

json_t *firn_json_find_by_id(const json_t *list, const char *key, int64_t id) {
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        const json_t *value = json_object_get(item, key);
        if (json_is_integer(value) && json_integer_value(value) == id) return item;
    }
    return NULL;
}

int64_t firn_json_highest_id(const json_t *list, const char *key, int64_t least) {
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(json_array_get(list, i), key);
        if (json_is_integer(value) && json_integer_value(value) > least) {
            least = json_integer_value(value);
        }
    }
    return least;
}
