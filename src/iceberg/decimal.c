#include "iceberg/decimal.h"

__extension__ typedef unsigned __int128 uint128;

#define MOST_DIGITS 38

size_t firn_decimal_to_bytes(firn_int128 unscaled, uint8_t out[16]) {
    uint8_t all[16];
    uint128 bits = (uint128)unscaled;
    for (int i = 0; i < 16; i++) all[i] = (uint8_t)(bits >> (120 - 8 * i));
    /* A leading byte is spare when it only repeats the sign of the byte behind it. */
    uint8_t spare = unscaled < 0 ? 0xFF : 0x00;
    size_t first = 0;
    while (first < 15 && all[first] == spare && (all[first + 1] & 0x80) == (spare & 0x80)) first++;
    memcpy(out, all + first, 16 - first);
    return 16 - first;
}

bool firn_decimal_from_bytes(firn_slice bytes, firn_int128 *out) {
    if (bytes.size == 0) return false;
    uint8_t spare = (bytes.data[0] & 0x80) != 0 ? 0xFF : 0x00;
    while (bytes.size > 16) {
        bool padding = bytes.data[0] == spare && (bytes.data[1] & 0x80) == (spare & 0x80);
        if (!padding) return false;
        bytes = firn_slice_of(bytes.data + 1, bytes.size - 1);
    }
    uint128 bits = spare == 0xFF ? ~(uint128)0 : 0;
    for (size_t i = 0; i < bytes.size; i++) bits = bits << 8 | bytes.data[i];
    *out = (firn_int128)bits;
    return true;
}

size_t firn_decimal_to_text(firn_int128 unscaled, int32_t scale,
                            char text[FIRN_DECIMAL_TEXT_SIZE]) {
    uint128 rest = unscaled < 0 ? -(uint128)unscaled : (uint128)unscaled;
    char reversed[FIRN_DECIMAL_TEXT_SIZE];
    size_t count = 0;
    /* One digit stands before the point at least. */
    for (int32_t place = 0; rest != 0 || place <= scale; place++) {
        if (place == scale && scale != 0) reversed[count++] = '.';
        reversed[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    if (unscaled < 0) reversed[count++] = '-';
    for (size_t i = 0; i < count; i++) text[i] = reversed[count - 1 - i];
    text[count] = '\0';
    return count;
}

bool firn_decimal_from_text(const char *text, int32_t scale, firn_int128 *out) {
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    firn_int128 value = 0;
    int digits = 0;      /* behind leading zeros */
    int32_t places = -1; /* behind the point; -1 before it */
    bool any = false;
    for (; *text != '\0'; text++) {
        if (*text == '.' && places < 0) {
            places = 0;
            continue;
        }
        if (*text < '0' || *text > '9') return false;
        any = true;
        if (places >= 0 && ++places > scale) return false;
        if (digits != 0 || *text != '0') digits++;
        if (digits > MOST_DIGITS) return false;
        value = value * 10 + (*text - '0');
    }
    if (!any || (places < 0 ? 0 : places) != scale) return false;
    *out = negative ? -value : value;
    return true;
}

bool firn_decimal_fits(firn_int128 unscaled, int32_t precision) {
    uint128 rest = unscaled < 0 ? -(uint128)unscaled : (uint128)unscaled;
    int32_t digits = 0;
    for (; rest != 0; rest /= 10) digits++;
    return digits <= precision;
}
