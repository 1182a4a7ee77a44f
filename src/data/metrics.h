/** Column metrics of a data file, as the table's properties ask for them (write.metadata.metrics.*, write.parquet.stats-enabled.*; design 6.1). */
#ifndef FIRN_DATA_METRICS_H
#define FIRN_DATA_METRICS_H

#include "iceberg/manifest.h"
#include "parquet/chunk_writer.h"

typedef enum firn_metrics_kind {
    FIRN_METRICS_NONE,
    FIRN_METRICS_SIZES, /**< bytes and the number of values, nulls among them */
    FIRN_METRICS_COUNTS,
    FIRN_METRICS_TRUNCATE,
    FIRN_METRICS_FULL
} firn_metrics_kind;

typedef struct firn_metrics_mode {
    firn_metrics_kind kind;
    int32_t truncate_length;
} firn_metrics_mode;

/**
 * The mode of each leaf: write.metadata.metrics.column.<name>, else write.metadata.metrics.default, else truncate(16) for the first
 * write.metadata.metrics.max-inferred-column-defaults (100) columns and none beyond; sort columns promoted to truncate(16). Columns of which the table wants no statistics (write.parquet.stats-enabled.column.<name>) get sizes at most. Leaves below lists and maps get counts at most (no bounds), those within a variant (id -1) nothing.
 */
firn_status firn_metrics_modes(const firn_table_metadata *metadata, const firn_schema *schema,
                               const int32_t *leaf_field_ids, size_t leaf_count,
                               firn_metrics_mode *modes, firn_error *error);

/** What is known of one column of a data file. */
typedef struct firn_column_metrics {
    const firn_field *field;
    firn_metrics_mode mode; /**< NONE: the column gets no metrics */
    int64_t compressed_bytes, values;
    int64_t nulls, nans; /**< -1: unknown; NaN only count for float and double */
    bool has_lower, has_upper;
    firn_value lower, upper; /**< of the field's type */
} firn_column_metrics;

/** Fills the metric maps of `out` (in `arena`) from columns, as firn_metrics_fill does from totals. */
firn_status firn_metrics_of_columns(const firn_column_metrics *columns, size_t count,
                                    firn_arena *arena, firn_data_file *out, firn_error *error);

/** Sums over the chunks of one leaf in one output file. */
typedef struct firn_leaf_totals {
    int64_t levels, nulls, nans; /**< nans -1: unknown */
    int64_t compressed_bytes;
    bool has_bounds, bounds_unknown;
    bool bounds_inexact;          /**< shortened by an input's writer, maybe */
    firn_buffer minimum, maximum; /**< PLAIN form */
} firn_leaf_totals;

void firn_leaf_totals_init(firn_leaf_totals *totals);
void firn_leaf_totals_release(firn_leaf_totals *totals);
/** Adds a finished chunk; `leaf` gives the order. */
firn_status firn_leaf_totals_add(firn_leaf_totals *totals, const firn_parquet_leaf *leaf,
                                 const firn_parquet_chunk *chunk, firn_error *error);

/**
 * Fills the metric maps of `out` (in `arena`): bounds in Iceberg's single-value form, lower truncated and upper truncated and incremented (code points for strings, bytes for binary; left out where it can't be);
 * value counts, null counts (list and map leaves as Iceberg's own writers count them), NaN counts only for float and double.
 */
firn_status firn_metrics_fill(const firn_schema *schema, const int32_t *leaf_field_ids,
                              const firn_metrics_mode *modes, const firn_leaf_totals *totals,
                              size_t leaf_count, firn_arena *arena, firn_data_file *out,
                              firn_error *error);

#endif
