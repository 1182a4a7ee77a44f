#include "parquet/scratch.h"

#include "base/alloc.h"

firn_status firn_parquet_scratch_ensure(firn_parquet_scratch *scratch, size_t count, size_t size,
                                        firn_error *error) {
    if (size != 0 && count > (SIZE_MAX / 2 - FIRN_PARQUET_SCRATCH_SLACK) / size) {
        return firn_fail(error, FIRN_LIMIT, "%zu items of %zu bytes are too many", count, size);
    }
    size_t wanted = count * size;
    if (scratch->data != NULL && wanted <= scratch->capacity) return FIRN_OK;
    /* Pages of a chunk differ a little in size: the extra eighth saves growing by small steps. */
    size_t capacity = wanted + wanted / 8;
    firn_parquet_scratch_release(scratch);
    scratch->data = firn_alloc(capacity + FIRN_PARQUET_SCRATCH_SLACK);
    if (scratch->data == NULL) return firn_fail_memory(error);
    scratch->capacity = capacity;
    return FIRN_OK;
}

void firn_parquet_scratch_release(firn_parquet_scratch *scratch) {
    firn_free(scratch->data);
    *scratch = (firn_parquet_scratch){0};
}
