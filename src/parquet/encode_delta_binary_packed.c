/*
 * DELTA_BINARY_PACKED (Encodings.md, "Delta Encoding"), in the blocks that Parquet's writers use: 128 values in 4 miniblocks. Differences
 * wrap around in the width of the type, so that those of 4 bytes never take more than 32 bits.
 */
#include <assert.h>

#include "base/bytes.h"
#include "parquet/encode.h"

#define BLOCK ((size_t)128)
#define MINIBLOCK ((size_t)32)
#define MINIBLOCKS (BLOCK / MINIBLOCK)
#define LONGEST_VARINT ((size_t)10)
/* Four numbers of the header; then of each block its least difference and the widths, beside the differences themselves. */
#define HEADER_ROOM (4 * LONGEST_VARINT)
#define BLOCK_OVERHEAD (LONGEST_VARINT + MINIBLOCKS)

static uint64_t zigzag(int64_t value) {
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

/* Differences of `count` values of 4 bytes to the one before each; there is one in front of `plain`. */
static void differences_4(const uint8_t *plain, size_t count, int64_t *out) {
    uint32_t last = firn_load_le32(plain - 4);
    for (size_t i = 0; i < count; i++) {
        uint32_t value = firn_load_le32(plain + 4 * i);
        out[i] = (int32_t)(value - last);
        last = value;
    }
}

static void differences_8(const uint8_t *plain, size_t count, int64_t *out) {
    uint64_t last = firn_load_le64(plain - 8);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = firn_load_le64(plain + 8 * i);
        out[i] = (int64_t)(value - last);
        last = value;
    }
}

static int64_t least_of(const int64_t *values, size_t count) {
    int64_t least = values[0];
    for (size_t i = 1; i < count; i++) least = values[i] < least ? values[i] : least;
    return least;
}

/* A miniblock of values below 1 << width, lowest bits first, in width * MINIBLOCK / 8 bytes. */
static uint8_t *pack(const uint64_t *values, unsigned width, uint8_t *to) {
    uint64_t word = 0;
    unsigned filled = 0;
    if (width == 0) return to;
    for (size_t i = 0; i < MINIBLOCK; i++) {
        word |= values[i] << filled;
        filled += width;
        if (filled < 64) continue;
        firn_store_le64(to, word);
        to += 8;
        filled -= 64;
        word = filled == 0 ? 0 : values[i] >> (width - filled);
    }
    if (filled == 0) return to;
    firn_store_le32(to, (uint32_t)word); /* what is left of 32 values is a half of the word */
    return to + 4;
}

static unsigned width_of(const uint64_t *values) {
    uint64_t bits = 0;
    for (size_t i = 0; i < MINIBLOCK; i++) bits |= values[i];
    return bits == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bits);
}

/* Behind the last value the block is filled with its least difference, which becomes zeros. */
static uint8_t *put_block(int64_t *differences, size_t count, uint8_t *to) {
    uint64_t relative[BLOCK] = {0};
    int64_t least = least_of(differences, count);
    for (size_t i = 0; i < count; i++) {
        relative[i] = (uint64_t)differences[i] - (uint64_t)least;
    }
    to = firn_parquet_put_varint(to, zigzag(least));
    uint8_t *widths = to;
    to += MINIBLOCKS;
    for (size_t i = 0; i < MINIBLOCKS; i++) {
        const uint64_t *values = relative + i * MINIBLOCK;
        widths[i] = (uint8_t)(i * MINIBLOCK < count ? width_of(values) : 0);
        to = pack(values, widths[i], to);
    }
    return to;
}

static int64_t first_of(const uint8_t *plain, size_t width) {
    return width == 4 ? (int32_t)firn_load_le32(plain) : (int64_t)firn_load_le64(plain);
}

firn_status firn_parquet_encode_delta_binary_packed(firn_slice plain, size_t width, size_t count,
                                                    firn_buffer *out, firn_error *error) {
    assert((width == 4 || width == 8) && plain.size == count * width);
    size_t blocks = count / BLOCK + 1;
    FIRN_TRY(
        firn_buffer_reserve(out, HEADER_ROOM + blocks * (BLOCK_OVERHEAD + BLOCK * width), error));
    uint8_t *to = out->data + out->size;
    to = firn_parquet_put_varint(to, BLOCK);
    to = firn_parquet_put_varint(to, MINIBLOCKS);
    to = firn_parquet_put_varint(to, count);
    to = firn_parquet_put_varint(to, count == 0 ? 0 : zigzag(first_of(plain.data, width)));
    for (size_t done = 1; done < count; done += BLOCK) {
        int64_t differences[BLOCK];
        size_t values = count - done < BLOCK ? count - done : BLOCK;
        if (width == 4) {
            differences_4(plain.data + 4 * done, values, differences);
        } else {
            differences_8(plain.data + 8 * done, values, differences);
        }
        to = put_block(differences, values, to);
    }
    out->size = (size_t)(to - out->data);
    return FIRN_OK;
}
