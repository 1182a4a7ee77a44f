/**
 * The journal of a run (design, 6.3 item 7): names what the run writes before it writes it, so that what a killed run left behind can be told from live
 * files and removed by the next one. In $FIRN_STATE_DIR, $XDG_STATE_HOME/firn or ~/.local/state/firn; locked with flock.
 */
#ifndef FIRN_TABLE_JOURNAL_H
#define FIRN_TABLE_JOURNAL_H

#include "table/table.h"

typedef struct firn_journal firn_journal;

/**
 * Opens and locks the journal of a table; CONFLICT naming the other run's process id when it stays locked longer than `lock_timeout_ms`.
 * What an earlier run of this host left uncommitted is removed first, after checking that no metadata of the table refers to it and
 * settling its commit. `removed` (nullable) counts files.
 */
firn_status firn_journal_open(firn_table *table, int64_t lock_timeout_ms, firn_journal **out,
                              size_t *removed, firn_error *error);

/** Records a location that is about to be created; durable before it returns (records may be batched: `count` locations at once). Thread-safe. */
firn_status firn_journal_add(firn_journal *journal, const char *const *locations, size_t count,
                             firn_error *error);
/** Records the snapshot id that a commit is about to make. */
firn_status firn_journal_add_commit(firn_journal *journal, int64_t snapshot_id,
                                    firn_error *error);

/** Deletes every recorded file (the run failed for sure, or was interrupted before its commit). */
firn_status firn_journal_discard(firn_journal *journal, firn_storage *storage, firn_error *error);
/** The run is over and its files are live (or must be kept): empties the journal. */
firn_status firn_journal_done(firn_journal *journal, firn_error *error);
/** Unlocks; a journal that is neither done nor discarded stays for the next run. NULL is allowed. */
void firn_journal_close(firn_journal *journal);

#endif
