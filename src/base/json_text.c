#include <string.h>

#include "base/json_internal.h"

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define TOP_BITS (EACH_BYTE * 0x80)

/* Whether all eight bytes are plain ASCII. May be false without need behind a byte that is not. */
static bool eight_plain(const uint8_t *text) {
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    uint64_t quotes = bytes ^ (EACH_BYTE * '"');
    uint64_t backslashes = bytes ^ (EACH_BYTE * '\\');
    uint64_t marked =
        bytes | (bytes - EACH_BYTE * 0x20) | (quotes - EACH_BYTE) | (backslashes - EACH_BYTE);
    return (marked & TOP_BITS) == 0;
}

static bool is_plain_ascii(uint8_t byte) {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Bytes of the well-formed character at the start that is not ASCII (Unicode, table 3-7), or 0. */
static size_t character_size(const uint8_t *text, size_t size) {
    uint8_t lead = text[0];
    size_t wanted = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (wanted == 0 || wanted > size) return 0;
    /* The second byte keeps out overlong forms, surrogates and what is above U+10FFFF. */
    uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < lowest || text[1] > highest) return 0;
    for (size_t i = 2; i < wanted; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
    }
    return wanted;
}

size_t firn_json_plain_size(const uint8_t *text, size_t size) {
    size_t at = 0;
    while (at < size) {
        while (size - at >= 8 && eight_plain(text + at)) at += 8;
        while (at < size && is_plain_ascii(text[at])) at++;
        if (at == size || text[at] < 0x80) break;
        size_t character = character_size(text + at, size - at);
        if (character == 0) break;
        at += character;
    }
    return at;
}

bool firn_json_is_utf8(const char *text) {
    if (text == NULL) return false;
    const uint8_t *next = (const uint8_t *)text;
    size_t left = strlen(text);
    while (left > 0) {
        size_t plain = firn_json_plain_size(next, left);
        next += plain;
        left -= plain;
        if (left == 0) break;
        if (*next >= 0x80) return false;
        next++;
        left--;
    }
    return true;
}

/* The code unit of four hexadecimal digits at `at`, or -1. */
static int32_t code_unit(firn_slice text, size_t at) {
    if (at > text.size || text.size - at < 4) return -1;
    int32_t unit = 0;
    for (size_t i = at; i < at + 4; i++) {
        uint8_t byte = text.data[i];
        uint8_t letter = byte | 0x20;
        if (byte >= '0' && byte <= '9') {
            unit = unit * 16 + (byte - '0');
        } else if (letter >= 'a' && letter <= 'f') {
            unit = unit * 16 + (letter - 'a' + 10);
        } else {
            return -1;
        }
    }
    return unit;
}

static void encode(int32_t character, firn_json_escape *out) {
    uint32_t code = (uint32_t)character;
    if (code < 0x80) {
        out->utf8[0] = (uint8_t)code;
        out->utf8_size = 1;
        return;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    out->utf8_size = size;
    for (size_t i = size - 1; i > 0; i--) {
        out->utf8[i] = (uint8_t)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    out->utf8[0] = (uint8_t)(leads[size] | code);
}

/* \uXXXX, or two of them that are a surrogate pair. */
static firn_json_escape read_unicode(firn_slice text) {
    firn_json_escape escape = {.size = 6};
    int32_t character = code_unit(text, 2);
    if (character < 0) {
        escape.wrong = "\\u without four hexadecimal digits";
        return escape;
    }
    if (character == 0) {
        escape.wrong = "\\u0000 can't be held";
        return escape;
    }
    if (character >= 0xD800 && character <= 0xDFFF) {
        bool follows = text.size >= 8 && text.data[6] == '\\' && text.data[7] == 'u';
        int32_t low = follows ? code_unit(text, 8) : -1;
        if (character >= 0xDC00 || low < 0xDC00 || low > 0xDFFF) {
            escape.wrong = "half of a surrogate pair";
            return escape;
        }
        character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
        escape.size = 12;
    }
    encode(character, &escape);
    return escape;
}

firn_json_escape firn_json_escape_read(firn_slice text) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (text.size >= 2 && text.data[1] == 'u') return read_unicode(text);
    const char *letter = text.size < 2 ? NULL : memchr(letters, text.data[1], sizeof letters - 1);
    if (letter == NULL) return (firn_json_escape){.wrong = "unknown escape"};
    return (firn_json_escape){
        .size = 2, .utf8 = {(uint8_t)meanings[letter - letters]}, .utf8_size = 1};
}
