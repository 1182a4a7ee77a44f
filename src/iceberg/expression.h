/**
 * Row filters (design 13, `--where`): PyIceberg's row-filter grammar, bound to a schema; evaluated on rows, and against bounds and partition values to leave out what can't match (specification, "Scan Planning").
 * Immutable once bound.
 */
#ifndef FIRN_ICEBERG_EXPRESSION_H
#define FIRN_ICEBERG_EXPRESSION_H

#include "iceberg/manifest.h"

typedef struct firn_expression firn_expression;

/**
 * Parses and binds: comparisons (=, ==, !=, <>, <, <=, >, >=), IN, NOT IN, BETWEEN, IS [NOT] NULL, IS [NOT] NAN, LIKE 'prefix%' and NOT LIKE, AND, OR, NOT, parentheses, TRUE, FALSE; columns by dotted name, quoted with " where needed;
 * literals converted to the column's type exactly (dates and timestamps as ISO text). INVALID names the position in `text` or the unknown column with the nearest known one. In `arena`.
 */
firn_status firn_expression_parse(const char *text, const firn_schema *schema, firn_arena *arena,
                                  const firn_expression **out, firn_error *error);

/** Gives the value of a primitive column of the row at hand; only ids of firn_expression_columns are asked for. */
typedef firn_status (*firn_expression_row)(void *context, int32_t field_id, firn_value *out,
                                           firn_error *error);
/** Three-valued logic ended as two: a row for which it is unknown does not match. NaN as the specification orders it. */
firn_status firn_expression_matches_row(const firn_expression *expression, firn_expression_row row,
                                        void *context, bool *out, firn_error *error);
/** Ids of the columns that it looks at, ascending, without repeats. */
void firn_expression_columns(const firn_expression *expression, const int32_t **ids, size_t *count);

/* What may match is kept: true where nothing is known. */

/** By the partition summaries of a manifest. `spec` is the manifest's. */
bool firn_expression_may_match_manifest(const firn_expression *expression,
                                        const firn_partition_spec *spec, const firn_schema *schema,
                                        const firn_manifest_file *manifest);
/** By partition tuple and column metrics of a data file. */
bool firn_expression_may_match_file(const firn_expression *expression,
                                    const firn_partition_spec *spec, const firn_schema *schema,
                                    const firn_data_file *file);

#endif
