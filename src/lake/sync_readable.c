/* What readers of the table could not read in a file, or would take for something else. */
#include "base/bytes.h"
#include "iceberg/primitive.h"
#include "lake/facts.h"
#include "lake/sync_internal.h"
#include "parquet/statistics_trust.h"

/* Milliseconds become microseconds in the table (specification, "Primitive Types"); readers fail at a value that has none, or make another one of it. */
static firn_status check_times(const firn_parquet_file *file, const firn_parquet_leaf *leaf,
                               const firn_parquet_statistics *statistics, firn_error *error) {
    const firn_parquet_schema_element *element = leaf->node->element;
    if (element->logical.kind != FIRN_PARQUET_LOGICAL_TIMESTAMP ||
        element->logical.unit != FIRN_PARQUET_MILLIS || element->type != FIRN_PARQUET_INT64) {
        return FIRN_OK;
    }
    firn_parquet_trusted_pair known = firn_parquet_trust_bounds(file->metadata, leaf, statistics);
    const firn_slice bounds[] = {known.minimum, known.maximum};
    for (size_t i = 0; i < 2; i++) {
        if (bounds[i].data == NULL || bounds[i].size != 8) continue;
        int64_t value = (int64_t)firn_load_le64(bounds[i].data);
        if (value <= INT64_MAX / 1000 && value >= INT64_MIN / 1000) continue;
        return firn_fail(error, FIRN_INVALID,
                         "column %s holds %lld milliseconds, a time that can't be told in "
                         "microseconds, as the table has it",
                         leaf->dotted_path, (long long)value);
    }
    return FIRN_OK;
}

/*
 * The specification's time is int64 of microseconds (Appendix A, "Parquet"); int32 of milliseconds is the form of no type of it, and PyIceberg 0.12 can't scan a table with
 * such a file.
 */
static firn_status check_time_of_day(const firn_parquet_leaf *leaf, firn_error *error) {
    const firn_parquet_schema_element *element = leaf->node->element;
    if (element->logical.kind != FIRN_PARQUET_LOGICAL_TIME ||
        element->logical.unit != FIRN_PARQUET_MILLIS) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID,
                     "column \"%s\": times of day in milliseconds, where Iceberg has them in "
                     "microseconds, and not all readers take others. The file must be written "
                     "anew, with microseconds",
                     leaf->dotted_path);
}

static bool is_unsigned_32(const firn_parquet_schema_element *element) {
    return element->type == FIRN_PARQUET_INT32 &&
           element->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER && !element->logical.is_signed &&
           element->logical.bit_width == 32;
}

#define FIRST_TOO_LARGE ((int64_t)1 << 31)

/*
 * Unsigned 32-bit integers are long in the table. The bytes of 2^31 and more are those of negative numbers, and readers that push a filter down to a file as signed
 * numbers find none of them (PyIceberg and Spark do): rows are missing, and nothing says so.
 */
static firn_status refuse_large(const firn_parquet_leaf *leaf, const firn_lake_column_facts *facts,
                                firn_error *error) {
    if (facts->values == facts->nulls) return FIRN_OK;
    if (!facts->has_upper) {
        return firn_fail(
            error, FIRN_INVALID,
            "column \"%s\": unsigned 32-bit integers, and the footer does not say that "
            "they are below 2147483648; readers that take them for signed ones miss "
            "larger ones in filters. The file must be written anew, with 64 bits or "
            "with statistics",
            leaf->dotted_path);
    }
    if (facts->upper.as.int64 < FIRST_TOO_LARGE) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "column \"%s\": unsigned 32-bit integers, the largest %lld; readers that take "
                     "them for signed ones miss those from 2147483648 on in filters. The file must "
                     "be written anew, with 64 bits",
                     leaf->dotted_path, (long long)facts->upper.as.int64);
}

static firn_status check_unsigned(const firn_parquet_file *file, size_t index, firn_error *error) {
    firn_lake_column_facts facts = {0};
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = firn_lake_column_facts_of(file, index, firn_primitive_type(FIRN_TYPE_LONG),
                                                   arena, &facts, error);
    if (status == FIRN_OK) status = refuse_large(&file->schema->leaves[index], &facts, error);
    firn_arena_free(arena);
    return status;
}

static firn_status check_leaf(const firn_parquet_file *file, size_t index, firn_error *error) {
    const firn_parquet_leaf *leaf = &file->schema->leaves[index];
    FIRN_TRY(check_time_of_day(leaf, error));
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        FIRN_TRY(firn_parquet_chunk_supported(file, i, index, error));
        FIRN_TRY(check_times(file, leaf, &file->metadata->row_groups[i].columns[index].statistics,
                             error));
    }
    return is_unsigned_32(leaf->node->element) ? check_unsigned(file, index, error) : FIRN_OK;
}

firn_status firn_sync_check_readable(const firn_lake_footer *footer, firn_error *error) {
    firn_status status = FIRN_OK;
    for (size_t i = 0; status == FIRN_OK && i < footer->parquet->schema->leaf_count; i++) {
        status = check_leaf(footer->parquet, i, error);
    }
    return firn_error_wrap(error, status, "%s", footer->file->location);
}
