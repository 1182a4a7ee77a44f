/* What a filter says about one value, and about one row. */
#include <math.h>
#include <stdlib.h>

#include "iceberg/expression_tree.h"

bool firn_value_is_nan(const firn_value *value) {
    if (value->is_null) return false;
    if (value->kind == FIRN_TYPE_FLOAT) return isnan(value->as.float32);
    return value->kind == FIRN_TYPE_DOUBLE && isnan(value->as.float64);
}

/* Adding 0 makes -0 to +0 and leaves all else as it is. */
static firn_value positive_zero(const firn_value *value) {
    firn_value copy = *value;
    if (copy.kind == FIRN_TYPE_FLOAT) copy.as.float32 += 0.0f;
    if (copy.kind == FIRN_TYPE_DOUBLE) copy.as.float64 += 0.0;
    return copy;
}

int firn_filter_compare(const firn_value *a, const firn_value *b) {
    firn_value left = positive_zero(a);
    firn_value right = positive_zero(b);
    return firn_value_compare(&left, &right);
}

static int order_values(const void *left, const void *right) {
    return firn_filter_compare(left, right);
}

size_t firn_filter_sort_values(firn_value *values, size_t count) {
    if (count < 2) return count;
    qsort(values, count, sizeof *values, order_values);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++) {
        if (firn_filter_compare(&values[i], &values[kept - 1]) != 0) values[kept++] = values[i];
    }
    return kept;
}

static bool is_listed(const firn_predicate *predicate, const firn_value *value) {
    return bsearch(value, predicate->literals, predicate->literal_count, sizeof *value,
                   order_values) != NULL;
}

static bool starts_with(const firn_value *value, const firn_value *prefix) {
    firn_slice bytes = value->as.bytes;
    if (bytes.size < prefix->as.bytes.size) return false;
    bytes.size = prefix->as.bytes.size;
    return firn_slice_equal(bytes, prefix->as.bytes);
}

bool firn_predicate_matches(const firn_predicate *predicate, const firn_value *value) {
    if (value->is_null) return predicate->op == FIRN_OPERATOR_IS_NULL;
    const firn_value *literal = predicate->literals;
    switch (predicate->op) {
    case FIRN_OPERATOR_NOT_NULL: return true;
    case FIRN_OPERATOR_IS_NAN: return firn_value_is_nan(value);
    case FIRN_OPERATOR_NOT_NAN: return !firn_value_is_nan(value);
    case FIRN_OPERATOR_EQUAL: return firn_filter_compare(value, literal) == 0;
    case FIRN_OPERATOR_NOT_EQUAL: return firn_filter_compare(value, literal) != 0;
    case FIRN_OPERATOR_LESS: return firn_filter_compare(value, literal) < 0;
    case FIRN_OPERATOR_LESS_EQUAL: return firn_filter_compare(value, literal) <= 0;
    case FIRN_OPERATOR_GREATER: return firn_filter_compare(value, literal) > 0;
    case FIRN_OPERATOR_GREATER_EQUAL: return firn_filter_compare(value, literal) >= 0;
    case FIRN_OPERATOR_IN: return is_listed(predicate, value);
    case FIRN_OPERATOR_NOT_IN: return !is_listed(predicate, value);
    case FIRN_OPERATOR_STARTS_WITH: return starts_with(value, literal);
    case FIRN_OPERATOR_NOT_STARTS_WITH: return !starts_with(value, literal);
    case FIRN_OPERATOR_IS_NULL:
    case FIRN_OPERATOR_TRUE:
    case FIRN_OPERATOR_FALSE:
    case FIRN_OPERATOR_AND:
    case FIRN_OPERATOR_OR:
    case FIRN_OPERATOR_NOT: break;
    }
    return false;
}

/* NOT stands nowhere in the tree, and what is unknown matches as little as what is false; so two values do. */
firn_status firn_expression_matches_row(const firn_expression *expression, firn_expression_row row,
                                        void *context, bool *out, firn_error *error) {
    firn_operator op = expression->predicate.op;
    if (!firn_operator_is_junction(op)) {
        *out = op == FIRN_OPERATOR_TRUE;
        if (op == FIRN_OPERATOR_TRUE || op == FIRN_OPERATOR_FALSE) return FIRN_OK;
        firn_value value;
        FIRN_TRY(row(context, expression->field_id, &value, error));
        *out = firn_predicate_matches(&expression->predicate, &value);
        return FIRN_OK;
    }
    bool decides = op == FIRN_OPERATOR_OR;
    *out = !decides;
    for (size_t i = 0; i < expression->child_count && *out != decides; i++) {
        FIRN_TRY(firn_expression_matches_row(&expression->children[i], row, context, out, error));
    }
    return FIRN_OK;
}
