/* Which bounds and NaN counts of an input may become the output's: those that can be trusted (statistics_trust.h), of a leaf in the same order. */
#include "parquet/rewrite_internal.h"
#include "parquet/statistics_trust.h"

const firn_parquet_column_chunk *firn_parquet_chunk_of(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_row_group *group =
        &rewriter->piece->file->metadata->row_groups[rewriter->piece->row_group];
    return &group->columns[rewriter->mapping->input_leaf];
}

bool firn_parquet_trusted_page_bounds(const firn_parquet_rewriter *rewriter,
                                      const firn_parquet_statistics *statistics,
                                      firn_parquet_given_bounds *out) {
    firn_parquet_order order = firn_parquet_order_of(rewriter->input->node->element);
    if (order != firn_parquet_order_of(rewriter->output->node->element)) return false;
    firn_parquet_trusted_pair bounds =
        firn_parquet_trust_bounds(rewriter->piece->file->metadata, rewriter->input, statistics);
    if (bounds.minimum.data == NULL || bounds.maximum.data == NULL) return false;
    out->minimum = bounds.minimum;
    out->maximum = bounds.maximum;
    out->inexact = !bounds.minimum_exact || !bounds.maximum_exact;
    return true;
}

bool firn_parquet_trusted_bounds(const firn_parquet_rewriter *rewriter,
                                 firn_parquet_given_bounds *out) {
    return firn_parquet_trusted_page_bounds(rewriter, &firn_parquet_chunk_of(rewriter)->statistics,
                                            out);
}

/* A damaged index is one that is not there. */
static void load_index(firn_parquet_rewriter *rewriter) {
    const firn_parquet_column_chunk *chunk = firn_parquet_chunk_of(rewriter);
    const firn_read_at *source = &rewriter->piece->file->source;
    rewriter->column_index = (firn_parquet_column_index){0};
    if (!chunk->has_column_index || source->borrow == NULL || chunk->column_index_offset < 0 ||
        chunk->column_index_length <= 0 || (uint64_t)chunk->column_index_offset > source->size ||
        (uint64_t)chunk->column_index_length >
            source->size - (uint64_t)chunk->column_index_offset) {
        return;
    }
    size_t size = (size_t)chunk->column_index_length;
    const uint8_t *bytes =
        source->borrow(source->context, (uint64_t)chunk->column_index_offset, size);
    firn_arena_free(rewriter->index_arena);
    rewriter->index_arena = firn_arena_new();
    if (bytes == NULL || rewriter->index_arena == NULL) return;
    if (firn_parquet_parse_column_index(firn_slice_of(bytes, size), source->name,
                                        rewriter->index_arena, &rewriter->column_index,
                                        NULL) != FIRN_OK) {
        rewriter->column_index = (firn_parquet_column_index){0};
    }
}

bool firn_parquet_indexed_bounds(firn_parquet_rewriter *rewriter, size_t page_number,
                                 firn_parquet_given_bounds *out) {
    if (!rewriter->index_loaded) load_index(rewriter);
    rewriter->index_loaded = true;
    const firn_parquet_column_index *index = &rewriter->column_index;
    if (page_number >= index->page_count || index->null_pages[page_number]) return false;
    firn_parquet_statistics statistics = {.min_value = index->min_values[page_number],
                                          .max_value = index->max_values[page_number]};
    if (!firn_parquet_trusted_page_bounds(rewriter, &statistics, out)) return false;
    /* Byte arrays in an index may be more compact ones that are not on the page (parquet.thrift, ColumnIndex). */
    if (rewriter->input->node->element->type == FIRN_PARQUET_BYTE_ARRAY) out->inexact = true;
    return true;
}

int64_t firn_parquet_known_nan_count(const firn_parquet_rewriter *rewriter) {
    if (!firn_parquet_order_has_nan(firn_parquet_order_of(rewriter->output->node->element))) {
        return 0;
    }
    const int64_t *told = rewriter->piece->nan_counts;
    if (told != NULL && told[rewriter->leaf_index] >= 0) return told[rewriter->leaf_index];
    return firn_parquet_trust_nan_count(rewriter->input, firn_parquet_chunk_of(rewriter));
}

firn_status firn_parquet_merge_piece_statistics(firn_parquet_rewriter *rewriter,
                                                firn_error *error) {
    if (rewriter->copied_values == 0) return FIRN_OK;
    firn_parquet_given_bounds bounds = {0};
    if (!firn_parquet_trusted_bounds(rewriter, &bounds)) bounds = (firn_parquet_given_bounds){0};
    /* The chunk's count is that of the values without bounds only if there are no others, or no NaN. */
    int64_t nan_count = firn_parquet_known_nan_count(rewriter);
    if (nan_count > 0 && (rewriter->page_encoded || !rewriter->rows.all)) nan_count = -1;
    /* A row that goes may have held the chunk's least or greatest value. */
    bool exact = rewriter->rows.all && !bounds.inexact;
    return firn_parquet_chunk_writer_merge_statistics(rewriter->writer, bounds.minimum,
                                                      bounds.maximum, exact, nan_count, error);
}
