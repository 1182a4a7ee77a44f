#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "iceberg/calendar.h"
#include "iceberg/decimal.h"
#include "iceberg/value.h"

static firn_status append_quoted(const char *text, bool quoted, firn_buffer *out,
                                 firn_error *error) {
    if (quoted) FIRN_TRY(firn_buffer_append_byte(out, '"', error));
    FIRN_TRY(firn_buffer_append_text(out, text, error));
    return quoted ? firn_buffer_append_byte(out, '"', error) : FIRN_OK;
}

/* As the canonical rows have it: only quotes, backslashes and control characters are escaped. */
static firn_status append_json_text(firn_slice text, firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_buffer_append_byte(out, '"', error));
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        const char *escape = c == '"'    ? "\\\""
                             : c == '\\' ? "\\\\"
                             : c == '\n' ? "\\n"
                             : c == '\r' ? "\\r"
                             : c == '\t' ? "\\t"
                             : c == '\b' ? "\\b"
                             : c == '\f' ? "\\f"
                                         : NULL;
        if (escape != NULL) {
            FIRN_TRY(firn_buffer_append_text(out, escape, error));
        } else if (c < 0x20) {
            FIRN_TRY(firn_buffer_printf(out, error, "\\u%04x", c));
        } else {
            FIRN_TRY(firn_buffer_append_byte(out, c, error));
        }
    }
    return firn_buffer_append_byte(out, '"', error);
}

static firn_status append_floating(double value, int digits, bool quoted, firn_buffer *out,
                                   firn_error *error) {
    if (isnan(value)) return append_quoted("NaN", quoted, out, error);
    if (isinf(value)) {
        return append_quoted(value < 0 ? "-Infinity" : "Infinity", quoted, out, error);
    }
    return firn_buffer_printf(out, error, "%.*g", digits, value);
}

static firn_status append_timestamp(int64_t value, int64_t per_second, int digits, bool zone,
                                    bool quoted, firn_buffer *out, firn_error *error) {
    char text[2 * FIRN_CALENDAR_TEXT_SIZE];
    char time[FIRN_CALENDAR_TEXT_SIZE];
    int64_t per_day = per_second * FIRN_SECONDS_PER_DAY;
    firn_print_date(firn_floor_divide(value, per_day), text);
    firn_print_time(firn_floor_remainder(value, per_day), per_second, digits, time);
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "T%s%s", time, zone ? "+00:00" : "");
    return append_quoted(text, quoted, out, error);
}

static firn_status append_hexadecimal(firn_slice bytes, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < bytes.size; i++) {
        FIRN_TRY(firn_buffer_printf(out, error, "%02x", bytes.data[i]));
    }
    return FIRN_OK;
}

/* 8-4-4-4-12 hexadecimal digits. */
static firn_status append_uuid(firn_slice bytes, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < bytes.size; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        FIRN_TRY(firn_buffer_printf(out, error, "%s%02x", dash ? "-" : "", bytes.data[i]));
    }
    return FIRN_OK;
}

static firn_status append_bytes(const firn_value *value, bool quoted, firn_buffer *out,
                                firn_error *error) {
    if (quoted) FIRN_TRY(firn_buffer_append_byte(out, '"', error));
    if (value->kind == FIRN_TYPE_UUID) {
        FIRN_TRY(append_uuid(value->as.bytes, out, error));
    } else {
        FIRN_TRY(append_hexadecimal(value->as.bytes, out, error));
    }
    return quoted ? firn_buffer_append_byte(out, '"', error) : FIRN_OK;
}

firn_status firn_value_print(const firn_type *type, const firn_value *value, bool quoted,
                             firn_buffer *out, firn_error *error) {
    if (value->is_null) return firn_buffer_append_text(out, "null", error);
    char text[FIRN_DECIMAL_TEXT_SIZE];
    switch (value->kind) {
    case FIRN_TYPE_BOOLEAN:
        return firn_buffer_append_text(out, value->as.boolean ? "true" : "false", error);
    case FIRN_TYPE_INT: return firn_buffer_printf(out, error, "%" PRId32, value->as.int32);
    case FIRN_TYPE_LONG: return firn_buffer_printf(out, error, "%" PRId64, value->as.int64);
    case FIRN_TYPE_FLOAT: return append_floating((double)value->as.float32, 9, quoted, out, error);
    case FIRN_TYPE_DOUBLE: return append_floating(value->as.float64, 17, quoted, out, error);
    case FIRN_TYPE_DECIMAL:
        /* A partition value whose column is gone from every schema. */
        if (type == NULL || type->kind != FIRN_TYPE_DECIMAL) {
            return firn_fail(error, FIRN_INVALID, "a decimal of unknown scale has no text");
        }
        firn_decimal_to_text(value->as.decimal, type->scale, text);
        return append_quoted(text, quoted, out, error);
    case FIRN_TYPE_DATE:
        firn_print_date(value->as.int32, text);
        return append_quoted(text, quoted, out, error);
    case FIRN_TYPE_TIME:
        firn_print_time(value->as.int64, FIRN_MICROSECONDS_PER_SECOND, 6, text);
        return append_quoted(text, quoted, out, error);
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
        return append_timestamp(value->as.int64, FIRN_MICROSECONDS_PER_SECOND, 6,
                                value->kind == FIRN_TYPE_TIMESTAMPTZ, quoted, out, error);
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS:
        return append_timestamp(value->as.int64, FIRN_NANOSECONDS_PER_SECOND, 9,
                                value->kind == FIRN_TYPE_TIMESTAMPTZ_NS, quoted, out, error);
    case FIRN_TYPE_STRING:
        if (quoted) return append_json_text(value->as.bytes, out, error);
        return firn_buffer_append(out, value->as.bytes.data, value->as.bytes.size, error);
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return append_bytes(value, quoted, out, error);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return firn_fail(error, FIRN_INVALID, "a value of this type has no text");
}
