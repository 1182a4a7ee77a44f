/** How large the outputs of a group will be: told by rewriting a part of it, whose bytes go nowhere. */
#include "rewrite/dropped.h"

static int64_t size_of(const firn_rewrite_group *group, size_t input) {
    return group->inputs[input]->entry.file.file_size_in_bytes;
}

/** Of the rows that stay. */
static double kept_size_of(const firn_rewrite_group *group, size_t input) {
    int64_t rows = group->inputs[input]->entry.file.record_count;
    double size = (double)size_of(group, input);
    if (rows <= 0) return size;
    return size * (double)(rows - firn_rewrite_rows_deleted(group, input)) / (double)rows;
}

/** A run of neighbours, from the middle on, whose sizes sum up to the sample's; *count 0 when the first is larger than that. */
static void choose_sample(const firn_rewrite_group *group, int64_t sample_bytes, size_t *first,
                          size_t *count) {
    int64_t total = 0;
    for (size_t i = 0; i < group->input_count; i++) total += size_of(group, i);
    *first = total <= sample_bytes ? 0 : group->input_count / 2;
    *count = 0;
    int64_t taken = 0;
    while (*first + *count < group->input_count) {
        taken += size_of(group, *first + *count);
        if (taken > sample_bytes) return;
        (*count)++;
    }
}

firn_status firn_rewrite_estimate(const firn_rewrite_settings *settings,
                                  const firn_rewrite_group *group, int64_t sample_bytes,
                                  firn_rewrite_estimation *out, firn_error *error) {
    size_t first = 0, count = 0;
    double total = 0, taken = 0;
    for (size_t i = 0; i < group->input_count; i++) total += kept_size_of(group, i);
    *out = (firn_rewrite_estimation){.bytes = (int64_t)total};
    choose_sample(group, sample_bytes, &first, &count);
    for (size_t i = first; i < first + count; i++) taken += kept_size_of(group, i);
    if (taken <= 0) return FIRN_OK;
    firn_rewrite_settings trial = *settings;
    trial.trial = true;
    trial.journal = NULL;
    trial.verify = false;
    trial.progress = (firn_rewrite_progress){0};
    firn_rewrite_group sample = *group;
    sample.inputs += first;
    firn_deletes deletes = firn_deletes_behind(group->deletes, first);
    sample.deletes = &deletes;
    sample.input_count = count;
    sample.output_count = 1;
    sample.looked = NULL;
    firn_rewrite_result result = {0};
    firn_status status = firn_rewrite_binpack(&trial, &sample, &result, error);
    if (status == FIRN_OK) {
        *out = (firn_rewrite_estimation){
            .bytes = (int64_t)(total / taken * (double)result.bytes_out),
            .sampled_bytes = result.bytes_in,
            .counts = result.counts,
        };
        firn_rewrite_result_release(&result);
    }
    return status;
}
