#include <stdio.h>
#include <string.h>

#include "data/projection_internal.h"

typedef struct leaf_types {
    const firn_type *table;
    int format_version;
    const firn_parquet_schema_element *file, *output;
    firn_parquet_conversion *conversion;
    int64_t *factor;
} leaf_types;

static bool none(const leaf_types *types) {
    return types->file->logical.kind == FIRN_PARQUET_LOGICAL_NONE;
}

/* Whether every value that the annotation allows is one of a signed integer of `width` bits. */
static bool fits_signed(const leaf_types *types, int32_t width) {
    const firn_parquet_logical_type *logical = &types->file->logical;
    if (logical->kind == FIRN_PARQUET_LOGICAL_NONE) return true;
    if (logical->kind != FIRN_PARQUET_LOGICAL_INTEGER) return false;
    return logical->is_signed ? logical->bit_width <= width : logical->bit_width < width;
}

static bool integer(const leaf_types *types) {
    bool is_long = types->table->kind == FIRN_TYPE_LONG;
    if (types->file->type == FIRN_PARQUET_INT32) {
        if (is_long) *types->conversion = FIRN_PARQUET_CONVERT_INT32_TO_INT64;
        return fits_signed(types, is_long ? 64 : 32);
    }
    return types->file->type == FIRN_PARQUET_INT64 && is_long && fits_signed(types, 64);
}

static bool floating(const leaf_types *types) {
    if (!none(types)) return false;
    if (types->table->kind == FIRN_TYPE_FLOAT) return types->file->type == FIRN_PARQUET_FLOAT;
    if (types->file->type == FIRN_PARQUET_FLOAT) {
        *types->conversion = FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE;
        return true;
    }
    return types->file->type == FIRN_PARQUET_DOUBLE;
}

/* All four physical forms are read; the scale never changes, the precision only grows ("Schema Evolution"). */
static bool decimal(const leaf_types *types) {
    const firn_parquet_logical_type *logical = &types->file->logical;
    if (logical->kind != FIRN_PARQUET_LOGICAL_DECIMAL) return false;
    if (logical->scale != types->table->scale || logical->precision > types->table->precision) {
        return false;
    }
    switch (types->file->type) {
    case FIRN_PARQUET_INT32:
    case FIRN_PARQUET_INT64:
    case FIRN_PARQUET_BYTE_ARRAY:
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: break;
    default: return false;
    }
    bool same = types->file->type == types->output->type &&
                (types->file->type != FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY ||
                 types->file->type_length == types->output->type_length);
    if (!same) *types->conversion = FIRN_PARQUET_CONVERT_DECIMAL;
    return true;
}

static bool scale(const leaf_types *types, firn_parquet_conversion conversion, int64_t factor) {
    *types->conversion = conversion;
    *types->factor = factor;
    return true;
}

static bool time_of_day(const leaf_types *types) {
    const firn_parquet_logical_type *logical = &types->file->logical;
    if (logical->kind != FIRN_PARQUET_LOGICAL_TIME) return false;
    if (types->file->type == FIRN_PARQUET_INT32 && logical->unit == FIRN_PARQUET_MILLIS) {
        return scale(types, FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS, 1000);
    }
    if (types->file->type != FIRN_PARQUET_INT64) return false;
    if (logical->unit == FIRN_PARQUET_MICROS) return true;
    return logical->unit == FIRN_PARQUET_NANOS &&
           scale(types, FIRN_PARQUET_CONVERT_SCALE_DOWN, 1000);
}

static bool is_zoned(firn_type_kind kind) {
    return kind == FIRN_TYPE_TIMESTAMPTZ || kind == FIRN_TYPE_TIMESTAMPTZ_NS;
}

static bool is_nanos(firn_type_kind kind) {
    return kind == FIRN_TYPE_TIMESTAMP_NS || kind == FIRN_TYPE_TIMESTAMPTZ_NS;
}

/* Dates become midnights without a zone, from format v3 on ("Schema Evolution"). */
static bool promoted_date(const leaf_types *types) {
    firn_type_kind kind = types->table->kind;
    return types->format_version >= 3 && !is_zoned(kind) &&
           types->file->type == FIRN_PARQUET_INT32 &&
           scale(types, FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP,
                 (is_nanos(kind) ? 1000000000 : 1000000) * INT64_C(86400));
}

/*
 * Files that have only the old annotation TIMESTAMP_MICROS count as adjusted to UTC (LogicalTypes.md), also where the writer
 * meant a timestamp without zone; the number is the same. The other way round, local times are no instants.
 */
static bool timestamp(const leaf_types *types) {
    const firn_parquet_logical_type *logical = &types->file->logical;
    firn_type_kind kind = types->table->kind;
    if (logical->kind == FIRN_PARQUET_LOGICAL_DATE) return promoted_date(types);
    if (types->file->type == FIRN_PARQUET_INT96) {
        *types->conversion = FIRN_PARQUET_CONVERT_INT96_TO_MICROS;
        return none(types) && !is_nanos(kind);
    }
    if (types->file->type != FIRN_PARQUET_INT64 ||
        logical->kind != FIRN_PARQUET_LOGICAL_TIMESTAMP) {
        return false;
    }
    if (is_zoned(kind) && !logical->adjusted_to_utc) return false;
    int64_t per_second = is_nanos(kind) ? 1000000000 : 1000000;
    switch (logical->unit) {
    case FIRN_PARQUET_MILLIS: return scale(types, FIRN_PARQUET_CONVERT_SCALE_UP, per_second / 1000);
    case FIRN_PARQUET_MICROS:
        return is_nanos(kind) ? scale(types, FIRN_PARQUET_CONVERT_SCALE_UP, 1000) : true;
    case FIRN_PARQUET_NANOS:
        return is_nanos(kind) ? true : scale(types, FIRN_PARQUET_CONVERT_SCALE_DOWN, 1000);
    }
    return false;
}

static bool byte_string(const leaf_types *types) {
    if (types->file->type != FIRN_PARQUET_BYTE_ARRAY) return false;
    firn_parquet_logical_kind kind = types->file->logical.kind;
    if (kind == FIRN_PARQUET_LOGICAL_NONE) return true;
    if (types->table->kind == FIRN_TYPE_BINARY) return kind == FIRN_PARQUET_LOGICAL_BSON;
    return kind == FIRN_PARQUET_LOGICAL_STRING || kind == FIRN_PARQUET_LOGICAL_ENUM ||
           kind == FIRN_PARQUET_LOGICAL_JSON;
}

/* Old files hold UUIDs as bare 16 bytes. */
static bool fixed_string(const leaf_types *types) {
    bool uuid = types->table->kind == FIRN_TYPE_UUID;
    bool annotated = uuid && types->file->logical.kind == FIRN_PARQUET_LOGICAL_UUID;
    return types->file->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY &&
           types->file->type_length == types->output->type_length && (annotated || none(types));
}

static const char *crs_of(const firn_parquet_logical_type *logical) {
    return logical->crs == NULL ? "OGC:CRS84" : logical->crs;
}

/* WKB without an annotation is taken to be what the table says; an annotation must say the same. */
static bool geospatial(const leaf_types *types) {
    if (types->file->type != FIRN_PARQUET_BYTE_ARRAY) return false;
    const firn_parquet_logical_type *found = &types->file->logical;
    const firn_parquet_logical_type *wanted = &types->output->logical;
    return none(types) ||
           (found->kind == wanted->kind && found->edge_algorithm == wanted->edge_algorithm &&
            strcmp(crs_of(found), crs_of(wanted)) == 0);
}

static bool is_readable(const leaf_types *types) {
    switch (types->table->kind) {
    case FIRN_TYPE_BOOLEAN: return types->file->type == FIRN_PARQUET_BOOLEAN && none(types);
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG: return integer(types);
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE: return floating(types);
    case FIRN_TYPE_DECIMAL: return decimal(types);
    case FIRN_TYPE_DATE:
        return types->file->type == FIRN_PARQUET_INT32 &&
               types->file->logical.kind == FIRN_PARQUET_LOGICAL_DATE;
    case FIRN_TYPE_TIME: return time_of_day(types);
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: return timestamp(types);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_BINARY: return byte_string(types);
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED: return fixed_string(types);
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return geospatial(types);
    default: return false;
    }
}

static const char *physical_name(firn_parquet_physical_type type) {
    static const char *const names[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
    size_t index = (size_t)type;
    return index < sizeof names / sizeof *names ? names[index] : "unknown";
}

static void describe(const firn_parquet_schema_element *element, char *text, size_t size) {
    static const char *const units[] = {"", "millis", "micros", "nanos"};
    const firn_parquet_logical_type *logical = &element->logical;
    char form[40];
    snprintf(form, sizeof form, "%s", physical_name(element->type));
    if (element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        snprintf(form, sizeof form, "FIXED_LEN_BYTE_ARRAY(%d)", element->type_length);
    }
    switch (logical->kind) {
    case FIRN_PARQUET_LOGICAL_NONE: snprintf(text, size, "%s", form); return;
    case FIRN_PARQUET_LOGICAL_DECIMAL:
        snprintf(text, size, "%s decimal(%d, %d)", form, logical->precision, logical->scale);
        return;
    case FIRN_PARQUET_LOGICAL_TIME:
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        snprintf(text, size, "%s %s(%s, %s)", form,
                 logical->kind == FIRN_PARQUET_LOGICAL_TIME ? "time" : "timestamp",
                 units[logical->unit <= FIRN_PARQUET_NANOS ? logical->unit : 0],
                 logical->adjusted_to_utc ? "UTC" : "local");
        return;
    case FIRN_PARQUET_LOGICAL_INTEGER:
        snprintf(text, size, "%s %sint%d", form, logical->is_signed ? "" : "u", logical->bit_width);
        return;
    case FIRN_PARQUET_LOGICAL_STRING: snprintf(text, size, "%s string", form); return;
    case FIRN_PARQUET_LOGICAL_DATE: snprintf(text, size, "%s date", form); return;
    case FIRN_PARQUET_LOGICAL_UUID: snprintf(text, size, "%s uuid", form); return;
    default: snprintf(text, size, "%s with annotation %d", form, (int)logical->kind); return;
    }
}

firn_status firn_projection_conversion(const firn_projector *projector, const firn_field *field,
                                       const firn_parquet_schema_element *input,
                                       const firn_parquet_schema_element *output,
                                       firn_parquet_conversion *conversion, int64_t *factor,
                                       firn_error *error) {
    *conversion = FIRN_PARQUET_CONVERT_NONE;
    *factor = 1;
    leaf_types types = {.table = field->type,
                        .format_version = projector->format_version,
                        .file = input,
                        .output = output,
                        .conversion = conversion,
                        .factor = factor};
    if (is_readable(&types)) return FIRN_OK;
    char found[96];
    describe(input, found, sizeof found);
    return firn_projection_fail(projector, field, FIRN_UNSUPPORTED, error,
                                "the file has %s, which can't be read as %s", found,
                                field->type->text);
}
