/** Into how many row groups a planned one is cut so that its dictionaries keep below their limit. Internal to rewrite. */
#ifndef FIRN_REWRITE_CUT_H
#define FIRN_REWRITE_CUT_H

#include "rewrite/context.h"

/** Of --memory, the share that dictionaries may take which wait for their leaf to be rewritten. */
#define FIRN_REWRITE_MERGED_SHARE 8

typedef struct firn_rewrite_cut {
    size_t parts; /**< 1 where nothing is to be gained */
    /** One per leaf: what has been merged already of the first pieces, those of the first part at least, as far as there is memory. NULL where nothing was. */
    firn_parquet_merged **merged;
    size_t leaf_count;
} firn_rewrite_cut;

/** Merges the dictionaries of those leaves that may outgrow the limit, in parallel. Release also on failure. */
firn_status firn_rewrite_find_cut(firn_rewrite_context *context, const firn_parquet_piece *pieces,
                                  size_t piece_count, firn_rewrite_cut *out, firn_error *error);
void firn_rewrite_cut_release(firn_rewrite_cut *cut);

/** The parts that one leaf asks for: none of fewer rows than FIRN_PARQUET_FEWEST_ROWS_OF_CUT, or of 64 MB of its values. */
size_t firn_rewrite_parts_for(const firn_parquet_dictionary_reach *reach, int64_t rows);

/** Where the part that begins at piece `first` ends, when `parts_left` parts of about equal rows are to be made of the rest. */
size_t firn_rewrite_part_end(const firn_parquet_piece *pieces, size_t piece_count, size_t first,
                             size_t parts_left);

#endif
