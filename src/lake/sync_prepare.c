/*
 * Which files a plan is made of. Only files that are added may shape the table, and which ones those are is known once all were looked at: a bad file is left
 * out, a unit with a bad file as a whole, and nothing is added from the first batch on that can't be committed. What was learnt with such files among the
 * others is learnt again without them.
 */
#include "lake/sync_internal.h"

static bool is_planned(const firn_sync_work *work, size_t index) {
    return index < work->planned_count || index >= work->first_overwrite;
}

size_t firn_sync_first_planned(const firn_sync_work *work) {
    size_t i = 0;
    while (i < work->file_count &&
           (!is_planned(work, i) || work->facts[i].state != FIRN_SYNC_PENDING)) {
        i++;
    }
    return i;
}

static size_t count_pending(const firn_sync_work *work) {
    size_t count = 0;
    for (size_t i = 0; i < work->file_count; i++) {
        count += is_planned(work, i) && work->facts[i].state == FIRN_SYNC_PENDING ? 1 : 0;
    }
    return count;
}

static size_t count_bad_by_themselves(const firn_sync_work *work) {
    size_t count = 0;
    for (size_t i = 0; i < work->file_count; i++) {
        bool bad = work->facts[i].state == FIRN_SYNC_BAD;
        count += bad && work->facts[i].fault == FIRN_SYNC_FAULT_OWN ? 1 : 0;
    }
    return count;
}

void firn_sync_leave_out(firn_sync_work *work, const firn_sync_unit *unit) {
    for (size_t i = 0; i < unit->count; i++) {
        firn_sync_fact *fact = &work->facts[unit->first + i];
        if (fact->state != FIRN_SYNC_PENDING) continue;
        fact->state = FIRN_SYNC_BAD;
        fact->fault = FIRN_SYNC_FAULT_UNIT;
    }
}

/* What of them can be read must not shape the plan. */
static void leave_out_unlisted(firn_sync_work *work) {
    if (!work->options->skip_bad) return;
    for (size_t i = 0; i < work->unit_count; i++) {
        const firn_sync_unit *unit = &work->units[i];
        const char *name = work->listing.units[unit->unit].name;
        if (firn_sync_is_bad_unit(work, name)) firn_sync_leave_out(work, unit);
    }
}

static void leave_out_units(firn_sync_work *work) {
    if (!work->options->skip_bad) return;
    for (size_t i = 0; i < work->unit_count; i++) {
        const firn_sync_unit *unit = &work->units[i];
        if (firn_sync_has_bad_file(work, unit)) firn_sync_leave_out(work, unit);
    }
}

/* --- asking again ------------------------------------------------------------------------------ */

static void forget_findings(firn_sync_result *result, const firn_map *locations) {
    size_t kept = 0;
    for (size_t i = 0; i < result->bad.count; i++) {
        if (firn_map_has_text(locations, result->bad.items[i].location)) continue;
        result->bad.items[kept++] = result->bad.items[i];
    }
    result->bad.count = kept;
}

/*
 * What was bad beside files that are left out now may be good without them; else it would wait until those are repaired. Columns are compared before paths, and both
 * before partitions are proved: what a later step leaves out is a reason to ask the earlier ones again, and never the other way round, so this comes to an end.
 */
static firn_status ask_again(firn_sync_work *work, firn_sync_fault last, firn_error *error) {
    firn_map *asked = firn_map_new();
    if (asked == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < work->file_count; i++) {
        firn_sync_fact *fact = &work->facts[i];
        bool own = fact->fault == FIRN_SYNC_FAULT_OWN || fact->fault > last;
        if (fact->state != FIRN_SYNC_BAD || own || !is_planned(work, i)) continue;
        fact->state = FIRN_SYNC_PENDING;
        FIRN_CHECK(firn_map_set_text(asked, work->files[i].location, fact, error));
    }
    forget_findings(work->result, asked);
    /* While they were bad, nobody looked whether another run has added them. */
    if (work->table != NULL) FIRN_CHECK(firn_sync_drop_taken(work, error));
out:
    firn_map_free(asked);
    return status;
}

/* One round. `shaping`: how many files the plan was made of. */
static firn_status learn(firn_sync_work *work, size_t *shaping, firn_error *error) {
    leave_out_unlisted(work);
    FIRN_TRY(firn_sync_unite(work, error));
    leave_out_units(work);
    *shaping = count_pending(work);
    if (*shaping == 0) return FIRN_OK;
    return firn_sync_plan(work, error);
}

firn_status firn_sync_prepare(firn_sync_work *work, firn_error *error) {
    work->planned_count = work->new_count;
    for (;;) {
        size_t own = count_bad_by_themselves(work);
        size_t shaping = 0, refused = 0;
        FIRN_TRY(learn(work, &shaping, error));
        FIRN_TRY(firn_sync_find_refused(work, &refused, error));
        if (refused < work->batches.count) {
            /* Nothing will be added at all: the report shows what would have been. */
            if (refused == work->next_batch) return FIRN_OK;
            work->planned_count = work->batches.items[refused].first;
        }
        if (count_pending(work) == shaping) return FIRN_OK;
        if (!work->options->skip_bad) continue;
        bool proved = count_bad_by_themselves(work) > own;
        FIRN_TRY(ask_again(work, proved ? FIRN_SYNC_FAULT_PATHS : FIRN_SYNC_FAULT_COLUMNS, error));
    }
}
