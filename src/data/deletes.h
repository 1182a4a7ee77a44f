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
    int64_t
        memory_bytes; /**< 0: 256 MiB. Sets that are larger spill to unlinked temporary files. */
} firn_deletes_request;

typedef struct firn_deletes {
    firn_roaring *
        *positions; /**< one per data file of the request; NULL: no row of it is deleted */
    size_t data_count;
    /** Per live delete file (as in files->deletes): whether it may apply to a data file of the request, and deleted rows by it were looked for. */
    bool *used;
    int64_t *
        largest_sequence_number; /**< one per data file: of the deletes that took a row of it; -1 none */
    int64_t delete_files_read, delete_bytes_read, data_bytes_read;
} firn_deletes;

/**
 * Resolves. UNSUPPORTED by name: ORC delete files, equality deletes by float or double, encrypted files. CORRUPT: positions behind the file's last row are fine (they match nothing), a vector whose cardinality or referenced file
 * is not what the manifest says is not. Release with firn_deletes_release, also on failure.
 */
firn_status firn_deletes_resolve(const firn_deletes_request *request, firn_deletes *out,
                                 firn_error *error);
void firn_deletes_release(firn_deletes *deletes);

#endif
