#include "parquet/page_codec.h"

bool firn_parquet_codec_of(firn_parquet_compression compression, firn_codec *codec) {
    switch (compression) {
    case FIRN_PARQUET_UNCOMPRESSED: *codec = FIRN_CODEC_UNCOMPRESSED; return true;
    case FIRN_PARQUET_SNAPPY: *codec = FIRN_CODEC_SNAPPY; return true;
    case FIRN_PARQUET_GZIP: *codec = FIRN_CODEC_GZIP; return true;
    case FIRN_PARQUET_BROTLI: *codec = FIRN_CODEC_BROTLI; return true;
    case FIRN_PARQUET_LZ4: *codec = FIRN_CODEC_LZ4_HADOOP; return true;
    case FIRN_PARQUET_ZSTD: *codec = FIRN_CODEC_ZSTD; return true;
    case FIRN_PARQUET_LZ4_RAW: *codec = FIRN_CODEC_LZ4_RAW; return true;
    case FIRN_PARQUET_LZO: return false;
    }
    return false;
}

/* The most that one compressed byte can stand for, from each format's own limits, rounded up. */
static size_t greatest_ratio(firn_codec codec) {
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return 1;
    case FIRN_CODEC_SNAPPY: return 32; /* 64 bytes by a copy of 3 */
    case FIRN_CODEC_LZ4_RAW:
    case FIRN_CODEC_LZ4_FRAME:
    case FIRN_CODEC_LZ4_HADOOP: return 256; /* 255 by each further length byte */
    case FIRN_CODEC_GZIP:
    case FIRN_CODEC_DEFLATE: return 1040; /* 258 bytes by 2 bits */
    case FIRN_CODEC_ZSTD: return 65536;   /* a block of 128 KiB by 4 bytes */
    case FIRN_CODEC_BROTLI: return SIZE_MAX;
    }
    return SIZE_MAX;
}

bool firn_parquet_size_plausible(firn_codec codec, size_t compressed_size, size_t size) {
    size_t ratio = greatest_ratio(codec);
    return ratio == SIZE_MAX || size / ratio <= compressed_size;
}
