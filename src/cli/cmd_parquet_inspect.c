/* parquet inspect: what a Parquet file is made of. */
#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "parquet/chunk_indexes.h"
#include "parquet/chunk_reader.h"
#include "parquet/value_text.h"

typedef struct inspection {
    firn_invocation *invocation;
    firn_report *report;
    firn_section *root;
    const firn_parquet_file *file;
    firn_rows *columns, *pages; /* pages: NULL unless they are asked for */
} inspection;

/* NULL when memory is out, which the report then remembers. */
static const char *taken(firn_report *report, firn_buffer *text, firn_status status) {
    const char *copy = status != FIRN_OK ? NULL
                                         : firn_report_format(report, "%.*s", (int)text->size,
                                                              (const char *)text->data);
    firn_buffer_release(text);
    return copy;
}

static const char *type_text(firn_report *report, const firn_parquet_schema_element *element) {
    firn_buffer text = firn_buffer_with_maximum(4096);
    return taken(report, &text, firn_parquet_type_text(element, &text, NULL));
}

static firn_cell value_cell(firn_report *report, const firn_parquet_schema_element *element,
                            firn_slice value) {
    if (value.data == NULL) return firn_cell_null();
    firn_buffer text = firn_buffer_with_maximum(4096);
    firn_status status = firn_parquet_value_text(element, value, &text, NULL);
    return firn_cell_text(taken(report, &text, status));
}

static const char *repetition_text(const firn_parquet_schema_element *element) {
    static const char *const names[] = {"required", "optional", "repeated"};
    if (!element->has_repetition || (unsigned)element->repetition > 2) return NULL;
    return names[element->repetition];
}

static void add_node(inspection *state, firn_rows *rows, const firn_parquet_node *node,
                     size_t depth) {
    const firn_parquet_schema_element *element = node->element;
    const char *name = firn_report_copy(state->report, element->name);
    const firn_cell cells[] = {
        firn_cell_text(firn_report_format(state->report, "%*s%s", (int)(2 * depth), "", name)),
        firn_cell_text(name),
        firn_cell_integer((int64_t)depth),
        firn_cell_text(repetition_text(element)),
        firn_cell_text(type_text(state->report, element)),
        element->has_field_id ? firn_cell_integer(element->field_id) : firn_cell_null(),
        element->has_type ? firn_cell_integer(node->first_leaf) : firn_cell_null(),
        firn_cell_integer(node->definition_level),
        firn_cell_integer(node->repetition_level),
    };
    firn_rows_add(rows, cells);
    for (size_t i = 0; i < node->child_count; i++) {
        add_node(state, rows, node->children[i], depth + 1);
    }
}

static void add_schema(inspection *state) {
    static const firn_column columns[] = {{NULL, "name"},
                                          {"name", NULL},
                                          {"depth", NULL},
                                          {"repetition", "repetition"},
                                          {"type", "type"},
                                          {"field_id", "field id"},
                                          {"leaf", "column"},
                                          {"definition_level", NULL},
                                          {"repetition_level", NULL}};
    firn_rows *rows = firn_section_rows(state->root, "schema", "Schema", columns, 9, "no columns");
    const firn_parquet_node *root = state->file->schema->root;
    for (size_t i = 0; i < root->child_count; i++) add_node(state, rows, root->children[i], 0);
}

static void add_head(inspection *state, const char *path) {
    const firn_parquet_file_metadata *metadata = state->file->metadata;
    firn_section *root = state->root;
    firn_section_add(root, "path", "file", firn_cell_text(path));
    firn_section_add(root, "bytes", "size", firn_cell_bytes((int64_t)state->file->source.size));
    firn_section_add(root, "created_by", "created by",
                     metadata->created_by == NULL
                         ? firn_cell_null()
                         : firn_cell_text(firn_report_copy(state->report, metadata->created_by)));
    firn_section_add(root, "format_version", "format version",
                     firn_cell_integer(metadata->version));
    firn_section_add(root, "rows", "rows", firn_cell_count(metadata->num_rows));
    firn_section_add(root, "row_group_count", "row groups",
                     firn_cell_count((int64_t)metadata->row_group_count));
    firn_section_add(root, "column_count", "columns",
                     firn_cell_count((int64_t)state->file->schema->leaf_count));
}

/* Values are often long JSON or Base64; people see their beginning. */
static void add_key_values(inspection *state) {
    static const firn_column columns[] = {{"key", "key"}, {"value", NULL}, {NULL, "value"}};
    const firn_parquet_file_metadata *metadata = state->file->metadata;
    firn_rows *rows =
        firn_section_rows(state->root, "key_values", "Notes of the writer", columns, 3, NULL);
    for (size_t i = 0; i < metadata->key_value_count; i++) {
        const firn_parquet_key_value *pair = &metadata->key_values[i];
        static const firn_parquet_schema_element text = {
            .has_type = true,
            .type = FIRN_PARQUET_BYTE_ARRAY,
            .logical = {.kind = FIRN_PARQUET_LOGICAL_STRING}};
        const char *whole = NULL;
        if (pair->value.data != NULL && pair->value.size < INT32_MAX &&
            memchr(pair->value.data, 0, pair->value.size) == NULL) {
            whole = firn_report_format(state->report, "%.*s", (int)pair->value.size,
                                       (const char *)pair->value.data);
        }
        firn_cell beginning = value_cell(state->report, &text, pair->value);
        const firn_cell cells[] = {
            firn_cell_text(firn_report_copy(state->report, pair->key)),
            whole == NULL ? beginning : firn_cell_text(whole),
            beginning,
        };
        firn_rows_add(rows, cells);
    }
}

static void add_row_groups(inspection *state) {
    static const firn_column columns[] = {{"row_group", "row group"},
                                          {"rows", "rows"},
                                          {"compressed_bytes", "compressed"},
                                          {"uncompressed_bytes", "uncompressed"},
                                          {"sorting_columns", "sorted by"}};
    const firn_parquet_file_metadata *metadata = state->file->metadata;
    firn_rows *rows =
        firn_section_rows(state->root, "row_groups", "Row groups", columns, 5, "no row groups");
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &metadata->row_groups[i];
        int64_t compressed = 0;
        for (size_t j = 0; j < group->column_count; j++) {
            int64_t sum = 0;
            if (!__builtin_add_overflow(compressed, group->columns[j].total_compressed_size,
                                        &sum)) {
                compressed = sum;
            }
        }
        firn_buffer sorted = firn_buffer_with_maximum((size_t)1 << 20);
        firn_status status = FIRN_OK;
        for (size_t j = 0; j < group->sorting_column_count && status == FIRN_OK; j++) {
            const firn_parquet_sorting_column *column = &group->sorting_columns[j];
            bool known = column->column_index >= 0 &&
                         (size_t)column->column_index < state->file->schema->leaf_count;
            status = firn_buffer_printf(
                &sorted, NULL, "%s%s%s%s", j == 0 ? "" : ", ",
                known ? state->file->schema->leaves[column->column_index].dotted_path : "?",
                column->descending ? " descending" : "", column->nulls_first ? " nulls first" : "");
        }
        bool any = group->sorting_column_count > 0;
        const char *order = taken(state->report, &sorted, status);
        const firn_cell cells[] = {
            firn_cell_integer((int64_t)i),      firn_cell_count(group->num_rows),
            firn_cell_bytes(compressed),        firn_cell_bytes(group->total_byte_size),
            firn_cell_text(any ? order : NULL),
        };
        firn_rows_add(rows, cells);
    }
}

static const char *encodings_text(firn_report *report, const firn_parquet_column_chunk *chunk) {
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 16);
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < chunk->encoding_count && status == FIRN_OK; i++) {
        status = firn_buffer_printf(&text, NULL, "%s%s", i == 0 ? "" : ", ",
                                    firn_parquet_encoding_name(chunk->encodings[i]));
    }
    return taken(report, &text, status);
}

/* "yes", "no", or why one that is there is of no use. */
static firn_cell presence(inspection *state, bool usable, const char *problem) {
    if (problem == NULL) return firn_cell_text(usable ? "yes" : "no");
    return firn_cell_text(firn_report_format(state->report, "broken: %s", problem));
}

static const char *boundary_text(const firn_parquet_chunk_indexes *indexes) {
    static const char *const names[] = {"unordered", "ascending", "descending"};
    if (!indexes->has_column_index) return NULL;
    return names[indexes->column_index.boundary_order];
}

static void add_column(inspection *state, size_t group, const firn_parquet_leaf *leaf,
                       const firn_parquet_chunk_indexes *indexes) {
    const firn_parquet_column_chunk *chunk =
        &state->file->metadata->row_groups[group].columns[leaf->index];
    const firn_parquet_schema_element *element = leaf->node->element;
    const firn_parquet_statistics *s = &chunk->statistics;
    firn_slice minimum = s->min_value.data != NULL ? s->min_value : s->deprecated_min;
    firn_slice maximum = s->max_value.data != NULL ? s->max_value : s->deprecated_max;
    bool deprecated = s->min_value.data == NULL && s->deprecated_min.data != NULL;
    const firn_cell cells[] = {
        firn_cell_integer((int64_t)group),
        firn_cell_text(firn_report_copy(state->report, leaf->dotted_path)),
        firn_cell_text(firn_parquet_compression_name(chunk->compression)),
        firn_cell_text(encodings_text(state->report, chunk)),
        firn_cell_count(chunk->num_values),
        s->has_null_count ? firn_cell_count(s->null_count) : firn_cell_null(),
        s->has_nan_count ? firn_cell_count(s->nan_count) : firn_cell_null(),
        s->has_distinct_count ? firn_cell_count(s->distinct_count) : firn_cell_null(),
        firn_cell_bytes(chunk->total_compressed_size),
        firn_cell_bytes(chunk->total_uncompressed_size),
        value_cell(state->report, element, minimum),
        value_cell(state->report, element, maximum),
        s->has_min_exact ? firn_cell_boolean(s->min_exact) : firn_cell_null(),
        s->has_max_exact ? firn_cell_boolean(s->max_exact) : firn_cell_null(),
        firn_cell_boolean(deprecated),
        chunk->has_unencoded_byte_array_bytes ? firn_cell_bytes(chunk->unencoded_byte_array_bytes)
                                              : firn_cell_null(),
        chunk->has_dictionary_page_offset ? firn_cell_integer(chunk->dictionary_page_offset)
                                          : firn_cell_null(),
        firn_cell_integer(chunk->data_page_offset),
        presence(state, indexes->has_column_index, indexes->column_index_problem),
        firn_cell_text(boundary_text(indexes)),
        presence(state, indexes->has_offset_index, indexes->offset_index_problem),
        presence(state, indexes->has_bloom_filter, indexes->bloom_filter_problem),
        indexes->has_bloom_filter ? firn_cell_bytes((int64_t)(indexes->bloom_filter.block_count *
                                                              FIRN_PARQUET_BLOOM_BLOCK_SIZE))
                                  : firn_cell_null(),
        firn_cell_boolean(chunk->encrypted),
    };
    firn_rows_add(state->columns, cells);
}

static const char *page_type_text(firn_parquet_page_type type) {
    switch (type) {
    case FIRN_PARQUET_DATA_PAGE: return "data";
    case FIRN_PARQUET_DATA_PAGE_V2: return "data v2";
    case FIRN_PARQUET_DICTIONARY_PAGE: return "dictionary";
    case FIRN_PARQUET_INDEX_PAGE: return "index";
    }
    return "unknown";
}

static void add_page(inspection *state, size_t group, const firn_parquet_leaf *leaf,
                     const firn_parquet_page *page, const firn_parquet_chunk_indexes *indexes,
                     size_t entry) {
    const firn_parquet_page_header *header = &page->header;
    const firn_parquet_schema_element *element = leaf->node->element;
    bool v2 = header->type == FIRN_PARQUET_DATA_PAGE_V2;
    bool data = v2 || header->type == FIRN_PARQUET_DATA_PAGE;
    bool located = data && indexes->has_offset_index && entry < indexes->offset_index.page_count;
    bool bounded = data && indexes->has_column_index && entry < indexes->column_index.page_count;
    const firn_parquet_column_index *index = &indexes->column_index;
    firn_slice minimum = header->statistics.min_value, maximum = header->statistics.max_value;
    if (bounded && !index->null_pages[entry]) {
        minimum = index->min_values[entry];
        maximum = index->max_values[entry];
    }
    firn_cell nulls = v2 ? firn_cell_count(header->num_nulls) : firn_cell_null();
    if (!v2 && bounded && index->null_counts != NULL) {
        nulls = firn_cell_count(index->null_counts[entry]);
    }
    const firn_cell cells[] = {
        firn_cell_integer((int64_t)group),
        firn_cell_text(firn_report_copy(state->report, leaf->dotted_path)),
        data ? firn_cell_integer((int64_t)entry) : firn_cell_null(),
        firn_cell_text(page_type_text(header->type)),
        firn_cell_integer((int64_t)page->file_offset),
        firn_cell_text(firn_parquet_encoding_name(header->encoding)),
        firn_cell_count(header->num_values),
        v2 ? firn_cell_count(header->num_rows) : firn_cell_null(),
        nulls,
        located ? firn_cell_count(indexes->offset_index.pages[entry].first_row_index)
                : firn_cell_null(),
        firn_cell_bytes(header->compressed_size),
        firn_cell_bytes(header->uncompressed_size),
        firn_cell_integer((int64_t)page->header_bytes.size),
        firn_cell_boolean(header->has_crc),
        value_cell(state->report, element, minimum),
        value_cell(state->report, element, maximum),
    };
    firn_rows_add(state->pages, cells);
}

static firn_status add_pages(inspection *state, size_t group, const firn_parquet_leaf *leaf,
                             const firn_parquet_chunk_indexes *indexes, firn_error *error) {
    firn_parquet_chunk_reader *reader = NULL;
    size_t entry = 0;
    FIRN_TRY(
        firn_parquet_chunk_reader_open(state->file, group, (size_t)leaf->index, &reader, error));
    firn_status status = FIRN_OK;
    for (;;) {
        const firn_parquet_page *page = NULL;
        FIRN_CHECK(firn_parquet_chunk_reader_next_raw(reader, &page, error));
        if (page == NULL) break;
        add_page(state, group, leaf, page, indexes, entry);
        entry += page->header.type == FIRN_PARQUET_DATA_PAGE ||
                 page->header.type == FIRN_PARQUET_DATA_PAGE_V2;
        FIRN_CHECK(firn_report_status(state->report, error));
    }
out:
    firn_parquet_chunk_reader_close(reader);
    return status;
}

static firn_status add_chunk(inspection *state, size_t group, size_t index, firn_error *error) {
    const firn_parquet_leaf *leaf = &state->file->schema->leaves[index];
    firn_parquet_chunk_indexes indexes = {0};
    firn_arena *arena = firn_arena_new();
    firn_status status = FIRN_OK;
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_parquet_chunk_indexes_read(state->file, group, index, FIRN_PARQUET_FETCH_ALL,
                                               arena, &indexes, error));
    add_column(state, group, leaf, &indexes);
    FIRN_CHECK(firn_report_status(state->report, error));
    if (state->pages != NULL) FIRN_CHECK(add_pages(state, group, leaf, &indexes, error));
out:
    firn_arena_free(arena);
    return status;
}

static firn_status add_chunks(inspection *state, firn_error *error) {
    static const firn_column columns[] = {
        {"row_group", "row group"},
        {"column", "column"},
        {"compression", "codec"},
        {"encodings", "encodings"},
        {"values", "values"},
        {"null_count", "nulls"},
        {"nan_count", NULL},
        {"distinct_count", NULL},
        {"compressed_bytes", "compressed"},
        {"uncompressed_bytes", "uncompressed"},
        {"minimum", "minimum"},
        {"maximum", "maximum"},
        {"minimum_is_exact", NULL},
        {"maximum_is_exact", NULL},
        {"bounds_are_deprecated", NULL},
        {"unencoded_byte_array_bytes", NULL},
        {"dictionary_page_offset", NULL},
        {"data_page_offset", NULL},
        {"column_index", "column index"},
        {"boundary_order", NULL},
        {"offset_index", "offset index"},
        {"bloom_filter", "Bloom filter"},
        {"bloom_filter_bytes", NULL},
        {"encrypted", NULL},
    };
    static const firn_column pages[] = {
        {"row_group", "row group"},
        {"column", "column"},
        {"page", "page"},
        {"type", "type"},
        {"offset", "offset"},
        {"encoding", "encoding"},
        {"values", "values"},
        {"rows", NULL},
        {"null_count", "nulls"},
        {"first_row", "first row"},
        {"compressed_bytes", "compressed"},
        {"uncompressed_bytes", "uncompressed"},
        {"header_bytes", NULL},
        {"has_crc", "CRC"},
        {"minimum", "minimum"},
        {"maximum", "maximum"},
    };
    state->columns = firn_section_rows(state->root, "columns", "Columns", columns,
                                       sizeof columns / sizeof *columns, "no columns");
    if (state->invocation->options->pages) {
        state->pages = firn_section_rows(state->root, "pages", "Pages", pages,
                                         sizeof pages / sizeof *pages, "no pages");
    }
    for (size_t i = 0; i < state->file->metadata->row_group_count; i++) {
        for (size_t j = 0; j < state->file->schema->leaf_count; j++) {
            FIRN_TRY(add_chunk(state, i, j, error));
        }
    }
    return FIRN_OK;
}

firn_status firn_command_parquet_inspect(firn_invocation *invocation, firn_error *error) {
    const char *path = invocation->options->arguments[0];
    firn_storage_file *storage_file = NULL;
    firn_parquet_file *file = NULL;
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    FIRN_TRY(firn_invocation_open_file(invocation, path, &storage_file, error));
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_parquet_file_open(firn_storage_file_source(storage_file), &file, error));
    inspection state = {.invocation = invocation,
                        .report = invocation->report,
                        .root = firn_report_root(invocation->report),
                        .file = file};
    add_head(&state, path);
    add_schema(&state);
    add_key_values(&state);
    add_row_groups(&state);
    FIRN_CHECK(add_chunks(&state, error));
    status = firn_report_status(invocation->report, error);
out:
    firn_parquet_file_close(file);
    firn_storage_close(storage_file);
    return status;
}
