#include "parquet/thrift_read.h"

#include <stdarg.h>
#include <stdio.h>

/* Containers and structs within one another while skipping; nothing in Parquet comes near. */
#define MAXIMUM_SKIP_DEPTH 64
#define BUDGET_BASE ((size_t)1 << 20)
#define BUDGET_FACTOR 32

firn_thrift_reader firn_thrift_reader_of(firn_slice bytes, uint64_t file_offset, const char *name,
                                         firn_arena *arena) {
    size_t budget = bytes.size > (SIZE_MAX - BUDGET_BASE) / BUDGET_FACTOR
                        ? SIZE_MAX
                        : BUDGET_BASE + bytes.size * BUDGET_FACTOR;
    return (firn_thrift_reader){
        .bytes = bytes, .file_offset = file_offset, .name = name, .arena = arena, .budget = budget};
}

firn_status firn_thrift_fail(const firn_thrift_reader *reader, const char *what, firn_error *error,
                             const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0) message[0] = '\0';
    return firn_fail_at(error, FIRN_CORRUPT, (int64_t)(reader->file_offset + reader->position),
                        "%s: %s: %s", reader->name, what, message);
}

static size_t remaining(const firn_thrift_reader *reader) {
    return reader->bytes.size - reader->position;
}

static firn_status read_byte(firn_thrift_reader *reader, const char *what, uint8_t *out,
                             firn_error *error) {
    if (remaining(reader) == 0) {
        return firn_thrift_fail(reader, what, error, "the metadata ends too early");
    }
    *out = reader->bytes.data[reader->position++];
    return FIRN_OK;
}

static firn_status read_varint(firn_thrift_reader *reader, const char *what, uint64_t *out,
                               firn_error *error) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = 0;
        FIRN_TRY(read_byte(reader, what, &byte, error));
        if (shift == 63 && byte > 1) break;
        value |= (uint64_t)(byte & 0x7FU) << shift;
        if (byte < 0x80) {
            *out = value;
            return FIRN_OK;
        }
    }
    return firn_thrift_fail(reader, what, error, "a varint is longer than 64 bits");
}

static int64_t zigzag(uint64_t value) {
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

firn_status firn_thrift_next(firn_thrift_reader *reader, firn_thrift_field *field,
                             firn_error *error) {
    uint8_t header = 0;
    FIRN_TRY(read_byte(reader, "field header", &header, error));
    field->type = header & 0x0FU;
    if (field->type == FIRN_THRIFT_STOP) {
        return header == 0 ? FIRN_OK
                           : firn_thrift_fail(reader, "field header", error, "invalid type 0");
    }
    int64_t id = field->id + (header >> 4);
    if (header >> 4 == 0) {
        uint64_t coded = 0;
        FIRN_TRY(read_varint(reader, "field header", &coded, error));
        id = zigzag(coded);
    }
    if (id < INT16_MIN || id > INT16_MAX) {
        return firn_thrift_fail(reader, "field header", error, "field id %lld is out of range",
                                (long long)id);
    }
    field->id = (int16_t)id;
    if (id >= 0 && id < 64) field->seen |= (uint64_t)1 << id;
    return FIRN_OK;
}

firn_status firn_thrift_require(const firn_thrift_reader *reader, const firn_thrift_field *field,
                                int id, const char *what, firn_error *error) {
    if ((field->seen >> id & 1) != 0) return FIRN_OK;
    return firn_thrift_fail(reader, what, error, "required field %d is missing", id);
}

static firn_status wrong_type(const firn_thrift_reader *reader, const char *what, uint8_t type,
                              const char *due, firn_error *error) {
    return firn_thrift_fail(reader, what, error, "wire type %u where %s is due", (unsigned)type,
                            due);
}

firn_status firn_thrift_bool(firn_thrift_reader *reader, const firn_thrift_field *field,
                             const char *what, bool *out, firn_error *error) {
    if (field->type != FIRN_THRIFT_TRUE && field->type != FIRN_THRIFT_FALSE) {
        return wrong_type(reader, what, field->type, "a bool", error);
    }
    *out = field->type == FIRN_THRIFT_TRUE;
    return FIRN_OK;
}

firn_status firn_thrift_i64(firn_thrift_reader *reader, const firn_thrift_field *field,
                            const char *what, int64_t *out, firn_error *error) {
    if (field->type == FIRN_THRIFT_I8) {
        uint8_t byte = 0;
        FIRN_TRY(read_byte(reader, what, &byte, error));
        *out = (int8_t)byte;
        return FIRN_OK;
    }
    if (field->type < FIRN_THRIFT_I16 || field->type > FIRN_THRIFT_I64) {
        return wrong_type(reader, what, field->type, "an integer", error);
    }
    uint64_t coded = 0;
    FIRN_TRY(read_varint(reader, what, &coded, error));
    *out = zigzag(coded);
    return FIRN_OK;
}

firn_status firn_thrift_i32(firn_thrift_reader *reader, const firn_thrift_field *field,
                            const char *what, int32_t *out, firn_error *error) {
    int64_t value = 0;
    FIRN_TRY(firn_thrift_i64(reader, field, what, &value, error));
    if (value < INT32_MIN || value > INT32_MAX) {
        return firn_thrift_fail(reader, what, error, "%lld does not fit 32 bits", (long long)value);
    }
    *out = (int32_t)value;
    return FIRN_OK;
}

firn_status firn_thrift_binary(firn_thrift_reader *reader, const firn_thrift_field *field,
                               const char *what, firn_slice *out, firn_error *error) {
    if (field->type != FIRN_THRIFT_BINARY) {
        return wrong_type(reader, what, field->type, "a string", error);
    }
    uint64_t length = 0;
    FIRN_TRY(read_varint(reader, what, &length, error));
    if (length > remaining(reader)) {
        return firn_thrift_fail(reader, what, error, "length %llu is beyond the metadata's end",
                                (unsigned long long)length);
    }
    *out = firn_slice_of(reader->bytes.data + reader->position, (size_t)length);
    reader->position += (size_t)length;
    return FIRN_OK;
}

firn_status firn_thrift_alloc(firn_thrift_reader *reader, size_t count, size_t size, void **out,
                              firn_error *error) {
    if (count == 0) count = 1;
    if (count > reader->budget / size) {
        return firn_fail_at(error, FIRN_LIMIT, (int64_t)(reader->file_offset + reader->position),
                            "%s: the metadata is far larger than its serialized form allows",
                            reader->name);
    }
    reader->budget -= count * size;
    *out = firn_arena_alloc(reader->arena, count, size);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_thrift_copy(firn_thrift_reader *reader, firn_slice *slice, firn_error *error) {
    void *copy = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, slice->size, 1, &copy, error));
    if (slice->size > 0) memcpy(copy, slice->data, slice->size);
    slice->data = copy;
    return FIRN_OK;
}

firn_status firn_thrift_text(firn_thrift_reader *reader, const firn_thrift_field *field,
                             const char *what, const char **out, firn_error *error) {
    firn_slice text = {0};
    FIRN_TRY(firn_thrift_binary(reader, field, what, &text, error));
    if (text.size > 0 && memchr(text.data, 0, text.size) != NULL) {
        return firn_thrift_fail(reader, what, error, "the text has a zero byte inside");
    }
    void *copy = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, text.size + 1, 1, &copy, error));
    if (text.size > 0) memcpy(copy, text.data, text.size);
    *out = copy;
    return FIRN_OK;
}

firn_status firn_thrift_struct(const firn_thrift_reader *reader, const firn_thrift_field *field,
                               const char *what, firn_error *error) {
    if (field->type == FIRN_THRIFT_STRUCT) return FIRN_OK;
    return wrong_type(reader, what, field->type, "a struct", error);
}

static firn_status read_list_header(firn_thrift_reader *reader, const char *what, uint8_t *element,
                                    size_t *count, firn_error *error) {
    uint8_t header = 0;
    FIRN_TRY(read_byte(reader, what, &header, error));
    *element = header & 0x0FU;
    uint64_t size = header >> 4;
    if (size == 15) FIRN_TRY(read_varint(reader, what, &size, error));
    /* No element takes less than a byte. */
    if (size > remaining(reader)) {
        return firn_thrift_fail(reader, what, error, "a list of %llu is beyond the metadata's end",
                                (unsigned long long)size);
    }
    *count = (size_t)size;
    return FIRN_OK;
}

static bool is_integer(unsigned type) {
    return type >= FIRN_THRIFT_I8 && type <= FIRN_THRIFT_I64;
}

static bool is_bool(unsigned type) {
    return type == FIRN_THRIFT_TRUE || type == FIRN_THRIFT_FALSE;
}

firn_status firn_thrift_list(firn_thrift_reader *reader, const firn_thrift_field *field,
                             const char *what, firn_thrift_type element, size_t *count,
                             firn_thrift_field *item, firn_error *error) {
    if (field->type != FIRN_THRIFT_LIST && field->type != FIRN_THRIFT_SET) {
        return wrong_type(reader, what, field->type, "a list", error);
    }
    uint8_t type = 0;
    FIRN_TRY(read_list_header(reader, what, &type, count, error));
    bool same = type == element || (is_integer(type) && is_integer(element)) ||
                (is_bool(type) && is_bool(element));
    if (*count > 0 && !same) {
        return wrong_type(reader, what, type, "an element of another type", error);
    }
    *item = (firn_thrift_field){.type = type};
    return FIRN_OK;
}

firn_status firn_thrift_list_bool(firn_thrift_reader *reader, const char *what, bool *out,
                                  firn_error *error) {
    uint8_t byte = 0;
    FIRN_TRY(read_byte(reader, what, &byte, error));
    *out = byte == FIRN_THRIFT_TRUE;
    return FIRN_OK;
}

firn_status firn_thrift_list_i64(firn_thrift_reader *reader, const firn_thrift_field *field,
                                 const char *what, const int64_t **out, size_t *count,
                                 firn_error *error) {
    firn_thrift_field item = {0};
    FIRN_TRY(firn_thrift_list(reader, field, what, FIRN_THRIFT_I64, count, &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, *count, sizeof(int64_t), &memory, error));
    int64_t *values = memory;
    for (size_t i = 0; i < *count; i++) {
        FIRN_TRY(firn_thrift_i64(reader, &item, what, &values[i], error));
    }
    *out = values;
    return FIRN_OK;
}

static firn_status skip_bytes(firn_thrift_reader *reader, size_t size, firn_error *error) {
    if (size > remaining(reader)) {
        return firn_thrift_fail(reader, "unknown field", error, "the metadata ends too early");
    }
    reader->position += size;
    return FIRN_OK;
}

static firn_status skip_value(firn_thrift_reader *reader, uint8_t type, bool in_list, int depth,
                              firn_error *error);

static firn_status skip_struct(firn_thrift_reader *reader, int depth, firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) return FIRN_OK;
        FIRN_TRY(skip_value(reader, field.type, false, depth, error));
    }
}

static firn_status skip_list(firn_thrift_reader *reader, int depth, firn_error *error) {
    uint8_t element = 0;
    size_t count = 0;
    FIRN_TRY(read_list_header(reader, "unknown field", &element, &count, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(skip_value(reader, element, true, depth, error));
    }
    return FIRN_OK;
}

static firn_status skip_map(firn_thrift_reader *reader, int depth, firn_error *error) {
    uint64_t count = 0;
    FIRN_TRY(read_varint(reader, "unknown field", &count, error));
    if (count == 0) return FIRN_OK;
    uint8_t types = 0;
    FIRN_TRY(read_byte(reader, "unknown field", &types, error));
    if (count > remaining(reader)) {
        return firn_thrift_fail(reader, "unknown field", error, "a map is too long");
    }
    for (uint64_t i = 0; i < count; i++) {
        FIRN_TRY(skip_value(reader, types >> 4, true, depth, error));
        FIRN_TRY(skip_value(reader, types & 0x0FU, true, depth, error));
    }
    return FIRN_OK;
}

static firn_status skip_value(firn_thrift_reader *reader, uint8_t type, bool in_list, int depth,
                              firn_error *error) {
    if (depth >= MAXIMUM_SKIP_DEPTH) {
        return firn_thrift_fail(reader, "unknown field", error, "nested too deeply");
    }
    firn_thrift_field field = {.type = type};
    firn_slice bytes = {0};
    uint64_t varint = 0;
    switch (type) {
    case FIRN_THRIFT_TRUE:
    case FIRN_THRIFT_FALSE: return in_list ? skip_bytes(reader, 1, error) : FIRN_OK;
    case FIRN_THRIFT_I8: return skip_bytes(reader, 1, error);
    case FIRN_THRIFT_I16:
    case FIRN_THRIFT_I32:
    case FIRN_THRIFT_I64: return read_varint(reader, "unknown field", &varint, error);
    case FIRN_THRIFT_DOUBLE: return skip_bytes(reader, 8, error);
    case FIRN_THRIFT_BINARY:
        return firn_thrift_binary(reader, &field, "unknown field", &bytes, error);
    case FIRN_THRIFT_LIST:
    case FIRN_THRIFT_SET: return skip_list(reader, depth + 1, error);
    case FIRN_THRIFT_MAP: return skip_map(reader, depth + 1, error);
    case FIRN_THRIFT_STRUCT: return skip_struct(reader, depth + 1, error);
    case FIRN_THRIFT_UUID: return skip_bytes(reader, 16, error);
    default: return wrong_type(reader, "unknown field", type, "a known type", error);
    }
}

firn_status firn_thrift_skip(firn_thrift_reader *reader, uint8_t type, firn_error *error) {
    return skip_value(reader, type, false, 0, error);
}
