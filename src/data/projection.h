/**
 * How the columns of an old file become the columns of the table's current schema (specification, "Column Projection"; design 6.1, 7): by field id, by name mapping where
 * the file has no ids, else identity partition value, initial default or null. By structure for lists and maps, all legacy forms too.
 */
#ifndef FIRN_DATA_PROJECTION_H
#define FIRN_DATA_PROJECTION_H

#include "iceberg/manifest.h"
#include "iceberg/name_mapping.h"
#include "parquet/rewrite.h"

/** The Parquet form of an Iceberg schema (appendix A): flat elements, root first, with field ids. In `arena`. */
firn_status firn_parquet_elements_of_schema(const firn_schema *schema, firn_arena *arena,
                                            const firn_parquet_schema_element **out, size_t *count,
                                            firn_error *error);

/** schema.name-mapping.default of a table, in `arena`; *out NULL where it is not set. */
firn_status firn_name_mapping_of_table(const firn_table_metadata *metadata, firn_arena *arena,
                                       const firn_name_mapping **out, firn_error *error);

/** For one input file: a mapping per leaf of the output. In `arena`. */
typedef struct firn_projection {
    firn_parquet_leaf_mapping *mappings; /**< one per output leaf */
    const int32_t *output_field_ids;     /**< the Iceberg id of each output leaf */
    size_t leaf_count;
    bool all_identical; /**< every leaf maps to itself, unchanged */
} firn_projection;

/**
 * UNSUPPORTED or CORRUPT naming file and column: a type that can't be promoted, no ids and no mapping, a structure that can't be aligned, a required column that the file lacks.
 * `output` is built from the elements above; `file_entry` gives identity partition values (`spec` is its spec); `mapping` nullable.
 */
firn_status firn_projection_build(const firn_schema *schema, const firn_parquet_schema *output,
                                  const firn_parquet_file *file, const char *location,
                                  const firn_data_file *file_entry, const firn_partition_spec *spec,
                                  const firn_name_mapping *mapping, int format_version,
                                  firn_arena *arena, firn_projection *out, firn_error *error);

#endif
