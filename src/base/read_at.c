#include "base/read_at.h"

#include <inttypes.h>
#include <string.h>

firn_status firn_read_at_exact(const firn_read_at *file, uint64_t offset, void *out, size_t size,
                               firn_error *error) {
    if (offset > file->size || size > file->size - offset) {
        return firn_fail_at(error, FIRN_CORRUPT, offset > INT64_MAX ? INT64_MAX : (int64_t)offset,
                            "%s: %zu bytes are due where the file of %" PRIu64 " bytes ends",
                            file->name, size, file->size);
    }
    if (size == 0) return FIRN_OK;
    return file->read(file->context, offset, out, size, error);
}

static firn_status read_memory(void *context, uint64_t offset, void *out, size_t size,
                               firn_error *error) {
    const firn_memory_file *memory = context;
    if (offset > memory->size || size > memory->size - (size_t)offset) {
        return firn_fail(error, FIRN_CORRUPT, "read of %zu bytes outside a file of %zu bytes", size,
                         memory->size);
    }
    if (size != 0) memcpy(out, memory->data + offset, size);
    return FIRN_OK;
}

static const uint8_t *borrow_memory(void *context, uint64_t offset, size_t size) {
    (void)size;
    const firn_memory_file *memory = context;
    return memory->data == NULL ? NULL : memory->data + offset;
}

firn_read_at firn_read_at_memory(firn_memory_file *memory, const char *name) {
    return (firn_read_at){.read = read_memory,
                          .borrow = borrow_memory,
                          .context = memory,
                          .size = memory->size,
                          .name = name};
}
