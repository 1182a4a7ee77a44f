/* Deep copies of data files. Those of a large table are many, so that a copy is one allocation, mostly. */
#include "iceberg/manifest.h"

/* Hands out parts of one allocation; with `memory` NULL it only adds up what is needed. */
typedef struct packer {
    uint8_t *memory;
    size_t used;
} packer;

/* Room for `size` bytes at a multiple of `alignment`; sizes are of what lies in memory already, so their sum fits. */
static void *take(packer *pack, size_t size, size_t alignment) {
    pack->used = (pack->used + alignment - 1) / alignment * alignment;
    void *part = pack->memory == NULL ? NULL : pack->memory + pack->used;
    pack->used += size;
    return part;
}

/* NULL stays NULL; an empty run becomes one that is not. */
static void pack_bytes(packer *pack, const void **data, size_t size, size_t alignment) {
    if (*data == NULL) return;
    void *part = take(pack, size == 0 ? 1 : size, alignment);
    if (part == NULL) return;
    if (size > 0) memcpy(part, *data, size);
    *data = part;
}

static void pack_text(packer *pack, const char **text) {
    if (*text == NULL) return;
    const void *data = *text;
    pack_bytes(pack, &data, strlen(*text) + 1, 1);
    *text = data;
}

static void pack_slice(packer *pack, firn_slice *slice) {
    const void *data = slice->data;
    pack_bytes(pack, &data, slice->size, 1);
    slice->data = data;
}

static void pack_ids(packer *pack, const int32_t **ids, size_t count, const int32_t *like,
                     size_t like_count) {
    bool same = like != NULL && count == like_count && *ids != NULL &&
                memcmp(*ids, like, count * sizeof **ids) == 0;
    if (same) {
        if (pack->memory != NULL) *ids = like;
        return;
    }
    const void *data = *ids;
    pack_bytes(pack, &data, count * sizeof **ids, sizeof **ids);
    *ids = data;
}

static void pack_counts(packer *pack, firn_count_map *map, const firn_count_map *like) {
    const void *counts = map->counts;
    pack_bytes(pack, &counts, map->count * sizeof *map->counts, sizeof *map->counts);
    map->counts = counts;
    pack_ids(pack, &map->ids, map->count, like == NULL ? NULL : like->ids,
             like == NULL ? 0 : like->count);
}

static void pack_bounds(packer *pack, firn_bound_map *map, const firn_bound_map *like) {
    if (map->bounds == NULL) return;
    firn_slice *bounds = take(pack, map->count * sizeof *bounds, sizeof(void *));
    for (size_t i = 0; i < map->count; i++) {
        firn_slice bound = map->bounds[i];
        pack_slice(pack, &bound);
        if (bounds != NULL) bounds[i] = bound;
    }
    if (bounds != NULL) map->bounds = bounds;
    pack_ids(pack, &map->ids, map->count, like == NULL ? NULL : like->ids,
             like == NULL ? 0 : like->count);
}

/* The widest alignment first; texts, which have none, between what has some cost a few bytes. */
static void pack_file(packer *pack, firn_data_file *file, const firn_data_file *like) {
    const void *items = file->split_offsets;
    pack_bytes(pack, &items, file->split_offset_count * sizeof(int64_t), sizeof(int64_t));
    file->split_offsets = items;
    pack_counts(pack, &file->column_sizes, like == NULL ? NULL : &like->column_sizes);
    pack_counts(pack, &file->value_counts, like == NULL ? NULL : &like->value_counts);
    pack_counts(pack, &file->null_value_counts, like == NULL ? NULL : &like->null_value_counts);
    pack_counts(pack, &file->nan_value_counts, like == NULL ? NULL : &like->nan_value_counts);
    items = file->equality_ids;
    pack_bytes(pack, &items, file->equality_id_count * sizeof(int32_t), sizeof(int32_t));
    file->equality_ids = items;
    pack_bounds(pack, &file->lower_bounds, like == NULL ? NULL : &like->lower_bounds);
    pack_bounds(pack, &file->upper_bounds, like == NULL ? NULL : &like->upper_bounds);
    pack_slice(pack, &file->key_metadata);
    pack_text(pack, &file->path);
    pack_text(pack, &file->format_text);
    pack_text(pack, &file->referenced_data_file);
}

static firn_status copy_partition(firn_data_file *file, firn_arena *arena, firn_error *error) {
    firn_value *values = firn_arena_alloc(arena, file->partition_count, sizeof *values);
    if (values == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < file->partition_count; i++) {
        FIRN_TRY(firn_value_copy(&file->partition[i], arena, &values[i], error));
    }
    file->partition = values;
    return FIRN_OK;
}

firn_status firn_data_file_copy_like(const firn_data_file *file, const firn_data_file *like,
                                     firn_arena *arena, firn_data_file *out, firn_error *error) {
    packer pack = {0};
    *out = *file;
    pack_file(&pack, out, like);
    pack.memory = firn_arena_alloc(arena, 1, pack.used);
    if (pack.memory == NULL) return firn_fail_memory(error);
    pack.used = 0;
    pack_file(&pack, out, like);
    return copy_partition(out, arena, error);
}

void firn_data_file_drop_metrics(firn_data_file *file) {
    file->column_sizes = file->value_counts = file->null_value_counts = (firn_count_map){0};
    file->lower_bounds = file->upper_bounds = (firn_bound_map){0};
    file->split_offsets = NULL;
    file->split_offset_count = 0;
}

firn_status firn_data_file_copy(const firn_data_file *file, firn_arena *arena, firn_data_file *out,
                                firn_error *error) {
    return firn_data_file_copy_like(file, NULL, arena, out, error);
}
