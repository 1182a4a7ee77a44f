#include <string.h>

#include "base/alloc.h"
#include "base/location.h"
#include "base/map.h"
#include "upkeep/delete_change.h"
#include "upkeep/rewrite_deletes_internal.h"

#define DEFAULT_TARGET_BYTES ((int64_t)64 << 20)

static firn_status read_settings(firn_delete_planner *plan, firn_error *error) {
    const firn_table_metadata *metadata = plan->table->metadata;
    const char *granularity = firn_table_metadata_property(metadata, "write.delete.granularity");
    plan->vectors = metadata->format_version >= 3;
    plan->file_granularity = granularity != NULL && strcmp(granularity, "file") == 0;
    FIRN_TRY(firn_table_metadata_property_int(metadata, "write.delete.target-file-size-bytes",
                                              DEFAULT_TARGET_BYTES, &plan->target_bytes, error));
    if (plan->target_bytes < 1) plan->target_bytes = DEFAULT_TARGET_BYTES;
    return FIRN_OK;
}

/* The data files that deletes of the selected groups reach, group by group. */
static firn_status list_reached(firn_delete_planner *plan, firn_error *error) {
    firn_rewrite_deletes_plan *out = plan->out;
    size_t *places = firn_arena_alloc(out->arena, out->group_count, sizeof *places);
    out->reached = firn_arena_alloc(out->arena, out->files.data_count, sizeof *out->reached);
    if (places == NULL || out->reached == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->group_count; i++) {
        places[i] = out->reached_count;
        if (out->groups[i].selected) out->reached_count += out->groups[i].reached_files;
    }
    for (size_t i = 0; i < out->files.data_count; i++) {
        size_t group = plan->data_groups[i];
        if (!plan->reached[i] || !out->groups[group].selected) continue;
        out->reached[places[group]++] = &out->files.data[i];
    }
    return FIRN_OK;
}

static firn_status keep_positions(void *context, size_t index, const firn_roaring *positions,
                                  int64_t largest_sequence_number, firn_error *error) {
    firn_rewrite_deletes_plan *out = context;
    out->largest_sequence_number[index] = largest_sequence_number;
    return firn_position_sets_add(out->sets, positions, &out->positions[index], error);
}

/* Looks up the deleted rows of the data files that are reached: by every delete of any kind, vectors too. */
static firn_status resolve(firn_delete_planner *plan, firn_error *error) {
    firn_rewrite_deletes_plan *out = plan->out;
    int64_t memory = firn_rewrite_deletes_memory(plan->options);
    FIRN_TRY(list_reached(plan, error));
    out->positions = firn_arena_alloc(out->arena, out->reached_count, sizeof *out->positions);
    out->largest_sequence_number =
        firn_arena_alloc(out->arena, out->reached_count, sizeof *out->largest_sequence_number);
    if (out->positions == NULL || out->largest_sequence_number == NULL) {
        return firn_fail_memory(error);
    }
    FIRN_TRY(firn_position_sets_new((size_t)memory / 8, &out->sets, error));
    return firn_rewrite_deletes_resolve(plan->table, &out->files, out->reached, out->reached_count,
                                        plan->options, keep_positions, out, error);
}

/* A vector that holds all of its file's deleted rows already stays. */
static bool is_complete(const firn_live_file *vector, uint64_t count) {
    return vector != NULL && vector->entry.file.record_count >= 0 &&
           (uint64_t)vector->entry.file.record_count == count;
}

static firn_status cover(firn_delete_planner *plan, firn_error *error) {
    firn_rewrite_deletes_plan *out = plan->out;
    out->covered = firn_arena_alloc(out->arena, out->reached_count, sizeof *out->covered);
    if (out->covered == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->reached_count; i++) {
        firn_position_place positions = out->positions[i];
        size_t data = (size_t)(out->reached[i] - out->files.data);
        size_t vector = plan->vector_of[data];
        firn_covered_file covered = {
            .data = out->reached[i],
            .group = plan->data_groups[data],
            .vector = vector == 0 ? NULL : &out->files.deletes[vector - 1],
            .positions = positions,
            .sequence_number = out->largest_sequence_number[i],
        };
        if (positions.count == 0 || is_complete(covered.vector, positions.count)) continue;
        firn_delete_group *group = &out->groups[covered.group];
        bool own_file = plan->vectors || plan->file_granularity;
        if (own_file || group->output_files == 0) {
            group->output_files++;
            out->output_files++;
        }
        int64_t rows = (int64_t)positions.count;
        group->deleted_rows += rows;
        out->deleted_rows += rows;
        out->covered[out->covered_count++] = covered;
    }
    return FIRN_OK;
}

static firn_status count_location(firn_map *covered, const char *path, bool add,
                                  firn_error *error) {
    char *key = firn_location_key(path);
    if (key == NULL) return firn_fail_memory(error);
    uintptr_t times = (uintptr_t)firn_map_get_text(covered, key);
    firn_status status = FIRN_OK;
    if (add) {
        status = firn_map_set_text(covered, key, (void *)(uintptr_t)1, error);
    } else if (times == 1) {
        status = firn_map_set_text(covered, key, (void *)(uintptr_t)2, error);
    } else if (times == 2) {
        status = firn_fail(error, FIRN_CORRUPT,
                           "data file %s is live twice: positions would delete rows of both", path);
    }
    firn_free(key);
    return status;
}

/* Positions name a path: they can't tell two live entries of one path apart, as sequence numbers do for equality deletes. */
static firn_status check_live_once(const firn_rewrite_deletes_plan *plan, firn_error *error) {
    firn_map *covered = firn_map_new();
    if (covered == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < plan->covered_count; i++) {
        status = count_location(covered, plan->covered[i].data->entry.file.path, true, error);
    }
    for (size_t i = 0; status == FIRN_OK && plan->covered_count > 0 && i < plan->files.data_count;
         i++) {
        status = count_location(covered, plan->files.data[i].entry.file.path, false, error);
    }
    firn_map_free(covered);
    return status;
}

static void remove_file(firn_rewrite_deletes_plan *out, const firn_live_file *deletes) {
    out->removed[out->removed_count++] = deletes;
    out->removed_bytes += firn_data_file_is_vector(&deletes->entry.file)
                              ? deletes->entry.file.content_size_in_bytes
                              : deletes->entry.file.file_size_in_bytes;
    if (firn_data_file_is_vector(&deletes->entry.file)) {
        out->removed_vectors++;
    } else if (firn_is_equality(deletes)) {
        out->removed_equality_files++;
    } else {
        out->removed_position_files++;
    }
}

static firn_status map_covered(const firn_rewrite_deletes_plan *out, firn_map *map,
                               firn_error *error) {
    for (size_t i = 0; i < out->covered_count; i++) {
        char *key = firn_location_key(out->covered[i].data->entry.file.path);
        if (key == NULL) return firn_fail_memory(error);
        firn_status status = firn_map_set_text(map, key, map, error);
        firn_free(key);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

/* A vector that is not in force for its data file, since its number is below or its partition another: the file is to have one vector only. */
static firn_status remove_idle_vectors(firn_delete_planner *plan, firn_error *error) {
    firn_rewrite_deletes_plan *out = plan->out;
    firn_status status = FIRN_OK;
    firn_map *covered = firn_map_new();
    if (covered == NULL) return firn_fail_memory(error);
    FIRN_CHECK(map_covered(out, covered, error));
    for (size_t i = 0; i < out->files.delete_count; i++) {
        const firn_live_file *vector = &out->files.deletes[i];
        char *key = NULL;
        if (plan->in_force[i] || !firn_data_file_is_vector(&vector->entry.file)) continue;
        FIRN_CHECK(firn_delete_single_key(&vector->entry.file, &key, error));
        if (key != NULL && firn_map_has_text(covered, key)) remove_file(out, vector);
        firn_free(key);
    }
out:
    firn_map_free(covered);
    return status;
}

/*
 * Every data file that an equality delete file reaches is in a selected group and was looked up, and so was every one that a position
 * delete file of a selected group reaches: these delete files have nothing left to say. A vector goes where a new one takes its place.
 */
static firn_status choose_removed(firn_delete_planner *plan, firn_error *error) {
    firn_rewrite_deletes_plan *out = plan->out;
    out->removed = firn_arena_alloc(out->arena, out->files.delete_count, sizeof *out->removed);
    if (out->removed == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->files.delete_count; i++) {
        const firn_live_file *deletes = &out->files.deletes[i];
        size_t group = plan->delete_groups[i];
        if (firn_data_file_is_vector(&deletes->entry.file)) continue;
        if (group == FIRN_NO_GROUP || out->groups[group].selected) remove_file(out, deletes);
    }
    for (size_t i = 0; i < out->covered_count; i++) {
        if (out->covered[i].vector != NULL) remove_file(out, out->covered[i].vector);
    }
    return plan->vectors ? remove_idle_vectors(plan, error) : FIRN_OK;
}

static firn_status make_plan(firn_delete_planner *plan, firn_error *error) {
    firn_table *table = plan->table;
    FIRN_TRY(firn_table_check_supported(table, "rewriting deletes", error));
    FIRN_TRY(read_settings(plan, error));
    FIRN_TRY(firn_table_live_files(table, table->snapshot, &plan->out->files, error));
    FIRN_TRY(firn_rewrite_deletes_group(plan, error));
    FIRN_TRY(firn_rewrite_deletes_choose(plan, error));
    FIRN_TRY(resolve(plan, error));
    FIRN_TRY(cover(plan, error));
    FIRN_TRY(check_live_once(plan->out, error));
    return choose_removed(plan, error);
}

firn_status firn_rewrite_deletes_plan_table(firn_table *table,
                                            const firn_rewrite_deletes_options *options,
                                            firn_rewrite_deletes_plan **out, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    *out = NULL;
    if (arena == NULL) return firn_fail_memory(error);
    firn_rewrite_deletes_plan *plan = firn_arena_alloc(arena, 1, sizeof *plan);
    if (plan == NULL) {
        firn_arena_free(arena);
        return firn_fail_memory(error);
    }
    plan->arena = arena;
    plan->metadata = table->metadata;
    firn_delete_planner planner = {.table = table, .options = options, .out = plan};
    firn_status status = make_plan(&planner, error);
    if (status != FIRN_OK) {
        firn_rewrite_deletes_plan_free(plan);
        return firn_table_error_wrap(table, status, error);
    }
    *out = plan;
    return FIRN_OK;
}

void firn_rewrite_deletes_plan_free(firn_rewrite_deletes_plan *plan) {
    if (plan == NULL) return;
    firn_position_sets_free(plan->sets);
    firn_live_files_release(&plan->files);
    firn_arena_free(plan->arena);
}
