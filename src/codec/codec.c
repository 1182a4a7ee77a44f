#include "codec/codec.h"

#include <string.h>
#include <zstd.h>

#include "codec/output.h"

/* zlib's window parameters: gzip framing when writing; gzip or zlib, told by the header, when reading. */
#define WINDOW_GZIP (15 + 16)
#define WINDOW_GZIP_OR_ZLIB (15 + 32)
#define WINDOW_RAW (-15)

#define DEFAULT_LEVEL_ZLIB 6
#define DEFAULT_LEVEL_BROTLI 4
#define DEFAULT_LEVEL_ZSTD 3

const char *firn_codec_name(firn_codec codec) {
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return "uncompressed";
    case FIRN_CODEC_SNAPPY: return "snappy";
    case FIRN_CODEC_GZIP: return "gzip";
    case FIRN_CODEC_DEFLATE: return "deflate";
    case FIRN_CODEC_BROTLI: return "brotli";
    case FIRN_CODEC_LZ4_RAW: return "lz4_raw";
    case FIRN_CODEC_LZ4_HADOOP: return "lz4";
    case FIRN_CODEC_ZSTD: return "zstd";
    case FIRN_CODEC_LZ4_FRAME: return "lz4_frame";
    }
    return "unknown";
}

bool firn_codec_can_read(firn_codec codec) {
    return codec >= FIRN_CODEC_UNCOMPRESSED && codec <= FIRN_CODEC_LZ4_FRAME;
}

bool firn_codec_can_write(firn_codec codec) {
    return firn_codec_can_read(codec);
}

static firn_status unknown(firn_codec codec, firn_error *error) {
    return firn_fail(error, FIRN_UNSUPPORTED, "compression codec %d is not known", (int)codec);
}

/* The level to use; codecs without levels ignore it. */
static firn_status check_level(firn_codec codec, int level, int *used, firn_error *error) {
    int lowest = 0;
    int highest = 0;
    int usual = 0;
    switch (codec) {
    case FIRN_CODEC_GZIP:
    case FIRN_CODEC_DEFLATE:
        highest = 9;
        usual = DEFAULT_LEVEL_ZLIB;
        break;
    case FIRN_CODEC_BROTLI:
        highest = 11;
        usual = DEFAULT_LEVEL_BROTLI;
        break;
    case FIRN_CODEC_ZSTD:
        lowest = ZSTD_minCLevel();
        highest = ZSTD_maxCLevel();
        usual = DEFAULT_LEVEL_ZSTD;
        break;
    default: level = FIRN_CODEC_LEVEL_DEFAULT;
    }
    *used = level == FIRN_CODEC_LEVEL_DEFAULT ? usual : level;
    if (*used >= lowest && *used <= highest) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s has compression levels %d to %d, not %d",
                     firn_codec_name(codec), lowest, highest, level);
}

static firn_status compress(firn_codec codec, int level, firn_slice input, firn_buffer *out,
                            firn_error *error) {
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return firn_buffer_append(out, input.data, input.size, error);
    case FIRN_CODEC_SNAPPY: return firn_snappy_compress(input, out, error);
    case FIRN_CODEC_GZIP: return firn_zlib_compress(WINDOW_GZIP, level, input, out, error);
    case FIRN_CODEC_DEFLATE: return firn_zlib_compress(WINDOW_RAW, level, input, out, error);
    case FIRN_CODEC_BROTLI: return firn_brotli_compress(level, input, out, error);
    case FIRN_CODEC_LZ4_RAW: return firn_lz4_compress(false, input, out, error);
    case FIRN_CODEC_LZ4_HADOOP: return firn_lz4_compress(true, input, out, error);
    case FIRN_CODEC_ZSTD: return firn_zstd_compress(level, input, out, error);
    case FIRN_CODEC_LZ4_FRAME: return firn_lz4_frame_compress(input, out, error);
    }
    return unknown(codec, error);
}

firn_status firn_codec_compress(firn_codec codec, int level, firn_slice input, firn_buffer *out,
                                firn_error *error) {
    int used = 0;
    FIRN_TRY(check_level(codec, level, &used, error));
    if (input.size > INT32_MAX) {
        return firn_fail(error, FIRN_LIMIT,
                         "%zu bytes are too many to compress at once; at most %d", input.size,
                         INT32_MAX);
    }
    size_t before = out->size;
    firn_status status = compress(codec, used, input, out, error);
    if (status == FIRN_OK) return FIRN_OK;
    out->size = before;
    return firn_error_wrap(error, status, "%s", firn_codec_name(codec));
}

static firn_status copy(firn_slice input, uint8_t *out, size_t out_size, firn_error *error) {
    if (input.size != out_size) {
        return firn_fail(error, FIRN_CORRUPT, "has %zu bytes where %zu are stated", input.size,
                         out_size);
    }
    if (out_size != 0) memcpy(out, input.data, out_size);
    return FIRN_OK;
}

static firn_status decompress(firn_codec codec, firn_slice input, uint8_t *out, size_t out_size,
                              firn_error *error) {
    firn_codec_output output = {.fixed = out, .fixed_size = out_size};
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return copy(input, out, out_size, error);
    case FIRN_CODEC_SNAPPY: return firn_snappy_decompress(input, out, out_size, error);
    case FIRN_CODEC_GZIP: return firn_zlib_decompress(WINDOW_GZIP_OR_ZLIB, input, &output, error);
    case FIRN_CODEC_DEFLATE: return firn_zlib_decompress(WINDOW_RAW, input, &output, error);
    case FIRN_CODEC_BROTLI: return firn_brotli_decompress(input, &output, error);
    case FIRN_CODEC_LZ4_RAW: return firn_lz4_decompress(false, input, out, out_size, error);
    case FIRN_CODEC_LZ4_HADOOP: return firn_lz4_decompress(true, input, out, out_size, error);
    case FIRN_CODEC_ZSTD: return firn_zstd_decompress(input, out, out_size, error);
    case FIRN_CODEC_LZ4_FRAME: return firn_lz4_frame_decompress(input, &output, error);
    }
    return unknown(codec, error);
}

firn_status firn_codec_decompress(firn_codec codec, firn_slice input, uint8_t *out, size_t out_size,
                                  firn_error *error) {
    /* Writers leave the values of a page without values uncompressed. */
    if (input.size == 0 && out_size == 0 && firn_codec_can_read(codec)) return FIRN_OK;
    firn_status status = decompress(codec, input, out, out_size, error);
    return firn_error_wrap(error, status, "%s", firn_codec_name(codec));
}

static firn_status decompress_growing(firn_codec codec, firn_slice input, firn_buffer *out,
                                      firn_error *error) {
    firn_codec_output output = {.growing = out};
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return firn_buffer_append(out, input.data, input.size, error);
    case FIRN_CODEC_SNAPPY: return firn_snappy_decompress_growing(input, out, error);
    case FIRN_CODEC_GZIP: return firn_zlib_decompress(WINDOW_GZIP_OR_ZLIB, input, &output, error);
    case FIRN_CODEC_DEFLATE: return firn_zlib_decompress(WINDOW_RAW, input, &output, error);
    case FIRN_CODEC_BROTLI: return firn_brotli_decompress(input, &output, error);
    case FIRN_CODEC_LZ4_RAW: return firn_lz4_decompress_growing(false, input, out, error);
    case FIRN_CODEC_LZ4_HADOOP: return firn_lz4_decompress_growing(true, input, out, error);
    case FIRN_CODEC_ZSTD: return firn_zstd_decompress_growing(input, out, error);
    case FIRN_CODEC_LZ4_FRAME: return firn_lz4_frame_decompress(input, &output, error);
    }
    return unknown(codec, error);
}

firn_status firn_codec_decompress_growing(firn_codec codec, firn_slice input, firn_buffer *out,
                                          firn_error *error) {
    size_t before = out->size;
    firn_status status = decompress_growing(codec, input, out, error);
    if (status == FIRN_OK) return FIRN_OK;
    out->size = before;
    return firn_error_wrap(error, status, "%s", firn_codec_name(codec));
}
