/* The property of units: the names of those that have files in the table, for tools that know no ledger. */
#include "base/map.h"
#include "lake/sync_internal.h"

static const char *property_text(const firn_sync_work *work) {
    const char *name = work->options->unit_property;
    if (name == NULL || work->table == NULL) return NULL;
    return firn_table_metadata_property(work->table->metadata, name);
}

/* A list that can't name a unit can't be kept up; who reads it would be misled. */
firn_status firn_sync_check_unit_names(const firn_sync_work *work, firn_error *error) {
    const char *text = property_text(work);
    for (size_t i = 0; text != NULL && i < work->unit_count; i++) {
        const char *unit = work->listing.units[work->units[i].unit].name;
        if (firn_unit_property_can_name(text, unit)) continue;
        return firn_fail(
            error, FIRN_BLOCKED,
            "table %s: the property %s is a list with commas between names, in which unit '%.200s' "
            "can't be named; nothing was done. Write the property anew as a JSON array, which can "
            "name every unit, or leave out --unit-property: the ledger tells which units are in",
            work->display_name, work->options->unit_property, unit);
    }
    return FIRN_OK;
}

firn_status firn_sync_add_to_property(const firn_sync_work *work, const char *const *units,
                                      size_t count, firn_arena *arena, json_t *properties,
                                      firn_error *error) {
    const char *name = work->options->unit_property;
    const char *text = NULL;
    if (name == NULL || count == 0) return FIRN_OK;
    FIRN_TRY(firn_unit_property_add(property_text(work), units, count, arena, &text, error));
    return firn_json_set_text(properties, name, text, error);
}

/* --- units that leave ---------------------------------------------------------------------------- */

typedef struct leaving {
    firn_map *files;   /* of a unit that leave: how many */
    firn_map *unnamed; /* of a unit, by their folder, that the ledger has without one: how many */
    FIRN_VECTOR(const char *) units;
} leaving;

static firn_status count_leaving(leaving *found, const firn_ledger_entry *entry,
                                 firn_error *error) {
    uintptr_t files = (uintptr_t)firn_map_get_text(found->files, entry->unit);
    if (files == 0) FIRN_TRY(firn_vector_push(&found->units, error, entry->unit));
    void *value = (void *)(files + 1); /* NOLINT: a number, never followed */
    return firn_map_set_text(found->files, entry->unit, value, error);
}

/* A ledger that was made anew has no units until files are listed. */
static firn_status count_unnamed(const firn_sync_work *work, leaving *found, firn_arena *arena,
                                 firn_error *error) {
    if (!firn_sync_has_unit_folders(work)) return FIRN_OK;
    for (size_t i = 0; i < firn_ledger_count(work->ledger); i++) {
        const firn_ledger_entry *entry = firn_ledger_at(work->ledger, i);
        const char *unit = NULL;
        if (entry->removed || entry->unit != NULL) continue;
        FIRN_TRY(firn_lake_unit_of(&work->options->source, entry->location, found->files, arena,
                                   &unit, error));
        if (unit == NULL || !firn_map_has_text(found->files, unit)) continue;
        uintptr_t files = (uintptr_t)firn_map_get_text(found->unnamed, unit);
        void *value = (void *)(files + 1); /* NOLINT: a number, never followed */
        FIRN_TRY(firn_map_set_text(found->unnamed, unit, value, error));
    }
    return FIRN_OK;
}

/* Keeps the units of which no file is left. A tool that is told that a unit is not in adds all of its files, and those that are in would be there twice. */
static void keep_empty(const firn_ledger *ledger, leaving *found) {
    size_t kept = 0;
    for (size_t i = 0; i < found->units.count; i++) {
        const char *unit = found->units.items[i];
        size_t files = (size_t)(uintptr_t)firn_map_get_text(found->files, unit);
        size_t unnamed = (size_t)(uintptr_t)firn_map_get_text(found->unnamed, unit);
        if (files == firn_ledger_files_of(ledger, unit) + unnamed)
            found->units.items[kept++] = unit;
    }
    found->units.count = kept;
}

firn_status firn_sync_take_from_property(const firn_sync_work *work,
                                         const firn_ledger_entry *entries, size_t count,
                                         firn_arena *arena, json_t *properties, firn_error *error) {
    const char *text = property_text(work);
    firn_status status = FIRN_OK;
    if (text == NULL) return FIRN_OK;
    leaving found = {.files = firn_map_new(), .unnamed = firn_map_new()};
    if (found.files == NULL || found.unnamed == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].removed || entries[i].unit == NULL) continue;
        FIRN_CHECK(count_leaving(&found, &entries[i], error));
    }
    if (found.units.count > 0) FIRN_CHECK(count_unnamed(work, &found, arena, error));
    keep_empty(work->ledger, &found);
    if (found.units.count == 0) goto out;
    FIRN_CHECK(
        firn_unit_property_remove(text, found.units.items, found.units.count, arena, &text, error));
    FIRN_CHECK(firn_json_set_text(properties, work->options->unit_property, text, error));
out:
    firn_vector_release(&found.units);
    firn_map_free(found.files);
    firn_map_free(found.unnamed);
    return status;
}
