/*
 * The one rule of which statistics can be trusted (parquet.thrift, Statistics and ColumnOrder).
 *
 * min_value and max_value mean something only where column_orders names the type's own order. The deprecated pair was compared as signed by
 * all writers, also where that is wrong, so that it counts for booleans and signed integers only; of floating point it does not tell what NaN
 * did to it.
 *
 * Whether a bound of a byte array is a value of the column, where no flag says so, follows from the writer. Seen in files that were written for
 * it, with values of 300 and of 5000 bytes:
 *
 *   PyArrow 26     sets flags; bounds are whole, and left out where they are longer than 4096 bytes
 *   DuckDB 1.5.5   sets flags; bounds are cut after 256 bytes, the flag is false then
 *   Spark 4.1      (parquet-mr 1.17) no flags; bounds are whole unless parquet.statistics.truncate.length is set, which no reader can see: unknown
 *
 * Before it had flags parquet-cpp-arrow had nothing that cuts bounds. All others: unknown.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "parquet/statistics_trust.h"

/* Bits for the orders that a fault is about, and one for decimals in BYTE_ARRAY alone. */
#define OF(order) (1U << FIRN_PARQUET_ORDER_##order)
#define DECIMAL_IN_BYTE_ARRAY (1U << 31)

typedef struct writer_fault {
    const char *writer; /* how created_by begins, up to the version */
    int major, minor;   /* the first version without the fault */
    unsigned orders;
} writer_fault;

/* No version is known to be free of it, or created_by does not tell versions. */
#define ANY_VERSION INT_MAX, 0

static const writer_fault writer_faults[] = {
    /* NaN reset a bound, which then left out the values before it. */
    {"parquet-cpp version ", 1, 4, OF(FLOAT) | OF(DOUBLE)},
    /* Decimals in bytes were compared as lists of signed bytes (PARQUET-1655, PARQUET-2003); Arrow changed its name on the way. */
    {"parquet-cpp version ", ANY_VERSION, OF(DECIMAL)},
    {"parquet-cpp-arrow version ", 4, 0, OF(DECIMAL)},
    /* Shorter byte arrays came before longer ones (apache/arrow-rs#641); decimals in BYTE_ARRAY as unsigned (apache/arrow-rs#11087). */
    {"parquet-rs version ", 6, 0, OF(BYTES)},
    {"parquet-rs version ", ANY_VERSION, DECIMAL_IN_BYTE_ARRAY},
    /* A byte array was no less than its own beginning (pola-rs/polars#25817), decimals and halves were unsigned (#29347), UINT64 signed (#16683). */
    {"Polars", ANY_VERSION, OF(BYTES) | OF(DECIMAL) | OF(UINT64) | OF(FLOAT16)},
    /* Decimals were compared as unsigned (ClickHouse/ClickHouse#83754). */
    {"ClickHouse v", 25, 9, OF(DECIMAL)},
    /* Bounds pointed into a page's memory, which the next page took (parquet-go/parquet-go#53). */
    {"github.com/segmentio/parquet-go version ", ANY_VERSION, OF(BYTES) | OF(DECIMAL)},
    {"github.com/parquet-go/parquet-go version v", 0, 18, OF(BYTES) | OF(DECIMAL)},
    {"github.com/parquet-go/parquet-go version (", ANY_VERSION, OF(BYTES) | OF(DECIMAL)},
};

static bool begins_with(const char *text, const char *prefix) {
    return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A number that is there; more than INT_MAX is as good as that. */
static bool read_number(const char **text, int *out) {
    if (**text < '0' || **text > '9') return false;
    char *end = NULL;
    unsigned long number = strtoul(*text, &end, 10);
    *out = number > INT_MAX ? INT_MAX : (int)number;
    *text = end;
    return true;
}

/* "1.4.0": whether that is below major.minor. What can't be read is. */
static bool is_older(const char *version, int major, int minor) {
    int found_major = 0, found_minor = 0;
    if (!read_number(&version, &found_major) || *version++ != '.') return true;
    if (!read_number(&version, &found_minor)) return true;
    return found_major < major || (found_major == major && found_minor < minor);
}

static bool is_known_to_be_wrong(const char *created_by, firn_parquet_order order,
                                 firn_parquet_physical_type type) {
    unsigned orders = 1U << order;
    if (order == FIRN_PARQUET_ORDER_DECIMAL && type == FIRN_PARQUET_BYTE_ARRAY) {
        orders |= DECIMAL_IN_BYTE_ARRAY;
    }
    for (size_t i = 0; i < sizeof writer_faults / sizeof *writer_faults; i++) {
        const writer_fault *fault = &writer_faults[i];
        if ((fault->orders & orders) == 0 || !begins_with(created_by, fault->writer)) continue;
        if (is_older(created_by + strlen(fault->writer), fault->major, fault->minor)) return true;
    }
    return false;
}

bool firn_parquet_has_type_order(const firn_parquet_file_metadata *metadata, size_t leaf) {
    return metadata->column_orders != NULL && leaf < metadata->column_order_count &&
           metadata->column_orders[leaf] == 1;
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

firn_parquet_trusted_pair firn_parquet_trust_bounds(const firn_parquet_file_metadata *metadata,
                                                    const firn_parquet_leaf *leaf,
                                                    const firn_parquet_statistics *statistics) {
    static const firn_parquet_trusted_pair none = {0};
    const firn_parquet_schema_element *element = leaf->node->element;
    const firn_parquet_statistics *s = statistics;
    firn_parquet_order order = firn_parquet_order_of(element);
    if (order == FIRN_PARQUET_ORDER_NONE) return none;
    if (is_known_to_be_wrong(metadata->created_by, order, element->type)) return none;
    firn_parquet_trusted_pair out = none;
    if ((s->min_value.data != NULL || s->max_value.data != NULL) &&
        firn_parquet_has_type_order(metadata, (size_t)leaf->index)) {
        out.minimum = s->min_value;
        out.maximum = s->max_value;
        out.minimum_exact = is_exact(metadata, leaf, s->has_min_exact, s->min_exact);
        out.maximum_exact = is_exact(metadata, leaf, s->has_max_exact, s->max_exact);
    } else if (firn_parquet_order_is_signed(order)) {
        out.minimum = s->deprecated_min;
        out.maximum = s->deprecated_max;
        out.minimum_exact = out.maximum_exact = true;
    }
    out.minimum_exact &= out.minimum.data != NULL;
    out.maximum_exact &= out.maximum.data != NULL;
    if (!is_sound(element, order, out.minimum) || !is_sound(element, order, out.maximum)) {
        return none;
    }
    if (out.minimum.data != NULL && out.maximum.data != NULL &&
        firn_parquet_compare(order, out.minimum, out.maximum) > 0) {
        return none;
    }
    return out;
}

int64_t firn_parquet_trust_nan_count(const firn_parquet_leaf *leaf,
                                     const firn_parquet_column_chunk *chunk) {
    const firn_parquet_statistics *s = &chunk->statistics;
    if (!firn_parquet_order_has_nan(firn_parquet_order_of(leaf->node->element))) return 0;
    int64_t most = chunk->num_values;
    bool has_nulls = leaf->maximum_definition_level > 0 && s->has_null_count && s->null_count > 0 &&
                     s->null_count <= most;
    if (has_nulls) most -= s->null_count;
    if (most == 0) return 0;
    bool known = s->has_nan_count && s->nan_count >= 0 && s->nan_count <= most;
    return known ? s->nan_count : -1;
}
