#include "parquet/metadata_internal.h"

/* parquet.thrift ConvertedType. */
enum {
    CONVERTED_NONE = -1,
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_ENUM = 4,
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_TIME_MILLIS = 7,
    CONVERTED_TIME_MICROS = 8,
    CONVERTED_TIMESTAMP_MILLIS = 9,
    CONVERTED_TIMESTAMP_MICROS = 10,
    CONVERTED_UINT_8 = 11,
    CONVERTED_INT_8 = 15,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19,
    CONVERTED_BSON = 20,
    CONVERTED_INTERVAL = 21
};

/* Members of the LogicalType union, by field id. */
enum {
    MEMBER_STRING = 1,
    MEMBER_MAP = 2,
    MEMBER_LIST = 3,
    MEMBER_ENUM = 4,
    MEMBER_DECIMAL = 5,
    MEMBER_DATE = 6,
    MEMBER_TIME = 7,
    MEMBER_TIMESTAMP = 8,
    MEMBER_INTEGER = 10,
    MEMBER_NULL = 11,
    MEMBER_JSON = 12,
    MEMBER_BSON = 13,
    MEMBER_UUID = 14,
    MEMBER_FLOAT16 = 15,
    MEMBER_VARIANT = 16,
    MEMBER_GEOMETRY = 17,
    MEMBER_GEOGRAPHY = 18
};

static const struct {
    firn_parquet_logical_kind kind;
    int8_t member;
    int8_t converted; /* CONVERTED_NONE, too, where it depends on more than the kind */
} logical_kinds[] = {
    {FIRN_PARQUET_LOGICAL_STRING, MEMBER_STRING, CONVERTED_UTF8},
    {FIRN_PARQUET_LOGICAL_MAP, MEMBER_MAP, CONVERTED_MAP},
    {FIRN_PARQUET_LOGICAL_LIST, MEMBER_LIST, CONVERTED_LIST},
    {FIRN_PARQUET_LOGICAL_ENUM, MEMBER_ENUM, CONVERTED_ENUM},
    {FIRN_PARQUET_LOGICAL_DECIMAL, MEMBER_DECIMAL, CONVERTED_DECIMAL},
    {FIRN_PARQUET_LOGICAL_DATE, MEMBER_DATE, CONVERTED_DATE},
    {FIRN_PARQUET_LOGICAL_TIME, MEMBER_TIME, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_TIMESTAMP, MEMBER_TIMESTAMP, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_INTERVAL, 0, CONVERTED_INTERVAL},
    {FIRN_PARQUET_LOGICAL_INTEGER, MEMBER_INTEGER, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_NULL, MEMBER_NULL, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_JSON, MEMBER_JSON, CONVERTED_JSON},
    {FIRN_PARQUET_LOGICAL_BSON, MEMBER_BSON, CONVERTED_BSON},
    {FIRN_PARQUET_LOGICAL_UUID, MEMBER_UUID, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_FLOAT16, MEMBER_FLOAT16, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_VARIANT, MEMBER_VARIANT, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_GEOMETRY, MEMBER_GEOMETRY, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_GEOGRAPHY, MEMBER_GEOGRAPHY, CONVERTED_NONE},
    {FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE, 0, CONVERTED_MAP_KEY_VALUE},
};
#define LOGICAL_KIND_COUNT (sizeof logical_kinds / sizeof *logical_kinds)

static firn_status read_time_unit(firn_thrift_reader *reader, const firn_thrift_field *field,
                                  firn_parquet_time_unit *out, firn_error *error) {
    FIRN_TRY(firn_thrift_struct(reader, field, "TimeUnit", error));
    firn_thrift_field member = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &member, error));
        if (member.type == FIRN_THRIFT_STOP) break;
        if (member.id < FIRN_PARQUET_MILLIS || member.id > FIRN_PARQUET_NANOS) {
            return firn_thrift_fail(reader, "TimeUnit", error, "unknown unit %d", member.id);
        }
        *out = (firn_parquet_time_unit)member.id;
        FIRN_TRY(firn_thrift_skip(reader, member.type, error));
    }
    if (*out != 0) return FIRN_OK;
    return firn_thrift_fail(reader, "TimeUnit", error, "no unit is given");
}

/* The parameters of a union member; those without any are empty structs. */
static firn_status read_parameter(firn_thrift_reader *reader, const firn_thrift_field *field,
                                  firn_parquet_logical_type *out, firn_error *error) {
    switch (out->kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL:
        if (field->id == 1) return firn_thrift_i32(reader, field, "scale", &out->scale, error);
        if (field->id == 2) {
            return firn_thrift_i32(reader, field, "precision", &out->precision, error);
        }
        break;
    case FIRN_PARQUET_LOGICAL_TIME:
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        if (field->id == 1) {
            return firn_thrift_bool(reader, field, "isAdjustedToUTC", &out->adjusted_to_utc, error);
        }
        if (field->id == 2) return read_time_unit(reader, field, &out->unit, error);
        break;
    case FIRN_PARQUET_LOGICAL_INTEGER:
        if (field->id == 1) {
            return firn_thrift_i32(reader, field, "bitWidth", &out->bit_width, error);
        }
        if (field->id == 2) {
            return firn_thrift_bool(reader, field, "isSigned", &out->is_signed, error);
        }
        break;
    case FIRN_PARQUET_LOGICAL_VARIANT:
        if (field->id == 1) {
            return firn_thrift_i32(reader, field, "specification_version",
                                   &out->specification_version, error);
        }
        break;
    case FIRN_PARQUET_LOGICAL_GEOMETRY:
    case FIRN_PARQUET_LOGICAL_GEOGRAPHY:
        if (field->id == 1) return firn_thrift_text(reader, field, "crs", &out->crs, error);
        if (field->id == 2 && out->kind == FIRN_PARQUET_LOGICAL_GEOGRAPHY) {
            return firn_thrift_i32(reader, field, "algorithm", &out->edge_algorithm, error);
        }
        break;
    default: break;
    }
    return firn_thrift_skip(reader, field->type, error);
}

static firn_status check_parameters(const firn_thrift_reader *reader,
                                    const firn_parquet_logical_type *logical, firn_error *error) {
    bool timed = logical->kind == FIRN_PARQUET_LOGICAL_TIME ||
                 logical->kind == FIRN_PARQUET_LOGICAL_TIMESTAMP;
    if (timed && logical->unit == 0) {
        return firn_thrift_fail(reader, "logicalType", error, "the time unit is missing");
    }
    /* The version is an i8. */
    if (logical->specification_version != (int8_t)logical->specification_version) {
        return firn_thrift_fail(reader, "logicalType", error, "specification_version %d",
                                (int)logical->specification_version);
    }
    int32_t width = logical->bit_width;
    if (logical->kind == FIRN_PARQUET_LOGICAL_INTEGER && width != 8 && width != 16 && width != 32 &&
        width != 64) {
        return firn_thrift_fail(reader, "logicalType", error, "integer of %d bits", width);
    }
    return FIRN_OK;
}

static firn_status read_member(firn_thrift_reader *reader, const firn_thrift_field *member,
                               firn_parquet_logical_type *out, firn_error *error) {
    *out = (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_UNKNOWN};
    for (size_t i = 0; i < LOGICAL_KIND_COUNT; i++) {
        if (logical_kinds[i].member == member->id && member->id > 0) {
            out->kind = logical_kinds[i].kind;
        }
    }
    if (out->kind == FIRN_PARQUET_LOGICAL_UNKNOWN) {
        return firn_thrift_skip(reader, member->type, error);
    }
    FIRN_TRY(firn_thrift_struct(reader, member, "logicalType", error));
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_parameter(reader, &field, out, error));
    }
    return check_parameters(reader, out, error);
}

static firn_status read_logical_type(firn_thrift_reader *reader, const firn_thrift_field *field,
                                     firn_parquet_logical_type *out, firn_error *error) {
    FIRN_TRY(firn_thrift_struct(reader, field, "logicalType", error));
    firn_thrift_field member = {0};
    /* A union without members is one whose member this file's writer alone knew. */
    out->kind = FIRN_PARQUET_LOGICAL_UNKNOWN;
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &member, error));
        if (member.type == FIRN_THRIFT_STOP) return FIRN_OK;
        FIRN_TRY(read_member(reader, &member, out, error));
    }
}

/* LogicalTypes.md: the annotation that a ConvertedType stands for; times without LogicalType are in UTC. */
static firn_parquet_logical_type logical_of_converted(int32_t converted, int32_t scale,
                                                      int32_t precision) {
    firn_parquet_logical_type logical = {.kind = FIRN_PARQUET_LOGICAL_UNKNOWN};
    if (converted == CONVERTED_NONE) return (firn_parquet_logical_type){0};
    for (size_t i = 0; i < LOGICAL_KIND_COUNT; i++) {
        if (logical_kinds[i].converted == converted) logical.kind = logical_kinds[i].kind;
    }
    if (converted == CONVERTED_DECIMAL) {
        logical.scale = scale;
        logical.precision = precision;
    }
    if (converted >= CONVERTED_TIME_MILLIS && converted <= CONVERTED_TIMESTAMP_MICROS) {
        logical.kind = converted <= CONVERTED_TIME_MICROS ? FIRN_PARQUET_LOGICAL_TIME
                                                          : FIRN_PARQUET_LOGICAL_TIMESTAMP;
        logical.adjusted_to_utc = true;
        logical.unit = (converted - CONVERTED_TIME_MILLIS) % 2 == 0 ? FIRN_PARQUET_MILLIS
                                                                    : FIRN_PARQUET_MICROS;
    }
    if (converted >= CONVERTED_UINT_8 && converted <= CONVERTED_INT_64) {
        logical.kind = FIRN_PARQUET_LOGICAL_INTEGER;
        logical.is_signed = converted >= CONVERTED_INT_8;
        logical.bit_width = 8 << (converted - CONVERTED_UINT_8) % 4;
    }
    return logical;
}

typedef struct converted_type {
    int32_t type, scale, precision;
} converted_type;

static firn_status read_repetition(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_schema_element *out, firn_error *error) {
    int32_t value = 0;
    FIRN_TRY(firn_thrift_i32(reader, field, "repetition_type", &value, error));
    if (value < 0 || value > FIRN_PARQUET_REPEATED) {
        return firn_thrift_fail(reader, "repetition_type", error, "unknown value %d", value);
    }
    out->has_repetition = true;
    out->repetition = (firn_parquet_repetition)value;
    return FIRN_OK;
}

static firn_status read_type(firn_thrift_reader *reader, const firn_thrift_field *field,
                             firn_parquet_schema_element *out, firn_error *error) {
    int32_t value = 0;
    FIRN_TRY(firn_thrift_i32(reader, field, "type", &value, error));
    if (value < 0 || value > FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        return firn_thrift_fail(reader, "type", error, "unknown physical type %d", value);
    }
    out->has_type = true;
    out->type = (firn_parquet_physical_type)value;
    return FIRN_OK;
}

static firn_status read_element_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                      firn_parquet_schema_element *out, converted_type *converted,
                                      firn_error *error) {
    switch (field->id) {
    case 1: return read_type(reader, field, out, error);
    case 2: return firn_thrift_i32(reader, field, "type_length", &out->type_length, error);
    case 3: return read_repetition(reader, field, out, error);
    case 4: return firn_thrift_text(reader, field, "name", &out->name, error);
    case 5: return firn_thrift_i32(reader, field, "num_children", &out->num_children, error);
    case 6: return firn_thrift_i32(reader, field, "converted_type", &converted->type, error);
    case 7: return firn_thrift_i32(reader, field, "scale", &converted->scale, error);
    case 8: return firn_thrift_i32(reader, field, "precision", &converted->precision, error);
    case 9:
        out->has_field_id = true;
        return firn_thrift_i32(reader, field, "field_id", &out->field_id, error);
    case 10: return read_logical_type(reader, field, &out->logical, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

firn_status firn_parquet_read_schema_element(firn_thrift_reader *reader,
                                             firn_parquet_schema_element *out, firn_error *error) {
    *out = (firn_parquet_schema_element){0};
    converted_type converted = {.type = CONVERTED_NONE};
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_element_field(reader, &field, out, &converted, error));
    }
    FIRN_TRY(firn_thrift_require(reader, &field, 4, "SchemaElement.name", error));
    bool known = out->logical.kind != FIRN_PARQUET_LOGICAL_NONE &&
                 out->logical.kind != FIRN_PARQUET_LOGICAL_UNKNOWN;
    if (!known && converted.type != CONVERTED_NONE) {
        out->logical = logical_of_converted(converted.type, converted.scale, converted.precision);
    }
    return FIRN_OK;
}

static int converted_of_logical(const firn_parquet_logical_type *logical) {
    if (logical->kind == FIRN_PARQUET_LOGICAL_INTEGER) {
        int base = logical->is_signed ? CONVERTED_INT_8 : CONVERTED_UINT_8;
        for (int i = 0; i < 4; i++) {
            if (logical->bit_width == 8 << i) return base + i;
        }
        return CONVERTED_NONE;
    }
    if (logical->kind == FIRN_PARQUET_LOGICAL_TIME ||
        logical->kind == FIRN_PARQUET_LOGICAL_TIMESTAMP) {
        if (logical->unit == FIRN_PARQUET_NANOS) return CONVERTED_NONE;
        int base = logical->kind == FIRN_PARQUET_LOGICAL_TIME ? CONVERTED_TIME_MILLIS
                                                              : CONVERTED_TIMESTAMP_MILLIS;
        return base + (logical->unit == FIRN_PARQUET_MICROS);
    }
    for (size_t i = 0; i < LOGICAL_KIND_COUNT; i++) {
        if (logical_kinds[i].kind == logical->kind) return logical_kinds[i].converted;
    }
    return CONVERTED_NONE;
}

static void write_parameters(firn_thrift_writer *writer, const firn_parquet_logical_type *logical) {
    switch (logical->kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL:
        firn_thrift_write_i32(writer, 1, logical->scale);
        firn_thrift_write_i32(writer, 2, logical->precision);
        break;
    case FIRN_PARQUET_LOGICAL_TIME:
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        firn_thrift_write_bool(writer, 1, logical->adjusted_to_utc);
        firn_thrift_write_struct(writer, 2);
        firn_thrift_write_empty(writer, (int)logical->unit);
        firn_thrift_write_end(writer);
        break;
    case FIRN_PARQUET_LOGICAL_INTEGER:
        firn_thrift_write_i8(writer, 1, (int8_t)logical->bit_width);
        firn_thrift_write_bool(writer, 2, logical->is_signed);
        break;
    case FIRN_PARQUET_LOGICAL_VARIANT:
        if (logical->specification_version != 0) {
            firn_thrift_write_i8(writer, 1, (int8_t)logical->specification_version);
        }
        break;
    case FIRN_PARQUET_LOGICAL_GEOMETRY:
    case FIRN_PARQUET_LOGICAL_GEOGRAPHY:
        if (logical->crs != NULL) firn_thrift_write_text(writer, 1, logical->crs);
        if (logical->edge_algorithm != 0) {
            firn_thrift_write_i32(writer, 2, logical->edge_algorithm);
        }
        break;
    default: break;
    }
}

static void write_logical_type(firn_thrift_writer *writer,
                               const firn_parquet_logical_type *logical) {
    int member = 0;
    for (size_t i = 0; i < LOGICAL_KIND_COUNT; i++) {
        if (logical_kinds[i].kind == logical->kind) member = logical_kinds[i].member;
    }
    if (member == 0) return;
    firn_thrift_write_struct(writer, 10);
    firn_thrift_write_struct(writer, member);
    write_parameters(writer, logical);
    firn_thrift_write_end(writer);
    firn_thrift_write_end(writer);
}

void firn_parquet_write_schema_element(firn_thrift_writer *writer,
                                       const firn_parquet_schema_element *element) {
    firn_thrift_write_item_struct(writer);
    if (element->has_type) firn_thrift_write_i32(writer, 1, (int32_t)element->type);
    if (element->has_type && element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        firn_thrift_write_i32(writer, 2, element->type_length);
    }
    if (element->has_repetition) firn_thrift_write_i32(writer, 3, (int32_t)element->repetition);
    firn_thrift_write_text(writer, 4, element->name);
    if (!element->has_type) firn_thrift_write_i32(writer, 5, element->num_children);
    int converted = converted_of_logical(&element->logical);
    if (converted != CONVERTED_NONE) firn_thrift_write_i32(writer, 6, converted);
    if (element->logical.kind == FIRN_PARQUET_LOGICAL_DECIMAL) {
        firn_thrift_write_i32(writer, 7, element->logical.scale);
        firn_thrift_write_i32(writer, 8, element->logical.precision);
    }
    if (element->has_field_id) firn_thrift_write_i32(writer, 9, element->field_id);
    write_logical_type(writer, &element->logical);
    firn_thrift_write_end(writer);
}
