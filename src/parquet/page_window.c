#include "parquet/page_window.h"

/* A chunk up to this size is read whole; of a larger one, at least this much at a time. */
#define READ_SIZE ((uint64_t)8 << 20)

void firn_parquet_window_reset(firn_parquet_window *window, const firn_read_at *source,
                               uint64_t begin, uint64_t end) {
    window->source = source;
    window->begin = begin;
    window->end = end;
    window->offset = begin;
    window->held = (firn_slice){0};
}

void firn_parquet_window_release(firn_parquet_window *window) {
    firn_parquet_scratch_release(&window->memory);
    window->held = (firn_slice){0};
}

uint64_t firn_parquet_window_ready(const firn_parquet_window *window, uint64_t offset) {
    if (offset < window->offset || offset - window->offset >= window->held.size) return 0;
    return window->held.size - (offset - window->offset);
}

static firn_status read_window(firn_parquet_window *window, uint64_t offset, uint64_t size,
                               firn_error *error) {
    uint64_t start = offset;
    if (window->end - window->begin <= READ_SIZE) start = window->begin;
    uint64_t length = window->end - start;
    uint64_t wanted = offset + size - start;
    if (length > READ_SIZE) length = wanted > READ_SIZE ? wanted : READ_SIZE;
    window->held = (firn_slice){0};
    FIRN_TRY(firn_parquet_scratch_ensure(&window->memory, (size_t)length, 1, error));
    FIRN_TRY(firn_read_at_exact(window->source, start, window->memory.data, (size_t)length, error));
    window->offset = start;
    window->held = firn_slice_of(window->memory.data, (size_t)length);
    return FIRN_OK;
}

firn_status firn_parquet_window_get(firn_parquet_window *window, uint64_t offset, uint64_t size,
                                    firn_slice *out, bool *borrowed, firn_error *error) {
    const firn_read_at *source = window->source;
    *borrowed = false;
    if (source->borrow != NULL) {
        const uint8_t *data = source->borrow(source->context, offset, (size_t)size);
        if (data != NULL) {
            *borrowed = true;
            *out = firn_slice_of(data, (size_t)size);
            return FIRN_OK;
        }
    }
    if (size > firn_parquet_window_ready(window, offset)) {
        FIRN_TRY(read_window(window, offset, size, error));
    }
    *out = firn_slice_of(window->held.data + (offset - window->offset), (size_t)size);
    return FIRN_OK;
}
