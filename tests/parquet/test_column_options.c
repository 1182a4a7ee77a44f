/* Columns without a dictionary, without statistics, or without both, whichever way their values come into the chunk. */
#include "parquet/chunk_indexes.h"
#include "parquet/rewrite_kit.h"

static const column_case columns[] = {
    {"r", LEAF(INT64)},
    {"o", LEAF(INT32)},
    {"o", LEAF(BYTE_ARRAY, LOGICAL(STRING))},
    {"o*o", LEAF(DOUBLE)},
    {"*", LEAF(BYTE_ARRAY)},
    {"r", LEAF(DOUBLE)},
    {"oo", LEAF(FLOAT)},
    {"o", LEAF(INT96)},
    {"o", LEAF(BOOLEAN)},
    {"r", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 6)},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static const firn_parquet_column_options wanted[] = {
    {.no_dictionary = true},
    {.no_statistics = true},
    {.no_dictionary = true, .no_statistics = true}};
#define WANTED_COUNT (sizeof wanted / sizeof *wanted)

/* What comes in, and the way that it is expected to go for some column at least. */
typedef struct source_case {
    const char *name;
    uint64_t distinct;
    int64_t rows;
    int32_t page_rows;
    bool force_dictionary, other_codec, drops;
    firn_parquet_way way, without_dictionary;
    bool silent; /* has no statistics itself */
} source_case;

#define GOES(WAY, OTHERWISE)                                                                       \
    .way = FIRN_PARQUET_WAY_##WAY, .without_dictionary = FIRN_PARQUET_WAY_##OTHERWISE

static const source_case sources[] = {
    {"repeating", 40, 1500, 700, GOES(REMAPPED, ENCODED)},
    {"index pages", 40, 140000, 140000, .force_dictionary = true, GOES(COPIED, ENCODED)},
    {"unique", UINT64_MAX, 1500, 700, .force_dictionary = true, GOES(MOVED, MOVED)},
    {"small", UINT64_MAX, 1500, 700, GOES(JOINED, JOINED)},
    {"large", UINT64_MAX, 5000, 5000, GOES(COPIED, COPIED)},
    {"other codec", UINT64_MAX, 5000, 5000, .other_codec = true, GOES(RECOMPRESSED, RECOMPRESSED)},
    {"rows go", 40, 1500, 700, .drops = true, GOES(REMAPPED, ENCODED)},
    {"rows of large pages go", UINT64_MAX, 10000, 5000, .drops = true, GOES(COPIED, COPIED)},
};
#define SOURCE_COUNT (sizeof sources / sizeof *sources)

static void assert_no_dictionary(const firn_parquet_column_chunk *chunk) {
    assert_false(chunk->has_dictionary_page_offset);
    for (size_t i = 0; i < chunk->encoding_count; i++) {
        assert_int_not_equal(chunk->encodings[i], FIRN_PARQUET_RLE_DICTIONARY);
        assert_int_not_equal(chunk->encodings[i], FIRN_PARQUET_PLAIN_DICTIONARY);
    }
}

static bool is_empty(const firn_parquet_statistics *s) {
    return !s->has_null_count && !s->has_nan_count && !s->has_distinct_count && !s->has_min_exact &&
           !s->has_max_exact && s->min_value.data == NULL && s->max_value.data == NULL &&
           s->deprecated_min.data == NULL && s->deprecated_max.data == NULL;
}

static void assert_no_page_statistics(const firn_parquet_file *file) {
    firn_error error = {0};
    firn_parquet_chunk_reader *reader = NULL;
    const firn_parquet_page *page = NULL;
    check_ok(firn_parquet_chunk_reader_open(file, 0, 0, &reader, &error), &error);
    for (;;) {
        check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
        if (page == NULL) break;
        assert_true(is_empty(&page->header.statistics));
    }
    firn_parquet_chunk_reader_close(reader);
}

/* The offset index stays: it says where pages lie. */
static void assert_no_statistics(const firn_parquet_file *file) {
    firn_error error = {0};
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[0].columns[0];
    firn_arena *arena = firn_arena_new();
    firn_parquet_chunk_indexes indexes;
    assert_true(is_empty(&chunk->statistics));
    assert_false(chunk->has_unencoded_byte_array_bytes);
    assert_null(chunk->definition_level_histogram);
    assert_null(chunk->repetition_level_histogram);
    check_ok(firn_parquet_chunk_indexes_read(file, 0, 0, FIRN_PARQUET_FETCH_ALL, arena, &indexes,
                                             &error),
             &error);
    assert_true(indexes.has_offset_index);
    assert_false(indexes.has_column_index);
    assert_null(indexes.offset_index.unencoded_byte_array_bytes);
    firn_arena_free(arena);
    assert_no_page_statistics(file);
}

/* What the chunk says to whoever writes the manifest. */
static void assert_counts_tell_nothing(const firn_parquet_chunk_counts *counts, bool has_bounds) {
    assert_false(has_bounds);
    assert_int_equal(counts->nan_count, -1);
}

static void rewrite_source(const source_case *source, const column_case *column, int version,
                           const firn_parquet_column_options *want, test_generator *random,
                           int64_t seen[FIRN_PARQUET_WAY_COUNT]) {
    input in = {.force_dictionary =
                    source->force_dictionary && column->leaf.type != FIRN_PARQUET_BOOLEAN};
    firn_parquet_write_options options = default_options();
    options.page_version = version;
    options.page_row_limit = source->page_rows;
    options.index_page_row_limit = source->page_rows;
    if (source->silent) options.columns = &wanted[1];
    options.column_count = 1;
    if (source->other_codec) options.compression = FIRN_PARQUET_ZSTD;
    in.s = stream_random(random, column, source->rows, (stream_mix){source->distinct, 10});
    make_input(&in, column, source->rows, &options);
    firn_parquet_leaf_mapping mapping = identity();
    const int64_t dropped[] = {5};
    firn_parquet_piece piece = {.file = in.file,
                                .row_count = source->rows,
                                .mappings = &mapping,
                                .dropped_rows = dropped,
                                .dropped_count = source->drops};
    stream rows = rows_of_piece(&in.s, maximum_of(column), 0, &piece);
    options.compression = FIRN_PARQUET_SNAPPY;
    options.index_page_row_limit = 131072;
    options.columns = want;
    output out = {.no_statistics = want->no_statistics};
    check_rewrite(&piece, 1, column, &options, true, &rows, &out);
    for (int i = 0; i < FIRN_PARQUET_WAY_COUNT; i++) seen[i] += out.rewrite.ways[i].pages;
    const firn_parquet_file *file = out.file.file;
    if (want->no_dictionary) assert_no_dictionary(&file->metadata->row_groups[0].columns[0]);
    if (want->no_statistics) {
        assert_no_statistics(file);
        assert_counts_tell_nothing(&out.counts, out.has_bounds);
    }
    input_release(&out.file);
    stream_release(&rows);
    input_release(&in);
}

static void every_way_of_rewriting(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < SOURCE_COUNT * WANTED_COUNT; i++) {
        const source_case *source = &sources[i % SOURCE_COUNT];
        const firn_parquet_column_options *want = &wanted[i / SOURCE_COUNT];
        int64_t seen[FIRN_PARQUET_WAY_COUNT] = {0};
        for (size_t j = 0; j < COLUMN_COUNT * 2; j++) {
            rewrite_source(source, &columns[j / 2], 1 + (int)(j % 2), want, &random, seen);
        }
        firn_parquet_way way = want->no_dictionary ? source->without_dictionary : source->way;
        if (seen[way] == 0) fail_msg("%s: nothing went the way that it should", source->name);
        if (want->no_dictionary) assert_int_equal(seen[FIRN_PARQUET_WAY_REMAPPED], 0);
    }
}

/* Index pages are taken apart where nobody tells their bounds, as of the column's own earlier files; nobody asks here. */
static void pages_need_no_bounds(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"r", LEAF(DOUBLE)};
    int64_t seen[FIRN_PARQUET_WAY_COUNT] = {0};
    static const source_case source = {.distinct = 40,
                                       .rows = 140000,
                                       .page_rows = 70000,
                                       .force_dictionary = true,
                                       .silent = true};
    rewrite_source(&source, &column, 1, &wanted[1], &random, seen);
    assert_true(seen[FIRN_PARQUET_WAY_COPIED] > 0);
    assert_int_equal(seen[FIRN_PARQUET_WAY_REMAPPED], 0);
}

/* Values that are appended, and levels that the histograms would count. */
static void written_values(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * WANTED_COUNT; i++) {
        const column_case *column = &columns[i % COLUMN_COUNT];
        const firn_parquet_column_options *want = &wanted[i / COLUMN_COUNT];
        firn_parquet_write_options options = default_options();
        input in = {.s = stream_random(&random, column, 3000, (stream_mix){20, 30})};
        options.columns = want;
        options.column_count = 1;
        make_input(&in, column, 3000, &options);
        assert_verified(&in.source);
        stream back = stream_read(in.file, 0);
        assert_streams_equal(&in.s, &back);
        const firn_parquet_column_chunk *chunk = &in.file->metadata->row_groups[0].columns[0];
        if (want->no_dictionary) assert_no_dictionary(chunk);
        if (want->no_statistics) assert_no_statistics(in.file);
        assert_int_equal(chunk->statistics.has_null_count, !want->no_statistics);
        stream_release(&back);
        input_release(&in);
    }
}

/* A row group is not cut for a dictionary that will not be. */
static void nothing_is_measured(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"r", LEAF(BYTE_ARRAY)};
    firn_error error = {0};
    firn_parquet_write_options options = default_options();
    input in = {.s = stream_random(&random, &column, 20000, (stream_mix){2000, 0})};
    make_input(&in, &column, 20000, &options);
    firn_parquet_leaf_mapping mapping = identity();
    firn_parquet_piece piece = {.file = in.file, .row_count = 20000, .mappings = &mapping};
    firn_parquet_rewrite_options how = {.copy_pages = true};
    options.dictionary_size_bytes = 2000;
    for (int i = 0; i < 2; i++) {
        firn_parquet_dictionary_reach reach;
        options.columns = i == 0 ? NULL : &wanted[0];
        options.column_count = i == 0 ? 0 : 1;
        check_ok(firn_parquet_measure_dictionaries(&piece, 1, in.file->schema, 0, &options, &how,
                                                   &reach, &error),
                 &error);
        assert_int_equal(reach.outgrows, i == 0);
        if (i == 1) assert_null(reach.merged);
        firn_parquet_merged_free(reach.merged);
    }
    input_release(&in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_rewriting),
        cmocka_unit_test(pages_need_no_bounds),
        cmocka_unit_test(written_values),
        cmocka_unit_test(nothing_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
