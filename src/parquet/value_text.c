#include "parquet/value_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/clock.h"

#define LONGEST_DECIMAL 64
#define JULIAN_EPOCH 2440588 /* day number of 1970-01-01 */
#define SECONDS_OF_DAY 86400

/* A number as digits with the point `scale` digits from their end; the sign stands apart. */
static firn_status append_scaled(bool negative, const char *digits, int32_t scale, firn_buffer *out,
                                 firn_error *error) {
    size_t length = strlen(digits);
    if (negative) FIRN_TRY(firn_buffer_append_byte(out, '-', error));
    if (scale <= 0 || scale > 1000) return firn_buffer_append_text(out, digits, error);
    size_t behind = (size_t)scale;
    if (length <= behind) {
        FIRN_TRY(firn_buffer_append_text(out, "0.", error));
        for (size_t i = length; i < behind; i++) {
            FIRN_TRY(firn_buffer_append_byte(out, '0', error));
        }
        return firn_buffer_append_text(out, digits, error);
    }
    FIRN_TRY(firn_buffer_append(out, digits, length - behind, error));
    FIRN_TRY(firn_buffer_append_byte(out, '.', error));
    return firn_buffer_append_text(out, digits + (length - behind), error);
}

static firn_status append_integer(int64_t value, int32_t scale, firn_buffer *out,
                                  firn_error *error) {
    char digits[24];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    return append_scaled(value < 0, digits, scale, out, error);
}

static firn_status append_hex(firn_slice value, firn_buffer *out, firn_error *error) {
    size_t shown = value.size > FIRN_PARQUET_VALUE_TEXT_LENGTH / 2
                       ? FIRN_PARQUET_VALUE_TEXT_LENGTH / 2
                       : value.size;
    FIRN_TRY(firn_buffer_append_text(out, "0x", error));
    for (size_t i = 0; i < shown; i++) {
        FIRN_TRY(firn_buffer_printf(out, error, "%02x", value.data[i]));
    }
    return shown == value.size ? FIRN_OK : firn_buffer_append_text(out, "…", error);
}

/* Big-endian two's complement, divided by ten again and again. */
static firn_status append_big_decimal(firn_slice value, int32_t scale, firn_buffer *out,
                                      firn_error *error) {
    uint8_t magnitude[LONGEST_DECIMAL];
    char digits[LONGEST_DECIMAL * 3 + 1];
    size_t at = sizeof digits - 1;
    bool negative = (value.data[0] & 0x80) != 0;
    bool more = true;
    memcpy(magnitude, value.data, value.size);
    unsigned carry = 1;
    for (size_t i = value.size; negative && i > 0; i--) {
        carry += (uint8_t)~magnitude[i - 1];
        magnitude[i - 1] = (uint8_t)carry;
        carry >>= 8;
    }
    digits[at] = '\0';
    while (more) {
        unsigned rest = 0;
        more = false;
        for (size_t i = 0; i < value.size; i++) {
            unsigned part = rest << 8 | magnitude[i];
            magnitude[i] = (uint8_t)(part / 10);
            rest = part % 10;
            more = more || magnitude[i] != 0;
        }
        digits[--at] = (char)('0' + rest);
    }
    return append_scaled(negative, digits + at, scale, out, error);
}

static firn_status append_date(int64_t days, firn_buffer *out, firn_error *error) {
    int64_t year = 0;
    int month = 0, day = 0;
    firn_civil_from_days(days, &year, &month, &day);
    return firn_buffer_printf(out, error, "%04" PRId64 "-%02d-%02d", year, month, day);
}

static firn_status append_clock(int64_t units, int64_t per_second, int digits, firn_buffer *out,
                                firn_error *error) {
    int64_t seconds = units / per_second;
    return firn_buffer_printf(out, error, "%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%0*" PRId64,
                              seconds / 3600, seconds / 60 % 60, seconds % 60, digits,
                              units % per_second);
}

static void unit_of(const firn_parquet_logical_type *logical, int64_t *per_second, int *digits) {
    *digits = logical->unit == FIRN_PARQUET_MILLIS   ? 3
              : logical->unit == FIRN_PARQUET_MICROS ? 6
                                                     : 9;
    *per_second = *digits == 3 ? 1000 : *digits == 6 ? 1000000 : 1000000000;
}

static firn_status append_timestamp(int64_t value, const firn_parquet_logical_type *logical,
                                    firn_buffer *out, firn_error *error) {
    int64_t per_second = 0;
    int digits = 0;
    unit_of(logical, &per_second, &digits);
    int64_t per_day = per_second * SECONDS_OF_DAY;
    int64_t days = value / per_day, rest = value % per_day;
    if (rest < 0) {
        rest += per_day;
        days--;
    }
    FIRN_TRY(append_date(days, out, error));
    FIRN_TRY(firn_buffer_append_byte(out, 'T', error));
    FIRN_TRY(append_clock(rest, per_second, digits, out, error));
    return logical->adjusted_to_utc ? firn_buffer_append_byte(out, 'Z', error) : FIRN_OK;
}

static firn_status append_whole(const firn_parquet_schema_element *element, int64_t value,
                                firn_buffer *out, firn_error *error) {
    const firn_parquet_logical_type *logical = &element->logical;
    int64_t per_second = 0;
    int digits = 0;
    switch (logical->kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL: return append_integer(value, logical->scale, out, error);
    case FIRN_PARQUET_LOGICAL_DATE: return append_date(value, out, error);
    case FIRN_PARQUET_LOGICAL_TIMESTAMP: return append_timestamp(value, logical, out, error);
    case FIRN_PARQUET_LOGICAL_TIME:
        unit_of(logical, &per_second, &digits);
        if (value < 0 || value / per_second >= SECONDS_OF_DAY) break;
        return append_clock(value, per_second, digits, out, error);
    case FIRN_PARQUET_LOGICAL_INTEGER:
        if (logical->is_signed) break;
        if (element->type == FIRN_PARQUET_INT32) value = (uint32_t)value;
        return firn_buffer_printf(out, error, "%" PRIu64, (uint64_t)value);
    default: break;
    }
    return append_integer(value, 0, out, error);
}

/* Digits enough to tell any two values apart, in no locale but C's. */
static firn_status append_floating(double value, int digits, firn_buffer *out, firn_error *error) {
    if (value != value) return firn_buffer_append_text(out, "NaN", error);
    char text[64];
    for (int i = 1; i <= digits; i++) {
        snprintf(text, sizeof text, "%.*g", i, value);
        double back = 0;
        bool plain = value > -1e15 && value < 1e15 && !(value > -1e-4 && value < 1e-4);
        if (plain && strchr(text, 'e') != NULL) continue; /* 20, not 2e+01 */
        if (sscanf(text, "%lf", &back) == 1 &&
            (digits == 17 ? back == value : (float)back == (float)value)) {
            break;
        }
    }
    for (char *c = text; *c != '\0'; c++) {
        if (*c == ',') *c = '.';
    }
    return firn_buffer_append_text(out, text, error);
}

static double double_of_half(uint16_t bits) {
    int exponent = bits >> 10 & 0x1F;
    double fraction = bits & 0x3FF;
    double value = exponent == 0 ? fraction / 16777216 : (fraction + 1024) / 16777216;
    if (exponent == 31) value = fraction == 0 ? __builtin_inf() : __builtin_nan("");
    for (int i = 1; i < exponent && exponent != 31; i++) value *= 2;
    return (bits & 0x8000) != 0 ? -value : value;
}

static firn_status append_int96(firn_slice value, firn_buffer *out, firn_error *error) {
    int64_t nanoseconds = (int64_t)firn_load_le64(value.data);
    int64_t days = (int64_t)firn_load_le32(value.data + 8) - JULIAN_EPOCH;
    if (nanoseconds < 0 || nanoseconds >= SECONDS_OF_DAY * INT64_C(1000000000)) {
        return append_hex(value, out, error);
    }
    FIRN_TRY(append_date(days, out, error));
    FIRN_TRY(firn_buffer_append_byte(out, 'T', error));
    return append_clock(nanoseconds, 1000000000, 9, out, error);
}

/* Bytes of the UTF-8 character at the start; 0: none. Overlong forms and surrogates are none (RFC 3629). */
static size_t character_size(const uint8_t *c, size_t left) {
    uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = c[0] < 0x80 ? 1 : c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (size == 1) return 1;
    if (c[0] < 0xC2 || c[0] > 0xF4 || size > left) return 0;
    uint32_t code = c[0] & (0xFFU >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (c[i] & 0x3FU);
    }
    bool wrong = code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000);
    return wrong ? 0 : size;
}

static firn_status append_text(firn_slice value, firn_buffer *out, firn_error *error) {
    size_t shown = 0;
    while (shown < value.size && shown < FIRN_PARQUET_VALUE_TEXT_LENGTH) {
        size_t size = character_size(value.data + shown, value.size - shown);
        if (size == 0 || value.data[shown] == 0) return append_hex(value, out, error);
        shown += size;
    }
    FIRN_TRY(firn_buffer_append(out, value.data, shown, error));
    return shown == value.size ? FIRN_OK : firn_buffer_append_text(out, "…", error);
}

static firn_status append_uuid(firn_slice value, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        FIRN_TRY(firn_buffer_printf(out, error, "%s%02x", dash ? "-" : "", value.data[i]));
    }
    return FIRN_OK;
}

static firn_status append_bytes(const firn_parquet_schema_element *element, firn_slice value,
                                firn_buffer *out, firn_error *error) {
    switch (element->logical.kind) {
    case FIRN_PARQUET_LOGICAL_STRING:
    case FIRN_PARQUET_LOGICAL_ENUM:
    case FIRN_PARQUET_LOGICAL_JSON: return append_text(value, out, error);
    case FIRN_PARQUET_LOGICAL_DECIMAL:
        if (value.size == 0 || value.size > LONGEST_DECIMAL) break;
        return append_big_decimal(value, element->logical.scale, out, error);
    case FIRN_PARQUET_LOGICAL_UUID:
        if (value.size != 16) break;
        return append_uuid(value, out, error);
    case FIRN_PARQUET_LOGICAL_FLOAT16:
        if (value.size != 2) break;
        return append_floating(double_of_half(firn_load_le16(value.data)), 9, out, error);
    default: break;
    }
    return append_hex(value, out, error);
}

firn_status firn_parquet_value_text(const firn_parquet_schema_element *element, firn_slice value,
                                    firn_buffer *out, firn_error *error) {
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    bool bytes = element->type == FIRN_PARQUET_BYTE_ARRAY ||
                 element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
    if (!bytes && value.size != width) return append_hex(value, out, error);
    switch (element->type) {
    case FIRN_PARQUET_BOOLEAN:
        return firn_buffer_append_text(out, value.data[0] != 0 ? "true" : "false", error);
    case FIRN_PARQUET_INT32:
        return append_whole(element, (int32_t)firn_load_le32(value.data), out, error);
    case FIRN_PARQUET_INT64:
        return append_whole(element, (int64_t)firn_load_le64(value.data), out, error);
    case FIRN_PARQUET_INT96: return append_int96(value, out, error);
    case FIRN_PARQUET_FLOAT:
        return append_floating((double)firn_float_of_bits(firn_load_le32(value.data)), 9, out,
                               error);
    case FIRN_PARQUET_DOUBLE:
        return append_floating(firn_double_of_bits(firn_load_le64(value.data)), 17, out, error);
    case FIRN_PARQUET_BYTE_ARRAY:
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: return append_bytes(element, value, out, error);
    }
    return append_hex(value, out, error);
}

static const char *kind_name(firn_parquet_logical_kind kind) {
    switch (kind) {
    case FIRN_PARQUET_LOGICAL_NONE: return NULL;
    case FIRN_PARQUET_LOGICAL_STRING: return "STRING";
    case FIRN_PARQUET_LOGICAL_MAP: return "MAP";
    case FIRN_PARQUET_LOGICAL_LIST: return "LIST";
    case FIRN_PARQUET_LOGICAL_ENUM: return "ENUM";
    case FIRN_PARQUET_LOGICAL_DECIMAL: return "DECIMAL";
    case FIRN_PARQUET_LOGICAL_DATE: return "DATE";
    case FIRN_PARQUET_LOGICAL_TIME: return "TIME";
    case FIRN_PARQUET_LOGICAL_TIMESTAMP: return "TIMESTAMP";
    case FIRN_PARQUET_LOGICAL_INTERVAL: return "INTERVAL";
    case FIRN_PARQUET_LOGICAL_INTEGER: return "INT";
    case FIRN_PARQUET_LOGICAL_NULL: return "UNKNOWN";
    case FIRN_PARQUET_LOGICAL_JSON: return "JSON";
    case FIRN_PARQUET_LOGICAL_BSON: return "BSON";
    case FIRN_PARQUET_LOGICAL_UUID: return "UUID";
    case FIRN_PARQUET_LOGICAL_FLOAT16: return "FLOAT16";
    case FIRN_PARQUET_LOGICAL_VARIANT: return "VARIANT";
    case FIRN_PARQUET_LOGICAL_GEOMETRY: return "GEOMETRY";
    case FIRN_PARQUET_LOGICAL_GEOGRAPHY: return "GEOGRAPHY";
    case FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE: return "MAP_KEY_VALUE";
    case FIRN_PARQUET_LOGICAL_UNKNOWN: return "(unknown annotation)";
    }
    return "(unknown annotation)";
}

static firn_status append_parameters(const firn_parquet_logical_type *logical, firn_buffer *out,
                                     firn_error *error) {
    static const char *const units[] = {"?", "MILLIS", "MICROS", "NANOS"};
    unsigned unit = (unsigned)logical->unit < 4 ? (unsigned)logical->unit : 0;
    switch (logical->kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL:
        return firn_buffer_printf(out, error, "(%d, %d)", (int)logical->precision,
                                  (int)logical->scale);
    case FIRN_PARQUET_LOGICAL_TIME:
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        return firn_buffer_printf(out, error, "(%s%s)", units[unit],
                                  logical->adjusted_to_utc ? ", UTC" : "");
    case FIRN_PARQUET_LOGICAL_INTEGER:
        return firn_buffer_printf(out, error, "(%d, %s)", (int)logical->bit_width,
                                  logical->is_signed ? "signed" : "unsigned");
    default: return FIRN_OK;
    }
}

firn_status firn_parquet_type_text(const firn_parquet_schema_element *element, firn_buffer *out,
                                   firn_error *error) {
    const char *kind = kind_name(element->logical.kind);
    if (element->has_type) {
        FIRN_TRY(firn_buffer_append_text(out, firn_parquet_type_name(element->type), error));
        if (element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
            FIRN_TRY(firn_buffer_printf(out, error, "(%d)", (int)element->type_length));
        }
    } else {
        FIRN_TRY(firn_buffer_append_text(out, "group", error));
    }
    if (kind == NULL) return FIRN_OK;
    FIRN_TRY(firn_buffer_printf(out, error, " %s", kind));
    return append_parameters(&element->logical, out, error);
}
