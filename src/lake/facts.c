#include "lake/facts.h"

#include "lake/facts_internal.h"
#include "parquet/statistics_trust.h"

/* One side over all row groups so far, in PLAIN form. */
typedef struct side {
    firn_slice bound; /* data == NULL: none yet */
    bool exact;
    bool lost; /* a row group has values and no bound: there is none for the file */
} side;

typedef struct sums {
    const firn_parquet_file *file;
    const firn_parquet_leaf *leaf;
    firn_parquet_order order;
    firn_lake_column_facts *out;
    side lower, upper;
} sums;

static firn_status corrupt(const sums *state, size_t group, firn_error *error, const char *what,
                           int64_t count, int64_t values) {
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: row group %zu: column %s: %s is %lld in a chunk of %lld values",
                     state->file->source.name, group, state->leaf->dotted_path, what,
                     (long long)count, (long long)values);
}

/*
 * -1: unknown. Writers don't agree on what counts as a null below lists and maps (an absent list, an empty one), so that a count that
 * can't be is an unknown one there. A required column has none, whatever it says.
 */
static firn_status nulls_of(const sums *state, size_t group, const firn_parquet_column_chunk *chunk,
                            int64_t *out, firn_error *error) {
    *out = -1;
    const firn_parquet_statistics *statistics = &chunk->statistics;
    if (state->leaf->maximum_definition_level == 0) {
        *out = 0;
        return FIRN_OK;
    }
    if (!statistics->has_null_count || statistics->null_count < 0) return FIRN_OK;
    if (statistics->null_count > chunk->num_values) {
        if (state->leaf->maximum_repetition_level > 0) return FIRN_OK;
        return corrupt(state, group, error, "null_count", statistics->null_count,
                       chunk->num_values);
    }
    *out = statistics->null_count;
    return FIRN_OK;
}

static void add_count(int64_t *sum, int64_t count) {
    if (*sum < 0) return;
    /* Neither is above the number of values, whose sum was checked. */
    *sum = count < 0 ? -1 : *sum + count;
}

/* Keeps the lesser (`sign` -1) or the greater (1) one. */
static void widen(const sums *state, side *kept, int sign, firn_slice bound, bool exact) {
    if (bound.data == NULL) {
        kept->lost = true;
        return;
    }
    int order = kept->bound.data == NULL
                    ? sign
                    : firn_parquet_compare(state->order, bound, kept->bound) * sign;
    if (kept->bound.data != NULL && order == 0) kept->exact |= exact;
    if (kept->bound.data != NULL && order <= 0) return;
    kept->bound = bound;
    kept->exact = exact;
}

static firn_status add_counts(sums *state, size_t group, const firn_parquet_column_chunk *chunk,
                              int64_t *nulls, int64_t *nans, firn_error *error) {
    firn_lake_column_facts *out = state->out;
    *nulls = *nans = 0;
    if (__builtin_add_overflow(out->compressed_size, chunk->total_compressed_size,
                               &out->compressed_size) ||
        __builtin_add_overflow(out->values, chunk->num_values, &out->values)) {
        return corrupt(state, group, error, "total_compressed_size", chunk->total_compressed_size,
                       chunk->num_values);
    }
    if (chunk->num_values == 0) return FIRN_OK;
    FIRN_TRY(nulls_of(state, group, chunk, nulls, error));
    *nans = firn_parquet_trust_nan_count(state->leaf, chunk);
    add_count(&out->nulls, *nulls);
    add_count(&out->nans, *nans);
    return FIRN_OK;
}

static firn_status add_chunk(sums *state, size_t group, const firn_parquet_column_chunk *chunk,
                             firn_error *error) {
    int64_t nulls, nans;
    FIRN_TRY(add_counts(state, group, chunk, &nulls, &nans, error));
    if (chunk->num_values == 0) return FIRN_OK;
    if (nulls >= 0 && nulls + (nans > 0 ? nans : 0) == chunk->num_values) return FIRN_OK;
    firn_parquet_trusted_pair bounds =
        firn_parquet_trust_bounds(state->file->metadata, state->leaf, &chunk->statistics);
    widen(state, &state->lower, -1, bounds.minimum, bounds.minimum_exact);
    widen(state, &state->upper, 1, bounds.maximum, bounds.maximum_exact);
    return FIRN_OK;
}

/* Encrypted: nothing is known but that there may be values. */
static void add_hidden_chunk(sums *state, const firn_parquet_row_group *group) {
    state->out->values += group->num_rows;
    state->out->nulls = state->out->nans = -1;
    state->lower.lost = state->upper.lost = true;
}

static firn_status set_bound(const sums *state, const firn_type *type, const side *kept,
                             bool is_upper, firn_arena *arena, bool *has, bool *exact,
                             firn_value *value, firn_error *error) {
    if (kept->lost || kept->bound.data == NULL) return FIRN_OK;
    firn_value found;
    *exact = kept->exact;
    *has = firn_lake_bound_value(state->leaf->node->element, type, kept->bound, is_upper, &found,
                                 exact);
    if (*has) return firn_value_copy(&found, arena, value, error);
    *exact = false;
    return FIRN_OK;
}

static firn_status set_bounds(const sums *state, const firn_type *type, firn_arena *arena,
                              firn_error *error) {
    firn_lake_column_facts *out = state->out;
    FIRN_TRY(set_bound(state, type, &state->lower, false, arena, &out->has_lower, &out->lower_exact,
                       &out->lower, error));
    FIRN_TRY(set_bound(state, type, &state->upper, true, arena, &out->has_upper, &out->upper_exact,
                       &out->upper, error));
    /* One side may have lost its meaning where text is concerned: then it is no UTF-8, and neither is believed. */
    if (type->kind == FIRN_TYPE_STRING && out->has_lower != out->has_upper &&
        state->lower.lost == state->upper.lost) {
        out->has_lower = out->has_upper = out->lower_exact = out->upper_exact = false;
    }
    /* What lies between two equal bounds is equal to both. */
    if (out->has_lower && out->has_upper && firn_value_compare(&out->lower, &out->upper) == 0) {
        out->lower_exact = out->upper_exact = true;
    }
    return FIRN_OK;
}

static firn_status begin(const firn_parquet_file *file, size_t leaf, firn_lake_column_facts *out,
                         sums *state, firn_error *error) {
    *out = (firn_lake_column_facts){0};
    if (leaf >= file->schema->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "%s: there is no column %zu", file->source.name,
                         leaf);
    }
    *state = (sums){.file = file, .leaf = &file->schema->leaves[leaf], .out = out};
    return FIRN_OK;
}

firn_status firn_lake_column_facts_of(const firn_parquet_file *file, size_t leaf,
                                      const firn_type *type, firn_arena *arena,
                                      firn_lake_column_facts *out, firn_error *error) {
    sums state;
    FIRN_TRY(begin(file, leaf, out, &state, error));
    state.order = firn_parquet_order_of(state.leaf->node->element);
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &file->metadata->row_groups[i];
        const firn_parquet_column_chunk *chunk = &group->columns[leaf];
        if (chunk->has_metadata) {
            FIRN_TRY(add_chunk(&state, i, chunk, error));
        } else {
            add_hidden_chunk(&state, group);
        }
    }
    return set_bounds(&state, type, arena, error);
}

firn_status firn_lake_column_check(const firn_parquet_file *file, size_t leaf, firn_error *error) {
    firn_lake_column_facts counts;
    sums state;
    FIRN_TRY(begin(file, leaf, &counts, &state, error));
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[i].columns[leaf];
        uint64_t offset, size;
        int64_t nulls, nans;
        if (!chunk->has_metadata) continue;
        FIRN_TRY(firn_parquet_chunk_range(file, i, leaf, &offset, &size, error));
        FIRN_TRY(add_counts(&state, i, chunk, &nulls, &nans, error));
    }
    return FIRN_OK;
}
