#include "puffin/deletion_vector.h"

#include <string.h>

#include "base/bytes.h"
#include "codec/codec.h"

/* Length (big-endian, of magic and vector), magic, vector, CRC-32 (big-endian, of magic and vector). */
#define LENGTH_SIZE ((size_t)4)
#define MAGIC_SIZE ((size_t)4)
#define CRC_SIZE ((size_t)4)
/* Bytes that are looked at at a time. */
#define PIECE_SIZE ((size_t)32 * 1024)

static const uint8_t magic[MAGIC_SIZE] = {0xD1, 0xD3, 0x39, 0x64};

static firn_status corrupt(const char *name, int64_t offset, const char *message,
                           firn_error *error) {
    return firn_fail_at(error, FIRN_CORRUPT, offset, "%s: deletion vector: %s", name, message);
}

/* Of the bytes [offset, offset + size), a piece at a time. */
static firn_status crc_of(const firn_read_at *file, uint64_t offset, size_t size, uint32_t *out,
                          firn_error *error) {
    uint8_t piece[PIECE_SIZE];
    *out = 0;
    for (size_t done = 0; done < size;) {
        size_t some = size - done < PIECE_SIZE ? size - done : PIECE_SIZE;
        FIRN_TRY(firn_read_at_exact(file, offset + done, piece, some, error));
        *out = firn_crc32(*out, firn_slice_of(piece, some));
        done += some;
    }
    return FIRN_OK;
}

/* Everything around the bitmap. `place` is what messages say of the blob's offset. */
static firn_status check_frame(const firn_read_at *file, uint64_t offset, size_t size,
                               int64_t place, firn_error *error) {
    uint8_t head[LENGTH_SIZE + MAGIC_SIZE], sum[CRC_SIZE];
    uint32_t actual = 0;
    if (size < sizeof head + CRC_SIZE) {
        return corrupt(file->name, place, "it is cut short", error);
    }
    size_t checked_size = size - LENGTH_SIZE - CRC_SIZE;
    FIRN_TRY(firn_read_at_exact(file, offset, head, sizeof head, error));
    if (firn_load_be32(head) != checked_size) {
        return corrupt(file->name, place, "its length is not the blob's", error);
    }
    if (memcmp(head + LENGTH_SIZE, magic, MAGIC_SIZE) != 0) {
        return corrupt(file->name, place + (int64_t)LENGTH_SIZE, "the magic is not D1D33964",
                       error);
    }
    FIRN_TRY(crc_of(file, offset + LENGTH_SIZE, checked_size, &actual, error));
    FIRN_TRY(firn_read_at_exact(file, offset + LENGTH_SIZE + checked_size, sum, sizeof sum, error));
    if (firn_load_be32(sum) == actual) return FIRN_OK;
    return corrupt(file->name, place + (int64_t)(LENGTH_SIZE + checked_size),
                   "the CRC-32 is wrong: the bytes are damaged", error);
}

static firn_status read_part(const firn_read_at *file, uint64_t offset, size_t size, int64_t place,
                             firn_roaring_part *part, firn_roaring **out, firn_error *error) {
    FIRN_TRY(check_frame(file, offset, size, place, error));
    firn_status status =
        firn_roaring_read_part(file, offset + LENGTH_SIZE + MAGIC_SIZE,
                               size - LENGTH_SIZE - MAGIC_SIZE - CRC_SIZE, part, out, error);
    return firn_error_wrap(error, status, "deletion vector at byte %lld", (long long)place);
}

firn_status firn_deletion_vector_read_part(const firn_read_at *file, uint64_t offset, size_t size,
                                           firn_roaring_part *part, firn_roaring **out,
                                           firn_error *error) {
    return read_part(file, offset, size, (int64_t)offset, part, out, error);
}

firn_status firn_deletion_vector_read(firn_slice blob, const char *name, int64_t offset,
                                      firn_roaring **out, firn_error *error) {
    firn_memory_file memory = {blob.data, blob.size};
    firn_read_at file = firn_read_at_memory(&memory, name);
    firn_roaring_part all = {.first = 0, .end = UINT64_MAX};
    return read_part(&file, 0, blob.size, offset, &all, out, error);
}

firn_status firn_deletion_vector_write(const firn_roaring *positions, firn_buffer *out,
                                       firn_error *error) {
    size_t start = out->size;
    uint8_t word[LENGTH_SIZE] = {0};
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_buffer_append(out, word, LENGTH_SIZE, error));
    FIRN_CHECK(firn_buffer_append(out, magic, MAGIC_SIZE, error));
    FIRN_CHECK(firn_roaring_write(positions, out, error));
    size_t size = out->size - start - LENGTH_SIZE;
    /* Readers take the length for a signed integer. */
    if (size > INT32_MAX) {
        status = firn_fail(error, FIRN_LIMIT, "a deletion vector of %zu bytes is too large", size);
        goto out;
    }
    firn_store_be32(out->data + start, (uint32_t)size);
    firn_store_be32(word, firn_crc32(0, firn_slice_of(out->data + start + LENGTH_SIZE, size)));
    FIRN_CHECK(firn_buffer_append(out, word, CRC_SIZE, error));
out:
    if (status != FIRN_OK) out->size = start;
    return status;
}
