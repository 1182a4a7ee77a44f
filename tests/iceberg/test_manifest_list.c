#include "iceberg/manifest_fixture.h"

#include "support/fx_avro.h"

#define FIELD(name, id, type) "{\"name\":\"" name "\",\"type\":" type ",\"field-id\":" id "}"
#define BARE(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define RECORD(fields)                                                                             \
    "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":[" BASICS "," fields "]}"
#define BASICS                                                                                     \
    FIELD("manifest_path", "500", "\"string\"")                                                    \
    "," FIELD("manifest_length", "501", "\"long\"") "," FIELD("partition_spec_id", "502", "\"int\"")
#define VALUES "\"manifest_path\":\"m\",\"manifest_length\":10,\"partition_spec_id\":0"

typedef struct list {
    firn_arena *arena;
    const firn_manifest_file *files;
    size_t count;
} list;

static firn_status read_with(const fx_avro *how, const char *records, list *out,
                             firn_error *error) {
    fx_bytes bytes = fx_avro_file(how, records);
    *out = (list){.arena = firn_arena_new()};
    firn_error_clear(error);
    firn_status status = firn_manifest_list_read(firn_slice_of(bytes.data, bytes.size), "l.avro",
                                                 out->arena, &out->files, &out->count, error);
    free(bytes.data);
    return status;
}

static list read_good(const char *schema, const char *records) {
    list l;
    firn_error error;
    check_ok(read_with(&(fx_avro){.schema = schema, .codec = "null"}, records, &l, &error), &error);
    return l;
}

/* duckdb-iceberg#1315: the header says nothing of the version; the columns do. */
static void test_columns_decide(void **state) {
    (void)state;
    list l =
        read_good(RECORD(FIELD("min_sequence_number", "516", "\"long\"") "," FIELD(
                      "sequence_number", "515", "\"long\"") "," FIELD("content", "517", "\"int\"")),
                  "[{" VALUES ",\"content\":1,\"sequence_number\":7,\"min_sequence_number\":2},"
                  "{" VALUES ",\"content\":0,\"sequence_number\":8,\"min_sequence_number\":8}]");
    assert_int_equal(l.count, 2);
    assert_int_equal(l.files[0].content, FIRN_CONTENT_POSITION_DELETES);
    assert_true(l.files[0].sequence_number == 7 && l.files[0].min_sequence_number == 2);
    assert_int_equal(l.files[1].content, FIRN_CONTENT_DATA);
    firn_arena_free(l.arena);
    l = read_good(RECORD(FIELD("added_snapshot_id", "503", "\"long\"")),
                  "[{" VALUES ",\"added_snapshot_id\":3}]");
    assert_true(l.files[0].sequence_number == 0 && l.files[0].min_sequence_number == 0);
    assert_true(l.files[0].has_added_snapshot_id && l.files[0].added_snapshot_id == 3);
    assert_int_equal(l.files[0].content, FIRN_CONTENT_DATA);
    assert_false(l.files[0].has_first_row_id);
    firn_arena_free(l.arena);
}

/* redpanda PR#24602: counts by id, by new and by old name, absent and null. */
static void test_counts(void **state) {
    (void)state;
    static const char *const schemas[] = {
        RECORD(FIELD("added_files_count", "504", "\"int\"")),
        RECORD(FIELD("added_data_files_count", "504", "\"int\"")),
        RECORD(BARE("added_files_count", "\"int\"")),
        RECORD(BARE("added_data_files_count", "[\"int\",\"null\"]")),
    };
    static const char *const names[] = {"added_files_count", "added_data_files_count",
                                        "added_files_count", "added_data_files_count"};
    for (size_t i = 0; i < 4; i++) {
        char records[200];
        snprintf(records, sizeof records, "[{" VALUES ",\"%s\":6}]", names[i]);
        list l = read_good(schemas[i], records);
        assert_true(l.files[0].added_files_count == 6);
        assert_true(l.files[0].existing_files_count == -1 && l.files[0].deleted_rows_count == -1);
        firn_arena_free(l.arena);
    }
    list l = read_good(schemas[3], "[{" VALUES "}]");
    assert_true(l.files[0].added_files_count == -1);
    firn_arena_free(l.arena);
    l = read_good(schemas[0], "[{" VALUES ",\"added_files_count\":-1}]");
    assert_true(l.files[0].added_files_count == -1);
    firn_arena_free(l.arena);
    l = read_good(schemas[0], "[{" VALUES ",\"added_files_count\":0}]");
    assert_true(l.files[0].added_files_count == 0);
    firn_arena_free(l.arena);
}

static void test_summaries(void **state) {
    (void)state;
    list l = read_good(
        RECORD(FIELD("partitions", "507",
                     "[\"null\",{\"type\":\"array\",\"element-id\":508,\"items\":{\"type\":"
                     "\"record\",\"name\":\"r508\",\"fields\":["
                     "{\"name\":\"upper_bound\",\"type\":[\"bytes\",\"null\"],\"field-id\":511},"
                     "{\"name\":\"lower_bound\",\"type\":\"bytes\",\"field-id\":510},"
                     "{\"name\":\"contains_null\",\"type\":[\"null\",\"boolean\"],"
                     "\"field-id\":509}]}}]")),
        "[{" VALUES ",\"partitions\":[{\"contains_null\":false,\"lower_bound\":\"\"},"
        "{\"lower_bound\":\"01\",\"upper_bound\":\"02\"}]},{" VALUES "}]");
    assert_int_equal(l.files[0].partition_count, 2);
    const firn_partition_summary *p = l.files[0].partitions;
    assert_false(p[0].contains_null);
    assert_non_null(p[0].lower_bound.data);
    assert_null(p[0].upper_bound.data);
    assert_true(p[1].contains_null);
    assert_false(p[1].has_contains_nan);
    assert_memory_equal(p[1].upper_bound.data, "\2", 1);
    assert_null(l.files[1].partitions);
    firn_arena_free(l.arena);
}

static void fails(const char *schema, const char *records, const char *part) {
    list l;
    firn_error error;
    check_fails(read_with(&(fx_avro){.schema = schema}, records, &l, &error), FIRN_CORRUPT, &error,
                part);
    assert_non_null(strstr(error.message, "l.avro"));
    firn_arena_free(l.arena);
}

static void test_refused(void **state) {
    (void)state;
    fails(RECORD(FIELD("content", "517", "\"int\"")), "[{" VALUES ",\"content\":2}]",
          "content (id 517)");
    fails("{\"type\":\"record\",\"name\":\"m\",\"fields\":[" FIELD("manifest_length", "501",
                                                                   "\"long\"") "]}",
          "[]", "manifest_path (id 500) is missing");
    fails(RECORD(FIELD("added_files_count", "504", "\"string\"")), "[]", "has type string");
    fails(RECORD(FIELD("a", "504", "\"int\"") "," FIELD("b", "504", "\"int\"")), "[]", "twice");
    firn_error error;
    firn_arena *arena = firn_arena_new();
    const firn_manifest_file *files;
    size_t count;
    check_fails(firn_manifest_list_read(firn_slice_text("AGS1...."), "l.avro", arena, &files,
                                        &count, &error),
                FIRN_UNSUPPORTED, &error, "encrypted");
    firn_arena_free(arena);
}

static firn_manifest_file manifest(const char *path, firn_content content) {
    return (firn_manifest_file){.path = path,
                                .length = 100,
                                .partition_spec_id = 2,
                                .content = content,
                                .sequence_number = -1,
                                .min_sequence_number = -1,
                                .added_snapshot_id = 5,
                                .has_added_snapshot_id = true,
                                .added_files_count = 1,
                                .existing_files_count = 2,
                                .deleted_files_count = 3,
                                .added_rows_count = 10,
                                .existing_rows_count = 20,
                                .deleted_rows_count = 30};
}

static list write_and_read(const firn_table_metadata *metadata, const firn_manifest_file *files,
                           size_t count, int64_t *next_row_id) {
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    list l = {.arena = firn_arena_new()};
    check_ok(firn_manifest_list_write(metadata, 5, true, 4, 12, files, count, 100, next_row_id,
                                      &out, &error),
             &error);
    check_ok(firn_manifest_list_read(firn_buffer_slice(&out), "l.avro", l.arena, &l.files, &l.count,
                                     &error),
             &error);
    assert_int_equal(l.count, count);
    firn_buffer_release(&out);
    return l;
}

static void test_written(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        firn_table_metadata *metadata = fx_every_type(version);
        firn_partition_summary summary = {.contains_null = true,
                                          .has_contains_nan = true,
                                          .lower_bound = {(const uint8_t *)"", 0},
                                          .upper_bound = {(const uint8_t *)"b", 1}};
        firn_manifest_file files[4];
        files[0] = manifest("new", FIRN_CONTENT_DATA);
        files[1] =
            manifest("deletes", version == 1 ? FIRN_CONTENT_DATA : FIRN_CONTENT_POSITION_DELETES);
        files[2] = manifest("carried", FIRN_CONTENT_DATA);
        files[2].sequence_number = 3;
        files[2].min_sequence_number = 0;
        files[2].has_first_row_id = version == 3;
        files[2].first_row_id = 40;
        files[2].partitions = &summary;
        files[2].partition_count = 1;
        files[2].key_metadata = firn_slice_of("k", 1);
        files[3] = manifest("newer", FIRN_CONTENT_DATA);
        int64_t next = -1;
        list l = write_and_read(metadata, files, 4, &next);
        const firn_manifest_file *f = l.files;
        assert_true(next == (version == 3 ? 160 : 100));
        assert_string_equal(f[1].path, "deletes");
        assert_int_equal(f[1].content, files[1].content);
        assert_true(f[0].sequence_number == (version == 1 ? 0 : 12));
        assert_true(f[0].min_sequence_number == (version == 1 ? 0 : 12));
        assert_true(f[2].sequence_number == (version == 1 ? 0 : 3));
        assert_true(f[2].min_sequence_number == 0);
        assert_true(f[2].existing_rows_count == 20 && f[2].deleted_files_count == 3);
        assert_true(f[2].added_snapshot_id == 5 && f[2].length == 100);
        assert_int_equal(f[2].partition_count, 1);
        assert_true(f[2].partitions->contains_null && !f[2].partitions->contains_nan);
        assert_non_null(f[2].partitions->lower_bound.data);
        assert_int_equal(f[2].partitions->upper_bound.size, 1);
        assert_int_equal(f[2].key_metadata.size, 1);
        assert_null(f[0].partitions);
        assert_int_equal(f[0].has_first_row_id, version == 3);
        assert_false(f[1].has_first_row_id && version == 3);
        if (version == 3) {
            assert_true(f[0].first_row_id == 100 && f[2].first_row_id == 40);
            assert_true(f[3].first_row_id == 130);
        }
        firn_arena_free(l.arena);
        firn_table_metadata_free(metadata);
    }
}

/* Counts that nobody knows stay unknown. */
static void test_unknown_counts(void **state) {
    (void)state;
    firn_error error;
    firn_table_metadata *metadata = fx_every_type(2);
    firn_manifest_file files[2] = {manifest("a", FIRN_CONTENT_DATA),
                                   manifest("b", FIRN_CONTENT_DATA)};
    files[1].existing_rows_count = -1;
    files[1].added_files_count = -1;
    list l = write_and_read(metadata, files, 2, NULL);
    assert_true(l.files[0].existing_rows_count == 20 && l.files[0].added_files_count == 1);
    assert_true(l.files[1].existing_rows_count == -1 && l.files[1].added_files_count == -1);
    assert_true(l.files[1].added_rows_count == 10);
    firn_arena_free(l.arena);
    firn_table_metadata_free(metadata);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    metadata = fx_every_type(3);
    check_fails(
        firn_manifest_list_write(metadata, 5, true, 4, 12, files, 2, 100, NULL, &out, &error),
        FIRN_INVALID, &error, "manifest b");
    files[1].has_first_row_id = true;
    firn_buffer_clear(&out);
    check_ok(firn_manifest_list_write(metadata, 5, true, 4, 12, files, 2, 100, NULL, &out, &error),
             &error);
    files[0].length = -1;
    check_fails(
        firn_manifest_list_write(metadata, 5, true, 4, 12, files, 2, 100, NULL, &out, &error),
        FIRN_INVALID, &error, "manifest a");
    firn_buffer_release(&out);
    firn_table_metadata_free(metadata);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_decide), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_summaries),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_written),        cmocka_unit_test(test_unknown_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
