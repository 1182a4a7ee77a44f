/* Tuples of values as bytes that sort as the values do. */
#include <math.h>

#include "base/bytes.h"
#include "iceberg/value.h"

/*
 * Each value begins with a tag, so that nulls come first and values of different classes never mix; those of one class, which are what
 * promotion joins, have one form.
 */
typedef enum order_tag {
    TAG_NULL,
    TAG_BOOLEAN,
    TAG_INTEGER,
    TAG_FLOATING,
    TAG_DECIMAL,
    TAG_BYTES,
    TAG_OTHER
} order_tag;

#define SIGN_BIT (UINT64_C(1) << 63)

static firn_status append_ordered(order_tag tag, uint64_t bits, firn_buffer *out,
                                  firn_error *error) {
    uint8_t bytes[9] = {(uint8_t)tag};
    firn_store_be64(bytes + 1, bits);
    return firn_buffer_append(out, bytes, sizeof bytes, error);
}

static firn_status append_integer(int64_t value, firn_buffer *out, firn_error *error) {
    return append_ordered(TAG_INTEGER, (uint64_t)value ^ SIGN_BIT, out, error);
}

static firn_status append_floating(double value, firn_buffer *out, firn_error *error) {
    uint64_t bits = firn_bits_of_double(value);
    uint64_t ordered = (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
    return append_ordered(TAG_FLOATING, isnan(value) ? UINT64_MAX : ordered, out, error);
}

static firn_status append_decimal(firn_int128 value, firn_buffer *out, firn_error *error) {
    uint8_t bytes[17] = {TAG_DECIMAL};
    firn_store_be64(bytes + 1, (uint64_t)(value >> 64) ^ SIGN_BIT);
    firn_store_be64(bytes + 9, (uint64_t)value);
    return firn_buffer_append(out, bytes, sizeof bytes, error);
}

/* Zero bytes are escaped, so that the end (two of them) comes before anything that could follow. */
static firn_status append_bytes(firn_slice value, firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_buffer_append_byte(out, TAG_BYTES, error));
    FIRN_TRY(firn_buffer_reserve(out, value.size + 2, error));
    size_t done = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] != 0) continue;
        FIRN_TRY(firn_buffer_append(out, value.data + done, i + 1 - done, error));
        FIRN_TRY(firn_buffer_append_byte(out, 0xFF, error));
        done = i + 1;
    }
    if (done < value.size) {
        FIRN_TRY(firn_buffer_append(out, value.data + done, value.size - done, error));
    }
    return firn_buffer_append(out, "\0\0", 2, error);
}

static firn_status append_value(const firn_value *value, firn_buffer *out, firn_error *error) {
    if (value->is_null) return firn_buffer_append_byte(out, TAG_NULL, error);
    switch (value->kind) {
    case FIRN_TYPE_BOOLEAN:
        return append_ordered(TAG_BOOLEAN, value->as.boolean ? 1 : 0, out, error);
    case FIRN_TYPE_INT:
    case FIRN_TYPE_DATE: return append_integer(value->as.int32, out, error);
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return append_integer(value->as.int64, out, error);
    case FIRN_TYPE_FLOAT: return append_floating((double)value->as.float32, out, error);
    case FIRN_TYPE_DOUBLE: return append_floating(value->as.float64, out, error);
    case FIRN_TYPE_DECIMAL: return append_decimal(value->as.decimal, out, error);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return append_bytes(value->as.bytes, out, error);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return firn_buffer_append_byte(out, TAG_OTHER, error);
}

firn_status firn_value_order_key(const firn_value *values, size_t count, firn_buffer *out,
                                 firn_error *error) {
    for (size_t i = 0; i < count; i++) FIRN_TRY(append_value(&values[i], out, error));
    return FIRN_OK;
}
