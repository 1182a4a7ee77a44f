/* Which columns of a file can be read as which type of a table, and how. */
#include <stdio.h>

#include "data/fixture.h"
#include "data/projection.h"

#define REFUSED -1

typedef struct type_case {
    const char *table;
    firn_parquet_physical_type physical;
    int32_t length;
    firn_parquet_logical_type logical;
    int conversion; /* REFUSED: none */
    int64_t factor;
} type_case;

#define NONE                                                                                       \
    { .kind = FIRN_PARQUET_LOGICAL_NONE }
#define OF(name)                                                                                   \
    { .kind = FIRN_PARQUET_LOGICAL_##name }
#define INTEGER(width, is)                                                                         \
    { .kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = width, .is_signed = is }
#define DECIMAL(p, s)                                                                              \
    { .kind = FIRN_PARQUET_LOGICAL_DECIMAL, .precision = p, .scale = s }
#define TIME(of, utc)                                                                              \
    { .kind = FIRN_PARQUET_LOGICAL_TIME, .unit = FIRN_PARQUET_##of, .adjusted_to_utc = utc }
#define TIMESTAMP(of, utc)                                                                         \
    { .kind = FIRN_PARQUET_LOGICAL_TIMESTAMP, .unit = FIRN_PARQUET_##of, .adjusted_to_utc = utc }
#define SAME FIRN_PARQUET_CONVERT_NONE
#define TO_DECIMAL FIRN_PARQUET_CONVERT_DECIMAL
#define FIXED FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY

static const type_case cases[] = {
    {"boolean", FIRN_PARQUET_BOOLEAN, 0, NONE, SAME, 1},
    {"boolean", FIRN_PARQUET_INT32, 0, NONE, REFUSED, 0},
    {"int", FIRN_PARQUET_INT32, 0, NONE, SAME, 1},
    {"int", FIRN_PARQUET_INT32, 0, INTEGER(8, true), SAME, 1},
    {"int", FIRN_PARQUET_INT32, 0, INTEGER(16, false), SAME, 1},
    {"int", FIRN_PARQUET_INT32, 0, INTEGER(32, false), REFUSED, 0},
    {"int", FIRN_PARQUET_INT32, 0, OF(DATE), REFUSED, 0},
    {"int", FIRN_PARQUET_INT64, 0, NONE, REFUSED, 0},
    {"long", FIRN_PARQUET_INT64, 0, NONE, SAME, 1},
    {"long", FIRN_PARQUET_INT64, 0, INTEGER(64, true), SAME, 1},
    {"long", FIRN_PARQUET_INT64, 0, INTEGER(64, false), REFUSED, 0},
    {"long", FIRN_PARQUET_INT32, 0, NONE, FIRN_PARQUET_CONVERT_INT32_TO_INT64, 1},
    {"long", FIRN_PARQUET_INT32, 0, INTEGER(32, false), FIRN_PARQUET_CONVERT_INT32_TO_INT64, 1},
    {"long", FIRN_PARQUET_INT64, 0, TIMESTAMP(MICROS, true), REFUSED, 0},
    {"float", FIRN_PARQUET_FLOAT, 0, NONE, SAME, 1},
    {"float", FIRN_PARQUET_DOUBLE, 0, NONE, REFUSED, 0},
    {"double", FIRN_PARQUET_DOUBLE, 0, NONE, SAME, 1},
    {"double", FIRN_PARQUET_FLOAT, 0, NONE, FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE, 1},
    {"double", FIXED, 2, OF(FLOAT16), REFUSED, 0},
    {"decimal(9,2)", FIRN_PARQUET_INT32, 0, DECIMAL(9, 2), SAME, 1},
    {"decimal(9,2)", FIRN_PARQUET_INT32, 0, DECIMAL(7, 2), SAME, 1},
    {"decimal(9,2)", FIRN_PARQUET_INT32, 0, DECIMAL(9, 3), REFUSED, 0},
    {"decimal(9,2)", FIRN_PARQUET_INT64, 0, DECIMAL(12, 2), REFUSED, 0},
    {"decimal(9,2)", FIRN_PARQUET_INT64, 0, DECIMAL(9, 2), TO_DECIMAL, 1},
    {"decimal(9,2)", FIXED, 16, DECIMAL(9, 2), TO_DECIMAL, 1},
    {"decimal(9,2)", FIRN_PARQUET_INT32, 0, NONE, REFUSED, 0},
    {"decimal(38,0)", FIRN_PARQUET_INT32, 0, DECIMAL(3, 0), TO_DECIMAL, 1},
    {"decimal(38,0)", FIRN_PARQUET_BYTE_ARRAY, 0, DECIMAL(38, 0), TO_DECIMAL, 1},
    {"decimal(38,0)", FIXED, 16, DECIMAL(38, 0), SAME, 1},
    {"decimal(20,0)", FIXED, 16, DECIMAL(20, 0), TO_DECIMAL, 1},
    {"decimal(20,0)", FIXED, 9, DECIMAL(19, 0), SAME, 1},
    {"date", FIRN_PARQUET_INT32, 0, OF(DATE), SAME, 1},
    {"date", FIRN_PARQUET_INT32, 0, NONE, REFUSED, 0},
    {"time", FIRN_PARQUET_INT64, 0, TIME(MICROS, false), SAME, 1},
    {"time", FIRN_PARQUET_INT32, 0, TIME(MILLIS, true), FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS,
     1000},
    {"time", FIRN_PARQUET_INT64, 0, TIME(NANOS, false), FIRN_PARQUET_CONVERT_SCALE_DOWN, 1000},
    {"time", FIRN_PARQUET_INT64, 0, NONE, REFUSED, 0},
    {"timestamp", FIRN_PARQUET_INT64, 0, TIMESTAMP(MICROS, false), SAME, 1},
    {"timestamp", FIRN_PARQUET_INT64, 0, TIMESTAMP(MICROS, true), SAME, 1},
    {"timestamp", FIRN_PARQUET_INT64, 0, TIMESTAMP(MILLIS, false), FIRN_PARQUET_CONVERT_SCALE_UP,
     1000},
    {"timestamp", FIRN_PARQUET_INT64, 0, TIMESTAMP(NANOS, false), FIRN_PARQUET_CONVERT_SCALE_DOWN,
     1000},
    {"timestamp", FIRN_PARQUET_INT96, 0, NONE, FIRN_PARQUET_CONVERT_INT96_TO_MICROS, 1},
    {"timestamp", FIRN_PARQUET_INT32, 0, OF(DATE), REFUSED, 0},
    {"timestamp", FIRN_PARQUET_INT64, 0, NONE, REFUSED, 0},
    {"timestamptz", FIRN_PARQUET_INT64, 0, TIMESTAMP(MICROS, true), SAME, 1},
    {"timestamptz", FIRN_PARQUET_INT64, 0, TIMESTAMP(MICROS, false), REFUSED, 0},
    {"timestamptz", FIRN_PARQUET_INT96, 0, NONE, FIRN_PARQUET_CONVERT_INT96_TO_MICROS, 1},
    {"timestamp_ns", FIRN_PARQUET_INT64, 0, TIMESTAMP(NANOS, false), SAME, 1},
    {"timestamp_ns", FIRN_PARQUET_INT64, 0, TIMESTAMP(MILLIS, false), FIRN_PARQUET_CONVERT_SCALE_UP,
     1000000},
    {"timestamp_ns", FIRN_PARQUET_INT96, 0, NONE, REFUSED, 0},
    {"string", FIRN_PARQUET_BYTE_ARRAY, 0, OF(STRING), SAME, 1},
    {"string", FIRN_PARQUET_BYTE_ARRAY, 0, NONE, SAME, 1},
    {"string", FIRN_PARQUET_BYTE_ARRAY, 0, OF(ENUM), SAME, 1},
    {"string", FIRN_PARQUET_BYTE_ARRAY, 0, DECIMAL(9, 2), REFUSED, 0},
    {"string", FIXED, 4, NONE, REFUSED, 0},
    {"binary", FIRN_PARQUET_BYTE_ARRAY, 0, NONE, SAME, 1},
    {"binary", FIRN_PARQUET_BYTE_ARRAY, 0, OF(STRING), REFUSED, 0},
    {"uuid", FIXED, 16, OF(UUID), SAME, 1},
    {"uuid", FIXED, 16, NONE, SAME, 1},
    {"uuid", FIXED, 15, NONE, REFUSED, 0},
    {"fixed[3]", FIXED, 3, NONE, SAME, 1},
    {"fixed[3]", FIXED, 4, NONE, REFUSED, 0},
    {"fixed[16]", FIXED, 16, OF(UUID), REFUSED, 0},
    {"geometry", FIRN_PARQUET_BYTE_ARRAY, 0, OF(GEOMETRY), SAME, 1},
    {"geometry", FIRN_PARQUET_BYTE_ARRAY, 0, NONE, SAME, 1},
    {"geometry(srid:3857)", FIRN_PARQUET_BYTE_ARRAY, 0, OF(GEOMETRY), REFUSED, 0},
    {"geometry(OGC:CRS84)", FIRN_PARQUET_BYTE_ARRAY, 0, OF(GEOMETRY), SAME, 1},
    {"geography", FIRN_PARQUET_BYTE_ARRAY, 0, OF(GEOGRAPHY), SAME, 1},
    {"geography", FIRN_PARQUET_BYTE_ARRAY, 0, OF(GEOMETRY), REFUSED, 0},
    {"geography(OGC:CRS84, karney)", FIRN_PARQUET_BYTE_ARRAY, 0, OF(GEOGRAPHY), REFUSED, 0},
    {"variant", FIRN_PARQUET_BYTE_ARRAY, 0, NONE, REFUSED, 0},
};

/* Legal from format v3 on. */
static const type_case promotions_v3[] = {
    {"timestamp", FIRN_PARQUET_INT32, 0, OF(DATE), FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP,
     INT64_C(86400000000)},
    {"timestamp_ns", FIRN_PARQUET_INT32, 0, OF(DATE), FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP,
     INT64_C(86400000000000)},
    {"timestamptz", FIRN_PARQUET_INT32, 0, OF(DATE), REFUSED, 0},
    {"timestamptz_ns", FIRN_PARQUET_INT32, 0, OF(DATE), REFUSED, 0},
    {"timestamp", FIRN_PARQUET_INT32, 0, NONE, REFUSED, 0},
};

static void check_case(const type_case *test, int format_version) {
    firn_error error = {0};
    char schema[200];
    snprintf(schema, sizeof schema,
             "[{\"id\": 1, \"name\": \"a\", \"required\": false, \"type\": \"%s\"}]", test->table);
    fixture pieces = {.format_version = 3, .schema = schema};
    firn_table_metadata *metadata = fixture_metadata(&pieces);
    firn_arena *arena = firn_arena_new();
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    const firn_parquet_schema *output = NULL;
    check_ok(firn_parquet_elements_of_schema(metadata->schema, arena, &elements, &count, &error),
             &error);
    check_ok(firn_parquet_schema_build(elements, count, "t", arena, &output, &error), &error);
    firn_parquet_schema_element given[2] = {elements[0],
                                            {.has_type = true,
                                             .type = test->physical,
                                             .type_length = test->length,
                                             .has_repetition = true,
                                             .repetition = FIRN_PARQUET_OPTIONAL,
                                             .name = "a",
                                             .has_field_id = true,
                                             .field_id = 1,
                                             .logical = test->logical}};
    firn_parquet_file file = {0};
    check_ok(firn_parquet_schema_build(given, 2, "f", arena, &file.schema, &error), &error);
    firn_projection projection = {0};
    firn_status status =
        firn_projection_build(metadata->schema, output, &file, "file.x", NULL, NULL, NULL,
                              format_version, arena, &projection, &error);
    if (test->conversion == REFUSED) {
        check_fails(status, FIRN_UNSUPPORTED, &error, "file.x: column \"a\" (field id 1)");
        check_fails(status, FIRN_UNSUPPORTED, &error, test->table);
    } else {
        check_ok(status, &error);
        assert_int_equal(projection.mappings[0].conversion, test->conversion);
        assert_int_equal(projection.mappings[0].factor, test->factor);
    }
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

static void conversions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s from type %d, annotation %d\n", cases[i].table, (int)cases[i].physical,
                      (int)cases[i].logical.kind);
        check_case(&cases[i], 2);
    }
    for (size_t i = 0; i < sizeof promotions_v3 / sizeof *promotions_v3; i++) {
        check_case(&promotions_v3[i], 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
