/* A data page's bytes: levels, values, compression, header (parquet-format README, "Data Pages"; parquet.thrift). */
#include "base/alloc.h"
#include "base/bytes.h"
#include "parquet/chunk_writer_internal.h"
#include "parquet/encode.h"

/* Bytes of a page that are compressed to see whether the whole is worth it. */
#define SAMPLE_SIZE ((size_t)8192)

/* Levels go as RLE, in v1 pages with their length in front (Encodings.md). `constant`: all equal `constant_value`. */
static firn_status encode_levels(const firn_buffer *levels, uint8_t maximum, bool constant,
                                 uint8_t constant_value, bool with_length, firn_buffer *out,
                                 firn_error *error) {
    if (maximum == 0) return FIRN_OK;
    size_t start = out->size;
    uint8_t length[4] = {0};
    if (with_length) FIRN_TRY(firn_buffer_append(out, length, sizeof length, error));
    uint32_t bit_width = firn_parquet_bit_width(maximum);
    if (constant) {
        FIRN_TRY(
            firn_parquet_encode_hybrid_run(constant_value, levels->size, bit_width, out, error));
    } else {
        FIRN_TRY(
            firn_parquet_encode_hybrid_bytes(levels->data, levels->size, bit_width, out, error));
    }
    if (with_length) {
        firn_store_le32(out->data + start, (uint32_t)(out->size - start - sizeof length));
    }
    return FIRN_OK;
}

firn_status firn_parquet_encode_page_levels(firn_parquet_chunk_writer *writer,
                                            const firn_parquet_open_page *page,
                                            size_t *repetition_size, firn_error *error) {
    const firn_parquet_leaf *leaf = writer->leaf;
    bool with_length = writer->options->page_version == 1;
    firn_buffer_clear(&writer->levels);
    FIRN_TRY(encode_levels(&page->repetition_levels, leaf->maximum_repetition_level,
                           page->row_count == (int64_t)page->level_count, 0, with_length,
                           &writer->levels, error));
    *repetition_size = writer->levels.size;
    return encode_levels(&page->definition_levels, leaf->maximum_definition_level,
                         page->value_count == page->level_count, leaf->maximum_definition_level,
                         with_length, &writer->levels, error);
}

static firn_status encode_indices(firn_parquet_chunk_writer *writer, firn_error *error) {
    const firn_parquet_open_page *page = &writer->page;
    uint32_t count = writer->dictionary.count;
    /* Width 0 is lawful for a single entry, but some readers do not expect it. */
    uint32_t bit_width = count < 2 ? 1 : firn_parquet_bit_width(count - 1);
    FIRN_TRY(firn_buffer_append_byte(&writer->values, (uint8_t)bit_width, error));
    return firn_parquet_encode_hybrid_indices(page->indices.items, page->value_count, bit_width,
                                              &writer->values, error);
}

/* v1: bits; v2: RLE with its length in front, as for any page (Encodings.md, the table under RLE). */
static firn_status encode_page_booleans(firn_parquet_chunk_writer *writer,
                                        firn_parquet_encoding *encoding, firn_error *error) {
    const firn_parquet_open_page *page = &writer->page;
    if (writer->options->page_version == 1) {
        return firn_parquet_encode_booleans(page->plain.data, page->value_count, &writer->values,
                                            error);
    }
    *encoding = FIRN_PARQUET_RLE;
    uint8_t length[4] = {0};
    FIRN_TRY(firn_buffer_append(&writer->values, length, sizeof length, error));
    FIRN_TRY(firn_parquet_encode_hybrid_bytes(page->plain.data, page->value_count, 1,
                                              &writer->values, error));
    firn_store_le32(writer->values.data, (uint32_t)(writer->values.size - sizeof length));
    return FIRN_OK;
}

/* The page's values in their encoding: PLAIN ones lie ready, the others are made in writer->values. */
static firn_status encode_page_values(firn_parquet_chunk_writer *writer, firn_slice *values,
                                      firn_parquet_encoding *encoding, firn_error *error) {
    *encoding = FIRN_PARQUET_PLAIN;
    firn_buffer_clear(&writer->values);
    /*
     * A page of nulls among index pages is one, too: where it was PLAIN, Spark 4.1's vectorised reader fails on the pages of a
     * repeated column that follow.
     */
    if (writer->mode == FIRN_PARQUET_MODE_DICTIONARY && writer->dictionary.count > 0) {
        *encoding = FIRN_PARQUET_RLE_DICTIONARY;
        FIRN_TRY(encode_indices(writer, error));
    } else if (writer->element->type == FIRN_PARQUET_BOOLEAN) {
        FIRN_TRY(encode_page_booleans(writer, encoding, error));
    } else {
        FIRN_TRY(firn_parquet_choose_page_encoding(writer, encoding, error));
        return firn_parquet_encode_page_plain(writer, *encoding,
                                              firn_buffer_slice(&writer->page.plain),
                                              writer->page.value_count, values, error);
    }
    *values = firn_buffer_slice(&writer->values);
    return FIRN_OK;
}

/* Whether a piece from the middle gets smaller by at least a twentieth. */
static firn_status gets_smaller(firn_parquet_chunk_writer *writer, firn_slice raw, bool *smaller,
                                firn_error *error) {
    firn_slice sample = firn_slice_of(raw.data + (raw.size - SAMPLE_SIZE) / 2, SAMPLE_SIZE);
    FIRN_TRY(firn_codec_compress(writer->codec, writer->options->compression_level, sample,
                                 &writer->compressed, error));
    *smaller = writer->compressed.size < SAMPLE_SIZE - SAMPLE_SIZE / 20;
    firn_buffer_clear(&writer->compressed);
    return FIRN_OK;
}

static bool is_bit_packed(firn_parquet_encoding encoding) {
    return encoding == FIRN_PARQUET_RLE_DICTIONARY || encoding == FIRN_PARQUET_DELTA_BINARY_PACKED;
}

/*
 * `raw`, or its compressed form in writer->compressed. Packed indices and deltas often don't get smaller: they are then stored, which is
 * cheaper for whoever reads them, too.
 */
static firn_status compress(firn_parquet_chunk_writer *writer, firn_parquet_encoding encoding,
                            firn_slice raw, firn_slice *out, firn_error *error) {
    *out = raw;
    if (writer->codec == FIRN_CODEC_UNCOMPRESSED) return FIRN_OK;
    firn_buffer_clear(&writer->compressed);
    if (is_bit_packed(encoding) && raw.size >= 2 * SAMPLE_SIZE &&
        firn_codec_can_join(writer->codec)) {
        bool smaller = true;
        FIRN_TRY(gets_smaller(writer, raw, &smaller, error));
        if (!smaller) {
            FIRN_TRY(firn_codec_store(writer->codec, raw, &writer->compressed, error));
            *out = firn_buffer_slice(&writer->compressed);
            return FIRN_OK;
        }
    }
    FIRN_TRY(firn_codec_compress(writer->codec, writer->options->compression_level, raw,
                                 &writer->compressed, error));
    *out = firn_buffer_slice(&writer->compressed);
    return FIRN_OK;
}

static firn_status check_size(size_t size, firn_error *error) {
    if (size <= INT32_MAX) return FIRN_OK;
    return firn_fail(error, FIRN_LIMIT, "a page of %zu bytes: one row is too large for Parquet",
                     size);
}

static firn_status write_page_v1(firn_parquet_chunk_writer *writer,
                                 firn_parquet_page_record *record, firn_error *error) {
    size_t repetition_size;
    firn_slice raw, body;
    firn_parquet_page_header header = {.type = FIRN_PARQUET_DATA_PAGE,
                                       .num_values = (int32_t)writer->page.level_count,
                                       .definition_level_encoding = FIRN_PARQUET_RLE,
                                       .repetition_level_encoding = FIRN_PARQUET_RLE};
    FIRN_TRY(firn_parquet_encode_page_levels(writer, &writer->page, &repetition_size, error));
    FIRN_TRY(encode_page_values(writer, &raw, &header.encoding, error));
    if (writer->levels.size != 0) {
        FIRN_TRY(check_size(writer->levels.size + raw.size, error));
        firn_buffer_clear(&writer->body);
        FIRN_TRY(
            firn_buffer_append(&writer->body, writer->levels.data, writer->levels.size, error));
        FIRN_TRY(firn_buffer_append(&writer->body, raw.data, raw.size, error));
        raw = firn_buffer_slice(&writer->body);
    }
    FIRN_TRY(compress(writer, header.encoding, raw, &body, error));
    header.uncompressed_size = (int32_t)raw.size;
    header.compressed_size = (int32_t)body.size;
    header.has_crc = writer->options->write_crc;
    if (header.has_crc) header.crc = firn_crc32(0, body);
    return firn_parquet_emit_page(writer, &header, body, firn_slice_of(NULL, 0), record, error);
}

static firn_status write_page_v2(firn_parquet_chunk_writer *writer,
                                 firn_parquet_page_record *record, firn_error *error) {
    const firn_parquet_open_page *page = &writer->page;
    size_t repetition_size = 0;
    firn_slice raw, values;
    firn_parquet_page_header header = {
        .type = FIRN_PARQUET_DATA_PAGE_V2,
        .num_values = (int32_t)page->level_count,
        .num_nulls = (int32_t)(page->level_count - page->value_count),
        .num_rows = (int32_t)page->row_count,
    };
    FIRN_TRY(firn_parquet_encode_page_levels(writer, &writer->page, &repetition_size, error));
    FIRN_TRY(encode_page_values(writer, &raw, &header.encoding, error));
    /* Nothing has no compressed form that every reader takes. */
    header.is_compressed = writer->codec != FIRN_CODEC_UNCOMPRESSED && raw.size > 0;
    values = raw;
    if (header.is_compressed) {
        FIRN_TRY(compress(writer, header.encoding, raw, &values, error));
    }
    firn_slice levels = firn_buffer_slice(&writer->levels);
    FIRN_TRY(check_size(levels.size + raw.size, error));
    FIRN_TRY(check_size(levels.size + values.size, error));
    header.repetition_levels_size = (int32_t)repetition_size;
    header.definition_levels_size = (int32_t)(levels.size - repetition_size);
    header.uncompressed_size = (int32_t)(levels.size + raw.size);
    header.compressed_size = (int32_t)(levels.size + values.size);
    header.has_crc = writer->options->write_crc;
    if (header.has_crc) header.crc = firn_crc32(firn_crc32(0, levels), values);
    return firn_parquet_emit_page(writer, &header, levels, values, record, error);
}

firn_status firn_parquet_emit_page(firn_parquet_chunk_writer *writer,
                                   firn_parquet_page_header *header, firn_slice first,
                                   firn_slice second, firn_parquet_page_record *record,
                                   firn_error *error) {
    record->offset = writer->bytes.size;
    FIRN_TRY(firn_parquet_write_page_header(header, &writer->bytes, error));
    size_t header_size = writer->bytes.size - record->offset;
    FIRN_TRY(check_size(header_size + first.size + second.size, error));
    FIRN_TRY(firn_buffer_append(&writer->bytes, first.data, first.size, error));
    FIRN_TRY(firn_buffer_append(&writer->bytes, second.data, second.size, error));
    record->size = (int32_t)(writer->bytes.size - record->offset);
    FIRN_TRY(firn_vector_push(&writer->pages, error, *record));
    writer->uncompressed_size += (int64_t)header_size + header->uncompressed_size;
    writer->encoding_pages[header->encoding]++;
    return FIRN_OK;
}

/* Entries up to which uses are counted in two tables, since adding to what was just added to has to wait. */
#define FEW_ENTRIES 4096

/* Room for two counts per dictionary entry, all zero. */
static firn_status reserve_entry_uses(firn_parquet_chunk_writer *writer, firn_error *error) {
    size_t count = 2 * (size_t)writer->dictionary.count;
    if (count <= writer->entry_use_capacity) return FIRN_OK;
    firn_free(writer->entry_uses);
    writer->entry_use_capacity = 0;
    writer->entry_uses = firn_alloc_zeroed(count + count / 2, sizeof *writer->entry_uses);
    if (writer->entry_uses == NULL) return firn_fail_memory(error);
    writer->entry_use_capacity = count + count / 2;
    return FIRN_OK;
}

/* Shows the page's bounds each entry that it uses, once, and counts NaN and unencoded bytes by use. */
static firn_status measure_entries(firn_parquet_chunk_writer *writer, firn_error *error) {
    firn_parquet_open_page *page = &writer->page;
    bool is_byte_array = writer->element->type == FIRN_PARQUET_BYTE_ARRAY;
    bool has_nan = firn_parquet_order_has_nan(writer->order);
    int64_t nan_count = 0;
    for (uint32_t i = 0; i < writer->dictionary.count; i++) {
        uint32_t uses = writer->entry_uses[i];
        if (uses == 0) continue;
        writer->entry_uses[i] = 0;
        firn_slice value = firn_parquet_dictionary_entry(&writer->dictionary, i);
        if (is_byte_array) page->unencoded_bytes += (int64_t)value.size * uses;
        if (has_nan && firn_parquet_is_nan(writer->order, value)) nan_count += uses;
        FIRN_TRY(firn_parquet_bounds_add_value(&page->bounds, value, error));
    }
    page->bounds.nan_count = nan_count;
    return FIRN_OK;
}

static void count_uses(uint32_t *uses, size_t entries, const uint32_t *indices, size_t count) {
    bool apart = entries <= FEW_ENTRIES;
    uint32_t *others = apart ? uses + entries : uses;
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        uses[indices[i]]++;
        others[indices[i + 1]]++;
    }
    if (i < count) uses[indices[i]]++;
    for (i = 0; apart && i < entries; i++) {
        uses[i] += others[i];
        others[i] = 0;
    }
}

static firn_status measure_dictionary_page(firn_parquet_chunk_writer *writer, firn_error *error) {
    const firn_parquet_open_page *page = &writer->page;
    FIRN_TRY(reserve_entry_uses(writer, error));
    count_uses(writer->entry_uses, writer->dictionary.count, page->indices.items,
               page->indices.count);
    return measure_entries(writer, error);
}

static firn_status copy_bound(firn_parquet_chunk_writer *writer, firn_slice bound, firn_slice *out,
                              firn_error *error) {
    void *copy = firn_arena_memdup(writer->arena, bound.data, bound.size);
    if (copy == NULL) return firn_fail_memory(error);
    *out = firn_slice_of(copy, bound.size);
    return FIRN_OK;
}

/* A bound that can't be shortened leaves the page without. */
firn_status firn_parquet_record_bounds(firn_parquet_chunk_writer *writer,
                                       const firn_parquet_open_page *page,
                                       firn_parquet_page_record *record, firn_error *error) {
    firn_parquet_bound_room minimum_room, maximum_room;
    uint8_t shortened[FIRN_PARQUET_BOUND_LENGTH];
    bool exact;
    firn_slice minimum = firn_parquet_bounds_minimum(&page->bounds, &minimum_room);
    firn_slice maximum = firn_parquet_bounds_maximum(&page->bounds, &maximum_room);
    if (minimum.data == NULL) return FIRN_OK;
    minimum = firn_parquet_shorten_minimum(writer->element, minimum, &exact);
    maximum = firn_parquet_shorten_maximum(writer->element, maximum, shortened, &exact);
    if (maximum.data == NULL) return FIRN_OK;
    FIRN_TRY(copy_bound(writer, minimum, &record->minimum, error));
    FIRN_TRY(copy_bound(writer, maximum, &record->maximum, error));
    record->has_bounds = true;
    return FIRN_OK;
}

firn_status firn_parquet_record_histograms(firn_parquet_chunk_writer *writer,
                                           const firn_parquet_open_page *page, firn_error *error) {
    if (!firn_parquet_keeps_histograms(writer->leaf)) return FIRN_OK;
    for (size_t i = 0; i <= writer->leaf->maximum_definition_level; i++) {
        FIRN_TRY(firn_vector_push(&writer->page_definition_histograms, error,
                                  page->definition_histogram[i]));
    }
    for (size_t i = 0; i <= writer->leaf->maximum_repetition_level; i++) {
        FIRN_TRY(firn_vector_push(&writer->page_repetition_histograms, error,
                                  page->repetition_histogram[i]));
    }
    return FIRN_OK;
}

void firn_parquet_clear_open_page(firn_parquet_open_page *page) {
    firn_buffer_clear(&page->definition_levels);
    firn_buffer_clear(&page->repetition_levels);
    firn_buffer_clear(&page->plain);
    page->indices.count = 0;
    page->level_count = 0;
    page->value_count = 0;
    page->row_count = 0;
    page->unencoded_bytes = 0;
    firn_parquet_bounds_clear(&page->bounds);
    memset(page->definition_histogram, 0, sizeof page->definition_histogram);
    memset(page->repetition_histogram, 0, sizeof page->repetition_histogram);
}

firn_status firn_parquet_flush_page(firn_parquet_chunk_writer *writer, firn_error *error) {
    firn_parquet_open_page *page = &writer->page;
    if (page->level_count == 0) return FIRN_OK;
    FIRN_TRY(check_size(page->level_count, error));
    if (writer->mode == FIRN_PARQUET_MODE_DICTIONARY) {
        FIRN_TRY(measure_dictionary_page(writer, error));
        writer->hashed_values += (int64_t)page->value_count;
    }
    firn_parquet_page_record record = {
        .first_row = writer->row_count,
        .null_count = (int64_t)(page->level_count - page->value_count),
        .nan_count = page->bounds.nan_count,
        .unencoded_bytes = page->unencoded_bytes,
        .all_null = page->value_count == 0,
    };
    FIRN_TRY(firn_parquet_record_bounds(writer, page, &record, error));
    FIRN_TRY(firn_parquet_record_histograms(writer, page, error));
    if (writer->options->page_version == 2) {
        FIRN_TRY(write_page_v2(writer, &record, error));
    } else {
        FIRN_TRY(write_page_v1(writer, &record, error));
    }
    FIRN_TRY(firn_parquet_bounds_merge(&writer->bounds, &page->bounds, error));
    writer->level_count += (int64_t)page->level_count;
    writer->row_count += page->row_count;
    writer->null_count += record.null_count;
    writer->unencoded_bytes += page->unencoded_bytes;
    writer->bytes_encoded += writer->pages.items[writer->pages.count - 1].size;
    firn_parquet_clear_open_page(page);
    return FIRN_OK;
}
