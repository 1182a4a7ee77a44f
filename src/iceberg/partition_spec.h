/** Partition specs and sort orders (specification, "Partitioning" and "Sorting"). Immutable; in an arena. */
#ifndef FIRN_ICEBERG_PARTITION_SPEC_H
#define FIRN_ICEBERG_PARTITION_SPEC_H

#include "iceberg/transform.h"

typedef struct firn_partition_field {
    int32_t source_id; /**< the first one of several (v3 source-ids) */
    int32_t field_id;  /**< numbered from 1000 by position where a v1 table leaves it out */
    const char *name;
    firn_transform transform;
    /** Bound against the current schema, else the newest one that has the source; NULL when no schema of the table has it. */
    const firn_type *source_type;
    /** NULL where it follows from an unknown source type (identity, truncate, void): then the field is readable only as stored. */
    const firn_type *result_type;
} firn_partition_field;

typedef struct firn_partition_spec {
    int32_t spec_id;
    const firn_partition_field *fields;
    size_t field_count;
} firn_partition_spec;

/** New reference: the list of fields as manifests' `partition-spec` and v1 metadata have it; NULL when memory is out. */
json_t *firn_partition_spec_fields_to_json(const firn_partition_spec *spec);
/** Whether a spec partitions nothing: no fields, or only void ones. */
bool firn_partition_spec_is_unpartitioned(const firn_partition_spec *spec);

typedef struct firn_sort_field {
    int32_t source_id;
    firn_transform transform;
    bool descending, nulls_last;
} firn_sort_field;

typedef struct firn_sort_order {
    int32_t order_id; /**< 0: unsorted */
    const firn_sort_field *fields;
    size_t field_count;
} firn_sort_order;

/** Hive-style path of a partition tuple, URL-encoded as Java does ("a=1/b=x%2Fy"); empty for an unpartitioned spec. Appends. */
firn_status firn_partition_path(const firn_partition_spec *spec, const firn_value *values,
                                firn_buffer *out, firn_error *error);

#endif
