/** Shredded variants as JSON text, put together from the columns that hold their parts (Parquet, VariantShredding.md). Internal to data. */
#ifndef FIRN_DATA_ROW_SHREDDED_H
#define FIRN_DATA_ROW_SHREDDED_H

#include "data/row_cursor.h"

/** The type in which a leaf below a variant is read: binary but for typed_value. In `arena`. UNSUPPORTED names a leaf of a type that no variant has. */
firn_status firn_shredded_leaf_type(const firn_parquet_leaf *leaf, firn_arena *arena,
                                    const firn_type **out, firn_error *error);

/**
 * Appends the text of the present variant of the shredded column `node`, which is not null, in the form of firn_variant_print: the same text as if it were not shredded. `cursors` are those of all
 * leaves of the file's output schema; the column's step over the variant. CORRUPT: parts that contradict each other.
 */
firn_status firn_shredded_print(firn_row_cursor *cursors, const firn_parquet_node *node,
                                firn_buffer *out, firn_error *error);

#endif
