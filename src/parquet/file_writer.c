/*
 * The file around the chunks (parquet-format README, "File format"): magic, row groups, column indexes, offset indexes, footer, its
 * length, magic. Indexes are kept in their final bytes until the end, so that a finished row group costs little memory; Bloom filters,
 * which are larger, stand behind their row group (BloomFilter.md, "File Format").
 */
#include "parquet/file_writer.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/vector.h"

static const char magic[4] = {'P', 'A', 'R', '1'};

typedef struct index_location {
    firn_parquet_column_chunk *column; /* whose index it is */
    size_t offset;                     /* in its buffer */
    int32_t size;
} index_location;

typedef struct index_list {
    firn_buffer bytes;
    FIRN_VECTOR(index_location) locations;
} index_list;

struct firn_parquet_file_writer {
    firn_parquet_write_options options;
    firn_write_to destination;
    uint64_t position;
    firn_arena *arena; /* schema, and the metadata of what is written */
    const firn_parquet_schema *schema;
    firn_parquet_file_metadata metadata;
    FIRN_VECTOR(firn_parquet_row_group) row_groups;
    FIRN_VECTOR(firn_parquet_key_value) key_values;
    firn_parquet_column_chunk *columns; /* of the open row group; NULL: none is open */
    size_t column_count;
    int64_t row_count;
    index_list column_indexes, offset_indexes;
    index_list bloom_filters; /* of the open row group */
    bool failed, finished;
};

static firn_status put(firn_parquet_file_writer *writer, const void *data, size_t size,
                       firn_error *error) {
    if (size == 0) return FIRN_OK;
    firn_status status = writer->destination.write(writer->destination.context, data, size, error);
    if (status != FIRN_OK) {
        writer->failed = true;
        return status;
    }
    writer->position += size;
    return FIRN_OK;
}

static firn_status copy_text(firn_parquet_file_writer *writer, const char *text, const char **out,
                             firn_error *error) {
    *out = firn_arena_strdup(writer->arena, text);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status copy_memory(firn_parquet_file_writer *writer, const void *data, size_t size,
                               const void **out, firn_error *error) {
    if (data == NULL) {
        *out = NULL;
        return FIRN_OK;
    }
    *out = firn_arena_memdup(writer->arena, data, size);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status copy_slice(firn_parquet_file_writer *writer, firn_slice *slice,
                              firn_error *error) {
    const void *copy;
    FIRN_TRY(copy_memory(writer, slice->data, slice->size, &copy, error));
    slice->data = copy;
    return FIRN_OK;
}

static firn_status copy_schema(firn_parquet_file_writer *writer,
                               const firn_parquet_schema_element *elements, size_t count,
                               firn_error *error) {
    firn_parquet_schema_element *copy = firn_arena_alloc(writer->arena, count, sizeof *copy);
    if (copy == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        copy[i] = elements[i];
        FIRN_TRY(copy_text(writer, elements[i].name, &copy[i].name, error));
    }
    writer->metadata.schema = copy;
    writer->metadata.schema_count = count;
    FIRN_TRY(firn_parquet_schema_build(copy, count, "output schema", writer->arena, &writer->schema,
                                       error));
    /* The order of all bounds that are written; without it they would mean nothing (parquet.thrift, FileMetaData). */
    uint8_t *orders = firn_arena_alloc(writer->arena, writer->schema->leaf_count, 1);
    if (orders == NULL) return firn_fail_memory(error);
    memset(orders, 1, writer->schema->leaf_count);
    writer->metadata.column_orders = orders;
    writer->metadata.column_order_count = writer->schema->leaf_count;
    return FIRN_OK;
}

firn_status firn_parquet_file_writer_new(const firn_parquet_schema_element *elements, size_t count,
                                         const firn_parquet_write_options *options,
                                         const firn_write_to *destination,
                                         firn_parquet_file_writer **out, firn_error *error) {
    firn_parquet_file_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    writer->options = *options;
    writer->destination = *destination;
    writer->column_indexes.bytes = firn_buffer_with_maximum(SIZE_MAX);
    writer->offset_indexes.bytes = firn_buffer_with_maximum(SIZE_MAX);
    writer->bloom_filters.bytes = firn_buffer_with_maximum(SIZE_MAX);
    /* "1" is what every reader takes (parquet.thrift, FileMetaData.version). */
    writer->metadata.version = 1;
    writer->metadata.created_by = "firn version 0.1.0";
    writer->arena = firn_arena_new();
    firn_status status = writer->arena == NULL ? firn_fail_memory(error)
                                               : copy_schema(writer, elements, count, error);
    if (status == FIRN_OK) status = put(writer, magic, sizeof magic, error);
    if (status != FIRN_OK) {
        firn_parquet_file_writer_free(writer);
        return status;
    }
    *out = writer;
    return FIRN_OK;
}

void firn_parquet_file_writer_free(firn_parquet_file_writer *writer) {
    if (writer == NULL) return;
    firn_vector_release(&writer->row_groups);
    firn_vector_release(&writer->key_values);
    firn_buffer_release(&writer->column_indexes.bytes);
    firn_vector_release(&writer->column_indexes.locations);
    firn_buffer_release(&writer->offset_indexes.bytes);
    firn_vector_release(&writer->offset_indexes.locations);
    firn_buffer_release(&writer->bloom_filters.bytes);
    firn_vector_release(&writer->bloom_filters.locations);
    firn_arena_free(writer->arena);
    firn_free(writer);
}

const firn_parquet_schema *firn_parquet_file_writer_schema(const firn_parquet_file_writer *writer) {
    return writer->schema;
}

uint64_t firn_parquet_file_writer_position(const firn_parquet_file_writer *writer) {
    return writer->position;
}

firn_status firn_parquet_file_writer_set_key_value(firn_parquet_file_writer *writer,
                                                   const char *key, const char *value,
                                                   firn_error *error) {
    firn_parquet_key_value pair = {.value = firn_slice_text(value)};
    FIRN_TRY(copy_text(writer, key, &pair.key, error));
    FIRN_TRY(copy_slice(writer, &pair.value, error));
    return firn_vector_push(&writer->key_values, error, pair);
}

static firn_status check_usable(const firn_parquet_file_writer *writer, bool needs_row_group,
                                firn_error *error) {
    if (writer->failed || writer->finished) {
        return firn_fail(error, FIRN_INVALID, "the Parquet file is finished or failed before");
    }
    if (needs_row_group != (writer->columns != NULL)) {
        return firn_fail(error, FIRN_INVALID,
                         needs_row_group ? "no row group is open" : "a row group is still open");
    }
    return FIRN_OK;
}

firn_status firn_parquet_file_writer_begin_row_group(firn_parquet_file_writer *writer,
                                                     int64_t row_count, firn_error *error) {
    FIRN_TRY(check_usable(writer, false, error));
    if (row_count < 0) return firn_fail(error, FIRN_INVALID, "a row group of negative size");
    firn_parquet_column_chunk *columns =
        firn_arena_alloc(writer->arena, writer->schema->leaf_count, sizeof *columns);
    if (columns == NULL) return firn_fail_memory(error);
    writer->columns = columns;
    writer->column_count = 0;
    writer->row_count = row_count;
    return FIRN_OK;
}

/* Copies what the metadata points to out of the chunk's arena. */
static firn_status copy_metadata(firn_parquet_file_writer *writer,
                                 firn_parquet_column_chunk *column, const firn_parquet_leaf *leaf,
                                 firn_error *error) {
    const void *copy;
    FIRN_TRY(copy_memory(writer, column->encodings,
                         column->encoding_count * sizeof *column->encodings, &copy, error));
    column->encodings = copy;
    FIRN_TRY(copy_memory(writer, column->encoding_stats,
                         column->encoding_stats_count * sizeof *column->encoding_stats, &copy,
                         error));
    column->encoding_stats = copy;
    FIRN_TRY(copy_memory(writer, column->definition_level_histogram,
                         column->definition_level_histogram_count * sizeof(int64_t), &copy, error));
    column->definition_level_histogram = copy;
    FIRN_TRY(copy_memory(writer, column->repetition_level_histogram,
                         column->repetition_level_histogram_count * sizeof(int64_t), &copy, error));
    column->repetition_level_histogram = copy;
    FIRN_TRY(copy_slice(writer, &column->statistics.min_value, error));
    FIRN_TRY(copy_slice(writer, &column->statistics.max_value, error));
    /* The path is the schema's own. */
    column->path_in_schema = firn_arena_alloc(writer->arena, leaf->path_length, sizeof(char *));
    if (column->path_in_schema == NULL) return firn_fail_memory(error);
    column->path_length = leaf->path_length;
    for (size_t i = 0; i < leaf->path_length; i++) {
        column->path_in_schema[i] = leaf->path[i]->element->name;
    }
    return FIRN_OK;
}

static firn_status note_index(firn_parquet_file_writer *writer, index_list *list, size_t start,
                              firn_error *error) {
    size_t size = list->bytes.size - start;
    if (size > INT32_MAX) {
        return firn_fail(error, FIRN_LIMIT, "a page index of %zu bytes", size);
    }
    index_location location = {&writer->columns[writer->column_count], start, (int32_t)size};
    return firn_vector_push(&list->locations, error, location);
}

/* Both indexes in their final bytes, the page locations counted from the start of the file. */
static firn_status keep_indexes(firn_parquet_file_writer *writer, const firn_parquet_chunk *chunk,
                                uint64_t base, firn_error *error) {
    if (!writer->options.write_page_index || chunk->offset_index.page_count == 0) return FIRN_OK;
    size_t count = chunk->offset_index.page_count;
    firn_parquet_page_location *pages = firn_alloc_array(count, sizeof *pages);
    if (pages == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        pages[i] = chunk->offset_index.pages[i];
        pages[i].offset += (int64_t)base;
    }
    firn_parquet_offset_index index = chunk->offset_index;
    index.pages = pages;
    size_t start = writer->offset_indexes.bytes.size;
    firn_status status =
        firn_parquet_write_offset_index(&index, &writer->offset_indexes.bytes, error);
    firn_free(pages);
    if (status != FIRN_OK) return status;
    FIRN_TRY(note_index(writer, &writer->offset_indexes, start, error));
    if (!chunk->has_column_index) return FIRN_OK;
    start = writer->column_indexes.bytes.size;
    FIRN_TRY(firn_parquet_write_column_index(&chunk->column_index, &writer->column_indexes.bytes,
                                             error));
    return note_index(writer, &writer->column_indexes, start, error);
}

static firn_status keep_bloom_filter(firn_parquet_file_writer *writer,
                                     const firn_parquet_chunk *chunk, firn_error *error) {
    if (chunk->bloom_filter.size == 0) return FIRN_OK;
    size_t start = writer->bloom_filters.bytes.size;
    FIRN_TRY(firn_buffer_append(&writer->bloom_filters.bytes, chunk->bloom_filter.data,
                                chunk->bloom_filter.size, error));
    return note_index(writer, &writer->bloom_filters, start, error);
}

static firn_status put_bloom_filters(firn_parquet_file_writer *writer, firn_error *error) {
    index_list *list = &writer->bloom_filters;
    uint64_t base = writer->position;
    FIRN_TRY(put(writer, list->bytes.data, list->bytes.size, error));
    for (size_t i = 0; i < list->locations.count; i++) {
        const index_location *location = &list->locations.items[i];
        location->column->has_bloom_filter = true;
        location->column->bloom_filter_offset = (int64_t)(base + location->offset);
        location->column->bloom_filter_length = location->size;
    }
    firn_buffer_clear(&list->bytes);
    list->locations.count = 0;
    return FIRN_OK;
}

static firn_status add_chunk(firn_parquet_file_writer *writer, const firn_parquet_chunk *chunk,
                             firn_error *error) {
    FIRN_TRY(check_usable(writer, true, error));
    if (writer->column_count == writer->schema->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "more chunks than the schema has columns");
    }
    const firn_parquet_leaf *leaf = &writer->schema->leaves[writer->column_count];
    if (chunk->counts.row_count != writer->row_count) {
        return firn_fail(error, FIRN_INVALID,
                         "column %s has %lld rows in a row group of %lld: the output is not usable",
                         leaf->dotted_path, (long long)chunk->counts.row_count,
                         (long long)writer->row_count);
    }
    uint64_t base = writer->position;
    firn_parquet_column_chunk column = chunk->metadata;
    FIRN_TRY(copy_metadata(writer, &column, leaf, error));
    FIRN_TRY(keep_indexes(writer, chunk, base, error));
    FIRN_TRY(keep_bloom_filter(writer, chunk, error));
    FIRN_TRY(put(writer, chunk->dictionary.data, chunk->dictionary.size, error));
    FIRN_TRY(put(writer, chunk->bytes.data, chunk->bytes.size, error));
    column.data_page_offset += (int64_t)base;
    if (column.has_dictionary_page_offset) column.dictionary_page_offset += (int64_t)base;
    writer->columns[writer->column_count++] = column;
    return FIRN_OK;
}

firn_status firn_parquet_file_writer_add_chunk(firn_parquet_file_writer *writer,
                                               firn_parquet_chunk *chunk, firn_error *error) {
    firn_status status = add_chunk(writer, chunk, error);
    if (status != FIRN_OK) writer->failed = true;
    firn_parquet_chunk_release(chunk);
    return status;
}

firn_status firn_parquet_file_writer_end_row_group(firn_parquet_file_writer *writer,
                                                   firn_error *error) {
    FIRN_TRY(check_usable(writer, true, error));
    if (writer->column_count != writer->schema->leaf_count) {
        return firn_fail(error, FIRN_INVALID, "a row group with %zu of %zu columns",
                         writer->column_count, writer->schema->leaf_count);
    }
    FIRN_TRY(put_bloom_filters(writer, error));
    firn_parquet_row_group group = {.columns = writer->columns,
                                    .column_count = writer->column_count,
                                    .num_rows = writer->row_count,
                                    .has_total_compressed_size = true};
    for (size_t i = 0; i < writer->column_count; i++) {
        group.total_byte_size += writer->columns[i].total_uncompressed_size;
        group.total_compressed_size += writer->columns[i].total_compressed_size;
    }
    FIRN_TRY(firn_vector_push(&writer->row_groups, error, group));
    writer->metadata.num_rows += writer->row_count;
    writer->columns = NULL;
    return FIRN_OK;
}

static firn_status put_indexes(firn_parquet_file_writer *writer, firn_error *error) {
    uint64_t base = writer->position;
    FIRN_TRY(
        put(writer, writer->column_indexes.bytes.data, writer->column_indexes.bytes.size, error));
    for (size_t i = 0; i < writer->column_indexes.locations.count; i++) {
        const index_location *location = &writer->column_indexes.locations.items[i];
        firn_parquet_column_chunk *column = location->column;
        column->has_column_index = true;
        column->column_index_offset = (int64_t)(base + location->offset);
        column->column_index_length = location->size;
    }
    base = writer->position;
    FIRN_TRY(
        put(writer, writer->offset_indexes.bytes.data, writer->offset_indexes.bytes.size, error));
    for (size_t i = 0; i < writer->offset_indexes.locations.count; i++) {
        const index_location *location = &writer->offset_indexes.locations.items[i];
        firn_parquet_column_chunk *column = location->column;
        column->has_offset_index = true;
        column->offset_index_offset = (int64_t)(base + location->offset);
        column->offset_index_length = location->size;
    }
    return FIRN_OK;
}

static firn_status put_footer(firn_parquet_file_writer *writer, firn_error *error) {
    firn_buffer footer = firn_buffer_with_maximum(UINT32_MAX);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_parquet_write_file_metadata(&writer->metadata, &footer, error));
    uint8_t tail[8];
    firn_store_le32(tail, (uint32_t)footer.size);
    memcpy(tail + 4, magic, sizeof magic);
    FIRN_CHECK(put(writer, footer.data, footer.size, error));
    FIRN_CHECK(put(writer, tail, sizeof tail, error));
out:
    firn_buffer_release(&footer);
    return status;
}

firn_status firn_parquet_file_writer_finish(firn_parquet_file_writer *writer, uint64_t *size,
                                            const firn_parquet_file_metadata **metadata,
                                            firn_error *error) {
    FIRN_TRY(check_usable(writer, false, error));
    FIRN_TRY(put_indexes(writer, error));
    writer->metadata.row_groups = writer->row_groups.items;
    writer->metadata.row_group_count = writer->row_groups.count;
    writer->metadata.key_values = writer->key_values.items;
    writer->metadata.key_value_count = writer->key_values.count;
    FIRN_TRY(put_footer(writer, error));
    writer->finished = true;
    if (size != NULL) *size = writer->position;
    if (metadata != NULL) *metadata = &writer->metadata;
    return FIRN_OK;
}
