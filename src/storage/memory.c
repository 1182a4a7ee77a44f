#include <pthread.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/map.h"
#include "storage/storage.h"

/* The bytes of a file; open handles keep them when the file is replaced or deleted. */
typedef struct memory_content {
    size_t holders;
    firn_buffer bytes;
    int64_t modified_ns;
} memory_content;

/* A name that was used once; `content` is NULL while no file has it. Deleting needs no memory. */
typedef struct memory_slot {
    memory_content *content;
} memory_slot;

typedef struct memory_storage {
    pthread_mutex_t lock;
    firn_map *files; /* of memory_slot */
} memory_storage;

typedef struct memory_writer {
    char *key;
    memory_content *content;
} memory_writer;

static void release(memory_content *content) {
    if (content == NULL || --content->holders > 0) return;
    firn_buffer_release(&content->bytes);
    firn_free(content);
}

static memory_content *new_content(void) {
    memory_content *made = firn_alloc_zeroed(1, sizeof *made);
    if (made == NULL) return NULL;
    made->holders = 1;
    made->bytes = firn_buffer_with_maximum(SIZE_MAX);
    made->modified_ns = firn_clock_now_ns();
    return made;
}

static firn_status key_of(const char *location, char **key, firn_error *error) {
    *key = firn_location_key(location);
    return *key == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status find(memory_storage *memory, const char *location, memory_content **out,
                        firn_error *error) {
    char *key = NULL;
    FIRN_TRY(key_of(location, &key, error));
    const memory_slot *slot = firn_map_get_text(memory->files, key);
    firn_free(key);
    if (slot == NULL || slot->content == NULL) {
        return firn_fail(error, FIRN_NOT_FOUND, "%s: no such file", location);
    }
    *out = slot->content;
    return FIRN_OK;
}

static firn_status find_slot(memory_storage *memory, const char *key, memory_slot **out,
                             firn_error *error) {
    *out = firn_map_get_text(memory->files, key);
    if (*out != NULL) return FIRN_OK;
    memory_slot *slot = firn_alloc_zeroed(1, sizeof *slot);
    if (slot == NULL) return firn_fail_memory(error);
    firn_status status = firn_map_set_text(memory->files, key, slot, error);
    if (status != FIRN_OK) {
        firn_free(slot);
        return status;
    }
    *out = slot;
    return FIRN_OK;
}

/* Takes `next` over, also on failure. */
static firn_status set(memory_storage *memory, const char *key, memory_content *next,
                       bool exclusive, firn_error *error) {
    memory_slot *slot = NULL;
    pthread_mutex_lock(&memory->lock);
    firn_status status = find_slot(memory, key, &slot, error);
    if (status == FIRN_OK && exclusive && slot->content != NULL) {
        status = firn_fail(error, FIRN_EXISTS, "%s is there already", key);
    }
    if (status == FIRN_OK) {
        release(slot->content);
        slot->content = next;
    } else {
        release(next);
    }
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static firn_status memory_stat(void *implementation, const char *location, firn_storage_stat *out,
                               firn_error *error) {
    memory_storage *memory = implementation;
    memory_content *found = NULL;
    pthread_mutex_lock(&memory->lock);
    firn_status status = find(memory, location, &found, error);
    if (status == FIRN_OK) {
        out->size = found->bytes.size;
        out->modified_ns = found->modified_ns;
    }
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static firn_status memory_open(void *implementation, const char *location, void **file,
                               uint64_t *size, firn_error *error) {
    memory_storage *memory = implementation;
    memory_content *found = NULL;
    pthread_mutex_lock(&memory->lock);
    firn_status status = find(memory, location, &found, error);
    if (status == FIRN_OK) {
        found->holders++;
        *file = found;
        *size = found->bytes.size;
    }
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static firn_status memory_read(void *implementation, void *file, uint64_t offset, void *out,
                               size_t size, firn_error *error) {
    (void)implementation;
    (void)error;
    const memory_content *content = file;
    if (size > 0) memcpy(out, content->bytes.data + offset, size);
    return FIRN_OK;
}

static const uint8_t *memory_borrow(void *implementation, void *file, uint64_t offset,
                                    size_t size) {
    (void)implementation;
    (void)size;
    const memory_content *content = file;
    return content->bytes.data == NULL ? NULL : content->bytes.data + offset;
}

static void memory_close(void *implementation, void *file) {
    memory_storage *memory = implementation;
    pthread_mutex_lock(&memory->lock);
    release(file);
    pthread_mutex_unlock(&memory->lock);
}

/* As on a disk the name is taken at once, by an empty file. */
static firn_status memory_create(void *implementation, const char *location, void **out,
                                 firn_error *error) {
    memory_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    memory_content *empty = new_content();
    firn_status status = FIRN_OK;
    if (writer == NULL || empty == NULL) {
        status = firn_fail_memory(error);
        goto fail;
    }
    writer->content = new_content();
    if (writer->content == NULL) {
        status = firn_fail_memory(error);
        goto fail;
    }
    status = key_of(location, &writer->key, error);
    if (status != FIRN_OK) goto fail;
    status = set(implementation, writer->key, empty, true, error);
    empty = NULL;
    if (status != FIRN_OK) goto fail;
    *out = writer;
    return FIRN_OK;
fail:
    release(empty);
    if (writer != NULL) {
        release(writer->content);
        firn_free(writer->key);
        firn_free(writer);
    }
    return status;
}

static firn_status memory_write(void *implementation, void *handle, const void *data, size_t size,
                                firn_error *error) {
    (void)implementation;
    memory_writer *writer = handle;
    return firn_buffer_append(&writer->content->bytes, data, size, error);
}

static firn_status memory_finish(void *implementation, void *handle, firn_error *error) {
    memory_writer *writer = handle;
    firn_status status = set(implementation, writer->key, writer->content, false, error);
    firn_free(writer->key);
    firn_free(writer);
    return status;
}

static void remove_key(memory_storage *memory, const char *key) {
    pthread_mutex_lock(&memory->lock);
    memory_slot *slot = firn_map_get_text(memory->files, key);
    if (slot != NULL) {
        release(slot->content);
        slot->content = NULL;
    }
    pthread_mutex_unlock(&memory->lock);
}

static void memory_abort(void *implementation, void *handle) {
    memory_writer *writer = handle;
    remove_key(implementation, writer->key);
    release(writer->content);
    firn_free(writer->key);
    firn_free(writer);
}

static firn_status put_whole(memory_storage *memory, const char *location, firn_slice bytes,
                             bool exclusive, firn_error *error) {
    char *key = NULL;
    FIRN_TRY(key_of(location, &key, error));
    memory_content *made = new_content();
    firn_status status = made == NULL
                             ? firn_fail_memory(error)
                             : firn_buffer_append(&made->bytes, bytes.data, bytes.size, error);
    if (status == FIRN_OK) {
        status = set(memory, key, made, exclusive, error);
        made = NULL;
    }
    release(made);
    firn_free(key);
    return status;
}

static firn_status memory_create_exclusive(void *implementation, const char *location,
                                           firn_slice bytes, firn_error *error) {
    return put_whole(implementation, location, bytes, true, error);
}

static firn_status memory_replace(void *implementation, const char *location, firn_slice bytes,
                                  firn_error *error) {
    return put_whole(implementation, location, bytes, false, error);
}

static firn_status memory_delete(void *implementation, const char *location, firn_error *error) {
    char *key = NULL;
    FIRN_TRY(key_of(location, &key, error));
    remove_key(implementation, key);
    firn_free(key);
    return FIRN_OK;
}

/* One entry of a listing; *found false at the end. The lock is not held while the visitor runs. */
static firn_status next_below(memory_storage *memory, size_t *index, const char *folder,
                              firn_buffer *rest, firn_storage_stat *stat, bool *found,
                              firn_error *error) {
    size_t length = strlen(folder);
    *found = false;
    firn_status status = FIRN_OK;
    pthread_mutex_lock(&memory->lock);
    while (!*found && status == FIRN_OK && *index < firn_map_count(memory->files)) {
        firn_slice key = firn_map_key_at(memory->files, *index);
        const memory_slot *slot = firn_map_value_at(memory->files, (*index)++);
        const memory_content *file = slot->content;
        if (file == NULL || key.size <= length + 1 || memcmp(key.data, folder, length) != 0 ||
            key.data[length] != '/') {
            continue;
        }
        *found = true;
        *stat = (firn_storage_stat){.size = file->bytes.size, .modified_ns = file->modified_ns};
        firn_buffer_clear(rest);
        status = firn_buffer_append(rest, key.data + length + 1, key.size - length - 1, error);
    }
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static firn_status memory_list(void *implementation, const char *prefix,
                               firn_storage_list_visitor visit, void *context, firn_error *error) {
    memory_storage *memory = implementation;
    char *folder = NULL;
    FIRN_TRY(key_of(prefix, &folder, error));
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') folder[--length] = '\0';
    firn_buffer rest = firn_buffer_with_maximum(SIZE_MAX);
    bool slash = prefix[strlen(prefix) - 1] == '/';
    firn_status status = FIRN_OK;
    for (size_t index = 0;;) {
        firn_storage_stat stat = {0};
        bool found = false;
        FIRN_CHECK(next_below(memory, &index, folder, &rest, &stat, &found, error));
        if (!found) break;
        char *location = firn_format("%s%s%.*s", prefix, slash ? "" : "/", (int)rest.size,
                                     (const char *)rest.data);
        if (location == NULL) {
            status = firn_fail_memory(error);
            goto out;
        }
        status = visit(context, location, &stat, error);
        firn_free(location);
        if (status != FIRN_OK) goto out;
    }
out:
    firn_buffer_release(&rest);
    firn_free(folder);
    return status;
}

static void memory_free(void *implementation) {
    memory_storage *memory = implementation;
    for (size_t i = 0; memory->files != NULL && i < firn_map_count(memory->files); i++) {
        memory_slot *slot = firn_map_value_at(memory->files, i);
        release(slot->content);
        firn_free(slot);
    }
    firn_map_free(memory->files);
    pthread_mutex_destroy(&memory->lock);
    firn_free(memory);
}

firn_status firn_storage_memory(firn_storage **out, firn_error *error) {
    static const firn_storage_operations operations = {
        .stat = memory_stat,
        .open = memory_open,
        .read = memory_read,
        .borrow = memory_borrow,
        .close = memory_close,
        .create = memory_create,
        .write = memory_write,
        .finish = memory_finish,
        .abort = memory_abort,
        .create_exclusive = memory_create_exclusive,
        .replace = memory_replace,
        .delete_file = memory_delete,
        .list = memory_list,
        .free = memory_free,
    };
    memory_storage *memory = firn_alloc_zeroed(1, sizeof *memory);
    if (memory == NULL) return firn_fail_memory(error);
    pthread_mutex_init(&memory->lock, NULL);
    memory->files = firn_map_new();
    if (memory->files == NULL) {
        memory_free(memory);
        return firn_fail_memory(error);
    }
    return firn_storage_new(&operations, memory, out, error);
}
