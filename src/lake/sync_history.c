/* Which snapshots still name files that were replaced or are gone: those that come from the one that added the file. */
#include <string.h>

#include "base/alloc.h"
#include "lake/sync_internal.h"

enum { UNKNOWN, DESCENDS, STRANGER };

typedef struct history {
    firn_sync_work *work;
    const firn_table_metadata *metadata;
    uint8_t *known;    /**< by snapshot, for the adding snapshot that is asked for */
    firn_map *answers; /**< by the snapshot that added: a finding with the answer */
} history;

static const firn_snapshot *parent_of(const history *state, const firn_snapshot *snapshot) {
    return snapshot->has_parent
               ? firn_table_metadata_snapshot(state->metadata, snapshot->parent_snapshot_id)
               : NULL;
}

/* Each snapshot is passed once for all who come by: what is on the way is marked as strange first, so that a circle ends. */
static bool descends(history *state, const firn_snapshot *snapshot) {
    const firn_snapshot *at = snapshot;
    uint8_t answer = STRANGER;
    for (; at != NULL; at = parent_of(state, at)) {
        uint8_t *known = &state->known[at - state->metadata->snapshots];
        if (*known != UNKNOWN) {
            answer = *known;
            break;
        }
        *known = STRANGER;
    }
    for (const firn_snapshot *passed = snapshot; answer == DESCENDS && passed != at;
         passed = parent_of(state, passed)) {
        state->known[passed - state->metadata->snapshots] = DESCENDS;
    }
    return answer == DESCENDS;
}

static firn_status answer_for(history *state, int64_t added_by, const firn_sync_finding **out,
                              firn_error *error) {
    *out = firn_map_get_int(state->answers, added_by);
    if (*out != NULL) return FIRN_OK;
    firn_arena *arena = state->work->result->arena;
    firn_sync_finding *answer = firn_arena_alloc(arena, 1, sizeof *answer);
    int64_t *ids = firn_arena_alloc(arena, FIRN_SYNC_SNAPSHOTS, sizeof *ids);
    if (answer == NULL || ids == NULL) return firn_fail_memory(error);
    *answer = (firn_sync_finding){.snapshot_ids = ids};
    memset(state->known, UNKNOWN, state->metadata->snapshot_count);
    const firn_snapshot *first = firn_table_metadata_snapshot(state->metadata, added_by);
    if (first != NULL) state->known[first - state->metadata->snapshots] = DESCENDS;
    for (size_t i = 0; first != NULL && i < state->metadata->snapshot_count; i++) {
        if (!descends(state, &state->metadata->snapshots[i])) continue;
        if (answer->snapshots < FIRN_SYNC_SNAPSHOTS) {
            ids[answer->snapshots] = state->metadata->snapshots[i].snapshot_id;
        }
        answer->snapshots++;
    }
    FIRN_TRY(firn_map_set_int(state->answers, added_by, answer, error));
    *out = answer;
    return FIRN_OK;
}

static firn_status tell(history *state, const firn_ledger_entry *entry, firn_sync_finding *finding,
                        firn_error *error) {
    const firn_sync_finding *answer = NULL;
    FIRN_TRY(answer_for(state, entry->snapshot_id, &answer, error));
    finding->snapshots = answer->snapshots;
    finding->snapshot_ids = answer->snapshot_ids;
    return FIRN_OK;
}

firn_status firn_sync_find_snapshots(firn_sync_work *work, firn_error *error) {
    firn_sync_result *result = work->result;
    firn_status status = FIRN_OK;
    const firn_table_metadata *metadata = work->table->metadata;
    history state = {work, metadata, firn_alloc_zeroed(metadata->snapshot_count + 1, 1),
                     firn_map_new()};
    if (state.known == NULL || state.answers == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < result->replaced.count; i++) {
        FIRN_CHECK(
            tell(&state, &work->replaced_entries.items[i], &result->replaced.items[i], error));
    }
    for (size_t i = 0; i < result->missing.count; i++) {
        FIRN_CHECK(tell(&state, &work->missing_entries.items[i], &result->missing.items[i], error));
    }
out:
    firn_free(state.known);
    firn_map_free(state.answers);
    return status;
}
