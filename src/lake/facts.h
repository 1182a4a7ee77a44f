/**
 * What a footer says of one column, in the table's terms, and only as far as it can be trusted (design, section 9: bounds fail closed): statistics that are missing in any row group that has values, inexact ones, deprecated ones of
 * a type whose order they don't follow, those of writers known to be wrong, NaN, INT96, unsigned values that don't fit: no bound, rather than a wrong one. Foreign units (milliseconds, nanoseconds) are converted, lower bounds rounded down and upper ones up.
 */
#ifndef FIRN_LAKE_FACTS_H
#define FIRN_LAKE_FACTS_H

#include "iceberg/manifest.h"
#include "parquet/file_reader.h"

typedef struct firn_lake_column_facts {
    int64_t values;          /**< levels: nulls count */
    int64_t nulls;           /**< -1: unknown in some row group */
    int64_t nans;            /**< -1: unknown */
    int64_t compressed_size; /**< of the chunks */
    /** No value that is neither null nor NaN is less than `lower`, or greater than `upper`. */
    bool has_lower, has_upper;
    /** The bound is a value of the column itself. */
    bool lower_exact, upper_exact;
    firn_value lower, upper; /**< of the table's type; bytes in the arena */
} firn_lake_column_facts;

/** Of the leaf in all row groups. `type` is a primitive type that the leaf can be read as. Without rows: 0 values, no bounds. CORRUPT: counts that can't be. */
firn_status firn_lake_column_facts_of(const firn_parquet_file *file, size_t leaf,
                                      const firn_type *type, firn_arena *arena,
                                      firn_lake_column_facts *out, firn_error *error);

/** Whether the chunks of the leaf lie within the file, and the footer's counts can be: CORRUPT otherwise. What passes it has facts. */
firn_status firn_lake_column_check(const firn_parquet_file *file, size_t leaf, firn_error *error);

#endif
