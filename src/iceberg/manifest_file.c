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
