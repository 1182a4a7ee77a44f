#include "storage/local_links.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

/* Resolving a folder costs a look at each of its parts; a file in it then costs one. */
static void resolve_folder(firn_local_real_paths *paths, const char *path, size_t length) {
    if (strncmp(paths->folder, path, length) == 0 && paths->folder[length] == '\0') return;
    memcpy(paths->folder, path, length);
    paths->folder[length] = '\0';
    if (realpath(paths->folder, paths->real) == NULL) paths->folder[0] = '\0';
}

const char *firn_local_real_path(firn_local_real_paths *paths, const char *path, bool is_regular) {
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

/* A folder that was read, with a slash at its end as no file has it: whether it told everything. */
static char told[] = "";

static firn_status read_entries(firn_local_links *links, DIR *entries, const char *folder,
                                firn_error *error) {
    firn_status status = FIRN_OK;
    for (const struct dirent *entry; status == FIRN_OK && (entry = readdir(entries)) != NULL;) {
        if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) continue;
        char *path = firn_format("%s%s", folder, entry->d_name);
        if (path == NULL) return firn_fail_memory(error);
        status = firn_map_set_text(links->maybe, path, NULL, error);
        firn_free(path);
    }
    return status;
}

/* `folder` ends with a slash. One that can't be read may be one of links alone. */
static firn_status read_folder(firn_local_links *links, const char *folder, firn_error *error) {
    DIR *entries = opendir(folder);
    FIRN_TRY(firn_map_set_text(links->maybe, folder, entries == NULL ? NULL : (void *)told, error));
    if (entries == NULL) return FIRN_OK;
    firn_status status = read_entries(links, entries, folder, error);
    closedir(entries);
    return status;
}

firn_status firn_local_may_be_link(firn_local_links *links, const char *path, bool *out,
                                   firn_error *error) {
    size_t length = (size_t)(strrchr(path, '/') - path) + 1;
    bool known = false;
    firn_slice key = {(const uint8_t *)path, length};
    void *value = firn_map_get(links->maybe, key, &known);
    *out = true;
    if (!known) {
        char *folder = firn_strndup(path, length);
        if (folder == NULL) return firn_fail_memory(error);
        firn_status status = read_folder(links, folder, error);
        firn_free(folder);
        FIRN_TRY(status);
        value = firn_map_get(links->maybe, key, NULL);
    }
    *out = value == NULL || firn_map_has_text(links->maybe, path);
    return FIRN_OK;
}
