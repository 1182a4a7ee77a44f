/* A manifest, or (first byte odd) a manifest list. */
#include <stdint.h>

#include "iceberg/manifest.h"
#include "iceberg/primitive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static firn_status copy_file(void *context, const firn_manifest_entry *entry, firn_error *error) {
    firn_data_file copy;
    return firn_data_file_copy(&entry->file, context, &copy, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const firn_partition_field field = {.source_id = 1,
                                        .field_id = 1000,
                                        .name = "p",
                                        .transform = {FIRN_TRANSFORM_IDENTITY, 0, "identity"},
                                        .source_type = firn_primitive_type(FIRN_TYPE_STRING),
                                        .result_type = firn_primitive_type(FIRN_TYPE_STRING)};
    const firn_partition_spec spec = {0, &field, 1};
    const firn_manifest_file manifest = {.path = "input.avro", .has_added_snapshot_id = true};
    firn_slice bytes = firn_slice_of(data + 1, size - 1);
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return 0;
    if ((data[0] & 1) != 0) {
        const firn_manifest_file *files = NULL;
        size_t count = 0;
        (void)firn_manifest_list_read(bytes, "input.avro", arena, &files, &count, NULL);
    } else {
        const firn_partition_spec *chosen = (data[0] & 2) != 0 ? &spec : NULL;
        (void)firn_manifest_read(bytes, &manifest, chosen, arena, copy_file, arena, NULL);
    }
    firn_arena_free(arena);
    return 0;
}
