#include <brotli/decode.h>
#include <brotli/encode.h>

#include "base/alloc.h"
#include "codec/output.h"

static void *brotli_alloc(void *context, size_t size) {
    (void)context;
    return firn_alloc(size);
}

static void brotli_free(void *context, void *memory) {
    (void)context;
    firn_free(memory);
}

static firn_status encode(BrotliEncoderState *state, firn_slice input, firn_buffer *out,
                          firn_error *error) {
    size_t left = input.size;
    const uint8_t *next = input.data;
    FIRN_TRY(firn_buffer_reserve(out, BrotliEncoderMaxCompressedSize(input.size), error));
    while (!BrotliEncoderIsFinished(state)) {
        FIRN_TRY(firn_buffer_reserve(out, 1, error));
        size_t room = out->capacity - out->size;
        uint8_t *at = out->data + out->size;
        if (!BrotliEncoderCompressStream(state, BROTLI_OPERATION_FINISH, &left, &next, &room, &at,
                                         NULL)) {
            return firn_fail_memory(error);
        }
        out->size = out->capacity - room;
    }
    return FIRN_OK;
}

firn_status firn_brotli_compress(int level, firn_slice input, firn_buffer *out, firn_error *error) {
    /*
     * The encoder as it is packaged calls exit() when an allocation fails, so that it is left to the
     * system's allocator: a failure that a test asks for would end the process.
     */
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    if (state == NULL) return firn_fail_memory(error);
    BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)level);
    BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT, (uint32_t)input.size);
    firn_status status = encode(state, input, out, error);
    BrotliEncoderDestroyInstance(state);
    return status;
}

static firn_status decode_failed(const BrotliDecoderState *state, int64_t offset,
                                 firn_error *error) {
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state);
    if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
        code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES) {
        return firn_fail_memory(error);
    }
    return firn_fail_at(error, FIRN_CORRUPT, offset, "not valid brotli data: %s",
                        BrotliDecoderErrorString(code));
}

static firn_status decode(BrotliDecoderState *state, firn_slice input, firn_codec_output *output,
                          firn_error *error) {
    size_t left = input.size;
    const uint8_t *next = input.data;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
        uint8_t *at = NULL;
        size_t room = 0;
        FIRN_TRY(firn_codec_output_room(output, &at, &room, error));
        size_t given = room;
        result = BrotliDecoderDecompressStream(state, &left, &next, &room, &at, NULL);
        FIRN_TRY(firn_codec_output_took(output, given - room, error));
    }
    int64_t offset = (int64_t)(input.size - left);
    if (result == BROTLI_DECODER_RESULT_ERROR) return decode_failed(state, offset, error);
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
        return firn_fail_at(error, FIRN_CORRUPT, offset, "brotli data is cut short");
    }
    if (left > 0) {
        return firn_fail_at(error, FIRN_CORRUPT, offset,
                            "%zu bytes follow the end of the brotli data", left);
    }
    return firn_codec_output_end(output, error);
}

firn_status firn_brotli_decompress(firn_slice input, firn_codec_output *output, firn_error *error) {
    BrotliDecoderState *state = BrotliDecoderCreateInstance(brotli_alloc, brotli_free, NULL);
    if (state == NULL) return firn_fail_memory(error);
    firn_status status = decode(state, input, output, error);
    BrotliDecoderDestroyInstance(state);
    return status;
}
