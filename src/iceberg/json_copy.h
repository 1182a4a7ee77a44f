/**
 * Copies of JSON that are complete or NULL: Jansson's own json_copy leaves out what it has no memory for. Internal to iceberg.
 */
#ifndef FIRN_ICEBERG_JSON_COPY_H
#define FIRN_ICEBERG_JSON_COPY_H

#include "base/json.h"

/** A new object or array with the same members, which are shared; NULL when memory is out. */
json_t *firn_json_copy_shallow(const json_t *value);
/** A copy of everything; NULL when memory is out. */
json_t *firn_json_copy_deep(const json_t *value);

/** The object of a list whose integer `key` is `id`, or NULL. */
json_t *firn_json_find_by_id(const json_t *list, const char *key, int64_t id);
/** The highest integer `key` of a list's objects, at least `least`. */
int64_t firn_json_highest_id(const json_t *list, const char *key, int64_t least);

#endif
