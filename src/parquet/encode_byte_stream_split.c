/* BYTE_STREAM_SPLIT (Encodings.md): all first bytes, then all second bytes, and so on. */
#include <assert.h>

#include "base/bytes.h"
#include "parquet/encode.h"

static void split_4(const uint8_t *plain, size_t count, uint8_t *to) {
    for (size_t i = 0; i < count; i++) {
        uint32_t value = firn_load_le32(plain + 4 * i);
        for (size_t j = 0; j < 4; j++) to[j * count + i] = (uint8_t)(value >> (8 * j));
    }
}

static void split_8(const uint8_t *plain, size_t count, uint8_t *to) {
    for (size_t i = 0; i < count; i++) {
        uint64_t value = firn_load_le64(plain + 8 * i);
        for (size_t j = 0; j < 8; j++) to[j * count + i] = (uint8_t)(value >> (8 * j));
    }
}

static void split(const uint8_t *plain, size_t width, size_t count, uint8_t *to) {
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < count; i++) to[j * count + i] = plain[i * width + j];
    }
}

firn_status firn_parquet_encode_byte_stream_split(firn_slice plain, size_t width, size_t count,
                                                  firn_buffer *out, firn_error *error) {
    assert(plain.size == count * width);
    FIRN_TRY(firn_buffer_reserve(out, plain.size, error));
    uint8_t *to = out->data + out->size;
    if (width == 4) {
        split_4(plain.data, count, to);
    } else if (width == 8) {
        split_8(plain.data, count, to);
    } else {
        split(plain.data, width, count, to);
    }
    out->size += plain.size;
    return FIRN_OK;
}
