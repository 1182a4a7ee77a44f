#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "lake/layout_internal.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

static int hexadecimal_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Escapes that are none stay as they are, as Hive and Spark leave them. */
static firn_status unescape(const char *text, size_t length, const char *location,
                            firn_arena *arena, const char **out, firn_error *error) {
    char *result = firn_arena_alloc(arena, length + 1, 1);
    if (result == NULL) return firn_fail_memory(error);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        int high = text[i] == '%' && i + 2 < length ? hexadecimal_digit(text[i + 1]) : -1;
        int low = high < 0 ? -1 : hexadecimal_digit(text[i + 2]);
        if (low < 0) {
            result[used++] = text[i];
            continue;
        }
        int byte = high * 16 + low;
        if (byte == 0) {
            return firn_fail(error, FIRN_INVALID, "%s: a path with an escaped zero byte (%%00)",
                             location);
        }
        result[used++] = (char)byte;
        i += 2;
    }
    *out = result;
    return FIRN_OK;
}

typedef FIRN_VECTOR(firn_lake_path_key) path_keys;

static bool same_value(const char *a, const char *b) {
    if (a == NULL || b == NULL) return a == b;
    return strcmp(a, b) == 0;
}

static firn_status add_key(path_keys *keys, firn_lake_path_key key, const char *location,
                           firn_error *error) {
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->items[i].key, key.key) != 0) continue;
        if (same_value(keys->items[i].value, key.value)) return FIRN_OK;
        return firn_fail(error, FIRN_INVALID,
                         "%s: the path has the key \"%s\" twice, with different values", location,
                         key.key);
    }
    return firn_vector_push(keys, error, key);
}

/* "key=value"; anything else, and a segment that begins with '=', is no key. */
static firn_status take_segment(path_keys *keys, const char *begin, size_t length,
                                const char *location, firn_arena *arena, firn_error *error) {
    const char *equals = memchr(begin, '=', length);
    if (equals == NULL || equals == begin) return FIRN_OK;
    firn_lake_path_key key = {0};
    size_t key_length = (size_t)(equals - begin);
    FIRN_TRY(unescape(begin, key_length, location, arena, &key.key, error));
    size_t value_length = length - key_length - 1;
    FIRN_TRY(unescape(equals + 1, value_length, location, arena, &key.value, error));
    if (strcmp(key.value, HIVE_NULL) == 0) key.value = NULL;
    return add_key(keys, key, location, error);
}

static firn_status take_segments(path_keys *keys, const char *location, size_t root_length,
                                 firn_arena *arena, firn_error *error) {
    const char *at = location + root_length;
    for (;;) {
        const char *slash = strchr(at, '/');
        if (slash == NULL) return FIRN_OK;
        FIRN_TRY(take_segment(keys, at, (size_t)(slash - at), location, arena, error));
        at = slash + 1;
    }
}

firn_status firn_lake_path_keys(const char *location, size_t root_length, firn_arena *arena,
                                const firn_lake_path_key **out, size_t *count, firn_error *error) {
    *out = NULL;
    *count = 0;
    if (root_length > strlen(location)) {
        return firn_fail(error, FIRN_INVALID, "%s: the root is longer than the location", location);
    }
    path_keys keys = {0};
    firn_status status = take_segments(&keys, location, root_length, arena, error);
    if (status == FIRN_OK && keys.count > 0) {
        *out = firn_arena_memdup(arena, keys.items, keys.count * sizeof *keys.items);
        if (*out == NULL)
            status = firn_fail_memory(error);
        else
            *count = keys.count;
    }
    firn_vector_release(&keys);
    return status;
}

const firn_lake_path_key *firn_layout_find_key(const firn_lake_path_key *keys, size_t count,
                                               const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].key, name) == 0) return &keys[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(keys[i].key, name) == 0) return &keys[i];
    }
    return NULL;
}

/* How many bytes from `text` on an integer takes; 0: there is none. */
static size_t integer_length(const char *text) {
    size_t sign = *text == '-' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    return digits == 0 ? 0 : sign + digits;
}

static bool ends_with(const char *text, size_t length, const char *end, size_t end_length) {
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* Where the part ends that begins at `text`; SIZE_MAX: the pattern does not fit. A part that others follow has a byte at least, so that "-3-4" is -3 and 4. */
static size_t part_length(const firn_layout_rule *rule, size_t slot, const char *text) {
    bool is_last = slot + 1 == rule->field_count;
    size_t length = strlen(text);
    size_t after = strlen(rule->after);
    if (rule->slots[slot].counts) {
        size_t digits = integer_length(text);
        if (digits == 0) return SIZE_MAX;
        return is_last && strcmp(text + digits, rule->after) != 0 ? SIZE_MAX : digits;
    }
    if (is_last) return ends_with(text, length, rule->after, after) ? length - after : SIZE_MAX;
    if (length == 0) return SIZE_MAX;
    const char *next = strstr(text + 1, rule->slots[slot + 1].before);
    return next == NULL ? SIZE_MAX : (size_t)(next - text);
}

static bool match(const firn_layout_rule *rule, const char *text, size_t wanted, const char **begin,
                  size_t *length) {
    for (size_t i = 0; i < rule->field_count; i++) {
        size_t before = strlen(rule->slots[i].before);
        if (strncmp(text, rule->slots[i].before, before) != 0) return false;
        text += before;
        size_t part = part_length(rule, i, text);
        if (part == SIZE_MAX) return false;
        if (i == wanted) {
            *begin = text;
            *length = part;
        }
        text += part;
    }
    return true;
}

firn_status firn_layout_text_at(const firn_layout_place *place, const firn_lake_path_key *keys,
                                size_t count, firn_arena *arena, firn_layout_text *out,
                                firn_error *error) {
    *out = (firn_layout_text){0};
    const firn_lake_path_key *key = firn_layout_find_key(keys, count, place->key);
    if (key == NULL) return FIRN_OK;
    out->present = true;
    out->is_null = key->value == NULL;
    out->text = key->value;
    if (out->is_null || place->rule == NULL) return FIRN_OK;
    const char *begin = NULL;
    size_t length = 0;
    if (!match(place->rule, key->value, place->slot, &begin, &length)) {
        return firn_fail(error, FIRN_INVALID, "the path's %s=%s does not follow the rule \"%s\"",
                         key->key, key->value, place->rule->text);
    }
    out->text = firn_arena_strndup(arena, begin, length);
    return out->text == NULL ? firn_fail_memory(error) : FIRN_OK;
}
