#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lake/listing_internal.h"

static int by_key(const void *a, const void *b) {
    const firn_lake_found *x = a;
    const firn_lake_found *y = b;
    int order = strcmp(x->key, y->key);
    if (order != 0) return order;
    if (x->file.unit != y->file.unit) return x->file.unit < y->file.unit ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_unit(const void *a, const void *b) {
    const firn_lake_file *x = a;
    const firn_lake_file *y = b;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return strcmp(x->location, y->location);
}

static int by_location(const void *a, const void *b) {
    const firn_lake_ignored *x = a;
    const firn_lake_ignored *y = b;
    return strcmp(x->location, y->location);
}

firn_status firn_lake_drop_duplicates(firn_lake_collector *collector, firn_error *error) {
    firn_lake_found *found = collector->found.items;
    size_t count = collector->found.count;
    size_t kept = 0;
    if (count == 0) return FIRN_OK;
    qsort(found, count, sizeof *found, by_key);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(found[i].key, found[kept].key) != 0) {
            found[++kept] = found[i];
            continue;
        }
        if (found[i].file.unit == found[kept].file.unit) continue;
        const firn_lake_unit *units = collector->units.items;
        return firn_fail(error, FIRN_INVALID, "%s: %s belongs to two units, \"%s\" and \"%s\"",
                         collector->source, found[i].file.location,
                         units[found[kept].file.unit].name, units[found[i].file.unit].name);
    }
    collector->found.count = kept + 1;
    return FIRN_OK;
}

/* The files alone, in the memory of what was found: each lies before the place that it was read from. */
static firn_lake_file *shed_found(firn_lake_collector *collector) {
    const firn_lake_found *found = collector->found.items;
    size_t count = collector->found.count;
    firn_lake_file *files = (firn_lake_file *)(void *)collector->found.items;
    for (size_t i = 0; i < count; i++) memmove(&files[i], &found[i].file, sizeof *files);
    firn_lake_file *smaller = firn_realloc_array(files, count, sizeof *files);
    collector->found.items = NULL;
    collector->found.count = collector->found.capacity = 0;
    return smaller == NULL ? files : smaller;
}

static firn_status take_files(firn_lake_collector *collector, firn_lake_listing *out,
                              firn_error *error) {
    FIRN_TRY(firn_lake_drop_duplicates(collector, error));
    size_t count = collector->found.count;
    if (count == 0) return FIRN_OK;
    firn_lake_file *files = shed_found(collector);
    if (firn_arena_on_free(collector->arena, firn_free, files) != 0) return firn_fail_memory(error);
    bool sorted = true;
    for (size_t i = 1; i < count && sorted; i++) sorted = by_unit(&files[i - 1], &files[i]) <= 0;
    if (!sorted) qsort(files, count, sizeof *files, by_unit);
    out->files = files;
    out->file_count = count;
    return FIRN_OK;
}

/* A unit that the manifest calls complete, and whose files are not there, is no unit without files. */
static firn_status take_units(firn_lake_collector *collector, const firn_lake_source *source,
                              firn_lake_listing *out, firn_error *error) {
    size_t count = collector->units.count;
    firn_lake_unit *units = firn_arena_alloc(collector->arena, count + 1, sizeof *units);
    if (units == NULL) return firn_fail_memory(error);
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        units[i] = collector->units.items[i];
        units[i].first_file = next;
        while (next < out->file_count && out->files[next].unit == i) next++;
        units[i].file_count = next - units[i].first_file;
    }
    out->units = units;
    out->unit_count = count;
    return firn_lake_blame_units(collector, source, units, error);
}

/* A file that was left aside in a folder may have been named by itself as well. */
static bool is_listed(const firn_lake_listing *listing, const char *location) {
    if (listing->has_units) return false;
    firn_lake_file wanted = {.location = location, .unit = FIRN_LAKE_NO_UNIT};
    return listing->file_count > 0 &&
           bsearch(&wanted, listing->files, listing->file_count, sizeof wanted, by_unit) != NULL;
}

typedef struct folder_name {
    const char *location;
    size_t length;
} folder_name;

static int by_folder(const void *a, const void *b) {
    const folder_name *folder = a;
    const firn_lake_file *file = b;
    int order = strncmp(folder->location, file->location, folder->length);
    return order != 0 ? order : '/' - (int)(unsigned char)file->location[folder->length];
}

static bool has_listed(const firn_lake_listing *listing, const char *location) {
    folder_name folder = {location, strlen(location)};
    return listing->file_count > 0 && bsearch(&folder, listing->files, listing->file_count,
                                              sizeof *listing->files, by_folder) != NULL;
}

static firn_status take_ignored(firn_lake_collector *collector, firn_lake_listing *out,
                                firn_error *error) {
    size_t count = collector->ignored.count;
    size_t kept = 0;
    firn_lake_ignored *ignored = firn_arena_alloc(collector->arena, count + 1, sizeof *ignored);
    if (ignored == NULL) return firn_fail_memory(error);
    if (count > 0) memcpy(ignored, collector->ignored.items, count * sizeof *ignored);
    if (count > 0) qsort(ignored, count, sizeof *ignored, by_location);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(ignored[kept - 1].location, ignored[i].location) == 0) continue;
        if (is_listed(out, ignored[i].location)) continue;
        bool folder = ignored[i].reason == firn_lake_folder_reason;
        if (folder && has_listed(out, ignored[i].location)) continue;
        ignored[kept++] = ignored[i];
    }
    out->ignored = ignored;
    out->ignored_count = kept;
    return FIRN_OK;
}

static firn_status collect(firn_lake_collector *collector, const firn_lake_source *source,
                           bool *complete, firn_error *error) {
    bool files = false;
    *complete = true;
    if (source->kind == FIRN_LAKE_PATHS) {
        FIRN_TRY(firn_lake_collect_paths(collector, source, &files, error));
        *complete = !files;
        return FIRN_OK;
    }
    if (source->location_count != 1) {
        return firn_fail(error, FIRN_INVALID, "one pattern, list or manifest is due, not %zu",
                         source->location_count);
    }
    switch (source->kind) {
    case FIRN_LAKE_GLOB: return firn_lake_collect_glob(collector, source->locations[0], error);
    case FIRN_LAKE_LIST:
        *complete = strcmp(source->locations[0], "-") != 0;
        return firn_lake_collect_list(collector, source->locations[0], source->base, error);
    default:
        FIRN_TRY(firn_lake_collect_manifest(collector, source, error));
        *complete = !collector->has_unnamable;
        return FIRN_OK;
    }
}

/* What a manifest says is wrong, not what was asked for. */
static firn_status blame_manifest(const firn_lake_collector *collector, firn_status status,
                                  firn_error *error) {
    bool broken = status == FIRN_INVALID || status == FIRN_CORRUPT || status == FIRN_LIMIT;
    if (!broken || !collector->options_hold) return status;
    if (error != NULL) error->code = FIRN_BLOCKED;
    return FIRN_BLOCKED;
}

firn_status firn_lake_list(firn_storage *storage, firn_pool *pool, const firn_lake_source *source,
                           firn_lake_listing *out, firn_error *error) {
    firn_lake_collector collector = {.storage = storage, .pool = pool, .arena = firn_arena_new()};
    firn_lake_listing made = {.arena = collector.arena,
                              .has_units = source->kind == FIRN_LAKE_MANIFEST};
    firn_status status;
    if (collector.arena == NULL) return firn_fail_memory(error);
    pthread_mutex_init(&collector.lock, NULL);
    FIRN_CHECK(collect(&collector, source, &made.complete, error));
    FIRN_CHECK(take_files(&collector, &made, error));
    FIRN_CHECK(take_units(&collector, source, &made, error));
    FIRN_CHECK(take_ignored(&collector, &made, error));
    FIRN_CHECK(firn_lake_take_bad(&collector, &made, error));
    *out = made;
out:
    status = blame_manifest(&collector, status, error);
    firn_vector_release(&collector.found);
    firn_vector_release(&collector.ignored);
    firn_vector_release(&collector.bad);
    firn_vector_release(&collector.units);
    pthread_mutex_destroy(&collector.lock);
    if (status != FIRN_OK) firn_arena_free(collector.arena);
    return status;
}

void firn_lake_listing_release(firn_lake_listing *listing) {
    firn_arena_free(listing->arena);
    *listing = (firn_lake_listing){0};
}
