/**
 * The journal of a run (design, 6.3 item 7): names what the run writes before it writes it, so that what a killed run left behind can be told from
 * live files and removed by the next one. It lies in $FIRN_STATE_DIR, else $XDG_STATE_HOME/firn, else ~/.local/state/firn, and is locked with flock.
 */
#ifndef FIRN_TABLE_JOURNAL_H
#define FIRN_TABLE_JOURNAL_H

#include "table/table.h"

typedef struct firn_journal firn_journal;

/**
 * Opens and locks the journal of a table. INVALID names the variable to set when the folder can't be written; CONFLICT names the other run's process when it
 * stays locked longer than `lock_timeout_ms`; BLOCKED when another host left it. The table is refreshed once it is locked. What an earlier run of this host left is
 * settled first: recorded files that nothing in the table refers to are removed. `removed` (nullable) counts them. Each catalog that holds the table has a journal of its own.
 */
firn_status firn_journal_open(firn_table *table, int64_t lock_timeout_ms, firn_journal **out,
                              size_t *removed, firn_error *error);

/**
 * The journal of making a table, for as long as there is none that could have one: what it records is the new table's first metadata file. Opens and locks it; as above but for what an earlier run left, which stays until
 * firn_journal_settle_new. `must_exist`: *out is NULL where no run on this host ever began to make this table here.
 */
firn_status firn_journal_open_new(firn_catalog *catalog, firn_table_name name,
                                  const char *display_name, const char *location, bool must_exist,
                                  int64_t lock_timeout_ms, firn_journal **out, firn_error *error);
/** Removes what an earlier run recorded and `table` (as it is now that the journal is locked; NULL: the catalog has none) does not refer to. Empties the journal. */
firn_status firn_journal_settle_new(firn_journal *journal, firn_table *table, firn_storage *storage,
                                    firn_error *error);

/**
 * Whether an earlier, killed run of this host left files that firn_journal_open would settle; a run that has nothing to do opens the journal for that alone. Cheap, and makes nothing: without a state
 * folder, or while another run is alive, there is nothing left.
 */
firn_status firn_journal_has_leftovers(const firn_table *table, bool *out, firn_error *error);

/** Records a location that is about to be created; durable when it returns. Thread-safe. */
firn_status firn_journal_add(firn_journal *journal, const char *location, firn_error *error);

/** Whether this run recorded a location. */
bool firn_journal_has(firn_journal *journal, const char *location);

/** Says that the outcome of a commit is unknown: what is recorded is then never removed by firn's next run. */
firn_status firn_journal_keep(firn_journal *journal, firn_error *error);

/** Deletes every recorded file and empties the journal: the run failed for sure, or was interrupted before its commit. Goes on after a failure and reports the first one. */
firn_status firn_journal_discard(firn_journal *journal, firn_storage *storage, firn_error *error);

/** The run is over: its files are live. Empties the journal. */
firn_status firn_journal_done(firn_journal *journal, firn_error *error);

/** Ends the run by its outcome: done, kept where that is unknown, else discarded. Problems are logged: what `status` says is what counts. */
void firn_journal_end(firn_journal *journal, firn_storage *storage, firn_status status);

/** Unlocks. A journal that is neither done nor discarded stays for the next run. NULL is allowed. */
void firn_journal_close(firn_journal *journal);

#endif
