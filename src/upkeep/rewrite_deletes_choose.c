/** Which deletes reach which data files, and where rewriting them gains something. */
#include <string.h>

#include "base/plural.h"
#include "upkeep/delete_change.h"
#include "upkeep/rewrite_deletes_internal.h"

/* What is counted of a group before it is judged. */
typedef struct tally {
    int64_t position_bytes;
    size_t unscoped_files; /* position delete files that are for more than one data file */
    size_t used_files;     /* position delete files that may apply to a live data file */
    size_t scoped_outputs; /* files that there would be with one per data file */
} tally;

static size_t files_of(int64_t bytes, int64_t target) {
    return bytes <= target ? 1 : (size_t)((bytes - 1) / target + 1);
}

/* What the walk over data files fills in. */
typedef struct look {
    firn_delete_planner *plan;
    tally *tallies;
    bool *used;
} look;

/* One data file: `found` are the delete files that apply to it. */
static void look_at(void *context, size_t data, const size_t *found, size_t count) {
    const look *at = context;
    firn_delete_planner *plan = at->plan;
    firn_delete_group *group = &plan->out->groups[plan->data_groups[data]];
    int64_t bytes = 0;
    bool positions = false;
    for (size_t i = 0; i < count; i++) {
        const firn_live_file *deletes = &plan->out->files.deletes[found[i]];
        at->used[found[i]] = true;
        if (firn_data_file_is_vector(&deletes->entry.file)) {
            plan->vector_of[data] = found[i] + 1;
            continue;
        }
        plan->reached[data] = true;
        if (firn_is_equality(deletes)) {
            group->equality = true;
            continue;
        }
        positions = true;
        bytes += deletes->entry.file.file_size_in_bytes;
    }
    if (plan->reached[data]) group->reached_files++;
    if (positions) {
        at->tallies[plan->data_groups[data]].scoped_outputs += files_of(bytes, plan->target_bytes);
    }
}

static firn_status look_at_all(firn_delete_planner *plan, tally *tallies, bool *used,
                               firn_error *error) {
    look at = {plan, tallies, used};
    return firn_delete_visit_data(plan->table, &plan->out->files, look_at, &at, error);
}

static void count_deletes(firn_delete_planner *plan, tally *tallies, const bool *used) {
    const firn_live_files *files = &plan->out->files;
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_live_file *deletes = &files->deletes[i];
        if (plan->delete_groups[i] == FIRN_NO_GROUP ||
            firn_data_file_is_vector(&deletes->entry.file))
            continue;
        tally *sums = &tallies[plan->delete_groups[i]];
        firn_slice path;
        plan->out->groups[plan->delete_groups[i]].position_files++;
        sums->unscoped_files += !firn_delete_single_file(&deletes->entry.file, &path);
        sums->used_files += used[i];
        if (used[i]) sums->position_bytes += deletes->entry.file.file_size_in_bytes;
    }
}

/* Position delete files that would be left, as far as can be told without reading them. */
static size_t expected_files(const firn_delete_planner *plan, const tally *sums) {
    if (sums->used_files == 0) return 0;
    if (plan->file_granularity) return sums->scoped_outputs;
    return files_of(sums->position_bytes, plan->target_bytes);
}

/*
 * A group is left as it is only where no equality delete reaches it and its position delete files would not become fewer. After a rewrite
 * that holds, so that the next run finds nothing to do.
 */
static firn_status judge(firn_delete_planner *plan, firn_delete_group *group, const tally *sums,
                         firn_error *error) {
    firn_arena *arena = plan->out->arena;
    size_t expected = expected_files(plan, sums);
    size_t count = group->position_files;
    bool wide = plan->file_granularity && sums->unscoped_files > 0;
    group->selected = true;
    if (group->equality) {
        group->reason = firn_arena_format(arena, "equality deletes reach %zu data file%s",
                                          group->reached_files, firn_plural(group->reached_files));
    } else if (plan->vectors && count > 0) {
        group->reason = "position delete files become deletion vectors";
    } else if (wide) {
        group->reason = "write.delete.granularity asks for one file per data file";
    } else if (expected < count) {
        group->reason = firn_arena_format(arena, "%zu position delete file%s become %zu", count,
                                          firn_plural(count), expected);
    } else {
        group->selected = false;
        group->reason = count == 0 ? "no delete files but vectors"
                                   : "its position delete files would not become fewer";
    }
    return group->reason == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_rewrite_deletes_choose(firn_delete_planner *plan, firn_error *error) {
    firn_rewrite_deletes_plan *out = plan->out;
    tally *tallies = firn_arena_alloc(out->arena, out->group_count, sizeof *tallies);
    bool *used = firn_arena_alloc(out->arena, out->files.delete_count, sizeof *used);
    plan->in_force = used;
    plan->vector_of = firn_arena_alloc(out->arena, out->files.data_count, sizeof *plan->vector_of);
    plan->reached = firn_arena_alloc(out->arena, out->files.data_count, sizeof *plan->reached);
    if (tallies == NULL || used == NULL || plan->vector_of == NULL || plan->reached == NULL) {
        return firn_fail_memory(error);
    }
    FIRN_TRY(look_at_all(plan, tallies, used, error));
    count_deletes(plan, tallies, used);
    for (size_t i = 0; i < out->group_count; i++) {
        FIRN_TRY(judge(plan, &out->groups[i], &tallies[i], error));
        out->selected_count += out->groups[i].selected;
    }
    return FIRN_OK;
}
