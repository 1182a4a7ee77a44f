/*
 * Which rows of a piece stay: those of its run that are not dropped. Pages are told apart by that first; levels and values of a page
 * of which some rows go are then put together anew. A row begins at repetition level 0, so that runs of rows are runs of levels.
 */
#include "parquet/rewrite_internal.h"

/* The place of the first dropped row that is not before `row`. */
static size_t first_dropped(const firn_parquet_rows *rows, int64_t row) {
    size_t low = 0, high = rows->dropped_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->dropped[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void firn_parquet_set_rows(firn_parquet_rows *rows, const firn_parquet_piece *piece,
                           int64_t group_rows) {
    *rows = (firn_parquet_rows){.first = piece->first_row,
                                .end = piece->first_row + piece->row_count,
                                .of_group = group_rows,
                                .dropped = piece->dropped_rows,
                                .dropped_count = piece->dropped_count};
    size_t begin = first_dropped(rows, rows->first);
    size_t end = first_dropped(rows, rows->end);
    if (begin > 0) rows->dropped += begin;
    rows->dropped_count = end - begin;
    rows->count = piece->row_count - (int64_t)rows->dropped_count;
    rows->whole_run = piece->row_count == group_rows;
    rows->all = rows->whole_run && rows->dropped_count == 0;
}

firn_status firn_parquet_check_rows(const firn_parquet_piece *pieces, size_t piece_count,
                                    firn_error *error) {
    for (size_t i = 0; i < piece_count; i++) {
        const int64_t *dropped = pieces[i].dropped_rows;
        bool ascending = true;
        for (size_t j = 1; j < pieces[i].dropped_count; j++) {
            ascending &= dropped[j - 1] < dropped[j];
        }
        if (!ascending) {
            return firn_fail(error, FIRN_INVALID, "%s: row group %zu: dropped rows don't ascend",
                             pieces[i].file->source.name, pieces[i].row_group);
        }
    }
    return FIRN_OK;
}

static int64_t count_rows(const uint8_t *repetition_levels, size_t count) {
    return (int64_t)firn_parquet_count_level(repetition_levels, count, 0);
}

/*
 * Rows of a page that begins with one; -1 where that is not known. The header of a v2 page says both, but a page was met that began
 * within a row all the same: levels, which lie outside of the compressed bytes, say what is true.
 */
static firn_status rows_of_page(firn_parquet_rewriter *rewriter,
                                const firn_parquet_page_header *header, int64_t *rows,
                                firn_error *error) {
    *rows = header->num_values;
    if (rewriter->input->maximum_repetition_level == 0) return FIRN_OK;
    *rows = -1;
    if (header->type != FIRN_PARQUET_DATA_PAGE_V2) return FIRN_OK;
    firn_parquet_batch batch;
    FIRN_TRY(firn_parquet_chunk_reader_decode_levels(rewriter->reader, &batch, error));
    int64_t counted = count_rows(batch.repetition_levels, batch.level_count);
    if (batch.repetition_levels[0] == 0 && counted == header->num_rows) *rows = counted;
    return FIRN_OK;
}

firn_status firn_parquet_page_fate_of(firn_parquet_rewriter *rewriter,
                                      const firn_parquet_page *page, firn_parquet_page_fate *fate,
                                      int64_t *page_rows, firn_error *error) {
    const firn_parquet_rows *rows = &rewriter->rows;
    *fate = FIRN_PARQUET_PAGE_STAYS;
    if (rows->all) return FIRN_OK;
    FIRN_TRY(rows_of_page(rewriter, &page->header, page_rows, error));
    *fate = FIRN_PARQUET_PAGE_CUT;
    if (*page_rows < 0) return FIRN_OK;
    int64_t first = rewriter->rows_begun;
    int64_t end = first + *page_rows;
    if (!rows->whole_run && first >= rows->end) {
        *fate = FIRN_PARQUET_PAGE_BEHIND;
    } else if (end <= rows->first) {
        *fate = FIRN_PARQUET_PAGE_BEFORE;
    } else {
        int64_t from = first > rows->first ? first : rows->first;
        int64_t to = end < rows->end ? end : rows->end;
        int64_t dropped = (int64_t)(first_dropped(rows, to) - first_dropped(rows, from));
        if (dropped == to - from) *fate = FIRN_PARQUET_PAGE_GOES;
        if (dropped == 0 && from == first && to == end) *fate = FIRN_PARQUET_PAGE_STAYS;
    }
    return FIRN_OK;
}

static firn_status add_run(firn_parquet_rewriter *rewriter, size_t first, size_t count,
                           firn_error *error) {
    if (count == 0) return FIRN_OK;
    firn_parquet_level_run run = {first, count};
    return firn_vector_push(&rewriter->runs, error, run);
}

static firn_status list_flat_runs(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                                  int64_t *row_count, bool *past, firn_error *error) {
    const firn_parquet_rows *rows = &rewriter->rows;
    int64_t begun = rewriter->rows_begun;
    int64_t count = (int64_t)batch->level_count;
    int64_t at = rows->first > begun ? rows->first - begun : 0;
    int64_t end = rows->end - begun;
    *past = end < count;
    if (end > count) end = count;
    for (size_t i = first_dropped(rows, begun + at); i < rows->dropped_count && at < end; i++) {
        int64_t gone = rows->dropped[i] - begun;
        if (gone >= end) break;
        FIRN_TRY(add_run(rewriter, (size_t)at, (size_t)(gone - at), error));
        *row_count += gone - at;
        at = gone + 1;
    }
    if (at >= end) return FIRN_OK;
    *row_count += end - at;
    return add_run(rewriter, (size_t)at, (size_t)(end - at), error);
}

/* `rows_begun` rows of the chunk come before, the last of which may go on here. */
static firn_status list_runs(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                             int64_t *row_count, bool *past, firn_error *error) {
    const firn_parquet_rows *rows = &rewriter->rows;
    const uint8_t *levels = batch->repetition_levels;
    int64_t row = rewriter->rows_begun - 1;
    size_t next = first_dropped(rows, row);
    size_t begin = 0;
    bool keeping = false;
    *past = false;
    for (size_t i = 0; i < batch->level_count; i++) {
        if (levels[i] != 0 && i > 0) continue;
        row += levels[i] == 0;
        if (row >= rows->end) {
            *past = true;
            return keeping ? add_run(rewriter, begin, i - begin, error) : FIRN_OK;
        }
        /* The row before the page's first may have gone. */
        while (next < rows->dropped_count && rows->dropped[next] < row) next++;
        bool dropped = next < rows->dropped_count && rows->dropped[next] == row;
        bool keeps = row >= rows->first && !dropped;
        if (keeping && !keeps) FIRN_TRY(add_run(rewriter, begin, i - begin, error));
        if (!keeping && keeps) begin = i;
        keeping = keeps;
        *row_count += keeps && levels[i] == 0;
    }
    return keeping ? add_run(rewriter, begin, batch->level_count - begin, error) : FIRN_OK;
}

/* Whether every level of a page of a repeated column stays, which is found without a look at each row. */
static bool all_levels_stay(const firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                            int64_t *row_count) {
    const firn_parquet_rows *rows = &rewriter->rows;
    if (batch->level_count == 0) return false;
    *row_count = count_rows(batch->repetition_levels, batch->level_count);
    int64_t first = rewriter->rows_begun - (batch->repetition_levels[0] != 0);
    int64_t end = rewriter->rows_begun + *row_count;
    return first >= rows->first && end <= rows->end &&
           first_dropped(rows, first) == first_dropped(rows, end);
}

/* Values among levels first … first + count - 1. */
static size_t count_values(const firn_parquet_batch *batch, size_t first, size_t count,
                           uint8_t maximum) {
    if (batch->definition_levels == NULL || batch->value_count == batch->level_count) return count;
    return firn_parquet_count_level(batch->definition_levels + first, count, maximum);
}

/* One run is a part of the batch, and nothing moves. */
static void take_run(const firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                     firn_parquet_level_run run, firn_parquet_batch *out) {
    uint8_t maximum = rewriter->input->maximum_definition_level;
    size_t before = count_values(batch, 0, run.first, maximum);
    out->level_count = run.count;
    out->value_count = run.count == batch->level_count
                           ? batch->value_count
                           : count_values(batch, run.first, run.count, maximum);
    if (out->definition_levels != NULL) out->definition_levels += run.first;
    if (out->repetition_levels != NULL) out->repetition_levels += run.first;
    if (out->indices != NULL) {
        out->indices += before;
        return;
    }
    out->values.count = out->value_count;
    if (out->values.slices != NULL) out->values.slices += before;
    if (out->values.fixed != NULL) out->values.fixed += before * out->values.width;
}

typedef struct gathered {
    const uint8_t *from; /* NULL: there are none */
    uint8_t *to;
    size_t size; /* of one */
    size_t used;
} gathered;

static firn_status gather_into(firn_parquet_scratch *memory, const void *from, size_t size,
                               size_t count, gathered *out, firn_error *error) {
    *out = (gathered){.from = from, .size = size};
    if (from == NULL) return FIRN_OK;
    FIRN_TRY(firn_parquet_scratch_ensure(memory, count, size, error));
    out->to = memory->data;
    return FIRN_OK;
}

static void gather(gathered *part, size_t first, size_t count) {
    if (part->from == NULL || count == 0) return;
    memcpy(part->to + part->used, part->from + first * part->size, count * part->size);
    part->used += count * part->size;
}

/* Whatever stands for the values: indices, slices, or bytes of one width; nothing where only levels were decoded. */
static firn_status gather_values_into(firn_parquet_rewriter *rewriter,
                                      const firn_parquet_batch *batch, gathered *out,
                                      firn_error *error) {
    const void *from = batch->values.fixed;
    size_t size = batch->values.width;
    if (batch->indices != NULL) {
        from = batch->indices;
        size = sizeof *batch->indices;
    } else if (batch->values.slices != NULL) {
        from = batch->values.slices;
        size = sizeof *batch->values.slices;
    }
    return gather_into(&rewriter->kept_values, from, size, batch->value_count, out, error);
}

static void set_gathered(const firn_parquet_batch *batch, const gathered *values,
                         firn_parquet_batch *out) {
    const void *memory = values->to;
    if (batch->indices != NULL) {
        out->indices = memory;
        return;
    }
    out->values.count = out->value_count;
    if (batch->values.slices != NULL) {
        out->values.slices = memory;
    } else if (batch->values.fixed != NULL) {
        out->values.fixed = memory;
    }
}

static firn_status take_runs(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                             firn_parquet_batch *out, firn_error *error) {
    uint8_t maximum = rewriter->input->maximum_definition_level;
    gathered definition, repetition, values;
    size_t levels = batch->level_count;
    FIRN_TRY(gather_into(&rewriter->kept_definitions, batch->definition_levels, 1, levels,
                         &definition, error));
    FIRN_TRY(gather_into(&rewriter->kept_repetitions, batch->repetition_levels, 1, levels,
                         &repetition, error));
    FIRN_TRY(gather_values_into(rewriter, batch, &values, error));
    size_t level = 0, value = 0;
    out->level_count = out->value_count = 0;
    for (size_t i = 0; i < rewriter->runs.count; i++) {
        firn_parquet_level_run run = rewriter->runs.items[i];
        value += count_values(batch, level, run.first - level, maximum);
        size_t count = count_values(batch, run.first, run.count, maximum);
        gather(&definition, run.first, run.count);
        gather(&repetition, run.first, run.count);
        gather(&values, value, count);
        value += count;
        level = run.first + run.count;
        out->level_count += run.count;
        out->value_count += count;
    }
    out->definition_levels = definition.to;
    out->repetition_levels = repetition.to;
    set_gathered(batch, &values, out);
    return FIRN_OK;
}

firn_status firn_parquet_keep_rows(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                                   firn_parquet_batch *out, int64_t *row_count, bool *past,
                                   firn_error *error) {
    *out = *batch;
    *past = false;
    bool repeated = rewriter->input->maximum_repetition_level > 0;
    if (repeated && all_levels_stay(rewriter, batch, row_count)) return FIRN_OK;
    *row_count = 0;
    rewriter->runs.count = 0;
    if (repeated) {
        FIRN_TRY(list_runs(rewriter, batch, row_count, past, error));
    } else {
        FIRN_TRY(list_flat_runs(rewriter, batch, row_count, past, error));
    }
    if (rewriter->runs.count > 1) return take_runs(rewriter, batch, out, error);
    firn_parquet_level_run run = {0};
    if (rewriter->runs.count == 1) run = rewriter->runs.items[0];
    take_run(rewriter, batch, run, out);
    return FIRN_OK;
}
