/** Whether the rows of a file are in the partition that its entry names. */
#include "lake/audit_internal.h"
#include "lake/proof_column.h"

/** The fields of a spec that are made of one column. */
typedef struct source {
    const firn_field *field;
    size_t *fields; /**< positions in the spec */
    const firn_transform **transforms;
    size_t count;
} source;

/** Types of one width are one: what was written before a promotion counts as it is now. */
static bool same_value(const firn_value *a, const firn_value *b) {
    bool whole_a =
        a->kind == FIRN_TYPE_INT || a->kind == FIRN_TYPE_LONG || a->kind == FIRN_TYPE_DATE;
    bool whole_b =
        b->kind == FIRN_TYPE_INT || b->kind == FIRN_TYPE_LONG || b->kind == FIRN_TYPE_DATE;
    if (a->is_null || b->is_null) return a->is_null == b->is_null;
    if (!whole_a || !whole_b) return firn_value_equal(a, b);
    int64_t left = a->kind == FIRN_TYPE_LONG ? a->as.int64 : a->as.int32;
    int64_t right = b->kind == FIRN_TYPE_LONG ? b->as.int64 : b->as.int32;
    return left == right;
}

static const char *text_of(const firn_auditor *auditor, const source *from, size_t i,
                           const firn_value *value) {
    const char *text =
        firn_partition_value_text(from->transforms[i], from->field->type, value, auditor->scratch);
    return text == NULL ? "?" : text;
}

static firn_status tell_mixed(firn_auditor *auditor, const firn_audit_file *file,
                              const source *from, size_t i, const firn_partition_spec *spec,
                              const firn_column_verdict *verdict, firn_error *error) {
    const char *other =
        verdict->other_known ? text_of(auditor, from, i, &verdict->other) : "other values";
    return firn_audit_add(auditor->out, FIRN_AUDIT_PARTITION, file->file->location, false, error,
                          "partition field \"%s\": the entry says %s, and the file has rows of %s "
                          "and of %s: filters lose rows; a file of two partitions has to be "
                          "written anew, as several",
                          spec->fields[from->fields[i]].name,
                          text_of(auditor, from, i, &file->fixed.partition[from->fields[i]]),
                          text_of(auditor, from, i, &verdict->value), other);
}

/** Sets the value right, if deletes don't go by it. */
static firn_status set_right(firn_auditor *auditor, firn_audit_file *file, const source *from,
                             size_t i, const firn_partition_spec *spec, const firn_value *value,
                             firn_error *error) {
    const firn_data_file *was = &file->entry->live->entry.file;
    size_t index = from->fields[i];
    firn_data_file moved = file->fixed;
    bool may = false;
    firn_value *tuple =
        firn_arena_memdup(auditor->scratch, moved.partition, moved.partition_count * sizeof *tuple);
    if (tuple == NULL) return firn_fail_memory(error);
    /* As the entry's own values are typed. */
    tuple[index] = *value;
    moved.partition = tuple;
    FIRN_TRY(firn_audit_may_move(auditor, &file->entry->live->entry, &moved, &may, error));
    FIRN_TRY(firn_audit_add(
        auditor->out, FIRN_AUDIT_PARTITION, was->path, may, error,
        "partition field \"%s\": the entry says %s, and all rows have %s: filters lose them%s",
        spec->fields[index].name, text_of(auditor, from, i, &was->partition[index]),
        text_of(auditor, from, i, value),
        may ? "" : "; delete files of a partition reach the file: compact it first"));
    if (!may) return FIRN_OK;
    file->fixed = moved;
    file->changed = true;
    return FIRN_OK;
}

static firn_status judge(firn_auditor *auditor, firn_audit_file *file, const source *from,
                         const firn_partition_spec *spec, const firn_column_verdict *verdicts,
                         firn_error *error) {
    for (size_t i = 0; i < from->count; i++) {
        const firn_column_verdict *verdict = &verdicts[i];
        if (verdict->mixed) {
            FIRN_TRY(tell_mixed(auditor, file, from, i, spec, verdict, error));
        } else if (verdict->settled && !verdict->empty &&
                   !same_value(&verdict->value, &file->fixed.partition[from->fields[i]])) {
            FIRN_TRY(set_right(auditor, file, from, i, spec, &verdict->value, error));
        }
    }
    return FIRN_OK;
}

static bool is_open(const source *from, const firn_column_verdict *verdicts) {
    bool open = false;
    for (size_t i = 0; i < from->count; i++) {
        if (verdicts[i].mixed) return false;
        open = open || !verdicts[i].settled;
    }
    return open;
}

static firn_status check_column(firn_auditor *auditor, firn_audit_file *file, const source *from,
                                const firn_partition_spec *spec, size_t leaf, firn_error *error) {
    firn_column_in_file column = {.storage = auditor->table->storage,
                                  .file = file->file,
                                  .parquet = file->parquet,
                                  .leaf = leaf,
                                  .schema = auditor->table->metadata->schema,
                                  .field = from->field};
    firn_arena *arena = auditor->scratch;
    firn_column_verdict *verdicts = firn_arena_alloc(arena, from->count, sizeof *verdicts);
    if (verdicts == NULL) return firn_fail_memory(error);
    FIRN_TRY(
        firn_column_judge_footer(&column, from->transforms, from->count, arena, verdicts, error));
    if (is_open(from, verdicts)) {
        if (!auditor->options->deep) {
            FIRN_TRY(firn_audit_add(auditor->out, FIRN_AUDIT_UNDECIDED, file->file->location, false,
                                    error,
                                    "partition field \"%s\": the footer does not tell it; --deep "
                                    "reads the column",
                                    spec->fields[from->fields[0]].name));
        } else {
            auditor->out->columns_read++;
            FIRN_TRY(firn_column_judge_rows(&column, from->transforms, from->count, arena, verdicts,
                                            error));
        }
    }
    return judge(auditor, file, from, spec, verdicts, error);
}

/** What readers give rows of a file without the column: an identity partition's own value, else the default (specification, "Column Projection"). */
static firn_status value_of_absent(const firn_auditor *auditor, const firn_audit_file *file,
                                   const source *from, firn_value *out, firn_error *error) {
    const firn_field *field = from->field;
    for (size_t i = 0; i < from->count; i++) {
        if (from->transforms[i]->kind != FIRN_TRANSFORM_IDENTITY) continue;
        *out = file->fixed.partition[from->fields[i]];
        return FIRN_OK;
    }
    *out = firn_value_null(field->type->kind);
    if (field->initial_default == NULL || json_is_null(field->initial_default)) return FIRN_OK;
    return firn_value_from_json(field->type, field->initial_default, auditor->scratch, out, error);
}

static firn_status check_absent(firn_auditor *auditor, firn_audit_file *file, const source *from,
                                const firn_partition_spec *spec, firn_error *error) {
    firn_value value;
    if (file->parquet->metadata->num_rows == 0) return FIRN_OK;
    FIRN_TRY(value_of_absent(auditor, file, from, &value, error));
    if (!value.is_null && value.kind != from->field->type->kind) return FIRN_OK;
    for (size_t i = 0; i < from->count; i++) {
        firn_value made;
        if (from->transforms[i]->kind == FIRN_TRANSFORM_IDENTITY) continue;
        FIRN_TRY(
            firn_transform_apply(from->transforms[i], from->field->type, &value, &made, error));
        if (same_value(&made, &file->fixed.partition[from->fields[i]])) continue;
        FIRN_TRY(set_right(auditor, file, from, i, spec, &made, error));
    }
    return FIRN_OK;
}

/** The fields of the column of field `first`, if that is the first one of them that can be judged. */
static firn_status source_of(const firn_auditor *auditor, const firn_partition_spec *spec,
                             size_t first, source *out, firn_error *error) {
    const firn_schema *schema = auditor->table->metadata->schema;
    *out = (source){.field = firn_schema_find(schema, spec->fields[first].source_id)};
    out->fields = firn_arena_alloc(auditor->scratch, spec->field_count, sizeof *out->fields);
    out->transforms =
        firn_arena_alloc(auditor->scratch, spec->field_count, sizeof *out->transforms);
    if (out->fields == NULL || out->transforms == NULL) return firn_fail_memory(error);
    if (out->field == NULL) return FIRN_OK;
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        bool known = field->transform.kind != FIRN_TRANSFORM_UNKNOWN &&
                     field->transform.kind != FIRN_TRANSFORM_VOID;
        if (field->source_id != spec->fields[first].source_id || !known) continue;
        if (out->count == 0 && i != first) return FIRN_OK;
        FIRN_TRY(firn_transform_check_source(&field->transform, out->field->type, error));
        out->fields[out->count] = i;
        out->transforms[out->count++] = &field->transform;
    }
    return FIRN_OK;
}

firn_status firn_audit_partition(firn_auditor *auditor, firn_audit_file *file, firn_error *error) {
    const firn_partition_spec *spec =
        firn_table_metadata_spec(auditor->table->metadata, file->fixed.spec_id);
    if (spec == NULL || file->fixed.partition_count != spec->field_count) return FIRN_OK;
    for (size_t i = 0; i < spec->field_count; i++) {
        source from;
        size_t leaf = SIZE_MAX;
        FIRN_TRY(source_of(auditor, spec, i, &from, error));
        if (from.count == 0) continue;
        FIRN_TRY(firn_column_leaf_of(file->columns, file->parquet, from.field->id,
                                     file->file->location, &leaf, error));
        FIRN_TRY(leaf == SIZE_MAX ? check_absent(auditor, file, &from, spec, error)
                                  : check_column(auditor, file, &from, spec, leaf, error));
    }
    return FIRN_OK;
}
