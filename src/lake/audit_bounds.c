/** Column metrics of a manifest against what the file has: a bound that leaves values out, or a count that is wrong, makes filters lose rows. */
#include "base/plural.h"
#include "data/metrics.h"
#include "lake/audit_internal.h"

/** What is known of the columns of a file. */
typedef struct column_facts {
    const firn_field **fields; /**< by leaf; NULL: of none, or not looked at */
    firn_lake_column_facts *facts;
    size_t count;
} column_facts;

typedef enum judgement { RIGHT, WRONG, UNKNOWN } judgement;

static const firn_slice *bound_of(const firn_bound_map *map, int32_t id) {
    for (size_t i = 0; i < map->count; i++) {
        if (map->ids[i] == id) return &map->bounds[i];
    }
    return NULL;
}

/** -1: there is none. */
static int64_t count_of(const firn_count_map *map, int32_t id) {
    for (size_t i = 0; i < map->count; i++) {
        if (map->ids[i] == id) return map->counts[i];
    }
    return -1;
}

/** Zeros are equal whatever their signs: a bound's is chosen to keep it a bound. */
static bool less(const firn_value *a, const firn_value *b) {
    if (a->kind == FIRN_TYPE_FLOAT) return a->as.float32 < b->as.float32;
    if (a->kind == FIRN_TYPE_DOUBLE) return a->as.float64 < b->as.float64;
    return firn_value_compare(a, b) < 0;
}

static bool is_bounded(const firn_type *type) {
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE:
    case FIRN_TYPE_DECIMAL:
    case FIRN_TYPE_DATE:
    case FIRN_TYPE_TIME:
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS:
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY: return true;
    default: return false;
    }
}

static judgement judge_bound(const firn_field *field, const firn_lake_column_facts *facts,
                             const firn_slice *bound, bool upper) {
    firn_value value;
    bool any = facts->values > 0 && facts->nulls != facts->values;
    bool known = upper ? facts->has_upper : facts->has_lower;
    bool exact = upper ? facts->upper_exact : facts->lower_exact;
    if (bound == NULL || !any || !is_bounded(field->type)) return RIGHT;
    if (firn_value_from_bytes(field->type, *bound, &value, NULL) != FIRN_OK) return WRONG;
    /* Of a column of nothing but NaN a reader may have read any bound. */
    if (facts->nulls >= 0 && facts->nans >= 0 && facts->nulls + facts->nans == facts->values) {
        return RIGHT;
    }
    if (!known) return UNKNOWN;
    bool left_out = upper ? less(&value, &facts->upper) : less(&facts->lower, &value);
    return !left_out ? RIGHT : exact ? WRONG : UNKNOWN;
}

static judgement judge_count(int64_t recorded, int64_t actual) {
    if (recorded < 0) return RIGHT;
    if (actual < 0) return UNKNOWN;
    return recorded == actual ? RIGHT : WRONG;
}

/** What is wrong of a column, or not known; NULL: nothing. */
static const char *judge_column(const firn_data_file *file, const firn_field *field,
                                const firn_lake_column_facts *facts, judgement *out) {
    const struct {
        const char *what;
        judgement is;
    } all[] = {
        {"lower bound", judge_bound(field, facts, bound_of(&file->lower_bounds, field->id), false)},
        {"upper bound", judge_bound(field, facts, bound_of(&file->upper_bounds, field->id), true)},
        {"null count", judge_count(count_of(&file->null_value_counts, field->id), facts->nulls)},
        {"value count", judge_count(count_of(&file->value_counts, field->id), facts->values)},
        {"NaN count", facts->nans < 0
                          ? RIGHT
                          : judge_count(count_of(&file->nan_value_counts, field->id), facts->nans)},
    };
    const char *unknown = NULL;
    *out = WRONG;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].is == WRONG) return all[i].what;
        if (all[i].is == UNKNOWN && unknown == NULL) unknown = all[i].what;
    }
    *out = unknown == NULL ? RIGHT : UNKNOWN;
    return unknown;
}

static bool has_metrics(const firn_data_file *file, int32_t id) {
    return bound_of(&file->lower_bounds, id) != NULL || bound_of(&file->upper_bounds, id) != NULL ||
           count_of(&file->null_value_counts, id) >= 0 || count_of(&file->value_counts, id) >= 0 ||
           count_of(&file->nan_value_counts, id) >= 0;
}

static firn_status facts_of(firn_auditor *auditor, const firn_audit_file *file, size_t leaf,
                            const firn_field *field, firn_lake_column_facts *out,
                            firn_error *error) {
    bool flat = file->parquet->schema->leaves[leaf].maximum_repetition_level == 0;
    if (!auditor->options->deep || !flat || !is_bounded(field->type) ||
        !has_metrics(&file->fixed, field->id)) {
        return firn_lake_column_facts_of(file->parquet, leaf, field->type, auditor->scratch, out,
                                         error);
    }
    auditor->out->columns_read++;
    return firn_audit_read_column(auditor, file, leaf, field, auditor->scratch, out, error);
}

static firn_status collect(firn_auditor *auditor, const firn_audit_file *file, column_facts *out,
                           firn_error *error) {
    firn_arena *arena = auditor->scratch;
    out->count = file->columns->leaf_count;
    out->fields = firn_arena_alloc(arena, out->count, sizeof *out->fields);
    out->facts = firn_arena_alloc(arena, out->count, sizeof *out->facts);
    if (out->fields == NULL || out->facts == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->count; i++) {
        int32_t id = file->columns->field_ids[i];
        if (id < 0) continue;
        out->fields[i] = firn_schema_find(auditor->table->metadata->schema, id);
        if (out->fields[i] == NULL) continue;
        FIRN_TRY(facts_of(auditor, file, i, out->fields[i], &out->facts[i], error));
    }
    return FIRN_OK;
}

/** Bounds of numbers that no value has are not written: engines answer min and max by them. */
static bool may_be_written(const firn_value *bound, bool exact) {
    return exact || bound->kind == FIRN_TYPE_STRING || bound->kind == FIRN_TYPE_BINARY;
}

/** The metrics as the table's properties ask for them, from what is known. */
static firn_status set_right(firn_auditor *auditor, firn_audit_file *file,
                             const column_facts *known, firn_error *error) {
    const firn_table_metadata *metadata = auditor->table->metadata;
    firn_arena *arena = auditor->scratch;
    firn_metrics_mode *modes = firn_arena_alloc(arena, known->count, sizeof *modes);
    firn_column_metrics *columns = firn_arena_alloc(arena, known->count, sizeof *columns);
    if (modes == NULL || columns == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_metrics_modes(metadata, metadata->schema, file->columns->field_ids, known->count,
                                modes, error));
    for (size_t i = 0; i < known->count; i++) {
        const firn_lake_column_facts *facts = &known->facts[i];
        bool flat = file->parquet->schema->leaves[i].maximum_repetition_level == 0;
        if (known->fields[i] == NULL) continue;
        if (!flat && modes[i].kind > FIRN_METRICS_COUNTS) modes[i].kind = FIRN_METRICS_COUNTS;
        columns[i] = (firn_column_metrics){
            .field = known->fields[i],
            .mode = modes[i],
            .compressed_bytes = facts->compressed_size,
            .values = facts->values,
            .nulls = facts->nulls,
            .nans = facts->nans,
            .has_lower = facts->has_lower && may_be_written(&facts->lower, facts->lower_exact),
            .has_upper = facts->has_upper && may_be_written(&facts->upper, facts->upper_exact),
            .lower = facts->lower,
            .upper = facts->upper};
    }
    file->changed = true;
    return firn_metrics_of_columns(columns, known->count, arena, &file->fixed, error);
}

static firn_status tell_wrong(firn_auditor *auditor, const firn_audit_file *file, size_t leaf,
                              const char *what, firn_error *error) {
    return firn_audit_add(auditor->out, FIRN_AUDIT_BOUNDS, file->file->location, true, error,
                          "column \"%s\": the %s of the entry is not that of the file: filters "
                          "lose rows",
                          file->parquet->schema->leaves[leaf].dotted_path, what);
}

firn_status firn_audit_bounds(firn_auditor *auditor, firn_audit_file *file, firn_error *error) {
    column_facts known = {0};
    size_t unknown = 0, first = 0;
    const char *unknown_what = NULL;
    bool wrong = false;
    FIRN_TRY(collect(auditor, file, &known, error));
    for (size_t i = 0; i < known.count; i++) {
        judgement is = RIGHT;
        bool flat = file->parquet->schema->leaves[i].maximum_repetition_level == 0;
        if (known.fields[i] == NULL || !flat) continue;
        const char *what = judge_column(&file->fixed, known.fields[i], &known.facts[i], &is);
        if (is == WRONG) FIRN_TRY(tell_wrong(auditor, file, i, what, error));
        wrong = wrong || is == WRONG;
        if (is != UNKNOWN || unknown++ > 0) continue;
        first = i;
        unknown_what = what;
    }
    if (wrong) return set_right(auditor, file, &known, error);
    if (unknown == 0 || auditor->options->deep) return FIRN_OK;
    return firn_audit_add(auditor->out, FIRN_AUDIT_UNDECIDED, file->file->location, false, error,
                          "the footer does not tell whether the entry is right of %zu column%s "
                          "(\"%s\": %s); --deep reads them",
                          unknown, firn_plural(unknown),
                          file->parquet->schema->leaves[first].dotted_path, unknown_what);
}
