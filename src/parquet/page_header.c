#include "parquet/metadata_internal.h"

static firn_status read_count(firn_thrift_reader *reader, const firn_thrift_field *field,
                              const char *what, int32_t *out, firn_error *error) {
    FIRN_TRY(firn_thrift_i32(reader, field, what, out, error));
    if (*out >= 0) return FIRN_OK;
    return firn_thrift_fail(reader, what, error, "%d is negative", *out);
}

static firn_status read_encoding(firn_thrift_reader *reader, const firn_thrift_field *field,
                                 const char *what, firn_parquet_encoding *out, firn_error *error) {
    int32_t value = 0;
    FIRN_TRY(firn_thrift_i32(reader, field, what, &value, error));
    *out = (firn_parquet_encoding)value;
    return FIRN_OK;
}

static firn_status read_data_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                   firn_parquet_page_header *out, firn_error *error) {
    switch (field->id) {
    case 1: return read_count(reader, field, "num_values", &out->num_values, error);
    case 2: return read_encoding(reader, field, "encoding", &out->encoding, error);
    case 3:
        return read_encoding(reader, field, "definition_level_encoding",
                             &out->definition_level_encoding, error);
    case 4:
        return read_encoding(reader, field, "repetition_level_encoding",
                             &out->repetition_level_encoding, error);
    case 5: return firn_parquet_read_statistics(reader, field, &out->statistics, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

static firn_status read_dictionary_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                         firn_parquet_page_header *out, firn_error *error) {
    switch (field->id) {
    case 1: return read_count(reader, field, "num_values", &out->num_values, error);
    case 2: return read_encoding(reader, field, "encoding", &out->encoding, error);
    case 3: return firn_thrift_bool(reader, field, "is_sorted", &out->is_sorted, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

static firn_status read_data_v2_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                                      firn_parquet_page_header *out, firn_error *error) {
    switch (field->id) {
    case 1: return read_count(reader, field, "num_values", &out->num_values, error);
    case 2: return read_count(reader, field, "num_nulls", &out->num_nulls, error);
    case 3: return read_count(reader, field, "num_rows", &out->num_rows, error);
    case 4: return read_encoding(reader, field, "encoding", &out->encoding, error);
    case 5:
        return read_count(reader, field, "definition_levels_byte_length",
                          &out->definition_levels_size, error);
    case 6:
        return read_count(reader, field, "repetition_levels_byte_length",
                          &out->repetition_levels_size, error);
    case 7: return firn_thrift_bool(reader, field, "is_compressed", &out->is_compressed, error);
    case 8: return firn_parquet_read_statistics(reader, field, &out->statistics, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

typedef firn_status (*inner_field_reader)(firn_thrift_reader *reader,
                                          const firn_thrift_field *field,
                                          firn_parquet_page_header *out, firn_error *error);

/* A header struct, of which the fields 1 … `required` must be there. */
static firn_status read_inner(firn_thrift_reader *reader, const firn_thrift_field *field,
                              inner_field_reader read, int required, firn_parquet_page_header *out,
                              firn_error *error) {
    FIRN_TRY(firn_thrift_struct(reader, field, "page header", error));
    firn_thrift_field inner = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &inner, error));
        if (inner.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read(reader, &inner, out, error));
    }
    for (int id = 1; id <= required; id++) {
        FIRN_TRY(firn_thrift_require(reader, &inner, id, "page header", error));
    }
    return FIRN_OK;
}

static firn_status read_crc(firn_thrift_reader *reader, const firn_thrift_field *field,
                            firn_parquet_page_header *out, firn_error *error) {
    int32_t value = 0;
    FIRN_TRY(firn_thrift_i32(reader, field, "crc", &value, error));
    out->has_crc = true;
    out->crc = (uint32_t)value;
    return FIRN_OK;
}

static firn_status read_field(firn_thrift_reader *reader, const firn_thrift_field *field,
                              firn_parquet_page_header *out, firn_error *error) {
    int32_t type = 0;
    switch (field->id) {
    case 1:
        FIRN_TRY(firn_thrift_i32(reader, field, "type", &type, error));
        out->type = (firn_parquet_page_type)type;
        return FIRN_OK;
    case 2:
        return read_count(reader, field, "uncompressed_page_size", &out->uncompressed_size, error);
    case 3: return read_count(reader, field, "compressed_page_size", &out->compressed_size, error);
    case 4: return read_crc(reader, field, out, error);
    case 5: return read_inner(reader, field, read_data_field, 4, out, error);
    case 7: return read_inner(reader, field, read_dictionary_field, 2, out, error);
    case 8: return read_inner(reader, field, read_data_v2_field, 6, out, error);
    default: return firn_thrift_skip(reader, field->type, error);
    }
}

/* The field that holds the header of a page type; 0 for types that are skipped. */
static int inner_field_of(firn_parquet_page_type type) {
    switch (type) {
    case FIRN_PARQUET_DATA_PAGE: return 5;
    case FIRN_PARQUET_DICTIONARY_PAGE: return 7;
    case FIRN_PARQUET_DATA_PAGE_V2: return 8;
    case FIRN_PARQUET_INDEX_PAGE: return 0;
    }
    return 0;
}

static firn_status check_header(const firn_thrift_reader *reader, const firn_thrift_field *field,
                                const firn_parquet_page_header *header, firn_error *error) {
    FIRN_TRY(firn_thrift_require(reader, field, 1, "PageHeader.type", error));
    FIRN_TRY(firn_thrift_require(reader, field, 2, "PageHeader.uncompressed_page_size", error));
    FIRN_TRY(firn_thrift_require(reader, field, 3, "PageHeader.compressed_page_size", error));
    int inner = inner_field_of(header->type);
    if (inner != 0) {
        FIRN_TRY(firn_thrift_require(reader, field, inner, "PageHeader of its type", error));
    }
    int64_t levels = (int64_t)header->definition_levels_size + header->repetition_levels_size;
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2 &&
        (levels > header->compressed_size || levels > header->uncompressed_size)) {
        return firn_thrift_fail(reader, "DataPageHeaderV2", error,
                                "the levels' %lld bytes are more than the page has",
                                (long long)levels);
    }
    return FIRN_OK;
}

firn_status firn_parquet_page_header_at(firn_slice bytes, uint64_t file_offset, const char *name,
                                        firn_parquet_page_header *out, size_t *consumed,
                                        firn_error *error) {
    firn_thrift_reader reader = firn_thrift_reader_of(bytes, file_offset, name, NULL);
    *out = (firn_parquet_page_header){.is_compressed = true};
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(&reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        FIRN_TRY(read_field(&reader, &field, out, error));
    }
    *consumed = reader.position;
    return check_header(&reader, &field, out, error);
}

firn_status firn_parquet_parse_page_header(firn_slice bytes, const char *name,
                                           firn_parquet_page_header *out, size_t *consumed,
                                           firn_error *error) {
    return firn_parquet_page_header_at(bytes, 0, name, out, consumed, error);
}

static void write_data_header(firn_thrift_writer *writer, const firn_parquet_page_header *header) {
    firn_thrift_write_struct(writer, 5);
    firn_thrift_write_i32(writer, 1, header->num_values);
    firn_thrift_write_i32(writer, 2, (int32_t)header->encoding);
    firn_thrift_write_i32(writer, 3, (int32_t)header->definition_level_encoding);
    firn_thrift_write_i32(writer, 4, (int32_t)header->repetition_level_encoding);
    firn_parquet_write_statistics(writer, 5, &header->statistics);
    firn_thrift_write_end(writer);
}

static void write_data_header_v2(firn_thrift_writer *writer,
                                 const firn_parquet_page_header *header) {
    firn_thrift_write_struct(writer, 8);
    firn_thrift_write_i32(writer, 1, header->num_values);
    firn_thrift_write_i32(writer, 2, header->num_nulls);
    firn_thrift_write_i32(writer, 3, header->num_rows);
    firn_thrift_write_i32(writer, 4, (int32_t)header->encoding);
    firn_thrift_write_i32(writer, 5, header->definition_levels_size);
    firn_thrift_write_i32(writer, 6, header->repetition_levels_size);
    firn_thrift_write_bool(writer, 7, header->is_compressed);
    firn_parquet_write_statistics(writer, 8, &header->statistics);
    firn_thrift_write_end(writer);
}

static void write_dictionary_header(firn_thrift_writer *writer,
                                    const firn_parquet_page_header *header) {
    firn_thrift_write_struct(writer, 7);
    firn_thrift_write_i32(writer, 1, header->num_values);
    firn_thrift_write_i32(writer, 2, (int32_t)header->encoding);
    if (header->is_sorted) firn_thrift_write_bool(writer, 3, true);
    firn_thrift_write_end(writer);
}

firn_status firn_parquet_write_page_header(const firn_parquet_page_header *header, firn_buffer *out,
                                           firn_error *error) {
    firn_thrift_writer writer = firn_thrift_writer_of(out, error);
    firn_thrift_write_i32(&writer, 1, (int32_t)header->type);
    firn_thrift_write_i32(&writer, 2, header->uncompressed_size);
    firn_thrift_write_i32(&writer, 3, header->compressed_size);
    if (header->has_crc) firn_thrift_write_i32(&writer, 4, (int32_t)header->crc);
    if (header->type == FIRN_PARQUET_DATA_PAGE) write_data_header(&writer, header);
    if (header->type == FIRN_PARQUET_DICTIONARY_PAGE) write_dictionary_header(&writer, header);
    if (header->type == FIRN_PARQUET_DATA_PAGE_V2) write_data_header_v2(&writer, header);
    firn_thrift_write_end(&writer);
    return writer.status;
}
