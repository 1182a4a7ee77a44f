/** metadata/version-hint.text of tables that a catalog holds: for readers that are given a bare folder (design, section 9). */
#ifndef FIRN_TABLE_VERSION_HINT_H
#define FIRN_TABLE_VERSION_HINT_H

#include "table/journal.h"
#include "table/table.h"

/**
 * Makes the hint name the metadata file that the catalog's pointer names: its file name without ".metadata.json" (a ".gz" before that stays), no line feed. It never goes ahead of the pointer, and where others commit at
 * the same time the last one to replace it looks at the pointer again, so that the hint ends at the newest state. `journal` (nullable) is told of the temporary file, which a killed run would leave. `create`: also where there is none yet. Does nothing for tables of a directory catalog, whose commits keep the hint themselves, or whose metadata
 * file does not lie in "<location>/metadata". Every commit through a catalog calls it; a failure is for the caller to report, since the commit stands.
 */
firn_status firn_table_refresh_version_hint(firn_table *table, firn_journal *journal, bool create,
                                            firn_error *error);

#endif
