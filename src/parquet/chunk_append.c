/*
 * What goes on which page. Batches are taken in short segments, between which a page may be cut, always where a row begins: the
 * offset index demands it (PageIndex.md), and v2 pages do.
 *
 * A dictionary has to pay: until that is known, indices are only gathered, so that a column of unique values comes out without
 * one. When a dictionary reaches its limit later, the pages that use it stay, and what follows is PLAIN.
 */
#include "base/alloc.h"
#include "parquet/chunk_writer_internal.h"
#include "parquet/encode.h"

#define SEGMENT_LEVELS 1024
/* Values after which a dictionary is judged, and after which a hopeless one is given up. */
#define DECIDING_VALUES 65536
#define DECIDING_LEVELS 262144
#define HOPELESS_VALUES 8192

/* Where the segment after (level, value) of the batch ends. */
typedef struct level_segment {
    size_t level, value; /* where it begins */
    size_t level_count, value_count;
} level_segment;

static bool starts_row(const firn_parquet_batch *batch, size_t level) {
    return batch->repetition_levels == NULL || batch->repetition_levels[level] == 0;
}

static size_t page_bytes(const firn_parquet_chunk_writer *writer) {
    if (writer->mode == FIRN_PARQUET_MODE_PLAIN) {
        size_t size = writer->page.plain.size;
        return writer->element->type == FIRN_PARQUET_BOOLEAN ? size / 8 : size;
    }
    return writer->page.value_count * firn_parquet_bit_width(writer->dictionary.count) / 8;
}

static int64_t row_limit(const firn_parquet_chunk_writer *writer) {
    const firn_parquet_write_options *options = writer->options;
    bool indices = writer->mode != FIRN_PARQUET_MODE_PLAIN && options->index_page_row_limit > 0;
    return indices ? options->index_page_row_limit : options->page_row_limit;
}

static bool page_is_full(const firn_parquet_chunk_writer *writer) {
    return writer->page.row_count >= row_limit(writer) ||
           page_bytes(writer) >= (size_t)writer->options->page_size_bytes;
}

static size_t segment_levels(const firn_parquet_chunk_writer *writer,
                             const firn_parquet_batch *batch, size_t level, bool full) {
    size_t most = batch->level_count - level;
    if (most > SEGMENT_LEVELS) most = SEGMENT_LEVELS;
    if (writer->mode == FIRN_PARQUET_MODE_UNDECIDED) return most;
    const uint8_t *repetition = batch->repetition_levels;
    size_t count = 0;
    if (full) { /* in the middle of a row: up to its end */
        for (count = 1; count < most && repetition[level + count] != 0;) count++;
        return count;
    }
    int64_t rows = row_limit(writer) - writer->page.row_count;
    if (repetition == NULL) return (int64_t)most < rows ? most : (size_t)rows;
    if ((int64_t)firn_parquet_count_level(repetition + level, most, 0) <= rows) return most;
    for (; count < most; count++) {
        if (repetition[level + count] == 0 && rows-- == 0) break;
    }
    return count;
}

/* How many of the segment's values fill the page: one more than fit below its size. */
static size_t values_that_fit(const firn_parquet_chunk_writer *writer,
                              const firn_parquet_batch *batch, const level_segment *segment) {
    size_t size = writer->page.plain.size;
    size_t limit = (size_t)writer->options->page_size_bytes;
    size_t room = size < limit ? limit - size : 0;
    if (writer->element->type == FIRN_PARQUET_BOOLEAN) return segment->value_count;
    if (writer->element->type != FIRN_PARQUET_BYTE_ARRAY) {
        return writer->width == 0 ? segment->value_count : room / writer->width + 1;
    }
    size_t used = 0;
    for (size_t i = 0; i < segment->value_count; i++) {
        size_t at = segment->value + i;
        used += batch->values.slices[batch->indices != NULL ? batch->indices[at] : at].size + 4;
        if (used >= room) return i + 1;
    }
    return segment->value_count;
}

/* The levels up to and with value number `values`, which is at least 1. */
static size_t levels_of_values(const firn_parquet_chunk_writer *writer,
                               const firn_parquet_batch *batch, size_t level, size_t values) {
    if (batch->definition_levels == NULL) return values;
    size_t count = 0;
    while (values > 0) {
        uint8_t definition = batch->definition_levels[level + count++];
        if (definition == writer->leaf->maximum_definition_level) values--;
    }
    return count;
}

static firn_status next_segment(const firn_parquet_chunk_writer *writer,
                                const firn_parquet_batch *batch, level_segment *segment,
                                firn_error *error) {
    bool full = writer->mode != FIRN_PARQUET_MODE_UNDECIDED && page_is_full(writer);
    segment->level_count = segment_levels(writer, batch, segment->level, full);
    segment->value_count =
        batch->value_count == batch->level_count || batch->definition_levels == NULL
            ? segment->level_count
            : firn_parquet_count_level(batch->definition_levels + segment->level,
                                       segment->level_count,
                                       writer->leaf->maximum_definition_level);
    if (segment->value_count > batch->value_count - segment->value) {
        return firn_fail(error, FIRN_INVALID, "levels name more than the %zu values given",
                         batch->value_count);
    }
    if (writer->mode != FIRN_PARQUET_MODE_PLAIN || full) return FIRN_OK;
    size_t fit = values_that_fit(writer, batch, segment);
    if (fit >= segment->value_count) return FIRN_OK;
    segment->value_count = fit;
    segment->level_count = levels_of_values(writer, batch, segment->level, fit);
    return FIRN_OK;
}

/* One vectorised pass for each level is faster than one pass in which an addition waits for the one before, as there are few levels. */
static void count_levels(int64_t *histogram, uint8_t maximum, const uint8_t *levels, size_t count) {
    size_t left = count;
    for (uint8_t level = 0; level < maximum && left > 0; level++) {
        size_t found = firn_parquet_count_level(levels, count, level);
        histogram[level] += (int64_t)found;
        left -= found;
    }
    histogram[maximum] += (int64_t)left;
}

firn_status firn_parquet_take_levels(const firn_parquet_leaf *leaf, firn_parquet_open_page *page,
                                     const uint8_t *definition, const uint8_t *repetition,
                                     size_t level_count, size_t value_count, firn_error *error) {
    if (leaf->maximum_definition_level > 0) {
        FIRN_TRY(firn_buffer_append(&page->definition_levels, definition, level_count, error));
        if (firn_parquet_keeps_histograms(leaf)) {
            count_levels(page->definition_histogram, leaf->maximum_definition_level, definition,
                         level_count);
        }
    }
    size_t rows = level_count;
    if (leaf->maximum_repetition_level > 0) {
        FIRN_TRY(firn_buffer_append(&page->repetition_levels, repetition, level_count, error));
        count_levels(page->repetition_histogram, leaf->maximum_repetition_level, repetition,
                     level_count);
        rows = firn_parquet_count_level(repetition, level_count, 0);
    }
    page->level_count += level_count;
    page->value_count += value_count;
    page->row_count += (int64_t)rows;
    return FIRN_OK;
}

static firn_status take_levels(firn_parquet_chunk_writer *writer, const firn_parquet_batch *batch,
                               const level_segment *segment, firn_error *error) {
    const uint8_t *definition = batch->definition_levels;
    const uint8_t *repetition = batch->repetition_levels;
    if (definition != NULL) definition += segment->level;
    if (repetition != NULL) repetition += segment->level;
    return firn_parquet_take_levels(writer->leaf, &writer->page, definition, repetition,
                                    segment->level_count, segment->value_count, error);
}

static firn_status take_plain(firn_parquet_chunk_writer *writer, const firn_parquet_batch *batch,
                              const level_segment *segment, firn_error *error) {
    firn_parquet_open_page *page = &writer->page;
    size_t before = page->plain.size;
    size_t count = segment->value_count;
    const uint32_t *indices = batch->indices != NULL ? batch->indices + segment->value : NULL;
    if (indices != NULL) {
        FIRN_TRY(
            firn_parquet_encode_plain_indexed(&batch->values, indices, count, &page->plain, error));
    } else {
        FIRN_TRY(
            firn_parquet_encode_plain(&batch->values, segment->value, count, &page->plain, error));
    }
    if (count == 0) return FIRN_OK;
    FIRN_TRY(
        firn_parquet_bloom_take(writer, &batch->values, indices, segment->value, count, error));
    if (writer->element->type != FIRN_PARQUET_BYTE_ARRAY) {
        return firn_parquet_bounds_add_fixed(&page->bounds, page->plain.data + before,
                                             writer->width, count, error);
    }
    page->unencoded_bytes += (int64_t)(page->plain.size - before - 4 * count);
    const firn_slice *slices = batch->values.slices + (indices != NULL ? 0 : segment->value);
    return firn_parquet_bounds_add_slices(&page->bounds, slices, indices, count, error);
}

/* Appends the segment's indices; *full, and nothing appended, when the dictionary has no room for a value. */
static firn_status take_indices(firn_parquet_chunk_writer *writer, const firn_parquet_batch *batch,
                                const level_segment *segment, bool *full, firn_error *error) {
    firn_parquet_open_page *page = &writer->page;
    size_t count = segment->value_count;
    *full = false;
    if (count == 0) return FIRN_OK;
    FIRN_TRY(firn_vector_reserve(&page->indices, error, page->indices.count + count));
    uint32_t *out = page->indices.items + page->indices.count;
    size_t done = count;
    if (writer->replaying) {
        memcpy(out, batch->indices + segment->value, count * sizeof *out);
    } else if (batch->indices != NULL) {
        FIRN_TRY(firn_parquet_dictionary_translate(&writer->dictionary, &batch->values,
                                                   batch->indices + segment->value, count,
                                                   writer->translation, out, &done, error));
    } else {
        FIRN_TRY(firn_parquet_dictionary_add(&writer->dictionary, &batch->values, segment->value,
                                             count, out, &done, error));
    }
    *full = done < count;
    if (!*full) page->indices.count += count;
    return FIRN_OK;
}

/* Fewer than half of the values are distinct, and entries with indices are smaller than the values, and no match for deltas. */
static firn_status dictionary_pays(firn_parquet_chunk_writer *writer, bool *pays,
                                   firn_error *error) {
    uint64_t distinct = writer->dictionary.count;
    uint64_t values = writer->page.value_count;
    *pays = false;
    if (distinct == 0 || distinct * 2 > values) return FIRN_OK;
    uint64_t bytes = writer->dictionary.bytes.size;
    uint64_t bits = firn_parquet_bit_width((uint32_t)distinct - 1);
    uint64_t size = bytes + values * bits / 8;
    if (size > bytes * values / distinct) return FIRN_OK;
    bool beaten = false;
    FIRN_TRY(firn_parquet_deltas_beat_dictionary(writer, size, &beaten, error));
    *pays = !beaten;
    return FIRN_OK;
}

static firn_status append_segments(firn_parquet_chunk_writer *writer,
                                   const firn_parquet_batch *batch, firn_error *error);

firn_status firn_parquet_dictionary_values(const firn_parquet_dictionary *dictionary,
                                           firn_parquet_values *out, firn_slice **slices,
                                           firn_error *error) {
    *out = (firn_parquet_values){.type = dictionary->type,
                                 .width = dictionary->width,
                                 .count = dictionary->count,
                                 .fixed = dictionary->bytes.data};
    *slices = NULL;
    if (dictionary->type != FIRN_PARQUET_BYTE_ARRAY) return FIRN_OK;
    *slices = firn_alloc_array(dictionary->count, sizeof **slices);
    if (*slices == NULL) return firn_fail_memory(error);
    for (uint32_t i = 0; i < dictionary->count; i++) {
        (*slices)[i] = firn_parquet_dictionary_entry(dictionary, i);
    }
    out->slices = *slices;
    return FIRN_OK;
}

static void drop_dictionary(firn_parquet_chunk_writer *writer) {
    firn_parquet_dictionary_release(&writer->dictionary);
    firn_parquet_release_translation(writer);
}

/* Ends the waiting: what was gathered is appended anew, now by the chosen mode. */
static firn_status decide(firn_parquet_chunk_writer *writer, bool use_dictionary,
                          firn_error *error) {
    firn_parquet_open_page gathered = writer->page;
    firn_parquet_open_page_init(&writer->page, writer->order);
    writer->mode = use_dictionary ? FIRN_PARQUET_MODE_DICTIONARY : FIRN_PARQUET_MODE_PLAIN;
    firn_slice *slices = NULL;
    firn_parquet_batch batch = {
        .level_count = gathered.level_count,
        .definition_levels =
            writer->leaf->maximum_definition_level > 0 ? gathered.definition_levels.data : NULL,
        .repetition_levels =
            writer->leaf->maximum_repetition_level > 0 ? gathered.repetition_levels.data : NULL,
        .indices = gathered.indices.items,
        .value_count = gathered.value_count,
    };
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_parquet_dictionary_values(&writer->dictionary, &batch.values, &slices, error));
    writer->replaying = use_dictionary;
    FIRN_CHECK(append_segments(writer, &batch, error));
    if (!use_dictionary && writer->dictionary.count > 0) drop_dictionary(writer);
out:
    writer->replaying = false;
    firn_free(slices);
    firn_parquet_open_page_release(&gathered);
    return status;
}

/* The dictionary is full: the page being filled becomes PLAIN, as all that follow. */
static firn_status fall_back(firn_parquet_chunk_writer *writer, firn_error *error) {
    firn_parquet_open_page *page = &writer->page;
    firn_slice *slices = NULL;
    firn_parquet_batch batch = {.indices = page->indices.items};
    FIRN_TRY(firn_parquet_dictionary_values(&writer->dictionary, &batch.values, &slices, error));
    level_segment whole = {.value_count = page->value_count};
    firn_status status = take_plain(writer, &batch, &whole, error);
    firn_free(slices);
    if (status != FIRN_OK) return status;
    page->indices.count = 0;
    writer->mode = FIRN_PARQUET_MODE_PLAIN;
    bool unused = writer->encoding_pages[FIRN_PARQUET_RLE_DICTIONARY] == 0;
    if (unused && !writer->dictionary_is_set) drop_dictionary(writer);
    firn_parquet_release_translation(writer);
    return FIRN_OK;
}

static firn_status dictionary_is_full(firn_parquet_chunk_writer *writer, firn_error *error) {
    if (writer->mode == FIRN_PARQUET_MODE_UNDECIDED) {
        bool pays = false;
        FIRN_TRY(dictionary_pays(writer, &pays, error));
        FIRN_TRY(decide(writer, pays, error));
        if (!pays) return FIRN_OK;
    }
    return fall_back(writer, error);
}

static firn_status maybe_decide(firn_parquet_chunk_writer *writer, firn_error *error) {
    uint64_t values = writer->page.value_count;
    if (values >= HOPELESS_VALUES && (uint64_t)writer->dictionary.count * 16 > values * 15) {
        return decide(writer, false, error);
    }
    if (values < DECIDING_VALUES && writer->page.level_count < DECIDING_LEVELS) return FIRN_OK;
    bool pays = false;
    FIRN_TRY(dictionary_pays(writer, &pays, error));
    FIRN_TRY(decide(writer, pays, error));
    /* Nothing but nulls so far: their pages are done, and the question stays open. */
    if (values == 0) writer->mode = FIRN_PARQUET_MODE_UNDECIDED;
    return FIRN_OK;
}

static firn_status append_segments(firn_parquet_chunk_writer *writer,
                                   const firn_parquet_batch *batch, firn_error *error) {
    level_segment segment = {0};
    while (segment.level < batch->level_count) {
        if (writer->mode != FIRN_PARQUET_MODE_UNDECIDED && page_is_full(writer) &&
            starts_row(batch, segment.level)) {
            FIRN_TRY(firn_parquet_flush_page(writer, error));
        }
        FIRN_TRY(next_segment(writer, batch, &segment, error));
        if (writer->mode == FIRN_PARQUET_MODE_PLAIN) {
            FIRN_TRY(take_plain(writer, batch, &segment, error));
        } else {
            bool full;
            FIRN_TRY(take_indices(writer, batch, &segment, &full, error));
            if (full) {
                FIRN_TRY(dictionary_is_full(writer, error));
                continue;
            }
        }
        FIRN_TRY(take_levels(writer, batch, &segment, error));
        segment.level += segment.level_count;
        segment.value += segment.value_count;
        if (writer->mode == FIRN_PARQUET_MODE_UNDECIDED) FIRN_TRY(maybe_decide(writer, error));
    }
    return FIRN_OK;
}

static firn_status check_batch(const firn_parquet_chunk_writer *writer,
                               const firn_parquet_batch *batch, firn_error *error) {
    const firn_parquet_leaf *leaf = writer->leaf;
    if (batch->value_count > batch->level_count) {
        return firn_fail(error, FIRN_INVALID, "%zu values for %zu levels", batch->value_count,
                         batch->level_count);
    }
    if (leaf->maximum_definition_level == 0 && batch->value_count != batch->level_count) {
        return firn_fail(error, FIRN_CORRUPT, "%zu nulls in a required field",
                         batch->level_count - batch->value_count);
    }
    if (leaf->maximum_definition_level > 0 && batch->definition_levels == NULL) {
        return firn_fail(error, FIRN_INVALID, "definition levels are missing");
    }
    if (leaf->maximum_repetition_level > 0 && batch->repetition_levels == NULL) {
        return firn_fail(error, FIRN_INVALID, "repetition levels are missing");
    }
    if (batch->value_count > 0 &&
        (batch->values.type != writer->element->type || batch->values.width != writer->width)) {
        return firn_fail(error, FIRN_INVALID, "values are of another physical type");
    }
    bool first = writer->level_count == 0 && writer->page.level_count == 0 &&
                 writer->joined.page.level_count == 0;
    if (first && leaf->maximum_repetition_level > 0 && batch->repetition_levels[0] != 0) {
        return firn_fail(error, FIRN_CORRUPT, "the first level continues a row");
    }
    return FIRN_OK;
}

static firn_status prepare_translation(firn_parquet_chunk_writer *writer,
                                       const firn_parquet_batch *batch, firn_error *error) {
    bool translates = batch->indices != NULL && !writer->replaying;
    if (!translates || writer->mode == FIRN_PARQUET_MODE_PLAIN) return FIRN_OK;
    size_t count = batch->values.count;
    if (writer->translation != NULL && writer->translated_id == batch->dictionary_id &&
        writer->translation_count == count) {
        return FIRN_OK;
    }
    if (count > writer->translation_capacity || writer->translation == NULL) {
        firn_parquet_release_translation(writer);
        writer->translation = firn_alloc_array(count, sizeof *writer->translation);
        if (writer->translation == NULL) return firn_fail_memory(error);
        writer->translation_capacity = count;
    }
    for (size_t i = 0; i < count; i++) writer->translation[i] = FIRN_PARQUET_UNTRANSLATED;
    writer->translation_count = count;
    writer->translated_id = batch->dictionary_id;
    return FIRN_OK;
}

firn_status firn_parquet_append_batch(firn_parquet_chunk_writer *writer,
                                      const firn_parquet_batch *batch, firn_error *error) {
    if (batch->level_count == 0) return FIRN_OK;
    FIRN_TRY(check_batch(writer, batch, error));
    FIRN_TRY(firn_parquet_flush_parts(writer, error));
    FIRN_TRY(prepare_translation(writer, batch, error));
    firn_parquet_batch used = *batch;
    if (writer->leaf->maximum_definition_level == 0) used.definition_levels = NULL;
    if (writer->leaf->maximum_repetition_level == 0) used.repetition_levels = NULL;
    return append_segments(writer, &used, error);
}

firn_status firn_parquet_end_open_page(firn_parquet_chunk_writer *writer, firn_error *error) {
    FIRN_TRY(firn_parquet_flush_parts(writer, error));
    if (writer->mode == FIRN_PARQUET_MODE_UNDECIDED && writer->page.level_count > 0) {
        bool pays = false;
        FIRN_TRY(dictionary_pays(writer, &pays, error));
        FIRN_TRY(decide(writer, pays, error));
    }
    return firn_parquet_flush_page(writer, error);
}
