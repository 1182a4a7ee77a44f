#include "lake/ledger.h"

#include "base/alloc.h"
#include "lake/ledger_internal.h"

typedef struct loading {
    firn_table *table;
    firn_ledger *ledger;
    const firn_ledger_history *history;
    uint32_t segment;
    size_t expected; /**< entries of the segment that is read, once it has said so */
    size_t seen;
    const firn_snapshot *publisher;
    int64_t only;   /**< the snapshot that it publishes, whose entries are wanted */
    bool found;     /**< some of them */
    firn_map *dead; /**< keys of entries that don't count */
} loading;

static char present; /* its address marks a key */

static firn_status parse_text(const char *text, firn_arena *arena, firn_ledger_property *out,
                              firn_error *error) {
    firn_error cause;
    firn_error_clear(&cause);
    firn_status status = firn_ledger_property_parse(text, arena, out, &cause);
    if (status == FIRN_OK) return FIRN_OK;
    if (status == FIRN_CORRUPT) {
        return firn_fail(error, FIRN_UNSAFE, "%.500s; %s", cause.message, FIRN_LEDGER_HINT);
    }
    if (error != NULL) *error = cause;
    return status;
}

/** Reads the segments of a text; `visit` gets every entry. `counts` (nullable): their sizes go there. */
static firn_status read_text(loading *load, const firn_ledger_property *property,
                             firn_ledger_item_visitor visit, firn_ledger_segment *counts,
                             firn_error *error) {
    int64_t total = 0;
    for (size_t i = 0; i < property->segment_count; i++) {
        load->segment = (uint32_t)i;
        load->seen = 0;
        FIRN_TRY(firn_ledger_segment_read(load->table->storage, property->segments[i],
                                          property->checksums[i], &load->expected, visit, load,
                                          error));
        if (counts != NULL) counts[i].entries = load->expected;
        total += (int64_t)load->expected;
    }
    if (total == property->entries) return FIRN_OK;
    return firn_fail(
        error, FIRN_UNSAFE, "property %s counts %lld entries and its segments have %lld; %s",
        FIRN_LEDGER_PROPERTY, (long long)property->entries, (long long)total, FIRN_LEDGER_HINT);
}

static firn_status remember_dead(loading *load, const firn_ledger_item *item, firn_error *error) {
    char *location = firn_strndup((const char *)item->location.data, item->location.size);
    char *key = location == NULL ? NULL : firn_location_key(location);
    firn_status status =
        key == NULL ? firn_fail_memory(error) : firn_map_set_text(load->dead, key, &present, error);
    firn_free(location);
    firn_free(key);
    return status;
}

static firn_status visit_own(void *context, const firn_ledger_item *item, firn_error *error) {
    loading *load = context;
    if (load->seen++ == 0) FIRN_TRY(firn_ledger_reserve(load->ledger, load->expected, error));
    if (!load->history->trusted && !firn_ledger_history_counts(load->history, item)) {
        load->ledger->segments.items[load->segment].has_dead = true;
        return remember_dead(load, item, error);
    }
    return firn_ledger_put(load->ledger, item, load->segment, error);
}

static firn_status load_own(loading *load, const char *text, firn_arena *arena, firn_error *error) {
    firn_ledger *ledger = load->ledger;
    firn_ledger_property property;
    FIRN_TRY(parse_text(text, arena, &property, error));
    ledger->partly = property.partly;
    FIRN_TRY(firn_vector_reserve(&ledger->segments, error, property.segment_count));
    for (size_t i = 0; i < property.segment_count; i++) {
        const char *location = firn_arena_strdup(ledger->arena, property.segments[i]);
        if (location == NULL) return firn_fail_memory(error);
        ledger->segments.items[ledger->segments.count++] =
            (firn_ledger_segment){.location = location, .checksum = property.checksums[i]};
    }
    return read_text(load, &property, visit_own, ledger->segments.items, error);
}

static firn_status visit_published(void *context, const firn_ledger_item *item, firn_error *error) {
    loading *load = context;
    if (item->snapshot_id != load->only) return FIRN_OK;
    load->found = true;
    firn_ledger_item own = *item;
    own.snapshot_id = load->publisher->snapshot_id;
    own.sequence_number = load->publisher->sequence_number;
    own.added_ms = load->publisher->timestamp_ms;
    return firn_ledger_put(load->ledger, &own, FIRN_LEDGER_UNWRITTEN, error);
}

static firn_status find_published(loading *load, firn_arena *arena, firn_error *error) {
    const firn_ledger_history *history = load->history;
    const firn_snapshot *source = firn_table_metadata_snapshot(history->metadata, load->only);
    const char *text = source == NULL ? NULL : firn_ledger_property_of_snapshot(source);
    firn_ledger_property property;
    load->found = text != NULL; /* be it that it added nothing */
    if (text == NULL) text = history->property;
    if (text == NULL) return FIRN_OK;
    FIRN_TRY(parse_text(text, arena, &property, error));
    return read_text(load, &property, visit_published, NULL, error);
}

/** What a published snapshot added is the publisher's now, and so the history's, though the ledger of the history does not name it yet. Where no ledger knows any more, the manifests do. */
static firn_status load_published(loading *load, firn_arena *arena, firn_error *error) {
    const firn_ledger_history *history = load->history;
    for (size_t i = history->published.count; i-- > 0;) {
        load->publisher = history->published.items[i];
        (void)firn_ledger_published_by(load->publisher, &load->only);
        FIRN_TRY(find_published(load, arena, error));
        if (load->found) continue;
        FIRN_TRY(
            firn_ledger_put_snapshot(load->ledger, load->table, load->publisher, false, error));
    }
    return FIRN_OK;
}

static firn_status visit_beyond(void *context, const firn_ledger_item *item, firn_error *error) {
    return remember_dead(context, item, error);
}

/** The branch's own property goes beyond its history: a rollback. What it had is only counted. */
static firn_status load_beyond(loading *load, firn_arena *arena, firn_error *error) {
    const firn_ledger_history *history = load->history;
    firn_ledger_property property;
    bool beyond = history->trusted && !history->inherited && history->property != NULL &&
                  strcmp(history->property, history->text) != 0;
    if (!beyond) return FIRN_OK;
    /* Others may have written to the property; the history tells, and the next commit mends it. */
    firn_status status = firn_ledger_property_parse(history->property, arena, &property, error);
    if (status == FIRN_OK) status = read_text(load, &property, visit_beyond, NULL, error);
    if (status != FIRN_CORRUPT && status != FIRN_UNSAFE) return status;
    if (error != NULL) firn_error_clear(error);
    return FIRN_OK;
}

static void count_rolled_back(loading *load) {
    for (size_t i = 0; i < firn_map_count(load->dead); i++) {
        bool counts = firn_ledger_by_key(load->ledger, firn_map_key_at(load->dead, i)) != NULL;
        load->ledger->rolled_back += counts ? 0 : 1;
    }
}

static firn_status fill(loading *load, firn_arena *arena, firn_error *error) {
    const firn_ledger_history *history = load->history;
    FIRN_TRY(firn_ledger_history_check(load->table, history, error));
    if (history->text != NULL) {
        load->ledger->text = firn_arena_strdup(load->ledger->arena, history->text);
        if (load->ledger->text == NULL) return firn_fail_memory(error);
        FIRN_TRY(load_own(load, history->text, arena, error));
    }
    FIRN_TRY(load_published(load, arena, error));
    FIRN_TRY(load_beyond(load, arena, error));
    count_rolled_back(load);
    return FIRN_OK;
}

firn_status firn_ledger_load(firn_table *table, firn_ledger **out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_ledger_history history = {0};
    loading load = {.table = table, .history = &history, .dead = firn_map_new()};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL || load.dead == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_ledger_new(&load.ledger, error));
    FIRN_CHECK(firn_ledger_history_of(table, arena, &history, error));
    FIRN_CHECK(fill(&load, arena, error));
    *out = load.ledger;
    load.ledger = NULL;
out:
    firn_ledger_free(load.ledger);
    firn_ledger_history_release(&history);
    firn_map_free(load.dead);
    firn_arena_free(arena);
    return firn_error_wrap(error, status, "table %s: ledger", table->display_name);
}

bool firn_ledger_is_partial(const firn_ledger *ledger) {
    return ledger->partly;
}

void firn_ledger_confirm(firn_ledger *ledger) {
    ledger->partly = false;
}

bool firn_ledger_was_there(const firn_ledger *ledger) {
    return ledger->text != NULL;
}

static firn_status same_text(const char *a, const char *b, bool *out) {
    *out = (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
    return FIRN_OK;
}

firn_status firn_ledger_is_current(const firn_ledger *ledger, const firn_table *table, bool *out,
                                   firn_error *error) {
    firn_ledger_history history = {0};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_ledger_history_of(table, arena, &history, error);
    if (status == FIRN_OK) status = same_text(history.text, ledger->text, out);
    firn_ledger_history_release(&history);
    firn_arena_free(arena);
    return status;
}
