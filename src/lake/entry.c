#include "lake/entry.h"

#include "base/alloc.h"

struct firn_lake_entry_plan {
    size_t leaf_count;
    const firn_field **fields; /* by leaf; NULL: none */
    firn_metrics_mode *modes;
};

firn_status firn_lake_entry_plan_new(const firn_table_metadata *metadata,
                                     const firn_lake_columns *columns,
                                     const firn_parquet_file *like, firn_arena *arena,
                                     const firn_lake_entry_plan **out, firn_error *error) {
    size_t count = columns->leaf_count;
    if (count != like->schema->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "%s has %zu columns, not %zu", like->source.name,
                         like->schema->leaf_count, count);
    }
    firn_lake_entry_plan *plan = firn_arena_alloc(arena, 1, sizeof *plan);
    if (plan == NULL) return firn_fail_memory(error);
    plan->leaf_count = count;
    plan->fields = firn_arena_alloc(arena, count + 1, sizeof *plan->fields);
    plan->modes = firn_arena_alloc(arena, count + 1, sizeof *plan->modes);
    if (plan->fields == NULL || plan->modes == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_metrics_modes(metadata, metadata->schema, columns->field_ids, count, plan->modes,
                                error));
    for (size_t i = 0; i < count; i++) {
        /* What the table takes for one value may repeat in a file whose lists were written without a group. */
        if (columns->field_ids[i] < 0) continue;
        plan->fields[i] = firn_schema_find(metadata->schema, columns->field_ids[i]);
        bool repeated = like->schema->leaves[i].maximum_repetition_level > 0;
        if (repeated && plan->modes[i].kind > FIRN_METRICS_COUNTS) {
            plan->modes[i] = (firn_metrics_mode){.kind = FIRN_METRICS_COUNTS};
        }
    }
    *out = plan;
    return FIRN_OK;
}

static bool is_text(const firn_value *value) {
    return value->kind == FIRN_TYPE_STRING || value->kind == FIRN_TYPE_BINARY;
}

static bool is_zero(const firn_value *value) {
    return (value->kind == FIRN_TYPE_FLOAT && value->as.float32 == 0) ||
           (value->kind == FIRN_TYPE_DOUBLE && value->as.float64 == 0);
}

/*
 * Engines answer min and max from manifests where bounds are not shortened: a bound of a number that is no value of the file is worse than none. A zero, of whatever sign, is the
 * value that it stands for.
 */
static bool may_be_written(const firn_value *bound, bool exact, firn_metrics_mode mode) {
    return exact || is_zero(bound) || (is_text(bound) && mode.kind == FIRN_METRICS_TRUNCATE);
}

static firn_status fill_column(const firn_lake_entry_plan *plan, size_t leaf,
                               const firn_parquet_file *parquet, firn_arena *arena,
                               firn_column_metrics *out, firn_error *error) {
    *out = (firn_column_metrics){.field = plan->fields[leaf], .mode = plan->modes[leaf]};
    if (out->mode.kind == FIRN_METRICS_NONE) return FIRN_OK;
    firn_lake_column_facts facts;
    FIRN_TRY(firn_lake_column_facts_of(parquet, leaf, out->field->type, arena, &facts, error));
    out->compressed_bytes = facts.compressed_size;
    out->values = facts.values;
    out->nulls = facts.nulls;
    out->nans = facts.nans;
    out->lower = facts.lower;
    out->upper = facts.upper;
    out->has_lower = facts.has_lower && may_be_written(&facts.lower, facts.lower_exact, out->mode);
    out->has_upper = facts.has_upper && may_be_written(&facts.upper, facts.upper_exact, out->mode);
    return FIRN_OK;
}

/* Columns may lie in any order. UINT64_MAX: the group has no bytes. */
static firn_status start_of_group(const firn_parquet_file *parquet, size_t group, uint64_t *out,
                                  firn_error *error) {
    *out = UINT64_MAX;
    for (size_t i = 0; i < parquet->schema->leaf_count; i++) {
        uint64_t offset = 0, size = 0;
        FIRN_TRY(firn_parquet_chunk_range(parquet, group, i, &offset, &size, error));
        if (size > 0 && offset < *out) *out = offset;
    }
    return FIRN_OK;
}

/* "Split offsets … must be sorted ascending" (data_file, field 132): of a file whose groups aren't, there are none. Also finds data that lie outside of the file. */
static firn_status fill_split_offsets(const firn_parquet_file *parquet, firn_arena *arena,
                                      firn_data_file *out, firn_error *error) {
    size_t groups = parquet->metadata->row_group_count, count = 0;
    int64_t *offsets = firn_arena_alloc(arena, groups + 1, sizeof *offsets);
    if (offsets == NULL) return firn_fail_memory(error);
    bool ascending = true;
    for (size_t i = 0; i < groups; i++) {
        uint64_t start = 0;
        FIRN_TRY(start_of_group(parquet, i, &start, error));
        if (start == UINT64_MAX) continue;
        if (count > 0 && offsets[count - 1] >= (int64_t)start) ascending = false;
        offsets[count++] = (int64_t)start;
    }
    if (!ascending || count == 0) return FIRN_OK;
    out->split_offsets = offsets;
    out->split_offset_count = count;
    return FIRN_OK;
}

firn_status firn_lake_entry_fill(const firn_lake_entry_plan *plan, const firn_lake_file *file,
                                 const firn_parquet_file *parquet, firn_arena *arena,
                                 firn_data_file *out, firn_error *error) {
    if (parquet->schema->leaf_count != plan->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "%s has %zu columns, not %zu", file->location,
                         parquet->schema->leaf_count, plan->leaf_count);
    }
    *out = (firn_data_file){.content = FIRN_CONTENT_DATA,
                            .path = firn_arena_strdup(arena, file->location),
                            .format = FIRN_FILE_PARQUET,
                            .format_text = firn_file_format_name(FIRN_FILE_PARQUET),
                            .record_count = parquet->metadata->num_rows,
                            .file_size_in_bytes = file->size};
    firn_column_metrics *columns = firn_alloc_array(plan->leaf_count + 1, sizeof *columns);
    firn_status status = FIRN_OK;
    if (out->path == NULL || columns == NULL) FIRN_CHECK(firn_fail_memory(error));
    for (size_t i = 0; i < plan->leaf_count; i++) {
        FIRN_CHECK(fill_column(plan, i, parquet, arena, &columns[i], error));
    }
    FIRN_CHECK(firn_metrics_of_columns(columns, plan->leaf_count, arena, out, error));
    FIRN_CHECK(fill_split_offsets(parquet, arena, out, error));
out:
    firn_free(columns);
    return status;
}
