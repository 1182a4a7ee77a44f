#include <lz4frame.h>

#include "codec/output.h"

/* Puffin's footers are one frame with its content's size (Puffin specification, "Footer Payload"). */
firn_status firn_lz4_frame_compress(firn_slice input, firn_buffer *out, firn_error *error) {
    LZ4F_preferences_t preferences = {.frameInfo = {.contentSize = input.size}};
    size_t bound = LZ4F_compressFrameBound(input.size, &preferences);
    FIRN_TRY(firn_buffer_reserve(out, bound, error));
    const uint8_t *data = input.size == 0 ? (const uint8_t *)"" : input.data;
    size_t size = LZ4F_compressFrame(out->data + out->size, bound, data, input.size, &preferences);
    /* With room for the largest output, only memory can fail it. */
    if (LZ4F_isError(size)) return firn_fail_memory(error);
    out->size += size;
    return FIRN_OK;
}

/* One step; *left is 0 at the frame's end. */
static firn_status step(LZ4F_dctx *context, firn_slice *rest, firn_codec_output *output,
                        size_t *left, firn_error *error) {
    uint8_t *at = NULL;
    size_t room = 0;
    size_t taken = rest->size;
    FIRN_TRY(firn_codec_output_room(output, &at, &room, error));
    *left = LZ4F_decompress(context, at, &room, rest->data, &taken, NULL);
    if (LZ4F_isError(*left)) return firn_fail(error, FIRN_CORRUPT, "not a valid lz4 frame");
    *rest = firn_slice_of(rest->data + taken, rest->size - taken);
    if (*left != 0 && room == 0 && taken == 0) {
        return firn_fail(error, FIRN_CORRUPT, "the lz4 frame is cut short");
    }
    return firn_codec_output_took(output, room, error);
}

firn_status firn_lz4_frame_decompress(firn_slice input, firn_codec_output *output,
                                      firn_error *error) {
    LZ4F_dctx *context = NULL;
    if (input.size == 0) return firn_fail(error, FIRN_CORRUPT, "the lz4 frame is cut short");
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        return firn_fail_memory(error);
    }
    firn_status status = FIRN_OK;
    for (size_t left = 1; status == FIRN_OK && left != 0;) {
        status = step(context, &input, output, &left, error);
    }
    LZ4F_freeDecompressionContext(context);
    FIRN_TRY(status);
    if (input.size != 0) return firn_fail(error, FIRN_CORRUPT, "bytes follow the lz4 frame");
    return firn_codec_output_end(output, error);
}
