/** The inside of rewriting one leaf: rewrite.c walks pieces and pages, rewrite_copy.c judges what may be copied, rewrite_levels.c cuts and maps levels. */
#ifndef FIRN_PARQUET_REWRITE_INTERNAL_H
#define FIRN_PARQUET_REWRITE_INTERNAL_H

#include "parquet/convert.h"
#include "parquet/rewrite.h"
#include "parquet/scratch.h"

typedef struct firn_parquet_rewriter {
    const firn_parquet_schema *output_schema;
    const firn_parquet_leaf *output;
    size_t leaf_index;
    const firn_parquet_write_options *options;
    bool copy_pages;
    firn_parquet_chunk_writer *writer;
    firn_parquet_chunk_reader *reader; /**< NULL until a piece needs one */
    firn_parquet_converter converter;
    firn_parquet_scratch definition_levels, repetition_levels,
        zeros; /**< of the batch on its way */
    firn_slice constant_slice;
    uint64_t next_constant_id; /**< counts down, away from the readers' dictionary ids */
    /* A converted dictionary, kept while the input's stays the same. */
    bool dictionary_converted;
    uint64_t converted_id;
    firn_parquet_values converted_dictionary;
    firn_parquet_rewrite_counts counts;

    /* The piece at hand. */
    const firn_parquet_piece *piece;
    const firn_parquet_leaf_mapping *mapping;
    const firn_parquet_leaf *input; /**< NULL where there is none */
    bool whole_row_group;
    bool may_copy;
    int64_t rows_begun;    /**< in the input chunk, before the page at hand */
    int64_t copied_values; /**< of the piece */
    bool page_encoded;     /**< a page of the piece went the other way */
} firn_parquet_rewriter;

/** Whether pages of the piece's chunk may be copied at all: rows, levels, type, meaning and codec stay. */
bool firn_parquet_piece_may_be_copied(const firn_parquet_rewriter *rewriter);
/** Of a piece's compressed bytes, those in PLAIN pages as far as the footer tells. */
int64_t firn_parquet_piece_plain_bytes(const firn_parquet_rewriter *rewriter, int64_t *total);
/** Whether this page of such a chunk may be, and is worth it. */
bool firn_parquet_page_may_be_copied(const firn_parquet_rewriter *rewriter,
                                     const firn_parquet_page *page);
/** Copies it. */
firn_status firn_parquet_copy_page(firn_parquet_rewriter *rewriter, const firn_parquet_page *page,
                                   firn_error *error);
/** After the piece's last page: the chunk's statistics for what was copied. */
firn_status firn_parquet_merge_piece_statistics(firn_parquet_rewriter *rewriter, firn_error *error);

/** Checks the mapping of the piece against both leaves: INVALID. */
firn_status firn_parquet_check_mapping(const firn_parquet_rewriter *rewriter, firn_error *error);
/**
 * Cuts the levels of a decoded page down to the piece's rows and maps them to the output's. `batch` comes with its values;
 * those of *out are the part that belongs to the levels kept. *past when a row behind the piece's last was met.
 */
firn_status firn_parquet_map_batch(firn_parquet_rewriter *rewriter, const firn_parquet_batch *batch,
                                   firn_parquet_batch *out, int64_t *rows, bool *past,
                                   firn_error *error);
/** Gives `count` values the mapping's constant. CORRUPT where it has none. */
firn_status firn_parquet_set_constant(firn_parquet_rewriter *rewriter, firn_parquet_batch *batch,
                                      size_t count, firn_error *error);

#endif
