/** Getting and keeping one footer; footers.c puts many of them in order. */
#ifndef FIRN_LAKE_FOOTERS_INTERNAL_H
#define FIRN_LAKE_FOOTERS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/spool.h"
#include "lake/footers.h"

#define FIRN_LAKE_SPARE_ARENAS 64

/** What is known of a file. Its bytes, or the message of its failure, lie in the spool. */
typedef struct firn_lake_footer_record {
    uint64_t offset; /**< in the spool */
    uint32_t length;
    bool known;
    uint8_t status; /**< firn_status */
} firn_lake_footer_record;

struct firn_lake_footers {
    firn_storage *storage;
    firn_pool *pool;
    const firn_lake_file *files;
    size_t file_count;
    firn_lake_footer_record *records; /**< one per file; each is written by one thread at a time */
    pthread_mutex_t spool_lock;
    firn_spool *spool;
    uint64_t spool_size;
    firn_parquet_known_schemas *schemas;
    /* Arenas of footers that were looked at, for the next ones. */
    pthread_mutex_t spare_lock;
    firn_arena *spare[FIRN_LAKE_SPARE_ARENAS];
    size_t spare_count;
    atomic_uint_fast64_t opened, reads;
};

/**
 * Makes record `index` known, unless it is, and gives the parsed footer where `parse` is set (else only for free: *out may be NULL). What is wrong with the file is put down in its record;
 * the call fails where that says nothing about the file.
 */
firn_status firn_lake_footer_load(firn_lake_footers *footers, size_t index, bool parse,
                                  firn_parquet_file **out, firn_error *error);
/** Gives a footer back; NULL is allowed. */
void firn_lake_footer_unload(firn_lake_footers *footers, firn_parquet_file *parquet);
/** The error of a record that failed. */
firn_status firn_lake_footer_failure(firn_lake_footers *footers, size_t index, firn_error *out,
                                     firn_error *error);

#endif
