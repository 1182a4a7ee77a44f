/** data/file_columns.h for files that a lake has, or that are to become a table's. */
#ifndef FIRN_LAKE_COLUMNS_H
#define FIRN_LAKE_COLUMNS_H

#include "data/file_columns.h"
#include "parquet/file_reader.h"

typedef firn_file_columns firn_lake_columns;

/**
 * `mapping` nullable. In `arena`. INVALID names file and column, and what to do: a type that can't become the table's by promotion, ids that contradict the table's (the
 * same id for a column of another name and type), neither ids nor mapping, a required field that the file lacks, two columns for one field.
 */
firn_status firn_lake_columns_of(const firn_schema *schema, const firn_name_mapping *mapping,
                                 int format_version, const firn_parquet_file *file,
                                 const char *location, firn_arena *arena, firn_lake_columns *out,
                                 firn_error *error);

/** Appends a key of the file's columns: files with equal keys are alike in names, types, repetition and ids, so that what was found for one holds for the other. */
firn_status firn_lake_columns_key(const firn_parquet_file *file, firn_buffer *out,
                                  firn_error *error);

#endif
