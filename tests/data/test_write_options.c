/* write.* properties of a table as options of the Parquet writer. */
#include "codec/codec.h"
#include "data/fixture.h"
#include "data/write_options.h"

static firn_status read_options(const char *properties, firn_data_write_options *out,
                                firn_error *error) {
    fixture pieces = {.properties = properties};
    firn_table_metadata *metadata = fixture_metadata(&pieces);
    firn_status status = firn_data_write_options_read(metadata, out, error);
    firn_table_metadata_free(metadata);
    return status;
}

static void defaults(void **state) {
    (void)state;
    firn_error error = {0};
    firn_data_write_options options;
    check_ok(read_options("{}", &options, &error), &error);
    assert_int_equal(options.parquet.compression, FIRN_PARQUET_ZSTD);
    assert_int_equal(options.parquet.compression_level, 1);
    assert_false(options.compression_is_set);
    assert_false(options.page_version_is_set);
    assert_int_equal(options.parquet.page_version, 1);
    assert_false(options.parquet.delta_encodings);
    assert_int_equal(options.parquet.page_size_bytes, 1 << 20);
    assert_int_equal(options.parquet.page_row_limit, 20000);
    assert_int_equal(options.parquet.dictionary_size_bytes, 2 << 20);
    assert_int_equal(options.row_group_size_bytes, 128 << 20);
    assert_int_equal(options.row_group_row_limit, 1048576);
    assert_int_equal(options.target_file_size_bytes, 512 << 20);
}

static void all_set(void **state) {
    (void)state;
    firn_error error = {0};
    firn_data_write_options options;
    check_ok(read_options("{\"write.format.default\": \"PARQUET\","
                          "\"write.parquet.compression-codec\": \"GZIP\","
                          "\"write.parquet.compression-level\": \"9\","
                          "\"write.parquet.page-version\": \"v2\","
                          "\"write.parquet.page-size-bytes\": \"4096\","
                          "\"write.parquet.page-row-limit\": \"100\","
                          "\"write.parquet.dict-size-bytes\": \"0\","
                          "\"write.parquet.row-group-size-bytes\": \"65536\","
                          "\"write.parquet.row-group-limit\": \"5000\","
                          "\"write.target-file-size-bytes\": \"1000000\"}",
                          &options, &error),
             &error);
    assert_int_equal(options.parquet.compression, FIRN_PARQUET_GZIP);
    assert_true(options.compression_is_set);
    assert_int_equal(options.parquet.compression_level, 9);
    assert_int_equal(options.parquet.page_version, 2);
    assert_true(options.parquet.delta_encodings);
    assert_true(options.page_version_is_set);
    assert_int_equal(options.parquet.page_size_bytes, 4096);
    assert_int_equal(options.parquet.page_row_limit, 100);
    assert_int_equal(options.parquet.dictionary_size_bytes, 0);
    assert_int_equal(options.row_group_size_bytes, 65536);
    assert_int_equal(options.row_group_row_limit, 5000);
    assert_int_equal(options.target_file_size_bytes, 1000000);
}

static void wrong(const char *properties, firn_status code, const char *part) {
    firn_error error = {0};
    firn_data_write_options options;
    check_fails(read_options(properties, &options, &error), code, &error, part);
}

static void refused(void **state) {
    (void)state;
    wrong("{\"write.format.default\": \"orc\"}", FIRN_UNSUPPORTED, "orc");
    wrong("{\"write.format.default\": \"avro\"}", FIRN_UNSUPPORTED, "avro");
    wrong("{\"write.format.default\": \"csv\"}", FIRN_INVALID, "write.format.default");
    wrong("{\"write.parquet.compression-codec\": \"lzo\"}", FIRN_UNSUPPORTED, "lzo");
    wrong("{\"write.parquet.compression-codec\": \"rar\"}", FIRN_INVALID, "rar");
    wrong("{\"write.parquet.compression-level\": \"99\"}", FIRN_INVALID, "compression-level");
    wrong("{\"write.parquet.compression-level\": \"fast\"}", FIRN_INVALID, "compression-level");
    wrong("{\"write.parquet.page-version\": \"v3\"}", FIRN_INVALID, "page-version");
    wrong("{\"write.parquet.page-size-bytes\": \"0\"}", FIRN_INVALID, "page-size-bytes");
    wrong("{\"write.target-file-size-bytes\": \"-1\"}", FIRN_INVALID, "target-file-size-bytes");
}

/* A level says nothing for codecs without levels. */
static void unused_level(void **state) {
    (void)state;
    firn_error error = {0};
    firn_data_write_options options;
    check_ok(read_options("{\"write.parquet.compression-codec\": \"snappy\","
                          "\"write.parquet.compression-level\": \"3\"}",
                          &options, &error),
             &error);
    assert_int_equal(options.parquet.compression_level, FIRN_CODEC_LEVEL_DEFAULT);
}

/* Parquet's LZ4 is read, not written. */
static void deprecated_lz4(void **state) {
    (void)state;
    firn_error error = {0};
    firn_data_write_options options;
    check_ok(read_options("{\"write.parquet.compression-codec\": \"lz4\"}", &options, &error),
             &error);
    assert_int_equal(options.parquet.compression, FIRN_PARQUET_LZ4_RAW);
    assert_true(firn_data_can_write_compression(FIRN_PARQUET_LZ4_RAW));
    assert_false(firn_data_can_write_compression(FIRN_PARQUET_LZ4));
}

static firn_status read_columns(const char *properties, firn_parquet_column_options *out,
                                size_t *count, firn_error *error) {
    static const int32_t ids[] = {1, 2};
    fixture pieces = {.properties = properties,
                      .schema =
                          "[{\"id\": 1, \"name\": \"id\", \"required\": true, \"type\": \"long\"},"
                          "{\"id\": 2, \"name\": \"b\", \"required\": false, \"type\": \"int\"}]"};
    firn_table_metadata *metadata = fixture_metadata(&pieces);
    firn_arena *arena = firn_arena_new();
    const firn_parquet_column_options *options = NULL;
    firn_status status =
        firn_data_column_options(metadata, metadata->schema, ids, 2, arena, &options, error);
    *count = options == NULL ? 0 : 2;
    for (size_t i = 0; i < *count; i++) out[i] = options[i];
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
    return status;
}

#define BLOOM "write.parquet.bloom-filter-"

static void bloom_filters(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_column_options options[2];
    size_t count = 0;
    check_ok(read_columns("{}", options, &count, &error), &error);
    assert_int_equal(count, 0);
    check_ok(read_columns("{\"" BLOOM "enabled.column.id\": \"true\","
                          "\"" BLOOM "enabled.column.gone\": \"true\","
                          "\"" BLOOM "fpp.column.id\": \"2.5e-2\","
                          "\"" BLOOM "max-bytes\": \"65536\"}",
                          options, &count, &error),
             &error);
    assert_int_equal(count, 2);
    assert_true(options[0].bloom_filter.enabled);
    assert_false(options[1].bloom_filter.enabled);
    assert_true(options[0].bloom_filter.false_positives > 0.0249 &&
                options[0].bloom_filter.false_positives < 0.0251);
    assert_int_equal(options[0].bloom_filter.maximum_bytes, 65536);
    check_ok(read_columns("{\"" BLOOM "enabled.column.id\": \"True\"}", options, &count, &error),
             &error);
    assert_true(options[0].bloom_filter.false_positives > 0.0099 &&
                options[0].bloom_filter.false_positives < 0.0101);
    assert_int_equal(options[0].bloom_filter.maximum_bytes, 1 << 20);
}

static void wrong_bloom_filters(void **state) {
    (void)state;
    static const char *const wrong_values[][2] = {
        {"enabled.column.id", "yes"}, {"fpp.column.id", "0"},   {"fpp.column.id", "1"},
        {"fpp.column.id", "a"},       {"fpp.column.id", "-.5"}, {"fpp.column.id", "1e"},
        {"max-bytes", "31"},          {"max-bytes", "x"},
    };
    for (size_t i = 0; i < sizeof wrong_values / sizeof *wrong_values; i++) {
        firn_error error = {0};
        firn_parquet_column_options options[2];
        size_t count = 0;
        char properties[256];
        bool enabled = strncmp(wrong_values[i][0], "enabled", 7) == 0;
        snprintf(properties, sizeof properties, "{%s\"" BLOOM "%s\": \"%s\"}",
                 enabled ? "" : "\"" BLOOM "enabled.column.id\": \"true\", ", wrong_values[i][0],
                 wrong_values[i][1]);
        firn_status status = read_columns(properties, options, &count, &error);
        check_fails(status, FIRN_INVALID, &error, wrong_values[i][0]);
    }
}

#define DICTIONARIES "parquet.enable.dictionary"
#define DICTIONARY "write.parquet.dict-encoding-enabled.column."
#define STATISTICS "write.parquet.stats-enabled.column."

static void dictionaries_and_statistics(void **state) {
    (void)state;
    static const struct {
        const char *properties;
        bool no_dictionary[2], no_statistics[2];
    } cases[] = {
        {"{\"" DICTIONARY "b\": \"false\"}", {false, true}, {false, false}},
        {"{\"" STATISTICS "id\": \"False\"}", {false, false}, {true, false}},
        {"{\"" DICTIONARY "id\": \"FALSE\", \"" STATISTICS "id\": \"false\", \"" DICTIONARY
         "b\": \"true\", \"" STATISTICS "b\": \"True\"}",
         {true, false},
         {true, false}},
        {"{\"" DICTIONARIES "\": \"false\"}", {true, true}, {false, false}},
        {"{\"" DICTIONARIES "\": \"False\", \"" DICTIONARY "b\": \"true\"}",
         {true, false},
         {false, false}},
        {"{\"" DICTIONARIES "\": \"true\", \"" DICTIONARY "b\": \"false\"}",
         {false, true},
         {false, false}},
        /* Names are told apart by case, and a name that is not there says nothing. */
        {"{\"" DICTIONARY "ID\": \"false\", \"" STATISTICS "b.c\": \"maybe\"}",
         {false, false},
         {false, false}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_error error = {0};
        firn_parquet_column_options options[2];
        size_t count = 0;
        check_ok(read_columns(cases[i].properties, options, &count, &error), &error);
        assert_int_equal(count, 2);
        for (size_t j = 0; j < 2; j++) {
            assert_int_equal(options[j].no_dictionary, cases[i].no_dictionary[j]);
            assert_int_equal(options[j].no_statistics, cases[i].no_statistics[j]);
            assert_false(options[j].bloom_filter.enabled);
        }
    }
}

static void wrong_column_switches(void **state) {
    (void)state;
    static const char *const properties[] = {"{\"" DICTIONARY "id\": \"0\"}",
                                             "{\"" STATISTICS "b\": \"\"}",
                                             "{\"" DICTIONARIES "\": \"no\"}"};
    static const char *const names[] = {DICTIONARY "id", STATISTICS "b", DICTIONARIES};
    for (size_t i = 0; i < 3; i++) {
        firn_error error = {0};
        firn_parquet_column_options options[2];
        size_t count = 0;
        firn_status status = read_columns(properties[i], options, &count, &error);
        check_fails(status, FIRN_INVALID, &error, names[i]);
        check_fails(status, FIRN_INVALID, &error, "neither true nor false");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(all_set),
        cmocka_unit_test(refused),
        cmocka_unit_test(unused_level),
        cmocka_unit_test(deprecated_lz4),
        cmocka_unit_test(bloom_filters),
        cmocka_unit_test(wrong_bloom_filters),
        cmocka_unit_test(dictionaries_and_statistics),
        cmocka_unit_test(wrong_column_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
