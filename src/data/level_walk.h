/**
 * The account of definition levels along one path: which level of the output each level of the input stands for. The path is walked
 * from the root; each node that is optional or repeated on either side is one step. Internal to data.
 *
 * Invariant: `map[d]` for d below `input` is final; `map[input]` is the output level of "all steps so far are defined".
 */
#ifndef FIRN_DATA_LEVEL_WALK_H
#define FIRN_DATA_LEVEL_WALK_H

#include "parquet/rewrite.h"

typedef struct firn_level_walk {
    uint8_t input, output; /**< levels at which the present node is defined */
    uint8_t map[FIRN_PARQUET_MAX_LEVEL + 2];
} firn_level_walk;

static inline firn_level_walk firn_level_walk_start(void) {
    return (firn_level_walk){0};
}

/** One step down: whether the node adds a level in the input, and in the output. Nesting is bounded by FIRN_PARQUET_MAX_LEVEL on both sides. */
static inline void firn_level_walk_step(firn_level_walk *walk, bool input, bool output) {
    /* Optional in the file, required in the table: a null here has no place in the output. */
    if (input && !output) walk->map[walk->input] = FIRN_PARQUET_FORBIDDEN_LEVEL;
    if (input) walk->input++;
    if (output) walk->output++;
    walk->map[walk->input] = walk->output;
}

#endif
