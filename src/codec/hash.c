#include "base/bytes.h"
#include "codec/codec.h"

static inline uint32_t rotate32(uint32_t value, int bits) {
    return value << bits | value >> (32 - bits);
}

static inline uint32_t murmur3_scramble(uint32_t word) {
    return rotate32(word * 0xcc9e2d51U, 15) * 0x1b873593U;
}

uint32_t firn_murmur3_32(firn_slice data) {
    uint32_t hash = 0;
    size_t words = data.size / 4;
    for (size_t i = 0; i < words; i++) {
        hash ^= murmur3_scramble(firn_load_le32(data.data + 4 * i));
        hash = rotate32(hash, 13) * 5 + 0xe6546b64U;
    }
    uint32_t tail = 0;
    for (size_t i = data.size % 4; i > 0; i--) tail = tail << 8 | data.data[4 * words + i - 1];
    if (data.size % 4 != 0) hash ^= murmur3_scramble(tail);
    /* The algorithm takes the length modulo 2^32. */
    hash ^= (uint32_t)data.size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bU;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
    return hash ^ hash >> 16;
}

#define XXH_PRIME_1 0x9E3779B185EBCA87U
#define XXH_PRIME_2 0xC2B2AE3D27D4EB4FU
#define XXH_PRIME_3 0x165667B19E3779F9U
#define XXH_PRIME_4 0x85EBCA77C2B2AE63U
#define XXH_PRIME_5 0x27D4EB2F165667C5U

static inline uint64_t rotate64(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

static inline uint64_t xxh_round(uint64_t lane, uint64_t input) {
    return rotate64(lane + input * XXH_PRIME_2, 31) * XXH_PRIME_1;
}

/* Whole stripes of 32 bytes in four lanes; `p` moves past them. */
static uint64_t xxh_stripes(const uint8_t **p, const uint8_t *end) {
    uint64_t lanes[4] = {XXH_PRIME_1 + XXH_PRIME_2, XXH_PRIME_2, 0, 0U - XXH_PRIME_1};
    for (; end - *p >= 32; *p += 32) {
        for (int i = 0; i < 4; i++) lanes[i] = xxh_round(lanes[i], firn_load_le64(*p + 8 * i));
    }
    uint64_t hash = rotate64(lanes[0], 1) + rotate64(lanes[1], 7) + rotate64(lanes[2], 12) +
                    rotate64(lanes[3], 18);
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ xxh_round(0, lanes[i])) * XXH_PRIME_1 + XXH_PRIME_4;
    }
    return hash;
}

uint64_t firn_xxhash64(firn_slice data) {
    static const uint8_t nothing[1];
    const uint8_t *p = data.size == 0 ? nothing : data.data;
    const uint8_t *end = p + data.size;
    uint64_t hash = data.size >= 32 ? xxh_stripes(&p, end) : XXH_PRIME_5;
    hash += (uint64_t)data.size;
    for (; end - p >= 8; p += 8) {
        hash ^= xxh_round(0, firn_load_le64(p));
        hash = rotate64(hash, 27) * XXH_PRIME_1 + XXH_PRIME_4;
    }
    if (end - p >= 4) {
        hash ^= (uint64_t)firn_load_le32(p) * XXH_PRIME_1;
        hash = rotate64(hash, 23) * XXH_PRIME_2 + XXH_PRIME_3;
        p += 4;
    }
    for (; p < end; p++) hash = rotate64(hash ^ *p * XXH_PRIME_5, 11) * XXH_PRIME_1;
    hash = (hash ^ hash >> 33) * XXH_PRIME_2;
    hash = (hash ^ hash >> 29) * XXH_PRIME_3;
    return hash ^ hash >> 32;
}
