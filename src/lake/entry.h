/** From a footer to a manifest entry (specification, "Manifests", data_file). */
#ifndef FIRN_LAKE_ENTRY_H
#define FIRN_LAKE_ENTRY_H

#include "data/metrics.h"
#include "lake/columns.h"
#include "lake/facts.h"
#include "lake/listing.h"

/** What all files of a table and of one set of columns share; `columns` as firn_lake_columns_of found them. */
typedef struct firn_lake_entry_plan firn_lake_entry_plan;

/** In `arena`; everything is borrowed. Metrics follow write.metadata.metrics.* */
firn_status firn_lake_entry_plan_new(const firn_table_metadata *metadata,
                                     const firn_lake_columns *columns,
                                     const firn_parquet_file *like, firn_arena *arena,
                                     const firn_lake_entry_plan **out, firn_error *error);

/**
 * The entry of a file: path, format, counts, sizes, metrics, split offsets (starts of row groups, ascending, or none), no sort order; in `arena`. Partition, spec and sequence numbers are the caller's. Bounds are shortened as metrics modes say, upper ones
 * upwards; bounds of columns below lists and maps are left out; a bound that facts don't have is left out, and a null count that is unknown as well.
 */
firn_status firn_lake_entry_fill(const firn_lake_entry_plan *plan, const firn_lake_file *file,
                                 const firn_parquet_file *parquet, firn_arena *arena,
                                 firn_data_file *out, firn_error *error);

#endif
