/**
 * Deletes of every kind as one thing: a set of row positions per data file (design 6.4). Position delete files (Parquet and Avro), deletion vectors, and equality deletes, which are turned into positions by reading
 * only the key columns of the data files.
 */
#ifndef FIRN_DATA_DELETES_H
#define FIRN_DATA_DELETES_H

#include "base/threads.h"
#include "iceberg/delete_index.h"
#include "puffin/roaring.h"
#include "table/table.h"

typedef struct firn_deletes_request {
    firn_table *table;
    const firn_live_files *files; /**< of one snapshot; `deletes` of it are what is looked at */
    const firn_live_file *const *data; /**< data files whose deleted rows are asked for */
    size_t data_count;
    bool positions, equality; /**< which kinds: position deletes and vectors; equality deletes */
    firn_pool *pool;          /**< nullable: one thread */
    /** 0: 256 MiB. Half of it is for keys of equality deletes, half for positions; what takes more lies in unlinked temporary files. */
    int64_t memory_bytes;
} firn_deletes_request;

/** Positions that would take more memory than they may, kept in parts (data/deletes_parts.c). */
typedef struct firn_deletes_parts firn_deletes_parts;

/** A position behind the last row of the data file that it is for: it deletes nothing, and whoever wrote it meant another file, or other rows. */
typedef struct firn_deletes_past_end {
    const firn_live_file *data; /**< of the request; NULL: no position does */
    uint64_t position;          /**< the greatest */
} firn_deletes_past_end;

typedef struct firn_deletes {
    /** One per data file of the request. Only ask by the functions below: NULL is also what lies in `parts`. */
    firn_roaring **in_memory;
    size_t data_count;
    firn_deletes_parts *parts; /**< NULL: `in_memory` has all */
    size_t first_in_parts;     /**< the number that the first data file has there */
    /** Per live delete file (as in files->deletes): whether it may apply to a data file of the request, and deleted rows by it were looked for. */
    bool *used;
    int64_t *
        largest_sequence_number; /**< one per data file: of the deletes that took a row of it; -1 none */
    firn_deletes_past_end
        *past_end; /**< one per live delete file: a position delete file or vector */
    int64_t delete_files_read, delete_bytes_read, data_bytes_read;
} firn_deletes;

/**
 * Resolves. UNSUPPORTED by name: ORC delete files, equality deletes by float or double, encrypted files. CORRUPT: positions behind the file's last row are fine (they match nothing, and `past_end` tells of them), a vector whose cardinality or referenced file
 * is not what the manifest says is not. Release with firn_deletes_release, also on failure.
 */
firn_status firn_deletes_resolve(const firn_deletes_request *request, firn_deletes *out,
                                 firn_error *error);
void firn_deletes_release(firn_deletes *deletes);

/* What was found, wherever it lies. `deletes` NULL, or zeroed: no row is deleted. Any number of threads may ask at a time. */

/** How many rows of a data file are deleted. */
uint64_t firn_deletes_row_count(const firn_deletes *deletes, size_t data);

/** A set that is borrowed, or was read for the caller. */
typedef struct firn_deletes_rows {
    const firn_roaring *set; /**< NULL: empty */
    firn_roaring *own;
} firn_deletes_rows;

/** The deleted rows of a data file that lie in [first, end), and perhaps others. Release the result, also on failure. */
firn_status firn_deletes_rows_of(const firn_deletes *deletes, size_t data, uint64_t first,
                                 uint64_t end, firn_deletes_rows *out, firn_error *error);
void firn_deletes_rows_release(firn_deletes_rows *rows);

/** All deleted rows of a data file; they are the caller's, and gone from `deletes`. *out NULL: none. */
firn_status firn_deletes_take(firn_deletes *deletes, size_t data, firn_roaring **out,
                              firn_error *error);

/** The same without its first data files; borrowed, not to be released. */
firn_deletes firn_deletes_behind(const firn_deletes *deletes, size_t first);

/** Bytes of memory that the positions take. */
size_t firn_deletes_memory(const firn_deletes *deletes);

#endif
