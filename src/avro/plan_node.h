/**
 * A resolved plan, shared by plan.c, which makes it, and decode.c, which runs it. Not for other
 * folders.
 */
#ifndef FIRN_AVRO_PLAN_NODE_H
#define FIRN_AVRO_PLAN_NODE_H

#include "avro/plan.h"

typedef struct firn_avro_node firn_avro_node;

/** One field of the writer's record, in the writer's order. */
typedef struct firn_avro_step {
    const firn_avro_schema *skip; /**< passed over where `node` is NULL */
    const firn_avro_node *node;
    bool to_values; /**< PAIRS: goes to the values, not the keys */
} firn_avro_step;

struct firn_avro_node {
    const firn_avro_schema *writer; /**< may be a union */
    const firn_avro_target *target;
    /** Union: one per branch; NULL for a branch that can't give what is wanted. */
    const firn_avro_node *const *branches;
    /** RECORD, and PAIRS from an array of records: one per field of the (item) record. */
    const firn_avro_step *steps;
    size_t step_count;
    /** LIST: an item; PAIRS from a map: its value. */
    const firn_avro_node *item;
    /** PAIRS from an array of records: the record. */
    const firn_avro_schema *pair_record;
    /** PAIRS from an array of records of just an int and a long or bytes, none of them a union. */
    bool plain_pairs;
};

struct firn_avro_plan {
    const firn_avro_node *root;
    size_t named_count;
    const char *named_example;
};

#endif
