/* DELTA_BYTE_ARRAY (Encodings.md, "Delta Strings"): how much each value shares with the one before, and the rest of it. */
#include "parquet/decode.h"

/* A page can describe far more bytes than it has, since a prefix costs nothing: what it may unfold to is bounded. */
#define UNFOLDED_BASE ((uint64_t)64 << 20)
#define UNFOLDED_FACTOR 1024
#define UNFOLDED_MAXIMUM ((uint64_t)2 << 30)

typedef struct parts {
    const int32_t *prefixes;
    const int32_t *suffixes;
    firn_slice bytes; /* of the suffixes */
} parts;

static firn_status read_parts(firn_slice encoded, size_t count, firn_parquet_value_store *store,
                              parts *out, firn_error *error) {
    FIRN_TRY(firn_parquet_scratch_ensure(&store->lengths, count, 2 * sizeof(int32_t), error));
    uint8_t *prefixes = store->lengths.data;
    uint8_t *suffixes = prefixes + count * sizeof(int32_t);
    FIRN_TRY(firn_parquet_decode_deltas(&encoded, count, sizeof(int32_t), prefixes, error));
    FIRN_TRY(firn_parquet_decode_deltas(&encoded, count, sizeof(int32_t), suffixes, error));
    *out = (parts){.prefixes = (const int32_t *)(const void *)prefixes,
                   .suffixes = (const int32_t *)(const void *)suffixes,
                   .bytes = encoded};
    return FIRN_OK;
}

/* Checks every length, and adds up what the values will take. */
static firn_status check_parts(const parts *from, size_t count, size_t encoded_size,
                               uint64_t *total, firn_error *error) {
    uint64_t previous = 0;
    uint64_t suffixes = 0;
    uint64_t limit = UNFOLDED_BASE + (uint64_t)encoded_size * UNFOLDED_FACTOR;
    if (limit > UNFOLDED_MAXIMUM) limit = UNFOLDED_MAXIMUM;
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t prefix = from->prefixes[i];
        int32_t suffix = from->suffixes[i];
        if (prefix < 0 || suffix < 0 || (uint64_t)prefix > previous) {
            return firn_fail(error, FIRN_CORRUPT,
                             "value %zu: prefix %d and suffix %d after a value of %llu bytes", i,
                             (int)prefix, (int)suffix, (unsigned long long)previous);
        }
        suffixes += (uint64_t)suffix;
        previous = (uint64_t)prefix + (uint64_t)suffix;
        *total += previous;
        if (suffixes > from->bytes.size) {
            return firn_fail(error, FIRN_CORRUPT, "the suffixes end at value %zu of %zu", i, count);
        }
        if (*total > limit) {
            return firn_fail(error, FIRN_LIMIT, "the values of one page take more than %llu bytes",
                             (unsigned long long)limit);
        }
    }
    return FIRN_OK;
}

static firn_status check_width(const parts *from, size_t count, uint32_t width, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        if ((uint64_t)from->prefixes[i] + (uint64_t)from->suffixes[i] == width) continue;
        return firn_fail(error, FIRN_CORRUPT, "value %zu has %d and %d bytes where %u are due", i,
                         (int)from->prefixes[i], (int)from->suffixes[i], (unsigned)width);
    }
    return FIRN_OK;
}

/* Values come to lie behind one another, so each prefix is copied from just before. */
static void unfold(const parts *from, size_t count, uint8_t *out, firn_slice *slices) {
    const uint8_t *suffix_bytes = from->bytes.data;
    const uint8_t *previous = out;
    for (size_t i = 0; i < count; i++) {
        size_t prefix = (size_t)from->prefixes[i];
        size_t suffix = (size_t)from->suffixes[i];
        memcpy(out, previous, prefix);
        if (suffix > 0) memcpy(out + prefix, suffix_bytes, suffix);
        suffix_bytes += suffix;
        if (slices != NULL) slices[i] = firn_slice_of(out, prefix + suffix);
        previous = out;
        out += prefix + suffix;
    }
}

firn_status firn_parquet_decode_delta_byte_array(firn_slice encoded, size_t count,
                                                 firn_parquet_value_store *store,
                                                 firn_parquet_values *out, firn_error *error) {
    parts from = {0};
    uint64_t total = 0;
    FIRN_TRY(read_parts(encoded, count, store, &from, error));
    FIRN_TRY(check_parts(&from, count, encoded.size, &total, error));
    FIRN_TRY(firn_parquet_scratch_ensure(&store->bytes, (size_t)total, 1, error));
    out->count = count;
    if (out->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        FIRN_TRY(check_width(&from, count, out->width, error));
        unfold(&from, count, store->bytes.data, NULL);
        out->fixed = store->bytes.data;
        return FIRN_OK;
    }
    FIRN_TRY(firn_parquet_scratch_ensure(&store->slices, count, sizeof(firn_slice), error));
    firn_slice *slices = (firn_slice *)(void *)store->slices.data;
    unfold(&from, count, store->bytes.data, slices);
    out->slices = slices;
    return FIRN_OK;
}
