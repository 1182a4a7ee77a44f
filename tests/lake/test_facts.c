/* What is believed of a column's statistics, and what it becomes. Fail closed: no bound, rather than a wrong one. */
#include <math.h>

#include "base/bytes.h"
#include "iceberg/decimal.h"
#include "lake/facts.h"
#include "lake/facts_internal.h"
#include "support/check.h"

#define GROUPS 3

/* A file of one column, whose row groups a test fills in. */
typedef struct world {
    firn_arena *arena;
    firn_parquet_schema_element elements[2];
    firn_parquet_column_chunk chunks[GROUPS];
    firn_parquet_row_group groups[GROUPS];
    uint8_t orders[1];
    firn_parquet_file_metadata metadata;
    firn_parquet_file file;
    firn_lake_column_facts facts;
    firn_error error;
} world;

static world world_new(firn_parquet_physical_type type, firn_parquet_logical_type logical) {
    world w = {.arena = firn_arena_new(), .orders = {1}};
    assert_non_null(w.arena);
    w.elements[0] = (firn_parquet_schema_element){.name = "schema", .num_children = 1};
    w.elements[1] = (firn_parquet_schema_element){.has_type = true,
                                                  .type = type,
                                                  .has_repetition = true,
                                                  .repetition = FIRN_PARQUET_OPTIONAL,
                                                  .name = "c",
                                                  .type_length = 16,
                                                  .logical = logical};
    for (size_t i = 0; i < GROUPS; i++) {
        w.chunks[i] = (firn_parquet_column_chunk){.type = type,
                                                  .num_values = 10,
                                                  .total_compressed_size = 100,
                                                  .has_metadata = true,
                                                  .statistics = {.has_null_count = true}};
    }
    w.metadata = (firn_parquet_file_metadata){.schema_count = 2,
                                              .row_group_count = 1,
                                              .created_by = "test version 1.0",
                                              .column_order_count = 1};
    return w;
}

static firn_status look(world *w, const firn_type *type) {
    w->file = (firn_parquet_file){.arena = w->arena, .source.name = "f.parquet"};
    w->metadata.schema = w->elements;
    w->metadata.column_orders = w->orders[0] == 0xFF ? NULL : w->orders;
    w->metadata.row_groups = w->groups;
    for (size_t i = 0; i < GROUPS; i++) {
        w->groups[i] = (firn_parquet_row_group){
            .columns = &w->chunks[i], .column_count = 1, .num_rows = w->chunks[i].num_values};
    }
    check_ok(firn_parquet_schema_build(w->elements, 2, "f.parquet", w->arena, &w->file.schema,
                                       &w->error),
             &w->error);
    w->file.metadata = &w->metadata;
    return firn_lake_column_facts_of(&w->file, 0, type, w->arena, &w->facts, &w->error);
}

static void look_well(world *w, const firn_type *type) {
    check_ok(look(w, type), &w->error);
}

static void no_bounds(const world *w) {
    assert_false(w->facts.has_lower);
    assert_false(w->facts.has_upper);
    assert_false(w->facts.lower_exact);
    assert_false(w->facts.upper_exact);
}

static void release(world *w) {
    firn_arena_free(w->arena);
}

static firn_slice le32(world *w, int32_t value) {
    uint8_t bytes[4];
    firn_store_le32(bytes, (uint32_t)value);
    return firn_slice_of(firn_arena_memdup(w->arena, bytes, 4), 4);
}

static firn_slice le64(world *w, int64_t value) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)value);
    return firn_slice_of(firn_arena_memdup(w->arena, bytes, 8), 8);
}

static firn_slice of_double(world *w, double value) {
    return le64(w, (int64_t)firn_bits_of_double(value));
}

static firn_slice of_float(world *w, float value) {
    return le32(w, (int32_t)firn_bits_of_float(value));
}

static void set(world *w, size_t group, firn_slice low, firn_slice high) {
    w->chunks[group].statistics.min_value = low;
    w->chunks[group].statistics.max_value = high;
    if (w->metadata.row_group_count <= group) w->metadata.row_group_count = group + 1;
}

static void set_deprecated(world *w, firn_slice low, firn_slice high) {
    set(w, 0, (firn_slice){0}, (firn_slice){0});
    w->chunks[0].statistics.deprecated_min = low;
    w->chunks[0].statistics.deprecated_max = high;
}

static const firn_parquet_logical_type plain = {0};
static const firn_type boolean_type = {.kind = FIRN_TYPE_BOOLEAN, .text = "boolean"};
static const firn_type int_type = {.kind = FIRN_TYPE_INT, .text = "int"};
static const firn_type long_type = {.kind = FIRN_TYPE_LONG, .text = "long"};
static const firn_type float_type = {.kind = FIRN_TYPE_FLOAT, .text = "float"};
static const firn_type double_type = {.kind = FIRN_TYPE_DOUBLE, .text = "double"};
static const firn_type string_type = {.kind = FIRN_TYPE_STRING, .text = "string"};
static const firn_type binary_type = {.kind = FIRN_TYPE_BINARY, .text = "binary"};
static const firn_type uuid_type = {.kind = FIRN_TYPE_UUID, .text = "uuid"};
static const firn_type time_type = {.kind = FIRN_TYPE_TIME, .text = "time"};
static const firn_type date_type = {.kind = FIRN_TYPE_DATE, .text = "date"};
static const firn_type micros_type = {.kind = FIRN_TYPE_TIMESTAMP, .text = "timestamp"};
static const firn_type nanos_type = {.kind = FIRN_TYPE_TIMESTAMP_NS, .text = "timestamp_ns"};

static void row_groups_are_joined(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, plain);
    set(&w, 0, le32(&w, 5), le32(&w, 7));
    set(&w, 1, le32(&w, -3), le32(&w, 6));
    w.chunks[1].statistics.null_count = 2;
    look_well(&w, &int_type);
    assert_int_equal(w.facts.values, 20);
    assert_int_equal(w.facts.nulls, 2);
    assert_int_equal(w.facts.nans, 0);
    assert_int_equal(w.facts.compressed_size, 200);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    assert_true(w.facts.lower_exact && w.facts.upper_exact);
    assert_int_equal(w.facts.lower.as.int32, -3);
    assert_int_equal(w.facts.upper.as.int32, 7);
    release(&w);
}

static void a_group_without_bounds_takes_all(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, plain);
    set(&w, 0, le32(&w, 5), le32(&w, 7));
    set(&w, 1, (firn_slice){0}, (firn_slice){0});
    w.chunks[1].statistics.null_count = 9;
    look_well(&w, &int_type);
    no_bounds(&w);
    assert_int_equal(w.facts.nulls, 9);
    /* Nulls unknown: there may be values. */
    w.chunks[1].statistics.has_null_count = false;
    look_well(&w, &int_type);
    no_bounds(&w);
    assert_int_equal(w.facts.nulls, -1);
    /* All null, or no rows: nothing that a bound could miss. */
    w.chunks[1].statistics.has_null_count = true;
    w.chunks[1].statistics.null_count = 10;
    look_well(&w, &int_type);
    assert_int_equal(w.facts.lower.as.int32, 5);
    assert_int_equal(w.facts.nulls, 10);
    w.chunks[1].num_values = 0;
    w.chunks[1].statistics = (firn_parquet_statistics){0};
    look_well(&w, &int_type);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    assert_int_equal(w.facts.nulls, 0);
    /* One side is missing: the other one still holds. */
    set(&w, 2, le32(&w, 1), (firn_slice){0});
    look_well(&w, &int_type);
    assert_true(w.facts.has_lower);
    assert_int_equal(w.facts.lower.as.int32, 1);
    assert_false(w.facts.has_upper);
    release(&w);
}

static void nothing_is_known_of_no_rows(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, plain);
    w.metadata.row_group_count = 0;
    look_well(&w, &int_type);
    no_bounds(&w);
    assert_int_equal(w.facts.values, 0);
    assert_int_equal(w.facts.nulls, 0);
    check_fails(firn_lake_column_facts_of(&w.file, 1, &int_type, w.arena, &w.facts, &w.error),
                FIRN_INVALID, &w.error, "f.parquet");
    release(&w);
}

static void counts_that_cannot_be(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, plain);
    w.chunks[0].statistics.null_count = 11;
    check_fails(look(&w, &int_type), FIRN_CORRUPT, &w.error, "column c: null_count is 11");
    w.chunks[0].statistics.null_count = -1;
    look_well(&w, &int_type);
    assert_int_equal(w.facts.nulls, -1);
    w.chunks[0].total_compressed_size = INT64_MAX;
    w.metadata.row_group_count = 2;
    check_fails(look(&w, &int_type), FIRN_CORRUPT, &w.error, "f.parquet: row group 1");
    release(&w);
    /* A required column has no nulls, whatever it says; below a list writers count differently. */
    w = world_new(FIRN_PARQUET_INT32, plain);
    w.elements[1].repetition = FIRN_PARQUET_REQUIRED;
    w.chunks[0].statistics.null_count = 10;
    look_well(&w, &int_type);
    assert_int_equal(w.facts.nulls, 0);
    w.elements[1].repetition = FIRN_PARQUET_REPEATED;
    w.chunks[0].statistics.null_count = 11;
    look_well(&w, &int_type);
    assert_int_equal(w.facts.nulls, -1);
    release(&w);
}

static void encrypted_columns_are_unknown(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, plain);
    set(&w, 0, le32(&w, 5), le32(&w, 7));
    w.chunks[1] = (firn_parquet_column_chunk){.encrypted = true};
    w.metadata.row_group_count = 2;
    look_well(&w, &int_type);
    no_bounds(&w);
    assert_int_equal(w.facts.nulls, -1);
    release(&w);
}

static void sizes_and_order(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, plain);
    set(&w, 0, le32(&w, 8), le32(&w, 7));
    look_well(&w, &int_type);
    no_bounds(&w);
    set(&w, 0, firn_slice_of("\1", 1), le32(&w, 7));
    look_well(&w, &int_type);
    no_bounds(&w);
    set(&w, 0, firn_slice_of("", 0), firn_slice_of("", 0));
    look_well(&w, &int_type);
    no_bounds(&w);
    set(&w, 0, le64(&w, 1), le64(&w, 2));
    look_well(&w, &long_type);
    no_bounds(&w);
    release(&w);
    w = world_new(FIRN_PARQUET_BOOLEAN, plain);
    set(&w, 0, firn_slice_of("\0", 1), firn_slice_of("\1", 1));
    look_well(&w, &boolean_type);
    assert_false(w.facts.lower.as.boolean);
    assert_true(w.facts.upper.as.boolean);
    set(&w, 0, firn_slice_of("\0", 1), firn_slice_of("\2", 1));
    look_well(&w, &boolean_type);
    no_bounds(&w);
    release(&w);
    w = world_new(FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY,
                  (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_UUID});
    set(&w, 0, firn_slice_of("0123456789abcdef", 16), firn_slice_of("1123456789abcdef", 16));
    look_well(&w, &uuid_type);
    assert_true(w.facts.lower_exact && w.facts.upper_exact);
    set(&w, 0, firn_slice_of("0123456789abcde", 15), firn_slice_of("1123456789abcdef", 16));
    look_well(&w, &uuid_type);
    no_bounds(&w);
    release(&w);
}

static void not_a_number(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_DOUBLE, plain);
    set(&w, 0, of_double(&w, 1), of_double(&w, 2));
    look_well(&w, &double_type);
    assert_true(w.facts.has_lower && w.facts.lower_exact);
    assert_int_equal(w.facts.nans, -1);
    set(&w, 1, of_double(&w, 1), of_double(&w, NAN));
    look_well(&w, &double_type);
    no_bounds(&w);
    /* Nothing but NaN and nulls: no bounds are missing, and the count is known. */
    w.chunks[0].statistics.has_nan_count = true;
    w.chunks[1].statistics = (firn_parquet_statistics){
        .has_null_count = true, .null_count = 4, .has_nan_count = true, .nan_count = 6};
    look_well(&w, &double_type);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    assert_int_equal(w.facts.nans, 6);
    w.chunks[1].statistics.nan_count = 7;
    look_well(&w, &double_type);
    assert_int_equal(w.facts.nans, -1);
    no_bounds(&w);
    release(&w);
}

static void zeros_stand_for_both(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_DOUBLE, plain);
    set(&w, 0, of_double(&w, 0.0), of_double(&w, -0.0));
    look_well(&w, &double_type);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    assert_true(signbit(w.facts.lower.as.float64) && !signbit(w.facts.upper.as.float64));
    assert_false(w.facts.lower_exact || w.facts.upper_exact);
    release(&w);
    w = world_new(FIRN_PARQUET_FLOAT, plain);
    set(&w, 0, of_float(&w, 0.0F), of_float(&w, 1.5F));
    look_well(&w, &float_type);
    assert_true(signbit(w.facts.lower.as.float32));
    look_well(&w, &double_type);
    assert_true(w.facts.upper.as.float64 == 1.5 && w.facts.upper_exact);
    release(&w);
}

static void types_without_an_order(void **state) {
    (void)state;
    static const firn_parquet_logical_type half = {.kind = FIRN_PARQUET_LOGICAL_FLOAT16},
                                           interval = {.kind = FIRN_PARQUET_LOGICAL_INTERVAL},
                                           unknown = {.kind = FIRN_PARQUET_LOGICAL_UNKNOWN},
                                           geometry = {.kind = FIRN_PARQUET_LOGICAL_GEOMETRY};
    static const firn_type fixed_type = {.kind = FIRN_TYPE_FIXED, .length = 2, .text = "fixed[2]"};
    static const firn_type wide_type = {.kind = FIRN_TYPE_FIXED, .length = 12, .text = "fixed[12]"};
    static const firn_type geometry_type = {.kind = FIRN_TYPE_GEOMETRY, .text = "geometry"};
    const struct {
        firn_parquet_physical_type type;
        firn_parquet_logical_type logical;
        int32_t length;
        const firn_type *table;
    } cases[] = {
        {FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, half, 2, &fixed_type},
        {FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, interval, 12, &wide_type},
        {FIRN_PARQUET_INT96, plain, 12, &micros_type},
        {FIRN_PARQUET_BYTE_ARRAY, unknown, 12, &binary_type},
        {FIRN_PARQUET_BYTE_ARRAY, geometry, 12, &geometry_type},
        {FIRN_PARQUET_BYTE_ARRAY, plain, 12, &geometry_type},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w = world_new(cases[i].type, cases[i].logical);
        w.elements[1].type_length = cases[i].length;
        set(&w, 0, firn_slice_of("aaaaaaaaaaaa", (size_t)cases[i].length),
            firn_slice_of("bbbbbbbbbbbb", (size_t)cases[i].length));
        look_well(&w, cases[i].table);
        no_bounds(&w);
        release(&w);
    }
}

static void the_deprecated_pair(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT64, plain);
    w.orders[0] = 0xFF;
    set_deprecated(&w, le64(&w, -5), le64(&w, 5));
    look_well(&w, &long_type);
    assert_int_equal(w.facts.lower.as.int64, -5);
    assert_true(w.facts.upper_exact);
    w.elements[1].logical =
        (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 64};
    look_well(&w, &long_type);
    no_bounds(&w);
    release(&w);
    w = world_new(FIRN_PARQUET_BYTE_ARRAY, plain);
    set_deprecated(&w, firn_slice_text("a"), firn_slice_text("a"));
    look_well(&w, &string_type);
    no_bounds(&w);
    release(&w);
    w = world_new(FIRN_PARQUET_DOUBLE, plain);
    set_deprecated(&w, of_double(&w, 1), of_double(&w, 2));
    look_well(&w, &double_type);
    no_bounds(&w);
    release(&w);
}

/* Which statistics are believed is tested beside the rule, tests/parquet/test_statistics_trust.c. */
static void writers_are_told_apart(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_BYTE_ARRAY, plain);
    set(&w, 0, firn_slice_text("a"), firn_slice_text("b"));
    look_well(&w, &string_type);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    w.metadata.created_by = "Polars";
    look_well(&w, &string_type);
    no_bounds(&w);
    w.metadata.created_by = NULL;
    w.orders[0] = 0;
    look_well(&w, &string_type);
    no_bounds(&w);
    w.orders[0] = 0xFF;
    look_well(&w, &string_type);
    no_bounds(&w);
    release(&w);
}

static void exactness(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_BYTE_ARRAY, plain);
    set(&w, 0, firn_slice_text("a"), firn_slice_text("c"));
    firn_parquet_statistics *s = &w.chunks[0].statistics;
    look_well(&w, &string_type);
    assert_false(w.facts.lower_exact || w.facts.upper_exact);
    s->has_min_exact = s->has_max_exact = s->min_exact = true;
    look_well(&w, &string_type);
    assert_true(w.facts.lower_exact && !w.facts.upper_exact);
    s->has_min_exact = s->has_max_exact = false;
    w.metadata.created_by = "parquet-cpp-arrow version 26.0.1";
    look_well(&w, &string_type);
    assert_true(w.facts.lower_exact && w.facts.upper_exact);
    w.metadata.created_by = "parquet-mr version 1.16.0";
    look_well(&w, &string_type);
    assert_false(w.facts.lower_exact || w.facts.upper_exact);
    /* Between equal bounds there is one value only. */
    set(&w, 0, firn_slice_text("a"), firn_slice_text("a"));
    look_well(&w, &string_type);
    assert_true(w.facts.lower_exact && w.facts.upper_exact);
    /* The same bound from two groups, one of which has the value. */
    set(&w, 0, firn_slice_text("a"), firn_slice_text("c"));
    set(&w, 1, firn_slice_text("a"), firn_slice_text("b"));
    w.chunks[1].statistics.has_min_exact = w.chunks[1].statistics.min_exact = true;
    look_well(&w, &string_type);
    assert_true(w.facts.lower_exact && !w.facts.upper_exact);
    release(&w);
}

static void text_is_utf8(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_BYTE_ARRAY, plain);
    set(&w, 0, firn_slice_text(""), firn_slice_text("\xC3\xA9"));
    look_well(&w, &string_type);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    assert_int_equal(w.facts.lower.as.bytes.size, 0);
    assert_non_null(w.facts.lower.as.bytes.data);
    set(&w, 0, firn_slice_text("a"), firn_slice_text("\xC3"));
    look_well(&w, &string_type);
    no_bounds(&w);
    look_well(&w, &binary_type);
    assert_true(w.facts.has_lower && w.facts.has_upper);
    release(&w);
}

static void integers(void **state) {
    (void)state;
    world w = world_new(
        FIRN_PARQUET_INT32,
        (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 32});
    set(&w, 0, le32(&w, 1), le32(&w, -1));
    look_well(&w, &long_type);
    assert_int_equal(w.facts.lower.as.int64, 1);
    assert_int_equal(w.facts.upper.as.int64, UINT32_MAX);
    look_well(&w, &int_type);
    assert_true(w.facts.has_lower);
    assert_false(w.facts.has_upper);
    w.elements[1].logical.is_signed = true;
    set(&w, 0, le32(&w, -1), le32(&w, 1));
    look_well(&w, &long_type);
    assert_int_equal(w.facts.lower.as.int64, -1);
    release(&w);
    w = world_new(FIRN_PARQUET_INT64, (firn_parquet_logical_type){
                                          .kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 64});
    set(&w, 0, le64(&w, 1), le64(&w, -1));
    look_well(&w, &long_type);
    assert_true(w.facts.has_lower);
    assert_false(w.facts.has_upper);
    release(&w);
}

static void decimals(void **state) {
    (void)state;
    static const firn_parquet_logical_type d92 = {
        .kind = FIRN_PARQUET_LOGICAL_DECIMAL, .precision = 9, .scale = 2};
    static const firn_type narrow = {
        .kind = FIRN_TYPE_DECIMAL, .precision = 5, .scale = 2, .text = "decimal(5,2)"};
    static const firn_type wide = {
        .kind = FIRN_TYPE_DECIMAL, .precision = 20, .scale = 2, .text = "decimal(20,2)"};
    static const firn_type other = {
        .kind = FIRN_TYPE_DECIMAL, .precision = 20, .scale = 3, .text = "decimal(20,3)"};
    static const uint8_t minus_two[16] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                          0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE};
    static const uint8_t three[16] = {[15] = 3};
    world w = world_new(FIRN_PARQUET_INT32, d92);
    set(&w, 0, le32(&w, -12345), le32(&w, 100000));
    look_well(&w, &wide);
    assert_true(w.facts.lower.as.decimal == -12345 && w.facts.upper.as.decimal == 100000);
    assert_true(w.facts.lower_exact && w.facts.upper_exact);
    look_well(&w, &narrow);
    assert_true(w.facts.has_lower);
    assert_false(w.facts.has_upper);
    look_well(&w, &other);
    no_bounds(&w);
    release(&w);
    w = world_new(FIRN_PARQUET_INT64, d92);
    set(&w, 0, le64(&w, -1), le64(&w, 7));
    look_well(&w, &wide);
    assert_true(w.facts.lower.as.decimal == -1 && w.facts.upper.as.decimal == 7);
    release(&w);
    w = world_new(FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, d92);
    set(&w, 0, firn_slice_of(minus_two, 16), firn_slice_of(three, 16));
    look_well(&w, &wide);
    assert_true(w.facts.lower.as.decimal == -2 && w.facts.upper.as.decimal == 3);
    release(&w);
    w = world_new(FIRN_PARQUET_BYTE_ARRAY, d92);
    set(&w, 0, firn_slice_of("\xFF\x00", 2), firn_slice_of("\x01", 1));
    set(&w, 1, firn_slice_of("\x81", 1), firn_slice_of("\x00\x80", 2));
    look_well(&w, &wide);
    assert_true(w.facts.lower.as.decimal == -256 && w.facts.upper.as.decimal == 128);
    set(&w, 1, firn_slice_of("", 0), firn_slice_of("\x01", 1));
    look_well(&w, &wide);
    no_bounds(&w);
    release(&w);
}

static firn_parquet_logical_type time_of(firn_parquet_time_unit unit) {
    return (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_TIME, .unit = unit};
}

static firn_parquet_logical_type timestamp_of(firn_parquet_time_unit unit) {
    return (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_TIMESTAMP, .unit = unit};
}

static void times(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT32, time_of(FIRN_PARQUET_MILLIS));
    set(&w, 0, le32(&w, 7), le32(&w, 86400000));
    look_well(&w, &time_type);
    assert_int_equal(w.facts.lower.as.int64, 7000);
    assert_true(w.facts.lower_exact);
    assert_false(w.facts.has_upper);
    release(&w);
    w = world_new(FIRN_PARQUET_INT64, time_of(FIRN_PARQUET_NANOS));
    set(&w, 0, le64(&w, 1999), le64(&w, 2001));
    look_well(&w, &time_type);
    assert_int_equal(w.facts.lower.as.int64, 1);
    assert_int_equal(w.facts.upper.as.int64, 3);
    assert_false(w.facts.lower_exact || w.facts.upper_exact);
    set(&w, 0, le64(&w, 2000), le64(&w, INT64_C(86399999999999)));
    look_well(&w, &time_type);
    assert_true(w.facts.lower_exact);
    assert_false(w.facts.has_upper);
    release(&w);
}

static void timestamps(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_INT64, timestamp_of(FIRN_PARQUET_MILLIS));
    set(&w, 0, le64(&w, -5), le64(&w, 5));
    look_well(&w, &micros_type);
    assert_int_equal(w.facts.lower.as.int64, -5000);
    assert_int_equal(w.facts.upper.as.int64, 5000);
    look_well(&w, &nanos_type);
    assert_int_equal(w.facts.upper.as.int64, 5000000);
    set(&w, 0, le64(&w, -5), le64(&w, INT64_MAX / 1000 + 1));
    look_well(&w, &micros_type);
    assert_true(w.facts.has_lower);
    assert_false(w.facts.has_upper);
    release(&w);
    w = world_new(FIRN_PARQUET_INT64, timestamp_of(FIRN_PARQUET_NANOS));
    set(&w, 0, le64(&w, -1001), le64(&w, -999));
    look_well(&w, &micros_type);
    assert_int_equal(w.facts.lower.as.int64, -2);
    assert_int_equal(w.facts.upper.as.int64, 0);
    look_well(&w, &nanos_type);
    assert_int_equal(w.facts.lower.as.int64, -1001);
    assert_true(w.facts.upper_exact);
    set(&w, 0, le64(&w, 1001), le64(&w, INT64_MAX));
    look_well(&w, &micros_type);
    assert_int_equal(w.facts.lower.as.int64, 1);
    assert_int_equal(w.facts.upper.as.int64, INT64_MAX / 1000 + 1);
    release(&w);
    w = world_new(FIRN_PARQUET_INT64, timestamp_of(FIRN_PARQUET_MICROS));
    set(&w, 0, le64(&w, 1), le64(&w, 2));
    look_well(&w, &micros_type);
    assert_int_equal(w.facts.lower.as.int64, 1);
    look_well(&w, &long_type);
    no_bounds(&w);
    release(&w);
    w = world_new(FIRN_PARQUET_INT32,
                  (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_DATE});
    set(&w, 0, le32(&w, -1), le32(&w, 200000));
    look_well(&w, &date_type);
    assert_int_equal(w.facts.lower.as.int32, -1);
    look_well(&w, &micros_type);
    assert_int_equal(w.facts.lower.as.int64, INT64_C(-86400000000));
    look_well(&w, &nanos_type);
    assert_true(w.facts.has_lower);
    assert_false(w.facts.has_upper);
    release(&w);
}

static firn_status facts_in_little_memory(void *context, firn_error *error) {
    world *w = context;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_lake_column_facts facts;
    firn_status status = firn_lake_column_facts_of(&w->file, 0, &string_type, arena, &facts, error);
    firn_arena_free(arena);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    world w = world_new(FIRN_PARQUET_BYTE_ARRAY, plain);
    set(&w, 0, firn_slice_text("a"), firn_slice_text("b"));
    look_well(&w, &string_type);
    check_each_allocation(facts_in_little_memory, &w);
    release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_groups_are_joined),
        cmocka_unit_test(a_group_without_bounds_takes_all),
        cmocka_unit_test(nothing_is_known_of_no_rows),
        cmocka_unit_test(counts_that_cannot_be),
        cmocka_unit_test(encrypted_columns_are_unknown),
        cmocka_unit_test(sizes_and_order),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(zeros_stand_for_both),
        cmocka_unit_test(types_without_an_order),
        cmocka_unit_test(the_deprecated_pair),
        cmocka_unit_test(writers_are_told_apart),
        cmocka_unit_test(exactness),
        cmocka_unit_test(text_is_utf8),
        cmocka_unit_test(integers),
        cmocka_unit_test(decimals),
        cmocka_unit_test(times),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
