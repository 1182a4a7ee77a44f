/*
 * Decodes every value of Parquet files on one thread and keeps the greatest of each column, as "SELECT max(c1), …" has to. Prints the seconds that it took, for
 * decode.py to hold against DuckDB:
 *
 *     firn-bench-decode ROUNDS INPUT...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "parquet/chunk_reader.h"

typedef struct greatest {
    int64_t integer;
    double real;
    uint8_t *bytes; /* grows */
    size_t size, room;
    int64_t values;
} greatest;

static void die(const firn_error *error) {
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void take_slice(greatest *top, firn_slice value) {
    size_t shared = value.size < top->size ? value.size : top->size;
    int order = shared == 0 ? 0 : memcmp(value.data, top->bytes, shared);
    if (order < 0 || (order == 0 && value.size <= top->size)) return;
    if (value.size > top->room) {
        uint8_t *bytes = realloc(top->bytes, value.size);
        if (bytes == NULL) abort();
        top->bytes = bytes;
        top->room = value.size;
    }
    memcpy(top->bytes, value.data, value.size);
    top->size = value.size;
}

static void take_fixed(greatest *top, const firn_parquet_values *values, size_t index) {
    const uint8_t *at = values->fixed + index * values->width;
    int64_t integer = 0;
    switch (values->type) {
    case FIRN_PARQUET_INT32: integer = (int32_t)firn_load_le32(at); break;
    case FIRN_PARQUET_INT64: integer = (int64_t)firn_load_le64(at); break;
    case FIRN_PARQUET_BOOLEAN: integer = *at; break;
    case FIRN_PARQUET_FLOAT: {
        double real = firn_float_of_bits(firn_load_le32(at));
        if (real > top->real) top->real = real;
        return;
    }
    case FIRN_PARQUET_DOUBLE: {
        double real = firn_double_of_bits(firn_load_le64(at));
        if (real > top->real) top->real = real;
        return;
    }
    default: take_slice(top, firn_slice_of(at, values->width)); return;
    }
    if (integer > top->integer) top->integer = integer;
}

static void take_batch(greatest *top, const firn_parquet_batch *batch) {
    for (size_t i = 0; i < batch->value_count; i++) {
        size_t index = batch->indices == NULL ? i : batch->indices[i];
        if (batch->values.slices != NULL) {
            take_slice(top, batch->values.slices[index]);
        } else {
            take_fixed(top, &batch->values, index);
        }
    }
    top->values += (int64_t)batch->value_count;
}

static void decode_leaf(firn_parquet_chunk_reader **reader, const firn_parquet_file *file,
                        size_t row_group, size_t leaf, greatest *top) {
    firn_error error = {0};
    firn_status status =
        *reader == NULL ? firn_parquet_chunk_reader_open(file, row_group, leaf, reader, &error)
                        : firn_parquet_chunk_reader_reset(*reader, file, row_group, leaf, &error);
    while (status == FIRN_OK) {
        const firn_parquet_page *page = NULL;
        firn_parquet_batch batch;
        status = firn_parquet_chunk_reader_next(*reader, &page, &error);
        if (status != FIRN_OK || page == NULL) break;
        status = firn_parquet_chunk_reader_decode(*reader, &batch, &error);
        if (status == FIRN_OK) take_batch(top, &batch);
    }
    if (status != FIRN_OK) die(&error);
}

static int64_t decode_file(const char *path, firn_parquet_chunk_reader **reader) {
    firn_error error = {0};
    struct stat information;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &information) != 0) {
        perror(path);
        exit(1);
    }
    firn_memory_file memory = {.size = (size_t)information.st_size};
    void *mapped = mmap(NULL, memory.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
    close(descriptor);
    if (mapped == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    memory.data = mapped;
    firn_read_at source = firn_read_at_memory(&memory, path);
    firn_parquet_file *file = NULL;
    if (firn_parquet_file_open(&source, &file, &error) != FIRN_OK) die(&error);
    int64_t values = 0;
    for (size_t leaf = 0; leaf < file->schema->leaf_count; leaf++) {
        greatest top = {.integer = INT64_MIN, .real = -1.0 / 0.0};
        for (size_t i = 0; i < file->metadata->row_group_count; i++) {
            decode_leaf(reader, file, i, leaf, &top);
        }
        values += top.values;
        free(top.bytes);
    }
    firn_parquet_chunk_reader_close(*reader);
    *reader = NULL;
    firn_parquet_file_close(file);
    munmap(mapped, memory.size);
    return values;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s ROUNDS INPUT...\n", argv[0]);
        return 2;
    }
    for (int round = 0; round < atoi(argv[1]); round++) {
        int64_t start = firn_clock_monotonic_ns(), values = 0;
        firn_parquet_chunk_reader *reader = NULL;
        for (int i = 2; i < argc; i++) values += decode_file(argv[i], &reader);
        printf("{\"wall\": %.6f, \"values\": %lld}\n",
               (double)(firn_clock_monotonic_ns() - start) / 1e9, (long long)values);
        fflush(stdout);
    }
    return 0;
}
