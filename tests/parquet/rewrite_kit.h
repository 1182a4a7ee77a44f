/** Inputs of one column made in memory, rewritten, and read back. For tests of rewriting. */
#ifndef FIRN_TESTS_PARQUET_REWRITE_KIT_H
#define FIRN_TESTS_PARQUET_REWRITE_KIT_H

#include "base/bytes.h"
#include "parquet/chunk_part.h"
#include "parquet/rewrite.h"
#include "parquet/statistics.h"
#include "parquet/stream.h"

#define LEAF(TYPE, ...)                                                                            \
    { .type = FIRN_PARQUET_##TYPE, __VA_ARGS__ }
#define LOGICAL(KIND, ...) .logical = {.kind = FIRN_PARQUET_LOGICAL_##KIND, __VA_ARGS__}

/* A file of one column in memory. */
typedef struct input {
    stream s;
    firn_buffer bytes;
    firn_memory_file memory;
    firn_read_at source;
    firn_parquet_file *file;
    bool force_dictionary; /* whether it pays or not, as some writers do */
} input;

static inline firn_parquet_write_options default_options(void) {
    firn_parquet_write_options options;
    firn_parquet_write_options_init(&options);
    options.compression = FIRN_PARQUET_SNAPPY;
    return options;
}

static inline void open_input(input *in) {
    firn_error error = {0};
    in->memory = (firn_memory_file){in->bytes.data, in->bytes.size};
    in->source = firn_read_at_memory(&in->memory, "input.parquet");
    check_ok(firn_parquet_file_open(&in->source, &in->file, &error), &error);
}

/* Appends levels through a dictionary of their values in order of appearance. */
static inline void append_forced(const stream *s, firn_parquet_chunk_writer *writer,
                                 const firn_parquet_leaf *leaf, size_t first, size_t count) {
    firn_error error = {0};
    const firn_parquet_schema_element *element = leaf->node->element;
    size_t value_first = 0, value_count = 0;
    for (size_t i = 0; i < first + count; i++) {
        bool valued = s->definition.items[i] == leaf->maximum_definition_level;
        *(i < first ? &value_first : &value_count) += valued;
    }
    firn_parquet_dictionary dictionary;
    uint8_t *memory;
    uint32_t *indices = malloc((value_count + 1) * sizeof *indices);
    assert_non_null(indices);
    firn_parquet_values values = stream_values(s, value_first, value_count, element, &memory);
    size_t done = 0;
    firn_parquet_dictionary_init(&dictionary, element->type, values.width, INT32_MAX);
    check_ok(
        firn_parquet_dictionary_add(&dictionary, &values, 0, value_count, indices, &done, &error),
        &error);
    assert_int_equal(done, value_count);
    check_ok(firn_parquet_chunk_writer_set_dictionary(writer, &dictionary, &error), &error);
    firn_parquet_batch batch = {
        .level_count = count,
        .definition_levels =
            leaf->maximum_definition_level > 0 ? s->definition.items + first : NULL,
        .repetition_levels =
            leaf->maximum_repetition_level > 0 ? s->repetition.items + first : NULL,
        .value_count = value_count,
        .indices = indices,
    };
    check_ok(firn_parquet_chunk_writer_append_indices(writer, &batch, &error), &error);
    free(indices);
    free(memory);
}

/* Writes the stream as row groups of `group_rows`, values or dictionary as the options have it. */
static inline void make_input(input *in, const column_case *column, int64_t group_rows,
                              const firn_parquet_write_options *options) {
    firn_error error = {0};
    firn_parquet_schema_element elements[16];
    size_t count = column_elements(column, 1, elements, 16);
    in->bytes = firn_buffer_with_maximum((size_t)1 << 30);
    firn_write_to destination = {stream_sink, &in->bytes};
    firn_parquet_file_writer *file = NULL;
    check_ok(firn_parquet_file_writer_new(elements, count, options, &destination, &file, &error),
             &error);
    const firn_parquet_leaf *leaf = &firn_parquet_file_writer_schema(file)->leaves[0];
    size_t level = 0;
    while (level < in->s.definition.count) {
        int64_t rows = 0;
        size_t end = level;
        while (end < in->s.definition.count &&
               (in->s.repetition.items[end] != 0 || rows < group_rows)) {
            rows += in->s.repetition.items[end++] == 0;
        }
        firn_parquet_chunk_writer *writer = NULL;
        firn_parquet_chunk chunk;
        check_ok(firn_parquet_file_writer_begin_row_group(file, rows, &error), &error);
        check_ok(firn_parquet_chunk_writer_new(leaf, options, &writer, &error), &error);
        if (in->force_dictionary) {
            append_forced(&in->s, writer, leaf, level, end - level);
        } else {
            check_ok(stream_append(&in->s, writer, leaf, level, end - level, 0, &error), &error);
        }
        check_ok(firn_parquet_chunk_writer_finish(writer, &chunk, &error), &error);
        firn_parquet_chunk_writer_free(writer);
        check_ok(firn_parquet_file_writer_add_chunk(file, &chunk, &error), &error);
        check_ok(firn_parquet_file_writer_end_row_group(file, &error), &error);
        level = end;
    }
    check_ok(firn_parquet_file_writer_finish(file, NULL, NULL, &error), &error);
    firn_parquet_file_writer_free(file);
    open_input(in);
}

static inline void input_release(input *in) {
    firn_parquet_file_close(in->file);
    firn_buffer_release(&in->bytes);
    stream_release(&in->s);
}

static inline firn_parquet_leaf_mapping identity(void) {
    firn_parquet_leaf_mapping mapping = {.levels_identical = true};
    for (int i = 0; i <= FIRN_PARQUET_MAX_LEVEL; i++) mapping.definition_level_map[i] = (uint8_t)i;
    return mapping;
}

/* Rows first … first + count - 1 of a stream. */
static inline stream rows_of(const stream *s, uint8_t maximum, int64_t first, int64_t count) {
    stream part = {.rows = count};
    int64_t row = -1;
    size_t value = 0;
    for (size_t i = 0; i < s->definition.count; i++) {
        row += s->repetition.items[i] == 0;
        bool valued = s->definition.items[i] == maximum;
        if (row >= first && row < first + count) {
            stream_add_level(&part, s->repetition.items[i], s->definition.items[i]);
            if (valued) stream_add_value(&part, s->values.items[value]);
        }
        value += valued;
    }
    return part;
}

static inline void add_stream(stream *s, stream *part) {
    for (size_t i = 0; i < part->definition.count; i++) {
        stream_add_level(s, part->repetition.items[i], part->definition.items[i]);
    }
    for (size_t i = 0; i < part->values.count; i++) stream_add_value(s, part->values.items[i]);
    s->rows += part->rows;
    stream_release(part);
}

static inline int64_t rows_kept(const firn_parquet_piece *piece) {
    int64_t rows = piece->row_count;
    for (size_t i = 0; i < piece->dropped_count; i++) {
        int64_t row = piece->dropped_rows[i];
        rows -= row >= piece->first_row && row < piece->first_row + piece->row_count;
    }
    return rows;
}

/* What the piece takes of its row group, which begins at row `group_first` of the stream. */
static inline stream rows_of_piece(const stream *s, uint8_t maximum, int64_t group_first,
                                   const firn_parquet_piece *piece) {
    stream part = {.rows = rows_kept(piece)};
    int64_t row = -1 - group_first;
    size_t value = 0, next = 0;
    bool keeps = false;
    for (size_t i = 0; i < s->definition.count; i++) {
        if (s->repetition.items[i] == 0) {
            row++;
            while (next < piece->dropped_count && piece->dropped_rows[next] < row) next++;
            bool dropped = next < piece->dropped_count && piece->dropped_rows[next] == row;
            keeps =
                row >= piece->first_row && row < piece->first_row + piece->row_count && !dropped;
        }
        bool valued = s->definition.items[i] == maximum;
        if (keeps) {
            stream_add_level(&part, s->repetition.items[i], s->definition.items[i]);
            if (valued) stream_add_value(&part, s->values.items[value]);
        }
        value += valued;
    }
    return part;
}

typedef struct output {
    input file; /* the stream is what came back */
    firn_parquet_chunk_counts counts;
    bool has_bounds; /* counts' slices copied */
    uint8_t minimum[64], maximum[64];
    size_t minimum_size, maximum_size;
    firn_parquet_rewrite_counts rewrite;
    bool no_statistics;   /* asked for */
    bool told_lies;       /* by the test: what is copied is not true then */
    bool no_joined_pages; /* asked for */
    int64_t smallest_joined_bytes;
} output;

static inline firn_status rewrite(const firn_parquet_piece *pieces, size_t piece_count,
                                  const column_case *column,
                                  const firn_parquet_write_options *options, bool copy_pages,
                                  output *out, firn_error *error) {
    firn_parquet_schema_element elements[16];
    size_t count = column_elements(column, 1, elements, 16);
    firn_parquet_rewrite_options how = {.copy_pages = copy_pages,
                                        .no_joined_pages = out->no_joined_pages,
                                        .smallest_joined_bytes = out->smallest_joined_bytes};
    firn_write_to destination = {stream_sink, &out->file.bytes};
    firn_parquet_file_writer *file = NULL;
    firn_parquet_chunk chunk = {0};
    firn_status status = FIRN_OK;
    int64_t rows = 0;
    for (size_t i = 0; i < piece_count; i++) rows += rows_kept(&pieces[i]);
    out->file.bytes = firn_buffer_with_maximum((size_t)1 << 30);
    FIRN_CHECK(firn_parquet_file_writer_new(elements, count, options, &destination, &file, error));
    FIRN_CHECK(firn_parquet_rewrite_leaf(pieces, piece_count, firn_parquet_file_writer_schema(file),
                                         0, options, &how, &chunk, &out->rewrite, error));
    out->counts = chunk.counts;
    out->has_bounds = chunk.counts.minimum.data != NULL && chunk.counts.maximum.data != NULL;
    if (out->has_bounds && chunk.counts.minimum.size <= 64 && chunk.counts.maximum.size <= 64) {
        out->minimum_size = chunk.counts.minimum.size;
        out->maximum_size = chunk.counts.maximum.size;
        memcpy(out->minimum, chunk.counts.minimum.data, out->minimum_size);
        memcpy(out->maximum, chunk.counts.maximum.data, out->maximum_size);
    }
    FIRN_CHECK(firn_parquet_file_writer_begin_row_group(file, rows, error));
    FIRN_CHECK(firn_parquet_file_writer_add_chunk(file, &chunk, error));
    FIRN_CHECK(firn_parquet_file_writer_end_row_group(file, error));
    FIRN_CHECK(firn_parquet_file_writer_finish(file, NULL, NULL, error));
out:
    firn_parquet_chunk_release(&chunk);
    firn_parquet_file_writer_free(file);
    if (status != FIRN_OK) firn_buffer_release(&out->file.bytes);
    return status;
}

/* Opens and reads what was written, and holds the counts against it. */
static inline void read_output(output *out) {
    open_input(&out->file);
    out->file.s = stream_read(out->file.file, 0);
    const stream *s = &out->file.s;
    int64_t nulls = (int64_t)(s->definition.count - s->values.count);
    assert_int_equal(out->counts.row_count, s->rows);
    assert_int_equal(out->counts.level_count, s->definition.count);
    assert_int_equal(out->counts.null_count, nulls);
    assert_int_equal(out->rewrite.rows, s->rows);
    assert_int_equal(out->rewrite.levels, s->definition.count);
    assert_int_equal(out->rewrite.nulls, nulls);
    const firn_parquet_column_chunk *chunk = &out->file.file->metadata->row_groups[0].columns[0];
    assert_int_equal(chunk->statistics.has_null_count, !out->no_statistics);
    if (!out->no_statistics) assert_int_equal(chunk->statistics.null_count, nulls);
    int64_t dictionary = chunk->has_dictionary_page_offset
                             ? chunk->data_page_offset - chunk->dictionary_page_offset
                             : 0;
    assert_int_equal(out->counts.bytes_copied + out->counts.bytes_encoded,
                     chunk->total_compressed_size);
    assert_true(dictionary <= out->counts.bytes_encoded);
    if (!out->told_lies) assert_verified(&out->file.source);
}

static inline firn_slice file_part(const input *in, int64_t offset, int32_t size) {
    assert_true(offset >= 0 && size >= 0 && (size_t)offset + (size_t)size <= in->bytes.size);
    return firn_slice_of(in->bytes.data + offset, (size_t)size);
}

static inline void check_page_bounds(const firn_parquet_batch *batch, firn_parquet_order order,
                                     firn_slice minimum, firn_slice maximum) {
    for (size_t i = 0; i < batch->value_count; i++) {
        firn_slice value = stream_batch_value(batch, i);
        if (firn_parquet_is_nan(order, value)) continue;
        assert_true(firn_parquet_compare(order, minimum, value) <= 0);
        assert_true(firn_parquet_compare(order, value, maximum) <= 0);
    }
}

static inline void check_page(const firn_parquet_page *page, const firn_parquet_batch *batch,
                              size_t number, int64_t row, firn_parquet_order order,
                              const firn_parquet_offset_index *offsets,
                              const firn_parquet_column_index *bounds) {
    assert_true(number < offsets->page_count);
    const firn_parquet_page_location *location = &offsets->pages[number];
    assert_int_equal(location->offset, page->file_offset);
    assert_int_equal(location->compressed_page_size, page->header_bytes.size + page->body.size);
    assert_int_equal(location->first_row_index, row);
    assert_true(batch->repetition_levels == NULL || batch->repetition_levels[0] == 0);
    if (bounds->page_count == 0) return;
    assert_int_equal(bounds->page_count, offsets->page_count);
    assert_int_equal(bounds->null_pages[number], batch->value_count == 0);
    assert_int_equal(bounds->null_counts[number], batch->level_count - batch->value_count);
    if (batch->value_count == 0) return;
    check_page_bounds(batch, order, bounds->min_values[number], bounds->max_values[number]);
}

/* Encoding statistics, offset index and column index against the pages themselves. */
static inline void check_indexes(const input *in) {
    firn_error error = {0};
    const firn_parquet_column_chunk *chunk = &in->file->metadata->row_groups[0].columns[0];
    const firn_parquet_leaf *leaf = &in->file->schema->leaves[0];
    firn_parquet_order order = firn_parquet_order_of(leaf->node->element);
    firn_arena *arena = firn_arena_new();
    firn_parquet_offset_index offsets = {0};
    firn_parquet_column_index bounds = {0};
    if (!chunk->has_offset_index) {
        firn_arena_free(arena);
        return;
    }
    check_ok(firn_parquet_parse_offset_index(
                 file_part(in, chunk->offset_index_offset, chunk->offset_index_length), "offsets",
                 arena, &offsets, &error),
             &error);
    if (chunk->has_column_index) {
        check_ok(firn_parquet_parse_column_index(
                     file_part(in, chunk->column_index_offset, chunk->column_index_length),
                     "bounds", arena, &bounds, &error),
                 &error);
    }
    int32_t pages[16] = {0};
    size_t number = 0;
    int64_t row = 0;
    firn_parquet_chunk_reader *reader = NULL;
    const firn_parquet_page *page = NULL;
    check_ok(firn_parquet_chunk_reader_open(in->file, 0, 0, &reader, &error), &error);
    for (;;) {
        firn_parquet_batch batch;
        check_ok(firn_parquet_chunk_reader_next(reader, &page, &error), &error);
        if (page == NULL) break;
        check_ok(firn_parquet_chunk_reader_decode(reader, &batch, &error), &error);
        check_page(page, &batch, number++, row, order, &offsets, &bounds);
        pages[page->header.encoding]++;
        for (size_t i = 0; i < batch.level_count; i++) {
            row += batch.repetition_levels == NULL || batch.repetition_levels[i] == 0;
        }
    }
    assert_int_equal(number, offsets.page_count);
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        if (stats->page_type == FIRN_PARQUET_DICTIONARY_PAGE) continue;
        assert_int_equal(stats->count, pages[stats->encoding]);
        pages[stats->encoding] = 0;
    }
    for (size_t i = 0; i < 16; i++) assert_int_equal(pages[i], 0);
    firn_parquet_chunk_reader_close(reader);
    firn_arena_free(arena);
}

static inline void check_tallies(const firn_parquet_rewrite_counts *counts) {
    firn_parquet_tally ways = {0}, reasons = {0};
    for (int i = 0; i < FIRN_PARQUET_WAY_COUNT; i++) {
        ways.pages += counts->ways[i].pages;
        ways.bytes += counts->ways[i].bytes;
    }
    for (int i = 0; i < FIRN_PARQUET_REASON_COUNT; i++) {
        reasons.pages += counts->reasons[i].pages;
        reasons.bytes += counts->reasons[i].bytes;
    }
    firn_parquet_tally left_out = counts->ways[FIRN_PARQUET_WAY_LEFT_OUT];
    assert_int_equal(ways.pages - left_out.pages, counts->pages_copied + counts->pages_encoded);
    assert_int_equal(ways.bytes - left_out.bytes, counts->bytes_copied + counts->bytes_encoded);
    assert_int_equal(reasons.pages, counts->ways[FIRN_PARQUET_WAY_ENCODED].pages);
    assert_int_equal(reasons.bytes, counts->ways[FIRN_PARQUET_WAY_ENCODED].bytes);
}

static inline void check_rewrite(const firn_parquet_piece *pieces, size_t piece_count,
                                 const column_case *column,
                                 const firn_parquet_write_options *options, bool copy_pages,
                                 const stream *wanted, output *out) {
    firn_error error = {0};
    check_ok(rewrite(pieces, piece_count, column, options, copy_pages, out, &error), &error);
    read_output(out);
    check_indexes(&out->file);
    check_tallies(&out->rewrite);
    assert_streams_equal(wanted, &out->file.s);
}

static inline uint8_t maximum_of(const column_case *column) {
    uint8_t maximum = 0;
    for (const char *node = column->shape; *node != '\0'; node++)
        maximum = (uint8_t)(maximum + (*node != 'r'));
    return maximum;
}

/* Output level for each input level when the node at each place may be of another repetition. */
static inline firn_parquet_leaf_mapping mapping_between(const char *from, const char *to) {
    firn_parquet_leaf_mapping mapping = {.levels_identical = false};
    uint8_t in = 0, out = 0;
    for (size_t i = 0; from[i] != '\0'; i++) {
        if (from[i] != 'r') {
            mapping.definition_level_map[in++] = to[i] == 'r' ? FIRN_PARQUET_FORBIDDEN_LEVEL : out;
        }
        if (to[i] != 'r') out++;
    }
    mapping.definition_level_map[in] = out;
    return mapping;
}

/* Options of a small or large input: pages, dictionary and codec by chance. */
static inline firn_parquet_write_options random_options(test_generator *random, bool small) {
    static const int32_t row_limits[] = {3, 50, 5000, 20000};
    firn_parquet_write_options options = default_options();
    options.page_version = 1 + (int)test_generator_below(random, 2);
    options.page_row_limit = row_limits[test_generator_below(random, 4)];
    if (!small && options.page_row_limit < 5000) options.page_row_limit = 5000;
    if (test_generator_below(random, 2) == 0) options.dictionary_size_bytes = 0;
    if (test_generator_below(random, 4) == 0) options.compression = FIRN_PARQUET_ZSTD;
    options.write_crc = test_generator_below(random, 2) == 0;
    draw_encodings(random, &options);
    return options;
}

/* For check.h's tests of allocations that fail: the case, and one rewrite of it. */
typedef struct allocation_case {
    const firn_parquet_piece *pieces;
    size_t piece_count;
    const column_case *column;
    firn_parquet_write_options options;
} allocation_case;

static inline firn_status rewrite_once(void *context, firn_error *error) {
    const allocation_case *c = context;
    output out = {0};
    firn_status status =
        rewrite(c->pieces, c->piece_count, c->column, &c->options, true, &out, error);
    firn_buffer_release(&out.file.bytes);
    return status;
}

#endif
