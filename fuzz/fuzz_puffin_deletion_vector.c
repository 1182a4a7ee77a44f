/* A deletion vector's blob as it is, and once more with its length and CRC made right, so that what lies between is reached. */
#include <stdint.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "puffin/deletion_vector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_one(firn_slice blob) {
    firn_roaring *set = NULL;
    if (firn_deletion_vector_read(blob, "input", 4, &set, NULL) == FIRN_OK) {
        (void)firn_roaring_count(set);
        firn_roaring_free(set);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_one(firn_slice_of(data, size));
    if (size < 12 || size > INT32_MAX) return 0;
    firn_buffer copy = firn_buffer_with_maximum(size);
    if (firn_buffer_append(&copy, data, size, NULL) != FIRN_OK) return 0;
    firn_store_be32(copy.data, (uint32_t)(size - 8));
    firn_store_be32(copy.data + size - 4, firn_crc32(0, firn_slice_of(copy.data + 4, size - 8)));
    read_one(firn_buffer_slice(&copy));
    firn_buffer_release(&copy);
    return 0;
}
