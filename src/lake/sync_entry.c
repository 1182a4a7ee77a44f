/* From a footer to the partition and the manifest entry of its file. */
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "lake/sync_internal.h"

static firn_status new_shape(firn_sync_work *work, const firn_lake_footer *footer,
                             firn_sync_shape **out, firn_error *error) {
    firn_sync_shape *shape = firn_arena_alloc(work->plan_arena, 1, sizeof *shape);
    if (shape == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_lake_columns_of(
        work->planned->schema, work->mapping, work->planned->format_version, footer->parquet,
        footer->file->location, work->plan_arena, &shape->columns, error));
    FIRN_TRY(firn_lake_entry_plan_new(work->planned, &shape->columns, footer->parquet,
                                      work->plan_arena, &shape->plan, error));
    *out = shape;
    return FIRN_OK;
}

static firn_status find_shape(firn_sync_work *work, const firn_lake_footer *footer,
                              const firn_sync_shape **out, firn_error *error) {
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 28);
    firn_status status = firn_lake_columns_key(footer->parquet, &key, error);
    if (status != FIRN_OK) goto out;
    firn_sync_shape *shape = firn_map_get(work->shapes, firn_buffer_slice(&key), NULL);
    if (shape == NULL) {
        FIRN_CHECK(new_shape(work, footer, &shape, error));
        FIRN_CHECK(firn_map_set(work->shapes, firn_buffer_slice(&key), shape, error));
    }
    *out = shape;
out:
    firn_buffer_release(&key);
    return status;
}

firn_status firn_sync_shape_of(firn_sync_work *work, const firn_lake_footer *footer,
                               const firn_sync_shape **out, firn_error *error) {
    unsigned known = footer->parquet->known_schema;
    *out = work->known_shapes[known];
    if (known > 0 && *out != NULL) return FIRN_OK;
    FIRN_TRY(find_shape(work, footer, out, error));
    if (known > 0) work->known_shapes[known] = *out;
    return FIRN_OK;
}

/* --- partitions -------------------------------------------------------------------------------- */

/* Files of a partition share its tuple. */
static firn_status keep_tuple(firn_sync_work *work, const firn_value *values, size_t count,
                              firn_sync_tuple **out, firn_error *error) {
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 24);
    firn_status status = firn_value_key(values, count, &key, error);
    if (status != FIRN_OK) goto out;
    firn_slice text = firn_buffer_slice(&key);
    if (text.data == NULL) text = firn_slice_text("");
    *out = firn_map_get(work->tuples, text, NULL);
    if (*out != NULL) goto out;
    firn_sync_tuple *tuple = firn_arena_alloc(work->plan_arena, 1, sizeof *tuple);
    firn_value *copies = firn_arena_alloc(work->plan_arena, count + 1, sizeof *copies);
    if (tuple == NULL || copies == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        FIRN_CHECK(firn_value_copy(&values[i], work->plan_arena, &copies[i], error));
    }
    tuple->values = copies;
    FIRN_CHECK(firn_map_set(work->tuples, text, tuple, error));
    *out = tuple;
out:
    firn_buffer_release(&key);
    return status;
}

typedef struct proving {
    firn_sync_work *work;
    firn_arena *arena; /* for one file */
} proving;

static firn_status prove_file(const proving *run, const firn_lake_footer *footer,
                              firn_error *error) {
    firn_sync_work *work = run->work;
    firn_sync_fact *fact = &work->facts[footer->index];
    const firn_sync_shape *shape = NULL;
    firn_lake_partition partition = {0};
    FIRN_TRY(firn_sync_shape_of(work, footer, &shape, error));
    FIRN_TRY(firn_lake_prove_partition(work->storage, work->binding, footer->file, footer->parquet,
                                       &shape->columns, run->arena, &partition, error));
    fact->proof = (uint8_t)partition.proof;
    return keep_tuple(work, partition.values, work->planned->default_spec->field_count,
                      &fact->tuple, error);
}

static firn_status prove(void *context, const firn_lake_footer *footer, firn_error *error) {
    const proving *run = context;
    firn_sync_work *work = run->work;
    firn_error problem;
    firn_error_clear(&problem);
    if (work->facts[footer->index].state != FIRN_SYNC_PENDING) return FIRN_OK;
    FIRN_TRY(firn_cancel_check(error));
    firn_status status = prove_file(run, footer, &problem);
    firn_arena_clear(run->arena);
    if (status == FIRN_OK) return FIRN_OK;
    if (firn_sync_is_files_fault(status)) {
        return firn_sync_add_bad(work, footer->index, problem.message, error);
    }
    if (error != NULL) *error = problem;
    return status;
}

firn_status firn_sync_prove(firn_sync_work *work, firn_error *error) {
    proving run = {work, firn_arena_new()};
    if (run.arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_sync_visit(work, "proving partitions", prove, &run, error);
    firn_arena_free(run.arena);
    return status;
}

/* --- entries ----------------------------------------------------------------------------------- */

firn_status firn_sync_entry(firn_sync_work *work, const firn_lake_footer *footer, firn_arena *arena,
                            firn_data_file *out, firn_error *error) {
    const firn_sync_shape *shape = NULL;
    if (footer->parquet == NULL) {
        return firn_fail(error, FIRN_CONFLICT, "the file changed while it was being added: %s",
                         footer->error->message);
    }
    FIRN_TRY(firn_sync_shape_of(work, footer, &shape, error));
    FIRN_TRY(firn_lake_entry_fill(shape->plan, footer->file, footer->parquet, arena, out, error));
    out->spec_id = work->planned->default_spec->spec_id;
    out->partition = work->facts[footer->index].tuple->values;
    out->partition_count = work->planned->default_spec->field_count;
    return FIRN_OK;
}
