#include "catalog/metadata_file.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/random.h"

#define SHOWN_CANDIDATES 3

size_t firn_location_folder_length(const char *location) {
    const char *slash = strrchr(location, '/');
    return slash == NULL ? 0 : (size_t)(slash - location);
}

const char *firn_location_file_name(const char *location) {
    const char *slash = strrchr(location, '/');
    return slash == NULL ? location : slash + 1;
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text);
    size_t wanted = strlen(ending);
    return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

bool firn_is_metadata_file_name(const char *name) {
    return ends_with(name, ".metadata.json") || ends_with(name, ".metadata.json.gz");
}

firn_status firn_metadata_folder(const firn_table_metadata *metadata, char **out,
                                 firn_error *error) {
    const char *path = firn_table_metadata_property(metadata, "write.metadata.path");
    if (path == NULL) {
        *out = firn_format("%s/metadata", metadata->location);
    } else {
        size_t length = strlen(path);
        while (length > 1 && path[length - 1] == '/') length--;
        *out = firn_strndup(path, length);
    }
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* The newest metadata files of a folder, for a message. */
typedef struct candidates {
    size_t count;
    size_t prefix; /* length of the folder with its slash */
    char *names[SHOWN_CANDIDATES];
    int64_t modified_ns[SHOWN_CANDIDATES];
} candidates;

static firn_status note_candidate(void *context, const char *location,
                                  const firn_storage_stat *stat, firn_error *error) {
    candidates *found = context;
    const char *name = firn_location_file_name(location);
    if ((size_t)(name - location) != found->prefix || !firn_is_metadata_file_name(name)) {
        return FIRN_OK;
    }
    found->count++;
    size_t at = 0;
    while (at < SHOWN_CANDIDATES && found->names[at] != NULL &&
           (found->modified_ns[at] > stat->modified_ns ||
            (found->modified_ns[at] == stat->modified_ns && strcmp(found->names[at], name) > 0))) {
        at++;
    }
    if (at == SHOWN_CANDIDATES) return FIRN_OK;
    char *copy = firn_strdup(name);
    if (copy == NULL) return firn_fail_memory(error);
    firn_free(found->names[SHOWN_CANDIDATES - 1]);
    for (size_t i = SHOWN_CANDIDATES - 1; i > at; i--) {
        found->names[i] = found->names[i - 1];
        found->modified_ns[i] = found->modified_ns[i - 1];
    }
    found->names[at] = copy;
    found->modified_ns[at] = stat->modified_ns;
    return FIRN_OK;
}

/*
 * The current metadata file is gone. That is never an empty table: say so, and what else is there.
 */
static firn_status fail_missing(firn_storage *storage, const char *location, firn_error *error) {
    size_t length = firn_location_folder_length(location);
    char *folder = length == 0 ? firn_strdup(".") : firn_strndup(location, length);
    if (folder == NULL) return firn_fail_memory(error);
    candidates found = {.prefix = strlen(folder) + 1};
    firn_status status = firn_storage_list(storage, folder, note_candidate, &found, NULL);
    if (status != FIRN_OK || found.count == 0) {
        status = firn_fail(error, FIRN_NOT_FOUND,
                           "there is no metadata file %s, and its folder holds no other; where a "
                           "catalog names it restore it, nothing was changed",
                           location);
    } else {
        const char *const *names = (const char *const *)found.names;
        status = firn_fail(error, FIRN_NOT_FOUND,
                           "there is no metadata file %s; its folder holds %zu other metadata "
                           "file%s, the newest: %s%s%s%s%s",
                           location, found.count, firn_plural(found.count), names[0],
                           names[1] == NULL ? "" : ", ", names[1] == NULL ? "" : names[1],
                           names[2] == NULL ? "" : ", ", names[2] == NULL ? "" : names[2]);
    }
    for (size_t i = 0; i < SHOWN_CANDIDATES; i++) firn_free(found.names[i]);
    firn_free(folder);
    return status;
}

firn_status firn_metadata_file_read(firn_storage *storage, const char *location,
                                    firn_table_metadata **out, firn_error *error) {
    firn_buffer bytes = firn_buffer_with_maximum(FIRN_METADATA_FILE_MAXIMUM);
    firn_status status = firn_storage_read_all(storage, location, &bytes, error);
    if (status == FIRN_NOT_FOUND) {
        status = fail_missing(storage, location, error);
    } else if (status == FIRN_OK) {
        status = firn_table_metadata_parse_buffer(&bytes, location, out, error);
    }
    firn_buffer_release(&bytes);
    return status;
}

firn_status firn_metadata_file_is_gzip(const firn_table_metadata *metadata, bool *gzip,
                                       firn_error *error) {
    static const char key[] = "write.metadata.compression-codec";
    const char *codec = firn_table_metadata_property(metadata, key);
    *gzip = codec != NULL && strcasecmp(codec, "gzip") == 0;
    if (codec == NULL || *gzip || strcasecmp(codec, "none") == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "table property %s is \"%s\", not gzip or none", key,
                     codec);
}

firn_status firn_metadata_file_serialize(const firn_table_metadata *metadata, const char *name,
                                         bool gzip, firn_buffer *out, firn_error *error) {
    size_t start = out->size;
    FIRN_TRY(firn_table_metadata_serialize(metadata, gzip, out, error));
    firn_slice bytes = firn_slice_of(out->data + start, out->size - start);
    firn_table_metadata *back = NULL;
    firn_status status = firn_table_metadata_parse(bytes, name, &back, error);
    if (status == FIRN_NO_MEMORY) return status;
    bool same = status == FIRN_OK && json_equal(back->json, metadata->json);
    firn_table_metadata_free(back);
    if (same) return FIRN_OK;
    return firn_fail(error, FIRN_IO, "%s came out damaged and was not written; try again", name);
}

static firn_status name_file(const firn_table_metadata *metadata, int64_t version, bool gzip,
                             char **location, firn_error *error) {
    char uuid[FIRN_UUID_TEXT_SIZE];
    FIRN_TRY(firn_uuid_random(uuid, error));
    char *folder = NULL;
    FIRN_TRY(firn_metadata_folder(metadata, &folder, error));
    *location = firn_format("%s/%05" PRId64 "-%s%s.metadata.json", folder, version, uuid,
                            gzip ? ".gz" : "");
    firn_free(folder);
    return *location == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_announce_file(const firn_table_update *update, const char *location,
                               firn_error *error) {
    if (update == NULL || update->announce == NULL) return FIRN_OK;
    return update->announce(update->announce_context, location, error);
}

firn_status firn_metadata_file_write(firn_storage *storage, const firn_table_metadata *metadata,
                                     int64_t version, const firn_table_update *update,
                                     char **location, firn_error *error) {
    bool gzip = false;
    FIRN_TRY(firn_metadata_file_is_gzip(metadata, &gzip, error));
    char *name = NULL;
    FIRN_TRY(name_file(metadata, version, gzip, &name, error));
    firn_buffer bytes = firn_buffer_with_maximum(FIRN_METADATA_FILE_MAXIMUM);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_metadata_file_serialize(metadata, name, gzip, &bytes, error));
    FIRN_CHECK(firn_announce_file(update, name, error));
    status = firn_storage_put(storage, name, firn_buffer_slice(&bytes), error);
    if (status != FIRN_OK) {
        firn_storage_delete(storage, name, NULL);
        goto out;
    }
    *location = name;
    name = NULL;
out:
    firn_buffer_release(&bytes);
    firn_free(name);
    return status;
}
