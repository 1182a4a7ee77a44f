/** Groups of data files to new files (design, sections 4.2 and 7). One call rewrites one group; it writes files and commits nothing. */
#ifndef FIRN_REWRITE_REWRITE_H
#define FIRN_REWRITE_REWRITE_H

#include "base/threads.h"
#include "data/deletes.h"
#include "data/write_options.h"
#include "parquet/rewrite.h"
#include "table/journal.h"

typedef struct firn_rewrite_progress {
    /** Called from any thread with compressed input bytes done since the last call; nullable. */
    void (*advance)(void *context, int64_t bytes);
    void *context;
} firn_rewrite_progress;

typedef struct firn_rewrite_settings {
    firn_table *table;     /**< pinned; only read */
    bool trial;            /**< outputs are made, and kept nowhere: to see how large they are */
    firn_journal *journal; /**< every output is named here first; nullable in tests */
    firn_pool *pool;
    int64_t memory_bytes; /**< --memory */
    const firn_data_write_options *write;
    bool no_joined_pages; /**< for readers that can't take several compressed pieces in one page */
    bool copy_pages;      /**< false: decode and encode everything (for tests and comparison) */
    bool verify;          /**< decode both sides afterwards and compare content hashes */
    const char *run_id;   /**< UUID text, part of file names */
    firn_rewrite_progress progress;
} firn_rewrite_settings;

/** What the footers of a group's files told. */
typedef struct firn_rewrite_looked firn_rewrite_looked;

/** NULL is allowed. */
void firn_rewrite_looked_free(firn_rewrite_looked *looked);
/** Bytes of memory that it takes. */
size_t firn_rewrite_looked_size(const firn_rewrite_looked *looked);

/** Live data files of one (spec id, partition tuple), in the order in which their rows shall stand. */
typedef struct firn_rewrite_group {
    const firn_live_file *const *inputs;
    size_t input_count;
    const firn_deletes *deletes; /**< rows that go, of the inputs in their order; NULL: none */
    bool lineage; /**< outputs hold _row_id and _last_updated_sequence_number (design, section 7) */
    const firn_partition_spec *spec;
    size_t
        output_count; /**< planned number of files; rows are cut into this many runs of about equal bytes */
    size_t group_number; /**< part of file names */
    /** NULL, or what firn_rewrite_check found for the same files, so that their footers need not be looked at again. Used up by the rewrite. */
    firn_rewrite_looked *looked;
} firn_rewrite_group;

/** Rows of input `input` that go. */
int64_t firn_rewrite_rows_deleted(const firn_rewrite_group *group, size_t input);

typedef struct firn_rewrite_result {
    firn_arena *arena;
    firn_data_file *
        outputs; /**< with metrics, split offsets, partition, sort order id 0 unless all inputs share one and order is kept in a single run */
    size_t output_count;
    int64_t rows_in, rows_deleted, rows_out;
    int64_t bytes_in, bytes_out;
    int64_t bytes_copied, bytes_encoded; /**< compressed input bytes, by the way that they went */
    firn_parquet_rewrite_counts
        counts; /**< the same way by way, with reasons; summed over leaves */
    int64_t row_groups_out;
} firn_rewrite_result;

/** Refuses by name, from footers alone, before anything is written: what the inputs hold that can't be rewritten. `looked` is nullable; what it gets is the caller's. */
firn_status firn_rewrite_check(const firn_rewrite_settings *settings,
                               const firn_rewrite_group *group, firn_rewrite_looked **looked,
                               firn_error *error);

/** What was learnt from rewriting a part of a group in memory. */
typedef struct firn_rewrite_estimation {
    int64_t bytes;         /**< expected, of the outputs */
    int64_t sampled_bytes; /**< of the inputs that were tried; 0: none was small enough */
    firn_parquet_rewrite_counts counts; /**< how these went over */
} firn_rewrite_estimation;

/**
 * Expected bytes of the group's outputs: a run of its inputs of about `sample_bytes` is rewritten in memory and the rest taken to shrink alike. Inputs that are
 * larger than the sample are taken to keep their size.
 */
firn_status firn_rewrite_estimate(const firn_rewrite_settings *settings,
                                  const firn_rewrite_group *group, int64_t sample_bytes,
                                  firn_rewrite_estimation *out, firn_error *error);

/**
 * Rewrites. Afterwards rows, and per column nulls and values, are compared between inputs (manifest and footers and what was decoded) and outputs: a difference is
 * CORRUPT and the outputs are not to be used. On failure everything written is journaled for discarding.
 */
firn_status firn_rewrite_binpack(const firn_rewrite_settings *settings,
                                 const firn_rewrite_group *group, firn_rewrite_result *out,
                                 firn_error *error);
void firn_rewrite_result_release(firn_rewrite_result *result);

#endif
