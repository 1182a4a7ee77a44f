/** Shared by the parts of layouts and proofs. Internal to lake. */
#ifndef FIRN_LAKE_LAYOUT_INTERNAL_H
#define FIRN_LAKE_LAYOUT_INTERNAL_H

#include "base/vector.h"
#include "lake/layout.h"

/** A placeholder of a pattern. */
typedef struct firn_layout_slot {
    const char *before; /**< the text that stands before it; "" for none */
    bool counts;        /**< {#} */
} firn_layout_slot;

typedef struct firn_layout_field {
    const char *column; /**< dotted */
    const char *type;   /**< NULL: none given */
    const char *name;   /**< of "as"; NULL */
    firn_transform transform;
} firn_layout_field;

typedef struct firn_layout_rule {
    const char *text, *key;
    bool means_nothing;            /**< "KEY: -" */
    const firn_layout_slot *slots; /**< field_count of them */
    const char *after;             /**< the text behind the last placeholder */
    const firn_layout_field *fields;
    size_t field_count;
} firn_layout_rule;

/** Parses one rule into the arena. INVALID shows the rule and the place. */
firn_status firn_layout_rule_parse(const char *text, firn_arena *arena, firn_layout_rule *out,
                                   firn_error *error);

/** A column that may be the one that year, month, day and hour belong to. */
typedef struct firn_layout_candidate {
    int32_t field_id;
    const char *name;
    const char *
        against; /**< location of the first file whose path it does not prove; NULL: it proves all */
    const char *reason;
} firn_layout_candidate;

struct firn_lake_layout {
    firn_arena *arena;
    const firn_layout_rule *rules;
    size_t rule_count;
    /* What was observed. */
    const char *first_location; /**< NULL: nothing yet */
    const firn_lake_path_key *keys;
    size_t key_count;
    const char *first_with_rows;
    const char *
        unproved; /**< the first file whose path no candidate proved that proved all before; NULL: there is none */
    FIRN_VECTOR(firn_layout_candidate) candidates;
    FIRN_VECTOR(firn_lake_path_column) path_columns;
    bool rules_at_fault; /**< what failed is what a rule says, whatever the files are */
};

/** The units of time that keys are named for, coarsest first. */
typedef enum firn_time_unit {
    FIRN_UNIT_YEAR,
    FIRN_UNIT_MONTH,
    FIRN_UNIT_DAY,
    FIRN_UNIT_HOUR,
    FIRN_UNIT_COUNT
} firn_time_unit;

extern const char *const firn_time_unit_names[FIRN_UNIT_COUNT];
/** Of the same kind and parameter. */
bool firn_layout_same_transform(const firn_transform *a, const firn_transform *b);
/** FIRN_UNIT_COUNT where the transform has none. */
firn_time_unit firn_time_unit_of(firn_transform_kind kind);
/** FIRN_UNIT_COUNT where the name is none. */
firn_time_unit firn_time_unit_named(const char *key);
firn_transform firn_time_unit_transform(firn_time_unit unit);

/** A part of a path's value: a whole one, or what stands at a placeholder of a rule. */
typedef struct firn_layout_place {
    const char *key;
    const firn_layout_rule *rule; /**< NULL: the whole value */
    size_t slot;
} firn_layout_place;

/** What a path has at a place. */
typedef struct firn_layout_text {
    bool present;
    bool is_null;
    const char *text; /**< in the arena; NULL where not present or null */
} firn_layout_text;

/** A top-level column by a key's name, letter case aside where none has it exactly; NULL. */
const firn_field *firn_layout_column_of_key(const firn_schema *schema, const char *key);
/** A column as rules name it: top-level, else dotted; NULL. */
const firn_field *firn_layout_column_named(const firn_schema *schema, const char *name);
/** The type that a rule gives a column (string for none), in the layout's arena. INVALID shows the rule. */
firn_status firn_layout_field_type(const firn_lake_layout *layout, const firn_layout_rule *rule,
                                   const firn_layout_field *field, const firn_type **out,
                                   firn_error *error);

/** INVALID: the rule takes a column that the schema lacks; names those that it has. */
firn_status firn_layout_no_such_column(firn_lake_layout *layout, const firn_schema *schema,
                                       const char *rule, const char *column, firn_error *error);

/** The rule for a key; NULL. */
const firn_layout_rule *firn_layout_rule_of(const firn_lake_layout *layout, const char *key);
/** A key by its name, letter case aside where no key has it exactly; NULL. */
const firn_lake_path_key *firn_layout_find_key(const firn_lake_path_key *keys, size_t count,
                                               const char *name);
/** INVALID where the path's value does not follow the rule's pattern. */
firn_status firn_layout_text_at(const firn_layout_place *place, const firn_lake_path_key *keys,
                                size_t count, firn_arena *arena, firn_layout_text *out,
                                firn_error *error);

/** Where the value of a partition field stands. */
typedef struct firn_layout_binding_field {
    firn_layout_place places[3]; /**< the first one that a path has counts */
    size_t place_count;
    size_t
        source_place; /**< index of the place that may hold the source column's own value; SIZE_MAX: none */
    bool
        expected; /**< by a rule, or the first file has it: other files must have it too where the file lacks the column */
    firn_layout_place
        units[FIRN_UNIT_COUNT]; /**< of time fields: where coarser units stand; key NULL: nowhere */
    const firn_field *source;   /**< NULL: no schema has it (void) */
    const char *source_name;    /**< dotted */
    bool nested,
        all_required; /**< the source lies in a struct; neither it nor a struct around it is optional */
} firn_layout_binding_field;

struct firn_lake_binding {
    const firn_schema *schema;
    const firn_partition_spec *spec;
    const firn_layout_binding_field *fields; /**< by field of the spec */
};

/** What a path says of a partition field. */
typedef struct firn_layout_reading {
    bool present;
    const char *key, *text; /**< text NULL: null */
    firn_value value;       /**< of the transform's result */
} firn_layout_reading;

/**
 * Reads a field's value from a path. `known` (nullable) is the value that the file's rows have been proved to have: where a text can be read in several ways, one that agrees with it is taken. INVALID names key, text and what was expected.
 */
firn_status firn_layout_read(const firn_layout_binding_field *field,
                             const firn_partition_field *spec_field, const firn_lake_path_key *keys,
                             size_t count, const firn_value *known, firn_arena *arena,
                             firn_layout_reading *out, firn_error *error);

/** A text as a value of a primitive type (layout_value.c). INVALID says what was expected. */
firn_status firn_layout_parse_value(const firn_type *type, const char *text,
                                    const firn_value *known, firn_arena *arena, firn_value *out,
                                    firn_error *error);
/** A whole number, leading zeros allowed, and nothing behind it; false else. */
bool firn_layout_parse_integer(const char *text, int64_t *out);

/**
 * A time transform's value from its own text and those of coarser units beside it (NULL: not there), e.g. "2024-01" or "01" with a year of "2024". INVALID says what is missing.
 */
firn_status firn_layout_parse_time(firn_time_unit unit, const char *const texts[FIRN_UNIT_COUNT],
                                   firn_value *out, firn_error *error);

#endif
