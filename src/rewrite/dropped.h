/** Rows that don't go over because they are deleted. Internal to rewrite. */
#ifndef FIRN_REWRITE_DROPPED_H
#define FIRN_REWRITE_DROPPED_H

#include "rewrite/plan.h"
#include "rewrite/rewrite.h"

/** Takes the rows that go off the unit's bytes; *any: one stays. `first_row` is the row group's first row within its file. */
firn_status firn_rewrite_without_dropped(const firn_rewrite_group *group, int64_t first_row,
                                         firn_plan_unit *unit, bool *any, firn_error *error);

/** Fills in the dropped rows of a piece of input `input`, which belong to the piece: firn_rewrite_release_dropped. */
firn_status firn_rewrite_find_dropped(const firn_rewrite_group *group, size_t input,
                                      firn_parquet_piece *piece, firn_error *error);
void firn_rewrite_release_dropped(firn_parquet_piece *pieces, size_t count);

/** Rows of the pieces that stay. */
int64_t firn_rewrite_rows_kept(const firn_parquet_piece *pieces, size_t count);

#endif
