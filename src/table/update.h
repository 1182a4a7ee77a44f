/** Changes of a table that write no data: properties, refs, versions (design, 6.2 and 6.3). */
#ifndef FIRN_TABLE_UPDATE_H
#define FIRN_TABLE_UPDATE_H

#include "table/journal.h"

/**
 * Says what is to change, for the state that the table is pinned to; called anew after each reload. An update without updates means that nothing is to be changed: the table is as it shall be. The table's uuid is required
 * by the commit itself.
 */
typedef struct firn_update_source {
    firn_status (*build)(void *context, const firn_table *table, firn_table_update *update,
                         firn_error *error);
    void *context;
} firn_update_source;

/**
 * Commits, as often as commit.retry.* say. OK: the table is as it shall be, and *table has that state; *changed says whether this call did it. COMMIT_UNKNOWN: the table can't be loaded, or is not (yet) as it shall be; the journal
 * says so. CONFLICT: others came first each time, or another table has taken its place. Other failures: nothing changed.
 */
firn_status firn_table_commit_update(firn_table *table, firn_journal *journal,
                                     const firn_update_source *source, bool *changed,
                                     firn_error *error);

#endif
