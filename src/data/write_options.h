/** write.parquet.* and friends of a table as options of the Parquet writer. */
#ifndef FIRN_DATA_WRITE_OPTIONS_H
#define FIRN_DATA_WRITE_OPTIONS_H

#include "iceberg/metadata.h"
#include "parquet/chunk_writer.h"

typedef struct firn_data_write_options {
    firn_parquet_write_options parquet;
    /** Whether the table says so. Where it does not, a rewrite may keep what most of its input has, so that pages can be copied. */
    bool compression_is_set, page_version_is_set, page_row_limit_is_set;
    int64_t row_group_size_bytes; /**< uncompressed; write.parquet.row-group-size-bytes, 128 MiB */
    int64_t
        row_group_row_limit; /**< write.parquet.row-group-row-limit or .row-group-limit if set, else firn's cap (1,048,576) */
    int64_t target_file_size_bytes; /**< write.target-file-size-bytes, 512 MiB */
} firn_data_write_options;

/** INVALID names a property with a wrong value; UNSUPPORTED a codec that this build can't write, or write.format.default of avro or orc. */
firn_status firn_data_write_options_read(const firn_table_metadata *metadata,
                                         firn_data_write_options *out, firn_error *error);

/**
 * What single leaves ask for, one entry each: by parquet.enable.dictionary (true; for every leaf) and before it
 * write.parquet.dict-encoding-enabled.column.NAME, by write.parquet.stats-enabled.column.NAME
 * (true), write.parquet.bloom-filter-enabled.column.NAME (false), …-fpp.column.NAME (0.01) and write.parquet.bloom-filter-max-bytes
 * (1 MiB). NAME is the leaf's full name, its case as it is in the schema. *out is NULL when the table says nothing of the kind, else in
 * `arena`. Columns that are not there are passed over. INVALID names a property with a wrong value.
 */
firn_status firn_data_column_options(const firn_table_metadata *metadata, const firn_schema *schema,
                                     const int32_t *leaf_field_ids, size_t leaf_count,
                                     firn_arena *arena, const firn_parquet_column_options **out,
                                     firn_error *error);

/** The property `prefix` + `name`; NULL: there is none. */
const firn_property *firn_data_column_property(const firn_table_metadata *metadata,
                                               const char *prefix, const char *name);

/** Whether the table wants statistics of the column, as far as the property can be read. */
bool firn_data_column_has_statistics(const firn_table_metadata *metadata, const char *name);

/** Whether this build can write pages with this codec. */
bool firn_data_can_write_compression(firn_parquet_compression compression);

#endif
