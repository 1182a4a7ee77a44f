#include "base/alloc.h"
#include "base/bytes.h"
#include "data/equality_deletes.h"

/* A key's column that is null adds this to the row's hash. */
#define NULL_HASH UINT64_C(0x6a09e667f3bcc909)

/* A constant stands for every row: runs of it are as long as a caller can want. */
#define CONSTANT_ROWS ((size_t)1 << 16)

static firn_status corrupt(const firn_key_reader *reader, const firn_key_column *column,
                           firn_error *error, const char *problem) {
    return firn_fail(error, FIRN_CORRUPT, "%s: column \"%s\": %s", reader->location,
                     column->output->dotted_path, problem);
}

static bool has_values(const firn_key_column *column) {
    return column->input != NULL && !column->mapping->levels_only;
}

static firn_status init_column(firn_key_reader *reader, size_t leaf, firn_error *error) {
    firn_key_column *column = &reader->columns[leaf];
    column->output = &reader->key->output->leaves[leaf];
    column->mapping = &reader->projection.mappings[leaf];
    firn_parquet_converter_init(&column->converter);
    firn_parquet_converter_init(&column->dictionary_converter);
    if (column->mapping->input_leaf >= 0) {
        column->input = &reader->file->schema->leaves[column->mapping->input_leaf];
    }
    if (!has_values(column)) return FIRN_OK;
    FIRN_TRY(firn_parquet_converter_set(&column->converter, column->mapping,
                                        column->input->node->element, column->output->node->element,
                                        error));
    return firn_parquet_converter_set(&column->dictionary_converter, column->mapping,
                                      column->input->node->element, column->output->node->element,
                                      error);
}

firn_status firn_key_reader_open(firn_key_reader *reader, const firn_equality_key *key,
                                 const firn_data_file *entry, const firn_partition_spec *spec,
                                 int format_version, const firn_parquet_file *file,
                                 firn_error *error) {
    *reader = (firn_key_reader){
        .key = key, .location = entry->path, .file = file, .arena = firn_arena_new()};
    if (reader->arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_projection_build(key->schema, key->output, file, entry->path, entry, spec,
                                   key->mapping, format_version, reader->arena, &reader->projection,
                                   error));
    size_t count = key->output->leaf_count;
    reader->columns = firn_alloc_zeroed(count, sizeof *reader->columns);
    if (reader->columns == NULL) return firn_fail_memory(error);
    reader->column_count = count;
    for (size_t i = 0; i < count; i++) FIRN_TRY(init_column(reader, i, error));
    return FIRN_OK;
}

void firn_key_reader_release(firn_key_reader *reader) {
    for (size_t i = 0; i < reader->column_count; i++) {
        firn_key_column *column = &reader->columns[i];
        if (column->reader != NULL) firn_parquet_chunk_reader_close(column->reader);
        firn_parquet_converter_release(&column->converter);
        firn_parquet_converter_release(&column->dictionary_converter);
        firn_free(column->index_room);
        firn_free(column->hashes);
    }
    firn_free(reader->columns);
    firn_arena_free(reader->arena);
    *reader = (firn_key_reader){0};
}

static uint32_t *index_room(firn_key_column *column, size_t count) {
    if (count > column->index_capacity) {
        uint32_t *more = firn_realloc_array(column->index_room, count, sizeof *more);
        if (more == NULL) return NULL;
        column->index_room = more;
        column->index_capacity = count;
    }
    return column->index_room;
}

/* A file without the column: one value, or null, for all rows. */
static firn_status start_constant(firn_key_reader *reader, firn_key_column *column,
                                  firn_error *error) {
    int64_t rows = reader->rows_left;
    size_t count = rows < (int64_t)CONSTANT_ROWS ? (size_t)rows : CONSTANT_ROWS;
    uint32_t *index = index_room(column, count + 1);
    if (index == NULL) return firn_fail_memory(error);
    bool is_null = column->mapping->constant.data == NULL;
    for (size_t i = 0; i < count; i++) index[i] = is_null ? FIRN_KEY_NULL : 0;
    column->index = index;
    column->row_count = count;
    column->row = 0;
    return FIRN_OK;
}

/* The one value of a constant column. */
static void set_constant_value(firn_key_column *column) {
    const firn_parquet_schema_element *element = column->output->node->element;
    column->constant_slice = column->mapping->constant;
    column->values = (firn_parquet_values){
        .type = element->type,
        .width = firn_parquet_value_width(element->type, element->type_length),
        .count = column->constant_slice.data == NULL ? 0 : 1};
    if (column->values.width > 0) {
        column->values.fixed = column->constant_slice.data;
    } else {
        column->values.slices = &column->constant_slice;
    }
    column->from_dictionary = false;
}

firn_status firn_key_reader_start(firn_key_reader *reader, size_t row_group, firn_error *error) {
    const firn_parquet_row_group *group = &reader->file->metadata->row_groups[row_group];
    reader->rows_left = group->num_rows;
    for (size_t i = 0; i < reader->column_count; i++) {
        firn_key_column *column = &reader->columns[i];
        column->row = 0;
        column->row_count = 0;
        column->has_dictionary = false;
        if (!has_values(column)) set_constant_value(column);
        if (column->input == NULL) {
            FIRN_TRY(start_constant(reader, column, error));
            continue;
        }
        size_t leaf = (size_t)column->input->index;
        reader->bytes_read += group->columns[leaf].total_compressed_size;
        if (column->reader == NULL) {
            FIRN_TRY(firn_parquet_chunk_reader_open(reader->file, row_group, leaf, &column->reader,
                                                    error));
        } else {
            FIRN_TRY(firn_parquet_chunk_reader_reset(column->reader, reader->file, row_group, leaf,
                                                     error));
        }
    }
    return FIRN_OK;
}

/* Rows of a page whose leaf is a sibling's, which may have several entries a row. */
static firn_status index_by_levels(const firn_key_reader *reader, firn_key_column *column,
                                   const firn_parquet_batch *batch, firn_error *error) {
    const firn_parquet_leaf_mapping *mapping = column->mapping;
    uint8_t maximum = column->output->maximum_definition_level;
    uint32_t *index = index_room(column, batch->level_count + 1);
    if (index == NULL) return firn_fail_memory(error);
    bool is_null = mapping->constant.data == NULL;
    size_t rows = 0;
    for (size_t i = 0; i < batch->level_count; i++) {
        if (batch->repetition_levels != NULL && batch->repetition_levels[i] != 0) continue;
        uint8_t level = batch->definition_levels == NULL ? column->input->maximum_definition_level
                                                         : batch->definition_levels[i];
        if (level > column->input->maximum_definition_level) {
            return corrupt(reader, column, error, "a level is too high");
        }
        bool is_defined = mapping->definition_level_map[level] == maximum;
        index[rows++] = is_defined && !is_null ? 0 : FIRN_KEY_NULL;
    }
    column->index = index;
    column->row_count = rows;
    return FIRN_OK;
}

/* Which value each row of a page has. */
static firn_status index_values(const firn_key_reader *reader, firn_key_column *column,
                                const firn_parquet_batch *batch, firn_error *error) {
    if (batch->repetition_levels != NULL) {
        return corrupt(reader, column, error, "it is repeated in the file");
    }
    column->row_count = batch->level_count;
    column->index = batch->indices;
    if (batch->value_count == batch->level_count) return FIRN_OK;
    uint32_t *index = index_room(column, batch->level_count);
    if (index == NULL) return firn_fail_memory(error);
    uint8_t maximum = column->input->maximum_definition_level;
    size_t value = 0;
    for (size_t i = 0; i < batch->level_count; i++) {
        if (batch->definition_levels[i] != maximum) {
            index[i] = FIRN_KEY_NULL;
        } else if (value == batch->value_count) {
            return corrupt(reader, column, error, "a value is missing");
        } else {
            index[i] = batch->indices == NULL ? (uint32_t)value : batch->indices[value];
            value++;
        }
    }
    column->index = index;
    return FIRN_OK;
}

static firn_status hash_dictionary(firn_key_column *column, firn_error *error);

static firn_status take_dictionary(firn_key_reader *reader, firn_key_column *column,
                                   const firn_parquet_batch *batch, firn_error *error) {
    bool same = column->has_dictionary && column->dictionary_id == batch->dictionary_id;
    if (column->mapping->conversion == FIRN_PARQUET_CONVERT_NONE) {
        column->dictionary = batch->values;
    } else if (!same) {
        FIRN_TRY(firn_parquet_converter_run(&column->dictionary_converter, &batch->values,
                                            &column->dictionary, error));
    }
    if (!same) {
        FIRN_TRY(hash_dictionary(column, error));
        column->has_dictionary = true;
        column->dictionary_id = batch->dictionary_id;
        reader->dictionaries++;
    }
    column->values = column->dictionary;
    return FIRN_OK;
}

static firn_status next_page(firn_key_reader *reader, firn_key_column *column, firn_error *error) {
    const firn_parquet_page *page = NULL;
    firn_parquet_batch batch = {0};
    column->row = 0;
    column->row_count = 0;
    FIRN_TRY(firn_parquet_chunk_reader_next(column->reader, &page, error));
    if (page == NULL) {
        return corrupt(reader, column, error, "it has fewer rows than its row group");
    }
    if (!has_values(column)) {
        FIRN_TRY(firn_parquet_chunk_reader_decode_levels(column->reader, &batch, error));
        return index_by_levels(reader, column, &batch, error);
    }
    FIRN_TRY(firn_parquet_chunk_reader_decode(column->reader, &batch, error));
    FIRN_TRY(index_values(reader, column, &batch, error));
    column->from_dictionary = batch.indices != NULL;
    if (column->from_dictionary) return take_dictionary(reader, column, &batch, error);
    return firn_parquet_converter_run(&column->converter, &batch.values, &column->values, error);
}

firn_status firn_key_reader_next(firn_key_reader *reader, size_t most, size_t *count,
                                 firn_error *error) {
    size_t rows = most;
    if ((int64_t)rows > reader->rows_left) rows = (size_t)reader->rows_left;
    for (size_t i = 0; i < reader->column_count && rows > 0; i++) {
        firn_key_column *column = &reader->columns[i];
        while (column->row == column->row_count) {
            if (column->input == NULL) {
                FIRN_TRY(start_constant(reader, column, error));
            } else {
                FIRN_TRY(next_page(reader, column, error));
            }
        }
        size_t left = column->row_count - column->row;
        if (left < rows) rows = left;
    }
    *count = rows;
    return FIRN_OK;
}

void firn_key_reader_advance(firn_key_reader *reader, size_t count) {
    reader->rows_left -= (int64_t)count;
    for (size_t i = 0; i < reader->column_count; i++) reader->columns[i].row += count;
}

/* ---- hashes and canonical bytes ---- */

static uint64_t hash_value(const firn_parquet_values *values, uint32_t number) {
    if (values->width == 0) {
        return firn_hash_bytes(values->slices[number].data, values->slices[number].size);
    }
    if (values->width <= 8) return firn_key_load(values, number);
    return firn_hash_bytes(values->fixed + (size_t)number * values->width, values->width);
}

static firn_status hash_dictionary(firn_key_column *column, firn_error *error) {
    size_t count = column->dictionary.count;
    if (count > column->hash_capacity) {
        uint64_t *more = firn_realloc_array(column->hashes, count, sizeof *more);
        if (more == NULL) return firn_fail_memory(error);
        column->hashes = more;
        column->hash_capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        column->hashes[i] = hash_value(&column->dictionary, (uint32_t)i);
    }
    return FIRN_OK;
}

static void add_hashes(const firn_key_column *column, size_t count, uint64_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number = firn_key_value_number(column, column->row + i);
        uint64_t value = NULL_HASH;
        if (number != FIRN_KEY_NULL) {
            value = column->from_dictionary ? column->hashes[number]
                                            : hash_value(&column->values, number);
        }
        out[i] = firn_key_mix(out[i] + value + UINT64_C(0x9e3779b97f4a7c15));
    }
}

void firn_key_reader_hash(const firn_key_reader *reader, uint64_t seed, size_t count,
                          uint64_t *out) {
    for (size_t i = 0; i < count; i++) out[i] = seed;
    for (size_t i = 0; i < reader->column_count; i++) add_hashes(&reader->columns[i], count, out);
}

firn_status firn_key_reader_append(const firn_key_reader *reader, size_t row, firn_buffer *out,
                                   firn_error *error) {
    for (size_t i = 0; i < reader->column_count; i++) {
        const firn_key_column *column = &reader->columns[i];
        uint32_t number = firn_key_value_number(column, column->row + row);
        FIRN_TRY(firn_buffer_append_byte(out, number == FIRN_KEY_NULL ? 0 : 1, error));
        if (number == FIRN_KEY_NULL) continue;
        const firn_parquet_values *values = &column->values;
        if (values->width > 0) {
            FIRN_TRY(firn_buffer_append(out, values->fixed + (size_t)number * values->width,
                                        values->width, error));
            continue;
        }
        uint8_t size[8];
        firn_slice value = values->slices[number];
        firn_store_le64(size, value.size);
        FIRN_TRY(firn_buffer_append(out, size, sizeof size, error));
        FIRN_TRY(firn_buffer_append(out, value.data, value.size, error));
    }
    return FIRN_OK;
}
