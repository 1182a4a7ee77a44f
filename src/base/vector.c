#include "base/vector.h"

#include <stdint.h>
#include <string.h>

#define FIRST_CAPACITY ((size_t)8)

firn_status firn_vector_grow(void *items_address, size_t *capacity, size_t wanted, size_t item_size,
                             firn_error *error) {
    if (wanted <= *capacity) return FIRN_OK;
    size_t enough = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity;
    if (enough <= SIZE_MAX / 2 && *capacity != 0) enough += enough / 2;
    if (enough < wanted) enough = wanted;
    /* The pointer is moved by its bytes: its type is T *, which is not to be accessed as void *. */
    void *items = NULL;
    memcpy(&items, items_address, sizeof items);
    items = firn_realloc_array(items, enough, item_size);
    if (items == NULL) return firn_fail_memory(error);
    memcpy(items_address, &items, sizeof items);
    *capacity = enough;
    return FIRN_OK;
}
