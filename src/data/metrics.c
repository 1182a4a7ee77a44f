#include "data/metrics.h"

#include <string.h>

#include "base/alloc.h"
#include "data/bound_text.h"
#include "data/plain_value.h"
#include "parquet/statistics.h"

/* Longer than any bound that a chunk gives (parquet/chunk_writer.h). */
#define LONGEST_BOUND ((size_t)64 << 10)

void firn_leaf_totals_init(firn_leaf_totals *totals) {
    *totals = (firn_leaf_totals){.minimum = firn_buffer_with_maximum(LONGEST_BOUND),
                                 .maximum = firn_buffer_with_maximum(LONGEST_BOUND)};
}

void firn_leaf_totals_release(firn_leaf_totals *totals) {
    firn_buffer_release(&totals->minimum);
    firn_buffer_release(&totals->maximum);
}

static firn_status set_bytes(firn_buffer *buffer, firn_slice bytes, firn_error *error) {
    firn_buffer_clear(buffer);
    return firn_buffer_append(buffer, bytes.data, bytes.size, error);
}

/* Keeps the smaller (`sign` -1) or the greater (1) of what is there and `value`. */
static firn_status widen(firn_buffer *bound, bool has_bounds, firn_parquet_order order, int sign,
                         firn_slice value, firn_error *error) {
    if (has_bounds) {
        int compared = firn_parquet_compare(order, value, firn_buffer_slice(bound));
        if ((sign < 0 && compared >= 0) || (sign > 0 && compared <= 0)) return FIRN_OK;
    }
    return set_bytes(bound, value, error);
}

firn_status firn_leaf_totals_add(firn_leaf_totals *totals, const firn_parquet_leaf *leaf,
                                 const firn_parquet_chunk *chunk, firn_error *error) {
    const firn_parquet_chunk_counts *counts = &chunk->counts;
    totals->levels += counts->level_count;
    totals->nulls += counts->null_count;
    totals->compressed_bytes += chunk->metadata.total_compressed_size;
    if (totals->nans >= 0) {
        totals->nans = counts->nan_count < 0 ? -1 : totals->nans + counts->nan_count;
    }
    firn_parquet_order order = firn_parquet_order_of(leaf->node->element);
    int64_t ordered = counts->level_count - counts->null_count;
    if (firn_parquet_order_has_nan(order) && counts->nan_count > 0) ordered -= counts->nan_count;
    if (ordered <= 0) return FIRN_OK;
    /* Engines answer min and max from manifests: a bound of a number that is no value of the file is worse than none. */
    bool text = leaf->node->element->type == FIRN_PARQUET_BYTE_ARRAY;
    totals->bounds_inexact |= counts->bounds_inexact;
    if (counts->minimum.data == NULL || counts->maximum.data == NULL ||
        order == FIRN_PARQUET_ORDER_NONE || (counts->bounds_inexact && !text)) {
        totals->bounds_unknown = true;
        return FIRN_OK;
    }
    FIRN_TRY(widen(&totals->minimum, totals->has_bounds, order, -1, counts->minimum, error));
    FIRN_TRY(widen(&totals->maximum, totals->has_bounds, order, 1, counts->maximum, error));
    totals->has_bounds = true;
    return FIRN_OK;
}

/* What the maps are gathered in, before it is known how many entries each has. */
typedef struct filling {
    firn_arena *arena;
    int32_t *size_ids, *value_ids, *null_ids, *nan_ids, *lower_ids, *upper_ids;
    int64_t *sizes, *values, *nulls, *nans;
    firn_slice *lowers, *uppers;
    firn_data_file *out;
} filling;

static void add_count(firn_count_map *map, int32_t *ids, int64_t *counts, int32_t id,
                      int64_t count) {
    ids[map->count] = id;
    counts[map->count++] = count;
}

static firn_status add_bound(filling *fill, firn_bound_map *map, int32_t *ids, firn_slice *bounds,
                             int32_t id, const firn_value *value, firn_error *error) {
    firn_buffer bytes = firn_buffer_with_maximum(LONGEST_BOUND + 16);
    firn_status status = firn_value_to_bytes(value, &bytes, error);
    if (status == FIRN_OK) {
        /* An empty text is a bound too: its data must not be NULL. */
        uint8_t *copy = firn_arena_alloc(fill->arena, bytes.size + 1, 1);
        if (copy == NULL) {
            status = firn_fail_memory(error);
        } else {
            if (bytes.size > 0) memcpy(copy, bytes.data, bytes.size);
            ids[map->count] = id;
            bounds[map->count++] = firn_slice_of(copy, bytes.size);
        }
    }
    firn_buffer_release(&bytes);
    return status;
}

static firn_status add_lower(filling *fill, const firn_field *field, firn_metrics_mode mode,
                             const firn_leaf_totals *totals, firn_error *error) {
    firn_value value = {0};
    FIRN_TRY(firn_plain_to_value(field->type, firn_buffer_slice(&totals->minimum), &value, error));
    if (mode.kind == FIRN_METRICS_TRUNCATE) firn_bound_truncate(&value, mode.truncate_length);
    if (!firn_bound_is_usable(&value)) return FIRN_OK;
    return add_bound(fill, &fill->out->lower_bounds, fill->lower_ids, fill->lowers, field->id,
                     &value, error);
}

static firn_status add_upper(filling *fill, const firn_field *field, firn_metrics_mode mode,
                             const firn_leaf_totals *totals, firn_error *error) {
    firn_value value = {0};
    FIRN_TRY(firn_plain_to_value(field->type, firn_buffer_slice(&totals->maximum), &value, error));
    if (!firn_bound_is_usable(&value)) return FIRN_OK;
    if (mode.kind == FIRN_METRICS_TRUNCATE) {
        bool exists = false;
        FIRN_TRY(firn_bound_truncate_up(&value, mode.truncate_length, fill->arena, &exists, error));
        if (!exists) return FIRN_OK;
    }
    return add_bound(fill, &fill->out->upper_bounds, fill->upper_ids, fill->uppers, field->id,
                     &value, error);
}

static firn_status fill_leaf(filling *fill, const firn_field *field, firn_metrics_mode mode,
                             const firn_leaf_totals *totals, firn_error *error) {
    firn_data_file *out = fill->out;
    add_count(&out->column_sizes, fill->size_ids, fill->sizes, field->id, totals->compressed_bytes);
    add_count(&out->value_counts, fill->value_ids, fill->values, field->id, totals->levels);
    add_count(&out->null_value_counts, fill->null_ids, fill->nulls, field->id, totals->nulls);
    bool floating = field->type->kind == FIRN_TYPE_FLOAT || field->type->kind == FIRN_TYPE_DOUBLE;
    if (floating && totals->nans >= 0) {
        add_count(&out->nan_value_counts, fill->nan_ids, fill->nans, field->id, totals->nans);
    }
    if (mode.kind == FIRN_METRICS_COUNTS || !totals->has_bounds || totals->bounds_unknown) {
        return FIRN_OK;
    }
    if (mode.kind == FIRN_METRICS_FULL && totals->bounds_inexact) return FIRN_OK;
    FIRN_TRY(add_lower(fill, field, mode, totals, error));
    return add_upper(fill, field, mode, totals, error);
}

static bool has_room(const filling *fill) {
    return fill->size_ids != NULL && fill->value_ids != NULL && fill->null_ids != NULL &&
           fill->nan_ids != NULL && fill->lower_ids != NULL && fill->upper_ids != NULL &&
           fill->sizes != NULL && fill->values != NULL && fill->nulls != NULL &&
           fill->nans != NULL && fill->lowers != NULL && fill->uppers != NULL;
}

firn_status firn_metrics_fill(const firn_schema *schema, const int32_t *leaf_field_ids,
                              const firn_metrics_mode *modes, const firn_leaf_totals *totals,
                              size_t leaf_count, firn_arena *arena, firn_data_file *out,
                              firn_error *error) {
    filling fill = {.arena = arena,
                    .size_ids = firn_arena_alloc(arena, leaf_count, sizeof(int32_t)),
                    .value_ids = firn_arena_alloc(arena, leaf_count, sizeof(int32_t)),
                    .null_ids = firn_arena_alloc(arena, leaf_count, sizeof(int32_t)),
                    .nan_ids = firn_arena_alloc(arena, leaf_count, sizeof(int32_t)),
                    .lower_ids = firn_arena_alloc(arena, leaf_count, sizeof(int32_t)),
                    .upper_ids = firn_arena_alloc(arena, leaf_count, sizeof(int32_t)),
                    .sizes = firn_arena_alloc(arena, leaf_count, sizeof(int64_t)),
                    .values = firn_arena_alloc(arena, leaf_count, sizeof(int64_t)),
                    .nulls = firn_arena_alloc(arena, leaf_count, sizeof(int64_t)),
                    .nans = firn_arena_alloc(arena, leaf_count, sizeof(int64_t)),
                    .lowers = firn_arena_alloc(arena, leaf_count, sizeof(firn_slice)),
                    .uppers = firn_arena_alloc(arena, leaf_count, sizeof(firn_slice)),
                    .out = out};
    if (!has_room(&fill)) return firn_fail_memory(error);
    out->column_sizes = (firn_count_map){fill.size_ids, fill.sizes, 0, true};
    out->value_counts = (firn_count_map){fill.value_ids, fill.values, 0, true};
    out->null_value_counts = (firn_count_map){fill.null_ids, fill.nulls, 0, true};
    out->nan_value_counts = (firn_count_map){fill.nan_ids, fill.nans, 0, true};
    out->lower_bounds = (firn_bound_map){fill.lower_ids, fill.lowers, 0, true};
    out->upper_bounds = (firn_bound_map){fill.upper_ids, fill.uppers, 0, true};
    for (size_t i = 0; i < leaf_count; i++) {
        if (modes[i].kind == FIRN_METRICS_NONE) continue;
        const firn_field *field = firn_schema_find(schema, leaf_field_ids[i]);
        if (field == NULL) {
            return firn_fail(error, FIRN_INVALID, "no column has field id %d", leaf_field_ids[i]);
        }
        firn_status status = fill_leaf(&fill, field, modes[i], &totals[i], error);
        if (status != FIRN_OK) {
            return firn_error_wrap(error, status, "metrics of column \"%s\"", field->name);
        }
    }
    return FIRN_OK;
}
