/*
 * Which statistics can be trusted (parquet.thrift, Statistics and ColumnOrder).
 *
 * min_value and max_value mean something only where column_orders names the type's own order; without column_orders, for types that have but one order (booleans, signed integers,
 * floating point).
 *
 * The deprecated pair was compared as signed by all writers, also where that is wrong: it counts for types that are signed. Of floating point only from parquet-mr, whose comparisons either
 * skip NaN or keep it as the bound, where it is seen. parquet-cpp before 1.4 let NaN reset a bound: nothing that it says of floating point counts.
 *
 * Whether a bound of a byte array is a value of the column, where no flag says so, follows from the writer. Seen in files that were written for it, with values of 300 and of 5000 bytes:
 *
 *   PyArrow 26     sets flags; bounds are whole, and left out where they are longer than 4096 bytes
 *   DuckDB 1.5.5   sets flags; bounds are cut after 256 bytes, the flag is false then
 *   Spark 4.1      (parquet-mr 1.17) no flags; bounds are whole unless parquet.statistics.truncate.length is set, which no reader can see: unknown
 *
 * Before it had flags parquet-cpp-arrow had nothing that cuts bounds. All others: unknown, which costs little, for bounds that are equal are exact in any case (facts.c).
 */
#include <string.h>

#include "lake/facts_internal.h"

static bool begins_with(const char *text, const char *prefix) {
    return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_floating(firn_parquet_order order) {
    return order == FIRN_PARQUET_ORDER_FLOAT || order == FIRN_PARQUET_ORDER_DOUBLE;
}

static bool is_signed(firn_parquet_order order) {
    return order == FIRN_PARQUET_ORDER_BOOLEAN || order == FIRN_PARQUET_ORDER_INT32 ||
           order == FIRN_PARQUET_ORDER_INT64;
}

/* "parquet-cpp version 1.0.0" … "1.3.x"; later names are "1.4.0", "1.5.1", then "parquet-cpp-arrow version …". */
static bool loses_bounds_to_nan(const char *created_by) {
    static const char prefix[] = "parquet-cpp version ";
    if (!begins_with(created_by, prefix)) return false;
    const char *version = created_by + sizeof prefix - 1;
    if (version[0] == '0') return true;
    return version[0] == '1' && version[1] == '.' && version[2] >= '0' && version[2] <= '3' &&
           !(version[3] >= '0' && version[3] <= '9');
}

static bool order_is_defined(const firn_parquet_file_metadata *metadata, size_t leaf,
                             firn_parquet_order order) {
    if (metadata->column_orders != NULL) {
        return leaf < metadata->column_order_count && metadata->column_orders[leaf] == 1;
    }
    return is_signed(order) || is_floating(order);
}

static bool deprecated_is_trusted(const firn_parquet_file_metadata *metadata,
                                  firn_parquet_order order) {
    if (is_floating(order)) return begins_with(metadata->created_by, "parquet-mr version ");
    return is_signed(order);
}

/* DuckDB takes byte arrays of rows whose struct is null into the bounds, and calls them exact: they still hold, but may be no values. */
static bool is_exact(const firn_parquet_file_metadata *metadata, const firn_parquet_leaf *leaf,
                     bool has_flag, bool flag) {
    const firn_parquet_schema_element *element = leaf->node->element;
    if (has_flag && element->type == FIRN_PARQUET_BYTE_ARRAY && leaf->path_length > 1 &&
        begins_with(metadata->created_by, "DuckDB version ")) {
        return false;
    }
    if (has_flag) return flag;
    /* A decimal has no prefix that bounds it. */
    return element->type != FIRN_PARQUET_BYTE_ARRAY ||
           element->logical.kind == FIRN_PARQUET_LOGICAL_DECIMAL ||
           begins_with(metadata->created_by, "parquet-cpp-arrow version ");
}

static bool is_sound(const firn_parquet_schema_element *element, firn_parquet_order order,
                     firn_slice bound) {
    if (bound.data == NULL) return true;
    if (element->type != FIRN_PARQUET_BYTE_ARRAY &&
        bound.size != firn_parquet_value_width(element->type, element->type_length)) {
        return false;
    }
    if (order == FIRN_PARQUET_ORDER_DECIMAL && bound.size == 0) return false;
    if (order == FIRN_PARQUET_ORDER_BOOLEAN && bound.data[0] > 1) return false;
    return !firn_parquet_is_nan(order, bound);
}

firn_lake_chunk_bounds firn_lake_trusted_bounds(const firn_parquet_file_metadata *metadata,
                                                const firn_parquet_leaf *leaf,
                                                const firn_parquet_statistics *statistics) {
    static const firn_lake_chunk_bounds none = {0};
    const firn_parquet_schema_element *element = leaf->node->element;
    const firn_parquet_statistics *s = statistics;
    firn_parquet_order order = firn_parquet_order_of(element);
    if (order == FIRN_PARQUET_ORDER_NONE || order == FIRN_PARQUET_ORDER_FLOAT16) return none;
    if (is_floating(order) && loses_bounds_to_nan(metadata->created_by)) return none;
    firn_lake_chunk_bounds out = none;
    if ((s->min_value.data != NULL || s->max_value.data != NULL) &&
        order_is_defined(metadata, (size_t)leaf->index, order)) {
        out.lower = s->min_value;
        out.upper = s->max_value;
        out.lower_exact = is_exact(metadata, leaf, s->has_min_exact, s->min_exact);
        out.upper_exact = is_exact(metadata, leaf, s->has_max_exact, s->max_exact);
    } else if (deprecated_is_trusted(metadata, order)) {
        out.lower = s->deprecated_min;
        out.upper = s->deprecated_max;
        out.lower_exact = out.upper_exact = true;
    }
    if (!is_sound(element, order, out.lower) || !is_sound(element, order, out.upper)) return none;
    if (out.lower.data != NULL && out.upper.data != NULL &&
        firn_parquet_compare(order, out.lower, out.upper) > 0) {
        return none;
    }
    return out;
}
