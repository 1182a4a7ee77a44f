/** How often and after what waits a commit is tried again (specification, "commit.retry.*" of table properties). */
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/random.h"
#include "table/commit_internal.h"

#define SLICE_MS 20

static firn_status read_property(const firn_table_metadata *metadata, const char *key,
                                 int64_t otherwise, int64_t *out, firn_error *error) {
    FIRN_TRY(firn_table_metadata_property_int(metadata, key, otherwise, out, error));
    if (*out < 0) *out = 0;
    return FIRN_OK;
}

firn_status firn_commit_retry_init(firn_commit_retry *retry, const firn_table_metadata *metadata,
                                   firn_error *error) {
    retry->started_ns = firn_clock_monotonic_ns();
    FIRN_TRY(read_property(metadata, "commit.retry.num-retries", 4, &retry->retries, error));
    FIRN_TRY(read_property(metadata, "commit.retry.min-wait-ms", 100, &retry->min_wait_ms, error));
    FIRN_TRY(
        read_property(metadata, "commit.retry.max-wait-ms", 60000, &retry->max_wait_ms, error));
    return read_property(metadata, "commit.retry.total-timeout-ms", 1800000,
                         &retry->total_timeout_ms, error);
}

/** Exponential, with full jitter: writers that met once are not to meet again. */
static firn_status choose_wait(const firn_commit_retry *retry, int number, int64_t *out,
                               firn_error *error) {
    int64_t longest = retry->min_wait_ms;
    for (int i = 1; i < number && longest < retry->max_wait_ms; i++) {
        if (__builtin_mul_overflow(longest, 2, &longest)) longest = retry->max_wait_ms;
    }
    if (longest > retry->max_wait_ms) longest = retry->max_wait_ms;
    int64_t random = 0;
    FIRN_TRY(firn_random_id(&random, error));
    *out = longest == INT64_MAX ? random : random % (longest + 1);
    return FIRN_OK;
}

static int64_t elapsed_ms(int64_t since_ns) {
    return (firn_clock_monotonic_ns() - since_ns) / 1000000;
}

firn_status firn_commit_retry_wait(const firn_commit_retry *retry, int number, bool *more,
                                   firn_error *error) {
    int64_t wait = 0;
    *more = false;
    if (number > retry->retries) return FIRN_OK;
    FIRN_TRY(choose_wait(retry, number, &wait, error));
    int64_t left = retry->total_timeout_ms - elapsed_ms(retry->started_ns);
    if (left <= 0 || wait > left) return FIRN_OK;
    int64_t start = firn_clock_monotonic_ns();
    for (;;) {
        FIRN_TRY(firn_cancel_check(error));
        int64_t rest = wait - elapsed_ms(start);
        if (rest <= 0) break;
        struct timespec pause = {0, (rest < SLICE_MS ? rest : SLICE_MS) * 1000000};
        nanosleep(&pause, NULL);
    }
    *more = true;
    return FIRN_OK;
}
