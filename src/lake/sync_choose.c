/* What to read, and in which commits. The limit is one of what is added: where bad files left room below it, more of what is new is chosen. */
#include "lake/sync_internal.h"

#define DEFAULT_BATCH 5

/* --- what is new ------------------------------------------------------------------------------- */

/* `own` NULL: all of the listing is taken, and stays where it is. */
static void take_file(firn_sync_work *work, firn_lake_file *own, const firn_lake_file *file) {
    work->facts[work->file_count].state = FIRN_SYNC_LATER;
    if (own != NULL) own[work->file_count] = *file;
    work->file_count++;
}

static firn_status take_units(firn_sync_work *work, const uint8_t *classes, firn_lake_file *own,
                              firn_error *error) {
    const firn_lake_listing *listing = &work->listing;
    work->units = firn_arena_alloc(work->arena, listing->unit_count + 1, sizeof *work->units);
    if (work->units == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < listing->unit_count; i++) {
        const firn_lake_unit *unit = &listing->units[i];
        size_t first = work->file_count;
        for (size_t j = 0; j < unit->file_count; j++) {
            size_t index = unit->first_file + j;
            if (classes[index] != FIRN_SYNC_NEW_FILE) continue;
            take_file(work, own, &listing->files[index]);
        }
        if (work->file_count == first && !firn_sync_is_bad_unit(work, unit->name)) {
            work->result->units_known++;
            FIRN_TRY(firn_sync_compare_unit(work, classes, unit, error));
            continue;
        }
        work->units[work->result->units_pending++] =
            (firn_sync_unit){(uint32_t)i, first, work->file_count - first};
    }
    return FIRN_OK;
}

static void take_files(firn_sync_work *work, const uint8_t *classes, firn_lake_file *own) {
    for (size_t i = 0; i < work->listing.file_count; i++) {
        if (classes[i] == FIRN_SYNC_NEW_FILE) take_file(work, own, &work->listing.files[i]);
    }
}

/* --- what is chosen of it ---------------------------------------------------------------------- */

static size_t new_things(const firn_sync_work *work) {
    return work->listing.has_units ? work->result->units_pending : work->first_overwrite;
}

static size_t chosen_things(const firn_sync_work *work) {
    return work->listing.has_units ? work->unit_count : work->new_count;
}

/* The first `count` units, or files where there are no units. */
static void choose_first(firn_sync_work *work, size_t count) {
    size_t before = work->new_count;
    work->new_count = count;
    if (work->listing.has_units) {
        const firn_sync_unit *last = count == 0 ? NULL : &work->units[count - 1];
        work->unit_count = count;
        work->new_count = last == NULL ? 0 : last->first + last->count;
    }
    for (size_t i = before; i < work->new_count; i++) {
        if (work->facts[i].state == FIRN_SYNC_LATER) work->facts[i].state = FIRN_SYNC_PENDING;
    }
    for (size_t i = work->new_count; i < before; i++) {
        if (work->facts[i].state == FIRN_SYNC_PENDING) work->facts[i].state = FIRN_SYNC_LATER;
    }
}

bool firn_sync_has_bad_file(const firn_sync_work *work, const firn_sync_unit *unit) {
    for (size_t i = 0; i < unit->count; i++) {
        if (work->facts[unit->first + i].state == FIRN_SYNC_BAD) return true;
    }
    return firn_sync_is_bad_unit(work, work->listing.units[unit->unit].name);
}

static bool is_good(const firn_sync_work *work, size_t index) {
    return work->listing.has_units ? !firn_sync_has_bad_file(work, &work->units[index])
                                   : work->facts[index].state != FIRN_SYNC_BAD;
}

/* How many of the chosen ones are there up to the one that fills the limit. *good: of them, those that can be added. */
static size_t up_to_limit(const firn_sync_work *work, size_t *good) {
    size_t i = 0;
    for (*good = 0; i < chosen_things(work) && *good < work->options->limit; i++) {
        *good += is_good(work, i) ? 1 : 0;
    }
    return i;
}

firn_status firn_sync_choose_again(firn_sync_work *work, bool *again, firn_error *error) {
    size_t limit = work->options->limit, chosen = chosen_things(work), good = 0;
    *again = false;
    if (limit == 0 || !work->options->skip_bad) return FIRN_OK;
    size_t enough = up_to_limit(work, &good);
    *again = enough < chosen || (good < limit && chosen < new_things(work));
    if (!*again) return FIRN_OK;
    if (enough < chosen) {
        /* What is beyond the limit must not bring its columns along. */
        choose_first(work, enough);
        return FIRN_OK;
    }
    /* As many more as are bad so far, at least: the rounds that many bad ones take are few. */
    size_t bad = chosen - good, more = limit - good > bad ? limit - good : bad;
    size_t left = new_things(work) - chosen;
    choose_first(work, chosen + (more < left ? more : left));
    return firn_sync_refuse_same(work, error);
}

static size_t count_new(const firn_sync_work *work, const uint8_t *classes) {
    size_t count = 0;
    for (size_t i = 0; i < work->listing.file_count; i++) {
        count += classes[i] == FIRN_SYNC_NEW_FILE ? 1 : 0;
    }
    return count;
}

/* Room for files and facts; *own is NULL where the listing's own files serve. */
static firn_status make_room(firn_sync_work *work, size_t fresh, size_t overwritten,
                             firn_lake_file **own, firn_error *error) {
    size_t room = fresh + overwritten + 1;
    work->facts = firn_arena_alloc(work->arena, room, sizeof *work->facts);
    if (work->facts == NULL) return firn_fail_memory(error);
    work->files = work->listing.files;
    *own = NULL;
    if (fresh == work->listing.file_count && overwritten == 0) return FIRN_OK;
    work->files = *own = firn_arena_alloc(work->arena, room, sizeof **own);
    return *own == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_sync_choose(firn_sync_work *work, const uint8_t *classes, firn_error *error) {
    bool overwrites = work->options->on_replaced == FIRN_LAKE_OVERWRITE;
    size_t overwritten = overwrites ? work->replaced_files.count : 0;
    firn_lake_file *own = NULL;
    FIRN_TRY(make_room(work, count_new(work, classes), overwritten, &own, error));
    if (work->listing.has_units) {
        FIRN_TRY(take_units(work, classes, own, error));
    } else {
        take_files(work, classes, own);
    }
    work->first_overwrite = work->file_count;
    for (size_t i = 0; i < overwritten; i++) {
        work->facts[work->file_count].overwrites = true;
        own[work->file_count++] = *work->replaced_files.items[i];
    }
    FIRN_TRY(firn_sync_note_acted_on(work, error));
    size_t limit = work->options->limit, all = new_things(work);
    choose_first(work, limit == 0 || limit > all ? all : limit);
    return firn_sync_refuse_same(work, error);
}

/* --- batches ----------------------------------------------------------------------------------- */

firn_status firn_sync_cut_batches(firn_sync_work *work, firn_error *error) {
    work->batches.count = 0;
    if (!work->listing.has_units) {
        if (work->new_count == 0) return FIRN_OK;
        firn_sync_batch all = {.count = work->new_count};
        return firn_vector_push(&work->batches, error, all);
    }
    size_t size = work->options->batch == 0 ? DEFAULT_BATCH : work->options->batch;
    for (size_t i = 0; i < work->unit_count; i += size) {
        firn_sync_batch batch = {.first = work->units[i].first, .first_unit = i};
        for (size_t j = i; j < work->unit_count && j - i < size; j++) {
            batch.count += work->units[j].count;
            batch.unit_count++;
        }
        FIRN_TRY(firn_vector_push(&work->batches, error, batch));
    }
    return FIRN_OK;
}

/* --- looking at them --------------------------------------------------------------------------- */

typedef struct told_visit {
    const firn_sync_work *work;
    const char *activity;
    firn_lake_footer_visitor visit;
    void *context;
    size_t done, total;
} told_visit;

static firn_status visit_and_tell(void *context, const firn_lake_footer *footer,
                                  firn_error *error) {
    told_visit *told = context;
    firn_sync_tell(told->work, told->activity, ++told->done, told->total);
    return told->visit(told->context, footer, error);
}

firn_status firn_sync_visit(const firn_sync_work *work, const char *activity,
                            firn_lake_footer_visitor visit, void *context, firn_error *error) {
    size_t overwrites = work->file_count - work->first_overwrite;
    told_visit told = {.work = work,
                       .activity = activity,
                       .visit = visit,
                       .context = context,
                       .total = work->planned_count + overwrites};
    FIRN_TRY(firn_lake_footers_visit(work->footers, 0, work->planned_count, visit_and_tell, &told,
                                     error));
    return firn_lake_footers_visit(work->footers, work->first_overwrite, overwrites, visit_and_tell,
                                   &told, error);
}
