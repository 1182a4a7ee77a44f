/** Primitive types and their text. Internal to iceberg. */
#ifndef FIRN_ICEBERG_PRIMITIVE_H
#define FIRN_ICEBERG_PRIMITIVE_H

#include "iceberg/types.h"

/** The type that has no parameters, e.g. FIRN_TYPE_LONG; NULL for a kind that has some, or is nested. Static. */
const firn_type *firn_primitive_type(firn_type_kind kind);

/** Parses "long", "decimal(9, 2)", "fixed[16]", … UNSUPPORTED for an unknown name, CORRUPT for bad parameters. */
firn_status firn_primitive_parse(const char *text, const char *what, firn_arena *arena,
                                 const firn_type **out, firn_error *error);

/** Field ids above this one are reserved for metadata columns (specification, "Reserved Field IDs"). */
#define FIRN_HIGHEST_FIELD_ID ((int32_t)2147483447)

#endif
