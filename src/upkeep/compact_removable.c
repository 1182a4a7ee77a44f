/** Which delete files leave together with data files: those that nothing else needs. */
#include "base/location.h"
#include "upkeep/compact_internal.h"
#include "upkeep/delete_change.h"

/** Pairs that are tried one by one; what is left beyond it `remove-dangling-deletes` finds. */
#define MOST_PAIRS ((size_t)10000000)

typedef struct mark {
    bool touched; /* needed by a data file that goes */
    bool needed;  /* by one that stays, or by an output */
} mark;

static firn_status mark_data(const firn_compact_state *state, mark *marks, firn_arena *arena,
                             firn_error *error) {
    for (size_t i = 0; i < state->files->data_count; i++) {
        const size_t *found = NULL;
        size_t count = 0;
        FIRN_TRY(firn_delete_index_find(state->index, &state->files->data[i].entry, arena, &found,
                                        &count, error));
        for (size_t j = 0; j < count; j++) {
            if (state->goes[i]) marks[found[j]].touched = true;
            if (!state->goes[i]) marks[found[j]].needed = true;
        }
    }
    return FIRN_OK;
}

static firn_status mark_outputs(const firn_compact_state *state,
                                const firn_manifest_entry *const *outputs, size_t output_count,
                                mark *marks, firn_arena *arena, firn_error *error) {
    for (size_t i = 0; i < output_count; i++) {
        const size_t *found = NULL;
        size_t count = 0;
        FIRN_TRY(firn_delete_index_find(state->index, outputs[i], arena, &found, &count, error));
        for (size_t j = 0; j < count; j++) {
            const firn_data_file *deletes = &state->files->deletes[found[j]].entry.file;
            if (deletes->content == FIRN_CONTENT_EQUALITY_DELETES) marks[found[j]].needed = true;
        }
    }
    return FIRN_OK;
}

/**
 * What lies in manifests that were not opened may need those that are for every partition. What is for one data file leaves with it: a vector
 * must (specification, "Delete Formats").
 */
static void keep_global(const firn_compact_state *state, mark *marks) {
    const firn_live_files *files = state->files;
    for (size_t i = 0; i < files->delete_count && files->filtered; i++) {
        const firn_data_file *deletes = &files->deletes[i].entry.file;
        firn_slice only;
        if (firn_delete_single_file(deletes, &only)) continue;
        const firn_partition_spec *spec =
            firn_table_metadata_spec(state->metadata, deletes->spec_id);
        if (spec == NULL || firn_partition_spec_is_unpartitioned(spec)) marks[i].needed = true;
    }
}

/** Position delete files that a vector put out of force, and that only waited for their data file to go. */
static void mark_superseded(const firn_compact_state *state, mark *marks) {
    const firn_live_files *files = state->files;
    size_t waiting = 0, going = 0;
    for (size_t i = 0; i < files->data_count; i++) going += state->goes[i];
    for (size_t i = 0; i < files->delete_count; i++) waiting += !marks[i].touched;
    if (going == 0 || waiting > MOST_PAIRS / going) return;
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_manifest_entry *deletes = &files->deletes[i].entry;
        if (marks[i].touched || deletes->file.content != FIRN_CONTENT_POSITION_DELETES) continue;
        for (size_t j = 0; j < files->data_count && !marks[i].touched; j++) {
            marks[i].touched = state->goes[j] && firn_delete_may_apply(state->metadata, deletes,
                                                                       &files->data[j].entry);
        }
    }
}

/* Of a location of live data files, in a map. */
#define ONE_GOES ((void *)(uintptr_t)1)
#define ONE_STAYS ((void *)(uintptr_t)2)

static firn_status map_locations(const firn_compact_state *state, firn_map *map,
                                 firn_error *error) {
    for (size_t i = 0; i < state->files->data_count; i++) {
        char *key = firn_location_key(state->files->data[i].entry.file.path);
        if (key == NULL) return firn_fail_memory(error);
        bool stays = !state->goes[i] || firn_map_get_text(map, key) == ONE_STAYS;
        firn_status status = firn_map_set_text(map, key, stays ? ONE_STAYS : ONE_GOES, error);
        firn_free(key);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

/** What is for one data file leaves with it also where it is not in force: its number is below the data file's, or its partition another. */
static firn_status mark_own(const firn_compact_state *state, mark *marks, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_live_files *files = state->files;
    firn_map *map = firn_map_new();
    if (map == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->delete_count; i++) {
        char *key = NULL;
        if (marks[i].touched) continue;
        FIRN_CHECK(firn_delete_single_key(&files->deletes[i].entry.file, &key, error));
        if (key == NULL) continue;
        if (firn_map_count(map) == 0) status = map_locations(state, map, error);
        marks[i].touched = status == FIRN_OK && firn_map_get_text(map, key) == ONE_GOES;
        firn_free(key);
        if (status != FIRN_OK) goto out;
    }
out:
    firn_map_free(map);
    return status;
}

firn_status firn_compact_removable(const firn_compact_state *state,
                                   const firn_manifest_entry *const *outputs, size_t output_count,
                                   firn_live_file_list *out, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_live_files *files = state->files;
    if (files->delete_count == 0) return FIRN_OK;
    firn_arena *arena = firn_arena_new();
    mark *marks = firn_alloc_zeroed(files->delete_count, sizeof *marks);
    if (arena == NULL || marks == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(mark_data(state, marks, arena, error));
    FIRN_CHECK(mark_outputs(state, outputs, output_count, marks, arena, error));
    FIRN_CHECK(mark_own(state, marks, error));
    mark_superseded(state, marks);
    keep_global(state, marks);
    for (size_t i = 0; i < files->delete_count; i++) {
        if (!marks[i].touched || marks[i].needed) continue;
        FIRN_CHECK(firn_vector_push(out, error, &files->deletes[i]));
    }
out:
    firn_free(marks);
    firn_arena_free(arena);
    return status;
}
