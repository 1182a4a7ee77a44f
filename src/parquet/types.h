/** Enumerations and small structs of Parquet, numbered as in parquet.thrift. */
#ifndef FIRN_PARQUET_TYPES_H
#define FIRN_PARQUET_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum firn_parquet_physical_type {
    FIRN_PARQUET_BOOLEAN = 0,
    FIRN_PARQUET_INT32 = 1,
    FIRN_PARQUET_INT64 = 2,
    FIRN_PARQUET_INT96 = 3,
    FIRN_PARQUET_FLOAT = 4,
    FIRN_PARQUET_DOUBLE = 5,
    FIRN_PARQUET_BYTE_ARRAY = 6,
    FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY = 7
} firn_parquet_physical_type;

typedef enum firn_parquet_repetition {
    FIRN_PARQUET_REQUIRED = 0,
    FIRN_PARQUET_OPTIONAL = 1,
    FIRN_PARQUET_REPEATED = 2
} firn_parquet_repetition;

typedef enum firn_parquet_encoding {
    FIRN_PARQUET_PLAIN = 0,
    FIRN_PARQUET_PLAIN_DICTIONARY = 2,
    FIRN_PARQUET_RLE = 3,
    FIRN_PARQUET_BIT_PACKED = 4,
    FIRN_PARQUET_DELTA_BINARY_PACKED = 5,
    FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY = 6,
    FIRN_PARQUET_DELTA_BYTE_ARRAY = 7,
    FIRN_PARQUET_RLE_DICTIONARY = 8,
    FIRN_PARQUET_BYTE_STREAM_SPLIT = 9,
    FIRN_PARQUET_ALP = 10 /**< neither read nor written */
} firn_parquet_encoding;

/** parquet.thrift CompressionCodec. */
typedef enum firn_parquet_compression {
    FIRN_PARQUET_UNCOMPRESSED = 0,
    FIRN_PARQUET_SNAPPY = 1,
    FIRN_PARQUET_GZIP = 2,
    FIRN_PARQUET_LZO = 3,
    FIRN_PARQUET_BROTLI = 4,
    FIRN_PARQUET_LZ4 = 5,
    FIRN_PARQUET_ZSTD = 6,
    FIRN_PARQUET_LZ4_RAW = 7
} firn_parquet_compression;

typedef enum firn_parquet_page_type {
    FIRN_PARQUET_DATA_PAGE = 0,
    FIRN_PARQUET_INDEX_PAGE = 1,
    FIRN_PARQUET_DICTIONARY_PAGE = 2,
    FIRN_PARQUET_DATA_PAGE_V2 = 3
} firn_parquet_page_type;

/** LogicalType, with ConvertedType mapped onto it where a file has only that (LogicalTypes.md). */
typedef enum firn_parquet_logical_kind {
    FIRN_PARQUET_LOGICAL_NONE = 0,
    FIRN_PARQUET_LOGICAL_STRING,
    FIRN_PARQUET_LOGICAL_MAP,
    FIRN_PARQUET_LOGICAL_LIST,
    FIRN_PARQUET_LOGICAL_ENUM,
    FIRN_PARQUET_LOGICAL_DECIMAL,
    FIRN_PARQUET_LOGICAL_DATE,
    FIRN_PARQUET_LOGICAL_TIME,
    FIRN_PARQUET_LOGICAL_TIMESTAMP,
    FIRN_PARQUET_LOGICAL_INTERVAL,
    FIRN_PARQUET_LOGICAL_INTEGER,
    FIRN_PARQUET_LOGICAL_NULL,
    FIRN_PARQUET_LOGICAL_JSON,
    FIRN_PARQUET_LOGICAL_BSON,
    FIRN_PARQUET_LOGICAL_UUID,
    FIRN_PARQUET_LOGICAL_FLOAT16,
    FIRN_PARQUET_LOGICAL_VARIANT,
    FIRN_PARQUET_LOGICAL_GEOMETRY,
    FIRN_PARQUET_LOGICAL_GEOGRAPHY,
    FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE, /**< legacy converted type */
    FIRN_PARQUET_LOGICAL_UNKNOWN        /**< an annotation that this version does not know */
} firn_parquet_logical_kind;

typedef enum firn_parquet_time_unit {
    FIRN_PARQUET_MILLIS = 1,
    FIRN_PARQUET_MICROS = 2,
    FIRN_PARQUET_NANOS = 3
} firn_parquet_time_unit;

typedef struct firn_parquet_logical_type {
    firn_parquet_logical_kind kind;
    int32_t scale, precision;      /**< DECIMAL */
    firn_parquet_time_unit unit;   /**< TIME, TIMESTAMP */
    bool adjusted_to_utc;          /**< TIME, TIMESTAMP */
    int32_t bit_width;             /**< INTEGER */
    bool is_signed;                /**< INTEGER */
    int32_t specification_version; /**< VARIANT; 0 where the file does not say */
    const char *crs;               /**< GEOMETRY, GEOGRAPHY; NULL: the default, OGC:CRS84 */
    int32_t
        edge_algorithm; /**< GEOGRAPHY: EdgeInterpolationAlgorithm; 0, the default, is SPHERICAL */
} firn_parquet_logical_type;

/* Names for messages as parquet.thrift spells them; "unknown" for numbers that it does not have. */
const char *firn_parquet_type_name(firn_parquet_physical_type type);
const char *firn_parquet_encoding_name(firn_parquet_encoding encoding);
const char *firn_parquet_compression_name(firn_parquet_compression compression);

/** Bytes of one value of a fixed-width physical type as a batch holds it (BOOLEAN: 1); 0 for BYTE_ARRAY; `type_length` for FIXED_LEN_BYTE_ARRAY. */
static inline uint32_t firn_parquet_value_width(firn_parquet_physical_type type,
                                                int32_t type_length) {
    switch (type) {
    case FIRN_PARQUET_BOOLEAN: return 1;
    case FIRN_PARQUET_INT32:
    case FIRN_PARQUET_FLOAT: return 4;
    case FIRN_PARQUET_INT64:
    case FIRN_PARQUET_DOUBLE: return 8;
    case FIRN_PARQUET_INT96: return 12;
    case FIRN_PARQUET_BYTE_ARRAY: return 0;
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: return (uint32_t)type_length;
    }
    return 0;
}

#endif
