/* Equality deletes: nulls, types, evolved schemas, scopes; random tables against a naive model; sets that spill. */
#include "delete_world.h"

#define INT64_COLUMN(column_name, column_id, values, null_flags)                                   \
    {                                                                                              \
        .name = (column_name), .id = (column_id), .type = FIRN_PARQUET_INT64, .numbers = (values), \
        .nulls = (null_flags)                                                                      \
    }
#define INT32_COLUMN(column_name, column_id, values, null_flags)                                   \
    {                                                                                              \
        .name = (column_name), .id = (column_id), .type = FIRN_PARQUET_INT32, .numbers = (values), \
        .nulls = (null_flags)                                                                      \
    }
#define TEXT_COLUMN(column_name, column_id, values, null_flags)                                    \
    {                                                                                              \
        .name = (column_name), .id = (column_id), .type = FIRN_PARQUET_BYTE_ARRAY,                 \
        .logical = {.kind = FIRN_PARQUET_LOGICAL_STRING}, .texts = (values), .nulls = (null_flags) \
    }

#define FIELD(id, name, type)                                                                      \
    "{\"id\":" #id ",\"name\":\"" name "\",\"required\":false,\"type\":" type "}"
#define LONG "\"long\""
#define STRING "\"string\""

static const int32_t first_id[] = {1};
static const int32_t both_ids[] = {2, 1};

static void open_with(delete_world *w, const char *schema) {
    fixture pieces = {.schema = schema};
    world_open(w, fixture_metadata(&pieces));
}

/* ---- nulls ---- */

/* Rows of {null, a, b}. */
static const char *const three_texts[] = {"", "a", "b"};
static const bool three_nulls[] = {true, false, false};

static void test_nulls_of_one_column(void **state) {
    (void)state;
    static const struct {
        const char *key; /* NULL: null */
        const char *deleted;
    } cases[] = {{NULL, "0"}, {"a", "1"}, {"b", "2"}, {"", ""}, {"c", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        delete_world w;
        open_with(&w, "[" FIELD(1, "k", STRING) "]");
        const char *key[] = {cases[i].key == NULL ? "" : cases[i].key};
        const bool null[] = {cases[i].key == NULL};
        world_column data[] = {TEXT_COLUMN("k", 1, three_texts, three_nulls)};
        world_column deletes[] = {TEXT_COLUMN("k", 1, key, null)};
        world_data(&w, "/d", data, 1, 3, 1);
        world_equality(&w, "/e", deletes, 1, 1, 2, first_id, 1);
        assert_string_equal(world_deleted(&w, 0), cases[i].deleted);
        world_close(&w);
    }
}

/* All pairs of {null, a, b} × {null, a, b} against all pairs of {null, a} × {null, a}. */
static void test_nulls_of_two_columns(void **state) {
    (void)state;
    for (int key = 0; key < 4; key++) {
        delete_world w;
        open_with(&w, "[" FIELD(1, "k", STRING) "," FIELD(2, "l", STRING) "]");
        const char *left[9], *right[9];
        bool left_nulls[9], right_nulls[9];
        for (size_t i = 0; i < 9; i++) {
            left[i] = three_texts[i / 3];
            left_nulls[i] = three_nulls[i / 3];
            right[i] = three_texts[i % 3];
            right_nulls[i] = three_nulls[i % 3];
        }
        world_column data[] = {TEXT_COLUMN("k", 1, left, left_nulls),
                               TEXT_COLUMN("l", 2, right, right_nulls)};
        const char *texts[] = {"a"};
        const bool left_null[] = {(key & 2) == 0};
        const bool right_null[] = {(key & 1) == 0};
        world_column deletes[] = {TEXT_COLUMN("l", 2, texts, right_null),
                                  TEXT_COLUMN("k", 1, texts, left_null)};
        world_data(&w, "/d", data, 2, 9, 1);
        world_equality(&w, "/e", deletes, 2, 1, 2, both_ids, 2);
        char wanted[4];
        snprintf(wanted, sizeof wanted, "%d", key / 2 * 3 + key % 2);
        assert_string_equal(world_deleted(&w, 0), wanted);
        world_close(&w);
    }
}

/* ---- types ---- */

/* A null key of the narrower type must match the null only, not a value that has no place in it. */
static void test_promoted_null(void **state) {
    (void)state;
    delete_world w;
    open_with(&w, "[" FIELD(1, "k", LONG) "]");
    const int64_t values[] = {0, 0, 1, 4294967296, -1};
    const bool nulls[] = {true, false, false, false, false};
    const int64_t keys[] = {0, -1};
    const bool key_nulls[] = {true, false};
    world_column data[] = {INT64_COLUMN("k", 1, values, nulls)};
    world_column deletes[] = {INT32_COLUMN("k", 1, keys, key_nulls)};
    world_data(&w, "/d", data, 1, 5, 1);
    world_equality(&w, "/e", deletes, 1, 2, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "0 4");
    world_close(&w);
}

static void test_promoted_data(void **state) {
    (void)state;
    delete_world w;
    open_with(&w, "[" FIELD(1, "k", LONG) "]");
    const int64_t values[] = {0, 1, -1, 7};
    const int64_t keys[] = {4294967296, -1, 4294967303};
    world_column data[] = {INT32_COLUMN("k", 1, values, NULL)};
    world_column deletes[] = {INT64_COLUMN("k", 1, keys, NULL)};
    world_data(&w, "/d", data, 1, 4, 1);
    world_equality(&w, "/e", deletes, 1, 3, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "2");
    world_close(&w);
}

/* The same decimals in four physical forms, in tables of a narrow and of a wide precision. */
static void test_decimals(void **state) {
    (void)state;
    static const char *const schemas[] = {"[" FIELD(1, "k", "\"decimal(9, 2)\"") "]",
                                          "[" FIELD(1, "k", "\"decimal(18, 2)\"") "]",
                                          "[" FIELD(1, "k", "\"decimal(30, 2)\"") "]"};
    const int64_t values[] = {-150, 0, 150, 999999999};
    const int64_t keys[] = {150, -150};
    for (size_t i = 0; i < 9; i++) {
        delete_world w;
        open_with(&w, schemas[i / 3]);
        static const firn_parquet_physical_type types[] = {FIRN_PARQUET_INT32, FIRN_PARQUET_INT64,
                                                           FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY};
        world_column data[] = {
            {.name = "k",
             .id = 1,
             .type = types[i % 3],
             .type_length = 9,
             .logical = {.kind = FIRN_PARQUET_LOGICAL_DECIMAL, .precision = 9, .scale = 2},
             .numbers = values}};
        world_column deletes[] = {data[0]};
        deletes[0].type = FIRN_PARQUET_INT32;
        deletes[0].numbers = keys;
        world_data(&w, "/d", data, 1, 4, 1);
        world_equality(&w, "/e", deletes, 1, 2, 2, first_id, 1);
        assert_string_equal(world_deleted(&w, 0), "0 2");
        world_close(&w);
    }
}

static void test_other_types(void **state) {
    (void)state;
    static const struct {
        const char *type;
        firn_parquet_physical_type physical;
        int32_t length;
        firn_parquet_logical_type logical;
    } cases[] = {
        {"\"boolean\"", FIRN_PARQUET_BOOLEAN, 0, {0}},
        {"\"date\"", FIRN_PARQUET_INT32, 0, {.kind = FIRN_PARQUET_LOGICAL_DATE}},
        {"\"time\"",
         FIRN_PARQUET_INT64,
         0,
         {.kind = FIRN_PARQUET_LOGICAL_TIME, .unit = FIRN_PARQUET_MICROS}},
        {"\"timestamptz\"",
         FIRN_PARQUET_INT64,
         0,
         {.kind = FIRN_PARQUET_LOGICAL_TIMESTAMP,
          .unit = FIRN_PARQUET_MICROS,
          .adjusted_to_utc = true}},
        {"\"uuid\"", FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 16, {.kind = FIRN_PARQUET_LOGICAL_UUID}},
        {"\"fixed[3]\"", FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, 3, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        delete_world w;
        char schema[200];
        snprintf(schema, sizeof schema, "[{\"id\":1,\"name\":\"k\",\"required\":true,\"type\":%s}]",
                 cases[i].type);
        open_with(&w, schema);
        const int64_t values[] = {0, 1, 0, 1};
        const int64_t keys[] = {1};
        world_column data[] = {{.name = "k",
                                .id = 1,
                                .type = cases[i].physical,
                                .type_length = cases[i].length,
                                .logical = cases[i].logical,
                                .numbers = values}};
        world_column deletes[] = {data[0]};
        deletes[0].numbers = keys;
        world_data(&w, "/d", data, 1, 4, 1);
        world_equality(&w, "/e", deletes, 1, 1, 2, first_id, 1);
        assert_string_equal(world_deleted(&w, 0), "1 3");
        world_close(&w);
    }
}

/* A file of milliseconds holds the same instants. */
static void test_timestamp_units(void **state) {
    (void)state;
    delete_world w;
    open_with(&w, "[" FIELD(1, "k", "\"timestamp\"") "]");
    const int64_t values[] = {1, 2, -1};
    const int64_t keys[] = {2000, -1000};
    world_column data[] = {INT64_COLUMN("k", 1, values, NULL)};
    data[0].logical = (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_TIMESTAMP,
                                                  .unit = FIRN_PARQUET_MILLIS};
    world_column deletes[] = {data[0]};
    deletes[0].logical.unit = FIRN_PARQUET_MICROS;
    deletes[0].numbers = keys;
    world_data(&w, "/d", data, 1, 3, 1);
    world_equality(&w, "/e", deletes, 1, 2, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "1 2");
    world_close(&w);
}

/* ---- evolved schemas ---- */

static const int64_t one_to_three[] = {1, 2, 3};
static const int64_t two[] = {2};

static void test_renamed(void **state) {
    (void)state;
    delete_world w;
    open_with(&w, "[" FIELD(1, "now", LONG) "," FIELD(2, "was", LONG) "]");
    world_column data[] = {INT64_COLUMN("was", 1, one_to_three, NULL)};
    world_column deletes[] = {INT64_COLUMN("before", 1, two, NULL)};
    world_data(&w, "/d", data, 1, 3, 1);
    world_equality(&w, "/e", deletes, 1, 1, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "1");
    world_close(&w);
}

static firn_table_metadata *metadata_of(const char *schemas, const char *specs,
                                        const char *properties) {
    firn_error error = {0};
    firn_json_setup();
    char *text = firn_format(
        "{\"format-version\": 3, \"table-uuid\": \"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
        "\"location\": \"/wh/t\", \"last-sequence-number\": 9, \"last-updated-ms\": 1,"
        "\"last-column-id\": 1000, \"current-schema-id\": 0, \"next-row-id\": 0,"
        "\"schemas\": [%s], \"default-spec-id\": 0, \"partition-specs\": [%s],"
        "\"last-partition-id\": 1100, \"default-sort-order-id\": 0,"
        "\"sort-orders\": [{\"order-id\": 0, \"fields\": []}], \"properties\": %s}",
        schemas, specs, properties);
    firn_table_metadata *metadata = NULL;
    check_ok(firn_table_metadata_parse(firn_slice_text(text), "fixture", &metadata, &error),
             &error);
    firn_free(text);
    return metadata;
}

#define SCHEMA(id, fields) "{\"type\":\"struct\",\"schema-id\":" #id ",\"fields\":[" fields "]}"
#define NO_SPEC "{\"spec-id\":0,\"fields\":[]}"

/* A key of a column that was dropped still counts, in its widest type. */
static void test_dropped(void **state) {
    (void)state;
    delete_world w;
    world_open(&w, metadata_of(SCHEMA(2, FIELD(1, "k", "\"int\"")) "," SCHEMA(
                                   1, FIELD(1, "k", LONG)) "," SCHEMA(0, FIELD(2, "l", LONG)),
                               NO_SPEC, "{}"));
    const int64_t values[] = {1, 2, 4294967298};
    const int64_t keys[] = {4294967298};
    world_column data[] = {INT64_COLUMN("k", 1, values, NULL)};
    world_column narrow[] = {INT32_COLUMN("k", 1, two, NULL)};
    world_column wide[] = {INT64_COLUMN("k", 1, keys, NULL)};
    world_data(&w, "/d", data, 1, 3, 1);
    world_equality(&w, "/e1", narrow, 1, 1, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "1");
    world_equality(&w, "/e2", wide, 1, 1, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "1 2");
    world_close(&w);
}

/* A column that older files lack: its initial default, else null. */
static void test_added(void **state) {
    (void)state;
    static const char with_default[] =
        SCHEMA(0, FIELD(2, "l", LONG) ",{\"id\":1,\"name\":\"k\",\"required\":false,"
                                      "\"type\":\"long\",\"initial-default\":7}");
    static const struct {
        const char *schema;
        int64_t key;
        bool null;
        const char *deleted;
    } cases[] = {
        {SCHEMA(0, FIELD(2, "l", LONG) "," FIELD(1, "k", LONG)), 0, true, "0 1 2"},
        {SCHEMA(0, FIELD(2, "l", LONG) "," FIELD(1, "k", LONG)), 0, false, ""},
        {with_default, 7, false, "0 1 2"},
        {with_default, 7, true, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        delete_world w;
        world_open(&w, metadata_of(cases[i].schema, NO_SPEC, "{}"));
        world_column data[] = {INT64_COLUMN("l", 2, one_to_three, NULL)};
        world_column deletes[] = {INT64_COLUMN("k", 1, &cases[i].key, &cases[i].null)};
        world_data(&w, "/d", data, 1, 3, 1);
        world_equality(&w, "/e", deletes, 1, 1, 2, first_id, 1);
        assert_string_equal(world_deleted(&w, 0), cases[i].deleted);
        world_close(&w);
    }
}

/* An identity partition value stands for the column that the file lacks, also in a key of two columns. */
static void test_partition_value(void **state) {
    (void)state;
    delete_world w;
    world_open(&w, metadata_of(SCHEMA(0, FIELD(1, "k", LONG) "," FIELD(2, "l", LONG)),
                               NO_SPEC ",{\"spec-id\":1,\"fields\":[{\"name\":\"k\","
                                       "\"transform\":\"identity\",\"source-id\":1,"
                                       "\"field-id\":1000}]}",
                               "{}"));
    firn_value five = {.kind = FIRN_TYPE_LONG, .as.int64 = 5};
    const int64_t fives[] = {5, 6};
    const int64_t keys[] = {2, 3};
    world_column data[] = {INT64_COLUMN("l", 2, one_to_three, NULL)};
    world_column deletes[] = {INT64_COLUMN("k", 1, fives, NULL), INT64_COLUMN("l", 2, keys, NULL)};
    firn_data_file *file = world_data(&w, "/d", data, 1, 3, 1);
    file->spec_id = 1;
    file->partition = &five;
    file->partition_count = 1;
    world_equality(&w, "/e", deletes, 2, 2, 2, both_ids, 2);
    assert_string_equal(world_deleted(&w, 0), "1");
    world_close(&w);
}

static void test_name_mapping(void **state) {
    (void)state;
    delete_world w;
    world_open(&w,
               metadata_of(SCHEMA(0, FIELD(1, "k", LONG)), NO_SPEC,
                           "{\"schema.name-mapping.default\":"
                           "\"[{\\\"field-id\\\":1,\\\"names\\\":[\\\"k\\\",\\\"old\\\"]}]\"}"));
    world_column data[] = {INT64_COLUMN("old", 0, one_to_three, NULL)};
    world_column deletes[] = {INT64_COLUMN("k", 1, two, NULL)};
    world_data(&w, "/d", data, 1, 3, 1);
    world_equality(&w, "/e", deletes, 1, 1, 2, first_id, 1);
    assert_string_equal(world_deleted(&w, 0), "1");
    world_close(&w);
}

/* A null struct means a null member; a file without the struct, or without the member, likewise. */
static void test_nested(void **state) {
    (void)state;
    static const int32_t member[] = {3};
    for (int null_key = 0; null_key < 2; null_key++) {
        delete_world w;
        open_with(&w, "[" FIELD(1, "k", LONG) ",{\"id\":2,\"name\":\"s\",\"required\":false,"
                                              "\"type\":{\"type\":\"struct\",\"fields\":[" FIELD(
                                                  3, "x", LONG) "," FIELD(4, "y", LONG) "]}}]");
        const bool none[] = {false, false, false};
        const bool nulls[] = {false, true, false};
        const bool group_nulls[] = {true, false, false};
        const bool key_null[] = {null_key == 1};
        const int64_t three[] = {3};
        world_column data[] = {INT64_COLUMN("x", 3, one_to_three, nulls)};
        data[0].group = "s";
        data[0].group_id = 2;
        data[0].group_nulls = group_nulls;
        world_column sibling[] = {data[0]};
        sibling[0].name = "y";
        sibling[0].id = 4;
        world_column other[] = {INT64_COLUMN("k", 1, one_to_three, none)};
        world_column deletes[] = {data[0]};
        deletes[0].numbers = three;
        deletes[0].nulls = key_null;
        deletes[0].group_nulls = none;
        world_data(&w, "/d0", data, 1, 3, 1);
        world_data(&w, "/d1", sibling, 1, 3, 1);
        world_data(&w, "/d2", other, 1, 3, 1);
        world_equality(&w, "/e", deletes, 1, 1, 2, member, 1);
        assert_string_equal(world_deleted(&w, 0), null_key ? "0 1" : "2");
        assert_string_equal(world_deleted(&w, 1), null_key ? "0 1 2" : "");
        assert_string_equal(world_deleted(&w, 2), null_key ? "0 1 2" : "");
        world_close(&w);
    }
}

/* Equal ids in another order, or twice, are one key; more columns than the key has don't matter. */
static void test_ids(void **state) {
    (void)state;
    static const int32_t twice[] = {1, 2, 1};
    delete_world w;
    open_with(&w, "[" FIELD(1, "k", LONG) "," FIELD(2, "l", LONG) "," FIELD(3, "m", LONG) "]");
    world_column data[] = {INT64_COLUMN("k", 1, one_to_three, NULL),
                           INT64_COLUMN("l", 2, one_to_three, NULL)};
    world_column deletes[] = {INT64_COLUMN("m", 3, two, NULL), INT64_COLUMN("l", 2, two, NULL),
                              INT64_COLUMN("k", 1, two, NULL)};
    world_data(&w, "/d", data, 2, 3, 1);
    world_equality(&w, "/e", deletes, 3, 1, 2, twice, 3);
    assert_string_equal(world_deleted(&w, 0), "1");
    world_close(&w);
}

/* ---- bounds ---- */

static void set_bounds(firn_data_file *file, firn_slice bounds[2], uint8_t bytes[16], int64_t lower,
                       int64_t upper) {
    firn_store_le64(bytes, (uint64_t)lower);
    firn_store_le64(bytes + 8, (uint64_t)upper);
    bounds[0] = firn_slice_of(bytes, 8);
    bounds[1] = firn_slice_of(bytes + 8, 8);
    file->lower_bounds = (firn_bound_map){first_id, &bounds[0], 1, true};
    file->upper_bounds = (firn_bound_map){first_id, &bounds[1], 1, true};
}

static void test_bounds(void **state) {
    (void)state;
    static const struct {
        int64_t lower, upper, key;
        bool null, is_read;
    } cases[] = {
        {1, 3, 2, false, true}, {1, 3, 4, false, false}, {1, 3, 0, false, false},
        {1, 3, 9, true, true},  {3, 1, 2, false, true},  {1, 3, 1, false, true},
        {1, 3, 3, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_error error = {0};
        delete_world w;
        open_with(&w, "[" FIELD(1, "k", LONG) "]");
        firn_slice bounds[2];
        uint8_t bytes[16];
        world_column data[] = {INT64_COLUMN("k", 1, one_to_three, NULL)};
        world_column deletes[] = {INT64_COLUMN("k", 1, &cases[i].key, &cases[i].null)};
        set_bounds(world_data(&w, "/d", data, 1, 3, 1), bounds, bytes, cases[i].lower,
                   cases[i].upper);
        world_equality(&w, "/e", deletes, 1, 1, 2, first_id, 1);
        firn_deletes resolved;
        check_ok(world_resolve(&w, &resolved, &error), &error);
        assert_int_equal(resolved.data_bytes_read > 0, cases[i].is_read);
        firn_deletes_release(&resolved);
        world_close(&w);
    }
}

/* ---- what is refused ---- */

static void check_refused(delete_world *w, firn_status code, const char *part) {
    firn_error error = {0};
    firn_deletes deletes;
    check_fails(world_resolve(w, &deletes, &error), code, &error, part);
    firn_deletes_release(&deletes);
    world_close(w);
}

static void test_refused(void **state) {
    (void)state;
    static const int32_t unknown_id[] = {99};
    delete_world w;
    const int64_t zero[] = {0};
    world_column column[] = {INT64_COLUMN("k", 1, zero, NULL)};
    world_column real[] = {column[0]};
    real[0].type = FIRN_PARQUET_DOUBLE;
    open_with(&w, "[" FIELD(1, "k", "\"double\"") "]");
    world_data(&w, "/d", real, 1, 1, 1);
    world_equality(&w, "/e", real, 1, 1, 2, first_id, 1);
    check_refused(&w, FIRN_UNSUPPORTED, "\"k\", a double");

    open_with(&w, "[" FIELD(1, "k", LONG) "]");
    world_data(&w, "/d", column, 1, 1, 1);
    world_equality(&w, "/e", column, 1, 1, 2, unknown_id, 1);
    check_refused(&w, FIRN_CORRUPT, "field id 99");

    open_with(&w, "[" FIELD(1, "k", LONG) "]");
    world_data(&w, "/d", column, 1, 1, 1);
    world_equality(&w, "/e", column, 1, 1, 2, NULL, 0);
    check_refused(&w, FIRN_CORRUPT, "without equality_ids");

    open_with(&w, "[" FIELD(1, "k", LONG) "," FIELD(2, "l", LONG) "]");
    world_data(&w, "/d", column, 1, 1, 1);
    world_equality(&w, "/e", column, 1, 1, 2, both_ids, 2);
    check_refused(&w, FIRN_CORRUPT, "lacks column \"l\"");

    open_with(&w, "[" FIELD(1, "k", LONG) "]");
    world_data(&w, "/d", column, 1, 1, 1);
    world_equality(&w, "/e", column, 1, 1, 2, first_id, 1)->format = FIRN_FILE_ORC;
    check_refused(&w, FIRN_UNSUPPORTED, "/e");

    open_with(&w, "[{\"id\":5,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"list\","
                  "\"element-id\":1,\"element-required\":false,\"element\":\"long\"}}]");
    world_data(&w, "/d", column, 1, 1, 1);
    world_equality(&w, "/e", column, 1, 1, 2, first_id, 1);
    check_refused(&w, FIRN_CORRUPT, "within a list or map");
}

/* ---- random tables against a naive model ---- */

#define MODEL_SCHEMA                                                                               \
    "[" FIELD(1, "k", LONG) "," FIELD(2, "l", STRING) "," FIELD(3, "m", "\"date\"") "," FIELD(     \
        4, "p", LONG) "]"
#define MODEL_FILES 5
#define MODEL_DELETES 7
#define MODEL_ROWS 60
#define MODEL_COLUMNS 3

/* Cells are numbers, of texts too; -1 is null. */
typedef struct model_file {
    size_t rows;
    int cells[MODEL_COLUMNS][MODEL_ROWS];
    bool has[MODEL_COLUMNS]; /* else the file lacks the column: null */
    int64_t sequence_number;
    int spec, partition; /* spec 0: none; -1: null */
    bool key[MODEL_COLUMNS];
} model_file;

static const char *const model_texts[] = {"", "a", "b", "ab", "a long text that repeats itself",
                                          "c"};

static void random_file(test_generator *random, model_file *file, int domain) {
    *file = (model_file){.rows = test_generator_below(random, MODEL_ROWS),
                         .sequence_number = (int64_t)test_generator_below(random, 4),
                         .spec = (int)test_generator_below(random, 2),
                         .partition = (int)test_generator_below(random, 3) - 1};
    for (size_t i = 0; i < MODEL_COLUMNS; i++) {
        file->has[i] = test_generator_below(random, 5) != 0;
        for (size_t j = 0; j < file->rows; j++) {
            int cell = (int)test_generator_below(random, (uint64_t)domain + 1) - 1;
            file->cells[i][j] = file->has[i] ? cell : -1;
        }
    }
}

static void write_model_file(delete_world *w, test_generator *random, const model_file *file,
                             size_t number, firn_content content) {
    int64_t numbers[MODEL_COLUMNS][MODEL_ROWS];
    const char *texts[MODEL_ROWS];
    bool nulls[MODEL_COLUMNS][MODEL_ROWS];
    world_column columns[MODEL_COLUMNS + 1];
    static const int64_t zeros[MODEL_ROWS];
    size_t count = 0;
    for (size_t i = 0; i < MODEL_COLUMNS; i++) {
        if (!file->has[i]) continue;
        bool any_null = test_generator_below(random, 2) == 0;
        for (size_t j = 0; j < file->rows; j++) {
            nulls[i][j] = file->cells[i][j] < 0;
            any_null |= nulls[i][j];
            numbers[i][j] = file->cells[i][j] * 3 - 5;
            if (i == 1) texts[j] = nulls[i][j] ? "" : model_texts[file->cells[i][j]];
        }
        const bool *flags = any_null ? nulls[i] : NULL;
        world_column text = TEXT_COLUMN("l", 2, texts, flags);
        world_column number_column = INT64_COLUMN("k", 1, numbers[i], flags);
        if (i == 2 || test_generator_below(random, 2)) number_column.type = FIRN_PARQUET_INT32;
        if (i == 2) {
            number_column.id = 3;
            number_column.logical.kind = FIRN_PARQUET_LOGICAL_DATE;
        }
        columns[count++] = i == 1 ? text : number_column;
    }
    world_column filler = INT64_COLUMN("p", 4, zeros, NULL);
    columns[count++] = filler;
    w->options.dictionary_size_bytes = test_generator_below(random, 2) ? 1 << 20 : 0;
    w->options.page_row_limit = 1 + (int32_t)test_generator_below(random, 30);
    w->options.page_version = 1 + (int)test_generator_below(random, 2);
    w->row_group_rows = 1 + (int64_t)test_generator_below(random, 50);
    char path[32];
    snprintf(path, sizeof path, "/%c%zu", content == FIRN_CONTENT_DATA ? 'd' : 'e', number);
    world_file(w, path, columns, count, file->rows);
    firn_data_file *entry = world_entry(w, content, path, file->rows, file->sequence_number);
    firn_value *tuple = firn_arena_alloc(w->arena, 1, sizeof *tuple);
    *tuple = (firn_value){
        .kind = FIRN_TYPE_LONG, .is_null = file->partition < 0, .as.int64 = file->partition};
    entry->spec_id = file->spec;
    entry->partition = tuple;
    entry->partition_count = file->spec == 0 ? 0 : 1;
    int32_t *ids = firn_arena_alloc(w->arena, MODEL_COLUMNS, sizeof *ids);
    for (int32_t i = 0; i < MODEL_COLUMNS && content != FIRN_CONTENT_DATA; i++) {
        if (file->key[i]) ids[entry->equality_id_count++] = i + 1;
    }
    entry->equality_ids = ids;
}

static bool model_applies(const model_file *deletes, const model_file *data) {
    if (deletes->sequence_number <= data->sequence_number) return false;
    if (deletes->spec == 0) return true;
    return data->spec == deletes->spec && data->partition == deletes->partition;
}

static bool model_matches(const model_file *deletes, size_t key, const model_file *data,
                          size_t row) {
    for (size_t i = 0; i < MODEL_COLUMNS; i++) {
        if (deletes->key[i] && deletes->cells[i][key] != data->cells[i][row]) return false;
    }
    return true;
}

/* The largest sequence number of what deletes a row; -1: nothing. */
static int64_t model_deleted(const model_file *deletes, size_t count, const model_file *data,
                             size_t row) {
    int64_t largest = -1;
    for (size_t i = 0; i < count; i++) {
        if (!model_applies(&deletes[i], data)) continue;
        for (size_t key = 0; key < deletes[i].rows; key++) {
            if (!model_matches(&deletes[i], key, data, row)) continue;
            if (deletes[i].sequence_number > largest) largest = deletes[i].sequence_number;
        }
    }
    return largest;
}

static void check_model(delete_world *w, const model_file *data, const model_file *deletes) {
    firn_error error = {0};
    firn_deletes resolved;
    check_ok(world_resolve(w, &resolved, &error), &error);
    for (size_t i = 0; i < MODEL_FILES; i++) {
        int64_t largest = -1;
        for (size_t row = 0; row < data[i].rows; row++) {
            int64_t number = model_deleted(deletes, MODEL_DELETES, &data[i], row);
            bool deleted =
                resolved.in_memory[i] != NULL && firn_roaring_contains(resolved.in_memory[i], row);
            assert_int_equal(deleted, number >= 0);
            if (number > largest) largest = number;
        }
        assert_int_equal(resolved.largest_sequence_number[i], largest);
        uint64_t greatest;
        if (resolved.in_memory[i] != NULL) {
            assert_true(firn_roaring_maximum(resolved.in_memory[i], &greatest));
            assert_true(greatest < data[i].rows);
        }
    }
    for (size_t i = 0; i < MODEL_DELETES; i++) {
        bool applies = false;
        for (size_t j = 0; j < MODEL_FILES; j++) applies |= model_applies(&deletes[i], &data[j]);
        assert_int_equal(resolved.used[i], applies);
    }
    firn_deletes_release(&resolved);
}

static void test_random(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    firn_pool *pool = NULL;
    check_ok(firn_pool_new(3, &pool, &error), &error);
    for (size_t round = 0; round < 400; round++) {
        delete_world w;
        model_file data[MODEL_FILES], deletes[MODEL_DELETES];
        int domain = 1 + (int)test_generator_below(&random, 5);
        world_open(&w,
                   metadata_of("{\"type\":\"struct\",\"schema-id\":0,\"fields\":" MODEL_SCHEMA "}",
                               NO_SPEC ",{\"spec-id\":1,\"fields\":[{\"name\":\"p\","
                                       "\"transform\":\"bucket[4]\",\"source-id\":4,"
                                       "\"field-id\":1000}]}",
                               "{}"));
        w.pool = round % 2 == 0 ? NULL : pool;
        for (size_t i = 0; i < MODEL_FILES; i++) {
            random_file(&random, &data[i], domain);
            write_model_file(&w, &random, &data[i], i, FIRN_CONTENT_DATA);
        }
        for (size_t i = 0; i < MODEL_DELETES; i++) {
            random_file(&random, &deletes[i], domain);
            deletes[i].rows = test_generator_below(&random, 6);
            size_t keys = 1 + test_generator_below(&random, 7);
            for (size_t j = 0; j < MODEL_COLUMNS; j++) {
                deletes[i].key[j] = (keys >> j & 1) != 0;
                /* A delete file has all columns of its key. */
                if (!deletes[i].key[j] || deletes[i].has[j]) continue;
                deletes[i].has[j] = true;
            }
            write_model_file(&w, &random, &deletes[i], i, FIRN_CONTENT_EQUALITY_DELETES);
        }
        check_model(&w, data, deletes);
        world_close(&w);
    }
    firn_pool_free(pool);
}

/* ---- sets above the limit ---- */

#define MANY 20000

/* Every third of many rows is deleted, by narrow or wide keys, some of them twice. */
static void check_many(bool wide, int64_t memory, int64_t claimed_rows) {
    static int64_t numbers[MANY];
    static const char *texts[MANY];
    static int64_t keys[MANY];
    static const char *key_texts[MANY];
    firn_error error = {0};
    delete_world w;
    open_with(&w, "[" FIELD(1, "k", LONG) "," FIELD(2, "l", STRING) "]");
    w.memory = memory;
    w.row_group_rows = 7000;
    for (size_t i = 0; i < MANY; i++) {
        numbers[i] = (int64_t)i * 1000003;
        texts[i] = firn_arena_format(w.arena, "row %zu", i);
        size_t key = i * 3 % MANY / 3 * 3;
        keys[i] = (int64_t)key * 1000003;
        key_texts[i] = firn_arena_format(w.arena, "row %zu", key);
    }
    world_column data[] = {INT64_COLUMN("k", 1, numbers, NULL), TEXT_COLUMN("l", 2, texts, NULL)};
    world_column deletes[] = {INT64_COLUMN("k", 1, keys, NULL),
                              TEXT_COLUMN("l", 2, key_texts, NULL)};
    world_data(&w, "/d", data, 2, MANY, 1);
    for (size_t i = 0; i < 2; i++) {
        firn_data_file *file = world_equality(&w, i == 0 ? "/e0" : "/e1", deletes, 2, MANY,
                                              (int64_t)i + 2, both_ids, 2);
        file->record_count = claimed_rows;
        if (wide) continue;
        file->equality_ids = first_id;
        file->equality_id_count = 1;
    }
    firn_deletes resolved;
    firn_deletes_rows rows;
    check_ok(world_resolve(&w, &resolved, &error), &error);
    check_ok(firn_deletes_rows_of(&resolved, 0, 0, MANY, &rows, &error), &error);
    assert_int_equal(firn_roaring_count(rows.set), (MANY + 2) / 3);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(firn_roaring_contains(rows.set, i), i % 3 == 0);
    }
    firn_deletes_rows_release(&rows);
    assert_int_equal(resolved.largest_sequence_number[0], 3);
    firn_deletes_release(&resolved);
    world_close(&w);
}

static void test_spilled(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        check_many(wide, 0, MANY);
        check_many(wide, 1, MANY);
        check_many(wide, 400000, MANY);
        /* The manifest understates them, or lies. */
        check_many(wide, 1, 1);
        check_many(wide, 1, INT64_MAX);
    }
}

/* ---- memory ---- */

static firn_status resolve_once(void *context, firn_error *error) {
    firn_deletes deletes;
    firn_status status = world_resolve(context, &deletes, error);
    firn_deletes_release(&deletes);
    return status;
}

static void test_memory_fails(void **state) {
    (void)state;
    delete_world w;
    open_with(&w, "[" FIELD(1, "k", LONG) "," FIELD(2, "l", STRING) "]");
    world_column data[] = {INT64_COLUMN("k", 1, one_to_three, NULL),
                           TEXT_COLUMN("l", 2, three_texts, three_nulls)};
    world_data(&w, "/d", data, 2, 3, 1);
    world_equality(&w, "/e1", data, 2, 2, 2, first_id, 1);
    world_equality(&w, "/e2", data, 2, 3, 2, both_ids, 2);
    check_each_allocation(resolve_once, &w);
    assert_string_equal(world_deleted(&w, 0), "0 1 2");
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nulls_of_one_column),
        cmocka_unit_test(test_nulls_of_two_columns),
        cmocka_unit_test(test_promoted_null),
        cmocka_unit_test(test_promoted_data),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_other_types),
        cmocka_unit_test(test_timestamp_units),
        cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_partition_value),
        cmocka_unit_test(test_name_mapping),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_spilled),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
