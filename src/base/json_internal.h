/** What the JSON reader and writer share: text, numbers and how deep a document nests. Internal to base. */
#ifndef FIRN_BASE_JSON_INTERNAL_H
#define FIRN_BASE_JSON_INTERNAL_H

#include "base/json.h"

/**
 * Levels of arrays and objects, one in the other. An Avro schema of the greatest nesting that is read needs
 * some 800; releasing and writing a document recurses once or twice for each level.
 */
#define FIRN_JSON_DEEPEST 1024

/**
 * Bytes at the start that stand for themselves within a string (RFC 8259, section 7): well-formed UTF-8
 * without quotes, backslashes and control characters. What stops it is a byte that is none of these.
 */
size_t firn_json_plain_size(const uint8_t *text, size_t size);

/** Whether it is well-formed UTF-8. Never for NULL. */
bool firn_json_is_utf8(const char *text);

/** An escape within a string, from its backslash on. */
typedef struct firn_json_escape {
    const char *wrong; /**< why it is none; NULL where it is one */
    size_t size;       /**< bytes that it takes, both halves of a surrogate pair */
    uint8_t utf8[4];   /**< what it stands for */
    size_t utf8_size;
} firn_json_escape;

/** `text` begins with a backslash. A zero character is refused, since text ends with one in memory. */
firn_json_escape firn_json_escape_read(firn_slice text);

typedef struct firn_json_number {
    const char *wrong; /**< why it is none; NULL where it is one */
    size_t size;       /**< bytes that it takes; where it is none, those before the wrong one */
    bool is_real;      /**< it has a fraction or an exponent */
    int64_t integer;
    double real;
} firn_json_number;

/** The number at the start (RFC 8259, section 6). Exact, or rounded to the nearest double; any locale. */
firn_json_number firn_json_number_read(firn_slice text);

#define FIRN_JSON_NUMBER_SIZE ((size_t)64)

/** Print a number without a zero at the end and return its size. A real keeps a fraction or an exponent; any locale. */
size_t firn_json_integer_print(int64_t value, char out[FIRN_JSON_NUMBER_SIZE]);
size_t firn_json_real_print(double value, char out[FIRN_JSON_NUMBER_SIZE]);

#endif
