#include <assert.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "data/delete_writer_internal.h"
#include "data/write_options.h"
#include "parquet/file_writer.h"

/* Reserved field ids ("Position Delete Files"). */
#define FILE_PATH_ID 2147483546
#define POS_ID 2147483545

#define PATH_LEAF 0
#define POS_LEAF 1
#define LEAVES 2

#define BLOCK_ROWS 4096

static const firn_parquet_schema_element elements[] = {
    {.name = "table", .num_children = LEAVES},
    {.has_type = true,
     .type = FIRN_PARQUET_BYTE_ARRAY,
     .has_repetition = true,
     .repetition = FIRN_PARQUET_REQUIRED,
     .name = "file_path",
     .has_field_id = true,
     .field_id = FILE_PATH_ID,
     .logical = {.kind = FIRN_PARQUET_LOGICAL_STRING}},
    {.has_type = true,
     .type = FIRN_PARQUET_INT64,
     .has_repetition = true,
     .repetition = FIRN_PARQUET_REQUIRED,
     .name = "pos",
     .has_field_id = true,
     .field_id = POS_ID},
};

/* A position delete file while it is written, and how far the items have come. */
typedef struct position_output {
    firn_delete_writer *writer;
    firn_data_write_options options;
    const char *location;
    firn_storage_writer *file;
    firn_parquet_file_writer *parquet;
    firn_parquet_chunk_writer *chunks[LEAVES]; /* of the open row group */
    size_t item, end;  /* the item whose positions come next, and the end of the run */
    uint64_t next;     /* its first position that was not written yet */
    uint64_t taken;    /* how many were written */
    size_t first_item; /* of this file */
    size_t last_item;
    int64_t rows;                     /* of this file */
    uint64_t least, greatest;         /* of its positions */
    int64_t compressed_bytes[LEAVES]; /* of its columns */
} position_output;

static firn_status write_bytes(void *context, const void *data, size_t size, firn_error *error) {
    return firn_storage_write(context, data, size, error);
}

static firn_status open_file(position_output *output, firn_error *error) {
    firn_delete_writer *writer = output->writer;
    const firn_data_file *data = writer->items[output->item]->data;
    const firn_partition_spec *spec =
        firn_table_metadata_spec(writer->table->metadata, data->spec_id);
    if (spec == NULL) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the table has lost partition spec %d",
                         data->path, (int)data->spec_id);
    }
    output->rows = 0;
    output->first_item = output->item;
    output->least = UINT64_MAX;
    output->greatest = 0;
    memset(output->compressed_bytes, 0, sizeof output->compressed_bytes);
    FIRN_TRY(firn_delete_writer_location(writer, spec, data->partition, "parquet",
                                         &output->location, error));
    FIRN_TRY(firn_storage_create(writer->table->storage, output->location, &output->file, error));
    firn_write_to destination = {write_bytes, output->file};
    FIRN_TRY(firn_parquet_file_writer_new(elements, LEAVES + 1, &output->options.parquet,
                                          &destination, &output->parquet, error));
    return firn_parquet_file_writer_set_key_value(output->parquet, "delete-type", "position",
                                                  error);
}

static void release(position_output *output) {
    for (size_t i = 0; i < LEAVES; i++) firn_parquet_chunk_writer_free(output->chunks[i]);
    if (output->parquet != NULL) firn_parquet_file_writer_free(output->parquet);
    if (output->file != NULL) firn_storage_abort(output->file);
}

/* ---- rows ---- */

static firn_status append(position_output *output, const firn_deleted_rows *item,
                          const uint64_t *positions, size_t count, firn_error *error) {
    static const uint32_t first_entry[BLOCK_ROWS] = {0};
    uint8_t bytes[BLOCK_ROWS * 8];
    for (size_t i = 0; i < count; i++) firn_store_le64(bytes + 8 * i, positions[i]);
    firn_slice path = firn_slice_text(item->data->path);
    firn_parquet_batch paths = {
        .level_count = count,
        .values = {.type = FIRN_PARQUET_BYTE_ARRAY, .count = 1, .slices = &path},
        .indices = first_entry,
        .value_count = count,
        .dictionary_id = output->item + 1};
    firn_parquet_batch rows = {
        .level_count = count,
        .values = {.type = FIRN_PARQUET_INT64, .width = 8, .count = count, .fixed = bytes},
        .value_count = count};
    FIRN_TRY(firn_parquet_chunk_writer_append(output->chunks[PATH_LEAF], &paths, error));
    FIRN_TRY(firn_parquet_chunk_writer_append(output->chunks[POS_LEAF], &rows, error));
    if (positions[0] < output->least) output->least = positions[0];
    if (positions[count - 1] > output->greatest) output->greatest = positions[count - 1];
    output->last_item = output->item;
    return FIRN_OK;
}

/* Up to `limit` rows into the open chunks. */
static firn_status fill_chunks(position_output *output, int64_t limit, int64_t *rows,
                               firn_error *error) {
    uint64_t positions[BLOCK_ROWS];
    *rows = 0;
    while (*rows < limit && output->item < output->end) {
        const firn_deleted_rows *item = output->writer->items[output->item];
        const firn_roaring *set = NULL;
        FIRN_TRY(firn_delete_writer_set(output->writer, item, &set, error));
        size_t most = limit - *rows < BLOCK_ROWS ? (size_t)(limit - *rows) : BLOCK_ROWS;
        size_t count = firn_roaring_take(set, output->next, UINT64_MAX, positions, most);
        assert(count > 0); /* items are not empty, and `taken` tells when they end */
        FIRN_TRY(append(output, item, positions, count, error));
        output->next = positions[count - 1] + 1;
        output->taken += count;
        *rows += (int64_t)count;
        if (output->taken < firn_deleted_rows_count(item)) continue;
        output->item++;
        output->next = 0;
        output->taken = 0;
    }
    return FIRN_OK;
}

static firn_status add_chunk(position_output *output, size_t leaf, firn_error *error) {
    firn_parquet_chunk chunk = {0};
    firn_status status = firn_parquet_chunk_writer_finish(output->chunks[leaf], &chunk, error);
    if (status == FIRN_OK) {
        output->compressed_bytes[leaf] += chunk.metadata.total_compressed_size;
        status = firn_parquet_file_writer_add_chunk(output->parquet, &chunk, error);
    }
    firn_parquet_chunk_release(&chunk);
    return status;
}

static firn_status write_row_group(position_output *output, firn_error *error) {
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(output->parquet);
    for (size_t i = 0; i < LEAVES; i++) {
        firn_parquet_chunk_writer_free(output->chunks[i]);
        output->chunks[i] = NULL;
        FIRN_TRY(firn_parquet_chunk_writer_new(&schema->leaves[i], &output->options.parquet,
                                               &output->chunks[i], error));
    }
    int64_t rows = 0;
    FIRN_TRY(fill_chunks(output, output->options.row_group_row_limit, &rows, error));
    if (rows == 0) return FIRN_OK;
    FIRN_TRY(firn_parquet_file_writer_begin_row_group(output->parquet, rows, error));
    for (size_t i = 0; i < LEAVES; i++) FIRN_TRY(add_chunk(output, i, error));
    output->rows += rows;
    return firn_parquet_file_writer_end_row_group(output->parquet, error);
}

/* ---- the manifest's entry ---- */

static firn_status set_splits(const firn_parquet_file_metadata *metadata, firn_arena *arena,
                              firn_data_file *entry, firn_error *error) {
    int64_t *offsets = firn_arena_alloc(arena, metadata->row_group_count, sizeof *offsets);
    if (offsets == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        const firn_parquet_column_chunk *first = &metadata->row_groups[i].columns[0];
        bool has_dictionary =
            first->has_dictionary_page_offset && first->dictionary_page_offset > 0;
        offsets[i] = has_dictionary ? first->dictionary_page_offset : first->data_page_offset;
    }
    entry->split_offsets = offsets;
    entry->split_offset_count = metadata->row_group_count;
    return FIRN_OK;
}

/* In the order of `ids`: pos has the lower one. */
#define POS_AT 0
#define PATH_AT 1

static firn_status set_counts(const position_output *output, firn_data_file *entry,
                              firn_error *error) {
    static const int32_t ids[] = {POS_ID, FILE_PATH_ID};
    int64_t *counts = firn_arena_alloc(output->writer->arena, 3 * LEAVES, sizeof *counts);
    if (counts == NULL) return firn_fail_memory(error);
    counts[POS_AT] = output->compressed_bytes[POS_LEAF];
    counts[PATH_AT] = output->compressed_bytes[PATH_LEAF];
    counts[2 + POS_AT] = counts[2 + PATH_AT] = output->rows;
    entry->column_sizes = (firn_count_map){ids, counts, LEAVES, true};
    entry->value_counts = (firn_count_map){ids, counts + 2, LEAVES, true};
    entry->null_value_counts = (firn_count_map){ids, counts + 4, LEAVES, true};
    return FIRN_OK;
}

/* Bounds of file_path are never cut: readers tell from them which files the deletes are for. */
static firn_status set_bounds(const position_output *output, firn_data_file *entry,
                              firn_error *error) {
    static const int32_t ids[] = {POS_ID, FILE_PATH_ID};
    firn_arena *arena = output->writer->arena;
    const firn_data_file *first = output->writer->items[output->first_item]->data;
    const firn_data_file *last = output->writer->items[output->last_item]->data;
    uint8_t *positions = firn_arena_alloc(arena, 2, 8);
    firn_slice *bounds = firn_arena_alloc(arena, 2 * LEAVES, sizeof *bounds);
    const char *lower = firn_arena_strdup(arena, first->path);
    const char *upper = firn_arena_strdup(arena, last->path);
    if (positions == NULL || bounds == NULL || lower == NULL || upper == NULL) {
        return firn_fail_memory(error);
    }
    firn_store_le64(positions, output->least);
    firn_store_le64(positions + 8, output->greatest);
    bounds[POS_AT] = firn_slice_of(positions, 8);
    bounds[PATH_AT] = firn_slice_text(lower);
    bounds[LEAVES + POS_AT] = firn_slice_of(positions + 8, 8);
    bounds[LEAVES + PATH_AT] = firn_slice_text(upper);
    entry->lower_bounds = (firn_bound_map){ids, bounds, LEAVES, true};
    entry->upper_bounds = (firn_bound_map){ids, bounds + LEAVES, LEAVES, true};
    if (output->first_item == output->last_item) entry->referenced_data_file = lower;
    return FIRN_OK;
}

static firn_status finish_file(position_output *output, firn_error *error) {
    firn_delete_writer *writer = output->writer;
    uint64_t size = 0;
    const firn_parquet_file_metadata *metadata = NULL;
    firn_data_file entry;
    FIRN_TRY(firn_parquet_file_writer_finish(output->parquet, &size, &metadata, error));
    FIRN_TRY(firn_delete_writer_entry(writer, writer->items[output->first_item]->data,
                                      output->location, FIRN_FILE_PARQUET, &entry, error));
    entry.record_count = output->rows;
    entry.file_size_in_bytes = (int64_t)size;
    FIRN_TRY(set_splits(metadata, writer->arena, &entry, error));
    FIRN_TRY(set_counts(output, &entry, error));
    FIRN_TRY(set_bounds(output, &entry, error));
    firn_storage_writer *file = output->file;
    output->file = NULL;
    FIRN_TRY(firn_storage_finish(file, error));
    return firn_vector_push(&writer->out, error, entry);
}

static bool has_more(const position_output *output) {
    return output->item < output->end;
}

static firn_status write_file(position_output *output, firn_error *error) {
    FIRN_TRY(open_file(output, error));
    do {
        FIRN_TRY(write_row_group(output, error));
    } while (has_more(output) && (int64_t)firn_parquet_file_writer_position(output->parquet) <
                                     output->writer->target_bytes);
    return finish_file(output, error);
}

firn_status firn_delete_writer_positions(firn_delete_writer *writer, size_t first, size_t end,
                                         firn_error *error) {
    position_output output = {.writer = writer, .item = first, .end = end};
    FIRN_TRY(firn_data_write_options_read(writer->table->metadata, &output.options, error));
    while (has_more(&output)) {
        firn_status status = write_file(&output, error);
        release(&output);
        output.file = NULL;
        output.parquet = NULL;
        memset(output.chunks, 0, sizeof output.chunks);
        if (status != FIRN_OK) return status;
    }
    return FIRN_OK;
}
