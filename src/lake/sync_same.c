/* Files that symbolic links give a second name. Hard links are files of their own: they may be copies that are meant. */
#include <string.h>

#include "base/alloc.h"
#include "lake/sync_internal.h"
#include "storage/local_links.h"

typedef struct same_search {
    firn_sync_work *work;
    firn_arena *arena;
    firn_map *names;  /* resolved path to location, of new files that are under their own name */
    firn_map *linked; /* the same of entries that were added through links */
    const char **resolved; /* of new files; NULL: not on the local disk */
    size_t behind_links;   /* new files that lie behind links */
    firn_local_real_paths paths;
    firn_local_links links;
} same_search;

static firn_status key_of(same_search *search, const char *location, const char **out,
                          firn_error *error) {
    const char *within = firn_location_key_within(location);
    char *made = within == NULL ? firn_location_key(location) : NULL;
    *out = within != NULL ? within : made == NULL ? NULL : firn_arena_strdup(search->arena, made);
    firn_free(made);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status resolve_files(same_search *search, firn_error *error) {
    firn_sync_work *work = search->work;
    for (size_t i = 0; i < work->new_count; i++) {
        const firn_lake_file *file = &work->files[i];
        const char *key = NULL;
        FIRN_TRY(key_of(search, file->location, &key, error));
        if (key[0] != '/') continue;
        search->resolved[i] = firn_local_real_path(&search->paths, key, file->is_regular);
        if (search->resolved[i] == NULL) return firn_fail_memory(error);
        search->behind_links += strcmp(search->resolved[i], key) != 0 ? 1 : 0;
    }
    return FIRN_OK;
}

/* Two names of one file, and neither behind a link, are told apart by the listing. */
static firn_status note_names(same_search *search, firn_error *error) {
    firn_sync_work *work = search->work;
    for (size_t i = 0; search->behind_links > 0 && i < work->new_count; i++) {
        const char *location = work->files[i].location;
        const char *key = NULL;
        if (search->resolved[i] == NULL) continue;
        FIRN_TRY(key_of(search, location, &key, error));
        if (strcmp(search->resolved[i], key) != 0) continue;
        FIRN_TRY(firn_map_set_text(search->names, key, (void *)(uintptr_t)location, error));
    }
    return FIRN_OK;
}

static firn_status refuse(const same_search *search, size_t index, const char *other, bool added,
                          firn_error *error) {
    const char *reason =
        firn_arena_format(search->arena, "the same file as %s, by way of a symbolic link%s", other,
                          added ? "; the table has it already" : "");
    if (reason == NULL) return firn_fail_memory(error);
    return firn_sync_add_bad(search->work, index, reason, error);
}

/* Whatever its size and its neighbours are: a file may have been replaced since, and a folder may hold links beside files. */
static firn_status take_entry(same_search *search, const firn_ledger_entry *entry,
                              firn_error *error) {
    const char *key = NULL;
    bool may_be_link = false;
    FIRN_TRY(key_of(search, entry->location, &key, error));
    if (key[0] != '/') return FIRN_OK;
    FIRN_TRY(firn_local_may_be_link(&search->links, key, &may_be_link, error));
    const char *real = firn_local_real_path(&search->paths, key, !may_be_link);
    if (real == NULL) return firn_fail_memory(error);
    if (strcmp(real, key) == 0) return FIRN_OK;
    const char *location = firn_arena_strdup(search->arena, entry->location);
    if (location == NULL) return firn_fail_memory(error);
    return firn_map_set_text(search->linked, real, (void *)(uintptr_t)location, error);
}

/* Entries that were added through links. */
static firn_status find_linked_entries(same_search *search, firn_error *error) {
    const firn_ledger *ledger = search->work->ledger;
    for (size_t i = 0; ledger != NULL && i < firn_ledger_count(ledger); i++) {
        const firn_ledger_entry *entry = firn_ledger_at(ledger, i);
        if (!entry->removed) FIRN_TRY(take_entry(search, entry, error));
    }
    return FIRN_OK;
}

static firn_status compare(same_search *search, firn_error *error) {
    firn_sync_work *work = search->work;
    for (size_t i = 0; i < work->new_count; i++) {
        const char *real = search->resolved[i];
        const char *location = work->files[i].location;
        if (real == NULL || work->facts[i].state != FIRN_SYNC_PENDING) continue;
        const char *added = firn_map_get_text(search->linked, real);
        const firn_ledger_entry *entry =
            work->ledger == NULL ? NULL : firn_ledger_find(work->ledger, real);
        if (added == NULL && entry != NULL && !entry->removed) added = entry->location;
        if (added != NULL) {
            FIRN_TRY(refuse(search, i, added, true, error));
            continue;
        }
        if (search->behind_links == 0) continue;
        const char *other = firn_map_get_text(search->names, real);
        if (other == NULL) {
            void *value = (void *)(uintptr_t)location;
            FIRN_TRY(firn_map_set_text(search->names, real, value, error));
        } else if (other != location) {
            FIRN_TRY(refuse(search, i, other, false, error));
        }
    }
    return FIRN_OK;
}

firn_status firn_sync_refuse_same(firn_sync_work *work, firn_error *error) {
    if (work->new_count == 0) return FIRN_OK;
    firn_status status = FIRN_OK;
    same_search search = {.work = work, .arena = firn_arena_new()};
    search.linked = firn_map_new();
    search.names = firn_map_new();
    search.links.maybe = firn_map_new();
    search.paths.arena = search.arena;
    if (search.arena != NULL) {
        search.resolved = firn_arena_alloc(search.arena, work->new_count, sizeof(const char *));
    }
    if (search.resolved == NULL || search.links.maybe == NULL || search.names == NULL ||
        search.linked == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(resolve_files(&search, error));
    FIRN_CHECK(note_names(&search, error));
    FIRN_CHECK(find_linked_entries(&search, error));
    FIRN_CHECK(compare(&search, error));
out:
    firn_map_free(search.linked);
    firn_map_free(search.links.maybe);
    firn_map_free(search.names);
    firn_arena_free(search.arena);
    return status;
}
