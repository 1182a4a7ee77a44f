#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

firn_status firn_random_bytes(void *out, size_t size, firn_error *error) {
    uint8_t *bytes = out;
    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            return firn_fail_errno(error, FIRN_IO, errno, "no random bytes from the kernel");
        }
        bytes += got;
        size -= (size_t)got;
    }
    return FIRN_OK;
}

firn_status firn_random_id(int64_t *out, firn_error *error) {
    uint64_t bits = 0;
    do {
        FIRN_TRY(firn_random_bytes(&bits, sizeof bits, error));
        bits &= (uint64_t)INT64_MAX;
    } while (bits == 0);
    *out = (int64_t)bits;
    return FIRN_OK;
}

firn_status firn_uuid_random(char text[FIRN_UUID_TEXT_SIZE], firn_error *error) {
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[16];
    FIRN_TRY(firn_random_bytes(bytes, sizeof bytes, error));
    /* Version 4, variant 10 (RFC 9562, section 5.4). */
    bytes[6] = (uint8_t)((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = (uint8_t)((bytes[8] & 0x3FU) | 0x80U);
    char *end = text;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *end++ = '-';
        *end++ = digits[bytes[i] >> 4];
        *end++ = digits[bytes[i] & 0x0FU];
    }
    *end = '\0';
    return FIRN_OK;
}
