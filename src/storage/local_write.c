#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/random.h"
#include "codec/codec.h"
#include "storage/fault.h"
#include "storage/local.h"

#define WRITE_BUFFER_SIZE ((size_t)1 << 20)
/* Bytes that gather before the disk is asked to begin with them. */
#define BEGIN_SYNC_SIZE ((off_t)8 << 20)

typedef struct local_writer {
    int descriptor;
    off_t written, begun; /* bytes; `begun` of them are on their way to the disk */
    int failed;           /* errno of the first failed write; nothing is written after it */
    char *location;
    const char *path; /* inside location */
    size_t used;
    uint8_t buffer[WRITE_BUFFER_SIZE];
} local_writer;

int firn_local_write_all(int descriptor, const void *data, size_t size) {
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t put = write(descriptor, from, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        from += put;
        size -= (size_t)put;
    }
    return 0;
}

static int sync_descriptor(int descriptor) {
    while (fsync(descriptor) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/* The folder's own entry list; "." for a name without a slash. Owned; NULL when memory is out. */
static char *parent_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return firn_strdup(".");
    while (slash > path && slash[-1] == '/') slash--;
    if (slash == path) return firn_strdup("/");
    return firn_strndup(path, (size_t)(slash - path));
}

static firn_status sync_folder(const char *folder, const char *location, firn_error *error) {
    int descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    int code = descriptor < 0 ? errno : sync_descriptor(descriptor);
    if (descriptor >= 0) close(descriptor);
    /* File systems that can't sync a folder say EINVAL: there is nothing more to be done there. */
    if (code == 0 || code == EINVAL) return FIRN_OK;
    return firn_fail_errno(error, FIRN_IO, code, "%s: its folder can't be synced to disk",
                           location);
}

firn_status firn_local_sync_parent(const char *path, const char *location, firn_error *error) {
    char *folder = parent_of(path);
    if (folder == NULL) return firn_fail_memory(error);
    firn_status status = sync_folder(folder, location, error);
    firn_free(folder);
    return status;
}

/* Makes one folder; ENOENT in *code when the one above is missing. */
static firn_status make_folder(const char *folder, const char *location, int *code,
                               firn_error *error) {
    *code = mkdir(folder, 0777) == 0 ? 0 : errno;
    if (*code == 0) return firn_local_sync_parent(folder, location, error);
    if (*code == EEXIST || *code == ENOENT) return FIRN_OK;
    return firn_fail_errno(error, FIRN_IO, *code, "%s: folder %s can't be made", location, folder);
}

firn_status firn_local_make_parents(const char *path, const char *location, firn_error *error) {
    char *folder = parent_of(path);
    if (folder == NULL) return firn_fail_memory(error);
    int code = 0;
    firn_status status = make_folder(folder, location, &code, error);
    if (status != FIRN_OK || code != ENOENT) goto out;
    /* The ones above are missing too: from the top down. */
    for (char *at = folder + 1; *at != '\0'; at++) {
        if (*at != '/') continue;
        *at = '\0';
        status = make_folder(folder, location, &code, error);
        *at = '/';
        if (status != FIRN_OK) goto out;
    }
    status = make_folder(folder, location, &code, error);
    if (status == FIRN_OK && code == ENOENT) {
        status = firn_fail_errno(error, FIRN_IO, ENOENT, "%s: folder %s can't be made", location,
                                 folder);
    }
out:
    firn_free(folder);
    return status;
}

void firn_local_remove_checksum(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char *companion = firn_format("%.*s.%s.crc", (int)(name - path), path, name);
    if (companion == NULL) return;
    unlink(companion);
    firn_free(companion);
}

/* A new file; a missing folder is made and the call tried once more. */
static firn_status open_new(const char *path, const char *location, int *descriptor,
                            firn_error *error) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    *descriptor = open(path, flags, 0666);
    if (*descriptor < 0 && errno == ENOENT) {
        FIRN_TRY(firn_local_make_parents(path, location, error));
        *descriptor = open(path, flags, 0666);
    }
    if (*descriptor >= 0) return FIRN_OK;
    return firn_fail_errno(error, errno == EEXIST ? FIRN_EXISTS : FIRN_IO, errno,
                           "%s can't be created", location);
}

firn_status firn_local_create(void *implementation, const char *location, void **out,
                              firn_error *error) {
    (void)implementation;
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    local_writer *writer = firn_alloc(sizeof *writer);
    char *copy = firn_strdup(location);
    if (writer == NULL || copy == NULL) {
        firn_free(writer);
        firn_free(copy);
        return firn_fail_memory(error);
    }
    writer->failed = 0;
    writer->written = writer->begun = 0;
    writer->used = 0;
    writer->location = copy;
    writer->path = copy + (path - location);
    firn_status status = open_new(path, location, &writer->descriptor, error);
    if (status != FIRN_OK) {
        firn_free(copy);
        firn_free(writer);
        return status;
    }
    firn_local_remove_checksum(path);
    *out = writer;
    return FIRN_OK;
}

/* While the rest is made, so that the sync at the end finds little to do. That one says whether all went well. */
static void begin_sync(local_writer *writer) {
    off_t size = writer->written - writer->begun;
    if (size < BEGIN_SYNC_SIZE) return;
    (void)sync_file_range(writer->descriptor, writer->begun, size, SYNC_FILE_RANGE_WRITE);
    writer->begun = writer->written;
}

static firn_status put_down(local_writer *writer, const void *data, size_t size,
                            firn_error *error) {
    if (writer->failed == 0) writer->failed = firn_local_write_all(writer->descriptor, data, size);
    if (writer->failed == 0) {
        writer->written += (off_t)size;
        begin_sync(writer);
        return FIRN_OK;
    }
    return firn_fail_errno(error, FIRN_IO, writer->failed, "%s can't be written", writer->location);
}

static firn_status flush(local_writer *writer, firn_error *error) {
    size_t size = writer->used;
    writer->used = 0;
    return put_down(writer, writer->buffer, size, error);
}

firn_status firn_local_write(void *implementation, void *handle, const void *data, size_t size,
                             firn_error *error) {
    (void)implementation;
    local_writer *writer = handle;
    const uint8_t *from = data;
    size_t room = WRITE_BUFFER_SIZE - writer->used;
    if (size > room) {
        if (writer->used > 0) {
            memcpy(writer->buffer + writer->used, from, room);
            writer->used += room;
            from += room;
            size -= room;
            FIRN_TRY(flush(writer, error));
        }
        size_t direct = size - size % WRITE_BUFFER_SIZE;
        FIRN_TRY(put_down(writer, from, direct, error));
        from += direct;
        size -= direct;
    }
    memcpy(writer->buffer + writer->used, from, size);
    writer->used += size;
    return FIRN_OK;
}

static void release_writer(local_writer *writer) {
    firn_free(writer->location);
    firn_free(writer);
}

/* A full disk may show in any of these steps; a file that is not surely whole is removed. */
firn_status firn_local_finish(void *implementation, void *handle, firn_error *error) {
    (void)implementation;
    local_writer *writer = handle;
    firn_status status = flush(writer, error);
    int code = status == FIRN_OK ? sync_descriptor(writer->descriptor) : 0;
    if (code != 0) {
        status =
            firn_fail_errno(error, FIRN_IO, code, "%s can't be synced to disk", writer->location);
    }
    if (close(writer->descriptor) != 0 && errno != EINTR && status == FIRN_OK) {
        status = firn_fail_errno(error, FIRN_IO, errno, "%s can't be closed", writer->location);
    }
    if (status == FIRN_OK) status = firn_local_sync_parent(writer->path, writer->location, error);
    if (status != FIRN_OK) unlink(writer->path);
    release_writer(writer);
    return status;
}

void firn_local_abort(void *implementation, void *handle) {
    (void)implementation;
    local_writer *writer = handle;
    close(writer->descriptor);
    unlink(writer->path);
    release_writer(writer);
}

/* Tells the temporary files of this process from those of any other, on any host. */
static char process_uuid[FIRN_UUID_TEXT_SIZE];

static void choose_process_uuid(void) {
    if (firn_uuid_random(process_uuid, NULL) != FIRN_OK) process_uuid[0] = '\0';
}

/* The name begins with no dot, so that clean-up finds one that a crash left behind, and has neither
 * the ending nor the beginning of a metadata file. */
static firn_status temporary_name(const char *location, const char *uuid, char **out,
                                  firn_error *error) {
    const char *slash = strrchr(location, '/');
    const char *name = slash == NULL ? location : slash + 1;
    *out = firn_format("%.*sfirn-%s-%016llx.tmp", (int)(name - location), location, uuid,
                       (unsigned long long)firn_xxhash64(firn_slice_text(name)));
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_storage_temporary_name(const char *location, char **out, firn_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_process_uuid);
    if (process_uuid[0] == '\0') return firn_fail(error, FIRN_IO, "no random numbers to be had");
    return temporary_name(location, process_uuid, out, error);
}

/* Another thread may be at the same location: then a name that nobody knows has to do. */
static firn_status open_temporary(const char *path, const char *location, char **temporary,
                                  int *descriptor, firn_error *error) {
    char uuid[FIRN_UUID_TEXT_SIZE];
    FIRN_TRY(firn_storage_temporary_name(path, temporary, error));
    firn_status status = open_new(*temporary, location, descriptor, error);
    if (status != FIRN_EXISTS) return status;
    firn_free(*temporary);
    *temporary = NULL;
    if (error != NULL) firn_error_clear(error);
    FIRN_TRY(firn_uuid_random(uuid, error));
    FIRN_TRY(temporary_name(path, uuid, temporary, error));
    return open_new(*temporary, location, descriptor, error);
}

static firn_status write_temporary(const char *path, const char *location, firn_slice bytes,
                                   char **out, firn_error *error) {
    char *temporary = NULL;
    int descriptor = -1;
    firn_status status = open_temporary(path, location, &temporary, &descriptor, error);
    if (status != FIRN_OK) {
        firn_free(temporary);
        return status;
    }
    int code = firn_local_write_all(descriptor, bytes.data, bytes.size);
    if (code == 0) code = sync_descriptor(descriptor);
    if (close(descriptor) != 0 && errno != EINTR && code == 0) code = errno;
    if (code != 0) {
        unlink(temporary);
        firn_free(temporary);
        return firn_fail_errno(error, FIRN_IO, code, "%s can't be written", location);
    }
    *out = temporary;
    return FIRN_OK;
}

/* Over a network link(2) may report failure for a link that was made: the file has two names. */
static int link_unless_taken(const char *temporary, const char *path) {
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return 0;
    }
    int code = errno;
    struct stat status;
    if (stat(temporary, &status) == 0 && status.st_nlink == 2) {
        unlink(temporary);
        return 0;
    }
    return code;
}

firn_status firn_local_publish(const char *temporary, const char *path, const char *location,
                               bool by_link, firn_error *error) {
    int code = EINVAL;
    if (!by_link) {
        code = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ? 0 : errno;
    }
    if (code == EINVAL || code == ENOSYS) code = link_unless_taken(temporary, path);
    if (code == 0) return FIRN_OK;
    if (code == EEXIST) return firn_fail(error, FIRN_EXISTS, "%s is there already", location);
    if (code == EPERM || code == EOPNOTSUPP) {
        return firn_fail_errno(error, FIRN_UNSUPPORTED, code,
                               "%s: the file system can't create a name exclusively", location);
    }
    return firn_fail_errno(error, FIRN_IO, code, "%s can't be created", location);
}

firn_status firn_local_create_exclusive(void *implementation, const char *location,
                                        firn_slice bytes, firn_error *error) {
    (void)implementation;
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    char *temporary = NULL;
    FIRN_TRY(write_temporary(path, location, bytes, &temporary, error));
    firn_status status = firn_fault_point("publish", location, false, error);
    if (status == FIRN_OK) {
        status = firn_local_publish(temporary, path, location, false, error);
    }
    if (status != FIRN_OK) {
        unlink(temporary);
    } else {
        firn_local_remove_checksum(path);
        status = firn_local_sync_parent(path, location, error);
    }
    firn_free(temporary);
    return status;
}

/* The checksum goes first: a reader that checks it must never see it beside the new content. */
firn_status firn_local_replace(void *implementation, const char *location, firn_slice bytes,
                               firn_error *error) {
    (void)implementation;
    const char *path = NULL;
    FIRN_TRY(firn_local_path(location, &path, error));
    char *temporary = NULL;
    FIRN_TRY(write_temporary(path, location, bytes, &temporary, error));
    firn_status status = firn_fault_point("publish", location, false, error);
    if (status != FIRN_OK) {
        unlink(temporary);
        firn_free(temporary);
        return status;
    }
    firn_local_remove_checksum(path);
    if (rename(temporary, path) != 0) {
        status = firn_fail_errno(error, FIRN_IO, errno, "%s can't be replaced", location);
        unlink(temporary);
    } else {
        status = firn_local_sync_parent(path, location, error);
    }
    firn_free(temporary);
    return status;
}
