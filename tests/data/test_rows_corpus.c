/*
 * Rows of the corpus's tables that Spark and Iceberg's Java API wrote, line by line as the corpus expects them.
 */
#include "corpus_table.h"

static const char *const tables[] = {
    "added_files",
    "all_types",
    "avro_files",
    "codecs",
    "crc_files",
    "emptied",
    "expired",
    "floats_strings",
    "jdbc_v1",
    "lineage_after_upgrade",
    "lineage_update",
    "many_manifests",
    "metadata_gzip",
    "metrics_modes",
    "named_refs",
    "nested",
    "never_written",
    "object_store_layout",
    "page_v2",
    "part_bucket_truncate",
    "part_day",
    "part_time",
    "schema_evolution",
    "small_pages",
    "sorted_table",
    "spec_evolution",
    "staged",
    "statistics",
    "ts_nanos_v3",

    "v1_identity_null",
    "v1_unpartitioned",
    "wide",
};

/* The hash of files is that of their rows, whoever counts them. */
static void check_hash(firn_table *table, const firn_schema *schema, const firn_live_files *files,
                       const line_list *lines) {
    firn_error error = {0};
    firn_pool *pool = NULL;
    firn_content_hash together = {0};
    check_ok(firn_pool_new(2, &pool, &error), &error);
    check_ok(firn_content_hash_of_files(table, schema, files->data, NULL, files->data_count, pool,
                                        &together, &error),
             &error);
    firn_pool_free(pool);
    assert_int_equal(together.row_count, lines->count);
    firn_content_hash parts = {0};
    for (size_t i = 0; i < files->data_count; i++) {
        firn_content_hash part = {0};
        check_ok(firn_content_hash_of_files(table, schema, &files->data[files->data_count - 1 - i],
                                            NULL, 1, NULL, &part, &error),
                 &error);
        firn_content_hash_add(&parts, &part);
    }
    char one[33], other[33];
    firn_content_hash_text(&together, one);
    firn_content_hash_text(&parts, other);
    assert_string_equal(one, other);
}

static void check_table(const char *corpus, const char *name, char *folder) {
    firn_error error = {0};
    corpus_table table;
    corpus_table_open(corpus, name, folder, &table);
    firn_row_selection selection = firn_row_selection_of(table.schema);
    line_list got = {0};
    for (size_t i = 0; i < table.files.data_count; i++) {
        check_ok(firn_rows_of_file(&table.table, &selection, &table.files.data[i].entry, NULL, 0,
                                   NULL, take_row, &got, &error),
                 &error);
    }
    line_list expected = expected_lines(corpus, name);
    compare(name, &got, &expected);
    check_hash(&table.table, table.schema, &table.files, &expected);
    release_lines(&got);
    release_lines(&expected);
    corpus_table_close(&table);
}

static void spark_tables(void **state) {
    (void)state;
    const char *corpus = test_corpus();
    firn_json_setup();
    char *folder = test_folder_new();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        check_table(corpus, tables[i], folder);
    }
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spark_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
