#include "parquet/chunk_writer.h"

#include "base/alloc.h"
#include "parquet/chunk_writer_internal.h"
#include "parquet/page_codec.h"

void firn_parquet_write_options_init(firn_parquet_write_options *options) {
    *options = (firn_parquet_write_options){
        .compression = FIRN_PARQUET_ZSTD,
        .compression_level = FIRN_CODEC_LEVEL_DEFAULT,
        .page_size_bytes = 1024 * 1024,
        .page_row_limit = 20000,
        .dictionary_size_bytes = 2 * 1024 * 1024,
        .page_version = 1,
        .write_page_index = true,
        .write_crc = true,
    };
}

const firn_parquet_column_options *
firn_parquet_column_options_of(const firn_parquet_write_options *options,
                               const firn_parquet_leaf *leaf) {
    static const firn_parquet_column_options none;
    size_t index = (size_t)leaf->index;
    if (options->columns == NULL || index >= options->column_count) return &none;
    return &options->columns[index];
}

int32_t firn_parquet_dictionary_size_of(const firn_parquet_write_options *options,
                                        const firn_parquet_leaf *leaf) {
    if (leaf->node->element->type == FIRN_PARQUET_BOOLEAN) return 0;
    if (firn_parquet_column_options_of(options, leaf)->no_dictionary) return 0;
    return options->dictionary_size_bytes;
}

firn_parquet_order firn_parquet_measured_order(const firn_parquet_write_options *options,
                                               const firn_parquet_leaf *leaf) {
    if (firn_parquet_column_options_of(options, leaf)->no_statistics)
        return FIRN_PARQUET_ORDER_NONE;
    return firn_parquet_order_of(leaf->node->element);
}

void firn_parquet_open_page_init(firn_parquet_open_page *page, firn_parquet_order order) {
    *page = (firn_parquet_open_page){0};
    page->definition_levels = firn_buffer_with_maximum(INT32_MAX);
    page->repetition_levels = firn_buffer_with_maximum(INT32_MAX);
    page->plain = firn_buffer_with_maximum(INT32_MAX);
    firn_parquet_bounds_init(&page->bounds, order);
}

void firn_parquet_open_page_release(firn_parquet_open_page *page) {
    firn_buffer_release(&page->definition_levels);
    firn_buffer_release(&page->repetition_levels);
    firn_buffer_release(&page->plain);
    firn_vector_release(&page->indices);
    firn_parquet_bounds_release(&page->bounds);
}

static firn_status codec_for(firn_parquet_compression compression, firn_codec *out,
                             firn_error *error) {
    const char *name = firn_parquet_compression_name(compression);
    if (compression == FIRN_PARQUET_LZ4) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "Parquet compression LZ4 is deprecated and not written; use LZ4_RAW");
    }
    if (!firn_parquet_codec_of(compression, out)) {
        return firn_fail(error, FIRN_UNSUPPORTED, "Parquet compression %s is not written", name);
    }
    if (!firn_codec_can_write(*out)) {
        return firn_fail(error, FIRN_UNSUPPORTED, "this build can't write Parquet compression %s",
                         name);
    }
    return FIRN_OK;
}

static firn_status check_options(const firn_parquet_write_options *options, firn_error *error) {
    if (options->page_size_bytes <= 0 || options->page_row_limit <= 0 ||
        options->index_page_row_limit < 0 || options->dictionary_size_bytes < 0) {
        return firn_fail(error, FIRN_INVALID,
                         "Parquet page size, page row limit and dictionary size must be positive");
    }
    if (options->page_version != 1 && options->page_version != 2) {
        return firn_fail(error, FIRN_INVALID, "Parquet page version %d: 1 and 2 exist",
                         options->page_version);
    }
    return FIRN_OK;
}

firn_status firn_parquet_chunk_writer_new(const firn_parquet_leaf *leaf,
                                          const firn_parquet_write_options *options,
                                          firn_parquet_chunk_writer **out, firn_error *error) {
    firn_codec codec = FIRN_CODEC_UNCOMPRESSED;
    FIRN_TRY(check_options(options, error));
    FIRN_TRY(codec_for(options->compression, &codec, error));
    firn_parquet_chunk_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    writer->leaf = leaf;
    writer->options = options;
    writer->element = leaf->node->element;
    writer->codec = codec;
    writer->keeps_statistics = !firn_parquet_column_options_of(options, leaf)->no_statistics;
    writer->order = firn_parquet_measured_order(options, leaf);
    writer->width = firn_parquet_value_width(writer->element->type, writer->element->type_length);
    firn_parquet_open_page_init(&writer->page, writer->order);
    firn_parquet_open_page_init(&writer->joined.page, writer->order);
    writer->joined.frames = firn_buffer_with_maximum(INT32_MAX);
    firn_parquet_bounds_init(&writer->bounds, writer->order);
    int32_t dictionary_size = firn_parquet_dictionary_size_of(options, leaf);
    firn_parquet_dictionary_init(&writer->dictionary, writer->element->type, writer->width,
                                 (size_t)dictionary_size);
    writer->bytes = firn_buffer_with_maximum(SIZE_MAX);
    writer->levels = firn_buffer_with_maximum(INT32_MAX);
    writer->values = firn_buffer_with_maximum(INT32_MAX);
    writer->body = firn_buffer_with_maximum(INT32_MAX);
    writer->compressed = firn_buffer_with_maximum(INT32_MAX);
    const firn_parquet_bloom_options *bloom = firn_parquet_bloom_options_of(options, leaf);
    writer->has_bloom_filter = bloom != NULL;
    if (bloom != NULL) firn_parquet_bloom_builder_init(&writer->bloom_filter, bloom);
    writer->histograms_known = true;
    writer->unencoded_known = true;
    writer->mode = dictionary_size > 0 ? FIRN_PARQUET_MODE_UNDECIDED : FIRN_PARQUET_MODE_PLAIN;
    writer->arena = firn_arena_new();
    if (writer->arena == NULL) {
        firn_parquet_chunk_writer_free(writer);
        return firn_fail_memory(error);
    }
    *out = writer;
    return FIRN_OK;
}

void firn_parquet_release_translation(firn_parquet_chunk_writer *writer) {
    firn_free(writer->translation);
    writer->translation = NULL;
    writer->translation_capacity = 0;
    writer->translation_count = 0;
}

void firn_parquet_chunk_writer_free(firn_parquet_chunk_writer *writer) {
    if (writer == NULL) return;
    firn_parquet_open_page_release(&writer->page);
    firn_parquet_open_page_release(&writer->joined.page);
    firn_buffer_release(&writer->joined.frames);
    firn_parquet_bounds_release(&writer->bounds);
    firn_parquet_dictionary_release(&writer->dictionary);
    firn_parquet_release_translation(writer);
    firn_free(writer->entry_uses);
    firn_buffer_release(&writer->bytes);
    firn_buffer_release(&writer->levels);
    firn_buffer_release(&writer->values);
    firn_buffer_release(&writer->body);
    firn_buffer_release(&writer->compressed);
    firn_vector_release(&writer->pages);
    firn_vector_release(&writer->page_definition_histograms);
    firn_vector_release(&writer->page_repetition_histograms);
    firn_parquet_bloom_builder_release(&writer->bloom_filter);
    firn_arena_free(writer->arena);
    firn_free(writer);
}

bool firn_parquet_chunk_writer_is_plain(const firn_parquet_chunk_writer *writer) {
    return writer->mode == FIRN_PARQUET_MODE_PLAIN;
}

firn_status firn_parquet_chunk_writer_expect(firn_parquet_chunk_writer *writer, size_t size,
                                             firn_error *error) {
    return firn_buffer_reserve(&writer->bytes, size, error);
}

size_t firn_parquet_chunk_writer_memory(const firn_parquet_chunk_writer *writer) {
    const firn_parquet_open_page *page = &writer->page;
    size_t size = sizeof *writer + writer->bytes.capacity + writer->levels.capacity +
                  writer->values.capacity + writer->body.capacity + writer->compressed.capacity +
                  writer->joined.frames.capacity;
    size += page->definition_levels.capacity + page->repetition_levels.capacity +
            page->plain.capacity + page->indices.capacity * sizeof *page->indices.items;
    size += writer->dictionary.bytes.capacity +
            writer->dictionary.slot_count * sizeof *writer->dictionary.slots +
            writer->dictionary.offsets.capacity * sizeof *writer->dictionary.offsets.items;
    size += (writer->translation_capacity + writer->entry_use_capacity) * sizeof(uint32_t);
    if (writer->bloom_filter.blocks != NULL) {
        size += writer->bloom_filter.block_count * FIRN_PARQUET_BLOOM_BLOCK_SIZE;
    }
    size += writer->pages.capacity * sizeof *writer->pages.items + firn_arena_bytes(writer->arena);
    return size;
}

firn_status firn_parquet_chunk_writer_append(firn_parquet_chunk_writer *writer,
                                             const firn_parquet_batch *batch, firn_error *error) {
    return firn_error_wrap(error, firn_parquet_append_batch(writer, batch, error), "column %s",
                           writer->leaf->dotted_path);
}

static firn_status check_page(const firn_parquet_chunk_writer *writer,
                              const firn_parquet_page *page, int64_t row_count, int64_t null_count,
                              firn_error *error) {
    firn_parquet_page_type wanted =
        writer->options->page_version == 2 ? FIRN_PARQUET_DATA_PAGE_V2 : FIRN_PARQUET_DATA_PAGE;
    firn_parquet_encoding encoding = page->header.encoding;
    bool indices =
        encoding == FIRN_PARQUET_PLAIN_DICTIONARY || encoding == FIRN_PARQUET_RLE_DICTIONARY;
    if (page->header.type != wanted || (int)encoding < 0 ||
        (int)encoding >= FIRN_PARQUET_ENCODING_LIMIT ||
        (indices && !firn_parquet_chunk_writer_takes_index_pages(writer))) {
        return firn_fail(error, FIRN_INVALID, "a page of another kind can't be copied");
    }
    if (null_count < 0 || null_count > page->header.num_values || row_count < 1 ||
        row_count > page->header.num_values || page->header.compressed_size < 0 ||
        page->body.size != (size_t)page->header.compressed_size) {
        return firn_fail(error, FIRN_INVALID, "a copied page's counts contradict its header");
    }
    return FIRN_OK;
}

/* Bytes of PLAIN byte arrays without their lengths; -1 where the levels' share of the page is not known. */
static int64_t unencoded_bytes_of(const firn_parquet_chunk_writer *writer,
                                  const firn_parquet_page_header *header, int64_t null_count) {
    if (writer->element->type != FIRN_PARQUET_BYTE_ARRAY) return 0;
    if (header->encoding != FIRN_PARQUET_PLAIN) return -1;
    int64_t levels = 0;
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2) {
        levels = (int64_t)header->definition_levels_size + header->repetition_levels_size;
    } else if (writer->leaf->maximum_definition_level > 0 ||
               writer->leaf->maximum_repetition_level > 0) {
        return -1;
    }
    return header->uncompressed_size - levels - 4 * (header->num_values - null_count);
}

static firn_status take_bounds(firn_parquet_chunk_writer *writer,
                               const firn_parquet_given_bounds *given, int64_t values,
                               firn_parquet_page_record *record, firn_error *error) {
    record->nan_unknown = values > 0 && (!given->known || given->page_only);
    record->nan_count = given->nan_count;
    if (values == 0) return FIRN_OK;
    firn_parquet_bounds *bounds = &writer->page.bounds;
    firn_parquet_bounds_clear(bounds);
    FIRN_TRY(firn_parquet_add_given_bounds(bounds, given, error));
    FIRN_TRY(firn_parquet_record_bounds(writer, &writer->page, record, error));
    firn_parquet_bounds_clear(bounds);
    return firn_parquet_cover_values(writer, given, values, error);
}

static firn_status append_page(firn_parquet_chunk_writer *writer, const firn_parquet_page *page,
                               int64_t row_count, int64_t null_count,
                               const firn_parquet_given_bounds *bounds, firn_error *error) {
    if (page->header.num_values == 0) return FIRN_OK;
    FIRN_TRY(check_page(writer, page, row_count, null_count, error));
    FIRN_TRY(firn_parquet_end_open_page(writer, error));
    firn_parquet_page_header header = page->header;
    header.statistics = (firn_parquet_statistics){0};
    if (header.encoding == FIRN_PARQUET_PLAIN_DICTIONARY) {
        header.encoding = FIRN_PARQUET_RLE_DICTIONARY; /* the older name of the same */
    }
    if (writer->options->write_crc && !header.has_crc) header.crc = firn_crc32(0, page->body);
    header.has_crc = writer->options->write_crc;
    int64_t values = header.num_values - null_count;
    firn_parquet_page_record record = {
        .first_row = writer->row_count,
        .null_count = null_count,
        .unencoded_bytes = unencoded_bytes_of(writer, &header, null_count),
        .all_null = values == 0,
    };
    FIRN_TRY(take_bounds(writer, bounds, values, &record, error));
    if (record.unencoded_bytes < 0) writer->unencoded_known = false;
    if (firn_parquet_keeps_histograms(writer->leaf)) writer->histograms_known = false;
    FIRN_TRY(firn_parquet_emit_page(writer, &header, page->body, firn_slice_of(NULL, 0), &record,
                                    error));
    writer->level_count += header.num_values;
    writer->row_count += row_count;
    writer->null_count += null_count;
    writer->unencoded_bytes += record.unencoded_bytes;
    writer->bytes_copied += record.size;
    return FIRN_OK;
}

firn_status firn_parquet_chunk_writer_append_page(firn_parquet_chunk_writer *writer,
                                                  const firn_parquet_page *page, int64_t row_count,
                                                  int64_t null_count, firn_error *error) {
    const firn_parquet_given_bounds none = {0};
    return firn_parquet_chunk_writer_append_bounded_page(writer, page, row_count, null_count, &none,
                                                         error);
}

firn_status firn_parquet_chunk_writer_append_bounded_page(firn_parquet_chunk_writer *writer,
                                                          const firn_parquet_page *page,
                                                          int64_t row_count, int64_t null_count,
                                                          const firn_parquet_given_bounds *bounds,
                                                          firn_error *error) {
    return firn_error_wrap(error, append_page(writer, page, row_count, null_count, bounds, error),
                           "column %s", writer->leaf->dotted_path);
}

/* Whether the slice can be a value of the column, and of a floating-point one, not NaN. */
static bool is_usable_bound(const firn_parquet_chunk_writer *writer, firn_slice bound) {
    if (bound.data == NULL || writer->order == FIRN_PARQUET_ORDER_NONE) return false;
    if (writer->element->type != FIRN_PARQUET_BYTE_ARRAY && bound.size != writer->width) {
        return false;
    }
    return !firn_parquet_is_nan(writer->order, bound);
}

firn_status firn_parquet_chunk_writer_merge_statistics(firn_parquet_chunk_writer *writer,
                                                       firn_slice minimum, firn_slice maximum,
                                                       bool exact, int64_t nan_count,
                                                       firn_error *error) {
    writer->uncovered_values = 0;
    writer->bounds_merged = true;
    writer->bounds_inexact |= !exact;
    if (nan_count < 0 && firn_parquet_order_has_nan(writer->order)) {
        writer->nan_count_unknown = true;
    }
    if (!is_usable_bound(writer, minimum) || !is_usable_bound(writer, maximum)) {
        writer->bounds_unknown = true;
    } else {
        FIRN_TRY(firn_parquet_bounds_add_value(&writer->bounds, minimum, error));
        FIRN_TRY(firn_parquet_bounds_add_value(&writer->bounds, maximum, error));
    }
    if (nan_count > 0) writer->bounds.nan_count += nan_count;
    return FIRN_OK;
}
