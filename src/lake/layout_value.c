/* Texts of paths as values. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/json.h"
#include "iceberg/decimal.h"
#include "lake/layout_internal.h"

#define EPOCH_YEAR 1970

static firn_status no_value(const firn_type *type, const char *text, firn_error *error) {
    return firn_fail(error, FIRN_INVALID, "\"%.200s\" is no value of type %s", text, type->text);
}

bool firn_layout_parse_integer(const char *text, int64_t *out) {
    bool negative = *text == '-';
    const char *digit = text + (negative ? 1 : 0);
    if (*digit == '\0') return false;
    int64_t value = 0;
    for (; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9') return false;
        int64_t ones = negative ? -(int64_t)(*digit - '0') : (int64_t)(*digit - '0');
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, ones, &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

static bool is_ascii(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text < 0x20 || *text > 0x7E) return false;
    }
    return true;
}

/* Overlong forms and surrogates are none (RFC 3629). */
static bool is_utf8(const char *text) {
    const uint8_t *at = (const uint8_t *)text;
    while (*at != 0) {
        size_t more = *at < 0x80   ? 0
                      : *at < 0xC2 ? 9
                      : *at < 0xE0 ? 1
                      : *at < 0xF0 ? 2
                      : *at < 0xF5 ? 3
                                   : 9;
        if (more == 9) return false;
        uint8_t first = *at++;
        for (size_t i = 0; i < more; i++) {
            if ((at[i] & 0xC0) != 0x80) return false;
        }
        if (more > 1 && ((first == 0xE0 && at[0] < 0xA0) || (first == 0xED && at[0] > 0x9F) ||
                         (first == 0xF0 && at[0] < 0x90) || (first == 0xF4 && at[0] > 0x8F))) {
            return false;
        }
        at += more;
    }
    return true;
}

static firn_status integer(const firn_type *type, const char *text, firn_value *out,
                           firn_error *error) {
    int64_t value = 0;
    if (!firn_layout_parse_integer(text, &value)) return no_value(type, text, error);
    if (type->kind == FIRN_TYPE_LONG) {
        out->as.int64 = value;
        return FIRN_OK;
    }
    if (value < INT32_MIN || value > INT32_MAX) return no_value(type, text, error);
    out->as.int32 = (int32_t)value;
    return FIRN_OK;
}

static firn_status boolean(const firn_type *type, const char *text, firn_value *out,
                           firn_error *error) {
    out->as.boolean = strcasecmp(text, "true") == 0;
    if (out->as.boolean || strcasecmp(text, "false") == 0) return FIRN_OK;
    return no_value(type, text, error);
}

/* Numbers as JSON has them, whatever the locale, and the three values that it hasn't. */
static firn_status real_number(const char *text, double *out, firn_error *error) {
    static const struct {
        const char *name;
        double value;
    } named[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY},
                 {"nan", NAN}, {"inf", INFINITY},      {"-inf", -INFINITY}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(text, named[i].name) != 0) continue;
        *out = named[i].value;
        return FIRN_OK;
    }
    json_t *number = NULL;
    FIRN_TRY(firn_json_parse(firn_slice_text(text), "number", &number, error));
    bool is_number = json_is_number(number);
    *out = json_number_value(number);
    /* An integer's -0 has no sign left. */
    if (json_is_integer(number) && *out == 0 && *text == '-') *out = -0.0;
    json_decref(number);
    return is_number ? FIRN_OK : FIRN_CORRUPT;
}

static firn_status floating(const firn_type *type, const char *text, firn_value *out,
                            firn_error *error) {
    double value = 0;
    firn_status status = real_number(text, &value, error);
    if (status == FIRN_NO_MEMORY) return status;
    if (status != FIRN_OK) return no_value(type, text, error);
    if (type->kind == FIRN_TYPE_DOUBLE) {
        out->as.float64 = value;
        return FIRN_OK;
    }
    out->as.float32 = (float)value;
    return isinf(out->as.float32) && !isinf(value) ? no_value(type, text, error) : FIRN_OK;
}

/* "12.5" and "12" are values of a decimal with two places, too. */
static firn_status decimal(const firn_type *type, const char *text, firn_value *out,
                           firn_error *error) {
    char padded[FIRN_DECIMAL_TEXT_SIZE];
    size_t length = strlen(text);
    const char *point = strchr(text, '.');
    size_t places = point == NULL ? 0 : strlen(point + 1);
    size_t scale = (size_t)type->scale;
    bool fits =
        places <= scale && (point == NULL || places > 0) && length + scale + 2 < sizeof padded;
    if (!fits) return no_value(type, text, error);
    memcpy(padded, text, length);
    if (point == NULL && scale > 0) padded[length++] = '.';
    for (; places < scale; places++) padded[length++] = '0';
    padded[length] = '\0';
    if (!firn_decimal_from_text(padded, type->scale, &out->as.decimal) ||
        !firn_decimal_fits(out->as.decimal, type->precision)) {
        return no_value(type, text, error);
    }
    return FIRN_OK;
}

/* Dates, times, uuids and bytes as the specification's JSON has them (appendix D). */
static firn_status as_json(const firn_type *type, const char *text, firn_arena *arena,
                           firn_value *out, firn_error *error) {
    if (!is_ascii(text)) return no_value(type, text, error);
    json_t *json = json_string(text);
    if (json == NULL) return firn_fail_memory(error);
    firn_status status = firn_value_from_json(type, json, arena, out, error);
    json_decref(json);
    if (status == FIRN_OK || status == FIRN_NO_MEMORY) return status;
    return no_value(type, text, error);
}

/* Hive has a space where ISO 8601 has a T, and Spark leaves seconds' decimals away. */
static firn_status timestamp(const firn_type *type, const char *text, firn_arena *arena,
                             firn_value *out, firn_error *error) {
    char *copy = firn_arena_strdup(arena, text);
    if (copy == NULL) return firn_fail_memory(error);
    char *space = strchr(copy, ' ');
    if (space != NULL) *space = 'T';
    firn_status status = as_json(type, copy, arena, out, error);
    bool is_zoned = type->kind == FIRN_TYPE_TIMESTAMPTZ || type->kind == FIRN_TYPE_TIMESTAMPTZ_NS;
    if (status != FIRN_INVALID) return status;
    return firn_fail(error, FIRN_INVALID, "\"%.200s\" is no value of type %s%s", text, type->text,
                     is_zoned ? ", which ends in +00:00" : "");
}

/* Java's writers form-encode paths, so that a '+' may have been a space. */
static bool is_known_text(const char *text, firn_slice known) {
    if (strlen(text) != known.size) return false;
    for (size_t i = 0; i < known.size; i++) {
        char c = (char)known.data[i];
        if (text[i] != c && !(text[i] == '+' && c == ' ')) return false;
    }
    return true;
}

static bool is_base64_of(const char *text, firn_slice bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (strlen(text) != (bytes.size + 2) / 3 * 4) return false;
    for (size_t i = 0; i < bytes.size; i += 3, text += 4) {
        uint32_t group = (uint32_t)bytes.data[i] << 16;
        if (i + 1 < bytes.size) group |= (uint32_t)bytes.data[i + 1] << 8;
        if (i + 2 < bytes.size) group |= bytes.data[i + 2];
        bool same = text[0] == digits[group >> 18] && text[1] == digits[group >> 12 & 63] &&
                    text[2] == (i + 1 < bytes.size ? digits[group >> 6 & 63] : '=') &&
                    text[3] == (i + 2 < bytes.size ? digits[group & 63] : '=');
        if (!same) return false;
    }
    return true;
}

static bool is_known_bytes(const firn_type *type, const char *text, const firn_value *known) {
    if (known == NULL || known->is_null) return false;
    switch (type->kind) {
    case FIRN_TYPE_STRING: return is_known_text(text, known->as.bytes);
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
        return is_known_text(text, known->as.bytes) || is_base64_of(text, known->as.bytes);
    default: return false;
    }
}

static firn_status string(const firn_type *type, const char *text, firn_arena *arena,
                          firn_value *out, firn_error *error) {
    if (!is_utf8(text)) {
        return firn_fail(error, FIRN_INVALID, "a text that is not UTF-8 is no value of type %s",
                         type->text);
    }
    size_t length = strlen(text);
    const char *copy = firn_arena_strndup(arena, text, length);
    if (copy == NULL) return firn_fail_memory(error);
    out->as.bytes = firn_slice_of(copy, length);
    return FIRN_OK;
}

firn_status firn_layout_parse_value(const firn_type *type, const char *text,
                                    const firn_value *known, firn_arena *arena, firn_value *out,
                                    firn_error *error) {
    *out = firn_value_null(type->kind);
    /* What Iceberg's writers print for null; a text may be that as well. */
    bool null_text = strcmp(text, "null") == 0;
    if (null_text && (type->kind != FIRN_TYPE_STRING || (known != NULL && known->is_null))) {
        return FIRN_OK;
    }
    if (is_known_bytes(type, text, known)) return firn_value_copy(known, arena, out, error);
    out->is_null = false;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN: return boolean(type, text, out, error);
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG: return integer(type, text, out, error);
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return floating(type, text, out, error);
    case FIRN_TYPE_DECIMAL: return decimal(type, text, out, error);
    case FIRN_TYPE_STRING: return string(type, text, arena, out, error);
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return timestamp(type, text, arena, out, error);
    case FIRN_TYPE_DATE:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return as_json(type, text, arena, out, error);
    default: break;
    }
    return no_value(type, text, error);
}

/* Time. */

const char *const firn_time_unit_names[FIRN_UNIT_COUNT] = {"year", "month", "day", "hour"};

firn_time_unit firn_time_unit_of(firn_transform_kind kind) {
    switch (kind) {
    case FIRN_TRANSFORM_YEAR: return FIRN_UNIT_YEAR;
    case FIRN_TRANSFORM_MONTH: return FIRN_UNIT_MONTH;
    case FIRN_TRANSFORM_DAY: return FIRN_UNIT_DAY;
    case FIRN_TRANSFORM_HOUR: return FIRN_UNIT_HOUR;
    default: return FIRN_UNIT_COUNT;
    }
}

firn_time_unit firn_time_unit_named(const char *key) {
    size_t unit = 0;
    while (unit < FIRN_UNIT_COUNT && strcasecmp(firn_time_unit_names[unit], key) != 0) unit++;
    return (firn_time_unit)unit;
}

firn_transform firn_time_unit_transform(firn_time_unit unit) {
    static const firn_transform_kind kinds[] = {FIRN_TRANSFORM_YEAR, FIRN_TRANSFORM_MONTH,
                                                FIRN_TRANSFORM_DAY, FIRN_TRANSFORM_HOUR};
    return (firn_transform){.kind = kinds[unit], .text = firn_time_unit_names[unit]};
}

typedef struct civil_time {
    bool has[FIRN_UNIT_COUNT];
    int64_t value[FIRN_UNIT_COUNT];
} civil_time;

/* `least` to `most` digits; moves `*text` behind them. */
static bool take_number(const char **text, size_t least, size_t most, int64_t *out) {
    size_t digits = strspn(*text, "0123456789");
    if (digits < least || digits > most) return false;
    *out = 0;
    for (size_t i = 0; i < digits; i++) *out = *out * 10 + (*text)[i] - '0';
    *text += digits;
    return true;
}

/* "2024-01-31" down to the unit: then all units are set. A year that stands alone may lack its leading zeros. */
static bool take_full(firn_time_unit unit, const char *text, civil_time *out) {
    int64_t sign = *text == '-' ? -1 : 1;
    if (*text == '-' || *text == '+') text++;
    size_t least = unit == FIRN_UNIT_YEAR ? 1 : 4;
    if (!take_number(&text, least, 9, &out->value[FIRN_UNIT_YEAR])) return false;
    out->value[FIRN_UNIT_YEAR] *= sign;
    out->has[FIRN_UNIT_YEAR] = true;
    for (size_t i = FIRN_UNIT_MONTH; i <= unit; i++) {
        if (*text++ != '-' || !take_number(&text, 1, 2, &out->value[i])) return false;
        out->has[i] = true;
    }
    return *text == '\0';
}

/* "20240131": two digits for each unit below the year's four. */
static bool take_compact(firn_time_unit unit, const char *text, civil_time *out) {
    size_t length = strspn(text, "0123456789");
    if (unit == FIRN_UNIT_YEAR || length != 4 + 2 * (size_t)unit || text[length] != '\0') {
        return false;
    }
    for (size_t i = 0; i <= unit; i++) {
        for (size_t digits = i == 0 ? 4 : 2; digits > 0; digits--) {
            out->value[i] = out->value[i] * 10 + *text++ - '0';
        }
        out->has[i] = true;
    }
    return true;
}

static bool take_unit(firn_time_unit unit, const char *text, civil_time *out) {
    civil_time full = {0};
    civil_time compact = {0};
    if (take_compact(unit, text, &compact)) {
        *out = compact;
        return true;
    }
    if (take_full(unit, text, &full)) {
        *out = full;
        return true;
    }
    if (unit == FIRN_UNIT_YEAR) return false;
    out->has[unit] = take_number(&text, 1, 2, &out->value[unit]) && *text == '\0';
    return out->has[unit];
}

static bool is_civil(firn_time_unit unit, const civil_time *time) {
    static const int64_t least[] = {INT32_MIN, 1, 1, 0};
    static const int64_t most[] = {INT32_MAX, 12, 31, 23};
    for (size_t i = 0; i <= unit; i++) {
        if (time->value[i] < least[i] || time->value[i] > most[i]) return false;
    }
    if (unit < FIRN_UNIT_DAY) return true;
    int64_t year = 0;
    int month = 0;
    int day = 0;
    int64_t days = firn_days_from_civil(time->value[0], (int)time->value[1], (int)time->value[2]);
    firn_civil_from_days(days, &year, &month, &day);
    return day == time->value[2];
}

static int64_t ordinal(firn_time_unit unit, const civil_time *time) {
    int64_t year = time->value[FIRN_UNIT_YEAR];
    int month = (int)time->value[FIRN_UNIT_MONTH];
    if (unit == FIRN_UNIT_YEAR) return year - EPOCH_YEAR;
    if (unit == FIRN_UNIT_MONTH) return (year - EPOCH_YEAR) * 12 + month - 1;
    int64_t days = firn_days_from_civil(year, month, (int)time->value[FIRN_UNIT_DAY]);
    return unit == FIRN_UNIT_DAY ? days : days * 24 + time->value[FIRN_UNIT_HOUR];
}

firn_status firn_layout_parse_time(firn_time_unit unit, const char *const texts[FIRN_UNIT_COUNT],
                                   firn_value *out, firn_error *error) {
    const char *name = firn_time_unit_names[unit];
    civil_time time = {0};
    if (!take_unit(unit, texts[unit], &time)) {
        return firn_fail(error, FIRN_INVALID, "\"%.200s\" is no %s", texts[unit], name);
    }
    for (size_t i = unit; i-- > 0;) {
        civil_time coarser = {0};
        if (time.has[i]) continue;
        if (texts[i] == NULL) {
            return firn_fail(error, FIRN_INVALID, "the %s \"%.200s\" needs a %s beside it", name,
                             texts[unit], firn_time_unit_names[i]);
        }
        if (!take_unit((firn_time_unit)i, texts[i], &coarser)) {
            return firn_fail(error, FIRN_INVALID, "\"%.200s\" is no %s", texts[i],
                             firn_time_unit_names[i]);
        }
        for (size_t j = 0; j <= i; j++) {
            if (!coarser.has[j]) continue;
            time.has[j] = true;
            time.value[j] = coarser.value[j];
        }
    }
    int64_t value = is_civil(unit, &time) ? ordinal(unit, &time) : INT64_MAX;
    if (value < INT32_MIN || value > INT32_MAX) {
        return firn_fail(error, FIRN_INVALID, "\"%.200s\" is no %s", texts[unit], name);
    }
    *out = (firn_value){.kind = unit == FIRN_UNIT_DAY ? FIRN_TYPE_DATE : FIRN_TYPE_INT};
    out->as.int32 = (int32_t)value;
    return FIRN_OK;
}
