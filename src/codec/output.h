/** Where a streaming decoder puts its output: a place of fixed size, or a buffer that grows. Within codec only. */
#ifndef FIRN_CODEC_OUTPUT_H
#define FIRN_CODEC_OUTPUT_H

#include "base/buffer.h"
#include "base/error.h"

typedef struct firn_codec_output {
    firn_buffer *growing; /* NULL: `fixed` is meant */
    uint8_t *fixed;
    size_t fixed_size;
    size_t fixed_used;
    bool overflowing; /* the room given last is `spill` */
    uint8_t spill; /* takes one byte once all room is used, which tells "ended" from "too much" */
} firn_codec_output;

/** At least one byte of room. A full output gives the spill byte, so that a decoder can reach its end. */
firn_status firn_codec_output_room(firn_codec_output *output, uint8_t **at, size_t *room,
                                   firn_error *error);
/** Counts what the decoder wrote into the room; CORRUPT (fixed) or LIMIT (growing) when it was too much. */
firn_status firn_codec_output_took(firn_codec_output *output, size_t size, firn_error *error);
/** CORRUPT when a place of fixed size was not filled. */
firn_status firn_codec_output_end(const firn_codec_output *output, firn_error *error);

/* One pair for each family of formats; each has checked the size of the input already. */
firn_status firn_zlib_compress(int window_bits, int level, firn_slice input, firn_buffer *out,
                               firn_error *error);
/** `window_bits` as inflateInit2 has it; negative is raw deflate. */
firn_status firn_zlib_decompress(int window_bits, firn_slice input, firn_codec_output *output,
                                 firn_error *error);
firn_status firn_brotli_compress(int level, firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_brotli_decompress(firn_slice input, firn_codec_output *output, firn_error *error);
firn_status firn_zstd_compress(int level, firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_zstd_decompress(firn_slice input, uint8_t *out, size_t out_size,
                                 firn_error *error);
firn_status firn_zstd_decompress_growing(firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_snappy_compress(firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_snappy_decompress(firn_slice input, uint8_t *out, size_t out_size,
                                   firn_error *error);
firn_status firn_snappy_decompress_growing(firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_lz4_compress(bool hadoop, firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_lz4_decompress(bool hadoop, firn_slice input, uint8_t *out, size_t out_size,
                                firn_error *error);
firn_status firn_lz4_decompress_growing(bool hadoop, firn_slice input, firn_buffer *out,
                                        firn_error *error);
firn_status firn_lz4_frame_compress(firn_slice input, firn_buffer *out, firn_error *error);
firn_status firn_lz4_frame_decompress(firn_slice input, firn_codec_output *output,
                                      firn_error *error);

#endif
