/**
 * What a rewriter knows of a chunk writer and gives to it besides batches and whole pages: the merged dictionary of all that will come and
 * indices into it, and encoded values that are already compressed. Not thread-safe, as the writer.
 */
#ifndef FIRN_PARQUET_CHUNK_PART_H
#define FIRN_PARQUET_CHUNK_PART_H

#include "parquet/chunk_writer.h"
#include "parquet/dictionary.h"
#include "parquet/statistics.h"

/** By what order the leaf's bounds and NaN counts are found; NONE: not at all, since the leaf has no order or the options want no statistics. */
firn_parquet_order firn_parquet_measured_order(const firn_parquet_write_options *options,
                                               const firn_parquet_leaf *leaf);

/** Takes the dictionary over (*dictionary is then empty), before anything is appended: index pages begin with it. */
firn_status firn_parquet_chunk_writer_set_dictionary(firn_parquet_chunk_writer *writer,
                                                     firn_parquet_dictionary *dictionary,
                                                     firn_error *error);
/** As firn_parquet_chunk_writer_append, where batch->indices are the set dictionary's and batch->values is not looked at. */
firn_status firn_parquet_chunk_writer_append_indices(firn_parquet_chunk_writer *writer,
                                                     const firn_parquet_batch *batch,
                                                     firn_error *error);

/** Bounds of values that are not decoded. */
typedef struct firn_parquet_given_bounds {
    bool known; /**< and `nan_count` too, unless `page_only` */
    bool
        page_only; /**< good for the page; those of the chunk come by firn_parquet_chunk_writer_merge_statistics */
    firn_slice minimum, maximum; /**< data NULL: no value but NaN */
    bool inexact;                /**< the values may be narrower */
    int64_t nan_count;
} firn_parquet_given_bounds;

/** Encoded values in compressed form, with their levels. Begins where a row begins, ends where one ends. */
typedef struct firn_parquet_part {
    size_t level_count, value_count;
    const uint8_t
        *definition_levels; /**< in terms of the output leaf; NULL when its maximum is 0 */
    const uint8_t *repetition_levels; /**< likewise */
    int64_t row_count;
    firn_parquet_encoding encoding; /**< no dictionary encoding */
    firn_slice body;                /**< the values in the writer's codec, unless `stored` */
    size_t raw_size;                /**< of the values, decompressed */
    bool
        stored; /**< the body is not compressed though the chunk has a codec (v2's is_compressed) */
    bool alone; /**< gets a page of its own, of one frame where there are no levels in it */
    firn_parquet_given_bounds bounds;
} firn_parquet_part;

/** Whether the writer takes whole pages of the set dictionary's indices now (firn_parquet_chunk_writer_append_bounded_page). */
bool firn_parquet_chunk_writer_takes_index_pages(const firn_parquet_chunk_writer *writer);

/** Whether the codec's compressed data can be joined (codec/codec.h). */
bool firn_parquet_options_can_join(const firn_parquet_write_options *options);
/** Whether the writer takes parts now: its pages are PLAIN, and the codec can be joined or levels lie outside of the compressed bytes. */
bool firn_parquet_chunk_writer_takes_parts(const firn_parquet_chunk_writer *writer, bool may_join);

/**
 * Puts the part on a page of PLAIN or otherwise encoded values, together with neighbours of the same encoding up to the page
 * size. Bounds that are not given come by firn_parquet_chunk_writer_merge_statistics, as those of copied pages.
 */
firn_status firn_parquet_chunk_writer_append_part(firn_parquet_chunk_writer *writer,
                                                  const firn_parquet_part *part, firn_error *error);

/** firn_parquet_chunk_writer_append_page with bounds; without (known false) it is the same. Pages of the set dictionary's indices are taken too. */
firn_status firn_parquet_chunk_writer_append_bounded_page(firn_parquet_chunk_writer *writer,
                                                          const firn_parquet_page *page,
                                                          int64_t row_count, int64_t null_count,
                                                          const firn_parquet_given_bounds *bounds,
                                                          firn_error *error);

#endif
