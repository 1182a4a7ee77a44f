/**
 * Which rows of which input row groups make up which row group of which output file. Pure arithmetic on sizes known from footers. Internal
 * to rewrite.
 *
 * Invariant: the pieces, in order, are the rows of the units, in order, each row once.
 */
#ifndef FIRN_REWRITE_PLAN_H
#define FIRN_REWRITE_PLAN_H

#include "base/vector.h"

/** A row group of an input, in the order in which rows shall stand. */
typedef struct firn_plan_unit {
    size_t input, row_group;
    int64_t rows;                     /**< those that go, too */
    int64_t compressed, uncompressed; /**< bytes; where rows go, the share of those that stay */
    int64_t
        held; /**< bytes in memory while the input is open, whichever of its row groups is read */
} firn_plan_unit;

/** A run of rows of a unit. */
typedef struct firn_plan_piece {
    size_t input, row_group;
    int64_t first_row, row_count;
    int64_t compressed, uncompressed, held;
    size_t output;
} firn_plan_piece;

/** A row group of an output file. */
typedef struct firn_plan_row_group {
    size_t first_piece, piece_count;
    int64_t rows;
    size_t output;
} firn_plan_row_group;

typedef struct firn_plan_limits {
    size_t output_count;     /**< at least 1 */
    int64_t row_group_bytes; /**< uncompressed */
    int64_t row_group_rows;
    int64_t wanted_memory; /**< passed only for row groups of fewer than FIRN_PLAN_FEW_ROWS rows */
    int64_t most_memory;   /**< not passed, unless by a single piece */
} firn_plan_limits;

/** Row groups below this make readers slow; they are made larger where memory allows. */
#define FIRN_PLAN_FEW_ROWS ((int64_t)100000)

typedef struct firn_rewrite_plan {
    FIRN_VECTOR(firn_plan_piece) pieces;
    FIRN_VECTOR(firn_plan_row_group) row_groups;
    size_t output_count; /**< files that get rows; at most what was asked for */
} firn_rewrite_plan;

/** Release with firn_rewrite_plan_release, also on failure. Units without rows are left out. */
firn_status firn_rewrite_plan_make(const firn_plan_unit *units, size_t count,
                                   const firn_plan_limits *limits, firn_rewrite_plan *out,
                                   firn_error *error);
void firn_rewrite_plan_release(firn_rewrite_plan *plan);

#endif
