/** The parts of a metadata document, each parsed into the typed view. Internal to iceberg. */
#ifndef FIRN_ICEBERG_METADATA_PARSE_H
#define FIRN_ICEBERG_METADATA_PARSE_H

#include "iceberg/metadata.h"

/** What messages about a document's own fields begin with; the caller puts the file's name in front. */
#define FIRN_METADATA_WHAT "table metadata"

/** Schemas and current-schema-id, or v1's `schema`; last-column-id. */
firn_status firn_metadata_parse_schemas(firn_table_metadata *metadata, firn_error *error);
/** Partition specs and default-spec-id, or v1's `partition-spec`; last-partition-id. After the schemas. */
firn_status firn_metadata_parse_specs(firn_table_metadata *metadata, firn_error *error);
firn_status firn_metadata_parse_sort_orders(firn_table_metadata *metadata, firn_error *error);
/** Snapshots, current-snapshot-id, refs, next-row-id. */
firn_status firn_metadata_parse_snapshots(firn_table_metadata *metadata, firn_error *error);
/** snapshot-log and metadata-log. */
firn_status firn_metadata_parse_logs(firn_table_metadata *metadata, firn_error *error);

/** One snapshot; texts are borrowed from `json`. */
firn_status firn_snapshot_parse(const json_t *json, firn_arena *arena, firn_snapshot *out,
                                firn_error *error);
/** One snapshot reference; texts are borrowed. */
firn_status firn_snapshot_ref_parse(const char *name, const json_t *json, firn_snapshot_ref *out,
                                    firn_error *error);

/** Fails when an id occurs twice: "`what` N occurs twice". `id_at(items, i)` gives the ids. */
firn_status firn_check_unique(const void *items, size_t count,
                              int64_t (*id_at)(const void *items, size_t index), const char *what,
                              firn_error *error);

#endif
