#include "lake/recover.h"

#include <string.h>

#include "base/alloc.h"
#include "lake/recover_internal.h"

/** What is said of a file that was not judged since something else came first. */
#define NOT_JUDGED "not judged"

static bool names_any(const firn_recover_search *search, const char *hint) {
    for (size_t i = 0; i < search->files.count; i++) {
        if (firn_recover_means(hint, search->files.items[i].name)) return true;
    }
    return false;
}

static firn_status hand_over(firn_recover_search *search, firn_recovery *out, firn_error *error) {
    firn_recover_candidate *candidates =
        firn_arena_alloc(search->arena, search->files.count, sizeof *candidates);
    if (candidates == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < search->files.count; i++) {
        candidates[i] = search->files.items[i].facts;
        if (candidates[i].verdict == NULL) candidates[i].verdict = NOT_JUDGED;
    }
    out->candidates = candidates;
    out->candidate_count = search->files.count;
    out->hint = search->hint;
    out->hint_names_none = search->hint != NULL && !names_any(search, search->hint);
    return FIRN_OK;
}

static firn_status search_folder(firn_recover_search *search, const char *location,
                                 firn_recovery *out, firn_error *error) {
    const firn_recover_file *newest = NULL;
    FIRN_TRY(firn_recover_read(search, location, error));
    firn_status status = firn_recover_judge(search, &newest, error);
    firn_status handed = hand_over(search, out, status == FIRN_OK ? error : NULL);
    FIRN_TRY(status);
    FIRN_TRY(handed);
    /* As the table's own commits would name it. */
    out->metadata_location =
        firn_arena_format(search->arena, "%s/%s", newest->folder, newest->name);
    return out->metadata_location == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_recover_find(firn_storage *storage, const char *location, const char *pointer,
                              firn_recovery *out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_recover_search search = {.storage = storage, .named = firn_map_new(), .pointer = pointer};
    *out = (firn_recovery){.arena = firn_arena_new()};
    search.arena = out->arena;
    while (strncmp(location, "./", 2) == 0) location += 2;
    char *absolute = firn_location_absolute(location);
    if (search.named == NULL || out->arena == NULL || absolute == NULL) {
        status = firn_fail_memory(error);
    } else {
        status = search_folder(&search, absolute, out, error);
    }
    firn_free(absolute);
    firn_free(search.folder);
    firn_vector_release(&search.files);
    firn_map_free(search.named);
    return status;
}

void firn_recovery_release(firn_recovery *recovery) {
    firn_arena_free(recovery->arena);
    *recovery = (firn_recovery){0};
}
