/* From a page's parts to a batch. */
#include "parquet/chunk_reader_internal.h"

/* The levels of one kind; `encoding` is RLE for v2 pages. *at_maximum may be NULL. */
static firn_status decode_levels(firn_slice part, firn_parquet_encoding encoding, uint8_t maximum,
                                 size_t count, firn_parquet_scratch *out, size_t *at_maximum,
                                 firn_error *error) {
    unsigned width = firn_parquet_level_width(maximum);
    FIRN_TRY(firn_parquet_scratch_ensure(out, count, 1, error));
    if (encoding == FIRN_PARQUET_BIT_PACKED) {
        size_t consumed = 0;
        return firn_parquet_decode_bit_packed(part, width, maximum, count, out->data, at_maximum,
                                              &consumed, error);
    }
    return firn_parquet_decode_hybrid_bytes(part, width, maximum, count, out->data, at_maximum,
                                            error);
}

static firn_status load_levels(firn_parquet_chunk_reader *reader, firn_error *error) {
    if (reader->state == FIRN_PARQUET_PAGE_RAW) FIRN_TRY(firn_parquet_split_page(reader, error));
    if (reader->state == FIRN_PARQUET_PAGE_LEVELS) return FIRN_OK;
    const firn_parquet_page_header *header = &reader->page.header;
    const firn_parquet_leaf *leaf = reader->leaf;
    bool v1 = header->type == FIRN_PARQUET_DATA_PAGE;
    size_t count = (size_t)header->num_values;
    reader->value_count = count;
    if (leaf->maximum_repetition_level > 0) {
        size_t ignored = 0;
        firn_status status = decode_levels(
            reader->repetition_part, v1 ? header->repetition_level_encoding : FIRN_PARQUET_RLE,
            leaf->maximum_repetition_level, count, &reader->repetition_levels, &ignored, error);
        FIRN_TRY(firn_error_wrap(error, status, "repetition levels"));
        if (count > 0 && reader->page.first_level == 0 && reader->repetition_levels.data[0] != 0) {
            return firn_fail(error, FIRN_CORRUPT, "the chunk begins in the middle of a row");
        }
    }
    if (leaf->maximum_definition_level > 0) {
        firn_status status = decode_levels(
            reader->definition_part, v1 ? header->definition_level_encoding : FIRN_PARQUET_RLE,
            leaf->maximum_definition_level, count, &reader->definition_levels, &reader->value_count,
            error);
        FIRN_TRY(firn_error_wrap(error, status, "definition levels"));
    }
    reader->state = FIRN_PARQUET_PAGE_LEVELS;
    return FIRN_OK;
}

static firn_status check_current(const firn_parquet_chunk_reader *reader, firn_error *error) {
    if (reader->state != FIRN_PARQUET_PAGE_NONE) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "no page has been read that could be decoded");
}

static void fill_levels(const firn_parquet_chunk_reader *reader, firn_parquet_batch *batch) {
    const firn_parquet_leaf *leaf = reader->leaf;
    *batch = (firn_parquet_batch){.level_count = (size_t)reader->page.header.num_values,
                                  .value_count = reader->value_count};
    if (leaf->maximum_definition_level > 0) {
        batch->definition_levels = reader->definition_levels.data;
    }
    if (leaf->maximum_repetition_level > 0) {
        batch->repetition_levels = reader->repetition_levels.data;
    }
    batch->values.type = reader->dictionary.type;
    batch->values.width = reader->dictionary.width;
}

static firn_status decode_dictionary(firn_parquet_chunk_reader *reader, firn_parquet_batch *batch,
                                     firn_error *error) {
    if (!reader->has_dictionary && reader->value_count > 0) {
        return firn_fail(error, FIRN_CORRUPT, "the page refers to a dictionary but none came");
    }
    FIRN_TRY(firn_parquet_decode_indices(reader->value_part, reader->dictionary.count,
                                         reader->value_count, &reader->indices, error));
    if (!reader->has_dictionary) return FIRN_OK;
    batch->values = reader->dictionary;
    batch->indices = (const uint32_t *)(const void *)reader->indices.data;
    batch->dictionary_id = reader->dictionary_id;
    return FIRN_OK;
}

static firn_status decode_values(firn_parquet_chunk_reader *reader, firn_parquet_batch *batch,
                                 firn_error *error) {
    firn_parquet_encoding encoding = reader->page.header.encoding;
    firn_status status = FIRN_OK;
    if (encoding == FIRN_PARQUET_PLAIN_DICTIONARY || encoding == FIRN_PARQUET_RLE_DICTIONARY) {
        status = decode_dictionary(reader, batch, error);
    } else {
        firn_parquet_decode_values decode = firn_parquet_decoder_of(encoding, batch->values.type);
        if (decode == NULL) {
            return firn_fail(error, FIRN_UNSUPPORTED, "encoding %s (%d) of %s is not supported",
                             firn_parquet_encoding_name(encoding), (int)encoding,
                             firn_parquet_type_name(batch->values.type));
        }
        /* A page of nulls alone has nothing to decode, whatever stands there. */
        if (reader->value_count == 0) return FIRN_OK;
        status =
            decode(reader->value_part, reader->value_count, &reader->store, &batch->values, error);
    }
    return firn_error_wrap(error, status, "%s", firn_parquet_encoding_name(encoding));
}

firn_status firn_parquet_chunk_reader_decode_levels(firn_parquet_chunk_reader *reader,
                                                    firn_parquet_batch *batch, firn_error *error) {
    FIRN_TRY(check_current(reader, error));
    FIRN_TRY(firn_parquet_page_wrap(reader, load_levels(reader, error), error));
    fill_levels(reader, batch);
    return FIRN_OK;
}

firn_status firn_parquet_chunk_reader_value_part(firn_parquet_chunk_reader *reader, firn_slice *raw,
                                                 firn_error *error) {
    FIRN_TRY(check_current(reader, error));
    if (reader->state == FIRN_PARQUET_PAGE_RAW) {
        FIRN_TRY(firn_parquet_page_wrap(reader, firn_parquet_split_page(reader, error), error));
    }
    *raw = reader->value_part;
    return FIRN_OK;
}

firn_status firn_parquet_chunk_reader_decode(firn_parquet_chunk_reader *reader,
                                             firn_parquet_batch *batch, firn_error *error) {
    FIRN_TRY(firn_parquet_chunk_reader_decode_levels(reader, batch, error));
    return firn_parquet_page_wrap(reader, decode_values(reader, batch, error), error);
}
