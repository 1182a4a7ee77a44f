/** Which text is a ref's ledger, and which entries belong to its history. */
#include <string.h>

#include "base/alloc.h"
#include "lake/ledger_internal.h"

/** How far clocks of v1 tables' writers may be apart (Iceberg's own writers refuse more). */
#define CLOCK_TOLERANCE_MS 60000

static char present; /* its address marks a key */

/** The head that a text names, or none where it can't be understood: then it counts as it stands. */
static firn_status head_of(const char *text, int64_t *out, firn_error *error) {
    firn_ledger_property property;
    *out = FIRN_NO_SNAPSHOT;
    if (text == NULL) return FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_ledger_property_parse(text, arena, &property, NULL);
    if (status == FIRN_OK) *out = property.head;
    firn_arena_free(arena);
    return status == FIRN_NO_MEMORY ? firn_fail_memory(error) : FIRN_OK;
}

static bool has_positive(const firn_snapshot *snapshot, const char *key) {
    const char *text = json_string_value(json_object_get(snapshot->summary, key));
    return text != NULL && strspn(text, "0") != strlen(text);
}

/** Whether what a snapshot did needs others before it. */
static bool builds_on_others(const firn_snapshot *snapshot) {
    bool appends = snapshot->operation == NULL || strcmp(snapshot->operation, "append") == 0 ||
                   strcmp(snapshot->operation, "overwrite") == 0;
    return !appends || has_positive(snapshot, "deleted-data-files") ||
           has_positive(snapshot, "deleted-records") ||
           has_positive(snapshot, "removed-delete-files");
}

bool firn_ledger_is_first(const firn_table_metadata *metadata, const firn_snapshot *snapshot) {
    int64_t before = 0;
    if (snapshot->has_parent || builds_on_others(snapshot)) return false;
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        int64_t number = metadata->snapshots[i].sequence_number;
        before += number > 0 && number < snapshot->sequence_number ? 1 : 0;
    }
    return snapshot->sequence_number == 0 || before == snapshot->sequence_number - 1;
}

static firn_status add_ancestor(firn_ledger_history *history, const firn_snapshot *snapshot,
                                firn_error *error) {
    int64_t source = 0;
    history->oldest = snapshot;
    FIRN_TRY(firn_map_set_int(history->own, snapshot->snapshot_id, &present, error));
    if (!firn_ledger_published_by(snapshot, &source)) return FIRN_OK;
    FIRN_TRY(firn_map_set_int(history->own, source, &present, error));
    return firn_vector_push(&history->published, error, snapshot);
}

static firn_status walk(const firn_table *table, int64_t head, firn_ledger_history *history,
                        firn_error *error) {
    const firn_snapshot *snapshot = table->snapshot;
    history->complete = snapshot == NULL;
    for (size_t steps = 0; snapshot != NULL; steps++) {
        if (steps == history->metadata->snapshot_count) {
            return firn_fail(error, FIRN_CORRUPT, "table %s: snapshot %lld is its own ancestor",
                             table->display_name, (long long)snapshot->snapshot_id);
        }
        const char *text = firn_ledger_property_of_snapshot(snapshot);
        if (history->property != NULL && snapshot->snapshot_id == head) text = history->property;
        if (text != NULL) {
            history->text = text;
            history->trusted = true;
            return FIRN_OK;
        }
        FIRN_TRY(add_ancestor(history, snapshot, error));
        /* Without sequence numbers that is no proof, only likely. */
        history->complete =
            snapshot->sequence_number > 0 && firn_ledger_is_first(history->metadata, snapshot);
        snapshot =
            !snapshot->has_parent
                ? NULL
                : firn_table_metadata_snapshot(history->metadata, snapshot->parent_snapshot_id);
    }
    return FIRN_OK;
}

static const firn_snapshot *any_with_ledger(const firn_table_metadata *metadata) {
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        if (firn_ledger_property_of_snapshot(&metadata->snapshots[i]) != NULL) {
            return &metadata->snapshots[i];
        }
    }
    return NULL;
}

firn_status firn_ledger_history_of(const firn_table *table, firn_arena *arena,
                                   firn_ledger_history *out, firn_error *error) {
    const firn_table_metadata *metadata = table->metadata;
    int64_t head = FIRN_NO_SNAPSHOT;
    *out = (firn_ledger_history){.metadata = metadata};
    out->own = firn_map_new();
    const char *key = firn_ledger_property_key(table->ref, arena);
    if (out->own == NULL || key == NULL) return firn_fail_memory(error);
    out->property = firn_table_metadata_property(metadata, key);
    if (out->property == NULL) {
        out->property = firn_table_metadata_property(metadata, FIRN_LEDGER_PROPERTY);
        out->inherited = out->property != NULL;
    }
    FIRN_TRY(head_of(out->property, &head, error));
    FIRN_TRY(walk(table, head, out, error));
    if (!out->trusted) out->text = out->property;
    return FIRN_OK;
}

firn_status firn_ledger_history_check(const firn_table *table, const firn_ledger_history *history,
                                      firn_error *error) {
    if (history->text != NULL || history->complete) return FIRN_OK;
    const firn_snapshot *other = any_with_ledger(history->metadata);
    if (other == NULL) return FIRN_OK;
    return firn_fail(error, FIRN_UNSAFE,
                     "table %s: property %s is gone, though snapshot %lld had it, and older "
                     "snapshots of '%s' were expired: which files it was given is lost; %s",
                     table->display_name, FIRN_LEDGER_PROPERTY, (long long)other->snapshot_id,
                     table->ref, FIRN_LEDGER_HINT);
}

void firn_ledger_history_release(firn_ledger_history *history) {
    firn_map_free(history->own);
    firn_vector_release(&history->published);
    *history = (firn_ledger_history){0};
}

bool firn_ledger_history_counts(const firn_ledger_history *history, const firn_ledger_item *item) {
    if (item->snapshot_id == FIRN_NO_SNAPSHOT) return true;
    if (firn_map_get_int(history->own, item->snapshot_id) != NULL) return true;
    if (history->complete) return false;
    /* Every ancestor that is younger than the oldest one of the chain is in the chain. What lies behind that one may be retained (by a tag) and an ancestor all the same. The entry's own numbers may be too low (a commit that was tried again), never too high. */
    const firn_snapshot *oldest = history->oldest;
    const firn_snapshot *own = firn_table_metadata_snapshot(history->metadata, item->snapshot_id);
    int64_t sequence_number = own == NULL ? item->sequence_number : own->sequence_number;
    int64_t time = own == NULL ? item->added_ms : own->timestamp_ms;
    if (sequence_number > oldest->sequence_number) return false;
    bool by_time = sequence_number == 0 && oldest->sequence_number == 0;
    return !by_time || time - CLOCK_TOLERANCE_MS <= oldest->timestamp_ms;
}
