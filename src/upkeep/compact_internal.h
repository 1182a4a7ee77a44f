/** Shared by the parts of compaction; not for other folders. */
#ifndef FIRN_UPKEEP_COMPACT_INTERNAL_H
#define FIRN_UPKEEP_COMPACT_INTERNAL_H

#include "base/vector.h"
#include "upkeep/compact.h"

/** Summary key by which a later run knows for which target size a file was made. */
#define FIRN_COMPACT_TARGET_KEY "firn.compact.target-file-size-bytes"

typedef struct planner {
    firn_table *table;
    const firn_compact_options *options;
    firn_compact_plan *out;
    firn_data_write_options write;
    FIRN_VECTOR(firn_compact_group) groups;
} planner;

/** Files that `bytes` become: as many as keep each inside the band around the target, at least one. */
size_t firn_compact_output_count(int64_t bytes, int64_t target_bytes);

/** Opens the inputs of the selected groups: refuses by name what can't be rewritten, and estimates output bytes and files. */
firn_status firn_compact_check_groups(planner *plan, firn_error *error);

/** Puts the table and, where it has one, the group's partition before the error's message. */
firn_status firn_compact_error_wrap(const firn_table *table, const firn_compact_group *group,
                                    firn_status status, firn_error *error);

/** What rewriting a group needs to know. */
firn_status firn_compact_settings(firn_table *table, const firn_compact_options *options,
                                  const firn_data_write_options *write, firn_pool *pool,
                                  firn_journal *journal, const char *run_id,
                                  firn_rewrite_settings *out, firn_error *error);

#endif
