/** Whether the table refers to a file, over all refs and snapshots (design, section 8). */
#ifndef FIRN_TABLE_REACHABLE_H
#define FIRN_TABLE_REACHABLE_H

#include "base/map.h"
#include "table/table.h"

/**
 * Sets the value of every key in `candidates` (location keys, see firn_location_key) that the table's current metadata refers to, to a non-NULL pointer: metadata files (current and logged), manifest lists, manifests,
 * data and delete files of every snapshot, statistics, segments of the ledger (table/ledger_property.h). Each manifest is read once. A manifest that can't be read is a failure.
 */
firn_status firn_table_mark_reachable(firn_table *table, firn_map *candidates, firn_error *error);

#endif
