/** Values as people read them: decimals with their point, dates and times as ISO 8601, text as text, other bytes as 0x…. */
#ifndef FIRN_PARQUET_VALUE_TEXT_H
#define FIRN_PARQUET_VALUE_TEXT_H

#include "base/buffer.h"
#include "parquet/metadata.h"

/** Bytes of a byte array that are shown; of a longer one, that many and "…". */
#define FIRN_PARQUET_VALUE_TEXT_LENGTH 64

/**
 * Appends the value, given in PLAIN form (byte arrays without their length), by the column's type and annotation. One of a wrong
 * size for the type is shown as bytes. The result is UTF-8.
 */
firn_status firn_parquet_value_text(const firn_parquet_schema_element *element, firn_slice value,
                                    firn_buffer *out, firn_error *error);

/** The type as LogicalTypes.md writes it: "INT32", "BYTE_ARRAY STRING", "INT64 TIMESTAMP(MICROS, UTC)". */
firn_status firn_parquet_type_text(const firn_parquet_schema_element *element, firn_buffer *out,
                                   firn_error *error);

#endif
