/*
 * A look at some entries of the first dictionaries before all are merged: where each piece brings values of its own the merged
 * dictionary does not pay, and to look up all of their entries would be work for nothing.
 */
#include "parquet/dictionary.h"
#include "parquet/rewrite_internal.h"

/* One entry in so many is looked at. */
#define SAMPLED_SHARE ((uint64_t)1 << FIRN_PARQUET_SAMPLE_BITS)

typedef struct sample {
    firn_parquet_dictionary seen;
    uint64_t entries; /* looked at */
    int64_t values;   /* of the pieces so far */
    size_t pieces;
    bool pays; /* the first dictionary does, by itself */
} sample;

/* The page's header tells how many entries it has: it need not be decompressed. */
static firn_status first_pays(firn_parquet_rewriter *rewriter, bool *pays, firn_error *error) {
    FIRN_TRY(firn_parquet_open_chunk(rewriter, error));
    firn_parquet_chunk_reader_leave_dictionary(rewriter->reader);
    FIRN_TRY(firn_parquet_chunk_reader_load_dictionary(rewriter->reader, error));
    int64_t entries =
        firn_parquet_chunk_reader_dictionary_page(rewriter->reader)->header.num_values;
    *pays = entries <= firn_parquet_values_of_piece(rewriter) / 2;
    return FIRN_OK;
}

static firn_status sample_piece(firn_parquet_rewriter *rewriter, sample *work, firn_error *error) {
    size_t taken = 0;
    if (work->pieces == 0) FIRN_TRY(first_pays(rewriter, &work->pays, error));
    if (work->pays) return FIRN_OK;
    FIRN_TRY(firn_parquet_open_chunk(rewriter, error));
    FIRN_TRY(firn_parquet_chunk_reader_load_dictionary(rewriter->reader, error));
    FIRN_TRY(firn_parquet_dictionary_sample(
        &work->seen, firn_parquet_chunk_reader_dictionary(rewriter->reader), &taken, error));
    work->entries += taken;
    work->values += firn_parquet_values_of_piece(rewriter);
    work->pieces++;
    return FIRN_OK;
}

static bool has_seen_enough(const sample *work) {
    return work->pays || (work->pieces > 1 && work->values >= FIRN_PARQUET_HOPELESS_VALUES);
}

static firn_status sample_pieces(firn_parquet_rewriter *rewriter, const firn_parquet_piece *pieces,
                                 sample *work, firn_error *error) {
    for (size_t i = 0; i < rewriter->piece_count && !has_seen_enough(work); i++) {
        FIRN_TRY(firn_parquet_set_piece(rewriter, pieces, i, error));
        if (!firn_parquet_piece_has_dictionary(rewriter)) continue;
        FIRN_TRY(sample_piece(rewriter, work, error));
    }
    return FIRN_OK;
}

firn_status firn_parquet_sample_dictionaries(firn_parquet_rewriter *rewriter,
                                             const firn_parquet_piece *pieces, bool *hopeless,
                                             firn_error *error) {
    const firn_parquet_schema_element *element = rewriter->output->node->element;
    sample work = {0};
    firn_parquet_dictionary_init(&work.seen, element->type,
                                 firn_parquet_value_width(element->type, element->type_length),
                                 SIZE_MAX);
    firn_status status = sample_pieces(rewriter, pieces, &work, error);
    uint64_t distinct = work.seen.count * SAMPLED_SHARE;
    *hopeless =
        !work.pays && firn_parquet_is_hopeless(distinct, work.entries * SAMPLED_SHARE, work.values);
    firn_parquet_dictionary_release(&work.seen);
    return status;
}
