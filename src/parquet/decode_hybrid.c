/* RLE / bit-packed hybrid (Encodings.md, "Run Length Encoding / Bit-Packing Hybrid"). */
#include "parquet/bit_unpack.h"
#include "parquet/decode.h"

/* Values unpacked before their range is looked at, so that they are still in the nearest cache. */
#define BLOCK 2048

typedef struct run {
    size_t count; /* at most what is still wanted */
    bool packed;
    uint32_t value; /* not packed */
    firn_slice
        bytes; /* packed: may hold more than `count`, or, in the last run, less than whole groups */
} run;

static firn_status read_packed(firn_slice *encoded, uint64_t groups, unsigned width, size_t wanted,
                               run *out, firn_error *error) {
    out->packed = true;
    out->count = groups >= (wanted + 7) / 8 ? wanted : (size_t)groups * 8;
    /* Some writers leave out the padding of the last group: what counts is that the values are there. */
    if (firn_parquet_packed_size(out->count, width) > encoded->size) {
        return firn_fail(error, FIRN_CORRUPT, "a bit-packed run of %llu values ends too early",
                         (unsigned long long)(groups * 8));
    }
    size_t size = groups > encoded->size / width ? encoded->size : (size_t)groups * width;
    out->bytes = firn_slice_of(encoded->data, size);
    encoded->data += size;
    encoded->size -= size;
    return FIRN_OK;
}

static firn_status read_run(firn_slice *encoded, unsigned width, size_t wanted, run *out,
                            firn_error *error) {
    uint64_t header = 0;
    if (!firn_parquet_read_varint(encoded, &header)) {
        return firn_fail(error, FIRN_CORRUPT, "the runs end %zu values too early", wanted);
    }
    if ((header & 1) != 0) return read_packed(encoded, header >> 1, width, wanted, out, error);
    size_t size = (width + 7) / 8;
    if (size > encoded->size) {
        return firn_fail(error, FIRN_CORRUPT, "a run's value is cut short");
    }
    out->packed = false;
    out->count = header >> 1 > wanted ? wanted : (size_t)(header >> 1);
    out->value = 0;
    for (size_t i = 0; i < size; i++) out->value |= (uint32_t)encoded->data[i] << (8 * i);
    encoded->data += size;
    encoded->size -= size;
    return FIRN_OK;
}

/* How many of the bytes are `maximum`, and whether any is above it. Steps of 64 for the vectoriser. */
static size_t count_maximum(const uint8_t *values, size_t count, uint8_t maximum, bool *above) {
    size_t found = 0;
    uint8_t highest = 0;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint8_t equal = 0;
        for (size_t j = 0; j < 64; j++) {
            uint8_t value = values[i + j];
            equal = (uint8_t)(equal + (value == maximum));
            highest = value > highest ? value : highest;
        }
        found += equal;
    }
    for (; i < count; i++) {
        found += values[i] == maximum;
        highest = values[i] > highest ? values[i] : highest;
    }
    *above = highest > maximum;
    return found;
}

static firn_status level_above(firn_error *error, uint8_t maximum) {
    return firn_fail(error, FIRN_CORRUPT, "a level is above the column's maximum, %u",
                     (unsigned)maximum);
}

static firn_status unpack_levels(const run *packed, unsigned width, uint8_t maximum, uint8_t *out,
                                 size_t *at_maximum, firn_error *error) {
    for (size_t done = 0; done < packed->count; done += BLOCK) {
        size_t count = packed->count - done < BLOCK ? packed->count - done : BLOCK;
        size_t skipped = done / 8 * width;
        firn_parquet_unpack_bytes(packed->bytes.data + skipped, packed->bytes.size - skipped, width,
                                  count, out + done);
        bool above = false;
        *at_maximum += count_maximum(out + done, count, maximum, &above);
        if (above) return level_above(error, maximum);
    }
    return FIRN_OK;
}

firn_status firn_parquet_decode_hybrid_bytes(firn_slice encoded, unsigned width, uint8_t maximum,
                                             size_t count, uint8_t *out, size_t *at_maximum,
                                             firn_error *error) {
    *at_maximum = 0;
    while (count > 0) {
        run next = {0};
        FIRN_TRY(read_run(&encoded, width, count, &next, error));
        if (next.packed) {
            FIRN_TRY(unpack_levels(&next, width, maximum, out, at_maximum, error));
        } else {
            if (next.value > maximum) return level_above(error, maximum);
            memset(out, (int)next.value, next.count);
            if (next.value == maximum) *at_maximum += next.count;
        }
        out += next.count;
        count -= next.count;
    }
    return FIRN_OK;
}

static firn_status index_above(firn_error *error, uint32_t index, size_t limit) {
    return firn_fail(error, FIRN_CORRUPT, "index %u into a dictionary of %zu", (unsigned)index,
                     limit);
}

/* Two running maxima, so that one does not wait for the other. */
static uint32_t highest_of(const uint32_t *values, size_t count) {
    uint32_t even = 0;
    uint32_t odd = 0;
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        even = values[i] > even ? values[i] : even;
        odd = values[i + 1] > odd ? values[i + 1] : odd;
    }
    if (i < count) even = values[i] > even ? values[i] : even;
    return even > odd ? even : odd;
}

static firn_status unpack_indices(const run *packed, unsigned width, size_t limit, uint32_t *out,
                                  firn_error *error) {
    bool all_fit = width < 32 && (size_t)1 << width <= limit;
    for (size_t done = 0; done < packed->count; done += BLOCK) {
        size_t count = packed->count - done < BLOCK ? packed->count - done : BLOCK;
        size_t skipped = done / 8 * width;
        firn_parquet_unpack_32(packed->bytes.data + skipped, packed->bytes.size - skipped, width,
                               count, out + done);
        if (all_fit) continue;
        uint32_t highest = highest_of(out + done, count);
        if (highest >= limit) return index_above(error, highest, limit);
    }
    return FIRN_OK;
}

firn_status firn_parquet_decode_hybrid_indices(firn_slice encoded, unsigned width, size_t limit,
                                               size_t count, uint32_t *out, firn_error *error) {
    if (count > 0 && limit == 0) return index_above(error, 0, limit);
    if (width == 0) {
        /* Only 0 has no bits; some writers then leave out the runs as well. */
        if (count > 0) memset(out, 0, count * sizeof *out);
        return FIRN_OK;
    }
    while (count > 0) {
        run next = {0};
        FIRN_TRY(read_run(&encoded, width, count, &next, error));
        if (next.packed) {
            FIRN_TRY(unpack_indices(&next, width, limit, out, error));
        } else {
            if (next.value >= limit) return index_above(error, next.value, limit);
            for (size_t i = 0; i < next.count; i++) out[i] = next.value;
        }
        out += next.count;
        count -= next.count;
    }
    return FIRN_OK;
}

firn_status firn_parquet_decode_indices(firn_slice encoded, size_t dictionary_count, size_t count,
                                        firn_parquet_scratch *out, firn_error *error) {
    FIRN_TRY(firn_parquet_scratch_ensure(out, count, sizeof(uint32_t), error));
    /* A page of nulls alone may have no bytes at all. */
    if (count == 0) return FIRN_OK;
    if (encoded.size == 0) {
        return firn_fail(error, FIRN_CORRUPT, "the dictionary indices' bit width is missing");
    }
    unsigned width = encoded.data[0];
    if (width > 32) {
        return firn_fail(error, FIRN_CORRUPT, "dictionary indices of %u bits", width);
    }
    firn_slice runs = firn_slice_of(encoded.data + 1, encoded.size - 1);
    return firn_parquet_decode_hybrid_indices(runs, width, dictionary_count, count,
                                              (uint32_t *)(void *)out->data, error);
}

firn_status firn_parquet_decode_rle_boolean(firn_slice encoded, size_t count,
                                            firn_parquet_value_store *store,
                                            firn_parquet_values *out, firn_error *error) {
    FIRN_TRY(firn_parquet_scratch_ensure(&store->fixed, count, 1, error));
    out->count = count;
    out->fixed = store->fixed.data;
    if (count == 0) return FIRN_OK;
    /* The four bytes of length are there in both page versions. */
    if (encoded.size < 4) return firn_fail(error, FIRN_CORRUPT, "the runs' length is missing");
    uint64_t length = (uint64_t)encoded.data[0] | (uint64_t)encoded.data[1] << 8 |
                      (uint64_t)encoded.data[2] << 16 | (uint64_t)encoded.data[3] << 24;
    if (length > encoded.size - 4) {
        return firn_fail(error, FIRN_CORRUPT, "runs of %llu bytes in a page with %zu left",
                         (unsigned long long)length, encoded.size - 4);
    }
    size_t ones = 0;
    return firn_parquet_decode_hybrid_bytes(firn_slice_of(encoded.data + 4, (size_t)length), 1, 1,
                                            count, store->fixed.data, &ones, error);
}
