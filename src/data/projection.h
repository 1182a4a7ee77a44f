/**
 * How the columns of an old file become the columns of the table's current schema (specification, "Column Projection"; design 6.1, 7): by field id, by name mapping where
 * the file has no ids, else identity partition value, initial default or null. By structure for lists and maps, all legacy forms too.
 */
#ifndef FIRN_DATA_PROJECTION_H
#define FIRN_DATA_PROJECTION_H

#include "iceberg/manifest.h"
#include "iceberg/name_mapping.h"
#include "parquet/rewrite.h"

/**
 * A column's name in the form that Iceberg's own writers give it in Parquet (Avro's rules for names): another character becomes "_x" and its code, a leading
 * digit gets "_" before it. Readers go by field id; bytes beyond ASCII stay. In `arena`; NULL when memory is out.
 */
const char *firn_parquet_column_name(const char *name, firn_arena *arena);

/** The Parquet form of an Iceberg schema (appendix A): flat elements, root first, with field ids. In `arena`. */
firn_status firn_parquet_elements_of_schema(const firn_schema *schema, firn_arena *arena,
                                            const firn_parquet_schema_element **out, size_t *count,
                                            firn_error *error);

/**
 * The same, but variants have the columns that they have in the file `like`: shredded alike, data can be moved as it is. NULL, or a file without the
 * column: unshredded.
 */
firn_status firn_parquet_elements_like(const firn_schema *schema, const firn_parquet_schema *like,
                                       firn_arena *arena, const firn_parquet_schema_element **out,
                                       size_t *count, firn_error *error);

/* Variants (variant_shape.c). */

/** The group that holds a variant column, by field id; NULL when the file lacks it. */
const firn_parquet_node *firn_variant_node(const firn_parquet_schema *schema, int32_t field_id);
/** Whether the leaf is one of those that make up a variant. */
bool firn_variant_holds_leaf(const firn_parquet_leaf *leaf);
/** Whether two columns within variants, what lies below them left aside, are the same. */
bool firn_variant_same_column(const firn_parquet_node *a, const firn_parquet_node *b);
/** Appends a key of how the file stores each variant of the schema: files with equal keys can be rewritten together. Nothing for a schema without variants. */
firn_status firn_variant_shapes(const firn_schema *schema, const firn_parquet_schema *file,
                                firn_buffer *out, firn_error *error);

/** schema.name-mapping.default of a table, in `arena`; *out NULL where it is not set. */
firn_status firn_name_mapping_of_table(const firn_table_metadata *metadata, firn_arena *arena,
                                       const firn_name_mapping **out, firn_error *error);

/** The Iceberg ids of the leaves of an output, -1 for those within a variant. In `arena`; NULL when memory is out. */
int32_t *firn_projection_leaf_ids(const firn_parquet_schema *output, firn_arena *arena);

/** For one input file: a mapping per leaf of the output. In `arena`. */
typedef struct firn_projection {
    firn_parquet_leaf_mapping *mappings; /**< one per output leaf */
    const int32_t *output_field_ids; /**< the Iceberg id of each output leaf; -1 within a variant */
    size_t leaf_count;
    bool all_identical; /**< every leaf maps to itself, unchanged */
} firn_projection;

/**
 * UNSUPPORTED or CORRUPT naming file and column: a type that can't be promoted, no ids and no mapping, a structure that can't be aligned, a required column that the file lacks.
 * Columns of row lineage (iceberg/lineage.h) get their fill. `output` is built from the elements above; `file_entry` gives identity partition values (`spec` is its spec); `mapping` nullable.
 */
firn_status firn_projection_build(const firn_schema *schema, const firn_parquet_schema *output,
                                  const firn_parquet_file *file, const char *location,
                                  const firn_data_file *file_entry, const firn_partition_spec *spec,
                                  const firn_name_mapping *mapping, int format_version,
                                  firn_arena *arena, firn_projection *out, firn_error *error);

#endif
