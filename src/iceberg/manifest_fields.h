/**
 * The fields of manifest entries and manifest lists as one table for schema and encoding. Internal
 * to iceberg.
 */
#ifndef FIRN_ICEBERG_MANIFEST_FIELDS_H
#define FIRN_ICEBERG_MANIFEST_FIELDS_H

#include <stdint.h>

#include "base/buffer.h"

/** How a field is stored. */
typedef enum firn_manifest_shape {
    FIRN_SHAPE_BOOLEAN,
    FIRN_SHAPE_INT,
    FIRN_SHAPE_LONG,
    FIRN_SHAPE_STRING,
    FIRN_SHAPE_BYTES,
    FIRN_SHAPE_COUNTS,    /**< map of int to long; `inner` is the key's id, the value's follows */
    FIRN_SHAPE_BOUNDS,    /**< map of int to bytes, likewise */
    FIRN_SHAPE_LONGS,     /**< list of long; `inner` is the element's id */
    FIRN_SHAPE_INTS,      /**< list of int, likewise */
    FIRN_SHAPE_PARTITION, /**< the tuple's record, by the spec */
    FIRN_SHAPE_SUMMARIES  /**< list of field_summary; `inner` is the element's id */
} firn_manifest_shape;

#define FIRN_IN_V1 1U
#define FIRN_IN_V2 2U
#define FIRN_IN_V3 4U
#define FIRN_IN_ALL (FIRN_IN_V1 | FIRN_IN_V2 | FIRN_IN_V3)

typedef struct firn_manifest_field {
    int32_t id;
    const char *name;
    firn_manifest_shape shape;
    int32_t inner;
    unsigned versions; /**< of the format that have the field */
    unsigned required; /**< of those, the ones in which it may not be null */
} firn_manifest_field;

static inline unsigned firn_version_bit(int format_version) {
    return 1U << (format_version - 1);
}
static inline bool firn_manifest_field_in(const firn_manifest_field *field, int format_version) {
    return (field->versions & firn_version_bit(format_version)) != 0;
}
static inline bool firn_manifest_field_required(const firn_manifest_field *field,
                                                int format_version) {
    return (field->required & firn_version_bit(format_version)) != 0;
}

/**
 * Appends a field's JSON: name, type (a union with null where it is optional), id. `type` is JSON
 * text.
 */
firn_status firn_manifest_put_field(firn_buffer *out, bool first, const char *name, int32_t id,
                                    const char *type, bool optional, firn_error *error);
/** Appends a field of any shape but PARTITION. */
firn_status firn_manifest_put_shape(firn_buffer *out, bool first, const firn_manifest_field *field,
                                    bool optional, firn_error *error);

#endif
