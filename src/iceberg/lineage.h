/** Row lineage (specification, "Row Lineage"): the two columns that a data file of a v3 table may hold besides the table's own. */
#ifndef FIRN_ICEBERG_LINEAGE_H
#define FIRN_ICEBERG_LINEAGE_H

#include "iceberg/types.h"

/* Ids of "Reserved Field IDs". */
#define FIRN_ROW_ID_FIELD_ID ((int32_t)2147483540)
#define FIRN_LAST_UPDATED_FIELD_ID ((int32_t)2147483539)

/**
 * `schema` with _row_id and _last_updated_sequence_number, both optional, as its last fields. In `arena`; what they hold is borrowed. A column of the
 * table that has one of these names keeps it, and the lineage column gets another: readers go by id.
 */
firn_status firn_schema_with_lineage(const firn_schema *schema, firn_arena *arena,
                                     const firn_schema **out, firn_error *error);

#endif
