/** Which files of a partition are worth rewriting, and why. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "iceberg/partition_spec.h"
#include "upkeep/compact_internal.h"

/* A file is well sized between 75 % and 180 % of the target. */
#define LEAST_PERCENT 75
#define MOST_PERCENT 180

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

int64_t firn_compact_kept_bytes(const firn_compact_group *group) {
    if (group->rows <= 0 || group->deleted_rows <= 0) return group->bytes;
    double kept = (double)(group->rows - group->deleted_rows) / (double)group->rows;
    return (int64_t)((double)group->bytes * kept);
}

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

/** What a run of candidates is made of. */
typedef struct candidate_counts {
    size_t small, large, settled;
    size_t deleted; /* files with a large share of deleted rows */
    size_t many;    /* files with many delete files */
    size_t wanted;  /* of a run that has to do groups again */
} candidate_counts;

static const firn_compact_known *known_of(const planner *plan, const firn_live_file *file) {
    return &plan->known[file - plan->out->files.data];
}

/** Deletes are a reason for themselves, in a file that is settled too: they came after it was written. */
static bool has_deletes(const planner *plan, const firn_live_file *file, candidate_counts *counts) {
    const firn_compact_options *options = plan->options;
    const firn_compact_known *known = known_of(plan, file);
    double least = options->delete_ratio_threshold * (double)file->entry.file.record_count;
    bool deleted =
        options->delete_ratio_threshold > 0 && known->rows > 0 && (double)known->rows >= least;
    bool many = options->delete_file_threshold > 0 &&
                known->files >= (uint64_t)options->delete_file_threshold;
    if (deleted) counts->deleted++;
    if (many) counts->many++;
    return deleted || many;
}

static bool is_candidate(const planner *plan, const firn_live_file *file,
                         candidate_counts *counts) {
    int64_t target = plan->out->target_file_size_bytes;
    int64_t size = file->entry.file.file_size_in_bytes;
    const char *path = file->entry.file.path;
    if (plan->again != NULL && firn_map_has_text(plan->again->ours, path)) return false;
    bool small = size < percent_of(target, LEAST_PERCENT);
    bool large = size > percent_of(target, MOST_PERCENT);
    bool deletes = has_deletes(plan, file, counts);
    if (plan->again != NULL && firn_map_has_text(plan->again->wanted, path)) counts->wanted++;
    if (!small && !large) return deletes || plan->options->rewrite_all;
    if (is_settled(plan, file)) {
        counts->settled++;
        return small || deletes || plan->options->rewrite_all;
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

/** The reason of a group that is not selected, or is for its small files. */
static const char *judge_sizes(planner *plan, firn_compact_group *group,
                               const candidate_counts *counts, size_t outputs) {
    firn_arena *arena = plan->out->arena;
    size_t fresh = counts->small;
    const char *least =
        size_text(arena, percent_of(plan->out->target_file_size_bytes, LEAST_PERCENT));
    if (least == NULL) return NULL;
    if (group->file_count == 0) return "every file is well sized";
    if (fresh == 0) return "compacted already";
    if (fresh < (size_t)plan->options->min_input_files) {
        return firn_arena_format(
            arena, "%zu file%s below %s (75 %% of the target), fewer than min-input-files %" PRId64,
            fresh, firn_plural(fresh), least, plan->options->min_input_files);
    }
    if (outputs >= group->file_count) {
        return firn_arena_format(arena, "%zu file%s below %s would not become fewer",
                                 group->file_count, firn_plural(group->file_count), least);
    }
    group->selected = true;
    return firn_arena_format(arena, "%zu file%s below %s (75 %% of the target)", fresh,
                             firn_plural(fresh), least);
}

/** Decides on a run of candidates and says why: files, deletes, or disorder must shrink. */
static firn_status judge(planner *plan, firn_compact_group *group, const candidate_counts *counts,
                         bool split, firn_error *error) {
    firn_arena *arena = plan->out->arena;
    const firn_compact_options *options = plan->options;
    int64_t target = plan->out->target_file_size_bytes;
    size_t outputs = firn_compact_output_count(firn_compact_kept_bytes(group), target);
    group->selected = true;
    if (plan->again != NULL && counts->wanted == 0) {
        group->selected = false;
        group->reason = "not among the groups that are done again";
    } else if (options->rewrite_all) {
        group->reason = "every file (rewrite-all)";
    } else if (counts->large > 0) {
        const char *most = size_text(arena, percent_of(target, MOST_PERCENT));
        if (most == NULL) return firn_fail_memory(error);
        group->reason = firn_arena_format(arena, "%zu file%s above %s (180 %% of the target)",
                                          counts->large, firn_plural(counts->large), most);
    } else if (counts->deleted > 0) {
        group->reason = firn_arena_format(
            arena, "%zu file%s with %.0f %% or more of the rows deleted", counts->deleted,
            firn_plural(counts->deleted), options->delete_ratio_threshold * 100);
    } else if (counts->many > 0) {
        group->reason = firn_arena_format(
            arena, "%zu file%s with %" PRId64 " or more delete files (delete-file-threshold)",
            counts->many, firn_plural(counts->many), options->delete_file_threshold);
    } else {
        group->selected = false;
        group->reason = judge_sizes(plan, group, counts, outputs);
    }
    if (group->reason != NULL && split) {
        group->reason =
            firn_arena_format(arena, "%s; files that shred variants alike", group->reason);
    }
    if (group->reason == NULL) return firn_fail_memory(error);
    if (group->selected) group->output_count = outputs;
    return FIRN_OK;
}

static firn_status add_group(planner *plan, const firn_compact_partition *part, const char *text,
                             const firn_live_file *const *files, size_t count,
                             const candidate_counts *counts, firn_error *error) {
    firn_compact_group group = {.spec = part->spec, .partition_text = text, .files = files};
    group.file_count = count;
    for (size_t i = 0; i < count; i++) {
        group.bytes += files[i]->entry.file.file_size_in_bytes;
        group.rows += files[i]->entry.file.record_count;
        group.deleted_rows += known_of(plan, files[i])->rows;
        group.delete_files += known_of(plan, files[i])->files;
        group.may_have_deletes = group.may_have_deletes || known_of(plan, files[i])->any;
    }
    FIRN_TRY(judge(plan, &group, counts, part->split, error));
    return firn_vector_push(&plan->groups, error, group);
}

static firn_status partition_text(planner *plan, const firn_compact_partition *part,
                                  const char **out, firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 24);
    firn_status status = firn_partition_path(part->spec, part->values, &text, error);
    if (status == FIRN_OK) {
        *out = firn_arena_strndup(plan->out->arena, (const char *)text.data, text.size);
        if (*out == NULL) status = firn_fail_memory(error);
    }
    firn_buffer_release(&text);
    return status;
}

firn_status firn_compact_choose(planner *plan, const firn_compact_partition *part,
                                firn_error *error) {
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
