#include "avro/encode.h"

#include "base/bytes.h"

firn_status firn_avro_put_long(firn_buffer *out, int64_t value, firn_error *error) {
    uint8_t bytes[10];
    size_t size = 0;
    uint64_t bits = (uint64_t)value << 1;
    if (value < 0) bits = ~bits;
    while (bits > 0x7f) {
        bytes[size++] = (uint8_t)(bits | 0x80);
        bits >>= 7;
    }
    bytes[size++] = (uint8_t)bits;
    return firn_buffer_append(out, bytes, size, error);
}

firn_status firn_avro_put_boolean(firn_buffer *out, bool value, firn_error *error) {
    return firn_buffer_append_byte(out, value ? 1 : 0, error);
}

firn_status firn_avro_put_float(firn_buffer *out, float value, firn_error *error) {
    uint8_t bytes[4];
    firn_store_le32(bytes, firn_bits_of_float(value));
    return firn_buffer_append(out, bytes, sizeof bytes, error);
}

firn_status firn_avro_put_double(firn_buffer *out, double value, firn_error *error) {
    uint8_t bytes[8];
    firn_store_le64(bytes, firn_bits_of_double(value));
    return firn_buffer_append(out, bytes, sizeof bytes, error);
}

firn_status firn_avro_put_bytes(firn_buffer *out, firn_slice value, firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, (int64_t)value.size, error));
    return firn_buffer_append(out, value.data, value.size, error);
}

firn_status firn_avro_put_text(firn_buffer *out, const char *value, firn_error *error) {
    return firn_avro_put_bytes(out, firn_slice_text(value), error);
}

firn_status firn_avro_put_fixed(firn_buffer *out, firn_slice value, firn_error *error) {
    return firn_buffer_append(out, value.data, value.size, error);
}
