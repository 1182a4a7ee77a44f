/** Shared by the parts of the ledger; not for other files. */
#ifndef FIRN_LAKE_LEDGER_INTERNAL_H
#define FIRN_LAKE_LEDGER_INTERNAL_H

#include "base/map.h"
#include "base/vector.h"
#include "lake/ledger.h"

/** In memory only: no segment has it yet. */
#define FIRN_LEDGER_UNWRITTEN UINT32_MAX
/** Ends the messages of a ledger that can't be used. */
#define FIRN_LEDGER_HINT                                                                           \
    "run with --rebuild-ledger to make the ledger anew from the table's history"

/** An entry as it is read or given; texts are borrowed, their data NULL for none. */
typedef struct firn_ledger_item {
    firn_slice location, unit, etag;
    int64_t size, modified_ns, rows, snapshot_id, sequence_number, added_ms;
    bool removed;
} firn_ledger_item;

typedef struct firn_ledger_record {
    firn_ledger_entry entry; /**< first: entries are handed out by address */
    const char *key;         /**< often the end of the location */
    uint32_t key_size;
    uint32_t segment; /**< or FIRN_LEDGER_UNWRITTEN */
} firn_ledger_record;

typedef struct firn_ledger_segment {
    const char *location;
    uint64_t checksum;
    size_t entries;
    bool has_dead; /**< entries that don't count: they must not be in what the next snapshot says */
} firn_ledger_segment;

typedef struct firn_ledger_unit {
    const char *name;
    size_t present;                  /**< entries that are not removed */
    size_t removed, removed_unknown; /**< those that are; of them, without a count of rows */
    uint64_t removed_rows;
    bool adopted;
} firn_ledger_unit;

/** The index of a record plus 1, or 0; `tag` is a part of the key's hash, so that few keys are compared. */
typedef struct firn_ledger_slot {
    uint32_t record, tag;
} firn_ledger_slot;

struct firn_ledger {
    firn_arena *arena;
    FIRN_VECTOR(firn_ledger_record) records;    /**< the newest of each location */
    FIRN_VECTOR(firn_ledger_record) superseded; /**< older ones, oldest first; kept for rollbacks */
    FIRN_VECTOR(firn_ledger_segment) segments;  /**< of the text; oldest first */
    firn_ledger_slot *slots;                    /**< open addressing, at most half full */
    size_t slot_count;                          /**< a power of two, or 0 */
    firn_map *units;                            /**< firn_ledger_unit by name */
    firn_ledger_unit *last_unit;                /**< most entries follow one of the same unit */
    firn_ledger_unit nameless;                  /**< counts entries without a unit */
    bool *look_up_failed; /**< memory was out: what was said to be unknown may be known */
    size_t rolled_back;
    bool partly;      /**< files that the table was given before it was begun may be missing */
    const char *text; /**< what the table said when it was loaded; NULL: nothing */
};

/** The location's key (firn_location_key): within `location`, or made in `arena`. LIMIT where it is too long. */
firn_status firn_ledger_key(const char *location, firn_arena *arena, const char **out,
                            firn_error *error);
/** An empty ledger. */
firn_status firn_ledger_new(firn_ledger **out, firn_error *error);
/** Room for `more` locations. */
firn_status firn_ledger_reserve(firn_ledger *ledger, size_t more, firn_error *error);
/** Adds one; a later one of a location supersedes those before. CORRUPT: the segment has it twice. */
firn_status firn_ledger_put(firn_ledger *ledger, const firn_ledger_item *item, uint32_t segment,
                            firn_error *error);
/** The record with this location key, or NULL. */
const firn_ledger_record *firn_ledger_by_key(const firn_ledger *ledger, firn_slice key);
firn_ledger_item firn_ledger_item_of(const firn_ledger_entry *entry);

/** What the table's metadata says of a ref's ledger. */
typedef struct firn_ledger_history {
    const firn_table_metadata *metadata;
    const char *property; /**< the branch's, or (`inherited`) main's; NULL */
    bool inherited;
    const char *text; /**< that counts; NULL: none */
    bool trusted;     /**< the history itself says so: all of `text` counts */
    firn_map *own;    /**< ids of the ancestors before that, and of what they publish */
    FIRN_VECTOR(const firn_snapshot *)
    published;                   /**< those that publish another one; newest first */
    const firn_snapshot *oldest; /**< that the walk reached */
    bool complete;               /**< the walk came to what is proved to be the first snapshot */
} firn_ledger_history;

/** Texts are borrowed from the metadata. Release also after a failure. */
firn_status firn_ledger_history_of(const firn_table *table, firn_arena *arena,
                                   firn_ledger_history *out, firn_error *error);
/** UNSAFE where there was a ledger, and nothing tells what was in it. */
firn_status firn_ledger_history_check(const firn_table *table, const firn_ledger_history *history,
                                      firn_error *error);
void firn_ledger_history_release(firn_ledger_history *history);
/** Whether a snapshot is proved to be the first of its history. That it names no parent proves nothing: some programs drop the name with the parent when they expire. By sequence numbers none may be missing before it; version 1 has none, and what the snapshot says that it did has to do. */
bool firn_ledger_is_first(const firn_table_metadata *metadata, const firn_snapshot *snapshot);
/** Whether an entry of the property counts where the history is not `trusted`. */
bool firn_ledger_history_counts(const firn_ledger_history *history, const firn_ledger_item *item);

/** Puts the data files that a snapshot added, as its manifests tell. UNSAFE where it is to be the `first` one and has or removed files that it did not add. */
firn_status firn_ledger_put_snapshot(firn_ledger *ledger, firn_table *table,
                                     const firn_snapshot *snapshot, bool first, firn_error *error);

typedef firn_status (*firn_ledger_item_visitor)(void *context, const firn_ledger_item *item,
                                                firn_error *error);
/** Reads a segment; *count (nullable) is how many entries it says to have, told before the first visit. UNSAFE naming it when it is missing or damaged, or is another one than the checksum (XXH64) is of. */
firn_status firn_ledger_segment_read(firn_storage *storage, const char *location, uint64_t checksum,
                                     size_t *count, firn_ledger_item_visitor visit, void *context,
                                     firn_error *error);
/** Writes a segment of these entries, in this order, durably, and tells its checksum. */
firn_status firn_ledger_segment_write(firn_storage *storage, const char *location,
                                      firn_ledger_entries entries, uint64_t *checksum,
                                      firn_error *error);

#endif
