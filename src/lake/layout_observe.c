/* Looking at the files of a table that is to be made. */
#include <string.h>

#include "lake/layout_internal.h"
#include "lake/proof_column.h"

/* Keys by which a message names those of a path. */
static firn_status key_names(const firn_lake_path_key *keys, size_t count, firn_arena *arena,
                             const char **out, firn_error *error) {
    *out = count == 0 ? "no keys" : "";
    for (size_t i = 0; i < count; i++) {
        *out = firn_arena_format(arena, "%s%s%s", *out, i == 0 ? "" : ", ", keys[i].key);
        if (*out == NULL) return firn_fail_memory(error);
    }
    return FIRN_OK;
}

static bool means_nothing(const firn_lake_layout *layout, const char *key) {
    const firn_layout_rule *rule = firn_layout_rule_of(layout, key);
    return rule != NULL && rule->means_nothing;
}

/* Whether every key of `a` that means something is one of `b`. */
static bool are_among(const firn_lake_layout *layout, const firn_lake_path_key *a, size_t a_count,
                      const firn_lake_path_key *b, size_t b_count) {
    for (size_t i = 0; i < a_count; i++) {
        bool found = means_nothing(layout, a[i].key);
        for (size_t j = 0; j < b_count && !found; j++) found = strcmp(a[i].key, b[j].key) == 0;
        if (!found) return false;
    }
    return true;
}

static firn_status compare_keys(const firn_lake_layout *layout, const char *location,
                                const firn_lake_path_key *keys, size_t count, firn_arena *arena,
                                firn_error *error) {
    if (are_among(layout, keys, count, layout->keys, layout->key_count) &&
        are_among(layout, layout->keys, layout->key_count, keys, count)) {
        return FIRN_OK;
    }
    const char *here = NULL;
    const char *before = NULL;
    FIRN_TRY(key_names(keys, count, arena, &here, error));
    FIRN_TRY(key_names(layout->keys, layout->key_count, arena, &before, error));
    return firn_fail(error, FIRN_INVALID,
                     "%s: the path has %s, but %s has %s; a key that means nothing can be left "
                     "aside by a rule \"KEY: -\"",
                     location, here, layout->first_location, before);
}

static firn_status keep_keys(firn_lake_layout *layout, const firn_lake_file *file,
                             const firn_lake_path_key *keys, size_t count, firn_arena *arena,
                             firn_error *error) {
    if (layout->first_location != NULL) {
        return compare_keys(layout, file->location, keys, count, arena, error);
    }
    FIRN_TRY(firn_lake_path_keys(file->location, file->root_length, layout->arena, &layout->keys,
                                 &layout->key_count, error));
    layout->first_location = firn_arena_strdup(layout->arena, file->location);
    return layout->first_location == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* What the path says of time, by the keys without a rule. */
typedef struct path_time {
    size_t count;
    firn_time_unit units[FIRN_UNIT_COUNT];
    firn_transform transforms[FIRN_UNIT_COUNT]; /**< by position, as are these */
    firn_value values[FIRN_UNIT_COUNT];
    const char *problem; /**< why it can't be read; NULL: it can */
} path_time;

static firn_status read_time(const firn_lake_layout *layout, const firn_lake_path_key *keys,
                             size_t count, firn_arena *arena, path_time *out, firn_error *error) {
    *out = (path_time){0};
    const char *texts[FIRN_UNIT_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        firn_time_unit unit = firn_time_unit_named(keys[i].key);
        if (unit == FIRN_UNIT_COUNT || firn_layout_rule_of(layout, keys[i].key) != NULL) continue;
        texts[unit] = keys[i].value;
        out->transforms[out->count] = firn_time_unit_transform(unit);
        out->units[out->count++] = unit;
    }
    for (size_t i = 0; i < out->count; i++) {
        firn_time_unit unit = out->units[i];
        out->values[i] = firn_value_null(FIRN_TYPE_INT);
        if (texts[unit] == NULL || strcmp(texts[unit], "null") == 0) continue;
        firn_error inner;
        firn_error_clear(&inner);
        firn_status status = firn_layout_parse_time(unit, texts, &out->values[i], &inner);
        if (status == FIRN_OK) continue;
        out->problem = firn_arena_strdup(arena, inner.message);
        return out->problem == NULL ? firn_fail_memory(error) : FIRN_OK;
    }
    return FIRN_OK;
}

static bool is_time(firn_type_kind kind) {
    return kind == FIRN_TYPE_DATE || kind == FIRN_TYPE_TIMESTAMP || kind == FIRN_TYPE_TIMESTAMPTZ ||
           kind == FIRN_TYPE_TIMESTAMP_NS || kind == FIRN_TYPE_TIMESTAMPTZ_NS;
}

static firn_status rule_out(firn_lake_layout *layout, firn_layout_candidate *candidate,
                            const char *location, const char *reason, firn_error *error) {
    candidate->reason = firn_arena_strdup(layout->arena, reason);
    candidate->against = firn_arena_strdup(layout->arena, location);
    if (candidate->reason == NULL || candidate->against == NULL) return firn_fail_memory(error);
    return FIRN_OK;
}

static firn_layout_candidate *find_candidate(const firn_lake_layout *layout, int32_t field_id) {
    for (size_t i = 0; i < layout->candidates.count; i++) {
        if (layout->candidates.items[i].field_id == field_id) return &layout->candidates.items[i];
    }
    return NULL;
}

/* A column that comes up only now was missing in the files before. */
static firn_status add_candidates(firn_lake_layout *layout, const firn_parquet_file *parquet,
                                  const firn_schema *schema, const firn_lake_columns *columns,
                                  firn_error *error) {
    for (size_t i = 0; i < columns->leaf_count && i < parquet->schema->leaf_count; i++) {
        bool fits = columns->types[i] != NULL && is_time(columns->types[i]->kind) &&
                    parquet->schema->leaves[i].maximum_repetition_level == 0;
        if (!fits || find_candidate(layout, columns->field_ids[i]) != NULL) continue;
        firn_layout_candidate candidate = {.field_id = columns->field_ids[i]};
        candidate.name = firn_schema_full_name(schema, candidate.field_id, layout->arena);
        if (candidate.name == NULL) {
            if (firn_schema_find(schema, candidate.field_id) == NULL) continue;
            return firn_fail_memory(error);
        }
        FIRN_TRY(firn_vector_push(&layout->candidates, error, candidate));
        if (layout->first_with_rows == NULL) continue;
        FIRN_TRY(rule_out(layout, &layout->candidates.items[layout->candidates.count - 1],
                          layout->first_with_rows, "the file has no such column", error));
    }
    return FIRN_OK;
}

static firn_status judge_unit(firn_lake_layout *layout, firn_layout_candidate *candidate,
                              const firn_column_in_file *column, const path_time *time,
                              size_t index, const firn_column_verdict *verdict, firn_arena *arena,
                              firn_error *error) {
    const firn_value *wanted = &time->values[index];
    if (!verdict->mixed && firn_value_equal(&verdict->value, wanted)) return FIRN_OK;
    const firn_transform *transform = &time->transforms[index];
    const firn_type *type = column->field->type;
    const char *have = firn_partition_value_text(transform, type, &verdict->value, arena);
    const char *says = firn_partition_value_text(transform, type, wanted, arena);
    const char *other = !verdict->mixed ? ""
                        : !verdict->other_known
                            ? "others"
                            : firn_partition_value_text(transform, type, &verdict->other, arena);
    if (have == NULL || says == NULL || other == NULL) return firn_fail_memory(error);
    const char *reason = firn_arena_format(arena, "%s %s%s%s, the path says %s", transform->text,
                                           have, verdict->mixed ? " and " : "", other, says);
    if (reason == NULL) return firn_fail_memory(error);
    return rule_out(layout, candidate, column->file->location, reason, error);
}

static firn_status judge_candidate(firn_lake_layout *layout, firn_layout_candidate *candidate,
                                   firn_column_in_file *column, const firn_lake_columns *columns,
                                   const path_time *time, firn_arena *arena, firn_error *error) {
    const char *location = column->file->location;
    const firn_transform *transforms[FIRN_UNIT_COUNT];
    firn_column_verdict verdicts[FIRN_UNIT_COUNT] = {{0}};
    bool was_read = false;
    if (time->problem != NULL) return rule_out(layout, candidate, location, time->problem, error);
    column->field = firn_schema_find(column->schema, candidate->field_id);
    FIRN_TRY(firn_column_leaf_of(columns, column->parquet, candidate->field_id, location,
                                 &column->leaf, error));
    if (column->leaf == SIZE_MAX || column->field == NULL) {
        return rule_out(layout, candidate, location, "the file has no such column", error);
    }
    for (size_t i = 0; i < time->count; i++) {
        transforms[i] = &time->transforms[i];
        if (time->units[i] != FIRN_UNIT_HOUR || column->field->type->kind != FIRN_TYPE_DATE) {
            continue;
        }
        return rule_out(layout, candidate, location, "a date has no hour", error);
    }
    FIRN_TRY(firn_column_judge(column, transforms, time->count, arena, verdicts, &was_read, error));
    for (size_t i = 0; i < time->count && candidate->against == NULL; i++) {
        if (!verdicts[i].settled || verdicts[i].empty) continue;
        FIRN_TRY(judge_unit(layout, candidate, column, time, i, &verdicts[i], arena, error));
    }
    return FIRN_OK;
}

static firn_status judge_candidates(firn_lake_layout *layout, firn_column_in_file *column,
                                    const firn_lake_columns *columns, const path_time *time,
                                    firn_arena *arena, firn_error *error) {
    const char *location = column->file->location;
    size_t left = 0;
    for (size_t i = 0; i < layout->candidates.count; i++) {
        firn_layout_candidate *candidate = &layout->candidates.items[i];
        if (candidate->against != NULL) continue;
        FIRN_TRY(judge_candidate(layout, candidate, column, columns, time, arena, error));
        left += candidate->against == NULL;
    }
    if (left > 0 || layout->unproved != NULL) return FIRN_OK;
    layout->unproved = firn_arena_strdup(layout->arena, location);
    return layout->unproved == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status observe(firn_lake_layout *layout, firn_column_in_file *column,
                           const firn_lake_columns *columns, firn_arena *arena, firn_error *error) {
    const firn_lake_file *file = column->file;
    const firn_lake_path_key *keys = NULL;
    size_t count = 0;
    path_time time;
    FIRN_TRY(firn_lake_path_keys(file->location, file->root_length, arena, &keys, &count, error));
    FIRN_TRY(keep_keys(layout, file, keys, count, arena, error));
    FIRN_TRY(read_time(layout, keys, count, arena, &time, error));
    /* Once none is left, nothing more is to be learnt; and no row proves nothing. */
    if (time.count == 0 || layout->unproved != NULL) return FIRN_OK;
    if (column->parquet->metadata->num_rows == 0) return FIRN_OK;
    FIRN_TRY(add_candidates(layout, column->parquet, column->schema, columns, error));
    FIRN_TRY(judge_candidates(layout, column, columns, &time, arena, error));
    if (layout->first_with_rows != NULL) return FIRN_OK;
    layout->first_with_rows = firn_arena_strdup(layout->arena, file->location);
    return layout->first_with_rows == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_lake_layout_observe(firn_lake_layout *layout, firn_storage *storage,
                                     const firn_lake_file *file, const firn_parquet_file *parquet,
                                     const firn_schema *schema, const firn_lake_columns *columns,
                                     firn_error *error) {
    firn_column_in_file column = {
        .storage = storage, .file = file, .parquet = parquet, .schema = schema};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = observe(layout, &column, columns, arena, error);
    firn_arena_free(arena);
    return status;
}
