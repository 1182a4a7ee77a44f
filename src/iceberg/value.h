/** Single values: partition values, bounds, defaults (specification, appendix D). */
#ifndef FIRN_ICEBERG_VALUE_H
#define FIRN_ICEBERG_VALUE_H

#include "base/buffer.h"
#include "base/slice.h"
#include "iceberg/types.h"

/** 128-bit signed integers: unscaled decimals. */
__extension__ typedef __int128 firn_int128;

typedef struct firn_value {
    bool is_null;
    firn_type_kind kind;
    union {
        bool boolean;
        int32_t int32; /**< INT, DATE */
        int64_t int64; /**< LONG, TIME, TIMESTAMP* (µs, or ns for *_NS) */
        float float32;
        double float64;
        firn_int128 decimal; /**< unscaled */
        firn_slice bytes;    /**< STRING, UUID (16 bytes), FIXED, BINARY; borrowed */
    } as;
} firn_value;

static inline firn_value firn_value_null(firn_type_kind kind) {
    firn_value value = {0};
    value.is_null = true;
    value.kind = kind;
    return value;
}

/** Binary form of bounds (appendix D): appends. Decimals in the shortest two's-complement form. */
firn_status firn_value_to_bytes(const firn_value *value, firn_buffer *out, firn_error *error);
/** Bounds of a field of `type`; bytes are borrowed. Accepts what promotion leaves behind (4 bytes for LONG, float for DOUBLE) and padded decimals. */
firn_status firn_value_from_bytes(const firn_type *type, firn_slice bytes, firn_value *out,
                                  firn_error *error);
/** JSON form (appendix D): new reference, NULL when memory is out or the value has no JSON form. */
json_t *firn_value_to_json(const firn_type *type, const firn_value *value);
firn_status firn_value_from_json(const firn_type *type, const json_t *json, firn_arena *arena,
                                 firn_value *out, firn_error *error);
/**
 * Appends the canonical text form of ../shared/tools style rows: numbers bare, floats by %.9g / %.17g, decimals with exactly the scale's digits, dates and times in
 * ISO 8601, uuid with dashes, binary as lower-case hexadecimal; `quoted` adds JSON quotes and escapes where the JSON form is a string. Null: null.
 */
firn_status firn_value_print(const firn_type *type, const firn_value *value, bool quoted,
                             firn_buffer *out, firn_error *error);

/** Total order of two non-null values of one kind: numbers by value (-0 < +0, NaN last), text and bytes unsigned, UUIDs as 16 unsigned bytes. */
int firn_value_compare(const firn_value *a, const firn_value *b);
/** Null-safe; NaN equals NaN. */
bool firn_value_equal(const firn_value *a, const firn_value *b);
/** Copies the bytes of a value into the arena. */
firn_status firn_value_copy(const firn_value *value, firn_arena *arena, firn_value *out,
                            firn_error *error);
/** A canonical key of a tuple of values, for maps: equal tuples give equal keys. Appends. */
firn_status firn_value_key(const firn_value *values, size_t count, firn_buffer *out,
                           firn_error *error);
/**
 * A key of a tuple whose bytes, compared as memcmp does, are in the order of the tuples: value by value as firn_value_compare has it, nulls first. Equal tuples give equal keys, and none is the
 * beginning of another tuple's of as many values. Appends.
 */
firn_status firn_value_order_key(const firn_value *values, size_t count, firn_buffer *out,
                                 firn_error *error);

#endif
