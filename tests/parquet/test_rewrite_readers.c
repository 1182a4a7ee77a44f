/*
 * What PyArrow and DuckDB wrote, rewritten with every kind of option, schema change and choice of rows, is read by both as it should
 * be. rewrite_cases.py makes the inputs and checks the outputs; FIRN_PYTHON names a Python that has both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "parquet/file_writer.h"
#include "parquet/rewrite.h"
#include "support/check.h"

#define CASES 20
#define MAXIMUM_INPUTS 8

/* One case as case.txt tells it. */
typedef struct rewrite_case {
    const char *folder;
    firn_parquet_write_options options;
    firn_parquet_rewrite_options how;
    firn_buffer bytes[MAXIMUM_INPUTS];
    firn_memory_file memory[MAXIMUM_INPUTS];
    firn_read_at source[MAXIMUM_INPUTS];
    firn_parquet_file *inputs[MAXIMUM_INPUTS];
    firn_parquet_leaf_mapping *mappings[MAXIMUM_INPUTS];
    size_t input_count;
    firn_parquet_piece pieces[1000];
    size_t piece_of[1000];                                       /* input of each piece */
    firn_buffer dropped[1000];                                   /* of each piece, int64 */
    int64_t bases[MAXIMUM_INPUTS], *fill_values[MAXIMUM_INPUTS]; /* for lineage */
    size_t group_ends[1000];
    size_t piece_count, group_count;
    bool expected[FIRN_PARQUET_WAY_COUNT]; /* ways that some page must have gone */
    firn_parquet_rewrite_counts counts;
} rewrite_case;

/* FIRN_CASES: how many random ones. */
static int case_count(void) {
    const char *asked = getenv("FIRN_CASES");
    return asked == NULL ? CASES : atoi(asked);
}

static int python(const char *action, const char *folder, uint64_t seed) {
    const char *interpreter = getenv("FIRN_PYTHON");
    char *command = firn_format("'%s' '%s/tests/parquet/rewrite_cases.py' %s '%s' %llu %d",
                                interpreter == NULL ? "python3" : interpreter, FIRN_SOURCE_DIR,
                                action, folder, (unsigned long long)seed, case_count());
    assert_non_null(command);
    int status = system(command);
    firn_free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static firn_parquet_file *open_file(const char *folder, const char *name, firn_buffer *bytes,
                                    firn_memory_file *memory, firn_read_at *source) {
    firn_error error = {0};
    char *path = firn_format("%s/%s", folder, name);
    assert_non_null(path);
    *bytes = test_read_file(path);
    *memory = (firn_memory_file){bytes->data, bytes->size};
    *source = firn_read_at_memory(memory, "input");
    firn_parquet_file *file = NULL;
    check_ok(firn_parquet_file_open(source, &file, &error), &error);
    firn_free(path);
    return file;
}

static const firn_parquet_node *child_named(const firn_parquet_node *node, const char *name) {
    for (size_t i = 0; i < node->child_count; i++) {
        if (strcmp(node->children[i]->element->name, name) == 0) return node->children[i];
    }
    return NULL;
}

static firn_parquet_conversion conversion_between(const firn_parquet_schema_element *from,
                                                  const firn_parquet_schema_element *to,
                                                  int64_t *factor) {
    *factor = 1000;
    if (from->logical.kind == FIRN_PARQUET_LOGICAL_DECIMAL) {
        bool same = from->type == to->type && from->type_length == to->type_length;
        return same ? FIRN_PARQUET_CONVERT_NONE : FIRN_PARQUET_CONVERT_DECIMAL;
    }
    if (from->logical.kind == FIRN_PARQUET_LOGICAL_TIMESTAMP &&
        from->logical.unit != to->logical.unit) {
        return FIRN_PARQUET_CONVERT_SCALE_UP;
    }
    if (from->type == to->type) return FIRN_PARQUET_CONVERT_NONE;
    if (from->type == FIRN_PARQUET_FLOAT) return FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE;
    return from->logical.kind == FIRN_PARQUET_LOGICAL_TIME
               ? FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS
               : FIRN_PARQUET_CONVERT_INT32_TO_INT64;
}

/* Output level of input level `level`: that of the node above the first one that is not there. */
static uint8_t mapped_level(const firn_parquet_node *const *in, const firn_parquet_leaf *out,
                            size_t shared, uint8_t level) {
    for (size_t i = 0; i < shared; i++) {
        if (in[i]->definition_level <= level) continue;
        if (out->path[i]->element->repetition == FIRN_PARQUET_REQUIRED) {
            return FIRN_PARQUET_FORBIDDEN_LEVEL;
        }
        return i == 0 ? 0 : out->path[i - 1]->definition_level;
    }
    return shared == 0 ? 0 : out->path[shared - 1]->definition_level;
}

/* Lineage columns have these names in the cases. */
static firn_parquet_fill fill_of(const firn_parquet_leaf *out) {
    const char *name = out->path[0]->element->name;
    if (strcmp(name, "row_id") == 0) return FIRN_PARQUET_FILL_ROW_NUMBER;
    return strcmp(name, "sequence") == 0 ? FIRN_PARQUET_FILL_VALUE : FIRN_PARQUET_FILL_NONE;
}

static firn_parquet_leaf_mapping map_leaf(const firn_parquet_schema *input,
                                          const firn_parquet_leaf *out) {
    firn_parquet_leaf_mapping mapping = {.input_leaf = -1, .fill = fill_of(out)};
    const firn_parquet_node *path[FIRN_PARQUET_MAX_LEVEL];
    const firn_parquet_node *node = input->root;
    size_t shared = 0;
    while (shared < out->path_length) {
        const firn_parquet_node *child = child_named(node, out->path[shared]->element->name);
        if (child == NULL) break;
        path[shared++] = node = child;
    }
    if (shared == 0) return mapping;
    const firn_parquet_leaf *in = &input->leaves[node->first_leaf];
    mapping.input_leaf = in->index;
    mapping.levels_only = shared < out->path_length;
    mapping.kept_repetition_level = node->repetition_level;
    mapping.levels_identical = in->maximum_definition_level == out->maximum_definition_level;
    for (uint32_t level = 0; level <= in->maximum_definition_level; level++) {
        uint8_t mapped = mapped_level(path, out, shared, (uint8_t)level);
        mapping.definition_level_map[level] = mapped;
        if (mapped != level) mapping.levels_identical = false;
    }
    if (!mapping.levels_only) {
        mapping.conversion =
            conversion_between(in->node->element, out->node->element, &mapping.factor);
    }
    return mapping;
}

/* The rows that go from the piece read last. */
static void read_dropped(rewrite_case *c, const char *name) {
    assert_true(c->piece_count > 0);
    size_t piece = c->piece_count - 1;
    char *path = firn_format("%s/%s", c->folder, name);
    c->dropped[piece] = test_read_file(path);
    firn_free(path);
    c->pieces[piece].dropped_rows = (const int64_t *)(const void *)c->dropped[piece].data;
    c->pieces[piece].dropped_count = c->dropped[piece].size / sizeof(int64_t);
}

static void expect_way(rewrite_case *c, const char *name) {
    for (int way = 0; way < FIRN_PARQUET_WAY_COUNT; way++) {
        if (strcmp(firn_parquet_way_name((firn_parquet_way)way), name) == 0) {
            c->expected[way] = true;
            return;
        }
    }
    fail_msg("%s: no way \"%s\"", c->folder, name);
}

static int64_t rows_kept(const firn_parquet_piece *piece) {
    int64_t rows = piece->row_count;
    for (size_t i = 0; i < piece->dropped_count; i++) {
        int64_t row = piece->dropped_rows[i];
        rows -= row >= piece->first_row && row < piece->first_row + piece->row_count;
    }
    return rows;
}

static void read_line(rewrite_case *c, const char *line) {
    char name[64];
    size_t input, group;
    long long first, count;
    int number;
    if (sscanf(line, "input %63s", name) == 1) {
        assert_true(c->input_count < MAXIMUM_INPUTS);
        size_t i = c->input_count++;
        c->inputs[i] = open_file(c->folder, name, &c->bytes[i], &c->memory[i], &c->source[i]);
    } else if (sscanf(line, "piece %zu %zu %lld %lld", &input, &group, &first, &count) == 4) {
        assert_true(input < c->input_count && c->piece_count < 1000);
        c->piece_of[c->piece_count] = input;
        c->pieces[c->piece_count++] = (firn_parquet_piece){
            .file = c->inputs[input], .row_group = group, .first_row = first, .row_count = count};
    } else if (sscanf(line, "dropped %63s", name) == 1) {
        read_dropped(c, name);
    } else if (sscanf(line, "expect %63s", name) == 1) {
        expect_way(c, name);
    } else if (sscanf(line, "fill %zu %lld", &input, &first) == 2) {
        assert_true(input < MAXIMUM_INPUTS);
        c->bases[input] = first;
    } else if (strncmp(line, "group", 5) == 0) {
        c->group_ends[c->group_count++] = c->piece_count;
    } else if (sscanf(line, "page_version %d", &number) == 1) {
        c->options.page_version = number;
    } else if (sscanf(line, "page_size %d", &number) == 1) {
        c->options.page_size_bytes = number;
    } else if (sscanf(line, "row_limit %d", &number) == 1) {
        c->options.page_row_limit = number;
    } else if (sscanf(line, "dictionary %d", &number) == 1) {
        c->options.dictionary_size_bytes = number;
    } else if (sscanf(line, "deltas %d", &number) == 1) {
        c->options.delta_encodings = number != 0;
    } else if (sscanf(line, "codec %d", &number) == 1) {
        c->options.compression = (firn_parquet_compression)number;
    } else if (sscanf(line, "index_rows %d", &number) == 1) {
        c->options.index_page_row_limit = number;
    } else if (sscanf(line, "join %d", &number) == 1) {
        c->how.no_joined_pages = number == 0;
        c->how.smallest_joined_bytes = number == 2 ? FIRN_PARQUET_SMALLEST_JOINED_BYTES : 0;
    } else if (sscanf(line, "copy %d", &number) == 1) {
        c->how.copy_pages = number != 0;
    }
}

static void read_case(rewrite_case *c) {
    char *path = firn_format("%s/case.txt", c->folder);
    char line[256];
    firn_parquet_write_options_init(&c->options);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) read_line(c, line);
    fclose(file);
    firn_free(path);
    if (c->group_count == 0 || c->group_ends[c->group_count - 1] != c->piece_count) {
        c->group_ends[c->group_count++] = c->piece_count;
    }
}

static firn_status sink(void *context, const void *data, size_t size, firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

static void write_group(rewrite_case *c, firn_parquet_file_writer *writer, size_t first,
                        size_t end) {
    firn_error error = {0};
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(writer);
    int64_t rows = 0;
    for (size_t i = first; i < end; i++) rows += rows_kept(&c->pieces[i]);
    if (rows == 0) return;
    check_ok(firn_parquet_file_writer_begin_row_group(writer, rows, &error), &error);
    for (size_t leaf = 0; leaf < schema->leaf_count; leaf++) {
        firn_parquet_chunk chunk;
        firn_parquet_rewrite_counts counts;
        check_ok(firn_parquet_rewrite_leaf(c->pieces + first, end - first, schema, leaf,
                                           &c->options, &c->how, &chunk, &counts, &error),
                 &error);
        assert_int_equal(counts.rows, rows);
        assert_int_equal(counts.levels, chunk.counts.level_count);
        assert_int_equal(counts.nulls, chunk.counts.null_count);
        firn_parquet_rewrite_counts_add(&c->counts, &counts);
        check_ok(firn_parquet_file_writer_add_chunk(writer, &chunk, &error), &error);
    }
    check_ok(firn_parquet_file_writer_end_row_group(writer, &error), &error);
}

static void run_case(const char *folder) {
    firn_error error = {0};
    rewrite_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->folder = folder;
    read_case(c);
    firn_buffer bytes, out = firn_buffer_with_maximum((size_t)1 << 32);
    firn_memory_file memory;
    firn_read_at source;
    firn_parquet_file *target = open_file(folder, "schema.parquet", &bytes, &memory, &source);
    firn_write_to destination = {sink, &out};
    firn_parquet_file_writer *writer = NULL;
    check_ok(firn_parquet_file_writer_new(target->metadata->schema, target->metadata->schema_count,
                                          &c->options, &destination, &writer, &error),
             &error);
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(writer);
    for (size_t i = 0; i < c->input_count; i++) {
        c->mappings[i] = calloc(schema->leaf_count, sizeof *c->mappings[i]);
        c->fill_values[i] = calloc(schema->leaf_count, sizeof *c->fill_values[i]);
        for (size_t leaf = 0; leaf < schema->leaf_count; leaf++) {
            c->fill_values[i][leaf] = c->bases[i];
            c->mappings[i][leaf] = map_leaf(c->inputs[i]->schema, &schema->leaves[leaf]);
        }
    }
    for (size_t i = 0; i < c->piece_count; i++) {
        c->pieces[i].mappings = c->mappings[c->piece_of[i]];
        c->pieces[i].fill_values = c->fill_values[c->piece_of[i]];
    }
    for (size_t i = 0; i < c->group_count; i++) {
        write_group(c, writer, i == 0 ? 0 : c->group_ends[i - 1], c->group_ends[i]);
    }
    check_ok(firn_parquet_file_writer_finish(writer, NULL, NULL, &error), &error);
    for (int way = 0; way < FIRN_PARQUET_WAY_COUNT; way++) {
        if (!c->expected[way] || c->counts.ways[way].pages > 0) continue;
        fail_msg("%s: no page was %s", folder, firn_parquet_way_name((firn_parquet_way)way));
    }
    char *path = firn_format("%s/out.parquet", folder);
    test_write_file(path, firn_buffer_slice(&out));
    firn_free(path);
    firn_parquet_file_writer_free(writer);
    firn_parquet_file_close(target);
    firn_buffer_release(&bytes);
    firn_buffer_release(&out);
    for (size_t i = 0; i < c->input_count; i++) {
        firn_parquet_file_close(c->inputs[i]);
        firn_buffer_release(&c->bytes[i]);
        free(c->mappings[i]);
        free(c->fill_values[i]);
    }
    for (size_t i = 0; i < c->piece_count; i++) firn_buffer_release(&c->dropped[i]);
    free(c);
}

static void readers_agree(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    /* Kept for a reader that comes after: test_rewrite_spark.py. */
    const char *kept = getenv("FIRN_KEEP_CASES");
    char *folder = kept != NULL ? firn_format("%s", kept) : test_folder_new();
    int made = python("make", folder, random.state);
    if (made == 77 || made == 127) {
        test_folder_remove(folder);
        if (getenv("FIRN_CI") != NULL) fail_msg("FIRN_PYTHON has no PyArrow and DuckDB");
        print_message("skipped: FIRN_PYTHON names no Python with PyArrow and DuckDB\n");
        skip();
    }
    assert_int_equal(made, 0);
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char *path = firn_format("%s/%s/case.txt", folder, entry->d_name);
        FILE *found = fopen(path, "r");
        if (found != NULL) {
            fclose(found);
            path[strlen(path) - strlen("/case.txt")] = '\0';
            run_case(path);
        }
        firn_free(path);
    }
    closedir(entries);
    if (kept != NULL) {
        firn_free(folder);
        return;
    }
    assert_int_equal(python("check", folder, 0), 0);
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(readers_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
