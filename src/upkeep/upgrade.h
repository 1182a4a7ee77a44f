/** Raising a table's format version (specification, appendix E). Metadata only: no file of the table is rewritten. */
#ifndef FIRN_UPKEEP_UPGRADE_H
#define FIRN_UPKEEP_UPGRADE_H

#include "table/table.h"

#define FIRN_UPGRADE_MAX_LINES 8

/** What an upgrade means, for somebody who has to decide. Lines are constants. */
typedef struct firn_upgrade_plan {
    int from, to;
    bool needed; /**< false: the table has the version already */
    const char *changes[FIRN_UPGRADE_MAX_LINES];
    size_t change_count;
    const char *losses[FIRN_UPGRADE_MAX_LINES]; /**< for readers and writers of older versions */
    size_t loss_count;
} firn_upgrade_plan;

/** INVALID for a version that can't be asked for; UNSUPPORTED where the table can't be given it: it has a higher one, is encrypted, or has snapshots without manifest lists. */
firn_status firn_upgrade_plan_table(const firn_table *table, int64_t to, firn_upgrade_plan *out,
                                    firn_error *error);

typedef struct firn_upgrade_result {
    bool committed;           /**< false: somebody else had done it */
    size_t leftovers_removed; /**< files of an earlier, killed run */
} firn_upgrade_result;

/** Commits the upgrade; *table then has the new state. Outcomes as firn_table_commit_update's. */
firn_status firn_upgrade_run(firn_table *table, int64_t to, int64_t lock_timeout_ms,
                             firn_upgrade_result *out, firn_error *error);

#endif
