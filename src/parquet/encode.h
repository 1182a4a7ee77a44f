/**
 * The encoders of Encodings.md that firn writes: PLAIN, and the RLE / bit-packed hybrid for levels, dictionary indices
 * and booleans. Each appends to `out`; nothing is kept between calls. LIMIT when `out` would pass its maximum.
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

#endif
