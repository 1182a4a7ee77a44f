/* Proofs one by one: what paths say, what is missing, what contradicts. Random files against all their values: test_proof_random.c. */
#include "lake/partition_kit.h"
#include "parquet/fx_parquet.h"

#define FIELD(id, name, type)                                                                      \
    "{\"id\":" id ",\"name\":\"" name "\",\"required\":false,\"type\":\"" type "\"}"
/* 2024-01-01 */
#define DAY INT64_C(19723)
#define MICROS INT64_C(1000000)

/* One file of one column and the table's schema and spec. */
typedef struct world {
    kit k;
    const char *file_schema;
    const firn_schema *schema;
    const firn_partition_spec *spec;
    firn_lake_layout *layout;
    kit_group groups[4];
    const firn_slice *cells[4][2];
    size_t group_count;
    firn_lake_partition partition;
} world;

static world world_new(const char *file_schema, const char *fields, const char *spec) {
    world w = {.k = kit_new(), .file_schema = file_schema};
    w.schema = kit_schema(&w.k, fields);
    w.spec = kit_spec(&w.k, w.schema, spec);
    return w;
}

static void world_release(world *w) {
    firn_lake_layout_free(w->layout);
    kit_release(&w->k);
}

static void rule(world *w, const char *text) {
    firn_lake_layout_free(w->layout);
    check_ok(firn_lake_layout_new(&text, 1, &w->layout, &w->k.error), &w->k.error);
}

static void numbers(world *w, size_t width, const int64_t *values, size_t count) {
    size_t i = w->group_count++;
    w->cells[i][0] = kit_numbers(&w->k, width, values, count);
    w->groups[i] = (kit_group){count, w->cells[i]};
}
#define NUMBERS(w, width, ...)                                                                     \
    numbers((w), (width), (const int64_t[]){__VA_ARGS__},                                          \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void texts(world *w, const char *const *values, size_t count) {
    size_t i = w->group_count++;
    w->cells[i][0] = kit_texts(&w->k, values, count);
    w->groups[i] = (kit_group){count, w->cells[i]};
}
#define TEXTS(w, ...)                                                                              \
    texts((w), (const char *const[]){__VA_ARGS__},                                                 \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static firn_status prove(world *w, const char *location) {
    firn_lake_file file = kit_put(&w->k, location, 6, w->file_schema, w->groups, w->group_count);
    return kit_prove(&w->k, w->layout, w->schema, w->spec, &file, w->k.arena, &w->partition,
                     &w->k.error);
}

static void proves(world *w, const char *location, const char *tuple, firn_lake_proof proof) {
    check_ok(prove(w, location), &w->k.error);
    assert_string_equal(kit_tuple(&w->k, w->spec, &w->partition), tuple);
    assert_int_equal(w->partition.proof, proof);
}

static void refuses(world *w, const char *location, const char *problem) {
    check_fails(prove(w, location), FIRN_INVALID, &w->k.error, problem);
    assert_non_null(strstr(w->k.error.message, location));
}

#define FOOTER FIRN_LAKE_PROVED_BY_FOOTER
#define COLUMN FIRN_LAKE_PROVED_BY_COLUMN
#define ASSERTED FIRN_LAKE_ASSERTED

static void strip_second(void *context, size_t group, size_t leaf, firn_parquet_column_chunk *chunk,
                         firn_arena *arena) {
    (void)context;
    (void)leaf;
    (void)arena;
    if (group != 1) return;
    chunk->statistics.min_value = chunk->statistics.max_value = (firn_slice){0};
}

static void strip_all(void *context, size_t group, size_t leaf, firn_parquet_column_chunk *chunk,
                      firn_arena *arena) {
    (void)context;
    (void)group;
    (void)leaf;
    (void)arena;
    chunk->statistics = (firn_parquet_statistics){0};
}

static void nulls_are_a_partition_of_their_own(void **state) {
    (void)state;
    world w =
        world_new("optional binary c (STRING) = 1;", FIELD("1", "c", "string"), "c:identity:1");
    TEXTS(&w, "A", "A");
    TEXTS(&w, NULL);
    refuses(&w, "/lake/f.parquet", "rows of null and of A");
    w.k.tamper = strip_all;
    refuses(&w, "/lake/f.parquet", "rows of A and of null");
    w.group_count = 0;
    TEXTS(&w, NULL, NULL);
    proves(&w, "/lake/f.parquet", "c=null", COLUMN);
    w.k.tamper = NULL;
    proves(&w, "/lake/f.parquet", "c=null", FOOTER);
    proves(&w, "/lake/c=__HIVE_DEFAULT_PARTITION__/f.parquet", "c=null", FOOTER);
    proves(&w, "/lake/c=null/f.parquet", "c=null", FOOTER);
    refuses(&w, "/lake/c=A/f.parquet", "the path's c=A means A, but the rows have null");
    world_release(&w);
}

static void missing_bounds_of_one_row_group_are_no_narrow_bounds(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "c_trunc:truncate[10]:1");
    w.k.tamper = strip_second;
    NUMBERS(&w, 4, 11, 12);
    NUMBERS(&w, 4, 11, 25);
    refuses(&w, "/lake/f.parquet", "rows of 10 and of 20");
    w.group_count = 1;
    NUMBERS(&w, 4, 13);
    proves(&w, "/lake/f.parquet", "c_trunc=10", COLUMN);
    /* A row group without rows has no bounds to miss. */
    w.group_count = 1;
    numbers(&w, 4, (const int64_t[]){0}, 0);
    proves(&w, "/lake/f.parquet", "c_trunc=10", FOOTER);
    world_release(&w);
}

static void what_is_cut_below_the_type_has_no_partition(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "c_trunc:truncate[3]:1");
    NUMBERS(&w, 4, INT32_MIN, INT32_MIN);
    refuses(&w, "/lake/f.parquet", "does not fit the type");
    world_release(&w);
    w = world_new("optional int64 c = 1;", FIELD("1", "c", "long"), "c_trunc:truncate[3]:1");
    NUMBERS(&w, 8, INT64_MIN + 1, INT64_MIN + 1);
    refuses(&w, "/lake/f.parquet", "does not fit the type");
    world_release(&w);
}

static void texts_of_paths_are_of_the_tables_type(void **state) {
    (void)state;
    world w =
        world_new("optional binary c (STRING) = 1;", FIELD("1", "c", "string"), "c:identity:1");
    TEXTS(&w, "00");
    proves(&w, "/lake/c=00/f.parquet", "c=00", FOOTER);
    refuses(&w, "/lake/c=0/f.parquet", "c=0 means 0, but the rows have 00");
    w.group_count = 0;
    TEXTS(&w, "a b/c=d%");
    proves(&w, "/lake/c=a%20b%2Fc=d%/f.parquet", "c=a b/c=d%", FOOTER);
    proves(&w, "/lake/c=a+b%2Fc%3Dd%25/f.parquet", "c=a b/c=d%", FOOTER);
    world_release(&w);
    w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "c:identity:1");
    NUMBERS(&w, 4, 0);
    proves(&w, "/lake/c=00/f.parquet", "c=0", FOOTER);
    proves(&w, "/lake/C=0/f.parquet", "c=0", FOOTER);
    refuses(&w, "/lake/c=2147483648/f.parquet", "no value of type int");
    refuses(&w, "/lake/c=0x0/f.parquet", "no value of type int");
    refuses(&w, "/lake/c=/f.parquet", "no value of type int");
    world_release(&w);
    w = world_new("optional int32 c (DECIMAL(7,2)) = 1;", FIELD("1", "c", "decimal(7, 2)"),
                  "c:identity:1");
    NUMBERS(&w, 4, 1250);
    proves(&w, "/lake/c=12.50/f.parquet", "c=12.50", FOOTER);
    proves(&w, "/lake/c=12.5/f.parquet", "c=12.50", FOOTER);
    refuses(&w, "/lake/c=12.505/f.parquet", "no value of type");
    refuses(&w, "/lake/c=123456.5/f.parquet", "no value of type");
    world_release(&w);
}

static void times_of_paths_follow_the_table(void **state) {
    (void)state;
    world w = world_new("optional int64 t (TIMESTAMP(MICROS,false)) = 1;",
                        FIELD("1", "t", "timestamp"), "t:identity:1");
    NUMBERS(&w, 8, DAY * 86400 * MICROS + 3600 * MICROS);
    proves(&w, "/lake/t=2024-01-01 01%3A00%3A00/f.parquet", "t=2024-01-01T01:00:00.000000", FOOTER);
    proves(&w, "/lake/t=2024-01-01T01%3A00/f.parquet", "t=2024-01-01T01:00:00.000000", FOOTER);
    world_release(&w);
    w = world_new("optional int64 t (TIMESTAMP(MICROS,true)) = 1;", FIELD("1", "t", "timestamptz"),
                  "t:identity:1");
    NUMBERS(&w, 8, DAY * 86400 * MICROS);
    proves(&w, "/lake/t=2024-01-01T00:00:00+00:00/f.parquet", "t=2024-01-01T00:00:00.000000+00:00",
           FOOTER);
    refuses(&w, "/lake/t=2024-01-01 00:00:00/f.parquet", "+00:00");
    world_release(&w);
}

static void dates_may_stand_in_several_keys(void **state) {
    (void)state;
    world w = world_new("optional int64 t (TIMESTAMP(MICROS,false)) = 1;",
                        FIELD("1", "t", "timestamp"), "t_hour:hour:1");
    NUMBERS(&w, 8, DAY * 86400 * MICROS, DAY * 86400 * MICROS + 59);
    const char *tuple = "t_hour=2024-01-01-00";
    proves(&w, "/lake/f.parquet", tuple, FOOTER);
    proves(&w, "/lake/year=2024/month=01/day=1/hour=00/f.parquet", tuple, FOOTER);
    proves(&w, "/lake/day=2024-01-01/hour=0/f.parquet", tuple, FOOTER);
    proves(&w, "/lake/day=20240101/hour=0/f.parquet", tuple, FOOTER);
    proves(&w, "/lake/hour=2024010100/f.parquet", tuple, FOOTER);
    refuses(&w, "/lake/hour=20240101/f.parquet", "is no hour");
    refuses(&w, "/lake/day=20240132/hour=0/f.parquet", "is no hour");
    proves(&w, "/lake/t_hour=2024-01-01-00/f.parquet", tuple, FOOTER);
    proves(&w, "/lake/t=2024-01-01 00:30:00/f.parquet", tuple, FOOTER);
    /* Keys of no field are ignored. */
    proves(&w, "/lake/year=2023/region=x/f.parquet", tuple, FOOTER);
    refuses(&w, "/lake/year=2023/month=01/day=1/hour=00/f.parquet", "means 2023-01-01-00, but");
    refuses(&w, "/lake/year=2024/day=1/hour=00/f.parquet", "needs a month beside it");
    refuses(&w, "/lake/year=2024/month=02/day=30/hour=00/f.parquet", "is no hour");
    refuses(&w, "/lake/year=2024/month=01/day=1/hour=24/f.parquet", "is no hour");
    refuses(&w, "/lake/year=2024/month=13/day=1/hour=0/f.parquet", "is no hour");
    refuses(&w, "/lake/hour=__HIVE_DEFAULT_PARTITION__/f.parquet", "means null, but");
    refuses(&w, "/lake/t=2024-01-01 01:00:00/f.parquet", "means 2024-01-01-01, but");
    rule(&w, "h={}: hour(t)");
    proves(&w, "/lake/h=2024-01-01-00/hour=99/f.parquet", tuple, FOOTER);
    refuses(&w, "/lake/h=2024-01-01-01/f.parquet", "means 2024-01-01-01, but");
    rule(&w, "p={}/{}/{} {}: year(t), month(t), day(t), hour(t)");
    proves(&w, "/lake/p=2024%2F01%2F01 00/f.parquet", tuple, FOOTER);
    refuses(&w, "/lake/p=2024/f.parquet", "does not follow the rule");
    rule(&w, "hour: -");
    proves(&w, "/lake/hour=99/f.parquet", tuple, FOOTER);
    world_release(&w);
}

static void rules_complete_each_other(void **state) {
    (void)state;
    static const char *const rules[] = {"dt: day(t) as day", "hh: hour(t)"};
    world w = world_new("required int64 t (TIMESTAMP(MICROS,false)) = 1;",
                        FIELD("1", "t", "timestamp"), "t_hour:hour:1");
    NUMBERS(&w, 8, DAY * 86400 * MICROS);
    check_ok(firn_lake_layout_new(rules, 2, &w.layout, &w.k.error), &w.k.error);
    proves(&w, "/lake/dt=2024-01-01/hh=00/f.parquet", "t_hour=2024-01-01-00", FOOTER);
    refuses(&w, "/lake/dt=2024-01-02/hh=00/f.parquet", "means 2024-01-02-00, but");
    refuses(&w, "/lake/hh=00/f.parquet", "needs a day beside it");
    world_release(&w);
}

static void a_file_of_two_hours_is_refused(void **state) {
    (void)state;
    world w = world_new("optional int64 t (TIMESTAMP(MICROS,false)) = 1;",
                        FIELD("1", "t", "timestamp"), "t_month:month:1 t_hour:hour:1");
    NUMBERS(&w, 8, DAY * 86400 * MICROS - 1, DAY * 86400 * MICROS);
    refuses(&w, "/lake/f.parquet", "\"t_month\": the file has rows of 2023-12 and of 2024-01");
    w.group_count = 0;
    NUMBERS(&w, 8, -1, -3600 * MICROS);
    proves(&w, "/lake/f.parquet", "t_month=1969-12/t_hour=1969-12-31-23", FOOTER);
    world_release(&w);
}

static void buckets_are_hashed(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "c_bucket:bucket[16]:1");
    /* The specification's example: 34 hashes to 2017239379, which is bucket 3 of 16. */
    NUMBERS(&w, 4, 34, 34);
    proves(&w, "/lake/f.parquet", "c_bucket=3", FOOTER);
    proves(&w, "/lake/c_bucket=3/f.parquet", "c_bucket=3", FOOTER);
    proves(&w, "/lake/c=34/f.parquet", "c_bucket=3", FOOTER);
    refuses(&w, "/lake/c_bucket=4/f.parquet", "means 4, but the rows have 3");
    refuses(&w, "/lake/c_bucket=16/f.parquet", "none of the buckets 0 to 15");
    refuses(&w, "/lake/c_bucket=-1/f.parquet", "none of the buckets");
    NUMBERS(&w, 4, 35);
    w.k.options.dictionary_size_bytes = 0;
    refuses(&w, "/lake/f.parquet", "can be in one partition only");
    w.group_count = 0;
    /* Other values of one bucket. */
    firn_transform bucket = {.kind = FIRN_TRANSFORM_BUCKET, .parameter = 16, .text = "bucket[16]"};
    int64_t other = 35;
    for (firn_value made = {0}; made.as.int32 != 3; other++) {
        firn_value value = {.kind = FIRN_TYPE_INT, .as.int32 = (int32_t)other + 1};
        check_ok(
            firn_transform_apply(&bucket, w.spec->fields[0].source_type, &value, &made, &w.k.error),
            &w.k.error);
    }
    NUMBERS(&w, 4, 34, other);
    proves(&w, "/lake/f.parquet", "c_bucket=3", COLUMN);
    world_release(&w);
}

static void truncated_values_of_paths_must_be_some(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "tile:truncate[12]:1");
    NUMBERS(&w, 4, -36, -25);
    proves(&w, "/lake/tile=-36/f.parquet", "tile=-36", FOOTER);
    refuses(&w, "/lake/tile=-35/f.parquet", "no value that truncate[12] gives");
    rule(&w, "tile={#}_x: truncate[12](c)");
    proves(&w, "/lake/tile=-3_x/f.parquet", "tile=-36", FOOTER);
    refuses(&w, "/lake/tile=999999999_x/f.parquet", "no value of type int");
    refuses(&w, "/lake/tile=-3_y/f.parquet", "does not follow the rule");
    refuses(&w, "/lake/tile=a_x/f.parquet", "does not follow the rule");
    world_release(&w);
    w = world_new("optional binary c (STRING) = 1;", FIELD("1", "c", "string"), "p:truncate[2]:1");
    TEXTS(&w, "\xC3\xA9xa", "\xC3\xA9xz");
    proves(&w, "/lake/p=%C3%A9x/f.parquet", "p=\xC3\xA9x", FOOTER);
    refuses(&w, "/lake/p=%C3%A9xa/f.parquet", "no value that truncate[2] gives");
    rule(&w, "p={#}: truncate[2](c)");
    check_fails(prove(&w, "/lake/p=1/f.parquet"), FIRN_INVALID, &w.k.error, "of whole numbers");
    world_release(&w);
}

static void absent_columns_are_what_paths_assert(void **state) {
    (void)state;
    world w = world_new("optional int32 x = 9;",
                        FIELD("9", "x", "int") "," FIELD("1", "c", "string"), "c:identity:1");
    NUMBERS(&w, 4, 1);
    proves(&w, "/lake/c=eu%20/f.parquet", "c=eu ", ASSERTED);
    proves(&w, "/lake/c=null/f.parquet", "c=null", ASSERTED);
    assert_false(w.partition.values[0].is_null);
    proves(&w, "/lake/c=__HIVE_DEFAULT_PARTITION__/f.parquet", "c=null", ASSERTED);
    assert_true(w.partition.values[0].is_null);
    refuses(&w, "/lake/c=%FF/f.parquet", "not UTF-8");
    /* Added later, and read as null: nothing is to be known. */
    proves(&w, "/lake/f.parquet", "c=null", FOOTER);
    rule(&w, "key: c");
    refuses(&w, "/lake/f.parquet", "its path has no such key");
    proves(&w, "/lake/key=1/f.parquet", "c=1", ASSERTED);
    world_release(&w);
    w = world_new("optional int32 x = 9;", FIELD("9", "x", "int") "," FIELD("1", "c", "date"),
                  "c:identity:1 c_month:month:1");
    NUMBERS(&w, 4, 1);
    proves(&w, "/lake/c=2024-01-31/f.parquet", "c=2024-01-31/c_month=2024-01", ASSERTED);
    refuses(&w, "/lake/c=2024-02-30/f.parquet", "no value of type date");
    refuses(&w, "/lake/c=2024-01-31/c_month=2024-02/f.parquet",
            "\"c_month\": the path's c_month=2024-02 means 2024-02");
    world_release(&w);
}

static void transforms_of_absent_columns_are_not_asserted(void **state) {
    (void)state;
    world w = world_new("optional int32 x = 9;", FIELD("9", "x", "int") "," FIELD("1", "c", "date"),
                        "c_month:month:1");
    NUMBERS(&w, 4, 1);
    proves(&w, "/lake/f.parquet", "c_month=null", FOOTER);
    refuses(&w, "/lake/c_month=2024-01/f.parquet", "lacks the column, so that its rows have null");
    world_release(&w);
    w = world_new("optional int32 x = 9;",
                  FIELD("9", "x", "int") ",{\"id\":1,\"name\":\"c\",\"required\":false,"
                                         "\"type\":\"date\",\"initial-default\":\"2024-01-31\"}",
                  "c_month:month:1");
    NUMBERS(&w, 4, 1);
    proves(&w, "/lake/f.parquet", "c_month=2024-01", FOOTER);
    proves(&w, "/lake/month=2024-01/f.parquet", "c_month=2024-01", FOOTER);
    refuses(&w, "/lake/month=2024-02/f.parquet", "its rows have 2024-01");
    world_release(&w);
}

static void values_of_paths_stay_in_their_types(void **state) {
    (void)state;
    static const struct {
        const char *type, *good, *tuple, *bad;
    } cases[] = {{"float", "1.5", "c=1.5", "1e39"},
                 {"double", "-Infinity", "c=-Infinity", "1e400"},
                 {"boolean", "True", "c=true", "1"},
                 {"long", "-9223372036854775808", "c=-9223372036854775808", "9223372036854775808"},
                 {"time", "10:30", "c=10:30:00.000000", "24:00"},
                 {"uuid", "F79C3E09-677C-4BBD-A479-3F349CB785E7",
                  "c=f79c3e09-677c-4bbd-a479-3f349cb785e7", "f79c3e09"},
                 {"fixed[2]", "00ff", "c=00ff", "00ff00"},
                 {"binary", "00FF", "c=00ff", "0"},
                 {"timestamp_ns", "2024-01-01T00:00:00.000000001",
                  "c=2024-01-01T00:00:00.000000001", "2400-01-01T00:00:00"},
                 {"decimal(5, 2)", "-007.5", "c=-7.50", "1000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *fields = firn_format(FIELD("9", "x", "int") "," FIELD("1", "c", "%s"), cases[i].type);
        world w = world_new("optional int32 x = 9;", fields, "c:identity:1");
        firn_free(fields);
        NUMBERS(&w, 4, 1);
        const char *path = firn_arena_format(w.k.arena, "/lake/c=%s/f.parquet", cases[i].good);
        proves(&w, path, cases[i].tuple, ASSERTED);
        path = firn_arena_format(w.k.arena, "/lake/c=%s/f.parquet", cases[i].bad);
        refuses(&w, path, "is no value of type");
        world_release(&w);
    }
}

static void fields_of_structs_are_sources(void **state) {
    (void)state;
    static const char fields[] =
        "{\"id\":1,\"name\":\"s\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":"
        "[{\"id\":2,\"name\":\"c\",\"required\":true,\"type\":\"int\"}]}}";
    world w = world_new("optional group s = 1 { required int32 c = 2; }", fields, "p:identity:2");
    NUMBERS(&w, 4, 7, 7);
    proves(&w, "/lake/f.parquet", "p=7", FOOTER);
    proves(&w, "/lake/s.c=7/f.parquet", "p=7", FOOTER);
    NUMBERS(&w, 4, KIT_NULL);
    refuses(&w, "/lake/f.parquet", "rows of null and of 7");
    w.k.tamper = strip_all;
    refuses(&w, "/lake/f.parquet", "rows of 7 and of null");
    world_release(&w);
    /* The file lacks the struct: its rows are null, whatever a path or a default says of its fields. */
    w = world_new("optional int32 x = 3;",
                  "{\"id\":1,\"name\":\"s\",\"required\":false,\"type\":{\"type\":"
                  "\"struct\",\"fields\":[{\"id\":2,\"name\":\"c\",\"required\":false,"
                  "\"type\":\"int\"},{\"id\":4,\"name\":\"d\",\"required\":false,\"type\":"
                  "\"int\",\"initial-default\":3}]}}," FIELD("3", "x", "int"),
                  "p:identity:2");
    NUMBERS(&w, 4, 1);
    proves(&w, "/lake/f.parquet", "p=null", FOOTER);
    refuses(&w, "/lake/p=1/f.parquet", "can't tell the value of a struct's field");
    w.spec = kit_spec(&w.k, w.schema, "p:identity:4");
    refuses(&w, "/lake/f.parquet", "default counts only in rows that have the struct");
    world_release(&w);
    static const char list[] =
        "{\"id\":1,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\","
        "\"element-id\":2,\"element\":\"int\",\"element-required\":false}}," FIELD("3", "x", "int");
    w = world_new("optional int32 x = 3;", list, "p:identity:2");
    NUMBERS(&w, 4, 1);
    check_fails(prove(&w, "/lake/f.parquet"), FIRN_INVALID, &w.k.error, "list or map");
    world_release(&w);
}

static void void_is_null_and_unknown_is_refused(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "v:void:1 c:identity:1");
    NUMBERS(&w, 4, 7, 7);
    proves(&w, "/lake/v=9/f.parquet", "v=null/c=7", FOOTER);
    w.spec = kit_spec(&w.k, w.schema, "z:zorder:1");
    check_fails(prove(&w, "/lake/f.parquet"), FIRN_UNSUPPORTED, &w.k.error, "zorder");
    w.spec = kit_spec(&w.k, w.schema, "gone:void:77");
    proves(&w, "/lake/f.parquet", "gone=null", FOOTER);
    world_release(&w);
}

static void files_without_rows_are_what_their_paths_say(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "c:identity:1");
    proves(&w, "/lake/f.parquet", "c=null", FOOTER);
    proves(&w, "/lake/c=3/f.parquet", "c=3", FOOTER);
    refuses(&w, "/lake/c=x/f.parquet", "no value of type int");
    numbers(&w, 4, (const int64_t[]){0}, 0);
    proves(&w, "/lake/c=3/f.parquet", "c=3", FOOTER);
    w.spec = kit_spec(&w.k, w.schema, "b:bucket[4]:1");
    proves(&w, "/lake/b=3/f.parquet", "b=3", FOOTER);
    refuses(&w, "/lake/b=4/f.parquet", "none of the buckets");
    world_release(&w);
}

static void sources_of_one_name_bind_by_field(void **state) {
    (void)state;
    world w = world_new("optional int32 a (DATE) = 1; optional int32 b (DATE) = 2;",
                        FIELD("1", "a", "date") "," FIELD("2", "b", "date"),
                        "a_year:year:1 b_month:month:2");
    w.cells[0][0] = kit_numbers(&w.k, 4, (const int64_t[]){DAY}, 1);
    w.cells[0][1] = kit_numbers(&w.k, 4, (const int64_t[]){DAY + 31}, 1);
    w.groups[0] = (kit_group){1, w.cells[0]};
    w.group_count = 1;
    /* Whose year is it? Nobody's, without a rule. */
    proves(&w, "/lake/year=1999/month=1/f.parquet", "a_year=2024/b_month=2024-02", FOOTER);
    rule(&w, "year: year(a)");
    refuses(&w, "/lake/year=1999/month=1/f.parquet", "year=1999 means 1999, but");
    proves(&w, "/lake/year=2024/b_month=2024-02/f.parquet", "a_year=2024/b_month=2024-02", FOOTER);
    /* What has no rule is of the other column, then, and needs a year of its own. */
    refuses(&w, "/lake/year=2024/month=2024-03/f.parquet", "month=2024-03 means 2024-03, but");
    refuses(&w, "/lake/Year=2024/month=2/f.parquet", "needs a year beside it");
    world_release(&w);
}

static void a_changed_file_is_a_conflict(void **state) {
    (void)state;
    world w = world_new("optional int32 c = 1;", FIELD("1", "c", "int"), "c:identity:1");
    w.k.tamper = strip_all;
    NUMBERS(&w, 4, 7);
    firn_lake_file file = kit_put(&w.k, "/lake/f.parquet", 6, w.file_schema, w.groups, 1);
    file.size++;
    check_fails(kit_prove(&w.k, NULL, w.schema, w.spec, &file, w.k.arena, &w.partition, &w.k.error),
                FIRN_CONFLICT, &w.k.error, "/lake/f.parquet");
    world_release(&w);
}

/* A chunk whose dictionary holds 11, 12 and, maybe, 99; `broken`: what follows can't be decoded. */
static void claim_dictionary(firn_parquet_column_chunk *chunk) {
    static const firn_parquet_page_encoding_stats stats[] = {
        {FIRN_PARQUET_DICTIONARY_PAGE, FIRN_PARQUET_PLAIN, 1},
        {FIRN_PARQUET_DATA_PAGE, FIRN_PARQUET_RLE_DICTIONARY, 1}};
    chunk->encoding_stats = stats;
    chunk->encoding_stats_count = 2;
}

static firn_status prove_dictionary(kit *k, firn_slice dictionary, firn_slice indices,
                                    firn_lake_partition *out) {
    firn_parquet_schema_element leaf = {.has_type = true,
                                        .type = FIRN_PARQUET_INT32,
                                        .has_repetition = true,
                                        .repetition = FIRN_PARQUET_REQUIRED,
                                        .name = "c",
                                        .has_field_id = true,
                                        .field_id = 1};
    fx_page pages[] = {{.header = {.type = FIRN_PARQUET_DICTIONARY_PAGE,
                                   .num_values = (int32_t)(dictionary.size / 4),
                                   .encoding = FIRN_PARQUET_PLAIN},
                        .body = dictionary},
                       {.header = {.type = FIRN_PARQUET_DATA_PAGE,
                                   .num_values = 8,
                                   .encoding = FIRN_PARQUET_RLE_DICTIONARY,
                                   .definition_level_encoding = FIRN_PARQUET_RLE,
                                   .repetition_level_encoding = FIRN_PARQUET_RLE},
                        .body = indices}};
    fx_chunk chunk = {.pages = pages,
                      .page_count = 2,
                      .num_rows = 8,
                      .num_values = -1,
                      .tamper = claim_dictionary};
    firn_buffer bytes = fx_parquet_file(&leaf, &chunk, 1);
    firn_lake_file file = {
        .location = "/lake/d.parquet", .root_length = 6, .size = (int64_t)bytes.size};
    check_ok(firn_storage_delete(k->storage, file.location, &k->error), &k->error);
    check_ok(firn_storage_put(k->storage, file.location, firn_buffer_slice(&bytes), &k->error),
             &k->error);
    firn_buffer_release(&bytes);
    const firn_schema *schema = kit_schema(k, FIELD("1", "c", "int"));
    const firn_partition_spec *spec = kit_spec(k, schema, "p:truncate[10]:1");
    return kit_prove(k, NULL, schema, spec, &file, k->arena, out, &k->error);
}

static void a_dictionary_proves_one_value_and_refutes_none(void **state) {
    (void)state;
    kit k = kit_new();
    firn_lake_partition partition = {0};
    firn_slice alike = FX_BYTES(11, 0, 0, 0, 12, 0, 0, 0);
    firn_slice unused = FX_BYTES(11, 0, 0, 0, 99, 0, 0, 0);
    /* Width 1, a run of eight times index 0; one of index 1; and no run at all. */
    firn_slice zeros = FX_BYTES(1, 16, 0);
    firn_slice both = FX_BYTES(1, 3, 0x0F);
    firn_slice broken = FX_BYTES(99);
    check_ok(prove_dictionary(&k, alike, broken, &partition), &k.error);
    assert_int_equal(partition.values[0].as.int32, 10);
    assert_int_equal(partition.proof, FIRN_LAKE_PROVED_BY_COLUMN);
    check_ok(prove_dictionary(&k, unused, zeros, &partition), &k.error);
    assert_int_equal(partition.values[0].as.int32, 10);
    check_fails(prove_dictionary(&k, unused, both, &partition), FIRN_INVALID, &k.error,
                "90 and of 10");
    check_fails(prove_dictionary(&k, unused, broken, &partition), FIRN_CORRUPT, &k.error,
                "/lake/d.parquet");
    kit_release(&k);
}

typedef struct proof_job {
    world *w;
    const firn_parquet_file *parquet;
    const firn_lake_file *file;
    const firn_lake_columns *columns;
} proof_job;

static firn_status prove_once(void *context, firn_error *error) {
    proof_job *job = context;
    const firn_lake_path_key *keys = NULL;
    const firn_lake_binding *binding = NULL;
    firn_lake_partition partition;
    size_t count = 0;
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_lake_path_keys(job->file->location, 6, arena, &keys, &count, error));
    FIRN_CHECK(firn_lake_layout_bind(job->w->layout, job->w->schema, job->w->spec, keys, count,
                                     arena, &binding, error));
    FIRN_CHECK(firn_lake_prove_partition(job->w->k.storage, binding, job->file, job->parquet,
                                         job->columns, arena, &partition, error));
    assert_int_equal(partition.values[1].as.int32, 648);
out:
    firn_arena_free(arena);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    world w = world_new("optional int64 t (TIMESTAMP(NANOS,false)) = 1;",
                        FIELD("1", "t", "timestamp") "," FIELD("2", "r", "string"),
                        "t_year:year:1 t_month:month:1 r:identity:2 b:bucket[1]:1");
    w.k.tamper = strip_all;
    NUMBERS(&w, 8, DAY * 86400 * MICROS * 1000, DAY * 86400 * MICROS * 1000 + 7);
    rule(&w, "p={}-{}: year(t), month(t)");
    firn_lake_file file = kit_put(&w.k, "/lake/p=2024-01/r=x%20y/f.parquet", 6, w.file_schema,
                                  w.groups, w.group_count);
    firn_lake_columns columns = {0};
    firn_parquet_file *parquet = kit_footer(&w.k, &file);
    check_ok(firn_lake_columns_of(w.schema, NULL, 3, parquet, file.location, w.k.arena, &columns,
                                  &w.k.error),
             &w.k.error);
    proof_job job = {&w, parquet, &file, &columns};
    check_each_allocation(prove_once, &job);
    firn_parquet_file_close(parquet);
    world_release(&w);
}

/* Whatever a path says, it is read or refused. */
static void hostile_paths_do_no_harm(void **state) {
    (void)state;
    static const char *const types[] = {
        "boolean",     "int",    "long", "float",    "double", "date",         "time",
        "timestamptz", "string", "uuid", "fixed[3]", "binary", "timestamp_ns", "decimal(38, 10)"};
    static const char *const pieces[] = {
        "-", "9", "0",   ".", "e",          "null", "%FF", "T",
        ":", "[", "NaN", "+", "2024-01-01", "a",    "\"",  "99999999999999999999"};
    test_generator random = test_generator_new();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char *fields = firn_format(FIELD("9", "x", "int") "," FIELD("1", "c", "%s"), types[i]);
        world w = world_new("optional int32 x = 9;", fields, "c:identity:1");
        firn_free(fields);
        NUMBERS(&w, 4, 1);
        for (int round = 0; round < 150; round++) {
            const char *path = "/lake/c=";
            size_t count = test_generator_below(&random, 5);
            for (size_t j = 0; j < count; j++) {
                path = firn_arena_format(w.k.arena, "%s%s", path,
                                         pieces[test_generator_below(&random, 16)]);
            }
            path = firn_arena_format(w.k.arena, "%s/f.parquet", path);
            firn_status status = prove(&w, path);
            if (status != FIRN_OK) check_fails(status, FIRN_INVALID, &w.k.error, path);
        }
        world_release(&w);
    }
}

/* Whatever bytes a column has, it is read or refused. */
static void hostile_pages_do_no_harm(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    world w =
        world_new("optional binary c (STRING) = 1;", FIELD("1", "c", "string"), "c:identity:1");
    w.k.tamper = strip_all;
    w.k.options.write_crc = false;
    TEXTS(&w, "a", "a", NULL, "a", "b");
    firn_lake_file file = kit_put(&w.k, "/lake/f.parquet", 6, w.file_schema, w.groups, 1);
    firn_buffer good = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_storage_read_all(w.k.storage, file.location, &good, &w.k.error), &w.k.error);
    firn_parquet_file *parquet = kit_footer(&w.k, &file);
    firn_lake_columns columns = {0};
    const firn_lake_binding *binding = NULL;
    check_ok(firn_lake_columns_of(w.schema, NULL, 3, parquet, file.location, w.k.arena, &columns,
                                  &w.k.error),
             &w.k.error);
    check_ok(
        firn_lake_layout_bind(NULL, w.schema, w.spec, NULL, 0, w.k.arena, &binding, &w.k.error),
        &w.k.error);
    for (int round = 0; round < 3000; round++) {
        firn_arena *arena = firn_arena_new();
        uint8_t saved[2];
        size_t at[2];
        for (size_t i = 0; i < 2; i++) {
            at[i] = 4 + test_generator_below(&random, good.size / 2);
            saved[i] = good.data[at[i]];
            good.data[at[i]] = (uint8_t)test_generator_next(&random);
        }
        check_ok(
            firn_storage_replace(w.k.storage, file.location, firn_buffer_slice(&good), &w.k.error),
            &w.k.error);
        firn_status status = firn_lake_prove_partition(w.k.storage, binding, &file, parquet,
                                                       &columns, arena, &w.partition, &w.k.error);
        assert_int_not_equal(status, FIRN_NO_MEMORY);
        for (size_t i = 2; i-- > 0;) good.data[at[i]] = saved[i];
        firn_arena_free(arena);
    }
    firn_parquet_file_close(parquet);
    firn_buffer_release(&good);
    world_release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nulls_are_a_partition_of_their_own),
        cmocka_unit_test(missing_bounds_of_one_row_group_are_no_narrow_bounds),
        cmocka_unit_test(what_is_cut_below_the_type_has_no_partition),
        cmocka_unit_test(texts_of_paths_are_of_the_tables_type),
        cmocka_unit_test(times_of_paths_follow_the_table),
        cmocka_unit_test(dates_may_stand_in_several_keys),
        cmocka_unit_test(rules_complete_each_other),
        cmocka_unit_test(a_file_of_two_hours_is_refused),
        cmocka_unit_test(buckets_are_hashed),
        cmocka_unit_test(truncated_values_of_paths_must_be_some),
        cmocka_unit_test(absent_columns_are_what_paths_assert),
        cmocka_unit_test(transforms_of_absent_columns_are_not_asserted),
        cmocka_unit_test(values_of_paths_stay_in_their_types),
        cmocka_unit_test(fields_of_structs_are_sources),
        cmocka_unit_test(void_is_null_and_unknown_is_refused),
        cmocka_unit_test(files_without_rows_are_what_their_paths_say),
        cmocka_unit_test(sources_of_one_name_bind_by_field),
        cmocka_unit_test(a_changed_file_is_a_conflict),
        cmocka_unit_test(a_dictionary_proves_one_value_and_refutes_none),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(hostile_paths_do_no_harm),
        cmocka_unit_test(hostile_pages_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
