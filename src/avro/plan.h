/**
 * Decoding records straight into a caller's struct.
 *
 * A caller describes what it wants by targets: which field (by id, by name only where the writer
 * left the id out), and where the value goes. The description is resolved once against the writer's
 * schema into a plan; decoding a record then builds no tree, and passes over what nobody asked for.
 *
 *     static const firn_avro_target fields[] = {
 *         {.id = 100, .name = "file_path", .into = FIRN_AVRO_INTO_TEXT,
 *          .offset = offsetof(entry, path), .required = true},
 *         …
 *     };
 *     const firn_avro_target record = {.into = FIRN_AVRO_INTO_RECORD, .id = FIRN_AVRO_NO_ID,
 *                                      .children = fields, .child_count = …};
 *
 * Values are never converted silently: int is read into 64 bits and float into double; a long is
 * read into 32 bits only where it fits, else the record is CORRUPT.
 */
#ifndef FIRN_AVRO_PLAN_H
#define FIRN_AVRO_PLAN_H

#include "avro/cursor.h"

/** How a value lies in the caller's memory. */
typedef enum firn_avro_into {
    FIRN_AVRO_INTO_BOOL,   /**< bool; from boolean */
    FIRN_AVRO_INTO_INT32,  /**< int32_t; from int, long, enum (position) */
    FIRN_AVRO_INTO_INT64,  /**< int64_t; from int, long, enum (position) */
    FIRN_AVRO_INTO_FLOAT,  /**< float; from float */
    FIRN_AVRO_INTO_DOUBLE, /**< double; from float, double */
    FIRN_AVRO_INTO_BYTES,  /**< firn_slice; from bytes, string, fixed; null leaves data NULL */
    FIRN_AVRO_INTO_TEXT,   /**< const char *, zero-terminated, always copied; from string, bytes */
    FIRN_AVRO_INTO_RECORD, /**< nested: children's offsets count from this target's */
    /**
     * firn_avro_list; from array; one child describes an item, its offset counts from the item's
     * start
     */
    FIRN_AVRO_INTO_LIST,
    /**
     * firn_avro_pairs; from an array of records or a map; two children: key, value; their offsets
     * are 0
     */
    FIRN_AVRO_INTO_PAIRS,
    FIRN_AVRO_INTO_VALUE /**< firn_avro_value; from anything */
} firn_avro_into;

typedef struct firn_avro_list {
    void *items; /**< in the arena; NULL while absent or null */
    size_t count;
} firn_avro_list;

/** Keys and values as two arrays of equal length. */
typedef struct firn_avro_pairs {
    void *keys; /**< in the arena; NULL while absent or null */
    void *values;
    size_t count;
} firn_avro_pairs;

/** A value of any type, for schemas that are known only at run time. */
typedef struct firn_avro_value {
    const firn_avro_schema
        *schema; /**< never a union; NULL: the value was absent; kind null: it was null */
    union {
        bool boolean;
        int64_t integer; /**< int, long, enum (position) */
        float float32;
        double float64;
        firn_slice bytes; /**< bytes, string, fixed */
        struct {
            const struct firn_avro_value *
                /**
                 * record: by field; array: items; map: key, value, key, value … (keys have no
                 * schema of their own: kind string)
                 */
                items;
            size_t count; /**< of items */
        } list;
    } as;
} firn_avro_value;

static inline bool firn_avro_value_is_null(const firn_avro_value *value) {
    return value->schema == NULL || value->schema->kind == FIRN_AVRO_NULL;
}

/** No presence flag is wanted. */
#define FIRN_AVRO_NO_FLAG SIZE_MAX

typedef struct firn_avro_target {
    int32_t id;                     /**< field id, or FIRN_AVRO_NO_ID: by name only */
    const char *name;               /**< for a field without id in the file, and for messages */
    const char *const *other_names; /**< nullable, ends with NULL: names that older writers used */
    firn_avro_into into;
    size_t offset; /**< bytes from the start of the struct that holds it */
    size_t
        /**
         * where a bool is set to true when there is a value that is not null, or FIRN_AVRO_NO_FLAG
         */
        present;
    bool required;     /**< an absent field or a null value is CORRUPT (VALUE: only the former) */
    size_t item_size;  /**< LIST: bytes of an item; PAIRS: of a key */
    size_t value_size; /**< PAIRS: bytes of a value */
    const struct firn_avro_target *children;
    size_t child_count;
} firn_avro_target;

typedef struct firn_avro_plan firn_avro_plan;

/**
 * Resolves a target against the writer's schema. Targets and schema are borrowed and must outlive
 * the plan; the plan lives in `arena`. `what` (the file) begins messages.
 * CORRUPT: a required field is missing, a field's type can't give what is wanted, an id occurs
 * twice.
 */
firn_status firn_avro_plan_new(const firn_avro_schema *writer, const firn_avro_target *target,
                               const char *what, firn_arena *arena, const firn_avro_plan **out,
                               firn_error *error);

/**
 * How many targets were found by name because the file has no id for them; one such name, nullable.
 */
size_t firn_avro_plan_named_count(const firn_avro_plan *plan, const char **example);

/**
 * Decodes one datum into `record`, which the caller has zeroed (absent and null leave it as it is).
 * Lists, pairs, nested values and texts go into `arena`. Slices are copied into it too where `copy`
 * is set, else they are borrowed from the cursor's bytes.
 */
firn_status firn_avro_decode(const firn_avro_plan *plan, firn_avro_cursor *cursor,
                             firn_arena *arena, bool copy, void *record, firn_error *error);

#endif
