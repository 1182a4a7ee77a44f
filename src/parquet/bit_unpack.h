/**
 * Bit-packed integers, lowest bits first, as in the RLE / bit-packed hybrid and in DELTA_BINARY_PACKED (Encodings.md).
 * `size` is what may be read from `in`; it holds at least `count` values. `out` has room for `count` rounded up to 8.
 */
#ifndef FIRN_PARQUET_BIT_UNPACK_H
#define FIRN_PARQUET_BIT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/** width 1 … 8. */
void firn_parquet_unpack_bytes(const uint8_t *in, size_t size, unsigned width, size_t count,
                               uint8_t *out);
/** width 0 … 32. */
void firn_parquet_unpack_32(const uint8_t *in, size_t size, unsigned width, size_t count,
                            uint32_t *out);
/** width 0 … 64; slower. */
void firn_parquet_unpack_64(const uint8_t *in, size_t size, unsigned width, size_t count,
                            uint64_t *out);

/** Bytes that `count` values of `width` bits take; no overflow for widths up to 64. */
static inline size_t firn_parquet_packed_size(size_t count, unsigned width) {
    return count / 8 * width + (count % 8 * width + 7) / 8;
}

#endif
