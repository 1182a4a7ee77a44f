/**
 * Growing arrays: a struct { T *items; size_t count; size_t capacity; } declared by FIRN_VECTOR(T).
 *
 *     FIRN_VECTOR(int) numbers = {0};
 *     FIRN_TRY(firn_vector_push(&numbers, error, 7));   (C: a macro, the value comes last)
 *     firn_vector_release(&numbers);
 */
#ifndef FIRN_BASE_VECTOR_H
#define FIRN_BASE_VECTOR_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/error.h"

#define FIRN_VECTOR(T)                                                                             \
    struct {                                                                                       \
        T *items;                                                                                  \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

/** Makes room for at least `wanted` items of `item_size` bytes; `items_address` points to the array's pointer. */
firn_status firn_vector_grow(void *items_address, size_t *capacity, size_t wanted, size_t item_size,
                             firn_error *error);

#define firn_vector_reserve(vector, error, wanted)                                                 \
    firn_vector_grow(&(vector)->items, &(vector)->capacity, (wanted), sizeof *(vector)->items,     \
                     (error))

/** Appends a value; an expression of type firn_status. */
#define firn_vector_push(vector, error, ...)                                                       \
    (firn_vector_reserve((vector), (error), (vector)->count + 1) == FIRN_OK                        \
         ? ((vector)->items[(vector)->count++] = (__VA_ARGS__), FIRN_OK)                           \
         : FIRN_NO_MEMORY)

#define firn_vector_release(vector)                                                                \
    (firn_free((vector)->items), (vector)->items = NULL, (vector)->count = 0,                      \
     (vector)->capacity = 0)

#endif
