#include <string.h>

#include "lake/listing_internal.h"

/* Names that a task looks at, so that taking tasks costs little beside it. */
#define RUN_LENGTH ((size_t)16)

static size_t run_count(size_t count) {
    return count / RUN_LENGTH + (count % RUN_LENGTH != 0);
}

static size_t run_end(size_t run, size_t count) {
    size_t end = (run + 1) * RUN_LENGTH;
    return end < count ? end : count;
}

static firn_status check_name(const char *location, firn_error *error) {
    char text[FIRN_LAKE_BAD_NAME_SIZE];
    const char *bad = firn_lake_bad_name(location, text);
    return bad == NULL ? FIRN_OK : firn_fail(error, FIRN_INVALID, "%s", bad);
}

firn_status firn_lake_add_name(firn_lake_collector *collector, const char *name, const char *base,
                               uint32_t unit, size_t order, firn_buffer *made, firn_error *error) {
    firn_lake_found found = {
        .file = {.location = name, .unit = unit}, .order = order, .named = true};
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = firn_lake_location(name, base, made, &problem);
    const char *location = (const char *)made->data;
    if (status == FIRN_OK) {
        found.file.location = location;
        status = check_name(location, &problem);
    }
    if (status != FIRN_OK) {
        return firn_lake_blame_name(collector, &found, status, &problem, error);
    }
    found.file.location = firn_arena_strdup(collector->arena, location);
    if (found.file.location == NULL) return firn_fail_memory(error);
    found.key = firn_lake_location_key(found.file.location, collector->arena);
    if (found.key == NULL) return firn_fail_memory(error);
    return firn_vector_push(&collector->found, error, found);
}

static firn_status look_at_run(void *context, size_t run, firn_error *error) {
    firn_lake_collector *collector = context;
    size_t end = run_end(run, collector->found.count);
    for (size_t i = run * RUN_LENGTH; i < end; i++) {
        firn_lake_found *found = &collector->found.items[i];
        firn_storage_stat stat = {0};
        firn_error problem;
        firn_error_clear(&problem);
        firn_status status =
            firn_storage_stat_file(collector->storage, found->file.location, &stat, &problem);
        if (status == FIRN_OK && stat.size > INT64_MAX) {
            status = firn_fail(&problem, FIRN_LIMIT, "%s is too large", found->file.location);
        }
        found->bad = status != FIRN_OK;
        FIRN_TRY(firn_lake_blame_name(collector, found, status, &problem, error));
        found->file.size = (int64_t)stat.size;
        found->file.modified_ns = stat.modified_ns;
    }
    return FIRN_OK;
}

/* Leaves markers and bad names aside. */
static firn_status leave_markers(firn_lake_collector *collector, firn_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < collector->found.count; i++) {
        firn_lake_found found = collector->found.items[i];
        if (found.bad) continue;
        const char *marker = firn_lake_marker(found.file.location, (uint64_t)found.file.size);
        if (marker == NULL || !found.named) {
            collector->found.items[kept++] = found;
            continue;
        }
        firn_lake_ignored ignored = {.location = found.file.location, .reason = marker};
        FIRN_TRY(firn_vector_push(&collector->ignored, error, ignored));
    }
    collector->found.count = kept;
    return FIRN_OK;
}

/* The folder that all named files share is the root of each. */
static void set_roots(firn_lake_collector *collector) {
    const char *first = NULL;
    size_t shared = 0;
    for (size_t i = 0; i < collector->found.count; i++) {
        if (!collector->found.items[i].named) continue;
        const char *location = collector->found.items[i].file.location;
        if (first == NULL) {
            first = location;
            shared = firn_lake_folder_length(location);
        }
        size_t same = 0;
        while (same < shared && location[same] == first[same]) same++;
        while (same > 0 && same < shared && first[same - 1] != '/') same--;
        shared = same;
    }
    for (size_t i = 0; i < collector->found.count; i++) {
        if (!collector->found.items[i].named) continue;
        firn_lake_file *file = &collector->found.items[i].file;
        size_t start = firn_lake_path_start(file->location);
        if (file->location[start] == '/') start++;
        file->root_length =
            (uint16_t)firn_lake_root_length(file->location, shared > start ? shared : start);
    }
}

firn_status firn_lake_look_at_names(firn_lake_collector *collector, firn_error *error) {
    FIRN_TRY(firn_lake_drop_duplicates(collector, error));
    FIRN_TRY(firn_pool_each(collector->pool, run_count(collector->found.count), look_at_run,
                            collector, error));
    FIRN_TRY(leave_markers(collector, error));
    set_roots(collector);
    return FIRN_OK;
}

/* What a shell makes of a pipe, and "-". */
static firn_status explain_stream(const char *location, firn_status status, firn_error *error) {
    static const char *const streams[] = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
    bool stream = strcmp(location + firn_lake_folder_length(location), "-") == 0;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        stream = stream || strncmp(location, streams[i], strlen(streams[i])) == 0;
    }
    if (!stream) return status;
    return firn_error_hint(error, status,
                           "locations, one a line, are read from standard input with --from -");
}

firn_status firn_lake_collect_list(firn_lake_collector *collector, const char *list,
                                   const char *base, firn_error *error) {
    bool standard_input = strcmp(list, "-") == 0;
    firn_storage_file *file = NULL;
    firn_lake_text text = {0};
    firn_buffer line = firn_buffer_with_maximum(FIRN_LAKE_LONGEST_LOCATION + 2);
    firn_buffer location = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status;
    collector->source = standard_input ? "standard input" : list;
    collector->item = "line";
    if (!standard_input) {
        FIRN_CHECK(firn_lake_location(list, NULL, &location, error));
        status = firn_storage_open(collector->storage, (const char *)location.data, &file, error);
        FIRN_CHECK(explain_stream((const char *)location.data, status, error));
    }
    FIRN_CHECK(firn_lake_text_open(&text, standard_input ? NULL : firn_storage_file_source(file),
                                   collector->source, error));
    for (bool found = true; found;) {
        FIRN_CHECK(firn_lake_text_line(&text, &line, &found, error));
        if (!found || line.size == 0) continue;
        FIRN_CHECK(firn_lake_add_name(collector, (const char *)line.data, base, FIRN_LAKE_NO_UNIT,
                                      text.line, &location, error));
    }
    FIRN_CHECK(firn_lake_look_at_names(collector, error));
out:
    firn_lake_text_release(&text);
    firn_storage_close(file);
    firn_buffer_release(&line);
    firn_buffer_release(&location);
    return status;
}

/* What was named is a file, or perhaps a folder: object stores, and the memory's, have none but what their files' names say. */
typedef struct path_look {
    firn_lake_collector *collector;
    bool blames;
    const char **locations;
    bool *is_file;
    size_t count;
} path_look;

static firn_status look_at_path(path_look *look, size_t i, firn_error *error) {
    firn_storage_stat stat = {0};
    firn_error failure = {0};
    firn_status status =
        firn_storage_stat_file(look->collector->storage, look->locations[i], &stat, &failure);
    if (status == FIRN_INVALID || status == FIRN_NOT_FOUND) return FIRN_OK;
    if (status != FIRN_OK) {
        if (error != NULL) *error = failure;
        return status;
    }
    look->is_file[i] = true;
    firn_lake_found found = {.file = {.location = look->locations[i], .unit = FIRN_LAKE_NO_UNIT},
                             .order = i + 1,
                             .named = true};
    return firn_lake_collect(look->collector, &found, &stat, error);
}

static firn_status look_at_paths(void *context, size_t run, firn_error *error) {
    path_look *look = context;
    size_t end = run_end(run, look->count);
    for (size_t i = run * RUN_LENGTH; i < end; i++) FIRN_TRY(look_at_path(look, i, error));
    return FIRN_OK;
}

/* A pattern comes here where no shell took it. */
static firn_status explain_path(const char *location, firn_status status, firn_error *error) {
    if (strpbrk(location, "*?[{") == NULL) return explain_stream(location, status, error);
    return firn_error_hint(error, status,
                           "--glob takes a pattern; without it each name is that of a file or "
                           "folder");
}

static firn_status fail_path(const path_look *look, const char *location, firn_status status,
                             firn_error *failure, firn_error *error) {
    bool fault = status == FIRN_NOT_FOUND || status == FIRN_INVALID;
    (void)explain_path(location, status, failure);
    if (fault && look->blames) {
        return firn_lake_add_bad(look->collector, location, FIRN_LAKE_NO_UNIT, failure->message,
                                 error);
    }
    if (error != NULL) *error = *failure;
    return status;
}

static firn_status list_path(void *context, size_t i, firn_error *error) {
    path_look *look = context;
    if (look->is_file[i]) return FIRN_OK;
    firn_storage *storage = look->collector->storage;
    firn_storage_stat stat = {0};
    bool seen = false;
    firn_status listed = firn_lake_collect_folder(look->collector, look->locations[i], NULL,
                                                  FIRN_LAKE_NO_UNIT, i + 1, &seen, error);
    if (seen || (listed != FIRN_OK && listed != FIRN_INVALID)) return listed;
    /* An empty folder is no file (INVALID), and no error; what isn't there at all, or is neither file nor folder, is one. */
    firn_error named = {0};
    firn_status status = firn_storage_stat_file(storage, look->locations[i], &stat, &named);
    if (status == FIRN_INVALID && listed == FIRN_OK) return FIRN_OK;
    if (status == FIRN_OK) {
        return firn_fail(error, FIRN_IO, "%s changed while it was looked at", look->locations[i]);
    }
    return fail_path(look, look->locations[i], status, &named, error);
}

firn_status firn_lake_collect_paths(firn_lake_collector *collector, const firn_lake_source *source,
                                    bool *files, firn_error *error) {
    firn_buffer location = firn_buffer_with_maximum(SIZE_MAX);
    size_t count = source->location_count;
    path_look look = {.collector = collector, .blames = source->blames_paths, .count = count};
    firn_status status = FIRN_OK;
    if (count == 0) return firn_fail(error, FIRN_INVALID, "no file or folder is named");
    look.locations = firn_arena_alloc(collector->arena, count, sizeof *look.locations);
    look.is_file = firn_arena_alloc(collector->arena, count, sizeof *look.is_file);
    if (look.locations == NULL || look.is_file == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_CHECK(firn_lake_location(source->locations[i], NULL, &location, error));
        look.locations[i] = firn_arena_strdup(collector->arena, (const char *)location.data);
        if (look.locations[i] == NULL) FIRN_CHECK(firn_fail_memory(error));
    }
    FIRN_CHECK(firn_pool_each(collector->pool, run_count(count), look_at_paths, &look, error));
    FIRN_CHECK(firn_pool_each(collector->pool, count, list_path, &look, error));
    set_roots(collector);
    for (size_t i = 0; i < count; i++) *files = *files || look.is_file[i];
out:
    firn_buffer_release(&location);
    return status;
}
