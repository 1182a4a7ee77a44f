/** Partition transforms (specification, "Partition Transforms" and appendix B). */
#ifndef FIRN_ICEBERG_TRANSFORM_H
#define FIRN_ICEBERG_TRANSFORM_H

#include "iceberg/value.h"

typedef enum firn_transform_kind {
    FIRN_TRANSFORM_IDENTITY,
    FIRN_TRANSFORM_BUCKET,
    FIRN_TRANSFORM_TRUNCATE,
    FIRN_TRANSFORM_YEAR,
    FIRN_TRANSFORM_MONTH,
    FIRN_TRANSFORM_DAY,
    FIRN_TRANSFORM_HOUR,
    FIRN_TRANSFORM_VOID,
    FIRN_TRANSFORM_UNKNOWN /**< kept as text; its result type is string; never applied */
} firn_transform_kind;

typedef struct firn_transform {
    firn_transform_kind kind;
    int32_t parameter; /**< bucket count or truncate width */
    const char *text;  /**< as it stands in the metadata */
} firn_transform;

/** Names in any case, as other readers take them. CORRUPT for a bad parameter; any other text is UNKNOWN. */
firn_status firn_transform_parse(const char *text, firn_arena *arena, firn_transform *out,
                                 firn_error *error);
/** Result type for a source type (day: date); INVALID where the transform can't take the type. Static, or the source type itself. */
firn_status firn_transform_result_type(const firn_transform *transform, const firn_type *source,
                                       const firn_type **out, firn_error *error);
/** INVALID where the transform can't take the source type. */
firn_status firn_transform_check_source(const firn_transform *transform, const firn_type *source,
                                        firn_error *error);
/** Result type without that check; `source` may be NULL (not known any more): then NULL where the result follows from it. */
const firn_type *firn_transform_natural_result(const firn_transform *transform,
                                               const firn_type *source);
/** Null gives null. Text and binary results borrow from `value`. INVALID where the result does not fit (an hour far away, the lowest int cut), UNSUPPORTED for UNKNOWN. */
firn_status firn_transform_apply(const firn_transform *transform, const firn_type *source,
                                 const firn_value *value, firn_value *out, firn_error *error);
/** For partition paths: "2024-01", "2024-01-31", "2024-01-31-12", others as firn_value_print; null: "null". Appends, not yet URL-encoded. */
firn_status firn_transform_print(const firn_transform *transform, const firn_type *result,
                                 const firn_value *value, firn_buffer *out, firn_error *error);

#endif
