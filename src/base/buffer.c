#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define SMALLEST_CAPACITY ((size_t)64)

void firn_buffer_release(firn_buffer *buffer) {
    firn_free(buffer->data);
    *buffer = firn_buffer_with_maximum(buffer->maximum);
}

static firn_status grow(firn_buffer *buffer, size_t wanted, firn_error *error) {
    /* Half as much again, so that the allocator can use freed blocks; never above the maximum. */
    size_t capacity = buffer->capacity;
    if (capacity < SMALLEST_CAPACITY) capacity = SMALLEST_CAPACITY;
    if (capacity <= SIZE_MAX / 2 && buffer->capacity != 0) capacity += capacity / 2;
    if (capacity < wanted) capacity = wanted;
    if (capacity > buffer->maximum) capacity = buffer->maximum;
    uint8_t *data = firn_realloc(buffer->data, capacity);
    if (data == NULL) return firn_fail_memory(error);
    buffer->data = data;
    buffer->capacity = capacity;
    return FIRN_OK;
}

firn_status firn_buffer_reserve(firn_buffer *buffer, size_t more, firn_error *error) {
    if (more <= buffer->capacity - buffer->size) return FIRN_OK;
    if (buffer->size > buffer->maximum || more > buffer->maximum - buffer->size) {
        return firn_fail(error, FIRN_LIMIT, "%zu bytes and %zu more would pass the limit of %zu",
                         buffer->size, more, buffer->maximum);
    }
    return grow(buffer, buffer->size + more, error);
}

firn_status firn_buffer_append(firn_buffer *buffer, const void *data, size_t size,
                               firn_error *error) {
    if (size == 0) return FIRN_OK;
    FIRN_TRY(firn_buffer_reserve(buffer, size, error));
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return FIRN_OK;
}

firn_status firn_buffer_append_byte(firn_buffer *buffer, uint8_t byte, firn_error *error) {
    FIRN_TRY(firn_buffer_reserve(buffer, 1, error));
    buffer->data[buffer->size++] = byte;
    return FIRN_OK;
}

firn_status firn_buffer_append_text(firn_buffer *buffer, const char *text, firn_error *error) {
    return firn_buffer_append(buffer, text, strlen(text), error);
}

firn_status firn_buffer_printf(firn_buffer *buffer, firn_error *error, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) return firn_fail(error, FIRN_INVALID, "text can't be formatted");
    if ((size_t)length < sizeof text) {
        return firn_buffer_append(buffer, text, (size_t)length, error);
    }
    char *longer = firn_alloc((size_t)length + 1);
    if (longer == NULL) return firn_fail_memory(error);
    va_start(arguments, format);
    vsnprintf(longer, (size_t)length + 1, format, arguments);
    va_end(arguments);
    firn_status status = firn_buffer_append(buffer, longer, (size_t)length, error);
    firn_free(longer);
    return status;
}

char *firn_buffer_take_text(firn_buffer *buffer) {
    size_t size = 0;
    if (__builtin_add_overflow(buffer->size, 1, &size)) return NULL;
    uint8_t *text = firn_realloc(buffer->data, size);
    if (text == NULL) return NULL;
    text[buffer->size] = '\0';
    *buffer = firn_buffer_with_maximum(buffer->maximum);
    return (char *)text;
}
