/**
 * The partition of a file, proved (design, section 9): the footer's bounds and null counts through the transform and what the path says must agree. Where the footer does not settle it, that one column is read, its dictionary first.
 */
#ifndef FIRN_LAKE_PROOF_H
#define FIRN_LAKE_PROOF_H

#include "lake/layout.h"
#include "lake/listing.h"

typedef enum firn_lake_proof {
    FIRN_LAKE_PROVED_BY_FOOTER,
    FIRN_LAKE_PROVED_BY_COLUMN, /**< the column was read */
    FIRN_LAKE_ASSERTED          /**< the file has no such column: the path alone says so */
} firn_lake_proof;

typedef struct firn_lake_partition {
    firn_value *values;    /**< one per field of the spec; in the arena */
    firn_lake_proof proof; /**< the weakest one of the fields */
} firn_lake_partition;

/**
 * Proves the tuple of `file` for a bound layout. `parquet` may know the footer only: where a column has to be read the file is opened anew through `storage`. Any transform of the specification: bucket too, by hashing (a path value out of range is refused).
 * NULL rows count: a file whose column holds nulls and values has two partitions. INVALID names the file, the field and the values: two partitions in it, or another one than its path says. A file without rows takes what its path says, else null.
 * A column that the file lacks is what an identity field's key says (ASSERTED; its other transforms follow from that value), else what readers give its rows: the initial default, or null. So a transform's key alone asserts nothing: rows that read null can't be in a partition of 2024.
 * CONFLICT: the file is of another size than it was listed with.
 */
firn_status firn_lake_prove_partition(firn_storage *storage, const firn_lake_binding *binding,
                                      const firn_lake_file *file, const firn_parquet_file *parquet,
                                      const firn_lake_columns *columns, firn_arena *arena,
                                      firn_lake_partition *out, firn_error *error);

#endif
