/* Partition values: from what a manifest's Avro schema says to the type that the spec says. */
#include <inttypes.h>

#include "iceberg/decimal.h"
#include "iceberg/manifest_internal.h"
#include "iceberg/primitive.h"

#define MICROSECONDS_PER_DAY INT64_C(86400000000)

static firn_status misfit(const firn_avro_value *in, const firn_type *type, firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT, "Avro type %s does not fit partition type %s",
                     firn_avro_kind_name(in->schema->kind), type->text);
}

/** The nearest Iceberg type where no schema of the table has the source column any more. */
static firn_type_kind kind_as_stored(const firn_avro_schema *schema) {
    switch (schema->kind) {
    case FIRN_AVRO_BOOLEAN: return FIRN_TYPE_BOOLEAN;
    case FIRN_AVRO_INT:
        return schema->logical == FIRN_AVRO_LOGICAL_DATE ? FIRN_TYPE_DATE : FIRN_TYPE_INT;
    case FIRN_AVRO_FLOAT: return FIRN_TYPE_FLOAT;
    case FIRN_AVRO_DOUBLE: return FIRN_TYPE_DOUBLE;
    case FIRN_AVRO_STRING: return FIRN_TYPE_STRING;
    case FIRN_AVRO_BYTES:
        return schema->logical == FIRN_AVRO_LOGICAL_DECIMAL ? FIRN_TYPE_DECIMAL : FIRN_TYPE_BINARY;
    case FIRN_AVRO_FIXED:
        if (schema->logical == FIRN_AVRO_LOGICAL_DECIMAL) return FIRN_TYPE_DECIMAL;
        return schema->logical == FIRN_AVRO_LOGICAL_UUID ? FIRN_TYPE_UUID : FIRN_TYPE_FIXED;
    default: break;
    }
    switch (schema->logical) {
    case FIRN_AVRO_LOGICAL_TIME_MICROS: return FIRN_TYPE_TIME;
    case FIRN_AVRO_LOGICAL_TIMESTAMP_MICROS:
        return schema->adjust_to_utc ? FIRN_TYPE_TIMESTAMPTZ : FIRN_TYPE_TIMESTAMP;
    case FIRN_AVRO_LOGICAL_TIMESTAMP_NANOS:
        return schema->adjust_to_utc ? FIRN_TYPE_TIMESTAMPTZ_NS : FIRN_TYPE_TIMESTAMP_NS;
    default: return FIRN_TYPE_LONG;
    }
}

static firn_status scaled(int64_t value, int64_t factor, int64_t *out, firn_error *error) {
    if (!__builtin_mul_overflow(value, factor, out)) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "value %" PRId64 " is out of range", value);
}

/**
 * Times and timestamps in the unit of the type; what the Avro schema does not annotate is in it
 * already.
 */
static firn_status time_value(const firn_avro_value *in, const firn_type *type, int64_t *out,
                              firn_error *error) {
    bool nanoseconds =
        type->kind == FIRN_TYPE_TIMESTAMP_NS || type->kind == FIRN_TYPE_TIMESTAMPTZ_NS;
    int64_t value = in->as.integer;
    switch (in->schema->logical) {
    case FIRN_AVRO_LOGICAL_TIME_MILLIS:
    case FIRN_AVRO_LOGICAL_TIMESTAMP_MILLIS:
    case FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MILLIS:
        return scaled(value, nanoseconds ? 1000000 : 1000, out, error);
    case FIRN_AVRO_LOGICAL_TIMESTAMP_MICROS:
    case FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MICROS:
        return scaled(value, nanoseconds ? 1000 : 1, out, error);
    case FIRN_AVRO_LOGICAL_TIMESTAMP_NANOS:
    case FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_NANOS:
        if (!nanoseconds) return misfit(in, type, error);
        break;
    case FIRN_AVRO_LOGICAL_DATE:
        return scaled(value, nanoseconds ? MICROSECONDS_PER_DAY * 1000 : MICROSECONDS_PER_DAY, out,
                      error);
    default: break;
    }
    *out = value;
    return FIRN_OK;
}

static firn_status integer_value(const firn_avro_value *in, const firn_type *type, firn_value *out,
                                 firn_error *error) {
    if (in->schema->kind != FIRN_AVRO_INT && in->schema->kind != FIRN_AVRO_LONG) {
        return misfit(in, type, error);
    }
    if (type->kind != FIRN_TYPE_INT && type->kind != FIRN_TYPE_DATE) {
        if (type->kind != FIRN_TYPE_LONG) return time_value(in, type, &out->as.int64, error);
        out->as.int64 = in->as.integer;
        return FIRN_OK;
    }
    if (in->as.integer < INT32_MIN || in->as.integer > INT32_MAX) {
        return firn_fail(error, FIRN_CORRUPT, "value %" PRId64 " does not fit into 32 bits",
                         in->as.integer);
    }
    out->as.int32 = (int32_t)in->as.integer;
    return FIRN_OK;
}

static firn_status decimal_value(const firn_avro_value *in, const firn_type *type, firn_value *out,
                                 firn_error *error) {
    const firn_avro_schema *schema = in->schema;
    if (schema->kind != FIRN_AVRO_BYTES && schema->kind != FIRN_AVRO_FIXED) {
        return misfit(in, type, error);
    }
    if (schema->logical == FIRN_AVRO_LOGICAL_DECIMAL && type->text != NULL &&
        schema->scale != type->scale) {
        return firn_fail(error, FIRN_CORRUPT, "a decimal of scale %" PRId32 " does not fit %s",
                         schema->scale, type->text);
    }
    if (firn_decimal_from_bytes(in->as.bytes, &out->as.decimal)) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "%zu bytes are no decimal", in->as.bytes.size);
}

/** 32 hexadecimal digits, dashes anywhere between them, into 16 bytes. */
static bool uuid_of_text(firn_slice text, uint8_t out[16]) {
    size_t digits = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        uint8_t value;
        if (c == '-') continue;
        if (c >= '0' && c <= '9')
            value = (uint8_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = (uint8_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            value = (uint8_t)(c - 'A' + 10);
        else
            return false;
        if (digits == 32) return false;
        out[digits / 2] = (uint8_t)(digits % 2 == 0 ? value << 4 : out[digits / 2] | value);
        digits++;
    }
    return digits == 32;
}

static firn_status bytes_value(const firn_avro_value *in, const firn_type *type, firn_arena *arena,
                               firn_value *out, firn_error *error) {
    firn_avro_kind kind = in->schema->kind;
    bool text = kind == FIRN_AVRO_STRING;
    if (!text && kind != FIRN_AVRO_BYTES && kind != FIRN_AVRO_FIXED) {
        return misfit(in, type, error);
    }
    firn_slice bytes = in->as.bytes;
    if (type->kind == FIRN_TYPE_STRING && kind == FIRN_AVRO_FIXED) return misfit(in, type, error);
    if (type->kind == FIRN_TYPE_UUID && text) {
        uint8_t *uuid = firn_arena_alloc(arena, 16, 1);
        if (uuid == NULL) return firn_fail_memory(error);
        if (!uuid_of_text(bytes, uuid)) {
            return firn_fail(error, FIRN_CORRUPT, "a text is no UUID");
        }
        bytes = firn_slice_of(uuid, 16);
    }
    size_t due = type->kind == FIRN_TYPE_UUID    ? 16
                 : type->kind == FIRN_TYPE_FIXED ? (size_t)type->length
                                                 : bytes.size;
    if (bytes.size != due) {
        return firn_fail(error, FIRN_CORRUPT, "%zu bytes are no %s", bytes.size, type->text);
    }
    out->as.bytes = bytes;
    return FIRN_OK;
}

static firn_status float_value(const firn_avro_value *in, const firn_type *type, firn_value *out,
                               firn_error *error) {
    bool narrow = in->schema->kind == FIRN_AVRO_FLOAT;
    if (type->kind == FIRN_TYPE_FLOAT && narrow) {
        out->as.float32 = in->as.float32;
    } else if (type->kind == FIRN_TYPE_DOUBLE && narrow) {
        out->as.float64 = (double)in->as.float32;
    } else if (type->kind == FIRN_TYPE_DOUBLE && in->schema->kind == FIRN_AVRO_DOUBLE) {
        out->as.float64 = in->as.float64;
    } else {
        return misfit(in, type, error);
    }
    return FIRN_OK;
}

firn_status firn_partition_value_from_avro(const firn_avro_value *in, const firn_type *type,
                                           firn_arena *arena, firn_value *out, firn_error *error) {
    if (firn_avro_value_is_null(in)) {
        *out = firn_value_null(type == NULL ? FIRN_TYPE_UNKNOWN : type->kind);
        return FIRN_OK;
    }
    firn_type stored = {.text = "of no known type"};
    if (type == NULL || type->kind == FIRN_TYPE_UNKNOWN) {
        stored.kind = kind_as_stored(in->schema);
        stored.length = in->schema->fixed_size > INT32_MAX ? 0 : (int32_t)in->schema->fixed_size;
        type = &stored;
    }
    *out = (firn_value){.kind = type->kind};
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
        if (in->schema->kind != FIRN_AVRO_BOOLEAN) return misfit(in, type, error);
        out->as.boolean = in->as.boolean;
        return FIRN_OK;
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return float_value(in, type, out, error);
    case FIRN_TYPE_DECIMAL: return decimal_value(in, type, out, error);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return bytes_value(in, type, arena, out, error);
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP:
    case FIRN_TYPE_UNKNOWN:
        return firn_fail(error, FIRN_CORRUPT, "a value of this type can't be a partition value");
    default: return integer_value(in, type, out, error);
    }
}

const firn_type *firn_partition_stored_type(const firn_partition_field *field) {
    /* What an unknown transform yields, no specification says. */
    if (field->transform.kind == FIRN_TRANSFORM_UNKNOWN) return NULL;
    const firn_type *type = field->result_type;
    return type == NULL || firn_type_is_nested(type->kind) ? NULL : type;
}
