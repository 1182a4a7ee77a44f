/** A row filter as it was written, before columns and types are known. Internal to iceberg. */
#ifndef FIRN_ICEBERG_EXPRESSION_PARSE_H
#define FIRN_ICEBERG_EXPRESSION_PARSE_H

#include "iceberg/expression_tree.h"

typedef enum firn_literal_kind {
    FIRN_LITERAL_TEXT,
    FIRN_LITERAL_NUMBER,
    FIRN_LITERAL_BOOLEAN
} firn_literal_kind;

typedef struct firn_literal {
    firn_literal_kind kind;
    const char *text; /**< TEXT: without quotes; NUMBER: as written */
    size_t length;
    bool boolean;
    size_t position; /**< in the filter's text, from 1 */
} firn_literal;

/** The operators are those of expression_tree.h, and NOT. */
typedef struct firn_parsed_filter {
    firn_operator op;
    const struct firn_parsed_filter *children; /**< of AND, OR; the one of NOT */
    size_t child_count;
    const char *column; /**< dotted; of the others, TRUE and FALSE apart */
    size_t position;    /**< of the column, from 1 */
    const firn_literal *literals;
    size_t literal_count;
} firn_parsed_filter;

firn_status firn_filter_parse_text(const char *text, firn_arena *arena,
                                   const firn_parsed_filter **out, firn_error *error);

/** Begins every message about the text of a filter. */
#define FIRN_FILTER_AT "filter: at character %zu: "

#endif
