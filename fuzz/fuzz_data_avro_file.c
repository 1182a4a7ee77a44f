/* An Avro data file turned into Parquet, and what came out read back: footer and the pages of every chunk. */
#include <assert.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "data/avro_file.h"
#include "parquet/chunk_reader.h"

/* Enough to see that what was written is a file; a few bytes of Avro may stand for very many rows. */
#define MOST_OUTPUT ((size_t)8 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static firn_status append(void *context, const void *data, size_t size, firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

/* What firn wrote itself must be right. */
static void read_chunk(const firn_parquet_file *file, size_t group, size_t leaf) {
    firn_error error = {0};
    firn_parquet_chunk_reader *reader = NULL;
    if (firn_parquet_chunk_reader_open(file, group, leaf, &reader, &error) != FIRN_OK) {
        assert(error.code == FIRN_NO_MEMORY);
        return;
    }
    const firn_parquet_page *page = NULL;
    do {
        firn_parquet_batch batch = {0};
        firn_status status = firn_parquet_chunk_reader_next(reader, &page, &error);
        assert(status == FIRN_OK);
        if (page == NULL) break;
        status = firn_parquet_chunk_reader_decode(reader, &batch, &error);
        assert(status == FIRN_OK);
    } while (page != NULL);
    firn_parquet_chunk_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_memory_file memory = {data, size};
    firn_read_at avro = firn_read_at_memory(&memory, "input.avro");
    firn_buffer out = firn_buffer_with_maximum(MOST_OUTPUT);
    firn_write_to destination = {append, &out};
    firn_error error = {0};
    if (firn_avro_file_to_parquet(&avro, &destination, &error) == FIRN_OK) {
        firn_memory_file written = {out.data, out.size};
        firn_read_at source = firn_read_at_memory(&written, "output");
        firn_parquet_file *file = NULL;
        firn_status status = firn_parquet_file_open(&source, &file, &error);
        assert(status == FIRN_OK);
        for (size_t i = 0; i < file->metadata->row_group_count; i++) {
            for (size_t j = 0; j < file->schema->leaf_count; j++) read_chunk(file, i, j);
        }
        firn_parquet_file_close(file);
    }
    firn_buffer_release(&out);
    return 0;
}
