/** Segments are merged like the levels of a log-structured tree: one that is less than twice as large as what is written behind it is taken into it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "lake/ledger_internal.h"

/** An entry on its way into a segment. */
typedef struct outgoing {
    const firn_ledger_entry *entry;
    const char *unit; /**< that it is sorted by: the newest one of the location; "" for none */
    firn_slice key;
    size_t order; /**< of versions of one location, oldest first */
} outgoing;

/** How many of the oldest segments stay: what lies behind them is written anew, with `count` entries that no segment has. */
static size_t segments_to_keep(const firn_ledger *ledger, size_t count) {
    size_t kept = ledger->segments.count;
    for (size_t i = kept; i-- > 0;) {
        if (ledger->segments.items[i].has_dead) kept = i;
    }
    for (size_t i = kept; i < ledger->segments.count; i++) {
        count += ledger->segments.items[i].entries;
    }
    while (count > 0 && kept > 0 && ledger->segments.items[kept - 1].entries / 2 < count) {
        count += ledger->segments.items[--kept].entries;
    }
    return kept;
}

static size_t unwritten(const firn_ledger *ledger) {
    size_t count = 0;
    for (size_t i = 0; i < ledger->superseded.count; i++) {
        count += ledger->superseded.items[i].segment == FIRN_LEDGER_UNWRITTEN;
    }
    for (size_t i = 0; i < ledger->records.count; i++) {
        count += ledger->records.items[i].segment == FIRN_LEDGER_UNWRITTEN;
    }
    return count;
}

/** Puts those that no kept segment has (unwritten ones have the largest number of all). */
static firn_status take_over(firn_ledger *next, const firn_ledger_record *records, size_t count,
                             size_t kept, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (records[i].segment < kept) continue;
        firn_ledger_item item = firn_ledger_item_of(&records[i].entry);
        FIRN_TRY(firn_ledger_put(next, &item, FIRN_LEDGER_UNWRITTEN, error));
    }
    return FIRN_OK;
}

static firn_status check_added(const firn_ledger_entry *entry, firn_error *error) {
    bool right = entry->location != NULL && entry->location[0] != '\0' && entry->size >= -1 &&
                 entry->rows >= -1 && (entry->unit == NULL || entry->unit[0] != '\0');
    if (right) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s: no entry that a ledger can have",
                     entry->location == NULL ? "(no location)" : entry->location);
}

static firn_status put_added(firn_ledger *next, const firn_ledger_entry *added, size_t count,
                             int64_t snapshot_id, int64_t sequence_number, firn_error *error) {
    int64_t now = firn_clock_now_ms();
    FIRN_TRY(firn_ledger_reserve(next, count, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(check_added(&added[i], error));
        firn_ledger_item item = firn_ledger_item_of(&added[i]);
        item.snapshot_id = snapshot_id;
        item.sequence_number = sequence_number;
        item.added_ms = now;
        size_t before = next->records.count + next->superseded.count;
        FIRN_TRY(firn_ledger_put(next, &item, FIRN_LEDGER_UNWRITTEN, error));
        if (next->records.count + next->superseded.count == before) {
            return firn_fail(error, FIRN_INVALID, "%s: is to be added twice by one commit",
                             added[i].location);
        }
    }
    return FIRN_OK;
}

static int compare(const void *left, const void *right) {
    const outgoing *a = left, *b = right;
    int order = a->unit == b->unit ? 0 : strcmp(a->unit, b->unit);
    if (order == 0) order = firn_slice_compare(a->key, b->key);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static void describe(const firn_ledger *next, const firn_ledger_record *record, size_t order,
                     outgoing *out) {
    firn_slice key = firn_slice_of(record->key, record->key_size);
    const firn_ledger_record *newest = firn_ledger_by_key(next, key);
    const char *unit = newest->entry.unit;
    *out = (outgoing){&record->entry, unit == NULL ? "" : unit, key, order};
}

/** By unit, then location; versions of one location stand together. */
static firn_status sort_entries(const firn_ledger *next, firn_arena *arena,
                                const firn_ledger_entry ***out, size_t *count, firn_error *error) {
    size_t older = next->superseded.count;
    size_t total = older + next->records.count;
    outgoing *items = firn_arena_alloc(arena, total, sizeof *items);
    const firn_ledger_entry **sorted = firn_arena_alloc(arena, total, sizeof(void *));
    if (items == NULL || sorted == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < total; i++) {
        describe(next, i < older ? &next->superseded.items[i] : &next->records.items[i - older], i,
                 &items[i]);
    }
    if (total > 0) qsort(items, total, sizeof *items, compare);
    for (size_t i = 0; i < total; i++) sorted[i] = items[i].entry;
    *out = sorted;
    *count = total;
    return FIRN_OK;
}

static firn_status write_segment(firn_table *table, firn_journal *journal, const firn_ledger *next,
                                 firn_arena *arena, const char **location, uint64_t *checksum,
                                 size_t *count, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_ledger_entry **entries = NULL;
    char *folder = NULL;
    char uuid[FIRN_UUID_TEXT_SIZE];
    *location = NULL;
    FIRN_TRY(sort_entries(next, next->arena, &entries, count, error));
    if (*count == 0) return FIRN_OK;
    FIRN_CHECK(firn_metadata_folder(table->metadata, &folder, error));
    FIRN_CHECK(firn_uuid_random(uuid, error));
    *location = firn_arena_format(arena, "%s/%s%s.avro", folder, FIRN_LEDGER_FILE_PREFIX, uuid);
    if (*location == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_journal_add(journal, *location, error));
    FIRN_CHECK(
        firn_ledger_segment_write(table->storage, *location, entries, *count, checksum, error));
out:
    firn_free(folder);
    return status;
}

/** The text of the segments that stay, with the new one behind them. */
static firn_status make_text(const firn_ledger *ledger, size_t kept, const char *location,
                             uint64_t checksum, size_t count, int64_t snapshot_id,
                             firn_arena *arena, const char **out, firn_error *error) {
    const char **segments = firn_arena_alloc(arena, kept + 1, sizeof *segments);
    uint64_t *checksums = firn_arena_alloc(arena, kept + 1, sizeof *checksums);
    if (segments == NULL || checksums == NULL) return firn_fail_memory(error);
    firn_ledger_property property = {.segments = segments,
                                     .checksums = checksums,
                                     .segment_count = kept,
                                     .head = snapshot_id,
                                     .partly = ledger->partly,
                                     .entries = (int64_t)count};
    for (size_t i = 0; i < kept; i++) {
        segments[i] = ledger->segments.items[i].location;
        checksums[i] = ledger->segments.items[i].checksum;
        property.entries += (int64_t)ledger->segments.items[i].entries;
    }
    if (location != NULL) {
        checksums[kept] = checksum;
        segments[property.segment_count++] = location;
    }
    return firn_ledger_property_write(&property, arena, out, error);
}

static firn_status check_usable(const firn_ledger *ledger, const firn_table *table,
                                firn_error *error) {
    bool current = false;
    if (*ledger->look_up_failed) return firn_fail_memory(error);
    FIRN_TRY(firn_ledger_is_current(ledger, table, &current, error));
    if (current) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: another run has written to the ledger meanwhile",
                     table->display_name);
}

firn_status firn_ledger_write(const firn_ledger *ledger, firn_table *table, firn_journal *journal,
                              const firn_ledger_entry *added, size_t added_count,
                              int64_t snapshot_id, int64_t sequence_number, firn_arena *arena,
                              const char **property, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_ledger *next = NULL;
    const char *location = NULL;
    size_t count = 0;
    uint64_t checksum = 0;
    FIRN_TRY(check_usable(ledger, table, error));
    size_t kept = segments_to_keep(ledger, added_count + unwritten(ledger));
    FIRN_TRY(firn_ledger_new(&next, error));
    FIRN_CHECK(take_over(next, ledger->superseded.items, ledger->superseded.count, kept, error));
    FIRN_CHECK(take_over(next, ledger->records.items, ledger->records.count, kept, error));
    FIRN_CHECK(put_added(next, added, added_count, snapshot_id, sequence_number, error));
    FIRN_CHECK(write_segment(table, journal, next, arena, &location, &checksum, &count, error));
    FIRN_CHECK(
        make_text(ledger, kept, location, checksum, count, snapshot_id, arena, property, error));
out:
    firn_ledger_free(next);
    return status;
}
