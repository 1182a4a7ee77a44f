/*
 * Rows that go while their neighbours stay, and row lineage filled in: whatever the pages, the encodings and the rows chosen, what
 * stays is right, pages that lose nothing are moved as ever, and bounds are true.
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
#define MOST_ROWS 20000

typedef enum pattern { NOTHING, RANDOM, RUNS, ENDS, ALL, ALL_BUT_ONE, PATTERN_COUNT } pattern;

static bool goes(test_generator *random, pattern how, int64_t row, int64_t rows, unsigned percent,
                 bool *in_run) {
    switch (how) {
    case NOTHING: return false;
    case RANDOM: return test_generator_below(random, 100) < percent;
    case RUNS:
        if (test_generator_below(random, 300) == 0) *in_run = !*in_run;
        return *in_run;
    case ENDS: return row == 0 || row == rows - 1;
    case ALL: return true;
    default: return row != rows / 2;
    }
}

/* Rows of a group of `rows` that go, in memory that the piece keeps. */
static void draw_dropped(test_generator *random, int64_t rows, firn_parquet_piece *piece) {
    int64_t *dropped = malloc((size_t)(rows + 1) * sizeof *dropped);
    assert_non_null(dropped);
    pattern how = (pattern)test_generator_below(random, PATTERN_COUNT);
    unsigned percent = test_generator_below(random, 2) == 0 ? 2 : 60;
    bool in_run = test_generator_below(random, 2) == 0;
    piece->dropped_rows = dropped;
    piece->dropped_count = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (goes(random, how, row, rows, percent, &in_run)) dropped[piece->dropped_count++] = row;
    }
}

static void any_rows_go(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 250; round++) {
        const column_case *column = &columns[test_generator_below(&random, COLUMN_COUNT)];
        bool small = test_generator_below(&random, 4) != 0;
        int64_t rows = small ? 150 : 9000;
        input inputs[3] = {0};
        firn_parquet_piece pieces[6];
        size_t piece_count = 0;
        firn_parquet_leaf_mapping mapping = identity();
        stream wanted = {0};
        for (size_t i = 0; i < 3; i++) {
            firn_parquet_write_options options = random_options(&random, small);
            static const uint64_t distincts[] = {20, 1000000, STREAM_NEAR};
            stream_mix mix = {distincts[test_generator_below(&random, 3)],
                              (unsigned)test_generator_below(&random, 3) * 15};
            inputs[i].s = stream_random(&random, column, rows, mix);
            inputs[i].force_dictionary =
                test_generator_below(&random, 4) == 0 && column->leaf.type != FIRN_PARQUET_BOOLEAN;
            int64_t group = test_generator_below(&random, 2) == 0 ? rows : rows / 2;
            make_input(&inputs[i], column, group, &options);
            for (int64_t at = 0; at < rows; at += group) {
                int64_t first = 0, count = group;
                if (test_generator_below(&random, 3) == 0) {
                    first = (int64_t)test_generator_below(&random, (uint64_t)group);
                    count = (int64_t)test_generator_below(&random, (uint64_t)(group - first + 1));
                }
                firn_parquet_piece *piece = &pieces[piece_count++];
                *piece = (firn_parquet_piece){.file = inputs[i].file,
                                              .row_group = (size_t)(at / group),
                                              .first_row = first,
                                              .row_count = count,
                                              .mappings = &mapping};
                draw_dropped(&random, group, piece);
                stream part = rows_of_piece(&inputs[i].s, maximum_of(column), at, piece);
                add_stream(&wanted, &part);
            }
        }
        firn_parquet_write_options options = random_options(&random, small);
        output out = {.no_joined_pages = test_generator_below(&random, 4) == 0};
        check_rewrite(pieces, piece_count, column, &options, test_generator_below(&random, 6) != 0,
                      &wanted, &out);
        input_release(&out.file);
        stream_release(&wanted);
        for (size_t i = 0; i < piece_count; i++) free((void *)(uintptr_t)pieces[i].dropped_rows);
        for (size_t i = 0; i < 3; i++) input_release(&inputs[i]);
    }
}

/* One input of 20000 rows in pages of 5000; what came out is left in *out, to be released. */
static void drop_from_pages(test_generator *random, const column_case *column, int version,
                            uint64_t distinct, const int64_t *dropped, size_t dropped_count,
                            output *out) {
    firn_parquet_leaf_mapping mapping = identity();
    firn_parquet_write_options options = default_options();
    options.page_version = version;
    options.page_row_limit = 5000;
    options.dictionary_size_bytes = distinct > 1000 ? 0 : 1 << 20;
    input in = {0};
    in.s = stream_random(random, column, MOST_ROWS, (stream_mix){distinct, 10});
    make_input(&in, column, MOST_ROWS, &options);
    firn_parquet_piece piece = {.file = in.file,
                                .row_count = MOST_ROWS,
                                .mappings = &mapping,
                                .dropped_rows = dropped,
                                .dropped_count = dropped_count};
    stream wanted = rows_of_piece(&in.s, maximum_of(column), 0, &piece);
    *out = (output){0};
    check_rewrite(&piece, 1, column, &options, true, &wanted, out);
    stream_release(&wanted);
    input_release(&in);
}

static void whole_pages_move_or_go(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static int64_t dropped[5001];
    /* One row of the first page, all of the third. */
    dropped[0] = 17;
    for (int64_t i = 0; i < 5000; i++) dropped[i + 1] = 10000 + i;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        for (int version = 1; version <= 2; version++) {
            output out;
            const column_case *column = &columns[i];
            drop_from_pages(&random, column, version, UINT64_MAX, dropped, 5001, &out);
            bool told = version == 2 || strchr(column->shape, '*') == NULL;
            const firn_parquet_rewrite_counts *counts = &out.rewrite;
            assert_int_equal(counts->ways[FIRN_PARQUET_WAY_LEFT_OUT].pages, told ? 1 : 0);
            assert_int_equal(counts->pages_copied, told ? 2 : 0);
            if (told) assert_int_equal(counts->reasons[FIRN_PARQUET_REASON_ROWS].pages, 1);
            assert_int_equal(counts->rows, 14999);
            input_release(&out.file);
        }
    }
}

static void indices_are_not_decoded(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static int64_t dropped[2000];
    for (int64_t i = 0; i < 2000; i++) dropped[i] = i * 10;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const column_case *column = &columns[i];
        if (column->leaf.type == FIRN_PARQUET_BOOLEAN) continue;
        output out;
        drop_from_pages(&random, column, 1 + (int)(i % 2), 50, dropped, 2000, &out);
        assert_int_equal(out.rewrite.ways[FIRN_PARQUET_WAY_ENCODED].pages, 0);
        assert_true(out.rewrite.ways[FIRN_PARQUET_WAY_REMAPPED].pages > 0);
        input_release(&out.file);
    }
}

static int64_t load(const firn_slice *value) {
    return (int64_t)firn_load_le64(value->data);
}

/* Rows 0, 1, 2 … as values, so that bounds are known. */
static void make_ascending(input *in, int64_t rows, const firn_parquet_write_options *options) {
    static const column_case column = {"r", LEAF(INT64)};
    in->s = (stream){.rows = rows};
    for (int64_t i = 0; i < rows; i++) {
        uint8_t bytes[8];
        firn_store_le64(bytes, (uint64_t)i);
        stream_add_level(&in->s, 0, 0);
        stream_add_value(&in->s, firn_slice_of(bytes, 8));
    }
    make_input(in, &column, rows, options);
}

static void bounds_follow_the_rows_that_stay(void **state) {
    (void)state;
    static const column_case column = {"r", LEAF(INT64)};
    /* With an index pages have bounds of their own; without it the values are asked. */
    for (int indexed = 0; indexed < 2; indexed++) {
        for (int64_t from = 0; from <= 15000; from += 5000) {
            static int64_t dropped[5000];
            for (int64_t i = 0; i < 5000; i++) dropped[i] = from + i;
            firn_parquet_write_options options = default_options();
            options.page_row_limit = 5000;
            options.dictionary_size_bytes = 0;
            options.write_page_index = indexed != 0;
            input in = {0};
            make_ascending(&in, MOST_ROWS, &options);
            firn_parquet_leaf_mapping mapping = identity();
            firn_parquet_piece piece = {.file = in.file,
                                        .row_count = MOST_ROWS,
                                        .mappings = &mapping,
                                        .dropped_rows = dropped,
                                        .dropped_count = 5000};
            stream wanted = rows_of_piece(&in.s, 0, 0, &piece);
            output out = {0};
            check_rewrite(&piece, 1, &column, &options, true, &wanted, &out);
            assert_int_equal(out.rewrite.pages_copied, 3);
            const firn_parquet_statistics *statistics =
                &out.file.file->metadata->row_groups[0].columns[0].statistics;
            assert_true(statistics->has_min_exact && statistics->min_exact);
            assert_true(statistics->has_max_exact && statistics->max_exact);
            assert_false(out.counts.bounds_inexact);
            int64_t least = from == 0 ? 5000 : 0;
            int64_t greatest = from == 15000 ? 14999 : 19999;
            assert_int_equal(load(&statistics->min_value), least);
            assert_int_equal(load(&statistics->max_value), greatest);
            input_release(&out.file);
            stream_release(&wanted);
            input_release(&in);
        }
    }
}

/* `rows` rows of three values each, on v1 pages of four: most of them begin within a row, as other writers have it. */
static void make_rows_across_pages(input *in, const column_case *column, int64_t rows) {
    firn_error error = {0};
    firn_parquet_write_options options = default_options();
    options.compression = FIRN_PARQUET_UNCOMPRESSED;
    options.dictionary_size_bytes = 0;
    options.write_page_index = false;
    firn_parquet_schema_element elements[16];
    size_t count = column_elements(column, 1, elements, 16);
    firn_buffer values = firn_buffer_with_maximum((size_t)1 << 20);
    in->s = (stream){.rows = rows};
    for (int64_t i = 0; i < 3 * rows; i++) {
        uint8_t bytes[8];
        firn_store_le64(bytes, (uint64_t)i);
        stream_add_level(&in->s, i % 3 != 0, 1);
        stream_add_value(&in->s, firn_slice_of(bytes, 8));
        check_ok(firn_buffer_append(&values, bytes, 8, &error), &error);
    }
    in->bytes = firn_buffer_with_maximum((size_t)1 << 20);
    firn_write_to destination = {stream_sink, &in->bytes};
    firn_parquet_file_writer *file = NULL;
    firn_parquet_chunk_writer *writer = NULL;
    firn_parquet_chunk chunk;
    check_ok(firn_parquet_file_writer_new(elements, count, &options, &destination, &file, &error),
             &error);
    const firn_parquet_leaf *leaf = &firn_parquet_file_writer_schema(file)->leaves[0];
    check_ok(firn_parquet_file_writer_begin_row_group(file, rows, &error), &error);
    check_ok(firn_parquet_chunk_writer_new(leaf, &options, &writer, &error), &error);
    for (size_t at = 0; at < in->s.definition.count; at += 4) {
        firn_parquet_part part = {.level_count = 4,
                                  .value_count = 4,
                                  .definition_levels = in->s.definition.items + at,
                                  .repetition_levels = in->s.repetition.items + at,
                                  .encoding = FIRN_PARQUET_PLAIN,
                                  .body = firn_slice_of(values.data + 8 * at, 32),
                                  .raw_size = 32,
                                  .alone = true};
        check_ok(firn_parquet_chunk_writer_append_part(writer, &part, &error), &error);
    }
    check_ok(firn_parquet_chunk_writer_finish(writer, &chunk, &error), &error);
    check_ok(firn_parquet_file_writer_add_chunk(file, &chunk, &error), &error);
    check_ok(firn_parquet_file_writer_end_row_group(file, &error), &error);
    check_ok(firn_parquet_file_writer_finish(file, NULL, NULL, &error), &error);
    firn_parquet_chunk_writer_free(writer);
    firn_parquet_file_writer_free(file);
    firn_buffer_release(&values);
    open_input(in);
}

/* A page may lose nothing but what it goes on with of a row that began before it. */
static void rows_go_across_pages(void **state) {
    (void)state;
    static const column_case column = {"*", LEAF(INT64)};
    const int64_t rows = 24;
    input in = {0};
    make_rows_across_pages(&in, &column, rows);
    firn_parquet_write_options options = default_options();
    firn_parquet_leaf_mapping mapping = identity();
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t first = 0; first < rows; first += 5) {
            firn_parquet_piece piece = {.file = in.file,
                                        .first_row = first,
                                        .row_count = rows - first - first % 2,
                                        .mappings = &mapping,
                                        .dropped_rows = &row,
                                        .dropped_count = 1};
            stream wanted = rows_of_piece(&in.s, 1, 0, &piece);
            output out = {0};
            check_rewrite(&piece, 1, &column, &options, true, &wanted, &out);
            input_release(&out.file);
            stream_release(&wanted);
        }
    }
    input_release(&in);
}

static void rows_that_do_not_ascend_are_refused(void **state) {
    (void)state;
    firn_error error = {0};
    static const column_case column = {"r", LEAF(INT64)};
    static const int64_t twice[] = {5, 5}, back[] = {6, 5};
    firn_parquet_write_options options = default_options();
    input in = {0};
    make_ascending(&in, 100, &options);
    firn_parquet_leaf_mapping mapping = identity();
    for (int i = 0; i < 2; i++) {
        firn_parquet_piece piece = {.file = in.file,
                                    .row_count = 100,
                                    .mappings = &mapping,
                                    .dropped_rows = i == 0 ? twice : back,
                                    .dropped_count = 2};
        output out = {0};
        check_fails(rewrite(&piece, 1, &column, &options, true, &out, &error), FIRN_INVALID, &error,
                    "dropped rows don't ascend");
    }
    input_release(&in);
}

static const column_case lineage = {"o", LEAF(INT64)};

static int64_t filled(const firn_parquet_leaf_mapping *mapping, int64_t base, int64_t row) {
    return mapping->fill == FIRN_PARQUET_FILL_VALUE ? base : base + row;
}

static void add_filled(stream *wanted, int64_t value) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)value);
    stream_add_level(wanted, 0, 1);
    stream_add_value(wanted, firn_slice_of(bytes, 8));
}

/* The piece's rows with their nulls filled; `from` may have no levels. `base` -1: nulls stay. */
static void add_lineage(stream *wanted, const input *in, const firn_parquet_piece *piece,
                        int64_t group_rows, int64_t base) {
    const firn_parquet_leaf_mapping *mapping = piece->mappings;
    int64_t start = (int64_t)piece->row_group * group_rows;
    size_t next = 0, value = 0;
    for (int64_t row = 0; row < (int64_t)in->s.definition.count; row++) {
        bool valued = in->s.definition.items[row] == 1;
        size_t at = value;
        value += valued;
        int64_t local = row - start;
        if (local < piece->first_row || local >= piece->first_row + piece->row_count) continue;
        while (next < piece->dropped_count && piece->dropped_rows[next] < local) next++;
        if (next < piece->dropped_count && piece->dropped_rows[next] == local) continue;
        if (valued && mapping->input_leaf >= 0) {
            stream_add_level(wanted, 0, 1);
            stream_add_value(wanted, in->s.values.items[at]);
        } else if (base >= 0) {
            add_filled(wanted, filled(mapping, base, row));
        } else {
            stream_add_level(wanted, 0, 0);
        }
        wanted->rows++;
    }
}

static void lineage_is_filled(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int round = 0; round < 200; round++) {
        bool small = test_generator_below(&random, 4) != 0;
        int64_t rows = small ? 150 : 9000, group = rows / 2;
        input inputs[3] = {0};
        firn_parquet_piece pieces[6];
        firn_parquet_leaf_mapping mappings[3];
        int64_t bases[3];
        stream wanted = {0};
        firn_parquet_fill fill = test_generator_below(&random, 2) == 0
                                     ? FIRN_PARQUET_FILL_VALUE
                                     : FIRN_PARQUET_FILL_ROW_NUMBER;
        for (size_t i = 0; i < 3; i++) {
            static const unsigned nulls[] = {0, 20, 100};
            stream_mix mix = {test_generator_below(&random, 2) == 0 ? 3 : 1000000,
                              nulls[test_generator_below(&random, 3)]};
            firn_parquet_write_options options = random_options(&random, small);
            inputs[i].s = stream_random(&random, &lineage, rows, mix);
            inputs[i].force_dictionary = test_generator_below(&random, 2) == 0;
            make_input(&inputs[i], &lineage, group, &options);
            mappings[i] = identity();
            if (test_generator_below(&random, 4) == 0) mappings[i].input_leaf = -1;
            mappings[i].fill = fill;
            bases[i] = test_generator_below(&random, 5) == 0
                           ? -1
                           : (int64_t)test_generator_below(&random, 1000000);
            for (size_t j = 0; j < 2; j++) {
                firn_parquet_piece *piece = &pieces[2 * i + j];
                *piece = (firn_parquet_piece){.file = inputs[i].file,
                                              .row_group = j,
                                              .row_count = group,
                                              .mappings = &mappings[i],
                                              .fill_values = &bases[i]};
                if (test_generator_below(&random, 3) == 0) piece->first_row = piece->row_count = 20;
                draw_dropped(&random, group, piece);
                add_lineage(&wanted, &inputs[i], piece, group, bases[i]);
            }
        }
        firn_parquet_write_options options = random_options(&random, small);
        output out = {0};
        check_rewrite(pieces, 6, &lineage, &options, true, &wanted, &out);
        input_release(&out.file);
        stream_release(&wanted);
        for (size_t i = 0; i < 6; i++) free((void *)(uintptr_t)pieces[i].dropped_rows);
        for (size_t i = 0; i < 3; i++) input_release(&inputs[i]);
    }
}

/* Nothing to fill: the pages are those of any column. */
static void whole_lineage_is_copied(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int version = 1; version <= 2; version++) {
        for (unsigned nulls = 0; nulls <= 1; nulls++) {
            firn_parquet_write_options options = default_options();
            options.page_version = version;
            options.page_row_limit = 5000;
            options.dictionary_size_bytes = 0;
            input in = {0};
            in.s = stream_random(&random, &lineage, MOST_ROWS, (stream_mix){UINT64_MAX, nulls});
            make_input(&in, &lineage, MOST_ROWS, &options);
            firn_parquet_leaf_mapping mapping = identity();
            mapping.fill = FIRN_PARQUET_FILL_ROW_NUMBER;
            int64_t base = 7000;
            firn_parquet_piece piece = {.file = in.file,
                                        .row_count = MOST_ROWS,
                                        .mappings = &mapping,
                                        .fill_values = &base};
            stream wanted = {0};
            add_lineage(&wanted, &in, &piece, MOST_ROWS, base);
            output out = {0};
            check_rewrite(&piece, 1, &lineage, &options, true, &wanted, &out);
            assert_int_equal(out.rewrite.pages_copied, nulls == 0 ? 4 : 0);
            assert_int_equal(out.counts.null_count, 0);
            input_release(&out.file);
            stream_release(&wanted);
            input_release(&in);
        }
    }
}

/* A footer that counts no nulls where there are some must not leave rows without a number. */
static void uncounted_nulls_are_filled_or_corrupt(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_error error = {0};
    for (int i = 0; i < 8; i++) {
        firn_parquet_write_options options = default_options();
        options.page_version = 1 + i % 2;
        bool copies = i / 2 % 2 == 0, forced = i / 4 != 0;
        if (!forced) options.dictionary_size_bytes = 0;
        input in = {.force_dictionary = forced};
        in.s = stream_random(&random, &lineage, 6000, (stream_mix){forced ? 5 : UINT64_MAX, 10});
        make_input(&in, &lineage, 6000, &options);
        firn_parquet_column_chunk *chunk =
            (firn_parquet_column_chunk *)(uintptr_t)&in.file->metadata->row_groups[0].columns[0];
        chunk->statistics.null_count = 0;
        firn_parquet_leaf_mapping mapping = identity();
        mapping.fill = FIRN_PARQUET_FILL_ROW_NUMBER;
        int64_t base = 0;
        firn_parquet_piece piece = {
            .file = in.file, .row_count = 6000, .mappings = &mapping, .fill_values = &base};
        output out = {.told_lies = true};
        options.page_version = 2;
        firn_status status = rewrite(&piece, 1, &lineage, &options, copies, &out, &error);
        if (status == FIRN_OK) {
            assert_int_equal(out.rewrite.nulls, 0);
            firn_buffer_release(&out.file.bytes);
        } else {
            check_fails(status, FIRN_CORRUPT, &error, "the footer counts none");
        }
        input_release(&in);
    }
}

static void only_lineage_can_be_filled(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_error error = {0};
    static const column_case others[] = {
        {"r", LEAF(INT64)}, {"o", LEAF(INT32)}, {"oo", LEAF(INT64)}, {"*", LEAF(INT64)}};
    firn_parquet_write_options options = default_options();
    for (size_t i = 0; i < sizeof others / sizeof *others + 2; i++) {
        const column_case *column = i < 4 ? &others[i] : &lineage;
        input in = {0};
        in.s = stream_random(&random, column, 100, (stream_mix){50, 20});
        make_input(&in, column, 100, &options);
        firn_parquet_leaf_mapping mapping = identity();
        mapping.fill = FIRN_PARQUET_FILL_ROW_NUMBER;
        int64_t base = i == 4 ? INT64_MAX - 50 : i == 5 ? -2 : 0;
        firn_parquet_piece piece = {
            .file = in.file, .row_count = 100, .mappings = &mapping, .fill_values = &base};
        output out = {0};
        check_fails(rewrite(&piece, 1, column, &options, true, &out, &error), FIRN_INVALID, &error,
                    i < 4 ? "only nulls of a flat" : "out of range");
        input_release(&in);
    }
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_parquet_write_options options = default_options();
    options.compression = FIRN_PARQUET_UNCOMPRESSED;
    options.page_row_limit = 500;
    static const int64_t dropped[] = {3, 4, 700, 1200, 1201};
    int64_t base = 10;
    input in = {0};
    in.s = stream_random(&random, &lineage, 1500, (stream_mix){20, 20});
    make_input(&in, &lineage, 1500, &options);
    firn_parquet_leaf_mapping mappings[3] = {identity(), identity(), identity()};
    firn_parquet_piece pieces[3];
    mappings[1].fill = FIRN_PARQUET_FILL_ROW_NUMBER;
    mappings[2].fill = FIRN_PARQUET_FILL_VALUE;
    mappings[2].input_leaf = -1;
    for (size_t i = 0; i < 3; i++) {
        pieces[i] = (firn_parquet_piece){.file = in.file,
                                         .row_count = 1500,
                                         .mappings = &mappings[i],
                                         .dropped_rows = dropped,
                                         .dropped_count = 5,
                                         .fill_values = &base};
    }
    allocation_case c = {pieces, 3, &lineage, options};
    check_each_allocation(rewrite_once, &c);
    input_release(&in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_rows_go),
        cmocka_unit_test(whole_pages_move_or_go),
        cmocka_unit_test(indices_are_not_decoded),
        cmocka_unit_test(bounds_follow_the_rows_that_stay),
        cmocka_unit_test(rows_go_across_pages),
        cmocka_unit_test(rows_that_do_not_ascend_are_refused),
        cmocka_unit_test(lineage_is_filled),
        cmocka_unit_test(whole_lineage_is_copied),
        cmocka_unit_test(uncounted_nulls_are_filled_or_corrupt),
        cmocka_unit_test(only_lineage_can_be_filled),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
