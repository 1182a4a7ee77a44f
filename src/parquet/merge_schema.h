/**
 * The schema that several Parquet files share, and how each one's columns become its. Fields are matched by field id where
 * every field of every file has one, else by name; lists and maps by their structure. A field that is missing or optional anywhere is
 * optional; int32 and int64, float and double, decimals of one scale meet in the wider type. Anything else is refused by name.
 */
#ifndef FIRN_PARQUET_MERGE_SCHEMA_H
#define FIRN_PARQUET_MERGE_SCHEMA_H

#include "parquet/rewrite.h"

typedef struct firn_parquet_merged_schema {
    const firn_parquet_schema_element *elements;
    size_t element_count;
    const firn_parquet_schema *schema;
    /** One per input schema; each has one mapping per leaf of `schema`. */
    const firn_parquet_leaf_mapping *const *mappings;
} firn_parquet_merged_schema;

/** One of the inputs' schemas, and a file that has it, for messages. */
typedef struct firn_parquet_merge_source {
    const firn_parquet_schema *schema;
    const char *name;
} firn_parquet_merge_source;

/** The sources' schemas are borrowed while this runs; the result lives in `arena`. UNSUPPORTED names field and file. */
firn_status firn_parquet_merge_schemas(const firn_parquet_merge_source *sources, size_t count,
                                       firn_arena *arena, firn_parquet_merged_schema *out,
                                       firn_error *error);

#endif
