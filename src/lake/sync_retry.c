/* Trying again what failed for reasons that pass. */
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "lake/sync_internal.h"

#define FIRST_WAIT_MS 100
#define LONGEST_WAIT_MS 20000

static bool may_pass(firn_status status) {
    return status == FIRN_IO || status == FIRN_TIMEOUT || status == FIRN_THROTTLED ||
           status == FIRN_CONFLICT || status == FIRN_EXISTS;
}

/* Twice as long each time, with full jitter. */
static firn_status wait_before(size_t attempt, firn_error *error) {
    uint32_t random = 0;
    int64_t most = FIRST_WAIT_MS;
    FIRN_TRY(firn_random_bytes(&random, sizeof random, error));
    for (size_t i = 0; i < attempt && most < LONGEST_WAIT_MS; i++) most *= 2;
    int64_t end = firn_clock_monotonic_ns() + (int64_t)(random % (uint64_t)most) * 1000000;
    while (firn_clock_monotonic_ns() < end) {
        FIRN_TRY(firn_cancel_check(error));
        struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
    }
    return FIRN_OK;
}

firn_status firn_sync_follow(firn_sync_work *work, firn_error *error) {
    FIRN_TRY(firn_sync_open_table(work, error));
    if (work->table == NULL) return FIRN_OK;
    FIRN_TRY(firn_table_reload(work->table, error));
    FIRN_TRY(firn_sync_load_ledger(work, error));
    FIRN_TRY(firn_sync_drop_taken(work, error));
    /* Without files to add there is no plan, and there are no footers. */
    if (work->file_count == 0 || firn_sync_plan_holds(work)) return FIRN_OK;
    return firn_sync_prepare(work, error);
}

firn_status firn_sync_try(firn_sync_work *work, firn_sync_step step, void *context,
                          firn_error *error) {
    for (size_t attempt = 0;; attempt++) {
        firn_status status = step(work, context, error);
        if (!may_pass(status) || attempt >= work->options->retries) return status;
        firn_log_info("%s; trying again", error == NULL ? "a batch failed" : error->message);
        if (work->journal != NULL) {
            FIRN_TRY(firn_journal_discard(work->journal, work->storage, error));
        }
        FIRN_TRY(wait_before(attempt, error));
        if (error != NULL) firn_error_clear(error);
        FIRN_TRY(firn_sync_follow(work, error));
    }
}
