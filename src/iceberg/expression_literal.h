/** Literals of a row filter as values of a column's type. Internal to iceberg. */
#ifndef FIRN_ICEBERG_EXPRESSION_LITERAL_H
#define FIRN_ICEBERG_EXPRESSION_LITERAL_H

#include "iceberg/expression_parse.h"

typedef struct firn_converted_literal {
    firn_value value;
    bool exact; /**< false: `value` is the next lower one that the type has */
    int beyond; /**< -1, 1: below, above every value of the type; `value` is not set */
} firn_converted_literal;

/** INVALID names the column (`name`) and what its type takes. */
firn_status firn_literal_convert(const firn_literal *literal, const char *name,
                                 const firn_type *type, firn_arena *arena,
                                 firn_converted_literal *out, firn_error *error);

/** Whether the type's values are whole numbers of something, so that x < 5 is x <= 4. */
bool firn_type_is_discrete(firn_type_kind kind);
/** The neighbour in the direction of `step` (1 or -1) of a discrete value; false where the type has none. */
bool firn_value_step(const firn_value *value, int step, firn_value *out);

#endif
