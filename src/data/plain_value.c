#include "data/plain_value.h"

#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "iceberg/decimal.h"

#define HIGHEST_INT32_PRECISION 9
#define HIGHEST_INT64_PRECISION 18
#define HIGHEST_PRECISION 38

int32_t firn_decimal_required_bytes(int32_t precision) {
    /* The highest precision that so many bytes hold: floor(log10(2^(8n-1) - 1)). */
    static const int8_t highest[] = {0, 2, 4, 6, 9, 11, 14, 16, 18, 21, 23, 26, 28, 31, 33, 35, 38};
    int32_t bytes = 1;
    while (bytes < 16 && highest[bytes] < precision) bytes++;
    return bytes;
}

static firn_parquet_logical_type timestamp(firn_parquet_time_unit unit, bool adjusted) {
    return (firn_parquet_logical_type){
        .kind = FIRN_PARQUET_LOGICAL_TIMESTAMP, .unit = unit, .adjusted_to_utc = adjusted};
}

static firn_status decimal_form(const firn_type *type, firn_parquet_schema_element *element,
                                firn_error *error) {
    if (type->precision < 1 || type->precision > HIGHEST_PRECISION) {
        return firn_fail(error, FIRN_UNSUPPORTED, "decimal precision %d", type->precision);
    }
    element->logical.kind = FIRN_PARQUET_LOGICAL_DECIMAL;
    element->logical.precision = type->precision;
    element->logical.scale = type->scale;
    if (type->precision <= HIGHEST_INT32_PRECISION) {
        element->type = FIRN_PARQUET_INT32;
    } else if (type->precision <= HIGHEST_INT64_PRECISION) {
        element->type = FIRN_PARQUET_INT64;
    } else {
        element->type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
        element->type_length = firn_decimal_required_bytes(type->precision);
    }
    return FIRN_OK;
}

static firn_status fixed_form(const firn_type *type, firn_parquet_schema_element *element,
                              firn_error *error) {
    if (type->length < 1) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s has no Parquet form", type->text);
    }
    element->type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
    element->type_length = type->length;
    return FIRN_OK;
}

/* Numbered as in parquet.thrift, EdgeInterpolationAlgorithm. */
static firn_status edge_algorithm(const firn_type *type, int32_t *out, firn_error *error) {
    static const char *const names[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
    *out = 0;
    if (type->edge_algorithm == NULL) return FIRN_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(type->edge_algorithm, names[i]) != 0) continue;
        *out = (int32_t)i;
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: the edge algorithm is not known to firn",
                     type->text);
}

static firn_status geospatial_form(const firn_type *type, firn_parquet_schema_element *element,
                                   firn_error *error) {
    element->type = FIRN_PARQUET_BYTE_ARRAY;
    element->logical.crs = type->crs;
    element->logical.kind = FIRN_PARQUET_LOGICAL_GEOMETRY;
    if (type->kind == FIRN_TYPE_GEOMETRY) return FIRN_OK;
    element->logical.kind = FIRN_PARQUET_LOGICAL_GEOGRAPHY;
    return edge_algorithm(type, &element->logical.edge_algorithm, error);
}

firn_status firn_plain_form_of_type(const firn_type *type, firn_parquet_schema_element *element,
                                    firn_error *error) {
    element->has_type = true;
    element->type_length = 0;
    element->logical = (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_NONE};
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN: element->type = FIRN_PARQUET_BOOLEAN; return FIRN_OK;
    case FIRN_TYPE_INT: element->type = FIRN_PARQUET_INT32; return FIRN_OK;
    case FIRN_TYPE_LONG: element->type = FIRN_PARQUET_INT64; return FIRN_OK;
    case FIRN_TYPE_FLOAT: element->type = FIRN_PARQUET_FLOAT; return FIRN_OK;
    case FIRN_TYPE_DOUBLE: element->type = FIRN_PARQUET_DOUBLE; return FIRN_OK;
    case FIRN_TYPE_DECIMAL: return decimal_form(type, element, error);
    case FIRN_TYPE_DATE:
        element->type = FIRN_PARQUET_INT32;
        element->logical.kind = FIRN_PARQUET_LOGICAL_DATE;
        return FIRN_OK;
    case FIRN_TYPE_TIME:
        element->type = FIRN_PARQUET_INT64;
        element->logical.kind = FIRN_PARQUET_LOGICAL_TIME;
        element->logical.unit = FIRN_PARQUET_MICROS;
        return FIRN_OK;
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
        element->type = FIRN_PARQUET_INT64;
        element->logical = timestamp(FIRN_PARQUET_MICROS, type->kind == FIRN_TYPE_TIMESTAMPTZ);
        return FIRN_OK;
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS:
        element->type = FIRN_PARQUET_INT64;
        element->logical = timestamp(FIRN_PARQUET_NANOS, type->kind == FIRN_TYPE_TIMESTAMPTZ_NS);
        return FIRN_OK;
    case FIRN_TYPE_STRING:
        element->type = FIRN_PARQUET_BYTE_ARRAY;
        element->logical.kind = FIRN_PARQUET_LOGICAL_STRING;
        return FIRN_OK;
    case FIRN_TYPE_UUID:
        element->type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
        element->type_length = 16;
        element->logical.kind = FIRN_PARQUET_LOGICAL_UUID;
        return FIRN_OK;
    case FIRN_TYPE_FIXED: return fixed_form(type, element, error);
    case FIRN_TYPE_BINARY: element->type = FIRN_PARQUET_BYTE_ARRAY; return FIRN_OK;
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return geospatial_form(type, element, error);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP: break;
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "type %s can't be written yet",
                     type->text == NULL ? "of this kind" : type->text);
}

static firn_status unfit(const firn_type *type, firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT, "a value does not fit type %s", type->text);
}

static firn_status plain_int64(const firn_type *type, const firn_value *value, uint8_t *bytes,
                               firn_error *error) {
    int64_t number;
    if (value->kind == FIRN_TYPE_INT && type->kind == FIRN_TYPE_LONG) {
        number = value->as.int32;
    } else if (value->kind == type->kind) {
        number = value->as.int64;
    } else {
        return unfit(type, error);
    }
    firn_store_le64(bytes, (uint64_t)number);
    return FIRN_OK;
}

static firn_status plain_double(const firn_type *type, const firn_value *value, uint8_t *bytes,
                                firn_error *error) {
    double number;
    if (value->kind == FIRN_TYPE_FLOAT) {
        number = (double)value->as.float32;
    } else if (value->kind == FIRN_TYPE_DOUBLE) {
        number = value->as.float64;
    } else {
        return unfit(type, error);
    }
    firn_store_le64(bytes, firn_bits_of_double(number));
    return FIRN_OK;
}

/* Fixed-length decimals are big-endian and padded with the sign. */
static firn_status plain_decimal(const firn_type *type, const firn_value *value, uint8_t *bytes,
                                 size_t *size, firn_error *error) {
    if (value->kind != FIRN_TYPE_DECIMAL || !firn_decimal_fits(value->as.decimal, type->precision))
        return unfit(type, error);
    if (type->precision <= HIGHEST_INT32_PRECISION) {
        firn_store_le32(bytes, (uint32_t)(int32_t)value->as.decimal);
        *size = 4;
    } else if (type->precision <= HIGHEST_INT64_PRECISION) {
        firn_store_le64(bytes, (uint64_t)(int64_t)value->as.decimal);
        *size = 8;
    } else {
        uint8_t shortest[16];
        size_t length = firn_decimal_to_bytes(value->as.decimal, shortest);
        *size = (size_t)firn_decimal_required_bytes(type->precision);
        memset(bytes, value->as.decimal < 0 ? 0xFF : 0, *size - length);
        memcpy(bytes + *size - length, shortest, length);
    }
    return FIRN_OK;
}

static firn_status plain_bytes(const firn_type *type, const firn_value *value, firn_error *error) {
    bool fits = value->kind == type->kind;
    if (type->kind == FIRN_TYPE_UUID) fits = fits && value->as.bytes.size == 16;
    if (type->kind == FIRN_TYPE_FIXED) {
        fits = fits && value->as.bytes.size == (size_t)type->length;
    }
    return fits ? FIRN_OK : unfit(type, error);
}

firn_status firn_plain_from_value(const firn_type *type, const firn_value *value, firn_arena *arena,
                                  firn_slice *out, firn_error *error) {
    uint8_t bytes[16];
    size_t size = 0;
    const void *source = bytes;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
        if (value->kind != type->kind) return unfit(type, error);
        bytes[0] = value->as.boolean ? 1 : 0;
        size = 1;
        break;
    case FIRN_TYPE_INT:
    case FIRN_TYPE_DATE:
        if (value->kind != type->kind) return unfit(type, error);
        firn_store_le32(bytes, (uint32_t)value->as.int32);
        size = 4;
        break;
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS:
        FIRN_TRY(plain_int64(type, value, bytes, error));
        size = 8;
        break;
    case FIRN_TYPE_FLOAT:
        if (value->kind != type->kind) return unfit(type, error);
        firn_store_le32(bytes, firn_bits_of_float(value->as.float32));
        size = 4;
        break;
    case FIRN_TYPE_DOUBLE:
        FIRN_TRY(plain_double(type, value, bytes, error));
        size = 8;
        break;
    case FIRN_TYPE_DECIMAL: FIRN_TRY(plain_decimal(type, value, bytes, &size, error)); break;
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
        FIRN_TRY(plain_bytes(type, value, error));
        source = value->as.bytes.data;
        size = value->as.bytes.size;
        break;
    default: return unfit(type, error);
    }
    uint8_t *copy = firn_arena_alloc(arena, size + 1, 1);
    if (copy == NULL) return firn_fail_memory(error);
    if (size > 0) memcpy(copy, source, size);
    *out = firn_slice_of(copy, size);
    return FIRN_OK;
}

static firn_status decimal_of_plain(const firn_type *type, firn_slice plain, firn_value *out,
                                    firn_error *error) {
    *out = (firn_value){.kind = FIRN_TYPE_DECIMAL};
    if (type->precision <= HIGHEST_INT32_PRECISION) {
        if (plain.size != 4) return unfit(type, error);
        out->as.decimal = (int32_t)firn_load_le32(plain.data);
    } else if (type->precision <= HIGHEST_INT64_PRECISION) {
        if (plain.size != 8) return unfit(type, error);
        out->as.decimal = (int64_t)firn_load_le64(plain.data);
    } else if (!firn_decimal_from_bytes(plain, &out->as.decimal)) {
        return unfit(type, error);
    }
    return FIRN_OK;
}

firn_status firn_plain_to_value(const firn_type *type, firn_slice plain, firn_value *out,
                                firn_error *error) {
    if (type->kind == FIRN_TYPE_DECIMAL) return decimal_of_plain(type, plain, out, error);
    /* Every other type has the same bytes in both forms. Here the width must be the type's own. */
    size_t width = 0;
    switch (type->kind) {
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_DOUBLE:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMP_NS: width = 8; break;
    case FIRN_TYPE_FIXED: width = (size_t)type->length; break;
    default: width = plain.size; break;
    }
    if (plain.size != width) return unfit(type, error);
    return firn_value_from_bytes(type, plain, out, error);
}
