#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"

struct firn_spool {
    firn_buffer memory; /**< everything, until there is a file */
    int file;           /**< -1: none */
    uint64_t size;
};

firn_status firn_spool_new(size_t memory_bytes, firn_spool **out, firn_error *error) {
    firn_spool *spool = firn_alloc_zeroed(1, sizeof *spool);
    if (spool == NULL) return firn_fail_memory(error);
    spool->memory = firn_buffer_with_maximum(memory_bytes);
    spool->file = -1;
    *out = spool;
    return FIRN_OK;
}

void firn_spool_free(firn_spool *spool) {
    if (spool == NULL) return;
    firn_buffer_release(&spool->memory);
    if (spool->file >= 0) close(spool->file);
    firn_free(spool);
}

static const char *temporary_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder == NULL || *folder == '\0' ? "/tmp" : folder;
}

static firn_status fail(firn_error *error, const char *what) {
    return firn_fail_errno(error, FIRN_IO, errno, "%s a temporary file in %s (TMPDIR chooses it)",
                           what, temporary_folder());
}

/* Where the file system can't make files without a name, the name is taken away at once. */
static int open_named(const char *folder) {
    char *name = firn_format("%s/firn-XXXXXX", folder);
    if (name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int file = mkostemp(name, O_CLOEXEC);
    if (file >= 0) unlink(name);
    firn_free(name);
    return file;
}

static firn_status open_file(firn_spool *spool, firn_error *error) {
    const char *folder = temporary_folder();
    spool->file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spool->file < 0) spool->file = open_named(folder);
    return spool->file < 0 ? fail(error, "making") : FIRN_OK;
}

static firn_status write_file(firn_spool *spool, const uint8_t *data, size_t size,
                              firn_error *error) {
    while (size > 0) {
        ssize_t written = write(spool->file, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail(error, "writing to");
        data += written;
        size -= (size_t)written;
    }
    return FIRN_OK;
}

firn_status firn_spool_write(firn_spool *spool, const void *data, size_t size, firn_error *error) {
    if (spool->file < 0 && size <= spool->memory.maximum - spool->memory.size) {
        FIRN_TRY(firn_buffer_append(&spool->memory, data, size, error));
        spool->size += size;
        return FIRN_OK;
    }
    if (spool->file < 0) {
        FIRN_TRY(open_file(spool, error));
        FIRN_TRY(write_file(spool, spool->memory.data, spool->memory.size, error));
        firn_buffer_release(&spool->memory);
    }
    FIRN_TRY(write_file(spool, data, size, error));
    spool->size += size;
    return FIRN_OK;
}

static firn_status write_to(void *context, const void *data, size_t size, firn_error *error) {
    return firn_spool_write(context, data, size, error);
}

firn_write_to firn_spool_destination(firn_spool *spool) {
    return (firn_write_to){write_to, spool};
}

static firn_status read_memory(void *context, uint64_t offset, void *out, size_t size,
                               firn_error *error) {
    const firn_spool *spool = context;
    if (size > 0) memcpy(out, spool->memory.data + offset, size);
    (void)error;
    return FIRN_OK;
}

static const uint8_t *borrow_memory(void *context, uint64_t offset, size_t size) {
    const firn_spool *spool = context;
    (void)size;
    return spool->memory.data == NULL ? NULL : spool->memory.data + offset;
}

static firn_status read_file(void *context, uint64_t offset, void *out, size_t size,
                             firn_error *error) {
    const firn_spool *spool = context;
    uint8_t *bytes = out;
    while (size > 0) {
        ssize_t got = pread(spool->file, bytes, size, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO;
        if (got <= 0) return fail(error, "reading from");
        bytes += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return FIRN_OK;
}

firn_read_at firn_spool_bytes(firn_spool *spool, const char *name) {
    bool in_memory = spool->file < 0;
    return (firn_read_at){.read = in_memory ? read_memory : read_file,
                          .borrow = in_memory ? borrow_memory : NULL,
                          .context = spool,
                          .size = spool->size,
                          .name = name};
}
