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
    firn_buffer bytes; /* of one bound */
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
    firn_buffer_clear(&fill->bytes);
    FIRN_TRY(firn_value_to_bytes(value, &fill->bytes, error));
    /* An empty text is a bound too: its data must not be NULL. */
    uint8_t *copy = firn_arena_alloc(fill->arena, fill->bytes.size + 1, 1);
    if (copy == NULL) return firn_fail_memory(error);
    if (fill->bytes.size > 0) memcpy(copy, fill->bytes.data, fill->bytes.size);
    ids[map->count] = id;
    bounds[map->count++] = firn_slice_of(copy, fill->bytes.size);
    return FIRN_OK;
}

static firn_status add_lower(filling *fill, const firn_column_metrics *column, firn_error *error) {
    firn_value value = column->lower;
    if (!column->has_lower || !firn_bound_is_usable(&value)) return FIRN_OK;
    if (column->mode.kind == FIRN_METRICS_TRUNCATE) {
        firn_bound_truncate(&value, column->mode.truncate_length);
    }
    return add_bound(fill, &fill->out->lower_bounds, fill->lower_ids, fill->lowers,
                     column->field->id, &value, error);
}

static firn_status add_upper(filling *fill, const firn_column_metrics *column, firn_error *error) {
    firn_value value = column->upper;
    if (!column->has_upper || !firn_bound_is_usable(&value)) return FIRN_OK;
    if (column->mode.kind == FIRN_METRICS_TRUNCATE) {
        bool exists = false;
        FIRN_TRY(firn_bound_truncate_up(&value, column->mode.truncate_length, fill->arena, &exists,
                                        error));
        if (!exists) return FIRN_OK;
    }
    return add_bound(fill, &fill->out->upper_bounds, fill->upper_ids, fill->uppers,
                     column->field->id, &value, error);
}

static firn_status add_column(filling *fill, const firn_column_metrics *column, firn_error *error) {
    if (column->mode.kind == FIRN_METRICS_NONE) return FIRN_OK;
    firn_data_file *out = fill->out;
    int32_t id = column->field->id;
    firn_type_kind kind = column->field->type->kind;
    add_count(&out->column_sizes, fill->size_ids, fill->sizes, id, column->compressed_bytes);
    add_count(&out->value_counts, fill->value_ids, fill->values, id, column->values);
    if (column->mode.kind == FIRN_METRICS_SIZES) return FIRN_OK;
    if (column->nulls >= 0) {
        add_count(&out->null_value_counts, fill->null_ids, fill->nulls, id, column->nulls);
    }
    if ((kind == FIRN_TYPE_FLOAT || kind == FIRN_TYPE_DOUBLE) && column->nans >= 0) {
        add_count(&out->nan_value_counts, fill->nan_ids, fill->nans, id, column->nans);
    }
    if (column->mode.kind == FIRN_METRICS_COUNTS) return FIRN_OK;
    firn_status status = add_lower(fill, column, error);
    if (status == FIRN_OK) status = add_upper(fill, column, error);
    return firn_error_wrap(error, status, "metrics of column \"%s\"", column->field->name);
}

/* Room for `count` entries in each map. */
static firn_status begin_maps(filling *fill, size_t count, firn_error *error) {
    int32_t **ids[] = {&fill->size_ids, &fill->value_ids, &fill->null_ids,
                       &fill->nan_ids,  &fill->lower_ids, &fill->upper_ids};
    int64_t **counts[] = {&fill->sizes, &fill->values, &fill->nulls, &fill->nans};
    firn_slice **bounds[] = {&fill->lowers, &fill->uppers};
    bool failed = false;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        *ids[i] = firn_arena_alloc(fill->arena, count, sizeof **ids[i]);
        failed |= *ids[i] == NULL;
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] = firn_arena_alloc(fill->arena, count, sizeof **counts[i]);
        failed |= *counts[i] == NULL;
    }
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        *bounds[i] = firn_arena_alloc(fill->arena, count, sizeof **bounds[i]);
        failed |= *bounds[i] == NULL;
    }
    if (failed) return firn_fail_memory(error);
    firn_data_file *out = fill->out;
    out->column_sizes = (firn_count_map){fill->size_ids, fill->sizes, 0, true};
    out->value_counts = (firn_count_map){fill->value_ids, fill->values, 0, true};
    out->null_value_counts = (firn_count_map){fill->null_ids, fill->nulls, 0, true};
    out->nan_value_counts = (firn_count_map){fill->nan_ids, fill->nans, 0, true};
    out->lower_bounds = (firn_bound_map){fill->lower_ids, fill->lowers, 0, true};
    out->upper_bounds = (firn_bound_map){fill->upper_ids, fill->uppers, 0, true};
    return FIRN_OK;
}

firn_status firn_metrics_of_columns(const firn_column_metrics *columns, size_t count,
                                    firn_arena *arena, firn_data_file *out, firn_error *error) {
    filling fill = {.arena = arena, .bytes = firn_buffer_with_maximum(SIZE_MAX), .out = out};
    firn_status status = begin_maps(&fill, count, error);
    for (size_t i = 0; i < count && status == FIRN_OK; i++) {
        status = add_column(&fill, &columns[i], error);
    }
    firn_buffer_release(&fill.bytes);
    return status;
}

static firn_status column_of(const firn_leaf_totals *totals, firn_column_metrics *out,
                             firn_error *error) {
    out->compressed_bytes = totals->compressed_bytes;
    out->values = totals->levels;
    out->nulls = totals->nulls;
    out->nans = totals->nans;
    if (out->mode.kind <= FIRN_METRICS_COUNTS || !totals->has_bounds || totals->bounds_unknown ||
        (out->mode.kind == FIRN_METRICS_FULL && totals->bounds_inexact)) {
        return FIRN_OK;
    }
    const firn_type *type = out->field->type;
    firn_status status =
        firn_plain_to_value(type, firn_buffer_slice(&totals->minimum), &out->lower, error);
    if (status == FIRN_OK) {
        status = firn_plain_to_value(type, firn_buffer_slice(&totals->maximum), &out->upper, error);
    }
    out->has_lower = out->has_upper = status == FIRN_OK;
    return firn_error_wrap(error, status, "metrics of column \"%s\"", out->field->name);
}

firn_status firn_metrics_fill(const firn_schema *schema, const int32_t *leaf_field_ids,
                              const firn_metrics_mode *modes, const firn_leaf_totals *totals,
                              size_t leaf_count, firn_arena *arena, firn_data_file *out,
                              firn_error *error) {
    firn_column_metrics *columns = firn_arena_alloc(arena, leaf_count + 1, sizeof *columns);
    if (columns == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaf_count; i++) {
        columns[i].mode = modes[i];
        if (modes[i].kind == FIRN_METRICS_NONE) continue;
        columns[i].field = firn_schema_find(schema, leaf_field_ids[i]);
        if (columns[i].field == NULL) {
            return firn_fail(error, FIRN_INVALID, "no column has field id %d", leaf_field_ids[i]);
        }
        FIRN_TRY(column_of(&totals[i], &columns[i], error));
    }
    return firn_metrics_of_columns(columns, leaf_count, arena, out, error);
}
