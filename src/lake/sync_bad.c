/*
 * What the source names and can't be listed. Each is told of like any other bad file; what it stands for waits until the source, or what it names, is mended:
 * nothing of such a unit is added, and nothing that was added of it is taken for missing.
 */
#include <string.h>

#include "lake/sync_internal.h"

static const char *unit_of(const firn_sync_work *work, const firn_lake_bad *bad) {
    return bad->unit == FIRN_LAKE_NO_UNIT ? NULL : work->listing.units[bad->unit].name;
}

firn_status firn_sync_note_unlisted(firn_sync_work *work, firn_error *error) {
    firn_map_free(work->bad_names);
    firn_map_free(work->bad_units);
    work->bad_names = firn_map_new();
    work->bad_units = firn_map_new();
    if (work->bad_names == NULL || work->bad_units == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < work->listing.bad_count; i++) {
        const firn_lake_bad *bad = &work->listing.bad[i];
        const char *unit = unit_of(work, bad);
        FIRN_TRY(firn_map_set_text(work->bad_names, bad->location, NULL, error));
        if (unit != NULL) FIRN_TRY(firn_map_set_text(work->bad_units, unit, NULL, error));
    }
    return FIRN_OK;
}

bool firn_sync_is_unlisted(const firn_sync_work *work, const char *location, const char *unit) {
    if (work->bad_names == NULL || work->bad_units == NULL) return false;
    return firn_map_has_text(work->bad_names, location) || firn_sync_is_bad_unit(work, unit);
}

bool firn_sync_is_bad_unit(const firn_sync_work *work, const char *unit) {
    return unit != NULL && work->bad_units != NULL && firn_map_has_text(work->bad_units, unit);
}

firn_status firn_sync_tell_unlisted(firn_sync_work *work, firn_error *error) {
    for (size_t i = 0; i < work->listing.bad_count; i++) {
        const firn_lake_bad *bad = &work->listing.bad[i];
        firn_sync_finding finding = {.location = firn_sync_keep(work, bad->location),
                                     .unit = firn_sync_keep(work, unit_of(work, bad)),
                                     .reason = firn_sync_keep(work, bad->reason),
                                     .done = work->options->skip_bad ? "left out" : NULL};
        if (finding.location == NULL || finding.reason == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_vector_push(&work->result->bad, error, finding));
    }
    return FIRN_OK;
}

firn_status firn_sync_refuse_unlisted(const firn_sync_work *work, const firn_sync_unit *units,
                                      size_t count, firn_error *error) {
    if (work->options->skip_bad) return FIRN_OK;
    for (size_t i = 0; i < work->listing.bad_count; i++) {
        const firn_lake_bad *bad = &work->listing.bad[i];
        bool ours = units == NULL;
        for (size_t j = 0; j < count && !ours; j++) ours = units[j].unit == bad->unit;
        if (ours) return firn_sync_refuse_for(work, bad->location, bad->reason, error);
    }
    return FIRN_OK;
}
