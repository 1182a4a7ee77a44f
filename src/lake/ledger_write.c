/** Segments are merged like the levels of a log-structured tree: one that is less than twice as large as what is written behind it is taken into it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "lake/ledger_internal.h"

/**
 * A version of a location on its way into a segment. `source` counts through the ledger's superseded entries, its records and what is added, so that the later one of two versions has the
 * higher one.
 */
typedef struct outgoing {
    const char *key;
    const char *unit; /**< of the newest version of the location; "" for none */
    size_t source;
} outgoing;

typedef struct next_segment {
    const firn_ledger *ledger;
    firn_ledger_entries added;
    int64_t snapshot_id, sequence_number, now; /**< of what is added */
    firn_arena *arena;                         /**< for keys that have to be made */
    outgoing *items;
    size_t count;
} next_segment;

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

static size_t first_added(const next_segment *next) {
    return next->ledger->superseded.count + next->ledger->records.count;
}

static firn_ledger_entry entry_of(const next_segment *next, size_t source) {
    const firn_ledger *ledger = next->ledger;
    size_t superseded = ledger->superseded.count, added = first_added(next);
    if (source < superseded) return ledger->superseded.items[source].entry;
    if (source < added) return ledger->records.items[source - superseded].entry;
    firn_ledger_entry entry = next->added.at(next->added.context, source - added);
    entry.snapshot_id = next->snapshot_id;
    entry.sequence_number = next->sequence_number;
    entry.added_ms = next->now;
    return entry;
}

/** Takes those that no kept segment has (unwritten ones have the largest number of all). */
static void take_over(next_segment *next, size_t kept) {
    const firn_ledger *ledger = next->ledger;
    for (size_t i = 0; i < first_added(next); i++) {
        size_t superseded = ledger->superseded.count;
        const firn_ledger_record *record =
            i < superseded ? &ledger->superseded.items[i] : &ledger->records.items[i - superseded];
        if (record->segment < kept) continue;
        next->items[next->count++] = (outgoing){.key = record->key, .source = i};
    }
}

static firn_status check_added(const firn_ledger_entry *entry, firn_error *error) {
    bool right = entry->location != NULL && entry->location[0] != '\0' && entry->size >= -1 &&
                 entry->rows >= -1 && (entry->unit == NULL || entry->unit[0] != '\0');
    if (right) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s: no entry that a ledger can have",
                     entry->location == NULL ? "(no location)" : entry->location);
}

static firn_status take_added(next_segment *next, firn_error *error) {
    for (size_t i = 0; i < next->added.count; i++) {
        size_t source = first_added(next) + i;
        firn_ledger_entry entry = entry_of(next, source);
        FIRN_TRY(check_added(&entry, error));
        const char *key = NULL;
        FIRN_TRY(firn_ledger_key(entry.location, next->arena, &key, error));
        next->items[next->count++] = (outgoing){.key = key, .source = source};
    }
    return FIRN_OK;
}

static int by_key(const void *left, const void *right) {
    const outgoing *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a->source > b->source) - (a->source < b->source);
}

static int by_unit(const void *left, const void *right) {
    const outgoing *a = left, *b = right;
    int order = a->unit == b->unit ? 0 : strcmp(a->unit, b->unit);
    return order != 0 ? order : by_key(left, right);
}

/** Most often they are sorted already, as the listing is, and a sort would want as much memory again. */
static void sort(next_segment *next, int (*compare)(const void *, const void *)) {
    size_t i = 1;
    while (i < next->count && compare(&next->items[i - 1], &next->items[i]) < 0) i++;
    if (i < next->count) qsort(next->items, next->count, sizeof *next->items, compare);
}

/** Of one snapshot the later word alone counts: no rollback comes between them. The versions of one location are items[first], … items[end - 1]; those that count go to `kept` and the ones behind it. */
static firn_status keep_versions(next_segment *next, size_t first, size_t end, size_t *kept,
                                 bool *has_units, firn_error *error) {
    outgoing *versions = &next->items[*kept];
    size_t count = 0;
    const char *unit = NULL;
    int64_t snapshot_id = 0;
    for (size_t i = first; i < end; i++) {
        outgoing item = next->items[i];
        firn_ledger_entry entry = entry_of(next, item.source);
        bool same = count > 0 && entry.snapshot_id == snapshot_id;
        if (same && item.source >= first_added(next)) {
            return firn_fail(error, FIRN_INVALID, "%s: is to be added twice by one commit",
                             entry.location);
        }
        versions[same ? count - 1 : count++] = item;
        snapshot_id = entry.snapshot_id;
        unit = entry.unit;
    }
    for (size_t i = 0; i < count; i++) versions[i].unit = unit == NULL ? "" : unit;
    *has_units = *has_units || unit != NULL;
    *kept += count;
    return FIRN_OK;
}

/** By unit, then location; versions of one location stand together. */
static firn_status arrange(next_segment *next, firn_error *error) {
    size_t kept = 0;
    bool has_units = false;
    sort(next, by_key);
    for (size_t i = 0; i < next->count;) {
        size_t end = i + 1;
        while (end < next->count && strcmp(next->items[end].key, next->items[i].key) == 0) end++;
        FIRN_TRY(keep_versions(next, i, end, &kept, &has_units, error));
        i = end;
    }
    next->count = kept;
    if (has_units) sort(next, by_unit);
    return FIRN_OK;
}

static firn_ledger_entry outgoing_entry(const void *context, size_t index) {
    const next_segment *next = context;
    return entry_of(next, next->items[index].source);
}

static firn_status write_segment(firn_table *table, firn_journal *journal, const next_segment *next,
                                 firn_arena *arena, const char **location, uint64_t *checksum,
                                 firn_error *error) {
    firn_status status = FIRN_OK;
    char *folder = NULL;
    char uuid[FIRN_UUID_TEXT_SIZE];
    firn_ledger_entries entries = {next->count, outgoing_entry, next};
    *location = NULL;
    if (next->count == 0) return FIRN_OK;
    FIRN_CHECK(firn_metadata_folder(table->metadata, &folder, error));
    FIRN_CHECK(firn_uuid_random(uuid, error));
    *location = firn_arena_format(arena, "%s/%s%s.avro", folder, FIRN_LEDGER_FILE_PREFIX, uuid);
    if (*location == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_journal_add(journal, *location, error));
    FIRN_CHECK(firn_ledger_segment_write(table->storage, *location, entries, checksum, error));
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
                              firn_ledger_entries added, int64_t snapshot_id,
                              int64_t sequence_number, firn_arena *arena, const char **property,
                              firn_error *error) {
    firn_status status = FIRN_OK;
    const char *location = NULL;
    uint64_t checksum = 0;
    FIRN_TRY(check_usable(ledger, table, error));
    size_t kept = segments_to_keep(ledger, added.count + unwritten(ledger));
    next_segment next = {.ledger = ledger,
                         .added = added,
                         .snapshot_id = snapshot_id,
                         .sequence_number = sequence_number,
                         .now = firn_clock_now_ms(),
                         .arena = firn_arena_new()};
    next.items = firn_alloc_array(first_added(&next) + added.count, sizeof *next.items);
    if (next.arena == NULL || next.items == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    take_over(&next, kept);
    FIRN_CHECK(take_added(&next, error));
    FIRN_CHECK(arrange(&next, error));
    FIRN_CHECK(write_segment(table, journal, &next, arena, &location, &checksum, error));
    FIRN_CHECK(make_text(ledger, kept, location, checksum, next.count, snapshot_id, arena, property,
                         error));
out:
    firn_free(next.items);
    firn_arena_free(next.arena);
    return status;
}
