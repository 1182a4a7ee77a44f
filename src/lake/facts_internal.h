/** What the bounds of a chunk are in the table's type. */
#ifndef FIRN_LAKE_FACTS_INTERNAL_H
#define FIRN_LAKE_FACTS_INTERNAL_H

#include "iceberg/value.h"
#include "parquet/file_reader.h"
#include "parquet/statistics.h"

/**
 * A bound in the table's type, an upper one rounded up and a lower one down. False where the type has no such value, or the leaf can't be read as it. *exact is cleared where the
 * value is another one than that of the file. Bytes are borrowed.
 */
bool firn_lake_bound_value(const firn_parquet_schema_element *element, const firn_type *type,
                           firn_slice plain, bool is_upper, firn_value *out, bool *exact);

#endif
