/*
 * A whole Parquet file, rewritten: each leaf of its row groups becomes one chunk, some rows dropped, and the file is merged with
 * itself. Options and rows hang on the input's checksum, so that each input is always run alike.
 */
#include <assert.h>
#include <stdint.h>

#include "base/alloc.h"
#include "codec/codec.h"
#include "parquet/merge.h"
#include "parquet/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_GROUPS 4
#define MOST_LEAVES 8
#define MOST_DROPPED 64
/* More rows or values in a file of so few bytes are only slow. */
#define MOST_ROWS ((int64_t)1 << 16)

static uint32_t choice; /* bits are taken from it */

static uint32_t choose(uint32_t below) {
    uint32_t taken = choice % below;
    choice = choice * 1664525 + 1013904223;
    return taken;
}

static firn_parquet_write_options choose_options(void) {
    static const firn_parquet_compression codecs[] = {FIRN_PARQUET_UNCOMPRESSED,
                                                      FIRN_PARQUET_SNAPPY, FIRN_PARQUET_ZSTD};
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.compression = codecs[choose(3)];
    options.page_version = 1 + (int)choose(2);
    options.page_row_limit = choose(2) == 0 ? 100 : 20000;
    if (choose(3) == 0) options.dictionary_size_bytes = 0;
    options.delta_encodings = choose(2) == 0;
    return options;
}

static bool is_small(const firn_parquet_file *file) {
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &file->metadata->row_groups[i];
        if (group->num_rows > MOST_ROWS) return false;
        for (size_t j = 0; j < group->column_count; j++) {
            if (group->columns[j].num_values > MOST_ROWS) return false;
        }
    }
    return true;
}

static void rewrite_leaf(const firn_parquet_file *file, size_t leaf) {
    int64_t dropped[MOST_DROPPED];
    firn_parquet_piece pieces[MOST_GROUPS];
    firn_parquet_leaf_mapping mapping = {.input_leaf = (int32_t)leaf, .levels_identical = true};
    firn_parquet_leaf_mapping mappings[MOST_LEAVES];
    for (int i = 0; i <= FIRN_PARQUET_MAX_LEVEL; i++) mapping.definition_level_map[i] = (uint8_t)i;
    mappings[leaf] = mapping;
    size_t dropped_count = 0, piece_count = 0;
    for (int64_t row = choose(5); dropped_count < MOST_DROPPED; row += 1 + choose(5)) {
        dropped[dropped_count++] = row;
    }
    for (; piece_count < file->metadata->row_group_count && piece_count < MOST_GROUPS;
         piece_count++) {
        int64_t rows = file->metadata->row_groups[piece_count].num_rows;
        pieces[piece_count] = (firn_parquet_piece){
            .file = file, .row_group = piece_count, .row_count = rows, .mappings = mappings};
        if (choose(2) == 0) continue;
        pieces[piece_count].dropped_rows = dropped;
        pieces[piece_count].dropped_count = dropped_count;
    }
    firn_error error = {0};
    firn_parquet_chunk chunk = {0};
    firn_parquet_rewrite_counts counts;
    firn_parquet_write_options options = choose_options();
    firn_parquet_rewrite_options how = {.copy_pages = choose(4) != 0,
                                        .no_joined_pages = choose(4) == 0};
    if (firn_parquet_rewrite_leaf(pieces, piece_count, file->schema, leaf, &options, &how, &chunk,
                                  &counts, &error) != FIRN_OK) {
        return;
    }
    /* What is copied is not looked into, so that only counts can be held against each other. */
    assert(counts.rows == chunk.counts.row_count);
    assert(counts.levels == chunk.counts.level_count);
    assert(counts.nulls == chunk.counts.null_count);
    firn_parquet_chunk_release(&chunk);
}

static firn_status open_input(void *context, size_t index, firn_read_at *out, void **handle,
                              firn_error *error) {
    (void)index;
    (void)error;
    *out = *(const firn_read_at *)context;
    *handle = NULL;
    return FIRN_OK;
}

static void close_input(void *context, void *handle) {
    (void)context;
    (void)handle;
}

static firn_status sink(void *context, const void *data, size_t size, firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

typedef struct merged {
    firn_buffer bytes; /* of the output at hand */
    int64_t rows;
} merged;

static firn_status begin_output(void *context, size_t index, firn_write_to *out,
                                firn_error *error) {
    (void)index;
    (void)error;
    merged *to = context;
    to->bytes.size = 0;
    *out = (firn_write_to){sink, &to->bytes};
    return FIRN_OK;
}

static firn_status finish_output(void *context, size_t index, int64_t rows, int64_t bytes,
                                 firn_error *error) {
    (void)index;
    merged *from = context;
    firn_memory_file memory = {from->bytes.data, from->bytes.size};
    firn_read_at source = firn_read_at_memory(&memory, "output");
    firn_parquet_file *file = NULL;
    firn_status status = firn_parquet_file_open(&source, &file, error);
    assert(status == FIRN_OK && file->metadata->num_rows == rows);
    assert((size_t)bytes == from->bytes.size);
    firn_parquet_file_close(file);
    from->rows += rows;
    return FIRN_OK;
}

static void merge_with_itself(firn_read_at *source) {
    const firn_parquet_merge_inputs inputs = {
        .count = 2, .open = open_input, .close = close_input, .context = source};
    firn_parquet_merge_options options;
    firn_parquet_merge_result result;
    firn_error error = {0};
    firn_parquet_merge_options_init(&options);
    options.write = choose_options();
    options.keep_compression = choose(2) == 0;
    options.keep_page_version = choose(2) == 0;
    if (choose(2) == 0) options.target_file_size_bytes = 1 + choose(20000);
    merged to = {.bytes = firn_buffer_with_maximum((size_t)1 << 30)};
    const firn_parquet_merge_outputs outputs = {begin_output, finish_output, &to};
    firn_status status = firn_parquet_merge(&inputs, &options, &outputs, &result, &error);
    assert(status != FIRN_OK || to.rows == result.rows);
    firn_buffer_release(&to.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_memory_file memory = {data, size};
    firn_read_at source = firn_read_at_memory(&memory, "input");
    firn_parquet_file *file = NULL;
    firn_error error = {0};
    choice = firn_crc32(0, firn_slice_of(data, size));
    if (firn_parquet_file_open(&source, &file, &error) != FIRN_OK) return 0;
    bool small = is_small(file);
    for (size_t i = 0; small && i < file->schema->leaf_count && i < MOST_LEAVES; i++) {
        rewrite_leaf(file, i);
    }
    firn_parquet_file_close(file);
    if (small) merge_with_itself(&source);
    return 0;
}
