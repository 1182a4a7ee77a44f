/** Shared by the parts of the schema union. Internal to lake. */
#ifndef FIRN_LAKE_SCHEMA_UNION_INTERNAL_H
#define FIRN_LAKE_SCHEMA_UNION_INTERNAL_H

#include "base/map.h"
#include "base/vector.h"
#include "lake/schema_union.h"

/** Types nest no deeper, so that recursion is bounded and what is made can be parsed again (100 levels). */
#define FIRN_UNION_DEEPEST 64

/**
 * A column of the union or of a file. Those of the union are immutable: a change makes new ones from there up to the root, so
 * that a union which is not changed keeps its root, and one that failed loses nothing.
 */
typedef struct firn_union_column {
    const char *name;
    int32_t id; /**< -1: none yet */
    bool required;
    firn_type_kind kind;
    const firn_type *type; /**< NULL where nested */
    /** STRUCT: its fields; LIST: "element"; MAP: "key" and "value". */
    const struct firn_union_column *const *children;
    size_t child_count;
    const char *location;   /**< the file that gave it its type; NULL: the base, or paths */
    const firn_field *base; /**< NULL: new */
    bool path_only;
    /* Of a file's columns only. */
    bool optional;    /**< nulls may occur */
    bool bare;        /**< without an annotation: bytes whose meaning the table may know */
    const char *note; /**< a surprise that is the form's; NULL: none */
    int32_t leaf;     /**< of the file, where it is one */
} firn_union_column;

/** What files of one key have to show each for itself: that these leaves, which the table requires, hold no nulls. */
typedef struct firn_union_guard {
    const int32_t *leaves;
    size_t count;
} firn_union_guard;

/** Where in the schema something is, for messages. */
typedef struct firn_union_path {
    const struct firn_union_path *parent; /**< NULL: at the top */
    const char *name;
    bool nullable; /**< in the table: itself, or what holds it */
} firn_union_path;

struct firn_schema_union {
    firn_arena *arena;   /**< the columns, and all that lives as long as the union */
    firn_arena *scratch; /**< cleared with each file */
    firn_arena *made;    /**< the schema, NULL: none is made */
    firn_map *seen;      /**< keys of files that were taken in, to their guards */
    firn_buffer key;
    const firn_schema *base; /**< nullable */
    const firn_name_mapping *mapping;
    int format_version;
    int32_t last_column_id;
    const firn_union_column *base_root, *root;
    const char *first_location; /**< NULL: no file yet */
    struct {
        const firn_union_column *root;
        const char *first_location;
        size_t surprise_count;
    } mark;
    const firn_schema *schema; /**< NULL: to be made */
    FIRN_VECTOR(firn_schema_surprise) surprises;
};

typedef struct firn_union_merge {
    firn_schema_union *schemas;
    const char *location; /**< in the union's arena */
    FIRN_VECTOR(firn_schema_surprise) surprises;
    FIRN_VECTOR(int32_t) required; /**< leaves of columns that the table requires */
    firn_error *error;
} firn_union_merge;

/** Dotted, in `arena`; NULL when memory is out. */
const char *firn_union_path_text(const firn_union_path *path, firn_arena *arena);

/** INVALID: "location: column "a.b": message". */
firn_status firn_union_fail(const firn_schema_union *schemas, const char *location,
                            const firn_union_path *path, firn_error *error, const char *format, ...)
    FIRN_PRINTF(5, 6);

/* schema_union_types.c */

/** The type of a leaf, in `arena`; also sets bare, note. A text says why there is none, NULL: fine, or memory is out (then `out->type` is NULL). */
const char *firn_union_leaf(const firn_parquet_schema_element *element, int format_version,
                            firn_arena *arena, firn_union_column *out);
/** A copy in `arena`; NULL when memory is out. */
const firn_type *firn_union_copy_type(const firn_type *type, firn_arena *arena);
/** Text of a column's type for messages: nested ones by their kind. */
const char *firn_union_type_text(const firn_union_column *column);

/* schema_union_file.c */

/** The file's columns as the children of one struct, in the scratch arena. INVALID: a file where some columns have field ids and others none. */
firn_status firn_union_file_columns(firn_schema_union *schemas, const firn_parquet_file *file,
                                    const char *location, const firn_union_column **out,
                                    firn_error *error);

/* schema_union_merge.c */

/** The union's root with a file's columns taken in; the same pointer where nothing is new. */
firn_status firn_union_merge_file(firn_union_merge *merge, const firn_union_column *file,
                                  const firn_union_column **out);
/** The column of `list` that has this name in some letter case (ASCII letters only); NULL: none. */
const firn_union_column *firn_union_same_letters(const firn_union_column *const *list, size_t count,
                                                 const char *name);
/** INVALID: a column called as `other` is, in some letter case. */
firn_status firn_union_refuse_letters(firn_union_merge *merge, const firn_union_path *path,
                                      const firn_union_column *other);
/** Notes a surprise unless it is known. */
firn_status firn_union_tell(firn_union_merge *merge, const firn_union_path *path, const char *what,
                            const char *location);

/* schema_union_new.c */

/** A column of a file as a new one of the union, letter cases checked. */
firn_status firn_union_new_column(firn_union_merge *merge, const firn_union_path *path,
                                  const firn_union_column *file, const firn_union_column **out);

/** Where a column of the union comes from, for messages. */
const char *firn_union_origin(const firn_union_column *column);

/* schema_union_names.c */

/** INVALID where a new column has the full name of another in some letter case. `location` is the file's, NULL: the paths'. */
firn_status firn_union_check_names(const firn_schema_union *schemas, const firn_union_column *root,
                                   const char *location, firn_error *error);

/* schema_union_schema.c */

/** The base's columns; NULL when memory is out. */
const firn_union_column *firn_union_of_schema(const firn_schema *schema, firn_arena *arena);
/** Gives ids to the columns that lack one; NULL when memory is out. */
const firn_union_column *firn_union_with_ids(const firn_union_column *root, int32_t last_column_id,
                                             firn_arena *arena);
/** NULL when memory is out. */
const firn_schema *firn_union_make_schema(const firn_union_column *root, const firn_schema *base,
                                          firn_arena *arena);
/** The column with this id at any depth; NULL: none. */
const firn_union_column *firn_union_find_id(const firn_union_column *column, int32_t id);
int32_t firn_union_highest_id(const firn_union_column *column);
/** How many columns at any depth have no id. */
int64_t firn_union_without_id(const firn_union_column *column);

#endif
