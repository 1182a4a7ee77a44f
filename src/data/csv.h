/** Fields of CSV as RFC 4180 quotes them. Internal to data. */
#ifndef FIRN_DATA_CSV_H
#define FIRN_DATA_CSV_H

#include "base/buffer.h"

/** Appends a field, in quotes where it holds a comma, a quote or a line's end, or nothing at all: an empty field is for null. */
firn_status firn_csv_append(firn_buffer *line, firn_slice text, firn_error *error);

#endif
