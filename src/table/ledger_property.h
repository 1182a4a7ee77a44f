/**
 * The text by which a table names the segments of its ledger (lake/ledger.h): a table property and an item of snapshots' summaries. It is
 * understood here because segments are part of what a table refers to.
 */
#ifndef FIRN_TABLE_LEDGER_PROPERTY_H
#define FIRN_TABLE_LEDGER_PROPERTY_H

#include "iceberg/metadata.h"

/** The table property for main, and the item of a snapshot's summary for any branch. */
#define FIRN_LEDGER_PROPERTY "firn.sync.ledger"
/** Another branch's property: this, then the branch's name. */
#define FIRN_LEDGER_PROPERTY_OF_BRANCH FIRN_LEDGER_PROPERTY "."
/** File names of segments begin like this. */
#define FIRN_LEDGER_FILE_PREFIX "firn-ledger-"

typedef struct firn_ledger_property {
    const char *const *segments; /**< locations, literally; oldest first */
    const uint64_t *checksums;   /**< XXH64 of each segment's file */
    size_t segment_count;
    int64_t head;    /**< the snapshot that it was written with */
    int64_t entries; /**< in all segments together */
    bool
        partly; /**< begun where history had been expired: files that the table was given before may be missing */
} firn_ledger_property;

/** In `arena`. CORRUPT: it is no such text, or was changed by another hand (it has a checksum of itself); UNSUPPORTED: of a version that is not known. */
firn_status firn_ledger_property_parse(const char *text, firn_arena *arena,
                                       firn_ledger_property *out, firn_error *error);
/** The text, in `arena`. */
firn_status firn_ledger_property_write(const firn_ledger_property *property, firn_arena *arena,
                                       const char **out, firn_error *error);

/** The text in a snapshot's summary, or NULL. */
const char *firn_ledger_property_of_snapshot(const firn_snapshot *snapshot);
/** The key of a branch's property: FIRN_LEDGER_PROPERTY for main. In `arena`; NULL when memory is out. */
const char *firn_ledger_property_key(const char *ref, firn_arena *arena);
/** The text that a change on top of `parent`, which adds nothing by the ledger, hands on in its summary, so that history that is cut off later keeps it: the parent's or its nearest ancestor's that has one, or the property's where that was written for the snapshot. *out is NULL where there is none, or where a snapshot on the way publishes another one (its files are in no text yet). Borrowed from the metadata. */
firn_status firn_ledger_property_inherited(const firn_table_metadata *metadata, const char *ref,
                                           const firn_snapshot *parent, const char **out,
                                           firn_error *error);
/** The snapshot that this one publishes, as a cherry-pick does. */
bool firn_ledger_published_by(const firn_snapshot *snapshot, int64_t *out);
/** What to do where a data file is gone, or is another one than the table records: where the table follows a lake its source may have done it on purpose. Static. */
const char *firn_ledger_advice_missing(const firn_table_metadata *metadata);
const char *firn_ledger_advice_replaced(const firn_table_metadata *metadata);
/** The same where bounds of the manifest are not those of the file. */
const char *firn_ledger_advice_bounds(const firn_table_metadata *metadata);
/** Whether a table property is the ledger's, for any branch. */
bool firn_ledger_property_is_key(const char *key);

#endif
