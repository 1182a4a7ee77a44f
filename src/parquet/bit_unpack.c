#include "parquet/bit_unpack.h"

#include <string.h>

/* The build is for little-endian machines only, so bytes are loaded as they lie. */
static inline uint64_t load_64(const uint8_t *in) {
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return value;
}

/* Eight values of one width: constant shifts and masks, one load per value (the compiler joins some). */
#define VALUE_32(width, i)                                                                         \
    out[i] = (uint32_t)(load_64(in + (i) * (width) / 8) >> ((i) * (width) % 8)) &                  \
             (uint32_t)(((uint64_t)1 << (width)) - 1)

#define DEFINE_UNPACK_32(width)                                                                    \
    static void unpack_32_##width(const uint8_t *in, size_t groups, uint32_t *out) {               \
        for (; groups > 0; groups--, in += (width), out += 8) {                                    \
            VALUE_32(width, 0);                                                                    \
            VALUE_32(width, 1);                                                                    \
            VALUE_32(width, 2);                                                                    \
            VALUE_32(width, 3);                                                                    \
            VALUE_32(width, 4);                                                                    \
            VALUE_32(width, 5);                                                                    \
            VALUE_32(width, 6);                                                                    \
            VALUE_32(width, 7);                                                                    \
        }                                                                                          \
    }

/* Up to eight bits, one load holds all eight values. */
#define VALUE_8(width, i) out[i] = (uint8_t)(bits >> ((i) * (width)) & ((1U << (width)) - 1))

#define DEFINE_UNPACK_8(width)                                                                     \
    static void unpack_8_##width(const uint8_t *in, size_t groups, uint8_t *out) {                 \
        for (; groups > 0; groups--, in += (width), out += 8) {                                    \
            uint64_t bits = load_64(in);                                                           \
            VALUE_8(width, 0);                                                                     \
            VALUE_8(width, 1);                                                                     \
            VALUE_8(width, 2);                                                                     \
            VALUE_8(width, 3);                                                                     \
            VALUE_8(width, 4);                                                                     \
            VALUE_8(width, 5);                                                                     \
            VALUE_8(width, 6);                                                                     \
            VALUE_8(width, 7);                                                                     \
        }                                                                                          \
    }

/* Formatting these lists is not stable. */
/* clang-format off */
#define EACH_WIDTH_TO_8(X) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define EACH_WIDTH_TO_32(X)                                                                        \
    X(1) EACH_WIDTH_TO_8(X) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19)       \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
/* clang-format on */

EACH_WIDTH_TO_32(DEFINE_UNPACK_32)
EACH_WIDTH_TO_8(DEFINE_UNPACK_8)

/* One bit per value: each byte is spread over eight by copying it and picking another bit of each copy. */
static void unpack_8_1(const uint8_t *in, size_t groups, uint8_t *out) {
    for (size_t i = 0; i < groups; i++, out += 8) {
        uint64_t copies = in[i] * UINT64_C(0x0101010101010101);
        uint64_t picked = copies & UINT64_C(0x8040201008040201);
        /* Adding 0x7F carries into the top bit of each byte that is not 0, and never further. */
        uint64_t spread =
            (((picked & UINT64_C(0x7F7F7F7F7F7F7F7F)) + UINT64_C(0x7F7F7F7F7F7F7F7F)) | picked) >>
                7 &
            UINT64_C(0x0101010101010101);
        memcpy(out, &spread, sizeof spread);
    }
}

#define ENTRY_32(width) unpack_32_##width,
#define ENTRY_8(width) unpack_8_##width,
static void (*const unpackers_32[])(const uint8_t *, size_t,
                                    uint32_t *) = {NULL, EACH_WIDTH_TO_32(ENTRY_32)};
static void (*const unpackers_8[])(const uint8_t *, size_t, uint8_t *) = {NULL, unpack_8_1,
                                                                          EACH_WIDTH_TO_8(ENTRY_8)};

/* Groups of eight values whose loads of eight bytes stay within `size`. */
static size_t safe_groups(size_t size, unsigned width, size_t groups) {
    size_t last_load = 7 * width / 8 + 8;
    if (size < last_load) return 0;
    size_t safe = (size - last_load) / width + 1;
    return safe < groups ? safe : groups;
}

void firn_parquet_unpack_bytes(const uint8_t *in, size_t size, unsigned width, size_t count,
                               uint8_t *out) {
    size_t groups = (count + 7) / 8;
    size_t safe = width == 1 ? count / 8 : safe_groups(size, width, groups);
    unpackers_8[width](in, safe, out);
    for (size_t i = safe; i < groups; i++) {
        uint8_t tail[16] = {0};
        size_t left = size - i * width;
        memcpy(tail, in + i * width, left < width ? left : width);
        unpackers_8[width](tail, 1, out + i * 8);
    }
}

void firn_parquet_unpack_32(const uint8_t *in, size_t size, unsigned width, size_t count,
                            uint32_t *out) {
    size_t groups = (count + 7) / 8;
    if (width == 0) {
        memset(out, 0, groups * 8 * sizeof *out);
        return;
    }
    size_t safe = safe_groups(size, width, groups);
    unpackers_32[width](in, safe, out);
    for (size_t i = safe; i < groups; i++) {
        uint8_t tail[32 + 8] = {0};
        size_t left = size - i * width;
        memcpy(tail, in + i * width, left < width ? left : width);
        unpackers_32[width](tail, 1, out + i * 8);
    }
}

void firn_parquet_unpack_64(const uint8_t *in, size_t size, unsigned width, size_t count,
                            uint64_t *out) {
    if (width == 0) {
        memset(out, 0, count * sizeof *out);
        return;
    }
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    for (size_t i = 0; i < count; i++) {
        size_t bit = i * width;
        uint8_t bytes[16] = {0};
        size_t left = size - bit / 8;
        memcpy(bytes, in + bit / 8, left < 9 ? left : 9);
        unsigned shift = bit % 8;
        uint64_t value = load_64(bytes) >> shift;
        /* Shifted in two steps, since a shift by 64 is undefined. */
        value |= (uint64_t)bytes[8] << (63 - shift) << 1;
        out[i] = value & mask;
    }
}
