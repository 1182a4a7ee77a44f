/** Files whose rows can be rewritten together. */
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/map.h"
#include "data/data_source.h"
#include "data/projection.h"
#include "upkeep/compact_internal.h"

static firn_status partition_push(firn_compact_partition *part, const firn_live_file *file,
                                  firn_arena *arena, firn_error *error) {
    if (part->count == part->capacity) {
        size_t capacity = part->capacity == 0 ? 8 : part->capacity * 2;
        const firn_live_file **files = firn_arena_alloc(arena, capacity, sizeof *files);
        if (files == NULL) return firn_fail_memory(error);
        if (part->count > 0) memcpy(files, part->files, part->count * sizeof *files);
        part->files = files;
        part->capacity = capacity;
    }
    part->files[part->count++] = file;
    return FIRN_OK;
}

/**
 * Variants that are shredded in different ways have different columns: such files are never rewritten into one. Only the footers tell.
 */
static firn_status append_shapes(const planner *plan, const firn_data_file *file, firn_buffer *key,
                                 firn_error *error) {
    const firn_schema *schema = plan->table->metadata->schema;
    firn_data_source *source = NULL;
    firn_status status;
    if (!firn_type_has_kind(&schema->root, FIRN_TYPE_VARIANT)) return FIRN_OK;
    FIRN_CHECK(firn_cancel_check(error));
    FIRN_CHECK(firn_data_source_open(plan->table->storage, file, &source, error));
    FIRN_CHECK(firn_variant_shapes(schema, firn_data_source_parquet(source)->schema, key, error));
out:
    firn_data_source_close(source);
    return firn_table_error_wrap(plan->table, status, error);
}

static firn_status find_partition(planner *plan, firn_map *map, const firn_data_file *file,
                                  firn_buffer *key, firn_compact_partition **out,
                                  firn_error *error) {
    firn_buffer_clear(key);
    FIRN_TRY(firn_buffer_append(key, &file->spec_id, sizeof file->spec_id, error));
    FIRN_TRY(firn_value_key(file->partition, file->partition_count, key, error));
    FIRN_TRY(append_shapes(plan, file, key, error));
    *out = firn_map_get(map, firn_buffer_slice(key), NULL);
    if (*out != NULL) return FIRN_OK;
    firn_compact_partition *part = firn_arena_alloc(plan->out->arena, 1, sizeof *part);
    if (part == NULL) return firn_fail_memory(error);
    part->spec = firn_table_metadata_spec(plan->table->metadata, file->spec_id);
    part->values = file->partition;
    *out = part;
    return firn_map_set(map, firn_buffer_slice(key), part, error);
}

static int order_values(const firn_value *a, const firn_value *b) {
    if (a->is_null || b->is_null) return (int)b->is_null - (int)a->is_null;
    return firn_value_compare(a, b);
}

/** Oldest rows first: by data sequence number, then as the manifests list them. */
static int order_files(const void *left, const void *right) {
    const firn_live_file *a = *(const firn_live_file *const *)left;
    const firn_live_file *b = *(const firn_live_file *const *)right;
    if (a->entry.sequence_number != b->entry.sequence_number) {
        return a->entry.sequence_number < b->entry.sequence_number ? -1 : 1;
    }
    if (a->manifest_index != b->manifest_index)
        return a->manifest_index < b->manifest_index ? -1 : 1;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static int order_partitions(const void *left, const void *right) {
    const firn_compact_partition *a = *(firn_compact_partition *const *)left;
    const firn_compact_partition *b = *(firn_compact_partition *const *)right;
    if (a->spec->spec_id != b->spec->spec_id) return a->spec->spec_id < b->spec->spec_id ? -1 : 1;
    for (size_t i = 0; i < a->spec->field_count; i++) {
        int order = order_values(&a->values[i], &b->values[i]);
        if (order != 0) return order;
    }
    return order_files(&a->files[0], &b->files[0]);
}

/** Partitions that only the shapes of variants tell apart stand side by side. */
static void mark_split(firn_compact_partition **partitions, size_t count) {
    for (size_t i = 1; i < count; i++) {
        firn_compact_partition *a = partitions[i - 1], *b = partitions[i];
        bool same = a->spec == b->spec;
        for (size_t j = 0; same && j < a->spec->field_count; j++) {
            same = order_values(&a->values[j], &b->values[j]) == 0;
        }
        if (same) a->split = b->split = true;
    }
}

firn_status firn_compact_partitions(planner *plan, firn_compact_partition ***out, size_t *count,
                                    firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 30);
    firn_map *map = firn_map_new();
    if (map == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < plan->out->files.data_count; i++) {
        const firn_live_file *file = &plan->out->files.data[i];
        if (!file->may_match) continue;
        firn_compact_partition *part = NULL;
        FIRN_CHECK(find_partition(plan, map, &file->entry.file, &key, &part, error));
        FIRN_CHECK(partition_push(part, file, plan->out->arena, error));
    }
    *count = firn_map_count(map);
    *out = firn_arena_alloc(plan->out->arena, *count, sizeof **out);
    if (*out == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = firn_map_value_at(map, i);
        qsort((*out)[i]->files, (*out)[i]->count, sizeof *(*out)[i]->files, order_files);
    }
    if (*count > 1) qsort(*out, *count, sizeof **out, order_partitions);
    mark_split(*out, *count);
out:
    firn_buffer_release(&key);
    firn_map_free(map);
    return status;
}
