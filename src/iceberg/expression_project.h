/** Inclusive projections of predicates through partition transforms. Internal to iceberg. */
#ifndef FIRN_ICEBERG_EXPRESSION_PROJECT_H
#define FIRN_ICEBERG_EXPRESSION_PROJECT_H

#include "iceberg/expression_tree.h"

/** A test that the partition value of every matching row passes. */
typedef struct firn_partition_test {
    size_t position; /**< in the spec */
    firn_predicate predicate;
    /**
     * Writers let results beyond the type's range wrap around (truncated ints, hours): what lies at or above `wrapped_up`, or at or below `wrapped_down`, may be such
     * a value and passes too. Of the literals' kind.
     */
    bool has_wrapped_up, has_wrapped_down;
    firn_value wrapped_up, wrapped_down;
} firn_partition_test;

struct firn_file_filter {
    const firn_expression *expression;
    const firn_partition_spec *spec;
    const struct firn_file_filter *children; /**< as many as the expression has */
    const firn_partition_test
        *tests; /**< of a predicate; one for each field of the spec that says something */
    size_t test_count;
};

#endif
