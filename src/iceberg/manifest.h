/**
 * Manifests and manifest lists as structs (specification, "Manifests", "Snapshots"); all three
 * format versions.
 */
#ifndef FIRN_ICEBERG_MANIFEST_H
#define FIRN_ICEBERG_MANIFEST_H

#include "avro/reader.h"
#include "base/buffer.h"
#include "base/read_at.h"
#include "base/threads.h"
#include "iceberg/metadata.h"

typedef enum firn_content {
    FIRN_CONTENT_DATA = 0,
    FIRN_CONTENT_POSITION_DELETES = 1,
    FIRN_CONTENT_EQUALITY_DELETES = 2
} firn_content;

typedef enum firn_file_format {
    FIRN_FILE_PARQUET,
    FIRN_FILE_AVRO,
    FIRN_FILE_ORC,
    FIRN_FILE_PUFFIN,
    FIRN_FILE_OTHER
} firn_file_format;

/** "PARQUET" …, upper case as manifests have it. */
const char *firn_file_format_name(firn_file_format format);

typedef struct firn_partition_summary {
    bool contains_null;
    bool has_contains_nan, contains_nan;
    firn_slice lower_bound, upper_bound; /**< data == NULL: absent */
} firn_partition_summary;

/** An entry of a manifest list. */
typedef struct firn_manifest_file {
    const char *path;
    int64_t length;
    int32_t partition_spec_id;
    firn_content content;                         /**< DATA or POSITION_DELETES (any deletes) */
    int64_t sequence_number, min_sequence_number; /**< 0 where absent (v1) */
    int64_t added_snapshot_id;
    bool has_added_snapshot_id;
    /* Counts: -1 unknown. */
    int64_t added_files_count, existing_files_count, deleted_files_count;
    int64_t added_rows_count, existing_rows_count, deleted_rows_count;
    const firn_partition_summary *partitions; /**< NULL: absent */
    size_t partition_count;
    firn_slice key_metadata; /**< data == NULL: absent */
    bool has_first_row_id;
    int64_t first_row_id;
} firn_manifest_file;

typedef enum firn_entry_status {
    FIRN_ENTRY_EXISTING = 0,
    FIRN_ENTRY_ADDED = 1,
    FIRN_ENTRY_DELETED = 2
} firn_entry_status;

/**
 * A map from column id to a count, as it stands in the manifest (unknown ids and negative counts
 * kept).
 */
typedef struct firn_count_map {
    const int32_t *ids;
    const int64_t *counts;
    size_t count;
    bool present;
} firn_count_map;

typedef struct firn_bound_map {
    const int32_t *ids;
    const firn_slice *bounds;
    size_t count;
    bool present;
} firn_bound_map;

typedef struct firn_data_file {
    firn_content content;
    const char *path;
    firn_file_format format;
    const char *format_text;
    int32_t spec_id;             /**< of the manifest that holds it */
    const firn_value *partition; /**< one per field of the spec, in the spec's order */
    size_t partition_count;
    int64_t record_count;
    int64_t file_size_in_bytes;
    firn_count_map column_sizes, value_counts, null_value_counts, nan_value_counts;
    firn_bound_map lower_bounds, upper_bounds;
    firn_slice key_metadata; /**< data == NULL: absent */
    const int64_t *split_offsets;
    size_t split_offset_count;
    const int32_t *equality_ids;
    size_t equality_id_count;
    bool has_sort_order_id;
    int32_t sort_order_id;
    bool has_first_row_id;
    int64_t first_row_id;
    const char *referenced_data_file; /**< NULL: absent */
    bool has_content_offset;
    int64_t content_offset, content_size_in_bytes;
} firn_data_file;

/** Whether it is a deletion vector (specification, "Deletion Vectors"). */
static inline bool firn_data_file_is_vector(const firn_data_file *file) {
    return file->content == FIRN_CONTENT_POSITION_DELETES && file->format == FIRN_FILE_PUFFIN;
}

/** An entry with inheritance resolved against its manifest-list entry. */
typedef struct firn_manifest_entry {
    firn_entry_status status;
    bool has_snapshot_id;
    int64_t snapshot_id;
    /** In v2 and later absent only for DELETED entries of careless writers. */
    bool has_sequence_number, has_file_sequence_number;
    int64_t sequence_number; /**< data sequence number */
    int64_t file_sequence_number;
    firn_data_file file;
} firn_manifest_entry;

/* Reading. Bytes of the whole file are given; results live in `arena`. */

firn_status firn_manifest_list_read(firn_slice bytes, const char *name, firn_arena *arena,
                                    const firn_manifest_file **out, size_t *count,
                                    firn_error *error);

/**
 * Called for each entry, DELETED ones too; the entry itself is borrowed until the call returns. A
 * failure stops the walk and is passed up.
 */
typedef firn_status (*firn_manifest_visitor)(void *context, const firn_manifest_entry *entry,
                                             firn_error *error);

/**
 * Walks a manifest. `spec` is table metadata's for manifest->partition_spec_id (the header's schema
 * is never trusted); NULL where the table has lost it: then only a manifest without partition
 * fields is read. Numbers and ids are inherited from `manifest`. Everything an entry points to
 * lives in `arena`, or, where that is NULL, until the visitor returns. CORRUPT names the entry and the field; UNSUPPORTED: the file is encrypted.
 */
firn_status firn_manifest_read(firn_slice bytes, const firn_manifest_file *manifest,
                               const firn_partition_spec *spec, firn_arena *arena,
                               firn_manifest_visitor visit, void *context, firn_error *error);
/** What is read of the metrics of files, which are most of a manifest. */
typedef enum firn_manifest_metrics {
    FIRN_METRICS_ALL,
    /** Counts of NaN; other counts, sizes, bounds and split offsets are absent in every entry: for looking at it, since such an entry can't be written to a manifest again. */
    FIRN_METRICS_NAN_COUNTS
} firn_manifest_metrics;
/** The same for one of many manifests, whose Avro schema is parsed only where it is not the one before's. `known` is nullable. */
firn_status firn_manifest_read_known(firn_slice bytes, const firn_manifest_file *manifest,
                                     const firn_partition_spec *spec, firn_avro_known_schema *known,
                                     firn_manifest_metrics metrics, firn_arena *arena,
                                     firn_manifest_visitor visit, void *context, firn_error *error);

/**
 * The entry that a manifest list would have for a manifest which a v1 snapshot names directly:
 * length, spec id (0 where the file does not say), added by `snapshot_id`, counts unknown.
 */
firn_status firn_manifest_describe(firn_slice bytes, const char *path, int64_t snapshot_id,
                                   firn_arena *arena, firn_manifest_file *out, firn_error *error);

/* Writing. */

typedef struct firn_manifest_writer firn_manifest_writer;

/**
 * A manifest of one spec and content for a table of `format_version`; header keys as the
 * specification lists them. `metadata` and `spec` are borrowed. Deflate.
 */
firn_status firn_manifest_writer_new(const firn_table_metadata *metadata,
                                     const firn_partition_spec *spec, bool deletes,
                                     int64_t snapshot_id, firn_manifest_writer **out,
                                     firn_error *error);
void firn_manifest_writer_free(firn_manifest_writer *writer);
/** Before the first entry: the pool (borrowed) compresses, a few blocks at a time. */
void firn_manifest_writer_use_pool(firn_manifest_writer *writer, firn_pool *pool);
/**
 * ADDED and DELETED entries get the writer's snapshot id, EXISTING ones keep theirs and must have
 * it. ADDED entries are written with null sequence numbers and first row id (to be inherited), but
 * with their data sequence number where `has_sequence_number` is set (rewrites keep it); EXISTING
 * and DELETED with the numbers given. INVALID: an EXISTING entry without data sequence number (v2
 * and later), content of the other kind, a tuple that does not fit the spec.
 */
firn_status firn_manifest_writer_add(firn_manifest_writer *writer, const firn_manifest_entry *entry,
                                     firn_error *error);
/** Estimated size of the file so far, for rolling over at commit.manifest.target-size-bytes. */
size_t firn_manifest_writer_size(const firn_manifest_writer *writer);
size_t firn_manifest_writer_count(const firn_manifest_writer *writer);
/**
 * Appends the finished file to `out` and describes it in `entry` (arena; path is left for the
 * caller, length is set; counts, partition summaries; sequence_number and min_sequence_number -1
 * where they are to be the new snapshot's own: the manifest list writer puts the number in).
 */
firn_status firn_manifest_writer_finish(firn_manifest_writer *writer, firn_buffer *out,
                                        firn_arena *arena, firn_manifest_file *entry,
                                        firn_error *error);

/**
 * Appends a manifest list. `sequence_number` replaces -1 in entries. v3: first row ids are assigned
 * to data manifests without one, from `first_row_id`; *next_row_id (nullable) gets what follows.
 */
firn_status firn_manifest_list_write(const firn_table_metadata *metadata, int64_t snapshot_id,
                                     bool has_parent, int64_t parent_snapshot_id,
                                     int64_t sequence_number, const firn_manifest_file *manifests,
                                     size_t count, int64_t first_row_id, int64_t *next_row_id,
                                     firn_buffer *out, firn_error *error);

/** Deep copy of a data file into an arena. */
firn_status firn_data_file_copy(const firn_data_file *file, firn_arena *arena, firn_data_file *out,
                                firn_error *error);
/**
 * The same, sharing lists of column ids with a copy that lies in the arena already (NULL: none) where they are equal, as those of most files of a manifest are.
 */
firn_status firn_data_file_copy_like(const firn_data_file *file, const firn_data_file *like,
                                     firn_arena *arena, firn_data_file *out, firn_error *error);

/** Leaves out what FIRN_METRICS_NAN_COUNTS does not read. */
void firn_data_file_drop_metrics(firn_data_file *file);

/** Whether two data files are described alike, field by field. */
bool firn_data_file_equal(const firn_data_file *a, const firn_data_file *b);

/** The count of a column, or -1 when absent or negative. */
int64_t firn_count_map_get(const firn_count_map *map, int32_t field_id);
/** The bound of a column; false when absent. */
bool firn_bound_map_get(const firn_bound_map *map, int32_t field_id, firn_slice *out);

#endif
