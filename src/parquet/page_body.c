/* From a page's bytes in the file to its three parts: repetition levels, definition levels, values (README.md, "Data Pages"). */
#include <stdatomic.h>

#include "base/bytes.h"
#include "parquet/chunk_reader_internal.h"
#include "parquet/page_codec.h"

/* Also where the codec is unknown: an uncompressed part of a v2 page can then still be read. */
static firn_status check_codec(const firn_parquet_chunk_reader *reader, firn_error *error) {
    if (reader->codec_known) return FIRN_OK;
    firn_parquet_compression compression = reader->chunk->compression;
    return firn_fail(error, FIRN_UNSUPPORTED, "codec %s (%d) is not supported",
                     firn_parquet_compression_name(compression), (int)compression);
}

static firn_status decompress(const firn_parquet_chunk_reader *reader, firn_slice compressed,
                              size_t size, firn_parquet_scratch *memory, firn_slice *out,
                              firn_error *error) {
    FIRN_TRY(check_codec(reader, error));
    if (!firn_parquet_size_plausible(reader->codec, compressed.size, size)) {
        return firn_fail(error, FIRN_CORRUPT, "%zu bytes of %s can't hold %zu bytes",
                         compressed.size, firn_codec_name(reader->codec), size);
    }
    FIRN_TRY(firn_parquet_scratch_ensure(memory, size, 1, error));
    *out = firn_slice_of(memory->data, size);
    /* Nothing to fill: some writers then store no frame, others an empty one. */
    if (size == 0) return FIRN_OK;
    return firn_codec_decompress(reader->codec, compressed, memory->data, size, error);
}

static uint64_t new_dictionary_id(void) {
    static atomic_uint_fast64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

firn_status firn_parquet_load_dictionary(firn_parquet_chunk_reader *reader, bool borrowed,
                                         firn_error *error) {
    const firn_parquet_page_header *header = &reader->page.header;
    if (header->encoding != FIRN_PARQUET_PLAIN &&
        header->encoding != FIRN_PARQUET_PLAIN_DICTIONARY) {
        return firn_fail(error, FIRN_UNSUPPORTED, "a dictionary in encoding %s (%d)",
                         firn_parquet_encoding_name(header->encoding), (int)header->encoding);
    }
    firn_slice body = reader->page.body;
    if (!reader->codec_known || reader->codec != FIRN_CODEC_UNCOMPRESSED) {
        FIRN_TRY(decompress(reader, body, (size_t)header->uncompressed_size,
                            &reader->dictionary_body, &body, error));
    } else if (!borrowed) {
        FIRN_TRY(firn_parquet_scratch_ensure(&reader->dictionary_body, body.size, 1, error));
        if (body.size > 0) memcpy(reader->dictionary_body.data, body.data, body.size);
        body.data = reader->dictionary_body.data;
    }
    FIRN_TRY(firn_parquet_decode_plain(body, (size_t)header->num_values, &reader->dictionary_store,
                                       &reader->dictionary, error));
    reader->dictionary.slices_are_plain = true;
    reader->has_dictionary = true;
    reader->dictionary_id = new_dictionary_id();
    return FIRN_OK;
}

/* The levels of a v1 page in `data`, which moves behind them. */
static firn_status split_levels(firn_slice *data, firn_parquet_encoding encoding, uint8_t maximum,
                                size_t count, firn_slice *out, const char *what,
                                firn_error *error) {
    *out = (firn_slice){0};
    if (maximum == 0) return FIRN_OK;
    size_t size = 0;
    if (encoding == FIRN_PARQUET_RLE) {
        if (data->size < 4) {
            return firn_fail(error, FIRN_CORRUPT, "the length of the %s levels is missing", what);
        }
        size = firn_load_le32(data->data);
        data->data += 4;
        data->size -= 4;
    } else if (encoding == FIRN_PARQUET_BIT_PACKED) {
        size = (count * firn_parquet_level_width(maximum) + 7) / 8;
    } else {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s levels in encoding %s (%d)", what,
                         firn_parquet_encoding_name(encoding), (int)encoding);
    }
    if (size > data->size) {
        return firn_fail(error, FIRN_CORRUPT, "%zu bytes of %s levels where %zu are left", size,
                         what, data->size);
    }
    *out = firn_slice_of(data->data, size);
    data->data += size;
    data->size -= size;
    return FIRN_OK;
}

static firn_status split_v1(firn_parquet_chunk_reader *reader, firn_error *error) {
    const firn_parquet_page_header *header = &reader->page.header;
    const firn_parquet_leaf *leaf = reader->leaf;
    size_t count = (size_t)header->num_values;
    firn_slice data = reader->page.body;
    if (!reader->codec_known || reader->codec != FIRN_CODEC_UNCOMPRESSED) {
        FIRN_TRY(decompress(reader, data, (size_t)header->uncompressed_size, &reader->body, &data,
                            error));
    }
    if (count > 0) {
        FIRN_TRY(split_levels(&data, header->repetition_level_encoding,
                              leaf->maximum_repetition_level, count, &reader->repetition_part,
                              "repetition", error));
        FIRN_TRY(split_levels(&data, header->definition_level_encoding,
                              leaf->maximum_definition_level, count, &reader->definition_part,
                              "definition", error));
    }
    reader->value_part = data;
    return FIRN_OK;
}

/* In v2 the levels stand outside the compressed part, and both sizes count them; that they fit was checked with the header. */
static firn_status split_v2(firn_parquet_chunk_reader *reader, firn_error *error) {
    const firn_parquet_page_header *header = &reader->page.header;
    firn_slice body = reader->page.body;
    size_t repetition = (size_t)header->repetition_levels_size;
    size_t definition = (size_t)header->definition_levels_size;
    size_t levels = repetition + definition;
    reader->repetition_part = firn_slice_of(body.data, repetition);
    reader->definition_part = firn_slice_of(body.data + repetition, definition);
    firn_slice values = firn_slice_of(body.data + levels, body.size - levels);
    bool plain = reader->codec_known && reader->codec == FIRN_CODEC_UNCOMPRESSED;
    if (header->is_compressed && !plain) {
        FIRN_TRY(decompress(reader, values, (size_t)header->uncompressed_size - levels,
                            &reader->body, &values, error));
    }
    reader->value_part = values;
    return FIRN_OK;
}

firn_status firn_parquet_split_page(firn_parquet_chunk_reader *reader, firn_error *error) {
    reader->repetition_part = (firn_slice){0};
    reader->definition_part = (firn_slice){0};
    FIRN_TRY(reader->page.header.type == FIRN_PARQUET_DATA_PAGE ? split_v1(reader, error)
                                                                : split_v2(reader, error));
    reader->state = FIRN_PARQUET_PAGE_SPLIT;
    return FIRN_OK;
}
