/** Shared by the parts of projection. Internal to data. */
#ifndef FIRN_DATA_PROJECTION_INTERNAL_H
#define FIRN_DATA_PROJECTION_INTERNAL_H

#include "data/level_walk.h"
#include "data/projection.h"

typedef struct firn_projector {
    const firn_schema *schema;
    const firn_parquet_schema *output;
    const firn_parquet_file *file;
    const char *location;
    const firn_data_file *entry;     /**< nullable: no partition values */
    const firn_partition_spec *spec; /**< nullable, likewise */
    int format_version;
    firn_arena *arena;
    firn_parquet_leaf_mapping *mappings;
} firn_projector;

/** The part of a name mapping that holds below a node; `fields` NULL: the mapping says nothing about it. */
typedef struct firn_mapping_scope {
    const firn_mapped_field *fields;
    size_t field_count;
} firn_mapping_scope;

/** "location: column "a.b" (field id 3): message". */
firn_status firn_projection_fail(const firn_projector *projector, const firn_field *field,
                                 firn_status code, firn_error *error, const char *format, ...)
    FIRN_PRINTF(5, 6);

/* projection_match.c */

/** The child of `group` that is the field: by id, else through the name mapping; *node NULL when the file lacks it. `below` is the mapping for what lies below. */
firn_status firn_match_field(const firn_projector *projector, const firn_parquet_node *group,
                             firn_mapping_scope scope, const firn_field *field,
                             const firn_parquet_node **node, firn_mapping_scope *below,
                             firn_error *error);

/** Fails when nothing of a group can be told apart: no ids, and no mapping or one that names none of its columns. */
firn_status firn_match_check_group(const firn_projector *projector, const firn_parquet_node *group,
                                   firn_mapping_scope scope, const firn_field *owner,
                                   firn_error *error);

/** Repeated node and element of a list (LogicalTypes.md, "Lists"); both are the same node in two-level forms. */
firn_status firn_match_list(const firn_projector *projector, const firn_parquet_node *node,
                            const firn_field *field, const firn_parquet_node **repeated,
                            const firn_parquet_node **element, firn_error *error);

/** Repeated node, key and value of a map (LogicalTypes.md, "Maps"). */
firn_status firn_match_map(const firn_projector *projector, const firn_parquet_node *node,
                           const firn_field *field, const firn_parquet_node **repeated,
                           const firn_parquet_node **key, const firn_parquet_node **value,
                           firn_error *error);

/** The mapping below an entry called "element", "key" or "value". */
firn_mapping_scope firn_scope_of_name(firn_mapping_scope scope, const char *name);

/* projection_types.c */

/** How values of a file's leaf become those of a primitive field. UNSUPPORTED names file, column and both types. */
firn_status firn_projection_conversion(const firn_projector *projector, const firn_field *field,
                                       const firn_parquet_schema_element *input,
                                       const firn_parquet_schema_element *output,
                                       firn_parquet_conversion *conversion, int64_t *factor,
                                       firn_error *error);

/* projection_missing.c */

/**
 * A field that the file lacks. `anchor` is the nearest ancestor that the file has (its root for top-level fields) and `walk` the account at it.
 * Identity partition value, else initial default, else null.
 */
firn_status firn_projection_missing(const firn_projector *projector, const firn_field *field,
                                    const firn_parquet_node *output,
                                    const firn_parquet_node *anchor, const firn_level_walk *walk,
                                    firn_error *error);

/** A field that is null in every row, whatever its default: the file says so. */
firn_status firn_projection_all_null(const firn_projector *projector, const firn_field *field,
                                     const firn_parquet_node *output,
                                     const firn_parquet_node *anchor, const firn_level_walk *walk,
                                     firn_error *error);

#endif
