/**
 * Which statistics of a file may be built on: taken over into another file, made bounds of a manifest, held against them. Fail closed: what
 * can't be trusted is as if it were not there, which costs a reading of values, while a wrong bound costs rows. Sources: parquet.thrift
 * (Statistics, ColumnOrder, ColumnIndex) and the faults of writers that statistics_trust.c lists. Pure functions: thread-safe.
 */
#ifndef FIRN_PARQUET_STATISTICS_TRUST_H
#define FIRN_PARQUET_STATISTICS_TRUST_H

#include "parquet/schema.h"
#include "parquet/statistics.h"

/** Bounds in PLAIN form, borrowed from the statistics; data == NULL: none on that side. */
typedef struct firn_parquet_trusted_pair {
    firn_slice minimum, maximum;
    /** The bound is known to be a value of the column. False: it may be a shortened one. */
    bool minimum_exact, maximum_exact;
} firn_parquet_trusted_pair;

/**
 * Whether the footer says that min_value and max_value of the leaf, and its column index, follow the order that its type has (ColumnOrder):
 * "without column_orders, the meaning of the min_value and max_value fields … is undefined".
 */
bool firn_parquet_has_type_order(const firn_parquet_file_metadata *metadata, size_t leaf);

/**
 * What the statistics of a chunk, of a page, or of an entry of a column index say, as far as it can be trusted. Each value of the leaf that is
 * neither null nor NaN lies within; both sides are of the type's width, no NaN, and in order.
 */
firn_parquet_trusted_pair firn_parquet_trust_bounds(const firn_parquet_file_metadata *metadata,
                                                    const firn_parquet_leaf *leaf,
                                                    const firn_parquet_statistics *statistics);

/** NaN values of the chunk: 0 for types that have none, -1 unknown ("readers MUST assume NaNs may be present", Statistics.nan_count). */
int64_t firn_parquet_trust_nan_count(const firn_parquet_leaf *leaf,
                                     const firn_parquet_column_chunk *chunk);

#endif
