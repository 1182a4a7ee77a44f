/**
 * The structs of parquet.thrift that firn reads and writes, and their compact-protocol form. A parsed footer lives in its
 * arena and is immutable. Unknown Thrift fields are skipped by wire type. Optional members have a `has_` flag.
 */
#ifndef FIRN_PARQUET_METADATA_H
#define FIRN_PARQUET_METADATA_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/read_at.h"
#include "base/slice.h"
#include "parquet/types.h"

/** Highest number of schema nodes, and highest nesting; above: LIMIT. Levels fit a uint8_t. */
#define FIRN_PARQUET_MAX_LEVEL 250

typedef struct firn_parquet_schema_element {
    bool has_type;
    firn_parquet_physical_type type;
    int32_t type_length;
    bool has_repetition;
    firn_parquet_repetition repetition;
    const char *name; /**< zero-terminated; a name with a NUL byte inside is CORRUPT */
    int32_t num_children;
    bool has_field_id;
    int32_t field_id;
    firn_parquet_logical_type logical;
} firn_parquet_schema_element;

typedef struct firn_parquet_statistics {
    bool has_null_count, has_distinct_count;
    int64_t null_count, distinct_count;
    bool has_nan_count; /**< newer writers only */
    int64_t nan_count;
    /* data == NULL: absent. The deprecated pair has no defined order for unsigned types. */
    firn_slice min_value, max_value;
    firn_slice deprecated_min, deprecated_max;
    bool has_min_exact, has_max_exact;
    bool min_exact, max_exact;
} firn_parquet_statistics;

typedef struct firn_parquet_page_encoding_stats {
    firn_parquet_page_type page_type;
    firn_parquet_encoding encoding;
    int32_t count;
} firn_parquet_page_encoding_stats;

typedef struct firn_parquet_key_value {
    const char *key;
    firn_slice value; /**< data == NULL: absent */
} firn_parquet_key_value;

typedef struct firn_parquet_column_chunk {
    /* ColumnMetaData */
    firn_parquet_physical_type type;
    const firn_parquet_encoding *encodings;
    size_t encoding_count;
    const char **path_in_schema;
    size_t path_length;
    firn_parquet_compression compression;
    int64_t num_values; /**< levels, nulls included */
    int64_t total_uncompressed_size, total_compressed_size;
    int64_t data_page_offset; /**< a hint only, see firn_parquet_chunk_range */
    bool has_dictionary_page_offset;
    int64_t dictionary_page_offset;
    firn_parquet_statistics statistics;
    const firn_parquet_page_encoding_stats *encoding_stats;
    size_t encoding_stats_count;
    bool has_bloom_filter;
    int64_t bloom_filter_offset;
    int32_t bloom_filter_length; /**< 0 when the file does not say */
    /* SizeStatistics */
    bool has_unencoded_byte_array_bytes;
    int64_t unencoded_byte_array_bytes;
    const int64_t *repetition_level_histogram; /**< NULL: absent; maximum level + 1 entries */
    size_t repetition_level_histogram_count;
    const int64_t *definition_level_histogram;
    size_t definition_level_histogram_count;
    /* ColumnChunk */
    const char *file_path; /**< not NULL: data in another file, refused by name when read */
    bool has_offset_index, has_column_index;
    int64_t offset_index_offset, column_index_offset;
    int32_t offset_index_length, column_index_length;
    bool encrypted;
    bool has_metadata; /**< false only where `encrypted` */
} firn_parquet_column_chunk;

typedef struct firn_parquet_sorting_column {
    int32_t column_index;
    bool descending, nulls_first;
} firn_parquet_sorting_column;

typedef struct firn_parquet_row_group {
    const firn_parquet_column_chunk *columns; /**< one per leaf, in schema order */
    size_t column_count;
    int64_t total_byte_size; /**< uncompressed */
    int64_t num_rows;
    bool has_total_compressed_size;
    int64_t total_compressed_size;
    const firn_parquet_sorting_column *sorting_columns;
    size_t sorting_column_count;
} firn_parquet_row_group;

typedef struct firn_parquet_file_metadata {
    int32_t version;
    const firn_parquet_schema_element *schema; /**< depth first, root first */
    size_t schema_count;
    int64_t num_rows;
    const firn_parquet_row_group *row_groups;
    size_t row_group_count;
    const firn_parquet_key_value *key_values;
    size_t key_value_count;
    const char *created_by; /**< NULL: absent */
    const uint8_t *
        column_orders; /**< NULL: absent; else one per leaf: 1 = TypeDefinedOrder, 0 = another or unknown */
    size_t column_order_count;
    bool encrypted; /**< encryption_algorithm is set (plaintext footer of an encrypted file) */
} firn_parquet_file_metadata;

typedef struct firn_parquet_page_header {
    firn_parquet_page_type type;
    int32_t uncompressed_size, compressed_size;
    bool has_crc;
    uint32_t crc;
    int32_t num_values;
    firn_parquet_encoding encoding;
    /* v1 */
    firn_parquet_encoding definition_level_encoding, repetition_level_encoding;
    /* v2 */
    int32_t num_nulls, num_rows;
    int32_t definition_levels_size, repetition_levels_size;
    bool is_compressed; /**< true where absent */
    /* dictionary page */
    bool is_sorted;
    firn_parquet_statistics statistics;
} firn_parquet_page_header;

typedef struct firn_parquet_page_location {
    int64_t offset;
    int32_t compressed_page_size; /**< header included */
    int64_t first_row_index;
} firn_parquet_page_location;

typedef struct firn_parquet_offset_index {
    const firn_parquet_page_location *pages;
    size_t page_count;
    const int64_t *unencoded_byte_array_bytes; /**< NULL or one per page */
} firn_parquet_offset_index;

typedef enum firn_parquet_boundary_order {
    FIRN_PARQUET_UNORDERED = 0,
    FIRN_PARQUET_ASCENDING = 1,
    FIRN_PARQUET_DESCENDING = 2
} firn_parquet_boundary_order;

typedef struct firn_parquet_column_index {
    const bool *null_pages;
    const firn_slice *min_values, *max_values;
    size_t page_count;
    firn_parquet_boundary_order boundary_order;
    const int64_t *null_counts; /**< NULL or one per page */
    const int64_t *nan_counts;  /**< NULL or one per page; floating point only */
    const int64_t *repetition_level_histograms, *definition_level_histograms; /**< NULL or absent */
    size_t repetition_level_histograms_count, definition_level_histograms_count;
} firn_parquet_column_index;

/* Reading: everything is copied into `arena`; `name` is for messages. */

/** Reads magic and footer from the end of a file (one read for small files, two otherwise). Encrypted footer: UNSUPPORTED. */
firn_status firn_parquet_read_footer(const firn_read_at *file, firn_arena *arena,
                                     const firn_parquet_file_metadata **out, firn_error *error);
/** The length of the footer's Thrift struct from the last eight bytes or more of a file: *length bytes that end eight before the end. The same errors. */
firn_status firn_parquet_footer_length(firn_slice end, uint64_t file_size, const char *name,
                                       uint64_t *length, firn_error *error);
firn_status firn_parquet_parse_file_metadata(firn_slice thrift, const char *name, firn_arena *arena,
                                             const firn_parquet_file_metadata **out,
                                             firn_error *error);
/** Parses the header at the start of `bytes`; `consumed` is its length. Statistics borrow from `bytes`. No arena. */
firn_status firn_parquet_parse_page_header(firn_slice bytes, const char *name,
                                           firn_parquet_page_header *out, size_t *consumed,
                                           firn_error *error);
firn_status firn_parquet_parse_offset_index(firn_slice bytes, const char *name, firn_arena *arena,
                                            firn_parquet_offset_index *out, firn_error *error);
firn_status firn_parquet_parse_column_index(firn_slice bytes, const char *name, firn_arena *arena,
                                            firn_parquet_column_index *out, firn_error *error);

/* Writing: appends the compact-protocol form. */
firn_status firn_parquet_write_file_metadata(const firn_parquet_file_metadata *metadata,
                                             firn_buffer *out, firn_error *error);
firn_status firn_parquet_write_page_header(const firn_parquet_page_header *header, firn_buffer *out,
                                           firn_error *error);
firn_status firn_parquet_write_offset_index(const firn_parquet_offset_index *index,
                                            firn_buffer *out, firn_error *error);
firn_status firn_parquet_write_column_index(const firn_parquet_column_index *index,
                                            firn_buffer *out, firn_error *error);

#endif
