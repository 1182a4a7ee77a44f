/* Verifying and merging in memory: each allocation may fail, and no flipped or missing byte does more than be found. */
#include "parquet/merge.h"
#include "parquet/stream.h"

#define COLUMNS 4
static const column_case columns[COLUMNS] = {
    {"r", {.type = FIRN_PARQUET_INT64}},
    {"o", {.type = FIRN_PARQUET_BYTE_ARRAY, .logical = {.kind = FIRN_PARQUET_LOGICAL_STRING}}},
    {"o*o", {.type = FIRN_PARQUET_DOUBLE}},
    {"ro", {.type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 5}},
};

static firn_buffer write_file(int64_t rows, firn_parquet_compression compression) {
    firn_error error = {0};
    test_generator random = {.state = 11};
    firn_parquet_schema_element elements[32];
    firn_parquet_column_options wanted[COLUMNS] = {0};
    for (size_t i = 0; i < COLUMNS; i++) {
        wanted[i].bloom_filter = (firn_parquet_bloom_options){true, 0.05, 64};
    }
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.compression = compression;
    options.columns = wanted;
    options.column_count = COLUMNS;
    options.page_row_limit = 20;
    size_t count = column_elements(columns, COLUMNS, elements, 32);
    firn_buffer bytes = firn_buffer_with_maximum(1 << 28);
    firn_write_to destination = {stream_sink, &bytes};
    firn_parquet_file_writer *file = NULL;
    check_ok(firn_parquet_file_writer_new(elements, count, &options, &destination, &file, &error),
             &error);
    check_ok(firn_parquet_file_writer_begin_row_group(file, rows, &error), &error);
    for (size_t i = 0; i < COLUMNS; i++) {
        stream_mix mix = {i == 1 ? 3 : 50, 20};
        stream s = stream_random(&random, &columns[i], rows, mix);
        const firn_parquet_leaf *leaf = &firn_parquet_file_writer_schema(file)->leaves[i];
        firn_parquet_chunk_writer *writer = NULL;
        firn_parquet_chunk chunk;
        check_ok(firn_parquet_chunk_writer_new(leaf, &options, &writer, &error), &error);
        check_ok(stream_append(&s, writer, leaf, 0, s.definition.count, 0, &error), &error);
        check_ok(firn_parquet_chunk_writer_finish(writer, &chunk, &error), &error);
        firn_parquet_chunk_writer_free(writer);
        check_ok(firn_parquet_file_writer_add_chunk(file, &chunk, &error), &error);
        stream_release(&s);
    }
    check_ok(firn_parquet_file_writer_end_row_group(file, &error), &error);
    check_ok(firn_parquet_file_writer_finish(file, NULL, NULL, &error), &error);
    firn_parquet_file_writer_free(file);
    return bytes;
}

/* A file in memory that does not lend its bytes, so that every read is an allocation. */
static firn_read_at source_of(firn_memory_file *memory, bool lends) {
    firn_read_at source = firn_read_at_memory(memory, "f.parquet");
    if (!lends) source.borrow = NULL;
    return source;
}

static firn_status verify_once(void *context, firn_error *error) {
    firn_parquet_verification verification;
    firn_status status = firn_parquet_verify(context, NULL, &verification, error);
    firn_parquet_verification_release(&verification);
    return status;
}

static void each_allocation_of_verify(void **state) {
    (void)state;
    firn_buffer bytes = write_file(50, FIRN_PARQUET_SNAPPY);
    for (int round = 0; round < 2; round++) {
        firn_memory_file memory = {bytes.data, bytes.size};
        firn_read_at source = source_of(&memory, round == 1);
        if (round == 0) assert_verified(&source);
        check_each_allocation(verify_once, &source);
        /* With something to find, too. */
        bytes.data[40] ^= 1;
        check_each_allocation(verify_once, &source);
        bytes.data[40] ^= 1;
    }
    firn_buffer_release(&bytes);
}

static firn_status open_memory(void *context, size_t index, firn_read_at *out, void **handle,
                               firn_error *error) {
    (void)index;
    (void)error;
    *out = source_of(context, false);
    *handle = context;
    return FIRN_OK;
}

static void close_memory(void *context, void *handle) {
    assert_ptr_equal(context, handle);
}

static firn_status merge_twice(firn_memory_file *memory, firn_buffer *out, firn_error *error) {
    firn_parquet_merge_inputs inputs = {2, open_memory, close_memory, memory};
    firn_parquet_merge_options options;
    firn_parquet_merge_result result;
    firn_parquet_merge_options_init(&options);
    firn_write_to destination = {stream_sink, out};
    firn_parquet_merge_outputs outputs = firn_parquet_merge_to_one(&destination);
    return firn_parquet_merge(&inputs, &options, &outputs, &result, error);
}

static firn_status merge_once(void *context, firn_error *error) {
    firn_buffer out = firn_buffer_with_maximum(1 << 28);
    firn_status status = merge_twice(context, &out, error);
    firn_buffer_release(&out);
    return status;
}

static void each_allocation_of_merge(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer bytes = write_file(50, FIRN_PARQUET_SNAPPY);
    firn_buffer out = firn_buffer_with_maximum(1 << 28);
    firn_memory_file memory = {bytes.data, bytes.size};
    check_ok(merge_twice(&memory, &out, &error), &error);
    firn_memory_file merged = {out.data, out.size};
    firn_read_at source = source_of(&merged, true);
    assert_verified(&source);
    check_each_allocation(merge_once, &memory);
    firn_buffer_release(&out);
    firn_buffer_release(&bytes);
}

/* Every byte of an uncompressed file flipped in turn: verify ends well; that of a page is always found, by its CRC. */
static void flipped_bytes(void **state) {
    (void)state;
    firn_buffer bytes = write_file(30, FIRN_PARQUET_UNCOMPRESSED);
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at source = source_of(&memory, true);
    for (size_t i = 0; i < bytes.size; i++) {
        static const uint8_t flips[] = {0x01, 0x80, 0xFF};
        for (size_t j = 0; j < sizeof flips; j++) {
            bytes.data[i] ^= flips[j];
            firn_error error = {0};
            firn_parquet_verification verification;
            check_ok(firn_parquet_verify(&source, NULL, &verification, &error), &error);
            firn_parquet_verification_release(&verification);
            firn_buffer out = firn_buffer_with_maximum(1 << 26);
            (void)merge_twice(&memory, &out, &error);
            firn_buffer_release(&out);
            bytes.data[i] ^= flips[j];
        }
    }
    assert_verified(&source);
    firn_buffer_release(&bytes);
}

/* Everything behind byte N missing; the tail with the footer's length is kept, so that the footer is looked for. */
static void cut_files(void **state) {
    (void)state;
    firn_buffer bytes = write_file(30, FIRN_PARQUET_UNCOMPRESSED);
    for (size_t size = 0; size < bytes.size; size += 3) {
        for (int tail = 0; tail < 2; tail++) {
            firn_buffer cut = firn_buffer_with_maximum(1 << 26);
            check_ok(firn_buffer_append(&cut, bytes.data, size, NULL), NULL);
            if (tail != 0) {
                check_ok(firn_buffer_append(&cut, bytes.data + bytes.size - 8, 8, NULL), NULL);
            }
            firn_memory_file memory = {cut.data, cut.size};
            firn_read_at source = source_of(&memory, true);
            firn_error error = {0};
            firn_parquet_verification verification;
            check_ok(firn_parquet_verify(&source, NULL, &verification, &error), &error);
            assert_true(verification.findings.count > 0);
            firn_parquet_verification_release(&verification);
            firn_buffer_release(&cut);
        }
    }
    firn_buffer_release(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_verify),
        cmocka_unit_test(each_allocation_of_merge),
        cmocka_unit_test(flipped_bytes),
        cmocka_unit_test(cut_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
