#include "base/location.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_scheme_character(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

size_t firn_location_scheme(const char *location) {
    if (!is_letter(location[0])) return 0;
    size_t length = 1;
    while (is_scheme_character(location[length])) length++;
    return strncmp(location + length, "://", 3) == 0 ? length : 0;
}

/* "file:" needs no authority ("file:/x" is how Java prints a path); with one, only an empty one or
 * "localhost" is this machine (RFC 8089, section 2). */
const char *firn_location_local_path(const char *location) {
    if (strncasecmp(location, "file:", 5) != 0) {
        return firn_location_scheme(location) == 0 ? location : NULL;
    }
    const char *rest = location + 5;
    if (strncmp(rest, "//", 2) != 0) return rest;
    rest += 2;
    if (rest[0] == '/') return rest;
    if (strncasecmp(rest, "localhost/", 10) == 0) return rest + 9;
    return NULL;
}

static char *against_working_folder(const char *path) {
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) == NULL) return firn_strdup(path);
    return firn_format("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);
}

char *firn_location_absolute(const char *location) {
    const char *path = firn_location_local_path(location);
    if (path == NULL || path[0] == '/') return firn_strdup(location);
    return against_working_folder(path);
}

/* Drops empty and "." segments in place. ".." stays: what it means depends on symbolic links. */
static void collapse(char *path) {
    const char *from = path;
    char *to = path;
    while (*from != '\0') {
        size_t length = strcspn(from, "/");
        bool dropped = length == 0 || (length == 1 && from[0] == '.');
        if (!dropped) {
            *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
        if (*from == '/') from++;
    }
    if (to == path) *to++ = '/';
    *to = '\0';
}

static bool is_s3(const char *location, size_t scheme) {
    return (scheme == 2 && strncasecmp(location, "s3", 2) == 0) ||
           (scheme == 3 &&
            (strncasecmp(location, "s3a", 3) == 0 || strncasecmp(location, "s3n", 3) == 0));
}

/** Whether `collapse` would leave an absolute path as it is. */
static bool is_collapsed(const char *path) {
    if (path[1] == '\0') return true;
    for (const char *slash = path; slash != NULL; slash = strchr(slash + 1, '/')) {
        const char *next = slash + 1;
        if (*next == '\0' || *next == '/') return false;
        if (*next == '.' && (next[1] == '\0' || next[1] == '/')) return false;
    }
    return true;
}

static bool has_upper_case(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] >= 'A' && text[i] <= 'Z') return true;
    }
    return false;
}

const char *firn_location_key_within(const char *location) {
    const char *path = firn_location_local_path(location);
    if (path != NULL) return path[0] == '/' && is_collapsed(path) ? path : NULL;
    size_t scheme = firn_location_scheme(location);
    if (has_upper_case(location, scheme)) return NULL;
    return is_s3(location, scheme) && scheme != 2 ? NULL : location;
}

char *firn_location_key(const char *location) {
    const char *path = firn_location_local_path(location);
    if (path != NULL) {
        char *key = path[0] == '/' ? firn_strdup(path) : against_working_folder(path);
        if (key != NULL && key[0] == '/') collapse(key);
        return key;
    }
    size_t scheme = firn_location_scheme(location);
    if (is_s3(location, scheme)) return firn_format("s3%s", location + scheme);
    char *key = firn_strdup(location);
    if (key == NULL) return NULL;
    for (size_t i = 0; i < scheme; i++) {
        if (key[i] >= 'A' && key[i] <= 'Z') key[i] = (char)(key[i] - 'A' + 'a');
    }
    return key;
}
