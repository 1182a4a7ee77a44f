/* Which bounds and NaN counts of an input may become the output's. What can't be trusted is left out, never guessed. */
#include "parquet/rewrite_internal.h"

const firn_parquet_column_chunk *firn_parquet_chunk_of(const firn_parquet_rewriter *rewriter) {
    const firn_parquet_row_group *group =
        &rewriter->piece->file->metadata->row_groups[rewriter->piece->row_group];
    return &group->columns[rewriter->mapping->input_leaf];
}

/* The deprecated pair was compared as signed, by some writers even where that was wrong (parquet.thrift, Statistics). */
static bool deprecated_is_trusted(firn_parquet_order order, const firn_parquet_statistics *s) {
    switch (order) {
    case FIRN_PARQUET_ORDER_BOOLEAN:
    case FIRN_PARQUET_ORDER_INT32:
    case FIRN_PARQUET_ORDER_INT64: return true;
    case FIRN_PARQUET_ORDER_FLOAT:
    case FIRN_PARQUET_ORDER_DOUBLE:
    case FIRN_PARQUET_ORDER_FLOAT16:
    case FIRN_PARQUET_ORDER_NONE: return false;
    default: return firn_slice_equal(s->deprecated_min, s->deprecated_max);
    }
}

static bool fits_width(const firn_parquet_schema_element *element, firn_slice bound) {
    return element->type == FIRN_PARQUET_BYTE_ARRAY ||
           bound.size == firn_parquet_value_width(element->type, element->type_length);
}

bool firn_parquet_trusted_page_bounds(const firn_parquet_rewriter *rewriter,
                                      const firn_parquet_statistics *statistics,
                                      firn_parquet_given_bounds *out) {
    const firn_parquet_file_metadata *metadata = rewriter->piece->file->metadata;
    const firn_parquet_schema_element *element = rewriter->input->node->element;
    firn_parquet_order order = firn_parquet_order_of(element);
    size_t leaf = (size_t)rewriter->mapping->input_leaf;
    if (order == FIRN_PARQUET_ORDER_NONE ||
        order != firn_parquet_order_of(rewriter->output->node->element)) {
        return false;
    }
    if (statistics->min_value.data != NULL && statistics->max_value.data != NULL &&
        metadata->column_orders != NULL && leaf < metadata->column_order_count &&
        metadata->column_orders[leaf] == 1) {
        out->minimum = statistics->min_value;
        out->maximum = statistics->max_value;
        out->inexact = (statistics->has_min_exact && !statistics->min_exact) ||
                       (statistics->has_max_exact && !statistics->max_exact);
    } else if (statistics->deprecated_min.data != NULL && statistics->deprecated_max.data != NULL &&
               deprecated_is_trusted(order, statistics)) {
        out->minimum = statistics->deprecated_min;
        out->maximum = statistics->deprecated_max;
        out->inexact = false;
    } else {
        return false;
    }
    if (!fits_width(element, out->minimum) || !fits_width(element, out->maximum)) return false;
    if (firn_parquet_is_nan(order, out->minimum) || firn_parquet_is_nan(order, out->maximum)) {
        return false;
    }
    return firn_parquet_compare(order, out->minimum, out->maximum) <= 0;
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
    const firn_parquet_statistics *statistics = &firn_parquet_chunk_of(rewriter)->statistics;
    int64_t count = -1;
    if (rewriter->piece->nan_counts != NULL) {
        count = rewriter->piece->nan_counts[rewriter->leaf_index];
    }
    if (count < 0 && statistics->has_nan_count) count = statistics->nan_count;
    if (!firn_parquet_order_has_nan(firn_parquet_order_of(rewriter->output->node->element))) {
        return 0;
    }
    return count < 0 ? -1 : count;
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
