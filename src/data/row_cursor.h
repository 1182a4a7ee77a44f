/**
 * One leaf of the output schema, read entry by entry from a row group of an input file: levels in terms of the output, values
 * in terms of the table's type. Internal to data.
 *
 * Values are converted here from the file's form straight to typed values, apart from the rewriter's own conversions, so that
 * comparing contents before and after a rewrite is a check of both.
 */
#ifndef FIRN_DATA_ROW_CURSOR_H
#define FIRN_DATA_ROW_CURSOR_H

#include "data/projection.h"

typedef struct firn_row_cursor {
    const char *location;  /**< for messages */
    const firn_type *type; /**< of the table's column */
    const firn_parquet_leaf *output;
    const firn_parquet_leaf *input; /**< NULL: the file has no leaf for it */
    const firn_parquet_leaf_mapping *mapping;
    firn_parquet_chunk_reader *reader; /**< owned; kept from row group to row group */
    firn_parquet_batch batch;
    size_t level, value; /**< within the batch, of the entry after the present one */
    int64_t absent_rows; /**< without an input leaf: entries left */
    /* The present entry. */
    bool has_entry; /**< false: the row group is at its end */
    uint8_t repetition_level, definition_level;
    size_t value_index; /**< of its value, where the input has one */
} firn_row_cursor;

/** `type` is the leaf's in the table; everything is borrowed. */
void firn_row_cursor_init(firn_row_cursor *cursor, const char *location, const firn_type *type,
                          const firn_parquet_leaf *output, const firn_parquet_file *file,
                          const firn_parquet_leaf_mapping *mapping);
void firn_row_cursor_release(firn_row_cursor *cursor);

/** Goes to the first entry of a row group. */
firn_status firn_row_cursor_start(firn_row_cursor *cursor, const firn_parquet_file *file,
                                  size_t row_group, firn_error *error);
/** Goes to the next entry. */
firn_status firn_row_cursor_next(firn_row_cursor *cursor, firn_error *error);

/** The value of the present entry, whose definition level must be the output's maximum. Borrowed until the next step. */
firn_status firn_row_cursor_value(const firn_row_cursor *cursor, firn_value *out,
                                  firn_error *error);

#endif
