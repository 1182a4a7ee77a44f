/* DELTA_BINARY_PACKED (Encodings.md, "Delta Encoding"). Sums wrap around, as the encoding asks for. */
#include "parquet/bit_unpack.h"
#include "parquet/decode.h"

/* Miniblocks hold a multiple of 32 values, so they are decoded by 32. */
#define STEP 32
/* Parquet's writers use 128 in 4 miniblocks; these bounds only keep the widths' list on the stack. */
#define MAXIMUM_MINIBLOCKS 512
#define MAXIMUM_BLOCK ((uint64_t)1 << 32)

typedef struct delta_header {
    size_t miniblocks;
    size_t miniblock_values;
    uint64_t first;
} delta_header;

static uint64_t unzigzag(uint64_t coded) {
    return (coded >> 1) ^ (0 - (coded & 1));
}

static firn_status read_header(firn_slice *encoded, size_t count, delta_header *out,
                               firn_error *error) {
    uint64_t block = 0;
    uint64_t miniblocks = 0;
    uint64_t total = 0;
    uint64_t first = 0;
    if (!firn_parquet_read_varint(encoded, &block) ||
        !firn_parquet_read_varint(encoded, &miniblocks) ||
        !firn_parquet_read_varint(encoded, &total) || !firn_parquet_read_varint(encoded, &first)) {
        return firn_fail(error, FIRN_CORRUPT, "the delta header is cut short");
    }
    if (block == 0 || block % 128 != 0 || block > MAXIMUM_BLOCK || miniblocks == 0 ||
        miniblocks > MAXIMUM_MINIBLOCKS || block % miniblocks != 0 ||
        block / miniblocks % STEP != 0) {
        return firn_fail(error, FIRN_CORRUPT, "delta blocks of %llu values in %llu miniblocks",
                         (unsigned long long)block, (unsigned long long)miniblocks);
    }
    if (total != count) {
        return firn_fail(error, FIRN_CORRUPT, "%llu delta-coded values where %zu are due",
                         (unsigned long long)total, count);
    }
    *out = (delta_header){.miniblocks = (size_t)miniblocks,
                          .miniblock_values = (size_t)(block / miniblocks),
                          .first = unzigzag(first)};
    return FIRN_OK;
}

static inline void store(uint8_t *out, size_t index, size_t value_size, uint64_t value) {
    if (value_size == 4) {
        uint32_t narrow = (uint32_t)value;
        memcpy(out + index * 4, &narrow, 4);
    } else {
        memcpy(out + index * 8, &value, 8);
    }
}

/* Adds up to 32 deltas to *last and stores the sums. `out` is where the first goes. */
static void add_step(firn_slice bytes, unsigned width, uint64_t minimum, size_t count,
                     size_t value_size, uint64_t *last, uint8_t *out) {
    uint64_t sum = *last;
    if (width <= 32) {
        uint32_t deltas[STEP];
        firn_parquet_unpack_32(bytes.data, bytes.size, width, count, deltas);
        for (size_t i = 0; i < count; i++) {
            sum += minimum + deltas[i];
            store(out, i, value_size, sum);
        }
    } else {
        uint64_t deltas[STEP];
        firn_parquet_unpack_64(bytes.data, bytes.size, width, count, deltas);
        for (size_t i = 0; i < count; i++) {
            sum += minimum + deltas[i];
            store(out, i, value_size, sum);
        }
    }
    *last = sum;
}

static firn_status decode_miniblock(firn_slice *encoded, const delta_header *header, unsigned width,
                                    uint64_t minimum, size_t count, size_t value_size,
                                    uint64_t *last, uint8_t *out, firn_error *error) {
    if (width > 64) return firn_fail(error, FIRN_CORRUPT, "a miniblock of %u bits", width);
    /* The last miniblock is to be padded; what counts is that its values are there. */
    if (firn_parquet_packed_size(count, width) > encoded->size) {
        return firn_fail(error, FIRN_CORRUPT, "a miniblock of %zu values of %u bits ends too early",
                         count, width);
    }
    for (size_t done = 0; done < count; done += STEP) {
        size_t step = count - done < STEP ? count - done : STEP;
        size_t skipped = done / 8 * width;
        firn_slice rest = firn_slice_of(encoded->data + skipped, encoded->size - skipped);
        add_step(rest, width, minimum, step, value_size, last, out + done * value_size);
    }
    size_t size = header->miniblock_values / 8 * width;
    if (size > encoded->size) size = encoded->size;
    encoded->data += size;
    encoded->size -= size;
    return FIRN_OK;
}

static firn_status decode_block(firn_slice *encoded, const delta_header *header, size_t count,
                                size_t value_size, uint64_t *last, uint8_t *out,
                                firn_error *error) {
    uint64_t minimum = 0;
    if (!firn_parquet_read_varint(encoded, &minimum) || encoded->size < header->miniblocks) {
        return firn_fail(error, FIRN_CORRUPT, "a delta block is cut short");
    }
    const uint8_t *widths = encoded->data;
    encoded->data += header->miniblocks;
    encoded->size -= header->miniblocks;
    /* Widths of miniblocks without values may be anything, and nothing follows for them. */
    for (size_t i = 0; i < header->miniblocks && count > 0; i++) {
        size_t values = count < header->miniblock_values ? count : header->miniblock_values;
        FIRN_TRY(decode_miniblock(encoded, header, widths[i], unzigzag(minimum), values, value_size,
                                  last, out, error));
        out += values * value_size;
        count -= values;
    }
    return FIRN_OK;
}

firn_status firn_parquet_decode_deltas(firn_slice *encoded, size_t count, size_t value_size,
                                       uint8_t *out, firn_error *error) {
    /* A page without values may have no header either. */
    if (count == 0 && encoded->size == 0) return FIRN_OK;
    delta_header header = {0};
    FIRN_TRY(read_header(encoded, count, &header, error));
    if (count == 0) return FIRN_OK;
    uint64_t last = header.first;
    store(out, 0, value_size, last);
    size_t block = header.miniblocks * header.miniblock_values;
    for (size_t done = 1; done < count;) {
        size_t values = count - done < block ? count - done : block;
        FIRN_TRY(decode_block(encoded, &header, values, value_size, &last, out + done * value_size,
                              error));
        done += values;
    }
    return FIRN_OK;
}

firn_status firn_parquet_decode_delta_binary_packed(firn_slice encoded, size_t count,
                                                    firn_parquet_value_store *value_store,
                                                    firn_parquet_values *out, firn_error *error) {
    FIRN_TRY(firn_parquet_scratch_ensure(&value_store->fixed, count, out->width, error));
    out->count = count;
    out->fixed = value_store->fixed.data;
    return firn_parquet_decode_deltas(&encoded, count, out->width, value_store->fixed.data, error);
}
