#include "rewrite/rewrite.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "data/location.h"
#include "rewrite/cut.h"
#include "rewrite/dropped.h"
#include "rewrite/row_group.h"
#include "rewrite/verify.h"

#define MIB ((int64_t)1 << 20)
/* Memory that the row group in flight is given, however much there is: more makes nothing faster. */
#define WANTED_MEMORY (24 * MIB)

typedef struct binpack {
    firn_rewrite_context context;
    firn_rewrite_plan plan;
    char **locations; /* one per output; owned */
    firn_rewrite_result *result;
    firn_rewrite_sums sums;
    firn_output_file file; /* being written */
    /* Inputs of the present row group, in order; an open one points into itself and must not move. */
    FIRN_VECTOR(firn_open_input *) open;
} binpack;

static firn_status gather_units(const firn_rewrite_context *context, firn_plan_unit **out,
                                size_t *count, firn_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < context->group->input_count; i++) total += context->inputs[i].unit_count;
    firn_plan_unit *units = firn_alloc_array(total, sizeof *units);
    if (units == NULL) return firn_fail_memory(error);
    *count = 0;
    *out = units;
    for (size_t i = 0; i < context->group->input_count; i++) {
        const firn_input_summary *input = &context->inputs[i];
        int64_t first_row = 0;
        for (size_t j = 0; j < input->unit_count; j++) {
            bool any = false;
            units[*count] = input->units[j];
            FIRN_TRY(firn_rewrite_without_dropped(context->group, first_row, &units[*count], &any,
                                                  error));
            if (any) ++*count;
            first_row += input->units[j].rows;
        }
    }
    return FIRN_OK;
}

static firn_status make_plan(binpack *work, firn_error *error) {
    const firn_rewrite_settings *settings = work->context.settings;
    int64_t memory =
        settings->memory_bytes > 0 ? settings->memory_bytes : FIRN_REWRITE_DEFAULT_MEMORY;
    firn_plan_limits limits = {.output_count = work->context.group->output_count,
                               .row_group_bytes = settings->write->row_group_size_bytes,
                               .row_group_rows = settings->write->row_group_row_limit,
                               .most_memory = memory / 2 > MIB ? memory / 2 : MIB};
    if (limits.output_count < 1) limits.output_count = 1;
    if (limits.row_group_bytes < 1) limits.row_group_bytes = 1;
    if (limits.row_group_rows < 1) limits.row_group_rows = 1;
    limits.wanted_memory = limits.most_memory < WANTED_MEMORY ? limits.most_memory : WANTED_MEMORY;
    firn_plan_unit *units = NULL;
    size_t count = 0;
    firn_status status = gather_units(&work->context, &units, &count, error);
    if (status == FIRN_OK) {
        status = firn_rewrite_plan_make(units, count, &limits, &work->plan, error);
    }
    firn_free(units);
    return status;
}

/* Names all outputs, in the journal too, before the first is created. */
static firn_status name_outputs(binpack *work, firn_error *error) {
    const firn_rewrite_settings *settings = work->context.settings;
    const firn_rewrite_group *group = work->context.group;
    size_t count = work->plan.output_count;
    work->locations = firn_alloc_zeroed(count, sizeof *work->locations);
    if (work->locations == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        char *name = firn_format("%05zu-%zu-%s-%05zu.parquet", i, group->group_number,
                                 settings->run_id, i + 1);
        if (name == NULL) return firn_fail_memory(error);
        firn_status status = firn_location_new_data_file(
            work->context.metadata, group->spec, work->context.inputs[0].file->entry.file.partition,
            name, &work->locations[i], error);
        firn_free(name);
        FIRN_TRY(status);
    }
    for (size_t i = 0; i < count && settings->journal != NULL; i++) {
        FIRN_TRY(firn_journal_add(settings->journal, work->locations[i], error));
    }
    return FIRN_OK;
}

static firn_status open_one(void *argument, size_t index, firn_error *error) {
    binpack *work = argument;
    firn_open_input *open = work->open.items[index];
    if (open->parquet != NULL) return FIRN_OK;
    firn_status status = firn_open_input_open(&work->context, open, error);
    return firn_error_wrap(error, status, "reading an input of the rewrite");
}

static void close_input(firn_open_input *open) {
    firn_open_input_release(open);
    firn_free(open);
}

/* Opens the inputs of a row group; the last one of the row group before may be the first one of this. */
static firn_status open_inputs(binpack *work, const firn_plan_row_group *group, firn_error *error) {
    const firn_plan_piece *pieces = &work->plan.pieces.items[group->first_piece];
    size_t kept = 0;
    for (size_t i = 0; i < work->open.count; i++) {
        if (work->open.items[i]->index == pieces[0].input) {
            work->open.items[kept++] = work->open.items[i];
        } else {
            close_input(work->open.items[i]);
        }
    }
    work->open.count = kept;
    for (size_t i = 0; i < group->piece_count; i++) {
        size_t count = work->open.count;
        if (count > 0 && work->open.items[count - 1]->index == pieces[i].input) continue;
        FIRN_TRY(firn_vector_reserve(&work->open, error, count + 1));
        firn_open_input *open = firn_alloc_zeroed(1, sizeof *open);
        if (open == NULL) return firn_fail_memory(error);
        open->index = pieces[i].input;
        work->open.items[work->open.count++] = open;
    }
    return firn_pool_each(work->context.settings->pool, work->open.count, open_one, work, error);
}

static void note_input(firn_output_file *file, size_t input) {
    if (file->any_input && file->input != input) file->several_inputs = true;
    file->any_input = true;
    file->input = input;
}

/* None where every row of the pieces goes: a row group, and a file, begins with a row that stays. */
static firn_status write_pieces(binpack *work, const firn_plan_row_group *group,
                                const firn_parquet_piece *pieces, size_t count,
                                firn_parquet_merged *const *merged, firn_error *error) {
    if (firn_rewrite_rows_kept(pieces, count) == 0) return FIRN_OK;
    if (work->file.writer == NULL) {
        FIRN_TRY(firn_output_file_begin(&work->file, &work->context, work->locations[group->output],
                                        error));
    }
    return firn_rewrite_row_group(&work->context, &work->file, pieces, count, merged, &work->sums,
                                  error);
}

/* One row group, or several where dictionaries ask for it. */
static firn_status move_pieces(binpack *work, const firn_plan_row_group *group,
                               const firn_parquet_piece *pieces, size_t count, firn_error *error) {
    firn_rewrite_cut cut;
    firn_status status;
    FIRN_CHECK(firn_rewrite_find_cut(&work->context, pieces, count, &cut, error));
    for (size_t first = 0, parts = cut.parts; first < count; parts--) {
        size_t end = firn_rewrite_part_end(pieces, count, first, parts);
        FIRN_CHECK(write_pieces(work, group, pieces + first, end - first, cut.merged, error));
        /* What was merged is the first part's. */
        firn_rewrite_cut_release(&cut);
        first = end;
    }
out:
    firn_rewrite_cut_release(&cut);
    return status;
}

static firn_status move_row_group(binpack *work, const firn_plan_row_group *group,
                                  firn_error *error) {
    firn_status status;
    firn_parquet_piece *pieces = firn_alloc_zeroed(group->piece_count, sizeof *pieces);
    if (pieces == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_cancel_check(error));
    FIRN_CHECK(open_inputs(work, group, error));
    size_t input = 0;
    for (size_t i = 0; i < group->piece_count; i++) {
        const firn_plan_piece *planned = &work->plan.pieces.items[group->first_piece + i];
        while (work->open.items[input]->index != planned->input) input++;
        const firn_open_input *open = work->open.items[input];
        pieces[i] = (firn_parquet_piece){.file = open->parquet,
                                         .row_group = planned->row_group,
                                         .first_row = planned->first_row,
                                         .row_count = planned->row_count,
                                         .mappings = open->projection->mappings,
                                         .nan_counts = open->nan_counts,
                                         .fill_values = open->fill_values};
        FIRN_CHECK(
            firn_rewrite_find_dropped(work->context.group, planned->input, &pieces[i], error));
    }
    FIRN_CHECK(move_pieces(work, group, pieces, group->piece_count, error));
    for (size_t i = 0; i < group->piece_count && work->file.writer != NULL; i++) {
        note_input(&work->file, work->plan.pieces.items[group->first_piece + i].input);
    }
out:
    firn_rewrite_release_dropped(pieces, group->piece_count);
    firn_free(pieces);
    return status;
}

static firn_status finish_file(binpack *work, firn_error *error) {
    firn_rewrite_result *result = work->result;
    size_t row_groups = 0;
    FIRN_TRY(firn_output_file_finish(&work->file, result->arena,
                                     &result->outputs[result->output_count], &row_groups, error));
    const firn_data_file *file = &result->outputs[result->output_count++];
    result->rows_out += file->record_count;
    result->bytes_out += file->file_size_in_bytes;
    result->row_groups_out += (int64_t)row_groups;
    firn_output_file_release(&work->file);
    return FIRN_OK;
}

static firn_status move_rows(binpack *work, firn_error *error) {
    size_t count = work->plan.row_groups.count;
    for (size_t i = 0; i < count; i++) {
        const firn_plan_row_group *group = &work->plan.row_groups.items[i];
        firn_status status = move_row_group(work, group, error);
        if (status != FIRN_OK) {
            return firn_error_wrap(error, status, "writing %s", work->locations[group->output]);
        }
        bool last = i + 1 == count || group[1].output != group->output;
        if (last && work->file.writer != NULL) FIRN_TRY(finish_file(work, error));
    }
    return FIRN_OK;
}

/* Rows that the manifests count, less those that go, that were counted while reading, and that the new files hold. */
static firn_status check_rows(const binpack *work, firn_error *error) {
    const firn_rewrite_result *result = work->result;
    int64_t wanted = result->rows_in - result->rows_deleted;
    if (wanted == work->sums.rows && wanted == result->rows_out) return FIRN_OK;
    return firn_fail(
        error, FIRN_CORRUPT,
        "of the %lld rows of the files to rewrite %lld are deleted, but %lld were read "
        "and %lld written; the new files are not used",
        (long long)result->rows_in, (long long)result->rows_deleted, (long long)work->sums.rows,
        (long long)result->rows_out);
}

static firn_status run(binpack *work, firn_error *error) {
    firn_rewrite_result *result = work->result;
    const firn_rewrite_group *group = work->context.group;
    FIRN_TRY(firn_rewrite_look_at_inputs(&work->context, error));
    firn_rewrite_choose_options(&work->context);
    for (size_t i = 0; i < group->input_count; i++) {
        result->rows_in += group->inputs[i]->entry.file.record_count;
        result->bytes_in += group->inputs[i]->entry.file.file_size_in_bytes;
        result->rows_deleted += firn_rewrite_rows_deleted(group, i);
    }
    FIRN_TRY(make_plan(work, error));
    result->outputs =
        firn_arena_alloc(result->arena, work->plan.output_count + 1, sizeof *result->outputs);
    if (result->outputs == NULL) return firn_fail_memory(error);
    if (work->plan.output_count > 0) FIRN_TRY(name_outputs(work, error));
    FIRN_TRY(move_rows(work, error));
    FIRN_TRY(check_rows(work, error));
    result->bytes_copied = work->sums.counts.bytes_copied;
    result->bytes_encoded = work->sums.counts.bytes_encoded;
    result->counts = work->sums.counts;
    return work->context.settings->verify ? firn_rewrite_verify(&work->context, result, error)
                                          : FIRN_OK;
}

static void release(binpack *work) {
    firn_output_file_release(&work->file);
    for (size_t i = 0; i < work->open.count; i++) close_input(work->open.items[i]);
    firn_vector_release(&work->open);
    for (size_t i = 0; work->locations != NULL && i < work->plan.output_count; i++) {
        firn_free(work->locations[i]);
    }
    firn_free(work->locations);
    firn_rewrite_plan_release(&work->plan);
    firn_rewrite_context_release(&work->context);
}

firn_status firn_rewrite_binpack(const firn_rewrite_settings *settings,
                                 const firn_rewrite_group *group, firn_rewrite_result *out,
                                 firn_error *error) {
    *out = (firn_rewrite_result){.arena = firn_arena_new()};
    if (out->arena == NULL) return firn_fail_memory(error);
    binpack work = {.result = out};
    firn_status status = firn_rewrite_context_init(&work.context, settings, group, error);
    if (status == FIRN_OK) status = run(&work, error);
    release(&work);
    if (status != FIRN_OK) firn_rewrite_result_release(out);
    return status;
}

void firn_rewrite_result_release(firn_rewrite_result *result) {
    firn_arena_free(result->arena);
    *result = (firn_rewrite_result){0};
}

firn_status firn_rewrite_check(const firn_rewrite_settings *settings,
                               const firn_rewrite_group *group, firn_rewrite_looked **looked,
                               firn_error *error) {
    firn_rewrite_context context;
    firn_status status = firn_rewrite_context_init(&context, settings, group, error);
    if (status == FIRN_OK) status = firn_rewrite_look_at_inputs(&context, error);
    if (status == FIRN_OK && looked != NULL) {
        status = firn_rewrite_keep_looked(&context, looked, error);
    }
    firn_rewrite_context_release(&context);
    return status;
}
