#include "parquet/metadata_internal.h"

static firn_status read_location(firn_thrift_reader *reader, firn_parquet_page_location *out,
                                 firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        switch (field.id) {
        case 1: FIRN_TRY(firn_thrift_i64(reader, &field, "offset", &out->offset, error)); break;
        case 2:
            FIRN_TRY(firn_thrift_i32(reader, &field, "compressed_page_size",
                                     &out->compressed_page_size, error));
            break;
        case 3:
            FIRN_TRY(
                firn_thrift_i64(reader, &field, "first_row_index", &out->first_row_index, error));
            break;
        default: FIRN_TRY(firn_thrift_skip(reader, field.type, error));
        }
    }
    FIRN_TRY(firn_thrift_require(reader, &field, 1, "PageLocation.offset", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 2, "PageLocation.compressed_page_size", error));
    return firn_thrift_require(reader, &field, 3, "PageLocation.first_row_index", error);
}

static firn_status read_locations(firn_thrift_reader *reader, const firn_thrift_field *field,
                                  firn_parquet_offset_index *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(firn_thrift_list(reader, field, "page_locations", FIRN_THRIFT_STRUCT, &count, &item,
                              error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->pages, &memory, error));
    firn_parquet_page_location *pages = memory;
    for (size_t i = 0; i < count; i++) FIRN_TRY(read_location(reader, &pages[i], error));
    out->pages = pages;
    out->page_count = count;
    return FIRN_OK;
}

firn_status firn_parquet_parse_offset_index(firn_slice bytes, const char *name, firn_arena *arena,
                                            firn_parquet_offset_index *out, firn_error *error) {
    firn_thrift_reader reader = firn_thrift_reader_of(bytes, 0, name, arena);
    *out = (firn_parquet_offset_index){0};
    firn_thrift_field field = {0};
    size_t sizes = 0;
    for (;;) {
        FIRN_TRY(firn_thrift_next(&reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        switch (field.id) {
        case 1: FIRN_TRY(read_locations(&reader, &field, out, error)); break;
        case 2:
            FIRN_TRY(firn_thrift_list_i64(&reader, &field, "unencoded_byte_array_data_bytes",
                                          &out->unencoded_byte_array_bytes, &sizes, error));
            break;
        default: FIRN_TRY(firn_thrift_skip(&reader, field.type, error));
        }
    }
    FIRN_TRY(firn_thrift_require(&reader, &field, 1, "OffsetIndex.page_locations", error));
    if (out->unencoded_byte_array_bytes == NULL || sizes == out->page_count) return FIRN_OK;
    return firn_thrift_fail(&reader, "unencoded_byte_array_data_bytes", error,
                            "%zu entries for %zu pages", sizes, out->page_count);
}

static firn_status check_count(const firn_thrift_reader *reader, const char *what, size_t count,
                               size_t pages, firn_error *error) {
    if (count == pages) return FIRN_OK;
    return firn_thrift_fail(reader, what, error, "%zu entries for %zu pages", count, pages);
}

static firn_status read_null_pages(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_column_index *out, firn_error *error) {
    firn_thrift_field item = {0};
    FIRN_TRY(firn_thrift_list(reader, field, "null_pages", FIRN_THRIFT_TRUE, &out->page_count,
                              &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, out->page_count, sizeof(bool), &memory, error));
    bool *pages = memory;
    for (size_t i = 0; i < out->page_count; i++) {
        FIRN_TRY(firn_thrift_list_bool(reader, "null_pages", &pages[i], error));
    }
    out->null_pages = pages;
    return FIRN_OK;
}

static firn_status read_slices(firn_thrift_reader *reader, const firn_thrift_field *field,
                               const char *what, const firn_slice **out, size_t *count,
                               firn_error *error) {
    firn_thrift_field item = {0};
    FIRN_TRY(firn_thrift_list(reader, field, what, FIRN_THRIFT_BINARY, count, &item, error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, *count, sizeof(firn_slice), &memory, error));
    firn_slice *slices = memory;
    for (size_t i = 0; i < *count; i++) {
        FIRN_TRY(firn_thrift_binary(reader, &item, what, &slices[i], error));
        FIRN_TRY(firn_thrift_copy(reader, &slices[i], error));
    }
    *out = slices;
    return FIRN_OK;
}

typedef struct index_counts {
    size_t minima, maxima, nulls, nans;
} index_counts;

static firn_status read_index_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                    firn_parquet_column_index *out, index_counts *counts,
                                    firn_error *error) {
    int32_t order = 0;
    switch (field->id) {
    case 1: return read_null_pages(reader, field, out, error);
    case 2:
        return read_slices(reader, field, "min_values", &out->min_values, &counts->minima, error);
    case 3:
        return read_slices(reader, field, "max_values", &out->max_values, &counts->maxima, error);
    case 4:
        FIRN_TRY(firn_thrift_i32(reader, field, "boundary_order", &order, error));
        /* An order that this version does not know promises nothing. */
        if (order < 0 || order > FIRN_PARQUET_DESCENDING) order = FIRN_PARQUET_UNORDERED;
        out->boundary_order = (firn_parquet_boundary_order)order;
        return FIRN_OK;
    case 5:
        return firn_thrift_list_i64(reader, field, "null_counts", &out->null_counts, &counts->nulls,
                                    error);
    case 6:
        return firn_thrift_list_i64(reader, field, "repetition_level_histograms",
                                    &out->repetition_level_histograms,
                                    &out->repetition_level_histograms_count, error);
    case 7:
        return firn_thrift_list_i64(reader, field, "definition_level_histograms",
                                    &out->definition_level_histograms,
                                    &out->definition_level_histograms_count, error);
    case 8:
        return firn_thrift_list_i64(reader, field, "nan_counts", &out->nan_counts, &counts->nans,
                                    error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

firn_status firn_parquet_parse_column_index(firn_slice bytes, const char *name, firn_arena *arena,
                                            firn_parquet_column_index *out, firn_error *error) {
    firn_thrift_reader reader = firn_thrift_reader_of(bytes, 0, name, arena);
    *out = (firn_parquet_column_index){0};
    index_counts counts = {0};
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(&reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_index_field(&reader, &field, out, &counts, error));
    }
    for (int id = 1; id <= 4; id++) {
        FIRN_TRY(firn_thrift_require(&reader, &field, id, "ColumnIndex", error));
    }
    FIRN_TRY(check_count(&reader, "min_values", counts.minima, out->page_count, error));
    FIRN_TRY(check_count(&reader, "max_values", counts.maxima, out->page_count, error));
    if (out->nan_counts != NULL) {
        FIRN_TRY(check_count(&reader, "nan_counts", counts.nans, out->page_count, error));
    }
    if (out->null_counts == NULL) return FIRN_OK;
    return check_count(&reader, "null_counts", counts.nulls, out->page_count, error);
}

firn_status firn_parquet_write_offset_index(const firn_parquet_offset_index *index,
                                            firn_buffer *out, firn_error *error) {
    firn_thrift_writer writer = firn_thrift_writer_of(out, error);
    firn_thrift_write_list(&writer, 1, FIRN_THRIFT_STRUCT, index->page_count);
    for (size_t i = 0; i < index->page_count; i++) {
        firn_thrift_write_item_struct(&writer);
        firn_thrift_write_i64(&writer, 1, index->pages[i].offset);
        firn_thrift_write_i32(&writer, 2, index->pages[i].compressed_page_size);
        firn_thrift_write_i64(&writer, 3, index->pages[i].first_row_index);
        firn_thrift_write_end(&writer);
    }
    if (index->unencoded_byte_array_bytes != NULL) {
        firn_thrift_write_list_i64(&writer, 2, index->unencoded_byte_array_bytes,
                                   index->page_count);
    }
    firn_thrift_write_end(&writer);
    return writer.status;
}

static void write_slices(firn_thrift_writer *writer, int id, const firn_slice *slices,
                         size_t count) {
    firn_thrift_write_list(writer, id, FIRN_THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++) firn_thrift_write_item_binary(writer, slices[i]);
}

firn_status firn_parquet_write_column_index(const firn_parquet_column_index *index,
                                            firn_buffer *out, firn_error *error) {
    firn_thrift_writer writer = firn_thrift_writer_of(out, error);
    /* 1 in an element's header is the type that parquet-java writes for bool. */
    firn_thrift_write_list(&writer, 1, FIRN_THRIFT_TRUE, index->page_count);
    for (size_t i = 0; i < index->page_count; i++) {
        firn_thrift_write_item_bool(&writer, index->null_pages[i]);
    }
    write_slices(&writer, 2, index->min_values, index->page_count);
    write_slices(&writer, 3, index->max_values, index->page_count);
    firn_thrift_write_i32(&writer, 4, (int32_t)index->boundary_order);
    if (index->null_counts != NULL) {
        firn_thrift_write_list_i64(&writer, 5, index->null_counts, index->page_count);
    }
    if (index->repetition_level_histograms != NULL) {
        firn_thrift_write_list_i64(&writer, 6, index->repetition_level_histograms,
                                   index->repetition_level_histograms_count);
    }
    if (index->definition_level_histograms != NULL) {
        firn_thrift_write_list_i64(&writer, 7, index->definition_level_histograms,
                                   index->definition_level_histograms_count);
    }
    if (index->nan_counts != NULL) {
        firn_thrift_write_list_i64(&writer, 8, index->nan_counts, index->page_count);
    }
    firn_thrift_write_end(&writer);
    return writer.status;
}
