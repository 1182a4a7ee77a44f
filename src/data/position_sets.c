#include "data/position_sets.h"

#include "base/alloc.h"
#include "base/spool.h"

/* The room for a larger set is not kept for the next one. */
#define KEPT_BYTES ((size_t)256 * 1024)

struct firn_position_sets {
    firn_spool *spool;
    firn_buffer bytes; /* of the set that is written */
    uint64_t end;
    size_t memory_bytes;
};

firn_status firn_position_sets_new(size_t memory_bytes, firn_position_sets **out,
                                   firn_error *error) {
    firn_position_sets *sets = firn_alloc_zeroed(1, sizeof *sets);
    if (sets == NULL) return firn_fail_memory(error);
    sets->bytes = firn_buffer_with_maximum(SIZE_MAX);
    sets->memory_bytes = memory_bytes;
    firn_status status = firn_spool_new(memory_bytes, &sets->spool, error);
    if (status != FIRN_OK) {
        firn_free(sets);
        return status;
    }
    *out = sets;
    return FIRN_OK;
}

void firn_position_sets_free(firn_position_sets *sets) {
    if (sets == NULL) return;
    firn_spool_free(sets->spool);
    firn_buffer_release(&sets->bytes);
    firn_free(sets);
}

size_t firn_position_sets_memory(const firn_position_sets *sets) {
    return sets->memory_bytes;
}

firn_status firn_position_sets_add(firn_position_sets *sets, const firn_roaring *set,
                                   firn_position_place *out, firn_error *error) {
    return firn_position_sets_add_range(sets, set, 0, UINT64_MAX, out, error);
}

firn_status firn_position_sets_add_range(firn_position_sets *sets, const firn_roaring *set,
                                         uint64_t first, uint64_t end, firn_position_place *out,
                                         firn_error *error) {
    *out = (firn_position_place){.offset = sets->end,
                                 .count = firn_roaring_count_range(set, first, end)};
    if (out->count == 0) return FIRN_OK;
    firn_buffer_clear(&sets->bytes);
    FIRN_TRY(firn_roaring_write_range(set, first, end, &sets->bytes, error));
    out->size = sets->bytes.size;
    FIRN_TRY(firn_spool_write(sets->spool, sets->bytes.data, sets->bytes.size, error));
    sets->end += sets->bytes.size;
    if (sets->bytes.size > KEPT_BYTES) firn_buffer_release(&sets->bytes);
    return FIRN_OK;
}

firn_status firn_position_sets_load(firn_position_sets *sets, const firn_position_place *place,
                                    firn_roaring **out, firn_error *error) {
    static const char name[] = "spooled positions";
    *out = NULL;
    if (place->count == 0) return FIRN_OK;
    firn_read_at source = firn_spool_bytes(sets->spool, name);
    firn_roaring_part all = {.first = 0, .end = UINT64_MAX};
    return firn_roaring_read_part(&source, place->offset, place->size, &all, out, error);
}
