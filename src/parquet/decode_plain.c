/* PLAIN (Encodings.md, "Plain"). Fixed-width values and the bytes of byte arrays stay where they are. */
#include "base/bytes.h"
#include "parquet/bit_unpack.h"
#include "parquet/decode.h"

static firn_status too_short(firn_error *error, size_t size, size_t count) {
    return firn_fail(error, FIRN_CORRUPT, "%zu bytes are too few for %zu PLAIN values", size,
                     count);
}

static firn_status decode_booleans(firn_slice encoded, size_t count,
                                   firn_parquet_value_store *store, firn_parquet_values *out,
                                   firn_error *error) {
    if (firn_parquet_packed_size(count, 1) > encoded.size) {
        return too_short(error, encoded.size, count);
    }
    FIRN_TRY(firn_parquet_scratch_ensure(&store->fixed, count, 1, error));
    firn_parquet_unpack_bytes(encoded.data, encoded.size, 1, count, store->fixed.data);
    out->fixed = store->fixed.data;
    return FIRN_OK;
}

static firn_status decode_byte_arrays(firn_slice encoded, size_t count,
                                      firn_parquet_value_store *store, firn_parquet_values *out,
                                      firn_error *error) {
    if (encoded.size / 4 < count) return too_short(error, encoded.size, count);
    FIRN_TRY(firn_parquet_scratch_ensure(&store->slices, count, sizeof(firn_slice), error));
    firn_slice *slices = (firn_slice *)(void *)store->slices.data;
    const uint8_t *next = encoded.data;
    size_t left = encoded.size;
    for (size_t i = 0; i < count; i++) {
        if (left < 4) return too_short(error, encoded.size, count);
        uint32_t length = firn_load_le32(next);
        if (length > left - 4) {
            return firn_fail(error, FIRN_CORRUPT,
                             "value %zu has a length of %u where %zu bytes are left", i,
                             (unsigned)length, left - 4);
        }
        slices[i] = firn_slice_of(next + 4, length);
        next += 4 + (size_t)length;
        left -= 4 + (size_t)length;
    }
    out->slices = slices;
    return FIRN_OK;
}

firn_status firn_parquet_decode_plain(firn_slice encoded, size_t count,
                                      firn_parquet_value_store *store, firn_parquet_values *out,
                                      firn_error *error) {
    out->count = count;
    if (out->type == FIRN_PARQUET_BOOLEAN) {
        return decode_booleans(encoded, count, store, out, error);
    }
    if (out->type == FIRN_PARQUET_BYTE_ARRAY) {
        return decode_byte_arrays(encoded, count, store, out, error);
    }
    if (encoded.size / out->width < count) return too_short(error, encoded.size, count);
    out->fixed = encoded.data;
    return FIRN_OK;
}
