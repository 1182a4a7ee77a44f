/*
 * Values in place of nulls: row lineage, which the writer of a file may have left to be derived from where a row stands (Iceberg
 * specification, "Row Lineage"). A row's number is counted before any row goes.
 */
#include "base/bytes.h"
#include "parquet/rewrite_internal.h"

#define FILLED_AT_ONCE 8192

static firn_status check_fill(const firn_parquet_rewriter *rewriter, firn_error *error) {
    const firn_parquet_leaf_mapping *mapping = rewriter->mapping;
    const firn_parquet_leaf *output = rewriter->output;
    bool fits = output->node->element->type == FIRN_PARQUET_INT64 &&
                output->maximum_definition_level == 1 && output->maximum_repetition_level == 0 &&
                mapping->conversion == FIRN_PARQUET_CONVERT_NONE && !mapping->levels_only;
    if (rewriter->input != NULL) {
        fits = fits && rewriter->input->node->element->type == FIRN_PARQUET_INT64 &&
               rewriter->input->maximum_definition_level <= 1;
    }
    if (fits) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "only nulls of a flat, optional column of INT64 can be filled");
}

static bool rows_before(firn_parquet_rewriter *rewriter, int64_t *out) {
    const firn_parquet_piece *piece = rewriter->piece;
    if (rewriter->numbered_file != piece->file || rewriter->numbered_group > piece->row_group) {
        rewriter->numbered_file = piece->file;
        rewriter->numbered_group = 0;
        rewriter->numbered_rows = 0;
    }
    while (rewriter->numbered_group < piece->row_group) {
        int64_t rows = piece->file->metadata->row_groups[rewriter->numbered_group].num_rows;
        if (__builtin_add_overflow(rewriter->numbered_rows, rows, &rewriter->numbered_rows)) {
            rewriter->numbered_file = NULL;
            return false;
        }
        rewriter->numbered_group++;
    }
    *out = rewriter->numbered_rows;
    return true;
}

firn_status firn_parquet_set_fill(firn_parquet_rewriter *rewriter, firn_error *error) {
    const firn_parquet_piece *piece = rewriter->piece;
    rewriter->fill = FIRN_PARQUET_FILL_NONE;
    rewriter->fill_base = -1;
    if (rewriter->mapping->fill == FIRN_PARQUET_FILL_NONE) return FIRN_OK;
    FIRN_TRY(check_fill(rewriter, error));
    int64_t base = piece->fill_values == NULL ? -1 : piece->fill_values[rewriter->leaf_index];
    if (base == -1) return FIRN_OK;
    bool bad = base < 0;
    if (rewriter->mapping->fill == FIRN_PARQUET_FILL_ROW_NUMBER) {
        int64_t before = 0, last = 0;
        bad |= !rows_before(rewriter, &before) || __builtin_add_overflow(base, before, &base) ||
               __builtin_add_overflow(base, rewriter->rows.of_group, &last);
    }
    if (bad) return firn_fail(error, FIRN_INVALID, "a fill value out of range");
    rewriter->fill = rewriter->mapping->fill;
    rewriter->fill_base = base;
    return FIRN_OK;
}

/* Nulls of the chunk by its statistics; -1 unknown. */
static int64_t nulls_of_chunk(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_statistics *statistics = &firn_parquet_chunk_of(rewriter)->statistics;
    return statistics->has_null_count ? statistics->null_count : -1;
}

bool firn_parquet_is_filled(const firn_parquet_rewriter *rewriter) {
    if (rewriter->fill == FIRN_PARQUET_FILL_NONE) return false;
    if (rewriter->input == NULL) return true;
    return rewriter->input->maximum_definition_level > 0 && nulls_of_chunk(rewriter) != 0;
}

bool firn_parquet_has_no_values(const firn_parquet_rewriter *rewriter) {
    return rewriter->input == NULL ||
           nulls_of_chunk(rewriter) == firn_parquet_chunk_of(rewriter)->num_values;
}

bool firn_parquet_page_is_filled(const firn_parquet_rewriter *rewriter,
                                 const firn_parquet_page_header *header) {
    if (rewriter->fill == FIRN_PARQUET_FILL_NONE) return false;
    if (rewriter->input->maximum_definition_level == 0) return false;
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2) return header->num_nulls != 0;
    return nulls_of_chunk(rewriter) != 0;
}

firn_status firn_parquet_null_uncounted(const firn_parquet_rewriter *rewriter, firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: row group %zu: column %s has nulls, but the footer counts none",
                     rewriter->piece->file->source.name, rewriter->piece->row_group,
                     rewriter->output->dotted_path);
}

/* The value of the row that is `row`th in its row group. */
static uint64_t filled_value(const firn_parquet_rewriter *rewriter, int64_t row) {
    bool numbered = rewriter->fill == FIRN_PARQUET_FILL_ROW_NUMBER;
    return (uint64_t)(numbered ? rewriter->fill_base + row : rewriter->fill_base);
}

/* Value `i` of a batch of INT64. */
static const uint8_t *value_of(const firn_parquet_batch *batch, size_t i) {
    size_t at = batch->indices != NULL ? batch->indices[i] : i;
    return batch->values.fixed + at * sizeof(int64_t);
}

firn_status firn_parquet_fill_nulls(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                    firn_error *error) {
    if (rewriter->fill == FIRN_PARQUET_FILL_NONE || batch->value_count == batch->level_count) {
        return FIRN_OK;
    }
    if (rewriter->translation != NULL) return firn_parquet_null_uncounted(rewriter, error);
    size_t count = batch->level_count;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->filled, count, sizeof(int64_t), error));
    uint8_t *out = rewriter->filled.data;
    size_t value = 0;
    for (size_t i = 0; i < count; i++, out += sizeof(int64_t)) {
        if (batch->definition_levels[i] != 0) {
            memcpy(out, value_of(batch, value++), sizeof(int64_t));
        } else {
            firn_store_le64(out, filled_value(rewriter, rewriter->rows_begun + (int64_t)i));
        }
    }
    batch->indices = NULL;
    batch->definition_levels = NULL;
    batch->value_count = count;
    batch->values = (firn_parquet_values){.type = FIRN_PARQUET_INT64,
                                          .width = sizeof(int64_t),
                                          .count = count,
                                          .fixed = rewriter->filled.data};
    return FIRN_OK;
}

static firn_status append_filled(firn_parquet_rewriter *rewriter, size_t count, bool constant,
                                 firn_error *error) {
    firn_parquet_batch batch = {.level_count = count,
                                .definition_levels = rewriter->definition_levels.data};
    if (constant) {
        firn_slice value = firn_slice_of(rewriter->filled.data, sizeof(int64_t));
        FIRN_TRY(firn_parquet_set_constant(rewriter, &batch, count, value, error));
    } else {
        batch.value_count = count;
        batch.values = (firn_parquet_values){.type = FIRN_PARQUET_INT64,
                                             .width = sizeof(int64_t),
                                             .count = count,
                                             .fixed = rewriter->filled.data};
    }
    FIRN_TRY(firn_parquet_chunk_writer_append(rewriter->writer, &batch, error));
    rewriter->counts.rows += (int64_t)count;
    rewriter->counts.levels += (int64_t)count;
    return FIRN_OK;
}

firn_status firn_parquet_append_filled(firn_parquet_rewriter *rewriter, firn_error *error) {
    const firn_parquet_rows *rows = &rewriter->rows;
    bool constant = rewriter->fill == FIRN_PARQUET_FILL_VALUE;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->filled, FILLED_AT_ONCE, 8, error));
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->definition_levels, FILLED_AT_ONCE, 1, error));
    memset(rewriter->definition_levels.data, 1, FILLED_AT_ONCE);
    size_t next = 0, count = 0;
    for (int64_t row = rows->first; row < rows->end; row++) {
        if (next < rows->dropped_count && rows->dropped[next] == row) {
            next++;
            continue;
        }
        firn_store_le64(rewriter->filled.data + 8 * count++, filled_value(rewriter, row));
        if (count < FILLED_AT_ONCE) continue;
        FIRN_TRY(append_filled(rewriter, count, constant, error));
        count = 0;
    }
    return append_filled(rewriter, count, constant, error);
}
