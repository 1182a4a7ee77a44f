/*
 * Compressed data put together from parts without decompressing them. zstd: frames follow one another (RFC 8878, 3). snappy: the
 * format is a preamble with the size and elements whose copies reach backwards by relative offsets, so that bodies behind one
 * new preamble are one body (format_description.txt). Stored forms cost nothing to make and little to read.
 */
#include <zstd.h>

#include "base/bytes.h"
#include "codec/codec.h"

#define ZSTD_FRAME_MAGIC 0xFD2FB528U
/* RFC 8878, 3.1.1.1.1: a content size of 4 bytes, a single segment, no checksum, no dictionary. */
#define STORED_FRAME_DESCRIPTOR 0xA0
#define ZSTD_LARGEST_BLOCK ((size_t)128 * 1024)
/* A literal element whose length takes the 4 bytes that follow. */
#define SNAPPY_LONG_LITERAL (63U << 2)

bool firn_codec_can_join(firn_codec codec) {
    return codec == FIRN_CODEC_UNCOMPRESSED || codec == FIRN_CODEC_SNAPPY ||
           codec == FIRN_CODEC_ZSTD;
}

static firn_status not_joined(firn_codec codec, firn_error *error) {
    return firn_fail(error, FIRN_INVALID, "%s data can't be joined", firn_codec_name(codec));
}

static firn_status put_snappy_size(size_t size, firn_buffer *out, firn_error *error) {
    for (; size >= 0x80; size >>= 7) {
        FIRN_TRY(firn_buffer_append_byte(out, (uint8_t)(size | 0x80), error));
    }
    return firn_buffer_append_byte(out, (uint8_t)size, error);
}

/* The preamble's value; *body moves behind it. */
static firn_status take_snappy_size(firn_slice *body, size_t *size, firn_error *error) {
    *size = 0;
    for (size_t i = 0; i < body->size && i < 5; i++) {
        *size |= (size_t)(body->data[i] & 0x7F) << (7 * i);
        if ((body->data[i] & 0x80) != 0) continue;
        *body = firn_slice_of(body->data + i + 1, body->size - i - 1);
        return FIRN_OK;
    }
    return firn_fail_at(error, FIRN_CORRUPT, 0, "not valid snappy data: wrong preamble");
}

static firn_status store_zstd(firn_slice input, firn_buffer *out, firn_error *error) {
    uint8_t header[9];
    firn_store_le32(header, ZSTD_FRAME_MAGIC);
    header[4] = STORED_FRAME_DESCRIPTOR;
    firn_store_le32(header + 5, (uint32_t)input.size);
    FIRN_TRY(
        firn_buffer_reserve(out, input.size + input.size / ZSTD_LARGEST_BLOCK * 3 + 16, error));
    FIRN_TRY(firn_buffer_append(out, header, sizeof header, error));
    for (;;) {
        size_t size = input.size < ZSTD_LARGEST_BLOCK ? input.size : ZSTD_LARGEST_BLOCK;
        bool last = size == input.size;
        uint32_t block = (uint32_t)size << 3 | (last ? 1U : 0U);
        uint8_t bytes[3] = {(uint8_t)block, (uint8_t)(block >> 8), (uint8_t)(block >> 16)};
        FIRN_TRY(firn_buffer_append(out, bytes, sizeof bytes, error));
        FIRN_TRY(firn_buffer_append(out, input.data, size, error));
        if (last) return FIRN_OK;
        input = firn_slice_of(input.data + size, input.size - size);
    }
}

static firn_status store_snappy(firn_slice input, firn_buffer *out, firn_error *error) {
    FIRN_TRY(put_snappy_size(input.size, out, error));
    if (input.size == 0) return FIRN_OK;
    uint8_t literal[5] = {SNAPPY_LONG_LITERAL};
    firn_store_le32(literal + 1, (uint32_t)(input.size - 1));
    FIRN_TRY(firn_buffer_append(out, literal, sizeof literal, error));
    return firn_buffer_append(out, input.data, input.size, error);
}

firn_status firn_codec_store(firn_codec codec, firn_slice input, firn_buffer *out,
                             firn_error *error) {
    if (input.size > INT32_MAX) {
        return firn_fail(error, FIRN_LIMIT, "%zu bytes are too many to compress", input.size);
    }
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return firn_buffer_append(out, input.data, input.size, error);
    case FIRN_CODEC_SNAPPY: return store_snappy(input, out, error);
    case FIRN_CODEC_ZSTD: return store_zstd(input, out, error);
    default: return not_joined(codec, error);
    }
}

firn_status firn_codec_join_begin(firn_codec codec, size_t size, firn_buffer *out,
                                  firn_error *error) {
    if (!firn_codec_can_join(codec)) return not_joined(codec, error);
    return codec == FIRN_CODEC_SNAPPY ? put_snappy_size(size, out, error) : FIRN_OK;
}

/* Whole frames and nothing else; their sizes, where all state them, add up. */
static firn_status check_frames(firn_slice part, size_t size, firn_error *error) {
    unsigned long long stated = 0;
    bool known = true;
    for (size_t at = 0; at < part.size;) {
        size_t frame = ZSTD_findFrameCompressedSize(part.data + at, part.size - at);
        if (ZSTD_isError(frame) || frame == 0) {
            return firn_fail_at(error, FIRN_CORRUPT, (int64_t)at, "not valid zstd data: %s",
                                ZSTD_getErrorName(frame));
        }
        unsigned long long content = ZSTD_getFrameContentSize(part.data + at, part.size - at);
        known = known && content <= INT32_MAX;
        stated += known ? content : 0;
        at += frame;
    }
    if (!known || stated == size) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "decompresses to %llu bytes where %zu are stated", stated,
                     size);
}

firn_status firn_codec_join_add(firn_codec codec, firn_slice part, size_t size, firn_buffer *out,
                                firn_error *error) {
    size_t stated = part.size;
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: break;
    case FIRN_CODEC_SNAPPY: FIRN_TRY(take_snappy_size(&part, &stated, error)); break;
    case FIRN_CODEC_ZSTD:
        FIRN_TRY(check_frames(part, size, error));
        stated = size;
        break;
    default: return not_joined(codec, error);
    }
    if (stated != size) {
        return firn_fail(error, FIRN_CORRUPT, "decompresses to %zu bytes where %zu are stated",
                         stated, size);
    }
    return firn_buffer_append(out, part.data, part.size, error);
}
