/**
 * How the paths of a source tell partitions: "key=value" segments, rules that say what they mean, and the partition spec that follows (design, section 9).
 *
 * A rule is text: KEY[=PATTERN]: FIELD[, FIELD…], or KEY: - (the key means nothing). FIELD is COLUMN (identity) or TRANSFORM(COLUMN), each with an optional "as NAME"; a column that the files lack takes a type before
 * that ("COLUMN int as NAME"; string where none is given). PATTERN has one {} for each field, "{}" where it is left out; {#} is a number that counts truncate's widths: value × width. "tile={#}_{#}: truncate[12](lat_idx), truncate[12](lon_idx)".
 * The text at a {} is the partition value as Iceberg prints it: a column's own value, "2024" (a year before 1000 may lack its zeros), "2024-01" (or "202401"; or "01" beside a year), "2024-01-31", "2024-01-31-12", a bucket, a truncated value.
 * Keys without a rule: year, month, day and hour (alone or nested) belong to the one date or timestamp column whose bounds prove every path; another key that is a column's name is
 * that column's identity; any other key makes a string column of that name that only paths have. Where no column of time proves anything and the files hold year, month, … as columns, they are columns like any other.
 * Names of keys and columns are matched exactly, else by letters whatever their case. Names with spaces, commas or colons are put in quotes ("", doubled, for one).
 */
#ifndef FIRN_LAKE_LAYOUT_H
#define FIRN_LAKE_LAYOUT_H

#include "iceberg/partition_spec.h"
#include "lake/columns.h"
#include "lake/facts.h"
#include "lake/listing.h"

typedef struct firn_lake_path_key {
    const char *key; /**< unescaped (%XX) */
    const char *
        value; /**< likewise; NULL: null (__HIVE_DEFAULT_PARTITION__). Everything after the first '=' of the segment. "null", as Iceberg's writers spell it, is left to the field's type: text columns may hold it. */
} firn_lake_path_key;

/** The keys in a location behind its root, in order, file name left out. Escapes that are none stay as they are. In `arena`. INVALID: one key twice with different values; an escaped zero byte. */
firn_status firn_lake_path_keys(const char *location, size_t root_length, firn_arena *arena,
                                const firn_lake_path_key **out, size_t *count, firn_error *error);

typedef struct firn_lake_layout firn_lake_layout;

/** Parses rules. INVALID shows the rule and the place. */
firn_status firn_lake_layout_new(const char *const *rules, size_t rule_count,
                                 firn_lake_layout **out, firn_error *error);
/** NULL is allowed. */
void firn_lake_layout_free(firn_lake_layout *layout);

/* A table that is to be made: every file is shown first. */

/**
 * Shows one file: which keys it has, and which date and timestamp columns could be theirs. `parquet` may know the footer only: where that does not settle what such a column holds, the column is read, through `storage`. `schema` may grow from call to call. INVALID: keys that differ from those of the files
 * before (names both).
 */
firn_status firn_lake_layout_observe(firn_lake_layout *layout, firn_storage *storage,
                                     const firn_lake_file *file, const firn_parquet_file *parquet,
                                     const firn_schema *schema, const firn_lake_columns *columns,
                                     firn_error *error);

/** A column that only paths have. */
typedef struct firn_lake_path_column {
    const char *name;
    const firn_type *type;
} firn_lake_path_column;

/** Columns that the layout needs and `schema` lacks; borrowed. They are to be added before the next call. */
firn_status firn_lake_layout_path_columns(firn_lake_layout *layout, const firn_schema *schema,
                                          const firn_lake_path_column **out, size_t *count,
                                          firn_error *error);

/**
 * The partition spec as JSON (field ids from 1000, names as Iceberg's own writers give them: "date_year", "lat_idx_trunc", or NAME of "as"); owned. INVALID: no or several columns could be the time column (names them, and the first path that no column proves);
 * a rule names a column that there isn't. An empty spec where paths have no keys.
 */
firn_status firn_lake_layout_spec(firn_lake_layout *layout, const firn_schema *schema, json_t **out,
                                  firn_error *error);

/** Whether the last failure is a rule's own: it names a key, a column or a type that there isn't, and no file is to blame. */
bool firn_lake_layout_blames_rules(const firn_lake_layout *layout);

/* A table that is there. */

/**
 * Whether the rules could be those that the table was made with: each of their fields is one of the spec's. What a rule asks for beyond that would have no effect. INVALID: a rule takes a column that the schema lacks (names those that it has), or a field that
 * the spec lacks or calls otherwise (names those that it has), or gives a column a type that it hasn't.
 */
firn_status firn_lake_layout_check_spec(firn_lake_layout *layout, const firn_schema *schema,
                                        const firn_partition_spec *spec, firn_error *error);

/** A layout made fit for a spec: where each field's value stands in paths, if anywhere. Immutable; in the arena; borrows schema and spec. */
typedef struct firn_lake_binding firn_lake_binding;

/**
 * Fields are found by rule, else by the field's name or its source's as key, else by year, month, day, hour. A field that no key is for is proved by the footer and the column alone. Keys that no field is for are ignored. `keys` are those of the source's first
 * file: where they have a field's, a file that lacks both key and column is refused later. `layout` is nullable: no rules. INVALID: a source column that is not in the schema, or lies in a list or map; {#} for what is no whole number. UNSUPPORTED: a transform unknown to firn.
 * A month "01" takes its year from the key beside it. A key named like the source holds the transform's value or the source's own. Year, month, day and hour belong to the one source of all time fields without a rule; with several such sources they are no field's.
 */
firn_status firn_lake_layout_bind(const firn_lake_layout *layout, const firn_schema *schema,
                                  const firn_partition_spec *spec, const firn_lake_path_key *keys,
                                  size_t key_count, firn_arena *arena,
                                  const firn_lake_binding **out, firn_error *error);

#endif
