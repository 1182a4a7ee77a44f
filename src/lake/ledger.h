/**
 * The ledger (design, section 9): which files a table was given, whatever has become of them since. Segments are Avro files in the table's metadata folder, one written by each commit that adds files, merged now and then, so that
 * their number grows with the logarithm of the entries'. The property firn.sync.ledger (a JSON object: version, segments, head) names them in the same commit; the snapshot's summary has the same text under the same key, for when a program drops properties.
 */
#ifndef FIRN_LAKE_LEDGER_H
#define FIRN_LAKE_LEDGER_H

#include "table/journal.h"

#define FIRN_LEDGER_PROPERTY "firn.sync.ledger"

typedef struct firn_ledger_entry {
    const char *location;
    const char *unit;    /**< NULL: none */
    const char *etag;    /**< NULL: unknown */
    int64_t size;        /**< -1: unknown */
    int64_t modified_ns; /**< -1: unknown */
    int64_t rows;
    int64_t snapshot_id;     /**< that added it */
    int64_t sequence_number; /**< of that snapshot; 0 in v1 */
    /** Given up: it vanished from the source or was replaced, and the rows were deleted by a commit of ours. The newest entry of a location counts. */
    bool removed;
} firn_ledger_entry;

typedef struct firn_ledger firn_ledger;

/**
 * Loads the ledger of a table as it is for the ref that the table is pinned to. A table without one has an empty ledger. Entries whose snapshot the ref's history has lost to a rollback are not in it any more (they are counted): as long as
 * metadata can tell (a snapshot that is retained and no ancestor; or the ledger's head is no ancestor though the chain reaches back beyond it). Where history was expired, entries stay.
 * UNSAFE (exit 4): a segment is missing or damaged, or the property was dropped and no summary has it though one of ours is in the history; names --rebuild-ledger.
 */
firn_status firn_ledger_load(firn_table *table, firn_ledger **out, firn_error *error);
/**
 * Makes a ledger from the table itself: every path that a retained snapshot of the ref's history added, sizes from manifests, times unknown. UNSAFE where the history was expired (the oldest snapshot has a parent, or began with files that it did not add).
 */
firn_status firn_ledger_rebuild(firn_table *table, firn_ledger **out, firn_error *error);
/** NULL is allowed. */
void firn_ledger_free(firn_ledger *ledger);

/** By location, however spelled (firn_location_key); NULL. Entries that were removed are found, too. */
const firn_ledger_entry *firn_ledger_find(const firn_ledger *ledger, const char *location);
size_t firn_ledger_count(const firn_ledger *ledger);
/** In no particular order; positions stay the same until the ledger is freed. */
const firn_ledger_entry *firn_ledger_at(const firn_ledger *ledger, size_t index);
/** The position of what firn_ledger_find returned, to keep marks beside the ledger. */
size_t firn_ledger_position(const firn_ledger *ledger, const firn_ledger_entry *entry);
/** Whether a unit has entries that count, or is one that an adopted property lists. */
bool firn_ledger_has_unit(const firn_ledger *ledger, const char *unit);
/** Entries that a rollback made pending again. */
size_t firn_ledger_rolled_back(const firn_ledger *ledger);
size_t firn_ledger_segment_count(const firn_ledger *ledger);

/**
 * Writes a segment with the entries of one commit (and those of small older segments, merged), announced to the journal first, and returns the property's new text, in `arena`. Snapshot id and sequence number of the new entries are filled in. The ledger itself stays as it was:
 * load it anew after the commit.
 */
firn_status firn_ledger_write(const firn_ledger *ledger, firn_table *table, firn_journal *journal,
                              const firn_ledger_entry *added, size_t added_count,
                              int64_t snapshot_id, int64_t sequence_number, firn_arena *arena,
                              const char **property, firn_error *error);

/* The convention of tools that keep the names of synced units in a table property. */

/** Units in a property's text: a JSON array of texts or numbers, or names with commas between. In `arena`. INVALID when it is neither. */
firn_status firn_unit_property_parse(const char *text, firn_arena *arena, const char *const **out,
                                     size_t *count, firn_error *error);
/** The text with more units, in the form that it has (NULL or empty: a JSON array), sorted as it was if it was. Units that are there already are left alone. In `arena`. */
firn_status firn_unit_property_add(const char *text, const char *const *units, size_t unit_count,
                                   firn_arena *arena, const char **out, firn_error *error);
/** Marks units as known to the ledger (adopted from a property). Copied. */
firn_status firn_ledger_adopt_units(firn_ledger *ledger, const char *const *units, size_t count,
                                    firn_error *error);

/** Adds entries to the ledger in memory, to be written by the next firn_ledger_write along with that commit's own (adoption, rebuilding). Copied; snapshot ids are kept. */
firn_status firn_ledger_adopt(firn_ledger *ledger, const firn_ledger_entry *entries, size_t count,
                              firn_error *error);

#endif
