#include "table/live_filter.h"

/** A table has few specs. */
typedef struct firn_filter_of_spec {
    const firn_partition_spec *spec;
    const firn_file_filter *filter;
    struct firn_filter_of_spec *next;
} filter_of_spec;

firn_status firn_live_filter_of_spec(firn_live_filter *filter, int32_t spec_id,
                                     const firn_partition_spec **spec, const firn_file_filter **out,
                                     firn_error *error) {
    *spec = firn_table_metadata_spec(filter->metadata, spec_id);
    *out = NULL;
    if (*spec == NULL) return FIRN_OK;
    for (const filter_of_spec *known = filter->known; known != NULL; known = known->next) {
        if (known->spec != *spec) continue;
        *out = known->filter;
        return FIRN_OK;
    }
    filter_of_spec *made = firn_arena_alloc(filter->arena, 1, sizeof *made);
    if (made == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_file_filter_new(filter->expression, *spec, filter->arena, out, error));
    *made = (filter_of_spec){*spec, *out, filter->known};
    filter->known = made;
    return FIRN_OK;
}
