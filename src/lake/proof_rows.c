/* Partition values by reading the column: its dictionary alone where that is enough. */
#include <string.h>

#include "base/alloc.h"
#include "data/plain_value.h"
#include "data/projection_internal.h"
#include "data/row_cursor.h"
#include "lake/proof_column.h"
#include "parquet/chunk_reader.h"

/* Dates become timestamps from this format version on; whether the table allows it was looked at before. */
#define NEWEST_FORMAT_VERSION 3

/* What was seen so far of the rows. */
typedef struct column_scan {
    const firn_column_in_file *column;
    const firn_parquet_file *file; /**< opened for reading */
    const firn_transform *const *transforms;
    size_t count;
    firn_arena *arena;
    firn_column_verdict *verdicts;
    bool *open; /**< by transform: to be judged here */
    bool mixed;
    bool saw_null;
    firn_parquet_leaf_mapping mapping;
    firn_row_cursor cursor; /**< only turns values of batches into those of the table's type */
    firn_parquet_chunk_reader *reader;
    uint8_t *seen; /**< entries of the present chunk's dictionary; NULL: none yet */
    size_t seen_count;
} column_scan;

/* `value` is one that a row has. */
static firn_status take_partition_value(column_scan *scan, size_t index, const firn_value *value,
                                        firn_error *error) {
    firn_column_verdict *verdict = &scan->verdicts[index];
    if (!verdict->settled) {
        verdict->settled = true;
        return firn_value_copy(value, scan->arena, &verdict->value, error);
    }
    if (firn_value_equal(&verdict->value, value)) return FIRN_OK;
    verdict->mixed = verdict->other_known = scan->mixed = true;
    return firn_value_copy(value, scan->arena, &verdict->other, error);
}

static firn_status take_value(column_scan *scan, const firn_value *value, firn_error *error) {
    const firn_type *type = scan->column->field->type;
    for (size_t i = 0; i < scan->count && !scan->mixed; i++) {
        firn_value made;
        if (!scan->open[i]) continue;
        FIRN_TRY(firn_transform_apply(scan->transforms[i], type, value, &made, error));
        FIRN_TRY(take_partition_value(scan, i, &made, error));
    }
    return FIRN_OK;
}

static firn_status take_null(column_scan *scan, firn_error *error) {
    if (scan->saw_null) return FIRN_OK;
    scan->saw_null = true;
    firn_value null = firn_value_null(scan->column->field->type->kind);
    return take_value(scan, &null, error);
}

/* The value at `index` of the values that the cursor has. */
static firn_status take_entry(column_scan *scan, size_t index, firn_error *error) {
    firn_value value = {0};
    scan->cursor.value_index = index;
    FIRN_TRY(firn_row_cursor_value(&scan->cursor, &value, error));
    return take_value(scan, &value, error);
}

static void show_values(column_scan *scan, const firn_parquet_values *values) {
    scan->cursor.batch = (firn_parquet_batch){.values = *values, .value_count = values->count};
}

static firn_slice raw_at(const firn_parquet_values *values, size_t index) {
    return values->slices != NULL
               ? values->slices[index]
               : firn_slice_of(values->fixed + index * values->width, values->width);
}

static firn_status take_plain(column_scan *scan, const firn_parquet_batch *batch,
                              firn_error *error) {
    show_values(scan, &batch->values);
    for (size_t i = 0; i < batch->value_count && !scan->mixed; i++) {
        if (i > 0 && firn_slice_equal(raw_at(&batch->values, i), raw_at(&batch->values, i - 1))) {
            continue;
        }
        FIRN_TRY(take_entry(scan, i, error));
    }
    return FIRN_OK;
}

/* Each entry of a dictionary is looked at when a row first has it. */
static firn_status take_indices(column_scan *scan, const firn_parquet_batch *batch,
                                firn_error *error) {
    if (scan->seen == NULL) {
        scan->seen = firn_alloc_zeroed(batch->values.count + 1, 1);
        if (scan->seen == NULL) return firn_fail_memory(error);
        scan->seen_count = batch->values.count;
    }
    show_values(scan, &batch->values);
    for (size_t i = 0; i < batch->value_count && !scan->mixed; i++) {
        uint32_t index = batch->indices[i];
        if (index < scan->seen_count && scan->seen[index] != 0) continue;
        FIRN_TRY(take_entry(scan, index, error));
        if (index < scan->seen_count) scan->seen[index] = 1;
    }
    return FIRN_OK;
}

static firn_status read_pages(column_scan *scan, firn_error *error) {
    while (!scan->mixed) {
        const firn_parquet_page *page = NULL;
        firn_parquet_batch batch = {0};
        FIRN_TRY(firn_parquet_chunk_reader_next(scan->reader, &page, error));
        if (page == NULL) return FIRN_OK;
        FIRN_TRY(firn_parquet_chunk_reader_decode(scan->reader, &batch, error));
        if (batch.level_count > batch.value_count) FIRN_TRY(take_null(scan, error));
        FIRN_TRY(batch.indices != NULL ? take_indices(scan, &batch, error)
                                       : take_plain(scan, &batch, error));
    }
    return FIRN_OK;
}

/* The footer says of every data page that it holds indices. */
static bool is_all_dictionary(const firn_parquet_column_chunk *chunk) {
    bool any = false;
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        bool is_data = stats->page_type == FIRN_PARQUET_DATA_PAGE ||
                       stats->page_type == FIRN_PARQUET_DATA_PAGE_V2;
        if (!is_data || stats->count == 0) continue;
        if (stats->encoding != FIRN_PARQUET_RLE_DICTIONARY &&
            stats->encoding != FIRN_PARQUET_PLAIN_DICTIONARY) {
            return false;
        }
        any = true;
    }
    return any;
}

/* What an entry that no row has can't be turned into is no matter. */
static firn_status entry_result(column_scan *scan, size_t transform, size_t index, bool *is_one,
                                firn_value *out, firn_error *error) {
    firn_value value;
    firn_error inner;
    firn_error_clear(&inner);
    scan->cursor.value_index = index;
    firn_status status = firn_row_cursor_value(&scan->cursor, &value, &inner);
    if (status == FIRN_OK) {
        status = firn_transform_apply(scan->transforms[transform], scan->column->field->type,
                                      &value, out, &inner);
    }
    *is_one = status == FIRN_OK;
    return status == FIRN_NO_MEMORY ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status entries_agree(column_scan *scan, size_t transform, size_t count, bool *agree,
                                 firn_error *error) {
    firn_value first = {0};
    *agree = true;
    for (size_t i = 0; i < count && *agree; i++) {
        firn_value made = {0};
        FIRN_TRY(entry_result(scan, transform, i, agree, &made, error));
        if (i == 0) first = made;
        *agree = *agree && firn_value_equal(&first, &made);
    }
    return FIRN_OK;
}

/*
 * Whether all entries of the dictionary have one partition value under each transform. Then so have the rows. Not the other way round:
 * a dictionary may hold entries that no row has.
 */
static firn_status try_dictionary(column_scan *scan, bool *is_enough, firn_error *error) {
    FIRN_TRY(firn_parquet_chunk_reader_load_dictionary(scan->reader, error));
    const firn_parquet_values *values = firn_parquet_chunk_reader_dictionary(scan->reader);
    *is_enough = values != NULL && values->count > 0;
    if (!*is_enough) return FIRN_OK;
    show_values(scan, values);
    for (size_t i = 0; i < scan->count && *is_enough; i++) {
        if (scan->open[i]) FIRN_TRY(entries_agree(scan, i, values->count, is_enough, error));
    }
    return *is_enough ? take_entry(scan, 0, error) : FIRN_OK;
}

static firn_status open_chunk(column_scan *scan, size_t row_group, firn_error *error) {
    if (scan->reader == NULL) {
        return firn_parquet_chunk_reader_open(scan->file, row_group, scan->column->leaf,
                                              &scan->reader, error);
    }
    return firn_parquet_chunk_reader_reset(scan->reader, scan->file, row_group, scan->column->leaf,
                                           error);
}

static firn_status scan_row_group(column_scan *scan, size_t row_group, firn_error *error) {
    const firn_parquet_row_group *group = &scan->file->metadata->row_groups[row_group];
    const firn_parquet_column_chunk *chunk = &group->columns[scan->column->leaf];
    if (chunk->num_values == 0 && group->num_rows == 0) return FIRN_OK;
    if (chunk->num_values != group->num_rows) {
        return firn_fail(error, FIRN_CORRUPT,
                         "row group %zu has %lld rows, but %lld values of a column without lists",
                         row_group, (long long)group->num_rows, (long long)chunk->num_values);
    }
    FIRN_TRY(firn_parquet_chunk_supported(scan->file, row_group, scan->column->leaf, error));
    FIRN_TRY(open_chunk(scan, row_group, error));
    const firn_parquet_statistics *statistics = &chunk->statistics;
    bool is_required = scan->cursor.input->maximum_definition_level == 0;
    bool has_values = is_required || (statistics->has_null_count && statistics->null_count >= 0 &&
                                      statistics->null_count < chunk->num_values);
    bool is_enough = false;
    if (has_values && is_all_dictionary(chunk)) {
        FIRN_TRY(try_dictionary(scan, &is_enough, error));
        if (is_enough) {
            return !is_required && statistics->null_count > 0 ? take_null(scan, error) : FIRN_OK;
        }
        FIRN_TRY(open_chunk(scan, row_group, error));
    }
    firn_free(scan->seen);
    scan->seen = NULL;
    return read_pages(scan, error);
}

static firn_status prepare(column_scan *scan, firn_error *error) {
    const firn_column_in_file *column = scan->column;
    const firn_parquet_leaf *leaf = &scan->file->schema->leaves[column->leaf];
    firn_parquet_schema_element own = {0};
    firn_projector projector = {.schema = column->schema,
                                .file = scan->file,
                                .location = column->file->location,
                                .format_version = NEWEST_FORMAT_VERSION,
                                .arena = scan->arena};
    FIRN_TRY(firn_plain_form_of_type(column->field->type, &own, error));
    FIRN_TRY(firn_projection_conversion(&projector, column->field, leaf->node->element, &own,
                                        &scan->mapping.conversion, &scan->mapping.factor, error));
    scan->cursor = (firn_row_cursor){.location = column->file->location,
                                     .type = column->field->type,
                                     .output = leaf,
                                     .input = leaf,
                                     .mapping = &scan->mapping};
    scan->open = firn_arena_alloc(scan->arena, scan->count, sizeof *scan->open);
    if (scan->open == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < scan->count; i++) scan->open[i] = !scan->verdicts[i].settled;
    return FIRN_OK;
}

static firn_status scan_file(column_scan *scan, firn_error *error) {
    FIRN_TRY(prepare(scan, error));
    for (size_t i = 0; i < scan->file->metadata->row_group_count && !scan->mixed; i++) {
        firn_status status = scan_row_group(scan, i, error);
        if (status != FIRN_OK) {
            return firn_error_wrap(error, status, "%s: column \"%s\"", scan->column->file->location,
                                   scan->cursor.input->dotted_path);
        }
    }
    return FIRN_OK;
}

firn_status firn_column_judge_rows(const firn_column_in_file *column,
                                   const firn_transform *const *transforms, size_t count,
                                   firn_arena *arena, firn_column_verdict *out, firn_error *error) {
    column_scan scan = {.column = column,
                        .transforms = transforms,
                        .count = count,
                        .arena = arena,
                        .verdicts = out};
    const char *location = column->file->location;
    firn_storage_file *opened = NULL;
    firn_status status = firn_storage_open(column->storage, location, &opened, error);
    if (status != FIRN_OK) return status;
    /* The footer that is known already holds for the bytes as long as they are the same. */
    firn_parquet_file file = *column->parquet;
    file.source = *firn_storage_file_source(opened);
    if (column->file->size < 0 || file.source.size != (uint64_t)column->file->size) {
        status = firn_fail(error, FIRN_CONFLICT,
                           "%s: the file changed while it was looked at: run again", location);
    } else {
        scan.file = &file;
        status = scan_file(&scan, error);
    }
    firn_parquet_chunk_reader_close(scan.reader);
    firn_free(scan.seen);
    firn_storage_close(opened);
    return status;
}
