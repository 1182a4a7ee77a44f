/*
 * Prints a file's schema and each leaf's levels and values, for comparisons with other readers:
 *
 *     node DEPTH REPETITION KIND CHILDREN NAME       schema nodes, depth first, the root first
 *     chunk GROUP LEAF TYPE MAX_REPETITION MAX_DEFINITION ROWS
 *     R D VALUE                                      one line per level; VALUE is "-" below the maximum
 *
 * Booleans and integers are decimal, everything else is the value's bytes in hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "parquet/chunk_reader.h"

static void print_node(const firn_parquet_node *node, int depth) {
    int repetition = node->element->has_repetition ? (int)node->element->repetition : 0;
    printf("node %d %d %d %zu %s\n", depth, repetition, (int)node->element->logical.kind,
           node->element->has_type ? 0 : node->child_count, node->element->name);
    for (size_t i = 0; i < node->child_count; i++) print_node(node->children[i], depth + 1);
}

static void print_bytes(const uint8_t *data, size_t size) {
    putchar('x');
    for (size_t i = 0; i < size; i++) printf("%02x", data[i]);
    putchar('\n');
}

static void print_value(const firn_parquet_values *values, size_t index) {
    const uint8_t *fixed = values->fixed + index * values->width;
    switch (values->type) {
    case FIRN_PARQUET_BOOLEAN: printf("%u\n", (unsigned)*fixed); break;
    case FIRN_PARQUET_INT32: printf("%" PRId32 "\n", (int32_t)firn_load_le32(fixed)); break;
    case FIRN_PARQUET_INT64: printf("%" PRId64 "\n", (int64_t)firn_load_le64(fixed)); break;
    case FIRN_PARQUET_BYTE_ARRAY:
        print_bytes(values->slices[index].data, values->slices[index].size);
        break;
    default: print_bytes(fixed, values->width);
    }
}

static void print_batch(const firn_parquet_leaf *leaf, const firn_parquet_batch *batch) {
    size_t value = 0;
    for (size_t i = 0; i < batch->level_count; i++) {
        unsigned repetition = batch->repetition_levels == NULL ? 0 : batch->repetition_levels[i];
        unsigned definition = batch->definition_levels == NULL ? 0 : batch->definition_levels[i];
        printf("%u %u ", repetition, definition);
        if (definition < leaf->maximum_definition_level) {
            puts("-");
            continue;
        }
        print_value(&batch->values, batch->indices == NULL ? value : batch->indices[value]);
        value++;
    }
}

static firn_status print_chunk(const firn_parquet_file *file, size_t group, size_t index,
                               firn_error *error) {
    const firn_parquet_leaf *leaf = &file->schema->leaves[index];
    printf("chunk %zu %zu %s %u %u %" PRId64 "\n", group, index,
           firn_parquet_type_name(leaf->node->element->type),
           (unsigned)leaf->maximum_repetition_level, (unsigned)leaf->maximum_definition_level,
           file->metadata->row_groups[group].num_rows);
    firn_parquet_chunk_reader *reader = NULL;
    const firn_parquet_page *page = NULL;
    firn_status status = firn_parquet_chunk_reader_open(file, group, index, &reader, error);
    while (status == FIRN_OK) {
        firn_parquet_batch batch = {0};
        FIRN_CHECK(firn_parquet_chunk_reader_next(reader, &page, error));
        if (page == NULL) break;
        FIRN_CHECK(firn_parquet_chunk_reader_decode(reader, &batch, error));
        print_batch(leaf, &batch);
    }
out:
    firn_parquet_chunk_reader_close(reader);
    return status;
}

static firn_status print_file(const char *name, uint8_t *data, size_t size, firn_error *error) {
    firn_memory_file memory = {data, size};
    firn_read_at source = firn_read_at_memory(&memory, name);
    firn_parquet_file *file = NULL;
    firn_status status = firn_parquet_file_open(&source, &file, error);
    if (status != FIRN_OK) return status;
    print_node(file->schema->root, 0);
    for (size_t i = 0; i < file->metadata->row_group_count; i++) {
        for (size_t j = 0; j < file->schema->leaf_count; j++) {
            FIRN_CHECK(print_chunk(file, i, j, error));
        }
    }
out:
    firn_parquet_file_close(file);
    return status;
}

static uint8_t *read_whole(const char *name, size_t *size) {
    FILE *stream = fopen(name, "rb");
    if (stream == NULL) return NULL;
    uint8_t *data = NULL;
    if (fseek(stream, 0, SEEK_END) == 0) {
        long length = ftell(stream);
        rewind(stream);
        *size = length < 0 ? 0 : (size_t)length;
        data = firn_alloc(*size);
        if (data != NULL && fread(data, 1, *size, stream) != *size) {
            firn_free(data);
            data = NULL;
        }
    }
    fclose(stream);
    return data;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: dump_parquet FILE\n");
        return 2;
    }
    size_t size = 0;
    uint8_t *data = read_whole(arguments[1], &size);
    if (data == NULL) {
        fprintf(stderr, "%s: can't be read\n", arguments[1]);
        return 2;
    }
    firn_error error = {0};
    firn_status status = print_file(arguments[1], data, size, &error);
    firn_free(data);
    if (status == FIRN_OK) return 0;
    fprintf(stderr, "%s: %s\n", firn_status_name(status), error.message);
    return 1;
}
