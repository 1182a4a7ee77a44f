/** A look at the inputs of the selected groups before anything is written. */
#include "base/cancel.h"
#include "upkeep/compact_internal.h"

/* All samples of a plan together, and the least and most of one. */
#define ALL_SAMPLES ((int64_t)64 << 20)
#define LEAST_SAMPLE ((int64_t)1 << 20)
#define MOST_SAMPLE ((int64_t)8 << 20)

static int64_t sample_bytes_of(const planner *plan) {
    int64_t selected = 0;
    for (size_t i = 0; i < plan->out->group_count; i++) selected += plan->out->groups[i].selected;
    int64_t each = selected == 0 ? MOST_SAMPLE : ALL_SAMPLES / selected;
    if (each < LEAST_SAMPLE) return LEAST_SAMPLE;
    return each > MOST_SAMPLE ? MOST_SAMPLE : each;
}

static firn_status refuse_format(const planner *plan, const firn_compact_group *group,
                                 firn_error *error) {
    for (size_t i = 0; i < group->file_count; i++) {
        const firn_data_file *file = &group->files[i]->entry.file;
        if (file->key_metadata.data != NULL) {
            return firn_fail(error, FIRN_UNSUPPORTED,
                             "table %s: data file %s is encrypted (key_metadata)",
                             plan->table->display_name, file->path);
        }
        if (file->format != FIRN_FILE_PARQUET && file->format != FIRN_FILE_AVRO) {
            return firn_fail(
                error, FIRN_UNSUPPORTED,
                "table %s: data file %s is in format %s; compaction takes Parquet and Avro files",
                plan->table->display_name, file->path, file->format_text);
        }
    }
    return FIRN_OK;
}

/**
 * How many files the group becomes hangs on how large they come out. Where even the inputs' bytes fit one
 * file and nobody looks at the preview, there is nothing to find out.
 */
static firn_status expect_outputs(const planner *plan, const firn_rewrite_settings *settings,
                                  const firn_rewrite_group *input, firn_compact_group *group,
                                  int64_t sample_bytes, firn_error *error) {
    int64_t target = plan->out->target_file_size_bytes;
    int64_t kept = firn_compact_kept_bytes(group);
    group->output_count = firn_compact_output_count(kept, target);
    group->output_bytes = -1;
    if (group->deleted_rows == group->rows) {
        group->output_count = 0;
        group->output_bytes = 0;
        return FIRN_OK;
    }
    if (!plan->options->preview && kept <= target) return FIRN_OK;
    firn_rewrite_estimation estimation;
    FIRN_TRY(firn_rewrite_estimate(settings, input, sample_bytes, &estimation, error));
    group->output_bytes = estimation.bytes;
    plan->out->sampled_bytes += estimation.sampled_bytes;
    firn_parquet_rewrite_counts_add(&plan->out->sample, &estimation.counts);
    group->output_count = firn_compact_output_count(group->output_bytes, target);
    return FIRN_OK;
}

firn_status firn_compact_error_wrap(const firn_table *table, const firn_compact_group *group,
                                    firn_status status, firn_error *error) {
    if (group->partition_text == NULL || group->partition_text[0] == '\0') {
        return firn_table_error_wrap(table, status, error);
    }
    return firn_error_wrap(error, status, "table %s: partition '%s'", table->display_name,
                           group->partition_text);
}

firn_rewrite_group firn_compact_rewrite_group(const firn_table_metadata *metadata,
                                              const firn_compact_group *group, size_t number) {
    return (firn_rewrite_group){
        .inputs = group->files,
        .input_count = group->file_count,
        .deletes = &group->deletes,
        .lineage = metadata->format_version >= 3,
        .spec = firn_table_metadata_spec(metadata, group->files[0]->entry.file.spec_id),
        .output_count = group->output_count,
        .group_number = number,
        .looked = group->looked,
    };
}

firn_manifest_entry firn_compact_output_entry(const firn_compact_group *group,
                                              int64_t sequence_number) {
    const firn_data_file *file = &group->files[0]->entry.file;
    return (firn_manifest_entry){.has_sequence_number = true,
                                 .sequence_number = sequence_number,
                                 .file = {.path = "",
                                          .spec_id = file->spec_id,
                                          .partition = file->partition,
                                          .partition_count = file->partition_count}};
}

firn_status firn_compact_resolve(firn_table *table, const firn_live_files *files,
                                 firn_compact_group *group, firn_pool *pool, int64_t memory_bytes,
                                 firn_error *error) {
    firn_deletes_request request = {.table = table,
                                    .files = files,
                                    .data = group->files,
                                    .data_count = group->file_count,
                                    .positions = true,
                                    .equality = true,
                                    .pool = pool,
                                    .memory_bytes = memory_bytes};
    group->deleted_rows = 0;
    if (group->may_have_deletes) {
        firn_status status = firn_deletes_resolve(&request, &group->deletes, error);
        FIRN_TRY(firn_compact_error_wrap(table, group, status, error));
    }
    group->resolved = true;
    firn_rewrite_group input = firn_compact_rewrite_group(table->metadata, group, 0);
    for (size_t i = 0; i < group->file_count; i++) {
        group->deleted_rows += firn_rewrite_rows_deleted(&input, i);
    }
    return FIRN_OK;
}

/** Positions are kept for the run while they take little room; else they are found once more then. */
static void keep_resolved(firn_compact_group *group, int64_t *room) {
    int64_t size = (int64_t)firn_deletes_memory(&group->deletes);
    if (size <= *room) {
        *room -= size;
        return;
    }
    firn_deletes_release(&group->deletes);
    group->deletes = (firn_deletes){0};
    group->resolved = false;
}

/** … and so with what was found in the footers. */
static void keep_looked(firn_compact_group *group, int64_t *room) {
    if (group->looked == NULL) return;
    int64_t size = (int64_t)firn_rewrite_looked_size(group->looked);
    if (size <= *room) {
        *room -= size;
        return;
    }
    firn_rewrite_looked_free(group->looked);
    group->looked = NULL;
}

static firn_status check_group(const planner *plan, const firn_rewrite_settings *settings,
                               size_t index, int64_t sample_bytes, int64_t *room,
                               firn_error *error) {
    firn_compact_group *group = &plan->out->groups[index];
    FIRN_TRY(firn_compact_resolve(plan->table, &plan->out->files, group, settings->pool,
                                  settings->memory_bytes / 2, error));
    firn_rewrite_group input = firn_compact_rewrite_group(plan->table->metadata, group, index);
    firn_status status =
        firn_rewrite_check(settings, &input, plan->options->preview ? NULL : &group->looked, error);
    if (status == FIRN_OK) {
        status = expect_outputs(plan, settings, &input, group, sample_bytes, error);
    }
    keep_resolved(group, room);
    keep_looked(group, room);
    return firn_compact_error_wrap(plan->table, group, status, error);
}

static firn_status check_groups(planner *plan, const firn_rewrite_settings *settings,
                                firn_error *error) {
    int64_t sample = sample_bytes_of(plan);
    int64_t room = settings->memory_bytes / 4;
    for (size_t i = 0; i < plan->out->group_count; i++) {
        if (!plan->out->groups[i].selected) continue;
        FIRN_TRY(firn_cancel_check(error));
        FIRN_TRY(refuse_format(plan, &plan->out->groups[i], error));
        FIRN_TRY(check_group(plan, settings, i, sample, &room, error));
    }
    return FIRN_OK;
}

firn_status firn_compact_check_groups(planner *plan, firn_error *error) {
    firn_rewrite_settings settings;
    firn_pool *pool = NULL;
    firn_status status;
    FIRN_CHECK(firn_pool_new(plan->options->threads, &pool, error));
    FIRN_CHECK(firn_compact_settings(plan->table, plan->options, &plan->write, pool, NULL, "plan",
                                     &settings, error));
    status = check_groups(plan, &settings, error);
out:
    firn_pool_free(pool);
    return status;
}
