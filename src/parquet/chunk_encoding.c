/*
 * Which encoding values get that no dictionary holds. It is settled once for a chunk, on the first page with enough of them, by encoding
 * some of its values each way and compressing what comes out: bit widths alone don't tell, since compressed PLAIN values are small, too.
 */
#include "base/bytes.h"
#include "parquet/chunk_writer_internal.h"
#include "parquet/encode.h"

/* Values that are tried, and how many make the choice final. */
#define TRIED_VALUES 16384
#define DECIDING_VALUES 1024
/* Larger pages come of huge rows; DELTA_BYTE_ARRAY could make so little of them that readers refuse to unfold it. */
#define LARGEST_ENCODED_PAGE ((size_t)32 << 20)
/* How many times smaller than a dictionary with its indices deltas have to be: indices are read faster. */
#define LEAST_GAIN_OVER_DICTIONARY 4

/*
 * What parquet-java writes on pages of version 2 (its DefaultV2ValuesWriterFactory), and Iceberg with it; but for FIXED_LEN_BYTE_ARRAY,
 * which readers unfold much slower than they read PLAIN.
 */
static firn_parquet_encoding delta_encoding_of(firn_parquet_physical_type type) {
    switch (type) {
    case FIRN_PARQUET_INT32:
    case FIRN_PARQUET_INT64: return FIRN_PARQUET_DELTA_BINARY_PACKED;
    case FIRN_PARQUET_BYTE_ARRAY: return FIRN_PARQUET_DELTA_BYTE_ARRAY;
    default: return FIRN_PARQUET_PLAIN;
    }
}

/*
 * The size at which an encoding takes the place of one that takes `best`. To unfold byte arrays takes readers longer than to read PLAIN ones,
 * which only fewer bytes to decompress make up for, and only where the codec is not a fast one.
 */
static size_t size_to_beat(const firn_parquet_chunk_writer *writer, firn_parquet_encoding encoding,
                           size_t best) {
    if (encoding != FIRN_PARQUET_DELTA_BYTE_ARRAY) return best - best / 8;
    bool slow = writer->codec == FIRN_CODEC_ZSTD || writer->codec == FIRN_CODEC_GZIP ||
                writer->codec == FIRN_CODEC_BROTLI;
    return slow ? best / 2 : 0;
}

static bool is_encoded(const firn_parquet_chunk_writer *writer, firn_parquet_encoding encoding) {
    return firn_parquet_encoder_of(encoding, writer->element->type) != NULL;
}

firn_status firn_parquet_encode_page_plain(firn_parquet_chunk_writer *writer,
                                           firn_parquet_encoding encoding, firn_slice plain,
                                           size_t count, firn_slice *out, firn_error *error) {
    *out = plain;
    if (!is_encoded(writer, encoding)) return FIRN_OK;
    firn_buffer_clear(&writer->values);
    FIRN_TRY(firn_parquet_encoder_of(encoding, writer->element->type)(plain, writer->width, count,
                                                                      &writer->values, error));
    *out = firn_buffer_slice(&writer->values);
    return FIRN_OK;
}

static firn_status try_encoding(firn_parquet_chunk_writer *writer, firn_parquet_encoding encoding,
                                firn_slice plain, size_t count, size_t *size, firn_error *error) {
    firn_slice raw;
    FIRN_TRY(firn_parquet_encode_page_plain(writer, encoding, plain, count, &raw, error));
    *size = raw.size;
    if (writer->codec == FIRN_CODEC_UNCOMPRESSED || raw.size == 0) return FIRN_OK;
    firn_buffer_clear(&writer->compressed);
    FIRN_TRY(firn_codec_compress(writer->codec, writer->options->compression_level, raw,
                                 &writer->compressed, error));
    *size = writer->compressed.size;
    return FIRN_OK;
}

/* The inputs' encoding stays unless another one is much smaller. */
static firn_status choose(firn_parquet_chunk_writer *writer, firn_slice plain, size_t count,
                          firn_parquet_encoding *out, firn_error *error) {
    firn_parquet_encoding kept = writer->options->value_encoding;
    const firn_parquet_encoding others[] = {FIRN_PARQUET_PLAIN,
                                            writer->options->delta_encodings
                                                ? delta_encoding_of(writer->element->type)
                                                : FIRN_PARQUET_PLAIN};
    size_t best, size;
    *out = is_encoded(writer, kept) ? kept : FIRN_PARQUET_PLAIN;
    FIRN_TRY(try_encoding(writer, *out, plain, count, &best, error));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == *out) continue;
        FIRN_TRY(try_encoding(writer, others[i], plain, count, &size, error));
        if (size > size_to_beat(writer, others[i], best)) continue;
        *out = others[i];
        best = size;
    }
    return FIRN_OK;
}

/* The first `count` of a page's PLAIN values. */
static firn_slice first_values(const firn_parquet_chunk_writer *writer, size_t count) {
    const firn_buffer *plain = &writer->page.plain;
    if (writer->width != 0) return firn_slice_of(plain->data, count * writer->width);
    size_t end = 0;
    for (size_t i = 0; i < count; i++) end += 4 + (size_t)firn_load_le32(plain->data + end);
    return firn_slice_of(plain->data, end);
}

firn_status firn_parquet_choose_page_encoding(firn_parquet_chunk_writer *writer,
                                              firn_parquet_encoding *out, firn_error *error) {
    size_t count = writer->page.value_count;
    *out = FIRN_PARQUET_PLAIN;
    /* Vectorised readers of Iceberg that are in use fail on DELTA pages of nulls alone. */
    if (count == 0 || writer->page.plain.size > LARGEST_ENCODED_PAGE) return FIRN_OK;
    if (writer->encoding_is_chosen) {
        *out = writer->value_encoding;
        return FIRN_OK;
    }
    if (is_encoded(writer, writer->options->value_encoding) || writer->options->delta_encodings) {
        size_t tried = count < TRIED_VALUES ? count : TRIED_VALUES;
        FIRN_TRY(choose(writer, first_values(writer, tried), tried, out, error));
    }
    if (count < DECIDING_VALUES) return FIRN_OK;
    writer->encoding_is_chosen = true;
    writer->value_encoding = *out;
    return FIRN_OK;
}

firn_status firn_parquet_deltas_beat_dictionary(firn_parquet_chunk_writer *writer,
                                                uint64_t dictionary_size, bool *beat,
                                                firn_error *error) {
    const firn_parquet_write_options *options = writer->options;
    const firn_parquet_open_page *page = &writer->page;
    bool wanted =
        options->delta_encodings || options->value_encoding == FIRN_PARQUET_DELTA_BINARY_PACKED;
    *beat = false;
    if (!wanted || !is_encoded(writer, FIRN_PARQUET_DELTA_BINARY_PACKED) ||
        page->value_count == 0) {
        return FIRN_OK;
    }
    size_t tried = page->value_count < TRIED_VALUES ? page->value_count : TRIED_VALUES;
    firn_parquet_values entries = {.type = writer->dictionary.type,
                                   .width = writer->dictionary.width,
                                   .count = writer->dictionary.count,
                                   .fixed = writer->dictionary.bytes.data};
    firn_slice deltas;
    firn_buffer_clear(&writer->body);
    FIRN_TRY(firn_parquet_encode_plain_indexed(&entries, page->indices.items, tried, &writer->body,
                                               error));
    FIRN_TRY(firn_parquet_encode_page_plain(writer, FIRN_PARQUET_DELTA_BINARY_PACKED,
                                            firn_buffer_slice(&writer->body), tried, &deltas,
                                            error));
    uint64_t size = (uint64_t)deltas.size * page->value_count / tried;
    *beat = size * LEAST_GAIN_OVER_DICTIONARY <= dictionary_size;
    return FIRN_OK;
}
