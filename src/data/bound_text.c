#include "data/bound_text.h"

#define HIGHEST_CODE_POINT UINT32_C(0x10FFFF)
#define FIRST_SURROGATE UINT32_C(0xD800)
#define LAST_SURROGATE UINT32_C(0xDFFF)

/* Bytes of the character at `position`, 0 where none begins; *code_point gets its value. */
static size_t character_at(firn_slice text, size_t position, uint32_t *code_point) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text.data[position];
    size_t length = first < 0x80             ? 1
                    : (first & 0xE0) == 0xC0 ? 2
                    : (first & 0xF0) == 0xE0 ? 3
                    : (first & 0xF8) == 0xF0 ? 4
                                             : 0;
    if (length == 0 || length > text.size - position) return 0;
    uint32_t value = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        uint8_t next = text.data[position + i];
        if ((next & 0xC0) != 0x80) return 0;
        value = value << 6 | (next & 0x3F);
    }
    if (value < least[length] || value > HIGHEST_CODE_POINT ||
        (value >= FIRST_SURROGATE && value <= LAST_SURROGATE)) {
        return 0;
    }
    *code_point = value;
    return length;
}

bool firn_bound_is_usable(const firn_value *value) {
    if (value->kind != FIRN_TYPE_STRING) return true;
    uint32_t code_point;
    for (size_t at = 0; at < value->as.bytes.size;) {
        size_t length = character_at(value->as.bytes, at, &code_point);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

/* Size in bytes of the first `count` characters; all of it where the text is shorter or no UTF-8. */
static size_t prefix_size(firn_slice text, int32_t count) {
    size_t at = 0;
    uint32_t code_point;
    for (int32_t i = 0; i < count && at < text.size; i++) {
        size_t length = character_at(text, at, &code_point);
        if (length == 0) return text.size;
        at += length;
    }
    return at;
}

static bool is_binary(const firn_value *value) {
    return value->kind == FIRN_TYPE_BINARY || value->kind == FIRN_TYPE_FIXED;
}

static size_t truncated_size(const firn_value *value, int32_t length) {
    size_t size = value->as.bytes.size;
    if (value->kind == FIRN_TYPE_STRING) return prefix_size(value->as.bytes, length);
    return size < (size_t)length ? size : (size_t)length;
}

void firn_bound_truncate(firn_value *value, int32_t length) {
    if (value->kind != FIRN_TYPE_STRING && !is_binary(value)) return;
    value->as.bytes.size = truncated_size(value, length);
}

static size_t put_character(uint8_t *out, uint32_t code_point) {
    if (code_point < 0x80) {
        out[0] = (uint8_t)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (uint8_t)(0xC0 | code_point >> 6);
        out[1] = (uint8_t)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (uint8_t)(0xE0 | code_point >> 12);
        out[1] = (uint8_t)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (code_point & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | code_point >> 18);
    out[1] = (uint8_t)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (code_point & 0x3F));
    return 4;
}

/* Raises the last character that has a successor and drops what follows it. Returns the new size, 0 when there is none. */
static size_t raise_text(uint8_t *bytes, size_t size) {
    while (size > 0) {
        size_t start = size - 1;
        while (start > 0 && (bytes[start] & 0xC0) == 0x80) start--;
        uint32_t code_point = 0;
        (void)character_at(firn_slice_of(bytes, size), start, &code_point);
        if (code_point < HIGHEST_CODE_POINT) {
            code_point = code_point + 1 == FIRST_SURROGATE ? LAST_SURROGATE + 1 : code_point + 1;
            return start + put_character(bytes + start, code_point);
        }
        size = start;
    }
    return 0;
}

static size_t raise_bytes(uint8_t *bytes, size_t size) {
    while (size > 0 && bytes[size - 1] == 0xFF) size--;
    if (size > 0) bytes[size - 1]++;
    return size;
}

firn_status firn_bound_truncate_up(firn_value *value, int32_t length, firn_arena *arena,
                                   bool *exists, firn_error *error) {
    *exists = true;
    bool text = value->kind == FIRN_TYPE_STRING;
    if (!text && !is_binary(value)) return FIRN_OK;
    size_t size = truncated_size(value, length);
    if (size == value->as.bytes.size) return FIRN_OK;
    /* A successor may be one byte longer than its character. */
    uint8_t *bytes = firn_arena_alloc(arena, size + 4, 1);
    if (bytes == NULL) return firn_fail_memory(error);
    memcpy(bytes, value->as.bytes.data, size);
    size = text ? raise_text(bytes, size) : raise_bytes(bytes, size);
    *exists = size > 0;
    value->as.bytes = firn_slice_of(bytes, size);
    return FIRN_OK;
}
