#include <inttypes.h>
#include <snappy-c.h>

#include "codec/output.h"

/* A copy element makes at most 64 bytes of 3, so that no input grows more than this, preamble apart. */
#define LARGEST_EXPANSION 22

firn_status firn_snappy_compress(firn_slice input, firn_buffer *out, firn_error *error) {
    size_t size = snappy_max_compressed_length(input.size);
    FIRN_TRY(firn_buffer_reserve(out, size, error));
    const char *data = input.size == 0 ? "" : (const char *)input.data;
    if (snappy_compress(data, input.size, (char *)out->data + out->size, &size) != SNAPPY_OK) {
        return firn_fail(error, FIRN_INVALID, "snappy can't compress %zu bytes", input.size);
    }
    out->size += size;
    return FIRN_OK;
}

static firn_status stated_size(firn_slice input, size_t *size, firn_error *error) {
    if (snappy_uncompressed_length((const char *)input.data, input.size, size) != SNAPPY_OK) {
        return firn_fail_at(error, FIRN_CORRUPT, 0, "not valid snappy data: wrong preamble");
    }
    if (*size / LARGEST_EXPANSION > input.size) {
        return firn_fail_at(error, FIRN_CORRUPT, 0,
                            "not valid snappy data: %zu bytes can't make the %zu stated",
                            input.size, *size);
    }
    return FIRN_OK;
}

static firn_status uncompress(firn_slice input, uint8_t *out, size_t size, firn_error *error) {
    uint8_t nothing = 0;
    size_t made = size;
    char *at = size == 0 ? (char *)&nothing : (char *)out;
    if (snappy_uncompress((const char *)input.data, input.size, at, &made) != SNAPPY_OK ||
        made != size) {
        return firn_fail(error, FIRN_CORRUPT, "not valid snappy data");
    }
    return FIRN_OK;
}

firn_status firn_snappy_decompress(firn_slice input, uint8_t *out, size_t out_size,
                                   firn_error *error) {
    size_t stated = 0;
    FIRN_TRY(stated_size(input, &stated, error));
    if (stated != out_size) {
        return firn_fail(error, FIRN_CORRUPT, "decompresses to %zu bytes where %zu are stated",
                         stated, out_size);
    }
    return uncompress(input, out, out_size, error);
}

firn_status firn_snappy_decompress_growing(firn_slice input, firn_buffer *out, firn_error *error) {
    size_t stated = 0;
    FIRN_TRY(stated_size(input, &stated, error));
    FIRN_TRY(firn_buffer_reserve(out, stated, error));
    uint8_t *at = stated == 0 ? NULL : out->data + out->size;
    FIRN_TRY(uncompress(input, at, stated, error));
    out->size += stated;
    return FIRN_OK;
}
