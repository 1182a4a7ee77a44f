/* Bounds as values of the table's type. Where a file counts in finer units, a lower bound goes down and an upper one up: both still hold. */
#include "base/bytes.h"
#include "data/bound_text.h"
#include "iceberg/decimal.h"
#include "lake/facts_internal.h"

#define MICROS_PER_DAY INT64_C(86400000000)

typedef struct conversion {
    const firn_parquet_schema_element *element;
    const firn_type *type;
    firn_slice plain;
    bool is_upper;
    bool *exact;
    firn_value *out;
} conversion;

/* Any integer that is no UINT64 beyond INT64_MAX. */
static bool integer_of(const conversion *c, int64_t *out) {
    switch (firn_parquet_order_of(c->element)) {
    case FIRN_PARQUET_ORDER_INT32: *out = (int32_t)firn_load_le32(c->plain.data); return true;
    case FIRN_PARQUET_ORDER_UINT32: *out = firn_load_le32(c->plain.data); return true;
    case FIRN_PARQUET_ORDER_INT64: *out = (int64_t)firn_load_le64(c->plain.data); return true;
    case FIRN_PARQUET_ORDER_UINT64: *out = (int64_t)firn_load_le64(c->plain.data); return *out >= 0;
    default: return false;
    }
}

static bool is_plain_integer(const conversion *c) {
    return c->element->logical.kind == FIRN_PARQUET_LOGICAL_NONE ||
           c->element->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER;
}

static bool integer(const conversion *c) {
    int64_t value = 0;
    if (!is_plain_integer(c) || !integer_of(c, &value)) return false;
    if (c->type->kind == FIRN_TYPE_LONG) {
        c->out->as.int64 = value;
        return true;
    }
    if (value < INT32_MIN || value > INT32_MAX) return false;
    c->out->as.int32 = (int32_t)value;
    return true;
}

/* A zero stands for both: TypeDefinedOrder does not tell them apart, Iceberg's order of bounds does. */
static bool floating(const conversion *c) {
    double value;
    if (c->element->logical.kind != FIRN_PARQUET_LOGICAL_NONE) return false;
    if (c->element->type == FIRN_PARQUET_FLOAT) {
        value = (double)firn_float_of_bits(firn_load_le32(c->plain.data));
    } else if (c->element->type == FIRN_PARQUET_DOUBLE && c->type->kind == FIRN_TYPE_DOUBLE) {
        value = firn_double_of_bits(firn_load_le64(c->plain.data));
    } else {
        return false;
    }
    if (!(value < 0) && !(value > 0)) {
        value = c->is_upper ? 0.0 : -0.0;
        *c->exact = false;
    }
    if (c->type->kind == FIRN_TYPE_FLOAT) {
        c->out->as.float32 = (float)value;
    } else {
        c->out->as.float64 = value;
    }
    return true;
}

static bool decimal(const conversion *c) {
    const firn_parquet_logical_type *logical = &c->element->logical;
    if (logical->kind != FIRN_PARQUET_LOGICAL_DECIMAL || logical->scale != c->type->scale) {
        return false;
    }
    int64_t small = 0;
    if (c->element->type == FIRN_PARQUET_INT32 || c->element->type == FIRN_PARQUET_INT64) {
        if (!integer_of(c, &small)) return false;
        c->out->as.decimal = small;
    } else if (!firn_decimal_from_bytes(c->plain, &c->out->as.decimal)) {
        return false;
    }
    return firn_decimal_fits(c->out->as.decimal, c->type->precision);
}

static bool divide(const conversion *c, int64_t value, int64_t divisor, int64_t *out) {
    int64_t quotient = value / divisor, rest = value % divisor;
    if (rest != 0) *c->exact = false;
    if (rest < 0 && !c->is_upper) quotient--;
    if (rest > 0 && c->is_upper) quotient++;
    *out = quotient;
    return true;
}

/* From `per_second` of the file to `wanted` of the table. */
static bool rescale(const conversion *c, int64_t value, int64_t per_second, int64_t wanted,
                    int64_t *out) {
    if (per_second > wanted) return divide(c, value, per_second / wanted, out);
    return !__builtin_mul_overflow(value, wanted / per_second, out);
}

static int64_t units_per_second(firn_parquet_time_unit unit) {
    switch (unit) {
    case FIRN_PARQUET_MILLIS: return 1000;
    case FIRN_PARQUET_MICROS: return 1000000;
    case FIRN_PARQUET_NANOS: return 1000000000;
    }
    return 0;
}

/* A time rounded up to midnight has no value in the type, and an upper bound is left out then. */
static bool time_of_day(const conversion *c) {
    int64_t value = 0, per_second = units_per_second(c->element->logical.unit);
    if (c->element->logical.kind != FIRN_PARQUET_LOGICAL_TIME || per_second == 0 ||
        !integer_of(c, &value) || !rescale(c, value, per_second, 1000000, &value)) {
        return false;
    }
    c->out->as.int64 = value;
    return value >= 0 && value < MICROS_PER_DAY;
}

static bool timestamp(const conversion *c) {
    bool nanos =
        c->type->kind == FIRN_TYPE_TIMESTAMP_NS || c->type->kind == FIRN_TYPE_TIMESTAMPTZ_NS;
    int64_t wanted = nanos ? 1000000000 : 1000000, value = 0;
    if (!integer_of(c, &value)) return false;
    const firn_parquet_logical_type *logical = &c->element->logical;
    if (logical->kind == FIRN_PARQUET_LOGICAL_DATE) {
        return !__builtin_mul_overflow(value, wanted * 86400, &c->out->as.int64);
    }
    int64_t per_second = units_per_second(logical->unit);
    return logical->kind == FIRN_PARQUET_LOGICAL_TIMESTAMP && per_second != 0 &&
           rescale(c, value, per_second, wanted, &c->out->as.int64);
}

static bool date(const conversion *c) {
    if (c->element->type != FIRN_PARQUET_INT32 ||
        c->element->logical.kind != FIRN_PARQUET_LOGICAL_DATE) {
        return false;
    }
    c->out->as.int32 = (int32_t)firn_load_le32(c->plain.data);
    return true;
}

static bool byte_string(const conversion *c) {
    c->out->as.bytes = c->plain;
    return c->element->type == FIRN_PARQUET_BYTE_ARRAY &&
           c->element->logical.kind != FIRN_PARQUET_LOGICAL_DECIMAL && firn_bound_is_usable(c->out);
}

static bool fixed_string(const conversion *c) {
    size_t length = c->type->kind == FIRN_TYPE_UUID ? 16 : (size_t)c->type->length;
    c->out->as.bytes = c->plain;
    return c->element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY &&
           firn_parquet_order_of(c->element) == FIRN_PARQUET_ORDER_BYTES && c->plain.size == length;
}

bool firn_lake_bound_value(const firn_parquet_schema_element *element, const firn_type *type,
                           firn_slice plain, bool is_upper, firn_value *out, bool *exact) {
    conversion c = {element, type, plain, is_upper, exact, out};
    *out = (firn_value){.kind = type->kind};
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
        if (element->type != FIRN_PARQUET_BOOLEAN) return false;
        out->as.boolean = plain.data[0] != 0;
        return true;
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG: return integer(&c);
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return floating(&c);
    case FIRN_TYPE_DECIMAL: return decimal(&c);
    case FIRN_TYPE_DATE: return date(&c);
    case FIRN_TYPE_TIME: return time_of_day(&c);
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return timestamp(&c);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_BINARY: return byte_string(&c);
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED: return fixed_string(&c);
    default: return false;
    }
}
