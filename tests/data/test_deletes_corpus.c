/* Deletes of the corpus's tables, of every kind: the rows that are left are the rows expected. */
#include "corpus_table.h"

#include "data/deletes.h"

static const char *const tables[] = {
    "eq_global",
    "eq_null_key",
    "eq_partitioned",
    "eq_with_positions",
    "mor_file_granularity",
    "mor_partition_granularity",
    "pos_delete_files",
    "dv_many_in_one_puffin",
    "dv_replaced",
    "dv_spark",
    "dangling_deletes",
    "emptied",
    "lineage_after_upgrade",
    "lineage_update",
    "part_day",
    "avro_files",
};

static firn_status take_live(void *context, firn_slice json, firn_error *error) {
    (void)error;
    push_line(context, (const char *)json.data, json.size);
    return FIRN_OK;
}

static void resolve(corpus_table *table, firn_pool *pool, int64_t memory, firn_deletes *out) {
    firn_error error = {0};
    size_t count = table->files.data_count;
    const firn_live_file **data = firn_alloc_array(count, sizeof *data);
    for (size_t i = 0; i < count; i++) data[i] = &table->files.data[i];
    firn_deletes_request request = {.table = &table->table,
                                    .files = &table->files,
                                    .data = data,
                                    .data_count = count,
                                    .positions = true,
                                    .equality = true,
                                    .pool = pool,
                                    .memory_bytes = memory};
    check_ok(firn_deletes_resolve(&request, out, &error), &error);
    firn_free(data);
}

static void check_table(const char *corpus, const char *name, char *folder, firn_pool *pool,
                        int64_t memory) {
    firn_error error = {0};
    corpus_table table;
    corpus_table_open(corpus, name, folder, &table);
    firn_deletes deletes;
    resolve(&table, pool, memory, &deletes);
    firn_row_selection selection = firn_row_selection_of(table.schema);
    line_list lines = {0};
    for (size_t i = 0; i < table.files.data_count; i++) {
        assert_int_equal(firn_deletes_row_count(&deletes, i) > 0,
                         deletes.largest_sequence_number[i] >= 0);
        check_ok(firn_rows_of_file(&table.table, &selection, &table.files.data[i].entry, &deletes,
                                   i, NULL, take_live, &lines, &error),
                 &error);
    }
    line_list expected = expected_lines(corpus, name);
    compare(name, &lines, &expected);
    release_lines(&lines);
    release_lines(&expected);
    firn_deletes_release(&deletes);
    corpus_table_close(&table);
}

static void rows_left(void **state) {
    (void)state;
    firn_error error = {0};
    const char *corpus = test_corpus();
    firn_json_setup();
    firn_pool *pool = NULL;
    check_ok(firn_pool_new(3, &pool, &error), &error);
    char *folder = test_folder_new();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        check_table(corpus, tables[i], folder, NULL, 0);
        check_table(corpus, tables[i], folder, pool, 1);
    }
    test_folder_remove(folder);
    firn_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
