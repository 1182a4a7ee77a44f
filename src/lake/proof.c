#include "lake/proof.h"

#include "lake/layout_internal.h"
#include "lake/proof_column.h"

/* One file's proof. */
typedef struct file_prover {
    firn_storage *storage;
    const firn_lake_binding *binding;
    const firn_lake_file *file;
    const firn_parquet_file *parquet;
    const firn_lake_columns *columns;
    firn_arena *arena;
    const firn_lake_path_key *keys;
    size_t key_count;
    firn_lake_partition *out;
    bool *done; /**< by field of the spec */
} file_prover;

/* The fields of one source column. */
typedef struct source_group {
    const size_t *fields; /**< indices in the spec */
    const firn_transform *const *transforms;
    size_t count;
    const firn_layout_binding_field *binding; /**< of the first one */
} source_group;

static const firn_partition_field *field_at(const file_prover *prover, size_t index) {
    return &prover->binding->spec->fields[index];
}

static void weaken(file_prover *prover, firn_lake_proof proof) {
    if (proof > prover->out->proof) prover->out->proof = proof;
}

static const char *text_of(const file_prover *prover, size_t index, const firn_value *value) {
    const firn_partition_field *field = field_at(prover, index);
    const char *text = firn_partition_value_text(
        &field->transform, prover->binding->fields[index].source->type, value, prover->arena);
    return text == NULL ? "?" : text;
}

static firn_status read_path(const file_prover *prover, size_t index, const firn_value *known,
                             firn_layout_reading *out, firn_error *error) {
    const firn_partition_field *field = field_at(prover, index);
    firn_status status = firn_layout_read(&prover->binding->fields[index], field, prover->keys,
                                          prover->key_count, known, prover->arena, out, error);
    return firn_error_wrap(error, status, "%s: partition field \"%s\"", prover->file->location,
                           field->name);
}

static const char *shown(const char *text) {
    return text == NULL ? "__HIVE_DEFAULT_PARTITION__" : text;
}

/* What the rows have, and what the path says. */
static firn_status agree(file_prover *prover, size_t index, const firn_value *proved,
                         const char *whose, firn_error *error) {
    firn_layout_reading reading;
    FIRN_TRY(read_path(prover, index, proved, &reading, error));
    prover->out->values[index] = *proved;
    prover->done[index] = true;
    if (!reading.present || firn_value_equal(&reading.value, proved)) return FIRN_OK;
    return firn_fail(
        error, FIRN_INVALID, "%s: partition field \"%s\": the path's %s=%s means %s, but %s %s",
        prover->file->location, field_at(prover, index)->name, reading.key, shown(reading.text),
        text_of(prover, index, &reading.value), whose, text_of(prover, index, proved));
}

static firn_status refuse_mixed(const file_prover *prover, size_t index,
                                const firn_column_verdict *verdict, firn_error *error) {
    const char *other =
        verdict->other_known ? text_of(prover, index, &verdict->other) : "other values";
    return firn_fail(error, FIRN_INVALID,
                     "%s: partition field \"%s\": the file has rows of %s and of %s, and a file "
                     "can be in one partition only",
                     prover->file->location, field_at(prover, index)->name,
                     text_of(prover, index, &verdict->value), other);
}

/* No rows: nothing contradicts the path. */
static firn_status take_path(file_prover *prover, size_t index, firn_error *error) {
    firn_layout_reading reading;
    FIRN_TRY(read_path(prover, index, NULL, &reading, error));
    const firn_partition_field *field = field_at(prover, index);
    const firn_type *type = prover->binding->fields[index].source->type;
    prover->out->values[index] =
        reading.present
            ? reading.value
            : firn_value_null(firn_transform_natural_result(&field->transform, type)->kind);
    prover->done[index] = true;
    return FIRN_OK;
}

static firn_status prove_from_column(file_prover *prover, const source_group *group, size_t leaf,
                                     firn_error *error) {
    firn_column_in_file column = {.storage = prover->storage,
                                  .file = prover->file,
                                  .parquet = prover->parquet,
                                  .leaf = leaf,
                                  .schema = prover->binding->schema,
                                  .field = group->binding->source};
    firn_column_verdict *verdicts = firn_arena_alloc(prover->arena, group->count, sizeof *verdicts);
    if (verdicts == NULL) return firn_fail_memory(error);
    bool was_read = false;
    FIRN_TRY(firn_column_judge(&column, group->transforms, group->count, prover->arena, verdicts,
                               &was_read, error));
    if (was_read) weaken(prover, FIRN_LAKE_PROVED_BY_COLUMN);
    for (size_t i = 0; i < group->count; i++) {
        size_t index = group->fields[i];
        if (verdicts[i].mixed) return refuse_mixed(prover, index, &verdicts[i], error);
    }
    for (size_t i = 0; i < group->count; i++) {
        size_t index = group->fields[i];
        FIRN_TRY(verdicts[i].empty
                     ? take_path(prover, index, error)
                     : agree(prover, index, &verdicts[i].value, "the rows have", error));
    }
    return FIRN_OK;
}

static firn_status unknown(const file_prover *prover, const source_group *group, const char *why,
                           firn_error *error) {
    return firn_fail(error, FIRN_INVALID,
                     "%s: the file has no column \"%s\" and %s: its partition can't be known",
                     prover->file->location, group->binding->source_name, why);
}

/* What readers give rows for a column that the file lacks, unless an identity partition says otherwise (specification, "Column Projection"). */
static firn_status value_of_absent(const file_prover *prover, const source_group *group,
                                   firn_value *out, firn_error *error) {
    const firn_field *source = group->binding->source;
    *out = firn_value_null(source->type->kind);
    bool has_default = source->initial_default != NULL && !json_is_null(source->initial_default);
    if (has_default && group->binding->nested) {
        return unknown(prover, group, "its default counts only in rows that have the struct",
                       error);
    }
    if (has_default) {
        return firn_value_from_json(source->type, source->initial_default, prover->arena, out,
                                    error);
    }
    if (!group->binding->all_required) return FIRN_OK;
    return unknown(prover, group, "it is required", error);
}

/* An identity field gives the rows of such a file their value, so that the path's word is the only one there is. */
static firn_status assert_by_path(file_prover *prover, const source_group *group, bool *asserted,
                                  firn_value *out, firn_error *error) {
    *asserted = false;
    for (size_t i = 0; i < group->count && !*asserted; i++) {
        size_t index = group->fields[i];
        const firn_layout_binding_field *binding = &prover->binding->fields[index];
        firn_layout_reading reading;
        if (group->transforms[i]->kind != FIRN_TRANSFORM_IDENTITY) continue;
        FIRN_TRY(read_path(prover, index, NULL, &reading, error));
        if (!reading.present) {
            if (!binding->expected) continue;
            return unknown(prover, group, "its path has no such key, as others have", error);
        }
        if (binding->nested) {
            return unknown(prover, group, "a path can't tell the value of a struct's field", error);
        }
        if (reading.value.is_null && binding->source->required) {
            return unknown(prover, group, "its path says null, though it is required", error);
        }
        *asserted = true;
        *out = reading.value;
    }
    return FIRN_OK;
}

static firn_status prove_absent(file_prover *prover, const source_group *group, firn_error *error) {
    firn_value value;
    bool asserted = false;
    if (prover->parquet->metadata->num_rows == 0) {
        for (size_t i = 0; i < group->count; i++) {
            FIRN_TRY(take_path(prover, group->fields[i], error));
        }
        return FIRN_OK;
    }
    FIRN_TRY(assert_by_path(prover, group, &asserted, &value, error));
    if (asserted)
        weaken(prover, FIRN_LAKE_ASSERTED);
    else
        FIRN_TRY(value_of_absent(prover, group, &value, error));
    for (size_t i = 0; i < group->count; i++) {
        firn_value made;
        FIRN_TRY(firn_transform_apply(group->transforms[i], group->binding->source->type, &value,
                                      &made, error));
        FIRN_TRY(agree(prover, group->fields[i], &made,
                       asserted ? "by the path the rows have"
                                : "the file lacks the column, so that its rows have",
                       error));
    }
    return FIRN_OK;
}

/* The fields from `first` on that have its source. */
static firn_status gather(const file_prover *prover, size_t first, source_group *out,
                          firn_error *error) {
    const firn_partition_spec *spec = prover->binding->spec;
    size_t room = spec->field_count - first;
    size_t *fields = firn_arena_alloc(prover->arena, room, sizeof *fields);
    const firn_transform **transforms = firn_arena_alloc(prover->arena, room, sizeof *transforms);
    if (fields == NULL || transforms == NULL) return firn_fail_memory(error);
    *out = (source_group){
        .fields = fields, .transforms = transforms, .binding = &prover->binding->fields[first]};
    for (size_t i = first; i < spec->field_count; i++) {
        if (prover->done[i] || spec->fields[i].source_id != spec->fields[first].source_id) continue;
        fields[out->count] = i;
        transforms[out->count++] = &spec->fields[i].transform;
    }
    return FIRN_OK;
}

static firn_status prove_source(file_prover *prover, size_t first, firn_error *error) {
    source_group group;
    size_t leaf = SIZE_MAX;
    FIRN_TRY(gather(prover, first, &group, error));
    FIRN_TRY(firn_column_leaf_of(prover->columns, prover->parquet,
                                 field_at(prover, first)->source_id, prover->file->location, &leaf,
                                 error));
    if (leaf == SIZE_MAX) return prove_absent(prover, &group, error);
    return prove_from_column(prover, &group, leaf, error);
}

/* Always null, and of no column (specification, "Partition Transforms"). */
static void take_voids(file_prover *prover) {
    const firn_partition_spec *spec = prover->binding->spec;
    for (size_t i = 0; i < spec->field_count; i++) {
        if (spec->fields[i].transform.kind != FIRN_TRANSFORM_VOID) continue;
        const firn_type *result = spec->fields[i].result_type;
        prover->out->values[i] = firn_value_null(result == NULL ? FIRN_TYPE_UNKNOWN : result->kind);
        prover->done[i] = true;
    }
}

firn_status firn_lake_prove_partition(firn_storage *storage, const firn_lake_binding *binding,
                                      const firn_lake_file *file, const firn_parquet_file *parquet,
                                      const firn_lake_columns *columns, firn_arena *arena,
                                      firn_lake_partition *out, firn_error *error) {
    size_t count = binding->spec->field_count;
    *out = (firn_lake_partition){.values = firn_arena_alloc(arena, count + 1, sizeof *out->values)};
    file_prover prover = {.storage = storage,
                          .binding = binding,
                          .file = file,
                          .parquet = parquet,
                          .columns = columns,
                          .arena = arena,
                          .out = out,
                          .done = firn_arena_alloc(arena, count + 1, sizeof *prover.done)};
    if (out->values == NULL || prover.done == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_lake_path_keys(file->location, file->root_length, arena, &prover.keys,
                                 &prover.key_count, error));
    take_voids(&prover);
    for (size_t i = 0; i < count; i++) {
        if (!prover.done[i]) FIRN_TRY(prove_source(&prover, i, error));
    }
    return FIRN_OK;
}
