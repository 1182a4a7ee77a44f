/** What a data file's footer says, and what the manifest says of the file. */
#include <math.h>

#include "base/plural.h"
#include "data/data_source.h"
#include "data/file_columns.h"
#include "data/plain_value.h"
#include "parquet/statistics_trust.h"
#include "upkeep/verify_internal.h"

/** Whether the column is stored as its type is today: then statistics are values of that type. */
static bool has_own_form(const firn_parquet_schema_element *element, const firn_type *type) {
    firn_parquet_schema_element own = {0};
    if (firn_plain_form_of_type(type, &own, NULL) != FIRN_OK) return false;
    return own.type == element->type && own.type_length == element->type_length &&
           own.logical.kind == element->logical.kind && own.logical.unit == element->logical.unit &&
           firn_parquet_order_of(element) != FIRN_PARQUET_ORDER_NONE;
}

static bool is_nan(const firn_value *value) {
    return (value->kind == FIRN_TYPE_FLOAT && isnan(value->as.float32)) ||
           (value->kind == FIRN_TYPE_DOUBLE && isnan(value->as.float64));
}

/**
 * Whether the manifest's bound leaves out a value that the file has: sign 1 for a lower bound above the least value, -1 for an upper one below
 * the greatest.
 */
static bool leaves_out(const firn_type *type, firn_slice bound, firn_slice statistic, int sign) {
    firn_value ours, theirs;
    if (bound.data == NULL || statistic.data == NULL) return false;
    if (firn_value_from_bytes(type, bound, &ours, NULL) != FIRN_OK) return false;
    if (firn_plain_to_value(type, statistic, &theirs, NULL) != FIRN_OK) return false;
    if (is_nan(&ours) || is_nan(&theirs)) return false;
    /* Zeros of either sign are equal to whoever filters. */
    if (ours.kind == FIRN_TYPE_FLOAT) {
        ours.as.float32 += 0.0f;
        theirs.as.float32 += 0.0f;
    } else if (ours.kind == FIRN_TYPE_DOUBLE) {
        ours.as.float64 += 0.0;
        theirs.as.float64 += 0.0;
    }
    return sign * firn_value_compare(&ours, &theirs) > 0;
}

/** A shortened bound is no value that the file has. Writers without flags shorten nothing of their own accord. */
static firn_slice value_of(firn_slice bound, bool exact, bool has_flag) {
    return exact || !has_flag ? bound : (firn_slice){0};
}

static firn_status check_bounds(const firn_table_metadata *table, const firn_data_file *file,
                                const firn_field *field, const firn_parquet_trusted_pair *known,
                                const firn_parquet_statistics *statistics, firn_verification *out,
                                firn_error *error) {
    firn_slice lower = {0}, upper = {0};
    (void)firn_bound_map_get(&file->lower_bounds, field->id, &lower);
    (void)firn_bound_map_get(&file->upper_bounds, field->id, &upper);
    firn_slice least = value_of(known->minimum, known->minimum_exact, statistics->has_min_exact);
    firn_slice greatest = value_of(known->maximum, known->maximum_exact, statistics->has_max_exact);
    const char *which = NULL;
    if (leaves_out(field->type, lower, least, 1)) which = "lower";
    if (leaves_out(field->type, upper, greatest, -1)) which = "upper";
    if (which == NULL) return FIRN_OK;
    return firn_verify_add(out, error, FIRN_VERIFY_ERROR, "bounds", file->path,
                           firn_ledger_advice_bounds(table),
                           "the manifest's %s bound of column %s leaves out values that the "
                           "footer's statistics show; filters lose rows by it",
                           which, field->name);
}

/* The ids that the file itself gives, whatever the table says of them. */
static firn_status own_ids(const firn_parquet_schema *schema, firn_arena *arena,
                           const int32_t **out, firn_error *error) {
    int32_t *ids = firn_arena_alloc(arena, schema->leaf_count + 1, sizeof *ids);
    if (ids == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < schema->leaf_count; i++) {
        const firn_parquet_schema_element *element = schema->leaves[i].node->element;
        ids[i] = element->has_field_id ? element->field_id : -1;
    }
    *out = ids;
    return FIRN_OK;
}

/** By leaf of the file. Where one column can't be read as the table's, those that have ids are held against the manifest all the same. */
static firn_status field_ids_of(const firn_verifier *verifier, const firn_parquet_file *parquet,
                                const firn_data_file *file, firn_verification *out,
                                const int32_t **ids, firn_error *error) {
    const firn_table_metadata *metadata = verifier->table->metadata;
    firn_file_columns columns = {0};
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status =
        firn_file_columns_of(metadata->schema, verifier->name_mapping, metadata->format_version,
                             parquet, file->path, out->arena, &columns, &problem);
    *ids = columns.field_ids;
    if (status == FIRN_OK) return FIRN_OK;
    FIRN_TRY(
        firn_verify_take(out, status, &problem, "columns", file->path, FIRN_VERIFY_WRITER, error));
    return own_ids(parquet->schema, out->arena, ids, error);
}

static const firn_field *field_of(const firn_schema *schema, const firn_parquet_leaf *leaf,
                                  int32_t id) {
    if (leaf->maximum_repetition_level > 0 || id < 0) return NULL;
    const firn_field *field = firn_schema_find(schema, id);
    if (field == NULL || firn_type_is_nested(field->type->kind) ||
        field->type->kind == FIRN_TYPE_UUID || !has_own_form(leaf->node->element, field->type)) {
        return NULL;
    }
    return field;
}

static firn_status check_columns(const firn_verifier *verifier, const firn_parquet_file *parquet,
                                 const firn_data_file *file, firn_verification *out,
                                 firn_error *error) {
    const int32_t *ids = NULL;
    FIRN_TRY(field_ids_of(verifier, parquet, file, out, &ids, error));
    for (size_t i = 0; i < parquet->schema->leaf_count; i++) {
        const firn_parquet_leaf *leaf = &parquet->schema->leaves[i];
        const firn_field *field = field_of(verifier->table->metadata->schema, leaf, ids[i]);
        if (field == NULL) continue;
        size_t before = out->findings.count;
        for (size_t group = 0; group < parquet->metadata->row_group_count; group++) {
            const firn_parquet_row_group *row_group = &parquet->metadata->row_groups[group];
            const firn_parquet_statistics *statistics = &row_group->columns[i].statistics;
            firn_parquet_trusted_pair known =
                firn_parquet_trust_bounds(parquet->metadata, leaf, statistics);
            FIRN_TRY(check_bounds(verifier->table->metadata, file, field, &known, statistics, out,
                                  error));
            if (out->findings.count > before) break;
        }
    }
    return FIRN_OK;
}

firn_status firn_verify_footer(firn_verifier *verifier, const firn_data_file *file,
                               firn_verification *out, firn_error *error) {
    const firn_table_metadata *table = verifier->table->metadata;
    bool is_data = file->content == FIRN_CONTENT_DATA;
    firn_data_source *source = NULL;
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = firn_data_source_open(verifier->table->storage, file, &source, &problem);
    if (status != FIRN_OK) {
        return firn_verify_take(out, status, &problem, "footer", file->path,
                                is_data ? firn_ledger_advice_replaced(table) : FIRN_VERIFY_RESTORE,
                                error);
    }
    const firn_parquet_file *parquet = firn_data_source_parquet(source);
    out->footers++;
    out->rows += parquet->metadata->num_rows;
    if (parquet->metadata->num_rows != file->record_count) {
        FIRN_CHECK(firn_verify_add(
            out, error, FIRN_VERIFY_ERROR, "rows", file->path,
            is_data ? firn_ledger_advice_replaced(table) : FIRN_VERIFY_WRITER,
            "it has %lld row%s, and its manifest counts %lld",
            (long long)parquet->metadata->num_rows,
            firn_plural((uint64_t)parquet->metadata->num_rows), (long long)file->record_count));
    }
    if (is_data && file->format == FIRN_FILE_PARQUET) {
        FIRN_CHECK(check_columns(verifier, parquet, file, out, error));
    }
out:
    firn_data_source_close(source);
    return status;
}
