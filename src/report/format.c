#include "report/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};

void firn_format_bytes(int64_t bytes, char text[FIRN_FORMAT_SIZE]) {
    uint64_t magnitude = bytes < 0 ? (uint64_t)0 - (uint64_t)bytes : (uint64_t)bytes;
    const char *sign = bytes < 0 ? "-" : "";
    if (magnitude < 1024) {
        snprintf(text, FIRN_FORMAT_SIZE, "%s%" PRIu64 " B", sign, magnitude);
        return;
    }
    double scaled = (double)magnitude;
    size_t unit = 0;
    /* What would be printed as 1024.0 is one of the next unit. */
    while (scaled >= 1023.95 && unit + 1 < sizeof units / sizeof *units) {
        scaled /= 1024.0;
        unit++;
    }
    snprintf(text, FIRN_FORMAT_SIZE, "%s%.1f %s", sign, scaled, units[unit]);
}

void firn_format_count(int64_t count, char text[FIRN_FORMAT_SIZE]) {
    char digits[32];
    uint64_t magnitude = count < 0 ? (uint64_t)0 - (uint64_t)count : (uint64_t)count;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    size_t size = 0;
    if (count < 0) text[size++] = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[size++] = ',';
        text[size++] = digits[i];
    }
    text[size] = '\0';
}

void firn_format_duration(int64_t nanoseconds, char text[FIRN_FORMAT_SIZE]) {
    int64_t milliseconds = nanoseconds < 0 ? 0 : nanoseconds / 1000000;
    if (milliseconds < 60000) {
        snprintf(text, FIRN_FORMAT_SIZE, "%" PRId64 ".%d s", milliseconds / 1000,
                 (int)(milliseconds % 1000 / 100));
        return;
    }
    int64_t seconds = milliseconds / 1000;
    if (seconds < 3600) {
        snprintf(text, FIRN_FORMAT_SIZE, "%" PRId64 " min %" PRId64 " s", seconds / 60,
                 seconds % 60);
        return;
    }
    snprintf(text, FIRN_FORMAT_SIZE, "%" PRId64 " h %" PRId64 " min", seconds / 3600,
             seconds % 3600 / 60);
}

/* Power of 1024 that a unit stands for, or -1. */
static int unit_power(const char *unit) {
    if (unit[0] == '\0' || strcasecmp(unit, "B") == 0) return 0;
    for (size_t i = 1; i < sizeof units / sizeof *units; i++) {
        const char letter[2] = {units[i][0], '\0'};
        char binary[4];
        snprintf(binary, sizeof binary, "%siB", letter);
        if (strcasecmp(unit, letter) == 0 || strcasecmp(unit, units[i]) == 0 ||
            strcasecmp(unit, binary) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int firn_parse_whole(const char *text, size_t length, int64_t *out) {
    int64_t number = 0;
    if (length == 0 || strspn(text, "0123456789") < length) return EINVAL;
    for (size_t i = 0; i < length; i++) {
        if (__builtin_mul_overflow(number, (int64_t)10, &number)) return ERANGE;
        if (__builtin_add_overflow(number, (int64_t)(text[i] - '0'), &number)) return ERANGE;
    }
    *out = number;
    return 0;
}

int firn_parse_bytes(const char *text, int64_t *out) {
    int64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    while (*unit == ' ') unit++;
    int power = unit_power(unit);
    if (power < 0) return EINVAL;
    int code = firn_parse_whole(text, digits, &number);
    if (code != 0) return code;
    for (int i = 0; i < power; i++) {
        if (__builtin_mul_overflow(number, (int64_t)1024, &number)) return ERANGE;
    }
    *out = number;
    return 0;
}
