/** A run of sync as its steps see it, over a source, a ledger and facts that are made up: there is no table, no catalog and no file. */
#ifndef FIRN_TESTS_SYNC_WORLD_H
#define FIRN_TESTS_SYNC_WORLD_H

#include "lake/ledger_internal.h"
#include "lake/sync_internal.h"
#include "support/check.h"

typedef struct sync_world {
    firn_sync_options options;
    firn_sync_result result;
    firn_sync_work work;
    FIRN_VECTOR(firn_lake_file) files;
    FIRN_VECTOR(firn_lake_unit) units;
    const char *roots[1];
    firn_error error;
} sync_world;

static inline sync_world *sync_world_new(void) {
    sync_world *w = firn_alloc_zeroed(1, sizeof *w);
    w->result.arena = firn_arena_new();
    w->work = (firn_sync_work){.options = &w->options,
                               .result = &w->result,
                               .display_name = "db.t",
                               .arena = firn_arena_new(),
                               .listed_again = true};
    check_ok(firn_storage_memory(&w->work.storage, &w->error), &w->error);
    w->roots[0] = "/lake";
    w->options.source = (firn_lake_source){.locations = w->roots, .location_count = 1};
    return w;
}

static inline void sync_world_free(sync_world *w) {
    firn_ledger_free(w->work.ledger);
    firn_map_free(w->work.acted_on);
    firn_map_free(w->work.bad_names);
    firn_map_free(w->work.bad_units);
    firn_vector_release(&w->work.adopted);
    firn_vector_release(&w->work.batches);
    firn_vector_release(&w->work.replaced_files);
    firn_vector_release(&w->work.replaced_entries);
    firn_vector_release(&w->work.missing_entries);
    firn_storage_free(w->work.storage);
    firn_arena_free(w->work.arena);
    firn_vector_release(&w->files);
    firn_vector_release(&w->units);
    firn_sync_result_release(&w->result);
    firn_free(w);
}

/** A unit; the files that come next are its own. */
static inline void sync_world_unit(sync_world *w, const char *name, int64_t rows) {
    firn_lake_unit unit = {.name = name, .rows = rows, .first_file = w->files.count};
    check_ok(firn_vector_push(&w->units, &w->error, unit), &w->error);
    w->options.source.kind = FIRN_LAKE_MANIFEST;
}

static inline firn_lake_file *sync_world_file(sync_world *w, const char *location, int64_t size) {
    bool has_unit = w->units.count > 0;
    firn_lake_file file = {.location = location,
                           .size = size,
                           .modified_ns = 1,
                           .unit = has_unit ? (uint32_t)w->units.count - 1 : FIRN_LAKE_NO_UNIT};
    check_ok(firn_vector_push(&w->files, &w->error, file), &w->error);
    if (has_unit) w->units.items[w->units.count - 1].file_count++;
    return &w->files.items[w->files.count - 1];
}

/** What the table was given. */
static inline void sync_world_given(sync_world *w, const firn_ledger_entry *entry) {
    if (w->work.ledger == NULL) {
        check_ok(firn_ledger_new(&w->work.ledger, &w->error), &w->error);
    }
    check_ok(firn_ledger_adopt(w->work.ledger, entry, 1, &w->error), &w->error);
}

static inline void sync_world_had(sync_world *w, const char *location, const char *unit,
                                  int64_t size, int64_t rows, bool removed) {
    firn_ledger_entry entry = {.location = location,
                               .unit = unit,
                               .size = size,
                               .modified_ns = 1,
                               .rows = rows,
                               .snapshot_id = 7,
                               .removed = removed};
    sync_world_given(w, &entry);
}

/** Lists, and tells files apart. */
static inline firn_status sync_world_classify(sync_world *w) {
    w->work.listing = (firn_lake_listing){.files = w->files.items,
                                          .file_count = w->files.count,
                                          .units = w->units.items,
                                          .unit_count = w->units.count,
                                          .has_units = w->units.count > 0,
                                          .complete = true};
    return firn_sync_classify(&w->work, &w->error);
}

/** The footers were read: the chosen file has so many rows, or (-1) is bad. */
static inline void sync_world_found(sync_world *w, size_t index, int64_t rows) {
    w->work.facts[index].rows = rows;
    if (rows >= 0) return;
    check_ok(firn_sync_add_bad(&w->work, index, "it is cut off", &w->error), &w->error);
}

#endif
