/** Memory that is used again for every page: grown when it is too small, its content then lost. */
#ifndef FIRN_PARQUET_SCRATCH_H
#define FIRN_PARQUET_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** Bytes behind the size asked for that may be written, so that loops can work in whole steps. */
#define FIRN_PARQUET_SCRATCH_SLACK 64

typedef struct firn_parquet_scratch {
    uint8_t *data;   /**< owned; not NULL after a successful call, aligned for any type */
    size_t capacity; /**< without the slack */
} firn_parquet_scratch;

/** Room for `count` items of `size` bytes; LIMIT on overflow. */
firn_status firn_parquet_scratch_ensure(firn_parquet_scratch *scratch, size_t count, size_t size,
                                        firn_error *error);
void firn_parquet_scratch_release(firn_parquet_scratch *scratch);

#endif
