/**
 * FX-PQ: Parquet files of one column made page by page in memory, so that each field can be wrong in its own way.
 * Everything is static: each test includes it.
 */
#ifndef FIRN_TESTS_FX_PARQUET_H
#define FIRN_TESTS_FX_PARQUET_H

#include <string.h>

#include "parquet/chunk_reader.h"
#include "support/check.h"

typedef struct fx_page {
    firn_parquet_page_header header; /**< both sizes 0: filled in from `body` */
    firn_slice body;
} fx_page;

typedef struct fx_chunk {
    const fx_page *pages;
    size_t page_count;
    int64_t num_rows;
    int64_t num_values; /**< -1: as many as rows */
    firn_parquet_compression compression;
    /** Changes the metadata, whose offsets and sizes are then filled in. */
    void (*tamper)(firn_parquet_column_chunk *chunk);
} fx_chunk;

#define FX_BYTES(...)                                                                              \
    firn_slice_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static inline void fx_append(firn_buffer *out, firn_slice bytes) {
    firn_error error = {0};
    check_ok(firn_buffer_append(out, bytes.data, bytes.size, &error), &error);
}

/* Writes the pages and says where the chunk and its first data page begin. */
static inline void fx_write_pages(const fx_chunk *chunk, firn_buffer *out,
                                  firn_parquet_column_chunk *metadata) {
    firn_error error = {0};
    size_t start = out->size;
    metadata->data_page_offset = 0;
    for (size_t i = 0; i < chunk->page_count; i++) {
        firn_parquet_page_header header = chunk->pages[i].header;
        if (header.uncompressed_size == 0 && header.compressed_size == 0) {
            header.uncompressed_size = (int32_t)chunk->pages[i].body.size;
            header.compressed_size = header.uncompressed_size;
        }
        if (header.type == FIRN_PARQUET_DICTIONARY_PAGE) {
            metadata->has_dictionary_page_offset = true;
            metadata->dictionary_page_offset = (int64_t)out->size;
        } else if (metadata->data_page_offset == 0) {
            metadata->data_page_offset = (int64_t)out->size;
        }
        check_ok(firn_parquet_write_page_header(&header, out, &error), &error);
        fx_append(out, chunk->pages[i].body);
    }
    metadata->total_compressed_size = (int64_t)(out->size - start);
    metadata->total_uncompressed_size = metadata->total_compressed_size;
}

/** A file with the column `leaf` below the root, one chunk per row group. */
static inline firn_buffer fx_parquet_file(const firn_parquet_schema_element *leaf,
                                          const fx_chunk *chunks, size_t chunk_count) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum((size_t)1 << 30);
    firn_parquet_column_chunk columns[8] = {0};
    firn_parquet_row_group groups[8] = {0};
    assert_true(chunk_count <= 8);
    firn_parquet_schema_element elements[2] = {{.name = "root", .num_children = 1}, *leaf};
    static const firn_parquet_encoding encodings[] = {FIRN_PARQUET_PLAIN, FIRN_PARQUET_RLE};
    const char *path[] = {leaf->name};
    firn_parquet_file_metadata metadata = {.version = 1, .schema = elements, .schema_count = 2};
    fx_append(&out, firn_slice_text("PAR1"));
    for (size_t i = 0; i < chunk_count; i++) {
        columns[i] = (firn_parquet_column_chunk){
            .type = leaf->type,
            .encodings = encodings,
            .encoding_count = 2,
            .path_in_schema = path,
            .path_length = 1,
            .compression = chunks[i].compression,
            .num_values = chunks[i].num_values < 0 ? chunks[i].num_rows : chunks[i].num_values};
        fx_write_pages(&chunks[i], &out, &columns[i]);
        if (chunks[i].tamper != NULL) chunks[i].tamper(&columns[i]);
        groups[i] = (firn_parquet_row_group){
            .columns = &columns[i], .column_count = 1, .num_rows = chunks[i].num_rows};
        metadata.num_rows += chunks[i].num_rows;
    }
    metadata.row_groups = groups;
    metadata.row_group_count = chunk_count;
    size_t start = out.size;
    check_ok(firn_parquet_write_file_metadata(&metadata, &out, &error), &error);
    uint32_t length = (uint32_t)(out.size - start);
    fx_append(&out, firn_slice_of(&length, sizeof length));
    fx_append(&out, firn_slice_text("PAR1"));
    return out;
}

/** What a reading of a file came to: a hash of all levels and values, in order, and their numbers. */
typedef struct fx_content {
    uint64_t hash;
    int64_t levels, values, rows, pages;
} fx_content;

static inline void fx_hash(fx_content *content, const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint64_t hash = content->hash;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    content->hash = hash;
}

static inline firn_slice fx_value(const firn_parquet_batch *batch, size_t index) {
    if (batch->indices != NULL) index = batch->indices[index];
    assert_true(index < batch->values.count);
    if (batch->values.slices != NULL) return batch->values.slices[index];
    return firn_slice_of(batch->values.fixed + index * batch->values.width, batch->values.width);
}

static inline void fx_take(fx_content *content, const firn_parquet_leaf *leaf,
                           const firn_parquet_batch *batch) {
    size_t value = 0;
    for (size_t i = 0; i < batch->level_count; i++) {
        uint8_t definition = batch->definition_levels == NULL ? 0 : batch->definition_levels[i];
        uint8_t repetition = batch->repetition_levels == NULL ? 0 : batch->repetition_levels[i];
        fx_hash(content, &definition, 1);
        fx_hash(content, &repetition, 1);
        content->rows += repetition == 0;
        content->levels++;
        if (definition < leaf->maximum_definition_level) continue;
        firn_slice bytes = fx_value(batch, value++);
        fx_hash(content, &bytes.size, sizeof bytes.size);
        if (bytes.size > 0) fx_hash(content, bytes.data, bytes.size);
    }
    assert_int_equal(value, batch->value_count);
    content->values += (int64_t)value;
    content->pages++;
}

static inline firn_status fx_read_chunk(firn_parquet_chunk_reader *reader,
                                        const firn_parquet_leaf *leaf, fx_content *content,
                                        firn_error *error) {
    const firn_parquet_page *page = NULL;
    for (;;) {
        firn_parquet_batch batch = {0};
        FIRN_TRY(firn_parquet_chunk_reader_next(reader, &page, error));
        if (page == NULL) return FIRN_OK;
        FIRN_TRY(firn_parquet_chunk_reader_decode(reader, &batch, error));
        fx_take(content, leaf, &batch);
    }
}

/** Reads a whole file, one reader for all of it. */
static inline firn_status fx_read(const firn_read_at *source, fx_content *content,
                                  firn_error *error) {
    *content = (fx_content){.hash = UINT64_C(0xCBF29CE484222325)};
    firn_parquet_file *file = NULL;
    firn_parquet_chunk_reader *reader = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_parquet_file_open(source, &file, error));
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        for (size_t j = 0; j < file->schema->leaf_count; j++) {
            FIRN_CHECK(reader == NULL ? firn_parquet_chunk_reader_open(file, i, j, &reader, error)
                                      : firn_parquet_chunk_reader_reset(reader, file, i, j, error));
            FIRN_CHECK(fx_read_chunk(reader, &file->schema->leaves[j], content, error));
        }
    }
out:
    firn_parquet_chunk_reader_close(reader);
    firn_parquet_file_close(file);
    return status;
}

/** The same for bytes in memory. */
static inline firn_status fx_read_bytes(firn_slice bytes, fx_content *content, firn_error *error) {
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at source = firn_read_at_memory(&memory, "test.parquet");
    return fx_read(&source, content, error);
}

#endif
