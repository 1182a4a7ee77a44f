/**
 * A data or delete file opened as Parquet, whatever its format: an Avro file is turned into Parquet first, row by row in its order, in memory or, where it is large, in an
 * unlinked temporary file. So projection, row positions, deletes and rewriting know one form.
 */
#ifndef FIRN_DATA_DATA_SOURCE_H
#define FIRN_DATA_DATA_SOURCE_H

#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "parquet/file_reader.h"
#include "storage/storage.h"

typedef struct firn_data_source firn_data_source;

/** UNSUPPORTED names the file: ORC and others, encrypted. The number of rows is not compared with the manifest's. */
firn_status firn_data_source_open(firn_storage *storage, const firn_data_file *file,
                                  firn_data_source **out, firn_error *error);
/** CORRUPT where the manifest of the table counts other rows than the opened data file has; says what to do. */
firn_status firn_data_source_check_rows(const firn_data_source *source,
                                        const firn_table_metadata *table,
                                        const firn_data_file *file, firn_error *error);
/** The same of a footer. */
firn_status firn_data_file_check_rows(const firn_parquet_file_metadata *footer,
                                      const firn_table_metadata *table, const firn_data_file *file,
                                      firn_error *error);
/** NULL is allowed. */
void firn_data_source_close(firn_data_source *source);
/** The parsed file; lives as long as the source. Several threads may read from it. */
const firn_parquet_file *firn_data_source_parquet(const firn_data_source *source);
/** Where its bytes are read from, and how many there are; of the turned form where it was Avro. */
firn_read_at firn_data_source_bytes(const firn_data_source *source);

#endif
