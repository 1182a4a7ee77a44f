/*
 * Copying pages as they are. A page goes over when nothing about it changes, it has a row at its start, and it is no
 * smaller than pages should be: many small ones make the output slow to read.
 */
#include "parquet/rewrite_internal.h"
#include "parquet/statistics.h"

#define SMALLEST_COPIED_PAGE 4096

static const firn_parquet_column_chunk *chunk_of(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_row_group *group =
        &rewriter->piece->file->metadata->row_groups[rewriter->piece->row_group];
    return &group->columns[rewriter->mapping->input_leaf];
}

bool firn_parquet_piece_may_be_copied(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_leaf_mapping *mapping = rewriter->mapping;
    if (!rewriter->copy_pages || rewriter->input == NULL || mapping->levels_only) return false;
    if (firn_parquet_bloom_options_of(rewriter->options, rewriter->output) != NULL) return false;
    if (!mapping->levels_identical || mapping->conversion != FIRN_PARQUET_CONVERT_NONE ||
        !rewriter->whole_row_group) {
        return false;
    }
    const firn_parquet_schema_element *input = rewriter->input->node->element;
    const firn_parquet_schema_element *output = rewriter->output->node->element;
    if (input->type != output->type) return false;
    if (input->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY &&
        input->type_length != output->type_length) {
        return false;
    }
    return chunk_of(rewriter)->compression == rewriter->options->compression;
}

/* No smaller than the writer would make it, or than what is worth a page. */
static bool is_large_enough(const firn_parquet_rewriter *rewriter, int64_t values, int64_t size) {
    return values >= SMALLEST_COPIED_PAGE || values >= rewriter->options->page_row_limit ||
           size >= rewriter->options->page_size_bytes;
}

int64_t firn_parquet_piece_plain_bytes(const firn_parquet_rewriter *rewriter, int64_t *total) {
    *total = 0;
    if (rewriter->input == NULL || rewriter->mapping->levels_only) return 0;
    const firn_parquet_column_chunk *chunk = chunk_of(rewriter);
    if (chunk->total_compressed_size <= 0) return 0;
    *total = chunk->total_compressed_size;
    if (!firn_parquet_piece_may_be_copied(rewriter)) return 0;
    int64_t plain = 0, pages = 0;
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        if (stats->count <= 0 || (stats->page_type != FIRN_PARQUET_DATA_PAGE &&
                                  stats->page_type != FIRN_PARQUET_DATA_PAGE_V2)) {
            continue;
        }
        pages += stats->count;
        if (stats->encoding == FIRN_PARQUET_PLAIN) plain += stats->count;
    }
    if (pages > 0 && !is_large_enough(rewriter, chunk->num_values / pages,
                                      chunk->total_uncompressed_size / pages)) {
        return 0;
    }
    if (pages > 0) return (int64_t)((double)*total * (double)plain / (double)pages);
    for (size_t i = 0; i < chunk->encoding_count; i++) {
        if (chunk->encodings[i] != FIRN_PARQUET_PLAIN && chunk->encodings[i] != FIRN_PARQUET_RLE &&
            chunk->encodings[i] != FIRN_PARQUET_BIT_PACKED) {
            return 0;
        }
    }
    return *total;
}

static bool has_levels(const firn_parquet_rewriter *rewriter) {
    return rewriter->output->maximum_definition_level > 0 ||
           rewriter->output->maximum_repetition_level > 0;
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
    if (rewriter->output->maximum_definition_level == 0 && header->num_nulls != 0) return false;
    return rewriter->output->maximum_repetition_level > 0 || header->num_rows == header->num_values;
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
    } else if (has_levels(rewriter)) {
        return true;
    }
    if (element->type == FIRN_PARQUET_BOOLEAN) return size == (values + 7) / 8;
    return size == values * firn_parquet_value_width(element->type, element->type_length);
}

static bool encoding_may_be_copied(const firn_parquet_rewriter *rewriter,
                                   const firn_parquet_page_header *header) {
    if (header->encoding == FIRN_PARQUET_PLAIN) return true;
    return header->encoding == FIRN_PARQUET_RLE && header->type == FIRN_PARQUET_DATA_PAGE_V2 &&
           rewriter->output->node->element->type == FIRN_PARQUET_BOOLEAN;
}

bool firn_parquet_page_may_be_copied(const firn_parquet_rewriter *rewriter,
                                     const firn_parquet_page *page) {
    const firn_parquet_page_header *header = &page->header;
    firn_parquet_page_type wanted =
        rewriter->options->page_version == 2 ? FIRN_PARQUET_DATA_PAGE_V2 : FIRN_PARQUET_DATA_PAGE;
    if (!rewriter->may_copy || header->type != wanted || header->num_values <= 0) return false;
    if (!firn_parquet_chunk_writer_is_plain(rewriter->writer)) return false;
    if (!encoding_may_be_copied(rewriter, header) || !size_is_sound(rewriter, header)) return false;
    if (!is_large_enough(rewriter, header->num_values, header->uncompressed_size)) return false;
    if (wanted == FIRN_PARQUET_DATA_PAGE_V2) return v2_header_is_sound(rewriter, header);
    /* A v1 page of a repeated column may begin within a row, and its header does not tell. */
    if (rewriter->output->maximum_repetition_level > 0) return false;
    return rewriter->output->maximum_definition_level == 0 ||
           header->definition_level_encoding == FIRN_PARQUET_RLE;
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
    const firn_parquet_statistics *statistics = &chunk_of(rewriter)->statistics;
    if (statistics->has_null_count && statistics->null_count == 0) return FIRN_OK;
    firn_parquet_batch batch;
    FIRN_TRY(firn_parquet_chunk_reader_decode_levels(rewriter->reader, &batch, error));
    *nulls = (int64_t)(batch.level_count - batch.value_count);
    return FIRN_OK;
}

firn_status firn_parquet_copy_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                   firn_error *error) {
    int64_t nulls;
    FIRN_TRY(count_nulls(rewriter, page, &nulls, error));
    int64_t rows = page->header.type == FIRN_PARQUET_DATA_PAGE_V2 ? page->header.num_rows
                                                                  : page->header.num_values;
    FIRN_TRY(firn_parquet_chunk_writer_append_page(rewriter->writer, page, rows, nulls, error));
    rewriter->rows_begun += rows;
    rewriter->copied_values += page->header.num_values - nulls;
    rewriter->counts.rows += rows;
    rewriter->counts.levels += page->header.num_values;
    rewriter->counts.nulls += nulls;
    rewriter->counts.pages_copied++;
    rewriter->counts.bytes_copied += page->header.compressed_size;
    return FIRN_OK;
}

/* The deprecated pair was compared as signed, by some writers even where that was wrong (parquet.thrift, Statistics). */
static bool deprecated_is_trusted(firn_parquet_order order, const firn_parquet_statistics *s) {
    switch (order) {
    case FIRN_PARQUET_ORDER_BOOLEAN:
    case FIRN_PARQUET_ORDER_INT32:
    case FIRN_PARQUET_ORDER_INT64: return true;
    case FIRN_PARQUET_ORDER_FLOAT:
    case FIRN_PARQUET_ORDER_DOUBLE:
    case FIRN_PARQUET_ORDER_FLOAT16:
    case FIRN_PARQUET_ORDER_NONE: return false;
    default: return firn_slice_equal(s->deprecated_min, s->deprecated_max);
    }
}

static bool fits_width(const firn_parquet_schema_element *element, firn_slice bound) {
    return element->type == FIRN_PARQUET_BYTE_ARRAY ||
           bound.size == firn_parquet_value_width(element->type, element->type_length);
}

static bool trusted_bounds(const firn_parquet_rewriter *rewriter, firn_slice *minimum,
                           firn_slice *maximum) {
    const firn_parquet_file_metadata *metadata = rewriter->piece->file->metadata;
    const firn_parquet_statistics *statistics = &chunk_of(rewriter)->statistics;
    const firn_parquet_schema_element *element = rewriter->input->node->element;
    firn_parquet_order order = firn_parquet_order_of(element);
    size_t leaf = (size_t)rewriter->mapping->input_leaf;
    if (order == FIRN_PARQUET_ORDER_NONE ||
        order != firn_parquet_order_of(rewriter->output->node->element)) {
        return false;
    }
    if (statistics->min_value.data != NULL && statistics->max_value.data != NULL &&
        metadata->column_orders != NULL && leaf < metadata->column_order_count &&
        metadata->column_orders[leaf] == 1) {
        if (statistics->has_min_exact && !statistics->min_exact) return false;
        if (statistics->has_max_exact && !statistics->max_exact) return false;
        *minimum = statistics->min_value;
        *maximum = statistics->max_value;
    } else if (statistics->deprecated_min.data != NULL && statistics->deprecated_max.data != NULL &&
               deprecated_is_trusted(order, statistics)) {
        *minimum = statistics->deprecated_min;
        *maximum = statistics->deprecated_max;
    } else {
        return false;
    }
    if (!fits_width(element, *minimum) || !fits_width(element, *maximum)) return false;
    if (firn_parquet_is_nan(order, *minimum) || firn_parquet_is_nan(order, *maximum)) return false;
    return firn_parquet_compare(order, *minimum, *maximum) <= 0;
}

/* NaN among the copied values: the chunk's count is theirs only if no page was decoded, or if there are none. */
static int64_t copied_nan_count(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_statistics *statistics = &chunk_of(rewriter)->statistics;
    int64_t count = -1;
    if (rewriter->piece->nan_counts != NULL) {
        count = rewriter->piece->nan_counts[rewriter->leaf_index];
    }
    if (count < 0 && statistics->has_nan_count) count = statistics->nan_count;
    if (count == 0) return 0;
    return rewriter->page_encoded || count < 0 ? -1 : count;
}

firn_status firn_parquet_merge_piece_statistics(firn_parquet_rewriter *rewriter,
                                                firn_error *error) {
    if (rewriter->copied_values == 0) return FIRN_OK;
    firn_slice minimum = {0}, maximum = {0};
    if (!trusted_bounds(rewriter, &minimum, &maximum)) minimum = maximum = firn_slice_of(NULL, 0);
    return firn_parquet_chunk_writer_merge_statistics(rewriter->writer, minimum, maximum,
                                                      copied_nan_count(rewriter), error);
}
