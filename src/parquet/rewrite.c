#include "parquet/rewrite.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "parquet/rewrite_internal.h"

#define ABSENT_BATCH 8192
/* Bytes that a chunk is given room for before it has a page. */
#define MOST_EXPECTED ((int64_t)8 << 20)

const char *firn_parquet_way_name(firn_parquet_way way) {
    static const char *const names[FIRN_PARQUET_WAY_COUNT] = {
        "copied", "moved_dictionary", "joined", "recompressed", "remapped", "encoded", "left_out"};
    return (unsigned)way < FIRN_PARQUET_WAY_COUNT ? names[way] : "unknown";
}

const char *firn_parquet_reason_name(firn_parquet_reason reason) {
    static const char *const names[FIRN_PARQUET_REASON_COUNT] = {
        "copying_off",     "rows_cut",          "type_changes",
        "levels_change",   "codec_differs",     "page_version",
        "small_pages",     "encoding",          "dictionary_does_not_pay",
        "gets_dictionary", "row_start_unknown", "page_header"};
    return (unsigned)reason < FIRN_PARQUET_REASON_COUNT ? names[reason] : "unknown";
}

static void add_tallies(firn_parquet_tally *sum, const firn_parquet_tally *more, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sum[i].pages += more[i].pages;
        sum[i].bytes += more[i].bytes;
    }
}

void firn_parquet_rewrite_counts_add(firn_parquet_rewrite_counts *sum,
                                     const firn_parquet_rewrite_counts *more) {
    sum->rows += more->rows;
    sum->levels += more->levels;
    sum->nulls += more->nulls;
    sum->pages_copied += more->pages_copied;
    sum->pages_encoded += more->pages_encoded;
    sum->bytes_copied += more->bytes_copied;
    sum->bytes_encoded += more->bytes_encoded;
    add_tallies(sum->ways, more->ways, FIRN_PARQUET_WAY_COUNT);
    add_tallies(sum->reasons, more->reasons, FIRN_PARQUET_REASON_COUNT);
}

static firn_status fail_rows(const firn_parquet_rewriter *rewriter, int64_t rows,
                             firn_error *error) {
    return firn_fail(
        error, FIRN_CORRUPT,
        "%s: row group %zu: column %s holds %lld of the %lld rows wanted from row %lld",
        rewriter->piece->file->source.name, rewriter->piece->row_group,
        rewriter->output->dotted_path, (long long)rows, (long long)rewriter->rows.count,
        (long long)rewriter->piece->first_row);
}

firn_status firn_parquet_set_piece(firn_parquet_rewriter *rewriter,
                                   const firn_parquet_piece *pieces, size_t index,
                                   firn_error *error) {
    const firn_parquet_piece *piece = &pieces[index];
    const firn_parquet_file_metadata *metadata = piece->file->metadata;
    const char *name = piece->file->source.name;
    if (piece->row_group >= metadata->row_group_count) {
        return firn_fail(error, FIRN_INVALID, "%s: no row group %zu", name, piece->row_group);
    }
    int64_t rows = metadata->row_groups[piece->row_group].num_rows;
    if (piece->first_row < 0 || piece->row_count < 0 || piece->first_row > rows ||
        piece->row_count > rows - piece->first_row) {
        return firn_fail(error, FIRN_INVALID, "%s: row group %zu has no rows %lld + %lld", name,
                         piece->row_group, (long long)piece->first_row,
                         (long long)piece->row_count);
    }
    rewriter->piece = piece;
    rewriter->mapping = &piece->mappings[rewriter->leaf_index];
    rewriter->translation = NULL;
    if (rewriter->translations != NULL && rewriter->translations[index].entries != NULL) {
        rewriter->translation = &rewriter->translations[index];
    }
    rewriter->input = NULL;
    firn_parquet_set_rows(&rewriter->rows, piece, rows);
    rewriter->rows_begun = 0;
    rewriter->copied_values = 0;
    rewriter->page_encoded = false;
    rewriter->dictionary_uncounted = true;
    rewriter->index_loaded = false;
    rewriter->next_constant_id--;
    if (rewriter->mapping->input_leaf >= 0) {
        if ((size_t)rewriter->mapping->input_leaf >= piece->file->schema->leaf_count) {
            return firn_fail(error, FIRN_INVALID, "%s: no column %d", name,
                             (int)rewriter->mapping->input_leaf);
        }
        rewriter->input = &piece->file->schema->leaves[rewriter->mapping->input_leaf];
    }
    rewriter->may_copy = firn_parquet_piece_may_be_copied(rewriter);
    firn_status status = firn_parquet_check_mapping(rewriter, error);
    if (status == FIRN_OK) status = firn_parquet_set_fill(rewriter, error);
    return firn_error_wrap(error, status, "%s: column %s", name, rewriter->output->dotted_path);
}

/* Rows of a leaf that the file has nothing for: one level each. */
static firn_status append_absent(firn_parquet_rewriter *rewriter, firn_error *error) {
    uint8_t level = rewriter->mapping->absent_definition_level;
    uint8_t maximum = rewriter->output->maximum_definition_level;
    int64_t left = rewriter->rows.count;
    if (level == FIRN_PARQUET_FORBIDDEN_LEVEL) level = maximum;
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->definition_levels, ABSENT_BATCH, 1, error));
    FIRN_TRY(firn_parquet_scratch_ensure(&rewriter->repetition_levels, ABSENT_BATCH, 1, error));
    memset(rewriter->definition_levels.data, level, ABSENT_BATCH);
    memset(rewriter->repetition_levels.data, 0, ABSENT_BATCH);
    while (left > 0) {
        int64_t count = left < ABSENT_BATCH ? left : ABSENT_BATCH;
        firn_parquet_batch batch = {
            .level_count = (size_t)count,
            .definition_levels = maximum > 0 ? rewriter->definition_levels.data : NULL,
            .repetition_levels = rewriter->output->maximum_repetition_level > 0
                                     ? rewriter->repetition_levels.data
                                     : NULL,
        };
        FIRN_TRY(firn_parquet_set_constant(rewriter, &batch,
                                           level == maximum ? batch.level_count : 0,
                                           rewriter->mapping->constant, error));
        FIRN_TRY(firn_parquet_chunk_writer_append(rewriter->writer, &batch, error));
        rewriter->counts.rows += count;
        rewriter->counts.levels += count;
        if (level != maximum) rewriter->counts.nulls += count;
        left -= count;
    }
    return FIRN_OK;
}

/* Values in the output's form; a dictionary is converted once. */
static firn_status convert_values(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                  firn_error *error) {
    if (batch->value_count == 0 || rewriter->mapping->levels_only ||
        rewriter->mapping->conversion == FIRN_PARQUET_CONVERT_NONE) {
        return FIRN_OK;
    }
    if (batch->indices != NULL && rewriter->dictionary_converted &&
        rewriter->converted_id == batch->dictionary_id) {
        batch->values = rewriter->converted_dictionary;
        return FIRN_OK;
    }
    rewriter->dictionary_converted = false;
    firn_parquet_values converted;
    firn_status status =
        firn_parquet_converter_run(&rewriter->converter, &batch->values, &converted, error);
    if (status != FIRN_OK) {
        return firn_error_wrap(error, status, "%s: column %s", rewriter->piece->file->source.name,
                               rewriter->output->dotted_path);
    }
    batch->values = converted;
    if (batch->indices == NULL) return FIRN_OK;
    rewriter->dictionary_converted = true;
    rewriter->converted_id = batch->dictionary_id;
    rewriter->converted_dictionary = converted;
    return FIRN_OK;
}

static int64_t rows_in(const firn_parquet_batch *batch) {
    if (batch->repetition_levels == NULL) return (int64_t)batch->level_count;
    return (int64_t)firn_parquet_count_level(batch->repetition_levels, batch->level_count, 0);
}

/* Indices into the merged dictionary, or values of another page of such a chunk. */
static firn_status append_mapped(firn_parquet_rewriter *rewriter, firn_parquet_batch *mapped,
                                 bool *remapped, firn_error *error) {
    *remapped = rewriter->translation != NULL && mapped->indices != NULL;
    if (*remapped) {
        FIRN_TRY(firn_parquet_translate(rewriter, mapped, error));
        return firn_parquet_chunk_writer_append_indices(rewriter->writer, mapped, error);
    }
    FIRN_TRY(convert_values(rewriter, mapped, error));
    return firn_parquet_chunk_writer_append(rewriter->writer, mapped, error);
}

static firn_status encode_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                               firn_parquet_reason reason, bool *past, firn_error *error) {
    firn_parquet_batch batch, mapped;
    int64_t rows = 0;
    bool remapped = false;
    int64_t bytes = page->header.compressed_size;
    if (rewriter->mapping->levels_only) {
        FIRN_TRY(firn_parquet_chunk_reader_decode_levels(rewriter->reader, &batch, error));
    } else {
        FIRN_TRY(firn_parquet_chunk_reader_decode(rewriter->reader, &batch, error));
    }
    FIRN_TRY(firn_parquet_fill_nulls(rewriter, &batch, error));
    FIRN_TRY(firn_parquet_map_batch(rewriter, &batch, &mapped, &rows, past, error));
    FIRN_TRY(append_mapped(rewriter, &mapped, &remapped, error));
    rewriter->rows_begun += rows_in(&batch);
    rewriter->page_encoded = true;
    rewriter->counts.rows += rows;
    rewriter->counts.levels += (int64_t)mapped.level_count;
    rewriter->counts.nulls += (int64_t)(mapped.level_count - mapped.value_count);
    if (rewriter->dictionary_uncounted) {
        bytes +=
            firn_parquet_chunk_reader_dictionary_page(rewriter->reader)->header.compressed_size;
        rewriter->dictionary_uncounted = false;
    }
    if (remapped) {
        firn_parquet_count_page(rewriter, FIRN_PARQUET_WAY_REMAPPED, bytes);
        return FIRN_OK;
    }
    firn_parquet_count_page(rewriter, FIRN_PARQUET_WAY_ENCODED, bytes);
    rewriter->counts.reasons[reason].pages++;
    rewriter->counts.reasons[reason].bytes += bytes;
    return FIRN_OK;
}

firn_status firn_parquet_open_chunk(firn_parquet_rewriter *rewriter, firn_error *error) {
    const firn_parquet_piece *piece = rewriter->piece;
    size_t leaf = (size_t)rewriter->mapping->input_leaf;
    if (!rewriter->mapping->levels_only) {
        firn_status status = firn_parquet_converter_set(&rewriter->converter, rewriter->mapping,
                                                        rewriter->input->node->element,
                                                        rewriter->output->node->element, error);
        if (status != FIRN_OK) {
            return firn_error_wrap(error, status, "%s: column %s", piece->file->source.name,
                                   rewriter->output->dotted_path);
        }
    }
    if (rewriter->reader == NULL) {
        return firn_parquet_chunk_reader_open(piece->file, piece->row_group, leaf,
                                              &rewriter->reader, error);
    }
    return firn_parquet_chunk_reader_reset(rewriter->reader, piece->file, piece->row_group, leaf,
                                           error);
}

static firn_status move_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                             bool cut, bool *past, firn_error *error) {
    firn_parquet_verdict verdict = firn_parquet_judge_page(rewriter, page, cut);
    /* Bounds of indices come from the dictionary; where nobody tells those of a page, it is taken apart. */
    if (verdict.way == FIRN_PARQUET_WAY_COPIED &&
        firn_parquet_is_dictionary_encoding(page->header.encoding) &&
        !firn_parquet_is_bounded(rewriter, page)) {
        verdict.way = FIRN_PARQUET_WAY_ENCODED;
    }
    switch (verdict.way) {
    case FIRN_PARQUET_WAY_COPIED: return firn_parquet_copy_page(rewriter, page, error);
    case FIRN_PARQUET_WAY_JOINED: return firn_parquet_join_page(rewriter, page, error);
    case FIRN_PARQUET_WAY_RECOMPRESSED: return firn_parquet_recompress_page(rewriter, page, error);
    default: return encode_page(rewriter, page, verdict.reason, past, error);
    }
}

static firn_status rewrite_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                bool *past, firn_error *error) {
    firn_parquet_page_fate fate;
    int64_t rows = 0;
    FIRN_TRY(firn_cancel_check(error));
    if (page->header.num_values == 0) return FIRN_OK;
    FIRN_TRY(firn_parquet_page_fate_of(rewriter, page, &fate, &rows, error));
    switch (fate) {
    case FIRN_PARQUET_PAGE_BEHIND: *past = true; return FIRN_OK;
    case FIRN_PARQUET_PAGE_BEFORE: rewriter->rows_begun += rows; return FIRN_OK;
    case FIRN_PARQUET_PAGE_GOES:
        rewriter->rows_begun += rows;
        firn_parquet_count_page(rewriter, FIRN_PARQUET_WAY_LEFT_OUT, page->header.compressed_size);
        return FIRN_OK;
    default: return move_page(rewriter, page, fate == FIRN_PARQUET_PAGE_CUT, past, error);
    }
}

/* A dictionary whose entries are the values: it need not be looked into. */
static bool may_move_dictionary(const firn_parquet_rewriter *rewriter) {
    return rewriter->may_copy && rewriter->rows.all &&
           firn_parquet_piece_has_dictionary(rewriter) &&
           rewriter->output->node->element->type != FIRN_PARQUET_BOOLEAN &&
           firn_parquet_chunk_writer_takes_parts(rewriter->writer, rewriter->may_join);
}

/* The chunk's first page to be rewritten, or none; a dictionary that can be moved is then gone. */
static firn_status begin_pages(firn_parquet_rewriter *rewriter, const firn_parquet_page **page,
                               firn_error *error) {
    FIRN_TRY(firn_parquet_open_chunk(rewriter, error));
    if (rewriter->translation != NULL) {
        firn_parquet_chunk_reader_skip_dictionary(rewriter->reader, rewriter->translation->count);
    } else if (may_move_dictionary(rewriter)) {
        bool moved = false;
        FIRN_TRY(firn_parquet_move_dictionary(rewriter, &moved, page, error));
        if (moved) return FIRN_OK;
        FIRN_TRY(firn_parquet_open_chunk(rewriter, error));
    }
    return firn_parquet_chunk_reader_next(rewriter->reader, page, error);
}

static firn_status rewrite_pages(firn_parquet_rewriter *rewriter, firn_error *error) {
    int64_t before = rewriter->counts.rows;
    bool past = false;
    const firn_parquet_page *page = NULL;
    FIRN_TRY(begin_pages(rewriter, &page, error));
    while (page != NULL) {
        FIRN_TRY(rewrite_page(rewriter, page, &past, error));
        if (past) break;
        FIRN_TRY(firn_parquet_chunk_reader_next(rewriter->reader, &page, error));
    }
    int64_t rows = rewriter->counts.rows - before;
    if (rows != rewriter->rows.count || (past && rewriter->rows.whole_run)) {
        return fail_rows(rewriter, rows, error);
    }
    return firn_parquet_merge_piece_statistics(rewriter, error);
}

/* A chunk of which no row stays is not read. */
static void leave_out_chunk(firn_parquet_rewriter *rewriter) {
    if (rewriter->input == NULL || rewriter->rows.dropped_count == 0) return;
    int64_t bytes = firn_parquet_chunk_of(rewriter)->total_compressed_size;
    if (bytes > 0) rewriter->counts.ways[FIRN_PARQUET_WAY_LEFT_OUT].bytes += bytes;
}

static firn_status rewrite_piece(firn_parquet_rewriter *rewriter, firn_error *error) {
    if (rewriter->rows.count == 0) {
        leave_out_chunk(rewriter);
        return FIRN_OK;
    }
    if (rewriter->input != NULL) return rewrite_pages(rewriter, error);
    return rewriter->fill == FIRN_PARQUET_FILL_NONE ? append_absent(rewriter, error)
                                                    : firn_parquet_append_filled(rewriter, error);
}

static firn_status rewrite_pieces(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                                  size_t piece_count, firn_error *error) {
    for (size_t i = 0; i < piece_count; i++) {
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        FIRN_TRY(rewrite_piece(rewriter, error));
    }
    return FIRN_OK;
}

/* Room for what came in: pages then need not move while the chunk grows. Memory that is not used in the end is never touched. */
static firn_status expect_pages(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                                size_t piece_count, firn_error *error) {
    int64_t size = 0;
    for (size_t i = 0; i < piece_count && size < MOST_EXPECTED; i++) {
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        if (rewriter->input == NULL || rewriter->rows.count == 0) continue;
        int64_t more = firn_parquet_chunk_of(rewriter)->total_compressed_size;
        if (more > 0) size += more < MOST_EXPECTED ? more : MOST_EXPECTED;
    }
    if (size > MOST_EXPECTED) size = MOST_EXPECTED;
    return firn_parquet_chunk_writer_expect(rewriter->writer, (size_t)size, error);
}

static firn_status begin(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                         size_t piece_count, firn_parquet_write_options *options,
                         firn_error *error) {
    firn_parquet_dictionary dictionary = {0};
    bool merged = false;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_parquet_merge_dictionaries(rewriter, pieces, piece_count, options, &dictionary,
                                               &merged, error));
    options->value_encoding = firn_parquet_encoding_of_inputs(rewriter, pieces, piece_count);
    FIRN_CHECK(firn_parquet_chunk_writer_new(rewriter->output, options, &rewriter->writer, error));
    if (merged) {
        FIRN_CHECK(firn_parquet_chunk_writer_set_dictionary(rewriter->writer, &dictionary, error));
    }
    status = expect_pages(rewriter, pieces, piece_count, error);
out:
    firn_parquet_dictionary_release(&dictionary);
    return status;
}

void firn_parquet_rewriter_init(firn_parquet_rewriter *rewriter, const firn_parquet_schema *output,
                                size_t leaf_index, const firn_parquet_write_options *options,
                                const firn_parquet_rewrite_options *rewrite_options) {
    *rewriter = (firn_parquet_rewriter){
        .output_schema = output,
        .output = &output->leaves[leaf_index],
        .leaf_index = leaf_index,
        .options = options,
        .copy_pages = rewrite_options->copy_pages,
        .may_join = !rewrite_options->no_joined_pages,
        .smallest_joined = rewrite_options->smallest_joined_bytes,
        .merged = rewrite_options->merged,
        .next_constant_id = UINT64_MAX,
    };
    firn_parquet_converter_init(&rewriter->converter);
    rewriter->part_definitions = firn_buffer_with_maximum(INT32_MAX);
    rewriter->part_repetitions = firn_buffer_with_maximum(INT32_MAX);
    rewriter->compressed = firn_buffer_with_maximum(INT32_MAX);
    firn_parquet_bounds_init(&rewriter->bounds,
                             firn_parquet_measured_order(options, rewriter->output));
}

void firn_parquet_rewriter_release(firn_parquet_rewriter *rewriter) {
    firn_parquet_chunk_writer_free(rewriter->writer);
    firn_parquet_chunk_reader_close(rewriter->reader);
    firn_parquet_converter_release(&rewriter->converter);
    firn_parquet_scratch_release(&rewriter->definition_levels);
    firn_parquet_scratch_release(&rewriter->repetition_levels);
    firn_parquet_scratch_release(&rewriter->zeros);
    firn_parquet_scratch_release(&rewriter->translated);
    firn_parquet_scratch_release(&rewriter->kept_definitions);
    firn_parquet_scratch_release(&rewriter->kept_repetitions);
    firn_parquet_scratch_release(&rewriter->kept_values);
    firn_parquet_scratch_release(&rewriter->filled);
    firn_vector_release(&rewriter->runs);
    firn_buffer_release(&rewriter->part_definitions);
    firn_buffer_release(&rewriter->part_repetitions);
    firn_buffer_release(&rewriter->compressed);
    firn_parquet_bounds_release(&rewriter->bounds);
    firn_parquet_release_translations(rewriter);
    firn_arena_free(rewriter->index_arena);
}

firn_status firn_parquet_rewrite_leaf(const firn_parquet_piece *pieces, size_t piece_count,
                                      const firn_parquet_schema *output, size_t leaf_index,
                                      const firn_parquet_write_options *options,
                                      const firn_parquet_rewrite_options *rewrite_options,
                                      firn_parquet_chunk *out, firn_parquet_rewrite_counts *counts,
                                      firn_error *error) {
    if (leaf_index >= output->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "the output has no column %zu", leaf_index);
    }
    firn_parquet_write_options chosen = *options;
    chosen.dictionary_size_bytes =
        firn_parquet_dictionary_size_of(options, &output->leaves[leaf_index]);
    firn_parquet_rewriter rewriter;
    firn_status status = FIRN_OK;
    firn_parquet_rewriter_init(&rewriter, output, leaf_index, &chosen, rewrite_options);
    FIRN_CHECK(firn_parquet_check_rows(pieces, piece_count, error));
    FIRN_CHECK(begin(&rewriter, pieces, piece_count, &chosen, error));
    FIRN_CHECK(rewrite_pieces(&rewriter, pieces, piece_count, error));
    FIRN_CHECK(firn_parquet_chunk_writer_finish(rewriter.writer, out, error));
    *counts = rewriter.counts;
out:
    firn_parquet_rewriter_release(&rewriter);
    return status;
}
