#include "puffin/deletion_vector.h"

#include <string.h>

#include "base/bytes.h"
#include "codec/codec.h"

/* Length (big-endian, of magic and vector), magic, vector, CRC-32 (big-endian, of magic and vector). */
#define LENGTH_SIZE ((size_t)4)
#define MAGIC_SIZE ((size_t)4)
#define CRC_SIZE ((size_t)4)

static const uint8_t magic[MAGIC_SIZE] = {0xD1, 0xD3, 0x39, 0x64};

static firn_status corrupt(const char *name, int64_t offset, const char *message,
                           firn_error *error) {
    return firn_fail_at(error, FIRN_CORRUPT, offset, "%s: deletion vector: %s", name, message);
}

firn_status firn_deletion_vector_read(firn_slice blob, const char *name, int64_t offset,
                                      firn_roaring **out, firn_error *error) {
    if (blob.size < LENGTH_SIZE + MAGIC_SIZE + CRC_SIZE) {
        return corrupt(name, offset, "it is cut short", error);
    }
    size_t checked_size = blob.size - LENGTH_SIZE - CRC_SIZE;
    if (firn_load_be32(blob.data) != checked_size) {
        return corrupt(name, offset, "its length is not the blob's", error);
    }
    firn_slice checked = firn_slice_of(blob.data + LENGTH_SIZE, checked_size);
    if (memcmp(checked.data, magic, MAGIC_SIZE) != 0) {
        return corrupt(name, offset + (int64_t)LENGTH_SIZE, "the magic is not D1D33964", error);
    }
    if (firn_load_be32(checked.data + checked_size) != firn_crc32(0, checked)) {
        return corrupt(name, offset + (int64_t)(LENGTH_SIZE + checked_size),
                       "the CRC-32 is wrong: the bytes are damaged", error);
    }
    firn_slice vector = firn_slice_of(checked.data + MAGIC_SIZE, checked_size - MAGIC_SIZE);
    return firn_error_wrap(error, firn_roaring_read(vector, name, out, error),
                           "deletion vector at byte %lld", (long long)offset);
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
