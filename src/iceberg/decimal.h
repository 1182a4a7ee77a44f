/** Unscaled decimals as 128-bit integers (specification, appendix D and appendix B, note 2). */
#ifndef FIRN_ICEBERG_DECIMAL_H
#define FIRN_ICEBERG_DECIMAL_H

#include "iceberg/value.h"

/** Longest text of a decimal: sign, 39 digits, point, a leading zero for each place, terminating zero. */
#define FIRN_DECIMAL_TEXT_SIZE 96

/** Shortest big-endian two's complement into `out` (16 bytes); returns the length, 1 … 16. */
size_t firn_decimal_to_bytes(firn_int128 unscaled, uint8_t out[16]);
/** Any length from 1 byte on, with sign extension; false when empty or when the value needs more than 16 bytes. */
bool firn_decimal_from_bytes(firn_slice bytes, firn_int128 *out);
/** With exactly `scale` (0 … 38) digits behind the point. Returns the length. */
size_t firn_decimal_to_text(firn_int128 unscaled, int32_t scale, char text[FIRN_DECIMAL_TEXT_SIZE]);
/** Inverse of firn_decimal_to_text; false for another number of decimals, more than 38 digits or other text. */
bool firn_decimal_from_text(const char *text, int32_t scale, firn_int128 *out);
/** Whether the unscaled value has at most `precision` digits. */
bool firn_decimal_fits(firn_int128 unscaled, int32_t precision);

#endif
