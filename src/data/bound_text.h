/**
 * Shortening bounds as the metrics mode truncate(n) asks: text by code points, binary and fixed by bytes, nothing else. An upper bound
 * that was cut is made greater at its end. Internal to data and lake.
 */
#ifndef FIRN_DATA_BOUND_TEXT_H
#define FIRN_DATA_BOUND_TEXT_H

#include "iceberg/value.h"

/** False for text that is no UTF-8: readers could not decode the bound. */
bool firn_bound_is_usable(const firn_value *value);

/** Cuts a lower bound to `length` characters or bytes (above 0). */
void firn_bound_truncate(firn_value *value, int32_t length);

/** The shortest-enough upper bound, new bytes in `arena`; *exists false when every character is the highest. The value must be usable. */
firn_status firn_bound_truncate_up(firn_value *value, int32_t length, firn_arena *arena,
                                   bool *exists, firn_error *error);

#endif
