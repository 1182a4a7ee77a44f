/*
 * The RLE / bit-packed hybrid of Encodings.md. Runs are looked for only where a group of eight begins, so that a literal
 * run always ends on a full group and only the last group of all is padded.
 */
#include "base/bytes.h"
#include "parquet/encode.h"

/* The shortest run that is written as one: below, its header and the next literal's cost more than they save. */
static size_t shortest_run(uint32_t bit_width) {
    if (bit_width == 1) return 32;
    return bit_width == 2 ? 16 : 8;
}

static uint8_t *put_run(uint8_t *to, uint32_t value, size_t count, uint32_t bit_width) {
    to = firn_parquet_put_varint(to, (uint64_t)count << 1);
    for (uint32_t bits = 0; bits < bit_width; bits += 8) *to++ = (uint8_t)(value >> bits);
    return to;
}

/* Eight values take bit_width bytes; each group may also end a run: two headers and a value, 15 bytes at most. */
static firn_status reserve_hybrid(size_t count, uint32_t bit_width, firn_buffer *out,
                                  firn_error *error) {
    if (count > INT32_MAX) {
        return firn_fail(error, FIRN_LIMIT, "%zu values do not fit a page", count);
    }
    return firn_buffer_reserve(out, (count / 8 + 1) * (bit_width + 15U), error);
}

/* Four values of it fit 64 bits. */
#define WIDEST_GROUPED 16

/* Whether eight values are the same: without a branch for each, which would often be foreseen wrongly. */
static inline bool same_uint8_t(const uint8_t *group) {
    uint64_t all;
    memcpy(&all, group, sizeof all);
    return all == group[0] * UINT64_C(0x0101010101010101);
}

static inline bool same_uint32_t(const uint32_t *group) {
    uint32_t first = group[0];
    if (group[1] != first || group[7] != first) return false;
    return group[2] == first && group[3] == first && group[4] == first && group[5] == first &&
           group[6] == first;
}

/*
 * group_##T: eight values of at most 16 bits; 16 bytes are written, of which bit_width count.
 * pack_##T: groups of eight at `from`, bit_width bytes each, lowest bit first. `count` may end within the last group.
 * hybrid_##T: the whole encoder.
 */
#define FIRN_DEFINE_HYBRID(T)                                                                      \
    static inline uint64_t four_##T(const T *from, uint32_t bit_width) {                           \
        return from[0] | (uint64_t)from[1] << bit_width | (uint64_t)from[2] << 2 * bit_width |     \
               (uint64_t)from[3] << 3 * bit_width;                                                 \
    }                                                                                              \
                                                                                                   \
    static inline uint8_t *group_##T(const T *from, uint32_t bit_width, uint8_t *to) {             \
        unsigned __int128 high = four_##T(from + 4, bit_width);                                    \
        unsigned __int128 all = four_##T(from, bit_width) | high << 4 * bit_width;                 \
        memcpy(to, &all, sizeof all);                                                              \
        return to + bit_width;                                                                     \
    }                                                                                              \
                                                                                                   \
    static uint8_t *pack_##T(const T *from, size_t count, uint32_t bit_width, uint8_t *to) {       \
        for (; bit_width <= WIDEST_GROUPED && count >= 8; count -= 8, from += 8) {                 \
            to = group_##T(from, bit_width, to);                                                   \
        }                                                                                          \
        uint64_t bits = 0;                                                                         \
        uint32_t filled = 0;                                                                       \
        for (size_t i = 0; i < count; i++) {                                                       \
            bits |= (uint64_t)from[i] << filled;                                                   \
            filled += bit_width;                                                                   \
            if (filled >= 32) {                                                                    \
                uint32_t word = (uint32_t)bits;                                                    \
                memcpy(to, &word, sizeof word);                                                    \
                to += sizeof word;                                                                 \
                bits >>= 32;                                                                       \
                filled -= 32;                                                                      \
            }                                                                                      \
        }                                                                                          \
        filled += (uint32_t)((8 - count % 8) % 8) * bit_width;                                     \
        for (; filled >= 8; filled -= 8, bits >>= 8) *to++ = (uint8_t)bits;                        \
        return to;                                                                                 \
    }                                                                                              \
                                                                                                   \
    static uint8_t *literals_##T(const T *from, size_t count, uint32_t bit_width, uint8_t *to) {   \
        if (count == 0) return to;                                                                 \
        to = firn_parquet_put_varint(to, (uint64_t)((count + 7) / 8) << 1 | 1);                    \
        return pack_##T(from, count, bit_width, to);                                               \
    }                                                                                              \
                                                                                                   \
    static uint8_t *hybrid_##T(const T *values, size_t count, uint32_t bit_width, uint8_t *to) {   \
        if (count == 0) return to; /* `values` may be NULL */                                      \
        size_t shortest = shortest_run(bit_width);                                                 \
        size_t literal = 0;                                                                        \
        size_t i = 0;                                                                              \
        while (count - i >= 8) {                                                                   \
            if (!same_##T(values + i)) {                                                           \
                i += 8;                                                                            \
                continue;                                                                          \
            }                                                                                      \
            size_t end = i + 8;                                                                    \
            while (end < count && values[end] == values[i]) end++;                                 \
            if (end - i < shortest) {                                                              \
                i += (end - i) / 8 * 8;                                                            \
                continue;                                                                          \
            }                                                                                      \
            to = literals_##T(values + literal, i - literal, bit_width, to);                       \
            to = put_run(to, values[i], end - i, bit_width);                                       \
            i = end;                                                                               \
            literal = end;                                                                         \
        }                                                                                          \
        return literals_##T(values + literal, count - literal, bit_width, to);                     \
    }

FIRN_DEFINE_HYBRID(uint8_t)
FIRN_DEFINE_HYBRID(uint32_t)

firn_status firn_parquet_encode_hybrid_bytes(const uint8_t *values, size_t count,
                                             uint32_t bit_width, firn_buffer *out,
                                             firn_error *error) {
    FIRN_TRY(reserve_hybrid(count, bit_width, out, error));
    uint8_t *end = hybrid_uint8_t(values, count, bit_width, out->data + out->size);
    out->size = (size_t)(end - out->data);
    return FIRN_OK;
}

firn_status firn_parquet_encode_hybrid_run(uint32_t value, size_t count, uint32_t bit_width,
                                           firn_buffer *out, firn_error *error) {
    if (count == 0) return FIRN_OK;
    FIRN_TRY(reserve_hybrid(8, bit_width, out, error));
    uint8_t *end = put_run(out->data + out->size, value, count, bit_width);
    out->size = (size_t)(end - out->data);
    return FIRN_OK;
}

firn_status firn_parquet_encode_hybrid_indices(const uint32_t *values, size_t count,
                                               uint32_t bit_width, firn_buffer *out,
                                               firn_error *error) {
    FIRN_TRY(reserve_hybrid(count, bit_width, out, error));
    uint8_t *end = hybrid_uint32_t(values, count, bit_width, out->data + out->size);
    out->size = (size_t)(end - out->data);
    return FIRN_OK;
}
