/** What the rows of one file have in one column under partition transforms. Internal to lake. */
#ifndef FIRN_LAKE_PROOF_COLUMN_H
#define FIRN_LAKE_PROOF_COLUMN_H

#include "lake/columns.h"
#include "lake/facts.h"
#include "lake/listing.h"

/** A column of a file. `parquet` may know the footer only. */
typedef struct firn_column_in_file {
    firn_storage *storage;
    const firn_lake_file *file;
    const firn_parquet_file *parquet;
    size_t leaf; /**< not below a list or map */
    const firn_schema *schema;
    const firn_field *field; /**< of the schema, whose type the leaf is read as */
} firn_column_in_file;

typedef struct firn_column_verdict {
    bool empty;   /**< no rows; nothing else is set */
    bool settled; /**< what follows is known */
    bool mixed;   /**< there are two values at least */
    bool other_known;
    firn_value value, other; /**< partition values; in the arena */
} firn_column_verdict;

/** Reads the column's facts and judges by them alone. */
firn_status firn_column_judge_footer(const firn_column_in_file *column,
                                     const firn_transform *const *transforms, size_t count,
                                     firn_arena *arena, firn_column_verdict *out,
                                     firn_error *error);
/** Reads the column for those verdicts that are not settled, until one of them is mixed; the others may be left unsettled then. */
firn_status firn_column_judge_rows(const firn_column_in_file *column,
                                   const firn_transform *const *transforms, size_t count,
                                   firn_arena *arena, firn_column_verdict *out, firn_error *error);

/** By the footer, else by the rows; `was_read` tells the latter. All are settled, or one of them is mixed. */
firn_status firn_column_judge(const firn_column_in_file *column,
                              const firn_transform *const *transforms, size_t count,
                              firn_arena *arena, firn_column_verdict *out, bool *was_read,
                              firn_error *error);

/** The leaf of a field; SIZE_MAX where the file has none. INVALID where it lies below a list or map. */
firn_status firn_column_leaf_of(const firn_lake_columns *columns, const firn_parquet_file *parquet,
                                int32_t field_id, const char *location, size_t *out,
                                firn_error *error);

/** A partition value as text in the arena; NULL when memory is out or the value has none. */
const char *firn_partition_value_text(const firn_transform *transform, const firn_type *source,
                                      const firn_value *value, firn_arena *arena);

#endif
