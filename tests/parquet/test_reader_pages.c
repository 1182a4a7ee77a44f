/* Chunks and pages as writers have really laid them out, and as damage leaves them. */
#include "fx_parquet.h"

#include "base/bytes.h"
#include "codec/codec.h"

static const firn_parquet_schema_element required_int = {.has_type = true,
                                                         .type = FIRN_PARQUET_INT32,
                                                         .has_repetition = true,
                                                         .repetition = FIRN_PARQUET_REQUIRED,
                                                         .name = "n"};
static const firn_parquet_schema_element optional_int = {.has_type = true,
                                                         .type = FIRN_PARQUET_INT32,
                                                         .has_repetition = true,
                                                         .repetition = FIRN_PARQUET_OPTIONAL,
                                                         .name = "n"};
static const firn_parquet_schema_element repeated_int = {.has_type = true,
                                                         .type = FIRN_PARQUET_INT32,
                                                         .has_repetition = true,
                                                         .repetition = FIRN_PARQUET_REPEATED,
                                                         .name = "n"};

static firn_parquet_page_header v1_header(int32_t values, firn_parquet_encoding encoding) {
    return (firn_parquet_page_header){.type = FIRN_PARQUET_DATA_PAGE,
                                      .num_values = values,
                                      .encoding = encoding,
                                      .definition_level_encoding = FIRN_PARQUET_RLE,
                                      .repetition_level_encoding = FIRN_PARQUET_RLE};
}

static firn_parquet_page_header v2_header(int32_t values, int32_t nulls, int32_t definition,
                                          bool compressed) {
    return (firn_parquet_page_header){.type = FIRN_PARQUET_DATA_PAGE_V2,
                                      .num_values = values,
                                      .num_nulls = nulls,
                                      .num_rows = values,
                                      .encoding = FIRN_PARQUET_PLAIN,
                                      .definition_levels_size = definition,
                                      .is_compressed = compressed};
}

#define DICTIONARY                                                                                 \
    {                                                                                              \
        .header = {.type = FIRN_PARQUET_DICTIONARY_PAGE,                                           \
                   .num_values = 3,                                                                \
                   .encoding = FIRN_PARQUET_PLAIN},                                                \
        .body = FX_BYTES(10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0)                                    \
    }
#define INDEX_PAGE                                                                                 \
    { .header = v1_header(4, FIRN_PARQUET_RLE_DICTIONARY), .body = FX_BYTES(2, 3, 0x24, 0x00) }
#define PLAIN_PAGE                                                                                 \
    { .header = v1_header(2, FIRN_PARQUET_PLAIN), .body = FX_BYTES(7, 0, 0, 0, 8, 0, 0, 0) }

/* Reads a file of one required INT32 column and compares its values. */
static void expect_values(const firn_buffer *file, const int32_t *expected, size_t count) {
    firn_error error = {0};
    firn_memory_file memory = {file->data, file->size};
    firn_read_at source = firn_read_at_memory(&memory, "test.parquet");
    firn_parquet_file *opened = NULL;
    firn_parquet_chunk_reader *reader = NULL;
    size_t found = 0;
    check_ok(firn_parquet_file_open(&source, &opened, &error), &error);
    for (size_t i = 0; i < opened->metadata->row_group_count; i++) {
        const firn_parquet_page *page = NULL;
        check_ok(firn_parquet_chunk_reader_open(opened, i, 0, &reader, &error), &error);
        for (;;) {
            firn_parquet_batch batch = {0};
            check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
            if (page == NULL) break;
            check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
            for (size_t j = 0; j < batch.value_count; j++) {
                assert_true(found < count);
                assert_int_equal((int32_t)firn_load_le32(fx_value(&batch, j).data),
                                 expected[found]);
                found++;
            }
        }
        firn_parquet_chunk_reader_close(reader);
    }
    assert_int_equal(found, count);
    firn_parquet_file_close(opened);
}

static void expect_failure(const firn_buffer *file, firn_status code, const char *part) {
    firn_error error = {0};
    fx_content content = {0};
    check_fails(fx_read_bytes(firn_buffer_slice(file), &content, &error), code, &error, part);
}

/* One chunk of `pages` in a column `leaf`. */
static firn_buffer one_chunk(const firn_parquet_schema_element *leaf, const fx_page *pages,
                             size_t count, int64_t rows,
                             void (*tamper)(firn_parquet_column_chunk *)) {
    fx_chunk chunk = {
        .pages = pages, .page_count = count, .num_rows = rows, .num_values = -1, .tamper = tamper};
    return fx_parquet_file(leaf, &chunk, 1);
}

static const int32_t dictionary_then_plain[] = {10, 20, 30, 10, 7, 8};

static void zero_dictionary_offset(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset = chunk->dictionary_page_offset;
    chunk->dictionary_page_offset = 0;
}
static void no_dictionary_offset(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset = chunk->dictionary_page_offset;
    chunk->has_dictionary_page_offset = false;
}
static void equal_offsets(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset = chunk->dictionary_page_offset;
}
static void data_offset_within_the_dictionary(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset -= 15;
}
static void data_offset_far_behind(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset += 1000000;
}
static void size_without_dictionary_header(firn_parquet_column_chunk *chunk) {
    chunk->total_compressed_size -= 13;
}

static void finds_pages_whatever_the_offsets_say(void **state) {
    (void)state;
    void (*const tampers[])(firn_parquet_column_chunk *) = {NULL,
                                                            zero_dictionary_offset,
                                                            no_dictionary_offset,
                                                            equal_offsets,
                                                            data_offset_within_the_dictionary,
                                                            data_offset_far_behind,
                                                            size_without_dictionary_header};
    const fx_page pages[] = {DICTIONARY, INDEX_PAGE, PLAIN_PAGE};
    for (size_t i = 0; i < sizeof tampers / sizeof *tampers; i++) {
        firn_buffer file = one_chunk(&required_int, pages, 3, 6, tampers[i]);
        expect_values(&file, dictionary_then_plain, 6);
        firn_buffer_release(&file);
    }
}

static void skips_pages_of_unknown_types(void **state) {
    (void)state;
    const fx_page pages[] = {
        {.header = {.type = FIRN_PARQUET_INDEX_PAGE}, .body = FX_BYTES(1, 2, 3)},
        PLAIN_PAGE,
        {.header = {.type = (firn_parquet_page_type)9}, .body = FX_BYTES(4)},
        {.header = v1_header(0, FIRN_PARQUET_PLAIN)},
        PLAIN_PAGE};
    firn_buffer file = one_chunk(&required_int, pages, 5, 4, NULL);
    expect_values(&file, (const int32_t[]){7, 8, 7, 8}, 4);
    firn_buffer_release(&file);
}

static void reads_files_without_rows(void **state) {
    (void)state;
    const fx_page plain[] = {PLAIN_PAGE};
    const fx_chunk full = {.pages = plain, .page_count = 1, .num_rows = 2, .num_values = -1};
    const fx_chunk empty = {.num_rows = 0, .num_values = -1};
    const fx_chunk layouts[][3] = {{empty, full, full}, {full, empty, full}, {full, full, empty}};
    for (size_t i = 0; i < 3; i++) {
        firn_buffer file = fx_parquet_file(&required_int, layouts[i], 3);
        expect_values(&file, (const int32_t[]){7, 8, 7, 8}, 4);
        firn_buffer_release(&file);
    }
    for (size_t i = 0; i < 2; i++) {
        firn_buffer file = fx_parquet_file(&required_int, &empty, i);
        expect_values(&file, NULL, 0);
        firn_buffer_release(&file);
    }
}

/* Compressed and plain v2 pages in one compressed chunk; the levels are never compressed. */
static void heeds_each_v2_page_s_own_flag(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer compressed = firn_buffer_with_maximum(4096);
    /* Levels 1 0 1, then the values 7 and 8. */
    fx_append(&compressed, FX_BYTES(3, 0x05));
    firn_slice values = FX_BYTES(7, 0, 0, 0, 8, 0, 0, 0);
    check_ok(firn_codec_compress(FIRN_CODEC_SNAPPY, FIRN_CODEC_LEVEL_DEFAULT, values, &compressed,
                                 &error),
             &error);
    firn_parquet_page_header flagged = v2_header(3, 1, 2, true);
    flagged.uncompressed_size = 10;
    flagged.compressed_size = (int32_t)compressed.size;
    firn_parquet_page_header nulls = v2_header(4, 4, 2, true);
    const fx_page pages[] = {
        {.header = flagged, .body = firn_buffer_slice(&compressed)},
        {.header = v2_header(3, 1, 2, false), .body = FX_BYTES(3, 0x06, 9, 0, 0, 0, 10, 0, 0, 0)},
        /* Nulls alone: no values, and no frame that holds none. */
        {.header = nulls, .body = FX_BYTES(8, 0)},
        {.header = flagged, .body = firn_buffer_slice(&compressed)},
    };
    fx_chunk chunk = {.pages = pages,
                      .page_count = 4,
                      .num_rows = 13,
                      .num_values = -1,
                      .compression = FIRN_PARQUET_SNAPPY};
    firn_buffer file = fx_parquet_file(&optional_int, &chunk, 1);
    expect_values(&file, (const int32_t[]){7, 8, 9, 10, 7, 8}, 6);
    firn_buffer_release(&file);
    firn_buffer_release(&compressed);
}

static void reads_deprecated_bit_packed_levels(void **state) {
    (void)state;
    firn_parquet_page_header header = v1_header(3, FIRN_PARQUET_PLAIN);
    header.definition_level_encoding = FIRN_PARQUET_BIT_PACKED;
    header.repetition_level_encoding = FIRN_PARQUET_BIT_PACKED;
    const fx_page pages[] = {{.header = header, .body = FX_BYTES(0xA0, 7, 0, 0, 0, 8, 0, 0, 0)}};
    firn_buffer file = one_chunk(&optional_int, pages, 1, 3, NULL);
    expect_values(&file, (const int32_t[]){7, 8}, 2);
    firn_buffer_release(&file);
    /* Java says BIT_PACKED where there are no levels at all. */
    const fx_page flat[] = {
        {.header = header, .body = FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)}};
    file = one_chunk(&required_int, flat, 1, 3, NULL);
    expect_values(&file, (const int32_t[]){1, 2, 3}, 3);
    firn_buffer_release(&file);
}

static void reads_repeated_fields(void **state) {
    (void)state;
    /* Rows [7, 8], [], [9]: repetition 0 1 0 0, definition 1 1 0 1. */
    const fx_page pages[] = {{.header = v1_header(4, FIRN_PARQUET_PLAIN),
                              .body = FX_BYTES(2, 0, 0, 0, 3, 0x02, 2, 0, 0, 0, 3, 0x0B, 7, 0, 0, 0,
                                               8, 0, 0, 0, 9, 0, 0, 0)}};
    fx_chunk chunk = {.pages = pages, .page_count = 1, .num_rows = 3, .num_values = 4};
    firn_buffer file = fx_parquet_file(&repeated_int, &chunk, 1);
    fx_content content = {0};
    firn_error error = {0};
    check_ok(fx_read_bytes(firn_buffer_slice(&file), &content, &error), &error);
    assert_int_equal(content.rows, 3);
    assert_int_equal(content.levels, 4);
    assert_int_equal(content.values, 3);
    firn_buffer_release(&file);
}

static void refuses_a_chunk_that_begins_within_a_row(void **state) {
    (void)state;
    const fx_page pages[] = {
        {.header = v1_header(2, FIRN_PARQUET_PLAIN),
         .body = FX_BYTES(2, 0, 0, 0, 3, 0x01, 2, 0, 0, 0, 3, 0x03, 7, 0, 0, 0, 8, 0, 0, 0)}};
    fx_chunk chunk = {.pages = pages, .page_count = 1, .num_rows = 1, .num_values = 2};
    firn_buffer file = fx_parquet_file(&repeated_int, &chunk, 1);
    expect_failure(&file, FIRN_CORRUPT, "middle of a row");
    firn_buffer_release(&file);
}

static void checks_crcs(void **state) {
    (void)state;
    fx_page page = PLAIN_PAGE;
    page.header.has_crc = true;
    page.header.crc = firn_crc32(0, page.body);
    firn_buffer file = one_chunk(&required_int, &page, 1, 2, NULL);
    expect_values(&file, (const int32_t[]){7, 8}, 2);
    firn_buffer_release(&file);
    page.header.crc ^= 1;
    file = one_chunk(&required_int, &page, 1, 2, NULL);
    expect_failure(&file, FIRN_CORRUPT, "CRC");
    firn_buffer_release(&file);
}

/* What a damaged or lying page header must lead to. */
static void refuses_headers_that_lie(void **state) {
    (void)state;
    const struct {
        firn_parquet_page_header header;
        firn_slice body;
        const char *message;
    } cases[] = {
        {v1_header(3, FIRN_PARQUET_PLAIN), FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0), "past its 2 values"},
        {v1_header(1, FIRN_PARQUET_PLAIN), FX_BYTES(1, 0, 0, 0), "end after 1 of 2 values"},
        {v1_header(2, FIRN_PARQUET_PLAIN), FX_BYTES(1, 0, 0, 0), "too few"},
        {v1_header(2, FIRN_PARQUET_RLE_DICTIONARY), FX_BYTES(1, 3, 1), "none came"},
        {v1_header(-2, FIRN_PARQUET_PLAIN), FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0), "negative"},
        {v2_header(2, 0, 9, false), FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0), "more than the page has"},
        {v2_header(2, 0, -1, false), FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0), "negative"},
        {{.type = FIRN_PARQUET_DATA_PAGE,
          .num_values = 2,
          .uncompressed_size = 8,
          .compressed_size = 1000000,
          .encoding = FIRN_PARQUET_PLAIN},
         FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0),
         "pass the chunk's end"},
        {{.type = FIRN_PARQUET_DATA_PAGE, .uncompressed_size = -8, .compressed_size = -8},
         FX_BYTES(1, 0, 0, 0, 2, 0, 0, 0),
         "negative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fx_page page = {.header = cases[i].header, .body = cases[i].body};
        firn_buffer file = one_chunk(&required_int, &page, 1, 2, NULL);
        expect_failure(&file, FIRN_CORRUPT, cases[i].message);
        firn_buffer_release(&file);
    }
    const fx_page late[] = {PLAIN_PAGE, DICTIONARY, PLAIN_PAGE};
    firn_buffer file = one_chunk(&required_int, late, 3, 4, NULL);
    expect_failure(&file, FIRN_CORRUPT, "not the chunk's first");
    firn_buffer_release(&file);
}

/* A few bytes that claim a large page allocate nothing. */
static void refuses_sizes_that_a_codec_cannot_reach(void **state) {
    (void)state;
    fx_page page = PLAIN_PAGE;
    page.header.uncompressed_size = INT32_MAX;
    page.header.compressed_size = 8;
    const firn_parquet_compression codecs[] = {FIRN_PARQUET_SNAPPY, FIRN_PARQUET_GZIP,
                                               FIRN_PARQUET_LZ4, FIRN_PARQUET_LZ4_RAW,
                                               FIRN_PARQUET_ZSTD};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        fx_chunk chunk = {.pages = &page,
                          .page_count = 1,
                          .num_rows = 2,
                          .num_values = -1,
                          .compression = codecs[i]};
        firn_buffer file = fx_parquet_file(&required_int, &chunk, 1);
        expect_failure(&file, FIRN_CORRUPT, "can't hold");
        firn_buffer_release(&file);
    }
}

static void refuses_too_many_levels_in_a_page(void **state) {
    (void)state;
    fx_page page = {.header = v1_header(INT32_MAX, FIRN_PARQUET_PLAIN),
                    .body = FX_BYTES(6, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0)};
    firn_buffer file = one_chunk(&optional_int, &page, 1, INT32_MAX, NULL);
    expect_failure(&file, FIRN_LIMIT, "values in one page");
    firn_buffer_release(&file);
}

static void lie_about_size(firn_parquet_column_chunk *chunk) {
    chunk->total_compressed_size = INT64_MAX;
}
static void point_outside(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset = INT64_MAX - 5;
}
static void point_before(firn_parquet_column_chunk *chunk) {
    chunk->data_page_offset = -4;
}

static void refuses_chunks_outside_the_file(void **state) {
    (void)state;
    const fx_page page = PLAIN_PAGE;
    void (*const tampers[])(firn_parquet_column_chunk *) = {lie_about_size, point_outside,
                                                            point_before};
    for (size_t i = 0; i < 3; i++) {
        firn_buffer file = one_chunk(&required_int, &page, 1, 2, tampers[i]);
        expect_failure(&file, FIRN_CORRUPT, "outside the file");
        firn_buffer_release(&file);
    }
}

static void lie_elsewhere(firn_parquet_column_chunk *chunk) {
    chunk->file_path = "other.parquet";
}
static void have_alp(firn_parquet_column_chunk *chunk) {
    static const firn_parquet_encoding encodings[] = {FIRN_PARQUET_RLE, FIRN_PARQUET_ALP};
    chunk->encodings = encodings;
}
static void have_strange_encoding(firn_parquet_column_chunk *chunk) {
    static const firn_parquet_encoding encodings[] = {FIRN_PARQUET_RLE, (firn_parquet_encoding)77};
    chunk->encodings = encodings;
}
static void have_bit_packed_levels(firn_parquet_column_chunk *chunk) {
    static const firn_parquet_encoding encodings[] = {FIRN_PARQUET_PLAIN, FIRN_PARQUET_BIT_PACKED};
    chunk->encodings = encodings;
}

static void expect_supported(void (*tamper)(firn_parquet_column_chunk *),
                             firn_parquet_compression compression, const char *refusal) {
    firn_error error = {0};
    const fx_page page = PLAIN_PAGE;
    fx_chunk chunk = {.pages = &page,
                      .page_count = 1,
                      .num_rows = 2,
                      .num_values = -1,
                      .compression = compression,
                      .tamper = tamper};
    firn_buffer file = fx_parquet_file(&required_int, &chunk, 1);
    firn_memory_file memory = {file.data, file.size};
    firn_read_at source = firn_read_at_memory(&memory, "test.parquet");
    firn_parquet_file *opened = NULL;
    check_ok(firn_parquet_file_open(&source, &opened, &error), &error);
    firn_status status = firn_parquet_chunk_supported(opened, 0, 0, &error);
    if (refusal == NULL) {
        check_ok(status, &error);
    } else {
        check_fails(status, FIRN_UNSUPPORTED, &error, refusal);
        assert_non_null(strstr(error.message, "column n"));
    }
    firn_parquet_file_close(opened);
    firn_buffer_release(&file);
}

static void refuses_by_name_what_it_cannot_read(void **state) {
    (void)state;
    expect_supported(NULL, FIRN_PARQUET_UNCOMPRESSED, NULL);
    expect_supported(have_bit_packed_levels, FIRN_PARQUET_SNAPPY, NULL);
    expect_supported(have_alp, FIRN_PARQUET_ZSTD, "encoding ALP (10)");
    expect_supported(have_strange_encoding, FIRN_PARQUET_ZSTD, "encoding unknown (77)");
    expect_supported(NULL, FIRN_PARQUET_LZO, "codec LZO (3)");
    expect_supported(NULL, (firn_parquet_compression)99, "codec unknown (99)");
    expect_supported(lie_elsewhere, FIRN_PARQUET_ZSTD, "another file (other.parquet)");
    /* And when it is tried all the same. */
    fx_page page = PLAIN_PAGE;
    page.header.encoding = FIRN_PARQUET_ALP;
    firn_buffer file = one_chunk(&required_int, &page, 1, 2, NULL);
    expect_failure(&file, FIRN_UNSUPPORTED, "ALP (10)");
    firn_buffer_release(&file);
    page.header.encoding = FIRN_PARQUET_PLAIN;
    fx_chunk chunk = {.pages = &page,
                      .page_count = 1,
                      .num_rows = 2,
                      .num_values = -1,
                      .compression = FIRN_PARQUET_LZO};
    file = fx_parquet_file(&required_int, &chunk, 1);
    expect_failure(&file, FIRN_UNSUPPORTED, "LZO");
    firn_buffer_release(&file);
}

/* Two dictionaries never have the same id, even in different readers. */
static void tells_dictionaries_apart(void **state) {
    (void)state;
    firn_error error = {0};
    const fx_page pages[] = {DICTIONARY, INDEX_PAGE};
    const fx_chunk chunk = {.pages = pages, .page_count = 2, .num_rows = 4, .num_values = -1};
    const fx_chunk chunks[] = {chunk, chunk};
    firn_buffer bytes = fx_parquet_file(&required_int, chunks, 2);
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at source = firn_read_at_memory(&memory, "test.parquet");
    firn_parquet_file *file = NULL;
    firn_parquet_chunk_reader *reader = NULL;
    const firn_parquet_page *page = NULL;
    firn_parquet_batch batch = {0};
    check_ok(firn_parquet_file_open(&source, &file, &error), &error);
    check_ok(firn_parquet_chunk_reader_open(file, 0, 0, &reader, &error), &error);
    check_fails(firn_parquet_chunk_reader_decode(reader, &batch, &error), FIRN_INVALID, &error,
                NULL);
    assert_int_equal(firn_parquet_chunk_reader_dictionary(reader)->count, 0);
    check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
    assert_int_equal(firn_parquet_chunk_reader_dictionary(reader)->count, 3);
    check_ok(firn_parquet_chunk_reader_decode_levels(reader, &batch, &error), &error);
    assert_int_equal(batch.value_count, 4);
    assert_int_equal(batch.values.count, 0);
    check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
    assert_non_null(batch.indices);
    uint64_t first = batch.dictionary_id;
    check_ok(firn_parquet_chunk_reader_reset(reader, file, 1, 0, &error), &error);
    assert_int_equal(firn_parquet_chunk_reader_dictionary(reader)->count, 0);
    check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
    check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
    assert_int_not_equal(batch.dictionary_id, first);
    check_fails(firn_parquet_chunk_reader_reset(reader, file, 2, 0, &error), FIRN_INVALID, &error,
                NULL);
    check_fails(firn_parquet_chunk_reader_next(reader, &page, &error), FIRN_INVALID, &error, NULL);
    firn_parquet_chunk_reader_close(reader);
    firn_parquet_file_close(file);
    firn_buffer_release(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_pages_whatever_the_offsets_say),
        cmocka_unit_test(skips_pages_of_unknown_types),
        cmocka_unit_test(reads_files_without_rows),
        cmocka_unit_test(heeds_each_v2_page_s_own_flag),
        cmocka_unit_test(reads_deprecated_bit_packed_levels),
        cmocka_unit_test(reads_repeated_fields),
        cmocka_unit_test(refuses_a_chunk_that_begins_within_a_row),
        cmocka_unit_test(checks_crcs),
        cmocka_unit_test(refuses_headers_that_lie),
        cmocka_unit_test(refuses_sizes_that_a_codec_cannot_reach),
        cmocka_unit_test(refuses_too_many_levels_in_a_page),
        cmocka_unit_test(refuses_chunks_outside_the_file),
        cmocka_unit_test(refuses_by_name_what_it_cannot_read),
        cmocka_unit_test(tells_dictionaries_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
