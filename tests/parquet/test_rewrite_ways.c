/*
 * Each way in which bytes move without being made anew: dictionaries that become PLAIN pages, pages joined, levels made anew in
 * front of values that stay, codecs changed, indices remapped. Rows, indexes, bounds and counts are held against the pages.
 */
#include "parquet/merge.h"
#include "parquet/rewrite_kit.h"

static const firn_parquet_compression codecs[] = {FIRN_PARQUET_ZSTD, FIRN_PARQUET_SNAPPY,
                                                  FIRN_PARQUET_UNCOMPRESSED, FIRN_PARQUET_GZIP};
#define CODEC_COUNT (sizeof codecs / sizeof *codecs)
#define EVERY_VALUE (UINT64_MAX)

static const column_case columns[] = {
    {"r", LEAF(INT64)},
    {"o", LEAF(INT32)},
    {"o", LEAF(BYTE_ARRAY, LOGICAL(STRING))},
    {"r", LEAF(BYTE_ARRAY)},
    {"o*o", LEAF(DOUBLE)},
    {"*", LEAF(BYTE_ARRAY)},
    {"oo", LEAF(FLOAT)},
    {"o", LEAF(INT96)},
    {"r", LEAF(FIXED_LEN_BYTE_ARRAY, .type_length = 6)},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

/* Byte arrays of the stream can be alike, however many values are drawn from: these are not. */
static void make_distinct(stream *s, const firn_parquet_schema_element *leaf) {
    static size_t number;
    if (leaf->type != FIRN_PARQUET_BYTE_ARRAY) return;
    for (size_t i = 0; i < s->values.count; i++) {
        char text[32];
        free((void *)(uintptr_t)s->values.items[i].data);
        int size = snprintf(text, sizeof text, "%zu:%.*s", number++, (int)(i % 9), "abcdefghi");
        uint8_t *copy = malloc((size_t)size);
        assert_non_null(copy);
        memcpy(copy, text, (size_t)size);
        s->values.items[i] = firn_slice_of(copy, (size_t)size);
    }
}

typedef struct run {
    const column_case *from, *to;
    firn_parquet_write_options in, out;
    firn_parquet_leaf_mapping mapping;
    size_t input_count;
    int64_t rows; /* of each */
    stream_mix mix;
    bool distinct, force_dictionary, no_joined_pages;
    int64_t smallest_joined_bytes;
    bool alike; /* the inputs hold the same rows */
} run;

static run run_of(const column_case *column, int version, firn_parquet_compression codec) {
    run r = {.from = column,
             .to = column,
             .in = default_options(),
             .out = default_options(),
             .mapping = identity(),
             .input_count = 3,
             .rows = 1500,
             .mix = {EVERY_VALUE, 0}};
    r.in.page_version = r.out.page_version = version;
    r.in.compression = r.out.compression = codec;
    r.in.page_row_limit = 700;
    return r;
}

static void map_stream(stream *s, const firn_parquet_leaf_mapping *mapping) {
    for (size_t i = 0; i < s->definition.count; i++) {
        s->definition.items[i] = mapping->definition_level_map[s->definition.items[i]];
    }
}

/* Makes the inputs, rewrites and checks; what came out is left in *counts. */
static void do_run(const run *r, test_generator *random, firn_parquet_rewrite_counts *counts) {
    input inputs[8] = {0};
    firn_parquet_piece pieces[8];
    stream wanted = {0};
    assert_true(r->input_count <= 8);
    for (size_t i = 0; i < r->input_count; i++) {
        test_generator own = *random;
        inputs[i].s = stream_random(r->alike ? &own : random, r->from, r->rows, r->mix);
        if (r->distinct) make_distinct(&inputs[i].s, &r->from->leaf);
        inputs[i].force_dictionary = r->force_dictionary;
        make_input(&inputs[i], r->from, r->rows, &r->in);
        pieces[i] = (firn_parquet_piece){
            .file = inputs[i].file, .row_count = r->rows, .mappings = &r->mapping};
        stream part = rows_of(&inputs[i].s, maximum_of(r->from), 0, r->rows);
        map_stream(&part, &r->mapping);
        add_stream(&wanted, &part);
    }
    output out = {.no_joined_pages = r->no_joined_pages,
                  .smallest_joined_bytes = r->smallest_joined_bytes};
    check_rewrite(pieces, r->input_count, r->to, &r->out, true, &wanted, &out);
    *counts = out.rewrite;
    if (getenv("FIRN_TEST_TRACE") != NULL) {
        print_message("%s -> %s, type %d, codec %d -> %d, v%d -> v%d, nulls %u:", r->from->shape,
                      r->to->shape, (int)r->to->leaf.type, (int)r->in.compression,
                      (int)r->out.compression, r->in.page_version, r->out.page_version,
                      r->mix.null_percent);
        for (int i = 0; i < FIRN_PARQUET_WAY_COUNT; i++) {
            print_message(" %s %d", firn_parquet_way_name((firn_parquet_way)i),
                          (int)counts->ways[i].pages);
        }
        for (int i = 0; i < FIRN_PARQUET_REASON_COUNT; i++) {
            if (counts->reasons[i].pages == 0) continue;
            print_message(" (%s %d)", firn_parquet_reason_name((firn_parquet_reason)i),
                          (int)counts->reasons[i].pages);
        }
        print_message("\n");
    }
    input_release(&out.file);
    stream_release(&wanted);
    for (size_t i = 0; i < r->input_count; i++) input_release(&inputs[i]);
}

static bool can_join(firn_parquet_compression codec) {
    return codec != FIRN_PARQUET_GZIP;
}

static bool has_levels(const column_case *column) {
    return strpbrk(column->shape, "o*") != NULL;
}

static void unique_dictionaries_move(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * CODEC_COUNT * 2 * 2; i++) {
        const column_case *column = &columns[i % COLUMN_COUNT];
        firn_parquet_compression codec = codecs[i / COLUMN_COUNT % CODEC_COUNT];
        run r = run_of(column, 1 + (int)(i / COLUMN_COUNT / CODEC_COUNT % 2), codec);
        r.mix.null_percent = (unsigned)(i / COLUMN_COUNT / CODEC_COUNT / 2) * 20;
        r.distinct = r.force_dictionary = true;
        for (int no_join = 0; no_join < 2; no_join++) {
            firn_parquet_rewrite_counts counts;
            r.no_joined_pages = no_join != 0;
            do_run(&r, &random, &counts);
            bool moves =
                r.out.page_version == 2 || !has_levels(column) || (can_join(codec) && no_join == 0);
            assert_int_equal(counts.ways[FIRN_PARQUET_WAY_MOVED].pages, moves ? 3 : 0);
            assert_int_equal(counts.ways[FIRN_PARQUET_WAY_ENCODED].pages > 0, !moves);
        }
    }
}

static void repeating_dictionaries_are_remapped(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * CODEC_COUNT * 2; i++) {
        run r = run_of(&columns[i % COLUMN_COUNT], 1 + (int)(i / COLUMN_COUNT / CODEC_COUNT),
                       codecs[i / COLUMN_COUNT % CODEC_COUNT]);
        firn_parquet_rewrite_counts counts;
        r.mix = (stream_mix){40, (unsigned)(i % 3) * 15};
        r.out.index_page_row_limit = i % 2 == 0 ? 100000 : 0;
        do_run(&r, &random, &counts);
        assert_true(counts.ways[FIRN_PARQUET_WAY_REMAPPED].pages > 0);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_ENCODED].pages, 0);
    }
}

/* Pages of a dictionary that stays as it is stay too, when they are large; those of other pieces are made anew. */
static void index_pages_are_copied(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * 4; i++) {
        const column_case *column = &columns[i % COLUMN_COUNT];
        bool repeated = strchr(column->shape, '*') != NULL;
        firn_parquet_write_options options = default_options();
        options.page_version = 1 + (int)(i / COLUMN_COUNT % 2);
        options.index_page_row_limit = i / COLUMN_COUNT / 2 == 0 ? 66000 : 5000;
        input in = {.force_dictionary = true};
        in.s = stream_random(&random, column, 140000, (stream_mix){40, (unsigned)(i % 3) * 15});
        make_input(&in, column, 140000, &options);
        firn_parquet_leaf_mapping mapping = identity();
        int64_t dropped[] = {5};
        firn_parquet_piece piece = {.file = in.file,
                                    .row_count = 140000,
                                    .mappings = &mapping,
                                    .dropped_rows = dropped,
                                    .dropped_count = i % 2};
        stream wanted = rows_of_piece(&in.s, maximum_of(column), 0, &piece);
        options.index_page_row_limit = 131072;
        output out = {0};
        check_rewrite(&piece, 1, column, &options, true, &wanted, &out);
        /* NaN may be anywhere unless the footer counts none, which the stream's numbers make unlikely. */
        bool floating =
            column->leaf.type == FIRN_PARQUET_FLOAT || column->leaf.type == FIRN_PARQUET_DOUBLE;
        bool large = i / COLUMN_COUNT / 2 == 0;
        bool begins = options.page_version == 2 || !repeated;
        int64_t copied = out.rewrite.ways[FIRN_PARQUET_WAY_COPIED].pages;
        if (!floating) assert_int_equal(copied > 0, large && begins);
        assert_int_equal(out.rewrite.ways[FIRN_PARQUET_WAY_ENCODED].pages, 0);
        input_release(&out.file);
        stream_release(&wanted);
        input_release(&in);
    }
}

/* A dictionary in which some values come up twice neither pays nor moves. */
static void hopeless_dictionaries_are_dropped(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * 2; i++) {
        run r = run_of(&columns[i % COLUMN_COUNT], 1 + (int)(i / COLUMN_COUNT), FIRN_PARQUET_ZSTD);
        firn_parquet_rewrite_counts counts;
        r.mix.distinct = 20000;
        r.force_dictionary = true;
        do_run(&r, &random, &counts);
        assert_true(counts.reasons[FIRN_PARQUET_REASON_DICTIONARY].pages > 0);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_REMAPPED].pages, 0);
    }
}

/* What one input has but once comes again in the next: the dictionary pays, though the first alone does not. */
static void dictionaries_of_like_inputs_are_merged(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"r", LEAF(INT64)};
    run r = run_of(&column, 1, FIRN_PARQUET_ZSTD);
    firn_parquet_rewrite_counts counts;
    r.rows = 60000;
    r.input_count = 4;
    r.alike = r.force_dictionary = true;
    r.mix = (stream_mix){100000, 0};
    do_run(&r, &random, &counts);
    assert_true(counts.ways[FIRN_PARQUET_WAY_REMAPPED].pages > 0);
    assert_int_equal(counts.ways[FIRN_PARQUET_WAY_ENCODED].pages, 0);
    r.alike = false;
    r.mix.distinct = 1000000;
    do_run(&r, &random, &counts);
    assert_int_equal(counts.ways[FIRN_PARQUET_WAY_REMAPPED].pages, 0);
    assert_true(counts.reasons[FIRN_PARQUET_REASON_DICTIONARY].pages > 0);
}

/* Frames of zstd begin with tables of their own; bodies of snappy are one body once they are joined. */
static void little_frames_are_decoded(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * 2 * 2; i++) {
        const column_case *column = &columns[i % COLUMN_COUNT];
        bool zstd = i / COLUMN_COUNT % 2 == 0;
        run r = run_of(column, 2, zstd ? FIRN_PARQUET_ZSTD : FIRN_PARQUET_SNAPPY);
        firn_parquet_rewrite_counts counts;
        r.distinct = r.force_dictionary = i / COLUMN_COUNT / 2 == 0;
        if (!r.force_dictionary) r.in.dictionary_size_bytes = 0;
        r.smallest_joined_bytes = 64 << 10;
        do_run(&r, &random, &counts);
        int64_t kept =
            counts.ways[FIRN_PARQUET_WAY_MOVED].pages + counts.ways[FIRN_PARQUET_WAY_JOINED].pages;
        assert_int_equal(kept > 0, !zstd);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_ENCODED].pages > 0, zstd);
    }
}

static void small_plain_pages_are_joined(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * CODEC_COUNT * 4; i++) {
        const column_case *column = &columns[i % COLUMN_COUNT];
        firn_parquet_compression codec = codecs[i / COLUMN_COUNT % CODEC_COUNT];
        run r = run_of(column, 1 + (int)(i / COLUMN_COUNT / CODEC_COUNT % 2), codec);
        r.out.page_version = 1 + (int)(i / COLUMN_COUNT / CODEC_COUNT / 2);
        r.in.dictionary_size_bytes = 0;
        r.mix.null_percent = (unsigned)(i % 2) * 20;
        firn_parquet_rewrite_counts counts;
        do_run(&r, &random, &counts);
        bool joins = can_join(codec) && (r.in.page_version == 2 || !has_levels(column));
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_JOINED].pages > 0, joins);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_ENCODED].pages > 0, !joins);
        r.no_joined_pages = true;
        do_run(&r, &random, &counts);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_JOINED].pages, 0);
    }
}

static void optional_and_required_are_mixed(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const char *const shapes[][2] = {{"r", "o"},     {"o", "r"},     {"ro", "oo"},
                                            {"o*o", "o*r"}, {"r*r", "o*o"}, {"oo", "rr"}};
    for (size_t i = 0; i < 6 * CODEC_COUNT * 4; i++) {
        column_case from = {shapes[i % 6][0], LEAF(BYTE_ARRAY)};
        column_case to = {shapes[i % 6][1], LEAF(BYTE_ARRAY)};
        firn_parquet_compression codec = codecs[i / 6 % CODEC_COUNT];
        run r = run_of(&from, 1 + (int)(i / 6 / CODEC_COUNT % 2), codec);
        r.to = &to;
        r.out.page_version = 1 + (int)(i / 6 / CODEC_COUNT / 2);
        r.mapping = mapping_between(from.shape, to.shape);
        r.rows = 10000;
        r.input_count = 2;
        r.in.page_row_limit = 5000;
        r.in.dictionary_size_bytes = 0;
        firn_parquet_rewrite_counts counts;
        do_run(&r, &random, &counts);
        bool lists = strchr(from.shape, '*') != NULL;
        bool outside = r.in.page_version == 2 || !has_levels(&from);
        bool takes = r.out.page_version == 2 || !has_levels(&to) || can_join(codec);
        bool joins = outside && takes;
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_JOINED].pages > 0, joins);
        bool recompressed = !joins && takes && !(lists && r.in.page_version == 1);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_RECOMPRESSED].pages > 0, recompressed);
        r.distinct = r.force_dictionary = true;
        do_run(&r, &random, &counts);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_MOVED].pages > 0, takes);
    }
}

static void codecs_change_without_decoding(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < COLUMN_COUNT * CODEC_COUNT * CODEC_COUNT * 2; i++) {
        const column_case *column = &columns[i % COLUMN_COUNT];
        run r = run_of(column, 1 + (int)(i / COLUMN_COUNT % 2), codecs[i / COLUMN_COUNT / 2 % 4]);
        r.out.compression = codecs[i / COLUMN_COUNT / 8];
        if (r.in.compression == r.out.compression) continue;
        r.rows = 5000;
        r.input_count = 2;
        r.in.page_row_limit = 5000;
        r.in.dictionary_size_bytes = 0;
        r.mix.null_percent = (unsigned)(i % 2) * 20;
        firn_parquet_rewrite_counts counts;
        do_run(&r, &random, &counts);
        bool lists = strchr(column->shape, '*') != NULL;
        bool takes = r.out.page_version == 2 || !has_levels(column) || can_join(r.out.compression);
        bool recompressed = takes && !(lists && r.in.page_version == 1);
        assert_int_equal(counts.ways[FIRN_PARQUET_WAY_RECOMPRESSED].pages > 0, recompressed);
    }
}

/* Integers of a small range that come PLAIN get a dictionary where they repeat. */
static void bounded_integers_get_a_dictionary(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int i = 0; i < 16; i++) {
        column_case column = {i % 2 == 0 ? "r" : "o", LEAF(INT32)};
        if (i / 2 % 2 == 1) column.leaf.type = FIRN_PARQUET_INT64;
        firn_parquet_write_options options = default_options();
        options.page_version = 1 + i / 4 % 2;
        options.dictionary_size_bytes = 0;
        options.page_row_limit = 5000;
        input in = {0};
        in.s = stream_random(&random, &column, 20000, (stream_mix){UINT64_MAX, 10});
        size_t width = firn_parquet_value_width(column.leaf.type, 0);
        for (size_t j = 0; j < in.s.values.count; j++) {
            int64_t value = (int64_t)test_generator_below(&random, 500) - 250;
            memcpy((void *)(uintptr_t)in.s.values.items[j].data, &value, width);
        }
        make_input(&in, &column, 20000, &options);
        firn_parquet_leaf_mapping mapping = identity();
        firn_parquet_piece piece = {.file = in.file, .row_count = 20000, .mappings = &mapping};
        options.dictionary_size_bytes = i / 8 == 0 ? 1 << 20 : 900;
        output out = {0};
        check_rewrite(&piece, 1, &column, &options, true, &in.s, &out);
        const firn_parquet_column_chunk *chunk = &out.file.file->metadata->row_groups[0].columns[0];
        assert_int_equal(chunk->has_dictionary_page_offset, i / 8 == 0);
        assert_int_equal(out.rewrite.reasons[FIRN_PARQUET_REASON_NEW_DICTIONARY].pages > 0,
                         i / 8 == 0);
        input_release(&out.file);
        input_release(&in);
    }
}

/* Bounds of the footer that are lies: values out of the promised range are still found. */
static void a_range_may_be_a_lie(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    column_case column = {"r", LEAF(INT64)};
    firn_parquet_write_options options = default_options();
    options.dictionary_size_bytes = 0;
    input in = {0};
    in.s = stream_random(&random, &column, 20000, (stream_mix){300, 0});
    make_input(&in, &column, 20000, &options);
    firn_parquet_statistics *statistics =
        (firn_parquet_statistics *)(uintptr_t)&in.file->metadata->row_groups[0]
            .columns[0]
            .statistics;
    static const uint8_t least[8] = {1}, greatest[8] = {200};
    statistics->min_value = firn_slice_of(least, 8);
    statistics->max_value = firn_slice_of(greatest, 8);
    firn_parquet_leaf_mapping mapping = identity();
    firn_parquet_piece piece = {.file = in.file, .row_count = 20000, .mappings = &mapping};
    options.dictionary_size_bytes = 1 << 20;
    output out = {0};
    check_rewrite(&piece, 1, &column, &options, true, &in.s, &out);
    input_release(&out.file);
    input_release(&in);
}

typedef struct measured_case {
    const firn_parquet_piece *pieces;
    size_t piece_count;
    size_t rewritten_count; /* of the pieces that are measured, so many are rewritten */
    const firn_parquet_schema *schema;
    firn_parquet_write_options options;
    firn_parquet_dictionary_reach *reach;
    bool hand_over, taken; /* what was merged */
    firn_parquet_chunk chunk;
} measured_case;

static firn_status measure_and_rewrite(void *context, firn_error *error) {
    measured_case *c = context;
    firn_parquet_dictionary_reach reach = {0};
    firn_parquet_rewrite_options how = {.copy_pages = true};
    firn_parquet_rewrite_counts counts;
    firn_status status;
    FIRN_CHECK(firn_parquet_measure_dictionaries(c->pieces, c->piece_count, c->schema, 0,
                                                 &c->options, &how, &reach, error));
    assert_non_null(reach.merged);
    size_t size = firn_parquet_merged_size(reach.merged);
    assert_true(size > 0);
    if (c->hand_over) how.merged = reach.merged;
    FIRN_CHECK(firn_parquet_rewrite_leaf(c->pieces, c->rewritten_count, c->schema, 0, &c->options,
                                         &how, &c->chunk, &counts, error));
    c->taken = firn_parquet_merged_size(reach.merged) < size;
    if (c->reach == NULL) firn_parquet_chunk_release(&c->chunk);
    if (c->reach != NULL) *c->reach = reach;
out:
    firn_parquet_merged_free(reach.merged);
    if (c->reach != NULL) c->reach->merged = NULL;
    return status;
}

/* What measuring merged is what the rewrite would have merged itself. Returns whether it was taken. */
static bool check_handing_over(measured_case *c) {
    firn_error error = {0};
    measured_case other = *c;
    other.hand_over = true;
    check_ok(measure_and_rewrite(c, &error), &error);
    check_ok(measure_and_rewrite(&other, &error), &error);
    assert_true(firn_slice_equal(firn_buffer_slice(&c->chunk.dictionary),
                                 firn_buffer_slice(&other.chunk.dictionary)));
    assert_true(firn_slice_equal(firn_buffer_slice(&c->chunk.bytes),
                                 firn_buffer_slice(&other.chunk.bytes)));
    assert_int_equal(c->chunk.metadata.has_dictionary_page_offset,
                     other.chunk.metadata.has_dictionary_page_offset);
    firn_parquet_chunk_release(&c->chunk);
    firn_parquet_chunk_release(&other.chunk);
    return other.taken;
}

/* Each input brings values of its own: only so many of them fit. */
static void dictionaries_are_measured(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    firn_error error = {0};
    column_case column = {"o", LEAF(BYTE_ARRAY)};
    firn_parquet_leaf_mapping mapping = identity();
    firn_parquet_write_options options = default_options();
    input inputs[6] = {0};
    firn_parquet_piece pieces[6];
    for (size_t i = 0; i < 6; i++) {
        inputs[i].s = stream_random(&random, &column, 4000, (stream_mix){100, 0});
        for (size_t j = 0; j < inputs[i].s.values.count; j++) {
            /* 100 values of 6 bytes: 1000 bytes of dictionary for each input. */
            char text[8];
            snprintf(text, sizeof text, "%02zu%04zu", i, j % 100);
            free((void *)(uintptr_t)inputs[i].s.values.items[j].data);
            uint8_t *copy = malloc(6);
            assert_non_null(copy);
            memcpy(copy, text, 6);
            inputs[i].s.values.items[j] = firn_slice_of(copy, 6);
        }
        make_input(&inputs[i], &column, 4000, &options);
        pieces[i] =
            (firn_parquet_piece){.file = inputs[i].file, .row_count = 4000, .mappings = &mapping};
    }
    firn_parquet_schema_element elements[16];
    size_t count = column_elements(&column, 1, elements, 16);
    firn_buffer sink = firn_buffer_with_maximum(1000);
    firn_write_to destination = {stream_sink, &sink};
    firn_parquet_file_writer *file = NULL;
    check_ok(firn_parquet_file_writer_new(elements, count, &options, &destination, &file, &error),
             &error);
    static const int64_t cases[][4] = {
        {6000, false, 24000, 24000},
        {3500, true, 12000, 24000},
        /* PLAIN values would take many times as much: up to eight times the limit is let be. */
        {1500, true, 4000, 24000},
        {700, true, 0, 20000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_parquet_dictionary_reach reach = {0};
        options.dictionary_size_bytes = (int32_t)cases[i][0];
        measured_case c = {.pieces = pieces,
                           .piece_count = 6,
                           .schema = firn_parquet_file_writer_schema(file),
                           .options = options,
                           .reach = &reach};
        for (c.rewritten_count = 1; c.rewritten_count <= 6; c.rewritten_count++) {
            bool taken = check_handing_over(&c);
            assert_true(taken || cases[i][3] < (int64_t)c.rewritten_count * 4000);
        }
        measured_case failing = c;
        failing.rewritten_count = 6;
        failing.hand_over = true;
        failing.reach = NULL;
        check_each_allocation(measure_and_rewrite, &failing);
        assert_int_equal(reach.outgrows, cases[i][1]);
        assert_int_equal(reach.rows, cases[i][2]);
        assert_int_equal(reach.rows_at_twice, cases[i][3]);
    }
    /* Where it is known that the row group is cut in two, nothing behind the first part is merged. */
    static firn_parquet_piece many[130];
    for (size_t i = 0; i < 130; i++) many[i] = pieces[i % 6];
    firn_parquet_dictionary_reach reach = {0};
    options.dictionary_size_bytes = 3500;
    measured_case c = {.pieces = many,
                       .piece_count = 130,
                       .schema = firn_parquet_file_writer_schema(file),
                       .options = options,
                       .reach = &reach};
    static const size_t parts[] = {5, 65, 66, 130};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        c.rewritten_count = parts[i];
        assert_int_equal(check_handing_over(&c), parts[i] <= 65);
    }
    assert_true(reach.outgrows);
    assert_int_equal(reach.rows, 12000);
    assert_int_equal(reach.rows_at_twice, 260000);
    firn_parquet_file_writer_free(file);
    firn_buffer_release(&sink);
    for (size_t i = 0; i < 6; i++) input_release(&inputs[i]);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(BYTE_ARRAY)};
    for (int i = 0; i < 8; i++) {
        run r = run_of(&column, 1 + i % 2, FIRN_PARQUET_SNAPPY);
        r.mix = (stream_mix){i / 2 == 1 ? 30 : EVERY_VALUE, 20};
        if (i / 2 == 2) r.in.dictionary_size_bytes = 0;
        if (i / 2 == 3) r.out.compression = FIRN_PARQUET_UNCOMPRESSED;
        if (i / 2 == 3) r.in.dictionary_size_bytes = 0;
        input inputs[2] = {0};
        firn_parquet_piece pieces[2];
        firn_parquet_leaf_mapping mapping = identity();
        int64_t rows = i / 2 == 3 ? 4500 : 1500;
        r.in.page_row_limit = i / 2 == 3 ? 4500 : 700;
        for (size_t j = 0; j < 2; j++) {
            inputs[j].s = stream_random(&random, &column, rows, r.mix);
            if (i / 2 == 0) make_distinct(&inputs[j].s, &column.leaf);
            inputs[j].force_dictionary = i / 2 == 0;
            make_input(&inputs[j], &column, rows, &r.in);
            pieces[j] = (firn_parquet_piece){
                .file = inputs[j].file, .row_count = rows, .mappings = &mapping};
        }
        allocation_case c = {pieces, 2, &column, r.out};
        check_each_allocation(rewrite_once, &c);
        for (size_t j = 0; j < 2; j++) input_release(&inputs[j]);
    }
}

static firn_status open_for_merge(void *context, size_t index, firn_read_at *out, void **handle,
                                  firn_error *error) {
    (void)index;
    (void)error;
    *out = ((input *)context)->source;
    *handle = NULL;
    return FIRN_OK;
}

static void close_after_merge(void *context, void *handle) {
    (void)context;
    (void)handle;
}

/* What a warehouse reads now it reads afterwards. */
static void merging_keeps_the_page_version(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    static const column_case column = {"o", LEAF(INT64)};
    for (int version = 1; version <= 2; version++) {
        firn_parquet_write_options write = default_options();
        write.page_version = version;
        input in = {0};
        in.s = stream_random(&random, &column, 9000, (stream_mix){EVERY_VALUE, 10});
        make_input(&in, &column, 9000, &write);
        const firn_parquet_merge_inputs inputs = {
            .count = 2, .open = open_for_merge, .close = close_after_merge, .context = &in};
        firn_parquet_merge_options options;
        firn_parquet_merge_result result;
        firn_error error = {0};
        firn_parquet_merge_options_init(&options);
        input out = {.bytes = firn_buffer_with_maximum((size_t)1 << 30)};
        firn_write_to destination = {stream_sink, &out.bytes};
        firn_parquet_merge_outputs outputs = firn_parquet_merge_to_one(&destination);
        check_ok(firn_parquet_merge(&inputs, &options, &outputs, &result, &error), &error);
        open_input(&out);
        assert_int_equal(result.rows, 18000);
        const firn_parquet_column_chunk *chunk = &out.file->metadata->row_groups[0].columns[0];
        assert_int_equal(chunk->encoding_stats[0].page_type,
                         version == 2 ? FIRN_PARQUET_DATA_PAGE_V2 : FIRN_PARQUET_DATA_PAGE);
        input_release(&out);
        input_release(&in);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unique_dictionaries_move),
        cmocka_unit_test(repeating_dictionaries_are_remapped),
        cmocka_unit_test(index_pages_are_copied),
        cmocka_unit_test(merging_keeps_the_page_version),
        cmocka_unit_test(hopeless_dictionaries_are_dropped),
        cmocka_unit_test(dictionaries_of_like_inputs_are_merged),
        cmocka_unit_test(little_frames_are_decoded),
        cmocka_unit_test(small_plain_pages_are_joined),
        cmocka_unit_test(optional_and_required_are_mixed),
        cmocka_unit_test(codecs_change_without_decoding),
        cmocka_unit_test(bounded_integers_get_a_dictionary),
        cmocka_unit_test(a_range_may_be_a_lie),
        cmocka_unit_test(dictionaries_are_measured),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
