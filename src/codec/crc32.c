/*
 * CRC-32 of zlib and gzip (RFC 1952, 8). Where the processor multiplies without carries, data is folded first: 16 bytes times a power of
 * x, modulo the polynomial, stand for themselves further on, so that four lanes of 16 bytes take in 64 bytes at a time. What is left
 * at the end, 16 bytes with the same remainder as all before them, is given to zlib. Every page that is read or written has a sum.
 */
#include <zlib.h>

#include "codec/codec.h"

static uint32_t plain_crc32(uint32_t crc, const uint8_t *data, size_t size) {
    return (uint32_t)crc32_z(crc, data, size);
}

#if defined(__x86_64__)

#include <wmmintrin.h>

#define LANE_SIZE ((size_t)16)
#define STEP_SIZE (4 * LANE_SIZE)
/* Below this nothing is won. */
#define LEAST_FOLDED (2 * STEP_SIZE)

/* x^(n + 32) and x^(n - 32) modulo the polynomial, bits reversed, for n = 512 and n = 128 bits of distance. */
#define OVER_512_LOW 0x154442bd4LL
#define OVER_512_HIGH 0x1c6e41596LL
#define OVER_128_LOW 0x1751997d0LL
#define OVER_128_HIGH 0x0ccaa009eLL

#define FIRN_FOLDING __attribute__((target("pclmul,sse2")))

FIRN_FOLDING static inline __m128i load(const uint8_t *data) {
    return _mm_loadu_si128((const __m128i *)(const void *)data);
}

FIRN_FOLDING static inline __m128i fold(__m128i lane, __m128i over, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(lane, over, 0x00);
    __m128i high = _mm_clmulepi64_si128(lane, over, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* `size` is LEAST_FOLDED at least. */
FIRN_FOLDING static uint32_t folded_crc32(uint32_t crc, const uint8_t *data, size_t size) {
    const __m128i over_512 = _mm_set_epi64x(OVER_512_HIGH, OVER_512_LOW);
    const __m128i over_128 = _mm_set_epi64x(OVER_128_HIGH, OVER_128_LOW);
    /* The register, which zlib hands around inverted, stands for 32 bits in front: they are added to the first. */
    __m128i a = _mm_xor_si128(load(data), _mm_cvtsi32_si128((int)~crc));
    __m128i b = load(data + LANE_SIZE);
    __m128i c = load(data + 2 * LANE_SIZE);
    __m128i d = load(data + 3 * LANE_SIZE);
    for (data += STEP_SIZE, size -= STEP_SIZE; size >= STEP_SIZE; size -= STEP_SIZE) {
        a = fold(a, over_512, load(data));
        b = fold(b, over_512, load(data + LANE_SIZE));
        c = fold(c, over_512, load(data + 2 * LANE_SIZE));
        d = fold(d, over_512, load(data + 3 * LANE_SIZE));
        data += STEP_SIZE;
    }
    a = fold(fold(fold(a, over_128, b), over_128, c), over_128, d);
    for (; size >= LANE_SIZE; size -= LANE_SIZE, data += LANE_SIZE) {
        a = fold(a, over_128, load(data));
    }
    uint8_t rest[LANE_SIZE];
    _mm_storeu_si128((__m128i *)(void *)rest, a);
    /* An empty register is all ones to zlib. */
    return plain_crc32(plain_crc32(UINT32_MAX, rest, sizeof rest), data, size);
}

uint32_t firn_crc32(uint32_t crc, firn_slice data) {
    if (data.size >= LEAST_FOLDED && __builtin_cpu_supports("pclmul")) {
        return folded_crc32(crc, data.data, data.size);
    }
    return data.size == 0 ? crc : plain_crc32(crc, data.data, data.size);
}

#else

uint32_t firn_crc32(uint32_t crc, firn_slice data) {
    return data.size == 0 ? crc : plain_crc32(crc, data.data, data.size);
}

#endif
