#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DAYS_IN_400_YEARS ((int64_t)146097)
/* Days from 0000-03-01 to 1970-01-01. */
#define DAYS_TO_EPOCH ((int64_t)719468)
#define MS_IN_A_DAY ((int64_t)86400000)

static bool fixed_by_test(int64_t *milliseconds) {
    const char *fixed = getenv("FIRN_TEST_NOW_MS");
    if (fixed == NULL || fixed[0] == '\0') return false;
    *milliseconds = strtoll(fixed, NULL, 10);
    return true;
}

int64_t firn_clock_now_ms(void) {
    int64_t fixed = 0;
    if (fixed_by_test(&fixed)) return fixed;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t firn_clock_now_ns(void) {
    int64_t fixed = 0;
    if (fixed_by_test(&fixed)) return fixed * 1000000;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t firn_clock_monotonic_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Division towards minus infinity; the remainder is 0 … divisor-1. */
static int64_t floor_divide(int64_t value, int64_t divisor, int64_t *remainder) {
    int64_t quotient = value / divisor;
    *remainder = value % divisor;
    if (*remainder < 0) {
        *remainder += divisor;
        quotient--;
    }
    return quotient;
}

/*
 * Both ways count in years that begin on 1 March, so that the leap day is a year's last, within cycles
 * of 400 such years.
 */
int64_t firn_days_from_civil(int64_t year, int month, int day) {
    int64_t year_of_cycle = 0;
    int64_t cycle = floor_divide(year, 400, &year_of_cycle);
    int64_t month_from_march = month > 2 ? (int64_t)month - 3 : (int64_t)month + 9;
    if (month <= 2) year_of_cycle--;
    if (year_of_cycle < 0) {
        year_of_cycle += 400;
        cycle--;
    }
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_cycle =
        year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    int64_t days = 0;
    if (__builtin_mul_overflow(cycle, DAYS_IN_400_YEARS, &days) ||
        __builtin_add_overflow(days, day_of_cycle - DAYS_TO_EPOCH, &days)) {
        return cycle < 0 ? INT64_MIN : INT64_MAX;
    }
    return days;
}

void firn_civil_from_days(int64_t days, int64_t *year, int *month, int *day) {
    int64_t day_of_cycle = 0;
    int64_t cycle = floor_divide(days, DAYS_IN_400_YEARS, &day_of_cycle);
    day_of_cycle += DAYS_TO_EPOCH;
    cycle += day_of_cycle / DAYS_IN_400_YEARS;
    day_of_cycle %= DAYS_IN_400_YEARS;
    int64_t year_of_cycle = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 -
                             day_of_cycle / (DAYS_IN_400_YEARS - 1)) /
                            365;
    int64_t day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = year_of_cycle + cycle * 400 + (*month <= 2 ? 1 : 0);
}

void firn_clock_format_ms(int64_t milliseconds, char *text, size_t size) {
    int64_t of_day = 0;
    int64_t days = floor_divide(milliseconds, MS_IN_A_DAY, &of_day);
    int64_t year = 0;
    int month = 0;
    int day = 0;
    firn_civil_from_days(days, &year, &month, &day);
    int ms = (int)of_day;
    snprintf(text, size, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", (long long)year, month, day,
             ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}
