/**
 * One schema for many files: the union of their columns, with the promotions that the specification allows (and no others), lists and maps by structure, columns of one name in several letter cases (of ASCII) refused. Begins with a
 * table's schema, or with nothing. Whatever is taken in can be read: firn_lake_columns_of finds it in each of the files.
 *
 * New columns are optional, since files to come may have nulls. The order of the files decides the order of columns and their ids, never their types.
 */
#ifndef FIRN_LAKE_SCHEMA_UNION_H
#define FIRN_LAKE_SCHEMA_UNION_H

#include "base/json.h"
#include "iceberg/name_mapping.h"
#include "parquet/file_reader.h"

typedef struct firn_schema_union firn_schema_union;

/**
 * `base` (nullable) is the schema that is there already: its ids and names are kept, new columns get ids from `last_column_id` + 1 on and are optional. `mapping` (nullable) is the table's: aliases in it are followed, and what it has for no column of the
 * table stays out. Both are borrowed until the union is freed.
 *
 * Ids that files bring are kept, since readers go by them: two files, or a file and the base, that contradict each other about a column's id or an id's column can't be in one table, nor can a file with ids for some columns only (INVALID). Other columns
 * get new ids, when the schema is first looked at: the members of a struct, a list or a map first, then what lies below each, as Iceberg's own libraries number them.
 *
 * A base's `date` is not promoted: a partition may be made of it. Bytes without an annotation are what the base has (string, uuid, geometry), without a base binary or fixed; INT96 is what the base has, without a base timestamptz. A column that
 * the base has as `unknown` gets the first file's type.
 */
firn_status firn_schema_union_new(const firn_schema *base, int32_t last_column_id,
                                  int format_version, const firn_name_mapping *mapping,
                                  firn_schema_union **out, firn_error *error);
/** NULL is allowed. */
void firn_schema_union_free(firn_schema_union *schemas);

/**
 * Takes a file's columns in; cheap for one whose columns were seen before. INVALID names file, column and the first file that had it otherwise: types without a promotion between them, case
 * collisions, two columns with one full name ("a.b" beside a struct a with a member b), contradicting ids, nulls in a column that the base requires (or a footer that doesn't count them), types that this format version hasn't got (nanoseconds before v3, unsigned 64-bit integers, INTERVAL), columns of nothing but nulls without any type. Nothing was taken in then.
 */
firn_status firn_schema_union_add(firn_schema_union *schemas, const firn_parquet_file *file,
                                  const char *location, firn_error *error);

/** Notes the union as it is; firn_schema_union_go_back undoes what was added since. Before the schema is looked at. */
void firn_schema_union_mark(firn_schema_union *schemas);
firn_status firn_schema_union_go_back(firn_schema_union *schemas, firn_error *error);

/** Adds a column that is only in paths. INVALID where there is one by that full name (in any letter case). `type` is copied. */
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
        what; /**< "new column", "promoted from int to long", "missing in files", "required in the table, optional in files", "read from INT96", "called "x" in files", "left out: …" … */
    const char *location; /**< of the first file that showed it */
} firn_schema_surprise;

/** Borrowed; each column and kind of surprise once, in order of appearance. */
const firn_schema_surprise *firn_schema_union_surprises(const firn_schema_union *schemas,
                                                        size_t *count);

/**
 * The text of schema.name-mapping.default for a schema: every field at any depth under its name, beside whatever names `before` (nullable) has for the field. Lists and maps as the specification has them ("element", "key", "value").
 * A name that `before` has for one field does not go over to another, and what it has for no field stays: files read by it must not be read otherwise. Owned (firn_free).
 */
firn_status firn_name_mapping_for(const firn_schema *schema, const firn_name_mapping *before,
                                  char **out, firn_error *error);
/** Whether a mapping (NULL: none) has every field of the schema, and every field's name. */
bool firn_name_mapping_covers(const firn_name_mapping *mapping, const firn_schema *schema);

#endif
