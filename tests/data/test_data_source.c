/*
 * Avro data files opened as Parquet: columns, field ids, nesting, large files, what is refused, damaged bytes, failing allocations.
 * Values of all types are compared with an outside reader in tests/interop/test_scan_avro.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "avro/encode.h"
#include "avro/writer.h"
#include "base/alloc.h"
#include "base/json.h"
#include "data/data_source.h"
#include "parquet/chunk_reader.h"
#include "support/check.h"

#define LOCATION "/data/file.avro"

static const firn_data_file avro_file = {.path = LOCATION, .format = FIRN_FILE_AVRO};

/* An Avro file of `count` records of equal size, which lie end to end. */
static firn_buffer avro_bytes_of(const char *schema, const uint8_t *records, size_t size,
                                 size_t step, size_t count) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum((size_t)1 << 28);
    firn_avro_write_options options = {.codec = FIRN_CODEC_UNCOMPRESSED,
                                       .level = FIRN_CODEC_LEVEL_DEFAULT};
    firn_write_to destination = firn_avro_to_buffer(&out);
    firn_avro_writer *writer = NULL;
    check_ok(firn_avro_writer_new(firn_slice_text(schema), &options, &destination, &writer, &error),
             &error);
    for (size_t i = 0; i < count; i++) {
        check_ok(firn_avro_writer_add(writer, firn_slice_of(records + i * step, size), &error),
                 &error);
    }
    check_ok(firn_avro_writer_finish(writer, NULL, &error), &error);
    firn_avro_writer_free(writer);
    return out;
}

/* An Avro file of equal records. */
static firn_buffer avro_bytes(const char *schema, firn_slice record, size_t count) {
    return avro_bytes_of(schema, record.data, record.size, 0, count);
}

static firn_status open_bytes(firn_slice bytes, firn_storage **storage, firn_data_source **source,
                              firn_error *error) {
    *source = NULL;
    *storage = NULL;
    FIRN_TRY(firn_storage_memory(storage, error));
    firn_status status = firn_storage_put(*storage, LOCATION, bytes, error);
    if (status == FIRN_OK) status = firn_data_source_open(*storage, &avro_file, source, error);
    return status;
}

static void close_bytes(firn_storage *storage, firn_data_source *source) {
    firn_data_source_close(source);
    firn_storage_free(storage);
}

static void refused(const char *schema, firn_status code, const char *part) {
    firn_error error = {0};
    firn_buffer bytes = avro_bytes(schema, firn_slice_text(""), 0);
    firn_storage *storage = NULL;
    firn_data_source *source = NULL;
    check_fails(open_bytes(firn_buffer_slice(&bytes), &storage, &source, &error), code, &error,
                part);
    check_fails(error.code, code, &error, LOCATION);
    close_bytes(storage, source);
    firn_buffer_release(&bytes);
}

static void refuses_by_name(void **state) {
    (void)state;
#define FIELD(type)                                                                                \
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"c\",\"type\":" type "}]}"
    refused(FIELD("[\"null\",\"int\",\"long\"]"), FIRN_UNSUPPORTED, "column \"c\"");
    refused(FIELD("[\"int\",\"string\"]"), FIRN_UNSUPPORTED, "more than null and one other type");
    refused(FIELD("[\"null\",\"r\"]"), FIRN_UNSUPPORTED, "holds itself");
    refused(FIELD("{\"type\":\"record\",\"name\":\"e\",\"fields\":[]}"), FIRN_UNSUPPORTED,
            "without fields");
    refused(FIELD("{\"type\":\"fixed\",\"name\":\"f\",\"size\":0}"), FIRN_UNSUPPORTED, "no bytes");
    refused(FIELD("{\"type\":\"array\",\"logicalType\":\"map\",\"items\":\"int\"}"),
            FIRN_UNSUPPORTED, "pairs");
    refused(FIELD("[]"), FIRN_UNSUPPORTED, "union of nothing");
    refused("\"int\"", FIRN_UNSUPPORTED, "not records");
#undef FIELD
}

/* Records of records: the number of columns doubles with each. */
static void many_columns_are_refused(void **state) {
    (void)state;
    char *type = firn_strdup("\"int\"");
    for (int i = 0; i < 30; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%d", i);
        char *outer =
            firn_format("{\"type\":\"record\",\"name\":\"%s\",\"fields\":[{\"name\":\"a\","
                        "\"type\":%s},{\"name\":\"b\",\"type\":\"r%d\"}]}",
                        name, type, i - 1);
        if (i == 0) {
            firn_free(outer);
            outer = firn_strdup("{\"type\":\"record\",\"name\":\"r0\",\"fields\":[{\"name\":\"a\","
                                "\"type\":\"int\"}]}");
        }
        firn_free(type);
        type = outer;
    }
    refused(type, FIRN_LIMIT, "more than");
    firn_free(type);
}

static void other_formats_are_refused(void **state) {
    (void)state;
    firn_error error = {0};
    firn_storage *storage = NULL;
    firn_data_source *source = NULL;
    check_ok(firn_storage_memory(&storage, &error), &error);
    firn_data_file file = {.path = "/data/file.orc", .format = FIRN_FILE_ORC};
    check_fails(firn_data_source_open(storage, &file, &source, &error), FIRN_UNSUPPORTED, &error,
                "ORC");
    file = avro_file;
    file.key_metadata = firn_slice_text("key");
    check_fails(firn_data_source_open(storage, &file, &source, &error), FIRN_UNSUPPORTED, &error,
                "encrypted");
    file = avro_file;
    check_fails(firn_data_source_open(storage, &file, &source, &error), FIRN_NOT_FOUND, &error,
                LOCATION);
    firn_storage_free(storage);
}

static const char nested[] =
    "{\"type\":\"record\",\"name\":\"table\",\"fields\":["
    "{\"name\":\"id\",\"type\":\"int\",\"field-id\":1},"
    "{\"name\":\"at\",\"field-id\":2,\"type\":[{\"type\":\"long\",\"logicalType\":\"timestamp-"
    "micros\","
    "\"adjust-to-utc\":false},\"null\"]},"
    "{\"name\":\"tags\",\"field-id\":3,\"type\":[\"null\",{\"type\":\"array\",\"element-id\":4,"
    "\"items\":[\"null\",\"string\"]}]},"
    "{\"name\":\"m\",\"field-id\":5,\"type\":{\"type\":\"array\",\"logicalType\":\"map\",\"items\":"
    "{\"type\":\"record\",\"name\":\"k6_v7\",\"fields\":[{\"name\":\"key\",\"type\":\"int\","
    "\"field-id\":6},{\"name\":\"value\",\"type\":[\"null\",\"double\"],\"field-id\":7}]}}},"
    "{\"name\":\"s\",\"field-id\":8,\"type\":{\"type\":\"map\",\"key-id\":9,\"value-id\":10,"
    "\"values\":\"bytes\"}},"
    "{\"name\":\"n\",\"field-id\":11,\"type\":\"null\"}]}";

/* {7, 5, ["x", null], {1: null, 2: 1.5}, {"k": "v"}, null}; the list in blocks of one with sizes. */
static firn_buffer nested_record(void) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(4096);
    check_ok(firn_avro_put_long(&out, 7, &error), &error);
    check_ok(firn_avro_put_long(&out, 0, &error), &error);
    check_ok(firn_avro_put_long(&out, 5, &error), &error);
    const int64_t tags[] = {1, -1, 3, 1};
    for (size_t i = 0; i < 4; i++) check_ok(firn_avro_put_long(&out, tags[i], &error), &error);
    check_ok(firn_avro_put_text(&out, "x", &error), &error);
    const int64_t rest[] = {1, 0, 0, 2, 1, 0, 2, 1};
    for (size_t i = 0; i < 8; i++) check_ok(firn_avro_put_long(&out, rest[i], &error), &error);
    check_ok(firn_avro_put_double(&out, 1.5, &error), &error);
    check_ok(firn_avro_put_long(&out, 0, &error), &error);
    check_ok(firn_avro_put_long(&out, 1, &error), &error);
    check_ok(firn_avro_put_text(&out, "k", &error), &error);
    check_ok(firn_avro_put_text(&out, "v", &error), &error);
    check_ok(firn_avro_put_long(&out, 0, &error), &error);
    return out;
}

/* Levels of a leaf's only page, as text: "repetition definition, …". */
static void check_levels(const firn_parquet_file *file, size_t leaf, const char *expected) {
    firn_error error = {0};
    firn_parquet_chunk_reader *reader = NULL;
    const firn_parquet_page *page = NULL;
    firn_parquet_batch batch = {0};
    char text[200];
    size_t length = 0;
    check_ok(firn_parquet_chunk_reader_open(file, 0, leaf, &reader, &error), &error);
    check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
    check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
    for (size_t i = 0; i < batch.level_count; i++) {
        int repetition = batch.repetition_levels == NULL ? 0 : batch.repetition_levels[i];
        int definition = batch.definition_levels == NULL ? 0 : batch.definition_levels[i];
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%d%d ", repetition, definition);
    }
    assert_string_equal(text, expected);
    firn_parquet_chunk_reader_close(reader);
}

static void keeps_ids_and_nesting(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer record = nested_record();
    firn_buffer bytes = avro_bytes(nested, firn_buffer_slice(&record), 2);
    firn_storage *storage = NULL;
    firn_data_source *source = NULL;
    check_ok(open_bytes(firn_buffer_slice(&bytes), &storage, &source, &error), &error);
    const firn_parquet_file *file = firn_data_source_parquet(source);
    assert_int_equal(file->metadata->num_rows, 2);
    static const int32_t ids[] = {1, 2, 4, 6, 7, 9, 10, 11};
    static const char *const paths[] = {"id",
                                        "at",
                                        "tags.list.element",
                                        "m.key_value.key",
                                        "m.key_value.value",
                                        "s.key_value.key",
                                        "s.key_value.value",
                                        "n"};
    static const char *const levels[] = {"00 00 ",       "01 01 ", "03 12 03 12 ", "01 11 01 11 ",
                                         "01 12 01 12 ", "01 01 ", "01 01 ",       "00 00 "};
    assert_int_equal(file->schema->leaf_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const firn_parquet_leaf *leaf = &file->schema->leaves[i];
        assert_true(leaf->node->element->has_field_id);
        assert_int_equal(leaf->node->element->field_id, ids[i]);
        assert_string_equal(leaf->dotted_path, paths[i]);
        check_levels(file, i, levels[i]);
    }
    assert_int_equal(file->schema->root->children[2]->element->field_id, 3);
    assert_false(file->schema->leaves[1].node->element->logical.adjusted_to_utc);
    assert_int_equal(file->schema->leaves[7].node->element->logical.kind,
                     FIRN_PARQUET_LOGICAL_NULL);
    close_bytes(storage, source);
    firn_buffer_release(&bytes);
    firn_buffer_release(&record);
}

/* Every prefix of a file, and every byte of it changed: an error or rows, nothing else. */
static void damaged_files(void **state) {
    (void)state;
    firn_buffer record = nested_record();
    firn_buffer bytes = avro_bytes(nested, firn_buffer_slice(&record), 3);
    for (size_t i = 0; i < bytes.size; i++) {
        firn_error error = {0};
        firn_storage *storage = NULL;
        firn_data_source *source = NULL;
        firn_slice prefix = firn_slice_of(bytes.data, i);
        (void)open_bytes(prefix, &storage, &source, &error);
        close_bytes(storage, source);
        bytes.data[i] ^= 0x15;
        (void)open_bytes(firn_buffer_slice(&bytes), &storage, &source, &error);
        close_bytes(storage, source);
        bytes.data[i] ^= 0x15;
    }
    firn_buffer_release(&bytes);
    firn_buffer_release(&record);
}

#define LARGE_RECORD 100000
#define LARGE_RECORDS 600

static const char large_schema[] =
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"x\",\"type\":"
    "{\"type\":\"fixed\",\"name\":\"f\",\"size\":100000}}]}";

/* More than stays in memory: several row groups, in a temporary file. */
static void large_files_are_spooled(void **state) {
    (void)state;
    firn_error error = {0};
    uint8_t *random_bytes = firn_alloc((size_t)LARGE_RECORD * LARGE_RECORDS);
    test_generator random = test_generator_new();
    for (size_t i = 0; i < (size_t)LARGE_RECORD * LARGE_RECORDS; i += 8) {
        uint64_t eight = test_generator_next(&random);
        memcpy(random_bytes + i, &eight, 8);
    }
    firn_buffer bytes =
        avro_bytes_of(large_schema, random_bytes, LARGE_RECORD, LARGE_RECORD, LARGE_RECORDS);
    firn_storage *storage = NULL;
    firn_data_source *source = NULL;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    check_fails(open_bytes(firn_buffer_slice(&bytes), &storage, &source, &error), FIRN_IO, &error,
                "/nowhere/at/all");
    close_bytes(storage, source);
    unsetenv("TMPDIR");
    check_ok(open_bytes(firn_buffer_slice(&bytes), &storage, &source, &error), &error);
    const firn_parquet_file *file = firn_data_source_parquet(source);
    assert_int_equal(file->metadata->num_rows, LARGE_RECORDS);
    assert_true(file->metadata->row_group_count > 1);
    firn_read_at form = firn_data_source_bytes(source);
    assert_string_equal(form.name, LOCATION);
    assert_null(form.borrow);
    size_t values = 0;
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        firn_parquet_chunk_reader *reader = NULL;
        const firn_parquet_page *page = NULL;
        check_ok(firn_parquet_chunk_reader_open(file, i, 0, &reader, &error), &error);
        for (;;) {
            firn_parquet_batch batch = {0};
            check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
            if (page == NULL) break;
            check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
            for (size_t j = 0; j < batch.value_count; j++, values++) {
                size_t index = batch.indices == NULL ? j : batch.indices[j];
                assert_memory_equal(batch.values.fixed + index * LARGE_RECORD,
                                    random_bytes + values * LARGE_RECORD, LARGE_RECORD);
            }
        }
        firn_parquet_chunk_reader_close(reader);
    }
    assert_int_equal(values, LARGE_RECORDS);
    close_bytes(storage, source);
    firn_buffer_release(&bytes);
    firn_free(random_bytes);
}

static firn_status open_once(void *context, firn_error *error) {
    firn_storage *storage = NULL;
    firn_data_source *source = NULL;
    firn_status status = open_bytes(*(firn_slice *)context, &storage, &source, error);
    close_bytes(storage, source);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    firn_buffer record = nested_record();
    firn_buffer bytes = avro_bytes(nested, firn_buffer_slice(&record), 3);
    firn_slice slice = firn_buffer_slice(&bytes);
    check_each_allocation(open_once, &slice);
    firn_buffer_release(&bytes);
    firn_buffer_release(&record);
}

int main(void) {
    firn_json_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(many_columns_are_refused),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(keeps_ids_and_nesting),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(large_files_are_spooled),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
