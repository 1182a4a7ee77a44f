#include "iceberg/expression_literal.h"

#include <math.h>
#include <stdlib.h>

#include "iceberg/calendar.h"

/* Digits of the largest magnitude that any discrete type has: decimal(38). */
#define MOST_DIGITS 38

bool firn_type_is_discrete(firn_type_kind kind) {
    switch (kind) {
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_DECIMAL:
    case FIRN_TYPE_DATE:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return true;
    default: return false;
    }
}

static bool is_narrow(firn_type_kind kind) {
    return kind == FIRN_TYPE_INT || kind == FIRN_TYPE_DATE;
}

/* Puts a whole number into a value of the kind; false with *beyond set where it does not fit. */
static bool set_discrete(firn_type_kind kind, firn_int128 number, firn_value *out, int *beyond) {
    firn_int128 lowest = is_narrow(kind) ? INT32_MIN : INT64_MIN;
    firn_int128 highest = is_narrow(kind) ? INT32_MAX : INT64_MAX;
    *out = (firn_value){.kind = kind};
    if (kind == FIRN_TYPE_DECIMAL) {
        out->as.decimal = number;
        return true;
    }
    *beyond = number < lowest ? -1 : number > highest ? 1 : 0;
    if (is_narrow(kind)) {
        out->as.int32 = (int32_t)number;
    } else {
        out->as.int64 = (int64_t)number;
    }
    return *beyond == 0;
}

bool firn_value_step(const firn_value *value, int step, firn_value *out) {
    firn_int128 number = value->kind == FIRN_TYPE_DECIMAL ? value->as.decimal
                         : is_narrow(value->kind)         ? value->as.int32
                                                          : value->as.int64;
    int beyond = 0;
    /* Decimals are far from the ends of 128 bits. */
    return set_discrete(value->kind, number + step, out, &beyond);
}

static firn_status refuse(const firn_literal *literal, const char *name, const firn_type *type,
                          const char *takes, firn_error *error) {
    return firn_fail(error, FIRN_INVALID,
                     FIRN_FILTER_AT "column %s is of type %s: write %s instead of %s%.40s%s",
                     literal->position, name, type->text, takes,
                     literal->kind == FIRN_LITERAL_TEXT ? "'" : "",
                     literal->kind == FIRN_LITERAL_BOOLEAN ? (literal->boolean ? "true" : "false")
                                                           : literal->text,
                     literal->kind == FIRN_LITERAL_TEXT ? "'" : "");
}

/* --- whole numbers and decimals ---------------------------------------------------------------- */

/* A number taken apart: 0.DIGITS * 10^point, without zeros at either end. */
typedef struct decimal_text {
    bool negative;
    const char *digits; /* with at most one point between them */
    size_t count;       /* of digits from the first that is not 0 to the last that is not 0 */
    int64_t point;
} decimal_text;

/* Exponents beyond this are as good as infinite. */
#define MOST_EXPONENT INT64_C(1000000000)

static int64_t read_exponent(const char *text) {
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    int64_t value = 0;
    for (; *text >= '0' && *text <= '9' && value < MOST_EXPONENT; text++) {
        value = value * 10 + (*text - '0');
    }
    return negative ? -value : value;
}

/* The lexer has seen to the form. */
static decimal_text take_apart(const char *text) {
    decimal_text out = {.negative = *text == '-'};
    if (*text == '-' || *text == '+') text++;
    bool behind_point = false;
    size_t zeros = 0; /* not yet known to stand between other digits */
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        if (*text == '.') {
            behind_point = true;
            continue;
        }
        bool leading_zero = *text == '0' && out.digits == NULL;
        if (!behind_point && !leading_zero) out.point++;
        if (behind_point && leading_zero) out.point--;
        if (*text == '0') {
            if (!leading_zero) zeros++;
            continue;
        }
        if (out.digits == NULL) out.digits = text;
        out.count += zeros + 1;
        zeros = 0;
    }
    if (*text == 'e' || *text == 'E') out.point += read_exponent(text + 1);
    return out;
}

/* The next lower multiple of 10^-scale, as a number of these. */
static firn_int128 floor_of(const decimal_text *number, int32_t scale, bool *exact, int *beyond) {
    int64_t whole = number->point + scale; /* digits before the point, once scaled */
    firn_int128 value = 0;
    *beyond = 0;
    *exact = number->count == 0 || (int64_t)number->count <= whole;
    if (number->count > 0 && whole > MOST_DIGITS) {
        *beyond = number->negative ? -1 : 1;
        return 0;
    }
    const char *digit = number->digits;
    for (int64_t i = 0; i < whole && number->count > 0; i++) {
        int next = 0;
        if (i < (int64_t)number->count) {
            if (*digit == '.') digit++;
            next = *digit++ - '0';
        }
        value = value * 10 + next;
    }
    if (!number->negative) return value;
    return *exact ? -value : -value - 1;
}

static firn_status number_literal(const firn_literal *literal, const char *name,
                                  const firn_type *type, firn_converted_literal *out,
                                  firn_error *error) {
    if (literal->kind != FIRN_LITERAL_NUMBER) return refuse(literal, name, type, "a number", error);
    decimal_text number = take_apart(literal->text);
    firn_int128 value = floor_of(&number, type->scale, &out->exact, &out->beyond);
    if (out->beyond != 0) return FIRN_OK;
    (void)set_discrete(type->kind, value, &out->value, &out->beyond);
    return FIRN_OK;
}

static firn_status floating_literal(const firn_literal *literal, const char *name,
                                    const firn_type *type, firn_converted_literal *out,
                                    firn_error *error) {
    if (literal->kind != FIRN_LITERAL_NUMBER) return refuse(literal, name, type, "a number", error);
    out->value = (firn_value){.kind = type->kind};
    bool finite = true;
    if (type->kind == FIRN_TYPE_FLOAT) {
        out->value.as.float32 = strtof(literal->text, NULL);
        finite = isfinite(out->value.as.float32);
    } else {
        out->value.as.float64 = strtod(literal->text, NULL);
        finite = isfinite(out->value.as.float64);
    }
    return finite ? FIRN_OK : refuse(literal, name, type, "a smaller number", error);
}

/* --- dates and times --------------------------------------------------------------------------- */

/* "+01:30", "Z" or nothing; in seconds. */
static bool take_zone(const char **text, int64_t *seconds) {
    *seconds = 0;
    if (**text == 'Z') {
        (*text)++;
        return true;
    }
    if (**text != '+' && **text != '-') return true;
    bool negative = **text == '-';
    (*text)++;
    const char *begin = *text;
    /* "hh:mm" and no more. */
    if (!firn_parse_time(text, 1, seconds) || *text != begin + 5) return false;
    if (negative) *seconds = -*seconds;
    return true;
}

/* A date, and behind T or a space a time, and behind it for types with a zone the zone. */
static bool parse_timestamp(const char *text, int64_t per_second, bool zoned, firn_int128 *out) {
    int64_t days = 0;
    int64_t time = 0;
    int64_t zone = 0;
    if (!firn_parse_date(&text, &days)) return false;
    if (*text == 'T' || *text == ' ') {
        text++;
        if (!firn_parse_time(&text, per_second, &time)) return false;
        if (zoned && !take_zone(&text, &zone)) return false;
    }
    *out = ((firn_int128)days * FIRN_SECONDS_PER_DAY - zone) * per_second + time;
    return *text == '\0';
}

static bool parse_calendar(const firn_type *type, const char *text, firn_int128 *out) {
    int64_t value = 0;
    bool whole = true;
    switch (type->kind) {
    case FIRN_TYPE_DATE: whole = firn_parse_date(&text, &value) && *text == '\0'; break;
    case FIRN_TYPE_TIME:
        whole = firn_parse_time(&text, FIRN_MICROSECONDS_PER_SECOND, &value) && *text == '\0';
        break;
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
        return parse_timestamp(text, FIRN_MICROSECONDS_PER_SECOND,
                               type->kind == FIRN_TYPE_TIMESTAMPTZ, out);
    default:
        return parse_timestamp(text, FIRN_NANOSECONDS_PER_SECOND,
                               type->kind == FIRN_TYPE_TIMESTAMPTZ_NS, out);
    }
    *out = value;
    return whole;
}

static const char *calendar_form(firn_type_kind kind) {
    switch (kind) {
    case FIRN_TYPE_DATE: return "a date like '2024-01-31'";
    case FIRN_TYPE_TIME: return "a time like '12:34:56.789'";
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMP_NS: return "a time like '2024-01-31T12:34:56', without a zone,";
    default: return "a time like '2024-01-31T12:34:56+00:00'";
    }
}

/* "2024-13-01": spelled like a date, and none. */
static bool is_no_date(const char *text) {
    static const char form[] = "0000-00-00";
    int64_t days = 0;
    for (size_t i = 0; i < sizeof form - 1; i++) {
        bool fits = form[i] == '-' ? text[i] == '-' : text[i] >= '0' && text[i] <= '9';
        if (!fits) return false;
    }
    return !firn_parse_date(&text, &days);
}

static firn_status calendar_literal(const firn_literal *literal, const char *name,
                                    const firn_type *type, firn_converted_literal *out,
                                    firn_error *error) {
    firn_int128 number = 0;
    if (literal->kind != FIRN_LITERAL_TEXT || !parse_calendar(type, literal->text, &number)) {
        if (literal->kind == FIRN_LITERAL_TEXT && type->kind != FIRN_TYPE_TIME &&
            is_no_date(literal->text)) {
            return firn_fail(error, FIRN_INVALID, FIRN_FILTER_AT "column %s: %.10s is no date",
                             literal->position, name, literal->text);
        }
        return refuse(literal, name, type, calendar_form(type->kind), error);
    }
    (void)set_discrete(type->kind, number, &out->value, &out->beyond);
    return FIRN_OK;
}

/* --- text and bytes ---------------------------------------------------------------------------- */

static firn_status uuid_literal(const firn_literal *literal, const char *name,
                                const firn_type *type, firn_arena *arena,
                                firn_converted_literal *out, firn_error *error) {
    static const char form[] = "one like 'f79c3e09-677c-4bbd-a479-3f349cb785e7'";
    if (literal->kind != FIRN_LITERAL_TEXT) return refuse(literal, name, type, form, error);
    json_t *json = json_stringn_nocheck(literal->text, literal->length);
    if (json == NULL) return firn_fail_memory(error);
    firn_status status = firn_value_from_json(type, json, arena, &out->value, error);
    json_decref(json);
    if (status == FIRN_OK || status == FIRN_NO_MEMORY) return status;
    return refuse(literal, name, type, form, error);
}

static firn_status bytes_literal(const firn_literal *literal, const char *name,
                                 const firn_type *type, firn_converted_literal *out,
                                 firn_error *error) {
    if (literal->kind != FIRN_LITERAL_TEXT) {
        return refuse(literal, name, type, "a text in single quotes", error);
    }
    if (type->kind == FIRN_TYPE_FIXED && literal->length != (size_t)type->length) {
        return refuse(literal, name, type, "a text of just as many bytes", error);
    }
    out->value = (firn_value){.kind = type->kind};
    out->value.as.bytes = firn_slice_of(literal->text, literal->length);
    return FIRN_OK;
}

firn_status firn_literal_convert(const firn_literal *literal, const char *name,
                                 const firn_type *type, firn_arena *arena,
                                 firn_converted_literal *out, firn_error *error) {
    *out = (firn_converted_literal){.exact = true};
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
        if (literal->kind != FIRN_LITERAL_BOOLEAN) {
            return refuse(literal, name, type, "true or false", error);
        }
        out->value = (firn_value){.kind = FIRN_TYPE_BOOLEAN, .as.boolean = literal->boolean};
        return FIRN_OK;
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_DECIMAL: return number_literal(literal, name, type, out, error);
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return floating_literal(literal, name, type, out, error);
    case FIRN_TYPE_UUID: return uuid_literal(literal, name, type, arena, out, error);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return bytes_literal(literal, name, type, out, error);
    default: break;
    }
    if (firn_type_is_discrete(type->kind)) {
        return calendar_literal(literal, name, type, out, error);
    }
    return firn_fail(error, FIRN_INVALID,
                     FIRN_FILTER_AT "column %s is of type %s, which can't be compared; only IS "
                                    "NULL and IS NOT NULL ask about it",
                     literal->position, name, type->text);
}
