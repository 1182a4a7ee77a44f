/** Which column of a file is which field of the table: by field id, else by name mapping; lists and maps by structure. The same rules by which firn reads rows. */
#ifndef FIRN_DATA_FILE_COLUMNS_H
#define FIRN_DATA_FILE_COLUMNS_H

#include "data/projection.h"

typedef struct firn_file_columns {
    size_t leaf_count;
    const int32_t *field_ids;      /**< by leaf of the file; -1: no field of the table has it */
    const firn_type *const *types; /**< the table's type of each; NULL where the id is -1 */
} firn_file_columns;

/** `mapping` nullable. In `arena`. Fails as firn_projection_build does: UNSUPPORTED or CORRUPT names file and column. */
firn_status firn_file_columns_of(const firn_schema *schema, const firn_name_mapping *mapping,
                                 int format_version, const firn_parquet_file *file,
                                 const char *location, firn_arena *arena, firn_file_columns *out,
                                 firn_error *error);

#endif
