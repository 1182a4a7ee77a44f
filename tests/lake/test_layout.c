/* Keys in paths, rules, and the partition spec of a table that is to be made. */
#include "lake/partition_kit.h"

static const firn_lake_path_key *keys_of(kit *k, const char *location, size_t root, size_t *count) {
    const firn_lake_path_key *keys = NULL;
    check_ok(firn_lake_path_keys(location, root, k->arena, &keys, count, &k->error), &k->error);
    return keys;
}

static void check_keys(const char *location, const char *wanted) {
    kit k = kit_new();
    size_t count = 0;
    const firn_lake_path_key *keys = keys_of(&k, location, 6, &count);
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        text = firn_arena_format(k.arena, "%s[%s][%s]", text, keys[i].key,
                                 keys[i].value == NULL ? "NULL" : keys[i].value);
    }
    assert_string_equal(text, wanted);
    kit_release(&k);
}

static void keys_are_found_in_paths(void **state) {
    (void)state;
    check_keys("/lake/year=2024/month=01/f.parquet", "[year][2024][month][01]");
    check_keys("/lake/f.parquet", "");
    check_keys("/lake/sub/hour=00/x/f=1.parquet", "[hour][00]");
    check_keys("/lake/a=__HIVE_DEFAULT_PARTITION__/b=null/f", "[a][NULL][b][null]");
    check_keys("/lake/a=x%20y%2Fz%3d1/f", "[a][x y/z=1]");
    check_keys("/lake/a=b=c/f", "[a][b=c]");
    check_keys("/lake/a=/=b/f", "[a][]");
    check_keys("/lake/a%3Db=1/f", "[a=b][1]");
    check_keys("/lake/a=100%/b=%zz%4/c=%%41/f", "[a][100%][b][%zz%4][c][%A]");
    check_keys("/lake/a=%5F_HIVE_DEFAULT_PARTITION__/f", "[a][NULL]");
    check_keys("/lake/a=1/a=1/f", "[a][1]");
    check_keys("/lake/a=1//b=2/f", "[a][1][b][2]");
    check_keys("/lake/tile=-3_4/f", "[tile][-3_4]");
    /* The name of the file is none, and neither is what lies above the root. */
    check_keys("/lake/a=1", "");
    check_keys("/a=1/x/b=2/f", "[b][2]");
}

static void bad_paths_are_refused(void **state) {
    (void)state;
    kit k = kit_new();
    const firn_lake_path_key *keys = NULL;
    size_t count = 0;
    check_fails(firn_lake_path_keys("/lake/a=1/a=2/f", 6, k.arena, &keys, &count, &k.error),
                FIRN_INVALID, &k.error, "\"a\" twice");
    check_fails(firn_lake_path_keys("/lake/a=%00/f", 6, k.arena, &keys, &count, &k.error),
                FIRN_INVALID, &k.error, "zero byte");
    check_fails(firn_lake_path_keys("/f", 6, k.arena, &keys, &count, &k.error), FIRN_INVALID,
                &k.error, "root");
    kit_release(&k);
}

static void check_rule(const char *rule, const char *problem) {
    firn_lake_layout *layout = NULL;
    firn_error error = {0};
    firn_status status = firn_lake_layout_new(&rule, 1, &layout, &error);
    if (problem == NULL) {
        check_ok(status, &error);
    } else {
        check_fails(status, FIRN_INVALID, &error, problem);
        assert_null(layout);
    }
    firn_lake_layout_free(layout);
}

static void rules_are_parsed(void **state) {
    (void)state;
    check_rule("year: year(date)", NULL);
    check_rule("year:year(date)", NULL);
    check_rule(" year : year( date ) as y ", NULL);
    check_rule("tile={#}_{#}: truncate[12](lat_idx), truncate[12](lon_idx) as lon", NULL);
    check_rule("region: region", NULL);
    check_rule("region: region string as r", NULL);
    check_rule("price: p decimal(9, 2) as d, q int", "placeholders");
    check_rule("price={}_{}: p decimal(9, 2) as d, q int", NULL);
    check_rule("digest: h fixed[16]", NULL);
    check_rule("t={}:{}: a int, b int", NULL);
    check_rule("\"odd: key\": \"my \"\"column\"\"\" int as \"a name\"", NULL);
    check_rule("x: -", NULL);
    check_rule("x:", "expected a column");
    check_rule("x", "expected KEY: FIELD");
    check_rule("", "expected KEY: FIELD");
    check_rule(": a", "character 1: expected a key");
    check_rule("x=: a", "no {}");
    check_rule("x={: a", "character 3: expected {} or {#}");
    check_rule("x={}{}: a, b", "text between");
    check_rule("x={}_{}: a", "2 placeholders, but 1");
    check_rule("x={#}: a", "{#} counts");
    check_rule("x: ylar(a)", "character 4: no transform");
    check_rule("x: void(a)", "no transform");
    check_rule("x: bucket[0](a)", "no transform");
    check_rule("x: year(a", "expected )");
    check_rule("x: year(a) int", "a type can stand behind a column only");
    check_rule("x: a int b", "expected a comma");
    check_rule("x: a decimal(9", "does not close");
    check_rule("x: a as", "expected a name");
    check_rule("x: a, ", "expected a column");
    check_rule("x: - y", "expected nothing");
    check_rule("\"x: a", "does not end");
    check_rule("x y: a", "expected = or :");
}

static void two_rules_for_a_key_are_refused(void **state) {
    (void)state;
    static const char *const rules[] = {"a: x", "a: y"};
    firn_lake_layout *layout = NULL;
    firn_error error = {0};
    check_fails(firn_lake_layout_new(rules, 2, &layout, &error), FIRN_INVALID, &error,
                "are for one key");
}

/* A lake whose layout is looked at: files of one schema, each of one row group. */
typedef struct lake {
    kit k;
    firn_lake_layout *layout;
    const char *file_schema;
    const firn_schema *schema;
    size_t width;
} lake;

static lake lake_new(const char *const *rules, size_t rule_count, const char *file_schema,
                     const char *fields) {
    lake l = {.k = kit_new(), .file_schema = file_schema};
    l.schema = kit_schema(&l.k, fields);
    check_ok(firn_lake_layout_new(rules, rule_count, &l.layout, &l.k.error), &l.k.error);
    return l;
}

static void lake_release(lake *l) {
    firn_lake_layout_free(l->layout);
    kit_release(&l->k);
}

static firn_status show(lake *l, const firn_lake_file *file, firn_error *error) {
    firn_parquet_file *parquet = kit_footer(&l->k, file);
    firn_lake_columns columns = {0};
    check_ok(firn_lake_columns_of(l->schema, NULL, 3, parquet, file->location, l->k.arena, &columns,
                                  &l->k.error),
             &l->k.error);
    firn_status status = firn_lake_layout_observe(l->layout, l->k.storage, file, parquet, l->schema,
                                                  &columns, error);
    firn_parquet_file_close(parquet);
    return status;
}

/* Shows a file of two int32 columns (dates, or whatever the schema says). */
static firn_status show_pair(lake *l, const char *location, int64_t a0, int64_t a1, int64_t b0,
                             int64_t b1) {
    const firn_slice *cells[] = {kit_numbers(&l->k, 4, (const int64_t[]){a0, a1}, 2),
                                 kit_numbers(&l->k, 4, (const int64_t[]){b0, b1}, 2)};
    kit_group group = {2, cells};
    firn_lake_file file = kit_put(&l->k, location, 6, l->file_schema, &group, 1);
    return show(l, &file, &l->k.error);
}

static void show_well(lake *l, const char *location, int64_t a0, int64_t a1, int64_t b0,
                      int64_t b1) {
    check_ok(show_pair(l, location, a0, a1, b0, b1), &l->k.error);
}

static void check_spec(lake *l, const char *wanted) {
    json_t *spec = NULL;
    check_ok(firn_lake_layout_spec(l->layout, l->schema, &spec, &l->k.error), &l->k.error);
    const char *text = "";
    size_t i = 0;
    const json_t *field = NULL;
    json_array_foreach(json_object_get(spec, "fields"), i, field) {
        assert_int_equal(json_integer_value(json_object_get(field, "field-id")), 1000 + i);
        text = firn_arena_format(l->k.arena, "%s%s%s:%s:%d", text, i == 0 ? "" : " ",
                                 json_string_value(json_object_get(field, "name")),
                                 json_string_value(json_object_get(field, "transform")),
                                 (int)json_integer_value(json_object_get(field, "source-id")));
    }
    assert_string_equal(text, wanted);
    json_decref(spec);
}

static void check_no_spec(lake *l, const char *problem) {
    json_t *spec = NULL;
    check_fails(firn_lake_layout_spec(l->layout, l->schema, &spec, &l->k.error), FIRN_INVALID,
                &l->k.error, problem);
    assert_null(spec);
}

static void check_path_columns(lake *l, const char *wanted) {
    const firn_lake_path_column *columns = NULL;
    size_t count = 0;
    check_ok(firn_lake_layout_path_columns(l->layout, l->schema, &columns, &count, &l->k.error),
             &l->k.error);
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        text = firn_arena_format(l->k.arena, "%s%s%s %s", text, i == 0 ? "" : ", ", columns[i].name,
                                 columns[i].type->text);
    }
    assert_string_equal(text, wanted);
}

#define FIELD(id, name, type)                                                                      \
    "{\"id\":" id ",\"name\":\"" name "\",\"required\":false,\"type\":\"" type "\"}"
#define DATES "optional int32 created (DATE) = 1; optional int32 updated (DATE) = 2;"
#define DATE_FIELDS FIELD("1", "created", "date") "," FIELD("2", "updated", "date")
/* 2024-01-01 */
#define DAY 19723

static void the_time_column_is_the_one_that_proves_all_paths(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/year=2024/month=01/a.parquet", DAY, DAY + 30, DAY, DAY + 1);
    show_well(&l, "/lake/year=2024/month=2/b.parquet", DAY + 31, DAY + 40, DAY + 31, DAY + 90);
    show_well(&l,
              "/lake/year=__HIVE_DEFAULT_PARTITION__/month=__HIVE_DEFAULT_PARTITION__/c.parquet",
              KIT_NULL, KIT_NULL, DAY, DAY);
    check_path_columns(&l, "");
    check_spec(&l, "created_year:year:1 created_month:month:1");
    lake_release(&l);
}

static void several_time_columns_are_named(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/year=2024/month=01/a.parquet", DAY, DAY + 30, DAY, DAY + 1);
    check_no_spec(&l, "\"created\", \"updated\"");
    check_no_spec(&l, "--partition \"year: year(created)\"");
    lake_release(&l);
}

static void no_time_column_is_told_with_the_first_path(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/year=2024/month=01/a.parquet", DAY, DAY + 30, DAY, DAY + 60);
    show_well(&l, "/lake/year=2024/month=02/b.parquet", DAY, DAY, DAY + 31, DAY + 31);
    show_well(&l, "/lake/year=2024/month=03/c.parquet", DAY, DAY, DAY + 31, DAY + 31);
    check_no_spec(&l, "/lake/year=2024/month=02/b.parquet is the first path");
    check_no_spec(&l, "month 2024-01 and 2024-03, the path says 2024-01");
    lake_release(&l);
}

static void days_and_hours_need_their_coarser_keys(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/month=01/a.parquet", DAY, DAY, DAY + 40, DAY + 40);
    check_no_spec(&l, "\"month\" tells no month without a year beside it");
    check_no_spec(&l, "--partition \"month: month int\"");
    lake_release(&l);
    l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/y=2024/month=01/a.parquet", DAY, DAY, DAY + 40, DAY + 40);
    check_no_spec(&l, "--partition \"y: year(created)\" --partition \"month: month(created)\"");
    lake_release(&l);
    /* A date has no hour, and so is none of those that the day beside it may be of. */
    l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/dt=2024-01-01/hour=05/a.parquet", DAY, DAY, DAY, DAY);
    check_no_spec(&l, "no column can prove it: --partition \"hour: hour int\" makes");
    lake_release(&l);
    l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/year=2024/month=01/day=1/hour=00/a.parquet", DAY, DAY, DAY, DAY);
    check_no_spec(&l, "a date has no hour");
    lake_release(&l);
    l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/month=2024-01/day=01/a.parquet", DAY, DAY, DAY + 40, DAY + 40);
    check_spec(&l, "created_month:month:1 created_day:day:1");
    lake_release(&l);
}

/* The years 1 and 45 are 719162 and 703091 days before 1970. */
static void years_need_no_leading_zeros(void **state) {
    (void)state;
    static const char *const paths[] = {"/lake/year=1/a.parquet", "/lake/year=0001/a.parquet"};
    for (size_t i = 0; i < 2; i++) {
        lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
        show_well(&l, paths[i], -719162, -719162, DAY, DAY);
        show_well(&l, i == 0 ? "/lake/year=45/b.parquet" : "/lake/year=0045/b.parquet", -703091,
                  -703091, DAY, DAY);
        check_spec(&l, "created_year:year:1");
        lake_release(&l);
    }
    /* Never 2024. */
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/year=24/a.parquet", DAY, DAY, DAY, DAY);
    check_no_spec(&l, "the path says 0024");
    lake_release(&l);
}

static void strip_bounds(void *context, size_t group, size_t leaf, firn_parquet_column_chunk *chunk,
                         firn_arena *arena) {
    (void)context;
    (void)group;
    (void)leaf;
    (void)arena;
    chunk->statistics = (firn_parquet_statistics){0};
}

static void candidates_without_bounds_are_read(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    l.k.tamper = strip_bounds;
    show_well(&l, "/lake/Year=2024/a.parquet", DAY, DAY + 30, DAY, DAY + 366);
    check_spec(&l, "created_year:year:1");
    lake_release(&l);
}

static void files_without_rows_prove_and_refute_nothing(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    firn_lake_file file = kit_put(&l.k, "/lake/year=1999/z.parquet", 6, DATES, NULL, 0);
    check_ok(show(&l, &file, &l.k.error), &l.k.error);
    check_no_spec(&l, "/lake/year=1999/z.parquet is the first");
    show_well(&l, "/lake/year=2024/a.parquet", DAY, DAY + 30, DAY, DAY + 366);
    check_spec(&l, "created_year:year:1");
    lake_release(&l);
}

static void a_column_that_comes_later_does_not_prove_what_came_before(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, "optional int32 created (DATE) = 1; optional int32 x = 3;",
                      FIELD("1", "created", "date") "," FIELD("3", "x", "int"));
    show_well(&l, "/lake/year=2024/a.parquet", DAY, DAY, 1, 1);
    l.schema = kit_schema(&l.k, DATE_FIELDS);
    l.file_schema = DATES;
    show_well(&l, "/lake/year=2024/b.parquet", DAY, DAY, DAY, DAY);
    check_spec(&l, "created_year:year:1");
    show_well(&l, "/lake/year=2024/c.parquet", DAY, DAY + 400, DAY, DAY);
    check_no_spec(&l, "/lake/year=2024/c.parquet is the first");
    check_no_spec(&l, "\"updated\": the file has no such column (/lake/year=2024/a.parquet)");
    lake_release(&l);
}

static void keys_without_a_column_of_time_may_be_columns(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, "optional int32 year = 1; optional int32 x = 2;",
                      FIELD("1", "year", "int") "," FIELD("2", "x", "int"));
    show_well(&l, "/lake/year=2024/a.parquet", 2024, 2024, 1, 1);
    check_spec(&l, "year:identity:1");
    lake_release(&l);
}

static void keys_must_be_alike(void **state) {
    (void)state;
    static const char *const rules[] = {"run: -"};
    lake l = lake_new(rules, 1, DATES, DATE_FIELDS);
    show_well(&l, "/lake/run=1/year=2024/a.parquet", DAY, DAY, DAY, DAY);
    show_well(&l, "/lake/year=2024/b.parquet", DAY, DAY, DAY, DAY);
    check_fails(show_pair(&l, "/lake/year=2024/region=eu/c.parquet", DAY, DAY, DAY, DAY),
                FIRN_INVALID, &l.k.error, "has year, region, but /lake/run=1");
    check_fails(show_pair(&l, "/lake/c.parquet", DAY, DAY, DAY, DAY), FIRN_INVALID, &l.k.error,
                "has no keys");
    lake_release(&l);
}

static void a_layout_without_keys_has_an_empty_spec(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/a.parquet", DAY, DAY, DAY, DAY);
    check_path_columns(&l, "");
    check_spec(&l, "");
    lake_release(&l);
}

static void keys_become_columns(void **state) {
    (void)state;
    static const char *const rules[] = {"shard={}-{}: part int as piece, hash bigdecimal"};
    static const char *const good[] = {"shard={}-{}: part int as piece, host"};
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS);
    show_well(&l, "/lake/region=eu/Created=2024-01-01/a.parquet", DAY, DAY, DAY, DAY);
    check_path_columns(&l, "region string");
    check_no_spec(&l, "no column of that name");
    l.schema = kit_schema(&l.k, DATE_FIELDS "," FIELD("3", "region", "string"));
    check_path_columns(&l, "");
    check_spec(&l, "region:identity:3 created:identity:1");
    lake_release(&l);
    l = lake_new(good, 1, DATES, DATE_FIELDS);
    show_well(&l, "/lake/shard=1-x/a.parquet", DAY, DAY, DAY, DAY);
    check_path_columns(&l, "part int, host string");
    check_no_spec(&l, "no column \"part\"");
    l.schema = kit_schema(&l.k, DATE_FIELDS
                          "," FIELD("3", "part", "int") "," FIELD("4", "host", "string"));
    check_spec(&l, "piece:identity:3 host:identity:4");
    lake_release(&l);
    l = lake_new(rules, 1, DATES, DATE_FIELDS);
    show_well(&l, "/lake/shard=1-x/a.parquet", DAY, DAY, DAY, DAY);
    const firn_lake_path_column *columns = NULL;
    size_t count = 0;
    check_fails(firn_lake_layout_path_columns(l.layout, l.schema, &columns, &count, &l.k.error),
                FIRN_INVALID, &l.k.error, "\"bigdecimal\" is no type");
    lake_release(&l);
}

static void check_rules_fail(const char *const *rules, size_t count, const char *path,
                             const char *problem) {
    lake l = lake_new(rules, count, DATES, DATE_FIELDS);
    show_well(&l, path, DAY, DAY, DAY, DAY);
    check_no_spec(&l, problem);
    lake_release(&l);
}

static void rules_must_fit_the_files(void **state) {
    (void)state;
    const char *path = "/lake/k=2024/a.parquet";
    check_rules_fail((const char *const[]){"k: year(nothing)"}, 1, path, "no column \"nothing\"");
    check_rules_fail((const char *const[]){"z: year(created)"}, 1, path, "no key \"z\"");
    check_rules_fail((const char *const[]){"k: hour(created)"}, 1, path, "can't take a value");
    check_rules_fail((const char *const[]){"k: year(created) as updated"}, 1, path,
                     "which is a column");
    check_rules_fail((const char *const[]){"k: created int"}, 1, path, "of type date in the files");
    check_rules_fail((const char *const[]){"k={}-{}: year(created), year(created) as y"}, 1, path,
                     "are the same");
    check_rules_fail((const char *const[]){"k={}-{}: year(created) as y, year(updated) as y"}, 1,
                     path, "two partition fields");
}

#define SEED_FILE                                                                                  \
    "required int32 lat_idx = 1; required int32 lon_idx = 2; required int32 date (DATE) = 3;"
#define SEED_FIELDS                                                                                \
    "{\"id\":1,\"name\":\"lat_idx\",\"required\":true,\"type\":\"int\"},"                          \
    "{\"id\":2,\"name\":\"lon_idx\",\"required\":true,\"type\":\"int\"},"                          \
    "{\"id\":3,\"name\":\"date\",\"required\":true,\"type\":\"date\"}"

static void tiles_become_truncates(void **state) {
    (void)state;
    static const char *const rules[] = {
        "tile={#}_{#}: truncate[12](lat_idx), truncate[12](lon_idx)"};
    lake l = lake_new(rules, 1, SEED_FILE, SEED_FIELDS);
    const firn_slice *cells[] = {kit_numbers(&l.k, 4, (const int64_t[]){36, 47}, 2),
                                 kit_numbers(&l.k, 4, (const int64_t[]){-48, -37}, 2),
                                 kit_numbers(&l.k, 4, (const int64_t[]){DAY, DAY + 30}, 2)};
    kit_group group = {2, cells};
    firn_lake_file file =
        kit_put(&l.k, "/lake/tile=3_-4/year=2024/month=01/part.parquet", 6, SEED_FILE, &group, 1);
    check_ok(show(&l, &file, &l.k.error), &l.k.error);
    check_path_columns(&l, "");
    const char *wanted = "lat_idx_trunc:truncate[12]:1 lon_idx_trunc:truncate[12]:2 "
                         "date_year:year:3 date_month:month:3";
    check_spec(&l, wanted);
    const firn_partition_spec *spec = kit_spec(&l.k, l.schema, wanted);
    firn_lake_partition partition = {0};
    check_ok(kit_prove(&l.k, l.layout, l.schema, spec, &file, l.k.arena, &partition, &l.k.error),
             &l.k.error);
    assert_string_equal(kit_tuple(&l.k, spec, &partition),
                        "lat_idx_trunc=36/lon_idx_trunc=-48/date_year=2024/date_month=2024-01");
    assert_int_equal(partition.proof, FIRN_LAKE_PROVED_BY_FOOTER);
    file = kit_put(&l.k, "/lake/tile=3_4/year=2024/month=01/part.parquet", 6, SEED_FILE, &group, 1);
    check_fails(kit_prove(&l.k, l.layout, l.schema, spec, &file, l.k.arena, &partition, &l.k.error),
                FIRN_INVALID, &l.k.error, "the path's tile=3_4 means 48, but the rows have -48");
    lake_release(&l);
}

static firn_status make_all(void *context, firn_error *error) {
    static const char *const rules[] = {"part={}-{}: x int as p, bucket[4](created) as \"b c\"",
                                        "run: -"};
    lake *l = context;
    firn_lake_layout *layout = NULL;
    firn_lake_columns columns = {0};
    firn_arena *arena = firn_arena_new();
    json_t *spec = NULL;
    firn_status status = FIRN_OK;
    firn_lake_file file = {.location = "/lake/part=1-2/run=1/year=2024/month=01/a.parquet",
                           .root_length = 6,
                           .size = l->width == 0 ? 0 : (int64_t)l->width};
    firn_storage_file *opened = NULL;
    firn_parquet_file *parquet = NULL;
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_lake_layout_new(rules, 2, &layout, error));
    FIRN_CHECK(firn_storage_open(l->k.storage, file.location, &opened, error));
    FIRN_CHECK(firn_parquet_file_open(firn_storage_file_source(opened), &parquet, error));
    FIRN_CHECK(
        firn_lake_columns_of(l->schema, NULL, 3, parquet, file.location, arena, &columns, error));
    FIRN_CHECK(
        firn_lake_layout_observe(layout, l->k.storage, &file, parquet, l->schema, &columns, error));
    const firn_lake_path_column *paths = NULL;
    size_t count = 0;
    FIRN_CHECK(firn_lake_layout_path_columns(layout, l->schema, &paths, &count, error));
    FIRN_CHECK(firn_lake_layout_spec(layout, l->schema, &spec, error));
out:
    json_decref(spec);
    if (parquet != NULL) firn_parquet_file_close(parquet);
    firn_storage_close(opened);
    firn_lake_layout_free(layout);
    firn_arena_free(arena);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    lake l = lake_new(NULL, 0, DATES, DATE_FIELDS "," FIELD("3", "x", "int"));
    l.k.tamper = strip_bounds;
    const firn_slice *cells[] = {kit_numbers(&l.k, 4, (const int64_t[]){DAY, DAY + 3}, 2),
                                 kit_numbers(&l.k, 4, (const int64_t[]){DAY, DAY + 60}, 2)};
    kit_group group = {2, cells};
    firn_lake_file file =
        kit_put(&l.k, "/lake/part=1-2/run=1/year=2024/month=01/a.parquet", 6, DATES, &group, 1);
    l.width = (size_t)file.size;
    check_each_allocation(make_all, &l);
    lake_release(&l);
}

/* Random rules and paths: whatever they are, they are parsed or refused. */
static void hostile_texts_do_no_harm(void **state) {
    (void)state;
    static const char alphabet[] = "ab={}#:,()[]\" -%0/asyear.truncate[1](x)\xC3\xFF";
    test_generator random = test_generator_new();
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t length = test_generator_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++) {
            text[i] = alphabet[test_generator_below(&random, sizeof alphabet - 1)];
        }
        if (length < sizeof text) text[length] = '\0';
        text[sizeof text - 1] = '\0';
        const char *rule = text;
        firn_lake_layout *layout = NULL;
        firn_error error = {0};
        firn_status status = firn_lake_layout_new(&rule, 1, &layout, &error);
        assert_true(status == FIRN_OK || status == FIRN_INVALID);
        firn_lake_layout_free(layout);
        size_t count = 0;
        const firn_lake_path_key *keys = NULL;
        firn_arena *arena = firn_arena_new();
        status = firn_lake_path_keys(text, 0, arena, &keys, &count, &error);
        assert_true(status == FIRN_OK || status == FIRN_INVALID);
        firn_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_in_paths),
        cmocka_unit_test(bad_paths_are_refused),
        cmocka_unit_test(rules_are_parsed),
        cmocka_unit_test(two_rules_for_a_key_are_refused),
        cmocka_unit_test(the_time_column_is_the_one_that_proves_all_paths),
        cmocka_unit_test(several_time_columns_are_named),
        cmocka_unit_test(no_time_column_is_told_with_the_first_path),
        cmocka_unit_test(days_and_hours_need_their_coarser_keys),
        cmocka_unit_test(years_need_no_leading_zeros),
        cmocka_unit_test(candidates_without_bounds_are_read),
        cmocka_unit_test(files_without_rows_prove_and_refute_nothing),
        cmocka_unit_test(a_column_that_comes_later_does_not_prove_what_came_before),
        cmocka_unit_test(keys_without_a_column_of_time_may_be_columns),
        cmocka_unit_test(keys_must_be_alike),
        cmocka_unit_test(a_layout_without_keys_has_an_empty_spec),
        cmocka_unit_test(keys_become_columns),
        cmocka_unit_test(rules_must_fit_the_files),
        cmocka_unit_test(tiles_become_truncates),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(hostile_texts_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
