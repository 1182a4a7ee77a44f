/*
 * The dictionaries of all pieces of a row group merged before the first page, so that the width of indices is settled and each
 * entry is looked up once; pages are then translated without ever seeing a value. Where the merged dictionary does not pay, or
 * passes its limit, there is none: each chunk's values go over PLAIN.
 */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cancel.h"
#include "parquet/encode.h"
#include "parquet/rewrite_internal.h"

/* A range of integers that PLAIN values get a dictionary for, and how often each must come up on average. */
#define LARGEST_RANGE ((uint64_t)65536)
#define LEAST_REPETITION 8
/*
 * A dictionary may pass its limit so many times, where PLAIN values would take so many times its bytes, or are this long on average: what
 * is long and repeats must not come out many times as large.
 */
#define ROOMIEST 8
#define FAR_SMALLER 4
#define LONG_VALUE 256

typedef struct merge {
    firn_parquet_dictionary *dictionary;
    int64_t values; /* of the pieces so far, nulls included where nobody counts them */
    uint64_t entries;
    size_t pieces;
    size_t added;       /* entries that the last of them brought */
    int64_t all_values; /* of all pieces */
    size_t most_bytes;  /* what the dictionary may take at the very most */
    bool failed, hopeless;
} merge;

/* Where rows go, their share of the values is taken to be that of all rows. */
int64_t firn_parquet_values_of_piece(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_rows *rows = &rewriter->rows;
    if (rewriter->input == NULL || firn_parquet_is_filled(rewriter)) return rows->count;
    const firn_parquet_column_chunk *chunk = firn_parquet_chunk_of(rewriter);
    int64_t values = chunk->num_values;
    const firn_parquet_statistics *statistics = &chunk->statistics;
    if (statistics->has_null_count && statistics->null_count > 0 &&
        statistics->null_count <= values) {
        values -= statistics->null_count;
    }
    if (values <= 0) return 0;
    if (rows->all) return values;
    return (int64_t)((double)values * (double)rows->count / (double)rows->of_group);
}

/* Nearly each entry is new, and at this rate half of all values would be. */
bool firn_parquet_is_hopeless(uint64_t distinct, uint64_t entries, int64_t values) {
    return values >= FIRN_PARQUET_HOPELESS_VALUES && distinct > (uint64_t)values / 2 &&
           distinct / 9 > entries / 10;
}

/*
 * Room for the piece's entries, and for those of the pieces to come, if each brings as many new ones as the one before: a table that
 * grows step by step is made anew each time. A dictionary that a file makes up has more entries than may be taken.
 */
static firn_status expect_entries(const merge *work, size_t more, size_t pieces_left,
                                  firn_error *error) {
    firn_parquet_dictionary *dictionary = work->dictionary;
    if (dictionary->direct != NULL) return FIRN_OK;
    size_t width = dictionary->type == FIRN_PARQUET_BYTE_ARRAY ? 4 : dictionary->width;
    if (dictionary->count > 0 && width > 0) width = dictionary->bytes.size / dictionary->count;
    size_t most = dictionary->limit / (width > 0 ? width : 1);
    size_t count = dictionary->count + more;
    if (work->pieces > 1) count += work->added * pieces_left;
    return firn_parquet_dictionary_expect_entries(dictionary, count < most ? count : most, error);
}

/* What all values would take, going by the entries so far. */
static double plain_bytes_of(const merge *work) {
    const firn_parquet_dictionary *dictionary = work->dictionary;
    if (dictionary->count == 0) return 0;
    return (double)dictionary->bytes.size / dictionary->count * (double)work->all_values;
}

static size_t roomy_limit(const merge *work) {
    const firn_parquet_dictionary *dictionary = work->dictionary;
    bool is_long = dictionary->bytes.size / LONG_VALUE > dictionary->count;
    double allowed = plain_bytes_of(work) / (is_long ? 1 : FAR_SMALLER);
    return allowed < (double)work->most_bytes ? (size_t)allowed : work->most_bytes;
}

/* Adds the entries; where the dictionary is full, its limit may be raised once. */
static firn_status add_entries(merge *work, const firn_parquet_values *values, size_t pieces_left,
                               uint32_t *out, size_t *done, firn_error *error) {
    firn_parquet_dictionary *dictionary = work->dictionary;
    size_t more = 0;
    FIRN_TRY(expect_entries(work, values->count, pieces_left, error));
    FIRN_TRY(firn_parquet_dictionary_add(dictionary, values, 0, values->count, out, done, error));
    if (*done == values->count) return FIRN_OK;
    size_t limit = roomy_limit(work);
    if (limit <= dictionary->limit) return FIRN_OK;
    dictionary->limit = limit;
    firn_status status = firn_parquet_dictionary_add(
        dictionary, values, *done, values->count - *done, out + *done, &more, error);
    *done += more;
    return status;
}

static firn_status make_translations(firn_parquet_rewriter *rewriter, firn_error *error) {
    rewriter->translations =
        firn_alloc_zeroed(rewriter->piece_count, sizeof *rewriter->translations);
    if (rewriter->translations == NULL) return firn_fail_memory(error);
    rewriter->translation_count = rewriter->piece_count;
    return FIRN_OK;
}

static firn_status merge_piece(firn_parquet_rewriter *rewriter, size_t index, merge *work,
                               firn_error *error) {
    firn_parquet_translation *translation = &rewriter->translations[index];
    FIRN_TRY(firn_parquet_open_chunk(rewriter, error));
    FIRN_TRY(firn_parquet_chunk_reader_load_dictionary(rewriter->reader, error));
    firn_parquet_values values = *firn_parquet_chunk_reader_dictionary(rewriter->reader);
    if (firn_parquet_chunk_reader_dictionary_page(rewriter->reader)->body.data == NULL) {
        return FIRN_OK;
    }
    translation->count = values.count;
    translation->entries = firn_alloc_array(values.count + 1, sizeof *translation->entries);
    if (translation->entries == NULL) return firn_fail_memory(error);
    if (values.count > 0 && rewriter->mapping->conversion != FIRN_PARQUET_CONVERT_NONE) {
        firn_parquet_values converted;
        firn_status status =
            firn_parquet_converter_run(&rewriter->converter, &values, &converted, error);
        if (status != FIRN_OK) {
            return firn_error_wrap(error, status, "%s: column %s",
                                   rewriter->piece->file->source.name,
                                   rewriter->output->dotted_path);
        }
        values = converted;
    }
    size_t done = 0;
    uint32_t before = work->dictionary->count;
    FIRN_TRY(add_entries(work, &values, rewriter->piece_count - index - 1, translation->entries,
                         &done, error));
    work->added = work->dictionary->count - before;
    work->failed = done < values.count;
    translation->identical = true;
    for (size_t i = 0; i < done; i++) translation->identical &= translation->entries[i] == i;
    work->entries += values.count;
    work->values += firn_parquet_values_of_piece(rewriter);
    work->pieces++;
    work->hopeless = work->pieces > 1 &&
                     firn_parquet_is_hopeless(work->dictionary->count, work->entries, work->values);
    work->failed = work->failed || work->hopeless;
    return FIRN_OK;
}

/* Fewer than half of the values are distinct, and entries with indices are smaller than the values. */
static bool pays(const merge *work, uint32_t width) {
    uint64_t distinct = work->dictionary->count;
    uint64_t values = (uint64_t)work->values;
    if (distinct == 0 || distinct * 2 > values) return false;
    uint64_t bytes = work->dictionary->bytes.size;
    uint64_t bits = firn_parquet_bit_width((uint32_t)distinct - 1);
    uint64_t plain =
        width != 0 ? values * width : (uint64_t)((double)bytes / (double)distinct * (double)values);
    return bytes + values * bits / 8 < plain;
}

static int64_t rows_of_pieces(const firn_parquet_piece *pieces, size_t piece_count) {
    int64_t rows = 0;
    for (size_t i = 0; i < piece_count; i++) rows += pieces[i].row_count;
    return rows;
}

/* The bytes of a dictionary that may be, given that a small row group can't be cut further. */
static size_t limit_of(const firn_parquet_piece *pieces, size_t piece_count,
                       const firn_parquet_write_options *options) {
    int64_t rows = rows_of_pieces(pieces, piece_count);
    size_t limit = (size_t)options->dictionary_size_bytes;
    return rows < 2 * FIRN_PARQUET_FEWEST_ROWS_OF_CUT ? 2 * limit : limit;
}

static firn_status merge_pieces(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                                merge *work, firn_error *error) {
    for (size_t i = 0; i < rewriter->piece_count && !work->failed; i++) {
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        if (!firn_parquet_piece_has_dictionary(rewriter)) continue;
        FIRN_TRY(firn_cancel_check(error));
        FIRN_TRY(merge_piece(rewriter, i, work, error));
    }
    return FIRN_OK;
}

/* What the footers tell of all pieces together. */
typedef struct survey {
    int64_t plain, total; /* compressed bytes */
    bool any_dictionary, overflow;
    bool bounded; /* all values are integers within [least, greatest], by trusted bounds */
    int64_t least, greatest;
    int64_t values;
} survey;

static bool load_integer(const firn_parquet_schema_element *element, firn_slice bound,
                         int64_t *out) {
    firn_parquet_order order = firn_parquet_order_of(element);
    if (order == FIRN_PARQUET_ORDER_INT32 && bound.size == 4) {
        *out = (int32_t)firn_load_le32(bound.data);
        return true;
    }
    if (order == FIRN_PARQUET_ORDER_INT64 && bound.size == 8) {
        *out = (int64_t)firn_load_le64(bound.data);
        return true;
    }
    return false;
}

static bool integer_bounds_of(const firn_parquet_rewriter *rewriter, int64_t *least,
                              int64_t *greatest) {
    firn_parquet_given_bounds bounds;
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    return rewriter->input != NULL && !rewriter->mapping->levels_only &&
           rewriter->mapping->conversion == FIRN_PARQUET_CONVERT_NONE &&
           firn_parquet_trusted_bounds(rewriter, &bounds) &&
           load_integer(element, bounds.minimum, least) &&
           load_integer(element, bounds.maximum, greatest);
}

static void survey_bounds(const firn_parquet_rewriter *rewriter, survey *found) {
    int64_t least = 0, greatest = 0;
    bool filled = firn_parquet_is_filled(rewriter);
    if (filled && rewriter->fill == FIRN_PARQUET_FILL_ROW_NUMBER) found->bounded = false;
    /* Nothing but nulls has no bounds, and the fill is then all there is. */
    if (!integer_bounds_of(rewriter, &least, &greatest)) {
        found->bounded = found->bounded && filled && firn_parquet_has_no_values(rewriter);
        least = greatest = rewriter->fill_base;
    }
    if (!found->bounded) return;
    if (filled && rewriter->fill_base < least) least = rewriter->fill_base;
    if (filled && rewriter->fill_base > greatest) greatest = rewriter->fill_base;
    if (least < found->least) found->least = least;
    if (greatest > found->greatest) found->greatest = greatest;
}

static firn_status survey_pieces(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                                 survey *found, firn_error *error) {
    *found = (survey){.bounded = true, .least = INT64_MAX, .greatest = INT64_MIN};
    for (size_t i = 0; i < rewriter->piece_count; i++) {
        int64_t bytes = 0;
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        if (rewriter->rows.count == 0) continue;
        int64_t copyable = firn_parquet_piece_plain_bytes(rewriter, &bytes);
        found->overflow |= __builtin_add_overflow(found->plain, copyable, &found->plain);
        found->overflow |= __builtin_add_overflow(found->total, bytes, &found->total);
        found->any_dictionary |= firn_parquet_piece_has_dictionary(rewriter);
        found->values += firn_parquet_values_of_piece(rewriter);
        if (found->bounded) survey_bounds(rewriter, found);
    }
    return FIRN_OK;
}

static bool is_worth_a_dictionary(const firn_parquet_rewriter *rewriter, const survey *found,
                                  size_t limit) {
    if (!rewriter->copy_pages || !found->bounded || found->least > found->greatest) return false;
    uint64_t range = (uint64_t)found->greatest - (uint64_t)found->least;
    uint32_t width = firn_parquet_value_width(rewriter->output->node->element->type, 0);
    return range < LARGEST_RANGE && (range + 1) * width <= limit &&
           found->values / LEAST_REPETITION >= (int64_t)range + 1;
}

/* Integers whose whole range has room. */
static bool range_fits(const survey *found, uint32_t width, size_t limit) {
    if (!found->bounded || found->least > found->greatest || width == 0) return false;
    return (uint64_t)found->greatest - (uint64_t)found->least < limit / width;
}

/* The dictionary and its translations as if they had been merged just now. */
static bool take_merged(firn_parquet_rewriter *rewriter, const survey *found, size_t limit,
                        firn_parquet_dictionary *dictionary) {
    merge work = {.dictionary = dictionary,
                  .all_values = found->values,
                  .most_bytes = ROOMIEST * (size_t)rewriter->options->dictionary_size_bytes};
    if (!firn_parquet_take_merged(rewriter, dictionary, &work.values)) return false;
    size_t roomy = roomy_limit(&work);
    dictionary->limit = roomy > limit ? roomy : limit;
    if (dictionary->bytes.size <= dictionary->limit && pays(&work, dictionary->width)) return true;
    firn_parquet_release_translations(rewriter);
    firn_parquet_dictionary_release(dictionary);
    return false;
}

static firn_status merge_all(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                             const survey *found, size_t limit, firn_parquet_dictionary *dictionary,
                             bool *merged, firn_error *error) {
    if (firn_parquet_merged_is_known(rewriter)) {
        *merged = take_merged(rewriter, found, limit, dictionary);
        return FIRN_OK;
    }
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    firn_parquet_dictionary_init(dictionary, element->type, width, limit);
    if (range_fits(found, width, limit)) {
        FIRN_TRY(
            firn_parquet_dictionary_expect_range(dictionary, found->least, found->greatest, error));
    }
    FIRN_TRY(make_translations(rewriter, error));
    merge work = {.dictionary = dictionary,
                  .all_values = found->values,
                  .most_bytes = ROOMIEST * (size_t)rewriter->options->dictionary_size_bytes};
    FIRN_TRY(firn_parquet_sample_dictionaries(rewriter, pieces, &work.failed, error));
    FIRN_TRY(merge_pieces(rewriter, pieces, &work, error));
    *merged = !work.failed && pays(&work, width);
    if (*merged) return FIRN_OK;
    firn_parquet_release_translations(rewriter);
    firn_parquet_dictionary_release(dictionary);
    return FIRN_OK;
}

firn_status firn_parquet_merge_dictionaries(firn_parquet_rewriter *rewriter,
                                            const firn_parquet_piece *pieces, size_t piece_count,
                                            firn_parquet_write_options *options,
                                            firn_parquet_dictionary *dictionary, bool *merged,
                                            firn_error *error) {
    survey found;
    *merged = false;
    rewriter->piece_count = piece_count;
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    FIRN_TRY(survey_pieces(rewriter, pieces, &found, error));
    if (options->dictionary_size_bytes == 0 || !rewriter->copy_pages || found.overflow)
        return FIRN_OK;
    size_t limit = limit_of(pieces, piece_count, options);
    bool bounded = is_worth_a_dictionary(rewriter, &found, limit);
    if (found.plain > found.total / 2 && !bounded) {
        /* Most bytes lie in PLAIN pages that may be copied: a dictionary for the rest would only decode them. */
        options->dictionary_size_bytes = 0;
        return FIRN_OK;
    }
    if (found.any_dictionary) {
        FIRN_TRY(merge_all(rewriter, pieces, &found, limit, dictionary, merged, error));
        if (!*merged && !bounded) options->dictionary_size_bytes = 0;
        if (*merged || !bounded) return FIRN_OK;
    }
    if (!bounded) return FIRN_OK;
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    firn_parquet_dictionary_init(dictionary, element->type, width, limit);
    *merged = true;
    rewriter->makes_dictionary = true;
    return firn_parquet_dictionary_expect_range(dictionary, found.least, found.greatest, error);
}

/* Whether the dictionaries might pass the limit: entries are at most what the chunks hold. */
static firn_status may_outgrow(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                               size_t limit, bool *may, firn_error *error) {
    int64_t bytes = 0;
    *may = false;
    for (size_t i = 0; i < rewriter->piece_count && !*may; i++) {
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        if (!firn_parquet_piece_has_dictionary(rewriter)) continue;
        int64_t more = firn_parquet_chunk_of(rewriter)->total_uncompressed_size;
        *may = more < 0 || __builtin_add_overflow(bytes, more, &bytes) || bytes > (int64_t)limit;
    }
    return FIRN_OK;
}

/* The rows of a part where dictionaries cut the row group into as many as may be. */
static int64_t rows_of_smallest_part(const firn_parquet_piece *pieces, size_t piece_count) {
    int64_t rows = rows_of_pieces(pieces, piece_count);
    int64_t most = rows / FIRN_PARQUET_FEWEST_ROWS_OF_CUT;
    return most < 2 ? INT64_MAX : rows / most;
}

/*
 * Merges piece by piece and notes where the limit, and twice the limit, is passed; no further than is needed to know that the row group is
 * cut. *merged: the pieces whose dictionaries are merged whole.
 */
static firn_status measure_pieces(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                                  size_t limit, merge *work, size_t *merged,
                                  firn_parquet_dictionary_reach *out, firn_error *error) {
    int64_t enough = rows_of_smallest_part(pieces, rewriter->piece_count);
    uint32_t width = work->dictionary->width;
    FIRN_TRY(firn_parquet_sample_dictionaries(rewriter, pieces, &work->hopeless, error));
    if (work->hopeless) return FIRN_OK;
    for (size_t i = 0; i < rewriter->piece_count; i++) {
        FIRN_TRY(firn_cancel_check(error));
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        if (firn_parquet_piece_has_dictionary(rewriter)) {
            FIRN_TRY(merge_piece(rewriter, i, work, error));
        }
        if (work->hopeless) return FIRN_OK;
        if (work->failed || work->dictionary->bytes.size > limit) out->outgrows = true;
        if (work->failed) return FIRN_OK;
        rewriter->translations[i].reached = work->dictionary->count;
        rewriter->translations[i].values = work->values;
        *merged = i + 1;
        if (!out->outgrows) out->rows += rewriter->piece->row_count;
        out->rows_at_twice += rewriter->piece->row_count;
        if (out->outgrows && out->rows_at_twice >= enough && pays(work, width)) return FIRN_OK;
    }
    return FIRN_OK;
}

static firn_status measure(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                           size_t limit, firn_parquet_dictionary_reach *out, firn_error *error) {
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    survey found;
    bool may = false;
    FIRN_TRY(may_outgrow(rewriter, pieces, limit, &may, error));
    if (!may) return FIRN_OK;
    FIRN_TRY(survey_pieces(rewriter, pieces, &found, error));
    if (found.overflow || found.plain > found.total / 2) return FIRN_OK;
    if (range_fits(&found, width, limit)) return FIRN_OK;
    firn_parquet_dictionary dictionary;
    firn_parquet_dictionary_init(&dictionary, element->type, width, 2 * limit);
    merge work = {
        .dictionary = &dictionary, .all_values = found.values, .most_bytes = ROOMIEST * limit};
    size_t merged = 0;
    firn_status status = make_translations(rewriter, error);
    if (status == FIRN_OK) {
        status = measure_pieces(rewriter, pieces, limit, &work, &merged, out, error);
    }
    bool paying = !work.hopeless && pays(&work, width);
    if (!paying) out->outgrows = false;
    out->plain_bytes = (int64_t)plain_bytes_of(&work);
    if (status == FIRN_OK) {
        status = firn_parquet_keep_merged(rewriter, paying ? merged : 0, !paying || work.failed,
                                          &dictionary, &out->merged, error);
    }
    firn_parquet_dictionary_release(&dictionary);
    return status;
}

firn_status firn_parquet_measure_dictionaries(const firn_parquet_piece *pieces, size_t piece_count,
                                              const firn_parquet_schema *output, size_t leaf_index,
                                              const firn_parquet_write_options *options,
                                              const firn_parquet_rewrite_options *rewrite_options,
                                              firn_parquet_dictionary_reach *out,
                                              firn_error *error) {
    *out = (firn_parquet_dictionary_reach){0};
    if (leaf_index >= output->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "the output has no column %zu", leaf_index);
    }
    int32_t limit = firn_parquet_dictionary_size_of(options, &output->leaves[leaf_index]);
    if (limit == 0 || !rewrite_options->copy_pages) return FIRN_OK;
    firn_parquet_rewriter rewriter;
    firn_parquet_rewriter_init(&rewriter, output, leaf_index, options, rewrite_options);
    rewriter.piece_count = piece_count;
    firn_status status = measure(&rewriter, pieces, (size_t)limit, out, error);
    firn_parquet_rewriter_release(&rewriter);
    return status;
}

firn_status firn_parquet_translate(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                   firn_error *error) {
    size_t count = batch->value_count;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->translated, count, sizeof(uint32_t), error));
    uint32_t *out = (uint32_t *)(void *)rewriter->translated.data;
    const uint32_t *entries = rewriter->translation->entries;
    for (size_t i = 0; i < count; i++) out[i] = entries[batch->indices[i]];
    batch->indices = out;
    return FIRN_OK;
}
