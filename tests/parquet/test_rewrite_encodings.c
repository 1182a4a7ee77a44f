/* What has to be encoded anew keeps the encoding that its inputs have for values outside of dictionaries. */
#include "parquet/rewrite_kit.h"

#define ROWS 9000

typedef struct kept_case {
    firn_parquet_encoding encoding;
    column_case column;
} kept_case;

static const kept_case cases[] = {
    {FIRN_PARQUET_DELTA_BINARY_PACKED, {"r", LEAF(INT64)}},
    {FIRN_PARQUET_DELTA_BINARY_PACKED, {"o", LEAF(INT32)}},
    {FIRN_PARQUET_DELTA_LENGTH_BYTE_ARRAY, {"o", LEAF(BYTE_ARRAY, LOGICAL(STRING))}},
    {FIRN_PARQUET_DELTA_BYTE_ARRAY, {"o*o", LEAF(BYTE_ARRAY)}},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, {"o", LEAF(DOUBLE)}},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, {"*", LEAF(FLOAT)}},
    {FIRN_PARQUET_BYTE_STREAM_SPLIT, {"r", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 6)}},
};
#define CASE_COUNT (sizeof cases / sizeof *cases)

typedef struct world {
    input inputs[3];
    firn_parquet_piece pieces[3];
    firn_parquet_leaf_mapping mapping;
    stream wanted;
} world;

static firn_parquet_write_options options_of(firn_parquet_encoding encoding, int version) {
    firn_parquet_write_options options = default_options();
    options.dictionary_size_bytes = 0;
    options.value_encoding = encoding;
    options.page_version = version;
    return options;
}

/* Three inputs of the column, the i-th in encodings[i]; `dropped` rows go from each. */
static void make_world(world *w, test_generator *random, const column_case *column,
                       const firn_parquet_write_options options[3], const int64_t *dropped,
                       size_t dropped_count) {
    *w = (world){.mapping = identity()};
    for (size_t i = 0; i < 3; i++) {
        w->inputs[i].s = stream_random(random, column, ROWS, (stream_mix){STREAM_NEAR, 10});
        make_input(&w->inputs[i], column, ROWS, &options[i]);
        w->pieces[i] = (firn_parquet_piece){.file = w->inputs[i].file,
                                            .row_count = ROWS,
                                            .mappings = &w->mapping,
                                            .dropped_rows = dropped,
                                            .dropped_count = dropped_count};
        stream part = rows_of_piece(&w->inputs[i].s, maximum_of(column), 0, &w->pieces[i]);
        add_stream(&w->wanted, &part);
    }
}

static void release_world(world *w) {
    for (size_t i = 0; i < 3; i++) input_release(&w->inputs[i]);
    stream_release(&w->wanted);
}

static void assert_encoding(const output *out, firn_parquet_encoding encoding) {
    const firn_parquet_column_chunk *chunk = &out->file.file->metadata->row_groups[0].columns[0];
    assert_int_equal(chunk->encoding_stats_count, 1);
    assert_int_equal(chunk->encoding_stats[0].encoding, encoding);
}

static void rewrite_world(world *w, const column_case *column,
                          const firn_parquet_write_options *options, output *out) {
    check_rewrite(w->pieces, 3, column, options, true, &w->wanted, out);
}

static void encodings_of_inputs_are_kept(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const int64_t dropped[] = {3, 100, 101, 8000};
    for (size_t i = 0; i < CASE_COUNT * 2 * 3; i++) {
        const kept_case *c = &cases[i % CASE_COUNT];
        int version = 1 + (int)(i / CASE_COUNT % 2);
        size_t how = i / CASE_COUNT / 2;
        firn_parquet_write_options in = options_of(c->encoding, version);
        firn_parquet_write_options options = options_of(FIRN_PARQUET_PLAIN, version);
        options.dictionary_size_bytes = 1 << 20; /* which does not pay here */
        if (how == 0) in.page_row_limit = 700;   /* too small to be copied */
        if (how == 2) options.compression = FIRN_PARQUET_ZSTD;
        if (how == 2) options.page_version = 3 - version;
        world w;
        output out = {0};
        make_world(&w, &random, &c->column, (firn_parquet_write_options[]){in, in, in}, dropped,
                   how == 1 ? 4 : 0);
        rewrite_world(&w, &c->column, &options, &out);
        assert_encoding(&out, c->encoding);
        if (how < 2) assert_true(out.rewrite.ways[FIRN_PARQUET_WAY_ENCODED].pages > 0);
        input_release(&out.file);
        release_world(&w);
    }
}

static void most_bytes_decide(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < CASE_COUNT * 4; i++) {
        const kept_case *c = &cases[i % CASE_COUNT];
        size_t plain_count = i / CASE_COUNT;
        firn_parquet_write_options options[3];
        for (size_t j = 0; j < 3; j++) {
            options[j] = options_of(j < plain_count ? FIRN_PARQUET_PLAIN : c->encoding, 1);
            /* In stored bytes PLAIN is much more of what deltas are. */
            options[j].compression = FIRN_PARQUET_ZSTD;
            options[j].page_row_limit = 700;
        }
        world w;
        output out = {0};
        make_world(&w, &random, &c->column, options, NULL, 0);
        int64_t plain = 0, kept = 0;
        for (size_t j = 0; j < 3; j++) {
            int64_t size =
                w.inputs[j].file->metadata->row_groups[0].columns[0].total_compressed_size;
            *(j < plain_count ? &plain : &kept) += size;
        }
        options[0].write_crc = false;
        check_rewrite(w.pieces, 3, &c->column, &options[0], false, &w.wanted, &out);
        assert_encoding(&out, kept > plain ? c->encoding : FIRN_PARQUET_PLAIN);
        input_release(&out.file);
        release_world(&w);
    }
}

/* DuckDB and old writers only list their encodings. */
static void listed_encodings_will_do(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const kept_case *c = &cases[i];
        firn_parquet_write_options in = options_of(c->encoding, 1);
        firn_parquet_write_options options = options_of(FIRN_PARQUET_PLAIN, 1);
        in.page_row_limit = 700;
        world w;
        output out = {0};
        make_world(&w, &random, &c->column, (firn_parquet_write_options[]){in, in, in}, NULL, 0);
        for (size_t j = 0; j < 3; j++) {
            const firn_parquet_column_chunk *chunk =
                &w.inputs[j].file->metadata->row_groups[0].columns[0];
            ((firn_parquet_column_chunk *)(uintptr_t)chunk)->encoding_stats_count = 0;
        }
        rewrite_world(&w, &c->column, &options, &out);
        assert_encoding(&out, c->encoding);
        input_release(&out.file);
        release_world(&w);
    }
}

static void promoted_integers_stay_deltas(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case from = {"o", LEAF(INT32)};
    static const column_case to = {"o", LEAF(INT64)};
    firn_parquet_write_options in = options_of(FIRN_PARQUET_DELTA_BINARY_PACKED, 1);
    firn_parquet_write_options options = options_of(FIRN_PARQUET_PLAIN, 1);
    world w;
    output out = {0};
    make_world(&w, &random, &from, (firn_parquet_write_options[]){in, in, in}, NULL, 0);
    w.mapping.conversion = FIRN_PARQUET_CONVERT_INT32_TO_INT64;
    for (size_t i = 0; i < w.wanted.values.count; i++) {
        uint8_t wide[8] = {0};
        memcpy(wide, w.wanted.values.items[i].data, 4);
        stream one = {0};
        stream_add_value(&one, firn_slice_of(wide, 8));
        free((void *)(uintptr_t)w.wanted.values.items[i].data);
        w.wanted.values.items[i] = one.values.items[0];
        firn_vector_release(&one.values);
    }
    rewrite_world(&w, &to, &options, &out);
    assert_encoding(&out, FIRN_PARQUET_DELTA_BINARY_PACKED);
    input_release(&out.file);
    release_world(&w);
}

/* Every value has to be seen, so nothing is copied; assert_verified looks for each in the filter. */
static void filters_hold_what_is_encoded(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const firn_parquet_column_options wanted = {
        .bloom_filter = {.enabled = true, .false_positives = 0.01, .maximum_bytes = 1 << 20}};
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const kept_case *c = &cases[i];
        firn_parquet_write_options in = options_of(c->encoding, 2);
        firn_parquet_write_options options = options_of(FIRN_PARQUET_PLAIN, 2);
        options.columns = &wanted;
        options.column_count = 1;
        world w;
        output out = {0};
        make_world(&w, &random, &c->column, (firn_parquet_write_options[]){in, in, in}, NULL, 0);
        rewrite_world(&w, &c->column, &options, &out);
        assert_encoding(&out, c->encoding);
        const firn_parquet_column_chunk *chunk = &out.file.file->metadata->row_groups[0].columns[0];
        assert_true(chunk->has_bloom_filter);
        input_release(&out.file);
        release_world(&w);
    }
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const int64_t dropped[] = {3, 100, 101, 8000};
    for (size_t i = 0; i < CASE_COUNT; i++) {
        firn_parquet_write_options in = options_of(cases[i].encoding, 1);
        world w;
        make_world(&w, &random, &cases[i].column, (firn_parquet_write_options[]){in, in, in},
                   dropped, 4);
        allocation_case c = {w.pieces, 3, &cases[i].column, options_of(FIRN_PARQUET_PLAIN, 1)};
        check_each_allocation(rewrite_once, &c);
        release_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_of_inputs_are_kept),
        cmocka_unit_test(most_bytes_decide),
        cmocka_unit_test(listed_encodings_will_do),
        cmocka_unit_test(promoted_integers_stay_deltas),
        cmocka_unit_test(filters_hold_what_is_encoded),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
