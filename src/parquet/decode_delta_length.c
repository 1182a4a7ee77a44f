/* DELTA_LENGTH_BYTE_ARRAY (Encodings.md): all lengths, then all bytes, which stay where they are. */
#include "parquet/decode.h"

firn_status firn_parquet_decode_delta_length_byte_array(firn_slice encoded, size_t count,
                                                        firn_parquet_value_store *store,
                                                        firn_parquet_values *out,
                                                        firn_error *error) {
    FIRN_TRY(firn_parquet_scratch_ensure(&store->lengths, count, sizeof(int32_t), error));
    FIRN_TRY(firn_parquet_scratch_ensure(&store->slices, count, sizeof(firn_slice), error));
    FIRN_TRY(
        firn_parquet_decode_deltas(&encoded, count, sizeof(int32_t), store->lengths.data, error));
    const int32_t *lengths = (const int32_t *)(const void *)store->lengths.data;
    firn_slice *slices = (firn_slice *)(void *)store->slices.data;
    const uint8_t *next = encoded.data;
    size_t left = encoded.size;
    for (size_t i = 0; i < count; i++) {
        if (lengths[i] < 0 || (size_t)lengths[i] > left) {
            return firn_fail(error, FIRN_CORRUPT,
                             "value %zu has a length of %d where %zu bytes are left", i,
                             (int)lengths[i], left);
        }
        slices[i] = firn_slice_of(next, (size_t)lengths[i]);
        next += lengths[i];
        left -= (size_t)lengths[i];
    }
    out->count = count;
    out->slices = slices;
    return FIRN_OK;
}
