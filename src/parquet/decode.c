#include "parquet/decode.h"

#define TYPE(name) (1U << FIRN_PARQUET_##name)
#define EVERY_TYPE                                                                                 \
    (TYPE(BOOLEAN) | TYPE(INT32) | TYPE(INT64) | TYPE(INT96) | TYPE(FLOAT) | TYPE(DOUBLE) |        \
     TYPE(BYTE_ARRAY) | TYPE(FIXED_LEN_BYTE_ARRAY))

/* Encodings.md, "Supported Encodings". */
static const struct {
    firn_parquet_encoding encoding;
    unsigned types;
    firn_parquet_decode_values decode;
} decoders[] = {
    {FIRN_PARQUET_PLAIN, EVERY_TYPE, firn_parquet_decode_plain},
    {FIRN_PARQUET_RLE, TYPE(BOOLEAN), firn_parquet_decode_rle_boolean},
    {FIRN_PARQUET_DELTA_BINARY_PACKED, TYPE(INT32) | TYPE(INT64),
     firn_parquet_decode_delta_binary_packed},
    {FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY, TYPE(BYTE_ARRAY),
     firn_parquet_decode_delta_length_byte_array},
    {FIRN_PARQUET_DELTA_BYTE_ARRAY, TYPE(BYTE_ARRAY) | TYPE(FIXED_LEN_BYTE_ARRAY),
     firn_parquet_decode_delta_byte_array},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT,
     TYPE(INT32) | TYPE(INT64) | TYPE(FLOAT) | TYPE(DOUBLE) | TYPE(FIXED_LEN_BYTE_ARRAY),
     firn_parquet_decode_byte_stream_split},
};

firn_parquet_decode_values firn_parquet_decoder_of(firn_parquet_encoding encoding,
                                                   firn_parquet_physical_type type) {
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        if (decoders[i].encoding != encoding) continue;
        return (decoders[i].types >> type & 1U) != 0 ? decoders[i].decode : NULL;
    }
    return NULL;
}

void firn_parquet_value_store_release(firn_parquet_value_store *store) {
    firn_parquet_scratch_release(&store->fixed);
    firn_parquet_scratch_release(&store->slices);
    firn_parquet_scratch_release(&store->lengths);
    firn_parquet_scratch_release(&store->bytes);
}

bool firn_parquet_read_varint(firn_slice *bytes, uint64_t *out) {
    uint64_t value = 0;
    size_t position = 0;
    for (unsigned shift = 0; shift < 64 && position < bytes->size; shift += 7) {
        uint8_t byte = bytes->data[position++];
        if (shift == 63 && byte > 1) return false;
        value |= (uint64_t)(byte & 0x7FU) << shift;
        if (byte < 0x80) {
            bytes->data += position;
            bytes->size -= position;
            *out = value;
            return true;
        }
    }
    return false;
}
