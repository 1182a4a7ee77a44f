/** Rows of the demonstration table, the same in every run, as columns ready for the Parquet writer. */
#ifndef FIRN_CLI_DEMO_ROWS_H
#define FIRN_CLI_DEMO_ROWS_H

#include "base/json.h"
#include "base/vector.h"
#include "parquet/batch.h"

#define FIRN_DEMO_LEAVES 8
#define FIRN_DEMO_COMMITS 300
#define FIRN_DEMO_ROWS_OF_A_COMMIT 100
#define FIRN_DEMO_DAYS 3

/** Leaf columns in schema order. */
enum {
    FIRN_DEMO_ID,
    FIRN_DEMO_HAPPENED_AT,
    FIRN_DEMO_CATEGORY,
    FIRN_DEMO_AMOUNT,
    FIRN_DEMO_READING,
    FIRN_DEMO_DUE,
    FIRN_DEMO_NOTE,
    FIRN_DEMO_TAGS
};

/** The field id of each leaf. */
extern const int32_t firn_demo_field_ids[FIRN_DEMO_LEAVES];

typedef struct firn_demo_column {
    firn_buffer definition, repetition; /* levels; unused where the leaf's maximum is 0 */
    firn_buffer fixed;                  /* values of fixed width */
    FIRN_VECTOR(firn_slice) slices;     /* values of text; of constants */
    size_t levels, values;
} firn_demo_column;

typedef struct firn_demo_rows {
    firn_demo_column columns[FIRN_DEMO_LEAVES];
    size_t row_count;
} firn_demo_rows;

/** Schema and partition spec as JSON; NULL when memory is out. */
json_t *firn_demo_schema(firn_error *error);
json_t *firn_demo_spec(firn_error *error);

/** The partition of all rows of a commit: days since the epoch. */
int32_t firn_demo_day(size_t commit);

void firn_demo_rows_init(firn_demo_rows *rows);
void firn_demo_rows_release(firn_demo_rows *rows);
/** Replaces the content by the rows of one commit. */
firn_status firn_demo_rows_fill(firn_demo_rows *rows, size_t commit, firn_error *error);
/** A leaf's content; borrowed from `rows`. */
firn_parquet_batch firn_demo_rows_batch(const firn_demo_rows *rows, size_t leaf);

#endif
