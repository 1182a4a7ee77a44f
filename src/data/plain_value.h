/**
 * Between Parquet's value bytes and Iceberg's typed values (specification, appendix A "Parquet"). PLAIN form: little-endian
 * numbers, one byte for a boolean, byte arrays without a length. Internal to data.
 */
#ifndef FIRN_DATA_PLAIN_VALUE_H
#define FIRN_DATA_PLAIN_VALUE_H

#include "iceberg/value.h"
#include "parquet/metadata.h"

/** Bytes of the shortest two's complement that holds every decimal of this precision (1 … 38). */
int32_t firn_decimal_required_bytes(int32_t precision);

/** Sets physical type, length and annotation of a primitive type's column. UNSUPPORTED for types that firn can't write. */
firn_status firn_plain_form_of_type(const firn_type *type, firn_parquet_schema_element *element,
                                    firn_error *error);

/**
 * A value as a column of `type` in its own form holds it. Values that were written before a promotion (int for long, …) are widened.
 * The bytes are in `arena`, never NULL. CORRUPT when the value does not fit the type.
 */
firn_status firn_plain_from_value(const firn_type *type, const firn_value *value, firn_arena *arena,
                                  firn_slice *out, firn_error *error);

/** The value of a column of `type` in its own form; bytes are borrowed. CORRUPT on a wrong size. */
firn_status firn_plain_to_value(const firn_type *type, firn_slice plain, firn_value *out,
                                firn_error *error);

#endif
