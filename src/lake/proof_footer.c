/* Partition values by the footer alone. */
#include "lake/proof_column.h"

firn_status firn_column_leaf_of(const firn_lake_columns *columns, const firn_parquet_file *parquet,
                                int32_t field_id, const char *location, size_t *out,
                                firn_error *error) {
    *out = SIZE_MAX;
    for (size_t i = 0; i < columns->leaf_count && i < parquet->schema->leaf_count; i++) {
        if (columns->field_ids[i] != field_id || columns->types[i] == NULL) continue;
        const firn_parquet_leaf *leaf = &parquet->schema->leaves[i];
        if (leaf->maximum_repetition_level > 0) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: column \"%s\" lies in a list or map, and can't tell a partition",
                             location, leaf->dotted_path);
        }
        *out = i;
        return FIRN_OK;
    }
    return FIRN_OK;
}

const char *firn_partition_value_text(const firn_transform *transform, const firn_type *source,
                                      const firn_value *value, firn_arena *arena) {
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    const firn_type *result = firn_transform_natural_result(transform, source);
    const char *copy = NULL;
    if (firn_transform_print(transform, result, value, &text, NULL) == FIRN_OK) {
        copy = firn_arena_strndup(arena, text.size == 0 ? "" : (const char *)text.data, text.size);
    }
    firn_buffer_release(&text);
    return copy;
}

static firn_status apply(const firn_transform *transform, const firn_type *type,
                         const firn_value *value, firn_arena *arena, firn_value *out,
                         firn_error *error) {
    firn_value made;
    FIRN_TRY(firn_transform_apply(transform, type, value, &made, error));
    return firn_value_copy(&made, arena, out, error);
}

static void settle(firn_column_verdict *out, firn_value value) {
    *out = (firn_column_verdict){.settled = true, .value = value};
}

static bool is_zero(const firn_value *value) {
    return value->kind == FIRN_TYPE_FLOAT ? value->as.float32 == 0 : value->as.float64 == 0;
}

/* Zeros of a bound have the sign that keeps it one, not that of the values; NaN is in no bound. */
static bool bounds_tell_all(const firn_type *type, const firn_lake_column_facts *facts) {
    if (!facts->has_lower || !facts->has_upper) return false;
    if (type->kind != FIRN_TYPE_FLOAT && type->kind != FIRN_TYPE_DOUBLE) return true;
    return facts->nans == 0 && !is_zero(&facts->lower) && !is_zero(&facts->upper);
}

/*
 * Between equal ends every value is the same. A transform that keeps the order maps all that lies between its ends between their images, so equal
 * images prove one partition even where the bounds are none of the column's values; different images of values prove two.
 */
static firn_status judge_bounds(const firn_transform *transform, const firn_type *type,
                                const firn_lake_column_facts *facts, firn_arena *arena,
                                firn_column_verdict *out, firn_error *error) {
    firn_value lower, upper;
    bool keeps_order = transform->kind != FIRN_TRANSFORM_BUCKET;
    if (!keeps_order && !firn_value_equal(&facts->lower, &facts->upper)) return FIRN_OK;
    FIRN_TRY(apply(transform, type, &facts->lower, arena, &lower, error));
    FIRN_TRY(apply(transform, type, &facts->upper, arena, &upper, error));
    if (firn_value_equal(&lower, &upper)) {
        settle(out, lower);
    } else if (facts->lower_exact && facts->upper_exact) {
        settle(out, lower);
        out->mixed = out->other_known = true;
        out->other = upper;
    }
    return FIRN_OK;
}

/* Nulls are a partition of their own. */
static firn_status judge_null_and_values(const firn_transform *transform, const firn_type *type,
                                         const firn_lake_column_facts *facts, firn_arena *arena,
                                         firn_column_verdict *out, firn_error *error) {
    settle(out, firn_value_null(firn_transform_natural_result(transform, type)->kind));
    out->mixed = true;
    if (!facts->has_lower || !facts->lower_exact) return FIRN_OK;
    out->other_known = true;
    return apply(transform, type, &facts->lower, arena, &out->other, error);
}

static firn_status judge(const firn_transform *transform, const firn_type *type,
                         const firn_lake_column_facts *facts, firn_arena *arena,
                         firn_column_verdict *out, firn_error *error) {
    *out = (firn_column_verdict){.empty = facts->values == 0};
    if (out->empty) {
        out->settled = true;
    } else if (transform->kind == FIRN_TRANSFORM_VOID || facts->nulls == facts->values) {
        settle(out, firn_value_null(firn_transform_natural_result(transform, type)->kind));
    } else if (facts->nulls > 0) {
        return judge_null_and_values(transform, type, facts, arena, out, error);
    } else if (facts->nulls == 0 && bounds_tell_all(type, facts)) {
        return judge_bounds(transform, type, facts, arena, out, error);
    }
    return FIRN_OK;
}

firn_status firn_column_judge_footer(const firn_column_in_file *column,
                                     const firn_transform *const *transforms, size_t count,
                                     firn_arena *arena, firn_column_verdict *out,
                                     firn_error *error) {
    firn_lake_column_facts facts = {0};
    const firn_type *type = column->field->type;
    const char *location = column->file->location;
    firn_status status =
        firn_lake_column_facts_of(column->parquet, column->leaf, type, arena, &facts, error);
    for (size_t i = 0; status == FIRN_OK && i < count; i++) {
        status = judge(transforms[i], type, &facts, arena, &out[i], error);
    }
    return firn_error_wrap(error, status, "%s: column \"%s\"", location,
                           column->parquet->schema->leaves[column->leaf].dotted_path);
}

firn_status firn_column_judge(const firn_column_in_file *column,
                              const firn_transform *const *transforms, size_t count,
                              firn_arena *arena, firn_column_verdict *out, bool *was_read,
                              firn_error *error) {
    *was_read = false;
    FIRN_TRY(firn_column_judge_footer(column, transforms, count, arena, out, error));
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        if (out[i].mixed) return FIRN_OK;
        open = open || !out[i].settled;
    }
    if (!open) return FIRN_OK;
    *was_read = true;
    FIRN_TRY(firn_column_judge_rows(column, transforms, count, arena, out, error));
    bool mixed = false;
    open = false;
    for (size_t i = 0; i < count; i++) {
        mixed = mixed || out[i].mixed;
        open = open || !out[i].settled;
    }
    if (mixed || !open) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "%s: column \"%s\" has no values, though it has rows",
                     column->file->location,
                     column->parquet->schema->leaves[column->leaf].dotted_path);
}
