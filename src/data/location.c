#include "data/location.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "codec/codec.h"

/* Twenty bits of the hash of a name become three folders of four bits and one of eight, so that names spread over an object store's prefixes. */
#define HASH_BITS 20
#define FOLDER_BITS 4
#define FOLDERS 3

/* Java's own two providers go by the other properties; any other class decides by itself. */
static bool is_own_provider(const char *name) {
    return strcmp(name, "org.apache.iceberg.LocationProviders$DefaultLocationProvider") == 0 ||
           strcmp(name, "org.apache.iceberg.LocationProviders$ObjectStoreLocationProvider") == 0;
}

firn_status firn_location_check(const firn_table_metadata *metadata, firn_error *error) {
    static const char key[] = "write.location-provider.impl";
    const char *provider = firn_table_metadata_property(metadata, key);
    if (provider == NULL || is_own_provider(provider)) return FIRN_OK;
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "table property %s names \"%s\": firn can't tell where that class would put "
                     "new files",
                     key, provider);
}

static bool has_scheme(const char *location) {
    return strstr(location, "://") != NULL || strncmp(location, "file:", 5) == 0;
}

/* The first of the properties that is set. */
static const char *first_property(const firn_table_metadata *metadata, const char *const *keys) {
    for (size_t i = 0; keys[i] != NULL; i++) {
        const char *value = firn_table_metadata_property(metadata, keys[i]);
        if (value != NULL && value[0] != '\0') return value;
    }
    return NULL;
}

/* Appends without trailing slashes ("scheme://" keeps its own). */
static firn_status append_trimmed(firn_buffer *out, const char *text, firn_error *error) {
    size_t length = strlen(text);
    while (length > 1 && text[length - 1] == '/') {
        if (length >= 3 && memcmp(text + length - 3, "://", 3) == 0) break;
        length--;
    }
    return firn_buffer_append(out, text, length, error);
}

/* Where data goes: a relative path is below the table's location (specification, "Path Construction"). */
static firn_status append_data_path(const firn_table_metadata *metadata, bool object_store,
                                    firn_buffer *out, firn_error *error) {
    static const char *const keys[] = {"write.data.path", "write.folder-storage.path", NULL};
    static const char *const object_store_keys[] = {"write.data.path", "write.object-storage.path",
                                                    "write.folder-storage.path", NULL};
    const char *path = first_property(metadata, object_store ? object_store_keys : keys);
    if (path == NULL) path = "data";
    if (path[0] != '/' && !has_scheme(path)) {
        FIRN_TRY(append_trimmed(out, metadata->location, error));
        FIRN_TRY(firn_buffer_append_byte(out, '/', error));
    }
    return append_trimmed(out, path, error);
}

static firn_status append_hash(firn_buffer *out, firn_slice name, firn_error *error) {
    uint32_t hash = firn_murmur3_32(name);
    for (int bit = 0; bit < HASH_BITS; bit++) {
        if (bit > 0 && bit % FOLDER_BITS == 0 && bit <= FOLDERS * FOLDER_BITS) {
            FIRN_TRY(firn_buffer_append_byte(out, '/', error));
        }
        uint8_t digit = (hash >> (HASH_BITS - 1 - bit)) & 1 ? '1' : '0';
        FIRN_TRY(firn_buffer_append_byte(out, digit, error));
    }
    return FIRN_OK;
}

/* "parent/table" of a table location, for data that lies elsewhere and so shares its folders with other tables. */
static firn_slice context_of(const firn_table_metadata *metadata) {
    const char *location = metadata->location;
    const char *scheme = strstr(location, "://");
    const char *begin = scheme == NULL ? location : scheme + 3;
    /* After a scheme comes the bucket, which is no folder. */
    if (scheme != NULL) {
        const char *slash = strchr(begin, '/');
        begin = slash == NULL ? begin + strlen(begin) : slash;
    }
    size_t end = strlen(begin);
    while (end > 0 && begin[end - 1] == '/') end--;
    size_t start = end;
    for (int slashes = 0; start > 0; start--) {
        if (begin[start - 1] == '/' && ++slashes == 2) break;
    }
    while (start < end && begin[start] == '/') start++;
    return firn_slice_of(begin + start, end - start);
}

/* `name` is the partition path, if any, and the file's name. */
static firn_status append_object_store(const firn_table_metadata *metadata, bool partitioned_paths,
                                       firn_slice name, firn_buffer *out, firn_error *error) {
    FIRN_TRY(append_data_path(metadata, true, out, error));
    size_t location = strlen(metadata->location);
    bool inside = out->size >= location && memcmp(out->data, metadata->location, location) == 0;
    FIRN_TRY(firn_buffer_append_byte(out, '/', error));
    FIRN_TRY(append_hash(out, name, error));
    if (!inside) {
        firn_slice context = context_of(metadata);
        FIRN_TRY(firn_buffer_append_byte(out, '/', error));
        FIRN_TRY(firn_buffer_append(out, context.data, context.size, error));
        if (context.size > 0) FIRN_TRY(firn_buffer_append_byte(out, '/', error));
    } else {
        FIRN_TRY(firn_buffer_append_byte(out, partitioned_paths ? '/' : '-', error));
    }
    return firn_buffer_append(out, name.data, name.size, error);
}

static firn_status append_name(const firn_partition_spec *spec, const firn_value *partition,
                               bool with_partition, const char *file_name, firn_buffer *out,
                               firn_error *error) {
    if (with_partition && spec != NULL && !firn_partition_spec_is_unpartitioned(spec)) {
        FIRN_TRY(firn_partition_path(spec, partition, out, error));
        if (out->size > 0) FIRN_TRY(firn_buffer_append_byte(out, '/', error));
    }
    return firn_buffer_append_text(out, file_name, error);
}

firn_status firn_location_new_data_file(const firn_table_metadata *metadata,
                                        const firn_partition_spec *spec,
                                        const firn_value *partition, const char *file_name,
                                        char **out, firn_error *error) {
    FIRN_TRY(firn_location_check(metadata, error));
    bool object_store = false;
    bool partitioned_paths = true;
    FIRN_TRY(firn_table_metadata_property_bool(metadata, "write.object-storage.enabled", false,
                                               &object_store, error));
    FIRN_TRY(firn_table_metadata_property_bool(metadata, "write.object-storage.partitioned-paths",
                                               true, &partitioned_paths, error));
    const size_t longest = (size_t)1 << 20;
    firn_buffer name = firn_buffer_with_maximum(longest);
    firn_buffer location = firn_buffer_with_maximum(longest);
    firn_status status;
    FIRN_CHECK(
        append_name(spec, partition, !object_store || partitioned_paths, file_name, &name, error));
    if (object_store) {
        FIRN_CHECK(append_object_store(metadata, partitioned_paths, firn_buffer_slice(&name),
                                       &location, error));
    } else {
        FIRN_CHECK(append_data_path(metadata, false, &location, error));
        FIRN_CHECK(firn_buffer_append_byte(&location, '/', error));
        FIRN_CHECK(firn_buffer_append(&location, name.data, name.size, error));
    }
    *out = firn_buffer_take_text(&location);
    if (*out == NULL) status = firn_fail_memory(error);
out:
    firn_buffer_release(&name);
    firn_buffer_release(&location);
    return status;
}
