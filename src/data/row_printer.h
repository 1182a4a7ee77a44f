/**
 * Rows of a row group as text, assembled from all leaves: canonical JSON or CSV (rows.h). Rows that were deleted or that the filter does not want are stepped over. Holds one page per leaf and one row. Internal to data.
 */
#ifndef FIRN_DATA_ROW_PRINTER_H
#define FIRN_DATA_ROW_PRINTER_H

#include "data/row_cursor.h"
#include "data/rows.h"

/** One file, opened under a selection. Everything is borrowed. */
typedef struct firn_row_file {
    const firn_parquet_file *file;
    const char *location;
    const firn_parquet_schema *output; /**< the Parquet form of the selection's schema */
    const firn_projection *projection;
    const firn_roaring *deleted; /**< positions in the file; nullable */
    /** What rows without lineage of their own inherit; -1: null. */
    int64_t first_row_id, sequence_number;
} firn_row_file;

typedef struct firn_row_printer firn_row_printer;

/** UNSUPPORTED names a shown column whose values have no text. */
firn_status firn_row_printer_new(const firn_row_selection *selection, const firn_row_file *file,
                                 firn_row_printer **out, firn_error *error);
/** NULL is allowed. */
void firn_row_printer_free(firn_row_printer *printer);

/**
 * Visits the wanted rows of a row group, whose first row stands at `first_position` in the file; `left` as for firn_rows_of_file. CORRUPT where its columns do not
 * agree on the rows.
 */
firn_status firn_row_printer_row_group(firn_row_printer *printer, size_t row_group,
                                       int64_t first_position, int64_t *left,
                                       firn_row_visitor visit, void *context, firn_error *error);

#endif
