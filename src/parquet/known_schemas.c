#include "parquet/known_schemas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "parquet/metadata_internal.h"

/* Of all known schemas together, as they are serialized. */
#define MAXIMUM_BYTES ((size_t)1 << 20)

struct firn_parquet_known_schemas {
    pthread_mutex_t adding;
    size_t bytes; /* of all; guarded */
    /* What lies below `count` is complete, and stays as it is. */
    atomic_uint count;
    atomic_bool full;
    firn_parquet_known_schema items[FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS];
};

firn_status firn_parquet_known_schemas_new(firn_parquet_known_schemas **out, firn_error *error) {
    firn_parquet_known_schemas *schemas = firn_alloc_zeroed(1, sizeof *schemas);
    if (schemas == NULL) return firn_fail_memory(error);
    pthread_mutex_init(&schemas->adding, NULL);
    *out = schemas;
    return FIRN_OK;
}

void firn_parquet_known_schemas_free(firn_parquet_known_schemas *schemas) {
    if (schemas == NULL) return;
    unsigned count = atomic_load(&schemas->count);
    for (unsigned i = 0; i < count; i++) firn_arena_free(schemas->items[i].arena);
    pthread_mutex_destroy(&schemas->adding);
    firn_free(schemas);
}

const firn_parquet_known_schema *
firn_parquet_find_known_schema(const firn_parquet_known_schemas *schemas, firn_slice rest) {
    unsigned count = atomic_load_explicit(&schemas->count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++) {
        const firn_parquet_known_schema *item = &schemas->items[i];
        size_t size = item->bytes.size;
        if (size <= rest.size && memcmp(item->bytes.data, rest.data, size) == 0) return item;
    }
    return NULL;
}

bool firn_parquet_known_schemas_full(const firn_parquet_known_schemas *schemas) {
    return atomic_load_explicit(&schemas->full, memory_order_relaxed);
}

/* Under the mutex. *out stays NULL where there is no room. */
static firn_status add(firn_parquet_known_schemas *schemas, const firn_parquet_known_schema *added,
                       const firn_parquet_known_schema **out, firn_error *error) {
    unsigned count = atomic_load(&schemas->count);
    if (count == FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS ||
        added->bytes.size > MAXIMUM_BYTES - schemas->bytes) {
        atomic_store(&schemas->full, true);
        return FIRN_OK;
    }
    firn_parquet_known_schema *item = &schemas->items[count];
    const void *bytes = firn_arena_memdup(added->arena, added->bytes.data, added->bytes.size);
    if (bytes == NULL) return firn_fail_memory(error);
    *item = *added;
    item->bytes = firn_slice_of(bytes, added->bytes.size);
    item->number = count + 1;
    schemas->bytes += added->bytes.size;
    atomic_store_explicit(&schemas->count, count + 1, memory_order_release);
    *out = item;
    return FIRN_OK;
}

firn_status firn_parquet_add_known_schema(firn_parquet_known_schemas *schemas,
                                          const firn_parquet_known_schema *added,
                                          const firn_parquet_known_schema **out,
                                          firn_error *error) {
    pthread_mutex_lock(&schemas->adding);
    /* Another thread may have come first. */
    *out = firn_parquet_find_known_schema(schemas, added->bytes);
    firn_status status = *out != NULL ? FIRN_OK : add(schemas, added, out, error);
    pthread_mutex_unlock(&schemas->adding);
    return status;
}
