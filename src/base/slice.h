/** A borrowed run of bytes. */
#ifndef FIRN_BASE_SLICE_H
#define FIRN_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct firn_slice {
    const uint8_t *data;
    size_t size;
} firn_slice;

static inline firn_slice firn_slice_of(const void *data, size_t size) {
    return (firn_slice){(const uint8_t *)data, size};
}

static inline firn_slice firn_slice_text(const char *text) {
    return firn_slice_of(text, strlen(text));
}

static inline bool firn_slice_equal(firn_slice a, firn_slice b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/** Order of unsigned bytes, a prefix first. */
static inline int firn_slice_compare(firn_slice a, firn_slice b) {
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);
    if (order != 0) return order;
    return (a.size > b.size) - (a.size < b.size);
}

#endif
