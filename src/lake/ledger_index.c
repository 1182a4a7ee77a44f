/** Entries of a ledger in memory, found by location. */
#include <string.h>

#include "base/alloc.h"
#include "lake/ledger_internal.h"

firn_status firn_ledger_new(firn_ledger **out, firn_error *error) {
    firn_ledger *ledger = firn_alloc_zeroed(1, sizeof *ledger);
    if (ledger == NULL) return firn_fail_memory(error);
    ledger->arena = firn_arena_new();
    ledger->units = firn_map_new();
    if (ledger->arena != NULL) {
        ledger->look_up_failed = firn_arena_alloc(ledger->arena, 1, sizeof *ledger->look_up_failed);
    }
    if (ledger->look_up_failed == NULL || ledger->units == NULL) {
        firn_ledger_free(ledger);
        return firn_fail_memory(error);
    }
    *out = ledger;
    return FIRN_OK;
}

void firn_ledger_free(firn_ledger *ledger) {
    if (ledger == NULL) return;
    firn_vector_release(&ledger->records);
    firn_vector_release(&ledger->superseded);
    firn_vector_release(&ledger->segments);
    firn_free(ledger->slots);
    firn_map_free(ledger->units);
    firn_arena_free(ledger->arena);
    firn_free(ledger);
}

static uint32_t tag_of(uint64_t hash) {
    return (uint32_t)(hash >> 32);
}

static bool is_record(const firn_ledger *ledger, firn_ledger_slot slot, firn_slice key,
                      uint64_t hash) {
    if (slot.tag != tag_of(hash)) return false;
    const firn_ledger_record *record = &ledger->records.items[slot.record - 1];
    return record->key_size == key.size && memcmp(record->key, key.data, key.size) == 0;
}

/** The slot of the key, or the empty one where it belongs. */
static size_t find_slot(const firn_ledger *ledger, firn_slice key, uint64_t hash) {
    size_t mask = ledger->slot_count - 1;
    size_t at = (size_t)hash & mask;
    while (ledger->slots[at].record != 0 && !is_record(ledger, ledger->slots[at], key, hash)) {
        at = (at + 1) & mask;
    }
    return at;
}

static firn_status rehash(firn_ledger *ledger, size_t slot_count, firn_error *error) {
    firn_ledger_slot *slots = firn_alloc_zeroed(slot_count, sizeof *slots);
    if (slots == NULL) return firn_fail_memory(error);
    firn_free(ledger->slots);
    ledger->slots = slots;
    ledger->slot_count = slot_count;
    for (size_t i = 0; i < ledger->records.count; i++) {
        const firn_ledger_record *record = &ledger->records.items[i];
        uint64_t hash = firn_hash_bytes(record->key, record->key_size);
        size_t at = (size_t)hash & (slot_count - 1);
        while (slots[at].record != 0) at = (at + 1) & (slot_count - 1);
        slots[at] = (firn_ledger_slot){(uint32_t)(i + 1), tag_of(hash)};
    }
    return FIRN_OK;
}

firn_status firn_ledger_reserve(firn_ledger *ledger, size_t more, firn_error *error) {
    size_t count = ledger->records.count;
    if (more >= UINT32_MAX / 2 - count) {
        return firn_fail(error, FIRN_LIMIT, "a ledger of more than %u files",
                         (unsigned)(UINT32_MAX / 2));
    }
    count += more;
    FIRN_TRY(firn_vector_reserve(&ledger->records, error, count));
    size_t slot_count = ledger->slot_count == 0 ? 16 : ledger->slot_count;
    while (slot_count / 2 < count) slot_count *= 2;
    return slot_count == ledger->slot_count ? FIRN_OK : rehash(ledger, slot_count, error);
}

static firn_status unit_of(firn_ledger *ledger, firn_slice name, firn_ledger_unit **out,
                           firn_error *error) {
    *out = NULL;
    if (name.data == NULL) return FIRN_OK;
    firn_ledger_unit *unit = ledger->last_unit;
    if (unit == NULL || !firn_slice_equal(firn_slice_text(unit->name), name)) {
        unit = firn_map_get(ledger->units, name, NULL);
    }
    if (unit == NULL) {
        unit = firn_arena_alloc(ledger->arena, 1, sizeof *unit);
        char *copy = firn_arena_strndup(ledger->arena, (const char *)name.data, name.size);
        if (unit == NULL || copy == NULL) return firn_fail_memory(error);
        unit->name = copy;
        FIRN_TRY(firn_map_set(ledger->units, name, unit, error));
    }
    *out = ledger->last_unit = unit;
    return FIRN_OK;
}

firn_status firn_ledger_key(const char *location, firn_arena *arena, const char **out,
                            firn_error *error) {
    *out = firn_location_key_within(location);
    if (*out == NULL) {
        char *made = firn_location_key(location);
        *out = made == NULL ? NULL : firn_arena_strdup(arena, made);
        firn_free(made);
        if (*out == NULL) return firn_fail_memory(error);
    }
    size_t size = strlen(*out);
    if (size > UINT32_MAX) return firn_fail(error, FIRN_LIMIT, "a location of %zu bytes", size);
    return FIRN_OK;
}

static firn_status set_key(firn_ledger *ledger, firn_ledger_record *record, firn_error *error) {
    FIRN_TRY(firn_ledger_key(record->entry.location, ledger->arena, &record->key, error));
    record->key_size = (uint32_t)strlen(record->key);
    return FIRN_OK;
}

static firn_status make_record(firn_ledger *ledger, const firn_ledger_item *item,
                               firn_ledger_unit *unit, firn_ledger_record *out, firn_error *error) {
    out->entry = (firn_ledger_entry){.unit = unit == NULL ? NULL : unit->name,
                                     .size = item->size,
                                     .modified_ns = item->modified_ns,
                                     .rows = item->rows,
                                     .snapshot_id = item->snapshot_id,
                                     .sequence_number = item->sequence_number,
                                     .removed = item->removed,
                                     .added_ms = item->added_ms};
    out->entry.location =
        firn_arena_strndup(ledger->arena, (const char *)item->location.data, item->location.size);
    if (out->entry.location == NULL) return firn_fail_memory(error);
    if (item->etag.data != NULL) {
        out->entry.etag =
            firn_arena_strndup(ledger->arena, (const char *)item->etag.data, item->etag.size);
        if (out->entry.etag == NULL) return firn_fail_memory(error);
    }
    return set_key(ledger, out, error);
}

/* Sums wrap: what was added is taken off again. */
static void count_entry(firn_ledger_unit *unit, const firn_ledger_entry *entry, bool comes) {
    size_t one = comes ? 1 : SIZE_MAX;
    if (!entry->removed) {
        unit->present += one;
        return;
    }
    unit->removed += one;
    if (entry->rows <= 0) {
        /* Earlier versions wrote 0 for all. */
        unit->removed_unknown += one;
        return;
    }
    uint64_t rows = (uint64_t)entry->rows;
    unit->removed_rows += comes ? rows : -rows;
}

static firn_ledger_unit *find_unit(firn_ledger *ledger, const char *name) {
    return name == NULL ? &ledger->nameless : firn_map_get_text(ledger->units, name);
}

static firn_status supersede(firn_ledger *ledger, firn_ledger_record *old,
                             const firn_ledger_record *record, firn_error *error) {
    if (record->segment != FIRN_LEDGER_UNWRITTEN && old->segment == record->segment &&
        old->entry.snapshot_id == record->entry.snapshot_id) {
        return firn_fail(error, FIRN_CORRUPT, "has %s twice", record->entry.location);
    }
    /* Of one snapshot the later word alone counts: no rollback comes between them. */
    if (old->entry.snapshot_id != record->entry.snapshot_id) {
        FIRN_TRY(firn_vector_push(&ledger->superseded, error, *old));
    }
    count_entry(find_unit(ledger, old->entry.unit), &old->entry, false);
    count_entry(find_unit(ledger, record->entry.unit), &record->entry, true);
    *old = *record;
    return FIRN_OK;
}

firn_status firn_ledger_put(firn_ledger *ledger, const firn_ledger_item *item, uint32_t segment,
                            firn_error *error) {
    firn_ledger_record record = {.segment = segment};
    firn_ledger_unit *unit = NULL;
    if (ledger->records.count == ledger->slot_count / 2 ||
        ledger->records.count == ledger->records.capacity) {
        FIRN_TRY(firn_ledger_reserve(ledger, 1, error));
    }
    FIRN_TRY(unit_of(ledger, item->unit, &unit, error));
    FIRN_TRY(make_record(ledger, item, unit, &record, error));
    uint64_t hash = firn_hash_bytes(record.key, record.key_size);
    size_t at = find_slot(ledger, firn_slice_of(record.key, record.key_size), hash);
    if (ledger->slots[at].record != 0) {
        return supersede(ledger, &ledger->records.items[ledger->slots[at].record - 1], &record,
                         error);
    }
    ledger->records.items[ledger->records.count++] = record;
    ledger->slots[at] = (firn_ledger_slot){(uint32_t)ledger->records.count, tag_of(hash)};
    count_entry(unit == NULL ? &ledger->nameless : unit, &record.entry, true);
    return FIRN_OK;
}

const firn_ledger_record *firn_ledger_by_key(const firn_ledger *ledger, firn_slice key) {
    if (ledger->slot_count == 0) return NULL;
    size_t at = find_slot(ledger, key, firn_hash_bytes(key.data, key.size));
    return ledger->slots[at].record == 0 ? NULL
                                         : &ledger->records.items[ledger->slots[at].record - 1];
}

static firn_slice slice_or_null(const char *text) {
    return text == NULL ? (firn_slice){0} : firn_slice_text(text);
}

firn_ledger_item firn_ledger_item_of(const firn_ledger_entry *entry) {
    return (firn_ledger_item){.location = firn_slice_text(entry->location),
                              .unit = slice_or_null(entry->unit),
                              .etag = slice_or_null(entry->etag),
                              .size = entry->size,
                              .modified_ns = entry->modified_ns,
                              .rows = entry->rows,
                              .snapshot_id = entry->snapshot_id,
                              .sequence_number = entry->sequence_number,
                              .added_ms = entry->added_ms,
                              .removed = entry->removed};
}

/* --- what callers see --------------------------------------------------------------------------- */

static firn_ledger_entry of_array(const void *context, size_t index) {
    const firn_ledger_entry *entries = context;
    return entries[index];
}

firn_ledger_entries firn_ledger_entries_of(const firn_ledger_entry *entries, size_t count) {
    return (firn_ledger_entries){.count = count, .at = of_array, .context = entries};
}

const firn_ledger_entry *firn_ledger_find(const firn_ledger *ledger, const char *location) {
    const char *key = firn_location_key_within(location);
    char *made = key == NULL ? firn_location_key(location) : NULL;
    if (key == NULL) key = made;
    if (key == NULL) *ledger->look_up_failed = true;
    const firn_ledger_record *record =
        key == NULL ? NULL : firn_ledger_by_key(ledger, firn_slice_text(key));
    firn_free(made);
    return record == NULL ? NULL : &record->entry;
}

size_t firn_ledger_count(const firn_ledger *ledger) {
    return ledger->records.count;
}

const firn_ledger_entry *firn_ledger_at(const firn_ledger *ledger, size_t index) {
    return &ledger->records.items[index].entry;
}

size_t firn_ledger_position(const firn_ledger *ledger, const firn_ledger_entry *entry) {
    const firn_ledger_record *record = (const firn_ledger_record *)(const void *)entry;
    return (size_t)(record - ledger->records.items);
}

bool firn_ledger_has_unit(const firn_ledger *ledger, const char *unit) {
    const firn_ledger_unit *found = firn_map_get_text(ledger->units, unit);
    return found != NULL && (found->present > 0 || found->adopted);
}

size_t firn_ledger_files_of(const firn_ledger *ledger, const char *unit) {
    const firn_ledger_unit *found = firn_map_get_text(ledger->units, unit);
    return found == NULL ? 0 : found->present;
}

firn_ledger_removed firn_ledger_removed_of(const firn_ledger *ledger, const char *unit) {
    const firn_ledger_unit *found =
        unit == NULL ? &ledger->nameless : firn_map_get_text(ledger->units, unit);
    if (found == NULL) return (firn_ledger_removed){0};
    bool known = found->removed_unknown == 0 && found->removed_rows <= INT64_MAX;
    return (firn_ledger_removed){found->removed, known ? (int64_t)found->removed_rows : -1};
}

size_t firn_ledger_rolled_back(const firn_ledger *ledger) {
    return ledger->rolled_back;
}

size_t firn_ledger_segment_count(const firn_ledger *ledger) {
    return ledger->segments.count;
}

firn_status firn_ledger_adopt_units(firn_ledger *ledger, const char *const *units, size_t count,
                                    firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        firn_ledger_unit *unit = NULL;
        FIRN_TRY(unit_of(ledger, firn_slice_text(units[i]), &unit, error));
        unit->adopted = true;
    }
    return FIRN_OK;
}

firn_status firn_ledger_adopt(firn_ledger *ledger, const firn_ledger_entry *entries, size_t count,
                              firn_error *error) {
    FIRN_TRY(firn_ledger_reserve(ledger, count, error));
    for (size_t i = 0; i < count; i++) {
        firn_ledger_item item = firn_ledger_item_of(&entries[i]);
        FIRN_TRY(firn_ledger_put(ledger, &item, FIRN_LEDGER_UNWRITTEN, error));
    }
    return FIRN_OK;
}
