/** The tree of a bound row filter. Internal to iceberg. */
#ifndef FIRN_ICEBERG_EXPRESSION_TREE_H
#define FIRN_ICEBERG_EXPRESSION_TREE_H

#include "iceberg/expression.h"

typedef enum firn_operator {
    FIRN_OPERATOR_TRUE,
    FIRN_OPERATOR_FALSE,
    FIRN_OPERATOR_AND,
    FIRN_OPERATOR_OR,
    FIRN_OPERATOR_NOT, /**< as parsed only: binding pushes it down to the predicates */
    FIRN_OPERATOR_IS_NULL,
    FIRN_OPERATOR_NOT_NULL,
    FIRN_OPERATOR_IS_NAN,
    FIRN_OPERATOR_NOT_NAN,
    FIRN_OPERATOR_EQUAL,
    FIRN_OPERATOR_NOT_EQUAL,
    FIRN_OPERATOR_LESS,
    FIRN_OPERATOR_LESS_EQUAL,
    FIRN_OPERATOR_GREATER,
    FIRN_OPERATOR_GREATER_EQUAL,
    FIRN_OPERATOR_IN,
    FIRN_OPERATOR_NOT_IN,
    FIRN_OPERATOR_STARTS_WITH,
    FIRN_OPERATOR_NOT_STARTS_WITH
} firn_operator;

/** A test of one value. Literals are of one kind, never null or NaN, ascending without repeats. */
typedef struct firn_predicate {
    firn_operator op;
    const firn_value *literals;
    size_t literal_count;
} firn_predicate;

struct firn_expression {
    firn_predicate predicate;               /**< its operator is the node's */
    const struct firn_expression *children; /**< of AND and OR */
    size_t child_count;
    int32_t field_id; /**< of the others, TRUE and FALSE apart */
    const firn_type *type;
    bool nested; /**< lies in a struct, which may be null as a whole */
};

static inline bool firn_operator_is_junction(firn_operator op) {
    return op == FIRN_OPERATOR_AND || op == FIRN_OPERATOR_OR;
}

/** Whether a value, null included, passes. The value must be comparable with the literals. */
bool firn_predicate_matches(const firn_predicate *predicate, const firn_value *value);

/** The order that filters go by: firn_value_compare with -0 equal to +0. */
int firn_filter_compare(const firn_value *a, const firn_value *b);
bool firn_value_is_nan(const firn_value *value);
/** Sorts and leaves out repeats; returns how many are left. */
size_t firn_filter_sort_values(firn_value *values, size_t count);

/** What is known of the values of a column or partition field in a set of rows. */
typedef struct firn_value_range {
    bool may_have_null, may_have_nan;
    bool may_have_value; /**< one that is neither null nor NaN */
    bool has_lower, has_upper;
    firn_value lower, upper; /**< of values that are neither null nor NaN */
} firn_value_range;

/** Bounds as they stand in a file; what can't be decoded, is NaN or inverted is left out. data == NULL: absent. */
void firn_value_range_bounds(firn_value_range *range, const firn_type *type, firn_slice lower,
                             firn_slice upper);
/** False only where no value within the range passes. */
bool firn_predicate_may_match(const firn_predicate *predicate, const firn_value_range *range);

#endif
