/* Moving compressed bytes: pages as they are, values with other levels or neighbours, dictionaries that become PLAIN pages. */
#include "parquet/page_codec.h"
#include "parquet/rewrite_internal.h"

void firn_parquet_count_page(firn_parquet_rewriter *rewriter, firn_parquet_way way, int64_t bytes) {
    firn_parquet_rewrite_counts *counts = &rewriter->counts;
    counts->ways[way].pages++;
    counts->ways[way].bytes += bytes;
    if (way == FIRN_PARQUET_WAY_LEFT_OUT) return;
    if (way <= FIRN_PARQUET_WAY_JOINED) {
        counts->pages_copied++;
        counts->bytes_copied += bytes;
    } else {
        counts->pages_encoded++;
        counts->bytes_encoded += bytes;
    }
}

/* v2 headers tell; of v1 pages the chunk's statistics tell where there are none, else the page's levels. */
static firn_status count_nulls(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                               int64_t *nulls, firn_error *error) {
    *nulls = 0;
    if (page->header.type == FIRN_PARQUET_DATA_PAGE_V2) {
        *nulls = page->header.num_nulls;
        return FIRN_OK;
    }
    if (rewriter->output->maximum_definition_level == 0) return FIRN_OK;
    const firn_parquet_statistics *statistics = &firn_parquet_chunk_of(rewriter)->statistics;
    if (statistics->has_null_count && statistics->null_count == 0) return FIRN_OK;
    firn_parquet_batch batch;
    FIRN_TRY(firn_parquet_chunk_reader_decode_levels(rewriter->reader, &batch, error));
    *nulls = (int64_t)(batch.level_count - batch.value_count);
    return FIRN_OK;
}

/* Whether the output's values are measured at all. */
static bool has_order(const firn_parquet_rewriter *rewriter) {
    return firn_parquet_measured_order(rewriter->options, rewriter->output) !=
           FIRN_PARQUET_ORDER_NONE;
}

/*
 * Bounds of a page that is not decoded: the chunk's own where it has no other page, else those of its header or of the column index,
 * which are good for the page alone. `page` NULL: all of the chunk.
 */
static firn_parquet_given_bounds bounds_of(firn_parquet_rewriter *rewriter,
                                           const firn_parquet_page *page, int64_t levels) {
    if (!has_order(rewriter)) return (firn_parquet_given_bounds){0};
    firn_parquet_given_bounds bounds = {.nan_count = firn_parquet_known_nan_count(rewriter)};
    bool no_nan = bounds.nan_count == 0;
    if (levels == firn_parquet_chunk_of(rewriter)->num_values && bounds.nan_count >= 0) {
        bounds.known = firn_parquet_trusted_bounds(rewriter, &bounds);
        if (bounds.known) return bounds;
    }
    bounds.nan_count = 0;
    if (page == NULL) return bounds;
    bounds.known = firn_parquet_trusted_page_bounds(rewriter, &page->header.statistics, &bounds) ||
                   firn_parquet_indexed_bounds(rewriter, page->number, &bounds);
    /* The chunk's own are wider than need be where rows of it go. */
    bounds.page_only = rewriter->rows.all || !no_nan;
    return bounds;
}

/* Whether the chunk's statistics aren't needed for these values. */
static bool covers(const firn_parquet_given_bounds *bounds) {
    return bounds->known && !bounds->page_only;
}

static firn_status measure(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                           firn_parquet_given_bounds *out, firn_parquet_bound_room room[2],
                           firn_error *error) {
    firn_parquet_bounds *bounds = &rewriter->bounds;
    firn_parquet_bounds_clear(bounds);
    const firn_parquet_values *values = &batch->values;
    if (values->type == FIRN_PARQUET_BYTE_ARRAY) {
        FIRN_TRY(firn_parquet_bounds_add_slices(bounds, values->slices, NULL, batch->value_count,
                                                error));
    } else {
        FIRN_TRY(firn_parquet_bounds_add_fixed(bounds, values->fixed, values->width,
                                               batch->value_count, error));
    }
    *out = (firn_parquet_given_bounds){
        .known = bounds->order != FIRN_PARQUET_ORDER_NONE,
        .minimum = firn_parquet_bounds_minimum(bounds, &room[0]),
        .maximum = firn_parquet_bounds_maximum(bounds, &room[1]),
        .nan_count = bounds->nan_count,
    };
    return FIRN_OK;
}

/*
 * bounds_of, but of a page whose neighbours lose rows, and whose bounds nobody tells, the values themselves are asked: the chunk's would
 * not be exact, and engines answer min and max from bounds.
 */
static firn_status bounds_of_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                  firn_parquet_given_bounds *out, firn_parquet_bound_room room[2],
                                  firn_error *error) {
    *out = bounds_of(rewriter, page, page->header.num_values);
    if (rewriter->rows.all || covers(out) || !has_order(rewriter)) return FIRN_OK;
    firn_parquet_batch batch;
    FIRN_TRY(firn_parquet_chunk_reader_decode(rewriter->reader, &batch, error));
    return measure(rewriter, &batch, out, room, error);
}

static void note_moved(firn_parquet_rewriter *rewriter, int64_t rows, size_t levels, size_t values,
                       bool has_bounds) {
    rewriter->rows_begun += rows;
    if (!has_bounds) rewriter->copied_values += (int64_t)values;
    rewriter->page_encoded |= has_bounds;
    rewriter->counts.rows += rows;
    rewriter->counts.levels += (int64_t)levels;
    rewriter->counts.nulls += (int64_t)(levels - values);
}

firn_status firn_parquet_copy_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                   firn_error *error) {
    int64_t nulls;
    FIRN_TRY(count_nulls(rewriter, page, &nulls, error));
    int64_t rows = page->header.type == FIRN_PARQUET_DATA_PAGE_V2 ? page->header.num_rows
                                                                  : page->header.num_values;
    int64_t levels = page->header.num_values;
    firn_parquet_given_bounds bounds;
    firn_parquet_bound_room room[2];
    FIRN_TRY(bounds_of_page(rewriter, page, &bounds, room, error));
    FIRN_TRY(firn_parquet_chunk_writer_append_bounded_page(rewriter->writer, page, rows, nulls,
                                                           &bounds, error));
    note_moved(rewriter, rows, (size_t)levels, (size_t)(levels - nulls), covers(&bounds));
    firn_parquet_count_page(rewriter, FIRN_PARQUET_WAY_COPIED, page->header.compressed_size);
    return FIRN_OK;
}

/* The page's levels as the output has them. */
static firn_status map_levels(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                              firn_parquet_part *part, firn_error *error) {
    firn_parquet_batch mapped;
    bool past = false;
    if (rewriter->fill != FIRN_PARQUET_FILL_NONE && batch->value_count != batch->level_count) {
        return firn_parquet_null_uncounted(rewriter, error);
    }
    FIRN_TRY(firn_parquet_map_batch(rewriter, batch, &mapped, &part->row_count, &past, error));
    if (past || mapped.level_count != batch->level_count ||
        (mapped.repetition_levels != NULL && mapped.repetition_levels[0] != 0)) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: row group %zu: column %s: a page begins within a row, or passes the "
                         "rows that the footer counts",
                         rewriter->piece->file->source.name, rewriter->piece->row_group,
                         rewriter->output->dotted_path);
    }
    part->level_count = mapped.level_count;
    part->value_count = mapped.value_count;
    part->definition_levels = mapped.definition_levels;
    part->repetition_levels = mapped.repetition_levels;
    return FIRN_OK;
}

static bool is_alone(const firn_parquet_rewriter *rewriter, const firn_parquet_page *page) {
    return !rewriter->may_join || page->header.encoding != FIRN_PARQUET_PLAIN ||
           rewriter->output->node->element->type == FIRN_PARQUET_BOOLEAN;
}

/* What is wrong with a part is wrong with the page that it came from. */
static firn_status give_part(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                             const firn_parquet_part *part, firn_error *error) {
    firn_status status = firn_parquet_chunk_writer_append_part(rewriter->writer, part, error);
    return firn_error_wrap(error, status, "%s: row group %zu: page at byte %llu",
                           rewriter->piece->file->source.name, rewriter->piece->row_group,
                           (unsigned long long)page->file_offset);
}

static firn_status append_part(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                               const firn_parquet_part *part, firn_parquet_way way,
                               firn_error *error) {
    FIRN_TRY(give_part(rewriter, page, part, error));
    note_moved(rewriter, part->row_count, part->level_count, part->value_count,
               covers(&part->bounds) || part->value_count == 0);
    firn_parquet_count_page(rewriter, way, page->header.compressed_size);
    return FIRN_OK;
}

firn_status firn_parquet_join_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                   firn_error *error) {
    const firn_parquet_page_header *header = &page->header;
    firn_parquet_batch batch;
    firn_parquet_bound_room room[2];
    size_t levels = 0;
    firn_parquet_part part = {.encoding = header->encoding, .alone = is_alone(rewriter, page)};
    FIRN_TRY(bounds_of_page(rewriter, page, &part.bounds, room, error));
    FIRN_TRY(firn_parquet_chunk_reader_decode_levels(rewriter->reader, &batch, error));
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2) {
        levels = (size_t)header->repetition_levels_size + (size_t)header->definition_levels_size;
        part.stored =
            !header->is_compressed && rewriter->options->compression != FIRN_PARQUET_UNCOMPRESSED;
    }
    FIRN_TRY(map_levels(rewriter, &batch, &part, error));
    part.body = firn_slice_of(page->body.data + levels, page->body.size - levels);
    part.raw_size = (size_t)header->uncompressed_size - levels;
    return append_part(rewriter, page, &part, FIRN_PARQUET_WAY_JOINED, error);
}

firn_status firn_parquet_recompress_page(firn_parquet_rewriter *rewriter,
                                         const firn_parquet_page *page, firn_error *error) {
    firn_parquet_batch batch;
    firn_parquet_bound_room room[2];
    firn_slice raw;
    firn_codec codec = FIRN_CODEC_UNCOMPRESSED;
    firn_parquet_part part = {.encoding = page->header.encoding, .alone = is_alone(rewriter, page)};
    FIRN_TRY(firn_parquet_chunk_reader_decode(rewriter->reader, &batch, error));
    FIRN_TRY(firn_parquet_chunk_reader_value_part(rewriter->reader, &raw, error));
    FIRN_TRY(measure(rewriter, &batch, &part.bounds, room, error));
    FIRN_TRY(map_levels(rewriter, &batch, &part, error));
    part.body = raw;
    part.raw_size = raw.size;
    (void)firn_parquet_codec_of(rewriter->options->compression, &codec);
    if (codec != FIRN_CODEC_UNCOMPRESSED && raw.size > 0) {
        firn_buffer_clear(&rewriter->compressed);
        FIRN_TRY(firn_codec_compress(codec, rewriter->options->compression_level, raw,
                                     &rewriter->compressed, error));
        part.body = firn_buffer_slice(&rewriter->compressed);
    }
    return append_part(rewriter, page, &part, FIRN_PARQUET_WAY_RECOMPRESSED, error);
}

static bool is_index_page(const firn_parquet_page *page) {
    return firn_parquet_is_dictionary_encoding(page->header.encoding);
}

bool firn_parquet_is_bounded(firn_parquet_rewriter *rewriter, const firn_parquet_page *page) {
    if (!has_order(rewriter)) return true;
    firn_parquet_given_bounds of_chunk;
    firn_parquet_given_bounds bounds = bounds_of(rewriter, page, page->header.num_values);
    if (!bounds.known || !rewriter->rows.all) return covers(&bounds);
    return !bounds.page_only || (firn_parquet_known_nan_count(rewriter) >= 0 &&
                                 firn_parquet_trusted_bounds(rewriter, &of_chunk));
}

/* Whether the indices go on from `next` one by one. Steps of 64 for the vectoriser. */
static bool is_sequence(const uint32_t *indices, size_t count, uint32_t next) {
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint32_t difference = 0;
        for (size_t j = 0; j < 64; j++) {
            difference |= indices[i + j] ^ (next + (uint32_t)(i + j));
        }
        if (difference != 0) return false;
    }
    for (; i < count; i++) {
        if (indices[i] != next + (uint32_t)i) return false;
    }
    return true;
}

/* Adds the page's levels to those of the PLAIN page. *fits when its indices go on where the page before ended. */
static firn_status gather_page(firn_parquet_rewriter *rewriter, firn_parquet_part *part, bool *fits,
                               firn_error *error) {
    firn_parquet_batch batch;
    FIRN_TRY(firn_parquet_chunk_reader_decode(rewriter->reader, &batch, error));
    *fits = batch.value_count == 0 ||
            is_sequence(batch.indices, batch.value_count, (uint32_t)part->value_count);
    /* A v1 page may begin within a row, which the first of them can't. */
    *fits = *fits && part->level_count + batch.level_count <= INT32_MAX;
    if (rewriter->fill != FIRN_PARQUET_FILL_NONE) *fits &= batch.value_count == batch.level_count;
    if (!*fits) return FIRN_OK;
    int64_t rows = 0;
    bool past = false;
    firn_parquet_batch mapped;
    FIRN_TRY(firn_parquet_map_batch(rewriter, &batch, &mapped, &rows, &past, error));
    *fits = !past && mapped.level_count == batch.level_count;
    if (!*fits) return FIRN_OK;
    if (mapped.definition_levels != NULL) {
        FIRN_TRY(firn_buffer_append(&rewriter->part_definitions, mapped.definition_levels,
                                    mapped.level_count, error));
    }
    if (mapped.repetition_levels != NULL) {
        FIRN_TRY(firn_buffer_append(&rewriter->part_repetitions, mapped.repetition_levels,
                                    mapped.level_count, error));
    }
    part->level_count += mapped.level_count;
    part->value_count += mapped.value_count;
    part->row_count += rows;
    rewriter->rows_begun += rows;
    return FIRN_OK;
}

/* Whether the page that follows the index pages begins with a row. */
static firn_status begins_row(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                              bool *begins, firn_error *error) {
    *begins = true;
    if (page == NULL || rewriter->input->maximum_repetition_level == 0) return FIRN_OK;
    firn_parquet_batch batch;
    FIRN_TRY(firn_parquet_chunk_reader_decode_levels(rewriter->reader, &batch, error));
    *begins = batch.level_count == 0 || batch.repetition_levels[0] == 0;
    return FIRN_OK;
}

static bool dictionary_is_sound(const firn_parquet_rewriter *rewriter,
                                const firn_parquet_page *dictionary, size_t value_count) {
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    if (dictionary->body.data == NULL || value_count == 0 || value_count > INT32_MAX / 16 ||
        (size_t)dictionary->header.num_values != value_count) {
        return false;
    }
    if (element->type == FIRN_PARQUET_BYTE_ARRAY) return true;
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    return (size_t)dictionary->header.uncompressed_size == value_count * width;
}

/* Whether all data pages hold indices, as far as the footer tells. */
static bool all_pages_are_indices(const firn_parquet_column_chunk *chunk) {
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        if (stats->page_type == FIRN_PARQUET_DICTIONARY_PAGE || stats->count <= 0) continue;
        if (!firn_parquet_is_dictionary_encoding(stats->encoding)) return false;
    }
    return chunk->encoding_stats_count > 0;
}

/* Where values are known to be more than entries some entry comes twice, and no page need be decoded to see it. */
static firn_status may_be_sequence(firn_parquet_rewriter *rewriter, bool *may, firn_error *error) {
    const firn_parquet_column_chunk *chunk = firn_parquet_chunk_of(rewriter);
    const firn_parquet_statistics *statistics = &chunk->statistics;
    FIRN_TRY(firn_parquet_chunk_reader_load_dictionary(rewriter->reader, error));
    int64_t nulls = statistics->has_null_count ? statistics->null_count : 0;
    bool nulls_known = statistics->has_null_count || rewriter->input->maximum_definition_level == 0;
    nulls_known = nulls_known && nulls >= 0 && nulls <= chunk->num_values;
    int64_t entries =
        firn_parquet_chunk_reader_dictionary_page(rewriter->reader)->header.num_values;
    *may = !nulls_known || !all_pages_are_indices(chunk) || chunk->num_values - nulls <= entries;
    return FIRN_OK;
}

static firn_status gather_pages(firn_parquet_rewriter *rewriter, firn_parquet_part *part,
                                bool *fits, int64_t *bytes, const firn_parquet_page **next,
                                firn_error *error) {
    firn_buffer_clear(&rewriter->part_definitions);
    firn_buffer_clear(&rewriter->part_repetitions);
    *fits = true;
    for (;;) {
        FIRN_TRY(firn_parquet_chunk_reader_next(rewriter->reader, next, error));
        if (*next == NULL) break;
        if ((*next)->header.num_values == 0) continue;
        if (!is_index_page(*next)) break;
        FIRN_TRY(gather_page(rewriter, part, fits, error));
        if (!*fits) return FIRN_OK;
        *bytes += (*next)->header.compressed_size;
    }
    return begins_row(rewriter, *next, fits, error);
}

/* Many values are a page of their own, whatever they take. */
static bool is_worth_moving(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_page_header *header =
        &firn_parquet_chunk_reader_dictionary_page(rewriter->reader)->header;
    return firn_parquet_frame_is_large_enough(rewriter, header->uncompressed_size) ||
           header->num_values >= FIRN_PARQUET_SMALLEST_COPIED_PAGE;
}

firn_status firn_parquet_move_dictionary(firn_parquet_rewriter *rewriter, bool *moved,
                                         const firn_parquet_page **next, firn_error *error) {
    firn_parquet_part part = {.encoding = FIRN_PARQUET_PLAIN, .alone = !rewriter->may_join};
    int64_t bytes = 0;
    *moved = false;
    *next = NULL;
    firn_parquet_chunk_reader_leave_dictionary(rewriter->reader);
    FIRN_TRY(may_be_sequence(rewriter, moved, error));
    *moved = *moved && is_worth_moving(rewriter);
    if (!*moved) return FIRN_OK;
    FIRN_TRY(gather_pages(rewriter, &part, moved, &bytes, next, error));
    const firn_parquet_page *dictionary =
        firn_parquet_chunk_reader_dictionary_page(rewriter->reader);
    int64_t rows = part.row_count;
    rewriter->rows_begun -= rows;
    *moved = *moved && dictionary_is_sound(rewriter, dictionary, part.value_count);
    if (!*moved) return FIRN_OK;
    part.definition_levels = rewriter->part_definitions.data;
    part.repetition_levels = rewriter->part_repetitions.data;
    part.body = dictionary->body;
    part.raw_size = (size_t)dictionary->header.uncompressed_size;
    part.bounds = bounds_of(rewriter, NULL, (int64_t)part.level_count);
    FIRN_TRY(give_part(rewriter, dictionary, &part, error));
    note_moved(rewriter, rows, part.level_count, part.value_count, covers(&part.bounds));
    firn_parquet_count_page(rewriter, FIRN_PARQUET_WAY_MOVED,
                            bytes + dictionary->header.compressed_size);
    rewriter->dictionary_uncounted = false;
    return FIRN_OK;
}
