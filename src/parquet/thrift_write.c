#include "parquet/thrift_write.h"

firn_thrift_writer firn_thrift_writer_of(firn_buffer *out, firn_error *error) {
    return (firn_thrift_writer){.out = out, .error = error, .status = FIRN_OK, .depth = 1};
}

static void put(firn_thrift_writer *writer, const void *data, size_t size) {
    if (writer->status != FIRN_OK || size == 0) return;
    writer->status = firn_buffer_append(writer->out, data, size, writer->error);
}

static void put_byte(firn_thrift_writer *writer, unsigned byte) {
    uint8_t value = (uint8_t)byte;
    put(writer, &value, 1);
}

static void put_varint(firn_thrift_writer *writer, uint64_t value) {
    uint8_t bytes[10];
    size_t count = 0;
    while (value >= 0x80) {
        bytes[count++] = (uint8_t)(value | 0x80U);
        value >>= 7;
    }
    bytes[count++] = (uint8_t)value;
    put(writer, bytes, count);
}

static void put_zigzag(firn_thrift_writer *writer, int64_t value) {
    put_varint(writer, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_header(firn_thrift_writer *writer, int id, firn_thrift_type type) {
    int *last = &writer->last_id[writer->depth - 1];
    int delta = id - *last;
    *last = id;
    if (delta >= 1 && delta <= 15) {
        put_byte(writer, (unsigned)delta << 4 | (unsigned)type);
        return;
    }
    put_byte(writer, (unsigned)type);
    put_zigzag(writer, id);
}

void firn_thrift_write_bool(firn_thrift_writer *writer, int id, bool value) {
    put_header(writer, id, value ? FIRN_THRIFT_TRUE : FIRN_THRIFT_FALSE);
}

void firn_thrift_write_i8(firn_thrift_writer *writer, int id, int8_t value) {
    put_header(writer, id, FIRN_THRIFT_I8);
    put_byte(writer, (uint8_t)value);
}

void firn_thrift_write_i16(firn_thrift_writer *writer, int id, int16_t value) {
    put_header(writer, id, FIRN_THRIFT_I16);
    put_zigzag(writer, value);
}

void firn_thrift_write_i32(firn_thrift_writer *writer, int id, int32_t value) {
    put_header(writer, id, FIRN_THRIFT_I32);
    put_zigzag(writer, value);
}

void firn_thrift_write_i64(firn_thrift_writer *writer, int id, int64_t value) {
    put_header(writer, id, FIRN_THRIFT_I64);
    put_zigzag(writer, value);
}

void firn_thrift_write_binary(firn_thrift_writer *writer, int id, firn_slice value) {
    put_header(writer, id, FIRN_THRIFT_BINARY);
    firn_thrift_write_item_binary(writer, value);
}

void firn_thrift_write_text(firn_thrift_writer *writer, int id, const char *value) {
    firn_thrift_write_binary(writer, id, firn_slice_text(value));
}

static void push(firn_thrift_writer *writer) {
    if (writer->status != FIRN_OK) return;
    if (writer->depth == FIRN_THRIFT_WRITE_DEPTH) {
        writer->status = firn_fail(writer->error, FIRN_LIMIT, "Thrift structs nested too deeply");
        return;
    }
    writer->last_id[writer->depth++] = 0;
}

void firn_thrift_write_struct(firn_thrift_writer *writer, int id) {
    put_header(writer, id, FIRN_THRIFT_STRUCT);
    push(writer);
}

void firn_thrift_write_end(firn_thrift_writer *writer) {
    put_byte(writer, FIRN_THRIFT_STOP);
    if (writer->depth > 1) writer->depth--;
}

void firn_thrift_write_empty(firn_thrift_writer *writer, int id) {
    firn_thrift_write_struct(writer, id);
    firn_thrift_write_end(writer);
}

void firn_thrift_write_list(firn_thrift_writer *writer, int id, firn_thrift_type element,
                            size_t count) {
    put_header(writer, id, FIRN_THRIFT_LIST);
    if (count < 15) {
        put_byte(writer, (unsigned)count << 4 | (unsigned)element);
        return;
    }
    put_byte(writer, 0xF0U | (unsigned)element);
    put_varint(writer, count);
}

void firn_thrift_write_item_bool(firn_thrift_writer *writer, bool value) {
    put_byte(writer, value ? FIRN_THRIFT_TRUE : FIRN_THRIFT_FALSE);
}

void firn_thrift_write_item_int(firn_thrift_writer *writer, int64_t value) {
    put_zigzag(writer, value);
}

void firn_thrift_write_item_binary(firn_thrift_writer *writer, firn_slice value) {
    put_varint(writer, value.size);
    put(writer, value.data, value.size);
}

void firn_thrift_write_item_struct(firn_thrift_writer *writer) {
    push(writer);
}

void firn_thrift_write_list_i64(firn_thrift_writer *writer, int id, const int64_t *values,
                                size_t count) {
    firn_thrift_write_list(writer, id, FIRN_THRIFT_I64, count);
    for (size_t i = 0; i < count; i++) firn_thrift_write_item_int(writer, values[i]);
}
