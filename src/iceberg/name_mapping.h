/** schema.name-mapping.default: field ids for files without ids (specification, "Name Mapping Serialization"). Immutable; in an arena. */
#ifndef FIRN_ICEBERG_NAME_MAPPING_H
#define FIRN_ICEBERG_NAME_MAPPING_H

#include "iceberg/types.h"

typedef struct firn_mapped_field {
    bool has_field_id;
    int32_t field_id;
    const char *const *names;
    size_t name_count;
    const struct firn_mapped_field *fields;
    size_t field_count;
} firn_mapped_field;

typedef struct firn_name_mapping {
    const firn_mapped_field *fields;
    size_t field_count;
} firn_name_mapping;

firn_status firn_name_mapping_parse(const char *json_text, firn_arena *arena,
                                    const firn_name_mapping **out, firn_error *error);
/** The mapped child with this name (list: "element", map: "key", "value"), or NULL. */
const firn_mapped_field *firn_name_mapping_find(const firn_mapped_field *fields, size_t count,
                                                const char *name);

#endif
