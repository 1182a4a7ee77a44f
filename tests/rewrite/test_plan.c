/* Which rows go where: each row once and in order, files of about equal bytes, row groups that are neither small nor large. */
#include "rewrite/plan.h"
#include "support/check.h"

#include "base/alloc.h"

#define MIB ((int64_t)1 << 20)

static const firn_plan_limits usual = {.output_count = 1,
                                       .row_group_bytes = 128 * MIB,
                                       .row_group_rows = 1048576,
                                       .wanted_memory = 32 * MIB,
                                       .most_memory = 1024 * MIB};

static void make_plan(const firn_plan_unit *units, size_t count, const firn_plan_limits *limits,
                      firn_rewrite_plan *plan) {
    firn_error error = {0};
    check_ok(firn_rewrite_plan_make(units, count, limits, plan, &error), &error);
}

/* Every unit's rows, in order and once; row groups cover the pieces; outputs rise without gaps. */
static void check_whole(const firn_plan_unit *units, size_t count, const firn_rewrite_plan *plan) {
    size_t unit = 0;
    int64_t row = 0;
    size_t output = 0;
    for (size_t i = 0; i < plan->pieces.count; i++) {
        const firn_plan_piece *piece = &plan->pieces.items[i];
        while (unit < count && row == units[unit].rows) {
            unit++;
            row = 0;
        }
        assert_true(unit < count);
        assert_int_equal(piece->input, units[unit].input);
        assert_int_equal(piece->row_group, units[unit].row_group);
        assert_int_equal(piece->first_row, row);
        assert_true(piece->row_count > 0);
        assert_true(piece->output == output || piece->output == output + 1);
        output = piece->output;
        row += piece->row_count;
    }
    while (unit < count && row == units[unit].rows) {
        unit++;
        row = 0;
    }
    assert_int_equal(unit, count);
    assert_int_equal(plan->output_count, plan->pieces.count == 0 ? 0 : output + 1);
    size_t next = 0;
    for (size_t i = 0; i < plan->row_groups.count; i++) {
        const firn_plan_row_group *group = &plan->row_groups.items[i];
        int64_t rows = 0;
        assert_int_equal(group->first_piece, next);
        assert_true(group->piece_count > 0);
        for (size_t j = 0; j < group->piece_count; j++, next++) {
            rows += plan->pieces.items[next].row_count;
            assert_int_equal(plan->pieces.items[next].output, group->output);
        }
        assert_int_equal(rows, group->rows);
    }
    assert_int_equal(next, plan->pieces.count);
}

static firn_plan_unit *equal_units(size_t count, int64_t rows, int64_t compressed,
                                   int64_t uncompressed, int64_t held) {
    firn_plan_unit *units = firn_alloc_array(count, sizeof *units);
    for (size_t i = 0; i < count; i++) {
        units[i] = (firn_plan_unit){.input = i,
                                    .rows = rows,
                                    .compressed = compressed,
                                    .uncompressed = uncompressed,
                                    .held = held};
    }
    return units;
}

static int64_t fewest_rows(const firn_rewrite_plan *plan) {
    int64_t fewest = INT64_MAX;
    for (size_t i = 0; i < plan->row_groups.count; i++) {
        if (plan->row_groups.items[i].rows < fewest) fewest = plan->row_groups.items[i].rows;
    }
    return fewest;
}

/* 200 MB of 200 files: row groups within the memory wanted, none small, also at eight times the size. */
static void many_small_files(void **state) {
    (void)state;
    const size_t counts[] = {200, 1600};
    for (size_t i = 0; i < 2; i++) {
        firn_plan_unit *units = equal_units(counts[i], 30000, MIB, 3 * MIB, MIB);
        firn_plan_limits limits = usual;
        limits.output_count = i == 0 ? 1 : 4;
        firn_rewrite_plan plan;
        make_plan(units, counts[i], &limits, &plan);
        check_whole(units, counts[i], &plan);
        assert_int_equal(plan.output_count, limits.output_count);
        assert_true(fewest_rows(&plan) >= 400000);
        for (size_t j = 0; j < plan.row_groups.count; j++) {
            assert_true(plan.row_groups.items[j].piece_count <= 22);
        }
        firn_rewrite_plan_release(&plan);
        firn_free(units);
    }
}

static void tiny_files(void **state) {
    (void)state;
    firn_plan_unit *units = equal_units(4000, 500, 17000, 40000, 45000);
    firn_rewrite_plan plan;
    make_plan(units, 4000, &usual, &plan);
    check_whole(units, 4000, &plan);
    assert_true(fewest_rows(&plan) >= 100000);
    firn_rewrite_plan_release(&plan);
    firn_free(units);
}

/* Wide rows: more memory than wanted rather than row groups of few rows, but never more than there is. */
static void wide_rows(void **state) {
    (void)state;
    firn_plan_unit *units = equal_units(100, 10000, 8 * MIB, 12 * MIB, 8 * MIB);
    firn_rewrite_plan plan;
    make_plan(units, 100, &usual, &plan);
    check_whole(units, 100, &plan);
    assert_true(fewest_rows(&plan) >= 100000);
    firn_rewrite_plan_release(&plan);
    firn_plan_limits limits = usual;
    limits.most_memory = 40 * MIB;
    make_plan(units, 100, &limits, &plan);
    check_whole(units, 100, &plan);
    for (size_t i = 0; i < plan.row_groups.count; i++) {
        assert_true(plan.row_groups.items[i].piece_count <= 3);
    }
    firn_rewrite_plan_release(&plan);
    firn_free(units);
}

/* One large row group is cut by rows, into files and into row groups. */
static void one_large_row_group(void **state) {
    (void)state;
    firn_plan_unit unit = {.rows = 1000003, .compressed = 1000 * MIB, .uncompressed = 1600 * MIB};
    firn_plan_limits limits = usual;
    limits.output_count = 3;
    firn_rewrite_plan plan;
    make_plan(&unit, 1, &limits, &plan);
    check_whole(&unit, 1, &plan);
    assert_int_equal(plan.output_count, 3);
    int64_t rows[3] = {0};
    for (size_t i = 0; i < plan.pieces.count; i++) {
        rows[plan.pieces.items[i].output] += plan.pieces.items[i].row_count;
        assert_true(plan.pieces.items[i].uncompressed <= 128 * MIB * 3 / 2);
    }
    for (size_t i = 0; i < 3; i++) assert_in_range(rows[i], 333000, 334000);
    firn_rewrite_plan_release(&plan);
}

static void empty_inputs(void **state) {
    (void)state;
    firn_plan_unit units[] = {{.input = 0}, {.input = 1}};
    firn_rewrite_plan plan;
    make_plan(units, 2, &usual, &plan);
    assert_int_equal(plan.output_count, 0);
    assert_int_equal(plan.row_groups.count, 0);
    firn_rewrite_plan_release(&plan);
    make_plan(NULL, 0, &usual, &plan);
    assert_int_equal(plan.output_count, 0);
    firn_rewrite_plan_release(&plan);
    /* Rows whose columns take no bytes, as far as footers tell. */
    firn_plan_unit rows = {.rows = 10};
    firn_plan_limits limits = usual;
    limits.output_count = 2;
    make_plan(&rows, 1, &limits, &plan);
    check_whole(&rows, 1, &plan);
    assert_int_equal(plan.output_count, 2);
    firn_rewrite_plan_release(&plan);
}

/* More files wanted than there are rows. */
static void few_rows(void **state) {
    (void)state;
    firn_plan_unit unit = {.rows = 2, .compressed = 1000, .uncompressed = 1000};
    firn_plan_limits limits = usual;
    limits.output_count = 10;
    firn_rewrite_plan plan;
    make_plan(&unit, 1, &limits, &plan);
    check_whole(&unit, 1, &plan);
    assert_true(plan.output_count <= 2);
    firn_rewrite_plan_release(&plan);
}

static void any_shape(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 500; round++) {
        size_t count = (size_t)test_generator_below(&random, 60);
        firn_plan_unit *units = equal_units(count, 0, 0, 0, 0);
        int64_t total = 0;
        int64_t largest = 0;
        for (size_t i = 0; i < count; i++) {
            units[i].rows = 1 + (int64_t)test_generator_below(&random, 1 << 21);
            units[i].compressed = (int64_t)test_generator_below(&random, (uint64_t)(200 * MIB));
            units[i].uncompressed = units[i].compressed * 2;
            units[i].held = (int64_t)test_generator_below(&random, (uint64_t)(8 * MIB));
            total += units[i].compressed;
            if (units[i].compressed > largest) largest = units[i].compressed;
        }
        firn_plan_limits limits = usual;
        limits.output_count = 1 + (size_t)test_generator_below(&random, 5);
        limits.row_group_rows = 1 + (int64_t)test_generator_below(&random, 1 << 21);
        firn_rewrite_plan plan;
        make_plan(units, count, &limits, &plan);
        check_whole(units, count, &plan);
        int64_t share = total / (int64_t)limits.output_count;
        int64_t bytes = 0;
        for (size_t i = 0; i < plan.pieces.count; i++) {
            bytes += plan.pieces.items[i].compressed;
            bool last = i + 1 == plan.pieces.count ||
                        plan.pieces.items[i + 1].output != plan.pieces.items[i].output;
            if (!last) continue;
            assert_true(bytes <= share + share / 4 + (int64_t)plan.pieces.count + largest / 1000);
            bytes = 0;
        }
        firn_rewrite_plan_release(&plan);
        firn_free(units);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_small_files), cmocka_unit_test(tiny_files),
        cmocka_unit_test(wide_rows),        cmocka_unit_test(one_large_row_group),
        cmocka_unit_test(empty_inputs),     cmocka_unit_test(few_rows),
        cmocka_unit_test(any_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
