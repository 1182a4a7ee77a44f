#include <string.h>
#include <strings.h>

#include "base/cancel.h"
#include "lake/listing_internal.h"

static const char hidden_reason[] = "hidden";
static const char marker_reason[] = "marker";
static const char empty_reason[] = "empty marker";
static const char ending_reason[] = "its name is no Parquet file's";
static const char link_reason[] = "a symbolic link, which is not followed";
static const char special_reason[] = "no regular file";
const char firn_lake_folder_reason[] = "a folder, of which no file is listed";

/* "_x=1" and ".k=v" are partitions' folders, not hidden ones. */
bool firn_lake_is_hidden(const char *segment, size_t length, bool is_folder) {
    if (length == 0 || (segment[0] != '_' && segment[0] != '.')) return false;
    return !is_folder || memchr(segment, '=', length) == NULL;
}

bool firn_lake_has_hidden(const char *path) {
    for (;;) {
        size_t length = strcspn(path, "/");
        bool is_folder = path[length] == '/';
        if (firn_lake_is_hidden(path, length, is_folder)) return true;
        if (!is_folder) return false;
        path += length + 1;
    }
}

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name);
    size_t wanted = strlen(ending);
    return length >= wanted && strcasecmp(name + length - wanted, ending) == 0;
}

static bool has_parquet_ending(const char *name) {
    return ends_with(name, ".parquet") || ends_with(name, ".parq") || ends_with(name, ".pq");
}

const char *firn_lake_marker(const char *location, uint64_t size) {
    static const char *const names[] = {"_SUCCESS", "_metadata", "_common_metadata"};
    const char *name = location + firn_lake_folder_length(location);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return marker_reason;
    }
    if (ends_with(name, "_$folder$")) return marker_reason;
    return size == 0 && !has_parquet_ending(name) ? empty_reason : NULL;
}

static firn_status push_ignored(firn_lake_collector *collector, const char *location,
                                const char *reason, firn_error *error) {
    const char *copy = firn_lake_is_utf8(location) ? firn_arena_strdup(collector->arena, location)
                                                   : firn_lake_shown(collector->arena, location);
    if (copy == NULL) return firn_fail_memory(error);
    firn_lake_ignored ignored = {.location = copy, .reason = reason};
    return firn_vector_push(&collector->ignored, error, ignored);
}

static firn_status push_found(firn_lake_collector *collector, const firn_lake_found *found,
                              const firn_storage_stat *stat, firn_error *error) {
    firn_lake_found copy = *found;
    copy.file.location = firn_arena_strdup(collector->arena, found->file.location);
    if (copy.file.location == NULL) return firn_fail_memory(error);
    copy.key = firn_lake_location_key(copy.file.location, collector->arena);
    if (copy.key == NULL) return firn_fail_memory(error);
    if (stat->size > INT64_MAX) {
        return firn_fail(error, FIRN_LIMIT, "%s is too large", copy.file.location);
    }
    copy.file.size = (int64_t)stat->size;
    copy.file.modified_ns = stat->modified_ns;
    return firn_vector_push(&collector->found, error, copy);
}

static firn_status collect(firn_lake_collector *collector, const firn_lake_found *found,
                           const firn_storage_stat *stat, const char *ignored, firn_error *error) {
    char text[FIRN_LAKE_BAD_NAME_SIZE];
    const char *bad = ignored != NULL ? NULL : firn_lake_bad_name(found->file.location, text);
    if (bad != NULL) {
        return firn_lake_add_bad(collector, found->file.location, found->file.unit, bad, error);
    }
    pthread_mutex_lock(&collector->lock);
    firn_status status = ignored != NULL
                             ? push_ignored(collector, found->file.location, ignored, error)
                             : push_found(collector, found, stat, error);
    pthread_mutex_unlock(&collector->lock);
    return status;
}

firn_status firn_lake_collect(firn_lake_collector *collector, const firn_lake_found *found,
                              const firn_storage_stat *stat, firn_error *error) {
    return collect(collector, found, stat, firn_lake_marker(found->file.location, stat->size),
                   error);
}

typedef struct folder_visit {
    firn_lake_collector *collector;
    firn_lake_glob *glob; /* nullable */
    size_t folder_length; /* with its slash */
    firn_lake_found found;
    bool seen;
    firn_status status; /* of what `is_wanted` noted */
} folder_visit;

/* Whether the pattern names a folder as it would a file. Units name whole folders. */
static bool is_named_like_file(const folder_visit *visit, const char *below) {
    if (visit->found.file.unit != FIRN_LAKE_NO_UNIT) return false;
    if (visit->glob == NULL) return has_parquet_ending(below);
    return !firn_lake_glob_takes_folders(visit->glob) &&
           firn_lake_glob_match(visit->glob, below, false);
}

static bool is_wanted(void *context, const char *folder) {
    folder_visit *visit = context;
    const char *below = folder + visit->folder_length;
    if (is_named_like_file(visit, below) && visit->status == FIRN_OK) {
        firn_lake_found found = {.file = {.location = folder}};
        visit->status = collect(visit->collector, &found, NULL, firn_lake_folder_reason, NULL);
    }
    return visit->glob == NULL || firn_lake_glob_may_match_below(visit->glob, below);
}

/* Only links may lead to what a pattern matches below them. */
static bool is_meant(const folder_visit *visit, const char *below, bool may_be_folder) {
    if (visit->glob == NULL || firn_lake_glob_match(visit->glob, below, false)) return true;
    return may_be_folder && firn_lake_glob_may_match_below(visit->glob, below);
}

static firn_status visit_other(void *context, const char *location, firn_storage_other what,
                               firn_error *error) {
    folder_visit *visit = context;
    char text[FIRN_LAKE_BAD_NAME_SIZE];
    bool special = what == FIRN_STORAGE_SPECIAL;
    visit->seen = true;
    if (!is_meant(visit, location + visit->folder_length, !special)) return FIRN_OK;
    if (what == FIRN_STORAGE_TOO_DEEP) {
        const char *reason = firn_lake_bad_name(location, text);
        if (reason == NULL) return FIRN_OK;
        return firn_lake_add_bad(visit->collector, location, visit->found.file.unit, reason, error);
    }
    visit->found.file.location = location;
    return collect(visit->collector, &visit->found, NULL, special ? special_reason : link_reason,
                   error);
}

static firn_status visit_file(void *context, const char *location, const firn_storage_stat *stat,
                              firn_error *error) {
    folder_visit *visit = context;
    FIRN_TRY(firn_cancel_check(error));
    visit->seen = true;
    const char *below = location + visit->folder_length;
    bool hidden = firn_lake_has_hidden(below);
    bool by_ending = true;
    if (visit->glob != NULL) {
        if (!firn_lake_glob_match(visit->glob, below, false)) return FIRN_OK;
        hidden = hidden && !firn_lake_glob_match(visit->glob, below, true);
        by_ending = firn_lake_glob_takes_folders(visit->glob);
    }
    const char *ignored = firn_lake_marker(location, stat->size);
    if (ignored == NULL && hidden) ignored = hidden_reason;
    if (ignored == NULL && by_ending && !has_parquet_ending(below)) ignored = ending_reason;
    visit->found.file.location = location;
    return collect(visit->collector, &visit->found, stat, ignored, error);
}

firn_status firn_lake_collect_folder(firn_lake_collector *collector, const char *folder,
                                     firn_lake_glob *glob, uint32_t unit, size_t order, bool *seen,
                                     firn_error *error) {
    size_t length = strlen(folder);
    if (length > 0 && folder[length - 1] != '/') length++;
    folder_visit visit = {
        .collector = collector,
        .glob = glob,
        .folder_length = length,
        .found = {.file = {.root_length = (uint16_t)firn_lake_root_length(folder, length),
                           .is_regular = true,
                           .unit = unit},
                  .order = order}};
    firn_status status = firn_storage_list_within(collector->storage, folder, is_wanted, visit_file,
                                                  visit_other, &visit, error);
    /* Only memory can have been short. */
    if (status == FIRN_OK && visit.status != FIRN_OK) status = firn_fail_memory(error);
    if (seen != NULL) *seen = visit.seen;
    return status;
}

/* Length of the pattern's fixed folders, the last slash included; 0 for a relative pattern without any. */
static size_t fixed_length(const char *pattern, size_t start) {
    size_t length = start + strcspn(pattern + start, "*?[{");
    while (length > start && pattern[length - 1] != '/') length--;
    return length;
}

static firn_status check_pattern(const char *pattern, size_t start, size_t fixed,
                                 firn_error *error) {
    if (pattern[start] == '\0') {
        return firn_fail(error, FIRN_INVALID, "pattern \"%s\" names no file", pattern);
    }
    if (fixed > start || firn_location_local_path(pattern) != NULL) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "pattern \"%s\": the bucket can't be a pattern; write it out", pattern);
}

firn_status firn_lake_collect_glob(firn_lake_collector *collector, const char *pattern,
                                   firn_error *error) {
    size_t start = firn_lake_path_start(pattern);
    size_t fixed = fixed_length(pattern, start);
    FIRN_TRY(check_pattern(pattern, start, fixed, error));
    firn_buffer given = firn_buffer_with_maximum(SIZE_MAX);
    firn_buffer folder = firn_buffer_with_maximum(SIZE_MAX);
    firn_lake_glob *glob = NULL;
    firn_status status;
    bool local = firn_location_local_path(pattern) != NULL;
    FIRN_CHECK(firn_buffer_append(&given, pattern, fixed, error));
    if (fixed == start) FIRN_CHECK(firn_buffer_append_byte(&given, '.', error));
    FIRN_CHECK(firn_buffer_append_byte(&given, '\0', error));
    FIRN_CHECK(firn_lake_location((const char *)given.data, NULL, &folder, error));
    FIRN_CHECK(firn_lake_glob_new(pattern + fixed, local, &glob, error));
    FIRN_CHECK(firn_lake_collect_folder(collector, (const char *)folder.data, glob,
                                        FIRN_LAKE_NO_UNIT, 1, NULL, error));
out:
    status = firn_error_wrap(error, status, "pattern \"%.200s\"", pattern);
    firn_lake_glob_free(glob);
    firn_buffer_release(&given);
    firn_buffer_release(&folder);
    return status;
}
