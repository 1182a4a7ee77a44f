/* A unit's rows against the count of its manifest, which may be that of all the files that it ever had, or of those that are left. */
#include <stdio.h>
#include <string.h>

#include "lake/sync_internal.h"

#include "base/plural.h"

firn_status firn_sync_add_rows(int64_t *sum, int64_t rows, firn_error *error) {
    if (!__builtin_add_overflow(*sum, rows, sum)) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "row counts overflow");
}

/* Replaced files on which a policy acts: rows are counted as they are once it did. */
firn_status firn_sync_note_acted_on(firn_sync_work *work, firn_error *error) {
    firn_lake_policy policy = work->options->on_replaced;
    bool overwrite = policy == FIRN_LAKE_OVERWRITE;
    work->acted_on = firn_map_new();
    if (work->acted_on == NULL) return firn_fail_memory(error);
    if (!overwrite && policy != FIRN_LAKE_DELETE) return FIRN_OK;
    for (size_t i = 0; i < work->replaced_files.count; i++) {
        firn_sync_fact *fact = overwrite ? &work->facts[work->first_overwrite + i] : NULL;
        const char *location = work->replaced_files.items[i]->location;
        FIRN_TRY(firn_map_set_text(work->acted_on, location, fact, error));
    }
    return FIRN_OK;
}

/* --- what the unit has, and had ----------------------------------------------------------------- */

static firn_status add_gone(firn_sync_unit_rows *out, int64_t rows, firn_error *error) {
    out->files_gone++;
    if (rows > 0) return firn_sync_add_rows(&out->gone, rows, error);
    /* Not known; earlier versions wrote 0. */
    out->gone_known = false;
    return FIRN_OK;
}

/* A file that was there before this run. */
static firn_status count_known(const firn_sync_work *work, const firn_lake_file *file,
                               firn_sync_unit_rows *out, firn_error *error) {
    const firn_ledger_entry *entry =
        work->ledger == NULL ? NULL : firn_ledger_find(work->ledger, file->location);
    bool acted_on = work->acted_on != NULL && firn_map_has_text(work->acted_on, file->location);
    const firn_sync_fact *fact =
        acted_on ? firn_map_get_text(work->acted_on, file->location) : NULL;
    if (entry == NULL) return FIRN_OK;
    /* A ledger that was made anew has no units, so that files which were taken out may have been of this one. */
    if (entry->unit == NULL && firn_ledger_removed_of(work->ledger, NULL).files > 0) {
        out->gone_known = false;
    }
    if (entry->removed || (acted_on && fact == NULL)) {
        /* Given up, and listed still: by now it may have any number of rows. */
        out->gone_known = false;
        return FIRN_OK;
    }
    if (acted_on && fact->state != FIRN_SYNC_BAD)
        return firn_sync_add_rows(&out->in, fact->rows, error);
    if (entry->rows >= 0) return firn_sync_add_rows(&out->in, entry->rows, error);
    out->in_known = false;
    return FIRN_OK;
}

/* A file that this run adds may have come back: what was taken out then is gone no more. */
static firn_status count_new(const firn_sync_work *work, const firn_lake_file *file,
                             const firn_sync_fact *fact, firn_sync_unit_rows *out,
                             firn_error *error) {
    const firn_ledger_entry *entry =
        work->ledger == NULL ? NULL : firn_ledger_find(work->ledger, file->location);
    if (entry != NULL && entry->removed) {
        out->files_gone--; /* wraps, until all of them are counted */
        if (entry->rows > 0) FIRN_TRY(firn_sync_add_rows(&out->gone, -entry->rows, error));
    }
    return firn_sync_add_rows(&out->in, fact->rows, error);
}

static firn_status count_listed(const firn_sync_work *work, const firn_lake_unit *unit,
                                const firn_sync_unit *chosen, firn_sync_unit_rows *out,
                                firn_error *error) {
    size_t next = chosen == NULL ? 0 : chosen->first;
    size_t end = chosen == NULL ? 0 : chosen->first + chosen->count;
    for (size_t i = 0; i < unit->file_count; i++) {
        const firn_lake_file *file = &work->listing.files[unit->first_file + i];
        /* Chosen files are in the order of the listing. */
        bool is_chosen = next < end && work->files[next].location == file->location;
        const firn_sync_fact *fact = is_chosen ? &work->facts[next++] : NULL;
        if (fact != NULL && fact->state == FIRN_SYNC_PENDING) {
            FIRN_TRY(count_new(work, file, fact, out, error));
        } else {
            FIRN_TRY(count_known(work, file, out, error));
        }
    }
    return FIRN_OK;
}

/* Files of the unit that the source has no more: a policy took them out before, does so now, or leaves them. */
static firn_status count_gone(const firn_sync_work *work, const firn_lake_unit *unit,
                              firn_sync_unit_rows *out, firn_error *error) {
    if (work->ledger == NULL) return FIRN_OK;
    firn_ledger_removed removed = firn_ledger_removed_of(work->ledger, unit->name);
    out->files_gone += removed.files;
    if (removed.rows >= 0) FIRN_TRY(firn_sync_add_rows(&out->gone, removed.rows, error));
    if (removed.rows < 0) out->gone_known = false;
    for (size_t i = 0; i < work->missing_entries.count; i++) {
        const firn_ledger_entry *entry = &work->missing_entries.items[i];
        if (entry->unit == NULL || strcmp(entry->unit, unit->name) != 0) continue;
        if (!firn_sync_still_added(work, entry)) continue;
        FIRN_TRY(add_gone(out, entry->rows, error));
    }
    return FIRN_OK;
}

firn_status firn_sync_count_unit(const firn_sync_work *work, const firn_lake_unit *unit,
                                 const firn_sync_unit *chosen, firn_sync_unit_rows *out,
                                 firn_error *error) {
    *out = (firn_sync_unit_rows){.in_known = true, .gone_known = true};
    FIRN_TRY(count_listed(work, unit, chosen, out, error));
    /* What is gone explains a difference, and nothing else. */
    return out->in == unit->rows ? FIRN_OK : count_gone(work, unit, out, error);
}

bool firn_sync_unit_fits(const firn_sync_unit_rows *rows, int64_t counted) {
    int64_t all = 0;
    if (counted < 0 || !rows->in_known || counted == rows->in) return true;
    if (!rows->gone_known) return true;
    return !__builtin_add_overflow(rows->in, rows->gone, &all) && counted == all;
}

/* --- units that were added before ---------------------------------------------------------------- */

firn_status firn_sync_compare_unit(firn_sync_work *work, const uint8_t *classes,
                                   const firn_lake_unit *unit, firn_error *error) {
    firn_sync_unit_rows rows;
    /* Files that were replaced are told of by themselves. */
    for (size_t i = 0; i < unit->file_count; i++) {
        if (classes[unit->first_file + i] == FIRN_SYNC_REPLACED_FILE) return FIRN_OK;
    }
    FIRN_TRY(firn_sync_count_unit(work, unit, NULL, &rows, error));
    if (firn_sync_unit_fits(&rows, unit->rows)) return FIRN_OK;
    firn_sync_changed_unit changed = {.unit = firn_sync_keep(work, unit->name),
                                      .rows = rows.in,
                                      .rows_gone = rows.gone,
                                      .rows_now = unit->rows};
    if (changed.unit == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_sync_add_rows(&changed.rows, rows.gone, error));
    return firn_vector_push(&work->result->changed_units, error, changed);
}

/* --- units that are added ------------------------------------------------------------------------ */

firn_status firn_sync_reconcile_unit(const firn_sync_work *work, const firn_sync_unit *chosen,
                                     firn_error *error) {
    const firn_lake_unit *unit = &work->listing.units[chosen->unit];
    firn_sync_unit_rows rows;
    char gone[80] = "";
    if (unit->rows < 0) return FIRN_OK;
    FIRN_TRY(firn_sync_count_unit(work, unit, chosen, &rows, error));
    if (firn_sync_unit_fits(&rows, unit->rows)) return FIRN_OK;
    if (rows.files_gone > 0) {
        snprintf(gone, sizeof gone, " (and had %lld in files that are gone)", (long long)rows.gone);
    }
    return firn_fail(error, FIRN_BLOCKED,
                     "unit %s: its files have %lld row%s%s, the manifest says %lld; nothing of its "
                     "batch was added",
                     unit->name, (long long)rows.in, firn_plural((uint64_t)rows.in), gone,
                     (long long)unit->rows);
}

/* With those of its files that this run adds besides. */
static firn_status reconcile(const firn_sync_work *work, uint32_t unit, firn_error *error) {
    const firn_sync_unit alone = {.unit = unit};
    const firn_sync_unit *chosen = &alone;
    for (size_t i = 0; i < work->unit_count; i++) {
        if (work->units[i].unit == unit) chosen = &work->units[i];
    }
    return firn_sync_reconcile_unit(work, chosen, error);
}

firn_status firn_sync_reconcile_overwritten(const firn_sync_work *work, firn_error *error) {
    uint32_t last = FIRN_LAKE_NO_UNIT;
    for (size_t i = work->first_overwrite; i < work->file_count; i++) {
        uint32_t unit = work->files[i].unit;
        if (unit == FIRN_LAKE_NO_UNIT || unit == last) continue;
        if (work->facts[i].state != FIRN_SYNC_PENDING) continue;
        FIRN_TRY(reconcile(work, unit, error));
        last = unit;
    }
    return FIRN_OK;
}
