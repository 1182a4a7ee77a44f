/* Names that every Avro library takes, for partition fields of any name. */
#include <stdio.h>

#include "iceberg/manifest_internal.h"

/** Takes one code point off well-formed UTF-8, else one byte. */
static uint32_t next_character(const uint8_t **text) {
    const uint8_t *p = *text;
    size_t more = p[0] >= 0xf0 && p[0] < 0xf8 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc2 ? 1 : 0;
    if (p[0] >= 0xf8) more = 0;
    uint32_t character = more == 0 ? p[0] : p[0] & (0x3fU >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *text = p + 1;
            return p[0];
        }
        character = character << 6 | (p[i] & 0x3fU);
    }
    *text = p + 1 + more;
    return character;
}

static char *put_unit(char *out, uint32_t unit) {
    /*
     * "_x", at most four digits, the zero: FIRN_AVRO_NAME_SIZE allows for eight characters a byte.
     */
    return out + snprintf(out, 8, "_x%X", (unsigned)unit);
}

void firn_avro_safe_name(const char *name, char *out) {
    const uint8_t *in = (const uint8_t *)name;
    bool first = true;
    while (*in != 0) {
        uint32_t c = next_character(&in);
        bool digit = c >= '0' && c <= '9';
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (digit && first) *out++ = '_';
        if (digit || letter) {
            *out++ = (char)c;
        } else if (c >= 0x10000) {
            out = put_unit(out, 0xd800 + ((c - 0x10000) >> 10));
            out = put_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            out = put_unit(out, c);
        }
        first = false;
    }
    if (first) *out++ = '_';
    *out = '\0';
}
