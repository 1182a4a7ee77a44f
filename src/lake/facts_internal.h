/** The two halves of column facts: which bounds of a chunk can be trusted, and what they are in the table's type. */
#ifndef FIRN_LAKE_FACTS_INTERNAL_H
#define FIRN_LAKE_FACTS_INTERNAL_H

#include "iceberg/value.h"
#include "parquet/file_reader.h"
#include "parquet/statistics.h"

/** Bounds of one chunk in PLAIN form; data == NULL: none on that side. */
typedef struct firn_lake_chunk_bounds {
    firn_slice lower, upper;
    bool lower_exact, upper_exact;
} firn_lake_chunk_bounds;

/** What the statistics say as far as it can be trusted: of the order's width, no NaN, in order. Borrows from `statistics`. */
firn_lake_chunk_bounds firn_lake_trusted_bounds(const firn_parquet_file_metadata *metadata,
                                                const firn_parquet_leaf *leaf,
                                                const firn_parquet_statistics *statistics);

/**
 * A bound in the table's type, an upper one rounded up and a lower one down. False where the type has no such value, or the leaf can't be read as it. *exact is cleared where the
 * value is another one than that of the file. Bytes are borrowed.
 */
bool firn_lake_bound_value(const firn_parquet_schema_element *element, const firn_type *type,
                           firn_slice plain, bool is_upper, firn_value *out, bool *exact);

#endif
