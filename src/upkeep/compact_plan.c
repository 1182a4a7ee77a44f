/** Which files are worth rewriting, and into how many. */
#include <string.h>

#include "base/cancel.h"
#include "data/location.h"
#include "upkeep/compact_internal.h"

#define DEFAULT_MIN_INPUT_FILES 5
#define DEFAULT_GROUP_BYTES ((int64_t)100 << 30)
#define DEFAULT_DELETE_RATIO 0.3
/* Times that a selection makes further files worth a rewrite, one after the other. */
#define MOST_SELECTIONS 10

void firn_compact_options_init(firn_compact_options *options) {
    *options = (firn_compact_options){
        .min_input_files = DEFAULT_MIN_INPUT_FILES,
        .max_file_group_size_bytes = DEFAULT_GROUP_BYTES,
        .delete_ratio_threshold = DEFAULT_DELETE_RATIO,
        .copy_pages = true,
    };
}

/** Delete files that would go if the selected groups were committed to the state that is planned from. */
static firn_status count_removable(planner *plan, firn_error *error) {
    firn_compact_plan *out = plan->out;
    firn_status status = FIRN_OK;
    firn_live_file_list removable = {0};
    size_t output_count = 0;
    firn_manifest_entry *outputs = firn_alloc_zeroed(out->group_count, sizeof *outputs);
    const firn_manifest_entry **pointers = firn_alloc_zeroed(out->group_count, sizeof *pointers);
    bool *goes = firn_alloc_zeroed(out->files.data_count, sizeof *goes);
    if (outputs == NULL || pointers == NULL || goes == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < out->group_count; i++) {
        const firn_compact_group *group = &out->groups[i];
        if (!group->selected || group->file_count == 0) continue;
        for (size_t j = 0; j < group->file_count; j++)
            goes[group->files[j] - out->files.data] = true;
        if (group->output_count == 0) continue;
        outputs[output_count] = firn_compact_output_entry(group, out->sequence_number);
        pointers[output_count] = &outputs[output_count];
        output_count++;
    }
    firn_compact_state state = {plan->table->metadata, &out->files, out->delete_index, goes};
    FIRN_CHECK(firn_compact_removable(&state, pointers, output_count, &removable, error));
    out->removed_delete_files = removable.count;
out:
    firn_vector_release(&removable);
    firn_free(outputs);
    firn_free(pointers);
    firn_free(goes);
    return status;
}

static void sum_up(firn_compact_plan *out) {
    for (size_t i = 0; i < out->files.data_count; i++) {
        out->table_bytes += out->files.data[i].entry.file.file_size_in_bytes;
        out->table_rows += out->files.data[i].entry.file.record_count;
    }
    out->table_files = out->files.data_count;
    out->table_delete_files = out->files.delete_count;
    for (size_t i = 0; i < out->group_count; i++) {
        const firn_compact_group *group = &out->groups[i];
        if (!group->selected) continue;
        out->selected_count++;
        out->input_files += group->file_count;
        out->output_files += group->output_count;
        out->input_bytes += group->bytes;
        out->deleted_rows += group->deleted_rows;
        if (group->output_bytes < 0) out->output_bytes = -1;
        if (out->output_bytes >= 0) out->output_bytes += group->output_bytes;
    }
}

static firn_status choose_target(planner *plan, firn_error *error) {
    int64_t target = plan->options->target_file_size_bytes;
    if (target == 0) target = plan->write.target_file_size_bytes;
    if (target <= 0) {
        return firn_fail(error, FIRN_INVALID, "the target file size must be above 0");
    }
    plan->out->target_file_size_bytes = target;
    return FIRN_OK;
}

/**
 * What deletes of several files take of each is guessed, and the guess rises when some of these files are gone. It is made here as the next plan will make it, so that this one leaves
 * nothing to it: the second run finds nothing to do.
 */
static firn_status select_groups(planner *plan, firn_compact_partition **partitions, size_t count,
                                 firn_error *error) {
    bool risen = true;
    for (int round = 0; risen && round <= MOST_SELECTIONS; round++) {
        plan->groups.count = 0;
        for (size_t i = 0; i < count; i++) {
            FIRN_TRY(firn_cancel_check(error));
            FIRN_TRY(firn_compact_choose(plan, partitions[i], error));
        }
        firn_compact_know_without_selected(plan, round + 1 >= MOST_SELECTIONS, &risen);
    }
    return FIRN_OK;
}

static firn_status make_groups(planner *plan, firn_error *error) {
    firn_compact_partition **partitions = NULL;
    size_t count = 0;
    firn_compact_plan *out = plan->out;
    FIRN_TRY(firn_compact_partitions(plan, &partitions, &count, error));
    FIRN_TRY(select_groups(plan, partitions, count, error));
    out->groups = firn_arena_alloc(out->arena, plan->groups.count, sizeof *out->groups);
    if (out->groups == NULL) return firn_fail_memory(error);
    if (plan->groups.count > 0) {
        memcpy(out->groups, plan->groups.items, plan->groups.count * sizeof *out->groups);
    }
    out->group_count = plan->groups.count;
    return FIRN_OK;
}

static firn_status make_plan(planner *plan, firn_error *error) {
    firn_table *table = plan->table;
    plan->out->arena = firn_arena_new();
    if (plan->out->arena == NULL) return firn_fail_memory(error);
    plan->out->metadata = table->metadata;
    plan->out->format_version = table->metadata->format_version;
    plan->out->snapshot_id = FIRN_NO_SNAPSHOT;
    if (table->snapshot != NULL) {
        plan->out->snapshot_id = table->snapshot->snapshot_id;
        plan->out->sequence_number = table->snapshot->sequence_number;
    }
    FIRN_TRY(firn_table_check_supported(table, "compaction", error));
    FIRN_TRY(firn_data_write_options_read(table->metadata, &plan->write, error));
    FIRN_TRY(firn_location_check(table->metadata, error));
    FIRN_TRY(choose_target(plan, error));
    FIRN_TRY(firn_table_live_files_matching(table, table->snapshot, plan->options->where,
                                            plan->options->preview ? FIRN_METRICS_NAN_COUNTS
                                                                   : FIRN_METRICS_ALL,
                                            &plan->out->files, error));
    FIRN_TRY(firn_compact_know_deletes(plan, error));
    FIRN_TRY(make_groups(plan, error));
    firn_compact_reach_free(plan->reach);
    plan->reach = NULL;
    FIRN_TRY(firn_compact_check_groups(plan, error));
    FIRN_TRY(count_removable(plan, error));
    sum_up(plan->out);
    return FIRN_OK;
}

firn_status firn_compact_make_plan(firn_table *table, const firn_compact_options *options,
                                   const firn_compact_again *again, firn_compact_plan **out,
                                   firn_error *error) {
    planner plan = {.table = table, .options = options, .again = again};
    plan.out = firn_alloc_zeroed(1, sizeof *plan.out);
    if (plan.out == NULL) return firn_fail_memory(error);
    firn_status status = make_plan(&plan, error);
    firn_vector_release(&plan.groups);
    firn_compact_reach_free(plan.reach);
    if (status != FIRN_OK) {
        firn_compact_plan_free(plan.out);
        return status;
    }
    *out = plan.out;
    return FIRN_OK;
}

firn_status firn_compact_plan_table(firn_table *table, const firn_compact_options *options,
                                    firn_compact_plan **out, firn_error *error) {
    return firn_compact_make_plan(table, options, NULL, out, error);
}

void firn_compact_plan_free(firn_compact_plan *plan) {
    if (plan == NULL) return;
    for (size_t i = 0; i < plan->group_count; i++) {
        firn_deletes_release(&plan->groups[i].deletes);
        firn_rewrite_looked_free(plan->groups[i].looked);
    }
    firn_delete_index_free(plan->delete_index);
    firn_live_files_release(&plan->files);
    firn_arena_free(plan->arena);
    firn_free(plan);
}
