/**
 * The encoders of Encodings.md: PLAIN, the RLE / bit-packed hybrid for levels, dictionary indices and booleans, the delta
 * encodings and BYTE_STREAM_SPLIT. Each appends to `out`; nothing is kept between calls. LIMIT when `out` would pass its maximum.
 */
#ifndef FIRN_PARQUET_ENCODE_H
#define FIRN_PARQUET_ENCODE_H

#include "base/buffer.h"
#include "parquet/batch.h"

/** Bits that hold every value of 0 … maximum. */
static inline uint32_t firn_parquet_bit_width(uint32_t maximum) {
    return maximum == 0 ? 0 : 32 - (uint32_t)__builtin_clz(maximum);
}

/** PLAIN form of values first … first + count - 1. BOOLEAN stays one byte each: bits are packed once for a whole page. */
firn_status firn_parquet_encode_plain(const firn_parquet_values *values, size_t first, size_t count,
                                      firn_buffer *out, firn_error *error);

/** PLAIN form of values[indices[0]], values[indices[1]], … */
firn_status firn_parquet_encode_plain_indexed(const firn_parquet_values *values,
                                              const uint32_t *indices, size_t count,
                                              firn_buffer *out, firn_error *error);

/** PLAIN form of booleans given as one byte each, 0 or 1: bits, the lowest first. */
firn_status firn_parquet_encode_booleans(const uint8_t *values, size_t count, firn_buffer *out,
                                         firn_error *error);

/** Hybrid of levels or booleans, without a length in front; every value below 1 << bit_width, bit_width 1 … 8. */
firn_status firn_parquet_encode_hybrid_bytes(const uint8_t *values, size_t count,
                                             uint32_t bit_width, firn_buffer *out,
                                             firn_error *error);

/** Hybrid of one value `count` times. */
firn_status firn_parquet_encode_hybrid_run(uint32_t value, size_t count, uint32_t bit_width,
                                           firn_buffer *out, firn_error *error);

/** Hybrid of dictionary indices, without the byte for the width; bit_width 1 … 32. */
firn_status firn_parquet_encode_hybrid_indices(const uint32_t *values, size_t count,
                                               uint32_t bit_width, firn_buffer *out,
                                               firn_error *error);

/**
 * Encodes `count` values that are given as PLAIN has them, which is how a page gathers them: which encoding pays is known only then.
 * `width`: bytes of a fixed-width value, 0 for BYTE_ARRAY. `plain` holds these values and nothing else.
 */
typedef firn_status (*firn_parquet_encode_values)(firn_slice plain, size_t width, size_t count,
                                                  firn_buffer *out, firn_error *error);

firn_status firn_parquet_encode_delta_binary_packed(firn_slice plain, size_t width, size_t count,
                                                    firn_buffer *out, firn_error *error);
firn_status firn_parquet_encode_delta_length_byte_array(firn_slice plain, size_t width,
                                                        size_t count, firn_buffer *out,
                                                        firn_error *error);
firn_status firn_parquet_encode_delta_byte_array(firn_slice plain, size_t width, size_t count,
                                                 firn_buffer *out, firn_error *error);
firn_status firn_parquet_encode_byte_stream_split(firn_slice plain, size_t width, size_t count,
                                                  firn_buffer *out, firn_error *error);

/** The encoder of values of `type` in `encoding`; NULL: there is none, or it is PLAIN, RLE or a dictionary's, which go other ways. */
firn_parquet_encode_values firn_parquet_encoder_of(firn_parquet_encoding encoding,
                                                   firn_parquet_physical_type type);

/** Unsigned LEB128, 10 bytes at most; returns what follows it. */
uint8_t *firn_parquet_put_varint(uint8_t *to, uint64_t value);

#endif
