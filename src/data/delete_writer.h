/**
 * Deleted rows as delete files (specification, "Delete Formats"): position delete files in v2, deletion vectors in v3. What is written is committed by the caller.
 */
#ifndef FIRN_DATA_DELETE_WRITER_H
#define FIRN_DATA_DELETE_WRITER_H

#include "data/position_sets.h"
#include "table/journal.h"

typedef struct firn_deleted_rows {
    const firn_data_file *data; /**< whose rows go; its spec id and tuple become the deletes' */
    const firn_roaring *
        positions; /**< all of its deleted positions: a vector replaces what was there. Empty or NULL: nothing is written for it */
    /** Instead of `positions` (then NULL): where they lie. Each set is loaded when its turn comes; Puffin files, which are held until they are whole, get no larger than what `sets` may keep in memory. */
    firn_position_sets *sets;
    firn_position_place place;
} firn_deleted_rows;

/**
 * Writes delete files for `items` and describes them in `out`, in `arena`: entries to be added. Each file is named in `journal` (nullable in tests) before it
 * is written; names are made of `run_id` and `number`, which differs between the calls of one run.
 *
 * v2: Parquet files of (file_path, pos), sorted, with whole bounds of file_path and referenced_data_file where a file is for one data file. One file a data file or a partition, as
 * write.delete.granularity says ("partition" where it is not set), rolled at write.delete.target-file-size-bytes (64 MiB). v3: a deletion vector per item, in
 * Puffin files rolled at the same size. INVALID in a table of format v1.
 */
firn_status firn_deleted_rows_write(firn_table *table, firn_journal *journal, const char *run_id,
                                    size_t number, const firn_deleted_rows *items, size_t count,
                                    firn_arena *arena, firn_data_file **out, size_t *out_count,
                                    firn_error *error);

#endif
