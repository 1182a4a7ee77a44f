#include "iceberg/calendar.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

void firn_print_date(int64_t days, char text[FIRN_CALENDAR_TEXT_SIZE]) {
    int64_t year = 0;
    int month = 0;
    int day = 0;
    firn_civil_from_days(days, &year, &month, &day);
    const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
    snprintf(text, FIRN_CALENDAR_TEXT_SIZE, "%s%04" PRId64 "-%02d-%02d", sign,
             year < 0 ? -year : year, month, day);
}

void firn_print_time(int64_t time, int64_t per_second, int digits,
                     char text[FIRN_CALENDAR_TEXT_SIZE]) {
    int64_t seconds = firn_floor_divide(time, per_second);
    snprintf(text, FIRN_CALENDAR_TEXT_SIZE, "%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%0*" PRId64,
             seconds / 3600, seconds / 60 % 60, seconds % 60, digits,
             firn_floor_remainder(time, per_second));
}

/* `least` to `most` digits. */
static bool take_digits(const char **text, int least, int most, int64_t *out) {
    int64_t value = 0;
    int count = 0;
    for (; count < most && **text >= '0' && **text <= '9'; count++, (*text)++) {
        value = value * 10 + (**text - '0');
    }
    *out = value;
    return count >= least;
}

static bool take_character(const char **text, char wanted) {
    if (**text != wanted) return false;
    (*text)++;
    return true;
}

bool firn_parse_date(const char **text, int64_t *days) {
    bool negative = **text == '-';
    bool has_sign = negative || **text == '+';
    if (has_sign) (*text)++;
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    bool well_formed = take_digits(text, 4, has_sign ? 9 : 4, &year) && take_character(text, '-') &&
                       take_digits(text, 2, 2, &month) && take_character(text, '-') &&
                       take_digits(text, 2, 2, &day);
    if (!well_formed || month < 1 || month > 12 || day < 1 || day > 31) return false;
    if (negative) year = -year;
    *days = firn_days_from_civil(year, (int)month, (int)day);
    /* "2023-02-30" would come back as another day. */
    int64_t back_year = 0;
    int back_month = 0;
    int back_day = 0;
    firn_civil_from_days(*days, &back_year, &back_month, &back_day);
    return back_year == year && back_month == month && back_day == day;
}

bool firn_parse_time(const char **text, int64_t per_second, int64_t *time) {
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    if (!take_digits(text, 2, 2, &hour) || !take_character(text, ':') ||
        !take_digits(text, 2, 2, &minute)) {
        return false;
    }
    if (take_character(text, ':') && !take_digits(text, 2, 2, &second)) return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    int64_t fraction = 0;
    if (take_character(text, '.')) {
        int64_t unit = per_second;
        const char *begin = *text;
        while (**text >= '0' && **text <= '9') {
            if (unit == 1) return false;
            unit /= 10;
            fraction += unit * (**text - '0');
            (*text)++;
        }
        if (*text == begin) return false;
    }
    *time = ((hour * 60 + minute) * 60 + second) * per_second + fraction;
    return true;
}
