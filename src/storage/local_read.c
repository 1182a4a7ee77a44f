#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "storage/local.h"

typedef struct local_file {
    int descriptor;
    char *location;
} local_file;

firn_status firn_local_path(const char *location, const char **path, firn_error *error) {
    *path = firn_location_local_path(location);
    if (*path != NULL && (*path)[0] != '\0') return FIRN_OK;
    if (*path != NULL) return firn_fail(error, FIRN_INVALID, "%s names no file", location);
    size_t scheme = firn_location_scheme(location);
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "%s: files under \"%.*s://\" can't be reached by this build, only local ones",
                     location, (int)scheme, location);
}

static firn_status fail_lookup(int code, const char *location, firn_error *error) {
    if (code == ENOENT || code == ENOTDIR) {
        return firn_fail_errno(error, FIRN_NOT_FOUND, code, "%s", location);
    }
    return firn_fail_errno(error, FIRN_IO, code, "%s can't be opened", location);
}

/* Names that no file can have, as opposed to files that can't be reached. */
static bool is_no_name(int code) {
    return code == ENAMETOOLONG || code == ELOOP;
}

static firn_status check_regular(const struct stat *status, const char *location,
                                 firn_status failure, firn_error *error) {
    if (S_ISREG(status->st_mode)) return FIRN_OK;
    return firn_fail(error, failure, "%s is no regular file but a %s", location,
                     S_ISDIR(status->st_mode) ? "folder" : "special file");
}

int64_t firn_local_modified_ns(const struct stat *status) {
    int64_t nanoseconds = 0;
    if (__builtin_mul_overflow((int64_t)status->st_mtim.tv_sec, INT64_C(1000000000),
                               &nanoseconds) ||
        __builtin_add_overflow(nanoseconds, (int64_t)status->st_mtim.tv_nsec, &nanoseconds)) {
        return status->st_mtim.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    }
    return nanoseconds;
}

static firn_status local_stat(void *implementation, const char *location, firn_storage_stat *out,
                              firn_error *error) {
    (void)implementation;
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    struct stat status;
    if (stat(path, &status) != 0) {
        if (!is_no_name(errno)) return fail_lookup(errno, location, error);
        return firn_fail_errno(error, FIRN_INVALID, errno, "%.500s can't be opened", location);
    }
    FIRN_TRY(check_regular(&status, location, FIRN_INVALID, error));
    out->size = (uint64_t)status.st_size;
    out->modified_ns = firn_local_modified_ns(&status);
    return FIRN_OK;
}

/* O_NONBLOCK: opening a FIFO must not wait for a writer; it means nothing for regular files. */
static firn_status open_regular(const char *path, const char *location, int *descriptor,
                                uint64_t *size, firn_error *error) {
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0) return fail_lookup(errno, location, error);
    struct stat status;
    firn_status result = FIRN_OK;
    if (fstat(opened, &status) != 0) {
        result = firn_fail_errno(error, FIRN_IO, errno, "%s can't be examined", location);
    } else {
        result = check_regular(&status, location, FIRN_IO, error);
    }
    if (result != FIRN_OK) {
        close(opened);
        return result;
    }
    *descriptor = opened;
    *size = (uint64_t)status.st_size;
    return FIRN_OK;
}

static firn_status local_open(void *implementation, const char *location, void **out,
                              uint64_t *size, firn_error *error) {
    (void)implementation;
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    local_file *file = firn_alloc_zeroed(1, sizeof *file);
    if (file == NULL) return firn_fail_memory(error);
    file->location = firn_strdup(location);
    firn_status status = file->location == NULL
                             ? firn_fail_memory(error)
                             : open_regular(path, location, &file->descriptor, size, error);
    if (status != FIRN_OK) {
        firn_free(file->location);
        firn_free(file);
        return status;
    }
    *out = file;
    return FIRN_OK;
}

static firn_status local_read(void *implementation, void *handle, uint64_t offset, void *out,
                              size_t size, firn_error *error) {
    (void)implementation;
    const local_file *file = handle;
    uint8_t *to = out;
    while (size > 0) {
        ssize_t got = pread(file->descriptor, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return firn_fail_errno(error, FIRN_IO, errno, "%s can't be read", file->location);
        }
        if (got == 0) {
            return firn_fail_at(error, FIRN_IO, (int64_t)offset,
                                "%s became shorter while it was open", file->location);
        }
        to += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return FIRN_OK;
}

static void local_close(void *implementation, void *handle) {
    (void)implementation;
    local_file *file = handle;
    close(file->descriptor);
    firn_free(file->location);
    firn_free(file);
}

static bool is_missing(int reason) {
    return reason == ENOENT || reason == ENOTDIR;
}

static firn_status local_delete(void *implementation, const char *location, firn_error *error) {
    (void)implementation;
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    if (unlink(path) != 0 && !is_missing(errno)) {
        int reason = errno;
        struct stat status;
        /* A read-only file system refuses before it looks for the file. */
        bool gone = reason == EROFS && lstat(path, &status) != 0 && is_missing(errno);
        if (!gone) return firn_fail_errno(error, FIRN_IO, reason, "%s can't be deleted", location);
    }
    firn_local_remove_checksum(path);
    return FIRN_OK;
}

static void local_free(void *implementation) {
    (void)implementation;
}

firn_status firn_storage_local(firn_storage **out, firn_error *error) {
    static const firn_storage_operations operations = {
        .stat = local_stat,
        .open = local_open,
        .read = local_read,
        .close = local_close,
        .create = firn_local_create,
        .write = firn_local_write,
        .finish = firn_local_finish,
        .abort = firn_local_abort,
        .create_exclusive = firn_local_create_exclusive,
        .replace = firn_local_replace,
        .delete_file = local_delete,
        .list = firn_local_list,
        .list_within = firn_local_list_within,
        .free = local_free,
    };
    return firn_storage_new(&operations, NULL, out, error);
}
