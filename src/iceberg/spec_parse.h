/** Partition specs and sort orders from JSON (specification, appendix C). Internal to iceberg. */
#ifndef FIRN_ICEBERG_SPEC_PARSE_H
#define FIRN_ICEBERG_SPEC_PARSE_H

#include "base/map.h"
#include "iceberg/partition_spec.h"

/** Finds the type of a source column: in the current schema, else in the newest one that has it. */
typedef struct firn_binding {
    const firn_schema *current;
    const firn_schema *const *schemas; /**< all of the table's, oldest first */
    size_t schema_count;
    firn_map *types; /**< field id to firn_type, filled at first need; free with firn_map_free */
} firn_binding;

/**
 * The fields of a spec. `field_ids_optional` (v1): absent ids are numbered from 1000 by position.
 * Messages begin with the field; the caller adds file and spec.
 */
firn_status firn_partition_fields_parse(const json_t *list, bool field_ids_optional,
                                        firn_binding *binding, firn_arena *arena,
                                        firn_partition_spec *spec, firn_error *error);

/** A sort order with its fields, not bound to any schema (old orders may name columns that are gone). */
firn_status firn_sort_order_parse(const json_t *json, firn_arena *arena, firn_sort_order *out,
                                  firn_error *error);

#endif
