/**
 * Live rows of a table as text: one JSON object a row in canonical form (design 13, `scan`), and an order-free hash of them. For now of tables without deletes.
 */
#ifndef FIRN_DATA_ROWS_H
#define FIRN_DATA_ROWS_H

#include "data/projection.h"
#include "table/table.h"

/** Called with each row's canonical JSON text (no line feed). */
typedef firn_status (*firn_row_visitor)(void *context, firn_slice json, firn_error *error);

/** Rows of one data file under `schema`. */
firn_status firn_rows_of_file(firn_table *table, const firn_schema *schema,
                              const firn_data_file *file, firn_row_visitor visit, void *context,
                              firn_error *error);

/**
 * Sum over all rows of the first 16 bytes, taken as a big-endian number, of SHA-256(canonical row), modulo 2^128; and the number of rows. Independent of the order of rows and files.
 */
typedef struct firn_content_hash {
    uint64_t high, low;
    int64_t row_count;
} firn_content_hash;

void firn_content_hash_add(firn_content_hash *hash, const firn_content_hash *other);
firn_status firn_content_hash_of_files(firn_table *table, const firn_schema *schema,
                                       const firn_live_file *files, size_t count, firn_pool *pool,
                                       firn_content_hash *out, firn_error *error);
/** 32 hexadecimal digits and a zero. */
void firn_content_hash_text(const firn_content_hash *hash, char text[33]);

#endif
