/** Reading the manifests of a snapshot. */
#include <string.h>

#include "base/alloc.h"
#include "table/table.h"

/* A manifest is bounded by commit.manifest.target-size-bytes (8 MB) in healthy tables; this is for sick ones. */
#define MAXIMUM_AVRO_FILE ((size_t)4 << 30)

static firn_status describe_manifest(firn_table *table, const firn_snapshot *snapshot,
                                     const char *path, firn_arena *arena, firn_manifest_file *out,
                                     firn_error *error) {
    firn_buffer bytes = firn_buffer_with_maximum(MAXIMUM_AVRO_FILE);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_storage_read_all(table->storage, path, &bytes, error));
    FIRN_CHECK(firn_manifest_describe(firn_buffer_slice(&bytes), path, snapshot->snapshot_id, arena,
                                      out, error));
out:
    firn_buffer_release(&bytes);
    return firn_error_wrap(error, status, "table %s: manifest %s", table->display_name, path);
}

/** v1 without a manifest list: only paths are known; the rest is what the files say, and counts stay unknown. */
static firn_status embedded_manifests(firn_table *table, const firn_snapshot *snapshot,
                                      firn_arena *arena, const firn_manifest_file **out,
                                      size_t *count, firn_error *error) {
    firn_manifest_file *manifests =
        firn_arena_alloc(arena, snapshot->manifest_count, sizeof *manifests);
    if (manifests == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < snapshot->manifest_count; i++) {
        FIRN_TRY(describe_manifest(table, snapshot, snapshot->manifests[i], arena, &manifests[i],
                                   error));
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
    return firn_table_read_manifest_known(table, manifest, NULL, FIRN_METRICS_ALL, arena, visit,
                                          context, error);
}

firn_status firn_table_read_manifest_known(firn_table *table, const firn_manifest_file *manifest,
                                           firn_avro_known_schema *known,
                                           firn_manifest_metrics metrics, firn_arena *arena,
                                           firn_manifest_visitor visit, void *context,
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
    FIRN_CHECK(firn_manifest_read_known(firn_buffer_slice(&bytes), manifest, spec, known, metrics,
                                        arena, visit, context, error));
out:
    firn_buffer_release(&bytes);
    return firn_error_wrap(error, status, "table %s: manifest %s", table->display_name,
                           manifest->path);
}
