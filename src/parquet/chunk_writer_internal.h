/**
 * The inside of a chunk writer, shared by chunk_writer.c, chunk_append.c (what goes on which page), chunk_encoding.c (in which encoding),
 * chunk_page.c (a page's bytes) and chunk_finish.c (metadata).
 */
#ifndef FIRN_PARQUET_CHUNK_WRITER_INTERNAL_H
#define FIRN_PARQUET_CHUNK_WRITER_INTERNAL_H

#include "base/vector.h"
#include "codec/codec.h"
#include "parquet/chunk_part.h"
#include "parquet/statistics.h"

typedef enum firn_parquet_chunk_mode {
    /** No page is cut yet: levels and indices gather in `page` until it is known whether a dictionary pays. */
    FIRN_PARQUET_MODE_UNDECIDED,
    FIRN_PARQUET_MODE_DICTIONARY,
    FIRN_PARQUET_MODE_PLAIN /**< values gather in PLAIN form, whatever their page's encoding will be */
} firn_parquet_chunk_mode;

/** The page being filled. */
typedef struct firn_parquet_open_page {
    firn_buffer definition_levels,
        repetition_levels; /**< one byte each; empty when the maximum is 0 */
    size_t level_count, value_count;
    int64_t row_count;             /**< levels with repetition level 0 */
    FIRN_VECTOR(uint32_t) indices; /**< value_count of them, unless the mode is PLAIN */
    firn_buffer plain;             /**< mode PLAIN: the values; BOOLEAN one byte each */
    int64_t unencoded_bytes;       /**< of byte arrays without their lengths */
    firn_parquet_bounds bounds;
    /* Only where firn_parquet_keeps_histograms. */
    int64_t definition_histogram[256], repetition_histogram[256];
} firn_parquet_open_page;

/** Parts that wait for their page. Of `page` only levels, counts, bounds and histograms are used. */
typedef struct firn_parquet_joined_page {
    firn_parquet_open_page page;
    firn_parquet_encoding encoding;
    firn_buffer frames; /**< compressed values, without what begins them (firn_codec_join_begin) */
    size_t raw_size;
    size_t part_count;
    bool bounds_known; /**< of all parts */
    bool nan_unknown;  /**< of any part */
} firn_parquet_joined_page;

/** A page that is done. */
typedef struct firn_parquet_page_record {
    uint64_t offset; /**< in `bytes` */
    int32_t size;    /**< header included */
    int64_t first_row;
    int64_t null_count, nan_count;
    int64_t unencoded_bytes; /**< -1: unknown */
    bool nan_unknown;
    bool all_null;
    bool has_bounds;             /**< of its values; false when it was copied */
    firn_slice minimum, maximum; /**< shortened; in `arena` */
} firn_parquet_page_record;

#define FIRN_PARQUET_ENCODING_LIMIT 16

struct firn_parquet_chunk_writer {
    const firn_parquet_leaf *leaf;
    const firn_parquet_write_options *options;
    const firn_parquet_schema_element *element;
    firn_codec codec;
    bool keeps_statistics;
    firn_parquet_order order; /**< of what is measured: NONE also where no statistics are kept */
    uint32_t width;
    firn_arena *arena; /**< what the finished chunk owns */

    firn_parquet_chunk_mode mode;
    firn_parquet_encoding value_encoding; /**< of pages in mode PLAIN, once it is chosen */
    bool encoding_is_chosen;
    firn_parquet_open_page page;
    firn_parquet_joined_page joined; /**< empty while `page` has something */
    firn_parquet_dictionary dictionary;
    bool dictionary_is_set; /**< by the caller, for the whole chunk */
    bool replaying;         /**< batches hold the dictionary's own indices */
    uint32_t *translation;  /**< of the input dictionary `translated_id` */
    size_t translation_capacity, translation_count;
    uint64_t translated_id;
    uint32_t
        *entry_uses; /**< two per dictionary entry, on the page being closed; zero between pages */
    size_t entry_use_capacity;

    firn_buffer bytes;                            /**< data pages, finished */
    firn_buffer levels, values, body, compressed; /**< scratch */
    FIRN_VECTOR(firn_parquet_page_record) pages;
    FIRN_VECTOR(int64_t) page_definition_histograms;
    FIRN_VECTOR(int64_t) page_repetition_histograms;
    int32_t encoding_pages[FIRN_PARQUET_ENCODING_LIMIT]; /**< data pages by encoding */
    int64_t level_count, row_count, null_count;
    int64_t uncompressed_size; /**< of the data pages, headers included */
    int64_t unencoded_bytes;
    bool histograms_known, unencoded_known;
    int64_t bytes_copied, bytes_encoded;

    firn_parquet_bounds bounds; /**< of the chunk; NaN count too */
    int64_t uncovered_values;   /**< in pages copied since the last merge_statistics */
    bool bounds_unknown, nan_count_unknown;
    bool bounds_merged;  /**< some came from an input's statistics */
    bool bounds_inexact; /**< and the values may be narrower */

    bool has_bloom_filter;
    firn_parquet_bloom_builder bloom_filter;
    int64_t hashed_values; /**< put into the filter, or on pages whose dictionary will be */
};

/** Histograms say more than the null count only for nested columns (SizeStatistics, parquet.thrift). */
static inline bool firn_parquet_keeps_histograms(const firn_parquet_leaf *leaf) {
    return leaf->maximum_definition_level > 1 || leaf->maximum_repetition_level > 0;
}

void firn_parquet_open_page_init(firn_parquet_open_page *page, firn_parquet_order order);
void firn_parquet_open_page_release(firn_parquet_open_page *page);
void firn_parquet_release_translation(firn_parquet_chunk_writer *writer);

firn_status firn_parquet_append_batch(firn_parquet_chunk_writer *writer,
                                      const firn_parquet_batch *batch, firn_error *error);
/** Decides about the dictionary, if that is still open, and flushes the page being filled. */
firn_status firn_parquet_end_open_page(firn_parquet_chunk_writer *writer, firn_error *error);

/** Encodes, compresses and records the page being filled, and empties it. Nothing to do for an empty one. */
firn_status firn_parquet_flush_page(firn_parquet_chunk_writer *writer, firn_error *error);

/** Writes the page of the parts that wait; nothing to do without any. */
firn_status firn_parquet_flush_parts(firn_parquet_chunk_writer *writer, firn_error *error);
/** The encoding of the open page, mode PLAIN, in the end the same for all. Takes writer->values and writer->compressed for trials. */
firn_status firn_parquet_choose_page_encoding(firn_parquet_chunk_writer *writer,
                                              firn_parquet_encoding *out, firn_error *error);
/** PLAIN values in another encoding, in writer->values; as they are where the encoding is PLAIN. */
firn_status firn_parquet_encode_page_plain(firn_parquet_chunk_writer *writer,
                                           firn_parquet_encoding encoding, firn_slice plain,
                                           size_t count, firn_slice *out, firn_error *error);
/**
 * Whether the integers gathered, mode UNDECIDED, would be much smaller as deltas than `dictionary_size`, entries and indices, and may be
 * deltas. Takes writer->values and writer->body.
 */
firn_status firn_parquet_deltas_beat_dictionary(firn_parquet_chunk_writer *writer,
                                                uint64_t dictionary_size, bool *beat,
                                                firn_error *error);
/** Levels of a page into writer->levels as its version has them; the repetition levels take the first *repetition_size. */
firn_status firn_parquet_encode_page_levels(firn_parquet_chunk_writer *writer,
                                            const firn_parquet_open_page *page,
                                            size_t *repetition_size, firn_error *error);
/** The page's entry in the column index, from its bounds. */
firn_status firn_parquet_record_bounds(firn_parquet_chunk_writer *writer,
                                       const firn_parquet_open_page *page,
                                       firn_parquet_page_record *record, firn_error *error);
firn_status firn_parquet_record_histograms(firn_parquet_chunk_writer *writer,
                                           const firn_parquet_open_page *page, firn_error *error);
firn_status firn_parquet_add_given_bounds(firn_parquet_bounds *bounds,
                                          const firn_parquet_given_bounds *given,
                                          firn_error *error);
/** Bounds of `values` values that were not seen become the chunk's, or stay to be given later. */
firn_status firn_parquet_cover_values(firn_parquet_chunk_writer *writer,
                                      const firn_parquet_given_bounds *given, int64_t values,
                                      firn_error *error);
void firn_parquet_clear_open_page(firn_parquet_open_page *page);
/** Takes levels of a batch or part into a page. */
firn_status firn_parquet_take_levels(const firn_parquet_leaf *leaf, firn_parquet_open_page *page,
                                     const uint8_t *definition, const uint8_t *repetition,
                                     size_t level_count, size_t value_count, firn_error *error);

/** Appends a finished page (`header` with sizes set, body in two parts) to `bytes` and to the encodings' counts. */
firn_status firn_parquet_emit_page(firn_parquet_chunk_writer *writer,
                                   firn_parquet_page_header *header, firn_slice first,
                                   firn_slice second, firn_parquet_page_record *record,
                                   firn_error *error);

/** Values that went to a PLAIN page: values[indices[0]] …, or without `indices` values[first] … (chunk_bloom.c). */
firn_status firn_parquet_bloom_take(firn_parquet_chunk_writer *writer,
                                    const firn_parquet_values *values, const uint32_t *indices,
                                    size_t first, size_t count, firn_error *error);
/** The finished filter into `out`; none where values went past it, on copied pages. */
firn_status firn_parquet_bloom_finish(firn_parquet_chunk_writer *writer, firn_buffer *out,
                                      firn_error *error);

/** The writer's dictionary as values; for BYTE_ARRAY *slices is allocated and is the caller's to free. */
firn_status firn_parquet_dictionary_values(const firn_parquet_dictionary *dictionary,
                                           firn_parquet_values *out, firn_slice **slices,
                                           firn_error *error);

#endif
