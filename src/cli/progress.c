#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/format.h"

#define INTERVAL_NS ((int64_t)150000000)
#define ERASE_LINE "\r\033[K"

void firn_progress_begin(firn_progress *progress, const char *activity, int64_t total_bytes,
                         bool wanted) {
    const char *terminal = getenv("TERM");
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    progress->shown = wanted && !dumb && isatty(STDERR_FILENO) == 1;
    progress->activity = activity;
    progress->total_bytes = total_bytes;
    progress->started_ns = firn_clock_monotonic_ns();
    atomic_init(&progress->done_bytes, 0);
    atomic_init(&progress->printed_ns, progress->started_ns);
}

/* One call of fprintf, so that the line can't be torn by a message of another thread. */
static void print_line(const firn_progress *progress, int64_t done, int64_t now) {
    char done_text[FIRN_FORMAT_SIZE];
    char total_text[FIRN_FORMAT_SIZE];
    char rate_text[FIRN_FORMAT_SIZE];
    double seconds = (double)(now - progress->started_ns) / 1e9;
    double share = progress->total_bytes > 0 ? (double)done / (double)progress->total_bytes : 1.0;
    if (share > 1.0) share = 1.0;
    firn_format_bytes(done, done_text);
    firn_format_bytes(progress->total_bytes, total_text);
    firn_format_bytes((int64_t)((double)done / (seconds > 0.001 ? seconds : 0.001)), rate_text);
    fprintf(stderr, ERASE_LINE "%s %3d %%  %s of %s, %s/s", progress->activity,
            (int)(share * 100.0), done_text, total_text, rate_text);
    fflush(stderr);
}

/* Only one thread prints; the others go on with their work. */
static bool is_due(firn_progress *progress, int64_t now) {
    int_fast64_t printed = atomic_load(&progress->printed_ns);
    if (now - printed < INTERVAL_NS) return false;
    return atomic_compare_exchange_strong(&progress->printed_ns, &printed, now);
}

void firn_progress_advance(void *context, int64_t bytes) {
    firn_progress *progress = context;
    if (!progress->shown) return;
    int64_t done = (int64_t)atomic_fetch_add(&progress->done_bytes, bytes) + bytes;
    int64_t now = firn_clock_monotonic_ns();
    if (is_due(progress, now)) print_line(progress, done, now);
}

void firn_progress_tell(void *context, const char *activity, size_t done, size_t total) {
    firn_progress *progress = context;
    char done_text[FIRN_FORMAT_SIZE];
    char total_text[FIRN_FORMAT_SIZE];
    if (!progress->shown || !is_due(progress, firn_clock_monotonic_ns())) return;
    double share = total > 0 && done < total ? (double)done / (double)total : 1.0;
    firn_format_count((int64_t)done, done_text);
    firn_format_count((int64_t)total, total_text);
    fprintf(stderr, ERASE_LINE "%s %3d %%  %s of %s files", activity, (int)(share * 100.0),
            done_text, total_text);
    fflush(stderr);
}

void firn_progress_end(firn_progress *progress) {
    if (!progress->shown) return;
    fprintf(stderr, ERASE_LINE);
    fflush(stderr);
}
