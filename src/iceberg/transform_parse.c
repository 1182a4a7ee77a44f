#include <string.h>
#include <strings.h>

#include "iceberg/primitive.h"
#include "iceberg/transform.h"

typedef struct named_transform {
    const char *name;
    firn_transform_kind kind;
} named_transform;

static const named_transform plain_transforms[] = {
    {"identity", FIRN_TRANSFORM_IDENTITY}, {"year", FIRN_TRANSFORM_YEAR},
    {"month", FIRN_TRANSFORM_MONTH},       {"day", FIRN_TRANSFORM_DAY},
    {"hour", FIRN_TRANSFORM_HOUR},         {"void", FIRN_TRANSFORM_VOID},
};

static const named_transform width_transforms[] = {
    {"bucket", FIRN_TRANSFORM_BUCKET},
    {"truncate", FIRN_TRANSFORM_TRUNCATE},
};

/* "[N]" and nothing else behind it. */
static bool parse_parameter(const char *text, int32_t *out) {
    if (*text++ != '[') return false;
    int64_t value = 0;
    const char *digits = text;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (*text - '0');
        if (value > INT32_MAX) return false;
    }
    if (text == digits || strcmp(text, "]") != 0) return false;
    *out = (int32_t)value;
    return value > 0;
}

firn_status firn_transform_parse(const char *text, firn_arena *arena, firn_transform *out,
                                 firn_error *error) {
    *out = (firn_transform){.kind = FIRN_TRANSFORM_UNKNOWN};
    out->text = firn_arena_strdup(arena, text);
    if (out->text == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < sizeof plain_transforms / sizeof plain_transforms[0]; i++) {
        if (strcasecmp(text, plain_transforms[i].name) != 0) continue;
        out->kind = plain_transforms[i].kind;
        return FIRN_OK;
    }
    for (size_t i = 0; i < sizeof width_transforms / sizeof width_transforms[0]; i++) {
        size_t length = strlen(width_transforms[i].name);
        if (strncasecmp(text, width_transforms[i].name, length) != 0 || text[length] != '[') {
            continue;
        }
        if (!parse_parameter(text + length, &out->parameter)) {
            return firn_fail(error, FIRN_CORRUPT,
                             "transform \"%.100s\": expected a whole number from 1 to 2147483647 "
                             "in brackets",
                             text);
        }
        out->kind = width_transforms[i].kind;
        return FIRN_OK;
    }
    return FIRN_OK;
}

static bool is_timestamp(firn_type_kind kind) {
    return kind == FIRN_TYPE_TIMESTAMP || kind == FIRN_TYPE_TIMESTAMPTZ ||
           kind == FIRN_TYPE_TIMESTAMP_NS || kind == FIRN_TYPE_TIMESTAMPTZ_NS;
}

static bool can_bucket(firn_type_kind kind) {
    switch (kind) {
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_DECIMAL:
    case FIRN_TYPE_DATE:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return true;
    default: return is_timestamp(kind);
    }
}

static bool can_truncate(firn_type_kind kind) {
    return kind == FIRN_TYPE_INT || kind == FIRN_TYPE_LONG || kind == FIRN_TYPE_DECIMAL ||
           kind == FIRN_TYPE_STRING || kind == FIRN_TYPE_BINARY;
}

/* The source types of the table in "Partition Transforms". */
static bool takes(const firn_transform *transform, firn_type_kind kind) {
    switch (transform->kind) {
    case FIRN_TRANSFORM_IDENTITY:
        return !firn_type_is_nested(kind) && kind != FIRN_TYPE_GEOMETRY &&
               kind != FIRN_TYPE_GEOGRAPHY && kind != FIRN_TYPE_VARIANT;
    case FIRN_TRANSFORM_BUCKET: return can_bucket(kind);
    case FIRN_TRANSFORM_TRUNCATE: return can_truncate(kind);
    case FIRN_TRANSFORM_YEAR:
    case FIRN_TRANSFORM_MONTH:
    case FIRN_TRANSFORM_DAY: return kind == FIRN_TYPE_DATE || is_timestamp(kind);
    case FIRN_TRANSFORM_HOUR: return is_timestamp(kind);
    case FIRN_TRANSFORM_VOID:
    case FIRN_TRANSFORM_UNKNOWN: break;
    }
    return true;
}

const firn_type *firn_transform_natural_result(const firn_transform *transform,
                                               const firn_type *source) {
    switch (transform->kind) {
    case FIRN_TRANSFORM_IDENTITY:
    case FIRN_TRANSFORM_TRUNCATE:
    case FIRN_TRANSFORM_VOID: return source;
    case FIRN_TRANSFORM_BUCKET:
    case FIRN_TRANSFORM_YEAR:
    case FIRN_TRANSFORM_MONTH:
    case FIRN_TRANSFORM_HOUR: return firn_primitive_type(FIRN_TYPE_INT);
    case FIRN_TRANSFORM_DAY: return firn_primitive_type(FIRN_TYPE_DATE);
    case FIRN_TRANSFORM_UNKNOWN: break;
    }
    return firn_primitive_type(FIRN_TYPE_STRING);
}

firn_status firn_transform_check_source(const firn_transform *transform, const firn_type *source,
                                        firn_error *error) {
    if (takes(transform, source->kind)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "transform %s can't take a value of type %s",
                     transform->text, source->text == NULL ? "struct, list or map" : source->text);
}

firn_status firn_transform_result_type(const firn_transform *transform, const firn_type *source,
                                       const firn_type **out, firn_error *error) {
    FIRN_TRY(firn_transform_check_source(transform, source, error));
    *out = firn_transform_natural_result(transform, source);
    return FIRN_OK;
}
