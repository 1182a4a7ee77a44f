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
    FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS, /**< int32 millis → int64 micros */
    FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP /**< int32 days × factor → int64, overflow: CORRUPT */
} firn_parquet_conversion;

/** What nulls of a flat, optional INT64 leaf become, and all of it where the file lacks the leaf. */
typedef enum firn_parquet_fill {
    FIRN_PARQUET_FILL_NONE,
    FIRN_PARQUET_FILL_VALUE,     /**< the piece's fill value */
    FIRN_PARQUET_FILL_ROW_NUMBER /**< the piece's fill value + the row's number in its file, from 0 */
} firn_parquet_fill;

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
    firn_parquet_fill fill;
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
    /** Rows of the row group that go, ascending, each once; those outside of the run don't matter. */
    const int64_t *dropped_rows;
    size_t dropped_count;
    /** One per output leaf, or NULL: for mappings with a fill; -1: nulls stay null. */
    const int64_t *fill_values;
} firn_parquet_piece;

/** What came of merging the dictionaries of a leaf's pieces: that of the first ones, or of all, or that it does not pay. */
typedef struct firn_parquet_merged firn_parquet_merged;

/** NULL is allowed. */
void firn_parquet_merged_free(firn_parquet_merged *merged);
/** Bytes of memory that it takes. */
size_t firn_parquet_merged_size(const firn_parquet_merged *merged);

/** Pages of frames that hold less are slower to read than pages of one frame. */
#define FIRN_PARQUET_SMALLEST_JOINED_BYTES ((int64_t)16 << 10)

typedef struct firn_parquet_rewrite_options {
    bool copy_pages;      /**< false: always decode and encode */
    bool no_joined_pages; /**< for readers that can't take several compressed pieces in one page */
    /** Raw bytes below which compressed values are decoded, where each piece of a joined page is a frame with tables of its own (zstd). */
    int64_t smallest_joined_bytes;
    /** NULL, or what firn_parquet_measure_dictionaries found for this leaf and these pieces, or for more that follow them, so that it is not done again. Its dictionary is taken out of it. */
    firn_parquet_merged *merged;
} firn_parquet_rewrite_options;

/** How a page's bytes went over; cheapest first, but for the last. */
typedef enum firn_parquet_way {
    FIRN_PARQUET_WAY_COPIED, /**< the page as it was */
    FIRN_PARQUET_WAY_MOVED,  /**< a dictionary's body became a PLAIN page, its indices went */
    FIRN_PARQUET_WAY_JOINED, /**< compressed values as they were, on a page with new levels or neighbours */
    FIRN_PARQUET_WAY_RECOMPRESSED, /**< encoded values as they were, in another codec */
    FIRN_PARQUET_WAY_REMAPPED, /**< dictionary indices translated into the merged dictionary's */
    FIRN_PARQUET_WAY_ENCODED,  /**< decoded and encoded */
    FIRN_PARQUET_WAY_LEFT_OUT, /**< all rows of the page go; not decompressed */
    FIRN_PARQUET_WAY_COUNT
} firn_parquet_way;

/** Why a page was decoded and encoded. */
typedef enum firn_parquet_reason {
    FIRN_PARQUET_REASON_OFF,    /**< copying is switched off */
    FIRN_PARQUET_REASON_ROWS,   /**< the row group is cut, or has rows that go */
    FIRN_PARQUET_REASON_TYPE,   /**< the physical type changes, or the values come from nowhere */
    FIRN_PARQUET_REASON_LEVELS, /**< levels inside the compressed bytes, v1, would have to change */
    FIRN_PARQUET_REASON_CODEC,  /**< another codec, and levels inside the compressed bytes */
    FIRN_PARQUET_REASON_VERSION, /**< another page version, and levels inside the compressed bytes */
    FIRN_PARQUET_REASON_SMALL,   /**< too small a page, and its codec or version can't be joined */
    FIRN_PARQUET_REASON_ENCODING,       /**< an encoding that can't be copied */
    FIRN_PARQUET_REASON_DICTIONARY,     /**< a dictionary that does not pay, or outgrew its limit */
    FIRN_PARQUET_REASON_NEW_DICTIONARY, /**< PLAIN values that get a dictionary */
    FIRN_PARQUET_REASON_ROW_START,      /**< the page may begin within a row */
    FIRN_PARQUET_REASON_HEADER,         /**< the page header's numbers contradict each other */
    FIRN_PARQUET_REASON_COUNT
} firn_parquet_reason;

/** Snake case for programs, never NULL. */
const char *firn_parquet_way_name(firn_parquet_way way);
const char *firn_parquet_reason_name(firn_parquet_reason reason);

typedef struct firn_parquet_tally {
    int64_t pages, bytes; /**< of input, compressed */
} firn_parquet_tally;

/** What the inputs held, counted while they were read, independent of the writer's own counts. */
typedef struct firn_parquet_rewrite_counts {
    int64_t rows, levels, nulls; /**< that stay, in terms of the output leaf, after mapping */
    int64_t pages_copied, pages_encoded; /**< sums: the first three ways, and the three after */
    int64_t bytes_copied,
        bytes_encoded; /**< compressed input bytes, likewise; page headers left out */
    firn_parquet_tally ways[FIRN_PARQUET_WAY_COUNT];
    firn_parquet_tally reasons[FIRN_PARQUET_REASON_COUNT]; /**< of FIRN_PARQUET_WAY_ENCODED */
} firn_parquet_rewrite_counts;

/** Adds `more` to `sum`. */
void firn_parquet_rewrite_counts_add(firn_parquet_rewrite_counts *sum,
                                     const firn_parquet_rewrite_counts *more);

/** How far the dictionaries of a leaf's pieces would go. */
typedef struct firn_parquet_dictionary_reach {
    bool outgrows; /**< a merged dictionary pays, but not all pieces fit below its limit */
    int64_t rows;  /**< row_count of the pieces, from the first on, whose dictionaries fit */
    int64_t
        rows_at_twice; /**< … with twice the limit, or more where PLAIN values would be far larger; or as many as the shortest part has */
    int64_t plain_bytes;         /**< about what all values would take without a dictionary */
    firn_parquet_merged *merged; /**< owned by the caller; NULL where nothing had to be merged */
} firn_parquet_dictionary_reach;

/**
 * Tells, by merging dictionaries and nothing else, whether cutting the row group would keep the leaf's dictionary below
 * options->dictionary_size_bytes. Reads nothing where the footers say that all fit.
 */
firn_status firn_parquet_measure_dictionaries(const firn_parquet_piece *pieces, size_t piece_count,
                                              const firn_parquet_schema *output, size_t leaf_index,
                                              const firn_parquet_write_options *options,
                                              const firn_parquet_rewrite_options *rewrite_options,
                                              firn_parquet_dictionary_reach *out,
                                              firn_error *error);

/** Row groups of fewer rows are not cut for a dictionary's sake, if the leaf's values are not large; below twice as many, twice the limit is let be. */
#define FIRN_PARQUET_FEWEST_ROWS_OF_CUT ((int64_t)250000)

/** Builds output leaf `leaf_index` of a row group from all pieces in order. Thread-safe for different outputs. */
firn_status firn_parquet_rewrite_leaf(const firn_parquet_piece *pieces, size_t piece_count,
                                      const firn_parquet_schema *output, size_t leaf_index,
                                      const firn_parquet_write_options *options,
                                      const firn_parquet_rewrite_options *rewrite_options,
                                      firn_parquet_chunk *out, firn_parquet_rewrite_counts *counts,
                                      firn_error *error);

#endif
