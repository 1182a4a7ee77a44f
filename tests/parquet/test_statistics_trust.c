/* The rule of which statistics may be built on, clause by clause. Fail closed: no bound, rather than a wrong one. */
#include <math.h>

#include "base/bytes.h"
#include "parquet/statistics_trust.h"
#include "support/check.h"

/* A column of a file, with statistics that are believed until a test changes something. */
typedef struct world {
    firn_parquet_schema_element element;
    firn_parquet_node node;
    firn_parquet_leaf leaf;
    uint8_t orders[1];
    firn_parquet_file_metadata metadata;
    firn_parquet_statistics statistics;
    uint8_t room[4][8];
} world;

static world *world_of(world *w, firn_parquet_physical_type type,
                       firn_parquet_logical_type logical) {
    *w = (world){.orders = {1}};
    w->element = (firn_parquet_schema_element){
        .has_type = true, .type = type, .type_length = 2, .name = "c", .logical = logical};
    w->node.element = &w->element;
    w->leaf = (firn_parquet_leaf){.node = &w->node, .path_length = 1};
    w->metadata = (firn_parquet_file_metadata){
        .created_by = "test version 1.0", .column_orders = w->orders, .column_order_count = 1};
    return w;
}

static const firn_parquet_logical_type plain = {0};

static firn_parquet_logical_type kind(firn_parquet_logical_kind which) {
    return (firn_parquet_logical_type){.kind = which};
}

static firn_slice in_room(world *w, int slot, uint64_t bits, size_t size) {
    firn_store_le64(w->room[slot], bits);
    return firn_slice_of(w->room[slot], size);
}

static void set_longs(world *w, int64_t least, int64_t greatest) {
    w->statistics.min_value = in_room(w, 0, (uint64_t)least, 8);
    w->statistics.max_value = in_room(w, 1, (uint64_t)greatest, 8);
}

static void set_doubles(world *w, double least, double greatest) {
    w->statistics.min_value = in_room(w, 0, firn_bits_of_double(least), 8);
    w->statistics.max_value = in_room(w, 1, firn_bits_of_double(greatest), 8);
}

static void set_texts(world *w, const char *least, const char *greatest) {
    w->statistics.min_value = firn_slice_text(least);
    w->statistics.max_value = firn_slice_text(greatest);
}

/* Leaves only the deprecated pair. */
static void make_deprecated(world *w) {
    firn_parquet_statistics *s = &w->statistics;
    s->deprecated_min = s->min_value;
    s->deprecated_max = s->max_value;
    s->min_value = s->max_value = (firn_slice){0};
}

static firn_parquet_trusted_pair trust(const world *w) {
    return firn_parquet_trust_bounds(&w->metadata, &w->leaf, &w->statistics);
}

static bool is_trusted(const world *w) {
    firn_parquet_trusted_pair found = trust(w);
    if (found.minimum.data == NULL) assert_false(found.minimum_exact);
    if (found.maximum.data == NULL) assert_false(found.maximum_exact);
    assert_int_equal(found.minimum.data == NULL, found.maximum.data == NULL);
    return found.minimum.data != NULL;
}

static void column_orders_are_needed(void **state) {
    (void)state;
    world w;
    const firn_parquet_physical_type types[] = {FIRN_PARQUET_INT64, FIRN_PARQUET_DOUBLE,
                                                FIRN_PARQUET_BYTE_ARRAY};
    for (size_t i = 0; i < 3; i++) {
        world_of(&w, types[i], plain);
        set_longs(&w, 1, 2);
        assert_true(is_trusted(&w));
        w.orders[0] = 0;
        assert_false(is_trusted(&w));
        w.metadata.column_orders = NULL;
        assert_false(is_trusted(&w));
        w.metadata.column_orders = w.orders;
        w.orders[0] = 1;
        w.metadata.column_order_count = 0;
        assert_false(is_trusted(&w));
    }
}

static void types_without_an_order(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_INT96, plain);
    w.statistics.min_value = w.statistics.max_value = firn_slice_text("twelve bytes");
    assert_false(is_trusted(&w));
    const firn_parquet_logical_kind kinds[] = {
        FIRN_PARQUET_LOGICAL_UNKNOWN, FIRN_PARQUET_LOGICAL_GEOMETRY, FIRN_PARQUET_LOGICAL_INTERVAL};
    for (size_t i = 0; i < 3; i++) {
        world_of(&w, FIRN_PARQUET_BYTE_ARRAY, kind(kinds[i]));
        set_texts(&w, "a", "b");
        assert_false(is_trusted(&w));
        w.element.logical = plain;
        assert_true(is_trusted(&w));
    }
}

static void the_deprecated_pair_is_signed(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_INT64, plain);
    set_longs(&w, -5, 5);
    make_deprecated(&w);
    assert_true(is_trusted(&w));
    assert_true(trust(&w).minimum_exact && trust(&w).maximum_exact);
    /* It never hung on column_orders. */
    w.metadata.column_orders = NULL;
    assert_true(is_trusted(&w));
    w.statistics.min_value = in_room(&w, 2, 1, 8);
    w.statistics.max_value = in_room(&w, 3, 2, 8);
    assert_ptr_equal(trust(&w).minimum.data, w.statistics.deprecated_min.data);
    w.element.logical = kind(FIRN_PARQUET_LOGICAL_INTEGER); /* unsigned */
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_BOOLEAN, plain);
    w.statistics.min_value = in_room(&w, 0, 0, 1);
    w.statistics.max_value = in_room(&w, 1, 1, 1);
    make_deprecated(&w);
    assert_true(is_trusted(&w));
    /* What NaN did to floating point it does not tell, whoever wrote it; byte arrays were compared as signed. */
    world_of(&w, FIRN_PARQUET_DOUBLE, plain);
    w.metadata.created_by = "parquet-mr version 1.6.0";
    set_doubles(&w, 1, 2);
    make_deprecated(&w);
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, plain);
    set_texts(&w, "a", "a");
    make_deprecated(&w);
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_DECIMAL));
    set_texts(&w, "a", "b");
    make_deprecated(&w);
    assert_false(is_trusted(&w));
}

static void unsigned_integers_have_their_own_order(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_INT64, kind(FIRN_PARQUET_LOGICAL_INTEGER));
    set_longs(&w, 1, -1);
    assert_true(is_trusted(&w));
    set_longs(&w, -1, 1);
    assert_false(is_trusted(&w));
    w.element.logical.is_signed = true;
    assert_true(is_trusted(&w));
}

static void bounds_out_of_shape(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_INT64, plain);
    set_longs(&w, 2, 1);
    assert_false(is_trusted(&w));
    set_longs(&w, 1, 2);
    w.statistics.max_value.size = 7;
    assert_false(is_trusted(&w));
    w.statistics.max_value.size = 0;
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, plain);
    set_texts(&w, "aa", "bb");
    assert_true(is_trusted(&w));
    set_texts(&w, "aa", "b");
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_BOOLEAN, plain);
    w.statistics.min_value = in_room(&w, 0, 0, 1);
    w.statistics.max_value = in_room(&w, 1, 2, 1);
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_DECIMAL));
    set_texts(&w, "", "b");
    assert_false(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, plain);
    set_texts(&w, "", "b");
    assert_true(is_trusted(&w));
}

static void one_side_may_be_missing(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_INT64, plain);
    set_longs(&w, 1, 2);
    w.statistics.deprecated_max = in_room(&w, 2, 9, 8);
    w.statistics.max_value = (firn_slice){0};
    firn_parquet_trusted_pair found = trust(&w);
    assert_non_null(found.minimum.data);
    assert_null(found.maximum.data);
    assert_true(found.minimum_exact && !found.maximum_exact);
}

static void nan_is_no_bound(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_DOUBLE, plain);
    set_doubles(&w, 1, INFINITY);
    assert_true(is_trusted(&w));
    set_doubles(&w, 1, NAN);
    assert_false(is_trusted(&w));
    set_doubles(&w, NAN, 1);
    assert_false(is_trusted(&w));
    set_doubles(&w, 0.0, -0.0);
    assert_true(is_trusted(&w));
    world_of(&w, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_FLOAT16));
    w.statistics.min_value = in_room(&w, 0, 0x3C00, 2);
    w.statistics.max_value = in_room(&w, 1, 0x4000, 2);
    assert_true(is_trusted(&w));
    w.statistics.max_value = in_room(&w, 1, 0x7E00, 2);
    assert_false(is_trusted(&w));
}

typedef struct writer_case {
    const char *created_by;
    bool believed;
} writer_case;

static void check_writers(world *w, const writer_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        w->metadata.created_by = cases[i].created_by;
        if (is_trusted(w) == cases[i].believed) continue;
        fail_msg("%s", cases[i].created_by == NULL ? "no writer" : cases[i].created_by);
    }
}

#define CHECK_WRITERS(w, ...)                                                                      \
    do {                                                                                           \
        static const writer_case cases[] = {__VA_ARGS__};                                          \
        check_writers(w, cases, sizeof cases / sizeof *cases);                                     \
    } while (0)

static void writers_of_floating_point(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_DOUBLE, plain);
    set_doubles(&w, 1, 2);
    CHECK_WRITERS(&w, {"parquet-cpp version 1.0.0", false}, {"parquet-cpp version 1.3.1", false},
                  {"parquet-cpp version 0.9.9", false}, {"parquet-cpp version 1.4.0", true},
                  {"parquet-cpp version 1.5.1-SNAPSHOT", true},
                  {"parquet-cpp version 1.30.0", true}, {"parquet-cpp version 2.0", true},
                  {"parquet-cpp version 99999999999999999999.0", true},
                  {"parquet-cpp version 1", false}, {"parquet-cpp version ", false},
                  {"parquet-cpp version -1.9", false}, {"parquet-cpp version 1.x", false},
                  {"parquet-cpp", true}, {"parquet-cpp-arrow version 1.0.0", true},
                  {"Polars", true}, {"", true}, {NULL, true});
    /* … but for halves. */
    world_of(&w, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_FLOAT16));
    set_texts(&w, "a0", "b1");
    CHECK_WRITERS(&w, {"Polars", false}, {NULL, true});
}

static void writers_of_decimals(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_DECIMAL));
    set_texts(&w, "a0", "b0");
    CHECK_WRITERS(
        &w, {"parquet-cpp version 1.5.1-SNAPSHOT", false},
        {"parquet-cpp-arrow version 3.0.0", false}, {"parquet-cpp-arrow version 4.0.0", true},
        {"parquet-cpp-arrow version 26.0.1", true}, {"parquet-rs version 55.1.0", true},
        {"Polars", false}, {"ClickHouse v25.8.1.1-lts", false}, {"ClickHouse v25.9.3.2", true},
        {"github.com/segmentio/parquet-go version v0.4.0(build )", false},
        {"parquet-mr version 1.16.0 (build abc)", true}, {NULL, true});
    w.element.type = FIRN_PARQUET_BYTE_ARRAY;
    CHECK_WRITERS(&w, {"parquet-rs version 55.1.0", false}, {"parquet-mr version 1.16.0", true});
    /* Integers were always compared as such. */
    world_of(&w, FIRN_PARQUET_INT64, kind(FIRN_PARQUET_LOGICAL_DECIMAL));
    set_longs(&w, -1, 1);
    CHECK_WRITERS(&w, {"parquet-cpp version 1.5.1-SNAPSHOT", true}, {"Polars", true},
                  {"ClickHouse v24.3.1.1", true});
}

static void writers_of_byte_arrays(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_STRING));
    set_texts(&w, "a", "b");
    CHECK_WRITERS(&w, {"parquet-rs version 5.2.0", false}, {"parquet-rs version 0.3.0", false},
                  {"parquet-rs version 6.0.0", true}, {"parquet-rs version 55.1.0", true},
                  {"Polars", false}, {"ClickHouse v24.3.1.1", true},
                  {"github.com/segmentio/parquet-go version 0.0.0 (build x)", false},
                  {"github.com/parquet-go/parquet-go version v0.17.0(build )", false},
                  {"github.com/parquet-go/parquet-go version v0.18.0(build )", true},
                  {"github.com/parquet-go/parquet-go version v1.0.0(build )", true},
                  {"github.com/parquet-go/parquet-go version (devel)(build )", false},
                  {"parquet-cpp version 1.5.1-SNAPSHOT", true}, {NULL, true});
    world_of(&w, FIRN_PARQUET_INT64, kind(FIRN_PARQUET_LOGICAL_INTEGER));
    set_longs(&w, 1, 2);
    CHECK_WRITERS(&w, {"Polars", false}, {"parquet-rs version 5.2.0", true});
    w.element.logical.is_signed = true;
    CHECK_WRITERS(&w, {"Polars", true});
}

static void check_exact(const world *w, bool minimum, bool maximum) {
    firn_parquet_trusted_pair found = trust(w);
    assert_non_null(found.minimum.data);
    assert_int_equal(found.minimum_exact, minimum);
    assert_int_equal(found.maximum_exact, maximum);
}

static void exactness(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, plain);
    firn_parquet_statistics *s = &w.statistics;
    set_texts(&w, "a", "c");
    check_exact(&w, false, false);
    w.metadata.created_by = "parquet-mr version 1.16.0";
    check_exact(&w, false, false);
    w.metadata.created_by = "parquet-cpp-arrow version 14.0.2";
    check_exact(&w, true, true);
    s->has_min_exact = s->has_max_exact = s->min_exact = true;
    check_exact(&w, true, false);
    /* Rows whose struct is null: seen in files of DuckDB 1.5.5. */
    w.metadata.created_by = "DuckDB version v1.5.5 (build d8cdaa33fd)";
    check_exact(&w, true, false);
    w.leaf.path_length = 2;
    check_exact(&w, false, false);
    world_of(&w, FIRN_PARQUET_BYTE_ARRAY, kind(FIRN_PARQUET_LOGICAL_DECIMAL));
    set_texts(&w, "a", "c");
    check_exact(&w, true, true);
    world_of(&w, FIRN_PARQUET_INT64, plain);
    set_longs(&w, 1, 2);
    check_exact(&w, true, true);
    s->has_max_exact = true;
    check_exact(&w, true, false);
}

static void nan_counts(void **state) {
    (void)state;
    world w;
    world_of(&w, FIRN_PARQUET_DOUBLE, plain);
    w.leaf.maximum_definition_level = 1;
    firn_parquet_column_chunk chunk = {.num_values = 10};
    firn_parquet_statistics *s = &chunk.statistics;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), -1);
    s->has_nan_count = true;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 0);
    s->nan_count = 10;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 10);
    s->has_null_count = true;
    s->null_count = 4;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), -1);
    s->nan_count = 6;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 6);
    s->nan_count = -1;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), -1);
    /* A required column has no nulls, whatever is counted; a count that can't be is none. */
    s->nan_count = 10;
    w.leaf.maximum_definition_level = 0;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 10);
    w.leaf.maximum_definition_level = 1;
    s->null_count = 11;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 10);
    s->null_count = 10;
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 0);
    world_of(&w, FIRN_PARQUET_INT64, plain);
    assert_int_equal(firn_parquet_trust_nan_count(&w.leaf, &chunk), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(column_orders_are_needed),
        cmocka_unit_test(types_without_an_order),
        cmocka_unit_test(the_deprecated_pair_is_signed),
        cmocka_unit_test(unsigned_integers_have_their_own_order),
        cmocka_unit_test(bounds_out_of_shape),
        cmocka_unit_test(one_side_may_be_missing),
        cmocka_unit_test(nan_is_no_bound),
        cmocka_unit_test(writers_of_floating_point),
        cmocka_unit_test(writers_of_decimals),
        cmocka_unit_test(writers_of_byte_arrays),
        cmocka_unit_test(exactness),
        cmocka_unit_test(nan_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
