/** What the metadata files of a folder say of themselves. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "catalog/directory_versions.h"
#include "catalog/metadata_file.h"
#include "lake/recover_internal.h"

#define HINT_MAXIMUM ((size_t)4096)

/** Only files that lie in the folder itself. */
static firn_status note_file(void *context, const char *location, const firn_storage_stat *stat,
                             firn_error *error) {
    firn_recover_search *search = context;
    const char *name = firn_location_file_name(location);
    (void)stat;
    if ((size_t)(name - location) != strlen(search->folder) + 1 ||
        !firn_is_metadata_file_name(name)) {
        return FIRN_OK;
    }
    const char *copy = firn_arena_strdup(search->arena, location);
    if (copy == NULL) return firn_fail_memory(error);
    firn_recover_file file = {.name = firn_location_file_name(copy)};
    file.facts = (firn_recover_candidate){.location = copy,
                                          .version = firn_metadata_location_version(copy) - 1,
                                          .snapshot_id = FIRN_NO_SNAPSHOT,
                                          .total_records = -1};
    return firn_vector_push(&search->files, error, file);
}

static firn_status list_folder(firn_recover_search *search, char *folder, firn_error *error) {
    if (folder == NULL) return firn_fail_memory(error);
    firn_free(search->folder);
    search->folder = folder;
    return firn_storage_list(search->storage, folder, note_file, search, error);
}

static int64_t records_of(const firn_snapshot *snapshot) {
    const char *text = json_string_value(json_object_get(snapshot->summary, "total-records"));
    char *end = NULL;
    if (text == NULL || *text < '0' || *text > '9') return -1;
    long long number = strtoll(text, &end, 10);
    return *end == '\0' ? number : -1;
}

static firn_status note_snapshot(firn_recover_search *search, const firn_table_metadata *metadata,
                                 firn_recover_file *file, firn_error *error) {
    const firn_snapshot *snapshot =
        firn_table_metadata_snapshot(metadata, metadata->current_snapshot_id);
    if (snapshot == NULL) return FIRN_OK;
    file->facts.snapshot_id = snapshot->snapshot_id;
    file->facts.total_records = records_of(snapshot);
    if (snapshot->manifest_list == NULL) return FIRN_OK;
    file->list = firn_arena_strdup(search->arena, snapshot->manifest_list);
    return file->list == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/** Files of one folder are told apart by their names: a table may have been spelled in several ways. */
static firn_status note_log(firn_recover_search *search, const firn_table_metadata *metadata,
                            firn_recover_file *file, firn_error *error) {
    size_t count = metadata->metadata_log_count;
    for (size_t i = 0; i < count; i++) {
        const char *name = firn_location_file_name(metadata->metadata_log[i].metadata_file);
        if (strcmp(name, file->name) == 0 || firn_map_has_text(search->named, name)) continue;
        FIRN_TRY(firn_map_set_text(search->named, name, NULL, error));
    }
    if (count == 0) return FIRN_OK;
    const char *base = firn_location_file_name(metadata->metadata_log[count - 1].metadata_file);
    file->base = firn_arena_strdup(search->arena, base);
    return file->base == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status note_metadata(firn_recover_search *search, const firn_table_metadata *metadata,
                                 firn_recover_file *file, firn_error *error) {
    const char *uuid = metadata->table_uuid == NULL ? "" : metadata->table_uuid;
    char *folder = NULL;
    FIRN_TRY(firn_metadata_folder(metadata, &folder, error));
    file->folder = firn_arena_strdup(search->arena, folder);
    firn_free(folder);
    file->uuid = firn_arena_strdup(search->arena, uuid);
    if (file->folder == NULL || file->uuid == NULL) return firn_fail_memory(error);
    file->readable = true;
    file->facts.last_updated_ms = metadata->last_updated_ms;
    FIRN_TRY(note_snapshot(search, metadata, file, error));
    return note_log(search, metadata, file, error);
}

static firn_status read_file(firn_recover_search *search, firn_recover_file *file,
                             firn_error *error) {
    firn_table_metadata *metadata = NULL;
    firn_error problem;
    firn_error_clear(&problem);
    FIRN_TRY(firn_cancel_check(error));
    firn_status status =
        firn_metadata_file_read(search->storage, file->facts.location, &metadata, &problem);
    if (status == FIRN_NO_MEMORY || status == FIRN_CANCELLED) {
        if (error != NULL) *error = problem;
        return status;
    }
    if (status != FIRN_OK) {
        file->facts.verdict = firn_arena_format(search->arena, "unreadable: %s", problem.message);
        return file->facts.verdict == NULL ? firn_fail_memory(error) : FIRN_OK;
    }
    status = note_metadata(search, metadata, file, error);
    firn_table_metadata_free(metadata);
    return status;
}

/** For information only: a hint that can't be read says nothing. */
static firn_status read_hint(firn_recover_search *search, firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum(HINT_MAXIMUM);
    char *location = firn_format("%s/" FIRN_VERSION_HINT, search->folder);
    if (location == NULL) return firn_fail_memory(error);
    firn_status status = firn_storage_read_all(search->storage, location, &text, NULL);
    firn_free(location);
    if (status == FIRN_OK) {
        while (text.size > 0 && text.data[text.size - 1] <= ' ') text.size--;
        search->hint =
            firn_arena_strndup(search->arena, text.size == 0 ? "" : (char *)text.data, text.size);
        status = search->hint == NULL ? firn_fail_memory(error) : FIRN_OK;
    } else if (status != FIRN_NO_MEMORY) {
        status = FIRN_OK;
    }
    firn_buffer_release(&text);
    return status == FIRN_NO_MEMORY ? firn_fail_memory(error) : status;
}

static int newest_first(const void *a, const void *b) {
    const firn_recover_candidate *left = &((const firn_recover_file *)a)->facts;
    const firn_recover_candidate *right = &((const firn_recover_file *)b)->facts;
    if (left->version != right->version) return left->version > right->version ? -1 : 1;
    if (left->last_updated_ms != right->last_updated_ms) {
        return left->last_updated_ms > right->last_updated_ms ? -1 : 1;
    }
    return strcmp(left->location, right->location);
}

static firn_status refuse_file(firn_recover_search *search, const char *location,
                               firn_error *error) {
    firn_storage_stat stat = {0};
    if (firn_storage_stat_file(search->storage, location, &stat, NULL) != FIRN_OK) return FIRN_OK;
    bool is_metadata = firn_is_metadata_file_name(firn_location_file_name(location));
    return firn_fail(error, FIRN_INVALID,
                     "%s is a file; name the table's folder or its metadata folder%s", location,
                     is_metadata ? ", or enter this version with firn catalog register" : "");
}

firn_status firn_recover_read(firn_recover_search *search, const char *location,
                              firn_error *error) {
    size_t length = strlen(location);
    FIRN_TRY(refuse_file(search, location, error));
    while (length > 1 && location[length - 1] == '/') length--;
    FIRN_TRY(list_folder(search, firn_format("%.*s/metadata", (int)length, location), error));
    if (search->files.count == 0) {
        FIRN_TRY(list_folder(search, firn_strndup(location, length), error));
    }
    if (search->files.count == 0) {
        return firn_fail(
            error, FIRN_NOT_FOUND,
            "%s holds no metadata files, and neither does a folder \"metadata\" in it; "
            "name the table's folder or its metadata folder",
            search->folder);
    }
    for (size_t i = 0; i < search->files.count; i++) {
        FIRN_TRY(read_file(search, &search->files.items[i], error));
    }
    qsort(search->files.items, search->files.count, sizeof *search->files.items, newest_first);
    return read_hint(search, error);
}
