/*
 * Rewrites Parquet files of one schema into one file, leaf by leaf on one thread, and says how long each column took:
 *
 *     firn-bench-rewrite_leaf [--decode] [--v2] [--deltas] [--rows-per-group N] [--codec N]
 *         [--drop PERCENT] [--in-runs-of ROWS] OUTPUT INPUT...
 *
 * `cmake --build BUILD --target firn-bench-rewrite_leaf` makes it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "parquet/file_writer.h"
#include "parquet/rewrite.h"

typedef struct input {
    firn_memory_file memory;
    firn_read_at source;
    firn_parquet_file *file;
} input;

static void die(const firn_error *error) {
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static firn_status write_file(void *context, const void *data, size_t size, firn_error *error) {
    if (fwrite(data, 1, size, context) == size) return FIRN_OK;
    return firn_fail(error, FIRN_IO, "write failed");
}

static void open_input(const char *path, input *out) {
    firn_error error = {0};
    int descriptor = open(path, O_RDONLY);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        perror(path);
        exit(1);
    }
    out->memory.size = (size_t)status.st_size;
    out->memory.data =
        mmap(NULL, out->memory.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
    close(descriptor);
    out->source = firn_read_at_memory(&out->memory, path);
    if (firn_parquet_file_open(&out->source, &out->file, &error) != FIRN_OK) die(&error);
}

static firn_parquet_write_options options;
static firn_parquet_rewrite_options how = {.copy_pages = true};
static int64_t rows_per_group = 1000000;
static int64_t drop_percent, run_length = 1; /* of rows that go */

static int read_arguments(int argc, char **argv) {
    int at = 1;
    firn_parquet_write_options_init(&options);
    options.index_page_row_limit = 131072;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--decode") == 0) how.copy_pages = false;
        if (strcmp(argv[at], "--v2") == 0) options.page_version = 2;
        if (strcmp(argv[at], "--deltas") == 0) options.delta_encodings = true;
        if (at + 1 == argc) break;
        if (strcmp(argv[at], "--rows-per-group") == 0) rows_per_group = atoll(argv[++at]);
        if (strcmp(argv[at], "--drop") == 0) drop_percent = atoll(argv[++at]);
        if (strcmp(argv[at], "--in-runs-of") == 0) run_length = atoll(argv[++at]);
        if (strcmp(argv[at], "--codec") == 0) {
            options.compression = (firn_parquet_compression)atoi(argv[++at]);
        }
    }
    return at;
}

/* Runs of rows that go, scattered by a fixed generator. */
static void choose_dropped(firn_parquet_piece *piece) {
    static uint64_t state = 42;
    int64_t *dropped = malloc((size_t)(piece->row_count + 1) * sizeof *dropped);
    for (int64_t row = 0; row < piece->row_count; row++) {
        if (row % run_length == 0) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        }
        if ((int64_t)(state >> 33) % 100 < drop_percent) {
            dropped[piece->dropped_count++] = row;
        }
    }
    piece->dropped_rows = dropped;
}

/* Every row group of every input, each leaf to the one of the same number. */
static firn_parquet_piece *make_pieces(const input *inputs, size_t count, size_t *piece_count) {
    size_t leaf_count = inputs[0].file->schema->leaf_count;
    firn_parquet_piece *pieces = NULL;
    firn_parquet_leaf_mapping *mappings = calloc(leaf_count, sizeof *mappings);
    for (size_t leaf = 0; leaf < leaf_count; leaf++) {
        mappings[leaf].input_leaf = (int32_t)leaf;
        mappings[leaf].levels_identical = true;
        for (int level = 0; level <= FIRN_PARQUET_MAX_LEVEL; level++) {
            mappings[leaf].definition_level_map[level] = (uint8_t)level;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const firn_parquet_file_metadata *metadata = inputs[i].file->metadata;
        for (size_t group = 0; group < metadata->row_group_count; group++) {
            pieces = realloc(pieces, (*piece_count + 1) * sizeof *pieces);
            pieces[(*piece_count)++] = (firn_parquet_piece){
                .file = inputs[i].file,
                .row_group = group,
                .row_count = metadata->row_groups[group].num_rows,
                .mappings = mappings,
            };
            if (drop_percent > 0) choose_dropped(&pieces[*piece_count - 1]);
        }
    }
    return pieces;
}

typedef struct tally {
    int64_t spent, bytes, copied, encoded;
} tally;

static void write_group(firn_parquet_file_writer *writer, const firn_parquet_piece *pieces,
                        size_t count, tally *tallies) {
    firn_error error = {0};
    const firn_parquet_schema *schema = firn_parquet_file_writer_schema(writer);
    int64_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += pieces[i].row_count - (int64_t)pieces[i].dropped_count;
    }
    if (firn_parquet_file_writer_begin_row_group(writer, rows, &error) != FIRN_OK) die(&error);
    for (size_t leaf = 0; leaf < schema->leaf_count; leaf++) {
        int64_t before = firn_clock_monotonic_ns();
        firn_parquet_chunk chunk;
        firn_parquet_rewrite_counts counts;
        if (firn_parquet_rewrite_leaf(pieces, count, schema, leaf, &options, &how, &chunk, &counts,
                                      &error) != FIRN_OK) {
            die(&error);
        }
        tallies[leaf].bytes += chunk.metadata.total_compressed_size;
        tallies[leaf].copied += counts.pages_copied;
        tallies[leaf].encoded += counts.pages_encoded;
        if (firn_parquet_file_writer_add_chunk(writer, &chunk, &error) != FIRN_OK) die(&error);
        tallies[leaf].spent += firn_clock_monotonic_ns() - before;
    }
    if (firn_parquet_file_writer_end_row_group(writer, &error) != FIRN_OK) die(&error);
}

static void report(const firn_parquet_schema *schema, const tally *tallies, int64_t start) {
    for (size_t leaf = 0; leaf < schema->leaf_count; leaf++) {
        printf("%-24s %8.1f ms %10lld bytes, pages copied %lld, encoded %lld\n",
               schema->leaves[leaf].dotted_path, (double)tallies[leaf].spent / 1e6,
               (long long)tallies[leaf].bytes, (long long)tallies[leaf].copied,
               (long long)tallies[leaf].encoded);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("total %.1f ms, peak %ld KiB (inputs are mapped)\n",
           (double)(firn_clock_monotonic_ns() - start) / 1e6, usage.ru_maxrss);
}

int main(int argc, char **argv) {
    firn_error error = {0};
    int at = read_arguments(argc, argv);
    if (argc - at < 2) return 2;
    FILE *output = fopen(argv[at++], "wb");
    if (output == NULL) return 1;
    size_t count = (size_t)(argc - at), piece_count = 0;
    input *inputs = calloc(count, sizeof *inputs);
    for (size_t i = 0; i < count; i++) open_input(argv[at + (int)i], &inputs[i]);
    int64_t start = firn_clock_monotonic_ns();
    firn_parquet_piece *pieces = make_pieces(inputs, count, &piece_count);
    const firn_parquet_file_metadata *metadata = inputs[0].file->metadata;
    const firn_parquet_schema *schema = inputs[0].file->schema;
    tally *tallies = calloc(schema->leaf_count, sizeof *tallies);
    firn_write_to destination = {write_file, output};
    firn_parquet_file_writer *writer;
    if (firn_parquet_file_writer_new(metadata->schema, metadata->schema_count, &options,
                                     &destination, &writer, &error) != FIRN_OK) {
        die(&error);
    }
    for (size_t first = 0; first < piece_count;) {
        size_t end = first;
        int64_t rows = 0;
        while (end < piece_count && (end == first || rows < rows_per_group)) {
            rows += pieces[end++].row_count;
        }
        write_group(writer, pieces + first, end - first, tallies);
        first = end;
    }
    if (firn_parquet_file_writer_finish(writer, NULL, NULL, &error) != FIRN_OK) die(&error);
    fclose(output);
    report(schema, tallies, start);
    firn_parquet_file_writer_free(writer);
    return 0;
}
