/** Reading the manifests of a snapshot, and the live files in them. */
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "table/table.h"

/* A manifest is bounded by commit.manifest.target-size-bytes (8 MB) in healthy tables; this is for sick ones. */
#define MAXIMUM_AVRO_FILE ((size_t)4 << 30)

/** v1 without a manifest list: only paths are known; lengths come from the files, counts stay unknown. */
static firn_status embedded_manifests(firn_table *table, const firn_snapshot *snapshot,
                                      firn_arena *arena, const firn_manifest_file **out,
                                      size_t *count, firn_error *error) {
    firn_manifest_file *manifests =
        firn_arena_alloc(arena, snapshot->manifest_count, sizeof *manifests);
    if (manifests == NULL) return firn_fail_memory(error);
    int32_t spec_id = firn_table_metadata_spec(table->metadata, 0) != NULL
                          ? 0
                          : table->metadata->default_spec->spec_id;
    for (size_t i = 0; i < snapshot->manifest_count; i++) {
        firn_storage_stat stat;
        FIRN_TRY(firn_storage_stat_file(table->storage, snapshot->manifests[i], &stat, error));
        manifests[i] = (firn_manifest_file){
            .path = snapshot->manifests[i],
            .length = (int64_t)stat.size,
            .partition_spec_id = spec_id,
            .content = FIRN_CONTENT_DATA,
            .added_files_count = -1,
            .existing_files_count = -1,
            .deleted_files_count = -1,
            .added_rows_count = -1,
            .existing_rows_count = -1,
            .deleted_rows_count = -1,
        };
    }
    *out = manifests;
    *count = snapshot->manifest_count;
    return FIRN_OK;
}

firn_status firn_table_manifests(firn_table *table, const firn_snapshot *snapshot,
                                 firn_arena *arena, const firn_manifest_file **out, size_t *count,
                                 firn_error *error) {
    *out = NULL;
    *count = 0;
    if (snapshot == NULL) return FIRN_OK;
    if (snapshot->manifest_list == NULL) {
        return embedded_manifests(table, snapshot, arena, out, count, error);
    }
    firn_buffer bytes = firn_buffer_with_maximum(MAXIMUM_AVRO_FILE);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_storage_read_all(table->storage, snapshot->manifest_list, &bytes, error));
    FIRN_CHECK(firn_manifest_list_read(firn_buffer_slice(&bytes), snapshot->manifest_list, arena,
                                       out, count, error));
out:
    firn_buffer_release(&bytes);
    return firn_error_wrap(error, status, "table %s: manifest list of snapshot %lld",
                           table->display_name, (long long)snapshot->snapshot_id);
}

firn_status firn_table_read_manifest(firn_table *table, const firn_manifest_file *manifest,
                                     firn_arena *arena, firn_manifest_visitor visit, void *context,
                                     firn_error *error) {
    firn_buffer bytes = firn_buffer_with_maximum(MAXIMUM_AVRO_FILE);
    firn_status status = FIRN_OK;
    const firn_partition_spec *spec =
        firn_table_metadata_spec(table->metadata, manifest->partition_spec_id);
    if (spec == NULL) {
        status = firn_fail(error, FIRN_CORRUPT, "names partition spec %d, which the table lacks",
                           manifest->partition_spec_id);
        goto out;
    }
    if (manifest->key_metadata.data != NULL) {
        status = firn_fail(error, FIRN_UNSUPPORTED, "is encrypted (key_metadata)");
        goto out;
    }
    FIRN_CHECK(firn_storage_read_all(table->storage, manifest->path, &bytes, error));
    FIRN_CHECK(firn_manifest_read(firn_buffer_slice(&bytes), manifest, spec, arena, visit, context,
                                  error));
out:
    firn_buffer_release(&bytes);
    return firn_error_wrap(error, status, "table %s: manifest %s", table->display_name,
                           manifest->path);
}

typedef FIRN_VECTOR(firn_live_file) live_file_vector;

typedef struct live_walk {
    live_file_vector data, deletes;
    size_t manifest_index, ordinal;
    int64_t bytes, rows;
    bool counted_empty; /* the list says that no file of this manifest is live */
} live_walk;

/** Some readers go by the list's counts and skip such a manifest, others read its rows: a table that is two tables can't be told right. */
static firn_status refuse_uncounted(const live_walk *walk, const firn_data_file *file,
                                    firn_error *error) {
    if (!walk->counted_empty) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "file %s is live in it, but the manifest list counts neither added nor "
                     "existing files (added_files_count, existing_files_count)",
                     file->path);
}

/** Whoever adds up live files may rely on it that bytes and rows of all of them fit. */
static firn_status count_live(live_walk *walk, const firn_data_file *file, firn_error *error) {
    if (__builtin_add_overflow(walk->bytes, file->file_size_in_bytes, &walk->bytes)) {
        return firn_fail(error, FIRN_CORRUPT,
                         "file %s: file_size_in_bytes %lld makes the live files larger than 2^63",
                         file->path, (long long)file->file_size_in_bytes);
    }
    if (__builtin_add_overflow(walk->rows, file->record_count, &walk->rows)) {
        return firn_fail(error, FIRN_CORRUPT,
                         "file %s: record_count %lld makes the live rows more than 2^63",
                         file->path, (long long)file->record_count);
    }
    return FIRN_OK;
}

static firn_status visit_live(void *context, const firn_manifest_entry *entry, firn_error *error) {
    live_walk *walk = context;
    size_t ordinal = walk->ordinal++;
    if (entry->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    FIRN_TRY(refuse_uncounted(walk, &entry->file, error));
    FIRN_TRY(count_live(walk, &entry->file, error));
    firn_live_file live = {*entry, walk->manifest_index, ordinal};
    if (entry->file.content == FIRN_CONTENT_DATA) {
        return firn_vector_push(&walk->data, error, live);
    }
    return firn_vector_push(&walk->deletes, error, live);
}

/** Not for skipping it: a commit drops what carries nothing, and a count that lies would drop live files. An unknown count is -1. */
static bool counted_empty(const firn_manifest_file *manifest) {
    return manifest->added_files_count == 0 && manifest->existing_files_count == 0;
}

static firn_status into_arena(const live_file_vector *vector, firn_arena *arena,
                              firn_live_file **out, size_t *count, firn_error *error) {
    *out = firn_arena_alloc(arena, vector->count, sizeof **out);
    if (*out == NULL) return firn_fail_memory(error);
    if (vector->count > 0) memcpy(*out, vector->items, vector->count * sizeof **out);
    *count = vector->count;
    return FIRN_OK;
}

firn_status firn_table_live_files(firn_table *table, const firn_snapshot *snapshot,
                                  firn_live_files *out, firn_error *error) {
    firn_status status = FIRN_OK;
    live_walk walk = {0};
    *out = (firn_live_files){0};
    out->arena = firn_arena_new();
    if (out->arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_table_manifests(table, snapshot, out->arena, &out->manifests,
                                    &out->manifest_count, error));
    for (size_t i = 0; i < out->manifest_count; i++) {
        walk.counted_empty = counted_empty(&out->manifests[i]);
        walk.manifest_index = i;
        walk.ordinal = 0;
        FIRN_CHECK(firn_table_read_manifest(table, &out->manifests[i], out->arena, visit_live,
                                            &walk, error));
    }
    FIRN_CHECK(into_arena(&walk.data, out->arena, &out->data, &out->data_count, error));
    FIRN_CHECK(into_arena(&walk.deletes, out->arena, &out->deletes, &out->delete_count, error));
out:
    firn_vector_release(&walk.data);
    firn_vector_release(&walk.deletes);
    if (status != FIRN_OK) firn_live_files_release(out);
    return status;
}

void firn_live_files_release(firn_live_files *files) {
    firn_arena_free(files->arena);
    *files = (firn_live_files){0};
}
