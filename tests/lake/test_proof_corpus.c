/*
 * Partition tuples as Spark and Iceberg's Java API recorded them, proved anew from the files they wrote, by their footers and with
 * all statistics taken away. Each file's path is shown, too: those are Iceberg's own spelling.
 */
#include "data/corpus_table.h"

#include <glob.h>

#include "lake/proof.h"

typedef struct tally {
    size_t tables, files, by_footer, by_column, values;
} tally;

/* The same footer without statistics, in `arena`. */
static firn_parquet_file without_statistics(const firn_parquet_file *file, firn_arena *arena) {
    firn_parquet_file copy = *file;
    firn_parquet_file_metadata *metadata =
        firn_arena_memdup(arena, file->metadata, sizeof *file->metadata);
    firn_parquet_row_group *groups =
        firn_arena_memdup(arena, metadata->row_groups, metadata->row_group_count * sizeof *groups);
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        firn_parquet_column_chunk *columns =
            firn_arena_memdup(arena, groups[i].columns, groups[i].column_count * sizeof *columns);
        for (size_t j = 0; j < groups[i].column_count; j++) {
            columns[j].statistics = (firn_parquet_statistics){0};
        }
        groups[i].columns = columns;
    }
    metadata->row_groups = groups;
    copy.metadata = metadata;
    return copy;
}

static void check_tuple(const firn_data_file *entry, const firn_lake_partition *partition) {
    for (size_t i = 0; i < entry->partition_count; i++) {
        if (firn_value_equal(&entry->partition[i], &partition->values[i])) continue;
        fail_msg("%s: field %zu is another one", entry->path, i);
    }
}

static void check_file(const corpus_table *table, const firn_data_file *entry, tally *sums) {
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    const firn_table_metadata *metadata = table->metadata;
    const firn_partition_spec *spec = firn_table_metadata_spec(metadata, entry->spec_id);
    const firn_schema *schema = metadata->schema;
    const char *data = strstr(entry->path, "/data/");
    firn_lake_file file = {.location = entry->path,
                           .root_length = data == NULL ? 0 : (uint16_t)(data + 6 - entry->path),
                           .size = entry->file_size_in_bytes};
    firn_storage_file *opened = NULL;
    firn_parquet_file *parquet = NULL;
    const firn_name_mapping *mapping = NULL;
    firn_lake_columns columns;
    const firn_lake_path_key *keys = NULL;
    size_t key_count = 0;
    const firn_lake_binding *binding = NULL;
    firn_lake_partition partition;
    check_ok(firn_storage_open(table->table.storage, entry->path, &opened, &error), &error);
    check_ok(firn_parquet_file_open(firn_storage_file_source(opened), &parquet, &error), &error);
    check_ok(firn_name_mapping_of_table(metadata, arena, &mapping, &error), &error);
    check_ok(firn_lake_columns_of(schema, mapping, metadata->format_version, parquet, entry->path,
                                  arena, &columns, &error),
             &error);
    check_ok(firn_lake_path_keys(entry->path, file.root_length, arena, &keys, &key_count, &error),
             &error);
    check_ok(firn_lake_layout_bind(NULL, schema, spec, keys, key_count, arena, &binding, &error),
             &error);
    check_ok(firn_lake_prove_partition(table->table.storage, binding, &file, parquet, &columns,
                                       arena, &partition, &error),
             &error);
    check_tuple(entry, &partition);
    sums->by_footer += partition.proof == FIRN_LAKE_PROVED_BY_FOOTER;
    firn_parquet_file bare = without_statistics(parquet, arena);
    check_ok(firn_lake_prove_partition(table->table.storage, binding, &file, &bare, &columns, arena,
                                       &partition, &error),
             &error);
    check_tuple(entry, &partition);
    sums->by_column += partition.proof == FIRN_LAKE_PROVED_BY_COLUMN;
    sums->files++;
    sums->values += entry->partition_count;
    firn_parquet_file_close(parquet);
    firn_storage_close(opened);
    firn_arena_free(arena);
}

static void check_table(const char *corpus, const char *name, char *folder, tally *sums) {
    corpus_table table;
    corpus_table_open(corpus, name, folder, &table);
    sums->tables++;
    for (size_t i = 0; i < table.files.data_count; i++) {
        const firn_data_file *entry = &table.files.data[i].entry.file;
        if (entry->format != FIRN_FILE_PARQUET || entry->partition_count == 0) continue;
        check_file(&table, entry, sums);
    }
    corpus_table_close(&table);
}

static void tuples_of_other_writers_are_proved(void **state) {
    (void)state;
    const char *corpus = test_corpus();
    firn_json_setup();
    char *folder = test_folder_new();
    char *pattern = firn_format("%s/spark/*.about.json", corpus);
    glob_t found = {0};
    tally sums = {0};
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *base = strrchr(found.gl_pathv[i], '/') + 1;
        char *name = firn_strndup(base, strlen(base) - strlen(".about.json"));
        check_table(corpus, name, folder, &sums);
        firn_free(name);
    }
    globfree(&found);
    firn_free(pattern);
    test_folder_remove(folder);
    print_message("%zu tables, %zu partitioned files, %zu values; %zu files by the footer, %zu by "
                  "columns without statistics\n",
                  sums.tables, sums.files, sums.values, sums.by_footer, sums.by_column);
    assert_true(sums.files > 50);
    assert_true(sums.by_footer > sums.files / 2);
    assert_true(sums.by_column > sums.files / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuples_of_other_writers_are_proved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
