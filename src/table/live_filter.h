/** A row filter, made ready for each partition spec when it is first met. Internal to table. */
#ifndef FIRN_TABLE_LIVE_FILTER_H
#define FIRN_TABLE_LIVE_FILTER_H

#include "table/table.h"

typedef struct firn_live_filter {
    const firn_table_metadata *metadata;
    const firn_expression *expression;
    firn_arena *arena;
    struct firn_filter_of_spec *known; /**< NULL at first; in `arena` */
} firn_live_filter;

/** *spec and *out are NULL where the table has lost the spec. */
firn_status firn_live_filter_of_spec(firn_live_filter *filter, int32_t spec_id,
                                     const firn_partition_spec **spec, const firn_file_filter **out,
                                     firn_error *error);

#endif
