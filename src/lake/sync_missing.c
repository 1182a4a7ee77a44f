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
    /* INVALID: by now a folder, say, has its name. */
    if (status != FIRN_NOT_FOUND && status != FIRN_INVALID) return status;
    if (error != NULL) firn_error_clear(error);
    return FIRN_OK;
}

/* Files that are named one by one share a folder. */
static bool below_listed(const firn_sync_work *work, const char *location) {
    const firn_lake_source *source = &work->options->source;
    if (source->base != NULL) return firn_lake_locations_overlap(source->base, location);
    if (work->listing.file_count == 0) return false;
    const firn_lake_file *file = &work->listing.files[0];
    char *root = firn_strndup(file->location, file->root_length);
    bool below = root != NULL && firn_lake_locations_overlap(root, location);
    firn_free(root);
    return below;
}

/* What is known to be of a unit is the manifest's; what has none may lie where its units do. */
static firn_status lies_among_units(const firn_sync_work *work, const firn_ledger_entry *entry,
                                    const firn_map *units, const char **unit, bool *out,
                                    firn_error *error) {
    if (!firn_sync_has_unit_folders(work)) {
        *out = below_listed(work, entry->location);
        return FIRN_OK;
    }
    FIRN_TRY(firn_lake_unit_of(&work->options->source, entry->location, units, work->arena, unit,
                               error));
    *out = *unit != NULL;
    return FIRN_OK;
}

/* What compactions wrote lies at the table's own location, which is no source's; history does not tell it from files that were given. */
bool firn_sync_is_tables_own(const firn_sync_work *work, const firn_ledger_entry *entry) {
    return firn_sync_has_history_alone(entry) && work->table != NULL &&
           firn_lake_locations_overlap(work->table->metadata->location, entry->location);
}

/* A source speaks of what it could have listed, no more: a table may have files of several sources. */
static firn_status speaks_of(const firn_sync_work *work, const firn_ledger_entry *entry,
                             const firn_map *units, const char **unit, bool *out,
                             firn_error *error) {
    bool near = false;
    *unit = entry->unit;
    *out = false;
    if (firn_sync_is_tables_own(work, entry)) return FIRN_OK;
    switch (work->options->source.kind) {
    case FIRN_LAKE_MANIFEST:
        *out = entry->unit != NULL;
        if (*out) return FIRN_OK;
        FIRN_TRY(lies_among_units(work, entry, units, unit, &near, error));
        break;
    case FIRN_LAKE_LIST:
        *out = entry->unit == NULL && !firn_sync_has_history_alone(entry);
        if (*out) return FIRN_OK;
        near = entry->unit == NULL;
        break;
    case FIRN_LAKE_PATHS:
    case FIRN_LAKE_GLOB: near = below_a_root(work, entry->location); break;
    }
    if (!near) return FIRN_OK;
    /* Another pattern may have named it, or a name of its own that a folder's listing passes over. */
    bool there = false;
    FIRN_TRY(is_there(work, entry->location, &there, error));
    *out = !there;
    return FIRN_OK;
}

static firn_status take_missing(firn_sync_work *work, const firn_ledger_entry *entry,
                                const firn_map *units, firn_error *error) {
    bool ours = false;
    const char *unit = NULL;
    firn_ledger_entry copy = {0};
    FIRN_TRY(speaks_of(work, entry, units, &unit, &ours, error));
    if (!ours || firn_sync_is_unlisted(work, entry->location, unit)) return FIRN_OK;
    FIRN_TRY(firn_sync_copy_entry(work, entry, &copy, error));
    copy.unit = firn_sync_keep(work, unit);
    firn_sync_finding finding = {
        .location = copy.location, .unit = copy.unit, .reason = "the source has it no more"};
    FIRN_TRY(firn_vector_push(&work->result->missing, error, finding));
    return firn_vector_push(&work->missing_entries, error, copy);
}

static firn_status find_missing(firn_sync_work *work, uint8_t *seen, const firn_map *units,
                                firn_error *error) {
    work->found_entries = 0;
    for (size_t i = 0; i < firn_ledger_count(work->ledger); i++) {
        const firn_ledger_entry *entry = firn_ledger_at(work->ledger, i);
        if (entry->removed) continue;
        if (seen[i] != 0) {
            work->found_entries++;
            continue;
        }
        size_t before = work->missing_entries.count;
        FIRN_TRY(take_missing(work, entry, units, error));
        seen[i] = work->missing_entries.count > before ? 1 : 0;
    }
    return FIRN_OK;
}

firn_status firn_sync_find_missing(firn_sync_work *work, uint8_t *seen, firn_error *error) {
    firn_map *units = NULL;
    if (work->options->once || !work->listing.complete || work->ledger == NULL) return FIRN_OK;
    /* What others added need not be this source's. */
    if (work->from_history) return FIRN_OK;
    firn_status status = firn_sync_name_units(work, &units, error);
    if (status == FIRN_OK) status = find_missing(work, seen, units, error);
    firn_map_free(units);
    return status;
}

firn_status firn_sync_still_missing(const firn_sync_work *work, const firn_ledger_entry *entry,
                                    bool *out, firn_error *error) {
    const char *unit = NULL;
    *out = firn_sync_still_added(work, entry);
    if (!*out) return FIRN_OK;
    /* As the ledger has it: a unit that was told from the path alone must not stand for a look at the file. */
    const firn_ledger_entry *now = firn_ledger_find(work->ledger, entry->location);
    return speaks_of(work, now, NULL, &unit, out, error);
}

bool firn_sync_still_added(const firn_sync_work *work, const firn_ledger_entry *entry) {
    const firn_ledger_entry *now = firn_ledger_find(work->ledger, entry->location);
    return now != NULL && !now->removed && now->snapshot_id == entry->snapshot_id;
}
