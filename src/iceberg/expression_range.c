/* What a predicate says about values of which only bounds are known. Bounds come from any writer: what contradicts itself proves nothing. */
#include "iceberg/expression_tree.h"

/* A UUID's order was that of two signed halves in old writers. Where both bounds are there, their first halves are in order and differ from a value's, both orders agree on it. */
#define UUID_HALF 8

/* Writers cut text and bytes to 16 characters, unless told otherwise, and some forget to raise an upper bound that they cut. */
#define SHORTEST_CUT 16

static firn_slice cut(firn_slice bytes, size_t size) {
    return firn_slice_of(bytes.data, bytes.size < size ? bytes.size : size);
}

void firn_value_range_bounds(firn_value_range *range, const firn_type *type, firn_slice lower,
                             firn_slice upper) {
    firn_error ignored;
    range->has_lower = lower.data != NULL &&
                       firn_value_from_bytes(type, lower, &range->lower, &ignored) == FIRN_OK;
    range->has_upper = upper.data != NULL &&
                       firn_value_from_bytes(type, upper, &range->upper, &ignored) == FIRN_OK;
    if (type->kind == FIRN_TYPE_UUID) {
        range->has_lower = range->has_upper = range->has_lower && range->has_upper;
        range->lower.as.bytes = cut(range->lower.as.bytes, UUID_HALF);
        range->upper.as.bytes = cut(range->upper.as.bytes, UUID_HALF);
    }
    bool nan = (range->has_lower && firn_value_is_nan(&range->lower)) ||
               (range->has_upper && firn_value_is_nan(&range->upper));
    bool inverted = range->has_lower && range->has_upper &&
                    firn_filter_compare(&range->lower, &range->upper) > 0;
    if (nan || inverted) range->has_lower = range->has_upper = false;
}

static bool may_be_cut(const firn_value *bound) {
    switch (bound->kind) {
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return bound->as.bytes.size >= SHORTEST_CUT;
    default: return false;
    }
}

/* UUIDs, and an upper bound that may have been cut: by the part that both have. */
static int compare_bound(const firn_value *bound, const firn_value *literal, bool is_upper) {
    if (literal->kind == FIRN_TYPE_UUID || (is_upper && may_be_cut(bound))) {
        return firn_slice_compare(bound->as.bytes, cut(literal->as.bytes, bound->as.bytes.size));
    }
    return firn_filter_compare(bound, literal);
}

/* Whether an equal bound proves that no value is beyond it. */
static bool equal_is_exact(const firn_value *bound, bool is_upper) {
    return bound->kind != FIRN_TYPE_UUID && !(is_upper && may_be_cut(bound));
}

static bool may_be_below(const firn_value_range *range, const firn_value *literal, bool or_equal) {
    if (!range->has_lower) return true;
    int order = compare_bound(&range->lower, literal, false);
    if (order != 0) return order < 0;
    return or_equal || !equal_is_exact(&range->lower, false);
}

static bool may_be_above(const firn_value_range *range, const firn_value *literal, bool or_equal) {
    if (!range->has_upper) return true;
    int order = compare_bound(&range->upper, literal, true);
    if (order != 0) return order > 0;
    return or_equal || !equal_is_exact(&range->upper, true);
}

static bool may_equal(const firn_value_range *range, const firn_value *literal) {
    return may_be_below(range, literal, true) && may_be_above(range, literal, true);
}

/* Literals ascend: those that the lower bound leaves out stand first. */
static bool may_be_listed(const firn_predicate *predicate, const firn_value_range *range) {
    size_t first = 0;
    size_t end = predicate->literal_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (may_be_below(range, &predicate->literals[middle], true)) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    return first < predicate->literal_count &&
           may_be_above(range, &predicate->literals[first], true);
}

/* -1, 0, 1: a bound lies before, among, behind the texts that begin with the prefix; 0 also where the bound is too short to tell. */
static int compare_prefix(const firn_value *bound, firn_slice prefix) {
    size_t common = bound->as.bytes.size < prefix.size ? bound->as.bytes.size : prefix.size;
    return firn_slice_compare(cut(bound->as.bytes, common), cut(prefix, common));
}

static bool may_start_with(const firn_value_range *range, firn_slice prefix) {
    /* A lower bound that is a part of the prefix comes before all of them. */
    if (range->has_lower && compare_prefix(&range->lower, prefix) > 0) return false;
    return !range->has_upper || compare_prefix(&range->upper, prefix) >= 0;
}

static bool must_start_with(const firn_value_range *range, firn_slice prefix) {
    return range->has_lower && range->has_upper && range->lower.as.bytes.size >= prefix.size &&
           range->upper.as.bytes.size >= prefix.size &&
           compare_prefix(&range->lower, prefix) == 0 && compare_prefix(&range->upper, prefix) == 0;
}

/* Whether a value that is neither null nor NaN may pass. */
static bool value_may_match(const firn_predicate *predicate, const firn_value_range *range) {
    const firn_value *literal = predicate->literals;
    switch (predicate->op) {
    case FIRN_OPERATOR_EQUAL: return may_equal(range, literal);
    case FIRN_OPERATOR_LESS: return may_be_below(range, literal, false);
    case FIRN_OPERATOR_LESS_EQUAL: return may_be_below(range, literal, true);
    case FIRN_OPERATOR_GREATER: return may_be_above(range, literal, false);
    case FIRN_OPERATOR_GREATER_EQUAL: return may_be_above(range, literal, true);
    case FIRN_OPERATOR_IN: return may_be_listed(predicate, range);
    case FIRN_OPERATOR_STARTS_WITH: return may_start_with(range, literal->as.bytes);
    case FIRN_OPERATOR_NOT_STARTS_WITH: return !must_start_with(range, literal->as.bytes);
    /* Equal bounds would prove that all values are equal, if no writer cut them short. */
    case FIRN_OPERATOR_NOT_EQUAL:
    case FIRN_OPERATOR_NOT_IN:
    case FIRN_OPERATOR_NOT_NULL:
    case FIRN_OPERATOR_NOT_NAN: return true;
    default: return false;
    }
}

static bool nan_may_match(firn_operator op) {
    switch (op) {
    case FIRN_OPERATOR_NOT_NULL:
    case FIRN_OPERATOR_IS_NAN:
    case FIRN_OPERATOR_NOT_EQUAL:
    case FIRN_OPERATOR_NOT_IN:
    case FIRN_OPERATOR_GREATER:
    case FIRN_OPERATOR_GREATER_EQUAL: return true;
    default: return false;
    }
}

bool firn_predicate_may_match(const firn_predicate *predicate, const firn_value_range *range) {
    if (predicate->op == FIRN_OPERATOR_IS_NULL) return range->may_have_null;
    if (range->may_have_nan && nan_may_match(predicate->op)) return true;
    return range->may_have_value && value_may_match(predicate, range);
}
