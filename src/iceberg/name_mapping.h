/** schema.name-mapping.default: field ids for files without ids (specification, "Name Mapping Serialization"). Immutable; in an arena. */
#ifndef FIRN_ICEBERG_NAME_MAPPING_H
#define FIRN_ICEBERG_NAME_MAPPING_H

#include "iceberg/types.h"

typedef struct firn_mapped_name firn_mapped_name;

typedef struct firn_mapped_field {
    bool has_field_id;
    int32_t field_id;
    const char *const *names;
    size_t name_count;
    const struct firn_name_mapping *below; /**< of what the field holds; NULL: nothing is said */
} firn_mapped_field;

/** The mapping of one struct's fields, or a list's "element", or a map's "key" and "value"; the whole is that of the top. */
typedef struct firn_name_mapping {
    const firn_mapped_field *fields;
    size_t field_count;
    /* For finding: by name, and by id (those that have one); what stands first in `fields` first. */
    const firn_mapped_name *by_name;
    size_t name_count;
    const firn_mapped_field *const *by_id;
    size_t id_count;
} firn_name_mapping;

firn_status firn_name_mapping_parse(const char *json_text, firn_arena *arena,
                                    const firn_name_mapping **out, firn_error *error);
/** The first field with this name, or NULL. `mapping` nullable. Logarithmic time. */
const firn_mapped_field *firn_name_mapping_find(const firn_name_mapping *mapping, const char *name);
/** The fields with this id, in order; *count 0 where there are none. `mapping` nullable. Logarithmic time. */
const firn_mapped_field *const *firn_name_mapping_find_id(const firn_name_mapping *mapping,
                                                          int32_t field_id, size_t *count);
/** `mapping`, or NULL where it has no fields and so says nothing. */
const firn_name_mapping *firn_name_mapping_scope(const firn_name_mapping *mapping);
/** The mapping of what `field` holds, or NULL where nothing is said of it; `field` nullable. */
const firn_name_mapping *firn_name_mapping_below(const firn_mapped_field *field);

#endif
