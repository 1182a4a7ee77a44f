/**
 * The files that `parquet merge` writes. Each is written beside its place and takes its name only when all are complete and were read
 * back, so that nobody ever sees half of one.
 */
#ifndef FIRN_CLI_MERGE_OUTPUTS_H
#define FIRN_CLI_MERGE_OUTPUTS_H

#include "base/vector.h"
#include "parquet/merge.h"
#include "storage/storage.h"

typedef struct firn_merge_output {
    char *location;   /**< as it will be called */
    const char *path; /**< the same without a scheme; within it */
    char *temporary;  /**< NULL once it has its name */
    int64_t rows, bytes;
} firn_merge_output;

typedef struct firn_merge_outputs {
    firn_storage *storage;
    const char *location;      /**< as given */
    bool numbered;             /**< OUT.parquet stands for OUT-00001.parquet … */
    bool force;                /**< what is there is replaced */
    const char *const *inputs; /**< borrowed: none of them is written to */
    size_t input_count;
    firn_storage_writer *writer;
    FIRN_VECTOR(firn_merge_output) items;
} firn_merge_outputs;

/**
 * Refuses (EXISTS; INVALID, also where a file to write is one of the inputs) before anything is read. Texts are borrowed.
 * Release also on failure.
 */
firn_status firn_merge_outputs_init(firn_merge_outputs *outputs, firn_storage *storage,
                                    const char *const *inputs, size_t input_count,
                                    const char *location, bool numbered, bool force,
                                    firn_error *error);
/** Removes what did not get its name. */
void firn_merge_outputs_release(firn_merge_outputs *outputs);

/** Where the merge writes; `outputs` must stay where it is. */
firn_parquet_merge_outputs firn_merge_outputs_of(firn_merge_outputs *outputs);

/** Gives all files their names. On failure those that got theirs lose them again, unless they replaced others. */
firn_status firn_merge_outputs_publish(firn_merge_outputs *outputs, firn_error *error);
/** Makes the names last. */
firn_status firn_merge_outputs_sync(const firn_merge_outputs *outputs, firn_error *error);

#endif
