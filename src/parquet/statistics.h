/**
 * Bounds of a column: the least and the greatest value in the order that parquet.thrift defines for the column's type
 * (ColumnOrder, TypeDefinedOrder), NaN left out and counted, zeros of floating point given out as -0 and +0.
 */
#ifndef FIRN_PARQUET_STATISTICS_H
#define FIRN_PARQUET_STATISTICS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "parquet/batch.h"
#include "parquet/metadata.h"

typedef enum firn_parquet_order {
    FIRN_PARQUET_ORDER_NONE, /**< undefined: INT96, INTERVAL, VARIANT, geometry, unknown annotations */
    FIRN_PARQUET_ORDER_BOOLEAN,
    FIRN_PARQUET_ORDER_INT32,
    FIRN_PARQUET_ORDER_UINT32,
    FIRN_PARQUET_ORDER_INT64,
    FIRN_PARQUET_ORDER_UINT64,
    FIRN_PARQUET_ORDER_FLOAT,
    FIRN_PARQUET_ORDER_DOUBLE,
    FIRN_PARQUET_ORDER_FLOAT16,
    FIRN_PARQUET_ORDER_BYTES,  /**< unsigned, byte by byte */
    FIRN_PARQUET_ORDER_DECIMAL /**< big-endian two's complement of any length */
} firn_parquet_order;

firn_parquet_order firn_parquet_order_of(const firn_parquet_schema_element *element);

/** Whether NaN is a value of columns in this order. */
static inline bool firn_parquet_order_has_nan(firn_parquet_order order) {
    return order == FIRN_PARQUET_ORDER_FLOAT || order == FIRN_PARQUET_ORDER_DOUBLE ||
           order == FIRN_PARQUET_ORDER_FLOAT16;
}

/** Whether the order is that of signed comparison, by which all writers set the deprecated pair. */
static inline bool firn_parquet_order_is_signed(firn_parquet_order order) {
    return order == FIRN_PARQUET_ORDER_BOOLEAN || order == FIRN_PARQUET_ORDER_INT32 ||
           order == FIRN_PARQUET_ORDER_INT64;
}

/** <0, 0, >0 for two values in PLAIN form (byte arrays without a length) of the order's width; neither is NaN. */
int firn_parquet_compare(firn_parquet_order order, firn_slice a, firn_slice b);
/** Whether the value is one of the order's NaNs. */
bool firn_parquet_is_nan(firn_parquet_order order, firn_slice value);

/** Grows with the values that it is shown. */
typedef struct firn_parquet_bounds {
    firn_parquet_order order;
    bool present; /**< a value that is not NaN was seen */
    int64_t nan_count;
    /* One pair is in use, by the order. BOOLEAN and signed integers: i; unsigned: u; FLOAT and DOUBLE: d; else bytes. */
    int64_t least_i, greatest_i;
    uint64_t least_u, greatest_u;
    double least_d, greatest_d;
    firn_buffer least_bytes, greatest_bytes;
} firn_parquet_bounds;

void firn_parquet_bounds_init(firn_parquet_bounds *bounds, firn_parquet_order order);
void firn_parquet_bounds_release(firn_parquet_bounds *bounds);
/** Empties it and keeps the memory. */
void firn_parquet_bounds_clear(firn_parquet_bounds *bounds);

/** Takes in `count` fixed-width values in PLAIN form (BOOLEAN: one byte each). */
firn_status firn_parquet_bounds_add_fixed(firn_parquet_bounds *bounds, const uint8_t *values,
                                          size_t width, size_t count, firn_error *error);
/** Takes in slices[indices[0]], … (`indices` NULL: slices[0], …). */
firn_status firn_parquet_bounds_add_slices(firn_parquet_bounds *bounds, const firn_slice *slices,
                                           const uint32_t *indices, size_t count,
                                           firn_error *error);
/** Takes in one value of any type. */
firn_status firn_parquet_bounds_add_value(firn_parquet_bounds *bounds, firn_slice value,
                                          firn_error *error);
/** Takes in what `other` has seen. */
firn_status firn_parquet_bounds_merge(firn_parquet_bounds *bounds, const firn_parquet_bounds *other,
                                      firn_error *error);

/** Room for a fixed-width bound in PLAIN form. */
typedef struct firn_parquet_bound_room {
    uint8_t bytes[8];
} firn_parquet_bound_room;

/** The bounds in PLAIN form, in `room` or borrowed from the bounds; data == NULL where none is present. */
firn_slice firn_parquet_bounds_minimum(const firn_parquet_bounds *bounds,
                                       firn_parquet_bound_room *room);
firn_slice firn_parquet_bounds_maximum(const firn_parquet_bounds *bounds,
                                       firn_parquet_bound_room *room);

/** Longest byte array bound in footer and column index. */
#define FIRN_PARQUET_BOUND_LENGTH 64

/**
 * Shortens a byte array's lower bound to FIRN_PARQUET_BOUND_LENGTH bytes, of text at the end of a character. *exact tells whether
 * nothing was cut. Only for BYTE_ARRAY in byte order; anything else comes back as it is.
 */
firn_slice firn_parquet_shorten_minimum(const firn_parquet_schema_element *element,
                                        firn_slice value, bool *exact);
/**
 * Shortens an upper bound and makes its end greater, so that it stays one: the last byte or, of text, the last character that has
 * a successor. `room` holds the result. data == NULL when there is no such bound.
 */
firn_slice firn_parquet_shorten_maximum(const firn_parquet_schema_element *element,
                                        firn_slice value, uint8_t room[FIRN_PARQUET_BOUND_LENGTH],
                                        bool *exact);

#endif
