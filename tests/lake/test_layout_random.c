/* The time column of random lakes is the one that looking at every value of every file finds, whatever their statistics. */
#include "lake/partition_kit.h"

#include <time.h>

#define COLUMNS 3
#define MOST_FILES 4
#define MOST_ROWS 4

#define SCHEMA                                                                                     \
    "optional int32 a (DATE) = 1; optional int64 b (TIMESTAMP(MICROS,false)) = 2;"                 \
    "optional int64 c (TIMESTAMP(MILLIS,true)) = 3;"
#define FIELDS                                                                                     \
    "{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"date\"},"                              \
    "{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"timestamp\"},"                         \
    "{\"id\":3,\"name\":\"c\",\"required\":false,\"type\":\"timestamptz\"}"

static const char *const names[COLUMNS] = {"a", "b", "c"};

static void strip(void *context, size_t group, size_t leaf, firn_parquet_column_chunk *chunk,
                  firn_arena *arena) {
    (void)group;
    (void)leaf;
    (void)arena;
    if (test_generator_below(context, 3) != 0) return;
    chunk->statistics.min_value = chunk->statistics.max_value = (firn_slice){0};
}

/* Days since 1970 as text, straight from the calendar of the C library. */
static const char *path_of(kit *k, int64_t day, size_t units, size_t number) {
    struct tm civil = {0};
    time_t seconds = (time_t)(day * 86400);
    gmtime_r(&seconds, &civil);
    const char *month = firn_arena_format(k->arena, "/month=%02d", civil.tm_mon + 1);
    const char *last = firn_arena_format(k->arena, "/day=%d", civil.tm_mday);
    return firn_arena_format(k->arena, "/lake/year=%d%s%s/%zu.parquet", civil.tm_year + 1900,
                             units > 1 ? month : "", units > 2 ? last : "", number);
}

/* Whether the day lies in the partition of `wanted`. */
static bool is_in(int64_t day, int64_t wanted, size_t units) {
    struct tm a = {0};
    struct tm b = {0};
    time_t x = (time_t)(day * 86400);
    time_t y = (time_t)(wanted * 86400);
    gmtime_r(&x, &a);
    gmtime_r(&y, &b);
    return a.tm_year == b.tm_year && (units < 2 || a.tm_mon == b.tm_mon) &&
           (units < 3 || a.tm_mday == b.tm_mday);
}

typedef struct round_of {
    kit k;
    test_generator *random;
    size_t units;
    bool proves[COLUMNS];
    bool has_rows;
    firn_lake_layout *layout;
    const firn_schema *schema;
} round_of;

/* Each column stays within the path's partition, mostly. */
static void show_file(round_of *r, size_t number) {
    static const int64_t within_day[] = {0, 1, 43200, 86399};
    size_t rows = test_generator_below(r->random, MOST_ROWS);
    int64_t day = 19700 + (int64_t)test_generator_below(r->random, 800);
    int64_t cells[COLUMNS][MOST_ROWS];
    const firn_slice *columns[COLUMNS];
    r->has_rows = r->has_rows || rows > 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        int64_t spread = test_generator_below(r->random, 8) == 0 ? 40 : 1;
        bool nulls = test_generator_below(r->random, 20) == 0;
        for (size_t j = 0; j < rows; j++) {
            int64_t at = day + (int64_t)test_generator_below(r->random, (uint64_t)spread);
            int64_t second = at * 86400 + within_day[test_generator_below(r->random, 4)];
            cells[i][j] = nulls    ? KIT_NULL
                          : i == 0 ? at
                          : i == 1 ? second * 1000000 + 999999
                                   : second * 1000 + 999;
            r->proves[i] = r->proves[i] && !nulls && is_in(at, day, r->units);
        }
        columns[i] = kit_numbers(&r->k, i == 0 ? 4 : 8, cells[i], rows);
    }
    kit_group group = {rows, columns};
    firn_lake_file file =
        kit_put(&r->k, path_of(&r->k, day, r->units, number), 6, SCHEMA, &group, 1);
    firn_parquet_file *parquet = kit_footer(&r->k, &file);
    firn_lake_columns found;
    check_ok(firn_lake_columns_of(r->schema, NULL, 2, parquet, file.location, r->k.arena, &found,
                                  &r->k.error),
             &r->k.error);
    check_ok(firn_lake_layout_observe(r->layout, r->k.storage, &file, parquet, r->schema, &found,
                                      &r->k.error),
             &r->k.error);
    firn_parquet_file_close(parquet);
}

static void run_round(test_generator *random) {
    round_of r = {.k = kit_new(), .random = random, .proves = {true, true, true}};
    r.k.tamper = strip;
    r.k.tamper_context = random;
    r.units = 1 + test_generator_below(random, 3);
    r.schema = kit_schema(&r.k, FIELDS);
    check_ok(firn_lake_layout_new(NULL, 0, &r.layout, &r.k.error), &r.k.error);
    size_t files = 1 + test_generator_below(random, MOST_FILES);
    for (size_t i = 0; i < files; i++) show_file(&r, i);
    size_t count = 0;
    size_t which = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!r.proves[i]) continue;
        count++;
        which = i;
    }
    json_t *spec = NULL;
    firn_status status = firn_lake_layout_spec(r.layout, r.schema, &spec, &r.k.error);
    if (!r.has_rows || count == 0) {
        check_fails(status, FIRN_INVALID, &r.k.error, "is the first path that none does");
    } else if (count > 1) {
        check_fails(status, FIRN_INVALID, &r.k.error, "could be of each of the columns");
    } else {
        check_ok(status, &r.k.error);
        const json_t *fields = json_object_get(spec, "fields");
        assert_int_equal(json_array_size(fields), r.units);
        const char *wanted = firn_arena_format(r.k.arena, "%s_year", names[which]);
        assert_string_equal(json_string_value(json_object_get(json_array_get(fields, 0), "name")),
                            wanted);
    }
    json_decref(spec);
    firn_lake_layout_free(r.layout);
    kit_release(&r.k);
}

static void time_columns_are_those_of_all_values(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 1500; round++) run_round(&random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_columns_are_those_of_all_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
