#include "parquet/metadata_internal.h"

static firn_status read_encodings(firn_thrift_reader *reader, const firn_thrift_field *field,
                                  firn_parquet_column_chunk *out, firn_error *error) {
    firn_thrift_field item = {0};
    FIRN_TRY(firn_thrift_list(reader, field, "encodings", FIRN_THRIFT_I32, &out->encoding_count,
                              &item, error));
    void *memory = NULL;
    FIRN_TRY(
        firn_thrift_alloc(reader, out->encoding_count, sizeof *out->encodings, &memory, error));
    firn_parquet_encoding *encodings = memory;
    for (size_t i = 0; i < out->encoding_count; i++) {
        int32_t value = 0;
        FIRN_TRY(firn_thrift_i32(reader, &item, "encodings", &value, error));
        encodings[i] = (firn_parquet_encoding)value;
    }
    out->encodings = encodings;
    return FIRN_OK;
}

static firn_status read_path(firn_thrift_reader *reader, const firn_thrift_field *field,
                             firn_parquet_column_chunk *out, firn_error *error) {
    firn_thrift_field item = {0};
    FIRN_TRY(firn_thrift_list(reader, field, "path_in_schema", FIRN_THRIFT_BINARY,
                              &out->path_length, &item, error));
    void *memory = NULL;
    FIRN_TRY(
        firn_thrift_alloc(reader, out->path_length, sizeof *out->path_in_schema, &memory, error));
    out->path_in_schema = memory;
    for (size_t i = 0; i < out->path_length; i++) {
        FIRN_TRY(firn_thrift_text(reader, &item, "path_in_schema", &out->path_in_schema[i], error));
    }
    return FIRN_OK;
}

static firn_status read_encoding_stat(firn_thrift_reader *reader,
                                      firn_parquet_page_encoding_stats *out, firn_error *error) {
    firn_thrift_field field = {0};
    int32_t page_type = 0;
    int32_t encoding = 0;
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        switch (field.id) {
        case 1: FIRN_TRY(firn_thrift_i32(reader, &field, "page_type", &page_type, error)); break;
        case 2: FIRN_TRY(firn_thrift_i32(reader, &field, "encoding", &encoding, error)); break;
        case 3: FIRN_TRY(firn_thrift_i32(reader, &field, "count", &out->count, error)); break;
        default: FIRN_TRY(firn_thrift_skip(reader, field.type, error));
        }
    }
    FIRN_TRY(firn_thrift_require(reader, &field, 1, "PageEncodingStats.page_type", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 2, "PageEncodingStats.encoding", error));
    FIRN_TRY(firn_thrift_require(reader, &field, 3, "PageEncodingStats.count", error));
    out->page_type = (firn_parquet_page_type)page_type;
    out->encoding = (firn_parquet_encoding)encoding;
    return FIRN_OK;
}

static firn_status read_encoding_stats(firn_thrift_reader *reader, const firn_thrift_field *field,
                                       firn_parquet_column_chunk *out, firn_error *error) {
    firn_thrift_field item = {0};
    size_t count = 0;
    FIRN_TRY(firn_thrift_list(reader, field, "encoding_stats", FIRN_THRIFT_STRUCT, &count, &item,
                              error));
    void *memory = NULL;
    FIRN_TRY(firn_thrift_alloc(reader, count, sizeof *out->encoding_stats, &memory, error));
    firn_parquet_page_encoding_stats *stats = memory;
    for (size_t i = 0; i < count; i++) FIRN_TRY(read_encoding_stat(reader, &stats[i], error));
    out->encoding_stats = stats;
    out->encoding_stats_count = count;
    return FIRN_OK;
}

static firn_status read_size_statistics(firn_thrift_reader *reader, const firn_thrift_field *field,
                                        firn_parquet_column_chunk *out, firn_error *error) {
    FIRN_TRY(firn_thrift_struct(reader, field, "size_statistics", error));
    firn_thrift_field inner = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &inner, error));
        if (inner.type == FIRN_THRIFT_STOP) return FIRN_OK;
        switch (inner.id) {
        case 1:
            out->has_unencoded_byte_array_bytes = true;
            FIRN_TRY(firn_thrift_i64(reader, &inner, "unencoded_byte_array_data_bytes",
                                     &out->unencoded_byte_array_bytes, error));
            break;
        case 2:
            FIRN_TRY(firn_thrift_list_i64(reader, &inner, "repetition_level_histogram",
                                          &out->repetition_level_histogram,
                                          &out->repetition_level_histogram_count, error));
            break;
        case 3:
            FIRN_TRY(firn_thrift_list_i64(reader, &inner, "definition_level_histogram",
                                          &out->definition_level_histogram,
                                          &out->definition_level_histogram_count, error));
            break;
        default: FIRN_TRY(firn_thrift_skip(reader, inner.type, error));
        }
    }
}

static firn_status read_type(firn_thrift_reader *reader, const firn_thrift_field *field,
                             firn_parquet_column_chunk *out, firn_error *error) {
    int32_t value = 0;
    FIRN_TRY(firn_thrift_i32(reader, field, "ColumnMetaData.type", &value, error));
    if (value < 0 || value > FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        return firn_thrift_fail(reader, "ColumnMetaData.type", error, "unknown physical type %d",
                                value);
    }
    out->type = (firn_parquet_physical_type)value;
    return FIRN_OK;
}

static firn_status read_codec(firn_thrift_reader *reader, const firn_thrift_field *field,
                              firn_parquet_column_chunk *out, firn_error *error) {
    int32_t value = 0;
    FIRN_TRY(firn_thrift_i32(reader, field, "codec", &value, error));
    out->compression = (firn_parquet_compression)value;
    return FIRN_OK;
}

static firn_status read_chunk_statistics(firn_thrift_reader *reader, const firn_thrift_field *field,
                                         firn_parquet_column_chunk *out, firn_error *error) {
    FIRN_TRY(firn_parquet_read_statistics(reader, field, &out->statistics, error));
    return firn_parquet_copy_statistics(reader, &out->statistics, error);
}

static firn_status read_metadata_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                       firn_parquet_column_chunk *out, firn_error *error) {
    switch (field->id) {
    case 1: return read_type(reader, field, out, error);
    case 2: return read_encodings(reader, field, out, error);
    case 3: return read_path(reader, field, out, error);
    case 4: return read_codec(reader, field, out, error);
    case 5: return firn_thrift_i64(reader, field, "num_values", &out->num_values, error);
    case 6:
        return firn_thrift_i64(reader, field, "total_uncompressed_size",
                               &out->total_uncompressed_size, error);
    case 7:
        return firn_thrift_i64(reader, field, "total_compressed_size", &out->total_compressed_size,
                               error);
    case 9:
        return firn_thrift_i64(reader, field, "data_page_offset", &out->data_page_offset, error);
    case 11:
        out->has_dictionary_page_offset = true;
        return firn_thrift_i64(reader, field, "dictionary_page_offset",
                               &out->dictionary_page_offset, error);
    case 12: return read_chunk_statistics(reader, field, out, error);
    case 13: return read_encoding_stats(reader, field, out, error);
    case 14:
        out->has_bloom_filter = true;
        return firn_thrift_i64(reader, field, "bloom_filter_offset", &out->bloom_filter_offset,
                               error);
    case 15:
        /* Some files have something else under this number from before it was given out. */
        if (field->type == FIRN_THRIFT_LIST) return firn_thrift_skip(reader, field->type, error);
        return firn_thrift_i32(reader, field, "bloom_filter_length", &out->bloom_filter_length,
                               error);
    case 16: return read_size_statistics(reader, field, out, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

static firn_status check_metadata(const firn_thrift_reader *reader, const firn_thrift_field *field,
                                  const firn_parquet_column_chunk *out, firn_error *error) {
    static const struct {
        int id;
        const char *what;
    } required[] = {
        {1, "ColumnMetaData.type"},
        {2, "ColumnMetaData.encodings"},
        {3, "ColumnMetaData.path_in_schema"},
        {4, "ColumnMetaData.codec"},
        {5, "ColumnMetaData.num_values"},
        {6, "ColumnMetaData.total_uncompressed_size"},
        {7, "ColumnMetaData.total_compressed_size"},
        {9, "ColumnMetaData.data_page_offset"},
    };
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        FIRN_TRY(firn_thrift_require(reader, field, required[i].id, required[i].what, error));
    }
    if (out->num_values < 0 || out->total_uncompressed_size < 0 || out->total_compressed_size < 0) {
        return firn_thrift_fail(reader, "ColumnMetaData", error, "a count or size is negative");
    }
    return FIRN_OK;
}

static firn_status read_metadata(firn_thrift_reader *reader, const firn_thrift_field *field,
                                 firn_parquet_column_chunk *out, firn_error *error) {
    FIRN_TRY(firn_thrift_struct(reader, field, "meta_data", error));
    firn_thrift_field inner = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &inner, error));
        if (inner.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_metadata_field(reader, &inner, out, error));
    }
    out->has_metadata = true;
    return check_metadata(reader, &inner, out, error);
}

static firn_status read_chunk_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                    firn_parquet_column_chunk *out, firn_error *error) {
    switch (field->id) {
    case 1: return firn_thrift_text(reader, field, "file_path", &out->file_path, error);
    case 3: return read_metadata(reader, field, out, error);
    case 4:
        out->has_offset_index = true;
        return firn_thrift_i64(reader, field, "offset_index_offset", &out->offset_index_offset,
                               error);
    case 5:
        return firn_thrift_i32(reader, field, "offset_index_length", &out->offset_index_length,
                               error);
    case 6:
        out->has_column_index = true;
        return firn_thrift_i64(reader, field, "column_index_offset", &out->column_index_offset,
                               error);
    case 7:
        return firn_thrift_i32(reader, field, "column_index_length", &out->column_index_length,
                               error);
    case 8:
    case 9: out->encrypted = true; return firn_thrift_skip(reader, field->type, error);
    /* file_offset (2) is among the skipped: writers have put all sorts of numbers there. */
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

firn_status firn_parquet_read_column_chunk(firn_thrift_reader *reader,
                                           firn_parquet_column_chunk *out, firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_chunk_field(reader, &field, out, error));
    }
    if (out->encrypted) return FIRN_OK;
    return firn_thrift_require(reader, &field, 3, "ColumnChunk.meta_data", error);
}

static void write_encoding_lists(firn_thrift_writer *writer,
                                 const firn_parquet_column_chunk *chunk) {
    firn_thrift_write_list(writer, 2, FIRN_THRIFT_I32, chunk->encoding_count);
    for (size_t i = 0; i < chunk->encoding_count; i++) {
        firn_thrift_write_item_int(writer, (int32_t)chunk->encodings[i]);
    }
    firn_thrift_write_list(writer, 3, FIRN_THRIFT_BINARY, chunk->path_length);
    for (size_t i = 0; i < chunk->path_length; i++) {
        firn_thrift_write_item_binary(writer, firn_slice_text(chunk->path_in_schema[i]));
    }
}

static void write_encoding_stats(firn_thrift_writer *writer,
                                 const firn_parquet_column_chunk *chunk) {
    if (chunk->encoding_stats == NULL || chunk->encoding_stats_count == 0) return;
    firn_thrift_write_list(writer, 13, FIRN_THRIFT_STRUCT, chunk->encoding_stats_count);
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        firn_thrift_write_item_struct(writer);
        firn_thrift_write_i32(writer, 1, (int32_t)stats->page_type);
        firn_thrift_write_i32(writer, 2, (int32_t)stats->encoding);
        firn_thrift_write_i32(writer, 3, stats->count);
        firn_thrift_write_end(writer);
    }
}

static void write_size_statistics(firn_thrift_writer *writer,
                                  const firn_parquet_column_chunk *chunk) {
    bool repetition = chunk->repetition_level_histogram != NULL;
    bool definition = chunk->definition_level_histogram != NULL;
    if (!chunk->has_unencoded_byte_array_bytes && !repetition && !definition) return;
    firn_thrift_write_struct(writer, 16);
    if (chunk->has_unencoded_byte_array_bytes) {
        firn_thrift_write_i64(writer, 1, chunk->unencoded_byte_array_bytes);
    }
    if (repetition) {
        firn_thrift_write_list_i64(writer, 2, chunk->repetition_level_histogram,
                                   chunk->repetition_level_histogram_count);
    }
    if (definition) {
        firn_thrift_write_list_i64(writer, 3, chunk->definition_level_histogram,
                                   chunk->definition_level_histogram_count);
    }
    firn_thrift_write_end(writer);
}

static void write_metadata(firn_thrift_writer *writer, const firn_parquet_column_chunk *chunk) {
    firn_thrift_write_struct(writer, 3);
    firn_thrift_write_i32(writer, 1, (int32_t)chunk->type);
    write_encoding_lists(writer, chunk);
    firn_thrift_write_i32(writer, 4, (int32_t)chunk->compression);
    firn_thrift_write_i64(writer, 5, chunk->num_values);
    firn_thrift_write_i64(writer, 6, chunk->total_uncompressed_size);
    firn_thrift_write_i64(writer, 7, chunk->total_compressed_size);
    firn_thrift_write_i64(writer, 9, chunk->data_page_offset);
    if (chunk->has_dictionary_page_offset) {
        firn_thrift_write_i64(writer, 11, chunk->dictionary_page_offset);
    }
    firn_parquet_write_statistics(writer, 12, &chunk->statistics);
    write_encoding_stats(writer, chunk);
    if (chunk->has_bloom_filter) {
        firn_thrift_write_i64(writer, 14, chunk->bloom_filter_offset);
        if (chunk->bloom_filter_length > 0) {
            firn_thrift_write_i32(writer, 15, chunk->bloom_filter_length);
        }
    }
    write_size_statistics(writer, chunk);
    firn_thrift_write_end(writer);
}

void firn_parquet_write_column_chunk(firn_thrift_writer *writer,
                                     const firn_parquet_column_chunk *chunk) {
    firn_thrift_write_item_struct(writer);
    if (chunk->file_path != NULL) firn_thrift_write_text(writer, 1, chunk->file_path);
    /* Deprecated, required, and 0 where no second copy of the metadata follows the chunk. */
    firn_thrift_write_i64(writer, 2, 0);
    write_metadata(writer, chunk);
    if (chunk->has_offset_index) {
        firn_thrift_write_i64(writer, 4, chunk->offset_index_offset);
        firn_thrift_write_i32(writer, 5, chunk->offset_index_length);
    }
    if (chunk->has_column_index) {
        firn_thrift_write_i64(writer, 6, chunk->column_index_offset);
        firn_thrift_write_i32(writer, 7, chunk->column_index_length);
    }
    firn_thrift_write_end(writer);
}
