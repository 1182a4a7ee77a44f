#include "lake/real_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Resolving a folder costs a look at each of its parts; a file in it then costs one. */
static void resolve_folder(firn_lake_real_paths *paths, const char *path, size_t length) {
    if (strncmp(paths->folder, path, length) == 0 && paths->folder[length] == '\0') return;
    memcpy(paths->folder, path, length);
    paths->folder[length] = '\0';
    if (realpath(paths->folder, paths->real) == NULL) paths->folder[0] = '\0';
}

const char *firn_lake_real_path(firn_lake_real_paths *paths, const char *path, bool is_regular) {
    char real[PATH_MAX];
    size_t length = (size_t)(strrchr(path, '/') - path);
    if (length == 0 || length >= sizeof paths->folder) return path;
    resolve_folder(paths, path, length);
    if (paths->folder[0] == '\0') return path;
    if (!is_regular && readlink(path, real, sizeof real) >= 0) {
        return realpath(path, real) == NULL ? path : firn_arena_strdup(paths->arena, real);
    }
    if (strcmp(paths->folder, paths->real) == 0) return path;
    return firn_arena_format(paths->arena, "%s%s", paths->real, path + length);
}
