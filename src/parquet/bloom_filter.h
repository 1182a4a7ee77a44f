/**
 * Split-block Bloom filters (BloomFilter.md): which values a column chunk certainly does not hold. Values are hashed in
 * their PLAIN form, byte arrays without their length. Not thread-safe while a builder grows.
 */
#ifndef FIRN_PARQUET_BLOOM_FILTER_H
#define FIRN_PARQUET_BLOOM_FILTER_H

#include "base/buffer.h"
#include "base/slice.h"
#include "parquet/batch.h"

#define FIRN_PARQUET_BLOOM_BLOCK_SIZE 32
/** Largest bitset that is read or written; what other readers take. */
#define FIRN_PARQUET_BLOOM_MAXIMUM_SIZE (1 << 27)

/** How a leaf's filter is to be. */
typedef struct firn_parquet_bloom_options {
    bool enabled;
    double false_positives; /**< wanted share, above 0 and below 1 */
    int32_t maximum_bytes; /**< of the bitset; rounded down to a power of two, at least one block */
} firn_parquet_bloom_options;

/** A filter that lies in memory. */
typedef struct firn_parquet_bloom_filter {
    const uint8_t *blocks; /**< borrowed; words are little-endian */
    size_t block_count;    /**< at least 1 */
} firn_parquet_bloom_filter;

/**
 * Header and bitset at the start of `bytes`; the filter borrows from them. `exact`: they must be all of it, as where the
 * footer gives a length. CORRUPT for what is cut or of no possible size, UNSUPPORTED for another algorithm, hash or compression.
 */
firn_status firn_parquet_bloom_filter_parse(firn_slice bytes, uint64_t file_offset,
                                            const char *name, bool exact,
                                            firn_parquet_bloom_filter *out, firn_error *error);
/** Only the header: `header_size` bytes, then `bitset_size` follow. The same errors, but that the bitset need not be there. */
firn_status firn_parquet_bloom_header_parse(firn_slice bytes, uint64_t file_offset,
                                            const char *name, size_t *header_size,
                                            size_t *bitset_size, firn_error *error);

uint64_t firn_parquet_bloom_hash(firn_slice plain);
/** False: no value with this hash was put in. */
bool firn_parquet_bloom_filter_check(const firn_parquet_bloom_filter *filter, uint64_t hash);

/** The share of values not in the filter that it takes for present, with `values` distinct ones in `block_count` blocks. */
double firn_parquet_bloom_false_positives(double values, size_t block_count);

/** A filter while it grows. */
typedef struct firn_parquet_bloom_builder {
    firn_parquet_bloom_options options;
    uint8_t *blocks; /**< NULL until the first value */
    size_t block_count;
    size_t values; /**< put in, equal ones counted each time */
} firn_parquet_bloom_builder;

void firn_parquet_bloom_builder_init(firn_parquet_bloom_builder *builder,
                                     const firn_parquet_bloom_options *options);
void firn_parquet_bloom_builder_release(firn_parquet_bloom_builder *builder);

/** Puts in one value by its hash. The filter has its largest size until it is finished. */
firn_status firn_parquet_bloom_builder_add(firn_parquet_bloom_builder *builder, uint64_t hash,
                                           firn_error *error);
/** Puts in values[indices[0]] …, or without `indices` values[first] …. BOOLEAN is not taken: INVALID. */
firn_status firn_parquet_bloom_builder_add_values(firn_parquet_bloom_builder *builder,
                                                  const firn_parquet_values *values,
                                                  const uint32_t *indices, size_t first,
                                                  size_t count, firn_error *error);
/**
 * Makes the filter as small as its share of false positives allows (blocks are a power of two, so that neighbours can be
 * joined without hashing anew), and appends header and bitset to `out`. An empty filter says that there are no values.
 */
firn_status firn_parquet_bloom_builder_finish(firn_parquet_bloom_builder *builder, firn_buffer *out,
                                              firn_error *error);

#endif
