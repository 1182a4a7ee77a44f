/** Dates and times of day as text (ISO 8601, UTC). Internal to iceberg. */
#ifndef FIRN_ICEBERG_CALENDAR_H
#define FIRN_ICEBERG_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Enough for any of the texts here. */
#define FIRN_CALENDAR_TEXT_SIZE 64

#define FIRN_MICROSECONDS_PER_SECOND INT64_C(1000000)
#define FIRN_NANOSECONDS_PER_SECOND INT64_C(1000000000)
#define FIRN_SECONDS_PER_DAY INT64_C(86400)

/** Rounds towards minus infinity; `divisor` is positive. */
static inline int64_t firn_floor_divide(int64_t value, int64_t divisor) {
    int64_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

/** The remainder of firn_floor_divide, 0 … divisor-1. */
static inline int64_t firn_floor_remainder(int64_t value, int64_t divisor) {
    int64_t remainder = value % divisor;
    return remainder < 0 ? remainder + divisor : remainder;
}

/** "2017-11-16"; years outside 0 … 9999 carry a sign. */
void firn_print_date(int64_t days, char text[FIRN_CALENDAR_TEXT_SIZE]);
/** "22:31:08.123456" of a time in units of 1/`per_second` since midnight, `digits` decimals. */
void firn_print_time(int64_t time, int64_t per_second, int digits,
                     char text[FIRN_CALENDAR_TEXT_SIZE]);

/** Both take what begins at *text and move it behind; false when there is none. */
bool firn_parse_date(const char **text, int64_t *days);
/** Up to as many decimals as `per_second` has; seconds and decimals may be left out. */
bool firn_parse_time(const char **text, int64_t per_second, int64_t *time);

#endif
