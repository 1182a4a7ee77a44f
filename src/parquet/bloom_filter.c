#include "parquet/bloom_filter.h"

#include <math.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "codec/codec.h"
#include "parquet/thrift_read.h"
#include "parquet/thrift_write.h"

#define BLOCK FIRN_PARQUET_BLOOM_BLOCK_SIZE
#define WORDS 8

/* BloomFilter.md, "Technical Approach". */
static const uint32_t salt[WORDS] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                     0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

static size_t block_of(uint64_t hash, size_t block_count) {
    return (size_t)(((hash >> 32) * (uint64_t)block_count) >> 32);
}

static uint32_t mask_of(uint64_t hash, int word) {
    return UINT32_C(1) << (((uint32_t)hash * salt[word]) >> 27);
}

uint64_t firn_parquet_bloom_hash(firn_slice plain) {
    return firn_xxhash64(plain);
}

bool firn_parquet_bloom_filter_check(const firn_parquet_bloom_filter *filter, uint64_t hash) {
    const uint8_t *block = filter->blocks + BLOCK * block_of(hash, filter->block_count);
    for (int i = 0; i < WORDS; i++) {
        if ((firn_load_le32(block + 4 * i) & mask_of(hash, i)) == 0) return false;
    }
    return true;
}

/* A union whose one known member is number 1 and has no fields of interest. */
static firn_status read_union(firn_thrift_reader *reader, const firn_thrift_field *field,
                              const char *what, firn_error *error) {
    firn_thrift_field member = {0};
    int16_t id = 0;
    FIRN_TRY(firn_thrift_struct(reader, field, what, error));
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &member, error));
        if (member.type == FIRN_THRIFT_STOP) break;
        id = member.id;
        FIRN_TRY(firn_thrift_skip(reader, member.type, error));
    }
    if (id == 1) return FIRN_OK;
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: a Bloom filter with %s %d", reader->name, what,
                     (int)id);
}

static firn_status read_header(firn_thrift_reader *reader, int32_t *size, firn_error *error) {
    firn_thrift_field field = {0};
    for (;;) {
        FIRN_TRY(firn_thrift_next(reader, &field, error));
        if (field.type == FIRN_THRIFT_STOP) break;
        switch (field.id) {
        case 1: FIRN_TRY(firn_thrift_i32(reader, &field, "numBytes", size, error)); break;
        case 2: FIRN_TRY(read_union(reader, &field, "algorithm", error)); break;
        case 3: FIRN_TRY(read_union(reader, &field, "hash", error)); break;
        case 4: FIRN_TRY(read_union(reader, &field, "compression", error)); break;
        default: FIRN_TRY(firn_thrift_skip(reader, field.type, error));
        }
    }
    static const char *const names[] = {"numBytes", "algorithm", "hash", "compression"};
    for (int id = 1; id <= 4; id++) {
        FIRN_TRY(firn_thrift_require(reader, &field, id, names[id - 1], error));
    }
    if (*size >= BLOCK && *size % BLOCK == 0 && *size <= FIRN_PARQUET_BLOOM_MAXIMUM_SIZE) {
        return FIRN_OK;
    }
    return firn_thrift_fail(reader, "numBytes", error, "a Bloom filter of %d bytes", *size);
}

firn_status firn_parquet_bloom_header_parse(firn_slice bytes, uint64_t file_offset,
                                            const char *name, size_t *header_size,
                                            size_t *bitset_size, firn_error *error) {
    firn_thrift_reader reader = firn_thrift_reader_of(bytes, file_offset, name, NULL);
    int32_t size = 0;
    FIRN_TRY(read_header(&reader, &size, error));
    *header_size = reader.position;
    *bitset_size = (size_t)size;
    return FIRN_OK;
}

firn_status firn_parquet_bloom_filter_parse(firn_slice bytes, uint64_t file_offset,
                                            const char *name, bool exact,
                                            firn_parquet_bloom_filter *out, firn_error *error) {
    size_t header = 0, bitset = 0;
    FIRN_TRY(firn_parquet_bloom_header_parse(bytes, file_offset, name, &header, &bitset, error));
    size_t rest = bytes.size - header;
    if (bitset > rest || (exact && bitset != rest)) {
        return firn_fail_at(error, FIRN_CORRUPT, (int64_t)file_offset,
                            "%s: Bloom filter: numBytes is %zu where %zu bytes follow the header",
                            name, bitset, rest);
    }
    *out = (firn_parquet_bloom_filter){bytes.data + header, bitset / BLOCK};
    return FIRN_OK;
}

/*
 * Blocks are chosen as if at random, so that their numbers of values follow Poisson's distribution around values / blocks; in a
 * block of n, each of eight words has the bit that is asked for with probability 1 - (31/32)^n.
 */
double firn_parquet_bloom_false_positives(double values, size_t block_count) {
    double mean = values / (double)block_count;
    /* Far above, every bit is set. */
    if (mean > 600) return 1;
    double share = exp(-mean), sum = 0;
    int last = (int)(mean + 12 * sqrt(mean)) + 12;
    for (int n = 0; n <= last; n++) {
        if (n > 0) share *= mean / n;
        sum += share * pow(1 - pow(31.0 / 32.0, n), WORDS);
    }
    return sum < 1 ? sum : 1;
}

static size_t largest_block_count(int32_t maximum_bytes) {
    size_t count = 1;
    int32_t most = maximum_bytes < FIRN_PARQUET_BLOOM_MAXIMUM_SIZE
                       ? maximum_bytes
                       : FIRN_PARQUET_BLOOM_MAXIMUM_SIZE;
    while (most > 0 && count * 2 * BLOCK <= (size_t)most) count *= 2;
    return count;
}

void firn_parquet_bloom_builder_init(firn_parquet_bloom_builder *builder,
                                     const firn_parquet_bloom_options *options) {
    *builder = (firn_parquet_bloom_builder){
        .options = *options, .block_count = largest_block_count(options->maximum_bytes)};
}

void firn_parquet_bloom_builder_release(firn_parquet_bloom_builder *builder) {
    firn_free(builder->blocks);
    builder->blocks = NULL;
}

static firn_status ensure_blocks(firn_parquet_bloom_builder *builder, firn_error *error) {
    if (builder->blocks != NULL) return FIRN_OK;
    builder->blocks = firn_alloc_zeroed(builder->block_count, BLOCK);
    return builder->blocks == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static void set_bits(firn_parquet_bloom_builder *builder, uint64_t hash) {
    uint8_t *block = builder->blocks + BLOCK * block_of(hash, builder->block_count);
    for (int i = 0; i < WORDS; i++) {
        firn_store_le32(block + 4 * i, firn_load_le32(block + 4 * i) | mask_of(hash, i));
    }
    builder->values++;
}

firn_status firn_parquet_bloom_builder_add(firn_parquet_bloom_builder *builder, uint64_t hash,
                                           firn_error *error) {
    FIRN_TRY(ensure_blocks(builder, error));
    set_bits(builder, hash);
    return FIRN_OK;
}

firn_status firn_parquet_bloom_builder_add_values(firn_parquet_bloom_builder *builder,
                                                  const firn_parquet_values *values,
                                                  const uint32_t *indices, size_t first,
                                                  size_t count, firn_error *error) {
    if (values->type == FIRN_PARQUET_BOOLEAN) {
        return firn_fail(error, FIRN_INVALID, "a Bloom filter of booleans");
    }
    FIRN_TRY(ensure_blocks(builder, error));
    for (size_t i = 0; i < count; i++) {
        size_t at = indices != NULL ? indices[i] : first + i;
        firn_slice value = values->type == FIRN_PARQUET_BYTE_ARRAY
                               ? values->slices[at]
                               : firn_slice_of(values->fixed + at * values->width, values->width);
        set_bits(builder, firn_xxhash64(value));
    }
    return FIRN_OK;
}

/*
 * How many distinct values were put in, from the share of bits that are still clear: a word's bit stays clear with probability
 * e^(-mean / 32).
 */
static double estimate_distinct(const firn_parquet_bloom_builder *builder) {
    size_t set = 0;
    size_t size = builder->block_count * BLOCK;
    for (size_t i = 0; i < size; i += 8) {
        set += (size_t)__builtin_popcountll(firn_load_le64(builder->blocks + i));
    }
    double bits = (double)size * 8;
    if ((double)set >= bits) return (double)builder->values;
    double distinct = -32.0 * (double)builder->block_count * log1p(-(double)set / bits);
    return distinct < (double)builder->values ? distinct : (double)builder->values;
}

/* Half as many blocks: those of 2i and 2i + 1 are those of i then. Each of the lower ones is written after it was read. */
static void halve(firn_parquet_bloom_builder *builder) {
    builder->block_count /= 2;
    for (size_t i = 0; i < builder->block_count; i++) {
        const uint8_t *pair = builder->blocks + 2 * i * BLOCK;
        uint8_t *joined = builder->blocks + i * BLOCK;
        for (size_t j = 0; j < BLOCK; j++) joined[j] = pair[j] | pair[BLOCK + j];
    }
}

static void shrink(firn_parquet_bloom_builder *builder) {
    double distinct = estimate_distinct(builder);
    while (builder->block_count > 1 &&
           firn_parquet_bloom_false_positives(distinct, builder->block_count / 2) <=
               builder->options.false_positives) {
        halve(builder);
    }
}

static firn_status write_header(size_t size, firn_buffer *out, firn_error *error) {
    firn_thrift_writer writer = firn_thrift_writer_of(out, error);
    firn_thrift_write_i32(&writer, 1, (int32_t)size);
    for (int id = 2; id <= 4; id++) { /* BLOCK, XXHASH, UNCOMPRESSED */
        firn_thrift_write_struct(&writer, id);
        firn_thrift_write_empty(&writer, 1);
        firn_thrift_write_end(&writer);
    }
    firn_thrift_write_end(&writer);
    return writer.status;
}

firn_status firn_parquet_bloom_builder_finish(firn_parquet_bloom_builder *builder, firn_buffer *out,
                                              firn_error *error) {
    FIRN_TRY(ensure_blocks(builder, error));
    shrink(builder);
    size_t size = builder->block_count * BLOCK;
    FIRN_TRY(write_header(size, out, error));
    return firn_buffer_append(out, builder->blocks, size, error);
}
