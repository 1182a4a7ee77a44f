/* Which delete files apply to which data files: truth tables of "Scan Planning", and the index against the rule for one pair. */
#include "iceberg/delete_index.h"

#include "fixture.h"

#define FILE_PATH_ID 2147483546

/* Spec 0 by category, spec 1 by category and number, spec 2 unpartitioned, spec 3 void. */
static const char metadata_text[] =
    "{'format-version':3,'table-uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1','location':'s3://b/t',"
    "'last-sequence-number':9,'last-updated-ms':1,'last-column-id':2,'current-schema-id':0,"
    "'next-row-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':["
    "{'id':1,'name':'c','required':false,'type':'string'},"
    "{'id':2,'name':'n','required':false,'type':'int'}]}],'default-spec-id':0,'partition-specs':["
    "{'spec-id':0,'fields':[{'name':'c','transform':'identity','source-id':1,'field-id':1000}]},"
    "{'spec-id':1,'fields':[{'name':'c','transform':'identity','source-id':1,'field-id':1000},"
    "{'name':'n','transform':'identity','source-id':2,'field-id':1001}]},"
    "{'spec-id':2,'fields':[]},"
    "{'spec-id':3,'fields':[{'name':'c','transform':'void','source-id':1,'field-id':1000}]}],"
    "'last-partition-id':1001,'default-sort-order-id':0,'sort-orders':[{'order-id':0,'fields':[]}],"
    "'properties':{}}";

static firn_table_metadata *metadata;

static int setup(void **state) {
    (void)state;
    firn_error error = {0};
    firn_json_setup();
    check_ok(firn_table_metadata_from_json(fx_json(metadata_text), "fixture", &metadata, &error),
             &error);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    firn_table_metadata_free(metadata);
    return 0;
}

/* Tuples of spec 0 and 1; spec 3 has one null. */
static const firn_value null_text = {.is_null = true, .kind = FIRN_TYPE_STRING};
static const firn_value text_a = {.kind = FIRN_TYPE_STRING, .as.bytes = {(const uint8_t *)"a", 1}};
static const firn_value text_b = {.kind = FIRN_TYPE_STRING, .as.bytes = {(const uint8_t *)"b", 1}};
static const firn_value a_null[] = {
    {.kind = FIRN_TYPE_STRING, .as.bytes = {(const uint8_t *)"a", 1}},
    {.is_null = true, .kind = FIRN_TYPE_INT}};
static const firn_value a_one[] = {
    {.kind = FIRN_TYPE_STRING, .as.bytes = {(const uint8_t *)"a", 1}},
    {.kind = FIRN_TYPE_INT, .as.int32 = 1}};

static firn_manifest_entry entry(firn_content content, const char *path, int64_t sequence_number,
                                 int32_t spec_id, const firn_value *tuple, size_t count) {
    return (firn_manifest_entry){.has_sequence_number = true,
                                 .sequence_number = sequence_number,
                                 .file = {.content = content,
                                          .path = path,
                                          .format = FIRN_FILE_PARQUET,
                                          .spec_id = spec_id,
                                          .partition = tuple,
                                          .partition_count = count}};
}

static firn_manifest_entry vector_for(const char *path, int64_t sequence_number) {
    firn_manifest_entry out =
        entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/t/data/v.puffin", sequence_number, 2, NULL, 0);
    out.file.format = FIRN_FILE_PUFFIN;
    out.file.referenced_data_file = path;
    out.file.has_content_offset = true;
    return out;
}

/* Looks one up both ways; they must agree. */
static bool applies(const firn_manifest_entry *deletes, const firn_manifest_entry *data) {
    firn_error error = {0};
    firn_delete_index *index = NULL;
    check_ok(firn_delete_index_new(metadata, &deletes, 1, &index, &error), &error);
    firn_arena *arena = firn_arena_new();
    const size_t *found = NULL;
    size_t count = 0;
    check_ok(firn_delete_index_find(index, data, arena, &found, &count, &error), &error);
    assert_int_equal(count != 0, firn_delete_may_apply(metadata, deletes, data));
    firn_arena_free(arena);
    firn_delete_index_free(index);
    return count != 0;
}

static void test_sequence_numbers(void **state) {
    (void)state;
    static const int64_t numbers[] = {0, 1, 2, INT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            firn_manifest_entry data =
                entry(FIRN_CONTENT_DATA, "s3://b/t/data/d.parquet", numbers[i], 2, NULL, 0);
            firn_manifest_entry equality =
                entry(FIRN_CONTENT_EQUALITY_DELETES, "s3://b/e", numbers[j], 2, NULL, 0);
            firn_manifest_entry positions =
                entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/p", numbers[j], 2, NULL, 0);
            firn_manifest_entry vector = vector_for("s3://b/t/data/d.parquet", numbers[j]);
            assert_int_equal(applies(&equality, &data), i < j);
            assert_int_equal(applies(&positions, &data), i <= j);
            assert_int_equal(applies(&vector, &data), i <= j);
        }
    }
}

typedef struct partition_case {
    int32_t spec_id;
    const firn_value *tuple;
    size_t count;
} partition_case;

static void test_partitions(void **state) {
    (void)state;
    const partition_case cases[] = {
        {0, &null_text, 1}, {0, &text_a, 1}, {0, &text_b, 1},    {1, a_null, 2},
        {1, a_one, 2},      {2, NULL, 0},    {3, &null_text, 1},
    };
    size_t count = sizeof cases / sizeof *cases;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            firn_manifest_entry data = entry(FIRN_CONTENT_DATA, "s3://b/d", 1, cases[i].spec_id,
                                             cases[i].tuple, cases[i].count);
            firn_manifest_entry equality = entry(FIRN_CONTENT_EQUALITY_DELETES, "s3://b/e", 2,
                                                 cases[j].spec_id, cases[j].tuple, cases[j].count);
            firn_manifest_entry positions = entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/p", 2,
                                                  cases[j].spec_id, cases[j].tuple, cases[j].count);
            bool global = cases[j].spec_id >= 2;
            assert_int_equal(applies(&equality, &data), i == j || global);
            assert_int_equal(applies(&positions, &data), i == j);
            positions.file.referenced_data_file = "s3://b/d";
            assert_int_equal(applies(&positions, &data), i == j);
        }
    }
}

static void set_bounds(firn_manifest_entry *deletes, firn_slice bounds[2], const char *lower,
                       const char *upper) {
    static const int32_t id = FILE_PATH_ID;
    bounds[0] = firn_slice_text(lower);
    bounds[1] = firn_slice_text(upper);
    deletes->file.lower_bounds = (firn_bound_map){&id, &bounds[0], 1, true};
    deletes->file.upper_bounds = (firn_bound_map){&id, &bounds[1], 1, true};
}

typedef struct bounds_case {
    const char *data, *lower, *upper;
    bool applies, single;
} bounds_case;

static void test_path_bounds(void **state) {
    (void)state;
    static const bounds_case cases[] = {
        /* Whole and equal: one file. */
        {"s3://b/t/data/d1.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d1.parquet", true,
         true},
        {"s3://b/t/data/d2.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d1.parquet", false,
         true},
        /* The same location in another spelling. */
        {"s3a://b/t/data/d1.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d1.parquet", true,
         true},
        {"/wh/t/data/d1.parquet", "file:/wh/t/data/d1.parquet", "file:/wh/t/data/d1.parquet", true,
         true},
        {"file:///wh/t/data/d1.parquet", "/wh//t/data/d1.parquet", "/wh//t/data/d1.parquet", true,
         true},
        /* Equal, but cut at 16 characters. */
        {"hdfs://ns2/user/d1.parquet", "hdfs://ns2/user/", "hdfs://ns2/user/", true, false},
        /* Equal, but cut somewhere. */
        {"hdfs://ns2/user/data/d1.parquet", "hdfs://ns2/user/data/", "hdfs://ns2/user/data/", true,
         false},
        /* Cut, the upper one rounded up. */
        {"hdfs://ns2/user/d1.parquet", "hdfs://ns2/user/", "hdfs://ns2/user0", true, false},
        {"hdfs://ns2/uzer/d1.parquet", "hdfs://ns2/user/", "hdfs://ns2/user0", false, false},
        /* Inverted: they say nothing. */
        {"s3://b/t/data/d5.parquet", "s3://b/t/data/d9.parquet", "s3://b/t/data/d1.parquet", true,
         false},
        /* A range. */
        {"s3://b/t/data/d5.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d9.parquet", true,
         false},
        {"s3://b/t/data/d0.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d9.parquet", false,
         false},
        {"s3://b/t/data/x.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d9.parquet", false,
         false},
        /* A range in another spelling says nothing. */
        {"s3a://b/t/data/d5.parquet", "s3://b/t/data/d1.parquet", "s3://b/t/data/d9.parquet", true,
         false},
        {"/wh//t/d5.parquet", "/wh/t/d1.parquet", "/wh/t/d9.parquet", true, false},
        {"/wh/./t/d5.parquet", "/wh/t/d1.parquet", "/wh/t/d9.parquet", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_manifest_entry data = entry(FIRN_CONTENT_DATA, cases[i].data, 1, 2, NULL, 0);
        firn_manifest_entry deletes =
            entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/p", 1, 2, NULL, 0);
        firn_slice bounds[2], path;
        set_bounds(&deletes, bounds, cases[i].lower, cases[i].upper);
        assert_int_equal(applies(&deletes, &data), cases[i].applies);
        assert_int_equal(firn_delete_single_file(&deletes.file, &path), cases[i].single);
        if (cases[i].single) {
            assert_true(firn_slice_equal(path, firn_slice_text(cases[i].lower)));
        }
    }
}

static void test_referenced_file(void **state) {
    (void)state;
    firn_manifest_entry data = entry(FIRN_CONTENT_DATA, "s3://b/x", 1, 2, NULL, 0);
    firn_manifest_entry deletes = entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/p", 1, 2, NULL, 0);
    firn_slice bounds[2], path;
    deletes.file.referenced_data_file = "s3n://b/x";
    set_bounds(&deletes, bounds, "s3://b/other-file.parquet", "s3://b/other-file.parquet");
    assert_true(applies(&deletes, &data));
    assert_true(firn_delete_single_file(&deletes.file, &path));
    assert_true(firn_slice_equal(path, firn_slice_text("s3n://b/x")));
    deletes.file.referenced_data_file = "s3://b/y";
    assert_false(applies(&deletes, &data));
    firn_manifest_entry equality = entry(FIRN_CONTENT_EQUALITY_DELETES, "s3://b/e", 2, 2, NULL, 0);
    assert_false(firn_delete_single_file(&equality.file, &path));
}

static void test_vector_replaces_positions(void **state) {
    (void)state;
    firn_error error = {0};
    firn_manifest_entry data = entry(FIRN_CONTENT_DATA, "s3://b/x", 1, 2, NULL, 0);
    firn_manifest_entry other = entry(FIRN_CONTENT_DATA, "s3://b/y", 1, 2, NULL, 0);
    firn_manifest_entry all[] = {
        entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/p", 3, 2, NULL, 0),
        vector_for("s3a://b/x", 2),
        entry(FIRN_CONTENT_EQUALITY_DELETES, "s3://b/e", 3, 2, NULL, 0),
        entry(FIRN_CONTENT_POSITION_DELETES, "s3://b/q", 3, 2, NULL, 0),
        vector_for("s3://b/x", 0),
    };
    all[3].file.referenced_data_file = "s3://b/x";
    const firn_manifest_entry *deletes[] = {&all[0], &all[1], &all[2], &all[3], &all[4]};
    firn_delete_index *index = NULL;
    check_ok(firn_delete_index_new(metadata, deletes, 5, &index, &error), &error);
    firn_arena *arena = firn_arena_new();
    const size_t *found = NULL;
    size_t count = 0;
    check_ok(firn_delete_index_find(index, &data, arena, &found, &count, &error), &error);
    assert_int_equal(count, 2);
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 2);
    check_ok(firn_delete_index_find(index, &other, arena, &found, &count, &error), &error);
    assert_int_equal(count, 2);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 2);
    firn_delete_index_free(index);

    /* Two that both apply are one too many. */
    all[4].sequence_number = 5;
    check_ok(firn_delete_index_new(metadata, deletes, 5, &index, &error), &error);
    assert_int_equal(firn_delete_index_find(index, &data, arena, &found, &count, &error),
                     FIRN_CORRUPT);
    assert_non_null(strstr(error.message, "two deletion vectors"));
    firn_delete_index_free(index);
    firn_arena_free(arena);
}

static void test_broken_entries(void **state) {
    (void)state;
    firn_error error = {0};
    firn_delete_index *index = NULL;
    firn_manifest_entry vector = vector_for(NULL, 1);
    const firn_manifest_entry *deletes = &vector;
    assert_int_equal(firn_delete_index_new(metadata, &deletes, 1, &index, &error), FIRN_CORRUPT);
    assert_non_null(strstr(error.message, "v.puffin"));
    firn_manifest_entry data = entry(FIRN_CONTENT_DATA, "s3://b/x", 1, 2, NULL, 0);
    deletes = &data;
    assert_int_equal(firn_delete_index_new(metadata, &deletes, 1, &index, &error), FIRN_INVALID);
    check_ok(firn_delete_index_new(metadata, NULL, 0, &index, &error), &error);
    firn_delete_index_free(index);
    firn_delete_index_free(NULL);
}

/* ---- random cases: the index finds what the rule for one pair says ---- */

static test_generator generator;

static size_t below(size_t limit) {
    return (size_t)(test_generator_next(&generator) % limit);
}

static firn_manifest_entry random_entry(firn_content content, const char *path) {
    switch (below(5)) {
    case 0: return entry(content, path, (int64_t)below(4), 0, &text_a, 1);
    case 1: return entry(content, path, (int64_t)below(4), 0, &null_text, 1);
    case 2: return entry(content, path, (int64_t)below(4), 1, a_one, 2);
    case 3: return entry(content, path, (int64_t)below(4), 3, &null_text, 1);
    default: return entry(content, path, (int64_t)below(4), 2, NULL, 0);
    }
}

static void test_random(void **state) {
    (void)state;
    static const char *const paths[] = {"s3://b/t/data/d0.parquet", "s3a://b/t/data/d1.parquet",
                                        "s3://b/t/data/d2.parquet", "/wh/t/d3.parquet",
                                        "file:/wh/t/d3.parquet",    "s3://b/t/data/d1.parquet"};
    firn_error error = {0};
    generator = test_generator_new();
    for (size_t round = 0; round < 300; round++) {
        firn_manifest_entry all[40];
        const firn_manifest_entry *deletes[40];
        firn_slice bounds[40][2];
        for (size_t i = 0; i < 40; i++) {
            all[i] = random_entry(below(2) ? FIRN_CONTENT_POSITION_DELETES
                                           : FIRN_CONTENT_EQUALITY_DELETES,
                                  "s3://b/e");
            deletes[i] = &all[i];
            if (all[i].file.content == FIRN_CONTENT_EQUALITY_DELETES) continue;
            size_t what = below(3);
            if (what == 0) all[i].file.referenced_data_file = paths[below(6)];
            if (what == 1) set_bounds(&all[i], bounds[i], paths[below(6)], paths[below(6)]);
        }
        firn_delete_index *index = NULL;
        check_ok(firn_delete_index_new(metadata, deletes, 40, &index, &error), &error);
        firn_arena *arena = firn_arena_new();
        for (size_t i = 0; i < 10; i++) {
            firn_manifest_entry data = random_entry(FIRN_CONTENT_DATA, paths[below(6)]);
            const size_t *found = NULL;
            size_t count = 0;
            check_ok(firn_delete_index_find(index, &data, arena, &found, &count, &error), &error);
            size_t at = 0;
            for (size_t j = 0; j < 40; j++) {
                if (!firn_delete_may_apply(metadata, deletes[j], &data)) continue;
                assert_true(at < count && found[at] == j);
                at++;
            }
            assert_int_equal(at, count);
        }
        firn_arena_free(arena);
        firn_delete_index_free(index);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence_numbers),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_path_bounds),
        cmocka_unit_test(test_referenced_file),
        cmocka_unit_test(test_vector_replaces_positions),
        cmocka_unit_test(test_broken_entries),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
