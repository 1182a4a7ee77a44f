/**
 * Reading Thrift's compact protocol: a cursor over bytes that lie in memory. Structs are read field by field:
 *
 *     firn_thrift_field field = {0};
 *     for (;;) {
 *         FIRN_TRY(firn_thrift_next(reader, &field, error));
 *         if (field.type == FIRN_THRIFT_STOP) break;
 *         switch (field.id) { case 1: … read it …; default: FIRN_TRY(firn_thrift_skip(…)); }
 *     }
 *
 * Every count is held against the bytes that are left, and what is allocated against a budget, so that neither
 * time nor memory outgrow the input. Errors are CORRUPT and name file, field and byte offset.
 */
#ifndef FIRN_PARQUET_THRIFT_READ_H
#define FIRN_PARQUET_THRIFT_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/slice.h"

typedef enum firn_thrift_type {
    FIRN_THRIFT_STOP = 0,
    FIRN_THRIFT_TRUE = 1, /**< also the element type of lists of bool */
    FIRN_THRIFT_FALSE = 2,
    FIRN_THRIFT_I8 = 3,
    FIRN_THRIFT_I16 = 4,
    FIRN_THRIFT_I32 = 5,
    FIRN_THRIFT_I64 = 6,
    FIRN_THRIFT_DOUBLE = 7,
    FIRN_THRIFT_BINARY = 8,
    FIRN_THRIFT_LIST = 9,
    FIRN_THRIFT_SET = 10,
    FIRN_THRIFT_MAP = 11,
    FIRN_THRIFT_STRUCT = 12,
    FIRN_THRIFT_UUID = 13
} firn_thrift_type;

typedef struct firn_thrift_reader {
    firn_slice bytes;
    size_t position;
    uint64_t file_offset; /**< of bytes.data[0], for messages */
    const char *name;     /**< of the file, for messages */
    firn_arena *arena;    /**< NULL where nothing is allocated */
    size_t budget;        /**< bytes that may still be allocated */
} firn_thrift_reader;

typedef struct firn_thrift_field {
    int16_t id;
    uint8_t type;
    uint64_t seen; /**< bit n: field n has come, for ids below 64 */
} firn_thrift_field;

/** Memory that a parsed form may take: a fixed part and a multiple of the serialized size, which well-formed metadata stays far below. */
firn_thrift_reader firn_thrift_reader_of(firn_slice bytes, uint64_t file_offset, const char *name,
                                         firn_arena *arena);

/** CORRUPT "name: field: message at byte N", where N is the present position. */
firn_status firn_thrift_fail(const firn_thrift_reader *reader, const char *what, firn_error *error,
                             const char *format, ...) FIRN_PRINTF(4, 5);

/** The next field's header; type STOP at the end of the struct. */
firn_status firn_thrift_next(firn_thrift_reader *reader, firn_thrift_field *field,
                             firn_error *error);
/** Fails unless field `id` was seen; `what` is its name. */
firn_status firn_thrift_require(const firn_thrift_reader *reader, const firn_thrift_field *field,
                                int id, const char *what, firn_error *error);
/** Skips a value by its wire type. */
firn_status firn_thrift_skip(firn_thrift_reader *reader, uint8_t type, firn_error *error);

/* Field values, checked against the wire type. Integers are accepted in every width in which they fit. */
firn_status firn_thrift_bool(firn_thrift_reader *reader, const firn_thrift_field *field,
                             const char *what, bool *out, firn_error *error);
firn_status firn_thrift_i32(firn_thrift_reader *reader, const firn_thrift_field *field,
                            const char *what, int32_t *out, firn_error *error);
firn_status firn_thrift_i64(firn_thrift_reader *reader, const firn_thrift_field *field,
                            const char *what, int64_t *out, firn_error *error);
/** Borrows from the input; never NULL data. */
firn_status firn_thrift_binary(firn_thrift_reader *reader, const firn_thrift_field *field,
                               const char *what, firn_slice *out, firn_error *error);
/** A zero-terminated copy in the arena; a zero byte inside is CORRUPT. */
firn_status firn_thrift_text(firn_thrift_reader *reader, const firn_thrift_field *field,
                             const char *what, const char **out, firn_error *error);
firn_status firn_thrift_struct(const firn_thrift_reader *reader, const firn_thrift_field *field,
                               const char *what, firn_error *error);
/** A list's header. The elements that follow are of type `element`, then given as a field with that type. */
firn_status firn_thrift_list(firn_thrift_reader *reader, const firn_thrift_field *field,
                             const char *what, firn_thrift_type element, size_t *count,
                             firn_thrift_field *item, firn_error *error);
/** One element of a list of bool: a byte, unlike in a field. */
firn_status firn_thrift_list_bool(firn_thrift_reader *reader, const char *what, bool *out,
                                  firn_error *error);
/** A whole list<i64>, copied into the arena; *out is never NULL. */
firn_status firn_thrift_list_i64(firn_thrift_reader *reader, const firn_thrift_field *field,
                                 const char *what, const int64_t **out, size_t *count,
                                 firn_error *error);

/** Zeroed memory of the arena within the budget (LIMIT above it); never NULL on success. */
firn_status firn_thrift_alloc(firn_thrift_reader *reader, size_t count, size_t size, void **out,
                              firn_error *error);
/** Copies a slice into the arena; its data is not NULL even when it is empty. */
firn_status firn_thrift_copy(firn_thrift_reader *reader, firn_slice *slice, firn_error *error);

#endif
