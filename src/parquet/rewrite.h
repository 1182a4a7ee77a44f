/**
 * Moving one leaf from input chunks to one output chunk, by the cheapest way that is right for each chunk and page
 * (design, section 4.2): copy, else re-encode (decode, map levels, convert, drop rows, encode; dictionaries are remapped).
 * Knows nothing of Iceberg: which input leaf feeds which output leaf, and how, comes in as a mapping.
 */
#ifndef FIRN_PARQUET_REWRITE_H
#define FIRN_PARQUET_REWRITE_H

#include "parquet/chunk_writer.h"

/** How an input value becomes an output value. */
typedef enum firn_parquet_conversion {
    FIRN_PARQUET_CONVERT_NONE, /**< same physical type and meaning */
    FIRN_PARQUET_CONVERT_INT32_TO_INT64,
    FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE,
    FIRN_PARQUET_CONVERT_DECIMAL, /**< between INT32, INT64, FIXED and BYTE_ARRAY forms of one scale; out of range: CORRUPT */
    FIRN_PARQUET_CONVERT_INT96_TO_MICROS,
    FIRN_PARQUET_CONVERT_SCALE_UP, /**< int64 × factor (millis → micros …), overflow: CORRUPT */
    FIRN_PARQUET_CONVERT_SCALE_DOWN, /**< int64 floor-divided by factor (nanos → micros); used only where the table's type is the coarser one */
    FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS /**< int32 millis → int64 micros */
} firn_parquet_conversion;

/** For one output leaf and one input file. */
typedef struct firn_parquet_leaf_mapping {
    /** The input leaf that gives levels (and values, unless levels_only); -1: no leaf at all, every row is one null (or `constant`) at definition level `absent_definition_level`. */
    int32_t input_leaf;
    bool levels_only; /**< a sibling's levels stand in for a missing leaf */
    uint8_t
        kept_repetition_level; /**< levels_only: entries with a higher repetition level are left out */
    uint8_t absent_definition_level;
    /** Output definition level for each input definition level (0 … input maximum). FIRN_PARQUET_FORBIDDEN_LEVEL: a null under a required field, CORRUPT, naming file and column. */
    uint8_t definition_level_map[FIRN_PARQUET_MAX_LEVEL + 2];
    bool levels_identical; /**< the map is the identity and both maxima agree */
    firn_parquet_conversion conversion;
    int64_t factor;
    /** levels_only or input_leaf -1: the value wherever the mapped level is the output's maximum (initial default), PLAIN form; data == NULL: none. */
    firn_slice constant;
} firn_parquet_leaf_mapping;

#define FIRN_PARQUET_FORBIDDEN_LEVEL 255

/** A run of rows of one input row group. */
typedef struct firn_parquet_piece {
    const firn_parquet_file *file;
    size_t row_group;
    int64_t first_row, row_count;              /**< within the row group */
    const firn_parquet_leaf_mapping *mappings; /**< one per output leaf */
    /** One per output leaf, or NULL: NaN count of the whole row group if known from elsewhere, -1 unknown. */
    const int64_t *nan_counts;
} firn_parquet_piece;

typedef struct firn_parquet_rewrite_options {
    bool copy_pages; /**< false: always decode and encode */
} firn_parquet_rewrite_options;

/** What the inputs held, counted while they were read, independent of the writer's own counts. */
typedef struct firn_parquet_rewrite_counts {
    int64_t rows, levels, nulls; /**< in terms of the output leaf, after mapping */
    int64_t pages_copied, pages_encoded;
    int64_t bytes_copied, bytes_encoded; /**< compressed input bytes */
} firn_parquet_rewrite_counts;

/** Builds output leaf `leaf_index` of a row group from all pieces in order. Thread-safe for different outputs. */
firn_status firn_parquet_rewrite_leaf(const firn_parquet_piece *pieces, size_t piece_count,
                                      const firn_parquet_schema *output, size_t leaf_index,
                                      const firn_parquet_write_options *options,
                                      const firn_parquet_rewrite_options *rewrite_options,
                                      firn_parquet_chunk *out, firn_parquet_rewrite_counts *counts,
                                      firn_error *error);

#endif
