#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "storage/local.h"

/*
 * Folders still to be read, as locations below the prefix: a stack instead of recursion, so that a
 * deep tree costs neither stack nor descriptors.
 */
typedef struct folder_walk {
    FIRN_VECTOR(char *) pending;
    firn_storage_list_filter enter; /* NULL: every folder */
    firn_storage_list_visitor visit;
    firn_storage_list_other other; /* NULL: nobody asks */
    void *context;
    firn_buffer file; /* the location of the entry that is looked at */
} folder_walk;

/* The folder's location with a slash, which the names of its entries are put behind. */
static firn_status start_names(folder_walk *walk, const char *folder, size_t *length,
                               firn_error *error) {
    *length = strlen(folder);
    firn_buffer_clear(&walk->file);
    FIRN_TRY(firn_buffer_append(&walk->file, folder, *length, error));
    if (*length == 0 || folder[*length - 1] != '/') {
        FIRN_TRY(firn_buffer_append_byte(&walk->file, '/', error));
    }
    *length = walk->file.size;
    return FIRN_OK;
}

static firn_status tell_other(folder_walk *walk, const char *location, firn_storage_other what,
                              firn_error *error) {
    if (walk->other == NULL) return FIRN_OK;
    return walk->other(walk->context, location, what, error);
}

static firn_status push_folder(folder_walk *walk, const char *location, firn_error *error) {
    if (walk->enter != NULL && !walk->enter(walk->context, location)) return FIRN_OK;
    if (walk->other != NULL && strlen(firn_location_local_path(location)) >= PATH_MAX) {
        return tell_other(walk, location, FIRN_STORAGE_TOO_DEEP, error);
    }
    char *copy = firn_strdup(location);
    if (copy == NULL) return firn_fail_memory(error);
    firn_status status = firn_vector_push(&walk->pending, error, copy);
    if (status != FIRN_OK) firn_free(copy);
    return status;
}

/* `kind` is what the folder says of the entry (DT_UNKNOWN where it says nothing): only files need more. */
static firn_status visit_entry(folder_walk *walk, int folder, size_t length, const char *name,
                               unsigned char kind, firn_error *error) {
    walk->file.size = length;
    FIRN_TRY(firn_buffer_append(&walk->file, name, strlen(name) + 1, error));
    const char *location = (const char *)walk->file.data;
    if (kind == DT_DIR) return push_folder(walk, location, error);
    if (kind == DT_LNK) return tell_other(walk, location, FIRN_STORAGE_LINK, error);
    if (kind != DT_REG && kind != DT_UNKNOWN) {
        return tell_other(walk, location, FIRN_STORAGE_SPECIAL, error);
    }
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return FIRN_OK; /* deleted since the folder was read */
        return firn_fail_errno(error, FIRN_IO, errno, "%s can't be examined", location);
    }
    if (S_ISDIR(status.st_mode)) return push_folder(walk, location, error);
    if (S_ISLNK(status.st_mode)) return tell_other(walk, location, FIRN_STORAGE_LINK, error);
    if (!S_ISREG(status.st_mode)) return tell_other(walk, location, FIRN_STORAGE_SPECIAL, error);
    firn_storage_stat found = {.size = (uint64_t)status.st_size,
                               .modified_ns = firn_local_modified_ns(&status)};
    return walk->visit(walk->context, location, &found, error);
}

static firn_status read_folder(folder_walk *walk, DIR *folder, const char *location,
                               firn_error *error) {
    size_t length = 0;
    FIRN_TRY(start_names(walk, location, &length, error));
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0) {
            return firn_fail_errno(error, FIRN_IO, errno, "%s can't be listed", location);
        }
        if (entry == NULL) return FIRN_OK;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        FIRN_TRY(visit_entry(walk, dirfd(folder), length, name, entry->d_type, error));
    }
}

/* Only the prefix itself may be a symbolic link. A folder that is gone has nothing to list. */
static firn_status walk_folder(folder_walk *walk, const char *location, bool is_root,
                               firn_error *error) {
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    int flags = O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NONBLOCK | (is_root ? 0 : O_NOFOLLOW);
    int descriptor = open(path, flags);
    if (descriptor < 0) {
        if (errno == ENOENT) return FIRN_OK;
        if (!is_root && (errno == ENOTDIR || errno == ELOOP)) return FIRN_OK;
        bool no_folder = errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
        return firn_fail_errno(error, no_folder ? FIRN_INVALID : FIRN_IO, errno,
                               "%.500s can't be listed", location);
    }
    DIR *folder = fdopendir(descriptor);
    if (folder == NULL) {
        int code = errno;
        close(descriptor);
        return firn_fail_errno(error, FIRN_IO, code, "%s can't be listed", location);
    }
    firn_status status = read_folder(walk, folder, location, error);
    closedir(folder);
    return status;
}

firn_status firn_local_list_within(void *implementation, const char *prefix,
                                   firn_storage_list_filter enter, firn_storage_list_visitor visit,
                                   firn_storage_list_other other, void *context,
                                   firn_error *error) {
    (void)implementation;
    folder_walk walk = {.enter = enter,
                        .visit = visit,
                        .other = other,
                        .context = context,
                        .file = firn_buffer_with_maximum(SIZE_MAX)};
    firn_status status = walk_folder(&walk, prefix, true, error);
    while (status == FIRN_OK && walk.pending.count > 0) {
        char *location = walk.pending.items[--walk.pending.count];
        status = walk_folder(&walk, location, false, error);
        firn_free(location);
    }
    for (size_t i = 0; i < walk.pending.count; i++) firn_free(walk.pending.items[i]);
    firn_vector_release(&walk.pending);
    firn_buffer_release(&walk.file);
    return status;
}

firn_status firn_local_list(void *implementation, const char *prefix,
                            firn_storage_list_visitor visit, void *context, firn_error *error) {
    return firn_local_list_within(implementation, prefix, NULL, visit, NULL, context, error);
}
