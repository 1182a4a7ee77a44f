/* Byte arrays by what differs (Encodings.md): DELTA_LENGTH_BYTE_ARRAY, "Delta-length byte array", and DELTA_BYTE_ARRAY, "Delta Strings". */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "parquet/encode.h"

/* Walks PLAIN values of either kind. */
typedef struct walk {
    firn_slice rest;
    size_t width; /* 0: each has its length in front */
} walk;

static firn_slice next_value(walk *from) {
    size_t size = from->width;
    size_t prefix = size == 0 ? 4 : 0;
    assert(from->rest.size >= prefix);
    if (size == 0) size = firn_load_le32(from->rest.data);
    assert(from->rest.size - prefix >= size);
    firn_slice value = firn_slice_of(from->rest.data + prefix, size);
    from->rest = firn_slice_of(value.data + size, from->rest.size - prefix - size);
    return value;
}

/* How many of the first bytes are the same in both. */
static size_t shared_prefix(firn_slice a, firn_slice b) {
    size_t most = a.size < b.size ? a.size : b.size;
    size_t shared = 0;
    while (most - shared >= 8 &&
           firn_load_le64(a.data + shared) == firn_load_le64(b.data + shared)) {
        shared += 8;
    }
    while (shared < most && a.data[shared] == b.data[shared]) shared++;
    return shared;
}

static firn_status encode_lengths(const uint8_t *lengths, size_t count, firn_buffer *out,
                                  firn_error *error) {
    firn_slice plain = firn_slice_of(lengths, count * sizeof(uint32_t));
    return firn_parquet_encode_delta_binary_packed(plain, sizeof(uint32_t), count, out, error);
}

static firn_status append_suffixes(firn_slice plain, size_t width, size_t count,
                                   const uint8_t *prefixes, firn_buffer *out, firn_error *error) {
    walk from = {plain, width};
    FIRN_TRY(firn_buffer_reserve(out, plain.size, error));
    uint8_t *to = out->data + out->size;
    for (size_t i = 0; i < count; i++) {
        firn_slice value = next_value(&from);
        size_t prefix = prefixes == NULL ? 0 : firn_load_le32(prefixes + 4 * i);
        if (value.size == prefix) continue;
        memcpy(to, value.data + prefix, value.size - prefix);
        to += value.size - prefix;
    }
    out->size = (size_t)(to - out->data);
    return FIRN_OK;
}

firn_status firn_parquet_encode_delta_length_byte_array(firn_slice plain, size_t width,
                                                        size_t count, firn_buffer *out,
                                                        firn_error *error) {
    uint8_t *lengths = firn_alloc_array(count + 1, sizeof(uint32_t));
    if (lengths == NULL) return firn_fail_memory(error);
    walk from = {plain, width};
    firn_status status;
    for (size_t i = 0; i < count; i++) {
        firn_store_le32(lengths + 4 * i, (uint32_t)next_value(&from).size);
    }
    FIRN_CHECK(encode_lengths(lengths, count, out, error));
    status = append_suffixes(plain, width, count, NULL, out, error);
out:
    firn_free(lengths);
    return status;
}

firn_status firn_parquet_encode_delta_byte_array(firn_slice plain, size_t width, size_t count,
                                                 firn_buffer *out, firn_error *error) {
    uint8_t *prefixes = firn_alloc_array(count + 1, 2 * sizeof(uint32_t));
    if (prefixes == NULL) return firn_fail_memory(error);
    uint8_t *suffixes = prefixes + count * sizeof(uint32_t);
    walk from = {plain, width};
    firn_slice previous = firn_slice_of(plain.data, 0);
    firn_status status;
    for (size_t i = 0; i < count; i++) {
        firn_slice value = next_value(&from);
        size_t shared = shared_prefix(previous, value);
        firn_store_le32(prefixes + 4 * i, (uint32_t)shared);
        firn_store_le32(suffixes + 4 * i, (uint32_t)(value.size - shared));
        previous = value;
    }
    FIRN_CHECK(encode_lengths(prefixes, count, out, error));
    FIRN_CHECK(encode_lengths(suffixes, count, out, error));
    status = append_suffixes(plain, width, count, prefixes, out, error);
out:
    firn_free(prefixes);
    return status;
}
