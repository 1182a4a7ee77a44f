#include <math.h>

#include "iceberg/calendar.h"
#include "iceberg/decimal.h"
#include "iceberg/value.h"

/* Values whose JSON form is a string: that of firn_value_print. */
static json_t *text_to_json(const firn_type *type, const firn_value *value) {
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    json_t *json = NULL;
    if (firn_value_print(type, value, false, &text, NULL) == FIRN_OK) {
        json = json_stringn(text.size == 0 ? "" : (const char *)text.data, text.size);
    }
    firn_buffer_release(&text);
    return json;
}

json_t *firn_value_to_json(const firn_type *type, const firn_value *value) {
    if (value->is_null) return json_null();
    switch (value->kind) {
    case FIRN_TYPE_BOOLEAN: return json_boolean(value->as.boolean);
    case FIRN_TYPE_INT: return json_integer(value->as.int32);
    case FIRN_TYPE_LONG: return json_integer(value->as.int64);
    /* json_real gives NULL for NaN and infinities, which JSON can't express. */
    case FIRN_TYPE_FLOAT: return json_real((double)value->as.float32);
    case FIRN_TYPE_DOUBLE: return json_real(value->as.float64);
    case FIRN_TYPE_DECIMAL:
    case FIRN_TYPE_DATE:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS:
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return text_to_json(type, value);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return NULL;
}

static firn_status not_a(const firn_type *type, firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT, "the JSON value is no %s", type->text);
}

static firn_status number_from_json(const firn_type *type, const json_t *json, firn_value *out,
                                    firn_error *error) {
    json_int_t integer = json_integer_value(json);
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
        if (!json_is_boolean(json)) return not_a(type, error);
        out->as.boolean = json_is_true(json);
        return FIRN_OK;
    case FIRN_TYPE_INT:
        if (!json_is_integer(json) || integer < INT32_MIN || integer > INT32_MAX) {
            return not_a(type, error);
        }
        out->as.int32 = (int32_t)integer;
        return FIRN_OK;
    case FIRN_TYPE_LONG:
        if (!json_is_integer(json)) return not_a(type, error);
        out->as.int64 = integer;
        return FIRN_OK;
    case FIRN_TYPE_FLOAT:
        if (!json_is_number(json)) return not_a(type, error);
        out->as.float32 = (float)json_number_value(json);
        return isfinite(out->as.float32) ? FIRN_OK : not_a(type, error);
    default:
        if (!json_is_number(json)) return not_a(type, error);
        out->as.float64 = json_number_value(json);
        return FIRN_OK;
    }
}

/* A date and, behind a T, a time; zone "+00:00" (or Z) exactly where the type has one. */
static bool parse_timestamp(const char *text, int64_t per_second, bool zone, int64_t *out) {
    int64_t days = 0;
    int64_t time = 0;
    if (!firn_parse_date(&text, &days) || *text++ != 'T' ||
        !firn_parse_time(&text, per_second, &time)) {
        return false;
    }
    if (zone) {
        size_t length = strcmp(text, "Z") == 0 ? 1 : strcmp(text, "+00:00") == 0 ? 6 : 0;
        if (length == 0) return false;
        text += length;
    }
    firn_int128 value = (firn_int128)days * FIRN_SECONDS_PER_DAY * per_second + time;
    *out = (int64_t)value;
    return *text == '\0' && value == *out;
}

static bool parse_calendar(const firn_type *type, const char *text, firn_value *out) {
    int64_t days = 0;
    switch (type->kind) {
    case FIRN_TYPE_DATE:
        if (!firn_parse_date(&text, &days) || days < INT32_MIN || days > INT32_MAX) return false;
        out->as.int32 = (int32_t)days;
        return *text == '\0';
    case FIRN_TYPE_TIME:
        return firn_parse_time(&text, FIRN_MICROSECONDS_PER_SECOND, &out->as.int64) &&
               *text == '\0';
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
        return parse_timestamp(text, FIRN_MICROSECONDS_PER_SECOND,
                               type->kind == FIRN_TYPE_TIMESTAMPTZ, &out->as.int64);
    default:
        return parse_timestamp(text, FIRN_NANOSECONDS_PER_SECOND,
                               type->kind == FIRN_TYPE_TIMESTAMPTZ_NS, &out->as.int64);
    }
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool has_dashes(const char *text, size_t length) {
    return length == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

/* Hexadecimal digits; a uuid's with dashes. */
static firn_status bytes_from_json(const firn_type *type, const char *text, size_t length,
                                   firn_arena *arena, firn_value *out, firn_error *error) {
    bool uuid = type->kind == FIRN_TYPE_UUID;
    if (uuid && !has_dashes(text, length)) return not_a(type, error);
    uint8_t *bytes = firn_arena_alloc(arena, length / 2 + 1, 1);
    if (bytes == NULL) return firn_fail_memory(error);
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        if (uuid && (i == 8 || i == 13 || i == 18 || i == 23)) continue;
        int digit = digit_of(text[i]);
        if (digit < 0) return not_a(type, error);
        bytes[digits / 2] = (uint8_t)(bytes[digits / 2] << 4 | digit);
        digits++;
    }
    bool right_length = type->kind != FIRN_TYPE_FIXED || digits / 2 == (size_t)type->length;
    if (digits % 2 != 0 || !right_length) return not_a(type, error);
    out->as.bytes = firn_slice_of(bytes, digits / 2);
    return FIRN_OK;
}

static firn_status text_from_json(const firn_type *type, const json_t *json, firn_arena *arena,
                                  firn_value *out, firn_error *error) {
    const char *text = json_string_value(json);
    if (text == NULL) return not_a(type, error);
    size_t length = json_string_length(json);
    switch (type->kind) {
    case FIRN_TYPE_STRING: {
        const char *copy = firn_arena_strndup(arena, text, length);
        if (copy == NULL) return firn_fail_memory(error);
        out->as.bytes = firn_slice_of(copy, length);
        return FIRN_OK;
    }
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return bytes_from_json(type, text, length, arena, out, error);
    case FIRN_TYPE_DECIMAL:
        if (firn_decimal_from_text(text, type->scale, &out->as.decimal) &&
            firn_decimal_fits(out->as.decimal, type->precision)) {
            return FIRN_OK;
        }
        return not_a(type, error);
    default: return parse_calendar(type, text, out) ? FIRN_OK : not_a(type, error);
    }
}

firn_status firn_value_from_json(const firn_type *type, const json_t *json, firn_arena *arena,
                                 firn_value *out, firn_error *error) {
    *out = firn_value_null(type->kind);
    if (json == NULL || json_is_null(json)) return FIRN_OK;
    out->is_null = false;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return number_from_json(type, json, out, error);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP:
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "a value of type %s can't be taken from JSON other than null",
                         type->text == NULL ? "struct, list or map" : type->text);
    default: return text_from_json(type, json, arena, out, error);
    }
}
