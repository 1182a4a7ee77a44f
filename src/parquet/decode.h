/**
 * The decoders of Encodings.md. Levels and indices come out of the RLE / bit-packed hybrid; values out of one function per
 * encoding, found in a table. Encoded bytes are hostile: each decoder checks every length against what is there. Messages
 * say what is wrong and leave file, column and page to the caller, who wraps them. Nothing is kept between calls but memory.
 */
#ifndef FIRN_PARQUET_DECODE_H
#define FIRN_PARQUET_DECODE_H

#include "parquet/batch.h"
#include "parquet/scratch.h"

/* The hybrid (decode_hybrid.c), without a length in front. More values than `count` may be there: runs come in eights. */

/** Bytes 0 … maximum, of `width` bits (1 … 8), into `out` (room for count + 8); *at_maximum: how many are `maximum`. */
firn_status firn_parquet_decode_hybrid_bytes(firn_slice encoded, unsigned width, uint8_t maximum,
                                             size_t count, uint8_t *out, size_t *at_maximum,
                                             firn_error *error);
/** Numbers below `limit`, of `width` bits (0 … 32), into `out` (room for count + 8). */
firn_status firn_parquet_decode_hybrid_indices(firn_slice encoded, unsigned width, size_t limit,
                                               size_t count, uint32_t *out, firn_error *error);

/** The deprecated BIT_PACKED levels (decode_bit_packed.c), highest bits first; *consumed: bytes that they took. */
firn_status firn_parquet_decode_bit_packed(firn_slice encoded, unsigned width, uint8_t maximum,
                                           size_t count, uint8_t *out, size_t *at_maximum,
                                           size_t *consumed, firn_error *error);

/** Bits for values 0 … maximum. */
static inline unsigned firn_parquet_level_width(uint8_t maximum) {
    return maximum == 0 ? 0 : 32 - (unsigned)__builtin_clz(maximum);
}

/** The dictionary indices of a data page: a byte for the width, then the hybrid. */
firn_status firn_parquet_decode_indices(firn_slice encoded, size_t dictionary_count, size_t count,
                                        firn_parquet_scratch *out, firn_error *error);

/** Where decoded values lie, unless they can stay where they are. Used again for every page. */
typedef struct firn_parquet_value_store {
    firn_parquet_scratch fixed;   /* fixed-width values */
    firn_parquet_scratch slices;  /* firn_slice */
    firn_parquet_scratch lengths; /* int32_t, of the delta encodings for byte arrays */
    firn_parquet_scratch bytes;   /* byte arrays that are put together */
} firn_parquet_value_store;

void firn_parquet_value_store_release(firn_parquet_value_store *store);

/**
 * Decodes `count` values. `out` comes with type and width set; the rest is filled in and points into `encoded` or `store`.
 * CORRUPT when the bytes end too early.
 */
typedef firn_status (*firn_parquet_decode_values)(firn_slice encoded, size_t count,
                                                  firn_parquet_value_store *store,
                                                  firn_parquet_values *out, firn_error *error);

firn_status firn_parquet_decode_plain(firn_slice encoded, size_t count,
                                      firn_parquet_value_store *store, firn_parquet_values *out,
                                      firn_error *error);
firn_status firn_parquet_decode_rle_boolean(firn_slice encoded, size_t count,
                                            firn_parquet_value_store *store,
                                            firn_parquet_values *out, firn_error *error);
firn_status firn_parquet_decode_delta_binary_packed(firn_slice encoded, size_t count,
                                                    firn_parquet_value_store *store,
                                                    firn_parquet_values *out, firn_error *error);
firn_status firn_parquet_decode_delta_length_byte_array(firn_slice encoded, size_t count,
                                                        firn_parquet_value_store *store,
                                                        firn_parquet_values *out,
                                                        firn_error *error);
firn_status firn_parquet_decode_delta_byte_array(firn_slice encoded, size_t count,
                                                 firn_parquet_value_store *store,
                                                 firn_parquet_values *out, firn_error *error);
firn_status firn_parquet_decode_byte_stream_split(firn_slice encoded, size_t count,
                                                  firn_parquet_value_store *store,
                                                  firn_parquet_values *out, firn_error *error);

/** The decoder of values of `type` in `encoding`; NULL: there is none (dictionary indices have their own function). */
firn_parquet_decode_values firn_parquet_decoder_of(firn_parquet_encoding encoding,
                                                   firn_parquet_physical_type type);

/** DELTA_BINARY_PACKED integers of `value_size` (4 or 8) bytes, little-endian, into `out`; *encoded moves behind them. */
firn_status firn_parquet_decode_deltas(firn_slice *encoded, size_t count, size_t value_size,
                                       uint8_t *out, firn_error *error);

/** Unsigned LEB128; false when it ends too early or passes 64 bits. *bytes moves behind it. */
bool firn_parquet_read_varint(firn_slice *bytes, uint64_t *out);

#endif
