/** How far a run has come, on a terminal's standard error. */
#ifndef FIRN_CLI_PROGRESS_H
#define FIRN_CLI_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct firn_progress {
    bool shown;           /**< false: nothing is ever printed */
    const char *activity; /**< "compacting" */
    int64_t total_bytes;
    int64_t started_ns;
    atomic_int_fast64_t done_bytes;
    atomic_int_fast64_t printed_ns; /**< when the line was last printed */
} firn_progress;

/** `wanted` false (--no-progress), or standard error no terminal: silent. */
void firn_progress_begin(firn_progress *progress, const char *activity, int64_t total_bytes,
                         bool wanted);
/** Counts `bytes` more; prints at most some times a second. For any thread; `context` is the progress. */
void firn_progress_advance(void *context, int64_t bytes);
/** Says how far an activity has come that counts files, whatever bytes were counted; prints as rarely. `context` is the progress. */
void firn_progress_tell(void *context, const char *activity, size_t done, size_t total);
/** Takes the line away. */
void firn_progress_end(firn_progress *progress);

#endif
