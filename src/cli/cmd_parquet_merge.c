/* parquet merge: several files as one, or as some of a size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/merge_outputs.h"
#include "cli/ways_report.h"
#include "codec/codec.h"
#include "parquet/merge.h"
#include "parquet/page_codec.h"

/* Files up to this size are held in memory while they are open: there may be more of them than files can be open. */
#define SMALL_FILE ((uint64_t)8 << 20)

typedef struct merge_input {
    firn_storage_file *file; /* of a large one */
    firn_buffer whole;       /* of a small one */
    firn_memory_file memory;
} merge_input;

static void close_input(void *context, void *handle) {
    (void)context;
    merge_input *input = handle;
    if (input->file != NULL) firn_storage_close(input->file);
    firn_buffer_release(&input->whole);
    firn_free(input);
}

static firn_status read_input(firn_invocation *invocation, const char *path, merge_input *input,
                              firn_read_at *out, firn_error *error) {
    FIRN_TRY(firn_invocation_open_file(invocation, path, &input->file, error));
    *out = *firn_storage_file_source(input->file);
    if (out->size > SMALL_FILE) return FIRN_OK;
    input->whole = firn_buffer_with_maximum((size_t)SMALL_FILE);
    FIRN_TRY(firn_buffer_reserve(&input->whole, (size_t)out->size + 1, error));
    FIRN_TRY(firn_read_at_exact(out, 0, input->whole.data, (size_t)out->size, error));
    input->whole.size = (size_t)out->size;
    input->memory = (firn_memory_file){input->whole.data, input->whole.size};
    *out = firn_read_at_memory(&input->memory, path);
    firn_storage_close(input->file);
    input->file = NULL;
    return FIRN_OK;
}

static firn_status open_input(void *context, size_t index, firn_read_at *out, void **handle,
                              firn_error *error) {
    firn_invocation *invocation = context;
    merge_input *input = firn_alloc_zeroed(1, sizeof *input);
    if (input == NULL) return firn_fail_memory(error);
    firn_status status =
        read_input(invocation, invocation->options->arguments[index], input, out, error);
    if (status != FIRN_OK) {
        close_input(context, input);
        return status;
    }
    *handle = input;
    return FIRN_OK;
}

static bool find_compression(const char *name, size_t length, firn_parquet_compression *out) {
    for (int i = FIRN_PARQUET_UNCOMPRESSED; i <= FIRN_PARQUET_LZ4_RAW; i++) {
        const char *known = firn_parquet_compression_name((firn_parquet_compression)i);
        *out = (firn_parquet_compression)i;
        if (strlen(known) == length && strncasecmp(known, name, length) == 0) return true;
    }
    *out = FIRN_PARQUET_UNCOMPRESSED;
    return length == 4 && strncasecmp(name, "none", length) == 0;
}

/* CODEC or CODEC:LEVEL. The level is tried out on no bytes, so that a wrong one is told before anything is written. */
static firn_status read_compression(const char *text, firn_parquet_write_options *write,
                                    firn_error *error) {
    const char *colon = strchr(text, ':');
    size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
    firn_codec codec = FIRN_CODEC_UNCOMPRESSED;
    if (!find_compression(text, length, &write->compression)) {
        return firn_fail(error, FIRN_INVALID,
                         "option --compression: \"%s\" is no codec; there are zstd, snappy, gzip, "
                         "brotli, lz4_raw and none",
                         text);
    }
    if (write->compression == FIRN_PARQUET_LZ4 ||
        !firn_parquet_codec_of(write->compression, &codec) || !firn_codec_can_write(codec)) {
        return firn_fail(error, FIRN_UNSUPPORTED, "option --compression: %s is not written", text);
    }
    if (colon == NULL) return FIRN_OK;
    bool levels =
        codec == FIRN_CODEC_ZSTD || codec == FIRN_CODEC_GZIP || codec == FIRN_CODEC_BROTLI;
    char *end = NULL;
    long level = strtol(colon + 1, &end, 10);
    if (!levels || colon[1] == '\0' || *end != '\0' || level < -131072 || level > 100) {
        return firn_fail(error, FIRN_INVALID,
                         levels ? "option --compression: \"%s\" has no level that it takes"
                                : "option --compression: \"%s\": the codec has no levels",
                         text);
    }
    write->compression_level = (int)level;
    firn_buffer scratch = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status status =
        firn_codec_compress(codec, (int)level, firn_slice_text(""), &scratch, error);
    firn_buffer_release(&scratch);
    return firn_error_wrap(error, status, "option --compression");
}

static firn_status read_options(const firn_invocation *invocation, firn_parquet_merge_options *out,
                                firn_error *error) {
    const firn_options *options = invocation->options;
    firn_parquet_merge_options_init(out);
    out->pool = invocation->pool;
    out->no_joined_pages = options->no_joined_pages;
    out->target_file_size_bytes = options->merge_target_bytes;
    if (options->compression != NULL) {
        out->keep_compression = false;
        FIRN_TRY(read_compression(options->compression, &out->write, error));
    }
    if (options->row_group_size_bytes > 0)
        out->row_group_size_bytes = options->row_group_size_bytes;
    /* A row group's chunks, the inputs behind them, and what is being encoded. */
    int64_t most = options->memory_bytes / 4 + 1;
    if (options->memory_bytes > 0 && most < out->row_group_size_bytes) {
        out->row_group_size_bytes = most;
    }
    return FIRN_OK;
}

static void report_outputs(firn_invocation *invocation, firn_section *root,
                           const firn_merge_outputs *outputs) {
    static const firn_column columns[] = {{"path", "file"}, {"rows", "rows"}, {"bytes", "size"}};
    firn_rows *rows = firn_section_rows(root, "outputs", NULL, columns, 3, NULL);
    for (size_t i = 0; i < outputs->items.count; i++) {
        const firn_merge_output *output = &outputs->items.items[i];
        const firn_cell cells[] = {
            firn_cell_text(firn_report_copy(invocation->report, output->location)),
            firn_cell_count(output->rows), firn_cell_bytes(output->bytes)};
        firn_rows_add(rows, cells);
    }
}

static firn_status report_merge(firn_invocation *invocation, const firn_merge_outputs *outputs,
                                const firn_parquet_merge_result *result, firn_error *error) {
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    firn_section_add(
        root, "output", "output",
        firn_cell_text(firn_report_copy(invocation->report, invocation->options->output)));
    firn_section_add(root, "input_files", "files merged",
                     firn_cell_count((int64_t)invocation->options->argument_count));
    firn_section_add(root, "input_schemas", NULL, firn_cell_integer(result->schemas));
    firn_section_add(root, "rows", "rows", firn_cell_count(result->rows));
    firn_section_add(root, "column_count", "columns", firn_cell_count(result->column_count));
    firn_section_add(root, "input_row_groups", "row groups before",
                     firn_cell_count(result->input_row_groups));
    firn_section_add(root, "row_groups", "row groups after", firn_cell_count(result->row_groups));
    firn_section_add(root, "input_bytes", "size before", firn_cell_bytes(result->input_bytes));
    firn_section_add(root, "output_bytes", "size after", firn_cell_bytes(result->bytes));
    firn_section_add(root, "bytes_copied", "copied without decoding",
                     firn_cell_bytes(result->counts.bytes_copied));
    firn_section_add(root, "bytes_encoded", "encoded anew",
                     firn_cell_bytes(result->counts.bytes_encoded));
    firn_section_add(root, "compression", "codec",
                     firn_cell_text(firn_parquet_compression_name(result->compression)));
    firn_report_ways(root, &result->counts, "How pages went over");
    if (outputs->numbered) report_outputs(invocation, root, outputs);
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_parquet_merge(firn_invocation *invocation, firn_error *error) {
    const firn_options *given = invocation->options;
    firn_parquet_merge_options options;
    firn_parquet_merge_result result = {0};
    firn_merge_outputs outputs = {0};
    firn_status status;
    FIRN_CHECK(firn_invocation_load_storage(invocation, error));
    FIRN_CHECK(firn_invocation_load_pool(invocation, error));
    FIRN_CHECK(read_options(invocation, &options, error));
    if (given->output == NULL) {
        FIRN_CHECK(firn_fail(error, FIRN_INVALID, "parquet merge needs a file to write: -o FILE"));
    }
    FIRN_CHECK(firn_merge_outputs_init(&outputs, invocation->storage, given->arguments,
                                       given->argument_count, given->output,
                                       given->merge_target_bytes > 0, given->force, error));
    const firn_parquet_merge_inputs inputs = {
        .count = given->argument_count,
        .open = open_input,
        .close = close_input,
        .context = invocation,
    };
    const firn_parquet_merge_outputs destinations = firn_merge_outputs_of(&outputs);
    FIRN_CHECK(firn_parquet_merge(&inputs, &options, &destinations, &result, error));
    FIRN_CHECK(firn_merge_outputs_publish(&outputs, error));
    invocation->done = "the files were merged";
    FIRN_CHECK(firn_merge_outputs_sync(&outputs, error));
    status = report_merge(invocation, &outputs, &result, error);
out:
    firn_merge_outputs_release(&outputs);
    return status;
}
