#include "firn/compaction.h"

#include "base/alloc.h"
#include "upkeep/compact.h"

struct firn_compaction {
    firn_table *table;
    firn_compact_options options;
    char *where; /* of the options */
    firn_compact_plan *plan;
};

void firn_compaction_options_init(firn_compaction_options *options) {
    firn_compact_options inner;
    firn_compact_options_init(&inner);
    *options = (firn_compaction_options){
        .size = sizeof *options,
        .min_input_files = inner.min_input_files,
        .max_file_group_size_bytes = inner.max_file_group_size_bytes,
        .delete_ratio_threshold = inner.delete_ratio_threshold,
    };
}

static firn_status translate(const firn_compaction_options *options, firn_compact_options *out,
                             firn_error *error) {
    firn_compact_options_init(out);
    if (options == NULL) return FIRN_OK;
    if (options->size < sizeof *options) {
        return firn_fail(
            error, FIRN_INVALID,
            "compaction options are not initialised; call firn_compaction_options_init");
    }
    out->target_file_size_bytes = options->target_file_size_bytes;
    out->min_input_files = options->min_input_files;
    out->max_file_group_size_bytes = options->max_file_group_size_bytes;
    out->memory_bytes = options->memory_bytes;
    out->threads = options->threads;
    out->rewrite_all = options->rewrite_all;
    out->verify = options->verify;
    out->lock_timeout_ms = options->lock_timeout_ms;
    out->delete_ratio_threshold = options->delete_ratio_threshold;
    out->delete_file_threshold = options->delete_file_threshold;
    out->partial_progress = options->partial_progress;
    out->no_joined_pages = options->no_joined_pages;
    return FIRN_OK;
}

firn_status firn_compaction_plan(firn_table *table, const firn_compaction_options *options,
                                 firn_compaction **out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_compaction *plan = firn_alloc_zeroed(1, sizeof *plan);
    if (plan == NULL) return firn_fail_memory(error);
    plan->table = table;
    FIRN_CHECK(translate(options, &plan->options, error));
    if (options != NULL && options->where != NULL) {
        plan->where = firn_strdup(options->where);
        if (plan->where == NULL) {
            status = firn_fail_memory(error);
            goto out;
        }
        plan->options.where = plan->where;
    }
    FIRN_CHECK(firn_compact_plan_table(table, &plan->options, &plan->plan, error));
    *out = plan;
    plan = NULL;
out:
    firn_compaction_free(plan);
    return status;
}

void firn_compaction_free(firn_compaction *plan) {
    if (plan == NULL) return;
    firn_compact_plan_free(plan->plan);
    firn_free(plan->where);
    firn_free(plan);
}

size_t firn_compaction_group_count(const firn_compaction *plan) {
    return plan->plan->group_count;
}

firn_compaction_group firn_compaction_group_at(const firn_compaction *plan, size_t index) {
    const firn_compact_group *group = &plan->plan->groups[index];
    return (firn_compaction_group){
        .partition = group->partition_text,
        .input_files = group->file_count,
        .input_bytes = group->bytes,
        .rows = group->rows,
        .selected = group->selected,
        .output_files = group->output_count,
        .reason = group->reason,
    };
}

firn_status firn_compaction_run(firn_compaction *plan, firn_compaction_result *out,
                                firn_error *error) {
    firn_compact_result result = {0};
    firn_status status = firn_compact_run(plan->table, plan->plan, &plan->options, &result, error);
    *out = (firn_compaction_result){
        .committed = result.committed,
        .snapshot_id = result.commit.snapshot_id,
        .groups = result.groups,
        .input_files = result.input_files,
        .output_files = result.output_files,
        .input_bytes = result.input_bytes,
        .output_bytes = result.output_bytes,
        .rows = result.rows,
        .commits = result.commits,
        .rows_deleted = result.rows_deleted,
        .delete_files_removed = result.delete_files_removed,
        .delete_files_added = result.delete_files_added,
    };
    return status;
}
