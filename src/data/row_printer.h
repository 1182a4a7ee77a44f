/**
 * Rows of a row group in their canonical text form, assembled from all leaves: one JSON object a row without spaces, keys in schema
 * order, maps as arrays of [key,value] sorted by their text. Holds one page per leaf and one row. Internal to data.
 */
#ifndef FIRN_DATA_ROW_PRINTER_H
#define FIRN_DATA_ROW_PRINTER_H

#include "data/row_cursor.h"
#include "data/rows.h"

typedef struct firn_row_printer firn_row_printer;

/** All arguments are borrowed; `output` is the Parquet form of `schema`. */
firn_status firn_row_printer_new(const firn_schema *schema, const firn_parquet_schema *output,
                                 const firn_parquet_file *file, const char *location,
                                 const firn_projection *projection, firn_row_printer **out,
                                 firn_error *error);
void firn_row_printer_free(firn_row_printer *printer);

/** Visits every row of a row group; CORRUPT where its columns do not agree on the rows. */
firn_status firn_row_printer_row_group(firn_row_printer *printer, size_t row_group,
                                       firn_row_visitor visit, void *context, firn_error *error);

#endif
