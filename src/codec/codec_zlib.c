#include <limits.h>
#include <zlib.h>

#include "base/alloc.h"
#include "codec/output.h"

/*
 * Writers that cut a zlib stream's header and only the last byte of its trailer leave up to this many
 * bytes behind raw deflate data; readers of Avro accept that.
 */
#define DEFLATE_TRAILER_SIZE ((size_t)4)

static void *zlib_alloc(void *context, unsigned count, unsigned size) {
    (void)context;
    return firn_alloc_array(count, size);
}

static void zlib_free(void *context, void *memory) {
    (void)context;
    firn_free(memory);
}

static unsigned step(size_t size) {
    return size > INT_MAX ? (unsigned)INT_MAX : (unsigned)size;
}

firn_status firn_zlib_compress(int window_bits, int level, firn_slice input, firn_buffer *out,
                               firn_error *error) {
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    int result = deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
    if (result == Z_MEM_ERROR) return firn_fail_memory(error);
    if (result != Z_OK) return firn_fail(error, FIRN_INVALID, "deflate can't start");
    firn_status status = FIRN_OK;
    stream.next_in = (Bytef *)(uintptr_t)input.data;
    stream.avail_in = (unsigned)input.size;
    FIRN_CHECK(firn_buffer_reserve(out, deflateBound(&stream, input.size), error));
    do {
        FIRN_CHECK(firn_buffer_reserve(out, 1, error));
        unsigned room = step(out->capacity - out->size);
        stream.next_out = out->data + out->size;
        stream.avail_out = room;
        result = deflate(&stream, Z_FINISH);
        out->size += room - stream.avail_out;
    } while (result == Z_OK || result == Z_BUF_ERROR);
    if (result != Z_STREAM_END) status = firn_fail(error, FIRN_INVALID, "deflate failed");
out:
    deflateEnd(&stream);
    return status;
}

static firn_status inflate_failed(const z_stream *stream, int result, firn_error *error) {
    if (result == Z_MEM_ERROR) return firn_fail_memory(error);
    return firn_fail_at(error, FIRN_CORRUPT, (int64_t)stream->total_in,
                        "not valid deflate data: %s",
                        stream->msg == NULL ? "wrong header" : stream->msg);
}

/* Inflates to the end of one stream; `used` grows by what it took of the input. */
static firn_status inflate_member(z_stream *stream, firn_slice input, size_t *used,
                                  firn_codec_output *output, firn_error *error) {
    for (;;) {
        uint8_t *at = NULL;
        size_t room = 0;
        FIRN_TRY(firn_codec_output_room(output, &at, &room, error));
        unsigned given_in = step(input.size - *used);
        unsigned given_out = step(room);
        stream->next_in = (Bytef *)(uintptr_t)(input.data + *used);
        stream->avail_in = given_in;
        stream->next_out = at;
        stream->avail_out = given_out;
        int result = inflate(stream, Z_NO_FLUSH);
        unsigned taken = given_in - stream->avail_in;
        unsigned made = given_out - stream->avail_out;
        *used += taken;
        FIRN_TRY(firn_codec_output_took(output, made, error));
        if (result == Z_STREAM_END) return FIRN_OK;
        if (result != Z_OK && result != Z_BUF_ERROR) return inflate_failed(stream, result, error);
        if (taken == 0 && made == 0) {
            return firn_fail_at(error, FIRN_CORRUPT, (int64_t)*used, "deflate data is cut short");
        }
    }
}

/* Members follow one another (RFC 1952, section 2.2). */
static firn_status inflate_members(z_stream *stream, bool raw, firn_slice input,
                                   firn_codec_output *output, firn_error *error) {
    size_t used = 0;
    for (;;) {
        FIRN_TRY(inflate_member(stream, input, &used, output, error));
        size_t left = input.size - used;
        if (left == 0 || (raw && left <= DEFLATE_TRAILER_SIZE)) break;
        if (raw) {
            return firn_fail_at(error, FIRN_CORRUPT, (int64_t)used,
                                "%zu bytes follow the end of the deflate data", left);
        }
        if (inflateReset(stream) != Z_OK) return inflate_failed(stream, Z_STREAM_ERROR, error);
    }
    return firn_codec_output_end(output, error);
}

firn_status firn_zlib_decompress(int window_bits, firn_slice input, firn_codec_output *output,
                                 firn_error *error) {
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    int result = inflateInit2(&stream, window_bits);
    if (result != Z_OK) return inflate_failed(&stream, result, error);
    firn_status status = inflate_members(&stream, window_bits < 0, input, output, error);
    inflateEnd(&stream);
    return status;
}
