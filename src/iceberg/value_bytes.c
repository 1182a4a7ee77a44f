#include "base/bytes.h"
#include "iceberg/decimal.h"
#include "iceberg/value.h"

#define MICROSECONDS_PER_DAY INT64_C(86400000000)
#define NANOSECONDS_PER_DAY INT64_C(86400000000000)

firn_status firn_value_to_bytes(const firn_value *value, firn_buffer *out, firn_error *error) {
    if (value->is_null) return firn_fail(error, FIRN_INVALID, "a null has no binary form");
    uint8_t bytes[16];
    switch (value->kind) {
    case FIRN_TYPE_BOOLEAN: return firn_buffer_append_byte(out, value->as.boolean ? 1 : 0, error);
    case FIRN_TYPE_INT:
    case FIRN_TYPE_DATE:
        firn_store_le32(bytes, (uint32_t)value->as.int32);
        return firn_buffer_append(out, bytes, 4, error);
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS:
        firn_store_le64(bytes, (uint64_t)value->as.int64);
        return firn_buffer_append(out, bytes, 8, error);
    case FIRN_TYPE_FLOAT:
        firn_store_le32(bytes, firn_bits_of_float(value->as.float32));
        return firn_buffer_append(out, bytes, 4, error);
    case FIRN_TYPE_DOUBLE:
        firn_store_le64(bytes, firn_bits_of_double(value->as.float64));
        return firn_buffer_append(out, bytes, 8, error);
    case FIRN_TYPE_DECIMAL:
        return firn_buffer_append(out, bytes, firn_decimal_to_bytes(value->as.decimal, bytes),
                                  error);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY:
        return firn_buffer_append(out, value->as.bytes.data, value->as.bytes.size, error);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return firn_fail(error, FIRN_INVALID, "a value of this type has no binary form");
}

static firn_status wrong_size(const firn_type *type, size_t size, firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT, "%zu bytes are no %s", size, type->text);
}

/* Bounds that were written before the column was promoted from date ("Schema Evolution"). */
static firn_status timestamp_of_date(const firn_type *type, int32_t days, int64_t per_day,
                                     firn_value *out, firn_error *error) {
    if (__builtin_mul_overflow((int64_t)days, per_day, &out->as.int64)) {
        return firn_fail(error, FIRN_CORRUPT, "day %d lies outside the range of %s", days,
                         type->text);
    }
    return FIRN_OK;
}

static firn_status eight_bytes(const firn_type *type, firn_slice bytes, firn_value *out,
                               firn_error *error) {
    if (bytes.size == 8) {
        out->as.int64 = (int64_t)firn_load_le64(bytes.data);
        return FIRN_OK;
    }
    if (bytes.size != 4) return wrong_size(type, bytes.size, error);
    int32_t narrow = (int32_t)firn_load_le32(bytes.data);
    switch (type->kind) {
    case FIRN_TYPE_LONG: out->as.int64 = narrow; return FIRN_OK;
    case FIRN_TYPE_TIMESTAMP:
        return timestamp_of_date(type, narrow, MICROSECONDS_PER_DAY, out, error);
    case FIRN_TYPE_TIMESTAMP_NS:
        return timestamp_of_date(type, narrow, NANOSECONDS_PER_DAY, out, error);
    default: return wrong_size(type, bytes.size, error);
    }
}

static firn_status floating(const firn_type *type, firn_slice bytes, firn_value *out,
                            firn_error *error) {
    bool narrow = bytes.size == 4;
    if (!narrow && (bytes.size != 8 || type->kind != FIRN_TYPE_DOUBLE)) {
        return wrong_size(type, bytes.size, error);
    }
    if (type->kind == FIRN_TYPE_FLOAT) {
        out->as.float32 = firn_float_of_bits(firn_load_le32(bytes.data));
    } else {
        out->as.float64 = narrow ? (double)firn_float_of_bits(firn_load_le32(bytes.data))
                                 : firn_double_of_bits(firn_load_le64(bytes.data));
    }
    return FIRN_OK;
}

/* Types whose value is the bytes themselves. */
static firn_status raw_bytes(const firn_type *type, firn_slice bytes, firn_value *out,
                             firn_error *error) {
    /* Bounds of fixed may have been cut short; nothing is longer than the type. */
    bool fits = type->kind == FIRN_TYPE_UUID    ? bytes.size == 16
                : type->kind == FIRN_TYPE_FIXED ? bytes.size <= (size_t)type->length
                                                : true;
    if (!fits) return wrong_size(type, bytes.size, error);
    out->as.bytes = bytes;
    return FIRN_OK;
}

firn_status firn_value_from_bytes(const firn_type *type, firn_slice bytes, firn_value *out,
                                  firn_error *error) {
    memset(out, 0, sizeof *out);
    out->kind = type->kind;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
        if (bytes.size != 1) return wrong_size(type, bytes.size, error);
        out->as.boolean = bytes.data[0] != 0;
        return FIRN_OK;
    case FIRN_TYPE_INT:
    case FIRN_TYPE_DATE:
        if (bytes.size != 4) return wrong_size(type, bytes.size, error);
        out->as.int32 = (int32_t)firn_load_le32(bytes.data);
        return FIRN_OK;
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return eight_bytes(type, bytes, out, error);
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return floating(type, bytes, out, error);
    case FIRN_TYPE_DECIMAL:
        if (firn_decimal_from_bytes(bytes, &out->as.decimal)) return FIRN_OK;
        return wrong_size(type, bytes.size, error);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return raw_bytes(type, bytes, out, error);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "a value of this type has no binary form");
}
