/**
 * A column chunk's bytes as they are asked for, front to back: borrowed where the source has them in memory, else read whole
 * (up to 8 MiB) or in windows that hold the bytes asked for. Ranges lie within the chunk; callers see to that.
 */
#ifndef FIRN_PARQUET_PAGE_WINDOW_H
#define FIRN_PARQUET_PAGE_WINDOW_H

#include "base/read_at.h"
#include "base/slice.h"
#include "parquet/scratch.h"

typedef struct firn_parquet_window {
    const firn_read_at *source;
    uint64_t begin, end; /* of the chunk, in the file */
    uint64_t offset;     /* in the file, of `held` */
    firn_slice held;     /* in `memory` */
    firn_parquet_scratch memory;
} firn_parquet_window;

/** Starts over on another chunk, keeping the memory. */
void firn_parquet_window_reset(firn_parquet_window *window, const firn_read_at *source,
                               uint64_t begin, uint64_t end);
void firn_parquet_window_release(firn_parquet_window *window);

/** The `size` bytes at `offset` of the file. Ends the life of bytes given before, unless `borrowed` said true. */
firn_status firn_parquet_window_get(firn_parquet_window *window, uint64_t offset, uint64_t size,
                                    firn_slice *out, bool *borrowed, firn_error *error);
/** How many bytes from `offset` are there without reading; at least 1 after a get that covers it. */
uint64_t firn_parquet_window_ready(const firn_parquet_window *window, uint64_t offset);

#endif
