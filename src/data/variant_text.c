#include "data/variant_text.h"

#include "base/bytes.h"
#include "iceberg/primitive.h"
#include "iceberg/value.h"

#define DEEPEST 200
#define METADATA_VERSION 1

/* "Value encoding": the two lowest bits of a value's first byte. */
enum { BASIC_PRIMITIVE = 0, BASIC_SHORT_STRING = 1, BASIC_OBJECT = 2, BASIC_ARRAY = 3 };

/* "Encoding types", primitive types. */
enum {
    PRIMITIVE_NULL = 0,
    PRIMITIVE_TRUE = 1,
    PRIMITIVE_FALSE = 2,
    PRIMITIVE_INT8 = 3,
    PRIMITIVE_INT16 = 4,
    PRIMITIVE_INT32 = 5,
    PRIMITIVE_INT64 = 6,
    PRIMITIVE_DOUBLE = 7,
    PRIMITIVE_DECIMAL4 = 8,
    PRIMITIVE_DECIMAL8 = 9,
    PRIMITIVE_DECIMAL16 = 10,
    PRIMITIVE_DATE = 11,
    PRIMITIVE_TIMESTAMP_MICROS = 12,
    PRIMITIVE_LOCAL_MICROS = 13,
    PRIMITIVE_FLOAT = 14,
    PRIMITIVE_BINARY = 15,
    PRIMITIVE_STRING = 16,
    PRIMITIVE_TIME = 17,
    PRIMITIVE_TIMESTAMP_NANOS = 18,
    PRIMITIVE_LOCAL_NANOS = 19,
    PRIMITIVE_UUID = 20
};

typedef struct variant_printer {
    firn_slice names; /* bytes of all names of the dictionary */
    firn_slice name_offsets;
    size_t name_offset_size, name_count;
    size_t budget; /* values that may still come: each takes a byte at least, unless they overlap */
    firn_buffer *out;
    firn_error *error;
} variant_printer;

static firn_status corrupt(const variant_printer *printer, const char *problem) {
    return firn_fail(printer->error, FIRN_CORRUPT, "variant: %s", problem);
}

/* An unsigned little-endian number of 1 … 4 bytes. */
static size_t number_at(const uint8_t *bytes, size_t size) {
    size_t number = 0;
    for (size_t i = 0; i < size; i++) number |= (size_t)bytes[i] << (8 * i);
    return number;
}

/* Takes `size` bytes off the front. */
static firn_status take(const variant_printer *printer, firn_slice *from, size_t size,
                        const uint8_t **out) {
    if (size > from->size) return corrupt(printer, "its bytes end early");
    *out = from->data;
    *from = firn_slice_of(from->data + size, from->size - size);
    return FIRN_OK;
}

static firn_status read_metadata(variant_printer *printer, firn_slice metadata) {
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(printer, &metadata, 1, &bytes));
    if ((bytes[0] & 0x0F) != METADATA_VERSION) {
        return firn_fail(printer->error, FIRN_UNSUPPORTED, "variant: metadata of version %d",
                         bytes[0] & 0x0F);
    }
    size_t size = (size_t)(bytes[0] >> 6) + 1;
    FIRN_TRY(take(printer, &metadata, size, &bytes));
    size_t count = number_at(bytes, size);
    FIRN_TRY(take(printer, &metadata, (count + 1) * size, &bytes));
    printer->name_offset_size = size;
    printer->name_count = count;
    printer->name_offsets = firn_slice_of(bytes, (count + 1) * size);
    printer->names = metadata;
    return FIRN_OK;
}

static firn_status print_text(const variant_printer *printer, firn_slice text) {
    firn_value value = {.kind = FIRN_TYPE_STRING, .as.bytes = text};
    return firn_value_print(firn_primitive_type(FIRN_TYPE_STRING), &value, true, printer->out,
                            printer->error);
}

static firn_status name_of(const variant_printer *printer, size_t id, firn_slice *out) {
    if (id >= printer->name_count) return corrupt(printer, "a key is not in the dictionary");
    const uint8_t *offsets = printer->name_offsets.data + id * printer->name_offset_size;
    size_t start = number_at(offsets, printer->name_offset_size);
    size_t end = number_at(offsets + printer->name_offset_size, printer->name_offset_size);
    if (start > end || end > printer->names.size) {
        return corrupt(printer, "a key lies outside of the dictionary");
    }
    *out = firn_slice_of(printer->names.data + start, end - start);
    return FIRN_OK;
}

static firn_status print_integer(const variant_printer *printer, int64_t value) {
    return firn_buffer_printf(printer->out, printer->error, "%lld", (long long)value);
}

/* A number, without the zeros behind the point that mean nothing. */
static firn_status print_decimal(const variant_printer *printer, firn_slice value, size_t size) {
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(printer, &value, 1 + size, &bytes));
    firn_type type = {.kind = FIRN_TYPE_DECIMAL, .precision = 38, .scale = bytes[0]};
    if (type.scale > 38) return corrupt(printer, "a decimal's scale is above 38");
    firn_value decimal = {.kind = FIRN_TYPE_DECIMAL};
    firn_int128 number = size == 4 ? (int32_t)firn_load_le32(bytes + 1)
                                   : (int64_t)firn_load_le64(bytes + 1 + (size == 16 ? 8 : 0));
    if (size == 16) {
        number = (firn_int128)((__extension__(unsigned __int128) number << 64) |
                               firn_load_le64(bytes + 1));
    }
    for (; type.scale > 0 && number % 10 == 0; type.scale--) number /= 10;
    decimal.as.decimal = number;
    return firn_value_print(&type, &decimal, false, printer->out, printer->error);
}

static firn_status print_typed(const variant_printer *printer, firn_type_kind kind,
                               firn_slice value, size_t size) {
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(printer, &value, size, &bytes));
    firn_value typed = {.kind = kind};
    switch (kind) {
    case FIRN_TYPE_DATE: typed.as.int32 = (int32_t)firn_load_le32(bytes); break;
    case FIRN_TYPE_FLOAT: typed.as.float32 = firn_float_of_bits(firn_load_le32(bytes)); break;
    case FIRN_TYPE_DOUBLE: typed.as.float64 = firn_double_of_bits(firn_load_le64(bytes)); break;
    case FIRN_TYPE_UUID: typed.as.bytes = firn_slice_of(bytes, size); break;
    default: typed.as.int64 = (int64_t)firn_load_le64(bytes); break;
    }
    return firn_value_print(firn_primitive_type(kind), &typed, true, printer->out, printer->error);
}

static firn_status print_bytes(const variant_printer *printer, firn_type_kind kind,
                               firn_slice value) {
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(printer, &value, 4, &bytes));
    size_t size = number_at(bytes, 4);
    FIRN_TRY(take(printer, &value, size, &bytes));
    firn_value typed = {.kind = kind, .as.bytes = firn_slice_of(bytes, size)};
    return firn_value_print(firn_primitive_type(kind), &typed, true, printer->out, printer->error);
}

static firn_status print_small_integer(const variant_printer *printer, int type, firn_slice value) {
    const uint8_t *bytes = NULL;
    size_t size = (size_t)1 << (type - PRIMITIVE_INT8);
    FIRN_TRY(take(printer, &value, size, &bytes));
    switch (size) {
    case 1: return print_integer(printer, (int8_t)bytes[0]);
    case 2: return print_integer(printer, (int16_t)firn_load_le16(bytes));
    case 4: return print_integer(printer, (int32_t)firn_load_le32(bytes));
    default: return print_integer(printer, (int64_t)firn_load_le64(bytes));
    }
}

static firn_status print_primitive(const variant_printer *printer, int type, firn_slice value) {
    switch (type) {
    case PRIMITIVE_NULL: return firn_buffer_append_text(printer->out, "null", printer->error);
    case PRIMITIVE_TRUE: return firn_buffer_append_text(printer->out, "true", printer->error);
    case PRIMITIVE_FALSE: return firn_buffer_append_text(printer->out, "false", printer->error);
    case PRIMITIVE_INT8:
    case PRIMITIVE_INT16:
    case PRIMITIVE_INT32:
    case PRIMITIVE_INT64: return print_small_integer(printer, type, value);
    case PRIMITIVE_DOUBLE: return print_typed(printer, FIRN_TYPE_DOUBLE, value, 8);
    case PRIMITIVE_DECIMAL4: return print_decimal(printer, value, 4);
    case PRIMITIVE_DECIMAL8: return print_decimal(printer, value, 8);
    case PRIMITIVE_DECIMAL16: return print_decimal(printer, value, 16);
    case PRIMITIVE_DATE: return print_typed(printer, FIRN_TYPE_DATE, value, 4);
    case PRIMITIVE_TIMESTAMP_MICROS: return print_typed(printer, FIRN_TYPE_TIMESTAMPTZ, value, 8);
    case PRIMITIVE_LOCAL_MICROS: return print_typed(printer, FIRN_TYPE_TIMESTAMP, value, 8);
    case PRIMITIVE_FLOAT: return print_typed(printer, FIRN_TYPE_FLOAT, value, 4);
    case PRIMITIVE_BINARY: return print_bytes(printer, FIRN_TYPE_BINARY, value);
    case PRIMITIVE_STRING: return print_bytes(printer, FIRN_TYPE_STRING, value);
    case PRIMITIVE_TIME: return print_typed(printer, FIRN_TYPE_TIME, value, 8);
    case PRIMITIVE_TIMESTAMP_NANOS: return print_typed(printer, FIRN_TYPE_TIMESTAMPTZ_NS, value, 8);
    case PRIMITIVE_LOCAL_NANOS: return print_typed(printer, FIRN_TYPE_TIMESTAMP_NS, value, 8);
    case PRIMITIVE_UUID: return print_typed(printer, FIRN_TYPE_UUID, value, 16);
    default: return firn_fail(printer->error, FIRN_UNSUPPORTED, "variant: primitive type %d", type);
    }
}

static firn_status print_value(variant_printer *printer, firn_slice value, int depth);

/* Objects and arrays are laid out alike, but that objects have the ids of their keys before the offsets. */
typedef struct container {
    size_t count, id_size, offset_size;
    const uint8_t *ids, *offsets;
    firn_slice values;
} container;

static firn_status read_container(const variant_printer *printer, firn_slice value, int header,
                                  bool is_object, container *out) {
    const uint8_t *bytes = NULL;
    bool is_large = (header >> (is_object ? 4 : 2) & 1) != 0;
    out->offset_size = (size_t)(header & 3) + 1;
    out->id_size = is_object ? (size_t)(header >> 2 & 3) + 1 : 0;
    FIRN_TRY(take(printer, &value, is_large ? 4 : 1, &bytes));
    out->count = number_at(bytes, is_large ? 4 : 1);
    FIRN_TRY(take(printer, &value, out->count * out->id_size, &out->ids));
    FIRN_TRY(take(printer, &value, (out->count + 1) * out->offset_size, &out->offsets));
    out->values = value;
    return FIRN_OK;
}

/* `name` is asked for of objects only. */
static firn_status member_of(const variant_printer *printer, const container *from, size_t index,
                             firn_slice *name, firn_slice *value) {
    if (name != NULL) {
        FIRN_TRY(
            name_of(printer, number_at(from->ids + index * from->id_size, from->id_size), name));
    }
    size_t offset = number_at(from->offsets + index * from->offset_size, from->offset_size);
    if (offset > from->values.size) return corrupt(printer, "an offset runs beyond its bytes");
    *value = firn_slice_of(from->values.data + offset, from->values.size - offset);
    return FIRN_OK;
}

static firn_status print_container(variant_printer *printer, firn_slice value, int header,
                                   bool is_object, int depth) {
    container from;
    FIRN_TRY(read_container(printer, value, header, is_object, &from));
    FIRN_TRY(firn_buffer_append_byte(printer->out, is_object ? '{' : '[', printer->error));
    for (size_t i = 0; i < from.count; i++) {
        firn_slice name, member;
        if (i > 0) FIRN_TRY(firn_buffer_append_byte(printer->out, ',', printer->error));
        FIRN_TRY(member_of(printer, &from, i, is_object ? &name : NULL, &member));
        if (is_object) {
            FIRN_TRY(print_text(printer, name));
            FIRN_TRY(firn_buffer_append_byte(printer->out, ':', printer->error));
        }
        FIRN_TRY(print_value(printer, member, depth + 1));
    }
    return firn_buffer_append_byte(printer->out, is_object ? '}' : ']', printer->error);
}

static firn_status print_value(variant_printer *printer, firn_slice value, int depth) {
    const uint8_t *bytes = NULL;
    if (depth > DEEPEST) return corrupt(printer, "nested too deep");
    if (printer->budget == 0) return corrupt(printer, "its values overlap");
    printer->budget--;
    FIRN_TRY(take(printer, &value, 1, &bytes));
    int header = bytes[0] >> 2;
    switch (bytes[0] & 3) {
    case BASIC_PRIMITIVE: return print_primitive(printer, header, value);
    case BASIC_SHORT_STRING:
        FIRN_TRY(take(printer, &value, (size_t)header, &bytes));
        return print_text(printer, firn_slice_of(bytes, (size_t)header));
    case BASIC_OBJECT: return print_container(printer, value, header, true, depth);
    default: return print_container(printer, value, header, false, depth);
    }
}

firn_status firn_variant_print(firn_slice metadata, firn_slice value, firn_buffer *out,
                               firn_error *error) {
    variant_printer printer = {.budget = value.size, .out = out, .error = error};
    FIRN_TRY(read_metadata(&printer, metadata));
    return print_value(&printer, value, 0);
}

firn_status firn_variant_visit_object(firn_slice metadata, firn_slice value,
                                      firn_status (*visit)(void *context, firn_slice name,
                                                           firn_slice value, firn_error *error),
                                      void *context, firn_error *error) {
    variant_printer printer = {.error = error};
    const uint8_t *first = NULL;
    container from;
    FIRN_TRY(read_metadata(&printer, metadata));
    FIRN_TRY(take(&printer, &value, 1, &first));
    if ((first[0] & 3) != BASIC_OBJECT) return corrupt(&printer, "it should be an object");
    FIRN_TRY(read_container(&printer, value, first[0] >> 2, true, &from));
    for (size_t i = 0; i < from.count; i++) {
        firn_slice name, member;
        FIRN_TRY(member_of(&printer, &from, i, &name, &member));
        FIRN_TRY(visit(context, name, member, error));
    }
    return FIRN_OK;
}
