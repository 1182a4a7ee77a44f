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

/** "location: column "a.b" (field id 3): message". */
firn_status firn_projection_fail(const firn_projector *projector, const firn_field *field,
                                 firn_status code, firn_error *error, const char *format, ...)
    FIRN_PRINTF(5, 6);

/* projection_match.c */

/** The columns of a group of the file, in order of what they are found by; equal ones in the file's order. */
typedef struct firn_group_columns firn_group_columns;

/**
 * In the projector's arena. `scope` is the part of the name mapping that holds in the group; NULL: it says nothing there. Fails when nothing of a group can be told apart: no ids, and no mapping or one that names none of its columns.
 */
firn_status firn_match_group(const firn_projector *projector, const firn_parquet_node *group,
                             const firn_name_mapping *scope, const firn_field *owner,
                             const firn_group_columns **out, firn_error *error);

/** The column of the group that is the field: by id, else through the name mapping; *node NULL when the file lacks it. `below` is the mapping for what lies below. */
firn_status firn_match_field(const firn_projector *projector, const firn_group_columns *columns,
                             const firn_field *field, const firn_parquet_node **node,
                             const firn_name_mapping **below, firn_error *error);

/** Repeated node and element of a list (LogicalTypes.md, "Lists"); both are the same node in two-level forms. */
firn_status firn_match_list(const firn_projector *projector, const firn_parquet_node *node,
                            const firn_field *field, const firn_parquet_node **repeated,
                            const firn_parquet_node **element, firn_error *error);

/** Repeated node, key and value of a map (LogicalTypes.md, "Maps"). */
firn_status firn_match_map(const firn_projector *projector, const firn_parquet_node *node,
                           const firn_field *field, const firn_parquet_node **repeated,
                           const firn_parquet_node **key, const firn_parquet_node **value,
                           firn_error *error);

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
