/** What the parts that turn deletes into positions share. Internal to data. */
#ifndef FIRN_DATA_DELETES_INTERNAL_H
#define FIRN_DATA_DELETES_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "data/data_source.h"
#include "data/deletes.h"

/** Data files share locks; neighbours don't. */
#define FIRN_DELETES_LOCKS 64

/** Positions that are handed over at once. */
#define FIRN_DELETES_RUN 4096

typedef struct firn_deletes_work {
    const firn_deletes_request *request;
    firn_deletes *out;
    firn_arena *arena; /**< of the calling thread */
    pthread_mutex_t locks[FIRN_DELETES_LOCKS];
    pthread_mutex_t counters; /**< guards the counters of `out` */
    bool *has_vector;         /**< one per data file of the request */
    bool *
        applies; /**< one per live delete file: a position delete file or vector that may apply to a data file of the request */
    bool *rows_checked; /**< one per data file: its row count is the manifest's; under its lock */
    uint64_t first_row, end_row; /**< positions outside of [first_row, end_row) are not asked for */
    _Atomic uint64_t
        next_row; /**< the least position behind end_row that there may be; UINT64_MAX: none */
} firn_deletes_work;

#define FIRN_DELETES_DEFAULT_MEMORY ((int64_t)256 << 20)

/** Positions behind end_row are there, none of them below `row`. Thread-safe. */
void firn_deletes_leave(firn_deletes_work *work, uint64_t row);

/**
 * Finds, in memory, those positions that lie in [first_row, end_row). `out` has its arrays; adds to its counters. *next_row: the least one behind them that there
 * may be, or UINT64_MAX.
 */
firn_status firn_deletes_resolve_rows(const firn_deletes_request *request, uint64_t first_row,
                                      uint64_t end_row, uint64_t *next_row, firn_deletes *out,
                                      firn_error *error);

/** As many data files, or rows of one, at a time as have room in half of the request's memory. */
firn_status firn_deletes_resolve_in_parts(const firn_deletes_request *request, firn_deletes *out,
                                          firn_error *error);
/** NULL is allowed. */
void firn_deletes_parts_free(firn_deletes_parts *parts);

/** The delete file that positions come from. */
typedef struct firn_deletes_origin {
    size_t
        number; /**< in files->deletes; FIRN_DELETES_SEVERAL where they come from more than one */
    int64_t sequence_number;
} firn_deletes_origin;

#define FIRN_DELETES_SEVERAL SIZE_MAX

/**
 * Adds deleted positions of data file `data` of the request. Those behind the file's last row are left out, and told of. Thread-safe, but for one delete file, which is
 * read by one thread at a time.
 */
firn_status firn_deletes_add(firn_deletes_work *work, size_t data, const uint64_t *positions,
                             size_t count, firn_deletes_origin origin, firn_error *error);
/** Gives data file `data` a set, taken over also on failure; `part` tells of what lies outside of [first_row, end_row). Thread-safe. */
firn_status firn_deletes_add_set(firn_deletes_work *work, size_t data, firn_roaring *positions,
                                 const firn_roaring_part *part, firn_deletes_origin origin,
                                 firn_error *error);
/** Thread-safe. */
void firn_deletes_count(firn_deletes_work *work, int64_t delete_files, int64_t delete_bytes,
                        int64_t data_bytes);

/** Opens a data or delete file. Its error names the file. */
firn_status firn_deletes_open(const firn_deletes_work *work, const firn_data_file *file,
                              firn_data_source **out, firn_error *error);

static inline const firn_manifest_entry *firn_deletes_data(const firn_deletes_work *work,
                                                           size_t data) {
    return &work->request->data[data]->entry;
}

static inline const firn_manifest_entry *firn_deletes_delete(const firn_deletes_work *work,
                                                             size_t number) {
    return &work->request->files->deletes[number].entry;
}

/* A delete file, by its number in files->deletes, that has to be read. */

/** Reads the deletion vectors of `numbers`, each for the data file of the request that `data` names beside it. */
typedef struct firn_deletes_vector {
    size_t number, data;
} firn_deletes_vector;
firn_status firn_deletes_read_vectors(firn_deletes_work *work, firn_deletes_vector *vectors,
                                      size_t count, firn_error *error);

/** CORRUPT: a data file of the request is live twice, so that position deletes can't be told apart. For a request whose files are looked at a few at a time. */
firn_status firn_deletes_check_paths(const firn_deletes_request *request, firn_error *error);

/** Reads position delete files, each once, for all data files of the request. */
firn_status firn_deletes_read_positions(firn_deletes_work *work, const size_t *numbers,
                                        size_t count, firn_error *error);

/** Finds the rows that equality deletes take, and says which delete files those are. */
firn_status firn_deletes_read_equality(firn_deletes_work *work, firn_error *error);

#endif
