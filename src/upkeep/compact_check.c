/** A look at the inputs of the selected groups before anything is written. */
#include "base/cancel.h"
#include "upkeep/compact_internal.h"

static firn_status refuse_format(const planner *plan, const firn_compact_group *group,
                                 firn_error *error) {
    for (size_t i = 0; i < group->file_count; i++) {
        const firn_data_file *file = &group->files[i]->entry.file;
        if (file->key_metadata.data != NULL) {
            return firn_fail(error, FIRN_UNSUPPORTED,
                             "table %s: data file %s is encrypted (key_metadata)",
                             plan->table->display_name, file->path);
        }
        if (file->format != FIRN_FILE_PARQUET) {
            return firn_fail(
                error, FIRN_UNSUPPORTED,
                "table %s: data file %s is in format %s; compaction takes Parquet files",
                plan->table->display_name, file->path, file->format_text);
        }
    }
    return FIRN_OK;
}

firn_status firn_compact_check_groups(planner *plan, firn_error *error) {
    firn_rewrite_settings settings;
    FIRN_TRY(firn_compact_settings(plan->table, plan->options, &plan->write, NULL, NULL, "plan",
                                   &settings, error));
    for (size_t i = 0; i < plan->out->group_count; i++) {
        firn_compact_group *group = &plan->out->groups[i];
        if (!group->selected) continue;
        firn_rewrite_group input = {group->files, group->file_count, group->spec,
                                    group->output_count, i};
        FIRN_TRY(firn_cancel_check(error));
        FIRN_TRY(refuse_format(plan, group, error));
        FIRN_TRY(firn_rewrite_check(&settings, &input, error));
        group->output_bytes = group->bytes;
    }
    return FIRN_OK;
}
