/** The schema of a file as a tree, and its leaf columns with their maximum levels. Immutable; lives in an arena. */
#ifndef FIRN_PARQUET_SCHEMA_H
#define FIRN_PARQUET_SCHEMA_H

#include "parquet/metadata.h"

typedef struct firn_parquet_node {
    const firn_parquet_schema_element *element;
    const struct firn_parquet_node *parent; /**< NULL for the root */
    const struct firn_parquet_node *const *children;
    size_t child_count;
    uint8_t definition_level;       /**< level at which this node, itself, is defined */
    uint8_t repetition_level;       /**< of this node, itself included */
    int32_t first_leaf, leaf_count; /**< the leaves at or below it: a run in schema order */
} firn_parquet_node;

typedef struct firn_parquet_leaf {
    const firn_parquet_node *node;
    int32_t index;
    uint8_t maximum_definition_level, maximum_repetition_level;
    const firn_parquet_node *const *path; /**< from below the root down to the leaf */
    size_t path_length;
    const char *dotted_path; /**< for messages */
} firn_parquet_leaf;

typedef struct firn_parquet_schema {
    const firn_parquet_node *root;
    const firn_parquet_leaf *leaves;
    size_t leaf_count;
} firn_parquet_schema;

/** Builds the tree from the flat list; checks child counts, types and limits (CORRUPT, LIMIT). */
firn_status firn_parquet_schema_build(const firn_parquet_schema_element *elements, size_t count,
                                      const char *name, firn_arena *arena,
                                      const firn_parquet_schema **out, firn_error *error);

#endif
