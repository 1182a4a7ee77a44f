/* BIT_PACKED levels (Encodings.md, "Bit-packed (Deprecated)"): no runs, no length, highest bits first. */
#include "parquet/bit_unpack.h"
#include "parquet/decode.h"

firn_status firn_parquet_decode_bit_packed(firn_slice encoded, unsigned width, uint8_t maximum,
                                           size_t count, uint8_t *out, size_t *at_maximum,
                                           size_t *consumed, firn_error *error) {
    size_t size = firn_parquet_packed_size(count, width);
    if (size > encoded.size) {
        return firn_fail(error, FIRN_CORRUPT, "%zu bytes of bit-packed levels in a page with %zu",
                         size, encoded.size);
    }
    uint32_t mask = (1U << width) - 1;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bit = i * width;
        /* Two bytes hold any value of up to eight bits. */
        uint32_t window = (uint32_t)encoded.data[bit / 8] << 8;
        if (bit / 8 + 1 < size) window |= encoded.data[bit / 8 + 1];
        uint32_t value = window >> (16 - bit % 8 - width) & mask;
        if (value > maximum) {
            return firn_fail(error, FIRN_CORRUPT, "a level is above the column's maximum, %u",
                             (unsigned)maximum);
        }
        out[i] = (uint8_t)value;
        found += value == maximum;
    }
    *at_maximum = found;
    *consumed = size;
    return FIRN_OK;
}
