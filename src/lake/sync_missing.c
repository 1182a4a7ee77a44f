/* Files that were added and are gone from the source. */
#include <string.h>

#include "base/alloc.h"
#include "lake/sync_internal.h"

static bool below_a_root(const firn_sync_work *work, const char *location) {
    const firn_lake_source *source = &work->options->source;
    if (source->kind == FIRN_LAKE_PATHS) {
        for (size_t i = 0; i < source->location_count; i++) {
            if (firn_lake_locations_overlap(source->locations[i], location)) return true;
        }
        return false;
    }
    /* The fixed part of a pattern: up to the last slash before its first special character. */
    const char *pattern = source->locations[0];
    size_t length = strcspn(pattern, "*?[{");
    while (length > 0 && pattern[length - 1] != '/') length--;
    char *fixed = length == 0 ? firn_strdup(".") : firn_strndup(pattern, length);
    bool below = fixed != NULL && firn_lake_locations_overlap(fixed, location);
    firn_free(fixed);
    return below;
}

static firn_status is_there(const firn_sync_work *work, const char *location, bool *out,
                            firn_error *error) {
    firn_storage_stat stat = {0};
    firn_status status = firn_storage_stat_file(work->storage, location, &stat, error);
    *out = status == FIRN_OK;
    if (status != FIRN_NOT_FOUND) return status;
    if (error != NULL) firn_error_clear(error);
    return FIRN_OK;
}

/* A source speaks of what it could have listed, no more: a table may have files of several sources. */
static firn_status speaks_of(const firn_sync_work *work, const firn_ledger_entry *entry, bool *out,
                             firn_error *error) {
    *out = false;
    switch (work->options->source.kind) {
    case FIRN_LAKE_MANIFEST: *out = entry->unit != NULL; return FIRN_OK;
    case FIRN_LAKE_LIST: *out = entry->unit == NULL; return FIRN_OK;
    case FIRN_LAKE_PATHS:
    case FIRN_LAKE_GLOB: break;
    }
    if (!below_a_root(work, entry->location)) return FIRN_OK;
    /* Another pattern may have named it, or a name of its own that a folder's listing passes over. */
    bool there = false;
    FIRN_TRY(is_there(work, entry->location, &there, error));
    *out = !there;
    return FIRN_OK;
}

firn_status firn_sync_find_missing(firn_sync_work *work, const uint8_t *seen, firn_error *error) {
    if (work->options->once || !work->listing.complete || work->ledger == NULL) return FIRN_OK;
    /* What others added need not be this source's. */
    if (work->from_history) return FIRN_OK;
    work->found_entries = 0;
    for (size_t i = 0; i < firn_ledger_count(work->ledger); i++) {
        const firn_ledger_entry *entry = firn_ledger_at(work->ledger, i);
        bool ours = false;
        if (entry->removed) continue;
        if (seen[i] != 0) {
            work->found_entries++;
            continue;
        }
        FIRN_TRY(speaks_of(work, entry, &ours, error));
        if (!ours) continue;
        firn_ledger_entry copy = {0};
        FIRN_TRY(firn_sync_copy_entry(work, entry, &copy, error));
        firn_sync_finding finding = {
            .location = copy.location, .unit = copy.unit, .reason = "the source has it no more"};
        FIRN_TRY(firn_vector_push(&work->result->missing, error, finding));
        FIRN_TRY(firn_vector_push(&work->missing_entries, error, copy));
    }
    return FIRN_OK;
}

firn_status firn_sync_still_missing(const firn_sync_work *work, const firn_ledger_entry *entry,
                                    bool *out, firn_error *error) {
    *out = firn_sync_still_added(work, entry);
    if (!*out) return FIRN_OK;
    return speaks_of(work, entry, out, error);
}

bool firn_sync_still_added(const firn_sync_work *work, const firn_ledger_entry *entry) {
    const firn_ledger_entry *now = firn_ledger_find(work->ledger, entry->location);
    return now != NULL && !now->removed && now->snapshot_id == entry->snapshot_id;
}
