/**
 * Rows as trees of values, for tests: random schemas and rows, what they become under a later schema, their canonical text,
 * and their form in Parquet in any of the shapes that writers give it. Shares nothing with projection and row printing.
 */
#ifndef FIRN_TESTS_TREE_H
#define FIRN_TESTS_TREE_H

#include "support/check.h"

#include "base/arena.h"
#include "iceberg/value.h"
#include "parquet/chunk_writer.h"

typedef struct tree {
    bool null;
    firn_value value;    /* primitive */
    struct tree **items; /* struct: one per field; list: elements; map: key, value, key, value … */
    size_t count;
} tree;

typedef struct tree_maker {
    test_generator random;
    firn_arena *arena;
    int32_t next_id;
    bool with_defaults;
} tree_maker;

static inline uint64_t pick(tree_maker *maker, uint64_t below) {
    return test_generator_below(&maker->random, below);
}

/** A random struct type of 1 to `most` fields. */
const firn_type *tree_random_struct(tree_maker *maker, size_t most, int depth);
/** The same struct after some legal evolution. */
const firn_type *tree_evolve(tree_maker *maker, const firn_type *type);
tree *tree_random(tree_maker *maker, const firn_type *type, bool required);
/** A value of type `from` as it is read under type `to`. */
tree *tree_project(tree_maker *maker, const firn_type *from, const firn_type *to,
                   const tree *value);
/** Canonical text; appends. */
void tree_print(const firn_type *type, const tree *value, firn_buffer *out);

/** A Parquet file of these rows in random shapes: repetition as the rows allow, lists in old and new forms, any page layout. */
void tree_write_file(tree_maker *maker, const firn_type *type, tree *const *rows, size_t count,
                     firn_buffer *out);

#endif
