#include "iceberg/primitive.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define PLAIN(kind_, text_)                                                                        \
    { .kind = (kind_), .text = (text_) }

static const firn_type plain_types[] = {
    PLAIN(FIRN_TYPE_BOOLEAN, "boolean"),
    PLAIN(FIRN_TYPE_INT, "int"),
    PLAIN(FIRN_TYPE_LONG, "long"),
    PLAIN(FIRN_TYPE_FLOAT, "float"),
    PLAIN(FIRN_TYPE_DOUBLE, "double"),
    PLAIN(FIRN_TYPE_DATE, "date"),
    PLAIN(FIRN_TYPE_TIME, "time"),
    PLAIN(FIRN_TYPE_TIMESTAMP, "timestamp"),
    PLAIN(FIRN_TYPE_TIMESTAMPTZ, "timestamptz"),
    PLAIN(FIRN_TYPE_TIMESTAMP_NS, "timestamp_ns"),
    PLAIN(FIRN_TYPE_TIMESTAMPTZ_NS, "timestamptz_ns"),
    PLAIN(FIRN_TYPE_STRING, "string"),
    PLAIN(FIRN_TYPE_UUID, "uuid"),
    PLAIN(FIRN_TYPE_BINARY, "binary"),
    PLAIN(FIRN_TYPE_UNKNOWN, "unknown"),
    PLAIN(FIRN_TYPE_VARIANT, "variant"),
};
#define PLAIN_TYPE_COUNT (sizeof plain_types / sizeof plain_types[0])

const firn_type *firn_primitive_type(firn_type_kind kind) {
    for (size_t i = 0; i < PLAIN_TYPE_COUNT; i++) {
        if (plain_types[i].kind == kind) return &plain_types[i];
    }
    return NULL;
}

static const char *skip_spaces(const char *text) {
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

/* Takes a decimal number without sign, spaces around it allowed. */
static bool take_number(const char **text, int32_t *out) {
    const char *p = skip_spaces(*text);
    if (*p < '0' || *p > '9') return false;
    int64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (*p - '0');
        if (value > INT32_MAX) return false;
    }
    *out = (int32_t)value;
    *text = skip_spaces(p);
    return true;
}

static bool take_character(const char **text, char wanted) {
    const char *p = skip_spaces(*text);
    if (*p != wanted) return false;
    *text = skip_spaces(p + 1);
    return true;
}

/* decimal(P,S): `rest` is what follows the name. */
static firn_status parse_decimal(const char *rest, const char *text, const char *what,
                                 firn_type *type, firn_arena *arena, firn_error *error) {
    bool well_formed = take_character(&rest, '(') && take_number(&rest, &type->precision) &&
                       take_character(&rest, ',') && take_number(&rest, &type->scale) &&
                       take_character(&rest, ')') && *rest == '\0';
    if (!well_formed || type->precision < 1 || type->precision > 38 || type->scale > 38) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: type \"%s\": expected decimal(P,S) with P from 1 to 38", what, text);
    }
    type->kind = FIRN_TYPE_DECIMAL;
    type->text = firn_arena_format(arena, "decimal(%d,%d)", type->precision, type->scale);
    return type->text == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status parse_fixed(const char *rest, const char *text, const char *what,
                               firn_type *type, firn_arena *arena, firn_error *error) {
    bool well_formed = take_character(&rest, '[') && take_number(&rest, &type->length) &&
                       take_character(&rest, ']') && *rest == '\0';
    if (!well_formed) {
        return firn_fail(error, FIRN_CORRUPT, "%s: type \"%s\": expected fixed[L]", what, text);
    }
    type->kind = FIRN_TYPE_FIXED;
    type->text = firn_arena_format(arena, "fixed[%d]", type->length);
    return type->text == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* A parameter without the spaces around it; NULL: it is not given. */
static firn_status take_parameter(const char *start, size_t length, firn_arena *arena,
                                  const char **out, firn_error *error) {
    while (length > 0 && *start == ' ') {
        start++;
        length--;
    }
    while (length > 0 && start[length - 1] == ' ') length--;
    if (length == 0) return FIRN_OK;
    *out = firn_arena_strndup(arena, start, length);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* (C) or (C, A), without the parentheses. What stands behind the last comma of a geography is its algorithm. */
static firn_status take_parameters(firn_type *type, const char *start, size_t length,
                                   firn_arena *arena, firn_error *error) {
    size_t end = length;
    if (type->kind == FIRN_TYPE_GEOGRAPHY) {
        size_t comma = length;
        while (comma > 0 && start[comma - 1] != ',') comma--;
        if (comma > 0) {
            FIRN_TRY(
                take_parameter(start + comma, length - comma, arena, &type->edge_algorithm, error));
            end = comma - 1;
        }
    }
    return take_parameter(start, end, arena, &type->crs, error);
}

/* geometry, geometry(C), geography, geography(C, A): the parameters are kept as text, too. */
static firn_status parse_geospatial(const char *rest, firn_type_kind kind, const char *text,
                                    const char *what, firn_type *type, firn_arena *arena,
                                    firn_error *error) {
    rest = skip_spaces(rest);
    size_t length = strlen(rest);
    while (length != 0 && rest[length - 1] == ' ') length--;
    if (length != 0 && (length < 3 || rest[0] != '(' || rest[length - 1] != ')')) {
        return firn_fail(error, FIRN_CORRUPT, "%s: type \"%s\": parentheses do not match", what,
                         text);
    }
    type->kind = kind;
    if (length > 0) FIRN_TRY(take_parameters(type, rest + 1, length - 2, arena, error));
    type->text = firn_arena_format(
        arena, "%s%.*s", kind == FIRN_TYPE_GEOMETRY ? "geometry" : "geography", (int)length, rest);
    return type->text == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* What follows `name` in `text`, where a parameter or the end must follow; NULL when it is another name. */
static const char *after_name(const char *text, const char *name) {
    size_t length = strlen(name);
    if (strncasecmp(text, name, length) != 0) return NULL;
    char next = text[length];
    return next == '\0' || next == '(' || next == '[' || next == ' ' ? text + length : NULL;
}

firn_status firn_primitive_parse(const char *text, const char *what, firn_arena *arena,
                                 const firn_type **out, firn_error *error) {
    for (size_t i = 0; i < PLAIN_TYPE_COUNT; i++) {
        if (strcasecmp(text, plain_types[i].text) == 0) {
            *out = &plain_types[i];
            return FIRN_OK;
        }
    }
    if (strlen(text) > 1024) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the name of a type is too long", what);
    }
    firn_type *type = firn_arena_alloc(arena, 1, sizeof *type);
    if (type == NULL) return firn_fail_memory(error);
    *out = type;
    const char *rest = NULL;
    if ((rest = after_name(text, "decimal")) != NULL) {
        return parse_decimal(rest, text, what, type, arena, error);
    }
    if ((rest = after_name(text, "fixed")) != NULL) {
        return parse_fixed(rest, text, what, type, arena, error);
    }
    if ((rest = after_name(text, "geometry")) != NULL) {
        return parse_geospatial(rest, FIRN_TYPE_GEOMETRY, text, what, type, arena, error);
    }
    if ((rest = after_name(text, "geography")) != NULL) {
        return parse_geospatial(rest, FIRN_TYPE_GEOGRAPHY, text, what, type, arena, error);
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: the type \"%.100s\" is not known to firn", what,
                     text);
}
