#include "parquet/encode.h"

#include "parquet/decode.h"

firn_parquet_encode_values firn_parquet_encoder_of(firn_parquet_encoding encoding,
                                                   firn_parquet_physical_type type) {
    /* Which types an encoding is defined for is written down once, with the decoders. */
    if (firn_parquet_decoder_of(encoding, type) == NULL) return NULL;
    switch (encoding) {
    case FIRN_PARQUET_DELTA_BINARY_PACKED: return firn_parquet_encode_delta_binary_packed;
    case FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY: return firn_parquet_encode_delta_length_byte_array;
    case FIRN_PARQUET_DELTA_BYTE_ARRAY: return firn_parquet_encode_delta_byte_array;
    case FIRN_PARQUET_BYTE_STREAM_SPLIT: return firn_parquet_encode_byte_stream_split;
    default: return NULL;
    }
}

uint8_t *firn_parquet_put_varint(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}
