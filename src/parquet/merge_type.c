/* The type in which two files' forms of one column meet. */
#include <string.h>

#include "parquet/merge_internal.h"

static bool same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether two annotations mean the same, precision of decimals and width of integers apart. */
static bool same_meaning(const firn_parquet_logical_type *a, const firn_parquet_logical_type *b) {
    if (a->kind != b->kind || a->kind == FIRN_PARQUET_LOGICAL_UNKNOWN) return false;
    switch (a->kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL: return a->scale == b->scale;
    case FIRN_PARQUET_LOGICAL_TIME:
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        return a->unit == b->unit && a->adjusted_to_utc == b->adjusted_to_utc;
    case FIRN_PARQUET_LOGICAL_INTEGER: return a->is_signed == b->is_signed;
    case FIRN_PARQUET_LOGICAL_VARIANT: return a->specification_version == b->specification_version;
    case FIRN_PARQUET_LOGICAL_GEOMETRY:
    case FIRN_PARQUET_LOGICAL_GEOGRAPHY:
        return same_text(a->crs, b->crs) && a->edge_algorithm == b->edge_algorithm;
    default: return true;
    }
}

/* Integers without an annotation are signed ones of their full width (LogicalTypes.md). */
static bool is_signed_integer(const firn_parquet_schema_element *element) {
    if (element->type != FIRN_PARQUET_INT32 && element->type != FIRN_PARQUET_INT64) return false;
    return element->logical.kind == FIRN_PARQUET_LOGICAL_NONE ||
           (element->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER && element->logical.is_signed);
}

static bool is_floating(const firn_parquet_schema_element *element) {
    return (element->type == FIRN_PARQUET_FLOAT || element->type == FIRN_PARQUET_DOUBLE) &&
           element->logical.kind == FIRN_PARQUET_LOGICAL_NONE;
}

static int bits_of(const firn_parquet_schema_element *element) {
    if (element->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER) return element->logical.bit_width;
    return element->type == FIRN_PARQUET_INT32 ? 32 : 64;
}

static void widen_integers(firn_parquet_schema_element *element,
                           const firn_parquet_schema_element *other) {
    if (bits_of(other) <= bits_of(element) && other->type == element->type) return;
    bool annotated = element->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER &&
                     other->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER;
    int bits = bits_of(other) > bits_of(element) ? bits_of(other) : bits_of(element);
    if (other->type == FIRN_PARQUET_INT64) element->type = FIRN_PARQUET_INT64;
    element->logical = (firn_parquet_logical_type){0};
    if (annotated) {
        element->logical = (firn_parquet_logical_type){
            .kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = bits, .is_signed = true};
    }
}

/* Bytes that hold every decimal of the precision in two's complement (Iceberg specification, appendix A). */
static int32_t bytes_of_decimal(int32_t precision) {
    /* log2(10) is below 3.3220; one bit is for the sign. */
    return (int32_t)(((int64_t)precision * 33220 / 10000 + 1 + 1 + 7) / 8);
}

static firn_status widen_decimals(firn_parquet_schema_element *element,
                                  const firn_parquet_schema_element *other, firn_error *error) {
    int32_t precision = element->logical.precision > other->logical.precision
                            ? element->logical.precision
                            : other->logical.precision;
    if (element->type == other->type && element->type_length == other->type_length &&
        element->logical.precision == precision) {
        return FIRN_OK;
    }
    element->logical.precision = precision;
    if (precision < 1 || precision > 38) {
        return firn_fail(error, FIRN_UNSUPPORTED, "decimals of precision %d", (int)precision);
    }
    element->type_length = 0;
    if (precision <= 9) {
        element->type = FIRN_PARQUET_INT32;
    } else if (precision <= 18) {
        element->type = FIRN_PARQUET_INT64;
    } else {
        element->type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
        element->type_length = bytes_of_decimal(precision);
    }
    return FIRN_OK;
}

firn_status firn_parquet_merge_types(firn_parquet_schema_element *element,
                                     const firn_parquet_schema_element *other, firn_error *error) {
    if (element->has_type != other->has_type) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "it is a group in one file and a value in another");
    }
    if (is_signed_integer(element) && is_signed_integer(other) && element->has_type) {
        widen_integers(element, other);
        return FIRN_OK;
    }
    if (element->has_type && is_floating(element) && is_floating(other)) {
        if (other->type == FIRN_PARQUET_DOUBLE) element->type = FIRN_PARQUET_DOUBLE;
        return FIRN_OK;
    }
    if (!same_meaning(&element->logical, &other->logical)) {
        return firn_fail(error, FIRN_UNSUPPORTED, "its types mean different things");
    }
    if (!element->has_type) return FIRN_OK;
    if (element->logical.kind == FIRN_PARQUET_LOGICAL_DECIMAL) {
        return widen_decimals(element, other, error);
    }
    bool same = element->type == other->type && element->type_length == other->type_length;
    if (same && element->logical.bit_width < other->logical.bit_width) {
        element->logical.bit_width = other->logical.bit_width;
    }
    if (same) return FIRN_OK;
    return firn_fail(error, FIRN_UNSUPPORTED, "no type holds the values of both %s and %s",
                     firn_parquet_type_name(element->type), firn_parquet_type_name(other->type));
}

firn_parquet_conversion firn_parquet_merge_conversion(const firn_parquet_schema_element *input,
                                                      const firn_parquet_schema_element *output) {
    if (output->logical.kind == FIRN_PARQUET_LOGICAL_DECIMAL) {
        bool same = input->type == output->type && input->type_length == output->type_length;
        return same ? FIRN_PARQUET_CONVERT_NONE : FIRN_PARQUET_CONVERT_DECIMAL;
    }
    if (input->type == FIRN_PARQUET_INT32 && output->type == FIRN_PARQUET_INT64) {
        return FIRN_PARQUET_CONVERT_INT32_TO_INT64;
    }
    if (input->type == FIRN_PARQUET_FLOAT && output->type == FIRN_PARQUET_DOUBLE) {
        return FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE;
    }
    return FIRN_PARQUET_CONVERT_NONE;
}
