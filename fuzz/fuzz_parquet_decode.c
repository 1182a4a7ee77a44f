/*
 * The decoders alone, without a file around them: the first five bytes choose encoding, type, width or maximum, and
 * how many values are asked for; the rest is what is decoded.
 */
#include <assert.h>
#include <stdint.h>

#include "parquet/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seen;

static void run_values(firn_slice input, unsigned encoding, unsigned type, uint32_t width,
                       size_t count) {
    firn_parquet_values values = {.type = (firn_parquet_physical_type)(type % 8)};
    values.width = firn_parquet_value_width(values.type, (int32_t)(width % 32 + 1));
    firn_parquet_decode_values decode =
        firn_parquet_decoder_of((firn_parquet_encoding)encoding, values.type);
    firn_parquet_value_store store = {0};
    firn_error error = {0};
    if (decode != NULL && decode(input, count, &store, &values, &error) == FIRN_OK) {
        assert(values.count == count);
        for (size_t i = 0; i < count; i++) {
            firn_slice value = values.width == 0
                                   ? values.slices[i]
                                   : firn_slice_of(values.fixed + i * values.width, values.width);
            if (value.size > 0) seen += (uint64_t)value.data[0] + value.data[value.size - 1];
        }
    }
    firn_parquet_value_store_release(&store);
}

static void run_levels(firn_slice input, uint8_t maximum, size_t count, bool hybrid) {
    if (maximum == 0) maximum = 1;
    firn_parquet_scratch levels = {0};
    firn_error error = {0};
    size_t at_maximum = 0;
    size_t consumed = 0;
    unsigned width = firn_parquet_level_width(maximum);
    if (firn_parquet_scratch_ensure(&levels, count, 1, &error) != FIRN_OK) return;
    firn_status status =
        hybrid ? firn_parquet_decode_hybrid_bytes(input, width, maximum, count, levels.data,
                                                  &at_maximum, &error)
               : firn_parquet_decode_bit_packed(input, width, maximum, count, levels.data,
                                                &at_maximum, &consumed, &error);
    for (size_t i = 0; status == FIRN_OK && i < count; i++) {
        assert(levels.data[i] <= maximum);
        at_maximum -= levels.data[i] == maximum;
    }
    assert(status != FIRN_OK || at_maximum == 0);
    firn_parquet_scratch_release(&levels);
}

static void run_indices(firn_slice input, size_t limit, size_t count) {
    firn_parquet_scratch indices = {0};
    firn_error error = {0};
    firn_status status = firn_parquet_decode_indices(input, limit, count, &indices, &error);
    const uint32_t *found = (const uint32_t *)(const void *)indices.data;
    for (size_t i = 0; status == FIRN_OK && i < count; i++) assert(found[i] < limit);
    firn_parquet_scratch_release(&indices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5) return 0;
    firn_slice input = firn_slice_of(data + 5, size - 5);
    size_t count = (size_t)data[3] << 8 | data[4];
    switch (data[0] % 16) {
    case 10: run_levels(input, data[1], count, true); break;
    case 11: run_levels(input, data[1], count, false); break;
    case 12: run_indices(input, (size_t)data[1] << (data[2] % 16), count); break;
    default: run_values(input, data[0] % 16, data[1], data[2], count);
    }
    return 0;
}
