/** Merging schemas: merge_schema.c finds the fields that belong together, merge_type.c their common type, merge_mapping.c the way from each input. */
#ifndef FIRN_PARQUET_MERGE_INTERNAL_H
#define FIRN_PARQUET_MERGE_INTERNAL_H

#include "parquet/merge_schema.h"

/** A field of the output, and what each input has for it. */
typedef struct firn_parquet_merged_field {
    firn_parquet_schema_element element;
    const firn_parquet_node *
        *inputs; /**< one per source; NULL: it lacks the field, or what holds it */
    struct firn_parquet_merged_field **children;
    size_t child_count;
} firn_parquet_merged_field;

/** Widens `element`, the output's so far, so that it holds what `other` does. UNSUPPORTED when there is no such type; names are the caller's to add. */
firn_status firn_parquet_merge_types(firn_parquet_schema_element *element,
                                     const firn_parquet_schema_element *other, firn_error *error);

/** How values of `input` become values of `output`, which came of firn_parquet_merge_types. */
firn_parquet_conversion firn_parquet_merge_conversion(const firn_parquet_schema_element *input,
                                                      const firn_parquet_schema_element *output);

/** The mappings of source `source` for all leaves of the output. */
firn_status firn_parquet_merge_mappings(const firn_parquet_merged_field *root,
                                        const firn_parquet_schema *output, size_t source,
                                        const firn_parquet_merge_source *from, firn_arena *arena,
                                        const firn_parquet_leaf_mapping **out, firn_error *error);

#endif
