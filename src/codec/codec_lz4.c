#include <limits.h>
#include <lz4.h>

#include "base/bytes.h"
#include "codec/output.h"

/* A match's length grows by at most 255 for each further byte, so that no block grows more than this. */
#define LARGEST_EXPANSION ((size_t)255)

/* Bytes of one length in Hadoop's framing, which are big-endian. */
#define LENGTH_SIZE ((size_t)4)

static firn_status compress_block(firn_slice input, firn_buffer *out, firn_error *error) {
    if (input.size > LZ4_MAX_INPUT_SIZE) {
        return firn_fail(error, FIRN_LIMIT, "lz4 can't compress %zu bytes at once", input.size);
    }
    int bound = LZ4_compressBound((int)input.size);
    FIRN_TRY(firn_buffer_reserve(out, (size_t)bound, error));
    const char *data = input.size == 0 ? "" : (const char *)input.data;
    int size = LZ4_compress_default(data, (char *)out->data + out->size, (int)input.size, bound);
    if (size <= 0) return firn_fail_memory(error);
    out->size += (size_t)size;
    return FIRN_OK;
}

firn_status firn_lz4_compress(bool hadoop, firn_slice input, firn_buffer *out, firn_error *error) {
    if (!hadoop) return compress_block(input, out, error);
    size_t before = out->size;
    uint8_t lengths[2 * LENGTH_SIZE] = {0};
    FIRN_TRY(firn_buffer_append(out, lengths, sizeof lengths, error));
    firn_status status = compress_block(input, out, error);
    if (status != FIRN_OK) {
        out->size = before;
        return status;
    }
    firn_store_be32(out->data + before, (uint32_t)input.size);
    firn_store_be32(out->data + before + LENGTH_SIZE,
                    (uint32_t)(out->size - before - sizeof lengths));
    return FIRN_OK;
}

/* The size that a block decompresses to, at most `room`, or -1. */
static int64_t decompress_block(firn_slice input, uint8_t *out, size_t room) {
    if (input.size == 0 || input.size > INT_MAX) return -1;
    uint8_t nothing = 0;
    char *at = room == 0 ? (char *)&nothing : (char *)out;
    int limit = room > INT_MAX ? INT_MAX : (int)room;
    int size = LZ4_decompress_safe((const char *)input.data, at, (int)input.size, limit);
    /* Nothing is one zero byte; with room left, the decoder takes other tokens for it too. */
    if (size == 0 && (input.size != 1 || input.data[0] != 0)) return -1;
    return size < 0 ? -1 : (int64_t)size;
}

static bool take_length(firn_slice *rest, size_t *length) {
    if (rest->size < LENGTH_SIZE) return false;
    *length = firn_load_be32(rest->data);
    *rest = firn_slice_of(rest->data + LENGTH_SIZE, rest->size - LENGTH_SIZE);
    return true;
}

/*
 * Hadoop's framing: a decompressed length, then compressed lengths each with its block until that much
 * has come, and again from the start. This takes what follows a first length of `due` bytes.
 */
static bool decompress_frame(firn_slice *rest, uint8_t *out, size_t due) {
    size_t made = 0;
    do {
        size_t length = 0;
        /* An empty frame may come without a block. */
        if (due == 0 && rest->size == 0) return true;
        if (!take_length(rest, &length) || length > rest->size) return false;
        uint8_t *at = made == due ? NULL : out + made;
        int64_t size = decompress_block(firn_slice_of(rest->data, length), at, due - made);
        if (size < 0 || (size == 0 && due != 0)) return false;
        made += (size_t)size;
        *rest = firn_slice_of(rest->data + length, rest->size - length);
    } while (made < due);
    return true;
}

/* False when the input is not in Hadoop's framing, or not of `out_size` bytes. */
static bool decompress_hadoop(firn_slice input, uint8_t *out, size_t out_size) {
    size_t made = 0;
    firn_slice rest = input;
    while (rest.size > 0) {
        size_t due = 0;
        if (!take_length(&rest, &due) || due > out_size - made) return false;
        uint8_t *at = due == 0 ? NULL : out + made;
        if (!decompress_frame(&rest, at, due)) return false;
        made += due;
    }
    return made == out_size;
}

firn_status firn_lz4_decompress(bool hadoop, firn_slice input, uint8_t *out, size_t out_size,
                                firn_error *error) {
    if (hadoop && decompress_hadoop(input, out, out_size)) return FIRN_OK;
    int64_t size = decompress_block(input, out, out_size);
    if (size < 0)
        return firn_fail(error, FIRN_CORRUPT, "not valid lz4 data of %zu bytes", out_size);
    if ((size_t)size != out_size) {
        return firn_fail(error, FIRN_CORRUPT, "decompresses to %zu bytes where %zu are stated",
                         (size_t)size, out_size);
    }
    return FIRN_OK;
}

/* *right is false, and `out` as before, when the input is not in Hadoop's framing or passes the limit. */
static firn_status grow_hadoop(firn_slice input, firn_buffer *out, bool *right, firn_error *error) {
    size_t before = out->size;
    firn_slice rest = input;
    *right = input.size > 0;
    while (*right && rest.size > 0) {
        size_t due = 0;
        *right = take_length(&rest, &due) && due / LARGEST_EXPANSION <= rest.size &&
                 due <= out->maximum - out->size;
        if (!*right) break;
        FIRN_TRY(firn_buffer_reserve(out, due, error));
        uint8_t *at = due == 0 ? NULL : out->data + out->size;
        *right = decompress_frame(&rest, at, due);
        out->size += due;
    }
    if (!*right) out->size = before;
    return FIRN_OK;
}

static firn_status grow_and_decompress(firn_slice input, firn_buffer *out, firn_error *error) {
    /* A block does not tell its size: more and more room is tried, up to what the input can make. */
    size_t most =
        input.size > INT_MAX / LARGEST_EXPANSION ? INT_MAX : input.size * LARGEST_EXPANSION;
    size_t room = input.size > most / 4 ? most : input.size * 4;
    for (;;) {
        size_t left = out->maximum - out->size;
        size_t tried = room < left ? room : left;
        FIRN_TRY(firn_buffer_reserve(out, tried, error));
        uint8_t *at = tried == 0 ? NULL : out->data + out->size;
        int64_t size = decompress_block(input, at, tried);
        if (size >= 0) {
            out->size += (size_t)size;
            return FIRN_OK;
        }
        if (tried == most) return firn_fail(error, FIRN_CORRUPT, "not valid lz4 data");
        if (tried == left) {
            return firn_fail(error, FIRN_LIMIT,
                             "is not valid lz4 data, or passes the limit of %zu bytes",
                             out->maximum);
        }
        room = room > most / 2 ? most : room * 2;
    }
}

firn_status firn_lz4_decompress_growing(bool hadoop, firn_slice input, firn_buffer *out,
                                        firn_error *error) {
    bool right = false;
    if (hadoop) FIRN_TRY(grow_hadoop(input, out, &right, error));
    return right ? FIRN_OK : grow_and_decompress(input, out, error);
}
