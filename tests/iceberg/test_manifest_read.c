/* Manifests and manifest lists of many writers: each test names what was seen in the wild. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "iceberg/manifest_internal.h"
#include "iceberg/primitive.h"
#include "support/fx_avro.h"

/* Pieces of schemas. */
#define FIELD(name, id, type) "{\"name\":\"" name "\",\"type\":" type ",\"field-id\":" id "}"
#define OPTIONAL(name, id, type) FIELD(name, id, "[\"null\"," type "]")
#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FILE_BASICS                                                                                \
    FIELD("file_path", "100", "\"string\"")                                                        \
    "," FIELD("file_format", "101", "\"string\"") "," FIELD(                                       \
        "record_count", "103", "\"long\"") "," FIELD("file_size_in_bytes", "104", "\"long\"")
#define PARTITION(fields) FIELD("partition", "102", RECORD("r102", fields))
#define NUMBERS                                                                                    \
    OPTIONAL("snapshot_id", "1", "\"long\"")                                                       \
    "," OPTIONAL("sequence_number", "3", "\"long\"") "," OPTIONAL("file_sequence_number", "4",     \
                                                                  "\"long\"")
#define ENTRY(numbers, file)                                                                       \
    RECORD("manifest_entry", FIELD("status", "0", "\"int\"") numbers                               \
           "," FIELD("data_file", "2", RECORD("r2", file)))

typedef struct seen {
    firn_arena *arena;
    firn_manifest_entry entries[8];
    size_t count;
} seen;

static firn_status keep(void *context, const firn_manifest_entry *entry, firn_error *error) {
    seen *s = context;
    (void)error;
    assert_true(s->count < 8);
    s->entries[s->count++] = *entry;
    return FIRN_OK;
}

static const firn_manifest_file plain_manifest = {.path = "m.avro",
                                                  .partition_spec_id = 3,
                                                  .sequence_number = 9,
                                                  .added_snapshot_id = 77,
                                                  .has_added_snapshot_id = true};

static firn_partition_field one_field = {.source_id = 1, .field_id = 1000, .name = "p"};
static const firn_partition_spec one_spec = {3, &one_field, 1};

static void set_type(firn_transform_kind transform, const firn_type *type) {
    one_field.name = "p";
    one_field.transform = (firn_transform){transform, 0, "t"};
    one_field.source_type = one_field.result_type = type;
}

static firn_status read_with(const fx_avro *how, const char *records,
                             const firn_manifest_file *manifest, const firn_partition_spec *spec,
                             seen *out, firn_error *error) {
    fx_bytes file = fx_avro_file(how, records);
    *out = (seen){.arena = firn_arena_new()};
    firn_error_clear(error);
    firn_status status = firn_manifest_read(firn_slice_of(file.data, file.size), manifest, spec,
                                            out->arena, keep, out, error);
    free(file.data);
    return status;
}

static seen read_good(const char *schema, const char *records, const firn_manifest_file *manifest,
                      const firn_partition_spec *spec) {
    seen s;
    firn_error error;
    check_ok(read_with(&(fx_avro){.schema = schema}, records, manifest, spec, &s, &error), &error);
    return s;
}

static void read_bad(const char *schema, const char *records, const firn_manifest_file *manifest,
                     const firn_partition_spec *spec, firn_status code, const char *part) {
    seen s;
    firn_error error;
    check_fails(read_with(&(fx_avro){.schema = schema}, records, manifest, spec, &s, &error), code,
                &error, part);
    assert_non_null(strstr(error.message, "m.avro"));
    firn_arena_free(s.arena);
}

#define BASICS                                                                                     \
    "\"file_path\":\"f\",\"file_format\":\"parquet\",\"record_count\":5,\"file_size_in_bytes\":"   \
    "100"

/*
 * iceberg-python#2123, iceberg-rust#2535: one partition field, spelled as each library spells it.
 */
static void test_partition_names(void **state) {
    (void)state;
    static const char *const spellings[] = {"😎",    "_xD83D_xDE0E", "_x1F60E", "a.b", "a_x2Eb",
                                            "9col", "_9col",        "é",       "p"};
    set_type(FIRN_TRANSFORM_IDENTITY, firn_primitive_type(FIRN_TYPE_LONG));
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        for (int quoted = 0; quoted < 2; quoted++) {
            char schema[2000];
            char record[500];
            snprintf(schema, sizeof schema,
                     ENTRY("," NUMBERS, FILE_BASICS
                           "," PARTITION("{\"name\":\"other\",\"type\":\"long\",\"field-id\":7},"
                                         "{\"name\":\"%s\",\"iceberg-field-name\":\"x\","
                                         "\"type\":[\"null\",\"int\"],\"field-id\":%s}")),
                     spellings[i], quoted != 0 ? "\"1000\"" : "1000");
            snprintf(record, sizeof record,
                     "[{\"status\":1,\"data_file\":{" BASICS
                     ",\"partition\":{\"other\":1,\"%s\":42}}}]",
                     spellings[i]);
            seen s = read_good(schema, record, &plain_manifest, &one_spec);
            assert_int_equal(s.count, 1);
            assert_int_equal(s.entries[0].file.partition_count, 1);
            assert_int_equal(s.entries[0].file.partition[0].kind, FIRN_TYPE_LONG);
            assert_true(s.entries[0].file.partition[0].as.int64 == 42);
            assert_int_equal(s.entries[0].file.spec_id, 3);
            firn_arena_free(s.arena);
        }
    }
}

/* iceberg-rust#353: an Avro library dropped every id. */
static void test_without_ids(void **state) {
    (void)state;
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["
        "{\"name\":\"status\",\"type\":\"int\"},{\"name\":\"snapshot_id\",\"type\":[\"null\","
        "\"long\"]},"
        "{\"name\":\"data_file\",\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":["
        "{\"name\":\"content\",\"type\":\"int\"},{\"name\":\"file_path\",\"type\":\"string\"},"
        "{\"name\":\"file_format\",\"type\":\"string\"},{\"name\":\"partition\",\"type\":{"
        "\"type\":\"record\",\"name\":\"r102\",\"fields\":["
        "{\"name\":\"_9_x20col\",\"type\":[\"null\",\"string\"]}]}},"
        "{\"name\":\"record_count\",\"type\":\"long\"},"
        "{\"name\":\"file_size_in_bytes\",\"type\":\"long\"},"
        "{\"name\":\"value_counts\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"record\","
        "\"name\":\"kv\",\"fields\":[{\"name\":\"key\",\"type\":\"int\"},"
        "{\"name\":\"value\",\"type\":\"long\"}]}}}]}}]}";
    set_type(FIRN_TRANSFORM_IDENTITY, firn_primitive_type(FIRN_TYPE_STRING));
    one_field.name = "9 col";
    seen s = read_good(schema,
                       "[{\"status\":0,\"snapshot_id\":5,\"data_file\":{\"content\":0," BASICS
                       ",\"value_counts\":[{\"key\":4,\"value\":-1}],"
                       "\"partition\":{\"_9_x20col\":\"v\"}}}]",
                       &(firn_manifest_file){.path = "m.avro"}, &one_spec);
    const firn_manifest_entry *entry = &s.entries[0];
    assert_true(entry->has_snapshot_id && entry->snapshot_id == 5);
    assert_true(firn_slice_equal(entry->file.partition[0].as.bytes, firn_slice_text("v")));
    assert_int_equal(entry->file.value_counts.counts[0], -1);
    assert_true(firn_count_map_get(&entry->file.value_counts, 4) == -1);
    firn_arena_free(s.arena);
    read_bad(schema,
             "[{\"status\":0,\"snapshot_id\":5,\"data_file\":{\"content\":0," BASICS
             ",\"value_counts\":[],\"partition\":{\"_9_x20col\":\"v\"}}}]",
             &plain_manifest, &one_spec, FIRN_CORRUPT, "sequence_number (id 3)");
}

/* duckdb-iceberg#374: a v1 manifest in a v2 table. */
static void test_v1_manifest(void **state) {
    (void)state;
    static const char schema[] =
        ENTRY("," FIELD("snapshot_id", "1", "\"long\""), FILE_BASICS "," PARTITION(""));
    static const char records[] =
        "[{\"status\":1,\"snapshot_id\":5,\"data_file\":{" BASICS ",\"partition\":{}}},"
        "{\"status\":0,\"snapshot_id\":4,\"data_file\":{" BASICS ",\"partition\":{}}}]";
    static const firn_partition_spec none = {0};
    firn_manifest_file manifest = {.path = "m.avro", .has_added_snapshot_id = true};
    seen s = read_good(schema, records, &manifest, &none);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(s.entries[i].file.content, FIRN_CONTENT_DATA);
        assert_true(s.entries[i].has_sequence_number && s.entries[i].sequence_number == 0);
        assert_true(s.entries[i].has_file_sequence_number);
        assert_true(s.entries[i].file_sequence_number == 0);
    }
    firn_arena_free(s.arena);
    /* added to a v2 table later on: what the commit added has the commit's number */
    manifest.sequence_number = 6;
    s = read_good(schema, records, &manifest, NULL);
    assert_true(s.entries[0].sequence_number == 6 && s.entries[0].file_sequence_number == 6);
    assert_true(s.entries[1].has_sequence_number && s.entries[1].sequence_number == 0);
    firn_arena_free(s.arena);
    /* deletes that do not say what they are must not pass for data */
    manifest.content = FIRN_CONTENT_POSITION_DELETES;
    read_bad(schema, records, &manifest, &none, FIRN_CORRUPT, "content (id 134)");
}

/* ClickHouse PR#116040: absent, null and explicit numbers in entries of each status. */
static void test_inherited_numbers(void **state) {
    (void)state;
    static const char with[] =
        ENTRY("," NUMBERS, FIELD("content", "134", "\"int\"") "," FILE_BASICS "," PARTITION(""));
    static const char without[] =
        ENTRY("", FIELD("content", "134", "\"int\"") "," FILE_BASICS "," PARTITION(""));
#define FILE_PART "\"data_file\":{\"content\":0," BASICS ",\"partition\":{}}"
    const char *added = "[{\"status\":1," FILE_PART "}]";
    const char *existing = "[{\"status\":0,\"snapshot_id\":3," FILE_PART "}]";
    const char *deleted = "[{\"status\":2," FILE_PART "}]";
    const char *schemas[] = {with, without};
    for (size_t i = 0; i < 2; i++) {
        seen s = read_good(schemas[i], added, &plain_manifest, NULL);
        assert_true(s.entries[0].has_snapshot_id && s.entries[0].snapshot_id == 77);
        assert_true(s.entries[0].has_sequence_number && s.entries[0].sequence_number == 9);
        assert_true(s.entries[0].file_sequence_number == 9);
        firn_arena_free(s.arena);
        read_bad(schemas[i], existing, &plain_manifest, NULL, FIRN_CORRUPT, "sequence_number");
        s = read_good(schemas[i], deleted, &plain_manifest, NULL);
        assert_false(s.entries[0].has_sequence_number);
        firn_arena_free(s.arena);
    }
    seen s = read_good(with,
                       "[{\"status\":0,\"snapshot_id\":3,\"sequence_number\":0,"
                       "\"file_sequence_number\":2," FILE_PART "},"
                       "{\"status\":1,\"sequence_number\":4," FILE_PART "},"
                       "{\"status\":0,\"snapshot_id\":3,\"sequence_number\":1," FILE_PART "}]",
                       &plain_manifest, NULL);
    assert_true(s.entries[0].has_sequence_number && s.entries[0].sequence_number == 0);
    assert_true(s.entries[0].file_sequence_number == 2);
    assert_true(s.entries[1].sequence_number == 4 && s.entries[1].file_sequence_number == 9);
    assert_true(s.entries[2].sequence_number == 1);
    assert_false(s.entries[2].has_file_sequence_number);
    firn_arena_free(s.arena);
}

/* iceberg-go PR#1295: ids go to live files that have none, in order; deleted ones take none. */
static void test_first_row_ids(void **state) {
    (void)state;
    static const char schema[] =
        ENTRY("," NUMBERS, FIELD("content", "134", "\"int\"") "," FILE_BASICS "," PARTITION(
                               "") "," OPTIONAL("first_row_id", "142", "\"long\""));
    static const char records[] =
        "[{\"status\":2,\"sequence_number\":1," FILE_PART "},{\"status\":1," FILE_PART "},"
        "{\"status\":0,\"sequence_number\":1,\"data_file\":{\"content\":0," BASICS
        ",\"partition\":{},\"first_row_id\":3}},{\"status\":0,\"sequence_number\":1," FILE_PART
        "}]";
    firn_manifest_file manifest = plain_manifest;
    manifest.has_first_row_id = true;
    manifest.first_row_id = 1000;
    seen s = read_good(schema, records, &manifest, NULL);
    assert_false(s.entries[0].file.has_first_row_id);
    assert_true(s.entries[1].file.has_first_row_id && s.entries[1].file.first_row_id == 1000);
    assert_true(s.entries[2].file.first_row_id == 3);
    assert_true(s.entries[3].file.first_row_id == 1005);
    firn_arena_free(s.arena);
    s = read_good(schema, records, &plain_manifest, NULL);
    assert_false(s.entries[1].file.has_first_row_id);
    firn_arena_free(s.arena);
    manifest.content = FIRN_CONTENT_POSITION_DELETES;
    s = read_good(schema,
                  "[{\"status\":1,\"data_file\":{\"content\":1," BASICS
                  ",\"partition\":{},\"first_row_id\":3}}]",
                  &manifest, NULL);
    assert_false(s.entries[0].file.has_first_row_id);
    firn_arena_free(s.arena);
}

/* iceberg-python#241, iceberg#6434: one value, stored as different writers store it. */
static seen last; /* what partition_value read, alive until its next call */

static firn_value partition_value(const firn_type *type, const char *avro_type, const char *value) {
    char schema[2000];
    char records[500];
    set_type(FIRN_TRANSFORM_IDENTITY, type);
    snprintf(schema, sizeof schema,
             ENTRY("," NUMBERS, FILE_BASICS "," PARTITION("{\"name\":\"p\",\"type\":[%s,\"null\"],"
                                                          "\"field-id\":1000}")),
             avro_type);
    snprintf(records, sizeof records,
             "[{\"status\":1,\"data_file\":{" BASICS ",\"partition\":{\"p\":%s}}}]", value);
    firn_arena_free(last.arena);
    last = read_good(schema, records, &plain_manifest, &one_spec);
    return last.entries[0].file.partition[0];
}

static void test_partition_types(void **state) {
    (void)state;
    firn_type decimal = {
        .kind = FIRN_TYPE_DECIMAL, .precision = 7, .scale = 2, .text = "decimal(7,2)"};
    const char *as_bytes =
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":7,\"scale\":2}";
    const char *as_fixed = "{\"type\":\"fixed\",\"name\":\"d\",\"size\":4,\"logicalType\":"
                           "\"decimal\",\"precision\":7,\"scale\":2}";
    assert_true(partition_value(&decimal, as_bytes, "\"f0c9a7\"").as.decimal == -996953);
    assert_true(partition_value(&decimal, as_fixed, "\"fff0c9a7\"").as.decimal == -996953);
    assert_true(partition_value(&decimal, "\"bytes\"", "\"0100\"").as.decimal == 256);
    const firn_type *uuid = firn_primitive_type(FIRN_TYPE_UUID);
    const char *hexadecimal = "\"f79c3e09677c4bbda4793f349cb785e7\"";
    const char *uuid_types[] = {
        "{\"type\":\"fixed\",\"name\":\"u\",\"size\":16,\"logicalType\":\"uuid\"}",
        "{\"type\":\"fixed\",\"name\":\"u\",\"size\":16,\"logicalType\":\"weather\"}", "\"bytes\"",
        "{\"type\":\"string\",\"logicalType\":\"uuid\"}"};
    for (size_t i = 0; i < 4; i++) {
        const char *text = i < 3 ? hexadecimal : "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"";
        firn_value value = partition_value(uuid, uuid_types[i], text);
        assert_int_equal(value.as.bytes.size, 16);
        assert_memory_equal(value.as.bytes.data, "\xf7\x9c\x3e\x09", 4);
        assert_int_equal(value.as.bytes.data[15], 0xe7);
    }
    const firn_type *date = firn_primitive_type(FIRN_TYPE_DATE);
    assert_int_equal(partition_value(date, "\"int\"", "-47").as.int32, -47);
    assert_int_equal(
        partition_value(date, "{\"type\":\"int\",\"logicalType\":\"date\"}", "-47").as.int32, -47);
    assert_int_equal(partition_value(date, "\"long\"", "-47").as.int32, -47);
    const firn_type *timestamp = firn_primitive_type(FIRN_TYPE_TIMESTAMP);
    const char *millis = "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}";
    assert_true(partition_value(timestamp, millis, "-3").as.int64 == -3000);
    assert_true(partition_value(timestamp, "\"long\"", "-3").as.int64 == -3);
    const firn_type *wide = firn_primitive_type(FIRN_TYPE_DOUBLE);
    assert_true(partition_value(wide, "\"float\"", "0.5").as.float64 == 0.5);
    const firn_type *text = firn_primitive_type(FIRN_TYPE_STRING);
    assert_int_equal(partition_value(text, "\"bytes\"", "\"41\"").as.bytes.size, 1);
    assert_int_equal(partition_value(text, "\"string\"", "\"\"").as.bytes.size, 0);
    assert_true(partition_value(NULL, "\"long\"", "6").as.int64 == 6);
    assert_true(partition_value(text, "\"string\"", "null").is_null);
    firn_arena_free(last.arena);
}

static void bad_value(const firn_type *type, const char *avro_type, const char *value,
                      const char *part) {
    char schema[2000];
    char records[500];
    set_type(FIRN_TRANSFORM_IDENTITY, type);
    snprintf(schema, sizeof schema,
             ENTRY("," NUMBERS, FILE_BASICS "," PARTITION("{\"name\":\"p\",\"type\":%s,"
                                                          "\"field-id\":1000}")),
             avro_type);
    snprintf(records, sizeof records,
             "[{\"status\":1,\"data_file\":{" BASICS ",\"partition\":{\"p\":%s}}}]", value);
    read_bad(schema, records, &plain_manifest, &one_spec, FIRN_CORRUPT, part);
}

static void test_bad_partition_values(void **state) {
    (void)state;
    firn_type decimal = {
        .kind = FIRN_TYPE_DECIMAL, .precision = 7, .scale = 2, .text = "decimal(7,2)"};
    firn_type fixed = {.kind = FIRN_TYPE_FIXED, .length = 3, .text = "fixed[3]"};
    bad_value(&decimal, "\"bytes\"", "\"\"", "no decimal");
    bad_value(&decimal, "\"long\"", "4", "partition field p (id 1000)");
    bad_value(&decimal,
              "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":7,\"scale\":3}",
              "\"01\"", "scale");
    bad_value(&fixed, "\"bytes\"", "\"0102\"", "2 bytes");
    bad_value(firn_primitive_type(FIRN_TYPE_UUID), "\"string\"", "\"zz\"", "UUID");
    bad_value(firn_primitive_type(FIRN_TYPE_INT), "\"long\"", "4294967296", "32 bits");
    bad_value(firn_primitive_type(FIRN_TYPE_INT), "\"string\"", "\"4\"", "does not fit");
    bad_value(firn_primitive_type(FIRN_TYPE_STRING), "\"int\"", "4", "does not fit");
    bad_value(firn_primitive_type(FIRN_TYPE_FLOAT), "\"double\"", "4", "does not fit");
    bad_value(firn_primitive_type(FIRN_TYPE_BOOLEAN), "\"int\"", "1", "does not fit");
    bad_value(NULL, "{\"type\":\"array\",\"items\":\"int\"}", "[]", "does not fit");
}

/* A tuple that lacks a field is not a tuple with a null; void fields are null whatever is there. */
static void test_missing_partition_field(void **state) {
    (void)state;
    static const char schema[] = ENTRY("," NUMBERS, FILE_BASICS "," PARTITION(""));
    static const char record[] = "[{\"status\":1,\"data_file\":{" BASICS ",\"partition\":{}}}]";
    set_type(FIRN_TRANSFORM_IDENTITY, firn_primitive_type(FIRN_TYPE_LONG));
    read_bad(schema, record, &plain_manifest, &one_spec, FIRN_CORRUPT,
             "field p (id 1000) is missing");
    set_type(FIRN_TRANSFORM_VOID, firn_primitive_type(FIRN_TYPE_LONG));
    seen s = read_good(schema, record, &plain_manifest, &one_spec);
    assert_true(s.entries[0].file.partition[0].is_null);
    firn_arena_free(s.arena);
    read_bad(ENTRY("," NUMBERS, FILE_BASICS "," PARTITION(FIELD("p", "1000", "\"int\""))),
             "[{\"status\":1,\"data_file\":{" BASICS ",\"partition\":{\"p\":1}}}]", &plain_manifest,
             NULL, FIRN_CORRUPT, "partition spec 3 is not in the table's metadata");
}

/* pgcolumnar#644 and others: wrong kinds and impossible values are errors that name the field. */
static void test_bad_entries(void **state) {
    (void)state;
    static const char nullable[] =
        ENTRY("," NUMBERS, OPTIONAL("file_path", "100", "\"string\"") "," FIELD(
                               "file_format", "101",
                               "\"string\"") "," FIELD("record_count", "103",
                                                       "\"long\"") "," FIELD("file_size_in_bytes",
                                                                             "104", "\"long\""));
#define ONE(status, path, count, size)                                                             \
    "[{\"status\":" status ",\"data_file\":{\"file_path\":" path                                   \
    ",\"file_format\":\"x\",\"record_count\":" count ",\"file_size_in_bytes\":" size "}}]"
    seen s = read_good(nullable, ONE("1", "\"f\"", "1", "1"), &plain_manifest, NULL);
    assert_int_equal(s.entries[0].file.format, FIRN_FILE_OTHER);
    firn_arena_free(s.arena);
    read_bad(nullable, ONE("1", "null", "1", "1"), &plain_manifest, NULL, FIRN_CORRUPT, "null");
    read_bad(nullable, ONE("3", "\"f\"", "1", "1"), &plain_manifest, NULL, FIRN_CORRUPT, "status");
    read_bad(nullable, ONE("-1", "\"f\"", "1", "1"), &plain_manifest, NULL, FIRN_CORRUPT, "status");
    read_bad(nullable, ONE("1", "\"f\"", "-1", "1"), &plain_manifest, NULL, FIRN_CORRUPT,
             "record_count");
    read_bad(nullable, ONE("1", "\"f\"", "1", "-1"), &plain_manifest, NULL, FIRN_CORRUPT,
             "file_size_in_bytes");
    read_bad(ENTRY("," NUMBERS, FIELD("content", "134", "\"int\"") "," FILE_BASICS),
             "[{\"status\":1,\"data_file\":{\"content\":3," BASICS "}}]", &plain_manifest, NULL,
             FIRN_CORRUPT, "content (id 134)");
}

#define LONG_IDS "{\"type\":\"array\",\"items\":\"long\",\"element-id\":136}"
#define NULLABLE_OFFSETS "{\"type\":\"array\",\"items\":[\"null\",\"long\"]}"
#define NULLABLE_BOUNDS                                                                            \
    "{\"type\":\"array\",\"logicalType\":\"map\",\"items\":[\"null\",{\"type\":\"record\","        \
    "\"name\":\"e\",\"fields\":[{\"name\":\"key\",\"type\":[\"null\",\"int\"]},"                   \
    "{\"name\":\"value\",\"type\":[\"null\",\"bytes\"]}]}]}"

/* PyIceberg declares the element of equality_ids long; BigQuery makes everything nullable. */
static void test_lists_and_maps(void **state) {
    (void)state;
    /* clang-format off */
    static const char schema[] = ENTRY(
        "," NUMBERS,
        FIELD("content", "134", "[\"null\",{\"type\":\"int\"}]") "," FILE_BASICS ","
        OPTIONAL("equality_ids", "135", LONG_IDS) ","
        OPTIONAL("split_offsets", "132", NULLABLE_OFFSETS) ","
        OPTIONAL("lower_bounds", "125", NULLABLE_BOUNDS));
    /* clang-format on */
    firn_manifest_file manifest = plain_manifest;
    manifest.content = FIRN_CONTENT_POSITION_DELETES;
    seen s = read_good(schema,
                       "[{\"status\":1,\"data_file\":{\"content\":2," BASICS
                       ",\"equality_ids\":[3,1],\"split_offsets\":[4,8],\"lower_bounds\":["
                       "{\"key\":1,\"value\":\"0100\"},{\"key\":2,\"value\":null},"
                       "{\"key\":999,\"value\":\"\"}]}}]",
                       &manifest, NULL);
    const firn_data_file *file = &s.entries[0].file;
    assert_int_equal(file->content, FIRN_CONTENT_EQUALITY_DELETES);
    assert_int_equal(file->equality_id_count, 2);
    assert_int_equal(file->equality_ids[0], 3);
    assert_int_equal(file->split_offset_count, 2);
    assert_true(file->split_offsets[1] == 8);
    firn_slice bound;
    assert_true(firn_bound_map_get(&file->lower_bounds, 1, &bound));
    assert_int_equal(bound.size, 2);
    assert_false(firn_bound_map_get(&file->lower_bounds, 2, &bound));
    assert_true(firn_bound_map_get(&file->lower_bounds, 999, &bound));
    assert_int_equal(bound.size, 0);
    assert_false(file->upper_bounds.present);
    firn_arena_free(s.arena);
}

/* Header values are hints at best: garbage, none, another schema, a spec in either form. */
static void test_headers_are_ignored(void **state) {
    (void)state;
    static const char schema[] = ENTRY("," NUMBERS, FILE_BASICS "," PARTITION(""));
    static const char record[] = "[{\"status\":1,\"data_file\":{" BASICS ",\"partition\":{}}}]";
    static const char *const headers[][9] = {
        {NULL},
        {"schema", "garbage", "partition-spec", "x", "format-version", "1", "content", "deletes"},
        {"schema", schema, "partition-spec", "{\"spec-id\":0,\"fields\":[]}"},
        {"partition-spec", "[]", "partition-spec-id", "99", "format-version", "9"},
    };
    for (size_t i = 0; i < 4; i++) {
        seen s;
        firn_error error;
        fx_avro how = {.schema = schema, .metadata = headers[i]};
        check_ok(read_with(&how, record, &plain_manifest, NULL, &s, &error), &error);
        assert_int_equal(s.entries[0].file.content, FIRN_CONTENT_DATA);
        assert_int_equal(s.entries[0].file.spec_id, 3);
        firn_arena_free(s.arena);
    }
}

/* A v1 snapshot that names its manifests itself. */
static void test_describe(void **state) {
    (void)state;
    static const char *const header[] = {"partition-spec-id", "4", NULL};
    static const char *const broken[] = {"partition-spec-id", "x", NULL};
    static const char *const *const headers[] = {header, broken, NULL};
    for (size_t i = 0; i < 3; i++) {
        fx_avro how = {.schema = "\"int\"", .metadata = headers[i]};
        fx_bytes bytes = fx_avro_file(&how, "[]");
        firn_arena *arena = firn_arena_new();
        firn_manifest_file out;
        firn_error error;
        check_ok(firn_manifest_describe(firn_slice_of(bytes.data, bytes.size), "m.avro", 12, arena,
                                        &out, &error),
                 &error);
        assert_int_equal(out.partition_spec_id, i == 0 ? 4 : 0);
        assert_int_equal(out.length, bytes.size);
        assert_true(out.has_added_snapshot_id && out.added_snapshot_id == 12);
        assert_true(out.added_files_count == -1 && out.deleted_rows_count == -1);
        firn_arena_free(arena);
        free(bytes.data);
    }
}

static firn_status stop(void *context, const firn_manifest_entry *entry, firn_error *error) {
    (void)entry;
    ++*(int *)context;
    return firn_fail(error, FIRN_CANCELLED, "enough");
}

static void test_visitor_stops(void **state) {
    (void)state;
    static const char schema[] = ENTRY("," NUMBERS, FILE_BASICS "," PARTITION(""));
    static const char one[] = "{\"status\":1,\"data_file\":{" BASICS ",\"partition\":{}}}";
    char records[1000];
    snprintf(records, sizeof records, "[%s,%s]", one, one);
    fx_bytes file = fx_avro_file(&(fx_avro){.schema = schema}, records);
    firn_arena *arena = firn_arena_new();
    firn_error error;
    int calls = 0;
    check_fails(firn_manifest_read(firn_slice_of(file.data, file.size), &plain_manifest, NULL,
                                   arena, stop, &calls, &error),
                FIRN_CANCELLED, &error, "enough");
    assert_int_equal(calls, 1);
    check_fails(firn_manifest_read(firn_slice_text("AGS1........"), &plain_manifest, NULL, arena,
                                   stop, &calls, &error),
                FIRN_UNSUPPORTED, &error, "encrypted");
    firn_arena_free(arena);
    free(file.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_names),      cmocka_unit_test(test_without_ids),
        cmocka_unit_test(test_v1_manifest),          cmocka_unit_test(test_inherited_numbers),
        cmocka_unit_test(test_first_row_ids),        cmocka_unit_test(test_partition_types),
        cmocka_unit_test(test_bad_partition_values), cmocka_unit_test(test_missing_partition_field),
        cmocka_unit_test(test_bad_entries),          cmocka_unit_test(test_lists_and_maps),
        cmocka_unit_test(test_headers_are_ignored),  cmocka_unit_test(test_describe),
        cmocka_unit_test(test_visitor_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
