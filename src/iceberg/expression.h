/**
 * Row filters (design 13, `--where`): PyIceberg's row-filter grammar, bound to a schema; evaluated on rows, and against partition values and metrics to leave out what can't match
 * (specification, "Scan Planning"). Immutable once made; any thread may look.
 */
#ifndef FIRN_ICEBERG_EXPRESSION_H
#define FIRN_ICEBERG_EXPRESSION_H

#include "iceberg/manifest.h"

typedef struct firn_expression firn_expression;

/**
 * Parses and binds: comparisons (=, ==, !=, <>, <, <=, >, >=) of a column and a literal in either order, IN, NOT IN, [NOT] BETWEEN, IS [NOT] NULL, IS [NOT] NAN, [NOT] LIKE 'prefix%', AND, OR, NOT,
 * parentheses, TRUE, FALSE; columns by dotted name, parts in " where they are no words. A column stands for one value of each row: not a struct, nothing in a list or map.
 *
 * Literals become values of the column's type exactly: x < 5.5 of a long is x <= 5. Dates, times, timestamps and uuids are quoted text (ISO 8601; without a zone UTC is meant); a number for a
 * float is the nearest one. INVALID names the position in `text`, or the unknown column with the nearest known one. In `arena`; `schema` must live as long.
 */
firn_status firn_expression_parse(const char *text, const firn_schema *schema, firn_arena *arena,
                                  const firn_expression **out, firn_error *error);

/** Gives the value of a column of the row at hand; only ids of firn_expression_columns are asked for. Of types without values here (variant, geometry …) only is_null counts. */
typedef firn_status (*firn_expression_row)(void *context, int32_t field_id, firn_value *out,
                                           firn_error *error);
/**
 * Three-valued logic ended as two: a row for which it is unknown does not match, so a null matches IS NULL and nothing else. -0 equals +0; NaN is greater than every number.
 */
firn_status firn_expression_matches_row(const firn_expression *expression, firn_expression_row row,
                                        void *context, bool *out, firn_error *error);
/** Ids of the columns that it looks at, ascending, without repeats; in `arena`. */
firn_status firn_expression_columns(const firn_expression *expression, firn_arena *arena,
                                    const int32_t **ids, size_t *count, firn_error *error);

/** A filter made ready for files of one partition spec: inclusive projections through its transforms. */
typedef struct firn_file_filter firn_file_filter;

/** In `arena`; `expression` and `spec` must live as long. */
firn_status firn_file_filter_new(const firn_expression *expression, const firn_partition_spec *spec,
                                 firn_arena *arena, const firn_file_filter **out,
                                 firn_error *error);

/* What may match is kept: true where nothing is known, or what is known contradicts itself. */

/** By the partition summaries of a manifest of the spec. */
bool firn_file_filter_may_match_manifest(const firn_file_filter *filter,
                                         const firn_manifest_file *manifest);
/** By a partition tuple alone: also right for delete files, whose rows delete rows of data files with that tuple. */
bool firn_file_filter_may_match_partition(const firn_file_filter *filter, const firn_value *values,
                                          size_t count);
/** By partition tuple and column metrics of a data file. */
bool firn_file_filter_may_match_file(const firn_file_filter *filter, const firn_data_file *file);

#endif
