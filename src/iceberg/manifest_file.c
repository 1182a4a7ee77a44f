/* Helpers on manifests' structs. */
#include <stdlib.h>

#include "avro/reader.h"
#include "iceberg/manifest_internal.h"

const char *firn_file_format_name(firn_file_format format) {
    switch (format) {
    case FIRN_FILE_PARQUET: return "PARQUET";
    case FIRN_FILE_AVRO: return "AVRO";
    case FIRN_FILE_ORC: return "ORC";
    case FIRN_FILE_PUFFIN: return "PUFFIN";
    case FIRN_FILE_OTHER: break;
    }
    return "OTHER";
}

int64_t firn_count_map_get(const firn_count_map *map, int32_t field_id) {
    for (size_t i = 0; i < map->count; i++) {
        if (map->ids[i] == field_id) return map->counts[i] < 0 ? -1 : map->counts[i];
    }
    return -1;
}

bool firn_bound_map_get(const firn_bound_map *map, int32_t field_id, firn_slice *out) {
    for (size_t i = 0; i < map->count; i++) {
        if (map->ids[i] != field_id) continue;
        if (map->bounds[i].data == NULL) return false;
        *out = map->bounds[i];
        return true;
    }
    return false;
}

/** NULL stays NULL; an empty run becomes one that is not. */
static firn_status copy_bytes(const void *data, size_t size, firn_arena *arena, const void **out,
                              firn_error *error) {
    *out = NULL;
    if (data == NULL) return FIRN_OK;
    void *copy = firn_arena_alloc(arena, size + 1, 1);
    if (copy == NULL) return firn_fail_memory(error);
    if (size > 0) memcpy(copy, data, size);
    *out = copy;
    return FIRN_OK;
}

static firn_status copy_slice(firn_slice in, firn_arena *arena, firn_slice *out,
                              firn_error *error) {
    const void *data = NULL;
    FIRN_TRY(copy_bytes(in.data, in.size, arena, &data, error));
    *out = firn_slice_of(data, in.size);
    return FIRN_OK;
}

static firn_status copy_text(const char **text, firn_arena *arena, firn_error *error) {
    if (*text == NULL) return FIRN_OK;
    *text = firn_arena_strdup(arena, *text);
    return *text == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status copy_counts(firn_count_map *map, firn_arena *arena, firn_error *error) {
    const void *ids = NULL;
    const void *counts = NULL;
    FIRN_TRY(copy_bytes(map->ids, map->count * sizeof *map->ids, arena, &ids, error));
    FIRN_TRY(copy_bytes(map->counts, map->count * sizeof *map->counts, arena, &counts, error));
    map->ids = ids;
    map->counts = counts;
    return FIRN_OK;
}

static firn_status copy_bounds(firn_bound_map *map, firn_arena *arena, firn_error *error) {
    const void *ids = NULL;
    FIRN_TRY(copy_bytes(map->ids, map->count * sizeof *map->ids, arena, &ids, error));
    firn_slice *bounds = firn_arena_alloc(arena, map->count, sizeof *bounds);
    if (bounds == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < map->count; i++) {
        FIRN_TRY(copy_slice(map->bounds[i], arena, &bounds[i], error));
    }
    map->ids = ids;
    map->bounds = bounds;
    return FIRN_OK;
}

static firn_status copy_partition(const firn_data_file *file, firn_arena *arena,
                                  firn_data_file *out, firn_error *error) {
    firn_value *values = firn_arena_alloc(arena, file->partition_count, sizeof *values);
    if (values == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < file->partition_count; i++) {
        FIRN_TRY(firn_value_copy(&file->partition[i], arena, &values[i], error));
    }
    out->partition = values;
    return FIRN_OK;
}

firn_status firn_data_file_copy(const firn_data_file *file, firn_arena *arena, firn_data_file *out,
                                firn_error *error) {
    const void *items = NULL;
    *out = *file;
    FIRN_TRY(copy_text(&out->path, arena, error));
    FIRN_TRY(copy_text(&out->format_text, arena, error));
    FIRN_TRY(copy_text(&out->referenced_data_file, arena, error));
    FIRN_TRY(copy_slice(file->key_metadata, arena, &out->key_metadata, error));
    FIRN_TRY(copy_counts(&out->column_sizes, arena, error));
    FIRN_TRY(copy_counts(&out->value_counts, arena, error));
    FIRN_TRY(copy_counts(&out->null_value_counts, arena, error));
    FIRN_TRY(copy_counts(&out->nan_value_counts, arena, error));
    FIRN_TRY(copy_bounds(&out->lower_bounds, arena, error));
    FIRN_TRY(copy_bounds(&out->upper_bounds, arena, error));
    FIRN_TRY(copy_bytes(file->split_offsets, file->split_offset_count * sizeof(int64_t), arena,
                        &items, error));
    out->split_offsets = items;
    FIRN_TRY(copy_bytes(file->equality_ids, file->equality_id_count * sizeof(int32_t), arena,
                        &items, error));
    out->equality_ids = items;
    return copy_partition(file, arena, out, error);
}

/** A header value that is a 32-bit number; anything else is as good as absent. */
static bool header_number(const firn_avro_reader *reader, const char *key, int32_t *out) {
    firn_slice value;
    char text[16];
    if (!firn_avro_reader_metadata(reader, key, &value)) return false;
    if (value.size == 0 || value.size >= sizeof text) return false;
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (*end != '\0' || number < 0 || number > INT32_MAX) return false;
    *out = (int32_t)number;
    return true;
}

firn_status firn_manifest_describe(firn_slice bytes, const char *path, int64_t snapshot_id,
                                   firn_arena *arena, firn_manifest_file *out, firn_error *error) {
    FIRN_TRY(firn_manifest_check_magic(bytes, path, error));
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, path);
    firn_avro_reader *reader = NULL;
    FIRN_TRY(firn_avro_reader_open(&file, 0, &reader, error));
    *out = (firn_manifest_file){.length = (int64_t)bytes.size,
                                .added_snapshot_id = snapshot_id,
                                .has_added_snapshot_id = true,
                                .added_files_count = -1,
                                .existing_files_count = -1,
                                .deleted_files_count = -1,
                                .added_rows_count = -1,
                                .existing_rows_count = -1,
                                .deleted_rows_count = -1};
    header_number(reader, "partition-spec-id", &out->partition_spec_id);
    firn_avro_reader_free(reader);
    out->path = firn_arena_strdup(arena, path);
    return out->path == NULL ? firn_fail_memory(error) : FIRN_OK;
}
