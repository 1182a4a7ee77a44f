/** One data file of the demonstration table. */
#ifndef FIRN_CLI_DEMO_FILE_H
#define FIRN_CLI_DEMO_FILE_H

#include "cli/demo_rows.h"
#include "table/journal.h"

/** Writes `rows` as one Parquet file and describes it, with metrics, in `out` (memory in `arena`). */
firn_status firn_demo_write_file(firn_table *table, firn_journal *journal,
                                 const firn_demo_rows *rows, size_t commit, firn_arena *arena,
                                 firn_data_file *out, firn_error *error);

/** Writes `rows` as a Parquet file that no table knows of, with the schema and the settings of `metadata`. */
firn_status firn_demo_write_source(firn_storage *storage, const firn_table_metadata *metadata,
                                   const firn_demo_rows *rows, const char *location,
                                   firn_error *error);

#endif
