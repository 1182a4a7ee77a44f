/** Into how many row groups a planned one is cut so that its dictionaries keep below their limit. Internal to rewrite. */
#ifndef FIRN_REWRITE_CUT_H
#define FIRN_REWRITE_CUT_H

#include "rewrite/context.h"

/** Merges the dictionaries of those leaves that may outgrow the limit, in parallel. *parts is 1 where nothing is to be gained. */
firn_status firn_rewrite_count_parts(firn_rewrite_context *context,
                                     const firn_parquet_piece *pieces, size_t piece_count,
                                     size_t *parts, firn_error *error);

/** The parts that one leaf asks for: none of fewer rows than FIRN_PARQUET_FEWEST_ROWS_OF_CUT. */
size_t firn_rewrite_parts_for(const firn_parquet_dictionary_reach *reach, int64_t rows);

/** Where the part that begins at piece `first` ends, when `parts_left` parts of about equal rows are to be made of the rest. */
size_t firn_rewrite_part_end(const firn_parquet_piece *pieces, size_t piece_count, size_t first,
                             size_t parts_left);

#endif
