/** A variant's JSON text (Parquet, VariantEncoding.md). Internal to data. */
#ifndef FIRN_DATA_VARIANT_TEXT_H
#define FIRN_DATA_VARIANT_TEXT_H

#include "base/buffer.h"

/**
 * Appends: objects with their keys in stored order, whole numbers and decimals (without trailing zeros) as numbers, floating point, dates, times, uuids and binary as
 * in canonical rows. CORRUPT names what is wrong in the two byte strings.
 */
firn_status firn_variant_print(firn_slice metadata, firn_slice value, firn_buffer *out,
                               firn_error *error);

/** Calls `visit` for each member of an object, in stored order; both slices are borrowed from the arguments. CORRUPT where the value is no object. */
firn_status firn_variant_visit_object(firn_slice metadata, firn_slice value,
                                      firn_status (*visit)(void *context, firn_slice name,
                                                           firn_slice value, firn_error *error),
                                      void *context, firn_error *error);

#endif
