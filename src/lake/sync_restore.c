/* What history does not tell of files, and the source does: the unit of each, and when it was modified. */
#include "lake/sync_internal.h"

#include "base/plural.h"

#define NS_IN_MS 1000000

bool firn_sync_has_history_alone(const firn_ledger_entry *entry) {
    return entry->modified_ns < 0 && entry->etag == NULL;
}

/* The last moment of the commit that an entry is of; false: unknown. */
static bool last_moment(const firn_ledger_entry *entry, int64_t *out) {
    return entry->added_ms > 0 && !__builtin_mul_overflow(entry->added_ms, NS_IN_MS, out) &&
           !__builtin_add_overflow(*out, NS_IN_MS - 1, out);
}

bool firn_sync_is_doubtful(const firn_lake_file *file, const firn_ledger_entry *entry) {
    int64_t last = 0;
    bool by_history = entry->removed && entry->size >= 0 && firn_sync_has_history_alone(entry);
    if (!by_history) return false;
    return file->modified_ns < 0 || !last_moment(entry, &last) || file->modified_ns <= last;
}

/* A file that was modified after the commit which added it is in doubt: then the last moment of that commit stands for its time, from which it differs until a policy settles it. */
static void restore_time(const firn_lake_file *file, const firn_ledger_entry *entry,
                         firn_ledger_entry *out) {
    int64_t last = 0;
    bool known = last_moment(entry, &last);
    bool doubtful = known && file->modified_ns > last;
    bool resized = entry->size >= 0 && file->size >= 0 && entry->size != file->size;
    out->modified_ns = doubtful ? last : file->modified_ns;
    out->etag = doubtful || resized ? NULL : file->etag;
}

bool firn_sync_restore(const firn_sync_work *work, const firn_lake_file *file,
                       const firn_ledger_entry *entry, firn_ledger_entry *out) {
    const char *unit = firn_sync_unit_name(work, file);
    bool times = firn_sync_has_history_alone(entry) && file->modified_ns >= 0;
    bool units = entry->unit == NULL && unit != NULL;
    *out = *entry;
    if (entry->removed || (!times && !units)) return false;
    out->location = file->location;
    if (units) out->unit = unit;
    if (times) restore_time(file, entry, out);
    return true;
}

bool firn_sync_has_unit_folders(const firn_sync_work *work) {
    const firn_lake_source *source = &work->options->source;
    return source->kind == FIRN_LAKE_MANIFEST && source->unit_folder != NULL;
}

firn_status firn_sync_name_units(const firn_sync_work *work, firn_map **out, firn_error *error) {
    *out = firn_map_new();
    if (*out == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < work->listing.unit_count; i++) {
        FIRN_TRY(firn_map_set_text(*out, work->listing.units[i].name, NULL, error));
    }
    return FIRN_OK;
}

static firn_status restore_removed(firn_sync_work *work, const firn_map *units, firn_error *error) {
    for (size_t i = 0; i < firn_ledger_count(work->ledger); i++) {
        firn_ledger_entry entry = *firn_ledger_at(work->ledger, i);
        if (!entry.removed || entry.unit != NULL) continue;
        FIRN_TRY(firn_lake_unit_of(&work->options->source, entry.location, units, work->arena,
                                   &entry.unit, error));
        if (entry.unit == NULL) continue;
        entry.location = firn_arena_strdup(work->arena, entry.location);
        if (entry.location == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_vector_push(&work->adopted, error, entry));
        work->ledger_grew = true;
    }
    return FIRN_OK;
}

firn_status firn_sync_restore_removed(firn_sync_work *work, firn_error *error) {
    firn_map *units = NULL;
    bool any = work->ledger != NULL && firn_ledger_removed_of(work->ledger, NULL).files > 0;
    if (!any || !firn_sync_has_unit_folders(work)) return FIRN_OK;
    firn_status status = firn_sync_name_units(work, &units, error);
    if (status == FIRN_OK) status = restore_removed(work, units, error);
    firn_map_free(units);
    return status;
}

void firn_sync_warn_of_history_alone(const firn_sync_work *work, const uint8_t *seen) {
    const char *first = NULL;
    size_t count = 0;
    if (!work->options->rebuild_ledger || work->ledger_restored || work->ledger == NULL) return;
    for (size_t i = 0; i < firn_ledger_count(work->ledger); i++) {
        const firn_ledger_entry *entry = firn_ledger_at(work->ledger, i);
        if (entry->removed || seen[i] != 0 || !firn_sync_has_history_alone(entry)) continue;
        if (firn_sync_is_tables_own(work, entry)) continue;
        if (count++ == 0) first = entry->location;
    }
    if (count == 0) return;
    firn_sync_warn(work,
                   "of %zu file%s that the source does not list, such as %s, the new ledger knows "
                   "no unit and no time until a sync lists them",
                   count, firn_plural(count), first);
}
