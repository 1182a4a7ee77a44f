/**
 * The ledger (design, section 9): which files a table was given, whatever has become of them since. Segments are Avro files in the table's metadata folder, one written by each commit that adds files, merged now and then, so that
 * their number grows with the logarithm of the entries'. The property firn.sync.ledger (table/ledger_property.h: version, segments, head, entries) names them in the same commit; the snapshot's summary has the same text under the same key.
 * Segments that were merged stay where they are as long as a snapshot's summary names them; nothing here deletes them: they are reachable until those snapshots are expired, and leftovers after that.
 *
 * What counts for a ref is what the newest snapshot of its history says that has the text in its summary (or is the property's head): every snapshot that adds files through the ledger has it, and firn's other commits hand the parent's on, so that nothing which
 * the property says beyond that belongs to this history. A rollback thereby takes the ledger back as well, and a dropped or damaged property is no loss. A snapshot that publishes another one (source-snapshot-id) brings that one's entries. Only where no retained
 * snapshot of the history has the text is the property taken, entry by entry: one whose snapshot is an ancestor counts; of the others none does where the chain provably reaches the history's first snapshot (no sequence number before it is missing), else those do
 * not that are younger than the oldest snapshot that the chain reaches (by sequence number, in v1 by time): an ancestor of that age would be in the chain. The rest stays, since giving a table the same rows twice is worse than giving them late. The text has a
 * checksum of itself and one of each segment.
 */
#ifndef FIRN_LAKE_LEDGER_H
#define FIRN_LAKE_LEDGER_H

#include "table/journal.h"
#include "table/ledger_property.h"

typedef struct firn_ledger_entry {
    const char *location;
    const char *unit;        /**< NULL: none */
    const char *etag;        /**< NULL: unknown */
    int64_t size;            /**< -1: unknown */
    int64_t modified_ns;     /**< -1: unknown */
    int64_t rows;            /**< -1: unknown; of what was given up: that went with it */
    int64_t snapshot_id;     /**< that added it */
    int64_t sequence_number; /**< of that snapshot; 0 in v1 */
    /** Given up: it vanished from the source or was replaced, and the rows were deleted by a commit of ours. The newest entry of a location counts. */
    bool removed;
    /** When the entry was made, a moment before its snapshot; 0: unknown. Filled in by firn_ledger_write. */
    int64_t added_ms;
} firn_ledger_entry;

/** Entries that are made when they are asked for: a million of them need not be in memory at once. */
typedef struct firn_ledger_entries {
    size_t count;
    /** Asked for in any order, more than once, and always the same; texts live as long as the context. */
    firn_ledger_entry (*at)(const void *context, size_t index);
    const void *context;
} firn_ledger_entries;

/** Those of an array, which is borrowed. */
firn_ledger_entries firn_ledger_entries_of(const firn_ledger_entry *entries, size_t count);

typedef struct firn_ledger firn_ledger;

/**
 * Loads the ledger of a table as it is for the ref that the table is pinned to. A table without one has an empty ledger. What the ref's history has lost to a rollback is not in it any more (it is counted).
 * UNSAFE (exit 4): a segment is missing or damaged, the text is damaged, or the property was dropped, no snapshot of the history has it and the history was expired; names --rebuild-ledger. UNSUPPORTED: a newer firn wrote it.
 */
firn_status firn_ledger_load(firn_table *table, firn_ledger **out, firn_error *error);
/**
 * Whether the ledger is (still) that of the table as it is now: no other run has written to it since it was loaded. Where that holds, a text that firn_ledger_write made for the same snapshot id
 * stays good for further attempts of the commit; else the ledger is to be loaded anew, since another run may have added the same files.
 */
firn_status firn_ledger_is_current(const firn_ledger *ledger, const firn_table *table, bool *out,
                                   firn_error *error);
/**
 * Makes a ledger from the table itself: every path that a retained snapshot of the ref's history added, sizes from manifests, times unknown. UNSAFE where the history was expired (the oldest snapshot has a parent, or began with files that it did not add), or with `partly` what is left of it.
 */
firn_status firn_ledger_rebuild(firn_table *table, bool partly, firn_ledger **out,
                                firn_error *error);
/** The first ledger of a table that others filled: as firn_ledger_rebuild makes it; where the history was expired, UNSAFE, or with `partly` what is left of it. */
firn_status firn_ledger_begin(firn_table *table, bool partly, firn_ledger **out, firn_error *error);
/** NULL is allowed. */
void firn_ledger_free(firn_ledger *ledger);

/** By location, however spelled (firn_location_key); NULL. Entries that were removed are found, too. Where memory is out it finds nothing, and firn_ledger_write will refuse. */
const firn_ledger_entry *firn_ledger_find(const firn_ledger *ledger, const char *location);
size_t firn_ledger_count(const firn_ledger *ledger);
/** Whether the table said something when it was loaded. */
bool firn_ledger_was_there(const firn_ledger *ledger);
/**
 * Whether the ledger was begun by firn_ledger_begin with `partly` where history had been expired: then "not in the ledger" does not show that the table was never given a file. It stays so from text to text.
 */
bool firn_ledger_is_partial(const firn_ledger *ledger);
/** Somebody who knows says that it has all there is; the next text says so. */
void firn_ledger_confirm(firn_ledger *ledger);
/** In no particular order; positions stay the same until the ledger is freed, addresses until something is adopted. */
const firn_ledger_entry *firn_ledger_at(const firn_ledger *ledger, size_t index);
/** The position of what firn_ledger_find returned, to keep marks beside the ledger. */
size_t firn_ledger_position(const firn_ledger *ledger, const firn_ledger_entry *entry);
/** Whether a unit has entries that are not removed, or is one that an adopted property lists. */
bool firn_ledger_has_unit(const firn_ledger *ledger, const char *unit);
/** How many entries of a unit are not removed. */
size_t firn_ledger_files_of(const firn_ledger *ledger, const char *unit);
/** What was taken out of a unit (NULL: without one, as in a ledger that was made anew): entries that are removed. */
typedef struct firn_ledger_removed {
    size_t files;
    int64_t rows; /**< as they were added; -1: not known of one */
} firn_ledger_removed;
firn_ledger_removed firn_ledger_removed_of(const firn_ledger *ledger, const char *unit);
/** Files that a rollback made pending again. */
size_t firn_ledger_rolled_back(const firn_ledger *ledger);
size_t firn_ledger_segment_count(const firn_ledger *ledger);

/**
 * Writes a segment with the entries of one commit (and those of small older segments, merged), announced to the journal first, and returns the text for the property (firn_ledger_property_key) and for the snapshot's summary (FIRN_LEDGER_PROPERTY), in `arena`.
 * Snapshot id, sequence number and time of the new entries are filled in (a sequence number that is too low, since another branch came first, does no harm). Without entries that are new the text names the same segments and no file is written.
 * The ledger itself stays as it was: load it anew after the commit. CONFLICT: it is not current any more.
 */
firn_status firn_ledger_write(const firn_ledger *ledger, firn_table *table, firn_journal *journal,
                              firn_ledger_entries added, int64_t snapshot_id,
                              int64_t sequence_number, firn_arena *arena, const char **property,
                              firn_error *error);

/* The convention of tools that keep the names of synced units in a table property. */

/** Units in a property's text: a JSON array of texts or numbers, or names with commas between. In `arena`. INVALID when it is neither. */
firn_status firn_unit_property_parse(const char *text, firn_arena *arena, const char *const **out,
                                     size_t *count, firn_error *error);
/** Whether a unit can be named in a text of this form: names with commas between can't hold commas, begin or end with spaces, or begin like JSON. True for a text that is no list of units. */
bool firn_unit_property_can_name(const char *text, const char *unit);
/** The text with more units, in the form that it has (NULL: a JSON array; empty: names), sorted as it was if it was. Units that are there already are left alone. In `arena`. BLOCKED where one can't be named. */
firn_status firn_unit_property_add(const char *text, const char *const *units, size_t unit_count,
                                   firn_arena *arena, const char **out, firn_error *error);
/** The text without some units; those that are not there are no matter. In `arena`. */
firn_status firn_unit_property_remove(const char *text, const char *const *units, size_t unit_count,
                                      firn_arena *arena, const char **out, firn_error *error);
/** Marks units as known to the ledger (adopted from a property). Copied. */
firn_status firn_ledger_adopt_units(firn_ledger *ledger, const char *const *units, size_t count,
                                    firn_error *error);

/** Adds entries to the ledger in memory (a location that is known already gets a newer entry), to be written by the next firn_ledger_write along with that commit's own (adoption, rebuilding). Copied; snapshot ids are kept. */
firn_status firn_ledger_adopt(firn_ledger *ledger, const firn_ledger_entry *entries, size_t count,
                              firn_error *error);

#endif
