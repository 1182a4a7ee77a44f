#include "parquet/types.h"

const char *firn_parquet_type_name(firn_parquet_physical_type type) {
    switch (type) {
    case FIRN_PARQUET_BOOLEAN: return "BOOLEAN";
    case FIRN_PARQUET_INT32: return "INT32";
    case FIRN_PARQUET_INT64: return "INT64";
    case FIRN_PARQUET_INT96: return "INT96";
    case FIRN_PARQUET_FLOAT: return "FLOAT";
    case FIRN_PARQUET_DOUBLE: return "DOUBLE";
    case FIRN_PARQUET_BYTE_ARRAY: return "BYTE_ARRAY";
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: return "FIXED_LEN_BYTE_ARRAY";
    }
    return "unknown";
}

const char *firn_parquet_encoding_name(firn_parquet_encoding encoding) {
    switch (encoding) {
    case FIRN_PARQUET_PLAIN: return "PLAIN";
    case FIRN_PARQUET_PLAIN_DICTIONARY: return "PLAIN_DICTIONARY";
    case FIRN_PARQUET_RLE: return "RLE";
    case FIRN_PARQUET_BIT_PACKED: return "BIT_PACKED";
    case FIRN_PARQUET_DELTA_BINARY_PACKED: return "DELTA_BINARY_PACKED";
    case FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY: return "DELTA_LENGTH_BYTE_ARRAY";
    case FIRN_PARQUET_DELTA_BYTE_ARRAY: return "DELTA_BYTE_ARRAY";
    case FIRN_PARQUET_RLE_DICTIONARY: return "RLE_DICTIONARY";
    case FIRN_PARQUET_BYTE_STREAM_SPLIT: return "BYTE_STREAM_SPLIT";
    case FIRN_PARQUET_ALP: return "ALP";
    }
    return "unknown";
}

const char *firn_parquet_compression_name(firn_parquet_compression compression) {
    switch (compression) {
    case FIRN_PARQUET_UNCOMPRESSED: return "UNCOMPRESSED";
    case FIRN_PARQUET_SNAPPY: return "SNAPPY";
    case FIRN_PARQUET_GZIP: return "GZIP";
    case FIRN_PARQUET_LZO: return "LZO";
    case FIRN_PARQUET_BROTLI: return "BROTLI";
    case FIRN_PARQUET_LZ4: return "LZ4";
    case FIRN_PARQUET_ZSTD: return "ZSTD";
    case FIRN_PARQUET_LZ4_RAW: return "LZ4_RAW";
    }
    return "unknown";
}
