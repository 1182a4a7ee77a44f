/** Time. All UTC, independent of locale and time zone. Thread-safe. */
#ifndef FIRN_BASE_CLOCK_H
#define FIRN_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Milliseconds since 1970-01-01T00:00:00Z. FIRN_TEST_NOW_MS in the environment overrides it for tests. */
int64_t firn_clock_now_ms(void);
/** The same in nanoseconds. */
int64_t firn_clock_now_ns(void);
/** Nanoseconds of a clock that never goes back. */
int64_t firn_clock_monotonic_ns(void);

/** Days since 1970-01-01 to and from the proleptic Gregorian calendar; month 1 … 12. */
int64_t firn_days_from_civil(int64_t year, int month, int day);
void firn_civil_from_days(int64_t days, int64_t *year, int *month, int *day);

/** "2026-01-31T12:34:56.789Z" into `text` (at least 40 bytes). */
void firn_clock_format_ms(int64_t milliseconds, char *text, size_t size);

#endif
