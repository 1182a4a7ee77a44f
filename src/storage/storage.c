#include "storage/storage.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/alloc.h"

typedef struct counters {
    atomic_uint_fast64_t reads, bytes_read, writes, bytes_written, created, deleted, syncs;
} counters;

struct firn_storage {
    const firn_storage_operations *operations;
    void *implementation;
    counters counted;
};

struct firn_storage_file {
    firn_storage *storage;
    void *handle;
    char *name;
    firn_read_at source;
};

struct firn_storage_writer {
    firn_storage *storage;
    void *handle;
};

static void count(atomic_uint_fast64_t *counter, uint64_t amount) {
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static uint64_t counted(const atomic_uint_fast64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

firn_status firn_storage_new(const firn_storage_operations *operations, void *implementation,
                             firn_storage **out, firn_error *error) {
    firn_storage *storage = firn_alloc_zeroed(1, sizeof *storage);
    if (storage == NULL) {
        operations->free(implementation);
        return firn_fail_memory(error);
    }
    storage->operations = operations;
    storage->implementation = implementation;
    *out = storage;
    return FIRN_OK;
}

void firn_storage_free(firn_storage *storage) {
    if (storage == NULL) return;
    storage->operations->free(storage->implementation);
    firn_free(storage);
}

firn_storage_counters firn_storage_count(const firn_storage *storage) {
    const counters *all = &storage->counted;
    return (firn_storage_counters){.reads = counted(&all->reads),
                                   .bytes_read = counted(&all->bytes_read),
                                   .writes = counted(&all->writes),
                                   .bytes_written = counted(&all->bytes_written),
                                   .files_created = counted(&all->created),
                                   .files_deleted = counted(&all->deleted),
                                   .syncs = counted(&all->syncs)};
}

/* An empty location would name the working folder. */
static firn_status check_location(const char *location, firn_error *error) {
    if (location[0] != '\0') return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "an empty location names no file");
}

firn_status firn_storage_stat_file(firn_storage *storage, const char *location,
                                   firn_storage_stat *out, firn_error *error) {
    FIRN_TRY(check_location(location, error));
    return storage->operations->stat(storage->implementation, location, out, error);
}

static firn_status read_file(void *context, uint64_t offset, void *out, size_t size,
                             firn_error *error) {
    firn_storage_file *file = context;
    firn_storage *storage = file->storage;
    if (offset > file->source.size || size > file->source.size - offset) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: %zu bytes at byte %" PRIu64 " lie outside the file of %" PRIu64
                         " bytes",
                         file->name, size, offset, file->source.size);
    }
    FIRN_TRY(
        storage->operations->read(storage->implementation, file->handle, offset, out, size, error));
    count(&storage->counted.reads, 1);
    count(&storage->counted.bytes_read, size);
    return FIRN_OK;
}

static const uint8_t *borrow_file(void *context, uint64_t offset, size_t size) {
    firn_storage_file *file = context;
    firn_storage *storage = file->storage;
    const uint8_t *bytes =
        storage->operations->borrow(storage->implementation, file->handle, offset, size);
    if (bytes != NULL) {
        count(&storage->counted.reads, 1);
        count(&storage->counted.bytes_read, size);
    }
    return bytes;
}

firn_status firn_storage_open(firn_storage *storage, const char *location, firn_storage_file **out,
                              firn_error *error) {
    FIRN_TRY(check_location(location, error));
    firn_storage_file *file = firn_alloc_zeroed(1, sizeof *file);
    char *name = firn_strdup(location);
    if (file == NULL || name == NULL) {
        firn_free(file);
        firn_free(name);
        return firn_fail_memory(error);
    }
    uint64_t size = 0;
    firn_status status =
        storage->operations->open(storage->implementation, location, &file->handle, &size, error);
    if (status != FIRN_OK) {
        firn_free(file);
        firn_free(name);
        return status;
    }
    file->storage = storage;
    file->name = name;
    file->source =
        (firn_read_at){.read = read_file,
                       .borrow = storage->operations->borrow == NULL ? NULL : borrow_file,
                       .context = file,
                       .size = size,
                       .name = name};
    *out = file;
    return FIRN_OK;
}

void firn_storage_close(firn_storage_file *file) {
    if (file == NULL) return;
    file->storage->operations->close(file->storage->implementation, file->handle);
    firn_free(file->name);
    firn_free(file);
}

const firn_read_at *firn_storage_file_source(const firn_storage_file *file) {
    return &file->source;
}

firn_status firn_storage_read_all(firn_storage *storage, const char *location, firn_buffer *out,
                                  firn_error *error) {
    firn_storage_file *file = NULL;
    FIRN_TRY(firn_storage_open(storage, location, &file, error));
    uint64_t size = file->source.size;
    firn_status status = FIRN_OK;
    if (size > SIZE_MAX) {
        status = firn_fail(error, FIRN_LIMIT, "%s: %" PRIu64 " bytes are too many", location, size);
        goto out;
    }
    status = firn_error_wrap(error, firn_buffer_reserve(out, (size_t)size, error), "%s", location);
    if (status != FIRN_OK || size == 0) goto out;
    FIRN_CHECK(read_file(file, 0, out->data + out->size, (size_t)size, error));
    out->size += (size_t)size;
out:
    firn_storage_close(file);
    return status;
}

firn_status firn_storage_create(firn_storage *storage, const char *location,
                                firn_storage_writer **out, firn_error *error) {
    FIRN_TRY(check_location(location, error));
    firn_storage_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    firn_status status =
        storage->operations->create(storage->implementation, location, &writer->handle, error);
    if (status != FIRN_OK) {
        firn_free(writer);
        return status;
    }
    writer->storage = storage;
    *out = writer;
    return FIRN_OK;
}

firn_status firn_storage_write(firn_storage_writer *writer, const void *data, size_t size,
                               firn_error *error) {
    if (size == 0) return FIRN_OK;
    firn_storage *storage = writer->storage;
    FIRN_TRY(
        storage->operations->write(storage->implementation, writer->handle, data, size, error));
    count(&storage->counted.writes, 1);
    count(&storage->counted.bytes_written, size);
    return FIRN_OK;
}

firn_status firn_storage_finish(firn_storage_writer *writer, firn_error *error) {
    firn_storage *storage = writer->storage;
    firn_status status =
        storage->operations->finish(storage->implementation, writer->handle, error);
    firn_free(writer);
    FIRN_TRY(status);
    count(&storage->counted.created, 1);
    count(&storage->counted.syncs, 1);
    return FIRN_OK;
}

void firn_storage_abort(firn_storage_writer *writer) {
    if (writer == NULL) return;
    writer->storage->operations->abort(writer->storage->implementation, writer->handle);
    firn_free(writer);
}

firn_status firn_storage_put(firn_storage *storage, const char *location, firn_slice bytes,
                             firn_error *error) {
    firn_storage_writer *writer = NULL;
    FIRN_TRY(firn_storage_create(storage, location, &writer, error));
    firn_status status = firn_storage_write(writer, bytes.data, bytes.size, error);
    if (status != FIRN_OK) {
        firn_storage_abort(writer);
        return status;
    }
    return firn_storage_finish(writer, error);
}

static void count_whole_file(firn_storage *storage, size_t size) {
    count(&storage->counted.writes, 1);
    count(&storage->counted.bytes_written, size);
    count(&storage->counted.created, 1);
    count(&storage->counted.syncs, 1);
}

firn_status firn_storage_create_exclusive(firn_storage *storage, const char *location,
                                          firn_slice bytes, firn_error *error) {
    FIRN_TRY(check_location(location, error));
    FIRN_TRY(
        storage->operations->create_exclusive(storage->implementation, location, bytes, error));
    count_whole_file(storage, bytes.size);
    return FIRN_OK;
}

firn_status firn_storage_replace(firn_storage *storage, const char *location, firn_slice bytes,
                                 firn_error *error) {
    FIRN_TRY(check_location(location, error));
    FIRN_TRY(storage->operations->replace(storage->implementation, location, bytes, error));
    count_whole_file(storage, bytes.size);
    return FIRN_OK;
}

firn_status firn_storage_delete(firn_storage *storage, const char *location, firn_error *error) {
    FIRN_TRY(check_location(location, error));
    FIRN_TRY(storage->operations->delete_file(storage->implementation, location, error));
    count(&storage->counted.deleted, 1);
    return FIRN_OK;
}

firn_status firn_storage_list(firn_storage *storage, const char *prefix,
                              firn_storage_list_visitor visit, void *context, firn_error *error) {
    FIRN_TRY(check_location(prefix, error));
    return storage->operations->list(storage->implementation, prefix, visit, context, error);
}

firn_status firn_storage_list_within(firn_storage *storage, const char *prefix,
                                     firn_storage_list_filter enter,
                                     firn_storage_list_visitor visit, firn_storage_list_other other,
                                     void *context, firn_error *error) {
    FIRN_TRY(check_location(prefix, error));
    const firn_storage_operations *operations = storage->operations;
    if (operations->list_within == NULL || (enter == NULL && other == NULL)) {
        return operations->list(storage->implementation, prefix, visit, context, error);
    }
    return operations->list_within(storage->implementation, prefix, enter, visit, other, context,
                                   error);
}
