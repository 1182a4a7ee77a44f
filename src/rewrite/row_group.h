/** One output row group: its leaves rewritten in parallel, its chunks written in order. Internal to rewrite. */
#ifndef FIRN_REWRITE_ROW_GROUP_H
#define FIRN_REWRITE_ROW_GROUP_H

#include "rewrite/output.h"

/** What went in and came out, over all row groups of a call. */
typedef struct firn_rewrite_sums {
    int64_t rows;                       /**< counted while the first leaf was read */
    firn_parquet_rewrite_counts counts; /**< over all leaves; rows, levels and nulls add up too */
} firn_rewrite_sums;

/** Compressed chunk bytes that may wait for their turn to be written. */
#define FIRN_REWRITE_WAITING_BYTES ((size_t)8 << 20)

/**
 * Rewrites `pieces` (in order, mappings of the output's leaves) into the next row group of `file`. Rows, levels and nulls that were read are held
 * against those that were written, leaf by leaf: a difference is CORRUPT. `merged`: NULL, or per leaf NULL or the pieces' merged dictionaries, which are taken out.
 */
firn_status firn_rewrite_row_group(firn_rewrite_context *context, firn_output_file *file,
                                   const firn_parquet_piece *pieces, size_t piece_count,
                                   firn_parquet_merged *const *merged, firn_rewrite_sums *sums,
                                   firn_error *error);

#endif
