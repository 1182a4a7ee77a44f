/*
 * Parts: values that came compressed and go out as they are, several on a page where the codec's forms can be joined. On v2 pages
 * the levels stand before the compressed values; on v1 pages they become a compressed piece of their own in front of the others.
 */
#include "base/alloc.h"
#include "parquet/chunk_writer_internal.h"
#include "parquet/page_codec.h"

firn_status firn_parquet_chunk_writer_set_dictionary(firn_parquet_chunk_writer *writer,
                                                     firn_parquet_dictionary *dictionary,
                                                     firn_error *error) {
    bool begun = writer->pages.count > 0 || writer->page.level_count > 0;
    if (begun || dictionary->type != writer->element->type || dictionary->width != writer->width) {
        return firn_fail(error, FIRN_INVALID, "column %s: this dictionary can't be set now",
                         writer->leaf->dotted_path);
    }
    firn_parquet_dictionary_release(&writer->dictionary);
    writer->dictionary = *dictionary;
    *dictionary = (firn_parquet_dictionary){0};
    writer->dictionary_is_set = true;
    writer->mode = FIRN_PARQUET_MODE_DICTIONARY;
    return FIRN_OK;
}

/* When the dictionary became too large behind the caller's back its indices stand for PLAIN values. */
static firn_status append_indices(firn_parquet_chunk_writer *writer,
                                  const firn_parquet_batch *batch, firn_error *error) {
    firn_parquet_batch own = *batch;
    firn_slice *slices = NULL;
    own.values = (firn_parquet_values){.type = writer->element->type, .width = writer->width};
    if (writer->mode == FIRN_PARQUET_MODE_PLAIN) {
        FIRN_TRY(firn_parquet_dictionary_values(&writer->dictionary, &own.values, &slices, error));
    }
    writer->replaying = true;
    firn_status status = firn_parquet_append_batch(writer, &own, error);
    writer->replaying = false;
    firn_free(slices);
    return status;
}

firn_status firn_parquet_chunk_writer_append_indices(firn_parquet_chunk_writer *writer,
                                                     const firn_parquet_batch *batch,
                                                     firn_error *error) {
    if (!writer->dictionary_is_set) {
        return firn_fail(error, FIRN_INVALID, "no dictionary was set");
    }
    return firn_error_wrap(error, append_indices(writer, batch, error), "column %s",
                           writer->leaf->dotted_path);
}

bool firn_parquet_chunk_writer_takes_index_pages(const firn_parquet_chunk_writer *writer) {
    return writer->dictionary_is_set && writer->mode == FIRN_PARQUET_MODE_DICTIONARY &&
           !writer->has_bloom_filter;
}

static bool has_levels(const firn_parquet_chunk_writer *writer) {
    return writer->leaf->maximum_definition_level > 0 || writer->leaf->maximum_repetition_level > 0;
}

bool firn_parquet_options_can_join(const firn_parquet_write_options *options) {
    firn_codec codec = FIRN_CODEC_UNCOMPRESSED;
    return firn_parquet_codec_of(options->compression, &codec) && firn_codec_can_join(codec);
}

bool firn_parquet_chunk_writer_takes_parts(const firn_parquet_chunk_writer *writer, bool may_join) {
    if (writer->mode != FIRN_PARQUET_MODE_PLAIN) return false;
    if (writer->options->page_version == 2 || !has_levels(writer)) return true;
    return may_join && firn_codec_can_join(writer->codec);
}

static firn_status check_part(const firn_parquet_chunk_writer *writer,
                              const firn_parquet_part *part, firn_error *error) {
    bool dictionary = part->encoding == FIRN_PARQUET_PLAIN_DICTIONARY ||
                      part->encoding == FIRN_PARQUET_RLE_DICTIONARY;
    if (writer->mode != FIRN_PARQUET_MODE_PLAIN || dictionary || (int)part->encoding < 0 ||
        part->encoding >= FIRN_PARQUET_ENCODING_LIMIT) {
        return firn_fail(error, FIRN_INVALID, "a part that the pages can't take");
    }
    bool levels = writer->leaf->maximum_definition_level > 0;
    if (part->value_count > part->level_count || part->level_count > INT32_MAX ||
        part->raw_size > INT32_MAX || (levels && part->definition_levels == NULL) ||
        (!levels && part->value_count != part->level_count) ||
        (writer->leaf->maximum_repetition_level > 0 && part->repetition_levels == NULL)) {
        return firn_fail(error, FIRN_INVALID, "a part's levels and values contradict each other");
    }
    return FIRN_OK;
}

/* Whether the part would take the page past a page's size, or may not share one at all. */
static bool begins_page(const firn_parquet_chunk_writer *writer, const firn_parquet_part *part) {
    const firn_parquet_joined_page *joined = &writer->joined;
    if (joined->part_count == 0) return false;
    if (part->alone || part->encoding != FIRN_PARQUET_PLAIN ||
        joined->encoding != FIRN_PARQUET_PLAIN || !firn_codec_can_join(writer->codec)) {
        return true;
    }
    return joined->page.row_count + part->row_count > writer->options->page_row_limit ||
           joined->raw_size + part->raw_size > (size_t)writer->options->page_size_bytes ||
           joined->page.level_count + part->level_count > INT32_MAX;
}

static firn_status take_body(firn_parquet_chunk_writer *writer, const firn_parquet_part *part,
                             firn_error *error) {
    firn_buffer *frames = &writer->joined.frames;
    /* Nothing has no compressed form that every reader takes, and needs none. */
    if (part->raw_size == 0) return FIRN_OK;
    if (!firn_codec_can_join(writer->codec)) {
        if (part->stored) return firn_fail(error, FIRN_INVALID, "a stored part can't be taken");
        return firn_buffer_append(frames, part->body.data, part->body.size, error);
    }
    if (!part->stored) {
        return firn_codec_join_add(writer->codec, part->body, part->raw_size, frames, error);
    }
    firn_buffer_clear(&writer->compressed);
    FIRN_TRY(firn_codec_store(writer->codec, part->body, &writer->compressed, error));
    return firn_codec_join_add(writer->codec, firn_buffer_slice(&writer->compressed),
                               part->raw_size, frames, error);
}

firn_status firn_parquet_add_given_bounds(firn_parquet_bounds *bounds,
                                          const firn_parquet_given_bounds *given,
                                          firn_error *error) {
    if (!given->known || given->minimum.data == NULL || given->maximum.data == NULL) return FIRN_OK;
    FIRN_TRY(firn_parquet_bounds_add_value(bounds, given->minimum, error));
    return firn_parquet_bounds_add_value(bounds, given->maximum, error);
}

firn_status firn_parquet_cover_values(firn_parquet_chunk_writer *writer,
                                      const firn_parquet_given_bounds *given, int64_t values,
                                      firn_error *error) {
    if (values == 0) return FIRN_OK;
    if (!given->known || given->page_only) {
        writer->uncovered_values += values;
        return FIRN_OK;
    }
    FIRN_TRY(firn_parquet_add_given_bounds(&writer->bounds, given, error));
    writer->bounds.nan_count += given->nan_count;
    writer->bounds_inexact |= given->inexact;
    /* Another writer may have shortened byte arrays without saying so. */
    writer->bounds_merged = true;
    return FIRN_OK;
}

/* The page has bounds where all its parts have some. */
static firn_status take_bounds(firn_parquet_chunk_writer *writer, const firn_parquet_part *part,
                               firn_error *error) {
    firn_parquet_joined_page *joined = &writer->joined;
    const firn_parquet_given_bounds *given = &part->bounds;
    if (part->value_count == 0) return FIRN_OK;
    if (!given->known) joined->bounds_known = false;
    if (!given->known || given->page_only) joined->nan_unknown = true;
    joined->page.bounds.nan_count += given->nan_count;
    FIRN_TRY(firn_parquet_add_given_bounds(&joined->page.bounds, given, error));
    return firn_parquet_cover_values(writer, given, (int64_t)part->value_count, error);
}

static firn_status append_part(firn_parquet_chunk_writer *writer, const firn_parquet_part *part,
                               firn_error *error) {
    if (part->level_count == 0) return FIRN_OK;
    FIRN_TRY(check_part(writer, part, error));
    if (writer->page.level_count > 0) FIRN_TRY(firn_parquet_end_open_page(writer, error));
    if (begins_page(writer, part)) FIRN_TRY(firn_parquet_flush_parts(writer, error));
    firn_parquet_joined_page *joined = &writer->joined;
    if (joined->part_count == 0) {
        joined->encoding = part->encoding;
        joined->bounds_known = true;
        joined->nan_unknown = false;
    }
    FIRN_TRY(take_body(writer, part, error));
    FIRN_TRY(firn_parquet_take_levels(writer->leaf, &joined->page, part->definition_levels,
                                      part->repetition_levels, part->level_count, part->value_count,
                                      error));
    FIRN_TRY(take_bounds(writer, part, error));
    joined->raw_size += part->raw_size;
    joined->part_count++;
    return part->alone ? firn_parquet_flush_parts(writer, error) : FIRN_OK;
}

firn_status firn_parquet_chunk_writer_append_part(firn_parquet_chunk_writer *writer,
                                                  const firn_parquet_part *part,
                                                  firn_error *error) {
    return firn_error_wrap(error, append_part(writer, part, error), "column %s",
                           writer->leaf->dotted_path);
}

/* v1: what begins the compressed bytes, and the levels as their first part, in writer->body. */
static firn_status begin_v1(firn_parquet_chunk_writer *writer, firn_error *error) {
    firn_slice levels = firn_buffer_slice(&writer->levels);
    firn_buffer_clear(&writer->body);
    if (!firn_codec_can_join(writer->codec)) return FIRN_OK;
    FIRN_TRY(firn_codec_join_begin(writer->codec, levels.size + writer->joined.raw_size,
                                   &writer->body, error));
    if (levels.size == 0) return FIRN_OK;
    firn_buffer_clear(&writer->compressed);
    FIRN_TRY(firn_codec_compress(writer->codec, writer->options->compression_level, levels,
                                 &writer->compressed, error));
    return firn_codec_join_add(writer->codec, firn_buffer_slice(&writer->compressed), levels.size,
                               &writer->body, error);
}

/* v2: the levels as they are, then what begins the compressed values. */
static firn_status begin_v2(firn_parquet_chunk_writer *writer, firn_error *error) {
    firn_buffer_clear(&writer->body);
    FIRN_TRY(firn_buffer_append(&writer->body, writer->levels.data, writer->levels.size, error));
    if (writer->joined.raw_size == 0 || !firn_codec_can_join(writer->codec)) return FIRN_OK;
    return firn_codec_join_begin(writer->codec, writer->joined.raw_size, &writer->body, error);
}

static firn_status fill_header(firn_parquet_chunk_writer *writer, size_t repetition_size,
                               firn_parquet_page_header *header, firn_error *error) {
    const firn_parquet_joined_page *joined = &writer->joined;
    bool v2 = writer->options->page_version == 2;
    size_t raw = writer->levels.size + joined->raw_size;
    size_t size = writer->body.size + joined->frames.size;
    if (raw > INT32_MAX || size > INT32_MAX || joined->page.level_count > INT32_MAX) {
        return firn_fail(error, FIRN_LIMIT, "a page of %zu bytes is too large for Parquet", raw);
    }
    *header = (firn_parquet_page_header){
        .type = v2 ? FIRN_PARQUET_DATA_PAGE_V2 : FIRN_PARQUET_DATA_PAGE,
        .num_values = (int32_t)joined->page.level_count,
        .encoding = joined->encoding,
        .definition_level_encoding = FIRN_PARQUET_RLE,
        .repetition_level_encoding = FIRN_PARQUET_RLE,
        .num_nulls = (int32_t)(joined->page.level_count - joined->page.value_count),
        .num_rows = (int32_t)joined->page.row_count,
        .repetition_levels_size = (int32_t)repetition_size,
        .definition_levels_size = (int32_t)(writer->levels.size - repetition_size),
        .is_compressed = writer->codec != FIRN_CODEC_UNCOMPRESSED && joined->raw_size > 0,
        .uncompressed_size = (int32_t)raw,
        .compressed_size = (int32_t)size,
        .has_crc = writer->options->write_crc,
    };
    if (!header->has_crc) return FIRN_OK;
    header->crc = firn_crc32(firn_crc32(0, firn_buffer_slice(&writer->body)),
                             firn_buffer_slice(&joined->frames));
    return FIRN_OK;
}

static void fill_record(const firn_parquet_chunk_writer *writer, firn_parquet_page_record *record) {
    const firn_parquet_joined_page *joined = &writer->joined;
    int64_t values = (int64_t)joined->page.value_count;
    int64_t unencoded = 0;
    if (writer->element->type == FIRN_PARQUET_BYTE_ARRAY) {
        bool plain = joined->encoding == FIRN_PARQUET_PLAIN;
        unencoded = plain ? (int64_t)joined->raw_size - 4 * values : -1;
    }
    *record = (firn_parquet_page_record){
        .first_row = writer->row_count,
        .null_count = (int64_t)joined->page.level_count - values,
        .nan_count = joined->page.bounds.nan_count,
        .nan_unknown = joined->nan_unknown,
        .unencoded_bytes = unencoded,
        .all_null = values == 0,
    };
}

static void clear_parts(firn_parquet_joined_page *joined) {
    firn_parquet_clear_open_page(&joined->page);
    firn_buffer_clear(&joined->frames);
    joined->raw_size = 0;
    joined->part_count = 0;
}

firn_status firn_parquet_flush_parts(firn_parquet_chunk_writer *writer, firn_error *error) {
    firn_parquet_joined_page *joined = &writer->joined;
    if (joined->part_count == 0) return FIRN_OK;
    size_t repetition_size = 0;
    firn_parquet_page_header header;
    firn_parquet_page_record record;
    FIRN_TRY(firn_parquet_encode_page_levels(writer, &joined->page, &repetition_size, error));
    FIRN_TRY(writer->options->page_version == 2 ? begin_v2(writer, error)
                                                : begin_v1(writer, error));
    FIRN_TRY(fill_header(writer, repetition_size, &header, error));
    fill_record(writer, &record);
    if (record.unencoded_bytes < 0) writer->unencoded_known = false;
    if (joined->bounds_known) {
        FIRN_TRY(firn_parquet_record_bounds(writer, &joined->page, &record, error));
    }
    FIRN_TRY(firn_parquet_record_histograms(writer, &joined->page, error));
    FIRN_TRY(firn_parquet_emit_page(writer, &header, firn_buffer_slice(&writer->body),
                                    firn_buffer_slice(&joined->frames), &record, error));
    writer->level_count += header.num_values;
    writer->row_count += joined->page.row_count;
    writer->null_count += record.null_count;
    writer->unencoded_bytes += record.unencoded_bytes;
    writer->bytes_copied += record.size;
    clear_parts(joined);
    return FIRN_OK;
}
