/**
 * Compression behind one table. Thread-safe.
 *
 * Levels: gzip and deflate 0 … 9, default 6; brotli 0 … 11, default 4; zstd -131072 … 22, default 3. The
 * other codecs have none and ignore what is given. Messages name the codec, not the file: callers wrap them.
 */
#ifndef FIRN_CODEC_CODEC_H
#define FIRN_CODEC_CODEC_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

typedef enum firn_codec {
    FIRN_CODEC_UNCOMPRESSED,
    FIRN_CODEC_SNAPPY,
    FIRN_CODEC_GZIP, /**< RFC 1952, several members too; zlib (RFC 1950) framing is accepted when reading */
    FIRN_CODEC_DEFLATE, /**< RFC 1951 without framing, as Avro has it */
    FIRN_CODEC_BROTLI,
    FIRN_CODEC_LZ4_RAW,
    FIRN_CODEC_LZ4_HADOOP, /**< Parquet's deprecated LZ4: Hadoop's frames, or a bare block */
    FIRN_CODEC_ZSTD,
    FIRN_CODEC_LZ4_FRAME /**< LZ4's own frame format, one frame, as Puffin has it */
} firn_codec;

/** Level that means "the codec's default as firn's documentation states it". */
#define FIRN_CODEC_LEVEL_DEFAULT INT32_MIN

/** Lower-case name, never NULL. */
const char *firn_codec_name(firn_codec codec);
/** Whether this build can read, and write, the codec. */
bool firn_codec_can_read(firn_codec codec);
bool firn_codec_can_write(firn_codec codec);

/** Appends the compressed form of `input`, at most 2^31 - 1 bytes, to `out`. A level outside the codec's range is INVALID. On failure `out` is as before. */
firn_status firn_codec_compress(firn_codec codec, int level, firn_slice input, firn_buffer *out,
                                firn_error *error);

/**
 * Decompresses to exactly `out_size` bytes; any other size is CORRUPT. Several zstd frames or gzip members
 * in a row are one input. No input at all is 0 bytes, whatever the codec. On failure `out` holds anything.
 */
firn_status firn_codec_decompress(firn_codec codec, firn_slice input, uint8_t *out, size_t out_size,
                                  firn_error *error);

/** Appends the decompressed form, whose size is not known; LIMIT when it would pass the buffer's maximum. On failure `out` is as before. */
firn_status firn_codec_decompress_growing(firn_codec codec, firn_slice input, firn_buffer *out,
                                          firn_error *error);

/** Whether compressed data can be put together from compressed parts: zstd, snappy and none. */
bool firn_codec_can_join(firn_codec codec);
/** Begins data that decompresses to `size` bytes; its parts follow, in order. INVALID for codecs that can't be joined. */
firn_status firn_codec_join_begin(firn_codec codec, size_t size, firn_buffer *out,
                                  firn_error *error);
/** Adds a part: whole compressed data of `size` bytes. CORRUPT where it is seen without decompressing that it is not. */
firn_status firn_codec_join_add(firn_codec codec, firn_slice part, size_t size, firn_buffer *out,
                                firn_error *error);
/** Appends a compressed form that holds the input as it is, for data that does not get smaller. INVALID for codecs that can't be joined. */
firn_status firn_codec_store(firn_codec codec, firn_slice input, firn_buffer *out,
                             firn_error *error);

/** CRC-32 of zlib and gzip (Parquet pages, Puffin); start with 0. */
uint32_t firn_crc32(uint32_t crc, firn_slice data);
/** MurmurHash3 x86 32-bit with seed 0 (Iceberg specification, appendix B). */
uint32_t firn_murmur3_32(firn_slice data);
/** XXH64 with seed 0 (Parquet bloom filters). */
uint64_t firn_xxhash64(firn_slice data);

#endif
