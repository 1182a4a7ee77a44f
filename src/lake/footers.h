/**
 * Footers of many files, each read from its file once (one read for small footers, two for large ones), in parallel, and kept in bounded memory: whatever goes beyond the limit lies in an
 * unlinked temporary file. So they can be looked at again, to make a schema first and entries afterwards, or to try a commit again, without going back to the source.
 */
#ifndef FIRN_LAKE_FOOTERS_H
#define FIRN_LAKE_FOOTERS_H

#include "base/threads.h"
#include "lake/listing.h"
#include "parquet/file_reader.h"

typedef struct firn_lake_footers firn_lake_footers;

/** `files` and all else is borrowed. */
firn_status firn_lake_footers_new(firn_storage *storage, firn_pool *pool,
                                  const firn_lake_file *files, size_t file_count,
                                  size_t memory_bytes, firn_lake_footers **out, firn_error *error);
/** NULL is allowed. */
void firn_lake_footers_free(firn_lake_footers *footers);

/**
 * What is known of one file. `parquet` is NULL where `status` says why: the file is empty, truncated, no Parquet, encrypted, has columns in other files, or is gone (NOT_FOUND) or changed (CONFLICT) since the listing. It can't read column data (its source only knows the
 * footer's bytes); it is valid during the call only.
 */
typedef struct firn_lake_footer {
    size_t index; /**< of the file */
    const firn_lake_file *file;
    const firn_parquet_file *parquet;
    firn_status status;
    const firn_error *error; /**< names the file and the reason */
} firn_lake_footer;

typedef firn_status (*firn_lake_footer_visitor)(void *context, const firn_lake_footer *footer,
                                                firn_error *error);

/**
 * Visits files first … first + count - 1, in their order, from the calling thread; the reading and parsing of those that come next goes on in the pool meanwhile, a bounded
 * number ahead. What a visitor returns other than OK ends the visit and is passed up. So does a failure that says nothing about
 * the file: memory or descriptors are out, a stop was asked for, the store throttles, what was kept can't be written or read. A file that can't be opened or read is a status of that file. The pool is
 * busy meanwhile: what a visitor gives it runs on the calling thread alone.
 */
firn_status firn_lake_footers_visit(firn_lake_footers *footers, size_t first, size_t count,
                                    firn_lake_footer_visitor visit, void *context,
                                    firn_error *error);

/** Number of reads that were made from the source's files so far, and files opened. */
void firn_lake_footers_count(const firn_lake_footers *footers, uint64_t *files, uint64_t *reads);

#endif
