/** Iceberg types and schemas (specification, "Schemas and Data Types"). Immutable; they live in the arena of their document. */
#ifndef FIRN_ICEBERG_TYPES_H
#define FIRN_ICEBERG_TYPES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

typedef enum firn_type_kind {
    FIRN_TYPE_BOOLEAN,
    FIRN_TYPE_INT,
    FIRN_TYPE_LONG,
    FIRN_TYPE_FLOAT,
    FIRN_TYPE_DOUBLE,
    FIRN_TYPE_DECIMAL,
    FIRN_TYPE_DATE,
    FIRN_TYPE_TIME,
    FIRN_TYPE_TIMESTAMP,
    FIRN_TYPE_TIMESTAMPTZ,
    FIRN_TYPE_TIMESTAMP_NS,
    FIRN_TYPE_TIMESTAMPTZ_NS,
    FIRN_TYPE_STRING,
    FIRN_TYPE_UUID,
    FIRN_TYPE_FIXED,
    FIRN_TYPE_BINARY,
    FIRN_TYPE_UNKNOWN,
    FIRN_TYPE_VARIANT,
    FIRN_TYPE_GEOMETRY,
    FIRN_TYPE_GEOGRAPHY,
    FIRN_TYPE_STRUCT,
    FIRN_TYPE_LIST,
    FIRN_TYPE_MAP
} firn_type_kind;

typedef struct firn_field firn_field;

typedef struct firn_type {
    firn_type_kind kind;
    int32_t precision, scale;   /**< DECIMAL */
    int32_t length;             /**< FIXED */
    const char *crs;            /**< GEOMETRY, GEOGRAPHY; NULL: the default, OGC:CRS84 */
    const char *edge_algorithm; /**< GEOGRAPHY; NULL: the default, spherical */
    const char *
        text; /**< primitive types: as the specification writes it, e.g. "decimal(9,2)"; else NULL */
    /** STRUCT: its fields; LIST: one, named "element"; MAP: two, "key" and "value". */
    const firn_field *fields;
    size_t field_count;
} firn_type;

struct firn_field {
    int32_t id;
    const char *name;
    bool required;
    const firn_type *type;
    const char *doc;               /**< NULL: absent */
    const json_t *initial_default; /**< borrowed; NULL: absent */
    const json_t *write_default;
};

typedef struct firn_schema {
    int32_t schema_id;
    firn_type root; /**< STRUCT */
    const int32_t *identifier_field_ids;
    size_t identifier_field_count;
} firn_schema;

static inline bool firn_type_is_nested(firn_type_kind kind) {
    return kind == FIRN_TYPE_STRUCT || kind == FIRN_TYPE_LIST || kind == FIRN_TYPE_MAP;
}

/** Parses a type as it stands in JSON (text or object). `what` for messages. Unknown type names are UNSUPPORTED; nesting is limited. */
firn_status firn_type_parse(const json_t *json, const char *what, firn_arena *arena,
                            const firn_type **out, firn_error *error);
firn_status firn_schema_parse(const json_t *json, const char *what, firn_arena *arena,
                              const firn_schema **out, firn_error *error);
/** New reference; NULL when memory is out. */
json_t *firn_type_to_json(const firn_type *type);
json_t *firn_schema_to_json(const firn_schema *schema);

/** Depth first by id, at any depth; NULL when absent. */
const firn_field *firn_schema_find(const firn_schema *schema, int32_t field_id);
/** By dotted name ("a.b", "list.element", "map.value.x"); exact case. */
const firn_field *firn_schema_find_name(const firn_schema *schema, const char *dotted_name);
/** Dotted full name of a field, e.g. "location.lat", in the arena; NULL when absent or memory is out. */
const char *firn_schema_full_name(const firn_schema *schema, int32_t field_id, firn_arena *arena);
/** Highest field id at any depth, ids reserved for metadata columns (above 2147483447) left aside; 0 when there is none. */
int32_t firn_schema_highest_id(const firn_schema *schema);
/** Whether a field of this kind occurs at any depth. */
bool firn_type_has_kind(const firn_type *type, firn_type_kind kind);
bool firn_type_equal(const firn_type *a, const firn_type *b);
/** Whether the specification's type promotion allows reading `from` as `to` in a table of this format version (equal types too). */
bool firn_type_can_promote(const firn_type *from, const firn_type *to, int format_version);

#endif
