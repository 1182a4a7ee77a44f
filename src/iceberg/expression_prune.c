/* Which manifests and files a filter may match. */
#include "iceberg/expression_project.h"

/* A filter's tree with one of several ways to look at a predicate: false only where no row can match. */
typedef bool (*predicate_look)(const firn_file_filter *predicate, const void *context);

static bool may_match(const firn_file_filter *filter, predicate_look look, const void *context) {
    firn_operator op = filter->expression->predicate.op;
    if (op == FIRN_OPERATOR_TRUE || op == FIRN_OPERATOR_FALSE) return op == FIRN_OPERATOR_TRUE;
    if (!firn_operator_is_junction(op)) return look(filter, context);
    bool decides = op == FIRN_OPERATOR_OR;
    for (size_t i = 0; i < filter->expression->child_count; i++) {
        if (may_match(&filter->children[i], look, context) == decides) return decides;
    }
    return !decides;
}

static bool has_nan(firn_type_kind kind) {
    return kind == FIRN_TYPE_FLOAT || kind == FIRN_TYPE_DOUBLE;
}

/* --- manifests --------------------------------------------------------------------------------- */

/* Bounds are absent where all values are null or NaN, and, against the specification, elsewhere: then neither is said to be there. */
static firn_value_range range_of_summary(const firn_partition_summary *summary,
                                         const firn_type *type) {
    bool nan_said = summary->has_contains_nan && summary->contains_nan;
    bool no_bounds = summary->lower_bound.data == NULL && summary->upper_bound.data == NULL;
    firn_value_range range = {
        .may_have_null = summary->contains_null,
        .may_have_nan = has_nan(type->kind) && (!summary->has_contains_nan || nan_said),
        .may_have_value = !no_bounds || (!summary->contains_null && !nan_said),
    };
    firn_value_range_bounds(&range, type, summary->lower_bound, summary->upper_bound);
    return range;
}

/* Without both bounds nothing is known of what wrapped around. */
static bool range_may_wrap(const firn_partition_test *test, const firn_value_range *range) {
    bool up = test->has_wrapped_up &&
              (!range->has_upper || firn_filter_compare(&range->upper, &test->wrapped_up) >= 0);
    bool down = test->has_wrapped_down &&
                (!range->has_lower || firn_filter_compare(&range->lower, &test->wrapped_down) <= 0);
    return range->may_have_value && (up || down);
}

static bool look_at_summaries(const firn_file_filter *predicate, const void *context) {
    const firn_manifest_file *manifest = context;
    for (size_t i = 0; i < predicate->test_count; i++) {
        const firn_partition_test *test = &predicate->tests[i];
        const firn_type *type = predicate->spec->fields[test->position].result_type;
        firn_value_range range = range_of_summary(&manifest->partitions[test->position], type);
        if (!firn_predicate_may_match(&test->predicate, &range) && !range_may_wrap(test, &range)) {
            return false;
        }
    }
    return true;
}

bool firn_file_filter_may_match_manifest(const firn_file_filter *filter,
                                         const firn_manifest_file *manifest) {
    if (manifest->partitions == NULL || manifest->partition_count != filter->spec->field_count) {
        return true;
    }
    return may_match(filter, look_at_summaries, manifest);
}

/* --- partition tuples -------------------------------------------------------------------------- */

typedef struct tuple {
    const firn_value *values;
    size_t count;
} tuple;

static bool value_may_wrap(const firn_partition_test *test, const firn_value *value) {
    if (value->is_null) return false;
    return (test->has_wrapped_up && firn_filter_compare(value, &test->wrapped_up) >= 0) ||
           (test->has_wrapped_down && firn_filter_compare(value, &test->wrapped_down) <= 0);
}

static bool look_at_tuple(const firn_file_filter *predicate, const void *context) {
    const tuple *partition = context;
    for (size_t i = 0; i < predicate->test_count; i++) {
        const firn_partition_test *test = &predicate->tests[i];
        const firn_value *value = &partition->values[test->position];
        const firn_type *type = predicate->spec->fields[test->position].result_type;
        if (!value->is_null && value->kind != type->kind) continue;
        if (!firn_predicate_matches(&test->predicate, value) && !value_may_wrap(test, value)) {
            return false;
        }
    }
    return true;
}

bool firn_file_filter_may_match_partition(const firn_file_filter *filter, const firn_value *values,
                                          size_t count) {
    tuple partition = {values, count};
    if (count != filter->spec->field_count) return true;
    return may_match(filter, look_at_tuple, &partition);
}

/* --- data files -------------------------------------------------------------------------------- */

/*
 * Counts are -1 where they are not known. Those of a field in a struct may leave out rows whose struct is null, so its nulls are known
 * only where every row was counted.
 */
static firn_value_range range_of_metrics(const firn_expression *column,
                                         const firn_data_file *file) {
    int32_t id = column->field_id;
    int64_t values = firn_count_map_get(&file->value_counts, id);
    int64_t nulls = firn_count_map_get(&file->null_value_counts, id);
    int64_t nans = firn_count_map_get(&file->nan_value_counts, id);
    bool all_counted = !column->nested || values == file->record_count;
    /* A count of none in a file with rows was not counted. */
    bool only_nulls = values > 0 && nulls >= values;
    bool only_nans = values > 0 && !only_nulls && nans >= values - (nulls > 0 ? nulls : 0);
    firn_value_range range = {
        .may_have_null = nulls != 0 || !all_counted,
        .may_have_nan = has_nan(column->type->kind) && nans != 0 && !only_nulls,
        .may_have_value = !only_nulls && !only_nans,
    };
    firn_slice lower = {0};
    firn_slice upper = {0};
    (void)firn_bound_map_get(&file->lower_bounds, id, &lower);
    (void)firn_bound_map_get(&file->upper_bounds, id, &upper);
    firn_value_range_bounds(&range, column->type, lower, upper);
    return range;
}

static bool look_at_metrics(const firn_file_filter *predicate, const void *context) {
    const firn_data_file *file = context;
    firn_value_range range = range_of_metrics(predicate->expression, file);
    return firn_predicate_may_match(&predicate->expression->predicate, &range);
}

static bool look_at_file(const firn_file_filter *predicate, const void *context) {
    const firn_data_file *file = context;
    tuple partition = {file->partition, file->partition_count};
    if (partition.count == predicate->spec->field_count && !look_at_tuple(predicate, &partition)) {
        return false;
    }
    return look_at_metrics(predicate, file);
}

bool firn_file_filter_may_match_file(const firn_file_filter *filter, const firn_data_file *file) {
    return may_match(filter, look_at_file, file);
}
