#include <pthread.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/output.h"

/*
 * Making a context costs more than compressing a page, so that a few are kept. A context is used by one
 * thread at a time, and one that a high level made large is not kept.
 */
#define KEPT_CONTEXTS 64
#define LARGEST_KEPT_CONTEXT ((size_t)16 * 1024 * 1024)

static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;
static ZSTD_CCtx *kept_compressors[KEPT_CONTEXTS];
static size_t kept_compressor_count;
static ZSTD_DCtx *kept_decompressors[KEPT_CONTEXTS];
static size_t kept_decompressor_count;

static ZSTD_CCtx *take_compressor(void) {
    ZSTD_CCtx *context = NULL;
    pthread_mutex_lock(&kept_mutex);
    if (kept_compressor_count > 0) context = kept_compressors[--kept_compressor_count];
    pthread_mutex_unlock(&kept_mutex);
    return context != NULL ? context : ZSTD_createCCtx();
}

static void give_compressor(ZSTD_CCtx *context) {
    if (ZSTD_sizeof_CCtx(context) <= LARGEST_KEPT_CONTEXT) {
        pthread_mutex_lock(&kept_mutex);
        if (kept_compressor_count < KEPT_CONTEXTS) {
            kept_compressors[kept_compressor_count++] = context;
            context = NULL;
        }
        pthread_mutex_unlock(&kept_mutex);
    }
    ZSTD_freeCCtx(context);
}

static ZSTD_DCtx *take_decompressor(void) {
    ZSTD_DCtx *context = NULL;
    pthread_mutex_lock(&kept_mutex);
    if (kept_decompressor_count > 0) context = kept_decompressors[--kept_decompressor_count];
    pthread_mutex_unlock(&kept_mutex);
    return context != NULL ? context : ZSTD_createDCtx();
}

static void give_decompressor(ZSTD_DCtx *context) {
    /* An error may have left it in the middle of a frame. */
    ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
    if (ZSTD_sizeof_DCtx(context) <= LARGEST_KEPT_CONTEXT) {
        pthread_mutex_lock(&kept_mutex);
        if (kept_decompressor_count < KEPT_CONTEXTS) {
            kept_decompressors[kept_decompressor_count++] = context;
            context = NULL;
        }
        pthread_mutex_unlock(&kept_mutex);
    }
    ZSTD_freeDCtx(context);
}

firn_status firn_zstd_compress(int level, firn_slice input, firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_buffer_reserve(out, ZSTD_compressBound(input.size), error));
    ZSTD_CCtx *context = take_compressor();
    if (context == NULL) return firn_fail_memory(error);
    size_t size = ZSTD_compressCCtx(context, out->data + out->size, out->capacity - out->size,
                                    input.data, input.size, level);
    give_compressor(context);
    if (ZSTD_isError(size)) {
        if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) return firn_fail_memory(error);
        return firn_fail(error, FIRN_INVALID, "zstd: %s", ZSTD_getErrorName(size));
    }
    out->size += size;
    return FIRN_OK;
}

static firn_status decompress_failed(size_t result, firn_error *error) {
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) return firn_fail_memory(error);
    return firn_fail(error, FIRN_CORRUPT, "not valid zstd data: %s", ZSTD_getErrorName(result));
}

firn_status firn_zstd_decompress(firn_slice input, uint8_t *out, size_t out_size,
                                 firn_error *error) {
    ZSTD_DCtx *context = take_decompressor();
    if (context == NULL) return firn_fail_memory(error);
    /* Takes several frames in a row, and skippable ones. */
    size_t size = ZSTD_decompressDCtx(context, out, out_size, input.data, input.size);
    give_decompressor(context);
    if (ZSTD_isError(size)) {
        if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) {
            return firn_fail(error, FIRN_CORRUPT, "decompresses to more than the %zu bytes stated",
                             out_size);
        }
        return decompress_failed(size, error);
    }
    if (size != out_size) {
        return firn_fail(error, FIRN_CORRUPT, "decompresses to %zu bytes where %zu are stated",
                         size, out_size);
    }
    return FIRN_OK;
}

static firn_status decompress_frames(ZSTD_DCtx *context, firn_slice input,
                                     firn_codec_output *output, firn_error *error) {
    ZSTD_inBuffer in = {input.data, input.size, 0};
    size_t missing = 1;
    while (in.pos < in.size || missing != 0) {
        uint8_t *at = NULL;
        size_t room = 0;
        FIRN_TRY(firn_codec_output_room(output, &at, &room, error));
        ZSTD_outBuffer out = {at, room, 0};
        size_t before = in.pos;
        missing = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(missing)) return decompress_failed(missing, error);
        FIRN_TRY(firn_codec_output_took(output, out.pos, error));
        if (missing != 0 && in.pos == before && out.pos == 0) {
            return firn_fail_at(error, FIRN_CORRUPT, (int64_t)in.pos, "zstd data is cut short");
        }
    }
    return FIRN_OK;
}

/* Room for a stated size saves the decoder its window; a stated size is believed up to 64 times the input. */
static firn_status reserve_stated(firn_slice input, firn_buffer *out, firn_error *error) {
    unsigned long long stated = ZSTD_getFrameContentSize(input.data, input.size);
    if (stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == ZSTD_CONTENTSIZE_ERROR) return FIRN_OK;
    if (stated / 64 > input.size || stated > out->maximum - out->size) return FIRN_OK;
    return firn_buffer_reserve(out, (size_t)stated, error);
}

firn_status firn_zstd_decompress_growing(firn_slice input, firn_buffer *out, firn_error *error) {
    FIRN_TRY(reserve_stated(input, out, error));
    ZSTD_DCtx *context = take_decompressor();
    if (context == NULL) return firn_fail_memory(error);
    firn_codec_output output = {.growing = out};
    firn_status status = decompress_frames(context, input, &output, error);
    give_decompressor(context);
    return status;
}
