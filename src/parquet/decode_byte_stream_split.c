/* BYTE_STREAM_SPLIT (Encodings.md): all first bytes, then all second bytes, and so on. */
#include "parquet/decode.h"

static void join_4(const uint8_t *in, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)in[i] | (uint32_t)in[count + i] << 8 |
                         (uint32_t)in[2 * count + i] << 16 | (uint32_t)in[3 * count + i] << 24;
        memcpy(out + 4 * i, &value, sizeof value);
    }
}

static void join_8(const uint8_t *in, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        for (size_t j = 0; j < 8; j++) value |= (uint64_t)in[j * count + i] << (8 * j);
        memcpy(out + 8 * i, &value, sizeof value);
    }
}

static void join(const uint8_t *in, size_t count, size_t width, uint8_t *out) {
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < count; i++) out[i * width + j] = in[j * count + i];
    }
}

firn_status firn_parquet_decode_byte_stream_split(firn_slice encoded, size_t count,
                                                  firn_parquet_value_store *store,
                                                  firn_parquet_values *out, firn_error *error) {
    size_t width = out->width;
    /* The streams' length follows from the page's, which is why no padding is allowed. */
    if (encoded.size % width != 0 || encoded.size / width != count) {
        return firn_fail(error, FIRN_CORRUPT, "%zu bytes for %zu split values of %zu bytes",
                         encoded.size, count, width);
    }
    FIRN_TRY(firn_parquet_scratch_ensure(&store->fixed, count, width, error));
    if (width == 4) {
        join_4(encoded.data, count, store->fixed.data);
    } else if (width == 8) {
        join_8(encoded.data, count, store->fixed.data);
    } else {
        join(encoded.data, count, width, store->fixed.data);
    }
    out->count = count;
    out->fixed = store->fixed.data;
    return FIRN_OK;
}
