/* Which snapshots still name files that were replaced or are gone: those in which they are live. A ledger tells one commit that added a file; others may have
 * added it again, and those that come after may have taken it out. */
#include "base/alloc.h"
#include "base/cancel.h"
#include "lake/sync_internal.h"

/* Findings that are live in a manifest, by number. */
typedef struct members {
    size_t count;
    const size_t *items;
} members;

typedef struct subject {
    firn_sync_finding *finding;
    size_t seen_by; /* the last snapshot that was counted, from 1 */
    int64_t ids[FIRN_SYNC_SNAPSHOTS];
} subject;

typedef struct history {
    firn_sync_work *work;
    firn_arena *arena;
    FIRN_VECTOR(subject) subjects;
    firn_map *by_location; /* location key to the number of a subject, from 1 */
    firn_map *manifests;   /* by path: members */
    FIRN_VECTOR(size_t) found;
} history;

static firn_status add_subject(history *state, firn_sync_finding *finding, firn_error *error) {
    subject added = {.finding = finding};
    char *key = firn_location_key(finding->location);
    if (key == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_vector_push(&state->subjects, error, added));
    FIRN_CHECK(firn_map_set_text(state->by_location, key, (void *)(uintptr_t)state->subjects.count,
                                 error));
out:
    firn_free(key);
    return status;
}

static firn_status visit_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    history *state = context;
    if (entry->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    char *key = firn_location_key(entry->file.path);
    if (key == NULL) return firn_fail_memory(error);
    size_t number = (size_t)(uintptr_t)firn_map_get_text(state->by_location, key);
    firn_free(key);
    return number == 0 ? FIRN_OK : firn_vector_push(&state->found, error, number - 1);
}

static firn_status read_manifest(history *state, const firn_manifest_file *manifest,
                                 const members **out, firn_error *error) {
    *out = firn_map_get_text(state->manifests, manifest->path);
    if (*out != NULL) return FIRN_OK;
    state->found.count = 0;
    FIRN_TRY(firn_cancel_check(error));
    FIRN_TRY(
        firn_table_read_manifest(state->work->table, manifest, NULL, visit_entry, state, error));
    size_t count = state->found.count;
    members *made = firn_arena_alloc(state->arena, 1, sizeof *made);
    size_t *items = firn_arena_alloc(state->arena, count + 1, sizeof *items);
    if (made == NULL || items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) items[i] = state->found.items[i];
    *made = (members){count, items};
    *out = made;
    return firn_map_set_text(state->manifests, manifest->path, made, error);
}

static void count_members(history *state, const members *live, size_t number, int64_t snapshot_id) {
    for (size_t i = 0; i < live->count; i++) {
        subject *at = &state->subjects.items[live->items[i]];
        if (at->seen_by == number) continue;
        at->seen_by = number;
        size_t count = at->finding->snapshots++;
        if (count < FIRN_SYNC_SNAPSHOTS) at->ids[count] = snapshot_id;
    }
}

static firn_status look_at(history *state, const firn_snapshot *snapshot, size_t number,
                           firn_arena *scratch, firn_error *error) {
    const firn_manifest_file *manifests = NULL;
    size_t count = 0;
    FIRN_TRY(
        firn_table_manifests(state->work->table, snapshot, scratch, &manifests, &count, error));
    for (size_t i = 0; i < count; i++) {
        const members *live = NULL;
        if (manifests[i].content != FIRN_CONTENT_DATA) continue;
        FIRN_TRY(read_manifest(state, &manifests[i], &live, error));
        count_members(state, live, number, snapshot->snapshot_id);
    }
    return FIRN_OK;
}

/* What of a snapshot can't be read names nothing to readers, and is no reason to stop. */
static firn_status look_at_all(history *state, firn_arena *scratch, firn_error *error) {
    const firn_table_metadata *metadata = state->work->table->metadata;
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        firn_error problem;
        firn_error_clear(&problem);
        firn_arena_clear(scratch);
        firn_status status = look_at(state, &metadata->snapshots[i], i + 1, scratch, &problem);
        if (status != FIRN_NO_MEMORY && status != FIRN_CANCELLED) continue;
        if (error != NULL) *error = problem;
        return status;
    }
    return FIRN_OK;
}

static bool same_ids(const subject *a, const subject *b) {
    size_t count = a->finding->snapshots;
    if (count != b->finding->snapshots) return false;
    for (size_t i = 0; i < count && i < FIRN_SYNC_SNAPSHOTS; i++) {
        if (a->ids[i] != b->ids[i]) return false;
    }
    return true;
}

/* There may be a million findings of one commit. */
static firn_status tell(history *state, firn_error *error) {
    for (size_t i = 0; i < state->subjects.count; i++) {
        subject *at = &state->subjects.items[i];
        if (i > 0 && same_ids(at, at - 1)) {
            at->finding->snapshot_ids = (at - 1)->finding->snapshot_ids;
            continue;
        }
        int64_t *ids =
            firn_arena_alloc(state->work->result->arena, FIRN_SYNC_SNAPSHOTS, sizeof *ids);
        if (ids == NULL) return firn_fail_memory(error);
        for (size_t k = 0; k < FIRN_SYNC_SNAPSHOTS; k++) ids[k] = at->ids[k];
        at->finding->snapshot_ids = ids;
    }
    return FIRN_OK;
}

firn_status firn_sync_find_snapshots(firn_sync_work *work, firn_error *error) {
    firn_sync_result *result = work->result;
    firn_status status = FIRN_OK;
    if (result->replaced.count == 0 && result->missing.count == 0) return FIRN_OK;
    firn_arena *scratch = firn_arena_new();
    history state = {.work = work,
                     .arena = firn_arena_new(),
                     .by_location = firn_map_new(),
                     .manifests = firn_map_new()};
    if (scratch == NULL || state.arena == NULL || state.by_location == NULL ||
        state.manifests == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < result->replaced.count; i++) {
        result->replaced.items[i].snapshots = 0;
        FIRN_CHECK(add_subject(&state, &result->replaced.items[i], error));
    }
    for (size_t i = 0; i < result->missing.count; i++) {
        result->missing.items[i].snapshots = 0;
        FIRN_CHECK(add_subject(&state, &result->missing.items[i], error));
    }
    FIRN_CHECK(look_at_all(&state, scratch, error));
    FIRN_CHECK(tell(&state, error));
out:
    firn_vector_release(&state.subjects);
    firn_vector_release(&state.found);
    firn_map_free(state.by_location);
    firn_map_free(state.manifests);
    firn_arena_free(state.arena);
    firn_arena_free(scratch);
    return status;
}
