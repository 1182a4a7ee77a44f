/* Shortening byte array bounds, so that one long value does not swell footer and column index. */
#include "parquet/statistics.h"

static bool may_shorten(const firn_parquet_schema_element *element, firn_slice value) {
    return element->type == FIRN_PARQUET_BYTE_ARRAY && value.size > FIRN_PARQUET_BOUND_LENGTH &&
           firn_parquet_order_of(element) == FIRN_PARQUET_ORDER_BYTES;
}

static bool is_text(const firn_parquet_schema_element *element) {
    return element->logical.kind == FIRN_PARQUET_LOGICAL_STRING ||
           element->logical.kind == FIRN_PARQUET_LOGICAL_ENUM ||
           element->logical.kind == FIRN_PARQUET_LOGICAL_JSON;
}

static bool is_continuation(uint8_t byte) {
    return (byte & 0xC0) == 0x80;
}

/* Where the character that holds byte `size` begins: the longest prefix of whole characters that is no longer. */
static size_t whole_characters(firn_slice value, size_t size) {
    size_t end = size;
    while (end > 0 && size - end < 4 && is_continuation(value.data[end])) end--;
    return is_continuation(value.data[end]) ? size : end;
}

firn_slice firn_parquet_shorten_minimum(const firn_parquet_schema_element *element,
                                        firn_slice value, bool *exact) {
    *exact = !may_shorten(element, value);
    if (*exact) return value;
    size_t size = FIRN_PARQUET_BOUND_LENGTH;
    if (is_text(element)) size = whole_characters(value, size);
    return firn_slice_of(value.data, size);
}

/* Decodes the character of value[0 … size), all of it; false where it is not UTF-8 (RFC 3629). */
static bool decode_character(const uint8_t *value, size_t size, uint32_t *character) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (size == 0 || size > 4) return false;
    if (size == 1) {
        *character = value[0];
        return value[0] < 0x80;
    }
    uint32_t lead = value[0];
    if (lead >> (7 - size) != (1U << (size + 1)) - 2) return false;
    uint32_t code = lead & ((1U << (7 - size)) - 1);
    for (size_t i = 1; i < size; i++) {
        if (!is_continuation(value[i])) return false;
        code = code << 6 | (value[i] & 0x3FU);
    }
    *character = code;
    return code >= least[size] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
}

static size_t encode_character(uint32_t character, uint8_t *out) {
    if (character < 0x80) {
        out[0] = (uint8_t)character;
        return 1;
    }
    size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, character >>= 6) {
        out[i] = (uint8_t)(0x80 | (character & 0x3F));
    }
    out[0] = (uint8_t)((0xF00U >> size & 0xFFU) | character);
    return size;
}

/* From the last character to the first: the first one with a successor that fits takes it, what follows goes. */
static size_t increment_text(uint8_t *bytes, size_t size) {
    while (size > 0) {
        size_t start = size - 1;
        while (start > 0 && is_continuation(bytes[start])) start--;
        uint32_t character;
        if (!decode_character(bytes + start, size - start, &character)) return 0;
        character = character == 0xD7FF ? 0xE000 : character + 1;
        uint8_t successor[4];
        if (character <= 0x10FFFF) {
            size_t length = encode_character(character, successor);
            if (start + length <= FIRN_PARQUET_BOUND_LENGTH) {
                memcpy(bytes + start, successor, length);
                return start + length;
            }
        }
        size = start;
    }
    return 0;
}

static size_t increment_bytes(uint8_t *bytes, size_t size) {
    for (; size > 0; size--) {
        if (bytes[size - 1] == 0xFF) continue;
        bytes[size - 1]++;
        return size;
    }
    return 0;
}

firn_slice firn_parquet_shorten_maximum(const firn_parquet_schema_element *element,
                                        firn_slice value, uint8_t room[FIRN_PARQUET_BOUND_LENGTH],
                                        bool *exact) {
    *exact = !may_shorten(element, value);
    if (*exact) return value;
    size_t size = FIRN_PARQUET_BOUND_LENGTH;
    if (is_text(element)) size = whole_characters(value, size);
    memcpy(room, value.data, size);
    size = is_text(element) ? increment_text(room, size) : increment_bytes(room, size);
    return size == 0 ? firn_slice_of(NULL, 0) : firn_slice_of(room, size);
}
