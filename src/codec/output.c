#include "codec/output.h"

/* The least by which a growing output grows: decoders work badly in small steps. */
#define SMALLEST_STEP ((size_t)64 * 1024)

static firn_status growing_room(firn_codec_output *output, uint8_t **at, size_t *room,
                                firn_error *error) {
    firn_buffer *buffer = output->growing;
    if (buffer->size == buffer->capacity && buffer->capacity < buffer->maximum) {
        size_t left = buffer->maximum - buffer->size;
        FIRN_TRY(firn_buffer_reserve(buffer, left < SMALLEST_STEP ? left : SMALLEST_STEP, error));
    }
    *room = buffer->capacity - buffer->size;
    if (*room > 0) *at = buffer->data + buffer->size;
    return FIRN_OK;
}

firn_status firn_codec_output_room(firn_codec_output *output, uint8_t **at, size_t *room,
                                   firn_error *error) {
    *room = 0;
    if (output->growing != NULL) {
        FIRN_TRY(growing_room(output, at, room, error));
    } else if (output->fixed_used < output->fixed_size) {
        *at = output->fixed + output->fixed_used;
        *room = output->fixed_size - output->fixed_used;
    }
    output->overflowing = *room == 0;
    if (output->overflowing) {
        *at = &output->spill;
        *room = 1;
    }
    return FIRN_OK;
}

firn_status firn_codec_output_took(firn_codec_output *output, size_t size, firn_error *error) {
    if (size == 0) return FIRN_OK;
    if (output->overflowing && output->growing != NULL) {
        return firn_fail(error, FIRN_LIMIT, "decompresses to more than the limit of %zu bytes",
                         output->growing->maximum);
    }
    if (output->overflowing) {
        return firn_fail(error, FIRN_CORRUPT, "decompresses to more than the %zu bytes stated",
                         output->fixed_size);
    }
    if (output->growing != NULL) {
        output->growing->size += size;
    } else {
        output->fixed_used += size;
    }
    return FIRN_OK;
}

firn_status firn_codec_output_end(const firn_codec_output *output, firn_error *error) {
    if (output->growing != NULL || output->fixed_used == output->fixed_size) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "decompresses to %zu bytes where %zu are stated",
                     output->fixed_used, output->fixed_size);
}
