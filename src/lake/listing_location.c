#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lake/listing_internal.h"

uint32_t firn_lake_character(const char *at, size_t *size) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *c = (const uint8_t *)at;
    *size = 1;
    if (c[0] < 0x80) return c[0];
    uint32_t none = 0xDC00U + c[0];
    size_t length = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (c[0] < 0xC2 || c[0] > 0xF4) return none;
    uint32_t code = c[0] & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80) return none; /* the zero at the end is none, too */
        code = code << 6 | (c[i] & 0x3FU);
    }
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return none;
    *size = length;
    return code;
}

static bool is_no_character(uint32_t code) {
    return code >= 0xD800 && code < 0xE000;
}

bool firn_lake_is_utf8(const char *text) {
    size_t size = 0;
    for (; *text != '\0'; text += size) {
        if (is_no_character(firn_lake_character(text, &size))) return false;
    }
    return true;
}

const char *firn_lake_shown(firn_arena *arena, const char *text) {
    static const char digits[] = "0123456789abcdef";
    char *shown = firn_arena_alloc(arena, strlen(text) + 1, 4);
    if (shown == NULL) return NULL;
    char *to = shown;
    size_t size = 0;
    for (; *text != '\0'; text += size) {
        if (!is_no_character(firn_lake_character(text, &size))) {
            memcpy(to, text, size);
            to += size;
            continue;
        }
        uint8_t byte = (uint8_t)*text;
        *to++ = '\\';
        *to++ = 'x';
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    *to = '\0';
    return shown;
}

/* The next segment of a path at or behind `at`; its length, 0 at the end. */
static size_t next_segment(const char *path, size_t *at) {
    while (path[*at] == '/') (*at)++;
    return strcspn(path + *at, "/");
}

static bool is_dots(const char *segment, size_t length, size_t dots) {
    return length == dots && memcmp(segment, "..", dots) == 0;
}

/* Evens an absolute path out in place, by its letters alone. The result is no longer. */
static void even_out(char *path) {
    size_t from = 0;
    size_t to = 0;
    for (;;) {
        size_t length = next_segment(path, &from);
        if (length == 0) break;
        if (is_dots(path + from, length, 2)) {
            while (to > 0 && path[--to] != '/') {
            }
        } else if (!is_dots(path + from, length, 1)) {
            path[to++] = '/';
            memmove(path + to, path + from, length);
            to += length;
        }
        from += length;
    }
    if (to == 0) path[to++] = '/';
    path[to] = '\0';
}

/* How much of the path ends with its last "..", 0: there is none. */
static size_t length_with_dots(const char *path) {
    size_t found = 0;
    size_t at = 0;
    for (;;) {
        size_t length = next_segment(path, &at);
        if (length == 0) return found;
        if (is_dots(path + at, length, 2)) found = at + length;
        at += length;
    }
}

/*
 * What ".." means depends on symbolic links before it: where the letters alone would lead elsewhere than the file system, its own
 * answer stands in `real`, for the first `length` bytes of the path.
 */
static bool leads_elsewhere(const char *path, size_t length, char real[PATH_MAX]) {
    char even[PATH_MAX];
    char by_letters[PATH_MAX];
    if (length >= sizeof even) return false;
    memcpy(even, path, length);
    even[length] = '\0';
    if (realpath(even, real) == NULL) return false;
    even_out(even);
    return realpath(even, by_letters) == NULL || strcmp(real, by_letters) != 0;
}

/* Evens out the path that begins at `start` of a zero-terminated buffer. */
static firn_status even_out_at(firn_buffer *location, size_t start, firn_error *error) {
    char real[PATH_MAX];
    const char *path = (const char *)location->data + start;
    size_t dots = length_with_dots(path);
    if (dots > 0 && leads_elsewhere(path, dots, real)) {
        firn_buffer whole = firn_buffer_with_maximum(location->maximum);
        firn_status status;
        FIRN_CHECK(firn_buffer_append(&whole, location->data, start, error));
        FIRN_CHECK(firn_buffer_append_text(&whole, real, error));
        FIRN_CHECK(firn_buffer_append(&whole, path + dots, strlen(path + dots) + 1, error));
    out:
        if (status != FIRN_OK) {
            firn_buffer_release(&whole);
            return status;
        }
        firn_buffer_release(location);
        *location = whole;
    }
    even_out((char *)location->data + start);
    location->size = strlen((const char *)location->data) + 1;
    return FIRN_OK;
}

static firn_status append_base(const char *base, firn_buffer *out, firn_error *error) {
    char *folder = firn_location_absolute(base);
    if (folder == NULL) return firn_fail_memory(error);
    firn_status status = firn_buffer_append_text(out, folder, error);
    size_t length = strlen(folder);
    if (status == FIRN_OK && (length == 0 || folder[length - 1] != '/')) {
        status = firn_buffer_append_byte(out, '/', error);
    }
    firn_free(folder);
    return status;
}

firn_status firn_lake_location(const char *given, const char *base, firn_buffer *out,
                               firn_error *error) {
    if (given[0] == '\0') return firn_fail(error, FIRN_INVALID, "an empty location names no file");
    if (strlen(given) > FIRN_LAKE_LONGEST_LOCATION) {
        return firn_fail(error, FIRN_INVALID, "%.100s…: a location of more than %zu bytes", given,
                         FIRN_LAKE_LONGEST_LOCATION);
    }
    firn_buffer_clear(out);
    const char *path = firn_location_local_path(given);
    if (path != NULL && path[0] == '\0') {
        return firn_fail(error, FIRN_INVALID, "%s names no file", given);
    }
    if (path != NULL && path[0] != '/') {
        FIRN_TRY(append_base(base == NULL || base[0] == '\0' ? "." : base, out, error));
        given = path;
    }
    FIRN_TRY(firn_buffer_append(out, given, strlen(given) + 1, error));
    const char *whole = (const char *)out->data;
    path = firn_location_local_path(whole);
    if (path == NULL || path[0] != '/') return FIRN_OK;
    return even_out_at(out, (size_t)(path - whole), error);
}

const char *firn_lake_location_key(const char *location, firn_arena *arena) {
    const char *path = firn_location_local_path(location);
    if (path != NULL && path[0] == '/') return path;
    char *key = firn_location_key(location);
    const char *kept = key == NULL ? NULL : firn_arena_strdup(arena, key);
    firn_free(key);
    return kept;
}

size_t firn_lake_path_start(const char *location) {
    const char *path = firn_location_local_path(location);
    if (path != NULL) return (size_t)(path - location);
    size_t scheme = firn_location_scheme(location);
    return scheme == 0 ? 0 : scheme + 3;
}

size_t firn_lake_root_length(const char *location, size_t folder_length) {
    size_t at = firn_lake_path_start(location);
    while (at < folder_length) {
        const char *slash = memchr(location + at, '/', folder_length - at);
        size_t end = slash == NULL ? folder_length : (size_t)(slash - location);
        const char *equals = memchr(location + at, '=', end - at);
        if (equals != NULL && equals != location + at) return at;
        at = end + 1;
    }
    return folder_length;
}

size_t firn_lake_folder_length(const char *location) {
    const char *slash = strrchr(location, '/');
    return slash == NULL ? 0 : (size_t)(slash - location) + 1;
}

/* The key of a location as firn_lake_location makes it, without slashes at its end. *out is owned. */
static firn_status even_key(const char *given, char **out, firn_error *error) {
    firn_buffer even = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = firn_lake_location(given, NULL, &even, error);
    if (status == FIRN_OK) {
        *out = firn_location_key((const char *)even.data);
        if (*out == NULL) status = firn_fail_memory(error);
    }
    firn_buffer_release(&even);
    if (status != FIRN_OK) return status;
    size_t length = strlen(*out);
    while (length > 0 && (*out)[length - 1] == '/') (*out)[--length] = '\0';
    return FIRN_OK;
}

/* Whether `location` is `folder` or lies below it. */
static bool lies_in(const char *location, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(location, folder, length) == 0 &&
           (location[length] == '\0' || location[length] == '/');
}

/* The root of the local disk is "" by now, and no prefix of what has a scheme. */
static bool keys_overlap(const char *a, const char *b) {
    return (a[0] == '/' || a[0] == '\0') == (b[0] == '/' || b[0] == '\0') &&
           (lies_in(a, b) || lies_in(b, a));
}

firn_status firn_lake_resolved_key(const char *location, char **out, firn_error *error) {
    char real[PATH_MAX];
    char *key = NULL;
    FIRN_TRY(even_key(location, &key, error));
    size_t length = strlen(key);
    *out = key;
    while (length > 0 && key[0] == '/') {
        char rest = key[length];
        key[length] = '\0';
        bool there = realpath(key, real) != NULL;
        key[length] = rest;
        if (there) {
            /* The root is "" in keys. */
            *out = firn_format("%s%s", strcmp(real, "/") == 0 ? "" : real, key + length);
            firn_free(key);
            return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
        }
        while (length > 0 && key[--length] != '/') {
        }
    }
    return FIRN_OK;
}

firn_status firn_lake_resolved_compare(const char *resolved, const char *b, bool *overlap,
                                       firn_error *error) {
    char *second = NULL;
    FIRN_TRY(firn_lake_resolved_key(b, &second, error));
    *overlap = keys_overlap(resolved, second);
    firn_free(second);
    return FIRN_OK;
}

firn_status firn_lake_locations_compare(const char *a, const char *b, bool *overlap,
                                        firn_error *error) {
    char *first = NULL, *second = NULL;
    firn_status status = even_key(a, &first, error);
    if (status == FIRN_OK) status = even_key(b, &second, error);
    if (status == FIRN_OK) {
        *overlap = keys_overlap(first, second);
    }
    firn_free(first);
    firn_free(second);
    return status;
}

bool firn_lake_locations_overlap(const char *a, const char *b) {
    bool overlap = true;
    return firn_lake_locations_compare(a, b, &overlap, NULL) != FIRN_OK || overlap;
}
