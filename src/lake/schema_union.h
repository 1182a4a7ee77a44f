/**
 * One schema for many files: the union of their columns, with the promotions that the specification allows (and no others), lists and maps by structure, columns of one name in several letter cases refused. Begins with a
 * table's schema, or with nothing.
 */
#ifndef FIRN_LAKE_SCHEMA_UNION_H
#define FIRN_LAKE_SCHEMA_UNION_H

#include "base/json.h"
#include "iceberg/name_mapping.h"
#include "parquet/file_reader.h"

typedef struct firn_schema_union firn_schema_union;

/**
 * `base` (nullable) is the schema that is there already: its ids and names are kept, new columns get ids from `last_column_id` + 1 on and are optional. `mapping` (nullable) is the table's: aliases in it are followed. Ids that
 * files bring are taken where all of them agree and there is no base; else new ones are given, depth first.
 */
firn_status firn_schema_union_new(const firn_schema *base, int32_t last_column_id,
                                  int format_version, const firn_name_mapping *mapping,
                                  firn_schema_union **out, firn_error *error);
/** NULL is allowed. */
void firn_schema_union_free(firn_schema_union *schemas);

/**
 * Takes a file's columns in; cheap for one whose columns were seen before. INVALID names file, column and the first file that had it otherwise: types without a promotion between them, case
 * collisions, types that this format version hasn't got (nanoseconds before v3, unsigned 64-bit integers, INTERVAL). Nothing was taken in then.
 */
firn_status firn_schema_union_add(firn_schema_union *schemas, const firn_parquet_file *file,
                                  const char *location, firn_error *error);

/** Adds a column that is only in paths. INVALID where there is one by that name (in any letter case). `type` is copied. */
firn_status firn_schema_union_add_column(firn_schema_union *schemas, const char *name,
                                         const firn_type *type, firn_error *error);

/** The schema so far; valid until the next change. NULL when memory is out. */
const firn_schema *firn_schema_union_schema(firn_schema_union *schemas);
/** Whether it differs from the base. */
bool firn_schema_union_changed(const firn_schema_union *schemas);
/** Highest id in use, never below the one given. */
int32_t firn_schema_union_last_column_id(const firn_schema_union *schemas);

/** Something worth telling about a column. */
typedef struct firn_schema_surprise {
    const char *column; /**< dotted name */
    const char *
        what; /**< "new column", "promoted from int to long", "missing in files", "optional in files that have it as required", "read from INT96" … */
    const char *location; /**< of the first file that showed it */
} firn_schema_surprise;

/** Borrowed; each column and kind of surprise once, in order of appearance. */
const firn_schema_surprise *firn_schema_union_surprises(const firn_schema_union *schemas,
                                                        size_t *count);

/**
 * The text of schema.name-mapping.default for a schema: every field at any depth under its name, beside whatever names `before` (nullable) has for the field. Lists and maps as the specification has them ("element", "key", "value").
 * Owned (firn_free).
 */
firn_status firn_name_mapping_for(const firn_schema *schema, const firn_name_mapping *before,
                                  char **out, firn_error *error);
/** Whether a mapping (NULL: none) has every field of the schema under its name. */
bool firn_name_mapping_covers(const firn_name_mapping *mapping, const firn_schema *schema);

#endif
