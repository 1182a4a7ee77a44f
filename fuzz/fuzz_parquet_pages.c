/* A whole Parquet file: footer, schema, and every page of every chunk, decoded and looked at. */
#include <assert.h>
#include <stdint.h>

#include "parquet/chunk_reader.h"

/* Enough pages to find what there is to find; the rest of a large claim is only slow. */
#define MOST_PAGES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seen;

/* Touches every byte of the values that levels stand for. */
static void look_at_values(const firn_parquet_batch *batch) {
    for (size_t i = 0; i < batch->value_count; i++) {
        size_t index = batch->indices == NULL ? i : batch->indices[i];
        assert(index < batch->values.count);
        firn_slice value = batch->values.slices != NULL
                               ? batch->values.slices[index]
                               : firn_slice_of(batch->values.fixed + index * batch->values.width,
                                               batch->values.width);
        /* The ends are enough to touch: slices lie within what was read. */
        if (value.size > 0) seen += (uint64_t)value.data[0] + value.data[value.size - 1];
    }
}

static void look_at_levels(const firn_parquet_leaf *leaf, const firn_parquet_batch *batch) {
    size_t values = 0;
    for (size_t i = 0; i < batch->level_count; i++) {
        unsigned definition = batch->definition_levels == NULL ? 0 : batch->definition_levels[i];
        unsigned repetition = batch->repetition_levels == NULL ? 0 : batch->repetition_levels[i];
        assert(definition <= leaf->maximum_definition_level);
        assert(repetition <= leaf->maximum_repetition_level);
        values += definition == leaf->maximum_definition_level;
    }
    assert(values == batch->value_count);
}

static void run_chunk(const firn_parquet_file *file, size_t group, size_t index) {
    firn_error error = {0};
    firn_parquet_chunk_reader *reader = NULL;
    (void)firn_parquet_chunk_supported(file, group, index, &error);
    if (firn_parquet_chunk_reader_open(file, group, index, &reader, &error) != FIRN_OK) return;
    const firn_parquet_page *page = NULL;
    for (int i = 0; i < MOST_PAGES; i++) {
        firn_parquet_batch batch = {0};
        if (firn_parquet_chunk_reader_next(reader, &page, &error) != FIRN_OK) break;
        if (page == NULL) break;
        if (firn_parquet_chunk_reader_decode(reader, &batch, &error) != FIRN_OK) break;
        look_at_levels(&file->schema->leaves[index], &batch);
        look_at_values(&batch);
    }
    firn_parquet_chunk_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_memory_file memory = {data, size};
    firn_read_at source = firn_read_at_memory(&memory, "input");
    firn_parquet_file *file = NULL;
    firn_error error = {0};
    if (firn_parquet_file_open(&source, &file, &error) != FIRN_OK) return 0;
    for (size_t i = 0; i < file->metadata->row_group_count && i < 4; i++) {
        for (size_t j = 0; j < file->schema->leaf_count && j < 16; j++) run_chunk(file, i, j);
    }
    firn_parquet_file_close(file);
    return 0;
}
