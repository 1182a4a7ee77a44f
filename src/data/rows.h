/**
 * Live rows of a table as text, a line a row: JSON objects in canonical form (design 13, `scan`) or CSV; and an order-free hash of the former. Deleted rows are
 * left out by their positions (data/deletes.h).
 */
#ifndef FIRN_DATA_ROWS_H
#define FIRN_DATA_ROWS_H

#include "data/deletes.h"
#include "data/projection.h"
#include "iceberg/expression.h"

typedef enum firn_row_format {
    FIRN_ROWS_JSON, /**< keys in schema order, no spaces */
    /** RFC 4180 without carriage returns: null is nothing, an empty text "", lists, maps and structs are JSON. */
    FIRN_ROWS_CSV
} firn_row_format;

/** What is printed of a row: a column, or a member of a struct by its full name ("a.b"), which is null where the struct is. */
typedef struct firn_shown_column {
    const char *name;
    int32_t id;
} firn_shown_column;

/** Which columns and rows are wanted, and in which form. Everything is borrowed. */
typedef struct firn_row_selection {
    /**
     * The columns that are read. Those of row lineage (iceberg/lineage.h) are filled as the specification says, from the file's
     * first row id and data sequence number, where the file has no values of its own.
     */
    const firn_schema *schema;
    const firn_shown_column
        *shown;         /**< what is printed, in order; NULL: the schema's first columns */
    size_t shown_count; /**< the other columns only serve the filter */
    const firn_expression *filter; /**< nullable; all of its columns are in the schema */
    firn_row_format format;
} firn_row_selection;

/** The selection of all columns of a schema as JSON. */
static inline firn_row_selection firn_row_selection_of(const firn_schema *schema) {
    return (firn_row_selection){.schema = schema, .shown_count = schema->root.field_count};
}

/**
 * Selects columns of `schema` by their names, members of structs by their full ones, in their order; NULL: all columns. Of a struct only the members that are asked for are read. What a filter asks for besides
 * is read and not shown. INVALID: a name that is not there (with the nearest known one), comes twice, lies within another, or within a list or map. In `arena`.
 */
firn_status firn_row_selection_make(const firn_schema *schema, const char *const *names,
                                    size_t name_count, const firn_expression *filter,
                                    firn_row_format format, firn_arena *arena,
                                    firn_row_selection *out, firn_error *error);

/** Called with each row's text (no line feed). */
typedef firn_status (*firn_row_visitor)(void *context, firn_slice text, firn_error *error);

/** The line of column names that begins a CSV file, without line feed. */
firn_status firn_rows_csv_header(const firn_row_selection *selection, firn_buffer *out,
                                 firn_error *error);

/**
 * Rows of one data file in file order, without those that `deletes` (nullable) has for its data file `data`. `left` (nullable) counts down with each row that is visited; reading ends when it is 0.
 */
firn_status firn_rows_of_file(firn_table *table, const firn_row_selection *selection,
                              const firn_manifest_entry *entry, const firn_deletes *deletes,
                              size_t data, int64_t *left, firn_row_visitor visit, void *context,
                              firn_error *error);

/** The schema that the table's ref is read with: a tag's is its snapshot's, a branch's the table's current one (specification, "Schema Evolution"). */
const firn_schema *firn_rows_schema(const firn_table *table);
/** The same, and from format v3 on the two columns of row lineage as its last. In `arena`, or the table's own. */
firn_status firn_rows_schema_with_lineage(const firn_table *table, firn_arena *arena,
                                          const firn_schema **out, firn_error *error);

/**
 * Sum over all rows of the first 16 bytes, taken as a big-endian number, of SHA-256(canonical row), modulo 2^128; and the number of rows. Independent of the order of rows and files.
 */
typedef struct firn_content_hash {
    uint64_t high, low;
    int64_t row_count;
} firn_content_hash;

void firn_content_hash_add(firn_content_hash *hash, const firn_content_hash *other);
/** Rows that `deletes` (nullable) has for the files, in their order, don't count. */
firn_status firn_content_hash_of_files(firn_table *table, const firn_schema *schema,
                                       const firn_live_file *files, const firn_deletes *deletes,
                                       size_t count, firn_pool *pool, firn_content_hash *out,
                                       firn_error *error);
/** 32 hexadecimal digits and a zero. */
void firn_content_hash_text(const firn_content_hash *hash, char text[33]);

#endif
