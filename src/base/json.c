#include "base/json.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/json_internal.h"

static void route_memory(void) {
    json_set_alloc_funcs(firn_alloc, firn_free);
}

void firn_json_setup(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, route_memory);
}

static const char *kind_name(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number with a fraction or exponent";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    case JSON_NULL: return "null";
    }
    return "of an unknown kind";
}

/* JSON_TRUE stands for both booleans. */
static bool is_kind(const json_t *value, json_type kind) {
    if (kind == JSON_TRUE) return json_is_boolean(value);
    return json_typeof(value) == kind;
}

static const char *due_name(json_type kind) {
    switch (kind) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    default: return "a boolean";
    }
}

/* The value of `key`; *out is NULL where it is absent or null. Fails when it is of another kind. */
static firn_status get_optional(const json_t *object, const char *what, const char *key,
                                json_type kind, json_t **out, firn_error *error) {
    *out = NULL;
    if (!json_is_object(object)) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field %s: looked for in what is not an object",
                         what, key);
    }
    json_t *value = json_object_get(object, key);
    if (value == NULL || json_is_null(value)) return FIRN_OK;
    if (!is_kind(value, kind)) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field %s: is %s, not %s", what, key,
                         kind_name(value), due_name(kind));
    }
    *out = value;
    return FIRN_OK;
}

static firn_status get_required(const json_t *object, const char *what, const char *key,
                                json_type kind, json_t **out, firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_optional(object, what, key, kind, &value, error));
    if (value == NULL) {
        bool absent = json_object_get(object, key) == NULL;
        return firn_fail(error, FIRN_CORRUPT, "%s: field %s: %s", what, key,
                         absent ? "is missing" : "is null");
    }
    *out = value;
    return FIRN_OK;
}

static firn_status int32_of(const json_t *value, const char *what, const char *key, int32_t *out,
                            firn_error *error) {
    json_int_t integer = json_integer_value(value);
    if (integer < INT32_MIN || integer > INT32_MAX) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field %s: %" JSON_INTEGER_FORMAT " is no int",
                         what, key, integer);
    }
    *out = (int32_t)integer;
    return FIRN_OK;
}

firn_status firn_json_int64(const json_t *object, const char *what, const char *key, int64_t *out,
                            firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_required(object, what, key, JSON_INTEGER, &value, error));
    *out = json_integer_value(value);
    return FIRN_OK;
}

firn_status firn_json_int32(const json_t *object, const char *what, const char *key, int32_t *out,
                            firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_required(object, what, key, JSON_INTEGER, &value, error));
    return int32_of(value, what, key, out, error);
}

firn_status firn_json_text(const json_t *object, const char *what, const char *key,
                           const char **out, firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_required(object, what, key, JSON_STRING, &value, error));
    *out = json_string_value(value);
    return FIRN_OK;
}

firn_status firn_json_bool(const json_t *object, const char *what, const char *key, bool *out,
                           firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_required(object, what, key, JSON_TRUE, &value, error));
    *out = json_is_true(value);
    return FIRN_OK;
}

firn_status firn_json_array(const json_t *object, const char *what, const char *key, json_t **out,
                            firn_error *error) {
    return get_required(object, what, key, JSON_ARRAY, out, error);
}

firn_status firn_json_object(const json_t *object, const char *what, const char *key, json_t **out,
                             firn_error *error) {
    return get_required(object, what, key, JSON_OBJECT, out, error);
}

firn_status firn_json_int64_optional(const json_t *object, const char *what, const char *key,
                                     int64_t *out, bool *found, firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_optional(object, what, key, JSON_INTEGER, &value, error));
    if (found != NULL) *found = value != NULL;
    if (value != NULL) *out = json_integer_value(value);
    return FIRN_OK;
}

firn_status firn_json_int32_optional(const json_t *object, const char *what, const char *key,
                                     int32_t *out, bool *found, firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_optional(object, what, key, JSON_INTEGER, &value, error));
    if (found != NULL) *found = value != NULL;
    return value == NULL ? FIRN_OK : int32_of(value, what, key, out, error);
}

firn_status firn_json_text_optional(const json_t *object, const char *what, const char *key,
                                    const char **out, bool *found, firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_optional(object, what, key, JSON_STRING, &value, error));
    if (found != NULL) *found = value != NULL;
    if (value != NULL) *out = json_string_value(value);
    return FIRN_OK;
}

static firn_status get_container_optional(const json_t *object, const char *what, const char *key,
                                          json_type kind, json_t **out, bool *found,
                                          firn_error *error) {
    json_t *value = NULL;
    FIRN_TRY(get_optional(object, what, key, kind, &value, error));
    if (found != NULL) *found = value != NULL;
    if (value != NULL) *out = value;
    return FIRN_OK;
}

firn_status firn_json_array_optional(const json_t *object, const char *what, const char *key,
                                     json_t **out, bool *found, firn_error *error) {
    return get_container_optional(object, what, key, JSON_ARRAY, out, found, error);
}

firn_status firn_json_object_optional(const json_t *object, const char *what, const char *key,
                                      json_t **out, bool *found, firn_error *error) {
    return get_container_optional(object, what, key, JSON_OBJECT, out, found, error);
}

firn_status firn_json_set(json_t *object, const char *key, json_t *value, firn_error *error) {
    if (value == NULL) return firn_fail_memory(error);
    if (!firn_json_is_utf8(key)) {
        json_decref(value);
        return firn_fail(error, FIRN_INVALID, "field %s can't be set: its name is not UTF-8", key);
    }
    if (json_object_set_new_nocheck(object, key, value) == 0) return FIRN_OK;
    return firn_fail_memory(error);
}

firn_status firn_json_set_int(json_t *object, const char *key, int64_t value, firn_error *error) {
    firn_json_setup();
    return firn_json_set(object, key, json_integer(value), error);
}

firn_status firn_json_set_text(json_t *object, const char *key, const char *value,
                               firn_error *error) {
    firn_json_setup();
    if (!firn_json_is_utf8(value)) {
        return firn_fail(error, FIRN_INVALID, "field %s: the text is not UTF-8", key);
    }
    return firn_json_set(object, key, json_string_nocheck(value), error);
}

firn_status firn_json_set_bool(json_t *object, const char *key, bool value, firn_error *error) {
    return firn_json_set(object, key, json_boolean(value), error);
}

firn_status firn_json_append(json_t *array, json_t *value, firn_error *error) {
    if (value == NULL) return firn_fail_memory(error);
    if (json_array_append_new(array, value) != 0) return firn_fail_memory(error);
    return FIRN_OK;
}
