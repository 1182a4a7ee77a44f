/** Whether a table keeps its promises: everything that it names is there, and what its parts say of each other is true. Changes nothing. */
#ifndef FIRN_UPKEEP_VERIFY_H
#define FIRN_UPKEEP_VERIFY_H

#include "base/threads.h"
#include "base/vector.h"
#include "table/table.h"

typedef enum firn_verify_severity {
    FIRN_VERIFY_ERROR,   /**< readers fail, or read wrong rows */
    FIRN_VERIFY_WARNING, /**< something is not as it should be; rows are right */
    FIRN_VERIFY_NOTE     /**< worth knowing; no fault */
} firn_verify_severity;

typedef struct firn_verify_finding {
    firn_verify_severity severity;
    const char *kind; /**< one word, static: missing, size, counts, … */
    const char *file; /**< NULL: of the table as a whole */
    const char *message;
    const char *advice; /**< what to do; static */
} firn_verify_finding;

typedef struct firn_verify_options {
    bool one_ref; /**< only the snapshot that the table is pinned to; else every snapshot */
    bool deep;    /**< decode every value, and look up every deleted row */
    firn_pool *pool;
    int64_t memory_bytes;
} firn_verify_options;

typedef struct firn_verification {
    firn_arena *arena; /**< of the texts */
    FIRN_VECTOR(firn_verify_finding) findings;
    size_t counts[3]; /**< by severity */
    /* What was looked at; each file once. */
    size_t metadata_files, manifest_lists, manifests, data_files, delete_files, statistics_files;
    size_t footers;
    int64_t rows; /**< of the footers; with `deep` decoded */
} firn_verification;

/** Faults are findings; the call fails only where looking does: memory is out, it was cancelled, a server did not answer. Release `out` also then. */
firn_status firn_verify_table(firn_table *table, const firn_verify_options *options,
                              firn_verification *out, firn_error *error);
void firn_verification_release(firn_verification *verification);

#endif
