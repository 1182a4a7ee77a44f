#include "iceberg/source_ids.h"

firn_status firn_source_ids_parse(const json_t *json, const char *what, int32_t *first,
                                  size_t *count, firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_array_optional(json, what, "source-ids", &list, NULL, error));
    if (list == NULL) {
        *count = 1;
        return firn_json_int32(json, what, "source-id", first, error);
    }
    *count = json_array_size(list);
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t id = json_integer_value(item);
        if (!json_is_integer(item) || id < INT32_MIN || id > INT32_MAX) {
            return firn_fail(error, FIRN_CORRUPT, "%s: field source-ids: not a list of field ids",
                             what);
        }
        if (i == 0) *first = (int32_t)id;
    }
    if (*count == 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field source-ids: is empty", what);
    }
    return FIRN_OK;
}
