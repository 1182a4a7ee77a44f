/* scan: live rows, streamed to standard output. */
#include <errno.h>
#include <string.h>

#include "base/vector.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "data/deletes.h"
#include "data/rows.h"
#include "iceberg/lineage.h"

/* Lines are written together. */
#define WRITE_BYTES ((size_t)64 << 10)
/* A line is a row, which the printer bounds. */
#define MOST_BYTES ((size_t)3 << 30)

typedef FIRN_VECTOR(const char *) name_list;

typedef struct scan {
    firn_invocation *invocation;
    firn_table *table;
    firn_arena *arena;
    const firn_schema *schema;
    const firn_expression *filter;
    firn_row_selection selection;
    firn_live_files files;
    /* Data files that may have rows to show, and what is deleted from them. */
    FIRN_VECTOR(const firn_live_file *) wanted;
    firn_deletes deletes;
    firn_buffer out; /* lines that are to be written */
} scan;

static void release(scan *work) {
    firn_deletes_release(&work->deletes);
    firn_vector_release(&work->wanted);
    if (work->files.arena != NULL) firn_live_files_release(&work->files);
    firn_buffer_release(&work->out);
    firn_arena_free(work->arena);
}

/* One name of --columns: up to a comma, or in quotes, in which "" stands for one of them. */
static firn_status take_name(const char **at, firn_arena *arena, const char **out,
                             firn_error *error) {
    const char *text = *at;
    if (*text != '"') {
        size_t length = strcspn(text, ",");
        *at = text + length;
        *out = firn_arena_strndup(arena, text, length);
        return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
    }
    char *name = firn_arena_alloc(arena, strlen(text) + 1, 1);
    if (name == NULL) return firn_fail_memory(error);
    *out = name;
    bool closed = false;
    for (text++; *text != '\0' && !closed; text++) {
        closed = *text == '"' && text[1] != '"';
        if (*text == '"' && !closed) text++;
        if (!closed) *name++ = *text;
    }
    *at = text;
    if (closed && (*text == ',' || *text == '\0')) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "--columns: a quote is not closed before a comma");
}

static firn_status split_names(const char *text, firn_arena *arena, name_list *names,
                               firn_error *error) {
    for (;; text++) {
        const char *name = NULL;
        FIRN_TRY(take_name(&text, arena, &name, error));
        if (*name == '\0') {
            return firn_fail(error, FIRN_INVALID, "--columns: a name is missing; it takes a,b,c");
        }
        FIRN_TRY(firn_vector_push(names, error, name));
        if (*text == '\0') return FIRN_OK;
    }
}

static firn_status choose_format(const firn_options *options, firn_row_format *out,
                                 firn_error *error) {
    *out = options->json ? FIRN_ROWS_JSON : FIRN_ROWS_CSV;
    if (options->format == NULL) return FIRN_OK;
    bool json = strcmp(options->format, "json") == 0;
    if (!json && strcmp(options->format, "csv") != 0) {
        return firn_fail(error, FIRN_INVALID, "option --format: \"%s\" is neither csv nor json",
                         options->format);
    }
    if (!json && options->json) {
        return firn_fail(error, FIRN_INVALID, "--json asks for JSON, --format for CSV");
    }
    *out = json ? FIRN_ROWS_JSON : FIRN_ROWS_CSV;
    return FIRN_OK;
}

static firn_status choose_columns(scan *work, firn_error *error) {
    const firn_options *options = work->invocation->options;
    name_list names = {0};
    firn_status status = FIRN_OK;
    firn_row_format format = FIRN_ROWS_CSV;
    FIRN_CHECK(choose_format(options, &format, error));
    FIRN_CHECK(firn_rows_schema_with_lineage(work->table, work->arena, &work->schema, error));
    if (options->where != NULL) {
        FIRN_CHECK(
            firn_expression_parse(options->where, work->schema, work->arena, &work->filter, error));
    }
    if (options->columns != NULL) {
        FIRN_CHECK(split_names(options->columns, work->arena, &names, error));
    }
    FIRN_CHECK(firn_row_selection_make(work->schema, options->columns == NULL ? NULL : names.items,
                                       names.count, work->filter, format, work->arena,
                                       &work->selection, error));
out:
    firn_vector_release(&names);
    return status;
}

/* The bounds of lineage columns leave out the rows that inherit, so that nothing can be told by them. */
static firn_status can_prune(const scan *work, bool *out, firn_error *error) {
    const int32_t *ids = NULL;
    size_t count = 0;
    *out = false;
    if (work->filter == NULL) return FIRN_OK;
    FIRN_TRY(firn_expression_columns(work->filter, work->arena, &ids, &count, error));
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == FIRN_ROW_ID_FIELD_ID || ids[i] == FIRN_LAST_UPDATED_FIELD_ID) return FIRN_OK;
    }
    *out = true;
    return FIRN_OK;
}

/* Filters of the table's specs, in their order; NULL: not made yet. */
static firn_status may_match(scan *work, const firn_file_filter **filters,
                             const firn_data_file *file, bool *out, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    *out = true;
    for (size_t i = 0; i < metadata->spec_count; i++) {
        const firn_partition_spec *spec = metadata->specs[i];
        if (spec->spec_id != file->spec_id) continue;
        if (filters[i] == NULL) {
            FIRN_TRY(firn_file_filter_new(work->filter, spec, work->arena, &filters[i], error));
        }
        *out = firn_file_filter_may_match_file(filters[i], file);
        return FIRN_OK;
    }
    return FIRN_OK;
}

static firn_status choose_files(scan *work, firn_error *error) {
    bool prune = false;
    FIRN_TRY(can_prune(work, &prune, error));
    FIRN_TRY(firn_table_live_files_where(work->table, work->table->snapshot,
                                         prune ? work->filter : NULL, &work->files, error));
    const firn_file_filter **filters =
        firn_arena_alloc(work->arena, work->table->metadata->spec_count + 1, sizeof *filters);
    if (filters == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < work->files.data_count; i++) {
        const firn_live_file *file = &work->files.data[i];
        bool wanted = true;
        if (prune) FIRN_TRY(may_match(work, filters, &file->entry.file, &wanted, error));
        if (wanted) FIRN_TRY(firn_vector_push(&work->wanted, error, file));
    }
    return FIRN_OK;
}

static firn_status find_deleted(scan *work, firn_error *error) {
    FIRN_TRY(firn_invocation_load_pool(work->invocation, error));
    firn_deletes_request request = {.table = work->table,
                                    .files = &work->files,
                                    .data = work->wanted.items,
                                    .data_count = work->wanted.count,
                                    .positions = true,
                                    .equality = true,
                                    .pool = work->invocation->pool,
                                    .memory_bytes = work->invocation->options->memory_bytes};
    return firn_deletes_resolve(&request, &work->deletes, error);
}

static firn_status flush(scan *work, firn_error *error) {
    firn_write_to to = firn_standard_output();
    firn_status status = to.write(to.context, work->out.data, work->out.size, error);
    firn_buffer_clear(&work->out);
    return status;
}

static firn_status put_row(void *context, firn_slice text, firn_error *error) {
    scan *work = context;
    /* With its end of line, or not at all: a failure is told on a line of its own. */
    FIRN_TRY(firn_buffer_reserve(&work->out, text.size + 1, error));
    FIRN_TRY(firn_buffer_append(&work->out, text.data, text.size, error));
    FIRN_TRY(firn_buffer_append_byte(&work->out, '\n', error));
    return work->out.size < WRITE_BYTES ? FIRN_OK : flush(work, error);
}

static firn_status put_rows(scan *work, firn_error *error) {
    int64_t left = work->invocation->options->limit;
    if (left == 0) left = INT64_MAX;
    if (work->selection.format == FIRN_ROWS_CSV) {
        FIRN_TRY(firn_rows_csv_header(&work->selection, &work->out, error));
        FIRN_TRY(firn_buffer_append_byte(&work->out, '\n', error));
    }
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < work->wanted.count && left > 0 && status == FIRN_OK; i++) {
        status = firn_rows_of_file(work->table, &work->selection, &work->wanted.items[i]->entry,
                                   &work->deletes, i, &left, put_row, work, error);
    }
    /* Rows before a failure are shown, too. */
    firn_status last = flush(work, status == FIRN_OK ? error : NULL);
    return status == FIRN_OK ? last : status;
}

static firn_status run(scan *work, firn_error *error) {
    FIRN_TRY(choose_columns(work, error));
    FIRN_TRY(choose_files(work, error));
    FIRN_TRY(find_deleted(work, error));
    return put_rows(work, error);
}

firn_status firn_command_scan(firn_invocation *invocation, firn_error *error) {
    FIRN_TRY(
        firn_invocation_open_table(invocation, invocation->options->arguments[0], true, error));
    scan work = {.invocation = invocation,
                 .table = invocation->table,
                 .arena = firn_arena_new(),
                 .out = firn_buffer_with_maximum(MOST_BYTES)};
    firn_status status = work.arena == NULL ? firn_fail_memory(error) : run(&work, error);
    release(&work);
    /* Who reads only the first rows has what he wanted. */
    if (status == FIRN_IO && error->system_errno == EPIPE) {
        firn_error_clear(error);
        return FIRN_OK;
    }
    return status;
}
