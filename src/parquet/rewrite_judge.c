/*
 * Which way a page may go, by headers and footers alone. A page goes over as it is when nothing about it changes, it begins with a
 * row, and it is no smaller than pages should be: many small ones make the output slow to read. Its values may still go over
 * compressed when only levels or neighbours change and the levels lie outside of the compressed bytes.
 */
#include <string.h>

#include "parquet/decode.h"
#include "parquet/rewrite_internal.h"

bool firn_parquet_values_may_stay(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_leaf_mapping *mapping = rewriter->mapping;
    if (!rewriter->copy_pages || rewriter->input == NULL || mapping->levels_only) return false;
    /* A Bloom filter needs every value's hash. */
    if (firn_parquet_bloom_options_of(rewriter->options, rewriter->output) != NULL) return false;
    if (mapping->conversion != FIRN_PARQUET_CONVERT_NONE) return false;
    const firn_parquet_schema_element *input = rewriter->input->node->element;
    const firn_parquet_schema_element *output = rewriter->output->node->element;
    if (input->type != output->type) return false;
    return input->type != FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY ||
           input->type_length == output->type_length;
}

bool firn_parquet_piece_may_be_copied(const firn_parquet_rewriter *rewriter) {
    return firn_parquet_values_may_stay(rewriter) &&
           firn_parquet_chunk_of(rewriter)->compression == rewriter->options->compression;
}

bool firn_parquet_frame_is_large_enough(const firn_parquet_rewriter *rewriter, int64_t raw_size) {
    return rewriter->options->compression != FIRN_PARQUET_ZSTD ||
           raw_size >= rewriter->smallest_joined;
}

static bool may_be_joined(const firn_parquet_rewriter *rewriter, int64_t raw_size) {
    return rewriter->may_join && firn_parquet_options_can_join(rewriter->options) &&
           firn_parquet_frame_is_large_enough(rewriter, raw_size);
}

bool firn_parquet_is_dictionary_encoding(firn_parquet_encoding encoding) {
    return encoding == FIRN_PARQUET_PLAIN_DICTIONARY || encoding == FIRN_PARQUET_RLE_DICTIONARY;
}

/* No smaller than the writer would make it, or than what is worth a page. */
static bool is_large_enough(const firn_parquet_rewriter *rewriter, int64_t values, int64_t size) {
    return values >= FIRN_PARQUET_SMALLEST_COPIED_PAGE ||
           values >= rewriter->options->page_row_limit ||
           size >= rewriter->options->page_size_bytes;
}

bool firn_parquet_counts_data_pages(const firn_parquet_page_encoding_stats *stats) {
    return stats->count > 0 && (stats->page_type == FIRN_PARQUET_DATA_PAGE ||
                                stats->page_type == FIRN_PARQUET_DATA_PAGE_V2);
}

bool firn_parquet_piece_has_dictionary(const firn_parquet_rewriter *rewriter) {
    if (rewriter->input == NULL || rewriter->mapping->levels_only) return false;
    if (rewriter->rows.count == 0 || firn_parquet_is_filled(rewriter)) return false;
    const firn_parquet_column_chunk *chunk = firn_parquet_chunk_of(rewriter);
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        if (!firn_parquet_counts_data_pages(&chunk->encoding_stats[i])) continue;
        if (firn_parquet_is_dictionary_encoding(chunk->encoding_stats[i].encoding)) return true;
    }
    if (chunk->encoding_stats_count > 0) return false;
    for (size_t i = 0; i < chunk->encoding_count; i++) {
        if (firn_parquet_is_dictionary_encoding(chunk->encodings[i])) return true;
    }
    return false;
}

static bool has_levels(const firn_parquet_leaf *leaf) {
    return leaf->maximum_definition_level > 0 || leaf->maximum_repetition_level > 0;
}

static bool levels_lie_outside(const firn_parquet_rewriter *rewriter) {
    return !has_levels(rewriter->input) ||
           firn_parquet_chunk_page_version(rewriter->piece->file, rewriter->piece->row_group,
                                           (size_t)rewriter->mapping->input_leaf) == 2;
}

int64_t firn_parquet_piece_plain_bytes(const firn_parquet_rewriter *rewriter, int64_t *total) {
    *total = 0;
    if (rewriter->input == NULL || rewriter->mapping->levels_only) return 0;
    const firn_parquet_column_chunk *chunk = firn_parquet_chunk_of(rewriter);
    if (chunk->total_compressed_size <= 0) return 0;
    *total = chunk->total_compressed_size;
    if (!firn_parquet_values_may_stay(rewriter) || firn_parquet_is_filled(rewriter)) return 0;
    int64_t plain = 0, pages = 0;
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        if (!firn_parquet_counts_data_pages(stats)) continue;
        pages += stats->count;
        if (!firn_parquet_is_dictionary_encoding(stats->encoding)) plain += stats->count;
    }
    int64_t size = pages > 0 ? chunk->total_uncompressed_size / pages : 0;
    bool may_join = firn_parquet_piece_may_be_copied(rewriter) && may_be_joined(rewriter, size) &&
                    levels_lie_outside(rewriter);
    if (plain > 0 && !is_large_enough(rewriter, chunk->num_values / pages, size) && !may_join) {
        return 0;
    }
    if (pages > 0) return (int64_t)((double)*total * (double)plain / (double)pages);
    return firn_parquet_piece_has_dictionary(rewriter) ? 0 : *total;
}

/* v2 counts that fit each other: what is copied is not looked into. */
static bool v2_header_is_sound(const firn_parquet_rewriter *rewriter,
                               const firn_parquet_page_header *header) {
    int64_t levels = (int64_t)header->definition_levels_size + header->repetition_levels_size;
    if (header->definition_levels_size < 0 || header->repetition_levels_size < 0 ||
        levels > header->uncompressed_size || levels > header->compressed_size) {
        return false;
    }
    if (header->num_nulls < 0 || header->num_nulls > header->num_values || header->num_rows < 1 ||
        header->num_rows > header->num_values) {
        return false;
    }
    if (rewriter->input->maximum_definition_level == 0 && header->num_nulls != 0) return false;
    return rewriter->input->maximum_repetition_level > 0 || header->num_rows == header->num_values;
}

/* Whether PLAIN values of fixed width take just the bytes that the header names, where it tells. */
static bool size_is_sound(const firn_parquet_rewriter *rewriter,
                          const firn_parquet_page_header *header) {
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    if (element->type == FIRN_PARQUET_BYTE_ARRAY || header->encoding != FIRN_PARQUET_PLAIN) {
        return true;
    }
    int64_t size = header->uncompressed_size;
    int64_t values = header->num_values;
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2) {
        size -= (int64_t)header->definition_levels_size + header->repetition_levels_size;
        values -= header->num_nulls;
    } else if (has_levels(rewriter->input)) {
        return true;
    }
    if (element->type == FIRN_PARQUET_BOOLEAN) return size == (values + 7) / 8;
    return size == values * firn_parquet_value_width(element->type, element->type_length);
}

static bool header_is_sound(const firn_parquet_rewriter *rewriter,
                            const firn_parquet_page_header *header) {
    return header->num_values > 0 && size_is_sound(rewriter, header) &&
           (header->type != FIRN_PARQUET_DATA_PAGE_V2 || v2_header_is_sound(rewriter, header));
}

/* Before 1.8 parquet-mr's pages of DELTA_BYTE_ARRAY could lean on the page before (PARQUET-246). */
static bool delta_byte_arrays_stand_alone(const firn_parquet_rewriter *rewriter) {
    const char *writer = rewriter->piece->file->metadata->created_by;
    return writer == NULL || strncmp(writer, "parquet-mr version 1.", 21) != 0 ||
           writer[21] == '8' || writer[21] == '9' || (writer[21] >= '1' && writer[22] != '.');
}

/* Encodings whose pages need nothing from outside, of types that they are defined for. */
static bool encoding_may_be_copied(const firn_parquet_rewriter *rewriter,
                                   const firn_parquet_page_header *header) {
    firn_parquet_encoding encoding = header->encoding;
    if (encoding == FIRN_PARQUET_RLE && header->type != FIRN_PARQUET_DATA_PAGE_V2) return false;
    if (encoding == FIRN_PARQUET_DELTA_BYTE_ARRAY && !delta_byte_arrays_stand_alone(rewriter)) {
        return false;
    }
    return firn_parquet_decoder_of(encoding, rewriter->output->node->element->type) != NULL;
}

static firn_parquet_verdict encoded(firn_parquet_reason reason) {
    return (firn_parquet_verdict){FIRN_PARQUET_WAY_ENCODED, reason};
}

/* Same version and levels, and a row begins with it. */
static bool levels_may_stay(const firn_parquet_rewriter *rewriter,
                            const firn_parquet_page_header *header) {
    bool v2 = header->type == FIRN_PARQUET_DATA_PAGE_V2;
    if (v2 != (rewriter->options->page_version == 2) || !rewriter->mapping->levels_identical) {
        return false;
    }
    if (v2) return true;
    /* A v1 page of a repeated column may begin within a row, and its header does not tell. */
    if (rewriter->input->maximum_repetition_level > 0) return false;
    return rewriter->input->maximum_definition_level == 0 ||
           header->definition_level_encoding == FIRN_PARQUET_RLE;
}

static bool may_be_copied_whole(const firn_parquet_rewriter *rewriter,
                                const firn_parquet_page_header *header) {
    return levels_may_stay(rewriter, header) &&
           is_large_enough(rewriter, header->num_values, header->uncompressed_size);
}

/* Indices that mean the same in the merged dictionary; a page says itself how wide they are. */
static bool index_page_may_be_copied(const firn_parquet_rewriter *rewriter,
                                     const firn_parquet_page_header *header) {
    if (rewriter->translation == NULL || !rewriter->translation->identical || !rewriter->may_copy) {
        return false;
    }
    int64_t rows = rewriter->options->index_page_row_limit > 0
                       ? FIRN_PARQUET_SMALLEST_COPIED_INDEX_PAGE
                       : rewriter->options->page_row_limit;
    bool large = header->num_values >= rows ||
                 header->uncompressed_size >= rewriter->options->page_size_bytes;
    return large && header_is_sound(rewriter, header) && levels_may_stay(rewriter, header) &&
           firn_parquet_chunk_writer_takes_index_pages(rewriter->writer);
}

/* Bits and the delta encodings can't be appended to each other; they need a page of their own, which should not be small. */
static bool may_be_part(const firn_parquet_rewriter *rewriter,
                        const firn_parquet_page_header *header) {
    bool v2 = header->type == FIRN_PARQUET_DATA_PAGE_V2;
    if (!v2 && has_levels(rewriter->input)) return false;
    if (!firn_parquet_chunk_writer_takes_parts(rewriter->writer, rewriter->may_join)) return false;
    if (header->encoding == FIRN_PARQUET_RLE && rewriter->options->page_version == 1) return false;
    if (v2 && !header->is_compressed && !firn_parquet_options_can_join(rewriter->options)) {
        return false;
    }
    bool shares = header->encoding == FIRN_PARQUET_PLAIN &&
                  rewriter->output->node->element->type != FIRN_PARQUET_BOOLEAN &&
                  may_be_joined(rewriter, header->uncompressed_size);
    return shares || is_large_enough(rewriter, header->num_values, header->uncompressed_size);
}

/* Levels inside the compressed bytes are taken out of them; what is compressed anew should be a page of its own. */
static bool may_be_recompressed(const firn_parquet_rewriter *rewriter,
                                const firn_parquet_page_header *header) {
    bool v2 = header->type == FIRN_PARQUET_DATA_PAGE_V2;
    if (!v2 && rewriter->input->maximum_repetition_level > 0) return false;
    if (header->encoding == FIRN_PARQUET_RLE && rewriter->options->page_version == 1) return false;
    return is_large_enough(rewriter, header->num_values, header->uncompressed_size) &&
           firn_parquet_chunk_writer_takes_parts(rewriter->writer, rewriter->may_join);
}

static firn_parquet_reason reason_of_levels(const firn_parquet_rewriter *rewriter,
                                            const firn_parquet_page_header *header) {
    bool v2 = header->type == FIRN_PARQUET_DATA_PAGE_V2;
    if (!v2 && rewriter->input->maximum_repetition_level > 0) {
        return FIRN_PARQUET_REASON_ROW_START;
    }
    if (!is_large_enough(rewriter, header->num_values, header->uncompressed_size)) {
        return FIRN_PARQUET_REASON_SMALL;
    }
    if (v2 != (rewriter->options->page_version == 2)) return FIRN_PARQUET_REASON_VERSION;
    return FIRN_PARQUET_REASON_LEVELS;
}

firn_parquet_verdict firn_parquet_judge_page(const firn_parquet_rewriter *rewriter,
                                             const firn_parquet_page *page, bool cut) {
    const firn_parquet_page_header *header = &page->header;
    if (!rewriter->copy_pages) return encoded(FIRN_PARQUET_REASON_OFF);
    if (cut) return encoded(FIRN_PARQUET_REASON_ROWS);
    if (!firn_parquet_values_may_stay(rewriter) || firn_parquet_page_is_filled(rewriter, header)) {
        return encoded(FIRN_PARQUET_REASON_TYPE);
    }
    if (firn_parquet_is_dictionary_encoding(header->encoding)) {
        if (!index_page_may_be_copied(rewriter, header)) {
            return encoded(FIRN_PARQUET_REASON_DICTIONARY);
        }
        return (firn_parquet_verdict){FIRN_PARQUET_WAY_COPIED, FIRN_PARQUET_REASON_DICTIONARY};
    }
    if (!encoding_may_be_copied(rewriter, header)) return encoded(FIRN_PARQUET_REASON_ENCODING);
    if (!firn_parquet_chunk_writer_is_plain(rewriter->writer)) {
        return encoded(FIRN_PARQUET_REASON_NEW_DICTIONARY);
    }
    if (!header_is_sound(rewriter, header)) return encoded(FIRN_PARQUET_REASON_HEADER);
    if (rewriter->may_copy && may_be_copied_whole(rewriter, header)) {
        return (firn_parquet_verdict){FIRN_PARQUET_WAY_COPIED, FIRN_PARQUET_REASON_COUNT};
    }
    if (rewriter->may_copy && may_be_part(rewriter, header)) {
        return (firn_parquet_verdict){FIRN_PARQUET_WAY_JOINED, FIRN_PARQUET_REASON_COUNT};
    }
    if (may_be_recompressed(rewriter, header)) {
        return (firn_parquet_verdict){FIRN_PARQUET_WAY_RECOMPRESSED, FIRN_PARQUET_REASON_COUNT};
    }
    return encoded(rewriter->may_copy ? reason_of_levels(rewriter, header)
                                      : FIRN_PARQUET_REASON_CODEC);
}
