#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "storage/local.h"

/* Folders still to be read, as locations below the prefix: a stack instead of recursion, so that a
 * deep tree costs neither stack nor descriptors. */
typedef struct folder_walk {
    FIRN_VECTOR(char *) pending;
    firn_storage_list_visitor visit;
    void *context;
} folder_walk;

static char *join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] == '/';
    return firn_format("%s%s%s", folder, slash ? "" : "/", name);
}

static firn_status push_folder(folder_walk *walk, char *location, firn_error *error) {
    if (location == NULL) return firn_fail_memory(error);
    firn_status status = firn_vector_push(&walk->pending, error, location);
    if (status != FIRN_OK) firn_free(location);
    return status;
}

static firn_status visit_entry(folder_walk *walk, int folder, const char *location,
                               const char *name, firn_error *error) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return FIRN_OK; /* deleted since the folder was read */
        return firn_fail_errno(error, FIRN_IO, errno, "%s/%s can't be examined", location, name);
    }
    if (S_ISDIR(status.st_mode)) return push_folder(walk, join(location, name), error);
    if (!S_ISREG(status.st_mode)) return FIRN_OK;
    char *file = join(location, name);
    if (file == NULL) return firn_fail_memory(error);
    firn_storage_stat found = {.size = (uint64_t)status.st_size,
                               .modified_ms = (int64_t)status.st_mtim.tv_sec * 1000 +
                                              status.st_mtim.tv_nsec / 1000000};
    firn_status result = walk->visit(walk->context, file, &found, error);
    firn_free(file);
    return result;
}

static firn_status read_folder(folder_walk *walk, DIR *folder, const char *location,
                               firn_error *error) {
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0) {
            return firn_fail_errno(error, FIRN_IO, errno, "%s can't be listed", location);
        }
        if (entry == NULL) return FIRN_OK;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        FIRN_TRY(visit_entry(walk, dirfd(folder), location, name, error));
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
        return firn_fail_errno(error, errno == ENOTDIR ? FIRN_INVALID : FIRN_IO, errno,
                               "%s can't be listed", location);
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

firn_status firn_local_list(void *implementation, const char *prefix,
                            firn_storage_list_visitor visit, void *context, firn_error *error) {
    (void)implementation;
    folder_walk walk = {.visit = visit, .context = context};
    firn_status status = walk_folder(&walk, prefix, true, error);
    while (status == FIRN_OK && walk.pending.count > 0) {
        char *location = walk.pending.items[--walk.pending.count];
        status = walk_folder(&walk, location, false, error);
        firn_free(location);
    }
    for (size_t i = 0; i < walk.pending.count; i++) firn_free(walk.pending.items[i]);
    firn_vector_release(&walk.pending);
    return status;
}
