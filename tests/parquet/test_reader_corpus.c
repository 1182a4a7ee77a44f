/* The corpus's Parquet files: read whole, by windows, damaged, and with memory running out. */
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "fx_parquet.h"

#include "base/alloc.h"

/* Files up to this size are damaged often, others now and then; only these are starved. */
#define SMALL ((size_t)20000)
/* Takes 2 GiB to hold its one string. */
#define HUGE_VALUE "large_string_map.brotli.parquet"

typedef struct path_list {
    char *paths[1024];
    size_t count;
} path_list;

static path_list found;

static int add_path(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)place;
    if (kind != FTW_F || fnmatch("*.parquet", path, 0) != 0) return 0;
    if (strstr(path, HUGE_VALUE) != NULL) return 0;
    assert_true(found.count < sizeof found.paths / sizeof *found.paths);
    found.paths[found.count++] = firn_strdup(path);
    return 0;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All Parquet files below a folder of the corpus, in order. */
static void find(const char *folder) {
    for (size_t i = 0; i < found.count; i++) firn_free(found.paths[i]);
    found.count = 0;
    char *path = firn_format("%s/%s", test_corpus(), folder);
    nftw(path, add_path, 16, FTW_PHYS);
    firn_free(path);
    qsort(found.paths, found.count, sizeof *found.paths, by_text);
}

static bool has_wrong_crc(const char *path) {
    return strstr(path, "corrupt-checksum") != NULL;
}

static void reads_every_good_file(void **state) {
    (void)state;
    static const char *const folders[] = {"parquet", "tables", "variant"};
    for (size_t i = 0; i < 3; i++) {
        find(folders[i]);
        assert_true(found.count > 0);
        for (size_t j = 0; j < found.count; j++) {
            firn_error error = {0};
            fx_content content = {0};
            firn_buffer bytes = test_read_file(found.paths[j]);
            firn_status status = fx_read_bytes(firn_buffer_slice(&bytes), &content, &error);
            if (has_wrong_crc(found.paths[j])) {
                check_fails(status, FIRN_CORRUPT, &error, "CRC");
            } else {
                if (status != FIRN_OK) print_error("%s\n", found.paths[j]);
                check_ok(status, &error);
            }
            firn_buffer_release(&bytes);
        }
    }
}

/* Each file holds the rows of the PLAIN file of its name, however its pages are cut and its values encoded. */
static void reads_the_same_from_every_encoding(void **state) {
    (void)state;
    find("parquet-encodings");
    assert_true(found.count > 40);
    for (size_t i = 0; i < found.count; i++) {
        firn_error error = {0};
        fx_content content = {0};
        fx_content plain = {0};
        const char *name = strrchr(found.paths[i], '/') + 1;
        char *twin = firn_format("%s/parquet-encodings/PLAIN/%s", test_corpus(), name);
        firn_buffer bytes = test_read_file(found.paths[i]);
        firn_buffer plain_bytes = test_read_file(twin);
        check_ok(fx_read_bytes(firn_buffer_slice(&bytes), &content, &error), &error);
        check_ok(fx_read_bytes(firn_buffer_slice(&plain_bytes), &plain, &error), &error);
        if (content.hash != plain.hash) print_error("%s\n", found.paths[i]);
        assert_true(content.hash == plain.hash);
        assert_int_equal(content.levels, plain.levels);
        assert_true(content.levels > 0);
        firn_buffer_release(&bytes);
        firn_buffer_release(&plain_bytes);
        firn_free(twin);
    }
}

static void refuses_every_bad_file(void **state) {
    (void)state;
    find("parquet-bad");
    assert_true(found.count > 5);
    size_t refused = 0;
    for (size_t i = 0; i < found.count; i++) {
        firn_error error = {0};
        fx_content content = {0};
        firn_buffer bytes = test_read_file(found.paths[i]);
        firn_status status = fx_read_bytes(firn_buffer_slice(&bytes), &content, &error);
        const char *name = strrchr(found.paths[i], '/') + 1;
        /* What is wrong with these lies in bounds and annotations, which are not looked at here. */
        bool harmless = strstr(name, "GH-43605") != NULL || strstr(name, "GH-45185") != NULL;
        if (!harmless) {
            check_fails(status, FIRN_CORRUPT, &error, NULL);
            assert_non_null(strstr(error.message, "test.parquet"));
            refused++;
        }
        firn_buffer_release(&bytes);
    }
    assert_true(refused >= 6);
}

/* A source that gives nothing away but what is read, into memory of exactly that size. */
typedef struct plain_source {
    firn_slice bytes;
    size_t reads;
    size_t largest;
} plain_source;

static firn_status read_plainly(void *context, uint64_t offset, void *out, size_t size,
                                firn_error *error) {
    (void)error;
    plain_source *source = context;
    assert_true(offset <= source->bytes.size && size <= source->bytes.size - offset);
    memcpy(out, source->bytes.data + offset, size);
    source->reads++;
    if (size > source->largest) source->largest = size;
    return FIRN_OK;
}

static firn_read_at plain_read_at(plain_source *source) {
    return (firn_read_at){.read = read_plainly,
                          .context = source,
                          .size = source->bytes.size,
                          .name = "test.parquet"};
}

static void reads_the_same_without_borrowing(void **state) {
    (void)state;
    find("parquet");
    for (size_t i = 0; i < found.count; i++) {
        if (has_wrong_crc(found.paths[i])) continue;
        firn_error error = {0};
        fx_content content = {0};
        fx_content borrowed = {0};
        firn_buffer bytes = test_read_file(found.paths[i]);
        plain_source source = {.bytes = firn_buffer_slice(&bytes)};
        firn_read_at file = plain_read_at(&source);
        check_ok(fx_read_bytes(firn_buffer_slice(&bytes), &borrowed, &error), &error);
        check_ok(fx_read(&file, &content, &error), &error);
        assert_true(content.hash == borrowed.hash);
        assert_int_equal(content.pages, borrowed.pages);
        firn_buffer_release(&bytes);
    }
}

/* A chunk of 40 MB in uneven pages is read in few windows, each not much above 8 MiB. */
static void reads_large_chunks_in_windows(void **state) {
    (void)state;
    enum { PAGES = 40 };
    static const firn_parquet_schema_element element = {
        .has_type = true, .type = FIRN_PARQUET_INT64, .has_repetition = true, .name = "n"};
    fx_page pages[PAGES] = {0};
    int64_t rows = 0;
    firn_error error = {0};
    firn_buffer values = firn_buffer_with_maximum((size_t)1 << 24);
    check_ok(firn_buffer_reserve(&values, (size_t)1 << 24, &error), &error);
    for (size_t i = 0; i < (size_t)1 << 24; i++) values.data[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < PAGES; i++) {
        size_t count = i == 20 ? 1200000 : 100000 + i * 731;
        pages[i].header = (firn_parquet_page_header){.type = FIRN_PARQUET_DATA_PAGE,
                                                     .num_values = (int32_t)count,
                                                     .encoding = FIRN_PARQUET_PLAIN,
                                                     .definition_level_encoding = FIRN_PARQUET_RLE,
                                                     .repetition_level_encoding = FIRN_PARQUET_RLE};
        pages[i].body = firn_slice_of(values.data, count * 8);
        rows += (int64_t)count;
    }
    const fx_chunk chunk = {
        .pages = pages, .page_count = PAGES, .num_rows = rows, .num_values = -1};
    firn_buffer bytes = fx_parquet_file(&element, &chunk, 1);
    fx_content content = {0};
    fx_content borrowed = {0};
    plain_source source = {.bytes = firn_buffer_slice(&bytes)};
    firn_read_at file = plain_read_at(&source);
    check_ok(fx_read(&file, &content, &error), &error);
    check_ok(fx_read_bytes(firn_buffer_slice(&bytes), &borrowed, &error), &error);
    assert_true(content.hash == borrowed.hash);
    assert_int_equal(content.rows, rows);
    assert_true(source.reads < 16);
    assert_true(source.largest < (size_t)10 << 20);
    firn_buffer_release(&bytes);
    firn_buffer_release(&values);
}

/* Whatever damage does, reading ends in OK or in an error that names the file. */
static void read_damaged(firn_slice bytes) {
    firn_error error = {0};
    fx_content content = {0};
    firn_buffer copy = firn_buffer_with_maximum(bytes.size);
    check_ok(firn_buffer_append(&copy, bytes.data, bytes.size, &error), &error);
    firn_status status = fx_read_bytes(firn_buffer_slice(&copy), &content, &error);
    if (status != FIRN_OK) {
        assert_true(status == FIRN_CORRUPT || status == FIRN_UNSUPPORTED || status == FIRN_LIMIT);
        assert_int_equal(error.code, status);
        assert_non_null(strstr(error.message, "test.parquet"));
    }
    firn_buffer_release(&copy);
}

static void flip_bits(firn_buffer *bytes, test_generator *random) {
    size_t flips = 1 + test_generator_below(random, 3);
    size_t places[3] = {0};
    uint8_t before[3] = {0};
    for (size_t i = 0; i < flips; i++) {
        /* Half of the damage to the footer, which is a small part of most files. */
        size_t reach =
            test_generator_below(random, 2) == 0 && bytes->size > 600 ? 600 : bytes->size;
        places[i] = bytes->size - 1 - test_generator_below(random, reach);
        before[i] = bytes->data[places[i]];
        bytes->data[places[i]] ^= (uint8_t)(1U << test_generator_below(random, 8));
    }
    read_damaged(firn_buffer_slice(bytes));
    for (size_t i = flips; i-- > 0;) bytes->data[places[i]] = before[i];
}

static void survives_damage(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const char *const folders[] = {"parquet", "parquet-encodings"};
    for (size_t i = 0; i < 2; i++) {
        find(folders[i]);
        for (size_t j = 0; j < found.count; j++) {
            firn_buffer bytes = test_read_file(found.paths[j]);
            size_t times = bytes.size <= SMALL ? 12 : 2;
            for (size_t k = 0; k < 5 * times; k++) flip_bits(&bytes, &random);
            for (size_t k = 0; k < times; k++) {
                size_t size = test_generator_below(&random, bytes.size);
                read_damaged(firn_slice_of(bytes.data, size));
                read_damaged(firn_slice_of(bytes.data + size, bytes.size - size));
            }
            firn_buffer_release(&bytes);
        }
    }
}

static firn_status read_starved(void *context, firn_error *error) {
    const firn_buffer *bytes = context;
    fx_content content = {0};
    plain_source source = {.bytes = firn_buffer_slice(bytes)};
    firn_read_at file = plain_read_at(&source);
    return fx_read(&file, &content, error);
}

static void survives_without_memory(void **state) {
    (void)state;
    static const char *const names[] = {
        "parquet/alltypes_dictionary.parquet",
        "parquet/nested_maps.snappy.parquet",
        "parquet-encodings/DELTA_BYTE_ARRAY/string_with_nulls.parquet",
        "parquet-encodings/DELTA_LENGTH_BYTE_ARRAY/binary.parquet",
        "parquet-encodings/BYTE_STREAM_SPLIT/uuid_with_nulls.parquet",
        "parquet/rle_boolean_encoding.parquet"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = firn_format("%s/%s", test_corpus(), names[i]);
        firn_buffer bytes = test_read_file(path);
        check_each_allocation(read_starved, &bytes);
        firn_buffer_release(&bytes);
        firn_free(path);
    }
}

static int release_paths(void **state) {
    (void)state;
    for (size_t i = 0; i < found.count; i++) firn_free(found.paths[i]);
    found.count = 0;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_good_file),
        cmocka_unit_test(reads_the_same_from_every_encoding),
        cmocka_unit_test(refuses_every_bad_file),
        cmocka_unit_test(reads_the_same_without_borrowing),
        cmocka_unit_test(reads_large_chunks_in_windows),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, release_paths);
}
