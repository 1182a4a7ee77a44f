/* One rewrite and what surrounds it: checks of the inputs, sort orders, partitions, codecs, NaN counts, interrupts, memory. */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "data/fixture.h"
#include "data/rows.h"
#include "parquet/file_writer.h"
#include "rewrite/rewrite.h"

#define FIELDS                                                                                     \
    "[{\"id\": 1, \"name\": \"d\", \"required\": false, \"type\": \"double\"},"                    \
    " {\"id\": 2, \"name\": \"p\", \"required\": false, \"type\": \"string\"}]"
#define BY_P                                                                                       \
    "[{\"source-id\": 2, \"field-id\": 1000, \"name\": \"p\", \"transform\": \"identity\"}]"
#define BY_D                                                                                       \
    "[{\"transform\": \"identity\", \"source-id\": 1, \"direction\": \"asc\", "                    \
    "\"null-order\": \"nulls-first\"}]"
#define MOST_FILES 3

typedef struct scene {
    firn_table_metadata *metadata;
    firn_storage *storage;
    firn_table table;
    firn_data_write_options write;
    firn_rewrite_settings settings;
    firn_live_file files[MOST_FILES];
    const firn_live_file *inputs[MOST_FILES];
    firn_rewrite_group group;
    firn_value partition;
    char paths[MOST_FILES][64];
    int64_t nan_count;
} scene;

static const int32_t id_of_d = 1;

static void open_scene(scene *s, const fixture *pieces) {
    firn_error error = {0};
    *s = (scene){.metadata = fixture_metadata(pieces)};
    check_ok(firn_storage_memory(&s->storage, &error), &error);
    s->table = (firn_table){.storage = s->storage, .metadata = s->metadata};
    check_ok(firn_data_write_options_read(s->metadata, &s->write, &error), &error);
    s->settings = (firn_rewrite_settings){
        .table = &s->table, .write = &s->write, .copy_pages = true, .run_id = "run"};
    s->group = (firn_rewrite_group){
        .inputs = s->inputs, .spec = s->metadata->default_spec, .output_count = 1};
}

static void close_scene(scene *s) {
    firn_storage_free(s->storage);
    firn_table_metadata_free(s->metadata);
}

static firn_status to_buffer(void *context, const void *data, size_t size, firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

static void add_doubles(firn_parquet_file_writer *writer, const firn_parquet_write_options *options,
                        const double *values, size_t count) {
    firn_error error = {0};
    const firn_parquet_leaf *leaf = &firn_parquet_file_writer_schema(writer)->leaves[0];
    uint8_t *bytes = firn_alloc_array(count, 8);
    uint8_t *levels = firn_alloc_array(count, 1);
    for (size_t i = 0; i < count; i++) {
        firn_store_le64(bytes + 8 * i, firn_bits_of_double(values[i]));
        levels[i] = 1;
    }
    firn_parquet_batch batch = {
        .level_count = count,
        .definition_levels = levels,
        .values = {.type = FIRN_PARQUET_DOUBLE, .width = 8, .count = count, .fixed = bytes},
        .value_count = count};
    firn_parquet_chunk_writer *chunk_writer = NULL;
    firn_parquet_chunk chunk = {0};
    check_ok(firn_parquet_file_writer_begin_row_group(writer, (int64_t)count, &error), &error);
    check_ok(firn_parquet_chunk_writer_new(leaf, options, &chunk_writer, &error), &error);
    check_ok(firn_parquet_chunk_writer_append(chunk_writer, &batch, &error), &error);
    check_ok(firn_parquet_chunk_writer_finish(chunk_writer, &chunk, &error), &error);
    check_ok(firn_parquet_file_writer_add_chunk(writer, &chunk, &error), &error);
    check_ok(firn_parquet_file_writer_end_row_group(writer, &error), &error);
    firn_parquet_chunk_writer_free(chunk_writer);
    firn_free(bytes);
    firn_free(levels);
}

/* A file with column d alone, PLAIN, in one row group (none for no values). */
static firn_data_file *add_file(scene *s, const double *values, size_t count,
                                firn_parquet_compression compression) {
    firn_error error = {0};
    const firn_parquet_schema_element elements[] = {{.name = "root", .num_children = 1},
                                                    {.name = "d",
                                                     .has_type = true,
                                                     .type = FIRN_PARQUET_DOUBLE,
                                                     .has_repetition = true,
                                                     .repetition = FIRN_PARQUET_OPTIONAL,
                                                     .has_field_id = true,
                                                     .field_id = 1}};
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.compression = compression;
    options.dictionary_size_bytes = 0;
    firn_buffer bytes = firn_buffer_with_maximum(1 << 26);
    firn_write_to destination = {to_buffer, &bytes};
    firn_parquet_file_writer *writer = NULL;
    check_ok(firn_parquet_file_writer_new(elements, 2, &options, &destination, &writer, &error),
             &error);
    if (count > 0) add_doubles(writer, &options, values, count);
    check_ok(firn_parquet_file_writer_finish(writer, NULL, NULL, &error), &error);
    firn_parquet_file_writer_free(writer);
    size_t index = s->group.input_count++;
    snprintf(s->paths[index], sizeof s->paths[index], "mem:/in-%zu.parquet", index);
    firn_data_file *file = &s->files[index].entry.file;
    *file = (firn_data_file){.content = FIRN_CONTENT_DATA,
                             .path = s->paths[index],
                             .format = FIRN_FILE_PARQUET,
                             .record_count = (int64_t)count,
                             .file_size_in_bytes = (int64_t)bytes.size};
    s->inputs[index] = &s->files[index];
    check_ok(firn_storage_put(s->storage, file->path, firn_buffer_slice(&bytes), &error), &error);
    firn_buffer_release(&bytes);
    return file;
}

static firn_rewrite_result rewrite(scene *s) {
    firn_error error = {0};
    firn_rewrite_result result;
    check_ok(firn_rewrite_binpack(&s->settings, &s->group, &result, &error), &error);
    return result;
}

static firn_status count_file(void *context, const char *location, const firn_storage_stat *stat,
                              firn_error *error) {
    (void)location;
    (void)stat;
    (void)error;
    ++*(size_t *)context;
    return FIRN_OK;
}

static size_t written_files(scene *s) {
    firn_error error = {0};
    size_t count = 0;
    check_ok(firn_storage_list(s->storage, "/wh/db/t/", count_file, &count, &error), &error);
    return count;
}

static void check_refused(scene *s, firn_status code, const char *part) {
    firn_error error = {0};
    firn_rewrite_result result;
    check_fails(firn_rewrite_check(&s->settings, &s->group, NULL, &error), code, &error, part);
    check_fails(firn_rewrite_binpack(&s->settings, &s->group, &result, &error), code, &error, part);
    assert_int_equal(written_files(s), 0);
}

static void bad_inputs(void **state) {
    (void)state;
    const double values[] = {1, 2, 3};
    fixture pieces = {.schema = FIELDS};
    scene s;
    open_scene(&s, &pieces);
    firn_data_file *file = add_file(&s, values, 3, FIRN_PARQUET_ZSTD);
    file->record_count = 4;
    check_refused(&s, FIRN_CORRUPT, "mem:/in-0.parquet: the manifest counts 4 rows");
    file->record_count = 3;
    file->format = FIRN_FILE_ORC;
    check_refused(&s, FIRN_UNSUPPORTED, "ORC");
    file->format = FIRN_FILE_PARQUET;
    file->key_metadata = firn_slice_text("key");
    check_refused(&s, FIRN_UNSUPPORTED, "encrypted");
    file->key_metadata = (firn_slice){NULL, 0};
    file->path = "mem:/absent.parquet";
    check_refused(&s, FIRN_NOT_FOUND, "mem:/absent.parquet");
    close_scene(&s);
}

static void empty_files(void **state) {
    (void)state;
    fixture pieces = {.schema = FIELDS};
    scene s;
    open_scene(&s, &pieces);
    add_file(&s, NULL, 0, FIRN_PARQUET_ZSTD);
    add_file(&s, NULL, 0, FIRN_PARQUET_ZSTD);
    firn_rewrite_result result = rewrite(&s);
    assert_int_equal(result.output_count, 0);
    assert_int_equal(result.rows_in, 0);
    assert_int_equal(written_files(&s), 0);
    firn_rewrite_result_release(&result);
    close_scene(&s);
}

/* A sort order stays on rows of one sorted file; rows of two, one after the other, are in no order. */
static void sort_order_ids(void **state) {
    (void)state;
    double values[1000];
    for (size_t i = 0; i < 1000; i++) values[i] = (double)i;
    fixture pieces = {.schema = FIELDS, .sort_fields = BY_D};
    scene s;
    open_scene(&s, &pieces);
    for (size_t i = 0; i < 2; i++) {
        firn_data_file *file = add_file(&s, values, 1000, FIRN_PARQUET_ZSTD);
        file->has_sort_order_id = true;
        file->sort_order_id = 1;
    }
    firn_rewrite_result result = rewrite(&s);
    assert_int_equal(result.output_count, 1);
    assert_true(result.outputs[0].has_sort_order_id);
    assert_int_equal(result.outputs[0].sort_order_id, 0);
    firn_rewrite_result_release(&result);
    s.group.output_count = 2;
    s.group.group_number = 1;
    result = rewrite(&s);
    assert_int_equal(result.output_count, 2);
    assert_int_equal(result.outputs[0].sort_order_id, 1);
    assert_int_equal(result.outputs[1].sort_order_id, 1);
    firn_rewrite_result_release(&result);
    close_scene(&s);
}

static firn_status expect_row(void *context, firn_slice json, firn_error *error) {
    (void)error;
    const char *expected = context;
    assert_int_equal(json.size, strlen(expected));
    assert_memory_equal(json.data, expected, json.size);
    return FIRN_OK;
}

/* All rows of a data file. */
static firn_status rows_of(firn_table *table, const firn_schema *schema, const firn_data_file *file,
                           firn_row_visitor visit, void *context, firn_error *error) {
    firn_row_selection selection = firn_row_selection_of(schema);
    firn_manifest_entry entry = {.file = *file};
    return firn_rows_of_file(table, &selection, &entry, NULL, 0, NULL, visit, context, error);
}

/* Files of a partitioned table without the partition's column: the tuple's value is written out. */
static void partition_value(void **state) {
    (void)state;
    const double values[] = {1.5, 1.5};
    fixture pieces = {.schema = FIELDS, .spec = BY_P};
    scene s;
    open_scene(&s, &pieces);
    s.partition = (firn_value){.kind = FIRN_TYPE_STRING, .as.bytes = firn_slice_text("x/y")};
    for (size_t i = 0; i < 2; i++) {
        firn_data_file *file = add_file(&s, values, 2, FIRN_PARQUET_ZSTD);
        file->partition = &s.partition;
        file->partition_count = 1;
    }
    s.settings.verify = true;
    firn_rewrite_result result = rewrite(&s);
    assert_int_equal(result.output_count, 1);
    const firn_data_file *file = &result.outputs[0];
    assert_memory_equal(file->path, "/wh/db/t/data/p=x%2Fy/00000-0-run-", 34);
    assert_int_equal(file->partition_count, 1);
    assert_true(firn_value_equal(&file->partition[0], &s.partition));
    assert_int_equal(firn_count_map_get(&file->null_value_counts, 2), 0);
    firn_error error = {0};
    firn_data_file bare = *file;
    bare.partition_count = 0;
    check_ok(rows_of(&s.table, s.metadata->schema, &bare, expect_row,
                     (char *)(uintptr_t) "{\"d\":1.5,\"p\":\"x/y\"}", &error),
             &error);
    firn_rewrite_result_release(&result);
    close_scene(&s);
}

/* NaN in pages that are copied are counted by the manifest, or by the file's own statistics. */
static void nan_counts(void **state) {
    (void)state;
    double values[5000];
    for (size_t i = 0; i < 5000; i++) values[i] = i % 1000 == 7 ? (double)NAN : (double)i;
    for (int known = 0; known < 2; known++) {
        fixture pieces = {.schema = FIELDS};
        scene s;
        open_scene(&s, &pieces);
        s.nan_count = 5;
        for (size_t i = 0; i < 2; i++) {
            firn_data_file *file = add_file(&s, values, 5000, FIRN_PARQUET_SNAPPY);
            if (known) file->nan_value_counts = (firn_count_map){&id_of_d, &s.nan_count, 1, true};
        }
        firn_rewrite_result result = rewrite(&s);
        assert_int_equal(result.bytes_encoded, 0);
        assert_true(result.bytes_copied > 0);
        const firn_data_file *file = &result.outputs[0];
        assert_int_equal(firn_count_map_get(&file->nan_value_counts, 1), 10);
        firn_slice bound;
        assert_true(firn_bound_map_get(&file->upper_bounds, 1, &bound));
        assert_float_equal(firn_double_of_bits(firn_load_le64(bound.data)), 4999, 0);
        firn_rewrite_result_release(&result);
        close_scene(&s);
    }
}

static firn_parquet_compression compression_of(scene *s, const firn_data_file *file) {
    firn_error error = {0};
    firn_storage_file *storage_file = NULL;
    firn_parquet_file *parquet = NULL;
    check_ok(firn_storage_open(s->storage, file->path, &storage_file, &error), &error);
    check_ok(firn_parquet_file_open(firn_storage_file_source(storage_file), &parquet, &error),
             &error);
    firn_parquet_compression compression = parquet->metadata->row_groups[0].columns[0].compression;
    firn_parquet_file_close(parquet);
    firn_storage_close(storage_file);
    return compression;
}

/* Without a word of the table, the codec is that of the inputs; else it is the table's. */
static void codec_of_inputs(void **state) {
    (void)state;
    double values[5000] = {0};
    const char *const properties[] = {NULL, "{\"write.parquet.compression-codec\": \"gzip\"}"};
    for (size_t i = 0; i < 2; i++) {
        fixture pieces = {.schema = FIELDS, .properties = properties[i]};
        scene s;
        open_scene(&s, &pieces);
        add_file(&s, values, 5000, FIRN_PARQUET_UNCOMPRESSED);
        add_file(&s, values, 50, FIRN_PARQUET_ZSTD);
        firn_rewrite_result result = rewrite(&s);
        assert_int_equal(compression_of(&s, &result.outputs[0]),
                         i == 0 ? FIRN_PARQUET_UNCOMPRESSED : FIRN_PARQUET_GZIP);
        firn_rewrite_result_release(&result);
        close_scene(&s);
    }
}

static void interrupt(void *context, int64_t bytes) {
    (void)context;
    (void)bytes;
    firn_cancel_request(SIGINT);
}

static void cancelled(void **state) {
    (void)state;
    firn_error error = {0};
    double values[5000] = {0};
    fixture pieces = {.schema = FIELDS};
    for (size_t threads = 1; threads < 4; threads++) {
        scene s;
        open_scene(&s, &pieces);
        add_file(&s, values, 5000, FIRN_PARQUET_ZSTD);
        add_file(&s, values, 5000, FIRN_PARQUET_ZSTD);
        check_ok(firn_pool_new(threads, &s.settings.pool, &error), &error);
        s.settings.progress.advance = interrupt;
        s.write.row_group_row_limit = 3000;
        firn_rewrite_result result;
        check_fails(firn_rewrite_binpack(&s.settings, &s.group, &result, &error), FIRN_CANCELLED,
                    &error, NULL);
        firn_cancel_request(0);
        assert_int_equal(written_files(&s), 0);
        firn_pool_free(s.settings.pool);
        close_scene(&s);
    }
}

/* Files that a failed run completed stay for the journal: each run has names of its own. */
static firn_status rewrite_once(void *context, firn_error *error) {
    scene *s = context;
    firn_rewrite_result result;
    s->group.group_number++;
    firn_status status = firn_rewrite_binpack(&s->settings, &s->group, &result, error);
    if (status == FIRN_OK) firn_rewrite_result_release(&result);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    double values[300];
    for (size_t i = 0; i < 300; i++) values[i] = (double)i;
    fixture pieces = {.schema = FIELDS};
    scene s;
    open_scene(&s, &pieces);
    add_file(&s, values, 300, FIRN_PARQUET_ZSTD);
    add_file(&s, values, 200, FIRN_PARQUET_SNAPPY);
    s.settings.verify = true;
    s.group.output_count = 2;
    check_each_allocation(rewrite_once, &s);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_inputs),     cmocka_unit_test(empty_files),
        cmocka_unit_test(sort_order_ids), cmocka_unit_test(partition_value),
        cmocka_unit_test(nan_counts),     cmocka_unit_test(codec_of_inputs),
        cmocka_unit_test(cancelled),      cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
