/**
 * JSON (RFC 8259): a strict reader and a writer for the trees of Jansson, whose own parser and writer are
 * not used. Objects keep the order of their keys, so that what firn does not understand is written back as
 * it came. Integers are exact int64: a fraction, an exponent or an overflow
 * where an integer is due is an error, never rounded.
 */
#ifndef FIRN_BASE_JSON_H
#define FIRN_BASE_JSON_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

/** Routes Jansson's memory through base/alloc. Called once by whoever starts (cli, tests, the public API); harmless again. */
void firn_json_setup(void);

/**
 * Parses one document; `what` names it in messages; CORRUPT with the byte offset. Duplicate keys are refused;
 * nesting is limited. Owned: json_decref. Equal texts and integers may be one value with several references:
 * replace them within what holds them, never set them anew in place (json_string_set, json_integer_set).
 */
firn_status firn_json_parse(firn_slice text, const char *what, json_t **out, firn_error *error);

/**
 * Appends compact (`indent` 0) or indented text; nothing where it fails. INVALID for text that is not UTF-8 and
 * for what the reader would refuse as too deep.
 */
firn_status firn_json_write(const json_t *value, int indent, firn_buffer *out, firn_error *error);

/* Getters: `object` borrowed, key by name. The required ones fail with CORRUPT "`what`: field `key`: …" when the key is
 * absent, null or of another kind; the optional ones set *found=false (nullable) for absent or null and leave *out alone. */
firn_status firn_json_int64(const json_t *object, const char *what, const char *key, int64_t *out,
                            firn_error *error);
firn_status firn_json_int32(const json_t *object, const char *what, const char *key, int32_t *out,
                            firn_error *error);
firn_status firn_json_text(const json_t *object, const char *what, const char *key,
                           const char **out, firn_error *error);
firn_status firn_json_bool(const json_t *object, const char *what, const char *key, bool *out,
                           firn_error *error);
firn_status firn_json_array(const json_t *object, const char *what, const char *key, json_t **out,
                            firn_error *error);
firn_status firn_json_object(const json_t *object, const char *what, const char *key, json_t **out,
                             firn_error *error);
firn_status firn_json_int64_optional(const json_t *object, const char *what, const char *key,
                                     int64_t *out, bool *found, firn_error *error);
firn_status firn_json_int32_optional(const json_t *object, const char *what, const char *key,
                                     int32_t *out, bool *found, firn_error *error);
firn_status firn_json_text_optional(const json_t *object, const char *what, const char *key,
                                    const char **out, bool *found, firn_error *error);
firn_status firn_json_array_optional(const json_t *object, const char *what, const char *key,
                                     json_t **out, bool *found, firn_error *error);
firn_status firn_json_object_optional(const json_t *object, const char *what, const char *key,
                                      json_t **out, bool *found, firn_error *error);

/* Setters on a mutable object: NO_MEMORY on failure. `value` of firn_json_set is taken over, also on failure, and may be NULL (then NO_MEMORY). */
firn_status firn_json_set(json_t *object, const char *key, json_t *value, firn_error *error);
firn_status firn_json_set_int(json_t *object, const char *key, int64_t value, firn_error *error);
firn_status firn_json_set_text(json_t *object, const char *key, const char *value,
                               firn_error *error);
firn_status firn_json_set_bool(json_t *object, const char *key, bool value, firn_error *error);
firn_status firn_json_append(json_t *array, json_t *value, firn_error *error);

#endif
