#include <string.h>

#include "lake/listing_internal.h"
#include "parquet/chunk_reader.h"
#include "parquet/value_text.h"

/* One column that is read value by value. */
typedef struct column {
    const firn_parquet_leaf *leaf; /* NULL: not wanted, or not there */
    firn_parquet_chunk_reader *reader;
    firn_parquet_batch batch;
    size_t level, value; /* within the batch */
    firn_buffer text;
} column;

static firn_status find_column(firn_lake_manifest *manifest, const firn_parquet_file *file,
                               const char *name, column *out, firn_error *error) {
    const firn_parquet_node *root = file->schema->root;
    for (size_t i = 0; i < root->child_count; i++) {
        const firn_parquet_node *node = root->children[i];
        if (strcmp(node->element->name, name) != 0) continue;
        if (out->leaf != NULL) {
            return firn_fail(error, FIRN_INVALID, "two columns have the name \"%s\"", name);
        }
        if (node->child_count > 0 || node->repetition_level > 0 || !node->element->has_type) {
            manifest->collector->options_hold = false;
            return firn_fail(error, FIRN_INVALID, "column \"%s\" holds no single values", name);
        }
        out->leaf = &file->schema->leaves[node->first_leaf];
    }
    return FIRN_OK;
}

static firn_status find_columns(firn_lake_manifest *manifest, const firn_parquet_file *file,
                                column columns[FIRN_LAKE_COLUMN_COUNT], firn_error *error) {
    const char *names[FIRN_LAKE_SHOWN_COLUMNS + 1] = {0};
    bool there[FIRN_LAKE_COLUMN_COUNT] = {0};
    const firn_parquet_node *root = file->schema->root;
    size_t count = 0;
    for (; count < root->child_count && count <= FIRN_LAKE_SHOWN_COLUMNS; count++) {
        names[count] = root->children[count]->element->name;
    }
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        if (manifest->names[i] == NULL) continue;
        FIRN_TRY(find_column(manifest, file, manifest->names[i], &columns[i], error));
        there[i] = columns[i].leaf != NULL;
    }
    return firn_lake_manifest_settle(manifest, there, names, count, error);
}

static firn_status start_row_group(column *c, const firn_parquet_file *file, size_t row_group,
                                   firn_error *error) {
    size_t leaf = (size_t)c->leaf->index;
    FIRN_TRY(firn_parquet_chunk_supported(file, row_group, leaf, error));
    c->batch = (firn_parquet_batch){0};
    c->level = 0;
    if (c->reader == NULL) {
        return firn_parquet_chunk_reader_open(file, row_group, leaf, &c->reader, error);
    }
    return firn_parquet_chunk_reader_reset(c->reader, file, row_group, leaf, error);
}

/* Goes on to a page with values. */
static firn_status need_level(column *c, firn_error *error) {
    while (c->level == c->batch.level_count) {
        const firn_parquet_page *page = NULL;
        FIRN_TRY(firn_parquet_chunk_reader_next(c->reader, &page, error));
        if (page == NULL) {
            return firn_fail(error, FIRN_CORRUPT, "column %s has fewer values than rows",
                             c->leaf->dotted_path);
        }
        FIRN_TRY(firn_parquet_chunk_reader_decode(c->reader, &c->batch, error));
        c->level = 0;
        c->value = 0;
    }
    return FIRN_OK;
}

/* Bytes that are a text as they are. Everything else has a canonical text, but for long bytes, which that one would shorten. */
static bool is_text(const firn_parquet_schema_element *element) {
    if (element->type != FIRN_PARQUET_BYTE_ARRAY &&
        element->type != FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        return false;
    }
    switch (element->logical.kind) {
    case FIRN_PARQUET_LOGICAL_DECIMAL:
    case FIRN_PARQUET_LOGICAL_UUID:
    case FIRN_PARQUET_LOGICAL_FLOAT16: return false;
    default: return true;
    }
}

/* The next row's value as text, valid until the next call; NULL data: null. */
static firn_status next_text(column *c, firn_slice *out, firn_error *error) {
    FIRN_TRY(need_level(c, error));
    const firn_parquet_batch *batch = &c->batch;
    size_t level = c->level++;
    *out = (firn_slice){0};
    if (batch->definition_levels != NULL &&
        batch->definition_levels[level] < c->leaf->maximum_definition_level) {
        return FIRN_OK;
    }
    const firn_parquet_values *values = &batch->values;
    size_t index = batch->indices == NULL ? c->value : batch->indices[c->value];
    c->value++;
    firn_slice value = values->slices != NULL
                           ? values->slices[index]
                           : firn_slice_of(values->fixed + index * values->width, values->width);
    if (value.data == NULL) value.data = (const uint8_t *)"";
    if (is_text(c->leaf->node->element)) {
        *out = value;
        return FIRN_OK;
    }
    firn_buffer_clear(&c->text);
    FIRN_TRY(firn_parquet_value_text(c->leaf->node->element, value, &c->text, error));
    *out = firn_buffer_slice(&c->text);
    return FIRN_OK;
}

static firn_status read_row_group(firn_lake_manifest *manifest, const firn_parquet_file *file,
                                  size_t row_group, column columns[FIRN_LAKE_COLUMN_COUNT],
                                  firn_error *error) {
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        if (columns[i].leaf == NULL) continue;
        FIRN_TRY(start_row_group(&columns[i], file, row_group, error));
    }
    int64_t rows = file->metadata->row_groups[row_group].num_rows;
    for (int64_t row = 0; row < rows; row++) {
        firn_slice values[FIRN_LAKE_COLUMN_COUNT] = {{0}};
        for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
            if (columns[i].leaf == NULL) continue;
            FIRN_TRY(next_text(&columns[i], &values[i], error));
        }
        FIRN_TRY(firn_lake_manifest_add(manifest, values, error));
    }
    return FIRN_OK;
}

firn_status firn_lake_manifest_read_parquet(firn_lake_manifest *manifest,
                                            const firn_read_at *source, firn_error *error) {
    column columns[FIRN_LAKE_COLUMN_COUNT] = {{0}};
    firn_parquet_file *file = NULL;
    firn_status status;
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        columns[i].text = firn_buffer_with_maximum(SIZE_MAX);
    }
    FIRN_CHECK(firn_parquet_file_open(source, &file, error));
    FIRN_CHECK(find_columns(manifest, file, columns, error));
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        FIRN_CHECK(read_row_group(manifest, file, i, columns, error));
    }
out:
    for (int i = 0; i < FIRN_LAKE_COLUMN_COUNT; i++) {
        firn_parquet_chunk_reader_close(columns[i].reader);
        firn_buffer_release(&columns[i].text);
    }
    firn_parquet_file_close(file);
    return status;
}
