/** Positional reading, through a callback, so that the format folders know nothing of storage. */
#ifndef FIRN_BASE_READ_AT_H
#define FIRN_BASE_READ_AT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct firn_read_at {
    /** Fills `out` with exactly `size` bytes from `offset`, or fails. Thread-safe; shares no cursor. */
    firn_status (*read)(void *context, uint64_t offset, void *out, size_t size, firn_error *error);
    /** NULL, or gives the bytes where they already lie in memory (valid as long as the file); the range has been checked. */
    const uint8_t *(*borrow)(void *context, uint64_t offset, size_t size);
    void *context;
    uint64_t size;    /**< of the whole file, bytes */
    const char *name; /**< for messages: the location */
} firn_read_at;

/** Checks the range against the size (CORRUPT when outside), then reads. */
firn_status firn_read_at_exact(const firn_read_at *file, uint64_t offset, void *out, size_t size,
                               firn_error *error);

/** A file that lies in memory; `data` is borrowed and must outlive the reads. */
typedef struct firn_memory_file {
    const uint8_t *data;
    size_t size;
} firn_memory_file;
firn_read_at firn_read_at_memory(firn_memory_file *memory, const char *name);

/** Where bytes of a new file go, in order. */
typedef struct firn_write_to {
    firn_status (*write)(void *context, const void *data, size_t size, firn_error *error);
    void *context;
} firn_write_to;

#endif
