/** Parts of the metadata that several files of this folder read or write. */
#ifndef FIRN_PARQUET_METADATA_INTERNAL_H
#define FIRN_PARQUET_METADATA_INTERNAL_H

#include "parquet/known_schemas.h"
#include "parquet/thrift_read.h"
#include "parquet/thrift_write.h"

/** Reads a SchemaElement; the annotation comes from LogicalType, else from ConvertedType. */
firn_status firn_parquet_read_schema_element(firn_thrift_reader *reader,
                                             firn_parquet_schema_element *out, firn_error *error);
void firn_parquet_write_schema_element(firn_thrift_writer *writer,
                                       const firn_parquet_schema_element *element);

/** Reads a Statistics whose slices borrow from the input. */
firn_status firn_parquet_read_statistics(firn_thrift_reader *reader, const firn_thrift_field *field,
                                         firn_parquet_statistics *out, firn_error *error);
/** Copies the slices into the reader's arena. */
firn_status firn_parquet_copy_statistics(firn_thrift_reader *reader,
                                         firn_parquet_statistics *statistics, firn_error *error);
/** Writes a Statistics as field `id`, or nothing when it says nothing. */
void firn_parquet_write_statistics(firn_thrift_writer *writer, int id,
                                   const firn_parquet_statistics *statistics);

/** A schema as it is serialized, and what was made of it. */
typedef struct firn_parquet_known_schema {
    firn_slice bytes; /**< of the list of its elements */
    firn_arena *arena;
    const firn_parquet_schema_element *elements;
    size_t count;
    const firn_parquet_schema *schema;
    unsigned number; /**< from 1 */
} firn_parquet_known_schema;

/** The one with which `rest` begins: a list ends where its bytes say, so that nothing has to be read to know. NULL: none. */
const firn_parquet_known_schema *
firn_parquet_find_known_schema(const firn_parquet_known_schemas *schemas, firn_slice rest);
/** Whether there was no room for one already, so that it is not worth while to offer another one. */
bool firn_parquet_known_schemas_full(const firn_parquet_known_schemas *schemas);
/** Takes the arena over where *out is made of it; else *out is another thread's of the same bytes, or NULL where there is no room for more. */
firn_status firn_parquet_add_known_schema(firn_parquet_known_schemas *schemas,
                                          const firn_parquet_known_schema *added,
                                          const firn_parquet_known_schema **out, firn_error *error);

/** Reads a FileMetaData. `known` nullable: *shared is the one of them that its schema is, or NULL. */
firn_status firn_parquet_read_file_metadata(firn_thrift_reader *reader,
                                            firn_parquet_known_schemas *known,
                                            const firn_parquet_known_schema **shared,
                                            const firn_parquet_file_metadata **out,
                                            firn_error *error);

/** Reads a column chunk with its metadata. */
firn_status firn_parquet_read_column_chunk(firn_thrift_reader *reader,
                                           firn_parquet_column_chunk *out, firn_error *error);
void firn_parquet_write_column_chunk(firn_thrift_writer *writer,
                                     const firn_parquet_column_chunk *chunk);

/** firn_parquet_parse_page_header for bytes that stand at `file_offset`. */
firn_status firn_parquet_page_header_at(firn_slice bytes, uint64_t file_offset, const char *name,
                                        firn_parquet_page_header *out, size_t *consumed,
                                        firn_error *error);

/** Reads a footer's bytes; its errors say that it is the footer where they lie. */
firn_thrift_reader firn_parquet_footer_reader(firn_slice bytes, uint64_t file_offset,
                                              const char *name, firn_arena *arena);

#endif
