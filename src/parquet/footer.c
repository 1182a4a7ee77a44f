#include "base/alloc.h"
#include "base/bytes.h"
#include "base/plural.h"
#include "parquet/metadata_internal.h"

/* Read at once from the end; holds the whole footer of most files, and the whole of small files. */
#define TAIL_SIZE ((uint64_t)64 * 1024)
/* A file is at least "PAR1", the footer's length and "PAR1" again. */
#define MINIMUM_FILE_SIZE 12
#define TRAILER_SIZE 8

/* The last bytes of a file: borrowed, or in memory of their own. */
typedef struct tail {
    const uint8_t *data;
    uint8_t *owned;
    uint64_t size;
} tail;

static void tail_release(tail *end) {
    firn_free(end->owned);
    *end = (tail){0};
}

static firn_status tail_read(const firn_read_at *file, uint64_t size, tail *out,
                             firn_error *error) {
    tail_release(out);
    uint64_t offset = file->size - size;
    out->size = size;
    if (file->borrow != NULL) out->data = file->borrow(file->context, offset, (size_t)size);
    if (out->data != NULL) return FIRN_OK;
    out->owned = firn_alloc((size_t)size);
    if (out->owned == NULL) return firn_fail_memory(error);
    out->data = out->owned;
    return firn_read_at_exact(file, offset, out->owned, (size_t)size, error);
}

firn_status firn_parquet_footer_length(firn_slice end, uint64_t file_size, const char *name,
                                       uint64_t *length, firn_error *error) {
    if (file_size < MINIMUM_FILE_SIZE || file_size > INT64_MAX || end.size < TRAILER_SIZE) {
        return firn_fail(error, FIRN_CORRUPT, "%s: a file of %llu byte%s is no Parquet file", name,
                         (unsigned long long)file_size, firn_plural(file_size));
    }
    const uint8_t *trailer = end.data + end.size - TRAILER_SIZE;
    if (memcmp(trailer + 4, "PARE", 4) == 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: the file's footer is encrypted; firn does not read encrypted Parquet",
                         name);
    }
    if (memcmp(trailer + 4, "PAR1", 4) != 0) {
        return firn_fail_at(error, FIRN_CORRUPT, (int64_t)(file_size - 4),
                            "%s: not a Parquet file, or cut short: \"PAR1\" is missing", name);
    }
    *length = firn_load_le32(trailer);
    if (*length > file_size - MINIMUM_FILE_SIZE) {
        return firn_fail_at(error, FIRN_CORRUPT, (int64_t)(file_size - TRAILER_SIZE),
                            "%s: a footer of %llu bytes is longer than the file", name,
                            (unsigned long long)*length);
    }
    return FIRN_OK;
}

firn_thrift_reader firn_parquet_footer_reader(firn_slice bytes, uint64_t file_offset,
                                              const char *name, firn_arena *arena) {
    const char *footer = firn_arena_format(arena, "%s: footer", name);
    return firn_thrift_reader_of(bytes, file_offset, footer == NULL ? name : footer, arena);
}

firn_status firn_parquet_read_footer(const firn_read_at *file, firn_arena *arena,
                                     const firn_parquet_file_metadata **out, firn_error *error) {
    tail end = {0};
    firn_status status = FIRN_OK;
    uint64_t length = 0;
    if (file->size < MINIMUM_FILE_SIZE) {
        return firn_parquet_footer_length((firn_slice){0}, file->size, file->name, &length, error);
    }
    FIRN_CHECK(tail_read(file, file->size < TAIL_SIZE ? file->size : TAIL_SIZE, &end, error));
    FIRN_CHECK(firn_parquet_footer_length(firn_slice_of(end.data, (size_t)end.size), file->size,
                                          file->name, &length, error));
    if (length + TRAILER_SIZE > end.size) {
        FIRN_CHECK(tail_read(file, length + TRAILER_SIZE, &end, error));
    }
    uint64_t start = end.size - TRAILER_SIZE - length;
    firn_thrift_reader reader =
        firn_parquet_footer_reader(firn_slice_of(end.data + start, (size_t)length),
                                   file->size - TRAILER_SIZE - length, file->name, arena);
    const firn_parquet_known_schema *none = NULL;
    status = firn_parquet_read_file_metadata(&reader, NULL, &none, out, error);
out:
    tail_release(&end);
    return status;
}
