/* Into how many row groups dictionaries cut one, and where. */
#include "rewrite/cut.h"
#include "support/check.h"

static void parts_keep_their_rows(void **state) {
    (void)state;
    static const struct {
        bool outgrows;
        int64_t fits, fits_twice, rows;
        size_t parts;
        int64_t plain_bytes;
    } cases[] = {
        {false, 0, 0, 1000000, 1, 0},
        {true, 600000, 1000000, 1000000, 2, 0},
        {true, 300000, 700000, 1000000, 4, 0},
        {true, 260000, 600000, 1000000, 4, 0},
        {true, 100000, 250000, 1000000, 4, 0}, /* with twice the limit */
        {true, 100000, 200000, 1000000, 1, 0}, /* even that is not enough */
        {true, 0, 0, 1000000, 1, 0},
        {true, 100000, 300000, 499999, 1, 0},
        {true, 300000, 499999, 500000, 2, 0},
        /* Values of a kilobyte: few rows are a row group. */
        {true, 60000, 120000, 360000, 5, 360 << 20},
        {true, 90000, 120000, 360000, 4, 360 << 20},
        {true, 60000, 70000, 360000, 1, 360 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_parquet_dictionary_reach reach = {.outgrows = cases[i].outgrows,
                                               .rows = cases[i].fits,
                                               .rows_at_twice = cases[i].fits_twice,
                                               .plain_bytes = cases[i].plain_bytes};
        assert_int_equal(firn_rewrite_parts_for(&reach, cases[i].rows), cases[i].parts);
    }
}

static void parts_are_about_equal(void **state) {
    (void)state;
    firn_parquet_piece pieces[20] = {0};
    for (size_t i = 0; i < 20; i++) pieces[i].row_count = 30000;
    size_t first = 0;
    for (size_t parts = 3; parts > 0; parts--) {
        size_t end = firn_rewrite_part_end(pieces, 20, first, parts);
        assert_true(end - first >= 6 && end - first <= 7);
        first = end;
    }
    assert_int_equal(first, 20);
    pieces[0].row_count = 10000000;
    assert_int_equal(firn_rewrite_part_end(pieces, 20, 0, 3), 1);
    assert_int_equal(firn_rewrite_part_end(pieces, 20, 19, 2), 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_keep_their_rows),
                                       cmocka_unit_test(parts_are_about_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
