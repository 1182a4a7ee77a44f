/* What is new in a source, what was added before, what was replaced and what is gone. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "lake/sync_internal.h"

const char *firn_sync_unit_name(const firn_sync_work *work, const firn_lake_file *file) {
    return file->unit == FIRN_LAKE_NO_UNIT ? NULL : work->listing.units[file->unit].name;
}

firn_ledger_entry firn_sync_entry_of(const firn_sync_work *work, const firn_lake_file *file,
                                     int64_t rows) {
    return (firn_ledger_entry){
        .location = file->location,
        .unit = firn_sync_unit_name(work, file),
        .etag = file->etag,
        .size = file->size,
        .modified_ns = file->modified_ns,
        .rows = rows,
    };
}

/* --- the ledger -------------------------------------------------------------------------------- */

/*
 * Units that a property of another tool's making says are in the table. Asked once, before there is a ledger: the property knows nothing of rollbacks, of
 * other branches and of files that were taken out since, and would keep such units from coming back.
 */
static firn_status adopt_property(firn_sync_work *work, firn_error *error) {
    const char *name = work->options->unit_property;
    const char *text =
        name == NULL ? NULL : firn_table_metadata_property(work->table->metadata, name);
    const char *const *units = NULL;
    size_t count = 0;
    bool asked = !firn_ledger_was_there(work->ledger) && !work->options->rebuild_ledger;
    work->adopted_units.count = 0;
    if (text == NULL || !asked) return FIRN_OK;
    firn_status status = firn_unit_property_parse(text, work->arena, &units, &count, error);
    FIRN_TRY(firn_error_wrap(error, status, "table %s: property %s", work->display_name, name));
    for (size_t i = 0; i < count; i++) {
        /* Of a unit that has entries the ledger says more. */
        if (firn_ledger_has_unit(work->ledger, units[i])) continue;
        FIRN_TRY(firn_vector_push(&work->adopted_units, error, units[i]));
    }
    return firn_ledger_adopt_units(work->ledger, work->adopted_units.items,
                                   work->adopted_units.count, error);
}

/* A table that others filled has files that are live no more though they were added: its history knows them. Where that was expired, only a property of units tells; register is for files that somebody chose. */
static firn_status begin_ledger(firn_sync_work *work, firn_error *error) {
    const char *units = work->options->unit_property;
    bool told = units != NULL && firn_table_metadata_property(work->table->metadata, units) != NULL;
    if (work->table->snapshot == NULL || firn_ledger_was_there(work->ledger)) return FIRN_OK;
    firn_ledger_free(work->ledger);
    work->ledger = NULL;
    FIRN_TRY(firn_ledger_begin(work->table, told || work->options->once, &work->ledger, error));
    if (told) firn_ledger_confirm(work->ledger);
    work->from_history = true;
    work->ledger_grew = firn_ledger_count(work->ledger) > 0;
    if (work->ledger_grew) work->result->ledger_made = FIRN_SYNC_LEDGER_BEGUN;
    return FIRN_OK;
}

/* What such a ledger lacks may have been compacted away: added again it would be there twice. */
static firn_status check_whole(firn_sync_work *work, firn_error *error) {
    if (work->options->once || !firn_ledger_is_partial(work->ledger)) return FIRN_OK;
    if (work->options->force) {
        firn_ledger_confirm(work->ledger);
        work->ledger_grew = true;
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_UNSAFE,
                     "table %s: its ledger was begun when history had been expired, so it can't "
                     "tell files that were never added from those that were compacted away before. "
                     "Add chosen files by firn register; --force says that every file that the "
                     "ledger lacks is new",
                     work->display_name);
}

/* What was learnt of a file holds no more once another run has taken it out or replaced it. */
static void drop_outdated(firn_sync_work *work) {
    size_t kept = 0;
    for (size_t i = 0; i < work->adopted.count; i++) {
        const firn_ledger_entry *entry = &work->adopted.items[i];
        const firn_ledger_entry *now = firn_ledger_find(work->ledger, entry->location);
        bool later = now != NULL && now->snapshot_id != entry->snapshot_id &&
                     (now->sequence_number > entry->sequence_number ||
                      (now->sequence_number == 0 && now->added_ms > entry->added_ms));
        if (!later) work->adopted.items[kept++] = *entry;
    }
    work->adopted.count = kept;
}

firn_status firn_sync_load_ledger(firn_sync_work *work, firn_error *error) {
    firn_ledger_free(work->ledger);
    work->ledger = NULL;
    work->from_history = false;
    work->unread_entries = 0;
    /* Another run may have made one meanwhile. */
    if (!work->result->ledger_written) work->result->ledger_made = FIRN_SYNC_LEDGER_KEPT;
    if (work->table == NULL) return FIRN_OK;
    if (work->options->rebuild_ledger && !work->ledger_restored) {
        FIRN_TRY(firn_ledger_rebuild(work->table, work->options->force, &work->ledger, error));
        work->ledger_grew = true;
        work->result->ledger_made = FIRN_SYNC_LEDGER_REBUILT;
    } else {
        FIRN_TRY(firn_ledger_load(work->table, &work->ledger, error));
        FIRN_TRY(begin_ledger(work, error));
    }
    FIRN_TRY(check_whole(work, error));
    FIRN_TRY(adopt_property(work, error));
    drop_outdated(work);
    return firn_ledger_adopt(work->ledger, work->adopted.items, work->adopted.count, error);
}

/* --- telling files apart ----------------------------------------------------------------------- */

typedef struct file_classes {
    uint8_t *of;   /* one firn_sync_class per file of the listing */
    uint8_t *seen; /* per entry of the ledger */
} file_classes;

/* What differs between a file and what was added; NULL: nothing that is known. */
static const char *difference(firn_sync_work *work, const firn_lake_file *file,
                              const firn_ledger_entry *entry) {
    if (file->size >= 0 && entry->size >= 0 && file->size != entry->size) {
        return firn_arena_format(work->result->arena, "size was %lld byte%s, is %lld",
                                 (long long)entry->size, firn_plural((uint64_t)entry->size),
                                 (long long)file->size);
    }
    if (file->etag != NULL && entry->etag != NULL && strcmp(file->etag, entry->etag) != 0) {
        return "its ETag is another one";
    }
    /* Where both ETags are known and equal, the time is that of a copy of the same bytes. */
    bool same_etag = file->etag != NULL && entry->etag != NULL;
    if (!same_etag && file->modified_ns >= 0 && entry->modified_ns >= 0 &&
        file->modified_ns != entry->modified_ns) {
        return "it was modified since, at the same size";
    }
    return NULL;
}

const char *firn_sync_keep(firn_sync_work *work, const char *text) {
    return text == NULL ? NULL : firn_arena_strdup(work->result->arena, text);
}

firn_status firn_sync_copy_entry(firn_sync_work *work, const firn_ledger_entry *entry,
                                 firn_ledger_entry *out, firn_error *error) {
    *out = *entry;
    out->location = firn_sync_keep(work, entry->location);
    out->unit = firn_sync_keep(work, entry->unit);
    out->etag = firn_sync_keep(work, entry->etag);
    return out->location == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static bool is_adopted_unit(const firn_map *units, const char *name) {
    return name != NULL && firn_map_has_text(units, name);
}

firn_status firn_sync_add_replaced(firn_sync_work *work, const firn_lake_file *file,
                                   const firn_ledger_entry *entry, const char *reason,
                                   firn_error *error) {
    if (reason == NULL) return firn_fail_memory(error);
    firn_sync_finding finding = {.location = firn_sync_keep(work, file->location),
                                 .unit = firn_sync_keep(work, firn_sync_unit_name(work, file)),
                                 .reason = reason};
    firn_ledger_entry copy = {0};
    if (finding.location == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_sync_copy_entry(work, entry, &copy, error));
    FIRN_TRY(firn_vector_push(&work->result->replaced, error, finding));
    FIRN_TRY(firn_vector_push(&work->replaced_files, error, file));
    return firn_vector_push(&work->replaced_entries, error, copy);
}

/* The entry may be that of a run which saw the file later than our listing did. */
static firn_status look_again(const firn_sync_work *work, const firn_lake_file **file,
                              firn_error *error) {
    firn_storage_stat stat = {0};
    firn_status status = firn_storage_stat_file(work->storage, (*file)->location, &stat, error);
    if (status == FIRN_NOT_FOUND) {
        /* Gone since it was listed: what comes next says so. */
        if (error != NULL) firn_error_clear(error);
        return FIRN_OK;
    }
    FIRN_TRY(status);
    firn_lake_file *fresh = firn_arena_alloc(work->arena, 1, sizeof *fresh);
    if (fresh == NULL) return firn_fail_memory(error);
    *fresh = **file;
    fresh->size = (int64_t)stat.size;
    fresh->modified_ns = stat.modified_ns;
    *file = fresh;
    return FIRN_OK;
}

static firn_status classify_file(firn_sync_work *work, size_t index, const firn_map *units,
                                 file_classes *classes, firn_error *error) {
    const firn_lake_file *file = &work->listing.files[index];
    const firn_ledger_entry *entry =
        work->ledger == NULL ? NULL : firn_ledger_find(work->ledger, file->location);
    classes->of[index] = FIRN_SYNC_NEW_FILE;
    if (entry == NULL) {
        bool adopted = is_adopted_unit(units, firn_sync_unit_name(work, file));
        if (adopted) classes->of[index] = FIRN_SYNC_ADOPTED_FILE;
        return FIRN_OK;
    }
    classes->seen[firn_ledger_position(work->ledger, entry)] = 1;
    /* Whether it is live is looked at, to be refused by name. */
    if (work->from_history && work->options->once) return FIRN_OK;
    firn_ledger_entry known;
    bool restored = firn_sync_restore(work, file, entry, &known);
    const char *differs = difference(work, file, &known);
    if (differs != NULL) {
        FIRN_TRY(look_again(work, &file, error));
        restored = firn_sync_restore(work, file, entry, &known);
        differs = difference(work, file, &known);
    }
    if (firn_sync_is_doubtful(file, entry)) {
        return firn_sync_take_removed(work, file, entry, &classes->of[index], error);
    }
    if (entry->removed) {
        /* Given up as it is now; once it changes again it is a new file. One that history alone tells of was modified since. */
        bool same = entry->size >= 0 && differs == NULL && !firn_sync_has_history_alone(entry);
        if (same) classes->of[index] = FIRN_SYNC_KNOWN_FILE;
        return FIRN_OK;
    }
    classes->of[index] = FIRN_SYNC_KNOWN_FILE;
    if (work->from_history && differs != NULL && file->size == known.size) {
        firn_sync_untold untold = {index, file};
        return firn_vector_push(&work->untold, error, untold);
    }
    if (restored) {
        FIRN_TRY(firn_vector_push(&work->adopted, error, known));
        work->ledger_grew = true;
    }
    if (differs == NULL) return FIRN_OK;
    classes->of[index] = FIRN_SYNC_REPLACED_FILE;
    return firn_sync_add_replaced(work, file, &known, differs, error);
}

/* --- files that are live though no ledger has them --------------------------------------------- */

static firn_status adopt(firn_sync_work *work, const firn_lake_file *file,
                         const firn_sync_live *live, firn_error *error) {
    firn_ledger_entry entry = firn_sync_entry_of(work, file, live->rows);
    const firn_snapshot *head = work->table->snapshot;
    entry.rows = live->live ? live->rows : -1;
    entry.snapshot_id = live->live ? live->snapshot_id : head == NULL ? 0 : head->snapshot_id;
    entry.sequence_number = live->live     ? live->sequence_number
                            : head == NULL ? 0
                                           : head->sequence_number;
    work->ledger_grew = true;
    return firn_vector_push(&work->adopted, error, entry);
}

static firn_status refuse_duplicate(const firn_sync_work *work, const firn_lake_file *file,
                                    size_t count, firn_error *error) {
    char others[48] = "";
    if (count > 1) snprintf(others, sizeof others, ", and %zu more", count - 1);
    return firn_fail(error, FIRN_BLOCKED,
                     "table %s has the file %s already%s; every row would count twice. firn sync "
                     "takes files that are there for what they are, and adds the others",
                     work->display_name, file->location, others);
}

static firn_status refuse_given(const firn_sync_work *work, const firn_lake_file *file,
                                firn_error *error) {
    return firn_fail(error, FIRN_BLOCKED,
                     "table %s was given the file %s before, and it is live no more: its rows were "
                     "compacted into other files, or deleted; to add them again would bring them "
                     "back or count them twice. Leave it out, or register a copy of it",
                     work->display_name, file->location);
}

static firn_status take_live(firn_sync_work *work, file_classes *classes,
                             const firn_lake_file *const *files, const firn_sync_live *live,
                             size_t count, firn_error *error) {
    const firn_lake_file *duplicate = NULL;
    size_t duplicates = 0;
    for (size_t i = 0; i < count; i++) {
        size_t index = (size_t)(files[i] - work->listing.files);
        bool by_unit = classes->of[index] == FIRN_SYNC_ADOPTED_FILE;
        bool given = work->options->once && work->from_history &&
                     firn_ledger_find(work->ledger, files[i]->location) != NULL;
        if (given && !live[i].live) return refuse_given(work, files[i], error);
        if (!by_unit && !live[i].live) continue;
        if (!by_unit && work->options->once) {
            if (duplicate == NULL) duplicate = files[i];
            duplicates++;
            continue;
        }
        classes->of[index] = FIRN_SYNC_KNOWN_FILE;
        FIRN_TRY(adopt(work, files[i], &live[i], error));
        if (!live[i].live || files[i]->size == live[i].size) continue;
        classes->of[index] = FIRN_SYNC_REPLACED_FILE;
        firn_ledger_entry *old = &work->adopted.items[work->adopted.count - 1];
        old->size = live[i].size;
        old->modified_ns = -1;
        old->etag = NULL;
        FIRN_TRY(
            firn_sync_add_replaced(work, files[i], old, difference(work, files[i], old), error));
    }
    if (duplicates > 0) return refuse_duplicate(work, duplicate, duplicates, error);
    return FIRN_OK;
}

/* New files, and those of adopted units, may be live already. */
static firn_status look_at_live(firn_sync_work *work, file_classes *classes, firn_error *error) {
    if (work->table == NULL) return FIRN_OK;
    size_t count = 0;
    firn_status status = FIRN_OK;
    const firn_lake_file **files =
        firn_alloc_array(work->listing.file_count, sizeof(const firn_lake_file *));
    firn_sync_live *live = firn_alloc_zeroed(work->listing.file_count, sizeof *live);
    if (files == NULL || live == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < work->listing.file_count; i++) {
        if (classes->of[i] == FIRN_SYNC_NEW_FILE || classes->of[i] == FIRN_SYNC_ADOPTED_FILE) {
            files[count++] = &work->listing.files[i];
        }
    }
    if (count == 0) goto out;
    FIRN_CHECK(firn_sync_find_live(work, files, count, live, error));
    FIRN_CHECK(take_live(work, classes, files, live, count, error));
out:
    firn_free(files);
    firn_free(live);
    return status;
}

/* --- together ---------------------------------------------------------------------------------- */

static void count_classes(firn_sync_work *work, const file_classes *classes) {
    for (size_t i = 0; i < work->listing.file_count; i++) {
        if (classes->of[i] == FIRN_SYNC_NEW_FILE) {
            work->result->files_new++;
        } else {
            work->result->files_known++;
        }
    }
}

static firn_status classify(firn_sync_work *work, bool *again, firn_error *error) {
    firn_status status = FIRN_OK;
    size_t known = work->ledger == NULL ? 0 : firn_ledger_count(work->ledger);
    file_classes classes = {firn_alloc_zeroed(work->listing.file_count + 1, 1),
                            firn_alloc_zeroed(known + 1, 1)};
    firn_map *units = firn_map_new();
    if (classes.of == NULL || classes.seen == NULL || units == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < work->adopted_units.count; i++) {
        FIRN_CHECK(firn_map_set_text(units, work->adopted_units.items[i], NULL, error));
    }
    FIRN_CHECK(firn_sync_note_unlisted(work, error));
    for (size_t i = 0; i < work->listing.file_count; i++) {
        FIRN_CHECK(classify_file(work, i, units, &classes, error));
    }
    FIRN_CHECK(firn_sync_find_missing(work, classes.seen, error));
    if (work->result->missing.count > 0 && !work->listed_again) {
        work->listed_again = *again = true;
        goto out;
    }
    FIRN_CHECK(firn_sync_tell_unlisted(work, error));
    FIRN_CHECK(firn_sync_ask_footers(work, classes.of, error));
    FIRN_CHECK(look_at_live(work, &classes, error));
    FIRN_CHECK(firn_sync_restore_removed(work, error));
    firn_sync_warn_of_history_alone(work, classes.seen);
    if (work->ledger != NULL) {
        FIRN_CHECK(
            firn_ledger_adopt(work->ledger, work->adopted.items, work->adopted.count, error));
    }
    count_classes(work, &classes);
    FIRN_CHECK(firn_sync_choose(work, classes.of, error));
out:
    firn_map_free(units);
    firn_free(classes.of);
    firn_free(classes.seen);
    return status;
}

firn_status firn_sync_classify(firn_sync_work *work, firn_error *error) {
    bool again = false;
    FIRN_TRY(classify(work, &again, error));
    if (!again) return FIRN_OK;
    /* The source was listed before the ledger was read, and another run may have added files in between: they look gone. What a listing from after the ledger lacks is gone. */
    work->result->replaced.count = work->result->missing.count = 0;
    work->replaced_files.count = work->replaced_entries.count = work->missing_entries.count = 0;
    work->adopted.count = 0; /* their texts are the listing's */
    work->untold.count = 0;
    FIRN_TRY(firn_sync_list(work, error));
    return classify(work, &again, error);
}

/* --- when others were faster ------------------------------------------------------------------- */

firn_status firn_sync_drop_taken(firn_sync_work *work, firn_error *error) {
    firn_status status = FIRN_OK;
    size_t count = 0;
    const firn_lake_file **files =
        firn_alloc_array(work->new_count + 1, sizeof(const firn_lake_file *));
    firn_sync_live *live = firn_alloc_zeroed(work->new_count + 1, sizeof *live);
    if (files == NULL || live == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < work->new_count; i++) {
        if (work->facts[i].state != FIRN_SYNC_PENDING) continue;
        const firn_ledger_entry *entry = firn_ledger_find(work->ledger, work->files[i].location);
        if (entry != NULL && !entry->removed) {
            work->facts[i].state = FIRN_SYNC_TAKEN;
            work->facts[i].rows = entry->rows;
            continue;
        }
        files[count++] = &work->files[i];
    }
    FIRN_CHECK(firn_sync_find_live(work, files, count, live, error));
    for (size_t i = 0; i < count; i++) {
        if (!live[i].live) continue;
        size_t index = (size_t)(files[i] - work->files);
        if (work->options->once) {
            status = refuse_duplicate(work, files[i], 1, error);
            goto out;
        }
        work->facts[index].state = FIRN_SYNC_TAKEN;
        work->facts[index].rows = live[i].rows;
        FIRN_CHECK(adopt(work, files[i], &live[i], error));
    }
    FIRN_CHECK(firn_ledger_adopt(work->ledger, work->adopted.items, work->adopted.count, error));
out:
    firn_free(files);
    firn_free(live);
    return status;
}
