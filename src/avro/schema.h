/**
 * An Avro schema as an immutable tree (Avro specification, "Schema Declaration").
 *
 * Reading is lenient where leniency can't change a value: names are not held to the specification's
 * alphabet, unknown attributes and logical types are ignored. Thread-safe once parsed.
 */
#ifndef FIRN_AVRO_SCHEMA_H
#define FIRN_AVRO_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/slice.h"

/** Schemas nested deeper than this are refused (LIMIT). */
#define FIRN_AVRO_MAX_DEPTH 192
/** An id attribute that is not there. */
#define FIRN_AVRO_NO_ID (-1)

typedef enum firn_avro_kind {
    FIRN_AVRO_NULL,
    FIRN_AVRO_BOOLEAN,
    FIRN_AVRO_INT,
    FIRN_AVRO_LONG,
    FIRN_AVRO_FLOAT,
    FIRN_AVRO_DOUBLE,
    FIRN_AVRO_BYTES,
    FIRN_AVRO_STRING,
    FIRN_AVRO_RECORD,
    FIRN_AVRO_ENUM,
    FIRN_AVRO_ARRAY,
    FIRN_AVRO_MAP,
    FIRN_AVRO_UNION,
    FIRN_AVRO_FIXED
} firn_avro_kind;

/**
 * Logical types that are understood, on the kinds that they fit; any other is
 * FIRN_AVRO_LOGICAL_NONE.
 */
typedef enum firn_avro_logical {
    FIRN_AVRO_LOGICAL_NONE,
    FIRN_AVRO_LOGICAL_DECIMAL, /**< bytes or fixed, big-endian two's complement */
    FIRN_AVRO_LOGICAL_UUID,    /**< fixed(16) or string */
    FIRN_AVRO_LOGICAL_DATE,    /**< int, days from 1970-01-01 */
    FIRN_AVRO_LOGICAL_TIME_MILLIS,
    FIRN_AVRO_LOGICAL_TIME_MICROS,
    FIRN_AVRO_LOGICAL_TIMESTAMP_MILLIS,
    FIRN_AVRO_LOGICAL_TIMESTAMP_MICROS,
    FIRN_AVRO_LOGICAL_TIMESTAMP_NANOS,
    FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MILLIS,
    FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MICROS,
    FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_NANOS,
    FIRN_AVRO_LOGICAL_MAP /**< Iceberg's: an array of records of a key and a value */
} firn_avro_logical;

typedef struct firn_avro_schema firn_avro_schema;

typedef struct firn_avro_field {
    const char *name;         /**< as the schema has it */
    const char *iceberg_name; /**< attribute `iceberg-field-name`, or NULL */
    int32_t id; /**< attribute `field-id`, a JSON integer or its text; or FIRN_AVRO_NO_ID */
    const firn_avro_schema *schema;
} firn_avro_field;

struct firn_avro_schema {
    firn_avro_kind kind;
    firn_avro_logical logical;
    bool may_be_empty; /**< some value takes no bytes at all */
    bool has_adjust_to_utc;
    bool adjust_to_utc;
    int32_t precision;                       /**< of a decimal, at least 1 */
    int32_t scale;                           /**< of a decimal, 0 … precision */
    int32_t element_id;                      /**< arrays */
    int32_t key_id;                          /**< maps */
    int32_t value_id;                        /**< maps */
    size_t fixed_size;                       /**< fixed, bytes */
    const char *name;                        /**< full name of a record, enum or fixed, else NULL */
    const firn_avro_field *fields;           /**< records */
    const firn_avro_schema *const *branches; /**< unions */
    const char *const *symbols;              /**< enums */
    size_t count;                            /**< of fields, branches or symbols */
    const firn_avro_schema *items;           /**< of an array, or the values of a map */
};

/**
 * Parses a schema's JSON text. The tree lives in `arena`; `what` (the file) begins every message.
 * Named types may refer to themselves, so the tree may have cycles.
 * CORRUPT: not a schema. LIMIT: nested too deep.
 */
firn_status firn_avro_schema_parse(firn_slice json, const char *what, firn_arena *arena,
                                   const firn_avro_schema **out, firn_error *error);

/** Lower-case name of the kind, never NULL. */
const char *firn_avro_kind_name(firn_avro_kind kind);

/** The field with this id, or NULL. */
const firn_avro_field *firn_avro_field_by_id(const firn_avro_schema *record, int32_t id);
/** The field whose `iceberg-field-name` or name is `name`, or NULL. */
const firn_avro_field *firn_avro_field_by_name(const firn_avro_schema *record, const char *name);
/** Whether any field of the record itself (not of records below it) has an id. */
bool firn_avro_record_has_ids(const firn_avro_schema *record);

/** For a union of null and one other type that other type, for anything else the schema itself. */
const firn_avro_schema *firn_avro_schema_non_null(const firn_avro_schema *schema);

#endif
