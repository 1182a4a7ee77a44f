#include <math.h>

#include "base/bytes.h"
#include "iceberg/decimal.h"
#include "iceberg/value.h"

/*
 * Kinds that promotion joins (int and long, float and double) are one class and compare by value, so that a tuple
 * written before a promotion equals the same tuple written after it.
 */
typedef enum value_class {
    CLASS_BOOLEAN,
    CLASS_INTEGER,
    CLASS_FLOATING,
    CLASS_DECIMAL,
    CLASS_BYTES,
    CLASS_OTHER
} value_class;

static value_class class_of(firn_type_kind kind) {
    switch (kind) {
    case FIRN_TYPE_BOOLEAN: return CLASS_BOOLEAN;
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_DATE:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return CLASS_INTEGER;
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return CLASS_FLOATING;
    case FIRN_TYPE_DECIMAL: return CLASS_DECIMAL;
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return CLASS_BYTES;
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return CLASS_OTHER;
}

static int64_t integer_of(const firn_value *value) {
    bool narrow = value->kind == FIRN_TYPE_INT || value->kind == FIRN_TYPE_DATE;
    return narrow ? value->as.int32 : value->as.int64;
}

static double floating_of(const firn_value *value) {
    return value->kind == FIRN_TYPE_FLOAT ? (double)value->as.float32 : value->as.float64;
}

/* Bits whose order as unsigned integers is: -Infinity … -0, +0 … Infinity, NaN (of either sign). */
static uint64_t ordered_bits(double value) {
    if (isnan(value)) return UINT64_MAX;
    uint64_t bits = firn_bits_of_double(value);
    uint64_t sign = UINT64_C(1) << 63;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

int firn_value_compare(const firn_value *a, const firn_value *b) {
    value_class class = class_of(a->kind);
    value_class other = class_of(b->kind);
    if (class != other) return class < other ? -1 : 1;
    switch (class) {
    case CLASS_BOOLEAN: return (int)a->as.boolean - (int)b->as.boolean;
    case CLASS_INTEGER: return (integer_of(a) > integer_of(b)) - (integer_of(a) < integer_of(b));
    case CLASS_FLOATING: {
        uint64_t left = ordered_bits(floating_of(a));
        uint64_t right = ordered_bits(floating_of(b));
        return (left > right) - (left < right);
    }
    case CLASS_DECIMAL: return (a->as.decimal > b->as.decimal) - (a->as.decimal < b->as.decimal);
    case CLASS_BYTES: {
        int order = firn_slice_compare(a->as.bytes, b->as.bytes);
        return (order > 0) - (order < 0);
    }
    case CLASS_OTHER: break;
    }
    return 0;
}

bool firn_value_equal(const firn_value *a, const firn_value *b) {
    if (a->is_null || b->is_null) return a->is_null && b->is_null;
    return firn_value_compare(a, b) == 0;
}

firn_status firn_value_copy(const firn_value *value, firn_arena *arena, firn_value *out,
                            firn_error *error) {
    firn_value copy = *value;
    if (!value->is_null && class_of(value->kind) == CLASS_BYTES) {
        const void *bytes = firn_arena_memdup(arena, value->as.bytes.data, value->as.bytes.size);
        if (bytes == NULL) return firn_fail_memory(error);
        copy.as.bytes = firn_slice_of(bytes, value->as.bytes.size);
    }
    *out = copy;
    return FIRN_OK;
}

/* Tag of a null in a key; a value's tag is its class. */
#define NULL_TAG 0xFF

static firn_status append_key(const firn_value *value, firn_buffer *out, firn_error *error) {
    uint8_t bytes[17] = {(uint8_t)class_of(value->kind)};
    switch (class_of(value->kind)) {
    case CLASS_BOOLEAN:
        bytes[1] = value->as.boolean ? 1 : 0;
        return firn_buffer_append(out, bytes, 2, error);
    case CLASS_INTEGER:
        firn_store_be64(bytes + 1, (uint64_t)integer_of(value));
        return firn_buffer_append(out, bytes, 9, error);
    case CLASS_FLOATING:
        firn_store_be64(bytes + 1, ordered_bits(floating_of(value)));
        return firn_buffer_append(out, bytes, 9, error);
    case CLASS_DECIMAL: {
        uint8_t shortest[16];
        size_t size = firn_decimal_to_bytes(value->as.decimal, shortest);
        bytes[1] = (uint8_t)size;
        FIRN_TRY(firn_buffer_append(out, bytes, 2, error));
        return firn_buffer_append(out, shortest, size, error);
    }
    case CLASS_BYTES:
        firn_store_be64(bytes + 1, value->as.bytes.size);
        FIRN_TRY(firn_buffer_append(out, bytes, 9, error));
        return firn_buffer_append(out, value->as.bytes.data, value->as.bytes.size, error);
    case CLASS_OTHER: break;
    }
    return firn_buffer_append(out, bytes, 1, error);
}

firn_status firn_value_key(const firn_value *values, size_t count, firn_buffer *out,
                           firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (values[i].is_null) {
            FIRN_TRY(firn_buffer_append_byte(out, NULL_TAG, error));
        } else {
            FIRN_TRY(append_key(&values[i], out, error));
        }
    }
    return FIRN_OK;
}
