/*
 * Summaries of partition fields for manifest lists (specification, "Manifest Lists",
 * field_summary).
 */
#include <math.h>

#include "iceberg/manifest_internal.h"

static bool is_nan(const firn_value *value) {
    if (value->kind == FIRN_TYPE_FLOAT) return isnan(value->as.float32);
    return value->kind == FIRN_TYPE_DOUBLE && isnan(value->as.float64);
}

firn_status firn_summary_add(firn_summary *summary, const firn_value *value, firn_arena *arena,
                             firn_error *error) {
    if (value->is_null) {
        summary->contains_null = true;
        return FIRN_OK;
    }
    if (is_nan(value)) {
        summary->contains_nan = true;
        return FIRN_OK;
    }
    bool lower = !summary->has_bounds || firn_value_compare(value, &summary->lower) < 0;
    bool upper = !summary->has_bounds || firn_value_compare(value, &summary->upper) > 0;
    if (lower) FIRN_TRY(firn_value_copy(value, arena, &summary->lower, error));
    if (upper) FIRN_TRY(firn_value_copy(value, arena, &summary->upper, error));
    summary->has_bounds = true;
    return FIRN_OK;
}

static firn_status bound(const firn_value *value, firn_arena *arena, firn_slice *out,
                         firn_error *error) {
    firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX / 4);
    firn_status status = firn_value_to_bytes(value, &bytes, error);
    if (status == FIRN_OK) {
        uint8_t *copy = firn_arena_alloc(arena, bytes.size + 1, 1);
        if (copy == NULL) {
            status = firn_fail_memory(error);
        } else {
            if (bytes.size > 0) memcpy(copy, bytes.data, bytes.size);
            *out = firn_slice_of(copy, bytes.size);
        }
    }
    firn_buffer_release(&bytes);
    return status;
}

firn_status firn_summary_finish(const firn_summary *summary, firn_arena *arena,
                                firn_partition_summary *out, firn_error *error) {
    *out = (firn_partition_summary){.contains_null = summary->contains_null,
                                    .has_contains_nan = true,
                                    .contains_nan = summary->contains_nan};
    if (!summary->has_bounds) return FIRN_OK;
    FIRN_TRY(bound(&summary->lower, arena, &out->lower_bound, error));
    return bound(&summary->upper, arena, &out->upper_bound, error);
}
