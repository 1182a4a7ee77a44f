/**
 * Writing Thrift's compact protocol into a buffer. The first failure is kept and ends all further writing, so
 * that callers look at `status` once, at the end. Fields go out in rising order of id.
 */
#ifndef FIRN_PARQUET_THRIFT_WRITE_H
#define FIRN_PARQUET_THRIFT_WRITE_H

#include "base/buffer.h"
#include "parquet/thrift_read.h"

/** Structs within one another; Parquet's own go to 7. */
#define FIRN_THRIFT_WRITE_DEPTH 16

typedef struct firn_thrift_writer {
    firn_buffer *out;
    firn_error *error;
    firn_status status;
    int depth;
    int last_id[FIRN_THRIFT_WRITE_DEPTH]; /**< of each open struct, for the id's delta */
} firn_thrift_writer;

/** The outermost struct is open at once and is closed by firn_thrift_write_end like any other. */
firn_thrift_writer firn_thrift_writer_of(firn_buffer *out, firn_error *error);

void firn_thrift_write_bool(firn_thrift_writer *writer, int id, bool value);
void firn_thrift_write_i8(firn_thrift_writer *writer, int id, int8_t value);
void firn_thrift_write_i16(firn_thrift_writer *writer, int id, int16_t value);
void firn_thrift_write_i32(firn_thrift_writer *writer, int id, int32_t value);
void firn_thrift_write_i64(firn_thrift_writer *writer, int id, int64_t value);
void firn_thrift_write_binary(firn_thrift_writer *writer, int id, firn_slice value);
void firn_thrift_write_text(firn_thrift_writer *writer, int id, const char *value);
void firn_thrift_write_struct(firn_thrift_writer *writer, int id);
/** Closes the innermost struct. */
void firn_thrift_write_end(firn_thrift_writer *writer);
/** A struct without fields, as union members have it. */
void firn_thrift_write_empty(firn_thrift_writer *writer, int id);

/** A list's header; then come `count` elements by the functions below. */
void firn_thrift_write_list(firn_thrift_writer *writer, int id, firn_thrift_type element,
                            size_t count);
void firn_thrift_write_item_bool(firn_thrift_writer *writer, bool value);
void firn_thrift_write_item_int(firn_thrift_writer *writer, int64_t value);
void firn_thrift_write_item_binary(firn_thrift_writer *writer, firn_slice value);
void firn_thrift_write_item_struct(firn_thrift_writer *writer);
/** A whole list<i64>. */
void firn_thrift_write_list_i64(firn_thrift_writer *writer, int id, const int64_t *values,
                                size_t count);

#endif
