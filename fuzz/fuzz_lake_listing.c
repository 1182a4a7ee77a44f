/* The first byte says what the rest is: a pattern, a list, a manifest with files, or one with folders of units. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "lake/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static firn_storage *new_storage(const uint8_t *data, size_t size) {
    static const char *const files[] = {"/l/k=1/a.parquet", "/l/k=1/_b.parquet", "/l/c", "/d.pq"};
    firn_storage *storage = NULL;
    if (firn_storage_memory(&storage, NULL) != FIRN_OK) return NULL;
    firn_status status = firn_storage_put(storage, "/source", firn_slice_of(data, size), NULL);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (status == FIRN_OK) {
            status = firn_storage_put(storage, files[i], firn_slice_text("x"), NULL);
        }
    }
    assert(status == FIRN_OK || status == FIRN_NO_MEMORY);
    return storage;
}

static void check(const firn_lake_listing *listing) {
    for (size_t i = 0; i < listing->file_count; i++) {
        const firn_lake_file *file = &listing->files[i];
        assert(file->root_length <= strlen(file->location));
        assert(strstr(file->location, "/../") == NULL);
        assert(listing->has_units ? file->unit < listing->unit_count
                                  : file->unit == FIRN_LAKE_NO_UNIT);
    }
    size_t next = 0;
    for (size_t i = 0; i < listing->unit_count; i++) {
        assert(listing->units[i].first_file == next);
        next += listing->units[i].file_count;
    }
    assert(!listing->has_units || next == listing->file_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    firn_json_setup();
    unsigned what = data[0] % 4;
    firn_storage *storage = new_storage(data + 1, size - 1);
    char *pattern = firn_strndup((const char *)data + 1, size - 1);
    if (storage != NULL && pattern != NULL) {
        const char *location = what == 0 ? pattern : "/source";
        firn_lake_source source = {.kind = what == 0   ? FIRN_LAKE_GLOB
                                           : what == 1 ? FIRN_LAKE_LIST
                                                       : FIRN_LAKE_MANIFEST,
                                   .locations = &location,
                                   .location_count = 1,
                                   .base = "/l",
                                   .unit_folder = what == 3 ? "k={unit}/" : NULL};
        firn_lake_listing listing = {0};
        firn_error error = {0};
        if (firn_lake_list(storage, NULL, &source, &listing, &error) == FIRN_OK) {
            check(&listing);
            firn_lake_listing_release(&listing);
        } else {
            assert(error.code != FIRN_OK && error.message[0] != '\0');
        }
    }
    firn_free(pattern);
    firn_storage_free(storage);
    return 0;
}
