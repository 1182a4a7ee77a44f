/** Which files are worth rewriting, and into how many. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "data/location.h"
#include "upkeep/compact_internal.h"

#define DEFAULT_MIN_INPUT_FILES 5
#define DEFAULT_GROUP_BYTES ((int64_t)100 << 30)
/* A file is well sized between 75 % and 180 % of the target. */
#define LEAST_PERCENT 75
#define MOST_PERCENT 180

void firn_compact_options_init(firn_compact_options *options) {
    *options = (firn_compact_options){
        .min_input_files = DEFAULT_MIN_INPUT_FILES,
        .max_file_group_size_bytes = DEFAULT_GROUP_BYTES,
        .copy_pages = true,
    };
}

/** At most INT64_MAX: a target may be as large as that to say "one file". */
static int64_t percent_of(int64_t bytes, int64_t percent) {
    int64_t whole = 0;
    if (__builtin_mul_overflow(bytes / 100, percent, &whole) ||
        __builtin_add_overflow(whole, bytes % 100 * percent / 100, &whole)) {
        return INT64_MAX;
    }
    return whole;
}

size_t firn_compact_output_count(int64_t bytes, int64_t target_bytes) {
    if (bytes <= target_bytes) return 1;
    int64_t count = (bytes - 1) / target_bytes + 1;
    while (count > 1 && bytes / count < percent_of(target_bytes, LEAST_PERCENT)) count--;
    return (size_t)count;
}

/* --- grouping ---------------------------------------------------------------------------------- */

/** All live files of one partition, before candidates are chosen. */
typedef struct partition {
    const firn_partition_spec *spec;
    const firn_value *values;
    const firn_live_file **files;
    size_t count, capacity;
} partition;

static firn_status partition_push(partition *part, const firn_live_file *file, firn_arena *arena,
                                  firn_error *error) {
    if (part->count == part->capacity) {
        size_t capacity = part->capacity == 0 ? 8 : part->capacity * 2;
        const firn_live_file **files = firn_arena_alloc(arena, capacity, sizeof *files);
        if (files == NULL) return firn_fail_memory(error);
        if (part->count > 0) memcpy(files, part->files, part->count * sizeof *files);
        part->files = files;
        part->capacity = capacity;
    }
    part->files[part->count++] = file;
    return FIRN_OK;
}

static firn_status find_partition(planner *plan, firn_map *map, const firn_data_file *file,
                                  firn_buffer *key, partition **out, firn_error *error) {
    firn_buffer_clear(key);
    FIRN_TRY(firn_buffer_append(key, &file->spec_id, sizeof file->spec_id, error));
    FIRN_TRY(firn_value_key(file->partition, file->partition_count, key, error));
    *out = firn_map_get(map, firn_buffer_slice(key), NULL);
    if (*out != NULL) return FIRN_OK;
    partition *part = firn_arena_alloc(plan->out->arena, 1, sizeof *part);
    if (part == NULL) return firn_fail_memory(error);
    part->spec = firn_table_metadata_spec(plan->table->metadata, file->spec_id);
    part->values = file->partition;
    *out = part;
    return firn_map_set(map, firn_buffer_slice(key), part, error);
}

static int order_values(const firn_value *a, const firn_value *b) {
    if (a->is_null || b->is_null) return (int)b->is_null - (int)a->is_null;
    return firn_value_compare(a, b);
}

static int order_partitions(const void *left, const void *right) {
    const partition *a = *(partition *const *)left, *b = *(partition *const *)right;
    if (a->spec->spec_id != b->spec->spec_id) return a->spec->spec_id < b->spec->spec_id ? -1 : 1;
    for (size_t i = 0; i < a->spec->field_count; i++) {
        int order = order_values(&a->values[i], &b->values[i]);
        if (order != 0) return order;
    }
    return 0;
}

/** Oldest rows first: by data sequence number, then as the manifests list them. */
static int order_files(const void *left, const void *right) {
    const firn_live_file *a = *(const firn_live_file *const *)left;
    const firn_live_file *b = *(const firn_live_file *const *)right;
    if (a->entry.sequence_number != b->entry.sequence_number) {
        return a->entry.sequence_number < b->entry.sequence_number ? -1 : 1;
    }
    if (a->manifest_index != b->manifest_index)
        return a->manifest_index < b->manifest_index ? -1 : 1;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static firn_status collect_partitions(planner *plan, partition ***out, size_t *count,
                                      firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 30);
    firn_map *map = firn_map_new();
    if (map == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < plan->out->files.data_count; i++) {
        const firn_live_file *file = &plan->out->files.data[i];
        partition *part = NULL;
        FIRN_CHECK(find_partition(plan, map, &file->entry.file, &key, &part, error));
        FIRN_CHECK(partition_push(part, file, plan->out->arena, error));
    }
    *count = firn_map_count(map);
    *out = firn_arena_alloc(plan->out->arena, *count, sizeof **out);
    if (*out == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = firn_map_value_at(map, i);
        qsort((*out)[i]->files, (*out)[i]->count, sizeof *(*out)[i]->files, order_files);
    }
    if (*count > 1) qsort(*out, *count, sizeof **out, order_partitions);
out:
    firn_buffer_release(&key);
    firn_map_free(map);
    return status;
}

/* --- candidates -------------------------------------------------------------------------------- */

/**
 * A file that firn's own compaction wrote for this target size is as good as it gets for now, whatever its size: data can come out smaller than
 * expected. It is taken along when new files join it, but is no reason for a rewrite; so a second run finds nothing to do.
 */
static bool is_settled(const planner *plan, const firn_live_file *file) {
    if (!file->entry.has_snapshot_id) return false;
    const firn_snapshot *snapshot =
        firn_table_metadata_snapshot(plan->table->metadata, file->entry.snapshot_id);
    if (snapshot == NULL || snapshot->summary == NULL) return false;
    const char *text =
        json_string_value(json_object_get(snapshot->summary, FIRN_COMPACT_TARGET_KEY));
    return text != NULL && strtoll(text, NULL, 10) == plan->out->target_file_size_bytes;
}

typedef struct candidate_counts {
    size_t small, large, settled;
} candidate_counts;

static bool is_candidate(const planner *plan, const firn_live_file *file,
                         candidate_counts *counts) {
    int64_t target = plan->out->target_file_size_bytes;
    int64_t size = file->entry.file.file_size_in_bytes;
    bool small = size < percent_of(target, LEAST_PERCENT);
    bool large = size > percent_of(target, MOST_PERCENT);
    if (!small && !large) return plan->options->rewrite_all;
    if (is_settled(plan, file)) {
        counts->settled++;
        return small || plan->options->rewrite_all;
    }
    if (small) counts->small++;
    if (large) counts->large++;
    return true;
}

static const char *size_text(firn_arena *arena, int64_t bytes) {
    if (bytes >= (int64_t)10 << 20) return firn_arena_format(arena, "%" PRId64 " MB", bytes >> 20);
    if (bytes >= (int64_t)10 << 10) return firn_arena_format(arena, "%" PRId64 " KB", bytes >> 10);
    return firn_arena_format(arena, "%" PRId64 " bytes", bytes);
}

/** Decides on a run of candidates and says why. */
static firn_status judge(planner *plan, firn_compact_group *group, const candidate_counts *counts,
                         firn_error *error) {
    firn_arena *arena = plan->out->arena;
    int64_t target = plan->out->target_file_size_bytes;
    const char *least = size_text(arena, percent_of(target, LEAST_PERCENT));
    const char *most = size_text(arena, percent_of(target, MOST_PERCENT));
    if (least == NULL || most == NULL) return firn_fail_memory(error);
    size_t outputs = firn_compact_output_count(group->bytes, target);
    size_t fresh = counts->small + counts->large;
    if (plan->options->rewrite_all) {
        group->selected = true;
        group->reason = "every file (--rewrite-all)";
    } else if (counts->large > 0) {
        group->selected = true;
        group->reason = firn_arena_format(arena, "%zu file%s above %s (180 %% of the target)",
                                          counts->large, counts->large == 1 ? "" : "s", most);
    } else if (group->file_count == 0) {
        group->reason = "every file is well sized";
    } else if (fresh == 0) {
        group->reason = "compacted already";
    } else if (fresh < (size_t)plan->options->min_input_files) {
        group->reason = firn_arena_format(
            arena,
            "%zu file%s below %s (75 %% of the target), fewer than --min-input-files %" PRId64,
            fresh, fresh == 1 ? "" : "s", least, plan->options->min_input_files);
    } else if (outputs >= group->file_count) {
        group->reason =
            firn_arena_format(arena, "%zu file%s below %s would not become fewer",
                              group->file_count, group->file_count == 1 ? "" : "s", least);
    } else {
        group->selected = true;
        group->reason = firn_arena_format(arena, "%zu file%s below %s (75 %% of the target)", fresh,
                                          fresh == 1 ? "" : "s", least);
    }
    if (group->reason == NULL) return firn_fail_memory(error);
    if (group->selected) group->output_count = outputs;
    return FIRN_OK;
}

/* --- groups ------------------------------------------------------------------------------------ */

static firn_status add_group(planner *plan, const partition *part, const char *text,
                             const firn_live_file *const *files, size_t count,
                             const candidate_counts *counts, firn_error *error) {
    firn_compact_group group = {.spec = part->spec, .partition_text = text, .files = files};
    group.file_count = count;
    for (size_t i = 0; i < count; i++) {
        group.bytes += files[i]->entry.file.file_size_in_bytes;
        group.rows += files[i]->entry.file.record_count;
    }
    FIRN_TRY(judge(plan, &group, counts, error));
    return firn_vector_push(&plan->groups, error, group);
}

static firn_status partition_text(planner *plan, const partition *part, const char **out,
                                  firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 24);
    firn_status status = firn_partition_path(part->spec, part->values, &text, error);
    if (status == FIRN_OK) {
        *out = firn_arena_strndup(plan->out->arena, (const char *)text.data, text.size);
        if (*out == NULL) status = firn_fail_memory(error);
    }
    firn_buffer_release(&text);
    return status;
}

static firn_status plan_partition(planner *plan, const partition *part, firn_error *error) {
    const char *text = NULL;
    FIRN_TRY(partition_text(plan, part, &text, error));
    const firn_live_file **chosen = firn_arena_alloc(plan->out->arena, part->count, sizeof *chosen);
    if (chosen == NULL) return firn_fail_memory(error);
    size_t count = 0, start = 0;
    int64_t bytes = 0;
    candidate_counts counts = {0};
    for (size_t i = 0; i < part->count; i++) {
        candidate_counts with = counts;
        if (!is_candidate(plan, part->files[i], &with)) continue;
        int64_t size = part->files[i]->entry.file.file_size_in_bytes;
        if (count > start && bytes + size > plan->options->max_file_group_size_bytes) {
            FIRN_TRY(add_group(plan, part, text, chosen + start, count - start, &counts, error));
            start = count;
            bytes = 0;
            counts = (candidate_counts){0};
            with = counts;
            (void)is_candidate(plan, part->files[i], &with);
        }
        counts = with;
        chosen[count++] = part->files[i];
        bytes += size;
    }
    return add_group(plan, part, text, chosen + start, count - start, &counts, error);
}

static void sum_up(firn_compact_plan *out) {
    for (size_t i = 0; i < out->files.data_count; i++) {
        out->table_bytes += out->files.data[i].entry.file.file_size_in_bytes;
        out->table_rows += out->files.data[i].entry.file.record_count;
    }
    out->table_files = out->files.data_count;
    for (size_t i = 0; i < out->group_count; i++) {
        const firn_compact_group *group = &out->groups[i];
        if (!group->selected) continue;
        out->selected_count++;
        out->input_files += group->file_count;
        out->output_files += group->output_count;
        out->input_bytes += group->bytes;
        if (group->output_bytes < 0) out->output_bytes = -1;
        if (out->output_bytes >= 0) out->output_bytes += group->output_bytes;
    }
}

static firn_status refuse_deletes(const planner *plan, firn_error *error) {
    const firn_live_files *files = &plan->out->files;
    if (files->delete_count == 0) return FIRN_OK;
    return firn_fail(
        error, FIRN_UNSUPPORTED,
        "table %s: has %zu live delete files (the first is %s); compaction takes tables "
        "without delete files",
        plan->table->display_name, files->delete_count, files->deletes[0].entry.file.path);
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

static firn_status make_groups(planner *plan, firn_error *error) {
    partition **partitions = NULL;
    size_t count = 0;
    firn_compact_plan *out = plan->out;
    FIRN_TRY(collect_partitions(plan, &partitions, &count, error));
    for (size_t i = 0; i < count; i++) FIRN_TRY(plan_partition(plan, partitions[i], error));
    out->groups = firn_arena_alloc(out->arena, plan->groups.count, sizeof *out->groups);
    if (out->groups == NULL) return firn_fail_memory(error);
    if (plan->groups.count > 0) {
        memcpy(out->groups, plan->groups.items, plan->groups.count * sizeof *out->groups);
    }
    out->group_count = plan->groups.count;
    return FIRN_OK;
}

firn_status firn_compact_plan_table(firn_table *table, const firn_compact_options *options,
                                    firn_compact_plan **out, firn_error *error) {
    firn_status status = FIRN_OK;
    planner plan = {.table = table, .options = options};
    plan.out = firn_alloc_zeroed(1, sizeof *plan.out);
    if (plan.out == NULL) return firn_fail_memory(error);
    plan.out->arena = firn_arena_new();
    if (plan.out->arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    plan.out->metadata = table->metadata;
    FIRN_CHECK(firn_table_check_supported(table, "compaction", error));
    FIRN_CHECK(firn_data_write_options_read(table->metadata, &plan.write, error));
    FIRN_CHECK(firn_location_check(table->metadata, error));
    FIRN_CHECK(choose_target(&plan, error));
    FIRN_CHECK(firn_table_live_files(table, table->snapshot, &plan.out->files, error));
    FIRN_CHECK(refuse_deletes(&plan, error));
    FIRN_CHECK(make_groups(&plan, error));
    FIRN_CHECK(firn_compact_check_groups(&plan, error));
    sum_up(plan.out);
    *out = plan.out;
    plan.out = NULL;
out:
    firn_vector_release(&plan.groups);
    firn_compact_plan_free(plan.out);
    return status;
}

void firn_compact_plan_free(firn_compact_plan *plan) {
    if (plan == NULL) return;
    firn_live_files_release(&plan->files);
    firn_arena_free(plan->arena);
    firn_free(plan);
}
