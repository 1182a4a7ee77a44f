/** A Parquet file being written front to back. Not thread-safe. */
#ifndef FIRN_PARQUET_FILE_WRITER_H
#define FIRN_PARQUET_FILE_WRITER_H

#include "parquet/chunk_writer.h"

typedef struct firn_parquet_file_writer firn_parquet_file_writer;

/** `elements` (flat schema, field ids included) is copied. Writes the magic. */
firn_status firn_parquet_file_writer_new(const firn_parquet_schema_element *elements, size_t count,
                                         const firn_parquet_write_options *options,
                                         const firn_write_to *destination,
                                         firn_parquet_file_writer **out, firn_error *error);
void firn_parquet_file_writer_free(firn_parquet_file_writer *writer);

/** The output's own schema tree: its leaves are what chunk writers take. Valid as long as the writer. */
const firn_parquet_schema *firn_parquet_file_writer_schema(const firn_parquet_file_writer *writer);

/** Key-value metadata of the footer, copied; before finish. */
firn_status firn_parquet_file_writer_set_key_value(firn_parquet_file_writer *writer,
                                                   const char *key, const char *value,
                                                   firn_error *error);

/** Row groups one by one: begin, then one chunk per leaf in schema order (each released by the call after it was written), then end. */
firn_status firn_parquet_file_writer_begin_row_group(firn_parquet_file_writer *writer,
                                                     int64_t row_count, firn_error *error);
firn_status firn_parquet_file_writer_add_chunk(firn_parquet_file_writer *writer,
                                               firn_parquet_chunk *chunk, firn_error *error);
firn_status firn_parquet_file_writer_end_row_group(firn_parquet_file_writer *writer,
                                                   firn_error *error);

/** Page indexes and footer. `size` and `metadata` (borrowed from the writer; with final offsets) are nullable. */
firn_status firn_parquet_file_writer_finish(firn_parquet_file_writer *writer, uint64_t *size,
                                            const firn_parquet_file_metadata **metadata,
                                            firn_error *error);

/** Bytes written so far. */
uint64_t firn_parquet_file_writer_position(const firn_parquet_file_writer *writer);

#endif
