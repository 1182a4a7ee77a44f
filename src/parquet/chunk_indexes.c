#include "parquet/chunk_indexes.h"

#include "parquet/statistics_trust.h"

/* Header of a Bloom filter whose whole length the footer does not give. */
#define BLOOM_HEADER_SIZE 256

typedef struct fetch {
    const firn_parquet_file *file;
    const firn_parquet_leaf *leaf;
    const firn_parquet_row_group *group;
    const firn_parquet_column_chunk *chunk;
    uint64_t begin, end; /* of the chunk's pages, in the file */
    firn_arena *arena;
} fetch;

/* What is wrong with the structure becomes its problem; what is wrong with reading stays an error. */
static firn_status keep_problem(const fetch *state, firn_status status, const firn_error *problem,
                                const char **out, firn_error *error) {
    if (status == FIRN_OK) return FIRN_OK;
    if (status != FIRN_CORRUPT && status != FIRN_UNSUPPORTED && status != FIRN_LIMIT) {
        if (error != NULL) *error = *problem;
        return status;
    }
    *out = firn_arena_strdup(state->arena, problem->message);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status read_range(const fetch *state, int64_t offset, uint64_t size, const char *what,
                              firn_slice *out, firn_error *error) {
    const firn_read_at *source = &state->file->source;
    if (offset <= 0 || size == 0 || (uint64_t)offset > source->size ||
        size > source->size - (uint64_t)offset) {
        return firn_fail(error, FIRN_CORRUPT, "%s: %llu bytes of %s at %lld lie outside the file",
                         source->name, (unsigned long long)size, what, (long long)offset);
    }
    if (source->borrow != NULL) {
        const uint8_t *data = source->borrow(source->context, (uint64_t)offset, (size_t)size);
        if (data != NULL) {
            *out = firn_slice_of(data, (size_t)size);
            return FIRN_OK;
        }
    }
    void *memory = firn_arena_alloc(state->arena, (size_t)size, 1);
    if (memory == NULL) return firn_fail_memory(error);
    *out = firn_slice_of(memory, (size_t)size);
    return firn_read_at_exact(source, (uint64_t)offset, memory, (size_t)size, error);
}

/* Pages lie in the chunk one after the other, the first has row 0, and rows rise (PageIndex.md; parquet.thrift, OffsetIndex). */
static firn_status check_offset_index(const fetch *state, const firn_parquet_offset_index *index,
                                      firn_error *error) {
    uint64_t end = state->begin;
    int64_t row = 0;
    if (index->page_count == 0 && state->chunk->num_values > 0) {
        return firn_fail(error, FIRN_CORRUPT, "it has no pages");
    }
    for (size_t i = 0; i < index->page_count; i++) {
        const firn_parquet_page_location *page = &index->pages[i];
        if (i == 0
                ? page->first_row_index != 0
                : page->first_row_index < row || page->first_row_index > state->group->num_rows) {
            return firn_fail(error, FIRN_CORRUPT, "page %zu begins with row %lld after row %lld", i,
                             (long long)page->first_row_index, (long long)row);
        }
        row = page->first_row_index;
        if (page->offset < 0 || (uint64_t)page->offset < end ||
            (uint64_t)page->offset > state->end || page->compressed_page_size < 0 ||
            (uint64_t)page->compressed_page_size > state->end - (uint64_t)page->offset) {
            return firn_fail(error, FIRN_CORRUPT,
                             "page %zu at %lld with %d bytes does not follow in the chunk", i,
                             (long long)page->offset, (int)page->compressed_page_size);
        }
        end = (uint64_t)page->offset + (uint64_t)page->compressed_page_size;
    }
    return FIRN_OK;
}

static firn_status fetch_offset_index(const fetch *state, firn_parquet_chunk_indexes *out,
                                      firn_error *error) {
    firn_slice bytes = {0};
    uint64_t size =
        state->chunk->offset_index_length < 0 ? 0 : (uint64_t)state->chunk->offset_index_length;
    FIRN_TRY(
        read_range(state, state->chunk->offset_index_offset, size, "offset index", &bytes, error));
    FIRN_TRY(firn_parquet_parse_offset_index(bytes, state->file->source.name, state->arena,
                                             &out->offset_index, error));
    FIRN_TRY(check_offset_index(state, &out->offset_index, error));
    out->has_offset_index = true;
    return FIRN_OK;
}

bool firn_parquet_bound_fits(const firn_parquet_schema_element *element, firn_slice bound) {
    uint32_t width = firn_parquet_value_width(element->type, element->type_length);
    firn_parquet_order order = firn_parquet_order_of(element);
    if (bound.data == NULL || order == FIRN_PARQUET_ORDER_NONE) return false;
    if (element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY && order == FIRN_PARQUET_ORDER_BYTES) {
        /* Shortened, as byte arrays may be. */
        return bound.size <= width;
    }
    if (element->type != FIRN_PARQUET_BYTE_ARRAY && bound.size != width) return false;
    return !firn_parquet_is_nan(order, bound);
}

/* Whether the page is known to hold nothing at all: as the next one, or the end, comes with the same row. */
static bool is_empty_page(const fetch *state, const firn_parquet_chunk_indexes *out, size_t page) {
    if (!out->has_offset_index) return false;
    const firn_parquet_offset_index *index = &out->offset_index;
    int64_t next = page + 1 < index->page_count ? index->pages[page + 1].first_row_index
                                                : state->group->num_rows;
    return page < index->page_count && index->pages[page].first_row_index == next;
}

static firn_status check_entry(const fetch *state, const firn_parquet_column_index *index,
                               const firn_parquet_chunk_indexes *out, size_t page,
                               firn_error *error) {
    const firn_parquet_schema_element *element = state->leaf->node->element;
    int64_t nulls = index->null_counts == NULL ? 0 : index->null_counts[page];
    if (nulls < 0 || nulls > state->chunk->num_values) {
        return firn_fail(error, FIRN_CORRUPT, "page %zu has %lld nulls", page, (long long)nulls);
    }
    if (index->null_pages[page]) {
        if (nulls != 0 || index->null_counts == NULL || is_empty_page(state, out, page)) {
            return FIRN_OK;
        }
        return firn_fail(error, FIRN_CORRUPT, "page %zu holds only nulls, and none", page);
    }
    if (!firn_parquet_bound_fits(element, index->min_values[page]) ||
        !firn_parquet_bound_fits(element, index->max_values[page])) {
        return firn_fail(error, FIRN_CORRUPT, "page %zu has bounds that are no values of %s", page,
                         firn_parquet_type_name(element->type));
    }
    if (firn_parquet_compare(firn_parquet_order_of(element), index->min_values[page],
                             index->max_values[page]) > 0) {
        return firn_fail(error, FIRN_CORRUPT, "page %zu has a minimum above its maximum", page);
    }
    return FIRN_OK;
}

/* parquet.thrift, ColumnIndex.boundary_order: null pages are passed over. */
static firn_status check_boundary_order(const fetch *state, const firn_parquet_column_index *index,
                                        firn_error *error) {
    firn_parquet_order order = firn_parquet_order_of(state->leaf->node->element);
    size_t before = SIZE_MAX;
    if (index->boundary_order == FIRN_PARQUET_UNORDERED) return FIRN_OK;
    for (size_t i = 0; i < index->page_count; i++) {
        if (index->null_pages[i]) continue;
        if (before != SIZE_MAX) {
            int minimum =
                firn_parquet_compare(order, index->min_values[before], index->min_values[i]);
            int maximum =
                firn_parquet_compare(order, index->max_values[before], index->max_values[i]);
            bool ascending = index->boundary_order == FIRN_PARQUET_ASCENDING;
            if (ascending ? minimum > 0 || maximum > 0 : minimum < 0 || maximum < 0) {
                return firn_fail(error, FIRN_CORRUPT,
                                 "its pages are said to be in order, but page %zu is not", i);
            }
        }
        before = i;
    }
    return FIRN_OK;
}

static firn_status check_column_index(const fetch *state, const firn_parquet_column_index *index,
                                      firn_parquet_chunk_indexes *out, firn_error *error) {
    if (firn_parquet_order_of(state->leaf->node->element) == FIRN_PARQUET_ORDER_NONE ||
        !firn_parquet_has_type_order(state->file->metadata, (size_t)state->leaf->index)) {
        out->column_index_undefined = true;
        return firn_fail(error, FIRN_UNSUPPORTED, "the order of its bounds is not defined");
    }
    if (out->has_offset_index && out->offset_index.page_count != index->page_count) {
        return firn_fail(error, FIRN_CORRUPT, "%zu pages where the offset index has %zu",
                         index->page_count, out->offset_index.page_count);
    }
    for (size_t i = 0; i < index->page_count; i++)
        FIRN_TRY(check_entry(state, index, out, i, error));
    size_t definition = state->leaf->maximum_definition_level + 1U;
    size_t repetition = state->leaf->maximum_repetition_level + 1U;
    if ((index->definition_level_histograms != NULL &&
         index->definition_level_histograms_count != 0 &&
         index->definition_level_histograms_count != definition * index->page_count) ||
        (index->repetition_level_histograms != NULL &&
         index->repetition_level_histograms_count != 0 &&
         index->repetition_level_histograms_count != repetition * index->page_count)) {
        return firn_fail(error, FIRN_CORRUPT, "a histogram has the wrong length");
    }
    return check_boundary_order(state, index, error);
}

static firn_status fetch_column_index(const fetch *state, firn_parquet_chunk_indexes *out,
                                      firn_error *error) {
    firn_slice bytes = {0};
    uint64_t size =
        state->chunk->column_index_length < 0 ? 0 : (uint64_t)state->chunk->column_index_length;
    FIRN_TRY(
        read_range(state, state->chunk->column_index_offset, size, "column index", &bytes, error));
    FIRN_TRY(firn_parquet_parse_column_index(bytes, state->file->source.name, state->arena,
                                             &out->column_index, error));
    FIRN_TRY(check_column_index(state, &out->column_index, out, error));
    out->has_column_index = true;
    return FIRN_OK;
}

static firn_status fetch_bloom_filter(const fetch *state, firn_parquet_chunk_indexes *out,
                                      firn_error *error) {
    const char *name = state->file->source.name;
    int64_t offset = state->chunk->bloom_filter_offset;
    int32_t length = state->chunk->bloom_filter_length;
    firn_slice bytes = {0};
    if (length <= 0) {
        uint64_t rest = offset > 0 && (uint64_t)offset < state->file->source.size
                            ? state->file->source.size - (uint64_t)offset
                            : 0;
        size_t header = 0, bitset = 0;
        FIRN_TRY(read_range(state, offset, rest < BLOOM_HEADER_SIZE ? rest : BLOOM_HEADER_SIZE,
                            "Bloom filter", &bytes, error));
        FIRN_TRY(firn_parquet_bloom_header_parse(bytes, (uint64_t)offset, name, &header, &bitset,
                                                 error));
        length = (int32_t)(header + bitset);
    }
    FIRN_TRY(read_range(state, offset, (uint64_t)length, "Bloom filter", &bytes, error));
    FIRN_TRY(firn_parquet_bloom_filter_parse(bytes, (uint64_t)offset, name, true,
                                             &out->bloom_filter, error));
    out->has_bloom_filter = true;
    return FIRN_OK;
}

firn_status firn_parquet_chunk_indexes_read(const firn_parquet_file *file, size_t row_group,
                                            size_t leaf, unsigned what, firn_arena *arena,
                                            firn_parquet_chunk_indexes *out, firn_error *error) {
    uint64_t size = 0;
    fetch state = {.file = file, .arena = arena};
    *out = (firn_parquet_chunk_indexes){0};
    FIRN_TRY(firn_parquet_chunk_range(file, row_group, leaf, &state.begin, &size, error));
    state.end = state.begin + size;
    state.leaf = &file->schema->leaves[leaf];
    state.group = &file->metadata->row_groups[row_group];
    state.chunk = &state.group->columns[leaf];
    /* Those of an encrypted column are encrypted too. */
    if (state.chunk->encrypted || state.chunk->file_path != NULL) return FIRN_OK;
    firn_error problem = {0};
    if (state.chunk->has_offset_index && (what & FIRN_PARQUET_FETCH_OFFSET_INDEX) != 0) {
        firn_status status = fetch_offset_index(&state, out, &problem);
        FIRN_TRY(keep_problem(&state, status, &problem, &out->offset_index_problem, error));
    }
    if (state.chunk->has_column_index && (what & FIRN_PARQUET_FETCH_COLUMN_INDEX) != 0) {
        firn_status status = fetch_column_index(&state, out, &problem);
        FIRN_TRY(keep_problem(&state, status, &problem, &out->column_index_problem, error));
    }
    if (state.chunk->has_bloom_filter && (what & FIRN_PARQUET_FETCH_BLOOM_FILTER) != 0) {
        firn_status status = fetch_bloom_filter(&state, out, &problem);
        FIRN_TRY(keep_problem(&state, status, &problem, &out->bloom_filter_problem, error));
    }
    return FIRN_OK;
}
