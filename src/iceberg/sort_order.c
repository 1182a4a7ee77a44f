#include <strings.h>

#include "iceberg/source_ids.h"
#include "iceberg/spec_parse.h"

/* One of two words, in any case as other readers take them. */
static firn_status parse_choice(const json_t *json, const char *key, const char *no,
                                const char *yes, bool *out, firn_error *error) {
    const char *text = NULL;
    FIRN_TRY(firn_json_text(json, "sort field", key, &text, error));
    *out = strcasecmp(text, yes) == 0;
    if (*out || strcasecmp(text, no) == 0) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "sort field: field %s: \"%.100s\" is neither %s nor %s",
                     key, text, no, yes);
}

static firn_status parse_field(const json_t *json, firn_arena *arena, firn_sort_field *out,
                               firn_error *error) {
    const char *transform = NULL;
    size_t source_count = 0;
    FIRN_TRY(firn_source_ids_parse(json, "sort field", &out->source_id, &source_count, error));
    FIRN_TRY(firn_json_text(json, "sort field", "transform", &transform, error));
    FIRN_TRY(firn_transform_parse(transform, arena, &out->transform, error));
    if (source_count > 1) out->transform.kind = FIRN_TRANSFORM_UNKNOWN;
    FIRN_TRY(parse_choice(json, "direction", "asc", "desc", &out->descending, error));
    return parse_choice(json, "null-order", "nulls-first", "nulls-last", &out->nulls_last, error);
}

firn_status firn_sort_order_parse(const json_t *json, firn_arena *arena, firn_sort_order *out,
                                  firn_error *error) {
    json_t *list = NULL;
    FIRN_TRY(firn_json_int32(json, "sort order", "order-id", &out->order_id, error));
    FIRN_TRY(firn_json_array(json, "sort order", "fields", &list, error));
    size_t count = json_array_size(list);
    firn_sort_field *fields = firn_arena_alloc(arena, count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_error_wrap(error,
                                 parse_field(json_array_get(list, i), arena, &fields[i], error),
                                 "sort order %d: fields[%zu]", out->order_id, i));
    }
    out->fields = fields;
    out->field_count = count;
    return FIRN_OK;
}
