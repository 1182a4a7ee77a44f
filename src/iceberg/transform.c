#include "iceberg/transform.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "codec/codec.h"
#include "iceberg/calendar.h"
#include "iceberg/decimal.h"

#define EPOCH_YEAR 1970

static int32_t hash_long(int64_t value) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)value);
    return (int32_t)firn_murmur3_32(firn_slice_of(bytes, sizeof bytes));
}

/* Appendix B. Integers of both widths hash alike, timestamps of both units too. */
static int32_t hash_of(const firn_value *value) {
    switch (value->kind) {
    case FIRN_TYPE_INT:
    case FIRN_TYPE_DATE: return hash_long(value->as.int32);
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return hash_long(firn_floor_divide(value->as.int64, 1000));
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ: return hash_long(value->as.int64);
    case FIRN_TYPE_DECIMAL: {
        uint8_t bytes[16];
        size_t size = firn_decimal_to_bytes(value->as.decimal, bytes);
        return (int32_t)firn_murmur3_32(firn_slice_of(bytes, size));
    }
    default: return (int32_t)firn_murmur3_32(value->as.bytes);
    }
}

static void apply_bucket(const firn_transform *transform, const firn_value *value,
                         firn_value *out) {
    out->kind = FIRN_TYPE_INT;
    out->as.int32 = (hash_of(value) & INT32_MAX) % transform->parameter;
}

/* The first `width` code points; every byte that does not continue a code point begins one. */
static firn_slice truncate_text(firn_slice text, int32_t width) {
    int32_t count = 0;
    for (size_t i = 0; i < text.size; i++) {
        bool begins = (text.data[i] & 0xC0) != 0x80;
        if (begins && count++ == width) return firn_slice_of(text.data, i);
    }
    return text;
}

/*
 * Below the smallest value of a type there is no room for what it is cut to. Other writers let it wrap around to a partition of the highest values,
 * where filters by order miss its rows; so it is refused here.
 */
static firn_status apply_truncate(const firn_transform *transform, const firn_type *source,
                                  const firn_value *value, firn_value *out, firn_error *error) {
    int32_t width = transform->parameter;
    bool fits = true;
    *out = *value;
    switch (value->kind) {
    case FIRN_TYPE_INT: {
        int32_t remainder = (int32_t)firn_floor_remainder(value->as.int32, width);
        fits = !__builtin_sub_overflow(value->as.int32, remainder, &out->as.int32);
        break;
    }
    case FIRN_TYPE_LONG: {
        int64_t remainder = firn_floor_remainder(value->as.int64, width);
        fits = !__builtin_sub_overflow(value->as.int64, remainder, &out->as.int64);
        break;
    }
    case FIRN_TYPE_DECIMAL: {
        firn_int128 remainder = value->as.decimal % width;
        if (remainder < 0) remainder += width;
        out->as.decimal = value->as.decimal - remainder;
        fits = firn_decimal_fits(out->as.decimal, source->precision);
        break;
    }
    case FIRN_TYPE_STRING: out->as.bytes = truncate_text(value->as.bytes, width); break;
    default:
        if (out->as.bytes.size > (size_t)width) out->as.bytes.size = (size_t)width;
        break;
    }
    if (fits) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s: the lowest values of %s have no partition: what they are cut to does "
                     "not fit the type",
                     transform->text, source->text);
}

/* Units of 1/`per_second` in a second; 0 for a date. */
static int64_t units_per_second(firn_type_kind kind) {
    switch (kind) {
    case FIRN_TYPE_DATE: return 0;
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return FIRN_NANOSECONDS_PER_SECOND;
    default: return FIRN_MICROSECONDS_PER_SECOND;
    }
}

static int64_t day_of(const firn_value *value) {
    int64_t per_second = units_per_second(value->kind);
    if (per_second == 0) return value->as.int32;
    return firn_floor_divide(value->as.int64, per_second * FIRN_SECONDS_PER_DAY);
}

static firn_status apply_time(const firn_transform *transform, const firn_value *value,
                              firn_value *out, firn_error *error) {
    int64_t result = 0;
    int64_t year = 0;
    int month = 0;
    int day = 0;
    if (transform->kind == FIRN_TRANSFORM_HOUR) {
        result = firn_floor_divide(value->as.int64, units_per_second(value->kind) * 3600);
    } else if (transform->kind == FIRN_TRANSFORM_DAY) {
        result = day_of(value);
    } else {
        firn_civil_from_days(day_of(value), &year, &month, &day);
        result = year - EPOCH_YEAR;
        if (transform->kind == FIRN_TRANSFORM_MONTH) result = result * 12 + month - 1;
    }
    if (result < INT32_MIN || result > INT32_MAX) {
        return firn_fail(error, FIRN_INVALID, "%s %" PRId64 " does not fit the partition's int",
                         transform->text, result);
    }
    out->kind = transform->kind == FIRN_TRANSFORM_DAY ? FIRN_TYPE_DATE : FIRN_TYPE_INT;
    out->as.int32 = (int32_t)result;
    return FIRN_OK;
}

firn_status firn_transform_apply(const firn_transform *transform, const firn_type *source,
                                 const firn_value *value, firn_value *out, firn_error *error) {
    FIRN_TRY(firn_transform_check_source(transform, source, error));
    if (!value->is_null && value->kind != source->kind) {
        return firn_fail(error, FIRN_INVALID, "transform %s: the value is no %s", transform->text,
                         source->text == NULL ? "such thing" : source->text);
    }
    if (transform->kind == FIRN_TRANSFORM_UNKNOWN) {
        return firn_fail(error, FIRN_UNSUPPORTED, "the transform %.100s is not known to firn",
                         transform->text);
    }
    const firn_type *result = firn_transform_natural_result(transform, source);
    if (value->is_null || transform->kind == FIRN_TRANSFORM_VOID) {
        *out = firn_value_null(result->kind);
        return FIRN_OK;
    }
    firn_value made = {0};
    switch (transform->kind) {
    case FIRN_TRANSFORM_IDENTITY: made = *value; break;
    case FIRN_TRANSFORM_BUCKET: apply_bucket(transform, value, &made); break;
    case FIRN_TRANSFORM_TRUNCATE:
        FIRN_TRY(apply_truncate(transform, source, value, &made, error));
        break;
    default: FIRN_TRY(apply_time(transform, value, &made, error)); break;
    }
    *out = made;
    return FIRN_OK;
}

/* "2024-01-31-12" of hours since 1970. */
static firn_status print_hour(int64_t hours, firn_buffer *out, firn_error *error) {
    char text[FIRN_CALENDAR_TEXT_SIZE];
    firn_print_date(firn_floor_divide(hours, 24), text);
    return firn_buffer_printf(out, error, "%s-%02" PRId64, text, firn_floor_remainder(hours, 24));
}

firn_status firn_transform_print(const firn_transform *transform, const firn_type *result,
                                 const firn_value *value, firn_buffer *out, firn_error *error) {
    if (value->is_null) return firn_buffer_append_text(out, "null", error);
    char text[FIRN_CALENDAR_TEXT_SIZE];
    bool is_int = value->kind == FIRN_TYPE_INT || value->kind == FIRN_TYPE_DATE;
    int64_t number = is_int ? value->as.int32 : 0;
    if (!is_int) return firn_value_print(result, value, false, out, error);
    switch (transform->kind) {
    case FIRN_TRANSFORM_YEAR:
        return firn_buffer_printf(out, error, "%04" PRId64, EPOCH_YEAR + number);
    case FIRN_TRANSFORM_MONTH:
        return firn_buffer_printf(out, error, "%04" PRId64 "-%02" PRId64,
                                  EPOCH_YEAR + firn_floor_divide(number, 12),
                                  firn_floor_remainder(number, 12) + 1);
    /* The value of a day may have come as an int as well. */
    case FIRN_TRANSFORM_DAY:
        firn_print_date(number, text);
        return firn_buffer_append_text(out, text, error);
    case FIRN_TRANSFORM_HOUR: return print_hour(number, out, error);
    default: return firn_value_print(result, value, false, out, error);
    }
}
