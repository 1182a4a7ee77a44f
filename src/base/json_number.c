#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"

/*
 * No double, and no point halfway between two, has more significant digits than 768: behind these it only
 * matters whether the rest is zero.
 */
#define SIGNIFICANT_DIGITS 770

/* An exponent beyond this is infinite or zero, however many digits stand before it. */
#define HIGHEST_EXPONENT ((int64_t)1 << 60)

typedef struct number_text {
    firn_slice text;
    size_t at;
    bool negative;
    size_t whole, whole_end;       /* the digits before the point */
    size_t fraction, fraction_end; /* those behind it */
    int64_t exponent;
} number_text;

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* The byte to come; 0, which is part of no number, at the end. */
static uint8_t peek(const number_text *number) {
    return number->at < number->text.size ? number->text.data[number->at] : 0;
}

static size_t skip_digits(number_text *number) {
    size_t start = number->at;
    while (is_digit(peek(number))) number->at++;
    return number->at - start;
}

static const char *scan_whole(number_text *number) {
    number->negative = peek(number) == '-';
    if (number->negative) number->at++;
    number->whole = number->at;
    bool zero = peek(number) == '0';
    if (skip_digits(number) == 0) return "a digit expected";
    number->whole_end = number->at;
    if (!zero || number->at == number->whole + 1) return NULL;
    number->at = number->whole + 1;
    return "a number does not begin with 0";
}

static const char *scan_fraction(number_text *number) {
    if (peek(number) != '.') return NULL;
    number->at++;
    number->fraction = number->at;
    if (skip_digits(number) == 0) return "a digit expected";
    number->fraction_end = number->at;
    return NULL;
}

static const char *scan_exponent(number_text *number) {
    if (peek(number) != 'e' && peek(number) != 'E') return NULL;
    number->at++;
    bool negative = peek(number) == '-';
    if (negative || peek(number) == '+') number->at++;
    if (!is_digit(peek(number))) return "a digit expected";
    int64_t exponent = 0;
    for (; is_digit(peek(number)); number->at++) {
        if (exponent < HIGHEST_EXPONENT / 10) exponent = exponent * 10 + (peek(number) - '0');
    }
    number->exponent = negative ? -exponent : exponent;
    return NULL;
}

/* Summed up below zero, where there is one number more. */
static bool whole_of(const number_text *number, int64_t *out) {
    int64_t sum = 0;
    for (size_t i = number->whole; i < number->whole_end; i++) {
        int digit = number->text.data[i] - '0';
        if (__builtin_mul_overflow(sum, 10, &sum)) return false;
        if (__builtin_sub_overflow(sum, digit, &sum)) return false;
    }
    if (number->negative) {
        *out = sum;
        return true;
    }
    return !__builtin_sub_overflow((int64_t)0, sum, out);
}

typedef struct significant {
    char digits[SIGNIFICANT_DIGITS + 1];
    size_t count;
    int64_t dropped; /* digits that are left out at the end */
    bool rest;       /* one of these is not zero */
} significant;

static void take_digits(const number_text *number, size_t start, size_t end, significant *out) {
    for (size_t i = start; i < end; i++) {
        char digit = (char)number->text.data[i];
        if (out->count == 0 && digit == '0') continue;
        if (out->count < SIGNIFICANT_DIGITS) {
            out->digits[out->count++] = digit;
        } else {
            out->dropped++;
            out->rest = out->rest || digit != '0';
        }
    }
}

/* strtod looks for the locale's decimal point, so it is given a whole number and an exponent. */
static double real_of(const number_text *number) {
    significant digits = {.count = 0};
    take_digits(number, number->whole, number->whole_end, &digits);
    take_digits(number, number->fraction, number->fraction_end, &digits);
    if (digits.count == 0) return number->negative ? -0.0 : 0.0;
    int64_t exponent = number->exponent + digits.dropped;
    exponent -= (int64_t)(number->fraction_end - number->fraction);
    if (digits.rest) {
        digits.digits[digits.count++] = '1';
        exponent--;
    }
    char text[SIGNIFICANT_DIGITS + 32];
    snprintf(text, sizeof text, "%s%.*se%lld", number->negative ? "-" : "", (int)digits.count,
             digits.digits, (long long)exponent);
    return strtod(text, NULL);
}

static const char *scan(number_text *number) {
    const char *wrong = scan_whole(number);
    if (wrong == NULL) wrong = scan_fraction(number);
    return wrong != NULL ? wrong : scan_exponent(number);
}

firn_json_number firn_json_number_read(firn_slice text) {
    number_text number = {.text = text};
    firn_json_number result = {.wrong = scan(&number)};
    result.size = number.at;
    if (result.wrong != NULL) return result;
    result.is_real = number.at != number.whole_end;
    if (!result.is_real) {
        if (whole_of(&number, &result.integer)) return result;
        result.wrong = "the integer does not fit 64 bits";
    } else {
        result.real = real_of(&number);
        if (isfinite(result.real)) return result;
        result.wrong = "the number does not fit a double";
    }
    result.size = 0;
    return result;
}

size_t firn_json_integer_print(int64_t value, char out[FIRN_JSON_NUMBER_SIZE]) {
    char reversed[FIRN_JSON_NUMBER_SIZE];
    size_t count = 0;
    uint64_t left = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
    do {
        reversed[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (value < 0) reversed[count++] = '-';
    for (size_t i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
    return count;
}

/* e+05 becomes e5, e-05 becomes e-5. Returns what follows the exponent's sign and zeros. */
static const char *print_exponent(const char *from, char *out, size_t *size) {
    out[(*size)++] = 'e';
    if (*from == '-') out[(*size)++] = '-';
    from++;
    while (*from == '0') from++;
    return from;
}

size_t firn_json_real_print(double value, char out[FIRN_JSON_NUMBER_SIZE]) {
    /* 17 digits make every double come back as it was. */
    char text[FIRN_JSON_NUMBER_SIZE];
    snprintf(text, sizeof text, "%.17g", value);
    size_t size = 0;
    bool real = false;
    const char *next = text;
    while (*next != '\0') {
        if (is_digit((uint8_t)*next) || *next == '-') {
            out[size++] = *next++;
            continue;
        }
        real = true;
        if (*next == 'e') {
            next = print_exponent(next + 1, out, &size);
            continue;
        }
        /* What is left is the locale's decimal point, which may take several bytes. */
        out[size++] = '.';
        while (*next != '\0' && *next != 'e' && !is_digit((uint8_t)*next)) next++;
    }
    if (real) return size;
    memcpy(out + size, ".0", 2);
    return size + 2;
}
