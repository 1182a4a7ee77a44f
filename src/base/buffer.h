/** A growing run of bytes with a maximum, so that hostile input can't make it grow without end. */
#ifndef FIRN_BASE_BUFFER_H
#define FIRN_BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/slice.h"

typedef struct firn_buffer {
    uint8_t *data; /**< owned; NULL while empty */
    size_t size;
    size_t capacity;
    size_t maximum;
} firn_buffer;

/** An empty buffer; nothing is allocated yet. */
static inline firn_buffer firn_buffer_with_maximum(size_t maximum) {
    return (firn_buffer){NULL, 0, 0, maximum};
}

void firn_buffer_release(firn_buffer *buffer);
/** Empties it and keeps the memory. */
static inline void firn_buffer_clear(firn_buffer *buffer) {
    buffer->size = 0;
}

/** Room for `more` bytes behind the present ones. LIMIT above the maximum, NO_MEMORY. */
firn_status firn_buffer_reserve(firn_buffer *buffer, size_t more, firn_error *error);
firn_status firn_buffer_append(firn_buffer *buffer, const void *data, size_t size,
                               firn_error *error);
firn_status firn_buffer_append_byte(firn_buffer *buffer, uint8_t byte, firn_error *error);
firn_status firn_buffer_append_text(firn_buffer *buffer, const char *text, firn_error *error);
firn_status firn_buffer_printf(firn_buffer *buffer, firn_error *error, const char *format, ...)
    FIRN_PRINTF(3, 4);

static inline firn_slice firn_buffer_slice(const firn_buffer *buffer) {
    return firn_slice_of(buffer->data, buffer->size);
}

/** Hands the content to the caller as a zero-terminated string (free with firn_free) and empties the buffer. NULL when memory is out. */
char *firn_buffer_take_text(firn_buffer *buffer);

#endif
