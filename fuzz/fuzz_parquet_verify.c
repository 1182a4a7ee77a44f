/* A whole Parquet file held against its own promises; and the bytes as a Bloom filter. */
#include <assert.h>
#include <stdint.h>

#include "parquet/bloom_filter.h"
#include "parquet/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_bloom_filter(firn_slice bytes, bool exact) {
    firn_error error = {0};
    firn_parquet_bloom_filter filter;
    if (firn_parquet_bloom_filter_parse(bytes, 0, "input", exact, &filter, &error) != FIRN_OK) {
        return;
    }
    size_t header_size = 0, bitset_size = 0;
    firn_status status =
        firn_parquet_bloom_header_parse(bytes, 0, "input", &header_size, &bitset_size, &error);
    assert(status == FIRN_OK);
    assert(bitset_size == filter.block_count * FIRN_PARQUET_BLOOM_BLOCK_SIZE);
    assert(header_size + bitset_size <= bytes.size);
    for (uint64_t hash = 1; hash != 0; hash <<= 1) {
        (void)firn_parquet_bloom_filter_check(&filter, hash);
        (void)firn_parquet_bloom_filter_check(&filter, ~hash);
    }
}

static void run_file(const uint8_t *data, size_t size) {
    firn_memory_file memory = {data, size};
    firn_read_at source = firn_read_at_memory(&memory, "input");
    firn_error error = {0};
    firn_parquet_verification verification;
    /* Whatever the bytes are: faults of the file are findings, not failures of the call. */
    firn_status status = firn_parquet_verify(&source, NULL, &verification, &error);
    assert(status == FIRN_OK || status == FIRN_NO_MEMORY);
    for (size_t i = 0; i < verification.findings.count; i++) {
        assert(verification.findings.items[i].message != NULL);
        assert(verification.findings.items[i].kind != NULL);
    }
    firn_parquet_verification_release(&verification);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run_bloom_filter(firn_slice_of(data, size), true);
    run_bloom_filter(firn_slice_of(data, size), false);
    run_file(data, size);
    return 0;
}
