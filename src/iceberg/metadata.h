/**
 * Table metadata (specification, "Table Metadata Fields"), v1 to v3. A parsed document is immutable. The typed view covers what
 * firn works with; the JSON as it came is kept beside it and is what a new version is made from (iceberg/update.h), so that nothing that is
 * not understood gets lost, and untouched snapshots come out as they went in.
 */
#ifndef FIRN_ICEBERG_METADATA_H
#define FIRN_ICEBERG_METADATA_H

#include "iceberg/partition_spec.h"

#define FIRN_NO_SNAPSHOT ((int64_t)-1)

typedef struct firn_snapshot {
    int64_t snapshot_id;
    bool has_parent;
    int64_t parent_snapshot_id;
    int64_t sequence_number; /**< 0 in v1 */
    int64_t timestamp_ms;
    const char *manifest_list;    /**< NULL: v1 with `manifests` */
    const char *const *manifests; /**< v1 only; paths */
    size_t manifest_count;
    const char *operation; /**< NULL: unknown */
    const json_t *summary; /**< object or NULL; borrowed */
    bool has_schema_id;
    int32_t schema_id;
    bool has_first_row_id;
    int64_t first_row_id;
    bool has_added_rows;
    int64_t added_rows;
    bool has_key_id;
    const json_t *json; /**< as it came */
} firn_snapshot;

typedef struct firn_snapshot_ref {
    const char *name;
    int64_t snapshot_id;
    bool is_branch;
    /* -1: not set */
    int64_t min_snapshots_to_keep, max_snapshot_age_ms, max_ref_age_ms;
} firn_snapshot_ref;

typedef struct firn_log_entry {
    int64_t timestamp_ms;
    int64_t snapshot_id;       /**< snapshot log */
    const char *metadata_file; /**< metadata log */
} firn_log_entry;

typedef struct firn_property {
    const char *key, *value;
} firn_property;

typedef struct firn_table_metadata {
    firn_arena *arena;
    json_t *json; /**< the document as it came; owned */
    int format_version;
    const char *table_uuid;       /**< NULL: a v1 table without one */
    const char *location;         /**< without trailing slash */
    int64_t last_sequence_number; /**< 0 in v1 */
    int64_t last_updated_ms;
    int32_t last_column_id; /**< at least every id that occurs */
    const firn_schema *const *schemas;
    size_t schema_count;
    const firn_schema *schema; /**< current */
    const firn_partition_spec *const *specs;
    size_t spec_count;
    const firn_partition_spec *default_spec;
    int32_t last_partition_id; /**< at least every id that occurs; 999 when none */
    const firn_sort_order *const *sort_orders;
    size_t sort_order_count;
    int32_t default_sort_order_id;
    const firn_property *properties;
    size_t property_count;
    const firn_snapshot *snapshots;
    size_t snapshot_count;
    const uint32_t *snapshots_by_id; /**< positions in `snapshots`, rising by id, for the look-up */
    int64_t current_snapshot_id;     /**< FIRN_NO_SNAPSHOT for absent, null and -1 */
    const firn_snapshot_ref *refs;   /**< always has main when there is a current snapshot */
    size_t ref_count;
    const firn_log_entry *snapshot_log;
    size_t snapshot_log_count;
    const firn_log_entry *metadata_log;
    size_t metadata_log_count;
    int64_t next_row_id; /**< v3: at least every row id that a snapshot assigned; 0 otherwise */
    bool has_encryption_keys;
} firn_table_metadata;

/**
 * Parses a metadata file, gzip by its magic bytes. `name` is for messages. CORRUPT names the field; UNSUPPORTED for format versions above 3.
 * Also checks references between ids, uniqueness of ids, that every ref has its snapshot.
 */
firn_status firn_table_metadata_parse(firn_slice bytes, const char *name, firn_table_metadata **out,
                                      firn_error *error);
/** The same; releases the bytes as soon as it can, since such a document may take a lot of memory. */
firn_status firn_table_metadata_parse_buffer(firn_buffer *bytes, const char *name,
                                             firn_table_metadata **out, firn_error *error);
/** Takes over a reference to `document` (also on failure). */
firn_status firn_table_metadata_from_json(json_t *document, const char *name,
                                          firn_table_metadata **out, firn_error *error);
void firn_table_metadata_free(firn_table_metadata *metadata);

/** When a change made on top of `base` at `now_ms` happens: the table's clock never goes back. For snapshot timestamps too. */
int64_t firn_table_metadata_change_time(const firn_table_metadata *base, int64_t now_ms);

/** Serialises metadata->json; with `gzip` compressed. Appends. */
firn_status firn_table_metadata_serialize(const firn_table_metadata *metadata, bool gzip,
                                          firn_buffer *out, firn_error *error);

/* Look-ups; NULL when absent. */
const firn_snapshot *firn_table_metadata_snapshot(const firn_table_metadata *metadata,
                                                  int64_t snapshot_id);
const firn_snapshot_ref *firn_table_metadata_ref(const firn_table_metadata *metadata,
                                                 const char *name);
const firn_schema *firn_table_metadata_schema(const firn_table_metadata *metadata,
                                              int32_t schema_id);
const firn_partition_spec *firn_table_metadata_spec(const firn_table_metadata *metadata,
                                                    int32_t spec_id);
const firn_sort_order *firn_table_metadata_sort_order(const firn_table_metadata *metadata,
                                                      int32_t order_id);
const char *firn_table_metadata_property(const firn_table_metadata *metadata, const char *key);
/** A whole number from a property; `otherwise` when absent; INVALID naming the property when it is no number. */
firn_status firn_table_metadata_property_int(const firn_table_metadata *metadata, const char *key,
                                             int64_t otherwise, int64_t *out, firn_error *error);
firn_status firn_table_metadata_property_bool(const firn_table_metadata *metadata, const char *key,
                                              bool otherwise, bool *out, firn_error *error);

/** Name of the next metadata file's version as catalogs number them: 7 for ".../00006-<uuid>.metadata.json" and "v6.metadata.json"; 0 when the name has no number. */
int64_t firn_metadata_location_version(const char *location);

#endif
