/*
 * Rewriting: whatever the inputs' pages, and whatever runs of rows are taken, the output holds those rows; copied where it can be,
 * with counts and bounds that are true.
 */
#include "parquet/rewrite_kit.h"

static const column_case columns[] = {
    {"r", LEAF(INT64)},
    {"o", LEAF(INT64)},
    {"o", LEAF(BYTE_ARRAY, LOGICAL(STRING))},
    {"r", LEAF(BYTE_ARRAY)},
    {"o*o", LEAF(INT32)},
    {"*", LEAF(BYTE_ARRAY)},
    {"ooo", LEAF(BOOLEAN)},
    {"r", LEAF(BOOLEAN)},
    {"o*o*o", LEAF(DOUBLE)},
    {"o", LEAF(FLOAT)},
    {"o", LEAF(INT96)},
    {"r", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 6)},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static void random_runs_of_rows(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 150; round++) {
        const column_case *column = &columns[test_generator_below(&random, COLUMN_COUNT)];
        bool small = test_generator_below(&random, 4) != 0;
        int64_t rows = small ? 150 : 9000;
        input inputs[3] = {0};
        firn_parquet_piece pieces[12];
        size_t piece_count = 0;
        firn_parquet_leaf_mapping mapping = identity();
        stream wanted = {0};
        for (size_t i = 0; i < 3; i++) {
            firn_parquet_write_options options = random_options(&random, small);
            static const uint64_t distincts[] = {20, 1000000, STREAM_NEAR};
            stream_mix mix = {distincts[test_generator_below(&random, 3)],
                              (unsigned)test_generator_below(&random, 3) * 15};
            inputs[i].s = stream_random(&random, column, rows, mix);
            int64_t group = test_generator_below(&random, 2) == 0 ? rows : rows / 2;
            make_input(&inputs[i], column, group, &options);
            for (int64_t at = 0; at < rows; at += group) {
                int64_t first = 0, count = group;
                if (test_generator_below(&random, 2) == 0) {
                    first = (int64_t)test_generator_below(&random, (uint64_t)group);
                    count = (int64_t)test_generator_below(&random, (uint64_t)(group - first + 1));
                }
                pieces[piece_count++] = (firn_parquet_piece){.file = inputs[i].file,
                                                             .row_group = (size_t)(at / group),
                                                             .first_row = first,
                                                             .row_count = count,
                                                             .mappings = &mapping};
                stream part = rows_of(&inputs[i].s, maximum_of(column), at + first, count);
                add_stream(&wanted, &part);
            }
        }
        firn_parquet_write_options options = random_options(&random, small);
        output out = {0};
        check_rewrite(pieces, piece_count, column, &options, test_generator_below(&random, 4) != 0,
                      &wanted, &out);
        input_release(&out.file);
        stream_release(&wanted);
        for (size_t i = 0; i < 3; i++) input_release(&inputs[i]);
    }
}

/* Two inputs of 10000 rows in PLAIN pages of 5000, whole. */
static void two_inputs(test_generator *random, const column_case *column, int version,
                       unsigned null_percent, input inputs[2], firn_parquet_piece pieces[2],
                       const firn_parquet_leaf_mapping *mapping) {
    for (size_t i = 0; i < 2; i++) {
        firn_parquet_write_options options = default_options();
        options.page_version = version;
        options.page_row_limit = 5000;
        options.dictionary_size_bytes = 0;
        inputs[i] = (input){0};
        inputs[i].s = stream_random(random, column, 10000, (stream_mix){UINT64_MAX, null_percent});
        make_input(&inputs[i], column, 10000, &options);
        pieces[i] =
            (firn_parquet_piece){.file = inputs[i].file, .row_count = 10000, .mappings = mapping};
    }
}

static stream both_streams(const input inputs[2]) {
    stream wanted = {0};
    for (size_t i = 0; i < 2; i++) {
        stream part = rows_of(&inputs[i].s, UINT8_MAX, 0, 10000);
        for (size_t j = 0; j < inputs[i].s.values.count; j++) {
            stream_add_value(&part, inputs[i].s.values.items[j]);
        }
        add_stream(&wanted, &part);
    }
    return wanted;
}

static void plain_pages_are_copied(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        for (int version = 1; version <= 2; version++) {
            for (unsigned nulls = 0; nulls <= 30; nulls += 30) {
                const column_case *column = &columns[i];
                bool repeated = strchr(column->shape, '*') != NULL;
                firn_parquet_leaf_mapping mapping = identity();
                input inputs[2];
                firn_parquet_piece pieces[2];
                two_inputs(&random, column, version, nulls, inputs, pieces, &mapping);
                stream wanted = both_streams(inputs);
                firn_parquet_write_options options = default_options();
                options.page_version = version;
                output out = {0};
                check_rewrite(pieces, 2, column, &options, true, &wanted, &out);
                bool copied = version == 2 || !repeated;
                assert_int_equal(out.rewrite.pages_copied > 0, copied);
                assert_int_equal(out.rewrite.pages_encoded > 0, !copied);
                if (copied) assert_int_equal(out.counts.bytes_encoded, 0);
                const firn_parquet_column_chunk *chunk =
                    &out.file.file->metadata->row_groups[0].columns[0];
                assert_true(chunk->has_offset_index);
                /* Copied pages take theirs from the input's. */
                bool has_column_index = column->leaf.type != FIRN_PARQUET_INT96;
                assert_int_equal(chunk->has_column_index, has_column_index);
                input_release(&out.file);
                stream_release(&wanted);
                for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
            }
        }
    }
}

static int64_t load_int64(const uint8_t *bytes) {
    return (int64_t)firn_load_le64(bytes);
}

static void bounds_of(const stream *s, int64_t *least, int64_t *greatest) {
    *least = INT64_MAX;
    *greatest = INT64_MIN;
    for (size_t i = 0; i < s->values.count; i++) {
        int64_t value = load_int64(s->values.items[i].data);
        if (value < *least) *least = value;
        if (value > *greatest) *greatest = value;
    }
}

/* The footer as the reader holds it, for a test to lie in. */
static firn_parquet_column_chunk *footer_of(const input *in) {
    return (firn_parquet_column_chunk *)(uintptr_t)&in->file->metadata->row_groups[0].columns[0];
}

typedef enum lie {
    LIE_NONE,
    LIE_NO_ORDERS,
    LIE_NOT_EXACT,
    LIE_NO_BOUNDS,
    LIE_SWAPPED,
    LIE_WRONG_SIZE,
    LIE_DEPRECATED, /* only the old pair, of a signed type: trusted */
    LIE_COUNT
} lie;

static void tell(const input *in, lie what) {
    firn_parquet_column_chunk *chunk = footer_of(in);
    firn_parquet_statistics *statistics = &chunk->statistics;
    firn_slice least = statistics->min_value;
    switch (what) {
    case LIE_NO_ORDERS:
        ((firn_parquet_file_metadata *)(uintptr_t)in->file->metadata)->column_orders = NULL;
        break;
    case LIE_NOT_EXACT:
        statistics->has_max_exact = true;
        statistics->max_exact = false;
        break;
    case LIE_NO_BOUNDS: statistics->max_value = firn_slice_of(NULL, 0); break;
    case LIE_SWAPPED:
        statistics->min_value = statistics->max_value;
        statistics->max_value = least;
        break;
    case LIE_WRONG_SIZE: statistics->min_value.size = 7; break;
    case LIE_DEPRECATED:
        statistics->deprecated_min = statistics->min_value;
        statistics->deprecated_max = statistics->max_value;
        statistics->min_value = statistics->max_value = firn_slice_of(NULL, 0);
        break;
    default: break;
    }
}

static void only_trusted_bounds_go_on(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(INT64)};
    for (int i = 0; i < LIE_COUNT; i++) {
        firn_parquet_leaf_mapping mapping = identity();
        input inputs[2];
        firn_parquet_piece pieces[2];
        two_inputs(&random, &column, 2, 10, inputs, pieces, &mapping);
        tell(&inputs[1], (lie)i);
        stream wanted = both_streams(inputs);
        firn_parquet_write_options options = default_options();
        options.page_version = 2;
        output out = {0};
        check_rewrite(pieces, 2, &column, &options, true, &wanted, &out);
        assert_int_equal(out.rewrite.pages_encoded, 0);
        bool trusted = i == LIE_NONE || i == LIE_DEPRECATED || i == LIE_NOT_EXACT;
        assert_int_equal(out.has_bounds, trusted);
        const firn_parquet_statistics *statistics = &footer_of(&out.file)->statistics;
        assert_int_equal(statistics->min_value.data != NULL, trusted);
        if (trusted) {
            assert_int_equal(statistics->min_exact, i != LIE_NOT_EXACT);
            int64_t least, greatest;
            bounds_of(&wanted, &least, &greatest);
            assert_int_equal(load_int64(out.minimum), least);
            assert_int_equal(load_int64(out.maximum), greatest);
        }
        input_release(&out.file);
        stream_release(&wanted);
        for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
    }
}

static void nan_counts_of_copied_pages(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(FLOAT)};
    /* What the footer says of NaN (-1: nothing), what the caller says, and what comes out. */
    static const int64_t cases[][3] = {{0, -1, 0}, {5, -1, 5}, {-1, -1, -1}, {-1, 7, 7}, {3, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_parquet_leaf_mapping mapping = identity();
        input inputs[2];
        firn_parquet_piece pieces[2];
        two_inputs(&random, &column, 1, 0, inputs, pieces, &mapping);
        footer_of(&inputs[0])->statistics.has_nan_count = cases[i][0] >= 0;
        footer_of(&inputs[0])->statistics.nan_count = cases[i][0];
        pieces[0].nan_counts = &cases[i][1];
        firn_parquet_write_options options = default_options();
        output out = {.told_lies = true};
        stream wanted = rows_of(&inputs[0].s, 1, 0, 10000);
        check_rewrite(pieces, 1, &column, &options, true, &wanted, &out);
        assert_int_equal(out.rewrite.pages_encoded, 0);
        assert_int_equal(out.counts.nan_count, cases[i][2]);
        input_release(&out.file);
        stream_release(&wanted);
        for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
    }
}

static void nan_bounds_are_dropped(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"r", LEAF(DOUBLE)};
    firn_parquet_leaf_mapping mapping = identity();
    input inputs[2];
    firn_parquet_piece pieces[2];
    two_inputs(&random, &column, 1, 0, inputs, pieces, &mapping);
    static const uint8_t nan[8] = {0, 0, 0, 0, 0, 0, 0xF8, 0x7F};
    footer_of(&inputs[1])->statistics.max_value = firn_slice_of(nan, 8);
    stream wanted = both_streams(inputs);
    firn_parquet_write_options options = default_options();
    output out = {0};
    check_rewrite(pieces, 2, &column, &options, true, &wanted, &out);
    assert_false(out.has_bounds);
    assert_null(footer_of(&out.file)->statistics.min_value.data);
    input_release(&out.file);
    stream_release(&wanted);
    for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
}

/* INT96 statistics mean nothing, even where a writer gave some. */
static void int96_bounds_are_ignored(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"r", LEAF(INT96)};
    firn_parquet_leaf_mapping mapping = identity();
    input inputs[2];
    firn_parquet_piece pieces[2];
    two_inputs(&random, &column, 1, 0, inputs, pieces, &mapping);
    static const uint8_t nonsense[12] = {1};
    footer_of(&inputs[0])->statistics.min_value = firn_slice_of(nonsense, 12);
    footer_of(&inputs[0])->statistics.max_value = firn_slice_of(nonsense, 12);
    stream wanted = both_streams(inputs);
    firn_parquet_write_options options = default_options();
    output out = {0};
    check_rewrite(pieces, 2, &column, &options, true, &wanted, &out);
    assert_false(out.has_bounds);
    input_release(&out.file);
    stream_release(&wanted);
    for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
}

static void codec_version_and_size_forbid_copying(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(INT64)};
    firn_parquet_leaf_mapping mapping = identity();
    input inputs[2];
    firn_parquet_piece pieces[2];
    two_inputs(&random, &column, 1, 10, inputs, pieces, &mapping);
    stream wanted = both_streams(inputs);
    for (int i = 0; i < 4; i++) {
        firn_parquet_write_options options = default_options();
        if (i == 0) options.compression = FIRN_PARQUET_ZSTD;
        if (i == 1) options.page_version = 2;
        if (i == 2) pieces[0].row_count = pieces[1].row_count = 9999;
        stream part = {0};
        if (i == 2) {
            for (size_t j = 0; j < 2; j++) {
                stream rows = rows_of(&inputs[j].s, 1, 0, 9999);
                add_stream(&part, &rows);
            }
        }
        output out = {0};
        check_rewrite(pieces, 2, &column, &options, i != 3, i == 2 ? &part : &wanted, &out);
        /* Of a run of rows the pages that lie in it whole are copied. */
        assert_int_equal(out.rewrite.pages_copied, i == 2 ? 2 : 0);
        input_release(&out.file);
        stream_release(&part);
        pieces[0].row_count = pieces[1].row_count = 10000;
    }
    stream_release(&wanted);
    for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
}

static void small_pages_are_made_anew(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(INT64)};
    static const struct {
        int32_t made, wanted; /* rows of a page */
        bool copied;
    } cases[] = {{4095, 20000, false}, {4096, 20000, true}, {500, 20000, false}, {500, 500, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_parquet_leaf_mapping mapping = identity();
        firn_parquet_write_options options = default_options();
        options.page_row_limit = cases[i].made;
        options.dictionary_size_bytes = 0;
        input in = {0};
        int64_t rows = cases[i].made * 4;
        in.s = stream_random(&random, &column, rows, (stream_mix){UINT64_MAX, 20});
        make_input(&in, &column, rows, &options);
        firn_parquet_piece piece = {.file = in.file, .row_count = rows, .mappings = &mapping};
        options = default_options();
        options.page_row_limit = cases[i].wanted;
        output out = {0};
        check_rewrite(&piece, 1, &column, &options, true, &in.s, &out);
        assert_int_equal(out.rewrite.pages_copied, cases[i].copied ? 4 : 0);
        input_release(&out.file);
        input_release(&in);
    }
}

/* Of a chunk whose last page is too small to copy, the NaN count can't be split. */
static void nan_counts_of_chunks_copied_in_part(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(FLOAT)};
    for (int64_t count = 0; count < 2; count++) {
        firn_parquet_leaf_mapping mapping = identity();
        firn_parquet_write_options options = default_options();
        options.page_row_limit = 5000;
        options.dictionary_size_bytes = 0;
        input in = {0};
        in.s = stream_random(&random, &column, 5100, (stream_mix){1, 0});
        make_input(&in, &column, 5100, &options);
        firn_parquet_piece piece = {
            .file = in.file, .row_count = 5100, .mappings = &mapping, .nan_counts = &count};
        options.page_row_limit = 20000;
        output out = {0};
        check_rewrite(&piece, 1, &column, &options, true, &in.s, &out);
        assert_int_equal(out.rewrite.pages_copied, 1);
        assert_int_equal(out.rewrite.pages_encoded, 1);
        assert_int_equal(out.counts.nan_count, count == 0 ? 0 : -1);
        assert_true(out.has_bounds);
        input_release(&out.file);
        input_release(&in);
    }
}

/* Unsigned bounds say nothing about the same bytes taken as signed. */
static void bounds_of_another_order_are_dropped(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    column_case from = {"r", LEAF(INT64, LOGICAL(INTEGER, .bit_width = 64, .is_signed = false))};
    column_case to = {"r", LEAF(INT64)};
    firn_parquet_leaf_mapping mapping = identity();
    input inputs[2];
    firn_parquet_piece pieces[2];
    two_inputs(&random, &from, 1, 0, inputs, pieces, &mapping);
    stream wanted = both_streams(inputs);
    firn_parquet_write_options options = default_options();
    output out = {0};
    check_rewrite(pieces, 2, &to, &options, true, &wanted, &out);
    assert_int_equal(out.rewrite.pages_encoded, 0);
    assert_false(out.has_bounds);
    input_release(&out.file);
    stream_release(&wanted);
    for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
}

static void levels_are_mapped(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const struct {
        const char *from, *to;
    } cases[] = {{"r", "o"},     {"o", "r"},     {"ro", "oo"},   {"oo", "or"},
                 {"r*r", "o*o"}, {"o*o", "r*r"}, {"o*r", "o*o"}, {"ooo", "ror"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int v = 1; v <= 2; v++) {
            column_case from = {cases[i].from, LEAF(INT32)};
            column_case to = {cases[i].to, LEAF(INT32)};
            firn_parquet_write_options options = default_options();
            options.page_version = v;
            input in = {0};
            /* Only levels that have a counterpart: no nulls at all in the first round. */
            in.s = stream_random(&random, &from, 6000, (stream_mix){50, 0});
            make_input(&in, &from, 6000, &options);
            firn_parquet_leaf_mapping mapping = mapping_between(cases[i].from, cases[i].to);
            firn_parquet_piece piece = {.file = in.file, .row_count = 6000, .mappings = &mapping};
            stream wanted = rows_of(&in.s, maximum_of(&from), 0, 6000);
            for (size_t j = 0; j < wanted.definition.count; j++) {
                wanted.definition.items[j] =
                    mapping.definition_level_map[wanted.definition.items[j]];
            }
            output out = {0};
            check_rewrite(&piece, 1, &to, &options, true, &wanted, &out);
            input_release(&out.file);
            stream_release(&wanted);
            input_release(&in);
        }
    }
}

static void nulls_keep_their_depth(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    column_case from = {"r*o", LEAF(INT32)};
    column_case to = {"o*o", LEAF(INT32)};
    firn_parquet_write_options options = default_options();
    input in = {0};
    in.s = stream_random(&random, &from, 6000, (stream_mix){50, 30});
    make_input(&in, &from, 6000, &options);
    firn_parquet_leaf_mapping mapping = mapping_between(from.shape, to.shape);
    firn_parquet_piece piece = {
        .file = in.file, .first_row = 10, .row_count = 5000, .mappings = &mapping};
    stream wanted = rows_of(&in.s, 2, 10, 5000);
    for (size_t j = 0; j < wanted.definition.count; j++) wanted.definition.items[j]++;
    output out = {0};
    check_rewrite(&piece, 1, &to, &options, true, &wanted, &out);
    input_release(&out.file);
    stream_release(&wanted);
    input_release(&in);
}

static void a_null_where_none_may_be_is_corrupt(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_error error = {0};
    column_case from = {"o", LEAF(INT32)};
    column_case to = {"r", LEAF(INT32)};
    firn_parquet_write_options options = default_options();
    input in = {0};
    in.s = stream_random(&random, &from, 6000, (stream_mix){50, 1});
    make_input(&in, &from, 6000, &options);
    firn_parquet_leaf_mapping mapping = mapping_between("o", "r");
    firn_parquet_piece piece = {.file = in.file, .row_count = 6000, .mappings = &mapping};
    output out = {0};
    check_fails(rewrite(&piece, 1, &to, &options, true, &out, &error), FIRN_CORRUPT, &error,
                "input.parquet: column c0");
    input_release(&in);
}

static void missing_leaves(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_error error = {0};
    column_case from = {"o", LEAF(INT32)};
    firn_parquet_write_options options = default_options();
    input in = {0};
    in.s = stream_random(&random, &from, 20000, (stream_mix){50, 20});
    make_input(&in, &from, 20000, &options);
    firn_parquet_leaf_mapping mapping = {.input_leaf = -1, .absent_definition_level = 1};
    firn_parquet_piece piece = {.file = in.file, .row_count = 20000, .mappings = &mapping};
    /* Nulls at a depth. */
    column_case to = {"o*o", LEAF(BYTE_ARRAY)};
    stream wanted = {.rows = 20000};
    for (int i = 0; i < 20000; i++) stream_add_level(&wanted, 0, 1);
    output out = {0};
    check_rewrite(&piece, 1, &to, &options, true, &wanted, &out);
    input_release(&out.file);
    stream_release(&wanted);
    /* A default, of an optional and of a required column. */
    for (uint8_t level = 0; level < 2; level++) {
        to = (column_case){level == 0 ? "r" : "o", LEAF(BYTE_ARRAY)};
        mapping.constant = firn_slice_text("default");
        mapping.absent_definition_level = level;
        wanted = (stream){.rows = 20000};
        for (int i = 0; i < 20000; i++) stream_add_level(&wanted, 0, level);
        for (int i = 0; i < 20000; i++) stream_add_value(&wanted, mapping.constant);
        out = (output){0};
        check_rewrite(&piece, 1, &to, &options, true, &wanted, &out);
        assert_int_equal(out.minimum_size, 7);
        input_release(&out.file);
        stream_release(&wanted);
    }
    mapping.constant = firn_slice_of(NULL, 0);
    check_fails(rewrite(&piece, 1, &to, &options, true, &out, &error), FIRN_CORRUPT, &error,
                "input.parquet: column c0");
    input_release(&in);
}

/* A field that was added inside a list: its levels come from the field beside it. */
static void siblings_lend_levels(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int version = 1; version <= 2; version++) {
        for (int constant = 0; constant < 2; constant++) {
            /* The sibling repeats once more than the leaf does. */
            column_case from = {"o*o*o", LEAF(INT32)};
            column_case to = {"o*oo", LEAF(INT64)};
            firn_parquet_write_options options = default_options();
            options.page_version = version;
            options.page_row_limit = 700;
            input in = {0};
            in.s = stream_random(&random, &from, 3000, (stream_mix){50, 20});
            make_input(&in, &from, 3000, &options);
            static const uint8_t seven[8] = {7};
            firn_parquet_leaf_mapping mapping = {
                .levels_only = true,
                .kept_repetition_level = 1,
                .definition_level_map = {0, 1, 2, 3, 3, 3},
            };
            if (constant) {
                mapping.constant = firn_slice_of(seven, 8);
                mapping.definition_level_map[3] = mapping.definition_level_map[4] =
                    mapping.definition_level_map[5] = 4;
            }
            firn_parquet_piece piece = {
                .file = in.file, .first_row = 100, .row_count = 2500, .mappings = &mapping};
            stream part = rows_of(&in.s, 5, 100, 2500);
            stream wanted = {.rows = 2500};
            for (size_t i = 0; i < part.definition.count; i++) {
                if (part.repetition.items[i] > 1) continue;
                uint8_t level = mapping.definition_level_map[part.definition.items[i]];
                stream_add_level(&wanted, part.repetition.items[i], level);
                if (level == 4) stream_add_value(&wanted, mapping.constant);
            }
            output out = {0};
            check_rewrite(&piece, 1, &to, &options, true, &wanted, &out);
            input_release(&out.file);
            stream_release(&wanted);
            stream_release(&part);
            input_release(&in);
        }
    }
}

static void values_are_converted(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    column_case from = {"o", LEAF(INT32)};
    column_case to = {"o", LEAF(INT64)};
    for (int dictionary = 0; dictionary < 2; dictionary++) {
        firn_parquet_write_options options = default_options();
        if (!dictionary) options.dictionary_size_bytes = 0;
        options.page_row_limit = 1000;
        input in = {0};
        in.s = stream_random(&random, &from, 6000, (stream_mix){50, 20});
        make_input(&in, &from, 3000, &options);
        firn_parquet_leaf_mapping mapping = identity();
        mapping.conversion = FIRN_PARQUET_CONVERT_INT32_TO_INT64;
        firn_parquet_piece pieces[2] = {
            {.file = in.file, .row_count = 3000, .mappings = &mapping},
            {.file = in.file, .row_group = 1, .row_count = 3000, .mappings = &mapping}};
        stream wanted = {.rows = 6000};
        for (size_t i = 0; i < in.s.definition.count; i++) {
            stream_add_level(&wanted, 0, in.s.definition.items[i]);
        }
        for (size_t i = 0; i < in.s.values.count; i++) {
            uint8_t wide[8];
            int32_t value = (int32_t)firn_load_le32(in.s.values.items[i].data);
            firn_store_le64(wide, (uint64_t)(int64_t)value);
            stream_add_value(&wanted, firn_slice_of(wide, 8));
        }
        output out = {0};
        check_rewrite(pieces, 2, &to, &options, true, &wanted, &out);
        input_release(&out.file);
        stream_release(&wanted);
        input_release(&in);
    }
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(BYTE_ARRAY)};
    firn_parquet_write_options options = default_options();
    options.compression = FIRN_PARQUET_UNCOMPRESSED;
    options.page_row_limit = 5000;
    input inputs[2] = {0};
    firn_parquet_piece pieces[3];
    firn_parquet_leaf_mapping mapping = identity();
    firn_parquet_leaf_mapping absent = {
        .input_leaf = -1, .absent_definition_level = 1, .constant = firn_slice_text("x")};
    for (size_t i = 0; i < 2; i++) {
        inputs[i].s = stream_random(&random, &column, 5500, (stream_mix){i == 0 ? 30 : 100000, 20});
        make_input(&inputs[i], &column, 5500, &options);
        pieces[i] =
            (firn_parquet_piece){.file = inputs[i].file, .row_count = 5500, .mappings = &mapping};
    }
    pieces[2] = pieces[0];
    pieces[2].mappings = &absent;
    allocation_case c = {pieces, 3, &column, options};
    check_each_allocation(rewrite_once, &c);
    c.options.dictionary_size_bytes = 0;
    check_each_allocation(rewrite_once, &c);
    for (size_t i = 0; i < 2; i++) input_release(&inputs[i]);
}

static void wrong_row_counts_are_corrupt(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_error error = {0};
    static const column_case cases[] = {{"*", LEAF(INT64)}, {"o", LEAF(INT64)}};
    for (size_t i = 0; i < 2; i++) {
        firn_parquet_write_options options = default_options();
        input in = {0};
        in.s = stream_random(&random, &cases[i], 100, (stream_mix){50, 20});
        make_input(&in, &cases[i], 100, &options);
        firn_parquet_leaf_mapping mapping = identity();
        for (int64_t claimed = 99; claimed <= 101; claimed += 2) {
            ((firn_parquet_row_group *)(uintptr_t)in.file->metadata->row_groups)->num_rows =
                claimed;
            firn_parquet_piece piece = {
                .file = in.file, .row_count = claimed, .mappings = &mapping};
            output out = {0};
            check_fails(rewrite(&piece, 1, &cases[i], &options, true, &out, &error), FIRN_CORRUPT,
                        &error, "column c0");
        }
        input_release(&in);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_runs_of_rows),
        cmocka_unit_test(plain_pages_are_copied),
        cmocka_unit_test(only_trusted_bounds_go_on),
        cmocka_unit_test(nan_counts_of_copied_pages),
        cmocka_unit_test(nan_bounds_are_dropped),
        cmocka_unit_test(int96_bounds_are_ignored),
        cmocka_unit_test(codec_version_and_size_forbid_copying),
        cmocka_unit_test(small_pages_are_made_anew),
        cmocka_unit_test(nan_counts_of_chunks_copied_in_part),
        cmocka_unit_test(bounds_of_another_order_are_dropped),
        cmocka_unit_test(levels_are_mapped),
        cmocka_unit_test(nulls_keep_their_depth),
        cmocka_unit_test(a_null_where_none_may_be_is_corrupt),
        cmocka_unit_test(missing_leaves),
        cmocka_unit_test(siblings_lend_levels),
        cmocka_unit_test(values_are_converted),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(wrong_row_counts_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
