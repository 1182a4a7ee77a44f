/** An open Parquet file: footer and schema. Immutable after opening, so it may be shared between threads. */
#ifndef FIRN_PARQUET_FILE_READER_H
#define FIRN_PARQUET_FILE_READER_H

#include "parquet/known_schemas.h"

typedef struct firn_parquet_file {
    firn_arena *arena;
    firn_read_at source;
    const firn_parquet_file_metadata *metadata;
    const firn_parquet_schema *schema;
    /** From 1: files that were opened with the same firn_parquet_known_schemas and have the same number have the same schema, to the byte. 0: can't tell. */
    unsigned known_schema;
} firn_parquet_file;

/** Reads and checks footer and schema (column counts of row groups, types against the schema, sums of rows). `source` is copied; what it points to must outlive the file. */
firn_status firn_parquet_file_open(const firn_read_at *source, firn_parquet_file **out,
                                   firn_error *error);
/** The same with the footer's Thrift struct (firn_parquet_footer_length) at hand: nothing is read from `source`, nothing of `footer` is kept. `known` (nullable) is borrowed until the file is closed. `arena`, an empty one, is taken over, also on failure; NULL: a new one. */
firn_status firn_parquet_file_open_footer(const firn_read_at *source, firn_slice footer,
                                          firn_parquet_known_schemas *known, firn_arena *arena,
                                          firn_parquet_file **out, firn_error *error);
/** NULL is allowed. */
void firn_parquet_file_close(firn_parquet_file *file);
/** Closes the file and gives its arena, emptied, for another one. */
firn_arena *firn_parquet_file_close_keeping(firn_parquet_file *file);

/**
 * Bytes of a column chunk: starts at the smallest of dictionary and data page offset that is above 0 (the dictionary's may
 * be 0, absent or equal: then the page type at the start decides), ends after total_compressed_size. `file_offset` is ignored. Checked against the file's size.
 */
firn_status firn_parquet_chunk_range(const firn_parquet_file *file, size_t row_group, size_t leaf,
                                     uint64_t *offset, uint64_t *size, firn_error *error);

/**
 * Refuses by name what this version can't decode in a chunk, from the footer alone: encryption, other-file chunks, codecs, encodings
 * listed in `encodings` / `encoding_stats` (BIT_PACKED is fine as a level encoding in files whose levels are RLE, since Java lists it always).
 * UNSUPPORTED names the column and the encoding.
 */
firn_status firn_parquet_chunk_supported(const firn_parquet_file *file, size_t row_group,
                                         size_t leaf, firn_error *error);

/**
 * 2 where the chunk's data pages are v2, else 1: by encoding_stats where they name v2, else by its first data page's header, since some writers' footers
 * name v1 for either. One small read, or none where the bytes lie in memory. What can't be read is taken for 1: reading rows will tell what is wrong.
 */
int firn_parquet_chunk_page_version(const firn_parquet_file *file, size_t row_group, size_t leaf);
/** The same of the file's first chunk that has values; it stands for the file. */
int firn_parquet_file_page_version(const firn_parquet_file *file);

#endif
