#include "data/avro_file.h"

#include "avro/reader.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "data/avro_shred.h"
#include "parquet/file_writer.h"

/* Records are handed to the chunk writers in batches, and these to the file in row groups. */
#define BATCH_ROWS 4096
#define BATCH_BYTES ((size_t)1 << 20)
#define ROW_GROUP_ROWS 1000000
#define ROW_GROUP_BYTES ((size_t)24 << 20)

typedef struct conversion {
    firn_avro_reader *reader;
    firn_arena *arena;
    firn_avro_columns columns;
    firn_parquet_write_options options;
    firn_parquet_file_writer *file;
    const firn_parquet_schema *schema; /* the file's */
    firn_avro_shredder *shredder;
    firn_parquet_chunk_writer **chunks; /* one per leaf; NULL: none open */
    int64_t batch_rows, group_rows;
} conversion;

static void release(conversion *run) {
    if (run->chunks != NULL) {
        for (size_t i = 0; i < run->schema->leaf_count; i++) {
            firn_parquet_chunk_writer_free(run->chunks[i]);
        }
    }
    firn_free(run->chunks);
    firn_avro_shredder_free(run->shredder);
    firn_parquet_file_writer_free(run->file);
    firn_avro_reader_free(run->reader);
    firn_arena_free(run->arena);
}

static firn_status set_up(conversion *run, const firn_read_at *avro,
                          const firn_write_to *destination, firn_error *error) {
    run->arena = firn_arena_new();
    if (run->arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_avro_reader_open(avro, 0, &run->reader, error));
    FIRN_TRY(firn_avro_columns_of(firn_avro_reader_schema(run->reader), avro->name, run->arena,
                                  &run->columns, error));
    firn_parquet_write_options_init(&run->options);
    firn_status status =
        firn_parquet_file_writer_new(run->columns.elements, run->columns.element_count,
                                     &run->options, destination, &run->file, error);
    if (status != FIRN_OK) return firn_error_wrap(error, status, "%s", avro->name);
    run->schema = firn_parquet_file_writer_schema(run->file);
    run->chunks = firn_alloc_zeroed(run->schema->leaf_count, sizeof *run->chunks);
    if (run->chunks == NULL) return firn_fail_memory(error);
    return firn_avro_shredder_new(&run->columns, run->schema, &run->shredder, error);
}

static firn_status append_leaf(conversion *run, size_t leaf, firn_error *error) {
    firn_parquet_batch batch;
    if (run->chunks[leaf] == NULL) {
        FIRN_TRY(firn_parquet_chunk_writer_new(&run->schema->leaves[leaf], &run->options,
                                               &run->chunks[leaf], error));
    }
    FIRN_TRY(firn_avro_shredder_batch(run->shredder, leaf, &batch, error));
    return firn_parquet_chunk_writer_append(run->chunks[leaf], &batch, error);
}

static firn_status end_batch(conversion *run, firn_error *error) {
    if (run->batch_rows == 0) return FIRN_OK;
    FIRN_TRY(firn_cancel_check(error));
    for (size_t i = 0; i < run->schema->leaf_count; i++) FIRN_TRY(append_leaf(run, i, error));
    firn_avro_shredder_clear(run->shredder);
    run->group_rows += run->batch_rows;
    run->batch_rows = 0;
    return FIRN_OK;
}

static bool row_group_is_full(const conversion *run) {
    size_t bytes = 0;
    for (size_t i = 0; i < run->schema->leaf_count; i++) {
        bytes += firn_parquet_chunk_writer_memory(run->chunks[i]);
    }
    return run->group_rows >= ROW_GROUP_ROWS || bytes >= ROW_GROUP_BYTES;
}

static firn_status end_chunk(conversion *run, size_t leaf, firn_error *error) {
    firn_parquet_chunk chunk = {0};
    firn_status status = firn_parquet_chunk_writer_finish(run->chunks[leaf], &chunk, error);
    firn_parquet_chunk_writer_free(run->chunks[leaf]);
    run->chunks[leaf] = NULL;
    if (status == FIRN_OK) status = firn_parquet_file_writer_add_chunk(run->file, &chunk, error);
    firn_parquet_chunk_release(&chunk);
    return status;
}

static firn_status end_row_group(conversion *run, firn_error *error) {
    FIRN_TRY(end_batch(run, error));
    if (run->group_rows == 0) return FIRN_OK;
    FIRN_TRY(firn_parquet_file_writer_begin_row_group(run->file, run->group_rows, error));
    for (size_t i = 0; i < run->schema->leaf_count; i++) FIRN_TRY(end_chunk(run, i, error));
    run->group_rows = 0;
    return firn_parquet_file_writer_end_row_group(run->file, error);
}

static firn_status convert(conversion *run, firn_error *error) {
    for (;;) {
        bool more = false;
        FIRN_TRY(firn_avro_reader_visit(run->reader, firn_avro_shredder_take, run->shredder, &more,
                                        error));
        if (!more) break;
        run->batch_rows++;
        if (run->batch_rows < BATCH_ROWS && firn_avro_shredder_held(run->shredder) < BATCH_BYTES) {
            continue;
        }
        FIRN_TRY(end_batch(run, error));
        if (row_group_is_full(run)) FIRN_TRY(end_row_group(run, error));
    }
    FIRN_TRY(end_row_group(run, error));
    return firn_parquet_file_writer_finish(run->file, NULL, NULL, error);
}

firn_status firn_avro_file_to_parquet(const firn_read_at *avro, const firn_write_to *destination,
                                      firn_error *error) {
    conversion run = {0};
    firn_status status = set_up(&run, avro, destination, error);
    if (status == FIRN_OK) status = convert(&run, error);
    release(&run);
    return status;
}
